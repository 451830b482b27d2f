// SPDX-License-Identifier: Apache-2.0
// An estimate of the private memory that a work-item of a kernel needs.
#include "codegen/opencl/private_memory.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_unpack.h"

#include <inttypes.h>

static hdst__span place_of(const ir_func *func)
{
    return func->body.count ? func->body.items[0]->span : (hdst__span){0, 0, 0};
}

static uint64_t bytes_of(const ir_func *func, const ir_var *var)
{
    if (var->init || var->in_tile) return 0;
    const uint64_t records = var->per_record && func->block ? func->block : 1;
    if (var->elements) return var->elements * records * hdst__scalar_size(var->kind);
    return records * hdst__scalar_size(records > 1 ? hdst__kind_over_block(var->kind) : var->kind);
}

// Levels of sums over a block (accum/levels.cl): their state, which for floats has room for sums in double, and a block
// of values where the rare way begins.
// Families of sums that share factors (accum/levels_shared.cl) put records of a block and an eighth aside, with a number for each factor: there are fewer of
// these than sums. A block of their factors waits until the next one has its own (print_pipelined_records.c).
enum { FLOAT_LEVEL_BYTES = 704, DOUBLE_LEVEL_BYTES = 448, LEVEL_VALUES = 512 * 8, ASIDE_BYTES = (512 + 512 / 8) * 4, FACTOR_BYTES = 8 * 512 * 4 };

typedef struct level_bytes {
    hdst__printer *p;
    uint64_t bytes;
    bool *counted[2];           // by param and leaf, of floats, of doubles
} level_bytes;

static size_t number_of_leaf(const ir_func *func, const ir_stmt *stmt)
{
    size_t n = stmt->leaf;
    for (size_t i = 0; i < stmt->param; i++) n += func->params[i].record->leaf_count;
    return n;
}

// Every element of a leaf that has such sums has a state, of floats and of doubles.
static bool add_level_bytes(ir_stmt *stmt, void *user)
{
    level_bytes *all = user;
    if (stmt->kind == IR_RECORDS && stmt->joint) all->bytes += FACTOR_BYTES;
    if (stmt->kind != IR_ACCUM_BLOCK) return true;
    const hdst__cell *cell = hdst__find_cell(all->p, stmt->param, stmt->leaf);
    const bool is_double = stmt->value->kind == HDST__F64;
    bool *counted = &all->counted[is_double][number_of_leaf(all->p->func, stmt)];
    const uint64_t each = is_double ? DOUBLE_LEVEL_BYTES : FLOAT_LEVEL_BYTES;
    if (!*counted) all->bytes += cell->elements * each + (all->bytes ? 0 : LEVEL_VALUES);
    if (stmt->joint) all->bytes += ASIDE_BYTES;
    *counted = true;
    return true;
}

uint64_t hdst__private_bytes(hdst__printer *p, const ir_func *func)
{
    uint64_t bytes = 0;
    size_t leaves = 0;
    for (size_t v = 0; v < func->var_count; v++) bytes += bytes_of(func, &func->vars[v]);
    if (func->block) bytes += hdst__unpack_bytes(p, func->block);
    for (size_t i = 0; i < func->param_count; i++) leaves += func->params[i].record->leaf_count;
    level_bytes levels = {.p = p, .counted = {HDST__NEW_ARRAY(p->arena, bool, leaves + 1), HDST__NEW_ARRAY(p->arena, bool, leaves + 1)}};
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, add_level_bytes, &levels);
    return bytes + levels.bytes;
}

bool hdst__private_fits(hdst__printer *p, const ir_func *func, uint64_t bytes, uint64_t limit, hdst__diags *diags)
{
    if (bytes <= limit) return true;
    const ir_var *largest = NULL;
    for (size_t v = 0; v < func->var_count; v++)
        if (!largest || bytes_of(func, &func->vars[v]) > bytes_of(func, largest)) largest = &func->vars[v];
    const char *name = largest && largest->elements ? largest->name : "its variables";
    hdst__diag_error(diags, place_of(func), hdst__arena_printf(p->arena, "make '%s' smaller, or keep such a table in a broadcast", name),
                     "'%s' needs %" PRIu64 " bytes of private memory per work-item, most of it for '%s'; this device class has %" PRIu64, func->name, bytes,
                     name, limit);
    return false;
}
