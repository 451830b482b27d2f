// SPDX-License-Identifier: Apache-2.0
// Rows that go to the result as soon as they are complete (codegen/opencl/print_row_out.h). Overflow cells have the numbers that words of a table in fixed
// point would have; that of an element is its first word's.
#include "codegen/opencl/print_row_out.h"

#include "accum/value_text.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_output.h"

#include <inttypes.h>

static const hdst__record *record_of(const hdst__printer *p, const hdst__accum_plan *plan) { return p->func->params[plan->accum->param].record; }

// Words are 128 bits there.
static const char *own_word(hdst__printer *p, const hdst__accum_plan *plan, const hdst__cell *cell, uint64_t element, uint32_t word)
{
    return hdst__arena_printf(p->arena, "%sOwn + %" PRIu64, plan->name, 2 * (cell->private_first + element * cell->private_words + word));
}

// Two words become one, whose scale is the text that comes back.
static const char *joined_scale(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const char *scale = hdst__scale_name(p, plan->accum->param, leaf);
    p->uses_double = true;
    if (cell->private_words < 2) return hdst__arena_printf(p->arena, "%sScale", scale);
    hdst__write_line(&p->out, "row_join(%s, %s);", own_word(p, plan, cell, element, 0), own_word(p, plan, cell, element, 1));
    return hdst__arena_printf(p->arena, "%sScale + 52", scale);
}

static void print_zeroes(hdst__printer *p, const hdst__accum_plan *plan, const hdst__cell *cell, uint64_t element)
{
    const uint64_t first = 2 * (cell->private_first + element * cell->private_words);
    for (uint64_t w = 0; w < 2 * cell->private_words; w++) hdst__write_line(&p->out, "%sOwn[%" PRIu64 "] = 0;", plan->name, first + w);
}

// "row * 2 + 1", with `element` an expression.
static const char *place_text(hdst__printer *p, const hdst__accum_plan *plan, const hdst__cell *cell, const char *row, const char *element)
{
    return hdst__arena_printf(p->arena, "%s * %" PRIu64 " + %s * %" PRIu32 " + %" PRIu64, row, plan->accum->device_row_words, element, cell->device_words,
                              cell->device_first);
}

static const char *element_at(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__record *record = record_of(p, plan);
    return hdst__arena_printf(p->arena, "%sOut + row * %" PRIu64 " + %" PRIu64 "%s", plan->name, record->size, record->leaves[leaf].offset,
                              hdst__element_offset(p->arena, &record->leaves[leaf]));
}

// --- Complete rows ---

static const char *value_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const char *word = own_word(p, plan, cell, element, 0), *bits = cell->kind == HDST__F32 ? "as_uint" : "as_ulong";
    if (!cell->digits) return hdst__word_value_text(p->arena, cell, hdst__arena_printf(p->arena, "(*(%s))", word));
    const char *scale = joined_scale(p, plan, leaf, element);
    return hdst__arena_printf(p->arena, "%s(row_round_%s(%s, %s))", bits, cell->kind == HDST__F32 ? "float" : "double", word, scale);
}

void hdst__print_row_out(hdst__printer *p, const hdst__accum_plan *plan)
{
    const hdst__record *record = record_of(p, plan);
    for (uint32_t l = 0; l < record->leaf_count; l++) {
        const hdst__cell *cell = &plan->accum->cell[l];
        for (uint64_t e = 0; e < cell->elements; e++) {
            hdst__write_line(&p->out, "{");
            p->out.indent++;
            hdst__write_line(&p->out, "const ulong e = %" PRIu64 ";", e);
            hdst__print_put(p, record, &record->leaves[l], element_at(p, plan, l), value_text(p, plan, l, e));
            print_zeroes(p, plan, cell, e);
            p->out.indent--;
            hdst__write_line(&p->out, "}");
        }
    }
}

// One word is a count of units, which converting rounds once.
static const char *whole_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const uint64_t at = cell->private_first + element * cell->private_words;
    const char *word = hdst__arena_printf(p->arena, "come[%" PRIu64 "]", at), *type = cell->kind == HDST__F32 ? "float" : "double";
    if (!cell->digits) return hdst__word_value_text(p->arena, cell, word);
    const char *scale = hdst__arena_printf(p->arena, "%sScale", hdst__scale_name(p, plan->accum->param, leaf));
    if (cell->private_words < 2) return hdst__fixed_value_text(p->arena, cell, word, hdst__arena_printf(p->arena, "%s_power(-%s)", type, scale));
    const char *bits = cell->kind == HDST__F32 ? "as_uint" : "as_ulong";
    return hdst__arena_printf(p->arena, "%s(row_whole_%s(%s, come[%" PRIu64 "], %s))", bits, type, word, at + 1, scale);
}

void hdst__print_row_whole(hdst__printer *p, const hdst__accum_plan *plan)
{
    const hdst__record *record = record_of(p, plan);
    for (uint32_t l = 0; l < record->leaf_count; l++)
        for (uint64_t e = 0; e < plan->accum->cell[l].elements; e++) {
            hdst__write_line(&p->out, "{");
            p->out.indent++;
            hdst__write_line(&p->out, "const ulong e = %" PRIu64 ";", e);
            hdst__print_put(p, record, &record->leaves[l], element_at(p, plan, l), whole_text(p, plan, l, e));
            p->out.indent--;
            hdst__write_line(&p->out, "}");
        }
}

// --- Others ---

static void print_element_apart(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const char *word = own_word(p, plan, cell, element, 0), *kind = cell->kind == HDST__F32 ? "FLOAT" : "DOUBLE";
    const char *number = hdst__arena_printf(p->arena, "%" PRIu64, element), *scale = cell->digits ? joined_scale(p, plan, leaf, element) : "";
    hdst__write_line(&p->out, "if (((%s)[0] | (%s)[1]) != 0) {", word, word);
    p->out.indent++;
    hdst__write_line(&p->out, "volatile __global long *cell = overflow_cell(overflow, %s);", place_text(p, plan, cell, "row", number));
    if (cell->digits) hdst__write_line(&p->out, "row_spill(cell, %s_LAST, %s_LOWEST, %s, %s);", kind, kind, word, scale);
    else hdst__write_line(&p->out, "device_add(cell, *(%s));", word);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    print_zeroes(p, plan, cell, element);
}

void hdst__print_row_apart(hdst__printer *p, const hdst__accum_plan *plan)
{
    for (uint32_t l = 0; l < record_of(p, plan)->leaf_count; l++)
        for (uint64_t e = 0; e < plan->accum->cell[l].elements; e++) print_element_apart(p, plan, l, e);
}

const char *hdst__overflow_cell_text(hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    const char *row = hdst__arena_printf(p->arena, "(ulong)(%s)", hdst__expr_text(p, stmt->index, HDST__WHOLE));
    const char *element = stmt->index2 ? hdst__arena_printf(p->arena, "(ulong)(%s)", hdst__expr_text(p, stmt->index2, HDST__WHOLE)) : "0";
    return hdst__arena_printf(p->arena, "overflow_cell(overflow, %s)", place_text(p, plan, &plan->accum->cell[stmt->leaf], row, element));
}

static void print_leaf_apart(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const hdst__record *record = record_of(p, plan);
    if (cell->kind == HDST__F64) p->uses_double = true;
    hdst__write_line(&p->out, "if (row < %sRows && at_word >= %" PRIu64 " && at_word < %" PRIu64 ") {", plan->name, cell->device_first,
                     cell->device_first + cell->elements * cell->device_words);
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong e = (at_word - %" PRIu64 ") / %" PRIu32 ";", cell->device_first, cell->device_words);
    const char *bits = cell->digits ? hdst__superaccumulator_value_text(p->arena, cell, "cell") : hdst__word_value_text(p->arena, cell, "*cell");
    hdst__print_put(p, record, &record->leaves[leaf], element_at(p, plan, leaf), bits);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_rows_apart(hdst__printer *p, const hdst__accum_plan *plan)
{
    hdst__write_line(&p->out, "const ulong row = place / %" PRIu64 ", at_word = place %% %" PRIu64 ";", plan->accum->device_row_words,
                     plan->accum->device_row_words);
    for (uint32_t l = 0; l < record_of(p, plan)->leaf_count; l++) print_leaf_apart(p, plan, l);
}
