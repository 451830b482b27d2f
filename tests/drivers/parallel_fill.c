// SPDX-License-Identifier: Apache-2.0
// Sources read by several threads, as a plain program, because Criterion does not start under the thread sanitizer: files of all orders and types and memory
// into all layouts, by pools of 1 to 8 threads, in ranges that begin and end anywhere. Every number must be what a formula gives, nothing beside the range is
// touched, and errors are those of the earliest part. Exits with 1 and says why when something is wrong.
#include "engine/memory/reader.h"
#include "io/source.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 200011, COLUMNS = 3, MOST_THREADS = 8, GUARD = 0xA5 };
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STEP = 4, SOME = 2 };            // which make all of it ten and a hundred times slower
#else
enum { STEP = 1, SOME = 5 };
#endif

static hdst__arena arena;
static jmp_buf out_of_memory;
static char folder[64];
static bool failed;

static void fail(const char *what, const char *name, uint64_t at)
{
    fprintf(stderr, "parallel_fill: %s: %s (%llu)\n", name, what, (unsigned long long)at);
    failed = true;
}

// The number in a row's column: whole, of each type's range, and exact as a half.
static int number(uint64_t row, uint64_t column) { return (int)((row * COLUMNS + column) * 2654435761u >> 8 & 127); }

// --- Files ---

typedef struct numbers {
    const char *type;           // NumPy's
    size_t bytes;
    void (*put)(char *to, int value);
} numbers;

static void put_f4(char *to, int v) { memcpy(to, &(float){(float)v}, 4); }
static void put_f8(char *to, int v) { memcpy(to, &(double){v}, 8); }
static void put_i8(char *to, int v) { memcpy(to, &(int64_t){v}, 8); }
static void put_i2(char *to, int v) { memcpy(to, &(int16_t){(int16_t)v}, 2); }

static void put_f2(char *to, int v)
{
    int e = 0;
    const double fraction = frexp(v, &e);       // v = fraction * 2^e, fraction in [1/2, 1)
    memcpy(to, &(uint16_t){(uint16_t)(v ? (e + 14) << 10 | (int)(fraction * 2048 - 1024) : 0)}, 2);
}

static void swap(char *to, size_t bytes)
{
    for (size_t i = 0; i < bytes / 2; i++) {
        const char c = to[i];
        to[i] = to[bytes - 1 - i];
        to[bytes - 1 - i] = c;
    }
}

static const char *write_npy(const numbers *n, bool swapped, bool fortran, uint64_t first, uint64_t rows)
{
    char *path = hdst__arena_printf(&arena, "%s/%c%s-%d-%llu.npy", folder, swapped ? 'b' : 'l', n->type, fortran, (unsigned long long)first), header[128];
    char *data = malloc(rows * COLUMNS * n->bytes);
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t c = 0; c < COLUMNS; c++) {
            char *to = data + (fortran ? c * rows + row : row * COLUMNS + c) * n->bytes;
            n->put(to, number(first + row, c));
            if (swapped) swap(to, n->bytes);
        }
    snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%llu, %d), }", swapped ? '>' : '<', n->type, fortran ? "True" : "False",
             (unsigned long long)rows, COLUMNS);
    FILE *file = fopen(path, "wb");
    fprintf(file, "\x93NUMPY\x01%c%c%c%-117s\n", 0, 118, 0, header);
    fwrite(data, n->bytes, rows * COLUMNS, file);
    if (fclose(file)) exit(2);
    free(data);
    return path;
}

// --- Records ---

static const hdst__record *make_record(hdst__kind kind)
{
    static const char *const names[COLUMNS] = {"x", "y", "z"};
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, COLUMNS);
    for (int i = 0; i < COLUMNS; i++) fields[i] = (hdst__field){names[i], hdst__type_scalar(kind)};
    hdst__record *record = HDST__NEW(&arena, hdst__record);
    *record = (hdst__record){.name = "row", .fields = fields, .field_count = COLUMNS};
    if (!hdst__record_finish(&arena, record, NULL)) exit(2);
    return record;
}

static double value_at(const hdst__storage *storage, void *const *buffers, uint32_t leaf, uint64_t at)
{
    const char *from = (const char *)buffers[storage->leaf[leaf].buffer] + hdst__storage_offset(storage, leaf, at, 0);
    float f;
    double d;
    int16_t i;
    switch (storage->record->leaves[leaf].kind) {
    case HDST__F32: memcpy(&f, from, sizeof f); return (double)f;
    case HDST__F64: memcpy(&d, from, sizeof d); return d;
    default: memcpy(&i, from, sizeof i); return i;
    }
}

// --- Fills ---

static const struct { hdst__layout layout; uint64_t block; } layouts[] = {{HDST__AOS, 0}, {HDST__SOA, 0}, {HDST__AOSOA, 64}, {HDST__AOSOA, 1024},
                                                                          {HDST__AOP, 0}};
static const struct { uint64_t first, count, to_first; } ranges[] = {{0, ROWS, 0}, {1, ROWS - 2, 5}, {63, ROWS - 1000, 64}, {777, 140000, 1}, {ROWS - 1, 1, 3}};

// Bytes of the range as by one thread, which are the numbers of the formula; all others as they were.
static void check_numbers(const char *name, const hdst__storage *storage, void *const *buffers, int range)
{
    for (uint64_t i = 0; i < ranges[range].count; i++)
        for (uint32_t c = 0; c < COLUMNS; c++)
            if (value_at(storage, buffers, c, ranges[range].to_first + i) != number(ranges[range].first + i, c)) {
                fail("a number is not the one that was written", name, ranges[range].first + i);
                return;
            }
}

static void take_buffers(const hdst__storage *storage, void **buffers)
{
    for (uint32_t b = 0; b < storage->buffers; b++) {
        buffers[b] = malloc(storage->buffer_bytes[b]);
        memset(buffers[b], GUARD, storage->buffer_bytes[b]);
    }
}

static void fill(const char *name, const hdst__reader *reader, hdst__thread_pool *pool, const hdst__storage *storage, void **buffers, int range)
{
    hdst_error error = HDST_ERROR_INIT;
    take_buffers(storage, buffers);
    if (hdst__reader_fill(reader, pool, ranges[range].first, ranges[range].count, storage, buffers, ranges[range].to_first, &error) != HDST_OK)
        fail(error.message, name, (uint64_t)range);
}

static void every_pool(const char *name, const hdst__reader *reader, const hdst__storage *storage, int range)
{
    void *alone[COLUMNS], *together[COLUMNS];
    for (uint32_t threads = 1; threads <= MOST_THREADS; threads += STEP) {
        hdst__thread_pool *pool = hdst__thread_pool_create(NULL, threads);
        fill(name, reader, pool, storage, threads == 1 ? alone : together, range);
        if (threads == 1) check_numbers(name, storage, alone, range);
        for (uint32_t b = 0; b < storage->buffers && threads > 1; b++) {
            if (memcmp(alone[b], together[b], storage->buffer_bytes[b])) fail("several threads give other bytes than one", name, threads);
            free(together[b]);
        }
        hdst__thread_pool_destroy(pool);
    }
    for (uint32_t b = 0; b < storage->buffers; b++) free(alone[b]);
}

static void every_layout(const char *name, hdst__source *source, const hdst__record *record)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__bound_source *bound = NULL;
    if (!source || hdst__source_bind(source, record, &bound, &error) != HDST_OK) {
        fail(error.message, name, 0);
        exit(1);
    }
    if (!hdst__bound_source_concurrent(bound)) fail("cannot be read by several threads", name, 0);
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
        for (int r = 0; r < SOME; r++) {
            const hdst__storage *storage = hdst__storage_make(&arena, record, layouts[l].layout, layouts[l].block, ROWS + 8);
            const hdst__reader reader = {hdst__bound_source_fill, bound, source->rows, record, layouts[l].layout, layouts[l].block, .concurrent = true};
            every_pool(name, &reader, storage, r);
        }
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

static void files(void)
{
    static const numbers of[] = {{"f4", 4, put_f4}, {"f8", 8, put_f8}, {"i2", 2, put_i2}, {"i8", 8, put_i8}, {"f2", 2, put_f2}};
    for (size_t i = 0; i < SOME; i++)
        for (int how = 0; how < 4; how++) {
            const char *path = write_npy(&of[i], how & 1, how & 2, 0, ROWS);
            every_layout(path, hdst__source_npy(NULL, path, NULL, NULL), make_record(i % 2 ? HDST__F32 : i == 2 ? HDST__I16 : HDST__F64));
            if (how == 0) every_layout(path, hdst__source_npy(NULL, path, NULL, NULL), make_record(i < 1 ? HDST__F32 : HDST__I16));
        }
    hdst__source *parts[] = {hdst__source_npy(NULL, write_npy(&of[0], false, false, 0, 100003), NULL, NULL),
                             hdst__source_npy(NULL, write_npy(&of[1], true, true, 100003, ROWS - 100003), NULL, NULL)};
    every_layout("two files", hdst__source_concat(NULL, parts, 2, NULL), make_record(HDST__F32));
}

static bool give_rows(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count * COLUMNS; i++) ((float *)records)[i] = (float)number(first + i / COLUMNS, i % COLUMNS);
    return true;
}

static void memory(void)
{
    float *table = malloc(ROWS * COLUMNS * sizeof *table);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) table[i] = (float)number(i / COLUMNS, i % COLUMNS);
    const hdst__record *record = make_record(HDST__F32);
    every_layout("floats", hdst__source_floats(NULL, table, ROWS, COLUMNS, NULL), record);
    every_layout("floats as doubles", hdst__source_floats(NULL, table, ROWS, COLUMNS, NULL), make_record(HDST__F64));
    every_layout("structs", hdst__source_memory(NULL, table, ROWS, record->size, NULL), record);
    char *path = hdst__arena_printf(&arena, "%s/raw.bin", folder);
    FILE *file = fopen(path, "wb");
    fwrite(table, sizeof *table, ROWS * COLUMNS, file);
    if (fclose(file)) exit(2);
    every_layout("raw", hdst__source_raw(NULL, path, NULL, NULL), record);
    every_layout("callback", hdst__source_from_callback(NULL, ROWS, give_rows, NULL, true, NULL), record);
    free(table);
}

// Text with all that rows may have: quotes, line ends within them, comments, blank lines, numbers written in several ways.
static const char *write_text(void)
{
    char *path = hdst__arena_printf(&arena, "%s/text.csv", folder);
    FILE *file = fopen(path, "wb");
    fputs("x,word,y,z\n", file);
    for (uint64_t row = 0; row < ROWS; row++) {
        if (row % 97 == 0) fputs("# it's no \"row\", 1\n\n", file);
        const char *word = row % 11 ? "word" : row % 3 ? "\"two\nlines\"" : "\"a,\"\"b\"\"\"";
        fprintf(file, row % 5 ? "%d,%s,%d.000000,%d\n" : "\"%d\", %s ,%d.0e0,%d\r\n", number(row, 0), word, number(row, 1), number(row, 2));
    }
    if (fclose(file)) exit(2);
    return path;
}

static void texts(void)
{
    const char *path = write_text();
    for (uint32_t threads = 1; threads <= MOST_THREADS; threads += STEP) {
        hdst__thread_pool *pool = hdst__thread_pool_create(NULL, threads);
        hdst__source *source = hdst__source_csv(NULL, path, NULL, NULL, NULL);
        if (!source || hdst__source_count(source, pool, NULL) != HDST_OK || source->rows != ROWS) fail("rows are counted wrongly", path, threads);
        hdst__source_close(source);
        hdst__thread_pool_destroy(pool);
    }
    every_layout(path, hdst__source_csv(NULL, path, "x,y,z", NULL, NULL), make_record(HDST__F32));
}

// --- Errors, and who may be called ---

typedef struct calls {
    uint64_t bad[2];            // records that fail
    _Atomic int inside;
    _Atomic bool met;           // two calls at once
} calls;

static hdst_status fill_some(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                              hdst_error *error)
{
    (void)storage, (void)buffers, (void)to_first;
    calls *c = user;
    if (atomic_fetch_add(&c->inside, 1)) c->met = true;
    usleep(200);
    atomic_fetch_sub(&c->inside, 1);
    for (int i = 0; i < 2; i++)
        if (c->bad[i] >= first && c->bad[i] < first + count) {
            if (i == 0) usleep(3000);       // fails last, while the other is under way
            return hdst__error_set(error, HDST_E_IO, "record %llu", (unsigned long long)c->bad[i]);
        }
    return HDST_OK;
}

static void errors(void)
{
    const hdst__record *record = make_record(HDST__F32);
    const hdst__storage *storage = hdst__storage_make(&arena, record, HDST__SOA, 0, 1 << 20);
    void *buffers[COLUMNS] = {0};
    calls c = {.bad = {340000, 300000}};
    hdst__reader reader = {fill_some, &c, 1 << 20, record, HDST__SOA, 0, .concurrent = true};
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 4);
    for (int turn = 0; turn < 20; turn++) {
        hdst_error error = HDST_ERROR_INIT;
        if (hdst__reader_fill(&reader, pool, 0, 1 << 20, storage, buffers, 0, &error) != HDST_E_IO || strcmp(error.message, "record 300000"))
            fail("not the error of the earliest part", error.message, (uint64_t)turn);
        if (hdst__reader_fill(&reader, pool, 0, 1 << 20, storage, buffers, 0, NULL) != HDST_E_IO) fail("no error without an object for it", "", 0);
    }
    if (!c.met) fail("never were two threads inside", "a concurrent reader", 0);
    c = (calls){.bad = {UINT64_MAX, UINT64_MAX}};
    reader.concurrent = false;
    if (hdst__reader_fill(&reader, pool, 0, 1 << 20, storage, buffers, 0, NULL) != HDST_OK || c.met) fail("is called by several threads", "another reader", 0);
    hdst__thread_pool_destroy(pool);
}

int main(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) return 2;
    strcpy(folder, "/tmp/hdst-test-fill-XXXXXX");
    if (!mkdtemp(folder)) return 2;
    files();
    memory();
    texts();
    errors();
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command)) return 2;
    hdst__arena_destroy(&arena);
    return failed;
}
