// SPDX-License-Identifier: Apache-2.0
// Making IR: variables, parameters, expressions, statements; deep copies. Walking is in ir_walk.c.
#include "codegen/ir/ir.h"
#include "base/name_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// --- Names ---

// By name: the largest number N of a variable "name_N", 1 for "name" itself.
typedef struct hdst__var_names {
    hdst__name_map numbers;     // to uint64_t
    size_t known;               // variables that are in it
} var_names;

static void note_number(ir_func *func, const char *name, uint64_t number)
{
    uint64_t *most = hdst__name_map_find(&func->var_names->numbers, name);
    if (!most) {
        most = HDST__NEW(func->arena, uint64_t);
        hdst__name_map_add(&func->var_names->numbers, func->arena, name, most);
    }
    if (number > *most) *most = number;
}

// "d" is number 1 of d; "d_12" is number 12 of d, too.
static void note_name(ir_func *func, const char *name)
{
    note_number(func, name, 1);
    const char *end = name + strlen(name), *digits = end;
    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    while (digits < end && *digits == '0') digits++;
    if (digits == end || digits == name || digits[-1] != '_' || end - digits > 10) return;
    const unsigned long number = strtoul(digits, NULL, 10);
    if (number <= UINT32_MAX) note_number(func, hdst__arena_strndup(func->arena, name, (size_t)(digits - 1 - name)), number);
}

// "d", then "d_2", "d_3" ...: what a reader of the printed kernel recognises.
static const char *unique_name(ir_func *func, const char *name)
{
    if (!func->var_names || func->var_names->known > func->var_count) func->var_names = HDST__NEW(func->arena, var_names);
    for (; func->var_names->known < func->var_count; func->var_names->known++) note_name(func, func->vars[func->var_names->known].name);
    const uint64_t *most = hdst__name_map_find(&func->var_names->numbers, name);
    return most ? hdst__arena_printf(func->arena, "%s_%" PRIu64, name, *most + 1) : hdst__arena_strdup(func->arena, name);
}

uint32_t hdst__ir_add_var(ir_func *func, const char *name, hdst__kind kind, uint64_t elements)
{
    ir_var var = {.name = unique_name(func, name), .kind = kind, .elements = elements};
    HDST__PUSH(func->arena, func->vars, func->var_count, func->var_capacity, var);
    return (uint32_t)func->var_count - 1;
}

uint32_t hdst__ir_add_param(ir_func *func, ir_param param)
{
    HDST__PUSH(func->arena, func->params, func->param_count, func->param_capacity, param);
    return (uint32_t)func->param_count - 1;
}

uint32_t hdst__ir_add_check(ir_func *func, ir_check check)
{
    HDST__PUSH(func->arena, func->checks, func->check_count, func->check_capacity, check);
    return (uint32_t)func->check_count - 1;
}

// --- Expressions ---

static ir_expr *new_expr(ir_func *func, ir_op op, hdst__kind kind)
{
    ir_expr *expr = HDST__NEW(func->arena, ir_expr);
    expr->op = op;
    expr->kind = kind;
    return expr;
}

ir_expr *hdst__ir_const(ir_func *func, hdst__kind kind, uint64_t bits)
{
    ir_expr *expr = new_expr(func, IR_CONST, kind);
    expr->bits = bits;
    return expr;
}

ir_expr *hdst__ir_var(ir_func *func, uint32_t var)
{
    ir_expr *expr = new_expr(func, IR_VAR, func->vars[var].kind);
    expr->var = var;
    expr->varying = func->vars[var].varying;
    return expr;
}

ir_expr *hdst__ir_unary(ir_func *func, ir_op op, hdst__kind kind, ir_expr *a)
{
    ir_expr *expr = new_expr(func, op, kind);
    expr->a = a;
    expr->span = a->span;
    expr->varying = a->varying;
    return expr;
}

ir_expr *hdst__ir_binary(ir_func *func, ir_op op, hdst__kind kind, ir_expr *a, ir_expr *b)
{
    ir_expr *expr = hdst__ir_unary(func, op, kind, a);
    expr->b = b;
    expr->varying |= b->varying;
    return expr;
}

ir_expr *hdst__ir_select(ir_func *func, ir_expr *cond, ir_expr *yes, ir_expr *no)
{
    ir_expr *expr = hdst__ir_binary(func, IR_SELECT, yes->kind, cond, yes);
    expr->c = no;
    expr->varying |= no->varying;
    return expr;
}

ir_expr *hdst__ir_convert(ir_func *func, hdst__kind kind, ir_expr *a)
{
    return a->kind == kind ? a : hdst__ir_unary(func, IR_CONVERT, kind, a);
}

ir_expr *hdst__ir_copy(ir_func *func, const ir_expr *expr)
{
    if (!expr) return NULL;
    ir_expr *copy = HDST__NEW(func->arena, ir_expr);
    *copy = *expr;
    copy->a = hdst__ir_copy(func, expr->a);
    copy->b = hdst__ir_copy(func, expr->b);
    copy->c = hdst__ir_copy(func, expr->c);
    return copy;
}

// --- Statements ---

ir_stmt *hdst__ir_stmt(ir_func *func, ir_stmt_kind kind, hdst__span span)
{
    ir_stmt *stmt = HDST__NEW(func->arena, ir_stmt);
    stmt->kind = kind;
    stmt->span = span;
    return stmt;
}

ir_stmt *hdst__ir_set(ir_func *func, uint32_t var, ir_expr *value)
{
    ir_stmt *stmt = hdst__ir_stmt(func, IR_SET, value->span);
    stmt->var = var;
    stmt->value = value;
    return stmt;
}

ir_stmt *hdst__ir_if(ir_func *func, ir_expr *cond)
{
    ir_stmt *stmt = hdst__ir_stmt(func, IR_IF, cond->span);
    stmt->cond = cond;
    return stmt;
}

ir_stmt *hdst__ir_for(ir_func *func, uint32_t var, ir_expr *lo, ir_expr *hi, uint64_t step)
{
    ir_stmt *stmt = hdst__ir_stmt(func, IR_FOR, hi->span);
    stmt->var = var;
    stmt->lo = lo;
    stmt->hi = hi;
    stmt->step = step;
    return stmt;
}

void hdst__ir_push(ir_func *func, ir_block *block, ir_stmt *stmt)
{
    HDST__PUSH(func->arena, block->items, block->count, block->capacity, stmt);
}

static ir_stmt *copy_stmt(ir_func *func, const ir_stmt *stmt)
{
    ir_stmt *copy = HDST__NEW(func->arena, ir_stmt);
    *copy = *stmt;
    copy->value = hdst__ir_copy(func, stmt->value);
    copy->cond = hdst__ir_copy(func, stmt->cond);
    copy->index = hdst__ir_copy(func, stmt->index);
    copy->index2 = hdst__ir_copy(func, stmt->index2);
    copy->lo = hdst__ir_copy(func, stmt->lo);
    copy->hi = hdst__ir_copy(func, stmt->hi);
    copy->body = hdst__ir_copy_block(func, &stmt->body);
    copy->then = hdst__ir_copy_block(func, &stmt->then);
    copy->otherwise = hdst__ir_copy_block(func, &stmt->otherwise);
    copy->head = hdst__ir_copy_block(func, &stmt->head);
    copy->after = hdst__ir_copy_block(func, &stmt->after);
    return copy;
}

ir_block hdst__ir_copy_block(ir_func *func, const ir_block *block)
{
    ir_block copy = {0};
    for (size_t i = 0; i < block->count; i++) hdst__ir_push(func, &copy, copy_stmt(func, block->items[i]));
    return copy;
}

// --- Functions ---

static void *copy_array(hdst__arena *arena, const void *items, size_t count, size_t bytes)
{
    if (!items || !count) return NULL;
    void *copy = hdst__arena_alloc(arena, count * bytes);
    return memcpy(copy, items, count * bytes);
}

ir_func *hdst__ir_copy_func(hdst__arena *arena, const ir_func *func)
{
    ir_func *copy = HDST__NEW(arena, ir_func);
    *copy = *func;
    copy->arena = arena;
    copy->var_names = NULL;
    copy->searches = NULL;
    copy->search_count = copy->search_capacity = 0;
    copy->params = copy_array(arena, func->params, func->param_count, sizeof *func->params);
    copy->vars = copy_array(arena, func->vars, func->var_count, sizeof *func->vars);
    copy->checks = copy_array(arena, func->checks, func->check_count, sizeof *func->checks);
    copy->param_capacity = copy->param_count;
    copy->var_capacity = copy->var_count;
    copy->check_capacity = copy->check_count;
    for (size_t i = 0; i < copy->param_count; i++) {
        ir_param *param = &copy->params[i];
        size_t leaves = param->record->leaf_count;
        param->leaf_used = copy_array(arena, param->leaf_used, leaves, sizeof *param->leaf_used);
        param->leaf_op = copy_array(arena, param->leaf_op, leaves, sizeof *param->leaf_op);
        param->leaf_from_float = copy_array(arena, param->leaf_from_float, leaves, sizeof *param->leaf_from_float);
    }
    copy->body = hdst__ir_copy_block(copy, &func->body);
    return copy;
}
