// SPDX-License-Identifier: Apache-2.0
// For tests of readers that make texts: a place for bytes, and records filled into every layout with it.
#ifndef TESTS_IO_TEXT_PLACE_H
#define TESTS_IO_TEXT_PLACE_H

#include "helper.h"

#include "engine/memory/reader.h"
#include "io/bound.h"
#include "record/text_bytes.h"
#include "record/text_span.h"

#include <pthread.h>

typedef struct bytes_place {
    hdst__bytes_place place;
    pthread_mutex_t mutex;
    char *block[4096];
    size_t blocks;
    uint64_t bytes, most;           // taken; that there are
} bytes_place;

static hdst_status take(void *user, uint64_t bytes, char **at, hdst_error *error)
{
    bytes_place *p = user;
    pthread_mutex_lock(&p->mutex);
    const bool fits = p->bytes + bytes <= p->most;
    if (fits) {
        cr_assert_lt(p->blocks, 4096);
        p->bytes += bytes;
        *at = p->block[p->blocks++] = calloc(1, bytes + 16);    // to the byte: a sanitizer sees one too many
    }
    pthread_mutex_unlock(&p->mutex);
    return fits ? HDST_OK : hdst__error_memory(error, "the test's texts");
}

static bytes_place *make_place(void)
{
    bytes_place *p = hdst__arena_alloc(&arena, sizeof *p);
    *p = (bytes_place){.place = {take, p}, .mutex = PTHREAD_MUTEX_INITIALIZER, .most = UINT64_MAX};
    return p;
}

static void free_place(bytes_place *p)
{
    for (size_t i = 0; i < p->blocks; i++) free(p->block[i]);
}

// As fill_layout of the helper, with a place for bytes, by the pool where there is one. NULL on an error; else the C structs, to be freed.
static __attribute__((unused)) void *fill_structs(hdst__bound_source *bound, const hdst__record *record, uint64_t rows, uint64_t piece, int which,
                                                  bytes_place *place, hdst__thread_pool *pool, hdst_error *error)
{
    hdst__storage storage = *hdst__storage_make(&arena, record, layouts[which].layout, layouts[which].block, rows + SHIFT);
    void *buffers[64];
    storage.text = &place->place;
    for (uint32_t b = 0; b < storage.buffers; b++) buffers[b] = malloc(storage.buffer_bytes[b]);
    const hdst__reader reader = {hdst__bound_source_fill, bound, rows, record, layouts[which].layout, layouts[which].block, .concurrent = true};
    hdst_status status = HDST_OK;
    for (uint64_t pieces = (rows + piece - 1) / piece; pieces-- > 0 && status == HDST_OK;) {
        const uint64_t first = pieces * piece, count = rows - first < piece ? rows - first : piece;
        status = pool ? hdst__reader_fill(&reader, pool, first, count, &storage, buffers, first + SHIFT, error)
                      : hdst__bound_source_fill(bound, first, count, &storage, buffers, first + SHIFT, error);
    }
    char *out = calloc(rows + 1, record->size);
    const hdst__storage *structs = hdst__storage_make(&arena, record, HDST__AOS, 0, rows);
    hdst__storage_copy(structs, (void *[]){out}, 0, &storage, (const void *const *)buffers, SHIFT, rows);
    for (uint32_t b = 0; b < storage.buffers; b++) free(buffers[b]);
    if (status == HDST_OK) return out;
    free(out);
    return NULL;
}

static __attribute__((unused)) void expect_text(const hdst__text_span *got, const char *bytes, size_t count, const char *what, size_t row)
{
    const hdst__text_span span = hdst__text_span_of(bytes, (uint32_t)count);
    cr_assert(got->length == count && !memcmp(hdst__text_bytes(got), bytes, count), "%s of row %zu is '%.*s' of %u bytes, not '%.*s'", what, row,
              (int)got->length, hdst__text_bytes(got), got->length, (int)count, bytes);
    cr_assert(!memcmp(&span, got, count <= HDST__TEXT_INLINE ? 16 : 8), "%s of row %zu: its span", what, row);
}

#endif
