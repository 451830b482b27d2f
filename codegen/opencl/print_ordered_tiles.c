// SPDX-License-Identifier: Apache-2.0
// GPU form: a tile of sums that are written as loops. A work-item has the sums of several records by several turns in registers. A few steps of the loop at
// a time, the work-group puts what they read of its records and of the broadcast's rows into local memory, where each work-item finds that of its
// records and turns. So each value comes once from device memory for all sums of the work-group, and each sum has its addends in the order of the loop.
#include "codegen/opencl/print_ordered_tiles.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/pass/row_tiles.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

enum { STEPS = HDST__GPU_TILE_ORDERED_STEPS };

typedef struct tile {
    hdst__printer *p;
    const ir_stmt *loop, *start, *inner, *set;
    const ir_stmt *own, *other;     // what a step reads
    const char *counter, *step;     // types
    uint32_t across, down, records, units, at_once, turns;
    uint64_t own_stride, other_stride;
} tile;

static tile tile_of(hdst__printer *p, const ir_func *func, const ir_stmt *loop)
{
    const ir_stmt *inner = loop->body.items[1];
    tile t = {.p = p, .loop = loop, .start = loop->body.items[0], .inner = inner, .set = loop->body.items[2], .own = inner->body.items[0],
              .other = inner->body.items[1], .counter = hdst__cl_name(func->vars[loop->var].kind), .step = hdst__cl_name(func->vars[inner->var].kind),
              .across = loop->tile->across, .records = loop->tile->records, .units = loop->tile->units};
    t.at_once = hdst__row_tile_records(func, loop->tile);
    t.down = t.at_once / t.records;
    t.turns = t.across * t.units;
    t.own_stride = hdst__row_tile_step_stride(t.at_once);
    t.other_stride = hdst__row_tile_step_stride(t.turns);
    return t;
}

typedef struct sizes { hdst__printer *p; const ir_func *func; uint64_t own, other; } sizes;

static bool see_tile(ir_stmt *s, void *user)
{
    sizes *all = user;
    if (!s->tile || !s->tile->across) return true;
    const tile t = tile_of(all->p, all->func, s);
    if (t.own_stride > all->own) all->own = t.own_stride;
    if (t.other_stride > all->other) all->other = t.other_stride;
    return true;
}

void hdst__print_ordered_memory(hdst__printer *p, const ir_func *func)
{
    sizes all = {.p = p, .func = func};
    hdst__ir_visit_stmts((ir_block *)&func->body, see_tile, &all);
    if (all.own) hdst__write_line(&p->out, "__local float own_steps[%" PRIu64 " * %d], other_steps[%" PRIu64 " * %d];", all.own, STEPS, all.other, STEPS);
}

static const char *number(hdst__printer *p, const char *name, uint32_t n) { return hdst__arena_printf(p->arena, "%s%" PRIu32, name, n); }

static const char *sum_name(hdst__printer *p, uint32_t record, uint32_t unit) { return hdst__arena_printf(p->arena, "sum%" PRIu32 "_%" PRIu32, record, unit); }

static void open_loop(hdst__printer *p, const char *head)
{
    hdst__write_line(&p->out, "%s", head);
    p->out.indent++;
}

static void close_loop(hdst__printer *p)
{
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- Steps in local memory ---

// `in_rows`: neighbours read the steps of a row, which lie side by side; else what several rows have of one step does.
static void print_places(const tile *t, uint32_t of, uint64_t steps, bool in_rows)
{
    hdst__printer *p = t->p;
    open_loop(p, hdst__arena_printf(p->arena, "for (uint n = lane; n < %" PRIu64 "; n += LANES) {", of * steps));
    if (in_rows) hdst__write_line(&p->out, "const uint step = n %% %" PRIu64 ", of = n / %" PRIu64 ";", steps, steps);
    else hdst__write_line(&p->out, "const uint step = n / %" PRIu32 ", of = n %% %" PRIu32 ";", of, of);
}

static void print_reads(const tile *t, const char *name, uint64_t steps)
{
    hdst__printer *p = t->p;
    p->var_name[t->inner->var] = hdst__arena_printf(p->arena, "(%s + step)", name);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    print_places(t, t->at_once, steps, p->options->input->layout == HDST__AOS);
    hdst__write_line(&p->out, "const ulong record0 = base + min(from + of, last);");
    p->record = "record0";
    hdst__write_line(&p->out, "own_steps[step * %" PRIu64 " + of] = %s;", t->own_stride, hdst__expr_text(p, t->own->value, HDST__WHOLE));
    close_loop(p);
    print_places(t, t->turns, steps, true);
    hdst__write_line(&p->out, "const %s turn = min((%s)(unit + of), (%s)(end - 1));", t->counter, t->counter, t->counter);
    p->var_name[t->loop->var] = "turn";
    hdst__write_line(&p->out, "other_steps[step * %" PRIu64 " + of] = %s;", t->other_stride, hdst__expr_text(p, t->other->value, HDST__WHOLE));
    close_loop(p);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

// --- Sums ---

static void print_addition(const tile *t, uint32_t record, uint32_t unit)
{
    hdst__printer *p = t->p;
    const ir_block *body = &t->inner->body;
    p->var_name[t->loop->var] = number(p, "unit", unit);
    p->var_name[t->start->var] = sum_name(p, record, unit);
    p->var_name[t->own->var] = number(p, "own", record);
    p->var_name[t->other->var] = number(p, "other", unit);
    for (size_t i = 2; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        const ir_block before = {body->items, i, i};
        const bool known = i + 1 == body->count || hdst__ir_block_writes(&before, s->var);
        if (!known) p->var_name[s->var] = hdst__arena_printf(p->arena, "value%" PRIu32 "_%" PRIu32 "_%" PRIu32, s->var, record, unit);
        const char *type = known ? "" : hdst__arena_printf(p->arena, "%s ", hdst__cl_name(p->func->vars[s->var].kind));
        hdst__write_line(&p->out, "%s%s = %s;", type, p->var_name[s->var], hdst__expr_text(p, s->value, HDST__WHOLE));
    }
}

static void print_additions(const tile *t, uint64_t steps)
{
    hdst__printer *p = t->p;
    if (!p->options->facts.portable) hdst__write_line(&p->out, "#pragma unroll");
    open_loop(p, hdst__arena_printf(p->arena, "for (uint step = 0; step < %" PRIu64 "; step++) {", steps));
    for (uint32_t r = 0; r < t->records; r++)
        hdst__write_line(&p->out, "const float own%" PRIu32 " = own_steps[step * %" PRIu64 " + down + %" PRIu32 "];", r, t->own_stride, r * t->down);
    for (uint32_t u = 0; u < t->units; u++)
        hdst__write_line(&p->out, "const float other%" PRIu32 " = other_steps[step * %" PRIu64 " + across + %" PRIu32 "];", u, t->other_stride, u * t->across);
    for (uint32_t r = 0; r < t->records; r++)
        for (uint32_t u = 0; u < t->units; u++) print_addition(t, r, u);
    close_loop(p);
}

static void print_sums(const tile *t)
{
    hdst__printer *p = t->p;
    const uint64_t elements = t->inner->hi->bits, rest = elements % STEPS;
    const char *name = p->var_name[t->inner->var];
    hdst__write_line(&p->out, "%s %s = 0;", t->step, name);
    open_loop(p, hdst__arena_printf(p->arena, "for (; %s < %" PRIu64 "; %s += %d) {", name, elements - rest, name, STEPS));
    print_reads(t, name, STEPS);
    print_additions(t, STEPS);
    close_loop(p);
    if (rest) {
        print_reads(t, name, rest);
        print_additions(t, rest);
    }
    p->var_name[t->inner->var] = name;
}

static void print_units(const tile *t)
{
    hdst__printer *p = t->p;
    for (uint32_t u = 0; u < t->units; u++)
        hdst__write_line(&p->out, "const %s unit%" PRIu32 " = min((%s)(unit + across + %" PRIu32 "), (%s)(end - 1));", t->counter, u, t->counter, u * t->across,
                         t->counter);
    for (uint32_t r = 0; r < t->records; r++)
        for (uint32_t u = 0; u < t->units; u++) {
            p->var_name[t->loop->var] = number(p, "unit", u);
            hdst__write_line(&p->out, "float %s = %s;", sum_name(p, r, u), hdst__expr_text(p, t->start->value, HDST__WHOLE));
        }
}

static void print_results(const tile *t, const char *memory)
{
    hdst__printer *p = t->p;
    const uint64_t stride = hdst__row_tile_stride(&p->func->vars[t->set->var]);
    for (uint32_t u = 0; u < t->units; u++) {
        p->var_name[t->loop->var] = number(p, "unit", u);
        open_loop(p, hdst__arena_printf(p->arena, "if (unit + across + %" PRIu32 " < end) {", u * t->across));
        for (uint32_t r = 0; r < t->records; r++)
            hdst__write_line(&p->out, "%s[(from + down + %" PRIu32 ") * %" PRIu64 " + %s] = %s;", memory, r * t->down, stride,
                             hdst__expr_text(p, t->set->index, HDST__OPERAND), sum_name(p, r, u));
        close_loop(p);
    }
}

void hdst__print_ordered_tile(hdst__printer *p, const ir_stmt *loop, const char *memory)
{
    const tile t = tile_of(p, p->func, loop);
    const char *record = p->record;
    hdst__print_source_line(p, loop);
    open_loop(p, "{");
    hdst__write_line(&p->out, "const uint across = lane %% %" PRIu32 ", down = lane / %" PRIu32 ";", t.across, t.across);
    hdst__write_line(&p->out, "const uint last = (uint)min(count - base, (ulong)SPAN) - 1;");
    hdst__write_line(&p->out, "const %s end = %s;", t.counter, hdst__expr_text(p, loop->hi, HDST__WHOLE));
    open_loop(p, hdst__arena_printf(p->arena, "for (uint from = 0; from <= last; from += %" PRIu32 ") {", t.at_once));
    open_loop(p, hdst__arena_printf(p->arena, "for (%s unit = %s; unit < end; unit += %" PRIu32 ") {", t.counter,
                                    hdst__expr_text(p, loop->lo, HDST__WHOLE), t.turns));
    print_units(&t);
    print_sums(&t);
    print_results(&t, memory);
    close_loop(p);
    close_loop(p);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    close_loop(p);
    p->record = record;
}
