// SPDX-License-Identifier: Apache-2.0
// Partials of the public interface: what a result reduces, unfinished, to be merged, carried elsewhere as bytes, and finished.
#include "hdst/partial_ranges.h"
#include "hdst/result.h"

#include "plan/aggregate_node.h"
#include "plan/stage_node.h"

#include <stdio.h>
#include <string.h>

struct hdst_partial {
    hdst__object object;
    hdst__arena arena;              // of what the tables are called
    hdst__partial *state;           // of accumulators; NULL: it is of a reduction by key
    hdst__keyed_partial *keyed;
    hdst__partial_ranges *ranges;   // in the arena: of a fold, or of the best records; NULL: it is one of those two
    hdst__text_heap *texts;         // that keys or ranges refer to; NULL: the context has no engine
    hdst__hash identity;
    hdst__buffer bytes;
    hdst__partial_table *tables;    // one for each of the state's accumulators
    size_t table_count;
    hdst_error view_error;          // why the last view was NULL
};

HDST__STAND_IN(hdst_partial, no_partial);

static void forget_rows(hdst_partial *partial)
{
    for (size_t i = 0; i < partial->table_count; i++) {
        hdst__free(HDST__ALLOCATOR(partial), partial->tables[i].rows);
        partial->tables[i].rows = NULL;
    }
}

static hdst__partial *state_of(const hdst_partial *partial) { return partial->keyed ? partial->keyed->state : partial->state; }

static void release_partial(hdst__object *object)
{
    hdst_partial *partial = (hdst_partial *)object;
    forget_rows(partial);
    hdst__partial_destroy(partial->state);
    hdst__keyed_partial_destroy(partial->keyed);
    if (partial->ranges) hdst__ranged_partial_destroy(&partial->ranges->state);
    hdst__text_heap_drop(partial->texts);
    hdst__buffer_destroy(&partial->bytes);
    hdst__arena_destroy(&partial->arena);
}

static hdst_partial *create(hdst_context *context)
{
    hdst_partial *partial = hdst__object_create(context, sizeof *partial, release_partial, &no_partial);
    if (partial == &no_partial) return partial;
    hdst__arena_init(&partial->arena, hdst__owned_by(context, HDST__OWNER_ACCUMULATORS), NULL);
    hdst__buffer_init(&partial->bytes, hdst__owned_by(context, HDST__OWNER_ACCUMULATORS));
    if (!context->engine) return partial;       // it has the context's error
    hdst_error error = HDST_ERROR_INIT;
    partial->texts = hdst__text_heap_create(hdst__engine_runtime(context->engine), HDST__OWNER_ACCUMULATORS);
    if (!partial->texts) hdst__error_memory(&error, "a partial"), hdst__object_fail(&partial->object, &error);
    return partial;
}

// The description is needed for this time only.
static hdst_status read_tables(hdst_partial *partial, const hdst__partial_label *label, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_destroy(&partial->arena);
    hdst__arena_init(&partial->arena, hdst__owned_by(partial->object.context, HDST__OWNER_ACCUMULATORS), &out_of_memory);
    if (setjmp(out_of_memory)) {
        partial->table_count = 0;
        return hdst__error_memory(error, "a partial");
    }
    partial->identity = label->identity;
    const hdst__bytes_place place = hdst__text_heap_sink(partial->texts);
    return hdst__partial_tables_read(&partial->arena, &place, label, &partial->state, &partial->keyed, &partial->tables, &partial->table_count, error);
}

// What is made in the arena is the partial's from its first moment on, so that it is given back wherever memory ends.
static void adopt_ranges(hdst_partial *partial)
{
    if (!partial->ranges) return;
    partial->tables = &partial->ranges->table;
    partial->table_count = 1;
}

static void init_arena(hdst_partial *partial, jmp_buf *out_of_memory)
{
    hdst__arena_destroy(&partial->arena);
    hdst__arena_init(&partial->arena, hdst__owned_by(partial->object.context, HDST__OWNER_ACCUMULATORS), out_of_memory);
    hdst__arena_compiles(&partial->arena, &partial->object.context->cancel);
}

static hdst_status end_arena(hdst_partial *partial, hdst_status status)
{
    partial->arena.out_of_memory = NULL;
    hdst__arena_compiled(&partial->arena);
    adopt_ranges(partial);
    return status;
}

// --- From a result ---

// What partials must have in common to meet: the functions' IR, beside what the description says of records and rows.
static hdst_status hash_function(const ir_func *func, hdst__hash *hash, const hdst__allocator *allocator, hdst_error *error)
{
    hdst__buffer text;
    hdst__buffer_init(&text, allocator);
    hdst__ir_dump(func, &text);
    const bool failed = text.failed;
    if (!failed) hdst__hash_add_text(hash, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return failed ? hdst__error_memory(error, "a partial") : HDST_OK;
}

// What the tables are called, from the plan's; `state` fits them. The names end with the plan, so that a description carries them over.
static hdst_status adopt_tables(hdst_partial *partial, const hdst__partial_table *tables, size_t count, hdst__keyed_partial *keyed, hdst__hash identity,
                                hdst_error *error)
{
    hdst__buffer text;
    hdst__buffer_init(&text, HDST__ALLOCATOR(partial));
    hdst__partial_tables_describe(tables, count, keyed, &text);
    const hdst__partial_label label = {identity, text.data, text.length};
    const hdst_status status = text.failed ? hdst__error_memory(error, "a partial") : read_tables(partial, &label, error);
    hdst__buffer_destroy(&text);
    return status;
}

// Records and numbers of rows; of a reduction by key its numbers of keys are its own.
static hdst_status hash_tables(const hdst__partial_table *tables, size_t count, hdst__hash *hash, const hdst__allocator *allocator, hdst_error *error)
{
    hdst__buffer text;
    hdst__buffer_init(&text, allocator);
    hdst__partial_tables_describe(tables, count, NULL, &text);
    const bool failed = text.failed;
    if (!failed) hdst__hash_add(hash, text.data, text.length);
    hdst__buffer_destroy(&text);
    return failed ? hdst__error_memory(error, "a partial") : HDST_OK;
}

static uint32_t count_tables(const hdst__plan *plan)
{
    uint32_t count = 0;
    for (size_t i = 0; i < plan->node_count; i++) count += (uint32_t)plan->nodes[i]->table_count;
    return count;
}

// All functions in front, and the last one.
static hdst_status hash_functions(const hdst__plan *plan, hdst__hash *hash, const hdst__allocator *allocator, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++)
        if (plan->nodes[i]->call) status = hash_function(plan->nodes[i]->call->func, hash, allocator, error);
    return status;
}

// --- Accumulators ---

static hdst_status add_node(hdst_partial *partial, const hdst__node *node, hdst__partial_table *tables, size_t *count, hdst_error *error)
{
    const hdst__stage_node *stage = hdst__node_stage(node);
    if (!stage->partial) return hdst__error_set(error, HDST_E_INTERNAL, "a stage has no partial of its accumulators");
    for (size_t t = 0; t < node->table_count; t++) {
        const hdst__plan_table *from = &node->tables[t];
        tables[(*count)++] = (hdst__partial_table){.function = from->function, .name = from->name, .row_count = from->row_count,
                                                   .is_records = from == stage->records_table, .record = from->record};
    }
    const hdst_status status = hash_function(stage->call.func, &partial->identity, HDST__ALLOCATOR(partial), error);
    return status == HDST_OK ? hdst__partial_append(partial->state, stage->partial, hdst__partial_accums(stage->partial), error) : status;
}

static hdst_status take_accumulators(hdst_partial *partial, const hdst__plan *plan, hdst__partial_table *tables, hdst_error *error)
{
    size_t count = 0;
    hdst_status status = HDST_OK;
    partial->state = hdst__partial_create_empty(HDST__ALLOCATOR(partial));
    if (!partial->state) return hdst__error_memory(error, "a partial");
    for (size_t i = 0; i < plan->node_count && status == HDST_OK; i++)
        if (plan->nodes[i]->table_count) status = add_node(partial, plan->nodes[i], tables, &count, error);
    if (status == HDST_OK) status = hash_tables(tables, count, &partial->identity, HDST__ALLOCATOR(partial), error);
    return status == HDST_OK ? adopt_tables(partial, tables, count, NULL, partial->identity, error) : status;
}

// --- Reductions by key ---

// The functions, and how values are reduced.
static hdst_status hash_keyed(const hdst__plan *plan, const hdst__aggregate_spec *spec, hdst__hash *hash, const hdst__allocator *allocator, hdst_error *error)
{
    const hdst_status status = hash_functions(plan, hash, allocator, error);
    for (size_t i = 0; spec->laws && i + spec->key_count < spec->record->leaf_count; i++) hdst__hash_add(hash, &spec->laws[i], sizeof spec->laws[i]);
    return status;
}

static hdst_status take_keyed(hdst_partial *partial, const hdst__plan *plan, hdst_error *error)
{
    const hdst__node *node = plan->target;
    const hdst__aggregate_spec *spec = hdst__aggregate_node_keyed(node);
    const hdst_dataset *dataset = node->dataset;
    hdst__keyed_partial *keyed = hdst__aggregate_partial(hdst__aggregate_node_of(node), HDST__ALLOCATOR(partial));
    if (!keyed) return hdst__error_memory(error, "a partial");
    hdst__partial_table table = {.function = dataset->spec ? dataset->spec->function->name : dataset->op->name, .name = "records", .is_records = true,
                                 .record = spec->record, .key_count = spec->key_count, .key_leaves = spec->key_leaves};
    hdst_status status = hash_keyed(plan, spec, &partial->identity, HDST__ALLOCATOR(partial), error);
    if (status == HDST_OK) status = hash_tables(&table, 1, &partial->identity, HDST__ALLOCATOR(partial), error);
    table.row_count = keyed->count;
    if (status == HDST_OK && keyed->count != node->row_count)
        status = hdst__error_set(error, HDST_E_USAGE, "memory was short, so the result gave its keys back");
    if (status == HDST_OK) {
        partial->state = keyed->state;
        keyed->state = NULL;
        status = adopt_tables(partial, &table, 1, keyed, partial->identity, error);
    }
    hdst__keyed_partial_destroy(keyed);
    return status;
}

// --- Folds, the best records ---

static hdst_status take_ranges(hdst_partial *partial, const hdst_result *result, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst_status status = hash_functions(&result->plan, &partial->identity, HDST__ALLOCATOR(partial), error);
    if (status != HDST_OK) return status;
    init_arena(partial, &out_of_memory);
    if (setjmp(out_of_memory)) return end_arena(partial, hdst__arena_error(&partial->arena, "a partial", error));
    return end_arena(partial, hdst__partial_ranges_take(&partial->arena, &partial->texts, result, &partial->bytes, &partial->identity, &partial->ranges,
                                                        error));
}

static hdst_status take_state(hdst_partial *partial, const hdst_result *result, hdst_error *error)
{
    const hdst__plan *plan = &result->plan;
    partial->identity = (hdst__hash)HDST__HASH_INIT;
    if (hdst__is_ranged(plan->target)) return take_ranges(partial, result, error);
    if (hdst__aggregate_node_keyed(plan->target)) return take_keyed(partial, plan, error);
    hdst__partial_table *tables = hdst__alloc_zero(HDST__ALLOCATOR(partial), count_tables(plan) * sizeof *tables);
    const hdst_status status = tables ? take_accumulators(partial, plan, tables, error) : hdst__error_memory(error, "a partial");
    hdst__free(HDST__ALLOCATOR(partial), tables);
    return status;
}

static hdst_status check_kept(const hdst_result *result, hdst_error *error)
{
    if (result->ran && result->ran_partial) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, result->ran ? "the result's last run kept no partial"
                    : "the result holds nothing: its last run failed, or there was none");
    hdst__error_hint(error, "call hdst_result_keep_partial, then hdst_run");
    return HDST_E_USAGE;
}

hdst_partial *hdst_partial_from_result(hdst_result *result)
{
    HDST__NEEDS(hdst_partial, result, "result");
    hdst_context *context = result->object.context;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_partial *partial = create(context);
    if (partial != &no_partial && hdst__object_inherit(&partial->object, &result->object) == HDST_OK) {
        hdst_status status = check_kept(result, &error);
        if (status == HDST_OK) status = take_state(partial, result, &error);
        if (status != HDST_OK) hdst__object_fail(&partial->object, &error);
    }
    hdst__unlock(context);
    return partial;
}

// --- What a result keeps ---

// Not of a read or a union, whose records are there before a run.
static bool is_reduction(const hdst__node *node) { return node->dataset->op->gives == HDST__GIVES_OTHERS && node->op->known == hdst__node_has_run; }

static hdst_status refuse_rows(const hdst__node *node, hdst_error *error)
{
    hdst__error_set(error, HDST_E_UNSUPPORTED, "the rows of %s, which are many, were not kept unfinished in the result's first run", node->dataset->op->name);
    hdst__error_hint(error, "call hdst_result_keep_partial before the first run");
    return HDST_E_UNSUPPORTED;
}

// Records that a reduction makes in another way than by accumulators of a stage would be left out in silence.
static hdst_status check_target(const hdst__node *target, hdst_error *error)
{
    const hdst__stage_node *stage = hdst__node_stage(target);
    if (hdst__is_ranged(target)) return hdst__check_ranged(target, error);
    if (!is_reduction(target) || (stage && stage->records_table) || hdst__aggregate_node_keyed(target)) return HDST_OK;
    if (target->op == &hdst__op_reduce_to_rows) return refuse_rows(target, error);
    hdst__error_set(error, HDST_E_UNSUPPORTED, "the records of %s cannot be kept unfinished", target->dataset->op->name);
    hdst__error_hint(error, "partials are of accumulators, of keys, of associative reduces and of the largest records");
    return HDST_E_UNSUPPORTED;
}

// A node but `last` whose records are those of a reduction: what is behind it sees all records of one run together, and nothing that could be merged.
static const hdst__node *find_reduction(const hdst__plan *plan, const hdst__node *last)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        const hdst__node *node = plan->nodes[i], *below = node->op->below ? find_reduction(node->op->below(node), NULL) : NULL;
        if (below) return below;
        if (node != last && is_reduction(node)) return node;
    }
    return NULL;
}

static hdst_status check_order(const hdst__plan *plan, hdst_error *error)
{
    const hdst__node *first = find_reduction(plan, plan->target);
    if (!first) return HDST_OK;
    hdst__error_set(error, HDST_E_UNSUPPORTED, "accumulators behind %s cannot be kept unfinished: they see what all records of a run come to",
                    first->dataset->op->name);
    hdst__error_hint(error, "merge partials of the reduction, and go on with their rows");
    return HDST_E_UNSUPPORTED;
}

static hdst_status check_nodes(const hdst__plan *plan, hdst_error *error)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        const hdst__node *node = plan->nodes[i];
        if (!node->table_count || (hdst__node_stage(node) && !hdst__node_stage(node)->folds)) continue;
        return refuse_rows(node, error);
    }
    const bool records = hdst__aggregate_node_keyed(plan->target) || hdst__is_ranged(plan->target), accumulates = count_tables(plan);
    if (records && accumulates)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "accumulators of maps in front of %s cannot be kept unfinished together with it",
                               plan->target->dataset->op->name);
    if (records || accumulates) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "the result has no accumulators, so there is no partial of it");
}

static hdst_status keep_partial(hdst_result *result, uint64_t first, hdst_error *error)
{
    hdst_status status = hdst__object_status(&result->object, error);
    if (status == HDST_OK) status = hdst__result_plan_for_partials(result, error);
    if (status == HDST_OK) status = check_target(result->plan.target, error);
    if (status == HDST_OK) status = check_order(&result->plan, error);
    if (status == HDST_OK) status = check_nodes(&result->plan, error);
    if (status != HDST_OK) return status;
    for (size_t i = 0; i < result->plan.node_count; i++)
        if (result->plan.nodes[i]->table_count) hdst__stage_node_keep_partial(result->plan.nodes[i]);
    if (hdst__aggregate_node_keyed(result->plan.target)) hdst__aggregate_node_keep_partial(result->plan.target);
    if (hdst__is_ranged(result->plan.target)) hdst__keep_ranges(result->plan.target, first);
    result->keeps_partial = true;
    result->part_first = first;
    return HDST_OK;
}

static hdst_status keep_locked(const char *call, hdst_result *result, uint64_t first, hdst_error *error)
{
    hdst_error ignored;
    if (!error) error = &ignored;
    *error = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__check_alive(call, "result", result, error);
    if (status != HDST_OK) return status;
    hdst__lock(result->object.context);
    status = keep_partial(result, first, error);
    hdst__explain_memory(result->object.context, error);
    hdst__unlock(result->object.context);
    return status;
}

hdst_status hdst_result_keep_partial(hdst_result *result, hdst_error *error) { return keep_locked(__func__, result, 0, error); }

hdst_status hdst_result_keep_partial_at(hdst_result *result, uint64_t first, hdst_error *error) { return keep_locked(__func__, result, first, error); }

// --- Bytes ---

static hdst_status read_ranges(hdst_partial *partial, const void *bytes, uint64_t size, hdst_error *error)
{
    jmp_buf out_of_memory;
    init_arena(partial, &out_of_memory);
    if (setjmp(out_of_memory)) return end_arena(partial, hdst__arena_error(&partial->arena, "a partial", error));
    return end_arena(partial, hdst__partial_ranges_from_bytes(&partial->arena, &partial->texts, partial->object.context, bytes, size, &partial->identity,
                                                              &partial->ranges, error));
}

static hdst_status read_state(hdst_partial *partial, const void *bytes, uint64_t size, hdst_error *error)
{
    hdst__partial_label label;
    hdst_status status = hdst__check_pointer("hdst_partial_from_bytes", "bytes", bytes, error);
    if (status == HDST_OK && hdst__are_ranges(bytes, size)) return read_ranges(partial, bytes, size, error);
    if (status == HDST_OK) status = hdst__partial_from_bytes(HDST__ALLOCATOR(partial), bytes, size, &partial->state, &label, error);
    return status == HDST_OK ? read_tables(partial, &label, error) : status;
}

hdst_partial *hdst_partial_from_bytes(hdst_context *context, const void *bytes, uint64_t size)
{
    HDST__NEEDS(hdst_partial, context, "context");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(context);
    hdst_partial *partial = create(context);
    if (partial != &no_partial && !partial->object.error && read_state(partial, bytes, size, &error) != HDST_OK)
        hdst__object_fail(&partial->object, &error);
    hdst__unlock(context);
    return partial;
}

static hdst_status write_accumulators(hdst_partial *partial, hdst__buffer *text, hdst_error *error)
{
    hdst__partial_tables_describe(partial->tables, partial->table_count, partial->keyed, text);
    const hdst__partial_label label = {partial->identity, text->data, text->length};
    return text->failed ? hdst__error_memory(error, "a partial as bytes") : hdst__partial_write(state_of(partial), &label, &partial->bytes, error);
}

static hdst_status write_state(hdst_partial *partial, const void **bytes, uint64_t *size, hdst_error *error)
{
    hdst_status status = hdst__check_pointer("hdst_partial_write", "bytes", bytes, error);
    if (status == HDST_OK) status = hdst__check_pointer("hdst_partial_write", "size", size, error);
    if (status != HDST_OK) return status;
    hdst__buffer text;
    hdst__buffer_init(&text, HDST__ALLOCATOR(partial));
    hdst__buffer_destroy(&partial->bytes);
    hdst__buffer_init(&partial->bytes, HDST__ALLOCATOR(partial));
    status = partial->ranges ? hdst__partial_ranges_write(partial->ranges, &partial->identity, &text, &partial->bytes, error)
        : write_accumulators(partial, &text, error);
    hdst__buffer_destroy(&text);
    if (status != HDST_OK) return status;
    *bytes = partial->bytes.data;
    *size = partial->bytes.length;
    return HDST_OK;
}

hdst_status hdst_partial_write(hdst_partial *partial, const void **bytes, uint64_t *size, hdst_error *error)
{
    if (bytes) *bytes = NULL;
    if (size) *size = 0;
    hdst_status status = hdst__check_alive(__func__, "partial", partial, error);
    if (status != HDST_OK) return status;
    hdst__lock(partial->object.context);
    status = write_state(partial, bytes, size, error);
    hdst__explain_memory(partial->object.context, error);
    hdst__unlock(partial->object.context);
    return status;
}

// --- Merging ---

static const char *names_of(const hdst_partial *partial, char text[256])
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < partial->table_count && length < 200; i++)
        length += (size_t)snprintf(text + length, 256 - length, "%s'%.40s.%.40s'", i ? ", " : "", partial->tables[i].function, partial->tables[i].name);
    return text;
}

static hdst_status check_same(const hdst_partial *to, const hdst_partial *from, hdst_error *error)
{
    const hdst__hash *a = &to->identity, *b = &from->identity;
    char ours[256], theirs[256];
    if (to == from) return hdst__error_set(error, HDST_E_USAGE, "a partial was to be merged with itself");
    const bool same_kind = !to->keyed == !from->keyed && !to->ranges == !from->ranges && (!to->ranges || hdst__partial_ranges_meet(to->ranges, from->ranges));
    if (a->high == b->high && a->low == b->low && same_kind) return HDST_OK;
    names_of(to, ours);
    names_of(from, theirs);
    if (strcmp(ours, theirs)) hdst__error_set(error, HDST_E_USAGE, "a partial of %s cannot be merged with one of %s", ours, theirs);
    else hdst__error_set(error, HDST_E_USAGE, "two partials of %s cannot be merged: their functions, records or numbers of rows differ", ours);
    hdst__error_hint(error, "partials meet that come of the same functions over records of the same type, with the same numbers of rows");
    return HDST_E_USAGE;
}

static hdst_status merge_ranges(hdst_partial *to, const hdst_partial *from, hdst_error *error)
{
    const hdst_status status = hdst__partial_ranges_merge(to->ranges, from->ranges, error);
    hdst__ranged_texts_compact(&to->texts, hdst__engine_runtime(to->object.context->engine), to->ranges->table.record, &to->ranges->state);
    return status;
}

static hdst_status merge(hdst_partial *to, const hdst_partial *from, hdst_error *error)
{
    hdst_status status = hdst__check_object(to->object.context, "hdst_partial_merge", "from", from, error);
    if (status == HDST_OK) status = check_same(to, from, error);
    if (status != HDST_OK) return status;
    forget_rows(to);
    if (to->ranges) return merge_ranges(to, from, error);
    status = to->keyed ? hdst__keyed_texts_merge(to->texts, to->keyed, from->keyed, error) : hdst__partial_merge(to->state, from->state, error);
    if (to->keyed) hdst__keyed_texts_compact(&to->texts, hdst__engine_runtime(to->object.context->engine), to->keyed);
    if (to->keyed) to->tables->row_count = to->keyed->count;
    if (status != HDST_OK) hdst__object_fail(&to->object, error);      // a part of `from` is in it
    return status;
}

hdst_status hdst_partial_merge(hdst_partial *partial, const hdst_partial *from, hdst_error *error)
{
    hdst_error ignored;
    if (!error) error = &ignored;
    *error = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__check_alive(__func__, "partial", partial, error);
    if (status != HDST_OK) return status;
    hdst__lock(partial->object.context);
    status = merge(partial, from, error);
    hdst__explain_memory(partial->object.context, error);
    hdst__unlock(partial->object.context);
    return status;
}

// --- Finishing ---

static hdst__partial_table *find_table(hdst_partial *partial, const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = 0;
    hdst__partial_table *found = NULL;
    for (hdst__partial_table *table = partial->tables; table < partial->tables + partial->table_count; table++) {
        if (n < MOST) names[n++] = table->name;
        if (!(name ? hdst__is_called(table->function, table->name, name) : table->is_records)) continue;
        if (found && name) {
            hdst__tell_two_tables(found->function, table->function, name, &partial->view_error);
            return NULL;
        }
        if (!found) found = table;
    }
    if (found) return found;
    if (name) hdst__error_set(&partial->view_error, HDST_E_USAGE, "the partial has no accumulator '%s'", name);
    else hdst__error_set(&partial->view_error, HDST_E_USAGE, "the partial has no records, only accumulators");
    hdst__error_suggest(&partial->view_error, "its accumulators are", name ? name : "", names, n);
    return NULL;
}

static hdst_status make_rows(hdst_partial *partial, hdst__partial_table *table, hdst_error *error)
{
    uint64_t bytes;
    const hdst__allocator *allocator = hdst__owned_by(partial->object.context, HDST__OWNER_OUTPUT);
    if (partial->ranges) return hdst__partial_ranges_finish(partial->ranges, allocator, error);
    const bool counted = !__builtin_mul_overflow(table->row_count, table->record->size, &bytes) && bytes <= SIZE_MAX / 2;
    table->rows = counted ? hdst__alloc(allocator, bytes ? bytes : 1) : NULL;
    if (!table->rows) return hdst__error_memory(error, "the rows of a partial");
    hdst__partial_read_rows(state_of(partial), (size_t)(table - partial->tables), table->values, 0, table->row_count, table->rows);
    if (partial->keyed) hdst__partial_table_write_keys(table, partial->keyed, table->rows);
    return HDST_OK;
}

static bool finish(hdst_partial *partial, const char *name, hdst__row_block *block)
{
    partial->view_error = (hdst_error)HDST_ERROR_INIT;
    if (hdst__object_status(&partial->object, &partial->view_error) != HDST_OK) return false;
    hdst__partial_table *table = find_table(partial, name);
    if (!table) return false;
    if (!table->rows && make_rows(partial, table, &partial->view_error) != HDST_OK) {
        hdst__explain_memory(partial->object.context, &partial->view_error);
        return false;
    }
    *block = (hdst__row_block){table->rows, table->row_count, table->record, NULL};
    return true;
}

hdst_view hdst_partial_field(hdst_partial *partial, const char *table, const char *field)
{
    hdst_view view = {0};
    hdst__row_block block;
    if (!partial || !partial->object.context) return view;
    hdst__lock(partial->object.context);
    if (finish(partial, table, &block)) view = hdst__row_view(&block, field, &partial->view_error);
    hdst__unlock(partial->object.context);
    return view;
}

const void *hdst_partial_rows(hdst_partial *partial, const char *table, uint64_t *rows)
{
    hdst__row_block block = {0};
    if (rows) *rows = 0;
    if (!partial || !partial->object.context) return NULL;
    hdst__lock(partial->object.context);
    const bool finished = finish(partial, table, &block);
    hdst__unlock(partial->object.context);
    if (rows && finished) *rows = block.count;
    return finished ? block.rows : NULL;
}

uint64_t hdst_partial_range(const hdst_partial *partial, uint64_t number, uint64_t *first, uint64_t *count)
{
    if (first) *first = 0;
    if (count) *count = 0;
    if (!partial || !partial->object.context) return 0;
    hdst__lock(partial->object.context);
    const hdst__ranged_partial *state = partial->ranges ? &partial->ranges->state : NULL;
    const uint64_t ranges = state ? state->range_count : 0;
    if (number < ranges && first) *first = state->range[number].first;
    if (number < ranges && count) *count = state->range[number].count;
    hdst__unlock(partial->object.context);
    return ranges;
}

hdst_status hdst_partial_status(const hdst_partial *partial, hdst_error *error)
{
    const hdst_status status = hdst__check_alive(__func__, "partial", partial, error);
    if (status != HDST_OK) return status;
    if (error) *error = partial->view_error;
    return partial->view_error.code;
}

void hdst_partial_destroy(hdst_partial *partial)
{
    if (partial) hdst__object_destroy(&partial->object);
}
