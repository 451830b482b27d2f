// SPDX-License-Identifier: Apache-2.0
// CPU form: a batch, a run of so few records that one strip takes them as one block. Sums that the block's registers hold exactly are rounded there, and
// stored as the leaf's values where its first-level words would be: no table is cleared for them, added up and rounded again, which takes longer than the
// arithmetic of 50 records. A sum that registers do not hold goes by way of words, as ever; the last mark says which did not (accum/first_level.h).
#include "codegen/opencl/print_batch.h"
#include "accum/first_level.h"

#include <inttypes.h>

bool hdst__takes_batches(const hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (size_t l = 0; l < p->tables->accum[a].leaf_count; l++)
            if (p->tables->accum[a].cell[l].batch_sum) return true;
    return false;
}

static uint32_t bit_of(const hdst__cell *cell) { return UINT32_C(1) << (cell->batch_sum - 1); }

// Of each row of each leaf that is never rounded, a statement about its words: `count` of them from word `first` of accumulator `name` on. `own`: about a
// strip's, which some accumulators have none of, or in registers.
static void print_other_words(hdst__printer *p, bool own, void (*print)(hdst__printer *p, const char *name, const char *first, uint64_t count))
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum *accum = &p->tables->accum[a];
        if (own && hdst__placement(p, &p->plan[a])->place != IR_PLACE_STRIP) continue;
        for (size_t l = 0; l < accum->leaf_count; l++) {
            const hdst__cell *cell = &accum->cell[l];
            const uint64_t words = cell->elements * cell->private_words;
            if (cell->batch_sum || !words) continue;
            if (accum->is_table) hdst__write_line(&p->out, "for (ulong row = 0; row < %sStored; row++) {", p->plan[a].name);
            p->out.indent += accum->is_table;
            const char *row = accum->is_table ? hdst__arena_printf(p->arena, "row * %" PRIu64 " + ", accum->private_row_words) : "";
            print(p, p->plan[a].name, hdst__arena_printf(p->arena, "%s%" PRIu64, row, cell->private_first), words);
            p->out.indent -= accum->is_table;
            if (accum->is_table) hdst__write_line(&p->out, "}");
        }
    }
}

static void print_zero_own(hdst__printer *p, const char *name, const char *first, uint64_t count)
{
    hdst__write_line(&p->out, "first_level_zero(%sOwn + %s, %" PRIu64 ");", name, first, count);
}

static void print_zero_first_level(hdst__printer *p, const char *name, const char *first, uint64_t count)
{
    hdst__write_line(&p->out, "first_level_zero(%sFirstLevel + %s, %" PRIu64 ");", name, first, count);
    hdst__write_line(&p->out, "first_level_zero(%sFirstLevel + private_words + %s, %" PRIu64 ");", name, first, count);
}

void hdst__print_batch_begin(hdst__printer *p)
{
    if (!hdst__takes_batches(p)) return;
    hdst__write_line(&p->out, "uint rounded = 0;      // sums that a batch has rounded, a bit for each");
    hdst__write_line(&p->out, "if (batch) {");
    p->out.indent++;
    hdst__write_line(&p->out, "first_level_zero(marks, first_level_words - marks);");
    print_other_words(p, false, print_zero_first_level);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_batch_reset(hdst__printer *p)
{
    if (!hdst__takes_batches(p)) return;
    hdst__write_line(&p->out, "if (batch) {");
    p->out.indent++;
    print_other_words(p, true, print_zero_own);
    p->out.indent--;
    hdst__write_line(&p->out, "} else");
}

void hdst__print_batch_end(hdst__printer *p)
{
    if (!hdst__takes_batches(p)) return;
    hdst__write_line(&p->out, "if (batch) first_level_words[-1] = rounded;");
}

const char *hdst__batch_flush_text(hdst__printer *p, const hdst__cell *cell)
{
    return cell->batch_sum ? hdst__arena_printf(p->arena, "if (!(rounded & %" PRIu32 "u)) ", bit_of(cell)) : "";
}

void hdst__print_batch_words(hdst__printer *p, const hdst__row_tile *t)
{
    if (!t->cell->batch_sum) return;
    const uint64_t words = t->cell->elements * t->cell->private_words;
    const char *first = hdst__arena_printf(p->arena, "%" PRIu64, t->cell->private_first);
    hdst__write_line(&p->out, "if (batch && !rounds) {");
    p->out.indent++;
    print_zero_own(p, t->plan->name, first, words);
    print_zero_first_level(p, t->plan->name, first, words);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_batch_rounded(hdst__printer *p, const hdst__row_tile *t, uint32_t eights)
{
    if (!t->may_round) return;
    const char *to = hdst__arena_printf(p->arena, "(__global float *)(%sFirstLevel + %" PRIu64 ") + unit * %" PRIu64 "UL + e", t->plan->name,
                                        t->cell->private_first, t->sum->elements);
    hdst__write_line(&p->out, "if (rounds) row_round_%s(%s, all, %" PRIu32 ", %" PRIu32 ", %" PRIu64 ");", t->fast ? "fast" : "exact", to, t->units, eights,
                     t->sum->elements);
    hdst__write_line(&p->out, "else");
}

void hdst__print_batch_note(hdst__printer *p, const hdst__row_tile *t)
{
    if (t->cell->batch_sum) hdst__write_line(&p->out, "rounded |= rounds ? %" PRIu32 "u : 0;", bit_of(t->cell));
}
