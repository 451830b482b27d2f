// SPDX-License-Identifier: Apache-2.0
// CPU form: dots of the rows of a block of records with rows of a broadcast (row_sums.h), a tile of records by rows
// at a time, as in a product of matrices: what is loaded of either serves all of the other. A lane's sum has the
// order that the language says.
#include "codegen/opencl/print_row_dots.h"
#include "base/costs_cpu.h"

#include <inttypes.h>

enum { LANES = HDST__LANES };

typedef struct tile {
    const hdst__row_dot *dot;
    const char *dots;
    uint64_t record_bytes;
    uint32_t units, records;
} tile;

static const char *sum_name(hdst__printer *p, uint32_t unit, uint32_t record) { return hdst__arena_printf(p->arena, "sum%" PRIu32 "_%" PRIu32, unit, record); }

// Sixteen numbers at an address; those behind the first `rest` lanes do not matter: the last ones of a row, moved to the front.
static const char *loaded(hdst__printer *p, const char *address, uint64_t rest)
{
    if (rest == LANES) return hdst__arena_printf(p->arena, "*(__global const row_vector *)(%s)", address);
    const char *lanes = "";
    for (uint64_t l = 0; l < LANES; l++) lanes = hdst__arena_printf(p->arena, "%s, %" PRIu64, lanes, l < rest ? LANES - rest + l : 0);
    const char *all = hdst__arena_printf(p->arena, "*(__global const row_vector *)(%s)", address);
    return hdst__arena_printf(p->arena, "__builtin_shufflevector(%s, %s%s)", all, all, lanes);
}

// One step: the elements at byte `e` (text) of all rows, of which `rest` count.
static void print_step(hdst__printer *p, const tile *t, const char *e, uint64_t rest)
{
    const char *lanes = "";
    for (uint64_t l = 0; l < LANES; l++) lanes = hdst__arena_printf(p->arena, "%s%s%s", lanes, l ? ", " : "", l < rest ? "-1" : "0");
    for (uint32_t s = 0; s < t->records; s++) {
        const char *address = hdst__arena_printf(p->arena, "at + %" PRIu64 " + %s", s * t->record_bytes, e);
        hdst__write_line(&p->out, "const float16 row%" PRIu32 " = %s;", s, loaded(p, address, rest));
    }
    for (uint32_t u = 0; u < t->units; u++) {
        const char *address = hdst__arena_printf(p->arena, "weights + (unit + %" PRIu32 ") * %" PRIu64 "UL + %s", u, t->dot->stride * 4, e);
        hdst__write_line(&p->out, "const float16 weight%" PRIu32 " = %s;", u, loaded(p, address, rest));
        for (uint32_t s = 0; s < t->records; s++) {
            const char *sum = sum_name(p, u, s), *next = hdst__arena_printf(p->arena, "fma(weight%" PRIu32 ", row%" PRIu32 ", %s)", u, s, sum);
            if (rest < LANES) hdst__write_line(&p->out, "%s = (int16)(%s) ? %s : %s;", sum, lanes, next, sum);
            else hdst__write_line(&p->out, "%s = %s;", sum, next);
        }
    }
}

// Asks memory for rows of a tile of records that is yet to come, another one with each rows of the broadcast: the processor's own prefetching does not keep
// up with four rows at once.
static void print_ahead(hdst__printer *p, const tile *t)
{
    if (t->records == 1) return;
    const char *row = hdst__arena_printf(p->arena, "%" PRIu32 " + unit / %" PRIu32 " %% %" PRIu32, HDST__CPU_ROW_DOT_AHEAD * t->records, t->units, t->records);
    hdst__write_line(&p->out, "PREFETCH_BYTES((const uchar *)(ulong)(at + (%s) * %" PRIu64 "UL + e), %d)", row, t->record_bytes, LANES * 4);
}

// Lanes of four records' sums are brought together at once.
static void print_four_out(hdst__printer *p, const tile *t)
{
    hdst__write_line(&p->out, "for (uint n = 0; n < %" PRIu32 "; n++) {", t->units);
    p->out.indent++;
    hdst__write_line(&p->out, "const float4 four = row_lanes_of_four(all[4 * n], all[4 * n + 1], all[4 * n + 2], all[4 * n + 3]);");
    for (uint32_t s = 0; s < 4; s++) hdst__write_line(&p->out, "%s[r + %" PRIu32 "][unit + n] = four.s%" PRIu32 ";", t->dots, s, s);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// The dots of records r, r + 1 ... with the broadcast's rows `unit`, unit + 1 ...
static void print_tile(hdst__printer *p, const tile *t)
{
    const uint64_t whole = t->dot->elements - t->dot->elements % LANES, rest = t->dot->elements - whole;
    hdst__write_line(&p->out, "__global const uchar *at = rows + r * %" PRIu64 "UL;", t->record_bytes);
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t s = 0; s < t->records; s++) hdst__write_line(&p->out, "float16 %s = 0;", sum_name(p, u, s));
    hdst__write_line(&p->out, "for (ulong e = 0; e < %" PRIu64 "; e += %d) {", whole * 4, LANES * 4);
    p->out.indent++;
    print_ahead(p, t);
    print_step(p, t, "e", LANES);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    if (rest) {
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        print_step(p, t, hdst__arena_printf(p->arena, "%" PRIu64, (t->dot->elements - LANES) * 4), rest);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
    const char *all = "";
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t s = 0; s < t->records; s++) all = hdst__arena_printf(p->arena, "%s%s%s", all, all[0] ? ", " : "", sum_name(p, u, s));
    hdst__write_line(&p->out, "const float16 all[%" PRIu32 "] = {%s};", t->units * t->records, all);
    if (t->records == 4) print_four_out(p, t);
    else hdst__write_line(&p->out, "for (uint n = 0; n < %" PRIu32 "; n++) %s[r + n %% %" PRIu32 "][unit + n / %" PRIu32 "] = row_lanes(all[n]);",
                          t->units * t->records, t->dots, t->records, t->records);
}

uint64_t hdst__row_units_open(hdst__printer *p, uint64_t done, uint64_t units, uint32_t *each)
{
    const uint64_t whole = units - units % *each;
    const bool loops = done < whole;
    if (loops) hdst__write_line(&p->out, "for (uint unit = %" PRIu64 "; unit < %" PRIu64 "; unit += %" PRIu32 ") {", done, whole, *each);
    else hdst__write_line(&p->out, "{");
    p->out.indent++;
    if (loops) return whole;
    hdst__write_line(&p->out, "const uint unit = %" PRIu64 ";", done);
    *each = (uint32_t)(units - done);
    return units;
}

static void print_all_units(hdst__printer *p, tile t)
{
    for (uint64_t done = 0; done < t.dot->units;) {
        done = hdst__row_units_open(p, done, t.dot->units, &t.units);
        print_tile(p, &t);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

void hdst__print_row_dots(hdst__printer *p, const hdst__row_dot *dot)
{
    tile t = {.dot = dot, .dots = p->var_name[dot->dots], .record_bytes = p->func->params[dot->input].record->size,
        .units = dot->units < HDST__CPU_ROW_DOT_UNITS ? (uint32_t)dot->units : HDST__CPU_ROW_DOT_UNITS};
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "__global const uchar *rows = (__global const uchar *)&%s(base, %" PRIu64 ");", hdst__leaf_name(p, dot->input, dot->input_leaf),
                     dot->row_first);
    hdst__write_line(&p->out, "__global const uchar *weights = (__global const uchar *)&%s(0, %" PRIu64 ");",
        hdst__leaf_name(p, dot->broadcast, dot->broadcast_leaf), dot->broadcast_first);
    hdst__write_line(&p->out, "uint r = 0;");
    for (t.records = HDST__CPU_ROW_DOT_RECORDS; t.records; t.records = t.records > 1 ? 1 : 0) {
        hdst__write_line(&p->out, "for (; r + %" PRIu32 " <= records; r += %" PRIu32 ") {", t.records, t.records);
        p->out.indent++;
        print_all_units(p, t);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}
