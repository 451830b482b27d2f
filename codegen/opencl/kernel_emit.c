// SPDX-License-Identifier: Apache-2.0
// Output of which the data says how much, in input order and without waste. The records are counted first (count),
// the places of strips or tiles follow (scan), and a second run over the records writes (HeteroDoop's compaction;
// Blelloch, "Prefix sums and their applications", 1990). Where few records can come from one, and counting them is as
// much work as making them, a CPU strip writes into its own part instead, and the host closes the gaps.
#include "codegen/opencl/kernel_emit.h"
#include "codegen/pass/passes.h"
#include "base/costs_cpu.h"
#include "base/costs_host.h"

#include <inttypes.h>

static bool count_nodes(ir_expr **slot, void *user)
{
    (void)slot;
    return --*(int *)user > 0;
}

static bool has_no_loop(ir_stmt *s, void *user)
{
    (void)user;
    return s->kind != IR_LOOP && s->kind != IR_FOR;
}

// Counting takes little beside reading the records, which both runs do; with slices that stay in a cache the second one
// does so for little.
static bool counts_cheaply(hdst__printer *p)
{
    ir_func *count = hdst__ir_copy_func(p->arena, p->func);
    int left = HDST__CPU_COUNTED_NODES;
    if (hdst__passes_count(count)) return false;       // who makes that form reports it
    return hdst__ir_visit_stmts(&count->body, has_no_loop, NULL) && hdst__ir_visit_exprs(&count->body, count_nodes, &left);
}

static const hdst__record *output_record(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_OUTPUT) return func->params[i].record;
    return NULL;
}

void hdst__emit_plan(hdst__printer *p)
{
    if (!p->func->emits) return;
    const hdst__record *record = output_record(p->func);
    p->output.emit_bound = hdst__ir_emit_bound(p->func);
    const bool bounded = !p->gpu && p->output.emit_bound <= HDST__EMIT_BOUND && (p->func->emits_few || !(record && counts_cheaply(p)));
    p->output.way = bounded ? HDST__OUTPUT_BOUNDED : HDST__OUTPUT_COUNTED;
    if (p->output.way != HDST__OUTPUT_COUNTED) return;
    p->output.more = p->gpu ? "count_gpu.cl" : "count_cpu.cl";
    if (!p->gpu && record) p->output.spare_records = (HDST__HOST_CACHE_LINE_BYTES + record->size - 1) / record->size;    // strips do not share a cache line
}

bool hdst__emit_count_form(hdst__printer *p, const ir_func *func, hdst__diags *diags, ir_func **count)
{
    *count = NULL;
    if (p->output.way != HDST__OUTPUT_COUNTED) return true;
    *count = hdst__ir_copy_func(p->arena, func);
    const char *wrong = hdst__passes_count(*count);
    if (wrong) hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: counting form of '%s': %s", func->name, wrong);
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
    kernel->output_way = p->output.way;
    kernel->emit_bound = p->output.emit_bound;
    kernel->spare_records = p->output.spare_records;
    if (p->output.way != HDST__OUTPUT_COUNTED) return;
    kernel->count_name = hdst__arena_printf(p->arena, "%s_count", kernel->name);
    if (p->gpu) kernel->scan_name = hdst__arena_printf(p->arena, "%s_scan", kernel->name);
}

const char *hdst__emit_why(const hdst__printer *p)
{
    if (p->output.way == HDST__OUTPUT_DENSE) return "";
    if (p->output.way == HDST__OUTPUT_COUNTED) return "output: records are counted, then written at their places\n";
    return hdst__arena_printf(p->arena, "output: each strip writes its own part, room for %" PRIu64 " of each record\n", p->output.emit_bound);
}
