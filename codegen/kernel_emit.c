// SPDX-License-Identifier: Apache-2.0
// Output of which the data says how much, in input order and without waste. A CPU strip writes into its own part when few records can come from one record.
// Otherwise the records are counted first (count), the places of strips or tiles follow (scan), and a second run over the records writes (HeteroDoop's compaction;
// Blelloch, "Prefix sums and their applications", 1990).
#include "codegen/kernel_parts.h"

#include <inttypes.h>

void hdst__emit_plan(hdst__printer *p)
{
    if (!p->func->emits) return;
    p->emit_bound = hdst__ir_emit_bound(p->func);
    p->way = !p->gpu && p->emit_bound <= HDST__EMIT_BOUND ? HDST__OUTPUT_BOUNDED : HDST__OUTPUT_COUNTED;
    if (p->way == HDST__OUTPUT_COUNTED) p->more = p->gpu ? "count_gpu.cl" : "count_cpu.cl";
}

bool hdst__emit_count_form(hdst__printer *p, hdst__diags *diags, ir_func **count)
{
    *count = NULL;
    if (p->way != HDST__OUTPUT_COUNTED) return true;
    *count = hdst__ir_copy_func(p->arena, p->func);
    const char *wrong = hdst__passes_count(*count);
    if (wrong) hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: counting form of '%s': %s", p->func->name, wrong);
    return !wrong;
}

void hdst__print_count_of(hdst__printer *p, const ir_func *count, void (*print)(hdst__printer *p))
{
    const ir_func *whole = p->func;
    const bool checks = p->has_checks;
    p->has_checks = false;
    hdst__printer_use(p, count);
    print(p);
    hdst__printer_use(p, whole);
    p->has_checks = checks;
}

void hdst__kernel_name_counts(hdst__printer *p, hdst__kernel *kernel)
{
    kernel->output_way = p->way;
    kernel->emit_bound = p->emit_bound;
    if (p->way != HDST__OUTPUT_COUNTED) return;
    kernel->count_name = hdst__arena_printf(p->arena, "%s_count", kernel->name);
    if (p->gpu) kernel->scan_name = hdst__arena_printf(p->arena, "%s_scan", kernel->name);
}

uint64_t hdst__kernel_places(const hdst__kernel *kernel, uint64_t items, uint64_t records)
{
    if (kernel->output_way == HDST__OUTPUT_DENSE) return 0;
    if (kernel->output_way == HDST__OUTPUT_BOUNDED) return 2 * items;
    return 1 + (kernel->one_group_per_strip ? items : (records + kernel->local_size - 1) / kernel->local_size);
}

const char *hdst__emit_why(const hdst__printer *p)
{
    if (p->way == HDST__OUTPUT_DENSE) return "";
    if (p->way == HDST__OUTPUT_COUNTED) return "output: records are counted, then written at their places\n";
    return hdst__arena_printf(p->arena, "output: each strip writes its own part, room for %" PRIu64 " of each record\n", p->emit_bound);
}
