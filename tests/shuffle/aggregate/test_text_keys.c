// SPDX-License-Identifier: Apache-2.0
// Reductions by key whose keys are texts, in all containers, budgets and ways in: the rows of a sort of strings, in the order of (hash, bytes), whatever
// happens to the memory that the records' spans refer to.
#include "tests/shuffle/texts.h"

#include "shuffle/aggregate/aggregate_run.h"

#include <stdio.h>

typedef struct job {
    hdst__engine *engine;
    hdst__arena arena;
    jmp_buf out_of_memory;
    const hdst__record *record;
    const string *texts;                // of the records, in order
    uint64_t count;
    string *wanted;
    size_t keys;
    hdst_error error;
} job;

static void open_job(job *j, const string *texts, uint64_t count, uint64_t memory)
{
    *j = (job){.texts = texts, .count = count, .error = HDST_ERROR_INIT};
    j->engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = memory, .threads = 2});
    hdst__arena_init(&j->arena, NULL, &j->out_of_memory);
    cr_assert(setjmp(j->out_of_memory) == 0);
    j->record = make_words(&j->arena);
    j->wanted = malloc(count * sizeof *j->wanted + 1);
    memcpy(j->wanted, texts, count * sizeof *texts);
    j->keys = count_strings(j->wanted, count);
}

static void close_job(job *j)
{
    cr_assert_eq(atomic_load(&j->engine->runtime.memory.used), 0, "all memory is given back");
    free(j->wanted);
    hdst__arena_destroy(&j->arena);
    hdst__engine_destroy(j->engine);
}

static void check_rows(const job *j, const counted *rows, uint64_t count, const char *what)
{
    cr_assert_eq(count, j->keys, "%s: %d keys in place of %d", what, (int)count, (int)j->keys);
    for (uint64_t i = 0; i < count; i++) {
        const string *w = &j->wanted[i];
        cr_assert(rows[i].key.length == w->length && !memcmp(hdst__text_bytes(&rows[i].key), w->bytes, w->length), "%s: row %d", what, (int)i);
        cr_assert_eq(rows[i].n, w->n, "%s: row %d", what, (int)i);
    }
}

// --- Ways in ---

static void fill_words(const job *j, uint64_t first, uint64_t count, counted *to)
{
    for (uint64_t i = 0; i < count; i++) {
        const string *s = &j->texts[first + i];
        to[i] = (counted){hdst__text_span_of(s->bytes, (uint32_t)s->length), s->n};
    }
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)error;
    cr_assert_eq(storage->layout, HDST__AOS);
    fill_words(user, first, count, (counted *)buffers[0] + to_first);
    return HDST_OK;
}

// Read in copied pieces, or where they lie.
static void run_reader(job *j, hdst__aggregate *a, bool in_place, const counted **rows, uint64_t *count)
{
    const hdst__reader reader = {.fill = fill, .user = j, .records = j->count, .record = j->record, .layout = HDST__AOS};
    counted *all = in_place ? malloc(j->count * sizeof *all + 1) : NULL;
    if (all) fill_words(j, 0, j->count, all);
    const hdst_status status = hdst__aggregate_run(a, &(hdst__aggregate_input){&reader, NULL, all, false}, (const void **)rows, count, &j->error);
    cr_assert_eq(status, HDST_OK, "%s", j->error.message);
    free(all);
}

// Slice by slice, each with bytes of its own that are gone when it was taken. keys: behind the first slice, so many are announced as those of a device's table,
// which had each once, though they are what they are; 0: nobody says so.
static void run_slices_of(job *j, hdst__aggregate *a, uint64_t slice, uint64_t keys, const counted **rows, uint64_t *count)
{
    const hdst__consumer *consumer = hdst__aggregate_consumer(a);
    hdst__engine_lock(j->engine);
    hdst_status status = consumer->start(consumer->user, &j->error);
    for (uint64_t first = 0; first < j->count && status == HDST_OK; first += slice) {
        const uint64_t left = j->count - first, now = left < slice ? left : slice;
        size_t bytes = 0;
        for (uint64_t i = 0; i < now; i++) bytes += j->texts[first + i].length;
        char *const memory = malloc(bytes + 1), *at = memory;
        counted *records = malloc(now * sizeof *records);
        for (uint64_t i = 0; i < now; i++) {
            const string *s = &j->texts[first + i];
            memcpy(at, s->bytes, s->length);
            records[i] = (counted){hdst__text_span_of(at, (uint32_t)s->length), s->n};
            at += s->length;
        }
        status = consumer->take(consumer->user, records, now, j->count, &j->error);
        memset(memory, 0xAA, bytes);
        memset(records, 0xAA, now * sizeof *records);
        free(memory);
        free(records);
        if (keys && first == 0) consumer->combined(consumer->user, keys, true);
    }
    hdst__engine_unlock(j->engine);
    cr_assert_eq(status, HDST_OK, "%s", j->error.message);
    cr_assert_eq(hdst__aggregate_end(a, (const void **)rows, count, &j->error), HDST_OK, "%s", j->error.message);
}

static void run_slices(job *j, hdst__aggregate *a, uint64_t slice, const counted **rows, uint64_t *count)
{
    run_slices_of(j, a, slice, 0, rows, count);
}

static uint64_t ordered;                // runs whose records were put in order

static void run_in_order(job *j, hdst__aggregate *a, const counted **rows, uint64_t *count)
{
    run_slices_of(j, a, j->count / 7 + 1, j->count / 5 + 1, rows, count);
    ordered += strstr(a->choice.why, "put in order") != NULL;
}

static hdst__aggregate *make(job *j, hdst__container container)
{
    static const uint32_t key = 0;
    static const hdst__accumulate_op sum = HDST__SUM;
    return hdst__aggregate_create(j->engine, &(hdst__aggregate_spec){.record = j->record, .key_leaves = &key, .key_count = 1, .laws = &sum,
                                                                     .container = container});
}

// `see`, which may be NULL, is shown each run's object.
static void run_all_ways(job *j, void (*see)(const hdst__aggregate *a))
{
    for (hdst__container c = HDST__CONTAINER_AUTO; c <= HDST__CONTAINER_SORTED; c++) {
        if (c == HDST__CONTAINER_DENSE) continue;
        hdst__aggregate *a = make(j, c);
        for (int way = 0; way < (c == HDST__CONTAINER_AUTO ? 5 : 3); way++) {       // the last one twice: its memory serves again
            const counted *rows;
            uint64_t count;
            char what[60];
            snprintf(what, sizeof what, "container %d, way %d", (int)c, way);
            if (way < 2) run_reader(j, a, way, &rows, &count);
            else if (way == 2) run_slices(j, a, j->count / 7 + 1, &rows, &count);
            else run_in_order(j, a, &rows, &count);
            check_rows(j, rows, count, what);
            if (see) see(a);
        }
        hdst__aggregate_destroy(a);
    }
}

// --- Texts ---

static char *bytes_of_texts[16];        // as long as the process lasts

// `distinct` texts or fewer of 0 to `longest` bytes, which often begin alike; some bytes are NUL or no UTF-8.
static string *make_texts(uint64_t records, uint64_t distinct, uint32_t longest)
{
    string *texts = malloc(records * sizeof *texts), *different = malloc(distinct * sizeof *different);
    uint64_t state = records + longest;
    size_t block = 0;
    while (bytes_of_texts[block]) block++;
    char *bytes = bytes_of_texts[block] = malloc(distinct * longest + 1);
    for (uint64_t d = 0; d < distinct; d++) {
        const size_t length = next_random(&state) % (longest + 1);
        memset(bytes, 'a', length);
        for (size_t k = 0; k < length; k++)
            if (k + 6 >= length || next_random(&state) % 8 == 0) bytes[k] = "\0ab\xff\x80\x01zc"[next_random(&state) % 8];
        different[d] = (string){.bytes = bytes, .length = length};
        bytes += length;
    }
    for (uint64_t i = 0; i < records; i++) {
        const uint64_t r = next_random(&state) % distinct;
        texts[i] = different[i % 3 ? r : r % (distinct / 50 + 1)];       // some come often
        texts[i].n = i % 5 + 1;
    }
    free(different);
    return texts;
}

Test(text_keys, of_many_lengths)
{
    string *texts = make_texts(60000, 20000, 40);
    const uint32_t forced[][2] = {{0, 0}, {7, 2}, {12, 5}};              // tables that overflow, parts
    for (size_t f = 0; f < 3; f++) {
        job j;
        open_job(&j, texts, 60000, UINT64_C(1) << 30);
        j.engine->limits.by_key_table_bits = forced[f][0];
        j.engine->limits.by_key_partition_bits = forced[f][1];
        ordered = 0;
        run_all_ways(&j, NULL);
        cr_assert_eq(ordered, 2, "where no container was asked for");
        close_job(&j);
    }
    free(texts);
}

Test(text_keys, none_and_one_and_empty_ones)
{
    string *texts = make_texts(3000, 1, 30);
    for (int i = 0; i < 3; i++) {
        job j;
        if (i == 2) texts[0].bytes = texts[1].bytes = "", texts[0].length = texts[1].length = 0;
        open_job(&j, texts, (uint64_t[]){0, 1, 3000}[i], UINT64_C(1) << 30);
        run_all_ways(&j, NULL);
        close_job(&j);
    }
    free(texts);
}

// --- Memory ---

static bool spilled;

static void note_spilled(const hdst__aggregate *a) { spilled |= a->spilled > 0; }

Test(text_keys, in_small_budgets)
{
    enum { N = 150000 };
    string *texts = make_texts(N, 60000, 40);
    const uint64_t budgets[] = {2 << 20, 3 << 20, 5 << 20, 24 << 20};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        job j;
        spilled = false;
        ordered = 0;
        open_job(&j, texts, N, budgets[b]);
        run_all_ways(&j, note_spilled);
        cr_assert(spilled || b == 3);
        cr_assert_eq(ordered, 0, "there is no room for all of them twice: they go through tables after all");
        cr_assert_leq(j.engine->runtime.memory.peak, budgets[b]);
        close_job(&j);
    }
    free(texts);
}

// Of several devices' tables the second one is announced when there are records already. Where there is no room for as many the first ones stay.
Test(text_keys, of_two_tables_of_devices)
{
    enum { N = 40000, FIRST = 30000 };
    string *texts = make_texts(N, 20000, 12);
    job j;
    open_job(&j, texts, N, 64 << 20);
    hdst__aggregate *a = make(&j, HDST__CONTAINER_AUTO);
    const hdst__consumer *consumer = hdst__aggregate_consumer(a);
    counted *records = malloc(N * sizeof *records);
    const counted *rows;
    uint64_t count;
    fill_words(&j, 0, N, records);
    hdst__engine_lock(j.engine);
    cr_assert_eq(consumer->start(consumer->user, &j.error), HDST_OK);
    consumer->combined(consumer->user, FIRST, true);
    cr_assert_eq(consumer->take(consumer->user, records, FIRST, N, &j.error), HDST_OK);
    consumer->combined(consumer->user, UINT32_MAX / 2, true);
    cr_assert_eq(consumer->take(consumer->user, records + FIRST, N - FIRST, N, &j.error), HDST_OK);
    hdst__engine_unlock(j.engine);
    cr_assert_eq(hdst__aggregate_end(a, (const void **)&rows, &count, &j.error), HDST_OK, "%s", j.error.message);
    check_rows(&j, rows, count, "two tables");
    hdst__aggregate_destroy(a);
    close_job(&j);
    free(records);
    free(texts);
}

// Among others, with the memory that they would take several times over.
Test(text_keys, of_100_KB)
{
    enum { N = 4000, LONG = 40, BYTES = 100000 };
    string *texts = make_texts(N, 3000, 40);
    char *bytes = malloc((size_t)LONG * BYTES);
    memset(bytes, 'x', (size_t)LONG * BYTES);
    for (uint32_t i = 0; i < N; i += 20) {              // alike but for a last byte, or for their length
        const uint32_t which = i / 20 % LONG;
        char *at = bytes + (size_t)which * BYTES;
        at[BYTES - 1] = (char)(which / 2);
        texts[i].bytes = at;
        texts[i].length = BYTES - which % 2;
    }
    const uint64_t budgets[] = {3 << 20, 256 << 20};
    for (size_t b = 0; b < 2; b++) {
        job j;
        open_job(&j, texts, N, budgets[b]);
        run_all_ways(&j, NULL);
        close_job(&j);
    }
    free(bytes);
    free(texts);
}

Test(text_keys, longer_than_the_budget)
{
    enum { N = 12, BYTES = 24 << 20 };
    string texts[N];
    char *bytes = malloc(2 * (size_t)BYTES);
    memset(bytes, 7, 2 * (size_t)BYTES);
    bytes[2 * (size_t)BYTES - 1] = 8;
    for (uint32_t i = 0; i < N; i++) texts[i] = (string){.bytes = i % 3 ? bytes + i % 2 * (size_t)BYTES : "short", .length = i % 3 ? BYTES : 5, .n = 1};
    job j;
    open_job(&j, texts, N, 16 << 20);
    cr_assert_eq(j.keys, 3);
    hdst__aggregate *a = make(&j, HDST__CONTAINER_AUTO);
    const counted *rows;
    uint64_t count;
    run_slices(&j, a, 5, &rows, &count);
    check_rows(&j, rows, count, "slices");
    hdst__aggregate_destroy(a);
    close_job(&j);
    free(bytes);
}

// Whoever holds the heap has the bytes still when the reduction runs again, forgets or ends.
Test(text_keys, bytes_stay_as_long_as_somebody_holds_them)
{
    enum { N = 20000 };
    string *texts = make_texts(N, 9000, 60), *others = make_texts(N, 5000, 50);
    job j, k;
    open_job(&j, texts, N, UINT64_C(1) << 30);
    hdst__aggregate *a = make(&j, HDST__CONTAINER_AUTO);
    const counted *rows;
    uint64_t count, more;
    run_slices(&j, a, 3000, &rows, &count);
    counted *copy = malloc(count * sizeof *copy);
    memcpy(copy, rows, count * sizeof *copy);
    hdst__text_heap *heap = hdst__text_heap_hold(hdst__aggregate_texts(a));
    cr_assert_not_null(heap);
    k = j;
    k.texts = others;
    k.wanted = malloc(N * sizeof *k.wanted);
    memcpy(k.wanted, others, N * sizeof *others);
    k.keys = count_strings(k.wanted, N);
    run_slices(&k, a, 3000, &rows, &more);
    check_rows(&k, rows, more, "again");
    cr_assert_neq(hdst__aggregate_texts(a), heap);
    check_rows(&j, copy, count, "held");
    hdst__aggregate_forget(a);
    cr_assert_null(hdst__aggregate_texts(a));
    hdst__aggregate_destroy(a);
    check_rows(&j, copy, count, "held still");
    hdst__text_heap_drop(heap);
    close_job(&j);
    free(k.wanted);
    free(copy);
    free(texts);
    free(others);
}

// --- Texts made to be slow ---

static uint64_t crowded;

static void note_crowded(const hdst__aggregate *a) { crowded += a->crowded_partitions + a->crowded_blocks; }

// Of 8 bytes, or of 16 which agree in all 64 bits of the hash.
static string *make_hostile(uint64_t records, uint32_t different, uint32_t length)
{
    string *texts = malloc(records * sizeof *texts);
    size_t block = 0;
    while (bytes_of_texts[block]) block++;
    char *bytes = bytes_of_texts[block] = malloc((size_t)different * length);
    for (uint64_t d = 0; d < different; d++) {
        memcpy(bytes + d * length, &(uint64_t){d * 0x9876543}, 8);
        end_with_hash(bytes + d * length, length, unmixed(UINT64_C(0x1234567800000000) | (length > 8 ? 5 : d)));
    }
    for (uint64_t i = 0; i < records; i++)
        texts[i] = (string){.bytes = bytes + i * 7919 % different * length, .length = length, .n = i % 3};
    return texts;
}

Test(text_keys, of_one_hash)
{
    enum { N = 60000, DIFFERENT = 3000 };
    for (uint32_t length = 8; length <= 16; length += 8) {
        string *texts = make_hostile(N, DIFFERENT, length);
        job j;
        crowded = 0;
        open_job(&j, texts, N, 64 << 20);
        cr_assert_eq(j.keys, DIFFERENT);
        cr_assert_eq(j.wanted[0].hash, 0x12345678u);
        cr_assert_eq(j.wanted[DIFFERENT - 1].hash, 0x12345678u);
        run_all_ways(&j, note_crowded);
        cr_assert_gt(crowded, 0);
        close_job(&j);
        free(texts);
    }
}

static uint64_t ranges;

static void note_ranges(const hdst__aggregate *a) { ranges += a->range_count; }

// More of them than there is room for: they are taken by ranges.
Test(text_keys, of_one_hash_over_the_budget)
{
    enum { N = 50000, DIFFERENT = 30000 };
    string *texts = make_hostile(N, DIFFERENT, 16);
    job j;
    ranges = 0;
    open_job(&j, texts, N, 2 << 20);
    run_all_ways(&j, note_ranges);
    cr_assert_gt(ranges, 50);
    close_job(&j);
    free(texts);
}
