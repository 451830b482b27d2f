// SPDX-License-Identifier: Apache-2.0
// Passes about what a function emits.
//
// dense: a function whose every record meets its only emit gives one output record for each input record, and needs neither a count nor a place.
//   Before: store result.y = p.x; emit               After: store result.y = p.x
//
// count: what a function would emit, without doing it: for the first of two runs over the records, which learns where each one's output begins.
//   Before: y = p.x; if lt(y, 1) { store result.y = y; emit }       After: y = p.x; emit if lt(y, 1)
//
// most: where a loop says how many turns it takes at most, that many times what a turn may emit is counted in its
// place. How much room the output may need is then known without doing the work twice; what comes out is less.
//   Before: loop while true, at most half(n) turns { ...; if gt(y, 1) { emit } }       After: emit half(n)
// So it is where all output comes from one loop over numbers whose turns emit what conditions say: over the rows of a key that a function looks up.
//   Before: for row = p.low to p.high { y = t[row]; if lt(y, 1) { emit } }     After: emit select(lt(p.low, p.high), sub(u64(p.high), u64(p.low)), 0ul)
//
// place: what is stored belongs to a record that comes out, for kernels in which the place behind the last one is somebody else's.
//   Before: store result.y = p.x; emit if lt(p.x, 1)       After: if lt(p.x, 1) { store result.y = p.x; emit }
//
// settle: block form: what is worked out moves in front of what stores and emits, which is a record loop of its own, one record after another.
//   Before: store result.y = mul(p.x, 2); emit if lt(p.x, 1)        After: given = mul(p.x, 2); comes = lt(p.x, 1); store result.y = given; emit if comes
#include "codegen/pass/passes.h"

// --- dense ---

void hdst__pass_emit_counts_dense(ir_func *func)
{
    size_t first, end;
    if (!hdst__ir_emit_range(func, &first, &end)) return;
    ir_stmt *last = func->body.items[end - 1];
    const bool always = last->kind == IR_EMIT && (!last->cond || hdst__ir_is_const(last->cond, 1));
    if (!always) return;
    for (size_t i = first; i + 1 < end; i++)
        if (hdst__ir_emits(func->body.items[i])) return;
    for (size_t i = end; i < func->body.count; i++) func->body.items[i - 1] = func->body.items[i];
    func->body.count--;
    func->emits = false;
}

// --- count ---

static void drop_effects(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_STORE || s->kind == IR_ACCUM || s->kind == IR_CHECK) continue;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) drop_effects(func, nested[n]);
        hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__drop_effects(ir_func *func)
{
    drop_effects(func, &func->body);
    func->counts = true;
}

const char *hdst__passes_count(ir_func *func)
{
    hdst__drop_effects(func);
    hdst__pass_dead_code(func);
    hdst__pass_uniformity(func);
    hdst__pass_if_conversion_of_effects(func);
    hdst__pass_constant_folding(func);
    hdst__pass_dead_code(func);
    hdst__pass_uniformity(func);
    const char *wrong = hdst__ir_verify(func);
    return wrong ? hdst__arena_printf(func->arena, "after pass count: %s", wrong) : NULL;
}

// --- most ---

// Loops around loops that depend on the data stay: only what is within them is counted so.
static bool count_most(ir_func *func, ir_block *block)
{
    bool found = false;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        const uint64_t each = s->kind == IR_LOOP && s->hi ? hdst__ir_emit_bound_of_turn(s) : 0;
        if (each && each < UINT64_MAX) {
            ir_stmt *emit = hdst__ir_stmt(func, IR_EMIT, s->span);
            emit->value = hdst__ir_binary(func, IR_MUL, HDST__U64, s->hi, hdst__ir_const(func, HDST__U64, each));
            block->items[i] = emit;
            found = true;
            continue;
        }
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) found |= count_most(func, nested[n]);
    }
    return found;
}

// The only statement of the block that emits, or of the branches that it is.
static ir_stmt **only_emitting(ir_block *block)
{
    ir_stmt **only = NULL;
    for (size_t i = 0; i < block->count; i++) {
        if (!hdst__ir_emits(block->items[i])) continue;
        if (only) return NULL;
        only = &block->items[i];
    }
    if (!only || (*only)->kind != IR_IF) return only;
    return (*only)->otherwise.count ? NULL : only_emitting(&(*only)->then);
}

// To count what is emitted without a condition is no work.
static bool emits_by_conditions(const ir_block *body)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == IR_EMIT && !body->items[i]->cond) return false;
    return true;
}

// Differences of signed numbers are right modulo 2^64, which holds that of any two.
static ir_expr *most_turns(ir_func *func, const ir_stmt *loop)
{
    ir_expr *each = hdst__ir_binary(func, IR_SUB, HDST__U64, hdst__ir_convert(func, HDST__U64, loop->hi), hdst__ir_convert(func, HDST__U64, loop->lo));
    ir_expr *some = hdst__ir_binary(func, IR_LT, HDST__BOOL, hdst__ir_copy(func, loop->lo), hdst__ir_copy(func, loop->hi));
    return hdst__ir_select(func, some, each, hdst__ir_const(func, HDST__U64, 0));
}

// A loop that ends early may have more turns left than all records may have together: their sum would not be below 2^64.
static bool count_most_of_numbers(ir_func *func)
{
    ir_stmt **loop = only_emitting(&func->body);
    if (!loop || (*loop)->kind != IR_FOR || (*loop)->step != 1 || (*loop)->tile || (*loop)->hi->op == IR_CONST || hdst__ir_loop_exits(*loop)) return false;
    const uint64_t each = hdst__ir_emit_bound_of_turn(*loop);
    if (!each || each == UINT64_MAX || !emits_by_conditions(&(*loop)->body)) return false;
    ir_stmt *emit = hdst__ir_stmt(func, IR_EMIT, (*loop)->span);
    emit->value = hdst__ir_binary(func, IR_MUL, HDST__U64, most_turns(func, *loop), hdst__ir_const(func, HDST__U64, each));
    *loop = emit;
    return true;
}

bool hdst__pass_emit_counts_most(ir_func *func, bool *of_numbers)
{
    *of_numbers = !count_most(func, &func->body);
    return !*of_numbers || count_most_of_numbers(func);
}

// --- place ---

static bool only_stores(const ir_stmt *s)
{
    if (s->kind == IR_STORE) return true;
    if (s->kind != IR_FOR || !s->body.count) return false;
    for (size_t i = 0; i < s->body.count; i++)
        if (!only_stores(s->body.items[i])) return false;
    return true;
}

// Each store has a branch of its own: what stands between stores goes on for all records.
static void guard_stores(ir_func *func, ir_block *block, size_t first, const ir_expr *cond)
{
    for (size_t i = first; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        if (only_stores(s)) {
            block->items[i] = hdst__ir_if(func, hdst__ir_copy(func, cond));
            hdst__ir_push(func, &block->items[i]->then, s);
            continue;
        }
        for (int n = 0, count = hdst__ir_stores(s) ? hdst__ir_nested(s, nested) : 0; n < count; n++) guard_stores(func, nested[n], 0, cond);
    }
}

static bool not_set_by(ir_expr **slot, void *user) { return ((*slot)->op != IR_VAR && (*slot)->op != IR_ELEM) || !hdst__ir_block_writes(user, (*slot)->var); }

// Where the condition is not known before the emit: what is stored is worked out, and stored with it.
static void store_later(ir_func *func, ir_block *block, size_t first, ir_block *branch)
{
    for (size_t i = first; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind != IR_STORE) continue;
        const uint32_t given = hdst__ir_add_var(func, "given", s->value->kind, 0);
        func->vars[given].varying = s->value->varying;
        block->items[i] = hdst__ir_set(func, given, s->value);
        s->value = hdst__ir_var(func, given);
        hdst__ir_push(func, branch, s);
    }
}

// Moves the stores right in front of the emit, which are the last of `out`, into a branch with it. Those before them
// mostly follow the filter whose condition it is (fuse.c).
static void guard(ir_func *func, ir_block *out, ir_stmt *emit)
{
    ir_stmt *test = hdst__ir_if(func, emit->cond);
    size_t first = out->count, begin;
    while (first > 0 && only_stores(out->items[first - 1])) first--;
    for (begin = first; begin > 0 && !hdst__ir_emits(out->items[begin - 1]);) begin--;
    while (begin < first && !hdst__ir_stores(out->items[begin])) begin++;
    ir_block before = {out->items, first, first};
    ir_block own = {out->items + begin, first - begin, first - begin};
    if (hdst__ir_visit_expr(&emit->cond, not_set_by, &own)) guard_stores(func, &before, begin, emit->cond);
    else store_later(func, &before, begin, &test->then);
    for (size_t i = first; i < out->count; i++) hdst__ir_push(func, &test->then, out->items[i]);
    out->count = first;
    emit->cond = NULL;
    hdst__ir_push(func, &test->then, emit);
    hdst__ir_push(func, out, test);
}

static void place_block(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) place_block(func, nested[n]);
        if (s->kind == IR_EMIT && s->cond) guard(func, &out, s);
        else hdst__ir_push(func, &out, s);
    }
    *block = out;
}

void hdst__pass_emit_counts_place(ir_func *func)
{
    place_block(func, &func->body);
    func->placed = true;
}

// --- settle ---

typedef struct settling {
    ir_func *func;
    ir_block compute, give;     // what is worked out for all records, what then puts the output records one after another
} settling;

static bool stays(const settling *w, const ir_expr *e)      // whatever is moved ahead of it
{
    if (e->op == IR_VAR) return hdst__ir_block_writes(&w->func->body, e->var) == 1;
    return e->op == IR_CONST || (e->op == IR_FIELD && (!e->a || e->a->op == IR_CONST));
}

static ir_expr *worked_out(settling *w, const char *name, ir_expr *e)
{
    if (!e || stays(w, e)) return e;
    uint32_t var = hdst__ir_add_var(w->func, name, e->kind, 0);
    hdst__ir_push(w->func, &w->compute, hdst__ir_set(w->func, var, e));
    return hdst__ir_var(w->func, var);
}

static bool gives(const ir_stmt *s) { return s->kind == IR_STORE || s->kind == IR_EMIT; }

void hdst__pass_emit_counts_settle(ir_func *func)
{
    size_t first, end, i = 0;
    if (func->counts || !hdst__ir_emit_range(func, &first, &end)) return;
    settling w = {.func = func};
    for (; i < func->body.count; i++) {
        ir_stmt *s = func->body.items[i];
        if (!gives(s) && i >= first && i < end && (hdst__ir_emits(s) || hdst__ir_stores(s))) break;
        if (gives(s)) {
            s->value = worked_out(&w, "given", s->value);
            s->index = worked_out(&w, "element", s->index);
            s->cond = worked_out(&w, "comes", s->cond);
        }
        hdst__ir_push(func, gives(s) ? &w.give : &w.compute, s);
    }
    for (size_t g = 0; g < w.give.count; g++) hdst__ir_push(func, &w.compute, w.give.items[g]);
    for (; i < func->body.count; i++) hdst__ir_push(func, &w.compute, func->body.items[i]);
    func->body = w.compute;
}
