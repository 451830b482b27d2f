// SPDX-License-Identifier: Apache-2.0
// CPU form: sums over the rows of a block of records (row_sums.h, accum/row_sums.cl). A tile of sums is kept in
// registers while the records go by: so many units by so many vectors of elements. Exact sums are of doubles; what a
// double would round is added one by one before. With fast sums they are of floats, rounded at each addition.
#include "codegen/opencl/print_row_sums.h"
#include "codegen/opencl/print_batch.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_row_dots.h"
#include "codegen/opencl/print_row_words.h"
#include "codegen/opencl/print_sparse_rows.h"
#include "codegen/opencl/print_stmt.h"
#include "base/costs_cpu.h"

#include <inttypes.h>

uint64_t hdst__row_sums_bytes(const hdst__row_sums *sums)
{
    uint64_t bytes = sums->count ? hdst__sparse_rows_bytes() : 0;
    for (size_t i = 0; i < sums->count; i++)
        bytes += ((sums->sum[i].units + (sums->sum[i].is_local ? sums->sum[i].elements : 0)) * sizeof(float) + 2 * sizeof(double)) * HDST__ROW_SUMS_BLOCK;
    for (size_t i = 0; i < sums->dot_count; i++) bytes += sums->dot[i].units * sizeof(float) * HDST__ROW_SUMS_BLOCK;
    return bytes;
}

// --- Tiles ---

static const char *sum_name(hdst__printer *p, uint32_t unit, uint32_t vector) { return hdst__arena_printf(p->arena, "sum%" PRIu32 "_%" PRIu32, unit, vector); }

static void print_tile_records(hdst__printer *p, const hdst__row_tile *t)
{
    const char *type = t->fast ? "float16" : "float8", *load = t->fast ? "row_vector" : "row_floats";
    const char *add = t->fast ? "%1$s = fma((float16)factor%2$" PRIu32 ", row%3$" PRIu32 ", %1$s);"
                              : "%1$s += __builtin_convertvector(factor%2$" PRIu32 " * row%3$" PRIu32 ", double8);";
    hdst__write_line(&p->out, "%s const uchar *at = rows + e * 4;", t->space);
    hdst__write_line(&p->out, "for (uint r = 0; r < records; r++, at += %" PRIu64 ") {", t->row_bytes);
    p->out.indent++;
    for (uint32_t v = 0; v < t->vectors; v++)
        hdst__write_line(&p->out, "const %s row%" PRIu32 " = *(%s const %s *)(at + %" PRIu32 ");", type, v, t->space, load, v * t->lanes * 4);
    for (uint32_t u = 0; u < t->units; u++) {
        hdst__write_line(&p->out, "const float factor%" PRIu32 " = %s[unit + %" PRIu32 "][r];", u, t->factor, u);
        for (uint32_t v = 0; v < t->vectors; v++) hdst__write_line(&p->out, add, sum_name(p, u, v), u, v);
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// Lanes before the first one that counts are others' already. Where sums are rounded these store the same again.
static void print_first_lanes_off(hdst__printer *p, const hdst__row_tile *t, uint32_t off)
{
    const char *lanes = "";
    for (uint32_t l = 0; l < t->lanes; l++) lanes = hdst__arena_printf(p->arena, "%s%s%s", lanes, l ? ", " : "", l < off ? "0" : "-1");
    for (uint32_t u = 0; u < t->units && off; u++)
        hdst__write_line(&p->out, t->fast ? "%s%s = (int16)(%s) ? %s : (float16)0;" : "%s%s = (long8)(%s) ? %s : (double8)0;",
            t->may_round ? "if (!rounds) " : "", sum_name(p, u, 0), lanes, sum_name(p, u, 0));
}

// From registers to the table: a loop, for compilers pay for each copy of its body.
static void print_sums_out(hdst__printer *p, const hdst__row_tile *t)
{
    const char *all = "";
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t v = 0; v < t->vectors; v++) all = hdst__arena_printf(p->arena, "%s%s%s", all, all[0] ? ", " : "", sum_name(p, u, v));
    const uint32_t eights = t->vectors * t->lanes / 8;
    hdst__write_line(&p->out, "const %s all[%" PRIu32 "] = {%s};", t->fast ? "float16" : "double8", t->units * t->vectors, all);
    hdst__print_batch_rounded(p, t, eights);
    hdst__write_line(&p->out, "for (uint n = 0; n < %" PRIu32 "; n++) {", t->units * eights);
    p->out.indent++;
    hdst__write_line(&p->out, t->fast ? "const double8 sum = __builtin_convertvector(((const float8 *)all)[n], double8);" : "const double8 sum = all[n];");
    hdst__print_row_words(p, t, hdst__arena_printf(p->arena, "(unit + n / %" PRIu32 "UL) * %" PRIu64 " + e + n %% %" PRIu32 " * 8", eights,
                                                   t->sum->elements, eights));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// The sums of the units from `unit` on, of the elements from `e` on.
static void print_tile(hdst__printer *p, const hdst__row_tile *t, uint32_t off)
{
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t v = 0; v < t->vectors; v++) hdst__write_line(&p->out, "%s %s = 0;", t->fast ? "float16" : "double8", sum_name(p, u, v));
    print_tile_records(p, t);
    print_first_lanes_off(p, t, off);
    print_sums_out(p, t);
}

static void print_all_units(hdst__printer *p, hdst__row_tile t, uint32_t off)
{
    for (uint64_t done = 0; done < t.sum->units;) {
        done = hdst__row_units_open(p, done, t.sum->units, &t.units);
        print_tile(p, &t, off);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

// Tiles of all their width, then of one vector; the last one may overlap the one before.
static void print_tiles(hdst__printer *p, hdst__row_tile t)
{
    const uint64_t elements = t.sum->elements;
    uint64_t done = 0;
    for (int wide = 1; wide >= 0; wide--) {
        if (!wide) t.vectors = 1;
        const uint32_t width = t.vectors * t.lanes;
        const uint64_t to = elements - (elements - done) % width;
        if (to == done) continue;
        hdst__write_line(&p->out, "for (uint e = %" PRIu64 "; e < %" PRIu64 "; e += %" PRIu32 ") {", done, to, width);
        p->out.indent++;
        print_all_units(p, t, 0);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
        done = to;
    }
    if (done == elements) return;
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "const uint e = %" PRIu64 ";", elements - t.lanes);
    print_all_units(p, t, (uint32_t)(done - (elements - t.lanes)));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- What a double would round ---

static void print_ranges(hdst__printer *p, const hdst__row_tile *t)
{
    hdst__write_line(&p->out, "double largest[BLOCK] ALIGNED, least[BLOCK] ALIGNED;");
    hdst__write_line(&p->out, "bool finite = true;");
    hdst__write_line(&p->out, "ulong filled = 0;");
    hdst__write_line(&p->out, "for (uint r = 0; r < records; r++) {");
    hdst__write_line(&p->out, "    filled += row_range%s(rows + r * %" PRIu64 "UL, %" PRIu64 ", largest + r, least + r);",
                     t->sum->is_local ? "_own" : "", t->row_bytes, t->sum->elements);
    hdst__write_line(&p->out, "    finite &= largest[r] < INFINITY;");
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "for (uint r = records; r %% 8 != 0; r++) {");
    hdst__write_line(&p->out, "    largest[r] = least[r] = 0;");
    hdst__write_line(&p->out, "    for (uint unit = 0; unit < %" PRIu64 "; unit++) %s[unit][r] = 0;", t->sum->units, t->factor);
    hdst__write_line(&p->out, "}");
}

// What a double would round goes to the words by itself: the addends of one record.
static void print_one_record(hdst__printer *p, const hdst__row_tile *t)
{
    const uint64_t elements = t->sum->elements;
    hdst__write_line(&p->out, "for (uint next = 0; next < %" PRIu64 "; next += 8) {", elements);
    p->out.indent++;
    hdst__write_line(&p->out, "const uint e = next + 8 <= %" PRIu64 " ? next : %" PRIu64 ";", elements, elements - 8);
    hdst__write_line(&p->out, "const float8 row = *(%s const row_floats *)(rows + r * %" PRIu64 "UL + e * 4);", t->space, t->row_bytes);
    hdst__write_line(&p->out, "double8 sum = __builtin_convertvector(factor * row, double8);");
    if (elements % 8) hdst__write_line(&p->out, "sum = (long8)(0, 1, 2, 3, 4, 5, 6, 7) >= (long8)(next - e) ? sum : (double8)0;");
    hdst__write_line(&p->out, "const double most = 0x1p40;");
    hdst__print_row_words(p, t, hdst__arena_printf(p->arena, "unit * (ulong)%" PRIu64 " + e", elements));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// Words have room for so many addends as there are records: those that went by themselves are no part of a sum.
static void print_singly(hdst__printer *p, const hdst__row_tile *t)
{
    hdst__write_line(&p->out, "uint singly = 0;");
    hdst__write_line(&p->out, "for (uint unit = %s; unit < %" PRIu64 "; unit++) {",
                     t->may_round ? hdst__arena_printf(p->arena, "rounds ? %" PRIu64 " : 0", t->sum->units) : "0", t->sum->units);
    p->out.indent++;
    hdst__write_line(&p->out, "const double limit = row_limit(%s[unit], largest, records);", t->factor);
    hdst__write_line(&p->out, "if (finite && row_takes_all(%s[unit], largest, least, records, limit)) continue;", t->factor);
    hdst__write_line(&p->out, "uint count = 0;");
    hdst__write_line(&p->out, "for (uint r = 0; r < records; r++) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const float factor = %s[unit][r];", t->factor);
    hdst__write_line(&p->out, "if (finite && row_takes(factor, largest[r], least[r], limit)) continue;");
    print_one_record(p, t);
    hdst__write_line(&p->out, "%s[unit][r] = 0;", t->factor);
    hdst__write_line(&p->out, "count++;");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "singly = count > singly ? count : singly;");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// A batch's sums are rounded where a double holds them all.
static void print_rounds(hdst__printer *p, const hdst__row_tile *t)
{
    if (!t->cell->batch_sum) return;
    hdst__write_line(&p->out, "const bool rounds = batch && finite && row_takes_whole(&%s[0][0], %" PRIu64 ", largest, least, records);", t->factor,
                     t->sum->units);
    hdst__print_batch_words(p, t);
}

static void print_exact(hdst__printer *p, const hdst__row_tile *t)
{
    print_ranges(p, t);
    print_rounds(p, t);
    print_singly(p, t);
    hdst__write_line(&p->out, "if (finite) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const double most = (records - singly) * 0x1p40;");
    if (hdst__rows_may_be_sparse(t)) {
        hdst__write_line(&p->out, "if (row_is_sparse(filled, records * %" PRIu64 "UL)) {", t->sum->elements);
        p->out.indent++;
        hdst__print_sparse_rows(p, *t);
        p->out.indent--;
        hdst__write_line(&p->out, "} else {");
        p->out.indent++;
        print_tiles(p, *t);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    } else {
        print_tiles(p, *t);
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- A block ---

static void print_sum(hdst__printer *p, const hdst__row_sum *s)
{
    hdst__row_tile t = {.sum = s, .cell = hdst__find_cell(p, s->param, s->leaf), .plan = hdst__find_plan(p, s->param), .factor = p->var_name[s->factor],
                        .scale = hdst__scale_name(p, s->param, s->leaf), .fast = hdst__leaf_placement(p, s->param, s->leaf)->fast};
    const uint32_t most = t.fast ? HDST__CPU_FAST_ROW_UNITS : HDST__CPU_ROW_SUM_UNITS,
                   sums = most * (t.fast ? HDST__CPU_FAST_ROW_VECTORS : HDST__CPU_ROW_SUM_VECTORS);
    t.may_round = t.cell->batch_sum;
    t.space = s->is_local ? "__private" : "__global";
    t.row_bytes = s->is_local ? s->elements * sizeof(float) : p->func->params[s->input].record->size;
    t.lanes = t.fast ? HDST__CPU_FAST_ROW_LANES : HDST__CPU_ROW_SUM_LANES;
    t.units = s->units < most ? (uint32_t)s->units : most;
    t.vectors = sums / t.units;
    while (t.vectors > 1 && (t.vectors * t.lanes > HDST__ROW_ELEMENTS * 2 || t.vectors * t.lanes > s->elements)) t.vectors--;
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    const char *row = s->is_local ? hdst__arena_printf(p->arena, "%s[0]", p->var_name[s->local])
                                  : hdst__arena_printf(p->arena, "&%s(base, %" PRIu64 ")", hdst__leaf_name(p, s->input, s->input_leaf), s->row_first);
    hdst__write_line(&p->out, "%s const uchar *rows = (%s const uchar *)%s;", t.space, t.space, row);
    if (t.fast) {
        hdst__write_line(&p->out, "const double most = records * 0x1p40;");
        if (t.cell->batch_sum) hdst__write_line(&p->out, "const bool rounds = batch;");
        print_tiles(p, t);
    } else {
        print_exact(p, &t);
    }
    hdst__print_batch_note(p, &t);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_row_sums_block(hdst__printer *p)
{
    const hdst__row_sums *sums = p->row_sums;
    p->uses_double = true;
    hdst__write_line(&p->out, "while (i < stop) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const uint records = stop - i < BLOCK ? (uint)(stop - i) : BLOCK;");
    hdst__write_line(&p->out, "const ulong base = i;");
    for (uint32_t v = 0; v < p->func->var_count; v++) {
        const ir_var *var = &p->func->vars[v];
        const char *format = var->in_rows ? "float %s[BLOCK][%" PRIu64 "] ALIGNED;" : "float %s[%" PRIu64 "][BLOCK] ALIGNED;";
        if (var->per_record) hdst__write_line(&p->out, format, p->var_name[v], var->elements);
    }
    for (size_t k = 0; k < sums->dot_count; k++) hdst__print_row_dots(p, &sums->dot[k]);
    hdst__write_line(&p->out, "for (uint r = 0; r < records; r++, i++) {");
    p->out.indent++;
    hdst__print_function(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    for (size_t k = 0; k < sums->count; k++) print_sum(p, &sums->sum[k]);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}
