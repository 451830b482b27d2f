// SPDX-License-Identifier: Apache-2.0
// What operators' nodes share: what is known of their records, rows as records that a stage reads, figures of runs.
#include "plan/plan.h"

#include <string.h>

// --- What is known ---

bool hdst__node_has_run(const hdst__node *node) { return node->ran && !node->dropped; }

static bool all_known(hdst__node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!hdst__node_is_known(nodes[i])) return false;
    return true;
}

bool hdst__node_inputs_known(const hdst__node *node) { return all_known(node->inputs, node->input_count); }
bool hdst__plan_is_known(const hdst__plan *plan) { return all_known(plan->nodes, plan->node_count); }
bool hdst__node_is_known(const hdst__node *node) { return node->op->known(node); }

uint64_t hdst__node_version(const hdst__node *node) { return node->op->version ? node->op->version(node) : 0; }

bool hdst__node_is_range(const hdst__node *node, uint64_t *first) { return node->op->is_range && node->op->is_range(node, first); }

// --- Figures ---

static void add_device(hdst__run_stats *to, const hdst__device_use *use)
{
    uint32_t i = 0;
    while (i < to->device_count && strcmp(to->device[i].name, use->name)) i++;
    if (i == HDST__MOST_DEVICES) return;
    if (i == to->device_count) to->device[to->device_count++] = (hdst__device_use){0};
    memcpy(to->device[i].name, use->name, sizeof use->name);
    to->device[i].slices += use->slices;
    to->device[i].records += use->records;
    to->device[i].busy_seconds += use->busy_seconds;
}

void hdst__plan_add_stats(hdst__run_stats *to, const hdst__run_stats *from)
{
    to->records += from->records;
    to->total_seconds += from->total_seconds;
    to->read_seconds += from->read_seconds;
    to->compile_seconds += from->compile_seconds;
    to->run_seconds += from->run_seconds;
    to->bytes_to_device += from->bytes_to_device;
    to->bytes_from_device += from->bytes_from_device;
    to->cache_hit_bytes += from->cache_hit_bytes;
    to->cache_miss_bytes += from->cache_miss_bytes;
    to->skipped += from->skipped;
    to->fast_sums += from->fast_sums;
    for (uint32_t i = 0; i < from->device_count; i++) add_device(to, &from->device[i]);
    for (uint32_t i = 0; i < from->level_count; i++) {
        to->level[i].name = from->level[i].name;
        to->level[i].in += from->level[i].in;
        to->level[i].out += from->level[i].out;
    }
    if (from->level_count > to->level_count) to->level_count = from->level_count;
}

// --- Rows ---

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
    return (hdst__reader){fill_from_rows, node, node->row_count, record, HDST__AOS, 0, true, true};
}
