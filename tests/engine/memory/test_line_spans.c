// SPDX-License-Identifier: Apache-2.0
// Records of lines that a device makes of their bytes, in the kernel's form on a CPU device: those that a loop over the text gives, whatever stands between
// line ends, wherever blocks of bytes and tiles of a kernel begin; and when the host makes them after all.
#include "tests/io/helper.h"

#include "engine/engine.h"
#include "engine/engine_state.h"
#include "engine/memory/segment.h"
#include "record/text_span.h"

enum { MOST_LINES = 500000, FILES = 3 };

typedef struct row { uint32_t source, spare; hdst__text_span text; uint64_t line, offset; } row;
typedef struct span_line { const char *at; uint64_t length, offset, number; uint32_t source; } span_line;

typedef struct job {
    hdst__engine *engine;
    hdst__device *device;
    hdst__segment segment;
    hdst__bound_source *bound;
    hdst__source *source;
    hdst__reader reader;
    const hdst__storage *storage;
    uint64_t moved;
} job;

static hdst_error failed;
static span_line *lines;
static uint64_t count_of_lines;

TestSuite(line_spans, .init = set_up, .fini = tear_down);

static void split(const char *text, size_t bytes, uint32_t source, bool strips)
{
    uint64_t number = 1;
    for (size_t at = 0; at < bytes; number++) {
        size_t end = at;
        while (end < bytes && text[end] != '\n') end++;
        const bool returns = strips && end < bytes && end > at && text[end - 1] == '\r';
        cr_assert_lt(count_of_lines, MOST_LINES);
        lines[count_of_lines++] = (span_line){text + at, end - at - returns, at, number, source};
        at = end + 1;
    }
}

// Bytes of any kind, of which one in `every` is a line end, and some before those are returns.
static char *make_text(size_t bytes, uint32_t every, uint32_t seed)
{
    char *text = hdst__arena_alloc(&arena, bytes + 1);
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < bytes; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        text[i] = (char)(x >> 40);
        if (text[i] == '\n') text[i] = (char)0x8a;
        if (every && x % every == 0) text[i] = '\n';
        else if (x % 3 == 0) text[i] = '\r';
        else if (x % 17 == 0) text[i] = 0;
    }
    return text;
}

static hdst__record *record_of(size_t fields, const char *const *names, const hdst__kind *kinds, uint32_t pack)
{
    hdst__field *f = HDST__NEW_ARRAY(&arena, hdst__field, fields);
    for (size_t i = 0; i < fields; i++) f[i] = (hdst__field){.name = names[i], .type = hdst__type_scalar(kinds[i])};
    hdst__record *record = HDST__NEW(&arena, hdst__record);
    *record = (hdst__record){.name = "row", .fields = f, .field_count = fields, .pack = pack};
    const char *why;
    cr_assert(hdst__record_finish(&arena, record, &why));
    return record;
}

static const char *const all_names[] = {"source", "text", "line", "offset"};
static const hdst__kind all_kinds[] = {HDST__U32, HDST__TEXT, HDST__U64, HDST__I64};

static bool open_engine(job *j, const char *device, bool gpu_form)
{
    *j = (job){0};
    count_of_lines = 0;
    lines = hdst__arena_alloc(&arena, MOST_LINES * sizeof *lines);
    j->engine = hdst__engine_create(&(hdst__engine_options){.device = device, .gpu_form_on_cpu = gpu_form});
    if (hdst__engine_open(j->engine, &j->device, &failed) == HDST_OK) return true;
    cr_log_warn("no device '%s': skipped (%s)", device, failed.message);
    hdst__engine_destroy(j->engine);
    return false;
}

static void open_source(job *j, const char *const *paths, size_t count, const hdst__lines_options *options, const hdst__record *record, bool counted,
                        hdst__layout layout)
{
    j->source = hdst__source_lines(NULL, paths, count, options, &failed);
    cr_assert(j->source, "%s", failed.message);
    cr_assert_eq(hdst__source_bind_uncounted(j->source, record, &j->bound, &failed), HDST_OK, "%s", failed.message);
    if (counted) cr_assert_eq(hdst__bound_source_count(j->bound, hdst__engine_threads(j->engine), &failed), HDST_OK);
    else cr_assert_eq(hdst__source_begin(j->source, hdst__engine_threads(j->engine), &failed), HDST_OK);
    j->source->threads = hdst__engine_threads(j->engine);
    j->reader = (hdst__reader){.fill = hdst__bound_source_fill, .user = j->bound, .records = counted ? j->source->rows : HDST__OPEN_RECORDS,
                               .record = record, .layout = layout, .concurrent = true, .makes_texts = true, .copies_texts = true,
                               .text_bytes = hdst__bound_source_text_bytes(j->bound), .lines = hdst__bound_source_lines(j->bound),
                               .open_end = counted ? NULL : j->source->open_end, .parts_itself = !counted};
}

static hdst_status stream(job *j, uint64_t first, uint64_t count)
{
    if (!j->storage) {
        j->storage = hdst__storage_make(&arena, j->reader.record, j->reader.layout, 64, count);
        cr_assert_eq(hdst__segment_create(j->device, HDST__MEMORY_SHARED, HDST__OWNER_SEGMENTS, j->storage, "a segment", &j->segment, &failed), HDST_OK);
    }
    return hdst__segment_stream(&j->segment, j->device, &j->reader, j->storage, first, count, &j->moved, &failed);
}

static void close_job(job *j)
{
    hdst__segment_destroy(j->device, &j->segment);
    hdst__source_unbind(j->bound);
    hdst__source_close(j->source);
    cr_assert_eq(j->engine->runtime.memory.used, 0, "%llu bytes were not given back", (unsigned long long)j->engine->runtime.memory.used);
    hdst__engine_destroy(j->engine);
}

// What the device has, as C structs.
static char *rows_of(const job *j, uint64_t count)
{
    const hdst__record *record = j->reader.record;
    void **buffers = HDST__NEW_ARRAY(&arena, void *, j->storage->buffers);
    char *rows = calloc(count + 1, record->size);
    for (uint32_t b = 0; b < j->storage->buffers; b++) {
        buffers[b] = malloc(j->storage->buffer_bytes[b] + 1);
        cr_assert_eq(j->device->ops->read(j->device, j->segment.memory[b], 0, buffers[b], j->storage->buffer_bytes[b], true, &failed), HDST_OK);
    }
    const hdst__storage *structs = hdst__storage_make(&arena, record, HDST__AOS, 0, count);
    hdst__storage_copy(structs, (void *[]){rows}, 0, j->storage, (const void *const *)buffers, 0, count);
    for (uint32_t b = 0; b < j->storage->buffers; b++) free(buffers[b]);
    return rows;
}

static void expect_text(const hdst__text_span *got, const span_line *want, uint64_t i)
{
    cr_assert_eq(got->length, want->length, "line %llu has %u bytes, not %llu", (unsigned long long)i, got->length, (unsigned long long)want->length);
    const hdst__text_span span = hdst__text_span_of(want->at, (uint32_t)want->length);
    cr_assert(!memcmp(&span, got, want->length <= HDST__TEXT_INLINE ? 16 : 8), "line %llu", (unsigned long long)i);
    cr_assert(!memcmp(hdst__text_bytes(got), want->at, want->length), "line %llu", (unsigned long long)i);
}

static void expect_rows(job *j, uint64_t first, uint64_t count)
{
    row *rows = (row *)rows_of(j, count);
    for (uint64_t i = 0; i < count; i++) {
        const span_line *want = &lines[first + i];
        expect_text(&rows[i].text, want, first + i);
        cr_assert(rows[i].source == want->source && rows[i].line == want->number && rows[i].offset == want->offset, "line %llu", (unsigned long long)i);
    }
    free(rows);
}

// All lines, `each` at a time; no record goes to the device.
static void check_all(job *j, uint64_t each)
{
    for (uint64_t at = 0; at < count_of_lines; at += each) {
        const uint64_t left = count_of_lines - at, some = left < each ? left : each;
        j->moved = 0;
        cr_assert_eq(stream(j, at, j->reader.open_end || some < each ? (left < each && !j->reader.open_end ? left : each) : each), HDST_OK, "%s",
                     failed.message);
        cr_assert_eq(j->segment.count, some, "%llu lines", (unsigned long long)j->segment.count);
        cr_assert(j->segment.device_makes);
        const uint64_t texts = atomic_load(&j->segment.mirror.used);
        cr_assert_eq(j->moved, texts + j->segment.lines.count * sizeof(hdst__line_block));
        expect_rows(j, at, some);
    }
}

static void check_text(const char *text, size_t bytes, bool strips, bool counted, hdst__layout layout, uint64_t each)
{
    job j;
    if (!open_engine(&j, "cpu", true)) return;
    const char *path = write_file("text", text, bytes);
    split(text, bytes, 0, strips);
    open_source(&j, &path, 1, &(hdst__lines_options){.strip_returns = strips}, record_of(4, all_names, all_kinds, 0), counted, layout);
    check_all(&j, each ? each : count_of_lines);
    close_job(&j);
}

Test(line_spans, are_those_of_a_loop_whatever_stands_between_line_ends)
{
    static const uint32_t every[] = {1, 2, 5, 13, 80, 1000, 30000};
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        const size_t bytes = every[i] < 5 ? 150001 : 1300000 + i;
        char *text = make_text(bytes, every[i], (uint32_t)i + 1);
        check_text(text, bytes, i % 2, true, HDST__AOS, 0);
        if (bytes > 1 << 20) check_text(text, bytes, true, false, i % 2 ? HDST__SOA : HDST__AOP, 0);
        text[bytes - 1] = '\n';
        check_text(text, bytes, true, true, HDST__SOA, count_of_lines / 3 / 64 * 64 + 64);
    }
}

// A line that begins in a block, a tile or 16 bytes ends behind the next ones; it has one byte more or less than they do.
Test(line_spans, begin_and_end_where_tiles_and_blocks_do)
{
    static const size_t lengths[] = {0, 1, 11, 12, 13, 15, 16, 17, 4095, 4096, 4097, 65535, 65536, 65537, 70000, 200000};
    for (size_t first = 0; first < 18; first++) {
        char *text = make_text(1 << 20, 0, (uint32_t)first + 40);
        size_t at = first;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            if (first) text[at - 1] = '\n';
            if (i % 3 == 0 && at > 1) text[at - 2] = '\r';
            at += lengths[i] + 1;
            text[at - 1] = '\n';
        }
        check_text(text, at + first % 3, first % 2, true, HDST__AOS, 0);
    }
}

Test(line_spans, of_one_line_and_of_line_ends_alone)
{
    char *text = make_text(300000, 0, 7);
    check_text(text, 1, true, true, HDST__AOS, 0);
    check_text(text, 300000, true, true, HDST__AOS, 0);
    check_text("\n", 1, true, true, HDST__AOS, 0);
    check_text("\r\n", 2, true, true, HDST__AOS, 0);
    check_text("\r\n\r\n\r", 5, true, true, HDST__AOS, 0);
    check_text("\r\n\r\n\r", 5, false, true, HDST__SOA, 0);
    memset(text, '\n', 300000);
    check_text(text, 300000, true, true, HDST__AOS, 0);
}

Test(line_spans, of_several_files_are_numbered_in_each)
{
    static const hdst__kind wide[] = {HDST__U32, HDST__TEXT, HDST__I64, HDST__U64};
    for (int counted = 0; counted < 2; counted++) {
        const char *paths[FILES];
        job j;
        if (!open_engine(&j, "cpu", true)) return;
        for (uint32_t i = 0; i < FILES; i++) {
            const size_t bytes = i == 1 ? 0 : 700000 + 77 * i;
            char *text = make_text(bytes, 60, i + 90);
            paths[i] = write_file(i == 0 ? "a" : i == 1 ? "b" : "c", text, bytes);
            split(text, bytes, i, false);
        }
        open_source(&j, paths, FILES, NULL, record_of(4, all_names, wide, 0), counted, HDST__AOS);
        check_all(&j, 5000 * 64 / 64);
        close_job(&j);
    }
}

Test(line_spans, may_be_all_that_a_record_has)
{
    static const char *const names[] = {"t"};
    static const hdst__kind kinds[] = {HDST__TEXT};
    const size_t bytes = 100000;
    job j;
    if (!open_engine(&j, "cpu", true)) return;
    const char *text = make_text(bytes, 9, 3), *path = write_file("text", text, bytes);
    split(text, bytes, 0, false);
    open_source(&j, &path, 1, NULL, record_of(1, names, kinds, 0), true, HDST__AOS);
    cr_assert_eq(stream(&j, 0, count_of_lines), HDST_OK);
    cr_assert(j.segment.device_makes);
    hdst__text_span *rows = (hdst__text_span *)rows_of(&j, count_of_lines);
    for (uint64_t i = 0; i < count_of_lines; i++) expect_text(&rows[i], &lines[i], i);
    free(rows);
    close_job(&j);
}

// --- When the host makes them ---

static void expect_on_host(hdst__layout layout, const hdst__kind *kinds, uint32_t pack, uint32_t longest, const char *device, bool gpu_form)
{
    const size_t bytes = 200000;
    job j;
    if (!open_engine(&j, device, gpu_form)) return;
    char *text = make_text(bytes, 20, 5);
    const char *path = write_file("text", text, bytes);
    split(text, bytes, 0, false);
    open_source(&j, &path, 1, &(hdst__lines_options){.longest = longest}, record_of(4, all_names, kinds, pack), true, layout);
    cr_assert_eq(stream(&j, 0, count_of_lines), HDST_OK, "%s", failed.message);
    cr_assert(!j.segment.device_makes);
    if (!pack && !memcmp(kinds, all_kinds, sizeof all_kinds) && gpu_form) expect_rows(&j, 0, count_of_lines);
    close_job(&j);
}

Test(line_spans, are_the_hosts_where_a_device_could_not_make_them)
{
    static const hdst__kind narrow[] = {HDST__U32, HDST__TEXT, HDST__U32, HDST__U64}, real[] = {HDST__U32, HDST__TEXT, HDST__F64, HDST__U64};
    expect_on_host(HDST__AOSOA, all_kinds, 0, 0, "cpu", true);
    expect_on_host(HDST__AOS, narrow, 0, 0, "cpu", true);
    expect_on_host(HDST__AOS, real, 0, 0, "cpu", true);
    expect_on_host(HDST__AOS, all_kinds, 1, 0, "cpu", true);
    expect_on_host(HDST__AOS, all_kinds, 0, 5000, "cpu", true);
    expect_on_host(HDST__AOS, all_kinds, 0, 0, "cpu", false);
    expect_on_host(HDST__AOS, all_kinds, 0, 0, "interp", false);
}

// The stretch for their bytes is made for shorter lines: they are read again, and there is room.
Test(line_spans, are_read_again_where_there_was_no_room_for_their_bytes)
{
    for (int counted = 0; counted < 2; counted++) {
        const size_t bytes = 3000000;
        job j;
        if (!open_engine(&j, "cpu", true)) return;
        const char *text = make_text(bytes, 300, 8), *path = write_file("text", text, bytes);
        split(text, bytes, 0, false);
        open_source(&j, &path, 1, NULL, record_of(4, all_names, all_kinds, 0), counted, HDST__AOS);
        j.reader.text_bytes = 2;
        check_all(&j, count_of_lines / 2);
        close_job(&j);
    }
}
