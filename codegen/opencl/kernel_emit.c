// SPDX-License-Identifier: Apache-2.0
// Output of which the data says how much, in input order and without waste. The records are counted first (count),
// the places of strips or tiles follow (scan), and a second run over the records writes (HeteroDoop's compaction;
// Blelloch, "Prefix sums and their applications", 1990). Where few records can come from one, and counting them is as
// much work as making them, a CPU strip writes into its own part instead, and the host closes the gaps.
#include "codegen/opencl/kernel_form.h"
#include "codegen/pass/passes.h"

#include <inttypes.h>

enum { CHEAP_NODES = 48, LINE_BYTES = 64 };

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

// Counting takes little beside reading the records, which both runs do; with slices that stay in a cache the second one does so for little.
static bool counts_cheaply(hdst__printer *p)
{
    ir_func *count = hdst__ir_copy_func(p->arena, p->func);
    int left = CHEAP_NODES;
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
    p->emit_bound = hdst__ir_emit_bound(p->func);
    p->way = !p->gpu && p->emit_bound <= HDST__EMIT_BOUND && (p->func->emits_few || !(record && counts_cheaply(p))) ? HDST__OUTPUT_BOUNDED : HDST__OUTPUT_COUNTED;
    if (p->way != HDST__OUTPUT_COUNTED) return;
    p->more = p->gpu ? "count_gpu.cl" : "count_cpu.cl";
    if (!p->gpu && record) p->spare_records = (LINE_BYTES + record->size - 1) / record->size;    // strips do not share a cache line
}

bool hdst__emit_is_guarded(const hdst__printer *p)
{
    return p->spare_records && !p->func->placed;
}

bool hdst__emit_count_form(hdst__printer *p, const ir_func *func, hdst__diags *diags, ir_func **count)
{
    *count = NULL;
    if (p->way != HDST__OUTPUT_COUNTED) return true;
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
    kernel->output_way = p->way;
    kernel->emit_bound = p->emit_bound;
    kernel->spare_records = p->spare_records;
    if (p->way != HDST__OUTPUT_COUNTED) return;
    kernel->count_name = hdst__arena_printf(p->arena, "%s_count", kernel->name);
    if (p->gpu) kernel->scan_name = hdst__arena_printf(p->arena, "%s_scan", kernel->name);
}

uint64_t hdst__kernel_places(const hdst__kernel *kernel, uint64_t items, uint64_t records)
{
    if (kernel->output_way == HDST__OUTPUT_DENSE) return 0;
    if (kernel->output_way == HDST__OUTPUT_BOUNDED) return 2 * items;
    return kernel->one_group_per_strip ? HDST__COUNTS_AT + items : 1 + (records + kernel->local_size - 1) / kernel->local_size;
}

uint64_t hdst__kernel_spare_words(const hdst__kernel *kernel, uint64_t cells) { return 2 + cells + (cells + 1) * kernel->spare_words; }

uint64_t hdst__kernel_spare(const hdst__kernel *kernel, uint64_t items) { return items * kernel->spare_records; }

const char *hdst__emit_why(const hdst__printer *p)
{
    if (p->way == HDST__OUTPUT_DENSE) return "";
    if (p->way == HDST__OUTPUT_COUNTED) return "output: records are counted, then written at their places\n";
    return hdst__arena_printf(p->arena, "output: each strip writes its own part, room for %" PRIu64 " of each record\n", p->emit_bound);
}
