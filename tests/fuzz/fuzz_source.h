// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of readers share: the input becomes a file in memory, is opened, bound and filled in two ways that must agree.
#ifndef TESTS_FUZZ_SOURCE_H
#define TESTS_FUZZ_SOURCE_H

#include "io/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Not assert: the check must hold in every build.
#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);    \
            abort();                                                                         \
        }                                                                                    \
    } while (0)

typedef hdst__source *(*source_opener)(const hdst__allocator *, const char *, const char *, hdst_error *);

static hdst__record *fuzz_record(hdst__arena *arena, hdst__kind kind, uint64_t width)
{
    hdst__field *field = HDST__NEW(arena, hdst__field);
    *field = (hdst__field){"x", width == 1 ? hdst__type_scalar(kind) : hdst__type_array(arena, hdst__type_scalar(kind), width)};
    hdst__record *record = HDST__NEW(arena, hdst__record);
    *record = (hdst__record){.name = "row", .fields = field, .field_count = 1};
    CHECK(hdst__record_finish(arena, record, NULL));
    return record;
}

// All rows at once, and backwards in pieces of 5: the same outcome and, if good, the same bytes.
static void fill_twice(hdst__arena *arena, hdst__bound_source *bound, const hdst__record *record, uint64_t rows)
{
    const hdst__storage *storage = hdst__storage_make(arena, record, rows % 2 ? HDST__AOS : HDST__SOA, 0, rows);
    char *whole = calloc(1, hdst__storage_bytes(storage) + 1), *pieces = calloc(1, hdst__storage_bytes(storage) + 1);
    CHECK(whole && pieces);
    void *to_whole[] = {whole}, *to_pieces[] = {pieces};
    hdst_error error = HDST_ERROR_INIT;
    bool good = hdst__bound_source_fill(bound, 0, rows, storage, to_whole, 0, &error) == HDST_OK, pieces_good = true;
    CHECK(good || (error.code && error.message[0] && error.file[0]));
    for (uint64_t n = (rows + 4) / 5; n-- > 0;) {
        uint64_t first = n * 5, count = rows - first < 5 ? rows - first : 5;
        pieces_good &= hdst__bound_source_fill(bound, first, count, storage, to_pieces, first, NULL) == HDST_OK;
    }
    CHECK(good == pieces_good);
    CHECK(!good || !memcmp(whole, pieces, hdst__storage_bytes(storage)));
    free(whole);
    free(pieces);
}

static __attribute__((unused)) int fuzz_source(source_opener open_source, const uint8_t *data, size_t size)
{
    static const hdst__kind kinds[] = {HDST__F32, HDST__F64, HDST__I32, HDST__U8, HDST__BOOL};
    static const char *const columns[] = {NULL, NULL, NULL, "0", "1,0", "x", "0-1,y"};
    if (size < 1) return 0;
    hdst__kind kind = kinds[data[0] % 5];
    const char *list = columns[data[0] / 5 % 7];
    int fd = memfd_create("input", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);

    hdst_error error = HDST_ERROR_INIT;
    hdst__source *source = open_source(NULL, path, list, &error);
    CHECK(source || (error.code && error.message[0]));
    if (source && hdst__source_count(source, NULL, &error) != HDST_OK) {
        CHECK(error.code && error.message[0]);
        hdst__source_close(source);
        source = NULL;
    }
    if (source && source->width <= 256 && source->rows <= 1 << 16) {
        jmp_buf out_of_memory;
        hdst__arena arena;
        hdst__arena_init(&arena, NULL, &out_of_memory);
        CHECK(!setjmp(out_of_memory));
        hdst__bound_source *bound = NULL;
        hdst__record *record = fuzz_record(&arena, kind, source->width);
        hdst_status status = hdst__source_bind(source, record, &bound, &error);
        CHECK((status == HDST_OK) == (bound != NULL));
        if (bound) fill_twice(&arena, bound, record, source->rows);
        hdst__source_unbind(bound);
        hdst__arena_destroy(&arena);
    }
    hdst__source_close(source);
    close(fd);
    return 0;
}

#endif
