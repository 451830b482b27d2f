// SPDX-License-Identifier: Apache-2.0
// Records that fail take no part: the body is run once for its checks alone, and again, without checks, for the
// records that passed. The copy for the checks has variables of its own and no effects; what does not matter to a
// check is dropped from it later (hdst__pass_dead_code). Used when a record was seen to fail and records with errors are
// to be skipped; until then the plain function runs.
//
// Before: check 0: lt(u64(p.k), length(t)); accum t[select(...)].n += 1
// After:  ok = true
//         ok = and(ok, lt(u64(p.k), length(t)))
//         if ok { accum t[select(...)].n += 1 }
//         accum records_skipped.value += u64(not(ok))
//
// Of a reduce of two records the second takes no part: what came so far, in the first, stays as it is. How many
// records it stands for is counted in a leaf that is added.
//
// Before: check 0: ne(b.n, 0u); store out.n = div(a.n, b.n)
// After:  ok = true
//         ok = and(ok, ne(b.n, 0u))
//         if ok { store out.n = div(a.n, b.n); store out.records_taken = add(a.records_taken, 1ul) }
//         else { store out.n = a.n; store out.records_taken = a.records_taken }
#include "codegen/pass/passes.h"

#include <string.h>

typedef struct skip {
    ir_func *func;
    uint32_t *copy;             // by variable: its copy for the checks
    uint32_t ok;
    bool has_output;
    bool output_stays;          // a reduce: there is no new accumulator in front of it
} skip;

// --- The copy for the checks ---

static bool rename_expr(ir_expr **slot, void *user)
{
    const skip *s = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) (*slot)->var = s->copy[(*slot)->var];
    return true;
}

static bool rename_stmt(ir_stmt *stmt, void *user)
{
    const skip *s = user;
    hdst__ir_visit_own_exprs(stmt, rename_expr, user);
    if (stmt->kind == IR_SET || stmt->kind == IR_SET_ELEM || stmt->kind == IR_FOR) stmt->var = s->copy[stmt->var];
    return true;
}

static void copy_variables(skip *s)
{
    ir_func *func = s->func;
    const size_t count = func->var_count;
    s->copy = HDST__NEW_ARRAY(func->arena, uint32_t, count + 1);
    for (uint32_t v = 0; v < count; v++) {
        const ir_var var = func->vars[v];
        s->copy[v] = var.init ? v : hdst__ir_add_var(func, hdst__arena_printf(func->arena, "%s_checked", var.name), var.kind, var.elements);
    }
}

static ir_expr *read_ok(const skip *s) { return hdst__ir_var(s->func, s->ok); }

static void checks_only(const skip *s, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(stmt, nested); n < count; n++) checks_only(s, nested[n]);
        switch (stmt->kind) {
        case IR_ACCUM: case IR_STORE: case IR_EMIT: break;
        case IR_CHECK: hdst__ir_push(s->func, &out, hdst__ir_set(s->func, s->ok, hdst__ir_binary(s->func, IR_AND, HDST__BOOL, read_ok(s), stmt->cond))); break;
        default: hdst__ir_push(s->func, &out, stmt); break;
        }
    }
    *block = out;
}

// --- What the good records do ---

static void without_checks(const skip *s, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(stmt, nested); n < count; n++) without_checks(s, nested[n]);
        if (stmt->kind == IR_STORE && !s->output_stays) stmt->param++;      // the output moves behind the new accumulator
        if (stmt->kind != IR_CHECK) hdst__ir_push(s->func, &out, stmt);
    }
    *block = out;
}

// Where every record gave one, the good ones do.
static void emit_good(const skip *s)
{
    ir_func *func = s->func;
    if (func->emits || !s->has_output) return;
    ir_stmt *emit = hdst__ir_stmt(func, IR_EMIT, (hdst__span){0});
    emit->check = UINT32_MAX;
    hdst__ir_push(func, &func->body, emit);
    func->emits = true;
}

// --- The count ---

static const hdst__record *count_record(hdst__arena *arena)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *field = HDST__NEW(arena, hdst__field);
    *field = (hdst__field){.name = "value", .type = hdst__type_scalar(HDST__U64)};
    *record = (hdst__record){.name = "uint64_t", .fields = field, .field_count = 1, .is_scalar = true};
    const char *why = NULL;
    hdst__record_finish(arena, record, &why);       // one number: cannot fail
    return record;
}

// Behind the other accumulators, so that theirs keep their places; in front of the output.
static uint32_t add_count(skip *s)
{
    ir_func *func = s->func;
    ir_param param = {.kind = IR_ACCUM_TABLE, .name = "records_skipped", .record = count_record(func->arena), .bind = "records_skipped",
                      .leaf_op = HDST__NEW_ARRAY(func->arena, hdst__accumulate_op, 1), .leaf_from_float = HDST__NEW_ARRAY(func->arena, bool, 1)};
    uint32_t at = hdst__ir_add_param(func, param);
    if (at && func->params[at - 1].kind == IR_OUTPUT) {
        s->has_output = true;
        func->params[at] = func->params[at - 1];
        func->params[--at] = param;
    }
    return at;
}

static void push_count(const skip *s, uint32_t param)
{
    ir_stmt *count = hdst__ir_stmt(s->func, IR_ACCUM, (hdst__span){0});
    count->param = param;
    count->acc = HDST__SUM;
    count->value = hdst__ir_convert(s->func, HDST__U64, hdst__ir_unary(s->func, IR_NOT, HDST__BOOL, read_ok(s)));
    hdst__ir_push(s->func, &s->func->body, count);
}

static void push_block(ir_func *func, ir_block *out, const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) hdst__ir_push(func, out, block->items[i]);
}

// ok: whether the record passes its checks; then what the good ones do. Returns that, for more to be added.
static ir_stmt *split(skip *s)
{
    ir_func *func = s->func;
    ir_block checks = hdst__ir_copy_block(func, &func->body), all = {0};
    copy_variables(s);
    s->ok = hdst__ir_add_var(func, "ok", HDST__BOOL, 0);
    hdst__ir_visit_stmts(&checks, rename_stmt, s);
    checks_only(s, &checks);
    without_checks(s, &func->body);
    emit_good(s);
    ir_stmt *good = hdst__ir_if(func, read_ok(s));
    good->then = func->body;
    hdst__ir_push(func, &all, hdst__ir_set(func, s->ok, hdst__ir_const(func, HDST__BOOL, 1)));
    push_block(func, &all, &checks);
    hdst__ir_push(func, &all, good);
    func->body = all;
    return good;
}

uint32_t hdst__pass_skip_failed(ir_func *func)
{
    skip s = {.func = func};
    const uint32_t param = add_count(&s);
    split(&s);
    push_count(&s, param);
    return param;
}

// --- Reduces ---

const hdst__record *hdst__skip_fold_record(hdst__arena *arena, const hdst__record *record, const char **why)
{
    hdst__record *counted = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, record->field_count + 1);
    memcpy(fields, record->fields, record->field_count * sizeof *fields);
    fields[record->field_count] = (hdst__field){.name = "records_taken", .type = hdst__type_scalar(HDST__U64)};
    *counted = (hdst__record){.name = record->name, .fields = fields, .field_count = record->field_count + 1, .pack = record->pack};
    return hdst__record_finish(arena, counted, why) ? counted : NULL;
}

enum { SO_FAR, NEXT, RESULT };      // parameters of a reduce

static ir_expr *read_leaf(ir_func *func, uint32_t param, uint32_t leaf, ir_expr *element)
{
    ir_expr *e = hdst__ir_const(func, func->params[param].record->leaves[leaf].kind, 0);
    e->op = IR_FIELD;
    e->param = param;
    e->leaf = leaf;
    e->a = element;
    return e;
}

static void store_leaf(ir_func *func, ir_block *to, uint32_t leaf, ir_expr *element, ir_expr *value)
{
    ir_stmt *store = hdst__ir_stmt(func, IR_STORE, (hdst__span){0});
    store->param = RESULT;
    store->leaf = leaf;
    store->index = element;
    store->value = value;
    hdst__ir_push(func, to, store);
}

static void keep_leaf(ir_func *func, ir_block *to, uint32_t leaf, uint64_t elements)
{
    if (elements == 1) {
        store_leaf(func, to, leaf, NULL, read_leaf(func, SO_FAR, leaf, NULL));
        return;
    }
    const uint32_t e = hdst__ir_add_var(func, "e", HDST__U64, 0);
    ir_stmt *loop = hdst__ir_for(func, e, hdst__ir_const(func, HDST__U64, 0), hdst__ir_const(func, HDST__U64, elements), 1);
    store_leaf(func, &loop->body, leaf, hdst__ir_var(func, e), read_leaf(func, SO_FAR, leaf, hdst__ir_var(func, e)));
    hdst__ir_push(func, to, loop);
}

void hdst__pass_skip_failed_fold(ir_func *func, const hdst__record *counted, bool next_is_counted)
{
    skip s = {.func = func, .output_stays = true};
    ir_stmt *good = split(&s);
    const uint32_t count = (uint32_t)counted->leaf_count - 1;
    for (uint32_t i = SO_FAR; i <= RESULT; i++) {
        if (i == NEXT && !next_is_counted) continue;
        func->params[i].record = counted;
        func->params[i].leaf_used = NULL;
    }
    ir_expr *taken = hdst__ir_binary(func, IR_ADD, HDST__U64, read_leaf(func, SO_FAR, count, NULL), hdst__ir_const(func, HDST__U64, 1));
    if (next_is_counted) taken = hdst__ir_binary(func, IR_ADD, HDST__U64, taken, read_leaf(func, NEXT, count, NULL));
    store_leaf(func, &good->then, count, NULL, taken);
    for (uint32_t l = 0; l <= count; l++) keep_leaf(func, &good->otherwise, l, counted->leaves[l].elements);
}
