// SPDX-License-Identifier: Apache-2.0
// Decides where output goes of which the data says how much, in input order and without waste. The records are counted
// first, the places of strips or tiles follow, and a second run over the records writes (HeteroDoop's compaction;
// Blelloch, "Prefix sums and their applications", 1990). Where few records can come from one, and counting them is as
// much work as making them, a strip of a CPU device writes into its own part instead, and the host closes the gaps; and where loops say how many turns they
// take at most, as those over tokens do, or those over numbers whose output somebody takes as it comes, what is counted is the most that may come.
//
// Before: func f ... { if c { emit(p.x) } }
// After:  func f ... emits bounded 1, or emits counted spare 16
#include "codegen/pass/passes.h"

#include "base/costs_cpu.h"
#include "base/costs_host.h"

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
static bool counts_cheaply(const ir_func *func)
{
    ir_func *count = hdst__ir_copy_func(func->arena, func);
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

void hdst__pass_output_way(ir_func *func, bool in_strips)
{
    if (!func->emits) return;
    const hdst__record *record = output_record(func);
    const uint64_t bound = hdst__ir_emit_bound(func);
    func->output = HDST__NEW(func->arena, ir_output);
    if (in_strips && bound <= HDST__EMIT_BOUND && (func->emits_few || !(record && counts_cheaply(func))))
        *func->output = (ir_output){.way = IR_OUTPUT_BOUNDED, .bound = bound};
    else
        *func->output = (ir_output){.way = IR_OUTPUT_COUNTED};
    func->output->at_most = func->output->way == IR_OUTPUT_COUNTED && in_strips &&
        hdst__pass_emit_counts_most(hdst__ir_copy_func(func->arena, func), &func->output->most_of_numbers);
    if (func->output->way == IR_OUTPUT_COUNTED && in_strips && record)     // strips do not share a cache line
        func->output->spare = (HDST__HOST_CACHE_LINE_BYTES + record->size - 1) / record->size;
}
