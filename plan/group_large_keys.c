// SPDX-License-Identifier: Apache-2.0
// Keys with more records than the memory budget has room for.
//
// A reduce takes them piece by piece. From left to right, what came of the pieces so far stands before the records of the next. On a tree, pieces are
// whole subtrees (64, 4096, ... records), so their results are what the tree has there, and the rest of the tree stands on those: the same bits as
// with all records at once.
//
// A group function may go over its records as often as it likes. They are written to a temporary file in their order, and the function reads that as
// the rows of its table: pages of the file, which the system takes back when memory is short. A device with memory of its own gets a copy.
#include "plan/group_node.h"
#include "shuffle/group/group_large.h"

#include "engine/engine.h"
#include "engine/memory/spill.h"
#include "codegen/ir/fold_tree.h"
#include "base/costs_host.h"

#include <string.h>

typedef hdst__group_node group_node;

// Memory for records as they are read.
typedef struct piece {
    char *rows;
    uint64_t most, bytes;
} piece;

static hdst_status take_piece(const group_node *group, uint64_t most, piece *p, hdst_error *error)
{
    hdst__engine *engine = group->grouping.engine;
    *p = (piece){.most = most, .bytes = most * group->grouping.record->size};
    p->rows = hdst__budget_alloc(hdst__engine_memory(engine), HDST__OWNER_SORTS, p->bytes, "records of one key", error);
    return p->rows ? HDST_OK : HDST_E_MEMORY;
}

static void free_piece(const group_node *group, piece *p)
{
    hdst__free(hdst__engine_allocator(group->grouping.engine), p->rows);
    *p = (piece){0};
}

// --- Reduces ---

// Run `k` alone, of these records: its result, or none where it failed and is left out.
static hdst_status reduce_rows(hdst__node *node, uint64_t k, const char *rows, uint64_t count, const hdst__output **result,
                               hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    hdst__run *all = group->grouping.run, one = {0, count};
    const uint64_t runs = group->grouping.run_count;
    group->grouping.run = &one;
    group->grouping.run_count = 1;
    hdst_status status = hdst__group_run_levels(node, rows, count, result, stats, error);
    group->grouping.run = all;
    group->grouping.run_count = runs;
    if (status == HDST_E_RECORD && error) error->record = k;
    return status;
}

// Each piece begins with what came of those before it.
static hdst_status reduce_left_to_right(hdst__node *node, uint64_t k, hdst__group_large *large, const piece *p, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    const uint64_t size = group->grouping.record->size;
    const hdst__output *result = NULL;
    uint64_t carried = 0, count;
    for (;;) {
        hdst_status status = hdst__group_large_next(large, p->rows + carried * size, p->most - carried, &count, error);
        if (status != HDST_OK || !count) return status == HDST_OK && result ? hdst__output_add(&group->large, p->rows, 1, error) : status;
        status = reduce_rows(node, k, p->rows, carried + count, &result, stats, error);
        if (status != HDST_OK || !result->count) return status;
        memcpy(p->rows, result->records, size);
        carried = 1;
    }
}

static hdst_status reduce_subtrees(hdst__node *node, uint64_t k, hdst__group_large *large, const piece *p, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    const hdst__output *result = NULL;
    hdst__output_reset(&group->carried);
    for (;;) {
        uint64_t count;
        hdst_status status = hdst__group_large_next(large, p->rows, p->most, &count, error);
        if (status == HDST_OK && !count) break;
        if (status == HDST_OK) status = reduce_rows(node, k, p->rows, count, &result, stats, error);
        if (status == HDST_OK) status = hdst__output_add(&group->carried, result->records, 1, error);
        if (status != HDST_OK) return status;
    }
    const uint64_t partial = group->partial, levels = group->levels;
    hdst_status status = reduce_rows(node, k, group->carried.records, group->carried.count, &result, stats, error);
    group->partial = partial;           // these are not the lowest level
    group->levels += levels;
    return status == HDST_OK ? hdst__output_add(&group->large, result->records, 1, error) : status;
}

// The largest subtree of records that fit, so that there are 64 at least.
static uint64_t subtree(uint64_t most)
{
    uint64_t records = HDST__FOLD_RECORDS;
    while (records <= most / HDST__FOLD_RECORDS) records *= HDST__FOLD_RECORDS;
    return records;
}

static hdst_status reduce_all(hdst__node *node, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    hdst__group *g = &group->grouping;
    piece p;
    hdst_status status = take_piece(group, group->tree ? subtree(g->most) : g->most, &p, error);
    for (uint64_t k = 0; k < g->run_count && status == HDST_OK; k++) {
        hdst__group_large large;
        status = hdst__group_large_open(&large, g, ((group_node *)node->own)->input, k, error);
        if (status == HDST_OK) status = (group->tree ? reduce_subtrees : reduce_left_to_right)(node, k, &large, &p, stats, error);
        hdst__group_large_close(&large);
    }
    free_piece(group, &p);
    return status;
}

// --- Group functions ---

static hdst_status write_key(hdst__node *node, uint64_t k, const piece *p, hdst__spill *file, hdst_error *error)
{
    const hdst__group *g = &((group_node *)node->own)->grouping;
    hdst__group_large large;
    uint64_t count = p->most;
    hdst_status status = hdst__group_large_open(&large, &((group_node *)node->own)->grouping, ((group_node *)node->own)->input, k, error);
    while (status == HDST_OK && count) {
        status = hdst__group_large_next(&large, p->rows, p->most, &count, error);
        if (status == HDST_OK) status = hdst__spill_add(file, p->rows, count * g->record->size, error);
    }
    hdst__group_large_close(&large);
    return status;
}

static hdst_status write_all(hdst__node *node, hdst__spill *file, hdst_error *error)
{
    group_node *group = node->own;
    const hdst__group *g = &group->grouping;
    const uint64_t fit = HDST__HOST_GROUP_WRITE_BYTES / g->record->size + 1;
    piece p;
    hdst_status status = take_piece(group, fit < g->most ? fit : g->most, &p, error);
    for (uint64_t k = 0; k < g->run_count && status == HDST_OK; k++) status = write_key(node, k, &p, file, error);
    free_piece(group, &p);
    return status;
}

static hdst_status run_over_file(hdst__node *node, const hdst__spill *file, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    const void *rows;
    hdst_status status = hdst__spill_map(file, &rows, error);
    if (status != HDST_OK) return status;
    status = hdst__group_run_levels(node, rows, file->bytes / group->grouping.record->size, result, stats, error);
    hdst__spill_unmap_read(hdst__engine_runtime(group->grouping.engine), file, rows);
    return status;
}

static hdst_status run_function(hdst__node *node, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    hdst__spill file = {0};
    hdst_status status = hdst__spill_open(hdst__engine_runtime(((const group_node *)node->own)->grouping.engine), &file, error);
    if (status == HDST_OK) status = write_all(node, &file, error);
    if (status == HDST_OK) status = run_over_file(node, &file, result, stats, error);
    ((group_node *)node->own)->large_bytes += file.bytes;
    hdst__spill_close(&file);
    return status;
}

hdst_status hdst__group_run_large(hdst__node *node, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    group->large_keys += group->grouping.run_count;
    for (uint64_t k = 0; k < group->grouping.run_count; k++) group->records += group->grouping.run[k].count;
    hdst__output_reset(&group->large);
    *result = &group->large;
    return group->reduces ? reduce_all(node, stats, error) : run_function(node, result, stats, error);
}
