// SPDX-License-Identifier: Apache-2.0
// What a stage reads when its input was computed, or is a part or several of other datasets.
#include "plan/plan.h"

#include <string.h>

// Rows are C structs that nobody may lean on the layout of: a storage of its own says where their values are.
static hdst_status scatter(const hdst__allocator *allocator, const char *rows, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                           hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, allocator, &out_of_memory);
    hdst_status status = HDST_OK;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "records between stages");
    } else {
        const hdst__storage *structs = hdst__storage_make(&arena, storage->record, HDST__AOS, 0, count);
        const void *from[] = {rows};
        if (structs) hdst__storage_copy(storage, buffers, to_first, structs, from, 0, count);
        else status = hdst__error_memory(error, "records between stages");
    }
    hdst__arena_destroy(&arena);
    return status;
}

static hdst_status fill_from_rows(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                  hdst_error *error)
{
    const hdst__node *node = user;
    uint64_t size = storage->record->size;
    const char *rows = (const char *)node->rows + first * size;
    if (count == 0) return HDST_OK;
    if (storage->layout != HDST__AOS) return scatter(HDST__ALLOCATOR(node->dataset), rows, count, storage, buffers, to_first, error);
    memcpy((char *)buffers[0] + to_first * size, rows, (size_t)(count * size));
    return HDST_OK;
}

hdst__reader hdst__reader_of_rows(hdst__node *node, const hdst__record *record)
{
    return (hdst__reader){fill_from_rows, node, node->row_count, record, HDST__AOS, 0, true};
}

static hdst_status fill_from_slice(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                   hdst_error *error)
{
    const hdst__node *node = user;
    const hdst__reader *from = &node->inputs[0]->reader;
    return from->fill(from->user, node->dataset->first + first, count, storage, buffers, to_first, error);
}

hdst__reader hdst__reader_of_slice(hdst__node *node)
{
    const hdst__reader *from = &node->inputs[0]->reader;
    const hdst_dataset *slice = node->dataset;
    uint64_t left = slice->first < from->records ? from->records - slice->first : 0;
    return (hdst__reader){fill_from_slice, node, slice->count < left ? slice->count : left, from->record, from->layout, from->block, from->held};
}

static hdst_status fill_from_union(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                   hdst_error *error)
{
    const hdst__node *node = user;
    for (size_t i = 0; i < node->input_count && count; i++) {
        const hdst__reader *from = &node->inputs[i]->reader;
        if (first >= from->records) {
            first -= from->records;
            continue;
        }
        uint64_t part = from->records - first < count ? from->records - first : count;
        hdst_status status = from->fill(from->user, first, part, storage, buffers, to_first, error);
        if (status != HDST_OK) return status;
        first = 0;
        count -= part;
        to_first += part;
    }
    return HDST_OK;
}

hdst_status hdst__reader_of_union(hdst__node *node, hdst__reader *reader, hdst_error *error)
{
    const hdst__reader *from = &node->inputs[0]->reader;
    *reader = (hdst__reader){fill_from_union, node, 0, from->record, from->layout, from->block, false};
    for (size_t i = 0; i < node->input_count; i++) reader->held |= node->inputs[i]->reader.held;
    for (size_t i = 0; i < node->input_count; i++)
        if (__builtin_add_overflow(reader->records, node->inputs[i]->reader.records, &reader->records))
            return hdst__error_set(error, HDST_E_USAGE, "a union of more than 2^64 records");
    return HDST_OK;
}
