// SPDX-License-Identifier: Apache-2.0
// Tables with any number of rows of a key (codegen/lower/rows_of_key.h), `lookup V t[K][]`. In IR such a table is two, its rows in the order of their keys and
// `t starts`: for each key up to the largest the number of its first row, then the number of all rows.
//
// After: key = min((uint64_t)k, len(starts) - 1);  first = starts[key];  end = starts[min(key + 1, len(starts) - 1)]
// So a key that is not there, also a negative or a large one, has no rows.
#include "codegen/lower/rows_of_key.h"

#include "codegen/lower/operator_functions.h"

uint32_t hdst__key_rows_add_params(ir_func *func, const char *name, const hdst__record *row)
{
    const char *starts = hdst__arena_printf(func->arena, "%s starts", name);
    ir_param param = {.kind = IR_BROADCAST_TABLE, .name = name, .bind = name, .is_table = true, .is_lookup = true, .record = row};
    const uint32_t rows = hdst__ir_add_param(func, param);
    param.name = param.bind = starts;
    param.record = hdst__number_record(func->arena, HDST__U64);
    hdst__ir_add_param(func, param);
    return rows;
}

static ir_expr *number(ir_func *func, uint64_t bits) { return hdst__ir_const(func, HDST__U64, bits); }

static ir_expr *last_of(ir_func *func, uint32_t starts)
{
    ir_expr *length = number(func, 0);
    length->op = IR_LENGTH;
    length->param = starts;
    return hdst__ir_binary(func, IR_SUB, HDST__U64, length, number(func, 1));
}

static ir_expr *start_of(ir_func *func, uint32_t starts, ir_expr *key)
{
    ir_expr *start = number(func, 0);
    start->op = IR_BROADCAST;
    start->param = starts;
    start->a = key;
    return start;
}

static uint32_t set(ir_func *func, ir_block *block, const char *name, ir_expr *value)
{
    const uint32_t var = hdst__ir_add_var(func, name, HDST__U64, 0);
    hdst__ir_push(func, block, hdst__ir_set(func, var, value));
    return var;
}

// The key is clamped before 1 is added to it, which would wrap around.
hdst__key_rows hdst__key_rows_find(ir_func *func, ir_block *block, uint32_t rows, ir_expr *key)
{
    const uint32_t starts = rows + 1;
    const uint32_t known = set(func, block, "key", hdst__ir_binary(func, IR_MIN, HDST__U64, key, last_of(func, starts)));
    ir_expr *next = hdst__ir_binary(func, IR_ADD, HDST__U64, hdst__ir_var(func, known), number(func, 1));
    hdst__key_rows found;
    found.first = set(func, block, "first", start_of(func, starts, hdst__ir_var(func, known)));
    found.end = set(func, block, "end", start_of(func, starts, hdst__ir_binary(func, IR_MIN, HDST__U64, next, last_of(func, starts))));
    return found;
}

ir_expr *hdst__key_rows_count(ir_func *func, const hdst__key_rows *rows)
{
    return hdst__ir_binary(func, IR_SUB, HDST__U64, hdst__ir_var(func, rows->end), hdst__ir_var(func, rows->first));
}
