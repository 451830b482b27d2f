// SPDX-License-Identifier: Apache-2.0
#include "hdst/plan.h"

#include "codegen/interp.h"

#include <string.h>

enum { LONGEST_CHAIN = 64 };

typedef struct chain {
    hdst_dataset *read;
    hdst_dataset *items[LONGEST_CHAIN];     // operators after the read, first to last
    size_t count;
} chain;

static hdst_status collect_chain(hdst_dataset *dataset, chain *c, hdst_error *error)
{
    *c = (chain){0};
    size_t count = 0;
    for (hdst_dataset *d = dataset; d->op != HDST__OP_READ; d = d->parent) count++;
    if (count > LONGEST_CHAIN) return hdst__error_set(error, HDST_E_UNSUPPORTED, "more than %d operators in a row", LONGEST_CHAIN);
    c->count = count;
    for (; dataset->op != HDST__OP_READ; dataset = dataset->parent) c->items[--count] = dataset;
    c->read = dataset;
    return HDST_OK;
}

// --- The fused chain ---

// A parameter is recognised after fusion by the very pointer of its `bind` text, so every one gets a text of its own.
static ir_func *lower_item(hdst__arena *arena, const hdst_dataset *item, hdst_error *error)
{
    hdst_module *module = item->spec->module;
    ir_func *func = hdst__lower(arena, module->tree, item->spec->function);
    if (!func) {        // too large with its helpers in place, which lowering has reported
        if (hdst__diags_to_error(&module->diags, HDST_E_KERNEL, error) == HDST_OK)
            hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' cannot be run yet", item->spec->function->name);
        return NULL;
    }
    if (item->object.context->unchecked) hdst__pass_unchecked(func);
    for (size_t i = 0; i < func->param_count; i++) func->params[i].bind = hdst__arena_printf(arena, "%s.%s", func->name, func->params[i].name);
    return func;
}

static hdst__plan_param plan_param(const ir_func *func, const ir_param *param, const hdst_dataset *item)
{
    hdst__plan_param result = {.function = func->name, .name = param->name, .rows = 1};
    for (size_t b = 0; b < item->spec->binding_count; b++) {
        const hdst__binding *binding = &item->spec->bindings[b];
        if (strcmp(binding->parameter, param->name)) continue;
        result.value = binding->value;
        if (!binding->value) result.rows = binding->rows;
    }
    return result;
}

static void match_params(const ir_func *from, const hdst_dataset *item, const ir_func *fused, hdst__plan_param *params)
{
    for (size_t i = 0; i < from->param_count; i++)
        for (size_t j = 0; j < fused->param_count; j++)
            if (fused->params[j].bind == from->params[i].bind) params[j] = plan_param(from, &from->params[i], item);
}

static hdst_status check_func(ir_func *func, hdst_error *error)
{
    const char *wrong = hdst__passes_scalar(func);
    return wrong ? hdst__error_set(error, HDST_E_INTERNAL, "the compiler made a function that does not verify: %s", wrong) : HDST_OK;
}

static hdst_status fuse_chain(hdst__arena *arena, const chain *c, size_t count, hdst__plan *plan, hdst_error *error)
{
    ir_func *functions[LONGEST_CHAIN];
    for (size_t i = 0; i < count; i++) {
        functions[i] = lower_item(arena, c->items[i], error);
        if (!functions[i]) return error->code;
    }
    ir_func *fused = hdst__fuse(arena, functions, count);
    plan->params = HDST__NEW_ARRAY(arena, hdst__plan_param, fused->param_count);
    for (size_t i = 0; i < count; i++) match_params(functions[i], c->items[i], fused, plan->params);
    hdst__stage_values *values = HDST__NEW(arena, hdst__stage_values);
    *values = (hdst__stage_values){HDST__NEW_ARRAY(arena, const void *, fused->param_count), HDST__NEW_ARRAY(arena, uint64_t, fused->param_count),
                                   HDST__NEW_ARRAY(arena, uint64_t, fused->param_count)};
    plan->values = values;
    plan->func = fused;
    return check_func(fused, error);
}

static void snapshot_values(const hdst__plan *plan)
{
    for (size_t i = 0; i < plan->func->param_count; i++) {
        const hdst__plan_param *param = &plan->params[i];
        ((const void **)plan->values->broadcast)[i] = param->value ? param->value->data : NULL;
        ((uint64_t *)plan->values->rows)[i] = param->value ? param->value->rows : param->rows;
        ((uint64_t *)plan->values->version)[i] = param->value ? param->value->version : 0;
    }
}

// --- Folds ---

static bool accumulates(const ast_function *reduce) { return reduce->reduce_class == AST_FIELD_WISE; }

// The bits of a constant: a number, or one that is negated or converted.
static bool constant_bits(const ast_expr *e, uint64_t *bits)
{
    if (e->kind == AST_NUMBER) {
        *bits = e->number.bits;
        return true;
    }
    if (e->kind == AST_CONVERT && constant_bits(e->left, bits)) *bits = hdst__eval_convert(e->type->kind, e->left->type->kind, *bits);
    else if (e->kind == AST_UNARY && e->op == AST_NEG && constant_bits(e->left, bits)) *bits = hdst__eval_unary(IR_NEG, e->type->kind, e->type->kind, *bits);
    else return false;
    return true;
}

// Writes `identity { .d = INFINITY }` into a zeroed row. false: something in it is not constant.
static bool write_constant(const ast_expr *e, char *at)
{
    uint64_t bits;
    if (e->kind != AST_COMPOUND) {
        if (!constant_bits(e, &bits)) return false;
        memcpy(at, &bits, hdst__scalar_size(e->type->kind));    // little endian, as all of hdst's raw data
        return true;
    }
    for (size_t i = 0; i < e->arg_count; i++) {
        const ast_init *init = &e->inits[i];
        if (!write_constant(e->args[i], at + (init->target ? init->target->offset : init->index * hdst__type_size(e->type->element)))) return false;
    }
    return true;
}

static hdst_status identity_row(hdst__arena *arena, const ast_function *reduce, const hdst__record *record, const void **row, hdst_error *error)
{
    *row = NULL;
    if (!reduce->identity) return HDST_OK;
    char *written = hdst__arena_alloc(arena, record->size);
    *row = written;
    if (write_constant(reduce->identity, written)) return HDST_OK;
    return hdst__error_set(error, HDST_E_UNSUPPORTED, "the identity of '%s' is computed; only constants are possible so far", reduce->name);
}

static hdst_status make_fold(hdst__arena *arena, const hdst_dataset *reduce, hdst__fold *fold, hdst_error *error)
{
    const ast_function *function = reduce->spec->function;
    ir_func *func = lower_item(arena, reduce, error);
    if (!func) return error->code;
    *fold = (hdst__fold){.kind = function->reduce_class == AST_ORDERED ? HDST__STAGE_FOLD_ORDERED : HDST__STAGE_FOLD, .func = func, .record = reduce->record};
    hdst_status status = identity_row(arena, function, reduce->record, &fold->identity, error);
    return status == HDST_OK ? check_func(func, error) : status;
}

// The fold's input when a stage comes before it: the records which that stage left on the host.
static hdst_status fill_from_rows(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                  hdst_error *error)
{
    (void)error;
    const hdst__fold *fold = user;
    uint64_t size = storage->record->size;
    memcpy((char *)buffers[0] + to_first * size, (const char *)fold->rows + first * size, (size_t)(count * size));
    return HDST_OK;
}

static hdst_status run_fold(hdst__plan *plan, const hdst__stage_output *before, hdst__stage_output *output, hdst_error *error)
{
    hdst__fold *fold = &plan->fold;
    hdst__engine *engine = plan->read->object.context->engine;
    hdst__stage_spec spec = {fold->kind, fold->func, plan->read->reader, plan->read->cache, fold->identity};
    if (before) {       // how many records there are changes from run to run, so the stage does too; its kernel comes from the cache
        fold->rows = before->records;
        spec.reader = (hdst__reader){fill_from_rows, fold, before->record_count, fold->record, HDST__AOS, 0};
        spec.cache = NULL;
        hdst__stage_destroy(fold->stage);
        fold->stage = NULL;
    }
    if (!fold->stage) fold->stage = hdst__stage_create(engine, &spec);
    if (!fold->stage) return hdst__error_memory(error, "a stage");
    hdst_status status = hdst__stage_run(fold->stage, NULL, output, error);
    return status;
}

// --- Plans ---

static hdst_status prepare_cache(hdst_dataset *read, hdst_error *error)
{
    if (!read->cached || read->cache) return HDST_OK;
    read->cache = hdst__dataset_cache_create(read->object.context->engine, &read->reader);
    return read->cache ? HDST_OK : hdst__error_memory(error, "a cached dataset");
}

hdst_status hdst__plan_make(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, hdst_error *error)
{
    chain c;
    *plan = (hdst__plan){0};
    hdst_status status = collect_chain(dataset, &c, error);
    if (status != HDST_OK) return status;
    plan->read = c.read;
    plan->output = dataset->record;
    const hdst_dataset *last = c.count ? c.items[c.count - 1] : NULL;
    bool folds = last && last->op == HDST__OP_REDUCE && !accumulates(last->spec->function);
    plan->reduced = last && last->op == HDST__OP_REDUCE && !folds;
    size_t fused = c.count - (folds ? 1 : 0);
    status = prepare_cache(c.read, error);
    if (status == HDST_OK && !c.count) {
        hdst__error_set(error, HDST_E_UNSUPPORTED, "a run of records that were only read is not available yet");
        hdst__error_hint(error, "add a map, a filter or a reduce");
        status = HDST_E_UNSUPPORTED;
    }
    if (status == HDST_OK && fused) status = fuse_chain(arena, &c, fused, plan, error);
    if (status == HDST_OK && folds) status = make_fold(arena, last, &plan->fold, error);
    if (status == HDST_OK && plan->func) {
        plan->stage = hdst__stage_create(c.read->object.context->engine,
                                         &(hdst__stage_spec){HDST__STAGE_MAP, plan->func, c.read->reader, c.read->cache, NULL});
        if (!plan->stage) status = hdst__error_memory(error, "a stage");
    }
    if (status != HDST_OK) hdst__plan_destroy(plan);
    return status;
}

void hdst__plan_destroy(hdst__plan *plan)
{
    if (plan->stage) hdst__stage_destroy(plan->stage);
    if (plan->fold.stage) hdst__stage_destroy(plan->fold.stage);
    plan->stage = plan->fold.stage = NULL;
}

static void add_stats(hdst__run_stats *to, const hdst__run_stats *from)
{
    to->total_seconds += from->total_seconds;
    to->read_seconds += from->read_seconds;
    to->compile_seconds += from->compile_seconds;
    to->run_seconds += from->run_seconds;
    to->bytes_to_device += from->bytes_to_device;
    to->bytes_from_device += from->bytes_from_device;
}

hdst_status hdst__plan_run(hdst__plan *plan, hdst__stage_output *output, hdst_error *error)
{
    hdst__stage_output middle = {0};
    hdst_status status = HDST_OK;
    if (plan->func) {
        snapshot_values(plan);
        status = hdst__stage_run(plan->stage, plan->values, &middle, error);
        plan->stats = *hdst__stage_stats(plan->stage);
        *output = middle;
    }
    if (status != HDST_OK || !plan->fold.func) return status;
    status = run_fold(plan, plan->func ? &middle : NULL, output, error);
    if (!plan->func) plan->stats = *hdst__stage_stats(plan->fold.stage);
    else if (plan->fold.stage) add_stats(&plan->stats, hdst__stage_stats(plan->fold.stage));
    return status;
}

static void explain_chain(const hdst_dataset *dataset, hdst__buffer *out)
{
    static const char *const layouts[] = {"aos", "soa", "aosoa", "aop"};
    if (dataset->op == HDST__OP_READ) {
        hdst__buffer_printf(out, "read %s as %s (%s%s)", dataset->source->source->name, dataset->record->name, layouts[dataset->reader.layout],
                            dataset->cached ? ", cached" : "");
        return;
    }
    explain_chain(dataset->parent, out);
    static const char *const words[] = {"read", "map", "filter", "reduce"};
    hdst__buffer_printf(out, " -> %s %s", words[dataset->op], dataset->spec->function->name);
}

hdst_status hdst__plan_explain(hdst__plan *plan, const hdst_dataset *dataset, hdst__buffer *out, hdst_error *error)
{
    explain_chain(dataset, out);
    hdst__buffer_puts(out, "\n");
    if (plan->func) {
        snapshot_values(plan);
        return hdst__stage_explain(plan->stage, plan->values, out, error);
    }
    hdst__buffer_printf(out, "reduce by %s\n", plan->fold.kind == HDST__STAGE_FOLD ? "a fixed tree of 64-record runs" : "one pass in input order (interpreter)");
    return HDST_OK;
}
