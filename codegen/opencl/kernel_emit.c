// SPDX-License-Identifier: Apache-2.0
// Output of which the data says how much (codegen/pass/output_way.c): the kernels that count and scan, and their names.
#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/print_combine.h"
#include "codegen/opencl/print_combine_gpu.h"

#include <inttypes.h>

const char *hdst__emit_frame(const hdst__printer *p)
{
    return p->output.way != IR_OUTPUT_COUNTED ? NULL : p->gpu ? "count_gpu.cl" : "count_cpu.cl";
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
    kernel->output_way = p->output.way;
    kernel->emit_bound = p->output.bound;
    kernel->at_most = p->output.at_most;
    kernel->combines = hdst__combines(p);
    const bool on_gpu = hdst__combines_on_gpu(p);
    kernel->combined_row_bytes = kernel->combines || on_gpu ? hdst__combined_row_bytes(p->options->combining) : 0;
    if (on_gpu) kernel->combine_name = hdst__arena_printf(p->arena, "%s_combine", kernel->name);
    if (on_gpu) kernel->gather_name = hdst__arena_printf(p->arena, "%s_gather", kernel->name);
    kernel->token_pieces = p->func->token_pieces;
    kernel->spare_records = p->output.spare;
    if (p->output.way != IR_OUTPUT_COUNTED) return;
    kernel->count_name = hdst__arena_printf(p->arena, "%s_count", kernel->name);
    if (p->gpu) kernel->scan_name = hdst__arena_printf(p->arena, "%s_scan", kernel->name);
}

const char *hdst__emit_why(const hdst__printer *p)
{
    if (p->output.way == IR_OUTPUT_DENSE) return "";
    if (hdst__combines(p) && p->options->combining->in_rows)
        return "output: sums by the same key become rows in a table of each core; what finds no place there goes to its strip's own part\n";
    if (hdst__combines(p)) return "output: records with the same short key become one in a table of each core; others go to their strip's own part\n";
    if (hdst__combines_on_gpu(p)) return "output: records with the same short key become one in a table of the device; others are written in any order\n";
    if (p->output.at_most) return "output: each strip writes its own part, as large as what may come out at most\n";
    if (p->output.way == IR_OUTPUT_COUNTED) return "output: records are counted, then written at their places\n";
    return hdst__arena_printf(p->arena, "output: each strip writes its own part, room for %" PRIu64 " of each record\n", p->output.bound);
}
