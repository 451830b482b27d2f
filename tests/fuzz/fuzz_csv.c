// SPDX-License-Identifier: Apache-2.0
// The reader of .csv files: the first byte chooses the type of the field, the columns and the size of blocks, the rest is the file. It is read twice: as
// numbers, and as dates, times and cells that may be empty, where rows that do not parse may be left out.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/fuzz_source.h"

#include "io/source_csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static uint64_t block_bytes; // a target runs in one thread

static hdst__source *open_csv(const hdst__allocator *allocator, const char *path, const char *columns, hdst_error *error)
{
    return hdst__source_csv_in_blocks(allocator, path, columns, block_bytes, NULL, error);
}

static hdst__record *cell_record(hdst__arena *arena, uint8_t which, uint64_t width)
{
    static const struct {
        hdst__kind kind;
        hdst__time_unit time;
        hdst__missing missing;
    } cells[] = {{HDST__I32, HDST__DAYS, HDST__MISSING_ZERO},
                 {HDST__I64, HDST__SECONDS, HDST__MISSING_SKIP},
                 {HDST__I64, HDST__NANOSECONDS, HDST__MISSING_ERROR},
                 {HDST__F32, HDST__NO_TIME, HDST__MISSING_NAN},
                 {HDST__U8, HDST__NO_TIME, HDST__MISSING_SKIP}};
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 2);
    hdst__record *record = HDST__NEW(arena, hdst__record);
    const hdst__missing missing = cells[which % 5].missing;
    const bool valid = missing == HDST__MISSING_ZERO || missing == HDST__MISSING_NAN;
    static const hdst__null_value words[] = {{"NA", 2}, {"-", 1}, {"1", 1}, {"a b", 3}};
    static const hdst__null_values null_values = {words, 4};
    fields[0] = (hdst__field){.name = "x",
                              .type = hdst__type_array(arena, hdst__type_scalar(cells[which % 5].kind), width),
                              .time = cells[which % 5].time,
                              .missing = missing,
                              .null_values = which / 5 % 2 ? &null_values : NULL,
                              .valid = valid ? "ok" : NULL};
    fields[1] = (hdst__field){.name = "ok", .type = hdst__type_array(arena, hdst__type_scalar(HDST__BOOL), width)};
    *record = (hdst__record){.name = "row", .fields = fields, .field_count = valid ? 2 : 1};
    CHECK(hdst__record_finish(arena, record, NULL));
    return record;
}

static void fill_kept(hdst__arena *arena, hdst__source *source, uint8_t which)
{
    hdst__bound_source *bound = NULL;
    hdst_error error = HDST_ERROR_INIT;
    const hdst__record *record = cell_record(arena, which, source->width);
    hdst_status status = hdst__source_bind_uncounted(source, record, &bound, &error);
    if (status == HDST_OK && which % 2) hdst__bound_source_skip_malformed(bound);
    if (status == HDST_OK) status = hdst__bound_source_count(bound, NULL, &error);
    CHECK(status == HDST_OK || (error.code && error.message[0]));
    if (status == HDST_OK && hdst__bound_source_left_out(bound, &error)) CHECK(error.code == HDST_E_FORMAT && error.line);
    if (status == HDST_OK && hdst__bound_source_records(bound) <= 1 << 16) fill_twice(arena, bound, record, hdst__bound_source_records(bound));
    hdst__source_unbind(bound);
}

static void fuzz_cells(const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    jmp_buf out_of_memory;
    hdst__arena arena;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    CHECK(!setjmp(out_of_memory));
    hdst__source *source = open_csv(NULL, path, NULL, NULL);
    if (source && source->width <= 256) fill_kept(&arena, source, data[0]);
    hdst__source_close(source);
    hdst__arena_destroy(&arena);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {0, 1, 2, 7, 16, 63, 64, 200};
    block_bytes = size ? sizes[data[0] / 35 % 8] : 0;
    if (size) fuzz_cells(data, size);
    return fuzz_source(open_csv, data, size);
}
