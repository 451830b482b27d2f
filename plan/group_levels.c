// SPDX-License-Identifier: Apache-2.0
// A function over runs of equal keys, level by level: runs are cut into pieces, a stage runs over these, what they give is the next level's records.
#include "plan/group_node.h"

#include "engine/engine.h"
#include "plan/replay_save.h"
#include "codegen/ir/fold_tree.h"

#include <stdio.h>
#include <string.h>

typedef hdst__group_node group_node;

// --- A level ---

static hdst_status fill_pieces(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                               uint64_t to_first, hdst_error *error)
{
    (void)error;
    const group_node *group = user;
    memcpy((char *)buffers[0] + to_first * storage->record->size, group->piece + first, count * sizeof *group->piece);      // AoS: the reader says so
    return HDST_OK;
}

void hdst__group_drop_pieces(group_node *group)
{
    hdst__free(hdst__engine_allocator(group->grouping.engine), group->cut);
    group->piece = group->cut = NULL;
    group->piece_count = 0;
}

// Runs as they are.
static hdst_status whole_runs(group_node *group)
{
    hdst__group_drop_pieces(group);
    group->piece = group->grouping.run;
    group->piece_count = group->grouping.run_count;
    return HDST_OK;
}

// Cuts the runs into pieces of at most `most` records; run i becomes the run of what its pieces give.
static hdst_status cut_runs(group_node *group, uint64_t most, hdst_error *error)
{
    hdst__engine *engine = group->grouping.engine;
    uint64_t pieces = 0;
    for (uint64_t i = 0; i < group->grouping.run_count; i++) pieces += (group->grouping.run[i].count - 1) / most + 1;
    hdst__group_drop_pieces(group);
    group->cut = hdst__budget_alloc(hdst__engine_memory(engine), HDST__OWNER_SORTS, pieces * sizeof *group->cut, "runs of equal keys", error);
    if (!group->cut) return HDST_E_MEMORY;
    group->piece = group->cut;
    for (uint64_t i = 0; i < group->grouping.run_count; i++) {
        hdst__run *run = &group->grouping.run[i];
        const uint64_t before = group->piece_count;
        for (uint64_t at = 0; at < run->count; at += most)
            group->cut[group->piece_count++] = (hdst__run){run->first + at, run->count - at < most ? run->count - at : most};
        *run = (hdst__run){before, group->piece_count - before};
    }
    return HDST_OK;
}

// The stage counts runs; people know keys.
static void name_group(const hdst__node *node, const char *rows, hdst_error *error)
{
    const group_node *group = node->own;
    char key[200], *at = strstr(error->message, " in record ");
    if (error->code != HDST_E_RECORD || !at || error->record >= group->piece_count) return;
    if (!rows && hdst__value_rows_read(group->grouping.there, (const void **)&rows, NULL) != HDST_OK) return;
    const hdst__record *record = node->dataset->parent->record;
    const hdst__group_own *own = node->dataset->own;
    const hdst__run failed = group->piece[error->record];
    hdst__fields_describe(record, own->key.place, own->key.count, rows + failed.first * record->size, key, sizeof key);
    snprintf(at, sizeof error->message - (size_t)(at - error->message), " in the records with %s", key);
    uint64_t low = group->cut ? 0 : error->record, high = group->cut ? group->grouping.run_count : low + 1;     // which key's piece it is
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (group->grouping.run[middle].first <= error->record) low = middle;
        else high = middle;
    }
    error->record = low;
    hdst__replay_save_group(node, rows + failed.first * record->size, failed.count, error);
}

// The texts of what the stage gave last as long as those of what it gives later.
static hdst_status hold_texts(group_node *group, hdst__text_heap *texts, hdst_error *error)
{
    if (!texts) return HDST_OK;
    if (!group->texts) group->texts = hdst__text_heap_create(hdst__engine_runtime(group->grouping.engine), HDST__OWNER_OUTPUT);
    return group->texts && hdst__text_heap_holds(group->texts, texts) ? HDST_OK : hdst__error_memory(error, "texts of groups");
}

// What no further level stands on stays where the stage has it.
static hdst_status take_output(group_node *group, const hdst__stage_output *output, hdst__output **to, hdst_error *error)
{
    const hdst_status status = hold_texts(group, output->texts, error);
    if (status != HDST_OK || group->tree) return status == HDST_OK ? hdst__output_add(*to, output->records, output->record_count, error) : status;
    group->given = (hdst__output){.records = (char *)(uintptr_t)output->records, .count = output->record_count, .record_bytes = (*to)->record_bytes};
    *to = &group->given;
    return HDST_OK;
}

// *to: where they are put, and then where they are.
static hdst_status run_pieces(hdst__node *node, const char *rows, uint64_t row_count, hdst__output **to, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    hdst__stage_output output = {0};
    const hdst__reader reader = {.fill = fill_pieces, .user = group, .records = group->piece_count, .record = group->call.func->params[0].record,
                                 .layout = HDST__AOS, .concurrent = true};
    const hdst__stage_spec spec = {.kind = HDST__STAGE_MAP, .func = group->call.func, .reader = reader, .may_spill = group->emits};
    hdst__plan_param *table = &group->call.params[HDST__GROUP_RECORDS];
    *table = (hdst__plan_param){.function = table->function, .name = table->name, .data = rows, .there = rows ? NULL : group->grouping.there, .rows = row_count,
                                .version = ++group->version};
    hdst_status status = HDST_OK;
    if (group->call.stage) status = hdst__stage_set_input(group->call.stage, &reader, NULL, error);
    else group->call.stage = hdst__stage_create(group->grouping.engine, &spec);
    if (!group->call.stage) return hdst__error_memory(error, "a stage");
    if (status == HDST_OK) status = hdst__stage_call_values(&group->call, error);
    if (status != HDST_OK) return status;
    status = hdst__stage_run(group->call.stage, group->call.values, &output, error);
    hdst__plan_add_stats(stats, hdst__stage_stats(group->call.stage));
    if (error && status != HDST_OK) name_group(node, rows, error);
    hdst__output_reset(*to);
    return status == HDST_OK ? take_output(group, &output, to, error) : status;
}

// --- All levels ---

// Levels further up are a 64th as long.
static void note_devices(group_node *group)
{
    if (group->levels != 1 || group->piece_count <= group->longest) return;
    group->longest = group->piece_count;
    group->devices.length = 0;
    group->devices.failed = false;
    hdst__stage_explain_devices(group->call.stage, &group->devices);
}

static bool has_one_each(const group_node *group)
{
    for (uint64_t i = 0; i < group->grouping.run_count; i++)
        if (group->grouping.run[i].count > 1) return false;
    return true;
}

hdst_status hdst__group_run_levels(hdst__node *node, const char *rows, uint64_t count, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    hdst_status status = HDST_OK;
    *result = &group->level[0];
    hdst__output_reset(&group->level[0]);
    for (group->levels = 0; status == HDST_OK && count;) {
        hdst__output *to = &group->level[group->levels++ % 2];
        status = group->tree ? cut_runs(group, HDST__FOLD_RECORDS, error) : whole_runs(group);
        if (status == HDST_OK) status = run_pieces(node, rows, count, &to, stats, error);
        if (status == HDST_OK) note_devices(group);
        if (group->levels == 1) group->partial += to->count;
        *result = to;
        rows = to->records;
        count = to->count;
        if (!group->tree || has_one_each(group)) break;
    }
    hdst__group_drop_pieces(group);
    return status;
}
