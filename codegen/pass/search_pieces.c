// SPDX-License-Identifier: Apache-2.0
// GPU form: texts of unequal length are looked through in pieces.
//
// A lane that looks through a long text keeps its warp waiting. Where a function calls find() once, for a text of its input and for each record, what
// looks is a function of its own: of a piece of the text, and behind it as many bytes as a match that begins in the piece needs. Lanes take pieces of all
// texts of their work-group, and the least place where a piece has a match is the text's (codegen/opencl/print_search_pieces.h).
//
// Before: t = line.value; ... loop { .. text_bits(t, ..) .. }; find = select(not(done), -1, find); rest
// After:  t = line.value; ... find = group_value 1; rest                                    and func->search:
//         t = text_slice(line.value, group_value 0, group_value 0 + 256 + wanted - 1); ... loop { .. }; find = select(..)
#include "codegen/pass/search_pieces.h"

#include "codegen/pass/passes.h"

typedef struct search {
    size_t at, count;           // of the function's statements: what has the loop, and sets `result`
    uint32_t text, result;      // variables
    const ir_expr *wanted;      // bytes of what is looked for, u64
} search;

// --- What it looks for ---

// What a variable that is set once comes to.
static const ir_expr *origin(const ir_func *func, const ir_expr *e)
{
    while (e && e->op == IR_VAR) e = hdst__ir_only_value(func, e->var);
    return e;
}

static bool is_first(const ir_expr *index) { return !index || hdst__ir_is_const(index, 0); }

// A constant, or the length of a text that is bound: the same for all records, by nothing that is set on the way.
static const ir_expr *wanted_of(ir_func *func, const ir_expr *e)
{
    e = origin(func, e);
    if (!e || e->op == IR_CONST) return e;
    const ir_expr *length = e->op == IR_CONVERT && e->kind == HDST__U64 ? origin(func, e->a) : NULL;
    const ir_expr *what = length && length->op == IR_TEXT_LENGTH ? origin(func, length->a) : NULL;
    if (!what || what->op != IR_BROADCAST || !is_first(what->a) || !is_first(what->b)) return NULL;
    return hdst__ir_convert(func, HDST__U64, hdst__ir_unary(func, IR_TEXT_LENGTH, HDST__U32, hdst__ir_copy(func, what)));
}

static bool is_of_input(const ir_func *func, uint32_t text)
{
    const ir_expr *e = hdst__ir_only_value(func, text);
    while (e && e->op == IR_TEXT_VIEW) e = e->a;
    return e && e->op == IR_FIELD && (!e->a || e->a->op == IR_CONST);
}

// --- The loop ---

typedef struct bits {           // IR_TEXT_BITS, which only searches and loops over tokens have
    uint32_t text;
    size_t count, others;       // of that text; of another one, or tokens
} bits;

static bool find_bits(ir_expr **slot, void *user)
{
    bits *b = user;
    const ir_expr *e = *slot;
    b->others += e->op == IR_TEXT_TOKENS;
    if (e->op != IR_TEXT_BITS) return true;
    const bool same = e->a->op == IR_VAR && (b->count == 0 || e->a->var == b->text);
    if (same) b->text = e->a->var, b->count++;
    else b->others++;
    return true;
}

static bits bits_of(ir_stmt *stmt)
{
    bits b = {0};
    hdst__ir_visit_exprs(&(ir_block){&stmt, 1, 1}, find_bits, &b);
    return b;
}

typedef struct body {
    bool shows;                 // something that others see
    const ir_stmt *outermost;   // loop
} body;

static bool look_at_stmt(ir_stmt *stmt, void *user)
{
    body *b = user;
    if (stmt->kind == IR_LOOP && !b->outermost) b->outermost = stmt;
    b->shows |= stmt->kind != IR_LOOP && stmt->kind != IR_SET && stmt->kind != IR_IF && stmt->kind != IR_BREAK;
    return !b->shows;
}

// find = select(not(done), -1, find)
static bool ends_search(const ir_stmt *stmt, const ir_stmt *loop)
{
    const ir_expr *e = stmt->kind == IR_SET ? stmt->value : NULL;
    return e && e->op == IR_SELECT && e->kind == HDST__I64 && e->a->op == IR_NOT && e->a->a->op == IR_VAR && hdst__ir_is_const(e->b, UINT64_MAX) &&
           e->c->op == IR_VAR && e->c->var == stmt->var && hdst__ir_stmt_writes(loop, stmt->var) > 0;
}

// What it leaves to the rest is the result alone.
static bool leaves_result(const ir_func *func, const search *s)
{
    for (uint32_t v = 0; v < func->var_count; v++) {
        if (v == s->result || hdst__ir_stmt_writes(func->body.items[s->at], v) == 0) continue;      // behind a loop only the result is set
        for (size_t i = s->at + s->count; i < func->body.count; i++)
            if (hdst__ir_stmt_reads(func->body.items[i], v)) return false;
    }
    return true;
}

// The loop and what sets the result behind it; or both at the end of what is done unless what is looked for is empty, which any text begins with.
static const ir_block *block_of(const ir_func *func, search *s, size_t *loop)
{
    ir_stmt *const first = func->body.items[s->at];
    s->count = first->kind == IR_LOOP ? 2 : 1;
    *loop = first->kind == IR_LOOP ? s->at : first->otherwise.count - 2;
    if (first->kind == IR_LOOP) return s->at + 1 < func->body.count ? &func->body : NULL;
    const ir_stmt *empty = first->kind == IR_IF && first->then.count == 1 ? first->then.items[0] : NULL;
    if (!empty || first->otherwise.count < 2 || empty->kind != IR_SET || !hdst__ir_is_const(empty->value, 0)) return NULL;
    return first->otherwise.items[*loop + 1]->var == empty->var ? &first->otherwise : NULL;
}

static bool is_search(ir_func *func, search *s)
{
    const bits b = bits_of(func->body.items[s->at]);
    body inside = {0};
    size_t at;
    const ir_block *block = block_of(func, s, &at);
    if (!block || b.others || b.count != 2 || !ends_search(block->items[at + 1], block->items[at])) return false;
    hdst__ir_visit_stmts(&(ir_block){&func->body.items[s->at], 1, 1}, look_at_stmt, &inside);
    const ir_expr *cond = block->items[at]->cond;
    if (inside.shows || inside.outermost != block->items[at] || !cond || cond->op != IR_LE || cond->a->op != IR_ADD) return false;
    s->text = b.text;
    s->result = block->items[at + 1]->var;
    s->wanted = wanted_of(func, cond->a->b);
    return s->wanted && is_of_input(func, s->text) && leaves_result(func, s);
}

// Nothing in front sets a variable on a condition; there is no other search.
static bool find_search(ir_func *func, search *s)
{
    size_t searches = 0;
    for (size_t i = 0; i < func->body.count; i++) {
        const bits b = bits_of(func->body.items[i]);
        if (b.count || b.others) searches++, s->at = searches == 1 ? i : s->at;
    }
    for (size_t i = 0; i < s->at; i++)
        if (hdst__ir_nested(func->body.items[i], (ir_block *[HDST__IR_NESTED]){NULL}) > 0) return false;
    return searches == 1 && is_search(func, s);
}

// --- Apart ---

static ir_expr *group_value(ir_func *func, hdst__kind kind, uint64_t which)
{
    ir_expr *e = hdst__ir_const(func, kind, which);
    e->op = IR_GROUP_VALUE;
    return e;
}

// min(from + 256 - 1 + wanted, 2^32 - 1)
static ir_expr *end_of_piece(ir_func *func, const ir_expr *wanted)
{
    ir_expr *last = hdst__ir_binary(func, IR_ADD, HDST__U64, hdst__ir_convert(func, HDST__U64, group_value(func, HDST__U32, IR_PIECE_FROM)),
                                    hdst__ir_const(func, HDST__U64, HDST__SEARCH_PIECE_BYTES - 1));
    ir_expr *end = hdst__ir_binary(func, IR_ADD, HDST__U64, last, hdst__ir_copy(func, wanted));
    return hdst__ir_convert(func, HDST__U32, hdst__ir_binary(func, IR_MIN, HDST__U64, end, hdst__ir_const(func, HDST__U64, UINT32_MAX)));
}

static ir_func *apart(const ir_func *func, const search *s)
{
    ir_func *f = hdst__ir_copy_func(func->arena, func);
    f->emits = false;
    f->search_result = s->result;
    f->body.count = 0;
    for (size_t i = 0; i < s->at + s->count; i++) {
        ir_stmt *set = f->body.items[i];
        if (i >= s->at || set->kind == IR_SET) f->body.items[f->body.count++] = set;
        if (i >= s->at || set->kind != IR_SET || set->var != s->text) continue;
        ir_expr *slice = hdst__ir_binary(f, IR_TEXT_SLICE, HDST__TEXT, set->value, group_value(f, HDST__U32, IR_PIECE_FROM));
        slice->c = end_of_piece(f, s->wanted);
        set->value = slice;
    }
    hdst__pass_uniformity(f);
    return f;
}

// Rows of a table may be added to by frames that know nothing of searches.
static bool has_tables(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE && func->params[i].is_table) return true;
    return false;
}

void hdst__pass_search_pieces(ir_func *func)
{
    search s = {0};
    if (func->token_pieces || has_tables(func) || !find_search(func, &s)) return;
    func->search = apart(func, &s);
    func->search_text = hdst__ir_only_value(func, s.text);
    func->search_result = s.result;
    func->body.items[s.at] = hdst__ir_set(func, s.result, group_value(func, HDST__I64, IR_FOUND_AT));
    for (size_t i = s.at + s.count; i < func->body.count; i++) func->body.items[i + 1 - s.count] = func->body.items[i];
    func->body.count -= s.count - 1;
    hdst__pass_uniformity(func);
}
