// SPDX-License-Identifier: Apache-2.0
// GPU form: keys of minima and maxima that lanes have in registers, to the device table. The work-group's meet in local memory first.
#include "codegen/opencl/print_group_keys.h"

#include <inttypes.h>

// Keys of 64 bits, of which local memory has no atomic maximum.
bool hdst__meets_by_halves(const hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    return p->gpu && p->func->tables->keys_meet && cell->private_words && cell->op == HDST__WORD_MAX && hdst__placement(p, plan)->place == IR_PLACE_REGISTERS &&
           !hdst__placement(p, plan)->leaf[leaf].slot_words;
}

void hdst__print_key_memory(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (uint32_t l = 0; l < p->func->params[p->plan[a].accum->param].record->leaf_count; l++)
            if (hdst__meets_by_halves(p, &p->plan[a], l)) {
                hdst__write_line(&p->out, "__local ulong group_keys[LANES];");
                return;
            }
}

// One work-item adds what the work-group's have: where all would, each might have to look again for each of the others.
void hdst__print_halves(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    for (uint64_t e = 0; e < cell->elements; e++) {
        const char *own = hdst__arena_printf(p->arena, "%sOwn[%" PRIu64 "]", plan->name, cell->private_first + e);
        hdst__write_line(&p->out, "group_keys[lane] = (ulong)%s;", own);
        hdst__write_line(&p->out, "%s = 0;", own);
        hdst__write_line(&p->out, "for (uint size = LANES, half_size; size > 1; size = half_size) {");
        hdst__write_line(&p->out, "    half_size = (size + 1) / 2;");
        hdst__write_line(&p->out, "    barrier(CLK_LOCAL_MEM_FENCE);");
        hdst__write_line(&p->out, "    if (lane + half_size < size) group_keys[lane] = max(group_keys[lane], group_keys[lane + half_size]);");
        hdst__write_line(&p->out, "}");
        const char *to = hdst__arena_printf(p->arena, "%sTotal + %" PRIu64, plan->name, cell->device_first + e * cell->device_words);
        hdst__write_line(&p->out, "if (lane == 0) device_max(%s, group_keys[0]);", to);
        hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    }
}
