// SPDX-License-Identifier: Apache-2.0
// Functions over the records of each key. The records are ordered by key on the host (shuffle/group/group.h); then a stage runs over the runs of
// equal keys, each of which gives one record: it reads the ordered records as the rows of a table (codegen/lower/lower_group.c,
// codegen/lower/operator_group_function.c).
//
// An associative reduce goes up a tree, as without keys: runs are cut into pieces of 64 records, what these give again, until each key has one
// record. So a key with very many records keeps all lanes of a device busy.
#include "plan/group_node.h"

#include "engine/engine.h"
#include "engine/common/run_stats.h"
#include "plan/replay_save.h"
#include "codegen/lower/lower.h"
#include "base/costs_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_REFUSALS = 10 };    // of which each doubles the runs until the device is asked again

typedef hdst__group_node group_node;

// --- Making ---

static bool is_key(const hdst__group_own *own, uint32_t leaf)
{
    for (size_t i = 0; i < own->key.count; i++)
        if (own->key.place[i].leaf == leaf) return true;
    return false;
}

// The leaves of a reduce's record in that of the keyed ones.
static const uint32_t *value_leaves(hdst__arena *arena, const hdst_dataset *dataset)
{
    const hdst__record *keyed = dataset->parent->record;
    uint32_t *value = HDST__NEW_ARRAY(arena, uint32_t, keyed->leaf_count), count = 0;
    for (uint32_t l = 0; l < keyed->leaf_count; l++)
        if (!is_key(dataset->own, l)) value[count++] = l;
    return value;
}

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, const uint32_t *value, hdst_error *error)
{
    hdst_module *module = dataset->spec->module;
    const ast_function *function = dataset->spec->function;
    const hdst__group_own *own = dataset->own;
    hdst__key_leaf *key = HDST__NEW_ARRAY(arena, hdst__key_leaf, own->key.count);
    for (size_t i = 0; i < own->key.count; i++) key[i] = (hdst__key_leaf){own->key.place[i].leaf, own->key.place[i].element};
    ir_func *func = hdst__lower_group(arena, module->tree, function, key);
    if (!func) {
        if (hdst__diags_to_error(&module->diags, HDST_E_KERNEL, error) == HDST_OK)
            hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' cannot be run yet", function->name);
        return NULL;
    }
    if (function->kind == AST_REDUCE) func = hdst__operator_group_reduce(arena, func, dataset->parent->record, value);
    return hdst__plan_name_params(arena, dataset, func);
}

static void bind_params(hdst__arena *arena, hdst__stage_call *call, const hdst_dataset *dataset)
{
    hdst__stage_call_bind(arena, call, HDST__GROUP_RECORDS);
    for (size_t i = 0; i < call->func->param_count; i++) call->params[i] = hdst__plan_param_of(call->func, &call->func->params[i], dataset);
}

// Where parts of the user's are kept, a key must not lie in two. What the values are reduced by does not matter for that.
static void tell_keys_apart(hdst__arena *arena, hdst__node *node)
{
    const hdst_dataset *dataset = node->dataset;
    const hdst__group_own *own = dataset->own;
    const size_t leaf_count = dataset->record->leaf_count;
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, leaf_count);
    hdst__accumulate_op *laws = HDST__NEW_ARRAY(arena, hdst__accumulate_op, leaf_count);
    for (size_t i = 0; i < leaf_count; i++) laws[i] = HDST__SUM;
    for (size_t i = 0; i < own->key.count; i++) leaves[i] = own->key.place[i].leaf;
    hdst__aggregate_spec *spec = HDST__NEW(arena, hdst__aggregate_spec);
    *spec = (hdst__aggregate_spec){.record = dataset->record, .key_leaves = leaves, .key_count = (uint32_t)own->key.count, .laws = laws};
    group_node *group = node->own;
    group->partitions_kept.spec = spec;
    hdst__by_partition_make(arena, node, &group->partitions_kept);
}

hdst_status hdst__group_node_build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    const hdst__group_own *own = dataset->own;
    const ast_function *function = dataset->spec->function;
    hdst__engine *engine = dataset->object.context->engine;
    group_node *group = node->own = HDST__NEW(arena, group_node);
    node->call = &group->call;
    group->value = value_leaves(arena, dataset);
    ir_func *func = lower(arena, dataset, group->value, error);
    if (!func) return error->code;
    group->call.func = func;
    bind_params(arena, &group->call, dataset);
    group->part_count = hdst__named_keys_fields(arena, &((const hdst__group_own *)dataset->own)->key, dataset->parent->record, &group->part);
    group->reduces = function->kind == AST_REDUCE;
    group->emits = func->emits;
    // Where records that fail are left out, what remains of a run may be nothing: no tree then.
    group->tree = group->reduces && function->reduce_class != AST_ORDERED && !hdst__engine_settings(engine)->skip_failed;
    hdst__group_init(&group->grouping, engine, dataset->parent->record, group->part, group->part_count);
    group->grouping.dense = own->dense;
    group->grouping.dense_rows = own->rows;
    const ir_param *output = &func->params[func->param_count - 1];
    const hdst__record *gives = output->given ? output->given : output->record;
    for (int i = 0; i < 2; i++) hdst__output_init(&group->level[i], hdst__engine_owned(engine, HDST__OWNER_OUTPUT), hdst__engine_memory(engine), gives->size);
    hdst__buffer_init(&group->devices, HDST__ALLOCATOR(dataset));
    hdst__output_init(&group->result, hdst__engine_owned(engine, HDST__OWNER_OUTPUT), hdst__engine_memory(engine), dataset->record->size);
    hdst__output_init(&group->large, hdst__engine_owned(engine, HDST__OWNER_OUTPUT), hdst__engine_memory(engine), gives->size);
    hdst__output_init(&group->carried, hdst__engine_owned(engine, HDST__OWNER_OUTPUT), hdst__engine_memory(engine), gives->size);
    if (group->reduces && !own->dense) tell_keys_apart(arena, node);
    if (own->dense) {
        group->identity = hdst__plan_identity(arena, function, dataset->record, error);
        if (!group->identity) return error->code;
    }
    return hdst__plan_passes(func, error);
}

// --- Running ---

static bool is_dense(const hdst__node *node) { return ((const hdst__group_own *)node->dataset->own)->dense; }

// The identity in every record.
static hdst_status begin_dense(hdst__node *node, hdst_error *error)
{
    group_node *group = node->own;
    hdst__output *to = &group->result;
    const uint64_t rows = ((const hdst__group_own *)node->dataset->own)->rows, size = node->dataset->record->size;
    hdst_status status = rows ? hdst__output_reserve(to, rows, error) : HDST_OK;
    if (status != HDST_OK) return status;
    for (uint64_t i = 0; i < rows; i++) memcpy(to->records + i * size, group->identity, size);
    to->count = rows;
    return HDST_OK;
}

// What the keys gave, at their places.
static void put_dense(hdst__node *node, const hdst__output *from)
{
    const group_node *group = node->own;
    const hdst__record *keyed = node->dataset->parent->record, *values = node->dataset->record;
    for (uint64_t i = 0; i < from->count; i++) {
        const char *row = from->records + i * keyed->size;
        char *to = group->result.records + hdst__key_field_read(group->part, row) * values->size;
        for (uint32_t l = 0; l < values->leaf_count; l++)
            for (uint64_t e = 0; e < values->leaves[l].elements; e++)
                memcpy(to + hdst__leaf_offset(&values->leaves[l], e), row + hdst__leaf_offset(&keyed->leaves[group->value[l]], e),
                       hdst__scalar_size(values->leaves[l].kind));
    }
}

// Pieces of 64 records are reduced by a lane, what they give further up.
static void count_levels(const group_node *group, uint64_t results, hdst__run_stats *stats)
{
    hdst__run_stats counts = {0};
    hdst__levels_count(&counts, HDST__HPR_CLUSTER, group->records, group->partial, results);
    hdst__plan_add_stats(stats, &counts);
}

static hdst_status key_error(const hdst__node *node, hdst_error *error)
{
    const hdst_dataset *dataset = node->dataset;
    const hdst__group *g = &((group_node *)node->own)->grouping;
    const char *name = dataset->parent->record->leaves[((const hdst__group_own *)dataset->own)->key.place[0].leaf].path;
    const bool is_signed = hdst__kind_is_signed(g->key.field[0].kind);
    char key[32];
    snprintf(key, sizeof key, is_signed ? "%" PRId64 : "%" PRIu64, g->bad_key);
    if (g->dense_rows)
        hdst__error_set(error, HDST_E_RECORD, "key '%s' is %s, out of range 0..%" PRIu64 ", in record %" PRIu64, name, key,
                        g->dense_rows - 1, g->bad_record);
    else hdst__error_set(error, HDST_E_RECORD, "key '%s' is %s in record %" PRIu64 ", and the result has no records", name, key, g->bad_record);
    if (error) error->record = g->bad_record;
    return HDST_E_RECORD;
}

static void forget_file(group_node *group)
{
    if (group->mapped) hdst__spill_unmap_read(hdst__engine_runtime(group->grouping.engine), &group->file, group->mapped);
    hdst__spill_close(&group->file);
    group->mapped = NULL;
    group->filed = (hdst__output){0};
}

static hdst_status add_to_file(group_node *group, const hdst__output *from, hdst_error *error)
{
    hdst__output *so_far = &group->result;
    const uint64_t size = so_far->record_bytes;
    hdst_status status = HDST_OK;
    if (!group->file.open) {
        status = hdst__spill_open(hdst__engine_runtime(group->grouping.engine), &group->file, error);
        if (status == HDST_OK) status = hdst__spill_add(&group->file, so_far->records, so_far->count * size, error);
        hdst__output_destroy(so_far);
    }
    return status == HDST_OK ? hdst__spill_add(&group->file, from->records, from->count * size, error) : status;
}

static hdst_status add_result(group_node *group, const hdst__output *from, hdst_error *error)
{
    const uint64_t bytes = (group->result.count + from->count) * from->record_bytes, most = group->room / HDST__HOST_GROUP_RESULT_SHARE;
    if (group->file.open || bytes > most) return add_to_file(group, from, error);
    return hdst__output_add(&group->result, from->records, from->count, error);
}

static hdst_status end_file(group_node *group, const hdst__output **result, hdst_error *error)
{
    if (!group->file.open || !group->file.bytes) return HDST_OK;
    hdst_status status = hdst__spill_map(&group->file, &group->mapped, error);
    group->filed = (hdst__output){.records = (char *)group->mapped, .count = group->file.bytes / group->result.record_bytes,
                                  .record_bytes = group->result.record_bytes};
    *result = &group->filed;
    return status;
}

// A part of the keys, at most all of them.
static hdst_status run_part(hdst__node *node, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    const hdst__output *from = NULL;
    group->keys += group->grouping.run_count;
    if (!group->grouping.large) group->records += group->grouping.row_count;
    hdst_status status = group->grouping.large ? hdst__group_run_large(node, &from, stats, error)
                                               : hdst__group_run_levels(node, group->grouping.rows, group->grouping.row_count, &from, stats, error);
    if (status != HDST_OK) return status;
    *result = is_dense(node) || !group->grouping.whole ? &group->result : from;
    if (is_dense(node)) put_dense(node, from);
    else if (!group->grouping.whole) status = add_result(group, from, error);
    return status;
}

static hdst_status run_parts(hdst__node *node, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    const hdst__reader *input = group->input;
    hdst_status status = is_dense(node) ? begin_dense(node, error) : HDST_OK;
    if (status == HDST_OK) status = hdst__group_start(&group->grouping, input, error);
    for (bool more = true; status == HDST_OK;) {
        status = hdst__group_next(&group->grouping, input, &more, error);
        if (status != HDST_OK || !more) break;
        if (group->grouping.bad_record != UINT64_MAX && !hdst__engine_settings(group->grouping.engine)->skip_failed) status = key_error(node, error);
        else status = run_part(node, result, stats, error);
    }
    hdst__group_rest(&group->grouping);
    return status;
}

static const char no_room[] = "the device has no room for them and the function";

// What the function has on the device: its values, and records that it was given of the host's.
static void forget_stage(group_node *group)
{
    if (group->call.stage) hdst__stage_forget_plan(group->call.stage);
}

// Memory that was short may be there by the next run. Where it is short again and again, the device is asked more and more seldom. What the last run on the
// host left there goes before, so that nothing is in the way.
static void offer(group_node *group)
{
    group->grouping.may_stay = !group->rest;
    if (!group->rest && group->refusals) forget_stage(group);
    if (!group->rest) return;
    group->rest--;
    group->grouping.why_host = no_room;
}

static void note_refusal(group_node *group)
{
    group->grouping.may_stay = false;
    group->grouping.why_host = no_room;
    group->rest = (UINT64_C(1) << group->refusals) - 1;
    if (group->refusals < MOST_REFUSALS) group->refusals++;
}

// On the host where a device has room for the records, but not for the function beside them.
static hdst_status run_parts_somewhere(hdst__node *node, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    hdst__run_stats tried = {0};
    hdst_error full = HDST_ERROR_INIT;
    offer(group);
    hdst_status status = run_parts(node, result, &tried, &full);
    const bool there = group->grouping.may_stay && !group->grouping.why_host;
    if (status == HDST_OK && there) group->refusals = 0;
    if (status == HDST_E_MEMORY && there) {
        hdst__group_release(&group->grouping);
        forget_stage(group);
        note_refusal(group);
        group->keys = group->records = group->partial = group->longest = 0;
        hdst__plan_add_stats(&tried, &group->grouping.stats);
        hdst__run_stats_forget_counts(&tried);
        full = (hdst_error)HDST_ERROR_INIT;
        status = run_parts(node, result, &tried, &full);
    }
    hdst__plan_add_stats(stats, &tried);
    if (status != HDST_OK && error) *error = full;
    return status;
}

static hdst_status run_input(hdst__node *node, const hdst__reader *input, const hdst__output **result, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    group->input = input;
    *result = &group->result;
    hdst__output_reset(&group->result);
    forget_file(group);
    group->room = hdst__budget_left(hdst__engine_memory(group->grouping.engine)) + group->result.capacity * group->result.record_bytes;
    hdst_status status = run_parts_somewhere(node, result, stats, error);
    if (status == HDST_OK) status = end_file(group, result, error);
    hdst__plan_add_stats(stats, &group->grouping.stats);
    stats->skipped += group->grouping.skipped;
    if (group->grouping.parts > group->parts) group->parts = group->grouping.parts;
    return status;
}

static hdst_status run_part_of_user(hdst__node *node, const hdst__reader *part, uint64_t first, hdst__run_stats *stats, hdst_error *error)
{
    (void)first;
    const hdst__output *result;
    const hdst_status status = run_input(node, part, &result, stats, error);
    return status == HDST_OK ? hdst__by_partition_add(&((group_node *)node->own)->partitions_kept, result->records, result->count, error) : status;
}

static hdst_status run_all(hdst__node *node, hdst__run_stats *stats, hdst_error *error)
{
    group_node *group = node->own;
    const hdst__output *result;
    hdst_status status;
    if (group->partitions_kept.partition) {
        status = hdst__by_partition_create(node, &group->partitions_kept, error);
        return status == HDST_OK ? hdst__by_partition_run(node, &group->partitions_kept, run_part_of_user, stats, error) : status;
    }
    hdst__node *input = node->inputs[0];
    group->grouping.cache = input->resident;
    group->grouping.lies = !input->resident && input->row_count == input->reader.records ? input->rows : NULL;
    status = run_input(node, &input->reader, &result, stats, error);
    group->grouping.cache = NULL;
    group->grouping.lies = NULL;
    if (status != HDST_OK) return status;
    node->rows = result->records;
    node->row_count = result->count;
    return HDST_OK;
}

static void drop_texts(group_node *group)
{
    hdst__text_heap_drop(group->texts);
    group->texts = NULL;
}

hdst_status hdst__group_node_run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    group_node *group = node->own;
    node->ran = false;
    node->part_counts = NULL;
    group->keys = group->records = group->partial = group->parts = group->large_keys = group->large_bytes = group->longest = 0;
    drop_texts(group);
    const hdst_status status = run_all(node, &plan->stats, error);
    if (status != HDST_OK) return status;
    hdst__node_drop_texts(node);
    node->texts = hdst__text_heap_hold(group->texts);
    count_levels(group, node->row_count, &plan->stats);
    node->ran = true;
    node->reader = hdst__node_rows_reader(node, node->dataset->record);
    return HDST_OK;
}

// --- Ending ---

static void free_records(group_node *group)
{
    if (!group->grouping.engine) return;        // it was not built
    hdst__group_release(&group->grouping);
    hdst__group_drop_pieces(group);
    forget_file(group);
    drop_texts(group);
    for (int i = 0; i < 2; i++) hdst__output_destroy(&group->level[i]);
    hdst__output_destroy(&group->result);
    hdst__output_destroy(&group->large);
    hdst__output_destroy(&group->carried);
}

void hdst__group_node_drop(hdst__node *node)
{
    group_node *group = node->own;
    if (group->call.stage) hdst__stage_forget(group->call.stage);
    free_records(group);
    hdst__by_partition_drop(node, &group->partitions_kept);
    if (group->partitions_kept.aggregate) hdst__aggregate_forget(group->partitions_kept.aggregate);
}

void hdst__group_node_release(hdst__node *node)
{
    group_node *group = node->own;
    hdst__stage_call_end(&group->call);
    free_records(group);
    hdst__buffer_destroy(&group->devices);
    hdst__aggregate_destroy(group->partitions_kept.aggregate);
    group->partitions_kept.aggregate = NULL;
    hdst__by_partition_drop(node, &group->partitions_kept);
}

static void explain_last_run(const group_node *group, hdst__buffer *out)
{
    char bytes[24];
    hdst__buffer_printf(out, "  last run: %" PRIu64 " keys of %" PRIu64 " records, %" PRIu64 " level%s\n", group->keys, group->records,
                        group->levels, group->levels == 1 ? "" : "s");
    if (group->emits) hdst__buffer_printf(out, "  they emitted %" PRIu64 " records\n", group->partial);
    if (group->longest) hdst__buffer_puts(out, hdst__buffer_text(&group->devices));
    if (group->parts > 1) hdst__buffer_printf(out, "  memory was short: keys in %" PRIu64 " parts by their hash, each a pass over the records\n", group->parts);
    if (!group->large_keys) return;
    hdst__buffer_printf(out, "  %" PRIu64 " key%s with more records than it has room for: ", group->large_keys, group->large_keys == 1 ? "" : "s");
    if (group->large_bytes) hdst__buffer_printf(out, "%s in a temporary file that the function reads\n", hdst__bytes_text(group->large_bytes, bytes));
    else hdst__buffer_puts(out, group->tree ? "read in pieces, whose results go up the tree\n" : "read in pieces, what came of those so far before the next\n");
}

static void explain_refusal(const hdst__node *node, hdst__buffer *out)
{
    const group_node *group = node->own;
    if (!node->ran || !group->grouping.why_host || !*group->grouping.why_host) return;
    hdst__buffer_printf(out, "  not on the device: %s", group->grouping.why_host);
    if (group->rest) hdst__buffer_printf(out, ", which the next %" PRIu64 " run%s will not ask again", group->rest, group->rest == 1 ? "" : "s");
    hdst__buffer_puts(out, "\n");
}

hdst_status hdst__group_node_explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const group_node *group = node->own;
    const hdst__group *grouping = &group->grouping;
    const bool there = node->ran && grouping->may_stay && !grouping->why_host;
    hdst__buffer_printf(out, "group %s: records ordered by key on the %s, for %s needs all records of a key together%s\n", group->call.func->name,
                        there ? "device, which the function reads there" : "host", group->reduces ? "a reduce that is not field-wise" : "the function",
                        group->tree ? "; it is associative, so pieces of 64 records of a key go up a tree" : "; each key's records in their order");
    if (group->partitions_kept.partition) hdst__buffer_printf(out, "  each of the parts of %u by itself\n", (unsigned)group->partitions_kept.partition->number);
    const hdst__hpr hpr = hdst__engine_settings(group->grouping.engine)->hpr;
    if (hpr < HDST__HPR_DEVICE)
        hdst__buffer_printf(out, "  hpr %s: of no effect, %s\n", hdst__hpr_name(hpr),
                            group->tree ? "the tree is fixed as the result's bits depend on it"
                                        : "no level combines before all records of a key are there");
    explain_refusal(node, out);
    if (node->ran) explain_last_run(group, out);
    return HDST_OK;
}
