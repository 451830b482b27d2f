// SPDX-License-Identifier: Apache-2.0
// GPU form: texts of unequal length go to lanes in pieces.
//
// A lane that takes a long text keeps its warp waiting, and the last of them the whole device. Where all that a function emits comes from a loop over
// the tokens of its input's text, and no turn needs the one before, lanes may take the tokens that begin in a stretch of bytes of it: IR_TEXT_TOKENS
// is then that part of the text, and the frame gives out pieces in place of records.
//
// Before: with_words = text_tokens(line.value, ..)        After: the same, of a function with `token_pieces` set
//         loop { first, behind = the next token; if none: break; store result.word = text_slice(with_words, first, behind); emit }
#include "codegen/pass/token_pieces.h"

enum { CURSOR_VARS = 2 };       // of what a loop over tokens takes from turn to turn (codegen/math/text.hk): its edges, and where they are

typedef struct finding {
    const ir_expr *tokens;      // the only text whose tokens are taken
    size_t count;
} finding;

static bool find_tokens(ir_expr **slot, void *user)
{
    finding *f = user;
    if ((*slot)->op != IR_TEXT_TOKENS) return true;
    f->tokens = *slot;
    f->count++;
    return true;
}

// What it comes to by copies of variables that are set once.
static const ir_expr *origin(const ir_func *func, const ir_expr *e)
{
    while (e && e->op == IR_VAR) e = hdst__ir_only_value(func, e->var);
    return e;
}

const ir_expr *hdst__token_pieces_text(const ir_func *func)
{
    finding f = {0};
    hdst__ir_visit_exprs((ir_block *)&func->body, find_tokens, &f);
    const ir_expr *text = f.count == 1 ? origin(func, f.tokens->a) : NULL;
    while (text && text->op == IR_TEXT_VIEW) text = origin(func, text->a);
    return text && text->op == IR_FIELD && (!text->a || text->a->op == IR_CONST) ? text : NULL;
}

static bool has_effects(ir_stmt *stmt, void *user)
{
    bool *found = user;
    *found |= stmt->kind == IR_CHECK || stmt->kind == IR_ACCUM || stmt->kind == IR_RETURN;
    return !*found;
}

// How often the loop itself is left: breaks of loops in it are theirs.
static size_t count_breaks(const ir_block *block)
{
    size_t count = 0;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        count += s->kind == IR_BREAK;
        if (s->kind == IR_IF) count += count_breaks(&s->then) + count_breaks(&s->otherwise);
    }
    return count;
}

// Variables that a turn may read as an earlier one left them. Of an array nothing is known.
static size_t count_carried(const ir_func *func, const ir_stmt *loop)
{
    const uint8_t *met = hdst__ir_first_meetings(func->arena, &loop->body, func->var_count);
    size_t count = 0;
    for (uint32_t v = 0; v < func->var_count; v++)
        count += (func->vars[v].elements > 0 || met[v] == IR_MAY_READ) && hdst__ir_block_writes(&loop->body, v) > 0;
    return count;
}

static bool goes_over(const ir_func *func, const ir_stmt *loop)
{
    finding inside = {0};
    hdst__ir_visit_exprs((ir_block *)&loop->body, find_tokens, &inside);
    const bool endless = !loop->cond || hdst__ir_is_const(loop->cond, 1);
    return loop->hi && endless && !inside.count && loop->head.count == 0 && loop->after.count == 0 && count_breaks(&loop->body) == 1 &&
           count_carried(func, loop) == CURSOR_VARS;
}

// Beside the loop records are only read.
bool hdst__takes_token_pieces(const ir_func *func)
{
    const ir_stmt *loop = NULL;
    bool effects = false;
    if (!func->emits || !hdst__token_pieces_text(func)) return false;
    hdst__ir_visit_stmts((ir_block *)&func->body, has_effects, &effects);
    for (size_t i = 0; i < func->body.count && !effects; i++) {
        const ir_stmt *s = func->body.items[i];
        if (s->kind == IR_SET) continue;
        if (s->kind != IR_LOOP || loop) return false;
        loop = s;
    }
    return !effects && loop && goes_over(func, loop);
}

void hdst__pass_token_pieces(ir_func *func) { func->token_pieces = hdst__ir_output(func).way == IR_OUTPUT_COUNTED && hdst__takes_token_pieces(func); }
