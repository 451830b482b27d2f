// SPDX-License-Identifier: Apache-2.0
// Files that somebody shortens or adds to while they are read: an error that names the file, by one thread and by several.
#include "helper.h"

#include "engine/memory/reader.h"

enum { ROWS = 300000 };

TestSuite(file_changes, .init = set_up, .fini = tear_down);

typedef hdst__source *(*opener)(const char *path, hdst_error *error);

static hdst__source *open_npy(const char *path, hdst_error *error) { return hdst__source_npy(NULL, path, NULL, error); }
static hdst__source *open_raw(const char *path, hdst_error *error) { return hdst__source_raw(NULL, path, NULL, error); }

static const char *write_rows(const char *kind)
{
    float *rows = hdst__arena_alloc(&arena, ROWS * 2 * sizeof *rows);
    char header[128];
    for (uint64_t i = 0; i < ROWS * 2; i++) rows[i] = (float)i;
    if (!strcmp(kind, "raw")) return write_file("rows.bin", rows, ROWS * 2 * sizeof *rows);
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': %s, 'shape': (%d, 2), }", !strcmp(kind, "columns") ? "True" : "False", ROWS);
    return write_npy("rows.npy", header, rows, ROWS * 2 * sizeof *rows);
}

// Binds, changes the file's length by so much, and fills.
static void expect_error(const char *kind, opener open_source, int64_t change, uint32_t threads, int which, const char *message)
{
    const char *path = write_rows(kind);
    const hdst__record *record = array_record(HDST__F32, 2);
    hdst_error error = HDST_ERROR_INIT;
    hdst__source *source = open_source(path, &error);
    hdst__bound_source *bound;
    cr_assert(source, "%s", error.message);
    cr_assert_eq(hdst__source_bind(source, record, &bound, &error), HDST_OK);
    size_t length;
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    length = (size_t)ftell(file);
    fclose(file);
    cr_assert_eq(truncate(path, (off_t)((int64_t)length + change)), 0);
    const hdst__storage *storage = hdst__storage_make(&arena, record, layouts[which].layout, layouts[which].block, ROWS);
    void *buffers[2];
    for (uint32_t b = 0; b < storage->buffers; b++) buffers[b] = malloc(storage->buffer_bytes[b]);
    const hdst__reader reader = {hdst__bound_source_fill, bound, source->rows, record, layouts[which].layout, layouts[which].block, .concurrent = true};
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, threads);
    cr_assert_eq(hdst__reader_fill(&reader, pool, 0, source->rows, storage, buffers, 0, &error), HDST_E_IO, "%s by %lld", kind, (long long)change);
    cr_assert(strstr(error.message, path) && strstr(error.message, message), "%s", error.message);
    cr_assert_str_eq(error.file, path);
    hdst__thread_pool_destroy(pool);
    for (uint32_t b = 0; b < storage->buffers; b++) free(buffers[b]);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

static void every_way(int64_t change, const char *message)
{
    static const struct { const char *kind; opener open_source; } ways[] = {{"rows", open_npy}, {"columns", open_npy}, {"raw", open_raw}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int which = 0; which < LAYOUTS; which++)
            for (uint32_t threads = 1; threads < 5; threads += 3) expect_error(ways[i].kind, ways[i].open_source, change, threads, which, message);
}

Test(file_changes, one_that_lost_its_last_byte) { every_way(-1, "ends at byte"); }
Test(file_changes, one_that_lost_most) { every_way(-2300000, "ends at byte"); }
Test(file_changes, one_that_something_was_added_to) { every_way(8, "although it had"); }

// --- Text, whose rows are counted behind the opening ---

static void text_that_changes(bool before_counting, bool grows, uint32_t threads)
{
    enum { LINES = 400000, BYTES = 8 };
    char *text = hdst__arena_alloc(&arena, LINES * BYTES + 1);
    for (int i = 0; i < LINES; i++) memcpy(text + i * BYTES, "1.25,33\n", BYTES + 1);
    const char *path = write_text("rows.csv", text);
    hdst_error error = HDST_ERROR_INIT;
    hdst__source *source = hdst__source_csv(NULL, path, NULL, NULL, &error);
    hdst__bound_source *bound;
    const hdst__record *record = array_record(HDST__F32, 2);
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, threads);
    cr_assert_eq(hdst__source_bind_uncounted(source, record, &bound, &error), HDST_OK);
    if (!before_counting) cr_assert_eq(hdst__source_count(source, pool, &error), HDST_OK);
    if (grows) {
        FILE *file = fopen(path, "a");
        cr_assert(file && fputs("2,3\n", file) >= 0 && fclose(file) == 0);
    } else {
        cr_assert_eq(truncate(path, LINES * BYTES / 2 + 3), 0);
    }
    hdst_status status = before_counting ? hdst__source_count(source, pool, &error) : HDST_OK;
    const hdst__storage *storage = hdst__storage_make(&arena, record, HDST__AOS, 0, LINES);
    void *buffers[] = {malloc(storage->buffer_bytes[0])};
    const hdst__reader reader = {hdst__bound_source_fill, bound, LINES, record, HDST__AOS, 0, .concurrent = true};
    if (status == HDST_OK && !before_counting) status = hdst__reader_fill(&reader, pool, 0, LINES, storage, buffers, 0, &error);
    cr_assert_eq(status, HDST_E_IO, "%d %d", before_counting, grows);
    cr_assert_str_eq(error.file, path);
    cr_assert(strstr(error.hint, grows ? "something added to the file" : "something shortened the file"), "%s", error.hint);
    hdst__thread_pool_destroy(pool);
    free(buffers[0]);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

Test(file_changes, a_text)
{
    for (int which = 0; which < 4; which++)
        for (uint32_t threads = 1; threads < 5; threads += 3) text_that_changes(which & 1, which & 2, threads);
}
