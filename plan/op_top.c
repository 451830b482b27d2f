// SPDX-License-Identifier: Apache-2.0
// The records with the largest (or smallest) values. The stage before the node ends in a threshold filter, which lets through what is between two
// limits (codegen/lower/operator_functions.h): so hardly any record leaves the kernel, on any device. The best of those are picked on the host
// (shuffle/sort/top_k.h).
//
// A sample through the same stage tells the limit: the value of the last of the best in it. There are as many as wanted that are not worse, so all
// that are better than it are the candidates; where those are too few, because many are equal to it, a second run asks for just these, until there
// are enough. Of texts kernels compare the first 8 bytes, as a number; all that are not less than the limit's are candidates.
#include "plan/top_node.h"
#include "plan/stage_node.h"
#include "record/field_path.h"

#include "engine/engine.h"
#include "engine/memory/cached_dataset.h"
#include "record/key_field.h"
#include "shuffle/sort/top_k.h"

#include "codegen/lower/operator_functions.h"
#include "base/costs_host.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct top_own {            // candidates: the place alone
    hdst__field_place place;        // what is compared
    uint64_t count;                 // how many
    bool largest;                   // not the smallest
    const char *extreme;            // one record, which must be; for messages. NULL: any number
} top_own;

typedef struct top_node {
    hdst__top_k best;
    hdst__plan_param *low, *high, *all, *begin;     // of the stage; begin: NULL, or of the range that it makes
    uint64_t low_value, high_value;     // in the low bytes
    uint32_t all_value;
    bool only_filters;                   // the stage does nothing else
    bool keeps_part;                    // its input is a part of a whole, so that it may be empty
    bool by_index;                      // it asks for the index of records, so a sample is from the start
    uint64_t sampled, candidates;       // in the last run
    const hdst__reader *from;           // of a sample
    hdst__dataset_cache *lies;          // where it does; NULL: elsewhere
    uint64_t stretch, stride;
} top_node;

// --- Candidates: a threshold filter, whose limits are parameters ---

static void describe_candidates(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, " -> candidates");
}

static ir_func *lower_candidates(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    const top_own *own = dataset->own;
    return hdst__operator_threshold(arena, dataset->record, own->place.leaf, own->place.element);
}

const hdst__operator hdst__op_candidates = {
    .name = "candidates", .gives = HDST__GIVES_FEW, .own_bytes = sizeof(top_own), .describe = describe_candidates, .lower = lower_candidates,
};

// --- Making ---

static hdst__plan_param *param_of(const hdst__stage_node *stage, const char *name)
{
    const ir_func *filter = stage->items[stage->item_count - 1]->mark.func;
    for (size_t i = 1; i < filter->param_count; i++)
        for (size_t j = 0; j < stage->call.func->param_count; j++)
            if (!strcmp(filter->params[i].name, name) && stage->call.func->params[j].bind == filter->params[i].bind) return &stage->call.params[j];
    return NULL;
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    const hdst_dataset *dataset = node->dataset;
    const top_own *own = dataset->own;
    hdst__stage_node *stage = hdst__node_stage(node->inputs[0]);
    top_node *top = node->own = HDST__NEW(arena, top_node);
    hdst__top_k_init(&top->best, dataset->object.context->engine, dataset->record, own->place.leaf, own->place.element,
                     own->count, own->largest);
    top->low = param_of(stage, "low");
    top->high = param_of(stage, "high");
    top->all = param_of(stage, "all");
    top->low->data = &top->low_value;
    top->high->data = &top->high_value;
    top->all->data = &top->all_value;
    top->all_value = 1;
    for (size_t j = 0; j < stage->call.func->param_count; j++)
        if (stage->call.params[j].data == &stage->range_begin) top->begin = &stage->call.params[j];
    top->only_filters = stage->item_count == 1 && !stage->nothing;
    for (size_t i = 0; i < stage->item_count; i++) top->by_index |= hdst__reads_index(stage->items[i]->mark.func);
    node->inputs[0]->driver = node;
    return HDST_OK;
}

// --- Limits ---

static void set_limits(top_node *top, uint64_t low, uint64_t high, bool all)
{
    top->low_value = low;
    top->high_value = high;
    top->all_value = all;
    top->low->version++;
    top->high->version++;
    top->all->version++;
}

static const top_own *own_of(const hdst__node *node) { return node->dataset->own; }

static void let_all_through(top_node *top) { set_limits(top, 0, 0, true); }

static uint64_t bits_of_double(hdst__kind kind, double value)
{
    uint64_t bits = 0;
    const float narrow = (float)value;
    if (kind == HDST__F32) memcpy(&bits, &narrow, sizeof narrow);
    else memcpy(&bits, &value, sizeof value);
    return bits;
}

static double double_of_bits(hdst__kind kind, uint64_t bits)
{
    double value;
    float narrow;
    memcpy(&value, &bits, sizeof value);
    memcpy(&narrow, &bits, sizeof narrow);
    return kind == HDST__F32 ? (double)narrow : value;
}

// The largest or smallest number of a kind.
static uint64_t last_of(hdst__kind kind, bool largest)
{
    const unsigned width = 8 * (unsigned)hdst__scalar_size(kind);
    if (kind == HDST__BOOL) return largest;
    if (hdst__kind_is_float(kind)) return bits_of_double(kind, largest ? INFINITY : -INFINITY);
    if (hdst__kind_is_signed(kind)) return (uint64_t)(largest ? INT64_MAX >> (64 - width) : INT64_MIN >> (64 - width));
    return largest ? UINT64_MAX >> (64 - width) : 0;
}

static uint64_t next_to(hdst__kind kind, uint64_t bits, bool larger)
{
    if (kind == HDST__F32) return bits_of_double(kind, (double)nextafterf((float)double_of_bits(kind, bits), larger ? INFINITY : -INFINITY));
    if (kind == HDST__F64) return bits_of_double(kind, nextafter(double_of_bits(kind, bits), larger ? INFINITY : -INFINITY));
    return larger ? bits + 1 : bits - 1;
}

// Lets through what is better than `limit`, or (same) equal to it as well.
static void limit_to(top_node *top, uint64_t limit, bool same)
{
    const hdst__kind kind = hdst__top_k_value_kind(&top->best);
    const bool largest = top->best.largest;
    const uint64_t end = last_of(kind, largest), from = same ? limit : next_to(kind, limit, largest);
    if (!same && limit == end) set_limits(top, last_of(kind, true), last_of(kind, false), false);       // nothing is better
    else set_limits(top, largest ? from : end, largest ? end : from, false);
}

// --- A sample ---

static hdst_status fill_sample(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                               uint64_t to_first, hdst_error *error)
{
    const top_node *top = user;
    hdst_status status = hdst__dataset_cache_lend(top->lies, error);
    for (uint64_t done = 0; done < count && status == HDST_OK;) {
        const uint64_t at = first + done, in_stretch = at % top->stretch, left = top->stretch - in_stretch, part = left < count - done ? left : count - done;
        status = top->from->fill(top->from->user, at / top->stretch * top->stride + in_stretch, part, storage, buffers, to_first + done, error);
        done += part;
    }
    const hdst_status back = hdst__dataset_cache_give_back(top->lies, status == HDST_OK ? error : NULL);
    return status == HDST_OK ? back : status;
}

// From all over the input, but where an index tells records apart or makes them: then from one end.
static hdst__reader sample_of(hdst__node *node, uint64_t records)
{
    top_node *top = node->own;
    const hdst__node *stage = node->inputs[0];
    const bool is_range = hdst__node_stage(stage)->nothing != NULL;
    hdst__reader reader = is_range ? hdst__range_input_reader(stage) : stage->inputs[0]->reader;
    const uint64_t stretches = top->by_index || is_range ? 1 : records < HDST__HOST_TOP_SAMPLE_STRETCHES ? records : HDST__HOST_TOP_SAMPLE_STRETCHES;
    top->stretch = records / stretches;
    top->stride = reader.records / stretches;
    top->from = &stage->inputs[0]->reader;
    top->lies = top->from->concurrent ? NULL : stage->inputs[0]->resident;      // several threads may fill at once only what no cache holds
    if (!is_range) reader.fill = fill_sample, reader.user = top, reader.rows = NULL;
    reader.records = top->stretch * stretches;
    return reader;
}

// A range's last numbers are most often its largest.
static void move_range(const hdst__node *node, uint64_t by)
{
    top_node *top = node->own;
    if (!top->begin || !top->best.largest || top->by_index) return;
    hdst__node_stage(node->inputs[0])->range_begin += by;
    top->begin->version++;
}

// One run of the stage, over the sample.
static hdst_status read_sample(hdst__node *node, const hdst__reader *sample, hdst__stage_output *output, hdst_error *error)
{
    hdst__node *stage = node->inputs[0];
    const hdst__stage_call *call = stage->call;
    const uint64_t moved = stage->inputs[0]->reader.records - sample->records;
    let_all_through(node->own);
    hdst_status status = hdst__stage_node_input(stage, error);
    if (status == HDST_OK) status = hdst__stage_set_input(call->stage, sample, NULL, error);
    if (status != HDST_OK) return status;
    move_range(node, moved);
    status = hdst__stage_call_values(call, error);
    if (status == HDST_OK) status = hdst__stage_run(call->stage, call->values, output, error);
    move_range(node, 0 - moved);
    return status;
}

static hdst_status run_sample(hdst__node *node, uint64_t records, hdst__run_stats *stats, hdst_error *error)
{
    top_node *top = node->own;
    hdst__node *stage = node->inputs[0];
    hdst__stage_output output = {0};
    const hdst__reader sample = sample_of(node, records);
    const hdst_status status = read_sample(node, &sample, &output, error);
    if (status != HDST_OK) return status;
    const hdst__run_stats *ran = hdst__stage_stats(stage->call->stage);
    stats->compile_seconds += ran->compile_seconds;
    stats->total_seconds += ran->total_seconds;
    top->sampled = output.record_count;
    stage->rows = output.records;
    stage->row_count = output.record_count;
    const hdst__reader rows = hdst__node_rows_reader(stage, node->dataset->record);
    return hdst__top_k_run(&top->best, &rows, error);
}

// The value of the worst of the best; false: there are too few numbers, or none.
static bool limit_of(const top_node *top, uint64_t *limit)
{
    const hdst__top_k *best = &top->best;
    if (best->row_count < best->wanted || !best->wanted) return false;
    *limit = hdst__top_k_value(best, best->rows + (best->wanted - 1) * best->record->size);
    return !hdst__kind_is_float(best->kind) || !isnan(double_of_bits(best->kind, *limit));
}

// --- Running ---

static uint64_t records_of_sample(const hdst__node *node)
{
    const uint64_t records = node->inputs[0]->inputs[0]->reader.records, share = records / HDST__HOST_TOP_SAMPLE_SHARE,
                   most = share < HDST__HOST_TOP_SAMPLE_RECORDS ? share : HDST__HOST_TOP_SAMPLE_RECORDS;
    const hdst__engine *engine = ((top_node *)node->own)->best.engine;
    const uint64_t wanted = own_of(node)->count;
    if (records < hdst__engine_limits(engine)->pick_least || wanted > share / HDST__HOST_TOP_SAMPLE_TIMES) return 0;
    return wanted * HDST__HOST_TOP_SAMPLE_TIMES > most ? wanted * HDST__HOST_TOP_SAMPLE_TIMES : most;
}

// Whether the next run asks the stage for candidates; else the records pass by.
static bool needs_stage(const hdst__node *node)
{
    if (!((top_node *)node->own)->only_filters) return true;
    if (!hdst__node_is_known(node->inputs[0]->inputs[0]) || !records_of_sample(node)) return false;
    return hdst__engine_runs_kernels(((top_node *)node->own)->best.engine);
}

static hdst_status run_stage(hdst__node *node, uint64_t limit, hdst__run_stats *stats, hdst_error *error)
{
    hdst__node *stage = node->inputs[0];
    hdst_status status = hdst__stage_node_input(stage, error);
    if (status != HDST_OK) return status;
    hdst__stage_end_early(stage->call->stage, limit);
    status = hdst__stage_node_run(stage, error);
    hdst__run_stats more = *hdst__stage_stats(stage->call->stage);
    if (limit) more.records = 0;       // they were counted
    hdst__plan_add_stats(stats, &more);
    hdst__stage_end_early(stage->call->stage, 0);
    ((top_node *)node->own)->candidates += stage->row_count;
    return status;
}

static hdst_status pick(hdst__node *node, const hdst__reader *reader, hdst__run_stats *stats, hdst_error *error)
{
    hdst__top_k *best = &((top_node *)node->own)->best;
    hdst_status status = hdst__top_k_run(best, reader, error);
    if (node->inputs[0]->ran) best->stats.records = 0;          // the stage counted them
    hdst__plan_add_stats(stats, &best->stats);
    return status;
}

// The best so far, then the first records with the limit's value.
static hdst_status add_equal_ones(hdst__node *node, uint64_t limit, hdst__run_stats *stats, hdst_error *error)
{
    top_node *top = node->own;
    hdst__top_k *best = &top->best;
    hdst__node *stage = node->inputs[0];
    const uint64_t missing = best->wanted - best->row_count;
    set_limits(top, limit, limit, false);
    hdst_status status = run_stage(node, missing, stats, error);
    if (status != HDST_OK) return status;
    const uint64_t more = stage->row_count < missing ? stage->row_count : missing;
    return hdst__top_k_append(best, stage->rows, more, error);
}

static hdst_status run_filtered(hdst__node *node, hdst__run_stats *stats, hdst_error *error)
{
    top_node *top = node->own;
    hdst_error ignored = HDST_ERROR_INIT;
    const uint64_t records = records_of_sample(node);
    // A stage that accumulates must see each record once; texts that begin like the limit may be better than it.
    const bool once = node->inputs[0]->table_count > 0 || top->best.kind == HDST__TEXT;
    uint64_t limit = 0;
    hdst_status status = records ? run_sample(node, records, stats, &ignored) : HDST_OK;
    const bool has_limit = records && status == HDST_OK && limit_of(top, &limit);
    if (status != HDST_OK && status != HDST_E_RECORD) {
        if (error) *error = ignored;
        return status;                  // a record that fails is told with its own number, by the run over all
    }
    let_all_through(top);
    if (has_limit) limit_to(top, limit, once);
    status = run_stage(node, 0, stats, error);
    hdst__node_drop_work(node->inputs[0]);
    if (status == HDST_OK) status = pick(node, &node->inputs[0]->reader, stats, error);
    return status == HDST_OK && has_limit && !once && top->best.row_count < top->best.wanted ? add_equal_ones(node, limit, stats, error) : status;
}

static hdst_status no_record(const hdst__node *node, hdst_error *error)
{
    return hdst__error_set(error, HDST_E_USAGE, "'%s' of an empty dataset has no result", own_of(node)->extreme);
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    top_node *top = node->own;
    hdst__node *stage = node->inputs[0];
    top->sampled = top->candidates = 0;
    node->ran = stage->ran = false;
    hdst_status status = needs_stage(node) ? run_filtered(node, &plan->stats, error) : pick(node, &stage->inputs[0]->reader, &plan->stats, error);
    if (status != HDST_OK) return status;
    if (own_of(node)->extreme && !top->best.row_count && !top->keeps_part) return no_record(node, error);
    node->ran = true;
    node->rows = top->best.rows;
    node->row_count = top->best.row_count;
    node->texts = hdst__text_heap_hold(top->best.texts);
    node->reader = hdst__node_rows_reader(node, node->dataset->record);
    return HDST_OK;
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const top_node *top = node->own;
    hdst__buffer_printf(out, "%s %" PRIu64 ": picked on the host %s\n", own_of(node)->extreme ? own_of(node)->extreme : "top", top->best.wanted,
                        needs_stage(node) ? "among candidates" : "while the records pass by");
    if (!node->ran) return HDST_OK;
    if (top->sampled)
        hdst__buffer_printf(out, "  last run: a sample of %" PRIu64 " records told the limit, which %" PRIu64 " records passed\n", top->sampled,
                            top->candidates);
    else hdst__buffer_printf(out, "  last run: %" PRIu64 " of %" PRIu64 " records were among the best so far\n", top->best.kept, top->best.seen);
    return HDST_OK;
}

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const top_own *own = dataset->own;
    const char *field = dataset->record->leaves[own->place.leaf].path;
    if (own->extreme) hdst__buffer_printf(out, " -> the record with the %s %s", own->largest ? "largest" : "smallest", field);
    else hdst__buffer_printf(out, " -> the %" PRIu64 " with the largest %s", own->count, field);
}

static void release(hdst__node *node) { hdst__top_k_release(&((top_node *)node->own)->best); }

const hdst__operator hdst__op_top = {
    .name = "hdst_top", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(top_own), .may_stay_on_host = true, .describe = describe, .build = build,
    .run = run, .known = hdst__node_has_run, .explain = explain, .drop = release, .release = release, .drives = needs_stage,
};

// --- Parts of a whole ---

const hdst__top_k *hdst__top_node_of(const hdst__node *node) { return node->op == &hdst__op_top ? &((const top_node *)node->own)->best : NULL; }

const hdst__field_place *hdst__top_node_place(const hdst__node *node) { return &own_of(node)->place; }

const char *hdst__top_node_extreme(const hdst__node *node) { return own_of(node)->extreme; }

void hdst__top_node_keep_part(hdst__node *node) { ((top_node *)node->own)->keeps_part = true; }

uint64_t hdst__top_node_records(const hdst__node *node) { return node->inputs[0]->inputs[0]->reader.records; }

// --- The dataset ---

static hdst_status find_value(hdst_dataset *dataset, const char *what, const char *field, hdst_error *error)
{
    top_own *own = dataset->own;
    hdst_status status = hdst__dataset_has_records(dataset, what, error);
    if (status == HDST_OK) status = hdst__field_find_scalar(dataset->record, field, &own->place, error);
    if (status != HDST_OK) return status;
    hdst__dataset_as_structs(dataset);
    return HDST_OK;
}

static hdst_dataset *add_top(hdst_dataset *from, const char *what, const char *extreme, uint64_t count, const char *field, bool largest)
{
    hdst__lock(from->object.context);
    hdst_dataset *candidates = hdst__dataset_new(from->object.context, &hdst__op_candidates, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!candidates->object.error && find_value(candidates, what, field, &error) != HDST_OK) hdst__dataset_fail(candidates, &error);
    hdst_dataset *dataset = candidates->object.context ? hdst__dataset_new(from->object.context, &hdst__op_top, candidates) : candidates;
    if (dataset->object.context) *(top_own *)dataset->own = (top_own){((const top_own *)candidates->own)->place, count, largest, extreme};
    hdst__unlock(from->object.context);
    return dataset;
}

hdst_dataset *hdst_top(hdst_dataset *dataset, uint64_t count, const char *field)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return add_top(dataset, "hdst_top", NULL, count, field, true);
}

hdst_dataset *hdst_min_by(hdst_dataset *dataset, const char *field)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return add_top(dataset, "hdst_min_by", "min_by", 1, field, false);
}

hdst_dataset *hdst_max_by(hdst_dataset *dataset, const char *field)
{
    HDST__NEEDS(hdst_dataset, dataset, "dataset");
    return add_top(dataset, "hdst_max_by", "max_by", 1, field, true);
}
