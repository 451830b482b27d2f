// SPDX-License-Identifier: Apache-2.0
// How many vertices a graph has: one more than the largest number in its edges, which are read for that unless somebody has read them all.
#include "io/edges.h"

#include "base/cancel.h"
#include "base/costs_host.h"
#include "io/convert.h"

#include <stdatomic.h>

typedef struct scan {
    hdst__source *source;
    uint64_t block_rows;
    _Atomic uint64_t largest, failed;       // failed: the first block that could not be read
} scan;

static void raise(_Atomic uint64_t *largest, uint64_t to)
{
    uint64_t before = atomic_load(largest);
    while (before < to && !atomic_compare_exchange_weak(largest, &before, to)) {}
}

static hdst_status take_numbers(scan *s, hdst__kind kind, const char *numbers, uint64_t stride, uint64_t first, uint64_t count, size_t column,
                                uint64_t *room, hdst_error *error)
{
    uint64_t most = 0;
    if (hdst__edges_largest(kind, numbers, stride, count, &most)) {
        raise(&s->largest, most);
        return HDST_OK;
    }
    uint64_t fit = hdst__convert_strided(HDST__U64, room, sizeof *room, kind, numbers, stride, count);
    if (fit < count) return hdst__edges_refuse(s->source, first + fit, column, kind, numbers + fit * stride, error);
    for (uint64_t i = 0; i < count; i++) most = room[i] > most ? room[i] : most;
    raise(&s->largest, most);
    return HDST_OK;
}

// A text's numbers are read as uint64, which holds all.
static hdst_status read_rows(scan *s, uint64_t first, uint64_t count, char *rows, uint64_t *room, hdst_error *error)
{
    hdst__cell_form cells[HDST__EDGE_COLUMNS] = {{.kind = HDST__U64}, {.kind = HDST__U64}, {.kind = HDST__VOID}};
    hdst__source *source = s->source;
    const hdst__row_form as = {cells, source->column_count};
    hdst_status status = source->by_column ? HDST_OK : source->format->read(source, &as, first, count, rows, error);
    for (size_t c = 0; c < HDST__EDGE_WEIGHT && status == HDST_OK; c++) {
        const hdst__column *column = &source->columns[c];
        const hdst__kind kind = source->format->is_text ? HDST__U64 : column->kind;
        if (source->by_column) status = source->format->read_numbers(source, c, 0, first, count, rows, error);
        const uint64_t stride = source->by_column ? hdst__scalar_size(kind) : source->row_bytes;
        if (status == HDST_OK)
            status = take_numbers(s, kind, rows + (source->by_column ? 0 : column->offset), stride, first, count, c, room, error);
    }
    return status;
}

static hdst_status read_block(scan *s, uint64_t block, hdst_error *error)
{
    hdst__source *source = s->source;
    const uint64_t first = block * s->block_rows, left = source->rows - first, count = left < s->block_rows ? left : s->block_rows;
    const uint64_t bytes = source->row_bytes > sizeof(uint64_t) ? source->row_bytes : sizeof(uint64_t);
    uint64_t *room = hdst__alloc(source->allocator, count * (sizeof *room + bytes));
    if (!room) return hdst__error_memory(error, source->name);
    hdst_status status = hdst__cancel_check(((hdst__edges *)source->state)->cancel, first, source->rows, error);
    if (status == HDST_OK) status = read_rows(s, first, count, (char *)(room + count), room, error);
    hdst__free(source->allocator, room);
    return status;
}

static void work(void *user, uint64_t block)
{
    scan *s = user;
    if (read_block(s, block, NULL) == HDST_OK) return;
    uint64_t before = atomic_load(&s->failed);
    while (block < before && !atomic_compare_exchange_weak(&s->failed, &before, block)) {}
}

static hdst_status find_largest(hdst__source *source, hdst__thread_pool *threads, hdst_error *error)
{
    hdst__edges *edges = source->state;
    scan s = {.source = source, .block_rows = HDST__HOST_SCRATCH_BYTES / source->row_bytes, .failed = UINT64_MAX};
    const uint64_t blocks = source->rows / s.block_rows + (source->rows % s.block_rows > 0);
    if (threads) hdst__thread_pool_run(threads, blocks, work, &s);
    else for (uint64_t i = 0; i < blocks; i++) work(&s, i);
    if (s.failed != UINT64_MAX) {
        hdst_status status = read_block(&s, s.failed, error);
        if (status != HDST_OK) return status;
        return hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read", source->name);
    }
    edges->vertices = source->rows ? s.largest + 1 : 0;
    edges->has_vertices = true;
    return HDST_OK;
}

static hdst_status vertices_of_file(hdst__source *source, hdst__thread_pool *threads, uint64_t *vertices, hdst_error *error)
{
    hdst__edges *edges = source->state;
    if (!hdst__source_has_edges(source)) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' was not opened as a graph", source->name);
        hdst__error_hint(error, "hdst_source_open_edges does");
        return HDST_E_USAGE;
    }
    hdst_status status = hdst__source_count(source, threads, error);
    uint64_t largest;
    if (status == HDST_OK && !edges->has_vertices && source->rows && hdst__edges_saw_all(edges, source->rows, &largest)) {
        edges->vertices = largest + 1;
        edges->has_vertices = true;
    }
    if (status == HDST_OK && !edges->has_vertices) status = find_largest(source, threads, error);
    if (status == HDST_OK && edges->vertices > *vertices) *vertices = edges->vertices;
    return status;
}

hdst_status hdst__edges_vertices(hdst__source *source, hdst__thread_pool *threads, uint64_t *vertices, hdst_error *error)
{
    *vertices = 0;
    if (!source->parts) return vertices_of_file(source, threads, vertices, error);
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < source->part_count && status == HDST_OK; i++) status = vertices_of_file(source->parts[i], threads, vertices, error);
    return status;
}
