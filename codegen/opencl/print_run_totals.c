// SPDX-License-Identifier: Apache-2.0
// Runs whose ends are known (codegen/opencl/print_run_totals.h). What the records of a row come to is the difference
// of two running totals over the block, modulo 2^64 where these overflow, as the difference does not. So no record is
// compared with the last one, and no branch follows the data but where a row ends.
#include "codegen/opencl/print_run_totals.h"

#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_runs.h"
#include "codegen/pass/arranged_rows.h"

#include <inttypes.h>

const hdst__accum_plan *hdst__plan_with_starts(const hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const ir_placement *place = hdst__placement(p, &p->plan[a]);        // none in a function that nothing was placed in
        if (place && place->starts) return &p->plan[a];
    }
    return NULL;
}

void hdst__print_run_starts(hdst__printer *p, const hdst__accum_plan *plan)
{
    const char *starts = p->param_name[hdst__placement(p, plan)->starts];
    hdst__write_line(&p->out, "// Where the records of each row begin; those of the last one have no end.");
    hdst__write_line(&p->out, "__global const ulong *run_starts = (__global const ulong *)%sAt;", starts);
    hdst__write_line(&p->out, "// Keys that name no row: record by record, to tell which.");
    hdst__write_line(&p->out, "const bool odd_keys = run_starts[0] != 0 || %sRows - 1 > %sRows;", starts, plan->name);
    hdst__write_line(&p->out, "ulong %sRun = odd_keys ? 0 : run_at(run_starts, %sRows - 1, first + start);", plan->name,
                     starts);
    hdst__write_line(&p->out, "// Shared with the strip before, as the last one is with the next.");
    hdst__write_line(&p->out, "%sulong first_run = %sRun;", plan->accum->writes_rows ? "" : "const ", plan->name);
    if (plan->accum->writes_rows) hdst__write_line(&p->out, "bool run_apart = false;      // some addend of the block went elsewhere");
}

// --- Totals ---

static uint64_t word_of(const hdst__accum_plan *plan, const ir_stmt *s) { return hdst__row_word(plan->accum, s); }

// The array of totals: that of what is added, if there is one.
static const char *totals_name(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *s, bool *own)
{
    const ir_expr *value = s->value;
    *own = value->op != IR_VAR || !p->func->vars[value->var].per_record || hdst__scalar_size(value->kind) != 8;
    return *own ? hdst__arena_printf(p->arena, "until%" PRIu64, word_of(plan, s)) : p->array_name[value->var];
}

static bool adds_to_row(const hdst__accum_plan *plan, const ir_stmt *records)
{
    const ir_stmt *first = records->body.count ? records->body.items[0] : NULL;
    return first && first->kind == IR_ACCUM_WORDS && first->param == plan->accum->param;
}

bool hdst__begin_run_totals(hdst__printer *p, const ir_stmt *records)
{
    const hdst__accum_plan *plan = p->in_block && !p->gpu ? hdst__plan_with_starts(p) : NULL;
    if (!plan || !adds_to_row(plan, records) || !hdst__rows_have_totals(p->func, plan->accum)) return false;
    for (size_t i = 0; i < records->body.count; i++) {
        bool own;
        const char *name = totals_name(p, plan, records->body.items[i], &own);
        if (own) hdst__write_line(&p->out, "ulong %s[BLOCK] ALIGNED;", name);
        hdst__write_line(&p->out, "ulong total%" PRIu64 " = 0;", word_of(plan, records->body.items[i]));
    }
    p->run_totals = true;
    return true;
}

void hdst__print_run_total(hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    const uint64_t word = word_of(plan, stmt);
    bool own;
    const char *name = totals_name(p, plan, stmt, &own);
    hdst__write_line(&p->out, "total%" PRIu64 " += (ulong)(%s);", word, hdst__expr_text(p, stmt->value, HDST__WHOLE));
    const char *type = own ? "ulong" : hdst__cl_name(stmt->value->kind);
    hdst__write_line(&p->out, "%s[r] = (%s)total%" PRIu64 ";", name, type, word);
}

// --- Rows ---

// By word.
static const char *differences_text(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *records)
{
    const char *text = "";
    for (uint64_t w = 0; w < plan->accum->private_row_words; w++) {
        bool there = false;
        for (size_t i = 0; i < records->body.count; i++) there |= word_of(plan, records->body.items[i]) == w;
        const char *come = there ? hdst__arena_printf(p->arena, "(long)(now%" PRIu64 " - was%" PRIu64 ")", w, w) : "0";
        text = hdst__arena_printf(p->arena, "%s%s%s", text, w ? ", " : "", come);
    }
    return text;
}

static void print_difference(hdst__printer *p, const hdst__accum_plan *plan, uint64_t word, const char *now, const char *before)
{
    const char *come = hdst__arena_printf(p->arena, "(long)(%s%" PRIu64 " - %s%" PRIu64 ")", now, word, before, word);
    if (plan->accum->writes_rows) hdst__write_line(&p->out, "row_add(%sOwn + %" PRIu64 ", %s);", plan->name, 2 * word, come);
    else hdst__write_line(&p->out, "%sOwn[%" PRIu64 "] += %s;", plan->name, word, come);
}

// Of a row all of whose records are in the block: what it comes to fits words.
static void print_whole(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *records)
{
    hdst__write_line(&p->out, "if (run_begins && %sRun != first_run && !run_apart) {", plan->name);
    hdst__write_line(&p->out, "    const long come[%" PRIu64 "] = {%s};", plan->accum->private_row_words, differences_text(p, plan, records));
    hdst__write_line(&p->out, "    %s;", hdst__run_whole_text(p, plan));
    hdst__write_line(&p->out, "    continue;");
    hdst__write_line(&p->out, "}");
}

static void print_take(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *records)
{
    for (size_t i = 0; i < records->body.count; i++) {
        const uint64_t w = word_of(plan, records->body.items[i]);
        bool own;
        const char *name = totals_name(p, plan, records->body.items[i], &own);
        hdst__write_line(&p->out, "const ulong now%" PRIu64 " = at ? %s[at - 1] : 0, was%" PRIu64 " = before%" PRIu64 ";", w, name, w, w);
        hdst__write_line(&p->out, "before%" PRIu64 " = now%" PRIu64 ";", w, w);
    }
    if (plan->accum->writes_rows) print_whole(p, plan, records);
    for (size_t i = 0; i < records->body.count; i++) print_difference(p, plan, word_of(plan, records->body.items[i]), "now", "was");
}

static void print_rest(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *records)
{
    for (size_t i = 0; i < records->body.count; i++)
        print_difference(p, plan, word_of(plan, records->body.items[i]), "total", "before");
}

void hdst__end_run_totals(hdst__printer *p, const ir_stmt *records)
{
    const hdst__accum_plan *plan = hdst__plan_with_starts(p);
    p->run_totals = false;
    for (size_t i = 0; i < records->body.count; i++)
        hdst__write_line(&p->out, "ulong before%" PRIu64 " = 0;", word_of(plan, records->body.items[i]));
    hdst__write_line(&p->out, "const ulong block_first = first + i;");
    const bool writes = plan->accum->writes_rows;
    hdst__write_line(&p->out, "ulong run_end;");
    if (writes) hdst__write_line(&p->out, "bool run_begins = run_starts[%sRun] >= block_first;     // in this block, as all do that follow", plan->name);
    hdst__write_line(&p->out, "for (; (run_end = run_starts[%sRun + 1]) <= block_first + BLOCK; %sRun++%s) {", plan->name, plan->name,
                     writes ? ", run_begins = true" : "");
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong at = run_end - block_first;");
    print_take(p, plan, records);
    const char *whole = writes ? " && !run_apart" : "";
    hdst__write_line(&p->out, "if (%sRun != first_run%s) %s;", plan->name, whole, hdst__run_end_alone_text(p, plan));
    hdst__write_line(&p->out, "else %s;", hdst__run_end_text(p, plan));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    print_rest(p, plan, records);
    if (writes) hdst__write_line(&p->out, "if (run_apart) first_run = %sRun;", plan->name);
    if (writes) hdst__write_line(&p->out, "run_apart = false;");
}
