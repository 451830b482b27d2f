// SPDX-License-Identifier: Apache-2.0
// Reduces by the very key that their input is arranged by: what stands in a plan in the place of a reduce by key, of counts by key and of distinct records
// then. The records of a key come one behind the other, so a stage adds them up to a row for each key, by the number of the key (plan/arranged_keys.h), as
// dense reductions do, and no record's key is looked for in a hash table. A node behind it puts the keys to the rows and these in the order in which a reduce
// by key gives them. Records are counted for distinct ones, too: nobody reads that, but functions in front run, and may fail.
//
// Whether functions in front pass the key on as it is says their IR; where they do not the stand-in runs as any reduce by key. So it does from the next
// plan on if there was no memory for what is to be known of the keys, or for a table of rows.
#include "codegen/lower/fuse.h"
#include "codegen/lower/operator_functions.h"
#include "codegen/pass/arranged_rows.h"
#include "plan/aggregate_node.h"
#include "plan/bound_lookup.h"
#include "plan/keyed_records.h"
#include "plan/op_cache.h"
#include "plan/op_reduce_arranged.h"
#include "plan/stage_call.h"

#include "base/thread_pool.h"

#include <inttypes.h>
#include <string.h>

typedef struct arranged_own {
    hdst__aggregate_own aggregate;      // first: it may run as a reduce by key
    hdst_dataset *reduce;               // in whose place it stands
    uint32_t key;                       // the only leaf of its key
    const hdst_dataset *input;          // arranged by it, if the functions between pass the key on; NULL: they do not
} arranged_own;

enum { RESULT = 1 };                    // the table of a dense reduce's function

static const arranged_own *own_of(const hdst_dataset *dataset) { return dataset->own; }

static hdst__arranged_keys *keys_of(const hdst_dataset *dataset) { return &((hdst__cache_own *)own_of(dataset)->input->own)->keys; }

// --- The stand-in ---

// An arranged dataset that keeps its records, behind functions that make one record of each.
static bool may_be_arranged(const hdst_dataset *dataset)
{
    while (dataset->op->lower && dataset->op->gives == HDST__GIVES_EACH && dataset->parent) dataset = dataset->parent;
    return dataset->arranged && dataset->op->key_starts;
}

static bool is_integer(const hdst__leaf *leaf) { return hdst__kind_is_integer(leaf->kind) && leaf->elements == 1; }

// What a reduction by key on a GPU gives stays in its memory; the rows here are put in order by the host.
static bool suits(const hdst__plan *plan, const hdst_dataset *dataset)
{
    hdst__engine *engine = dataset->object.context->engine;
    const hdst__aggregate_own *own = dataset->own;
    if (!plan->may_run_again || plan->keeps_partials || own->by_hash || own->container != HDST__CONTAINER_AUTO) return false;
    if (!hdst__engine_runs_kernels(engine) || hdst__engine_has_gpu(engine)) return false;
    return hdst__engine_settings(engine)->hpr == HDST__HPR_CLUSTER && may_be_arranged(dataset->parent);
}

// By leaf `key`.
static hdst_dataset *stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset, uint32_t key)
{
    if (!suits(plan, dataset) || !is_integer(&dataset->record->leaves[key])) return NULL;
    hdst_dataset *stand_in = HDST__NEW(arena, hdst_dataset);
    arranged_own *own = HDST__NEW(arena, arranged_own);
    *own = (arranged_own){.aggregate = *(const hdst__aggregate_own *)dataset->own, .reduce = dataset, .key = key};
    *stand_in = *dataset;
    stand_in->op = &hdst__op_reduce_arranged;
    stand_in->own = own;
    return stand_in;
}

hdst_dataset *hdst__reduce_arranged_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset)
{
    uint32_t *leaves = HDST__NEW_ARRAY(arena, uint32_t, dataset->record->leaf_count);
    return hdst__key_leaves(dataset->record, leaves) == 1 ? stands_in(arena, plan, dataset, leaves[0]) : NULL;
}

hdst_dataset *hdst__count_arranged_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset)
{
    return dataset->record->leaf_count == 2 ? stands_in(arena, plan, dataset, 0) : NULL;
}

hdst_dataset *hdst__distinct_arranged_stands_in(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset)
{
    return dataset->record->leaf_count == 1 ? stands_in(arena, plan, dataset, 0) : NULL;
}

static bool gives_keys_alone(const hdst_dataset *dataset) { return dataset->record->leaf_count == 1; }

static void describe(const hdst_dataset *dataset, hdst__buffer *out) { own_of(dataset)->reduce->op->describe(own_of(dataset)->reduce, out); }

static ir_func *lower_reduce(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    return dataset->spec ? hdst__plan_lower_function(arena, dataset, error) : hdst__operator_tally(arena, dataset->record);
}

// As a dense reduce by the key would be: whether its rows come in the order of the input says whether the key is passed on. That alone, so nobody is told
// where its check stands.
static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    ir_func *func = lower_reduce(arena, dataset, error);
    return func ? hdst__operator_dense(arena, func, dataset->record, own_of(dataset)->key, (hdst__span){0}, NULL) : NULL;
}

static ir_func *with_functions_in_front(hdst__arena *arena, const hdst_dataset *dataset)
{
    const uint32_t before = hdst__dataset_fuses(dataset) ? dataset->parent->mark.length : 0;
    ir_func **functions = HDST__NEW_ARRAY(arena, ir_func *, before + 1);
    for (uint32_t i = before + 1; i-- > 0; dataset = dataset->parent) functions[i] = dataset->mark.func;
    return hdst__fuse(arena, functions, before + 1);
}

static uint32_t table_of(const ir_func *func)
{
    uint32_t table = 0;
    for (uint32_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE) table = i;
    return table;
}

// Records that functions leave out, those that fail, too, may be all that a key has, which is no key of the result then.
static bool passes_key_on(hdst__arena *arena, const hdst_dataset *dataset, const hdst_dataset *input)
{
    const hdst_dataset *parent = dataset->parent;
    if (!input->arranged || !input->op->key_starts || (hdst__dataset_fuses(dataset) && parent->mark.drops)) return false;
    if (input->record->leaves[input->arranged - 1].kind != dataset->record->leaves[own_of(dataset)->key].kind) return false;
    ir_func *func = with_functions_in_front(arena, dataset);
    hdst_error ignored = HDST_ERROR_INIT;
    if (!func) return false;
    func->params[0].arranged = input->arranged;
    return hdst__plan_passes(func, &ignored) == HDST_OK && hdst__each_adds_by_its_key(func, table_of(func));
}

static const hdst__operator *runs_as(hdst__arena *arena, const hdst__plan *plan, const hdst_dataset *dataset)
{
    arranged_own *own = dataset->own;
    const hdst_dataset *input = hdst__dataset_fuses(dataset) ? hdst__fused_input(dataset->parent) : dataset->parent;
    (void)plan;
    if (!passes_key_on(arena, dataset, input)) return own->reduce->op;
    own->input = input;
    return &hdst__op_rows_of_keys;
}

// The functions in front end with the sums, even if there are none.
static hdst_dataset *in_front(hdst__arena *arena, const hdst_dataset *dataset)
{
    if (!own_of(dataset)->input) return NULL;
    hdst_dataset *front = HDST__NEW(arena, hdst_dataset);
    *front = *dataset;
    front->op = &hdst__op_sums_of_keys;
    front->record = dataset->mark.func->params[RESULT].record;
    return front;
}

static bool runs_otherwise(hdst_dataset *dataset, hdst_status status)
{
    const arranged_own *own = dataset->own;
    hdst__aggregate_own *reduce = own->reduce->own;
    if (status != HDST_E_MEMORY || !own->input || reduce->by_hash) return false;
    return reduce->by_hash = true;
}

const hdst__operator hdst__op_reduce_arranged = {
    .name = "a reduce by the key of arranged records", .gives = HDST__GIVES_OTHERS, .describe = describe, .lower = lower, .runs_as = runs_as,
    .in_front = in_front, .always_in_front = true, .runs_otherwise = runs_otherwise,
};

// --- Sums, a function: a row for each key, by its number ---

static void describe_sums(const hdst_dataset *dataset, hdst__buffer *out)
{
    describe(dataset, out);
    hdst__buffer_puts(out, ", whose records come one behind the other");
}

static ir_func *lower_sums(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    ir_func *func = lower_reduce(arena, dataset, error);
    return func ? hdst__operator_arranged(arena, func, own_of(dataset)->reduce->record, own_of(dataset)->key) : NULL;
}

static hdst__plan_param bind_sums(const ir_func *func, const ir_param *param, const hdst_dataset *dataset)
{
    const hdst__arranged_keys *keys = keys_of(dataset);
    return (hdst__plan_param){.function = func->name, .name = param->name, .held = param->kind == IR_ACCUM_TABLE ? &keys->rows : &keys->held_numbers};
}

static const hdst__plan_rows *row_starts(const hdst_dataset *dataset, uint64_t rows)
{
    (void)rows;
    return &keys_of(dataset)->held_starts;
}

const hdst__operator hdst__op_sums_of_keys = {
    .name = "sums of the keys of arranged records", .gives = HDST__GIVES_OTHERS, .describe = describe_sums, .lower = lower_sums, .bind = bind_sums,
    .row_starts = row_starts, .runs_otherwise = runs_otherwise,
};

// --- The rows, a node ---

enum { PIECE = 1 << 14 };               // rows that a thread takes

typedef struct rows_node {
    const hdst__arranged_keys *keys;
    hdst__bytes_move *moves;            // from a row of the sums to one of the result
    size_t move_count;
    hdst__bytes_move key;               // to: its place
    uint64_t size, sums_size;           // bytes of a row
    const char *sums;
    char *rows;
    uint64_t bytes;                     // of the rows
} rows_node;

static const hdst__allocator *memory_of(const hdst__node *node) { return hdst__owned_by(node->dataset->object.context, HDST__OWNER_OUTPUT); }

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    const hdst_dataset *dataset = node->dataset;
    const hdst__record *to = dataset->record, *from = node->inputs[0]->dataset->record;
    const uint32_t key = own_of(dataset)->key;
    rows_node *own = node->own = HDST__NEW(arena, rows_node);
    *own = (rows_node){.keys = keys_of(dataset), .moves = HDST__NEW_ARRAY(arena, hdst__bytes_move, from->elements + 1), .size = to->size,
                       .sums_size = from->size, .key = {0, to->leaves[key].offset, hdst__scalar_size(to->leaves[key].kind)}};
    for (uint32_t i = 0; i < from->leaf_count && !gives_keys_alone(dataset); i++) {
        const hdst__leaf *leaf = &from->leaves[i], *place = &to->leaves[i < key ? i : i + 1];
        for (uint64_t e = 0; e < leaf->elements; e++)
            hdst__bytes_move_add(own->moves, &own->move_count, hdst__leaf_offset(leaf, e), hdst__leaf_offset(place, e), hdst__scalar_size(leaf->kind));
    }
    return HDST_OK;
}

// The key's lower bytes come first in memory, as everywhere.
static void make_row(const rows_node *own, uint64_t i)
{
    const uint32_t number = own->keys->order[i];
    char *to = own->rows + i * own->size;
    hdst__bytes_move_row(&own->key, 1, (const char *)&own->keys->bits[number], to);
    hdst__bytes_move_row(own->moves, own->move_count, own->sums + number * own->sums_size, to);
}

static void make_piece(void *user, uint64_t piece)
{
    const rows_node *own = user;
    const uint64_t first = piece * PIECE, end = own->keys->count - first < PIECE ? own->keys->count : first + PIECE;
    for (uint64_t i = first; i < end; i++) make_row(own, i);
}

static void drop(hdst__node *node)
{
    rows_node *own = node->own;
    hdst__free(memory_of(node), own->rows);
    own->rows = NULL;
    own->bytes = 0;
    node->rows = NULL;
    node->row_count = 0;
}

static void release(hdst__node *node)
{
    drop(node);
    node->ran = false;
}

static hdst_status take_memory(hdst__node *node, hdst_error *error)
{
    rows_node *own = node->own;
    const uint64_t bytes = own->keys->count * own->size;        // of at most 2^32 rows
    if (own->rows && own->bytes == bytes) return HDST_OK;
    drop(node);
    own->rows = hdst__budget_alloc_zero(hdst__engine_memory(node->dataset->object.context->engine), HDST__OWNER_OUTPUT, bytes + 1, "rows of a reduce by key",
                                        error);
    own->bytes = bytes;
    return own->rows ? HDST_OK : HDST_E_MEMORY;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    rows_node *own = node->own;
    node->ran = false;
    const hdst_status status = take_memory(node, error);
    if (status != HDST_OK) return status;
    own->sums = node->inputs[0]->rows;
    hdst__thread_pool_run(hdst__engine_threads(plan->context->engine), (own->keys->count + PIECE - 1) / PIECE, make_piece, own);
    node->rows = own->rows;
    node->row_count = own->keys->count;
    node->reader = hdst__node_rows_reader(node, node->dataset->record);
    node->ran = true;
    return HDST_OK;
}

static void line(const hdst__node *node, hdst__buffer *out)
{
    hdst__node_describe_inputs(node, out);
    hdst__buffer_puts(out, " -> keys beside them, in the order of the keys' hashes");
}

static hdst_status explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    const rows_node *own = node->own;
    (void)error;
    if (node->ran) hdst__buffer_printf(out, "by key %u: %" PRIu64 " keys, each a stretch of the arranged records\n", (unsigned)node->number, own->keys->count);
    return HDST_OK;
}

const hdst__operator hdst__op_rows_of_keys = {
    .name = "rows of the keys of arranged records", .gives = HDST__GIVES_OTHERS, .line = line, .build = build, .run = run, .known = hdst__node_has_run,
    .explain = explain, .drop = drop, .release = release,
};

bool hdst__plan_wants_keys(const hdst__plan *plan, const hdst__arranged_keys *keys)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i]->op == &hdst__op_rows_of_keys && ((const rows_node *)plan->nodes[i]->own)->keys == keys) return true;
    return false;
}
