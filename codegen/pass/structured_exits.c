// SPDX-License-Identifier: Apache-2.0
// Structures exits: `return` leaves a body, `continue` leaves a turn of a loop; after this neither is left, only `if` and `break`. A loop that never comes to a
// second turn, as the lowering makes of a switch, is no loop any more.
//
// Before:  if p.a {                  After:  if p.a {
//            store r.x = 1f                    store r.x = 1f
//            return                          } else {
//          }                                   store r.x = p.y
//          store r.x = p.y                   }
//
// Where an exit is in one branch among other ways through it, or in a loop, a flag says that it was taken:
//
// Before:  for i = 0u to 4u {        After:  done = false
//            if p.a {                        for i = 0u to 4u {
//              return                          if p.a {
//            }                                   done = true
//            accum t.n += 1u                     break
//          }                                   }
//          accum t.n += 100u                   accum t.n += 1u
//                                            }
//                                            if not(done) {
//                                              accum t.n += 100u
//                                            }
//
// So it is also after each 64 exits of a block: what follows each stands in the `else` of the one before, and thousands would nest as deep.
#include "codegen/pass/passes.h"
#include "codegen/pass/structured_exits.h"

enum { MOST_NESTED = 64 };      // early exits of a block, each with what follows in its `else`

typedef struct exits {
    ir_func *func;
    ir_stmt_kind exit;
    uint32_t flag;              // made when first needed
} exits;

static bool block_may_exit(const exits *x, const ir_block *block);

static bool may_exit(const exits *x, const ir_stmt *stmt)
{
    if (stmt->kind == x->exit) return true;
    if (x->exit != IR_RETURN && (stmt->kind == IR_FOR || stmt->kind == IR_LOOP)) return false;    // its own
    ir_block *nested[HDST__IR_NESTED];
    for (int i = 0, count = hdst__ir_nested((ir_stmt *)stmt, nested); i < count; i++)
        if (block_may_exit(x, nested[i])) return true;
    return false;
}

static bool block_may_exit(const exits *x, const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (may_exit(x, block->items[i])) return true;
    return false;
}

// Whether control never runs past the end of the block.
static bool always_exits(const exits *x, const ir_block *block)
{
    if (!block->count) return false;
    const ir_stmt *last = block->items[block->count - 1];
    if (last->kind == x->exit) return true;
    return last->kind == IR_IF && always_exits(x, &last->then) && always_exits(x, &last->otherwise);
}

static ir_expr *flag_of(exits *x)
{
    if (x->flag == IR_NO_VAR) x->flag = hdst__ir_add_var(x->func, x->exit == IR_CONTINUE ? "skip" : "done", HDST__BOOL, 0);
    return hdst__ir_var(x->func, x->flag);
}

// Takes what follows position `at` out of the block.
static ir_block take_rest(exits *x, ir_block *block, size_t at)
{
    ir_block rest = {0};
    for (size_t i = at + 1; i < block->count; i++) hdst__ir_push(x->func, &rest, block->items[i]);
    block->count = at + 1;
    return rest;
}

static void append(exits *x, ir_block *block, const ir_block *more)
{
    for (size_t i = 0; i < more->count; i++) hdst__ir_push(x->func, block, more->items[i]);
}

static void structure(exits *x, ir_block *block, bool flagged, bool in_loop);

static void replace_exit(exits *x, ir_block *block, size_t at, bool flagged, bool in_loop)
{
    hdst__span span = block->items[at]->span;
    block->count = at;
    if (flagged) hdst__ir_push(x->func, block, hdst__ir_set(x->func, flag_of(x)->var, hdst__ir_const(x->func, HDST__BOOL, 1)));
    if (in_loop) hdst__ir_push(x->func, block, hdst__ir_stmt(x->func, IR_BREAK, span));
}

// What follows runs only when the flag was not set.
static void guard_rest(exits *x, ir_block *block, size_t at, bool flagged)
{
    ir_block rest = take_rest(x, block, at);
    if (!rest.count) return;
    structure(x, &rest, flagged, false);
    ir_stmt *test = hdst__ir_if(x->func, hdst__ir_unary(x->func, IR_NOT, HDST__BOOL, flag_of(x)));
    test->then = rest;
    hdst__ir_push(x->func, block, test);
}

// Returns false when the rest of the block has been dealt with.
static bool structure_if(exits *x, ir_block *block, size_t at, bool flagged, bool in_loop)
{
    ir_stmt *stmt = block->items[at];
    if (in_loop) {              // a break leaves: nothing that follows runs
        structure(x, &stmt->then, true, true);
        structure(x, &stmt->otherwise, true, true);
        return true;
    }
    bool yes = always_exits(x, &stmt->then), no = always_exits(x, &stmt->otherwise), is_last = at + 1 == block->count;
    if (yes || no || is_last) {
        ir_block rest = take_rest(x, block, at);
        if (!yes || !no) append(x, yes ? &stmt->otherwise : &stmt->then, &rest);
        structure(x, &stmt->then, flagged, false);
        structure(x, &stmt->otherwise, flagged, false);
        return false;
    }
    structure(x, &stmt->then, true, false);
    structure(x, &stmt->otherwise, true, false);
    guard_rest(x, block, at, flagged);
    return false;
}

static bool structure_loop(exits *x, ir_block *block, size_t at, bool flagged, bool in_loop)
{
    ir_stmt *stmt = block->items[at];
    ir_block *nested[HDST__IR_NESTED];
    for (int i = 0, count = hdst__ir_nested(stmt, nested); i < count; i++) structure(x, nested[i], true, true);
    if (!in_loop) {
        guard_rest(x, block, at, flagged);
        return false;
    }
    ir_block rest = take_rest(x, block, at);
    ir_stmt *leave = hdst__ir_if(x->func, flag_of(x));
    hdst__ir_push(x->func, &leave->then, hdst__ir_stmt(x->func, IR_BREAK, stmt->span));
    hdst__ir_push(x->func, block, leave);
    structure(x, &rest, flagged, true);
    append(x, block, &rest);
    return false;
}

// What follows the first exits of a long row stands behind a flag, beside what it follows instead of in it: passes
// and compilers of kernels see blocks of a bounded depth.
static void structure_apart(exits *x, ir_block *block)
{
    ir_block all = {0};
    for (size_t at = 0; at < block->count;) {
        ir_block part = {0};
        for (size_t taken = 0; at < block->count && taken < MOST_NESTED; at++) {
            taken += may_exit(x, block->items[at]);
            hdst__ir_push(x->func, &part, block->items[at]);
        }
        const bool is_first = !all.count;
        structure(x, &part, true, false);
        if (is_first) {
            append(x, &all, &part);
            continue;
        }
        ir_stmt *test = hdst__ir_if(x->func, hdst__ir_unary(x->func, IR_NOT, HDST__BOOL, flag_of(x)));
        test->then = part;
        hdst__ir_push(x->func, &all, test);
    }
    *block = all;
}

static bool is_long(const exits *x, const ir_block *block)
{
    size_t found = 0;
    for (size_t i = 0; i < block->count && found <= MOST_NESTED; i++) found += may_exit(x, block->items[i]);
    return found > MOST_NESTED;
}

// `flagged`: something further out has to know that the exit was taken. `in_loop`: the exit leaves a loop inside the region.
static void structure(exits *x, ir_block *block, bool flagged, bool in_loop)
{
    if (!in_loop && is_long(x, block)) {
        structure_apart(x, block);
        return;
    }
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        if (stmt->kind == x->exit) {
            replace_exit(x, block, i, flagged, in_loop);
            return;
        }
        if (!may_exit(x, stmt)) continue;
        if (stmt->kind == IR_IF ? !structure_if(x, block, i, flagged, in_loop) : !structure_loop(x, block, i, flagged, in_loop)) return;
    }
}

void hdst__ir_structure_exits(ir_func *func, ir_block *block, ir_stmt_kind exit)
{
    exits x = {func, exit, IR_NO_VAR};
    structure(&x, block, false, false);
    if (x.flag == IR_NO_VAR) return;
    ir_block all = {0};
    hdst__ir_push(func, &all, hdst__ir_set(func, x.flag, hdst__ir_const(func, HDST__BOOL, 0)));
    append(&x, &all, block);
    *block = all;
}

// In IR_LOOP a `continue` runs the step; that stays right, as the step stands apart from the body.
static bool structure_continues(ir_stmt *stmt, void *user)
{
    if (stmt->kind == IR_FOR || stmt->kind == IR_LOOP) hdst__ir_structure_exits(user, &stmt->body, IR_CONTINUE);
    return true;
}

// --- Loops that run once ---
//
// Before:  loop while true {         After:  if p.a {
//            if p.a {                          store r.x = 1f
//              store r.x = 1f                } else {
//              break                           store r.x = p.y
//            }                               }
//            store r.x = p.y
//            break
//          }

static bool runs_once(ir_func *func, const ir_stmt *s)
{
    const exits x = {func, IR_BREAK, IR_NO_VAR};
    return s->kind == IR_LOOP && !s->cond && !s->head.count && always_exits(&x, &s->body);
}

static void open_loops(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) open_loops(func, nested[n]);
        if (!runs_once(func, s)) {
            hdst__ir_push(func, &out, s);
            continue;
        }
        hdst__ir_structure_exits(func, &s->body, IR_BREAK);
        for (size_t k = 0; k < s->body.count; k++) hdst__ir_push(func, &out, s->body.items[k]);
    }
    *block = out;
}

void hdst__pass_structured_exits(ir_func *func)
{
    hdst__ir_structure_exits(func, &func->body, IR_RETURN);
    hdst__ir_visit_stmts(&func->body, structure_continues, func);
    open_loops(func, &func->body);
}
