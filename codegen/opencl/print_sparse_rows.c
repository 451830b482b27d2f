// SPDX-License-Identifier: Apache-2.0
// CPU form: exact sums over the rows of a block of records most of whose numbers are zeros, as those of images are. A zero by a finite factor adds
// nothing, so it can be left out of an exact sum. For one element the sums of up to 32 units stay in registers, while the records go by whose number
// there is not zero: a bit for each record says which. Sixteen elements later sums are turned, for neighbours in the table are of one unit.
#include "codegen/opencl/print_sparse_rows.h"
#include "base/costs_cpu.h"
#include "codegen/opencl/print_batch.h"
#include "codegen/opencl/print_row_dots.h"

#include <inttypes.h>

enum { LANES = 8, GROUP = 32, TILE = 16 };     // doubles of a vector; units of a group, elements of a tile, as in accum/row_sums.cl

bool hdst__rows_may_be_sparse(const hdst__row_tile *t)
{
    return !t->fast && !t->sum->is_local && t->sum->units >= HDST__CPU_SPARSE_ROW_UNITS && t->sum->elements >= TILE;
}

uint64_t hdst__sparse_rows_bytes(void)
{
    return GROUP * (HDST__ROW_SUMS_BLOCK * sizeof(float) + 2 * TILE * sizeof(double)) + HDST__ROW_SUMS_BLOCK / 32 * TILE * sizeof(uint32_t);
}

// The sums of one element, number `k` of the tile.
static void print_element(hdst__printer *p, const hdst__row_tile *t)
{
    for (uint32_t v = 0; v < t->vectors; v++) hdst__write_line(&p->out, "double8 sum%" PRIu32 " = 0;", v);
    hdst__write_line(&p->out, "for (uint first = 0; first < records; first += 64)");
    p->out.indent++;
    hdst__write_line(&p->out, "for (ulong left = e + k < new ? 0 : row_nonzero_of(nonzero, first, records, k); left != 0; left &= left - 1) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const uint r = first + __builtin_ctzl(left);");
    hdst__write_line(&p->out, "const float v = *(%s const float *)(rows + r * %" PRIu64 "UL + (e + k) * 4);", t->space, t->row_bytes);
    for (uint32_t v = 0; v < t->vectors; v++)
        hdst__write_line(&p->out, "sum%" PRIu32 " += __builtin_convertvector(v * *(const float8 *)(turned[r] + %" PRIu32 "), double8);", v, v * LANES);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    for (uint32_t v = 0; v < t->vectors; v++) hdst__write_line(&p->out, "sums[k][%" PRIu32 "] = sum%" PRIu32 ";", v, v);
}

// The units from `unit` on, of all elements. The last tile may overlap the one before, whose elements it leaves out.
static void print_group(hdst__printer *p, hdst__row_tile *t)
{
    const uint64_t elements = t->sum->elements;
    t->vectors = (t->units + LANES - 1) / LANES;
    hdst__write_line(&p->out, "row_turn_factors(&%s[unit][0], %" PRIu32 ", records, turned);", t->factor, t->units);
    hdst__write_line(&p->out, "for (uint tile = 0; tile < %" PRIu64 "; tile += %d) {", elements, TILE);
    p->out.indent++;
    hdst__write_line(&p->out, "const uint e = tile + %d <= %" PRIu64 " ? tile : %" PRIu64 ";", TILE, elements, elements - TILE);
    hdst__write_line(&p->out, "const uint new = %s;", t->may_round ? "rounds ? 0 : tile" : "tile");
    hdst__write_line(&p->out, "row_find_nonzero(rows + e * 4, %" PRIu64 "UL, records, nonzero);", t->row_bytes);
    hdst__write_line(&p->out, "for (uint k = 0; k < %d; k++) {", TILE);
    p->out.indent++;
    print_element(p, t);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "row_turn_sums(sums, %" PRIu32 ", all);", t->vectors);
    hdst__print_batch_rounded(p, t, TILE / LANES);
    hdst__write_line(&p->out, "for (uint n = 0; n < %" PRIu32 "; n++) {", t->units * TILE / LANES);
    p->out.indent++;
    hdst__write_line(&p->out, "const double8 sum = all[n];");
    hdst__print_row_words(p, t, hdst__arena_printf(p->arena, "(unit + n / 2UL) * %" PRIu64 " + e + n %% 2 * %d", elements, LANES));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_sparse_rows(hdst__printer *p, hdst__row_tile t)
{
    hdst__write_line(&p->out, "float turned[BLOCK][%d] ALIGNED;", GROUP);
    hdst__write_line(&p->out, "double8 sums[%d][%d], all[%d];", TILE, GROUP / LANES, GROUP * TILE / LANES);
    hdst__write_line(&p->out, "uint nonzero[%d] ALIGNED;", HDST__ROW_SUMS_BLOCK / 32 * TILE);
    t.units = t.sum->units < GROUP ? (uint32_t)t.sum->units : GROUP;
    for (uint64_t done = 0; done < t.sum->units;) {
        done = hdst__row_units_open(p, done, t.sum->units, &t.units);
        print_group(p, &t);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}
