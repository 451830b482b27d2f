// SPDX-License-Identifier: Apache-2.0
// Which accumulators' rows come in the order of the input's records (codegen/pass/arranged_rows.h), and the pass for those of which it is known where the
// records of each row begin.
//
// Before: key = u64(e.to); check 1: lt(key, length(t)) of key; accum t[select(lt(key, length(t)), key, 0ul)].value += e.x
// After:  accum t[u64(e.to)].value += e.x
#include "codegen/pass/arranged_rows.h"

#include "codegen/pass/passes.h"

typedef struct search {
    const ir_func *func;
    uint32_t param;
    uint32_t depth;             // variables that stand for one another
    size_t additions;
    bool other;
} search;

enum { MOST_DEPTH = 16 };

static bool only_arranged(search *s, const ir_expr *e);

static bool is_arranged_variable(search *s, uint32_t var)
{
    const ir_expr *value = hdst__ir_only_value(s->func, var);
    if (!value || s->depth == MOST_DEPTH) return false;
    s->depth++;
    const bool yes = only_arranged(s, value);
    s->depth--;
    return yes;
}

// Each integer of one kind becomes another one of the other, and a row's number stays what it is: none becomes negative.
static bool keeps_apart(hdst__kind from, hdst__kind to)
{
    const uint64_t before = hdst__scalar_size(from), after = hdst__scalar_size(to);
    if (!hdst__kind_is_integer(from) || !hdst__kind_is_integer(to)) return false;
    return hdst__kind_is_signed(to) && !hdst__kind_is_signed(from) ? after > before : after >= before;
}

// A check's clamp, select(lt(key, length), key, 0), by the rows of the table itself: no choice of the user's between the key and another one.
static bool is_clamp(search *s, const ir_expr *e)
{
    const bool of_table = e->a->op == IR_LT && e->a->b->op == IR_LENGTH && e->a->b->param == s->param;
    return of_table && only_arranged(s, e->a->a) && only_arranged(s, e->b) && hdst__ir_is_const(e->c, 0);
}

static bool only_arranged(search *s, const ir_expr *e)
{
    switch (e->op) {
    case IR_FIELD: return e->param == 0 && !e->a && e->leaf + 1 == s->func->params[0].arranged;
    case IR_BROADCAST: return s->func->params[e->param].numbers_keys && e->a && e->a->op == IR_RECORD_INDEX;
    case IR_VAR: return is_arranged_variable(s, e->var);
    case IR_CONVERT: return keeps_apart(e->a->kind, e->kind) && only_arranged(s, e->a);
    case IR_SELECT: return is_clamp(s, e);
    default: return false;
    }
}

static bool look(ir_stmt *stmt, void *user)
{
    search *s = user;
    const bool adds = stmt->kind == IR_ACCUM || stmt->kind == IR_ACCUM_WORDS || stmt->kind == IR_ACCUM_BLOCK || stmt->kind == IR_ACCUM_SUPERACCUMULATOR;
    if (!adds || stmt->param != s->param) return true;
    s->additions++;
    s->other |= stmt->kind == IR_ACCUM_BLOCK || !stmt->index || (stmt->index2 && stmt->index2->op != IR_CONST) || !only_arranged(s, stmt->index);
    return !s->other;
}

// --- Where keys begin ---

static bool is_key_check(const ir_func *func, const ir_stmt *s)
{
    if (s->kind != IR_CHECK) return false;
    const ir_check_kind kind = func->checks[s->check].kind;
    return kind == IR_CHECK_KEY || kind == IR_CHECK_UNSIGNED_KEY;
}

static bool names_key(const ir_func *func, const ir_expr *e)
{
    search s = {.func = func};
    return e && only_arranged(&s, e);
}

// Additions that each record makes, whatever it is.
static bool adds_for_all(const ir_func *func, uint32_t param)
{
    size_t all = 0, here = 0;
    const ir_block *body = &func->body;
    for (size_t i = 0; i < body->count; i++) here += body->items[i]->kind == IR_ACCUM && body->items[i]->param == param;
    search s = {.func = func, .param = param};
    hdst__ir_visit_stmts((ir_block *)body, look, &s);
    all = s.additions;
    return all && all == here && !s.other;
}

static bool numbers_keys(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].numbers_keys) return true;
    return false;
}

// The numbers of keys are rows as they are.
static void name_rows(ir_func *func, uint32_t param)
{
    const uint32_t leaf = func->params[0].arranged - 1;
    const bool numbered = numbers_keys(func);
    ir_block *body = &func->body;
    size_t kept = 0;
    for (size_t i = 0; i < body->count; i++) {
        ir_stmt *s = body->items[i];
        if (is_key_check(func, s) && names_key(func, s->index)) continue;
        body->items[kept++] = s;
        if (numbered || s->kind != IR_ACCUM || s->param != param) continue;
        ir_expr *key = HDST__NEW(func->arena, ir_expr);
        *key = (ir_expr){.op = IR_FIELD, .kind = func->params[0].record->leaves[leaf].kind, .leaf = leaf};
        s->index = hdst__ir_convert(func, HDST__U64, key);
    }
    body->count = kept;
    func->params[param].rows_from = func->params[0].starts;
    hdst__pass_dead_code(func);         // a loop that only seems to read keys reads the other fields the wrong way
}

static bool has_key_check(const ir_func *func)
{
    for (size_t i = 0; i < func->body.count; i++)
        if (is_key_check(func, func->body.items[i])) return true;
    return false;
}

void hdst__pass_arranged_rows(ir_func *func, const hdst__tables *tables)
{
    const hdst__accum *only = NULL;
    size_t count = 0;
    for (size_t a = 0; a < tables->accum_count; a++)
        if (tables->accum[a].is_table) only = &tables->accum[a], count++;
    if (!func->params[0].starts || count != 1 || !only->private_row_words || only->private_row_words > HDST__RUN_WORDS) return;
    if ((has_key_check(func) || numbers_keys(func)) && adds_for_all(func, only->param)) name_rows(func, only->param);
}

bool hdst__each_adds_by_its_key(const ir_func *func, uint32_t param) { return func->params[0].arranged && adds_for_all(func, param); }

bool hdst__rows_are_arranged(const ir_func *func, uint32_t param)
{
    search s = {.func = func, .param = param};
    if (!func->params[0].arranged) return false;
    hdst__ir_visit_stmts((ir_block *)&func->body, look, &s);
    return s.additions && !s.other;
}

// --- Block form ---

uint64_t hdst__row_word(const hdst__accum *accum, const ir_stmt *s)
{
    const hdst__cell *cell = &accum->cell[s->leaf];
    return cell->private_first + (s->index2 ? s->index2->bits : 0) * cell->private_words + s->word;
}

typedef struct words_search {
    const hdst__accum *accum;
    uint64_t seen;
    size_t loops;
    bool other;                 // something that no running total takes
} words_search;

static void note_word(words_search *seek, const ir_stmt *s)
{
    const bool named = !s->index2 || s->index2->op == IR_CONST, adds = seek->accum->cell[s->leaf].op == HDST__WORD_ADD;
    const uint64_t bit = named && adds ? UINT64_C(1) << hdst__row_word(seek->accum, s) : 0;
    seek->other |= !bit || seek->seen & bit;
    seek->seen |= bit;
}

static bool find_words(ir_stmt *stmt, void *user)
{
    words_search *seek = user;
    if (stmt->kind == IR_ACCUM && stmt->param == seek->accum->param) seek->other = true;
    if (stmt->kind == IR_ACCUM_WORDS && stmt->param == seek->accum->param) note_word(seek, stmt);
    if (stmt->kind != IR_RECORDS) return true;
    size_t here = 0;
    for (size_t i = 0; i < stmt->body.count; i++)
        here += stmt->body.items[i]->kind == IR_ACCUM_WORDS && stmt->body.items[i]->param == seek->accum->param;
    seek->other |= here && here != stmt->body.count;
    seek->loops += here != 0;
    return true;
}

bool hdst__rows_have_totals(const ir_func *block, const hdst__accum *accum)
{
    words_search seek = {.accum = accum};
    hdst__ir_visit_stmts((ir_block *)&block->body, find_words, &seek);
    return block->block && seek.loops == 1 && seek.seen && !seek.other;
}

bool hdst__each_adds_to_its_row(const ir_func *func, const hdst__accum *accum)
{
    words_search seek = {.accum = accum};
    if (!func->params[0].arranged || !adds_for_all(func, accum->param)) return false;
    for (size_t i = 0; i < func->body.count; i++)
        if (func->body.items[i]->kind == IR_ACCUM) note_word(&seek, func->body.items[i]);
    return seek.seen && !seek.other;
}
