// SPDX-License-Identifier: Apache-2.0
// Walking IR: visitors, structural equality, what an expression or a statement reads and writes.
#include "codegen/ir/ir.h"

bool hdst__ir_visit_expr(ir_expr **expr, ir_expr_visitor visit, void *user)
{
    if (!*expr) return true;
    return hdst__ir_visit_expr(&(*expr)->a, visit, user) && hdst__ir_visit_expr(&(*expr)->b, visit, user) &&
           hdst__ir_visit_expr(&(*expr)->c, visit, user) && visit(expr, user);
}

bool hdst__ir_visit_own_exprs(ir_stmt *stmt, ir_expr_visitor visit, void *user)
{
    ir_expr **own[] = {&stmt->lo, &stmt->hi, &stmt->index, &stmt->index2, &stmt->cond, &stmt->value};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!hdst__ir_visit_expr(own[i], visit, user)) return false;
    return true;
}

bool hdst__ir_visit_exprs(ir_block *block, ir_expr_visitor visit, void *user)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        if (!hdst__ir_visit_own_exprs(stmt, visit, user)) return false;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(stmt, nested); n < count; n++)
            if (!hdst__ir_visit_exprs(nested[n], visit, user)) return false;
    }
    return true;
}

bool hdst__ir_visit_stmts(ir_block *block, ir_stmt_visitor visit, void *user)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        if (!visit(stmt, user)) return false;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(stmt, nested); n < count; n++)
            if (!hdst__ir_visit_stmts(nested[n], visit, user)) return false;
    }
    return true;
}

int hdst__ir_nested(ir_stmt *stmt, ir_block *nested[HDST__IR_NESTED])
{
    int count = 0;
    switch (stmt->kind) {
    case IR_IF:
        nested[count++] = &stmt->then;
        nested[count++] = &stmt->otherwise;
        break;
    case IR_LOOP:
        nested[count++] = &stmt->head;
        nested[count++] = &stmt->body;
        nested[count++] = &stmt->after;
        break;
    case IR_FOR: case IR_RECORDS:
        nested[count++] = &stmt->body;
        break;
    default: break;
    }
    return count;
}

bool hdst__ir_expr_equal(const ir_expr *a, const ir_expr *b)
{
    if (!a || !b) return a == b;
    return a->op == b->op && a->kind == b->kind && a->param == b->param && a->leaf == b->leaf &&
        a->record == b->record && a->var == b->var && a->bits == b->bits &&
           hdst__ir_expr_equal(a->a, b->a) && hdst__ir_expr_equal(a->b, b->b) && hdst__ir_expr_equal(a->c, b->c);
}

static bool is_no_text(ir_expr **e, void *user)
{
    (void)user;
    return (*e)->kind != HDST__TEXT;
}

bool hdst__ir_works_on_texts(const ir_func *func) { return !hdst__ir_visit_exprs((ir_block *)&func->body, is_no_text, NULL); }

bool hdst__lanes_take_neighbours(const ir_func *func) { return func->tables && func->tables->neighbours; }

bool hdst__ir_is_const(const ir_expr *expr, uint64_t bits) { return expr && expr->op == IR_CONST && expr->bits == bits; }

bool hdst__broadcast_is_local(const ir_param *param)
{
    return param->kind == IR_BROADCAST_TABLE && param->placement && param->placement->place == IR_PLACE_LOCAL;
}

// --- Reads and writes of variables ---

typedef struct search {
    uint32_t var;
    size_t count;
} search;

static bool count_read(ir_expr **expr, void *user)
{
    search *s = user;
    if (((*expr)->op == IR_VAR || (*expr)->op == IR_ELEM) && (*expr)->var == s->var) s->count++;
    return true;
}

static bool count_stmt_read(ir_stmt *stmt, void *user) { return hdst__ir_visit_own_exprs(stmt, count_read, user); }

bool hdst__ir_writes(const ir_stmt *stmt, uint32_t var)
{
    switch (stmt->kind) {
    case IR_SET: case IR_SET_ELEM: case IR_FOR: case IR_REDUCE: return stmt->var == var;
    default: return false;
    }
}

typedef struct writes {
    uint32_t var;
    size_t count;
    const ir_expr *value;
} writes;

static bool see_write(ir_stmt *stmt, void *user)
{
    writes *w = user;
    if (!hdst__ir_writes(stmt, w->var)) return true;
    w->count++;
    w->value = stmt->kind == IR_SET ? stmt->value : NULL;
    return true;
}

const ir_expr *hdst__ir_only_value(const ir_func *func, uint32_t var)
{
    writes w = {.var = var};
    hdst__ir_visit_stmts((ir_block *)&func->body, see_write, &w);
    return w.count == 1 ? w.value : NULL;
}

static bool count_write(ir_stmt *stmt, void *user)
{
    search *s = user;
    s->count += hdst__ir_writes(stmt, s->var);
    return true;
}

size_t hdst__ir_expr_reads(const ir_expr *expr, uint32_t var)
{
    search s = {.var = var};
    ir_expr *root = (ir_expr *)expr;        // count_read changes nothing
    hdst__ir_visit_expr(&root, count_read, &s);
    return s.count;
}

// The visitors only count, so a const block is safe with them.
size_t hdst__ir_block_reads(const ir_block *block, uint32_t var)
{
    search s = {.var = var};
    hdst__ir_visit_stmts((ir_block *)block, count_stmt_read, &s);
    return s.count;
}

size_t hdst__ir_block_writes(const ir_block *block, uint32_t var)
{
    search s = {.var = var};
    hdst__ir_visit_stmts((ir_block *)block, count_write, &s);
    return s.count;
}

size_t hdst__ir_stmt_reads(const ir_stmt *stmt, uint32_t var)
{
    ir_stmt *item = (ir_stmt *)stmt;
    ir_block one = {&item, 1, 1};
    return hdst__ir_block_reads(&one, var);
}

size_t hdst__ir_stmt_writes(const ir_stmt *stmt, uint32_t var)
{
    ir_stmt *item = (ir_stmt *)stmt;
    ir_block one = {&item, 1, 1};
    return hdst__ir_block_writes(&one, var);
}

static bool count_node(ir_expr **expr, void *user)
{
    (void)expr;
    ++*(size_t *)user;
    return true;
}

size_t hdst__ir_expr_size(const ir_expr *expr)
{
    size_t count = 0;
    ir_expr *root = (ir_expr *)expr;
    hdst__ir_visit_expr(&root, count_node, &count);
    return count;
}

typedef struct tally {
    size_t *mentions;
    bool take_off;
} tally;

static void tally_var(const tally *t, uint32_t var)
{
    if (t->take_off) t->mentions[var]--;
    else t->mentions[var]++;
}

static bool tally_expr(ir_expr **expr, void *user)
{
    if ((*expr)->op == IR_VAR || (*expr)->op == IR_ELEM) tally_var(user, (*expr)->var);
    return true;
}

static bool tally_stmt(ir_stmt *stmt, void *user)
{
    if (hdst__ir_writes(stmt, stmt->var)) tally_var(user, stmt->var);
    return hdst__ir_visit_own_exprs(stmt, tally_expr, user);
}

void hdst__ir_tally(const ir_block *block, size_t *mentions, bool take_off)
{
    tally t = {mentions, take_off};
    hdst__ir_visit_stmts((ir_block *)block, tally_stmt, &t);
}

// --- Control ---

bool hdst__ir_block_exits(const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *stmt = block->items[i];
        if (stmt->kind == IR_BREAK || stmt->kind == IR_CONTINUE) return true;
        if (stmt->kind == IR_IF && (hdst__ir_block_exits(&stmt->then) || hdst__ir_block_exits(&stmt->otherwise))) return true;
    }
    return false;
}

bool hdst__ir_loop_exits(const ir_stmt *loop)
{
    return hdst__ir_block_exits(&loop->head) || hdst__ir_block_exits(&loop->body) || hdst__ir_block_exits(&loop->after);
}
