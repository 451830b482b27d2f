// SPDX-License-Identifier: Apache-2.0
// Runs whose ends are known (codegen/opencl/print_run_totals.h). What the records of a row come to is the difference
// of two running totals over the block, modulo 2^64 where these overflow, as the difference does not. So no record is
// compared with the last one, and no branch follows the data but where a row ends.
#include "codegen/opencl/print_run_totals.h"

#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_runs.h"

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
    hdst__write_line(&p->out, "const ulong first_run = %sRun;", plan->name);
}

// --- Totals ---

static bool adds_to_row(const hdst__accum_plan *plan, const ir_stmt *s)
{
    if (s->kind != IR_ACCUM_WORDS || s->param != plan->accum->param) return false;
    return plan->accum->cell[s->leaf].op == HDST__WORD_ADD && (!s->index2 || s->index2->op == IR_CONST);
}

static uint64_t word_of(const hdst__accum_plan *plan, const ir_stmt *s)
{
    const hdst__cell *cell = &plan->accum->cell[s->leaf];
    return cell->private_first + (s->index2 ? s->index2->bits : 0) * cell->private_words + s->word;
}

// One statement for each word.
static bool has_totals(const hdst__accum_plan *plan, const ir_stmt *records)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < records->body.count; i++) {
        const ir_stmt *s = records->body.items[i];
        if (!adds_to_row(plan, s) || seen >> word_of(plan, s) & 1) return false;
        seen |= UINT64_C(1) << word_of(plan, s);
    }
    return seen != 0;
}

// The array of totals: that of what is added, if there is one.
static const char *totals_name(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *s, bool *own)
{
    const ir_expr *value = s->value;
    *own = value->op != IR_VAR || !p->func->vars[value->var].per_record || hdst__scalar_size(value->kind) != 8;
    return *own ? hdst__arena_printf(p->arena, "until%" PRIu64, word_of(plan, s)) : p->array_name[value->var];
}

bool hdst__begin_run_totals(hdst__printer *p, const ir_stmt *records)
{
    const hdst__accum_plan *plan = p->in_block && !p->gpu ? hdst__plan_with_starts(p) : NULL;
    if (!plan || !has_totals(plan, records)) return false;
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

static void print_difference(hdst__printer *p, const hdst__accum_plan *plan, uint64_t word, const char *now)
{
    hdst__write_line(&p->out, "%sOwn[%" PRIu64 "] += (long)(%s%" PRIu64 " - before%" PRIu64 ");", plan->name, word, now,
                     word, word);
}

static void print_take(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *records)
{
    for (size_t i = 0; i < records->body.count; i++) {
        const uint64_t w = word_of(plan, records->body.items[i]);
        bool own;
        const char *name = totals_name(p, plan, records->body.items[i], &own);
        hdst__write_line(&p->out, "const ulong now%" PRIu64 " = at ? %s[at - 1] : 0;", w, name);
        print_difference(p, plan, w, "now");
        hdst__write_line(&p->out, "before%" PRIu64 " = now%" PRIu64 ";", w, w);
    }
}

static void print_rest(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *records)
{
    for (size_t i = 0; i < records->body.count; i++)
        print_difference(p, plan, word_of(plan, records->body.items[i]), "total");
}

void hdst__end_run_totals(hdst__printer *p, const ir_stmt *records)
{
    const hdst__accum_plan *plan = hdst__plan_with_starts(p);
    p->run_totals = false;
    for (size_t i = 0; i < records->body.count; i++)
        hdst__write_line(&p->out, "ulong before%" PRIu64 " = 0;", word_of(plan, records->body.items[i]));
    hdst__write_line(&p->out, "const ulong block_first = first + i;");
    hdst__write_line(&p->out, "ulong run_end;");
    hdst__write_line(&p->out, "for (; (run_end = run_starts[%sRun + 1]) <= block_first + BLOCK; %sRun++) {", plan->name,
                     plan->name);
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong at = run_end - block_first;");
    print_take(p, plan, records);
    hdst__write_line(&p->out, "if (%sRun != first_run) %s;", plan->name, hdst__run_end_alone_text(p, plan));
    hdst__write_line(&p->out, "else %s;", hdst__run_end_text(p, plan));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    print_rest(p, plan, records);
}
