// SPDX-License-Identifier: Apache-2.0
// A function whose tables of accumulators hold a range of their rows alone (codegen/lower/row_window.h). Where it had `t[row].x += v` it has now
// `place = row - first; if (place < rows of the range) t[place].x += v`; what is below the range wraps, and is no place in it either.
#include "codegen/lower/row_window.h"

#include "codegen/lower/operator_functions.h"

const char hdst__window_first[] = "first_row", hdst__window_all[] = "all_rows";

typedef struct window {
    ir_func *func;
    uint32_t *first, *all;          // by parameter, of tables of accumulators: their broadcasts
} window;

static bool has_window(const window *w, uint32_t param)
{
    return w->func->params[param].kind == IR_ACCUM_TABLE && w->func->params[param].is_table;
}

// --- Parameters ---

static bool move_output(ir_stmt *stmt, void *user)
{
    const window *w = user;
    if (stmt->kind == IR_STORE) stmt->param = (uint32_t)w->func->param_count - 1;
    return true;
}

// The output stays the last one.
static uint32_t add_number(window *w, const char *name, const char *of)
{
    ir_func *func = w->func;
    const char *bind = hdst__arena_printf(func->arena, "%s.%s", of, name);
    uint32_t added = hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = name, .bind = bind,
                                                         .record = hdst__number_record(func->arena, HDST__U64)});
    if (func->params[added - 1].kind != IR_OUTPUT) return added;
    const ir_param output = func->params[added - 1];
    func->params[added - 1] = func->params[added];
    func->params[added] = output;
    return added - 1;
}

static void add_numbers(window *w)
{
    const uint32_t params = (uint32_t)w->func->param_count;
    w->first = HDST__NEW_ARRAY(w->func->arena, uint32_t, params);
    w->all = HDST__NEW_ARRAY(w->func->arena, uint32_t, params);
    for (uint32_t i = 0; i < params; i++) {
        if (!has_window(w, i)) continue;
        const char *of = w->func->params[i].bind;
        w->first[i] = add_number(w, hdst__window_first, of);
        w->all[i] = add_number(w, hdst__window_all, of);
    }
    hdst__ir_visit_stmts(&w->func->body, move_output, w);
}

static ir_expr *read_number(const window *w, uint32_t param)
{
    ir_expr *e = hdst__ir_const(w->func, HDST__U64, 0);
    e->op = IR_BROADCAST;
    e->param = param;
    return e;
}

static bool take_all_rows(ir_expr **slot, void *user)
{
    const window *w = user;
    if ((*slot)->op == IR_LENGTH && has_window(w, (*slot)->param)) *slot = read_number(w, w->all[(*slot)->param]);
    return true;
}

// --- Additions ---

static ir_expr *is_inside(const window *w, uint32_t place, uint32_t table)
{
    ir_expr *rows = hdst__ir_const(w->func, HDST__U64, 0);
    rows->op = IR_LENGTH;
    rows->param = table;
    return hdst__ir_binary(w->func, IR_LT, HDST__BOOL, hdst__ir_var(w->func, place), rows);
}

typedef struct run_of_additions {       // to one row, which follow one another: they share a test
    ir_stmt *inside;                // NULL: the last statement was none
    const ir_expr *row;
    uint32_t table, place;
} run_of_additions;

static ir_expr *row_of(const window *w, const ir_stmt *stmt)
{
    return stmt->index ? hdst__ir_copy(w->func, stmt->index) : hdst__ir_const(w->func, HDST__U64, 0);
}

static bool goes_on(const run_of_additions *run, const ir_stmt *stmt)
{
    return run->inside && run->table == stmt->param && stmt->index && hdst__ir_expr_equal(run->row, stmt->index);
}

static void begin_run(const window *w, run_of_additions *run, const ir_stmt *stmt, ir_block *block)
{
    ir_func *func = w->func;
    ir_expr *row = hdst__ir_convert(func, HDST__U64, row_of(w, stmt));
    run->table = stmt->param;
    run->row = row_of(w, stmt);
    run->place = hdst__ir_add_var(func, "place", HDST__U64, 0);
    hdst__ir_push(func, block, hdst__ir_set(func, run->place, hdst__ir_binary(func, IR_SUB, HDST__U64, row, read_number(w, w->first[stmt->param]))));
    run->inside = hdst__ir_if(func, is_inside(w, run->place, stmt->param));
    hdst__ir_push(func, block, run->inside);
}

static void rewrite(const window *w, ir_block *block)
{
    const ir_block before = *block;
    run_of_additions run = {0};
    *block = (ir_block){0};
    for (size_t i = 0; i < before.count; i++) {
        ir_stmt *stmt = before.items[i];
        ir_block *nested[HDST__IR_NESTED];
        const int count = hdst__ir_nested(stmt, nested);
        for (int n = 0; n < count; n++) rewrite(w, nested[n]);
        if (stmt->kind != IR_ACCUM || !has_window(w, stmt->param)) {
            run.inside = NULL;
            hdst__ir_push(w->func, block, stmt);
            continue;
        }
        if (!goes_on(&run, stmt)) begin_run(w, &run, stmt, block);
        stmt->index = hdst__ir_select(w->func, is_inside(w, run.place, run.table), hdst__ir_var(w->func, run.place), hdst__ir_const(w->func, HDST__U64, 0));
        hdst__ir_push(w->func, &run.inside->then, stmt);
    }
}

ir_func *hdst__row_window(hdst__arena *arena, const ir_func *func)
{
    window w = {.func = hdst__ir_copy_func(arena, func)};
    add_numbers(&w);
    hdst__ir_visit_exprs(&w.func->body, take_all_rows, &w);
    rewrite(&w, &w.func->body);
    return w.func;
}
