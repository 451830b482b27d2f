// SPDX-License-Identifier: Apache-2.0
// A node's rows as records that a stage reads.
#include "plan/plan.h"

#include <string.h>

// Rows are C structs that nobody may lean on the layout of: a storage of its own says where their values are.
static hdst_status scatter(const hdst__allocator *allocator, const char *rows, uint64_t count, const hdst__storage *storage,
                           void *const *buffers, uint64_t to_first,
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

hdst__reader hdst__node_rows_reader(hdst__node *node, const hdst__record *record)
{
    return (hdst__reader){fill_from_rows, node, node->row_count, record, HDST__AOS, 0, true};
}
