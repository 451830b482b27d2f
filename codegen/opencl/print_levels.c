// SPDX-License-Identifier: Apache-2.0
// CPU form: sums of a whole dataset, a block at a time (accum/levels.cl). Each element of a leaf has its own levels, in
// private memory while a strip runs.
#include "codegen/opencl/print_levels.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_shared_factors.h"
#include "codegen/opencl/print_sum_loops.h"

#include <inttypes.h>

// `element`: text, in range.
static const char *state_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element, bool is_double)
{
    return hdst__arena_printf(p->arena, "%s%sLevels[%s]", hdst__scale_name(p, plan->accum->param, leaf), is_double ? "Double" : "Float", element);
}

const char *hdst__levels_place(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const char *first = hdst__arena_printf(p->arena, "%sTotal + %" PRIu64, plan->name, (uint64_t)cell->device_first);
    return cell->elements == 1 ? first : hdst__arena_printf(p->arena, "%s + (ulong)(%s) * %" PRIu64, first, element, (uint64_t)cell->device_words);
}

// The cell in the device table, and what kind of digits it has.
static const char *cell_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element)
{
    const char *kind = plan->accum->cell[leaf].kind == HDST__F32 ? "FLOAT" : "DOUBLE";
    return hdst__arena_printf(p->arena, "%s, %s_LAST, %s_LOWEST", hdst__levels_place(p, plan, leaf, element), kind, kind);
}

static const char *state_of(hdst__printer *p, const ir_stmt *stmt)
{
    return state_text(p, hdst__find_plan(p, stmt->param), stmt->leaf, hdst__index_text(p, stmt->index2, HDST__WHOLE), stmt->value->kind == HDST__F64);
}

static const char *cell_of(hdst__printer *p, const ir_stmt *stmt)
{
    return cell_text(p, hdst__find_plan(p, stmt->param), stmt->leaf, hdst__index_text(p, stmt->index2, HDST__WHOLE));
}

static void print_addition(hdst__printer *p, const ir_stmt *stmt)
{
    if (stmt->value->kind == HDST__F64 || p->options->facts.has_double) p->uses_double = true;
    hdst__print_sum_call(p, stmt, state_of(p, stmt), cell_of(p, stmt));
}

static const hdst__shared_texts texts = {state_of, cell_of, print_addition};

static size_t print_add(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    if (stmts[0]->joint) return hdst__print_shared_groups(p, stmts, count, &texts);
    print_addition(p, stmts[0]);
    return 1;
}

// --- Every sum that has levels ---

void hdst__levels_each(hdst__printer *p, hdst__print_level_sum print)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const uint32_t leaves = (uint32_t)p->func->params[plan->accum->param].record->leaf_count;
        for (uint32_t l = 0; l < leaves; l++)
            for (int is_double = 0; is_double < 2; is_double++)
                if (hdst__placement(p, plan)->leaf[l].levels[is_double]) print(p, plan, l, is_double);
    }
}

bool hdst__levels_of(const hdst__printer *p, bool is_double)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const uint32_t leaves = (uint32_t)p->func->params[plan->accum->param].record->leaf_count;
        for (uint32_t l = 0; l < leaves; l++)
            if (hdst__placement(p, plan)->leaf[l].levels[is_double]) return true;
    }
    return false;
}

// The line for each element of a leaf; where there are several, in a loop over e.
static void print_each(hdst__printer *p, const hdst__cell *cell, const char *line)
{
    if (cell->elements > 1) hdst__write_line(&p->out, "for (uint e = 0; e < %" PRIu64 "; e++)", cell->elements);
    hdst__write_line(&p->out, cell->elements > 1 ? "    %s" : "%s", line);
}

static const char *element_text(const hdst__cell *cell) { return cell->elements > 1 ? "e" : "0"; }

static void print_start(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double)
{
    const char *type = is_double ? "double" : "float", *scale = hdst__scale_name(p, plan->accum->param, leaf);
    const hdst__cell *cell = &plan->accum->cell[leaf];
    hdst__write_line(&p->out, "%s_levels %s%sLevels[%" PRIu64 "];", type, scale, is_double ? "Double" : "Float", cell->elements);
    print_each(p, cell, hdst__arena_printf(p->arena, "levels_start_%s(&%s, flush);", type, state_text(p, plan, leaf, element_text(cell), is_double)));
}

static void print_end(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const char *state = state_text(p, plan, leaf, element_text(cell), is_double), *to = cell_text(p, plan, leaf, element_text(cell));
    print_each(p, cell, hdst__arena_printf(p->arena, "levels_publish_%s(&%s, %s);", is_double ? "double" : "float", state, to));
}

static void print_starts(hdst__printer *p)
{
    hdst__levels_each(p, print_start);
    hdst__print_shared_starts(p, &texts);
}

static void print_ends(hdst__printer *p)
{
    hdst__print_shared_ends(p);
    hdst__levels_each(p, print_end);
}

const hdst__block_sums hdst__exact_block_sums = {.add = print_add, .start = print_starts, .end = print_ends};
