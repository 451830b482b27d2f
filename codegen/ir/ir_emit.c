// SPDX-License-Identifier: Apache-2.0
// Where a function emits its output records, how many a record can give, and how it looks at their texts.
#include "codegen/ir/ir.h"
#include "codegen/ir/text_value.h"

static bool find_emit(ir_stmt *s, void *user)
{
    *(bool *)user |= s->kind == IR_EMIT;
    return !*(bool *)user;
}

bool hdst__ir_emits(const ir_stmt *stmt)
{
    bool found = false;
    ir_stmt *item = (ir_stmt *)stmt;        // the visitor only looks
    hdst__ir_visit_stmts(&(ir_block){&item, 1, 1}, find_emit, &found);
    return found;
}

static bool find_store(ir_stmt *s, void *user)
{
    *(bool *)user |= s->kind == IR_STORE;
    return !*(bool *)user;
}

bool hdst__ir_stores(const ir_stmt *stmt)
{
    bool found = false;
    ir_stmt *item = (ir_stmt *)stmt;
    hdst__ir_visit_stmts(&(ir_block){&item, 1, 1}, find_store, &found);
    return found;
}

// --- Views ---

static bool is_view(const ir_expr *e)
{
    return e->op == IR_TEXT_VIEW || (e->op == IR_CONST && e->kind == HDST__TEXT && e->bits && ((const hdst__text_value *)(uintptr_t)e->bits)->view);
}

// Views that are made, less those of which something else than a text is made at once.
static bool count_views(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    *(int64_t *)user += is_view(e);
    *(int64_t *)user -= e->a && e->kind != HDST__TEXT && is_view(e->a);
    return true;
}

bool hdst__ir_gives_views(const ir_func *func)
{
    int64_t views = 0;
    ir_block body = func->body;             // the visitor only looks
    hdst__ir_visit_exprs(&body, count_views, &views);
    return views > 0;
}

bool hdst__ir_emit_range(const ir_func *func, size_t *first, size_t *end)
{
    *first = *end = 0;
    bool begun = false;
    for (size_t i = 0; func->emits && i < func->body.count; i++) {
        const ir_stmt *s = func->body.items[i];
        const bool emits = hdst__ir_emits(s);
        if (!begun && (emits || hdst__ir_stores(s))) *first = i;
        begun |= emits || hdst__ir_stores(s);
        if (emits) *end = i + 1;
    }
    return *end > 0;
}

// --- The bound ---

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t bound_block(const ir_block *block);

static uint64_t bound_for(const ir_stmt *s)
{
    const uint64_t inside = bound_block(&s->body);
    if (!inside) return 0;
    if (s->lo->op != IR_CONST || s->hi->op != IR_CONST) return UINT64_MAX;
    const bool signed_ = hdst__kind_is_signed(s->lo->kind);
    if (signed_ ? (int64_t)s->lo->bits >= (int64_t)s->hi->bits : s->lo->bits >= s->hi->bits) return 0;
    const uint64_t distance = s->hi->bits - s->lo->bits, turns = distance / s->step + (distance % s->step != 0);
    uint64_t product;
    return __builtin_mul_overflow(turns, inside, &product) ? UINT64_MAX : product;
}

static uint64_t bound_stmt(const ir_stmt *s)
{
    switch (s->kind) {
    case IR_EMIT: return 1;
    case IR_IF: {
        const uint64_t yes = bound_block(&s->then), no = bound_block(&s->otherwise);
        return yes > no ? yes : no;
    }
    case IR_FOR: return bound_for(s);
    case IR_LOOP: return bound_block(&s->head) || bound_block(&s->body) || bound_block(&s->after) ? UINT64_MAX : 0;
    case IR_RECORDS: return bound_block(&s->body);
    default: return 0;
    }
}

static uint64_t bound_block(const ir_block *block)
{
    uint64_t bound = 0;
    for (size_t i = 0; i < block->count; i++) bound = plus(bound, bound_stmt(block->items[i]));
    return bound;
}

uint64_t hdst__ir_emit_bound_of_turn(const ir_stmt *loop) { return plus(bound_block(&loop->head), plus(bound_block(&loop->body), bound_block(&loop->after))); }
uint64_t hdst__ir_emit_bound(const ir_func *func) { return bound_block(&func->body); }
ir_output hdst__ir_output(const ir_func *func) { return func->output ? *func->output : (ir_output){.way = IR_OUTPUT_DENSE}; }
