// SPDX-License-Identifier: Apache-2.0
// What additions to the cells of accumulators are made of: where a cell is, the names that belong to it, calls that put an addend in fixed point.
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_constant.h"

const hdst__accum_plan *hdst__find_plan(const hdst__printer *p, uint32_t param)
{
    size_t a = 0;
    while (p->plan[a].accum->param != param) a++;       // the verifier saw to it that the parameter is an accumulator
    return &p->plan[a];
}

const ir_placement *hdst__placement(const hdst__printer *p, const hdst__accum_plan *plan) { return p->func->params[plan->accum->param].placement; }

const ir_leaf_placement *hdst__leaf_placement(const hdst__printer *p, uint32_t param, uint32_t leaf) { return &p->func->params[param].placement->leaf[leaf]; }

bool hdst__sums_are_fast(const hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (size_t l = 0; l < p->tables->accum[a].leaf_count; l++)
            if (hdst__placement(p, &p->plan[a])->leaf[l].fast) return true;
    return false;
}

const hdst__cell *hdst__find_cell(const hdst__printer *p, uint32_t param, uint32_t leaf)
{
    return &hdst__find_plan(p, param)->accum->cell[leaf];
}

bool hdst__sums_floats(const hdst__printer *p, uint32_t param, uint32_t leaf)
{
    const ir_param *accum = &p->func->params[param];
    return accum->record->leaves[leaf].kind == HDST__F32 || (accum->leaf_from_float && accum->leaf_from_float[leaf]);
}

const char *hdst__scale_name(hdst__printer *p, uint32_t param, uint32_t leaf)
{
    return hdst__leaf_name(p, param, leaf);
}

const char *hdst__sum_type(const hdst__printer *p, uint32_t param, uint32_t leaf) { return hdst__sums_floats(p, param, leaf) ? "float" : "double"; }

const char *hdst__fixed_text(hdst__printer *p, const char *function, uint32_t param, uint32_t leaf, const char *addend)
{
    const char *scale = hdst__scale_name(p, param, leaf), *type = hdst__sum_type(p, param, leaf);
    if (type[0] == 'd') p->uses_double = true;
    const char *words = hdst__find_cell(p, param, leaf)->precision == HDST__CLASS_TWO_WORDS ? "_two" : "",
               *row = hdst__find_plan(p, param)->accum->writes_rows ? "_row" : "";
    return hdst__arena_printf(p->arena, "%s%s%s_%s(%s, %sUp, %sDown)", function, row, words, type, addend, scale, scale);
}

const char *hdst__key_text(hdst__printer *p, hdst__accumulate_op acc, hdst__kind kind, const char *value)
{
    if (kind == HDST__F64) p->uses_double = true;
    return hdst__arena_printf(p->arena, "%s_key_%s(%s)", acc == HDST__MIN ? "min" : "max", hdst__cl_name(kind), value);
}
