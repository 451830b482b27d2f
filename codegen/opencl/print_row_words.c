// SPDX-License-Identifier: Apache-2.0
// CPU form: sums over the rows of a block of records, from registers to the words of a strip's table or to first-level words. What does not fit them
// goes to the superaccumulator.
#include "codegen/opencl/print_row_words.h"

#include <inttypes.h>

static const char *word_of(hdst__printer *p, const hdst__row_tile *t, const char *element)
{
    const uint64_t first = t->cell->private_first + t->sum->first * t->cell->private_words;
    return hdst__arena_printf(p->arena, "(%s) * %" PRIu32 " + %" PRIu64, element, t->cell->private_words, first);
}

static const char *exceptions_text(hdst__printer *p, const hdst__row_tile *t, const char *element)
{
    const char *cell = hdst__arena_printf(p->arena, "%sTotal + (%s) * %" PRIu32 " + %" PRIu64, t->plan->name, element, t->cell->device_words,
                                          t->cell->device_first + t->sum->first * t->cell->device_words);
    if (!p->func->tables->first_level) return hdst__arena_printf(p->arena, "row_exceptions(%s, %" PRIu32 ", rest", cell, t->cell->device_words);
    return hdst__arena_printf(p->arena, "row_exceptions_first_level(marks, cells_at, %s, %" PRIu32 ", %sFirstLevel + %s, %s, rest", cell,
                              t->cell->device_words, t->plan->name,
                              word_of(p, t, element), t->cell->precision == HDST__CLASS_ONE_WORD ? "private_words" : "0");
}

void hdst__print_row_words(hdst__printer *p, const hdst__row_tile *t, const char *element)
{
    const char *scale = hdst__arena_printf(p->arena, t->fast ? "%sUp" : "%sUp, %sDown, &rest", t->scale, t->scale);
    if (t->fast) hdst__write_line(&p->out, "const double8 rest = sum;");
    else hdst__write_line(&p->out, "double8 rest;");
    hdst__write_line(&p->out, "const long8 exceptions = row_add_%s%s(%sOwn + %s, sum, %s, most);", t->fast ? "fast_" : "",
                     t->cell->private_words > 1 ? "two" : "one",
                     t->plan->name, word_of(p, t, element), scale);
    const char *more = ", exceptions";
    if (p->func->tables->first_level) more = hdst__arena_printf(p->arena, ", exceptions, %sUp, %sDown, %sScale", t->scale, t->scale, t->scale);
    hdst__write_line(&p->out, "if (row_any(exceptions)) %s%s);", exceptions_text(p, t, element), more);
}
