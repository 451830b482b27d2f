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

static uint32_t all_bits(const hdst__printer *p)
{
    uint32_t bits = 0;
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (size_t l = 0; l < p->tables->accum[a].leaf_count; l++)
            if (p->tables->accum[a].cell[l].batch_sum) bits |= bit_of(&p->tables->accum[a].cell[l]);
    return bits;
}

// A loop over the words, of all rows, of each leaf that is never rounded; `statement` is about word `w` of the accumulator %s.
static void print_other_words(hdst__printer *p, const char *statement)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum *accum = &p->tables->accum[a];
        const char *rows = accum->is_table ? hdst__arena_printf(p->arena, "%sStored", p->plan[a].name) : "1";
        for (size_t l = 0; l < accum->leaf_count; l++) {
            const hdst__cell *cell = &accum->cell[l];
            const uint64_t words = cell->elements * cell->private_words;
            if (cell->batch_sum || !words) continue;
            hdst__write_line(&p->out, "for (ulong row = 0; row < %s; row++)", rows);
            hdst__write_line(&p->out, "    for (ulong w = row * %" PRIu64 " + %" PRIu64 ", n = 0; n < %" PRIu64 "; w++, n++) %s", accum->private_row_words,
                             cell->private_first, words, hdst__arena_printf(p->arena, statement, p->plan[a].name));
        }
    }
}

void hdst__print_batch_begin(hdst__printer *p)
{
    if (!hdst__takes_batches(p)) return;
    hdst__write_line(&p->out, "uint rounded = 0;      // sums that a batch has rounded, a bit for each");
    hdst__write_line(&p->out, "if (batch) {");
    p->out.indent++;
    hdst__write_line(&p->out, "for (__global long *mark = marks; mark < first_level_words; mark++) *mark = 0;");
    print_other_words(p, "%1$sFirstLevel[w] = (%1$sFirstLevel + private_words)[w] = 0;");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

bool hdst__print_batch_reset(hdst__printer *p)
{
    if (!hdst__takes_batches(p)) return false;
    hdst__write_line(&p->out, "if (batch) {");
    p->out.indent++;
    print_other_words(p, "%sOwn[w] = 0;");
    p->out.indent--;
    hdst__write_line(&p->out, "} else");
    return true;
}

void hdst__print_batch_end(hdst__printer *p)
{
    if (!hdst__takes_batches(p)) return;
    hdst__write_line(&p->out, "if (batch) {");
    p->out.indent++;
    hdst__write_line(&p->out, "ulong more = rounded != %" PRIu32 "u;      // what is not in first-level words alone", all_bits(p));
    hdst__write_line(&p->out, "for (__global long *mark = marks; mark < first_level_words; mark++) more |= (ulong)*mark;");
    print_other_words(p, "more |= (ulong)(%sFirstLevel + private_words)[w];");
    hdst__write_line(&p->out, "first_level_words[-1] = rounded | (more ? 0 : 1UL << %d);", HDST__BATCH_WORDS_ALONE);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

const char *hdst__batch_flush_text(hdst__printer *p, const hdst__cell *cell)
{
    return cell->batch_sum ? hdst__arena_printf(p->arena, "if (!(rounded & %" PRIu32 "u)) ", bit_of(cell)) : "";
}

void hdst__print_batch_words(hdst__printer *p, const hdst__row_tile *t)
{
    if (!t->cell->batch_sum) return;
    const uint64_t words = t->cell->elements * t->cell->private_words;
    hdst__write_line(&p->out, "if (batch && !rounds)");
    hdst__write_line(&p->out, "    for (ulong w = %" PRIu64 "; w < %" PRIu64 "; w++) %sOwn[w] = %sFirstLevel[w] = (%sFirstLevel + private_words)[w] = 0;",
                     t->cell->private_first, t->cell->private_first + words, t->plan->name, t->plan->name, t->plan->name);
}

void hdst__print_batch_rounded(hdst__printer *p, const hdst__row_tile *t, const char *element)
{
    if (!t->cell->batch_sum) return;
    hdst__write_line(&p->out, "if (rounds) *(__global row_floats *)((__global float *)(%sFirstLevel + %" PRIu64 ") + %s) = row_rounded(sum);", t->plan->name,
                     t->cell->private_first, element);
    hdst__write_line(&p->out, "else");
}

void hdst__print_batch_note(hdst__printer *p, const hdst__row_tile *t)
{
    if (t->cell->batch_sum) hdst__write_line(&p->out, "rounded |= rounds ? %" PRIu32 "u : 0;", bit_of(t->cell));
}
