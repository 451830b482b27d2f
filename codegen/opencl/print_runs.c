// SPDX-License-Identifier: Apache-2.0
// The function that ends a run of records of one row (codegen/opencl/print_runs.h).
#include "codegen/opencl/print_runs.h"

#include "codegen/opencl/print_cell.h"

// What the function is given beside the row: `type` in front of each name in its head, the names alone in a call.
static const char *with_scales(hdst__printer *p, const hdst__accum_plan *plan, const char *text, const char *type)
{
    const ir_param *param = &p->func->params[plan->accum->param];
    for (uint32_t l = 0; l < param->record->leaf_count; l++) {
        const hdst__cell *cell = &plan->accum->cell[l];
        if (cell->precision == HDST__CLASS_ONE_WORD || cell->precision == HDST__CLASS_TWO_WORDS)
            text = hdst__arena_printf(p->arena, "%s%s%sScale, ", text, type, hdst__scale_name(p, plan->accum->param, l));
    }
    return text;
}

static const char *with_bases(hdst__printer *p, const hdst__accum_plan *plan, const char *type)
{
    if (plan->accum->writes_rows)
        return hdst__arena_printf(p->arena, "%soverflow, %s%sOut, ", type, type[0] ? "__global uchar *" : "", plan->name);
    const char *text = hdst__arena_printf(p->arena, "%s%sTotal, ", type, plan->name);
    if (!p->func->tables->first_level) return text;
    return hdst__arena_printf(p->arena, "%smarks, %scells_at, %s%s%sFirstLevel, ", type, type, text, type, plan->name);
}

const char *hdst__run_end_alone_text(hdst__printer *p, const hdst__accum_plan *plan)
{
    if (!p->func->tables->first_level && !plan->accum->writes_rows) return hdst__run_end_text(p, plan);
    const char *bases = with_scales(p, plan, with_bases(p, plan, ""), "");
    return hdst__arena_printf(p->arena, "%sRunEndAlone(%s%sRun, %sOwn)", plan->name, bases, plan->name, plan->name);
}

const char *hdst__run_end_text(hdst__printer *p, const hdst__accum_plan *plan)
{
    return hdst__arena_printf(p->arena, "%sRunEnd(%s%sRun, %sOwn)", plan->name, with_scales(p, plan, with_bases(p, plan, ""), ""), plan->name, plan->name);
}

const char *hdst__run_end_head(hdst__printer *p, const hdst__accum_plan *plan)
{
    const char *which = p->alone ? "Alone" : "";
    return hdst__arena_printf(p->arena, "inline void %sRunEnd%s(%sulong row, long *%sOwn)", plan->name, which,
                              with_scales(p, plan, with_bases(p, plan, "__global long *"), "int "), plan->name);
}

const char *hdst__run_whole_text(hdst__printer *p, const hdst__accum_plan *plan)
{
    return hdst__arena_printf(p->arena, "%sRunWhole(%sOut, %s%sRun, come)", plan->name, plan->name, with_scales(p, plan, "", ""), plan->name);
}

const char *hdst__run_whole_head(hdst__printer *p, const hdst__accum_plan *plan)
{
    return hdst__arena_printf(p->arena, "inline void %sRunWhole(__global uchar *%sOut, %sulong row, const long *come)", plan->name, plan->name,
                              with_scales(p, plan, "", "int "));
}
