// SPDX-License-Identifier: Apache-2.0
// The tables around a kernel's body: pointers to them, scales, and the flush that adds a strip's or work-group's table to
// the device table (accum/tables.h).
#include "codegen/opencl/print_products.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/opencl/print_group_keys.h"
#include "codegen/opencl/print_accum_pair.h"
#include "codegen/opencl/print_accum_run.h"
#include "codegen/opencl/print_batch.h"
#include "codegen/opencl/print_owned_sums.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_row_out.h"
#include "codegen/opencl/print_run_totals.h"
#include "codegen/opencl/print_runs.h"
#include "codegen/pass/accumulator_placement.h"

#include "accum/first_level.h"
#include "accum/fixed_point.h"
#include "base/costs_cpu.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

static const char *rows_text(const hdst__printer *p, const hdst__accum_plan *plan)
{
    return plan->accum->is_table ? hdst__arena_printf(p->arena, "%sStored", plan->name) : "1";
}

static bool is_sum(const hdst__cell *cell)
{
    return cell->precision != HDST__CLASS_PLAIN;
}

static size_t leaf_count(const hdst__printer *p, const hdst__accum_plan *plan)
{
    return p->func->params[plan->accum->param].record->leaf_count;
}

// --- Bases ---

static void print_scale(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (!is_sum(cell) || cell->precision == HDST__CLASS_SUPERACCUMULATOR || hdst__placement(p, plan)->place == IR_PLACE_GLOBAL) return;
    const char *name = hdst__scale_name(p, plan->accum->param, leaf), *type = hdst__sums_floats(p, plan->accum->param, leaf) ? "float" : "double";
    if (type[0] == 'd') p->uses_double = true;
    const int more = hdst__placement(p, plan)->leaf[leaf].way == IR_WAY_LEVELS ? HDST__LANE_BITS : 0;
    const char *scale = hdst__arena_printf(p->arena, "%s_scale(scales[%" PRId32 "])", type, cell->scale);
    hdst__write_line(&p->out, more ? "const int %sScale = max(%s, %d);" : "const int %sScale = %s;", name, scale, HDST__LANE_LEAST_SCALE);
    const char *up = more ? hdst__arena_printf(p->arena, "%sScale + %d", name, more) : hdst__arena_printf(p->arena, "%sScale", name);
    const char *down = more ? hdst__arena_printf(p->arena, "-%sScale - %d", name, more) : hdst__arena_printf(p->arena, "-%sScale", name);
    hdst__write_line(&p->out, "const %s %sUp = %s_power(%s), %sDown = %s_power(%s);", type, name, type, up, name, type, down);
    if (p->gpu && type[0] == 'f' && !more) hdst__write_line(&p->out, "const float %sLeast = float_least(%s);", name, up);
}

// What lies in front of the cells (accum/tables.h). `cells`: where they begin.
static void print_first_levels(hdst__printer *p, const char **cells)
{
    const char *words = "", *offset = "";
    for (size_t a = 0; a < p->tables->accum_count; a++)
        words = hdst__arena_printf(p->arena, "%s%s%s * %" PRIu64, words, a ? " + " : "", rows_text(p, &p->plan[a]), p->plan[a].accum->device_row_words);
    hdst__write_line(&p->out, "__global long *marks = device_table;");
    hdst__write_line(&p->out, "__global long *first_level_words = marks + (%s) / %d + 2;", words, HDST__PAGE_WORDS);
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        hdst__write_line(&p->out, "__global long *%sFirstLevel = first_level_words%s;", p->plan[a].name, offset);
        offset = hdst__arena_printf(p->arena, "%s + %s * %" PRIu64, offset, rows_text(p, &p->plan[a]), p->plan[a].accum->private_row_words);
    }
    hdst__write_line(&p->out, "__global long *cells_at = first_level_words%s%s;", offset, offset);
    hdst__write_line(&p->out, "const bool alone = start == 0 && end == count;      // nobody else adds to the device's table meanwhile");
    *cells = "cells_at";
}

static void print_totals(hdst__printer *p)
{
    const char *offset = "", *cells = "device_table";
    if (p->func->tables->first_level) print_first_levels(p, &cells);
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        hdst__write_line(&p->out, "__global long *%sTotal = %s%s;", plan->name, cells, offset);
        offset = hdst__arena_printf(p->arena, "%s + %s * %" PRIu64, offset, rows_text(p, plan), plan->accum->device_row_words);
    }
}

void hdst__print_scales(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (uint32_t l = 0; l < leaf_count(p, &p->plan[a]); l++) print_scale(p, &p->plan[a], l);
}

static void print_device_bases(hdst__printer *p)
{
    print_totals(p);
    hdst__print_scales(p);
}

static void print_private_words(hdst__printer *p)
{
    const char *words = "";
    for (size_t a = 0; a < p->tables->accum_count; a++)
        words = hdst__arena_printf(p->arena, "%s%s%s * %" PRIu64, words, a ? " + " : "", rows_text(p, &p->plan[a]), p->plan[a].accum->private_row_words);
    hdst__write_line(&p->out, "const ulong private_words = %s;", words);
}

// `strip`: whose table, as text.
static void print_strip_bases(hdst__printer *p, const char *strip)
{
    if (p->func->tables->turns > 1)
        hdst__write_line(&p->out, "const ulong turn_words = (private_words + %d) / %d * %d + %d;", HDST__TURN_UNIT - 1, HDST__TURN_UNIT,
            HDST__TURN_UNIT, HDST__TURN_APART);
    hdst__write_line(&p->out, "__global long *private_table = private_tables + %s * %s;", strip,
                     p->func->tables->turns > 1 ? "2 * turn_words" : "private_words");
    const char *offset = "";
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const ir_place place = hdst__placement(p, plan)->place;
        if (hdst__placement(p, plan)->narrow)
            hdst__write_line(&p->out, "__global uint *%sOwn = (__global uint *)(private_table%s);", plan->name, offset);
        else if (place == IR_PLACE_STRIP || place == IR_PLACE_GROUP)
            hdst__write_line(&p->out, "__global long *%sOwn = private_table%s;", plan->name, offset);
        offset = hdst__arena_printf(p->arena, "%s + %s * %" PRIu64, offset, rows_text(p, plan), plan->accum->private_row_words);
    }
}

static void print_private_bases(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const ir_place place = hdst__placement(p, plan)->place;
        const bool runs = hdst__placement(p, plan)->runs;
        if ((place != IR_PLACE_REGISTERS && !runs) || plan->accum->private_row_words == 0) continue;
        const char *zeroes = "0";
        const uint64_t words = plan->accum->private_row_words * (plan->accum->writes_rows ? 2 : 1);
        for (uint64_t w = 1; w < words; w++) zeroes = hdst__arena_printf(p->arena, "%s, 0", zeroes);
        hdst__write_line(&p->out, "long %sOwn[%" PRIu64 "] = {%s};", plan->name, words, zeroes);
        if (runs && hdst__placement(p, plan)->starts) hdst__print_run_starts(p, plan);
        else if (runs) hdst__write_line(&p->out, "ulong %sRun = 0;", plan->name);
    }
}

static void print_local_bases(hdst__printer *p)
{
    const char *slots = "";
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const uint32_t row_slots = hdst__placement(p, plan)->slots;
        if (row_slots == 0) continue;
        hdst__write_line(&p->out, "__local uint *%sLocal = local_tables%s;", plan->name,
                         slots[0] ? hdst__arena_printf(p->arena, " + (%s) * COPIES", slots) : "");
        slots = hdst__arena_printf(p->arena, "%s%s%s * %" PRIu32, slots, slots[0] ? " + " : "", rows_text(p, plan), row_slots);
    }
    if (!slots[0]) return;
    p->uses_local = true;
    hdst__write_line(&p->out, "const uint copy = lane %% COPIES;");
    hdst__write_line(&p->out, "const ulong local_words = (ulong)(%s) * COPIES;", slots);
}

static void print_stored_rows(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->plan[a].accum->is_table)     // hdst__accum_rows
            hdst__write_line(&p->out, "const ulong %sStored = max(%sRows, 1UL);", p->plan[a].name, p->plan[a].name);
}

// Strips have one unless all that they add goes to the device's table at once.
bool hdst__has_private_tables(const hdst__printer *p)
{
    if (p->gpu) return hdst__placed_anywhere(p->func, IR_PLACE_GROUP);
    return !p->options->no_blocks && (hdst__placed_anywhere(p->func, IR_PLACE_STRIP) || !hdst__placed_anywhere(p->func, IR_PLACE_RUN));
}

void hdst__print_table_bases(hdst__printer *p)
{
    if (p->tables->accum_count == 0) return;
    print_stored_rows(p);
    print_device_bases(p);
    if (p->gpu) print_local_bases(p);
    const uint32_t shared = p->func->tables->shared;
    const char *group = shared ? hdst__arena_printf(p->arena, "get_group_id(0) %% %" PRIu32, shared) : "get_group_id(0)";
    if ((hdst__has_private_tables(p) && !p->func->tables->apart) || p->func->tables->first_level) print_private_words(p);
    if (hdst__has_private_tables(p) && !p->func->tables->apart) print_strip_bases(p, p->gpu ? group : "strip");
    print_private_bases(p);
    hdst__print_batch_begin(p);
}

// --- Adding to the device table ---

static const char *kind_name(const hdst__cell *cell) { return cell->kind == HDST__F32 ? "FLOAT" : "DOUBLE"; }

// One word of the table that is flushed, from `from`, to the cell at `to`. `more`: its units are so much smaller than the scale's, as text.
static void print_flush_part(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *more, const char *to, const char *from)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    static const char *const function[] = {"device_add", "device_max", "device_or", "device_xor"};
    if (!is_sum(cell)) {
        hdst__write_line(&p->out, "%s(%s, %s);", function[cell->op], to, from);
        return;
    }
    const char *kind = kind_name(cell);
    hdst__write_line(&p->out, "superaccumulator_add_fixed(%s, %s_LAST, %s_LOWEST, %s, %sScale%s);", to, kind, kind, from,
                     hdst__scale_name(p, plan->accum->param, leaf), more);
}

static void print_flush_word(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint32_t word, const char *to, const char *from)
{
    print_flush_part(p, plan, leaf, word ? " + 40" : "", to, from);
}

// --- CPU ---

static bool any_is_narrow(const hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (hdst__placement(p, &p->plan[a])->narrow) return true;
    return false;
}

// Of narrow words only the memory that they take.
static void print_resets_apart(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        if (hdst__placement(p, plan)->place == IR_PLACE_STRIP)
            hdst__write_line(&p->out, "for (ulong w = 0; w < %s * %" PRIu64 "; w++) %sOwn[w] = 0;", rows_text(p, plan), plan->accum->private_row_words,
                             plan->name);
    }
}

void hdst__print_strip_reset(hdst__printer *p)
{
    if (!hdst__placed_anywhere(p->func, IR_PLACE_STRIP)) return;
    if (any_is_narrow(p)) {
        print_resets_apart(p);
        return;
    }
    hdst__print_batch_reset(p);
    hdst__write_line(&p->out, "for (ulong w = 0; w < %s; w++) private_table[w] = 0;", p->func->tables->turns > 1 ? "2 * turn_words" : "private_words");
}

void hdst__print_strip_turn(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (hdst__placement(p, &p->plan[a])->place == IR_PLACE_STRIP)
            hdst__write_line(&p->out, "__global long *%sTurn = %sOwn + turn * turn_words;", p->plan[a].name, p->plan[a].name);
}

// The same to the device's first-level words; what overflows one goes to the cell at `to`.
static void print_first_level_word(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint32_t word, const char *front,
                                   const char *to, const char *from)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (!is_sum(cell)) {
        print_flush_word(p, plan, leaf, word, front, from);
        return;
    }
    const char *marked = hdst__arena_printf(p->arena, "marked(marks, cells_at, %s, %" PRIu32 ")", to, cell->device_words);
    const char *kind = kind_name(cell), *scale = hdst__scale_name(p, plan->accum->param, leaf);
    const char *carry = hdst__arena_printf(p->arena, "first_level_carry(%s, %s_LAST, %s_LOWEST, %s, %sScale%s)", marked,
                                           kind, kind, from, scale, word ? " + 40" : "");
    hdst__write_line(&p->out, "if (first_level_add%s(%s, %s)) %s;", p->alone ? "_alone" : "", front, from, carry);
}

// "row * WORDS + " of a table; one row needs none.
static const char *row_text(hdst__printer *p, const hdst__accum_plan *plan, uint64_t words)
{
    return plan->accum->is_table ? hdst__arena_printf(p->arena, "row * %" PRIu64 " + ", words) : "";
}

// Element `e` of a leaf: a loop's variable, or a number.
static void print_strip_element(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *e)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const bool table = hdst__placement(p, plan)->place == IR_PLACE_STRIP;
    const char *row = row_text(p, plan, plan->accum->private_row_words);
    const char *to = hdst__arena_printf(p->arena, "%sTotal + %s%s * %" PRIu32 " + %" PRIu64, plan->name,
        row_text(p, plan, plan->accum->device_row_words), e, cell->device_words, cell->device_first);
    for (uint32_t w = 0; w < cell->private_words; w++) {
        const char *word = hdst__arena_printf(p->arena, "%s * %" PRIu32 " + %" PRIu64, e, cell->private_words, cell->private_first + w);
        const bool extends = hdst__placement(p, plan)->narrow && cell->op != HDST__WORD_MAX && hdst__kind_is_signed(cell->kind);
        const char *from = hdst__arena_printf(p->arena, "%s%sOwn[%s%s]", extends ? "(int)" : "", plan->name, table ? row : "", word);
        const char *front = hdst__arena_printf(p->arena, "%sFirstLevel + %s%s", plan->name, row, word);
        if (p->func->tables->first_level) print_first_level_word(p, plan, leaf, w, front, to, from);
        else print_flush_word(p, plan, leaf, w, to, from);
        if (!table) hdst__write_line(&p->out, "%s = 0;", from);
    }
}

// Of as many words as are worth a lock: a page at a time.
static bool adds_by_pages(const hdst__printer *p, const hdst__cell *cell)
{
    return p->func->tables->first_level && is_sum(cell) && cell->elements * cell->private_words >= HDST__CPU_PAGE_LEAST_WORDS;
}

// All strips cut the words alike, whole elements at a time, so that each word has one lock.
static void print_strip_pages(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const uint32_t each = cell->private_words;
    const char *place = hdst__arena_printf(p->arena, "%s%" PRIu64, row_text(p, plan, plan->accum->private_row_words), cell->private_first);
    hdst__write_line(&p->out, "for (ulong n = 0, part; n < %" PRIu64 "; n += part) {", cell->elements * each);
    p->out.indent++;
    hdst__write_line(&p->out, "__global long *to = %sFirstLevel + %s + n;", plan->name, place);
    hdst__write_line(&p->out, "part = min(%" PRIu64 " - n, (first_level_page_rest(first_level_words, to) + %" PRIu32 ") / %" PRIu32 " * %" PRIu32 ");",
        cell->elements * each, each - 1, each, each);
    hdst__write_line(&p->out, "volatile __global uint *lock = first_level_lock(marks, first_level_words, to);");
    hdst__write_line(&p->out, "if (!first_level_add_all(to, %sOwn + %s + n, part))", plan->name, place);
    p->out.indent++;
    hdst__write_line(&p->out, "for (ulong e = n / %" PRIu32 "; e < (n + part) / %" PRIu32 "; e++) {", each, each);
    p->out.indent++;
    print_strip_element(p, plan, leaf, "e");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "first_level_unlock(lock);");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// Private words are named by constants, so that the compiler keeps them in registers.
static void print_strip_leaf(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (cell->private_words == 0) return;
    const ir_place held = hdst__placement(p, plan)->place;
    if (held == IR_PLACE_REGISTERS || held == IR_PLACE_RUN || cell->elements == 1) {
        for (uint64_t e = 0; e < cell->elements; e++) print_strip_element(p, plan, leaf, hdst__arena_printf(p->arena, "%" PRIu64, e));
        return;
    }
    if (adds_by_pages(p, cell)) {
        print_strip_pages(p, plan, leaf);
        return;
    }
    if (p->func->tables->first_level && cell->op == HDST__WORD_ADD) {
        const char *place = hdst__arena_printf(p->arena, "%s%" PRIu64, row_text(p, plan, plan->accum->private_row_words), cell->private_first);
        hdst__write_line(&p->out, "if (!alone || !first_level_add_all(%sFirstLevel + %s, %sOwn + %s, %" PRIu64 "))", plan->name, place, plan->name, place,
            cell->elements * cell->private_words);
    }
    hdst__write_line(&p->out, "for (ulong e = 0; e < %" PRIu64 "; e++) {", cell->elements);
    p->out.indent++;
    print_strip_element(p, plan, leaf, "e");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// To words in fixed point, which the device has as a lane has them.
static void print_run_words(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    static const char *const function[] = {"device_add", "device_max", "device_or", "device_xor"};
    const hdst__cell *cell = &plan->accum->cell[leaf];
    for (uint64_t n = 0; n < cell->elements * cell->private_words; n++) {
        const char *own = hdst__arena_printf(p->arena, "%sOwn[%" PRIu64 "]", plan->name, cell->private_first + n);
        hdst__write_line(&p->out, "if (%s) %s(%sTotal + %s%" PRIu64 ", %s);", own, function[cell->op], plan->name,
                         row_text(p, plan, plan->accum->device_row_words), cell->device_first + n, own);
        hdst__write_line(&p->out, "%s = 0;", own);
    }
}

static void print_run_end(hdst__printer *p, const hdst__accum_plan *plan)
{
    hdst__write_line(&p->out, "%s", hdst__run_end_head(p, plan));
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    if (plan->accum->writes_rows) (p->alone ? hdst__print_row_out : hdst__print_row_apart)(p, plan);
    for (uint32_t l = 0; l < leaf_count(p, plan) && !plan->accum->writes_rows; l++)
        if (p->gpu) print_run_words(p, plan, l);
        else print_strip_leaf(p, plan, l);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_run_ends(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        if (!hdst__placement(p, plan)->runs) continue;
        print_run_end(p, plan);
        p->alone = hdst__placement(p, plan)->starts && (p->func->tables->first_level || plan->accum->writes_rows);
        if (p->alone) print_run_end(p, plan);
        p->alone = false;
        if (!plan->accum->writes_rows) continue;
        hdst__write_line(&p->out, "%s\n{", hdst__run_whole_head(p, plan));
        p->out.indent++;
        hdst__print_row_whole(p, plan);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

void hdst__print_strip_flush(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const ir_place place = hdst__placement(p, plan)->place;
        if (place == IR_PLACE_RUN) hdst__write_line(&p->out, "%s;", hdst__run_end_text(p, plan));
        if (plan->accum->writes_rows) hdst__write_line(&p->out, "first_run = %sRun;      // what comes of it yet meets this", plan->name);
        if (place == IR_PLACE_GLOBAL || place == IR_PLACE_RUN) continue;
        const bool table = plan->accum->is_table;
        if (table) hdst__write_line(&p->out, "for (ulong row = 0; row < %s; row++) {", rows_text(p, plan));
        p->out.indent += table;
        for (uint32_t l = 0; l < leaf_count(p, plan); l++) {
            const char *unless = hdst__batch_flush_text(p, &plan->accum->cell[l]);
            if (unless[0]) hdst__write_line(&p->out, "%s{", unless);
            print_strip_leaf(p, plan, l);
            if (unless[0]) hdst__write_line(&p->out, "}");
        }
        p->out.indent -= table;
        if (table) hdst__write_line(&p->out, "}");
    }
}

// --- GPU ---

void hdst__print_group_reset(hdst__printer *p)
{
    if (p->uses_local) hdst__write_line(&p->out, "for (ulong w = lane; w < local_words; w += LANES) local_tables[w] = 0;");
}

static const char *const op_name[] = {"add", "max", "or", "xor"};

// A lane's private word into the local table, or to the device where local memory has no form for it.
static void print_merge_word(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element, uint32_t word)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const ir_leaf_placement *at = &hdst__placement(p, plan)->leaf[leaf];
    const uint32_t slots = at->slot_words;
    const bool lane = at->way == IR_WAY_LEVELS;
    const char *own = hdst__arena_printf(p->arena, "%sOwn[%s * %" PRIu32 " + %" PRIu64 "]", plan->name, element, cell->private_words,
                                         cell->private_first + word);
    const char *low = hdst__arena_printf(p->arena, "%sOwn[%s * %" PRIu32 " + %" PRIu64 "]", plan->name, element, cell->private_words, cell->private_first);
    const char *from = !lane ? own
        : word ? hdst__arena_printf(p->arena, "%s + ((%s & %d) << %d)", own, low, (1 << HDST__LANE_BITS) - 1, HDST__FIXED_BITS - HDST__LANE_BITS)
               : hdst__arena_printf(p->arena, "%s >> %d", own, HDST__LANE_BITS);
    if (slots)
        hdst__write_line(&p->out, "local_%s%u(%sLocal + (%s * %" PRIu32 " + %" PRIu32 ") * COPIES + copy, %s);", op_name[cell->op], slots * 32, plan->name,
                         element, slots * cell->private_words, at->slot + word * slots, from);
    else
        print_flush_word(p, plan, leaf, word,
                         hdst__arena_printf(p->arena, "%sTotal + %s * %" PRIu32 " + %" PRIu64, plan->name, element, cell->device_words, cell->device_first),
                         from);
    if (!lane || word) hdst__write_line(&p->out, "%s = 0;", own);
    if (lane && word) hdst__write_line(&p->out, "%s = 0;", low);
}

static void print_merge_private(hdst__printer *p, const hdst__accum_plan *plan)
{
    for (uint32_t l = 0; l < leaf_count(p, plan); l++) {
        const hdst__cell *cell = &plan->accum->cell[l];
        if (cell->private_words == 0 || hdst__placement(p, plan)->leaf[l].way == IR_WAY_PAIR) continue;
        if (hdst__meets_by_halves(p, plan, l)) {
            hdst__print_halves(p, plan, l);
            continue;
        }
        for (uint64_t e = 0; e < cell->elements; e++)
            for (uint32_t w = 0; w < cell->private_words; w++) print_merge_word(p, plan, l, hdst__arena_printf(p->arena, "%" PRIu64, e), w);
    }
}

static void print_local_leaf(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const ir_placement *placement = hdst__placement(p, plan);
    const uint32_t slots = placement->leaf[leaf].slot_words;
    if (slots == 0 || cell->private_words == 0) return;
    // The words of a sum have a lane each: each adds three digits, one behind another.
    const uint32_t words = cell->private_words;
    hdst__write_line(&p->out, "for (ulong n = lane; n < %s * %" PRIu64 "; n += LANES) {", rows_text(p, plan), cell->elements * words);
    p->out.indent++;
    const char *cells = words > 1 ? hdst__arena_printf(p->arena, "n / %" PRIu32, words) : "n";
    hdst__write_line(&p->out, "const ulong row = %s / %" PRIu64 ", e = %s %% %" PRIu64 ";", cells, cell->elements, cells, cell->elements);
    if (words > 1) hdst__write_line(&p->out, "const uint part = n %% %" PRIu32 ";", words);
    const char *from = hdst__arena_printf(p->arena, "take_%s%u(%sLocal + (row * %" PRIu32 " + e * %" PRIu32 " + %" PRIu32 "%s) * COPIES)", op_name[cell->op],
                                          slots * 32, plan->name, placement->slots, slots * words, placement->leaf[leaf].slot,
                                          words > 1 ? hdst__arena_printf(p->arena, " + part * %" PRIu32, slots) : "");
    const char *to = hdst__arena_printf(p->arena, "%sTotal + row * %" PRIu64 " + e * %" PRIu32 " + %" PRIu64, plan->name, plan->accum->device_row_words,
                                        cell->device_words, cell->device_first);
    print_flush_part(p, plan, leaf, words > 1 ? " + (int)part * 40" : "", to, from);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_group_flush(hdst__printer *p)
{
    hdst__print_lane_takes(p);
    hdst__print_pair_takes(p);
    hdst__print_owned_takes(p);
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (hdst__placement(p, &p->plan[a])->place == IR_PLACE_REGISTERS) print_merge_private(p, &p->plan[a]);
        else if (hdst__placement(p, &p->plan[a])->runs) hdst__write_line(&p->out, "%s;", hdst__run_end_text(p, &p->plan[a]));
    if (!p->uses_local) return;
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        if (hdst__placement(p, &p->plan[a])->slots == 0) continue;
        for (uint32_t l = 0; l < leaf_count(p, &p->plan[a]); l++) print_local_leaf(p, &p->plan[a], l);
    }
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

// --- GPU: tables of work-groups in device memory ---

void hdst__print_product_bases(hdst__printer *p)
{
    print_stored_rows(p);
    print_device_bases(p);
    print_private_words(p);
}

void hdst__print_stretch_bases(hdst__printer *p) { print_strip_bases(p, "stretch"); }

void hdst__print_merge_bases(hdst__printer *p)
{
    hdst__print_product_bases(p);
    print_strip_bases(p, "0");
    if (hdst__has_products(p)) hdst__write_line(&p->out, "const ulong tables = %s;", hdst__product_stretches_text(p));
    else if (p->func->tables->shared) hdst__write_line(&p->out, "const ulong tables = %" PRIu32 ";", p->func->tables->shared);
    else hdst__write_line(&p->out, "const ulong tables = min((ulong)get_num_groups(0), (count + SPAN - 1) / SPAN);    // of work-groups that had records");
}

static const char *combined_text(hdst__printer *p, const hdst__cell *cell, int one)
{
    if (cell->op == HDST__WORD_MAX) return hdst__arena_printf(p->arena, "(long)max((ulong)all, (ulong)one%d)", one);
    return hdst__arena_printf(p->arena, "all %s one%d", cell->op == HDST__WORD_ADD ? "+" : cell->op == HDST__WORD_OR ? "|" : "^", one);
}

// Several tables at once: a load that may meet a store before it waits for that one.
static void print_tables_word(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint32_t w)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    hdst__write_line(&p->out, "all = 0;\nfrom = n / cells;");
    hdst__write_line(&p->out, "word = %sOwn + row * %" PRIu64 " + e * %" PRIu32 " + %" PRIu64 ";", plan->name, plan->accum->private_row_words,
                     cell->private_words, cell->private_first + w);
    hdst__write_line(&p->out, "for (; from + %d * parts < tables; from += %d * parts) {", HDST__GPU_MERGED_TABLES - 1, HDST__GPU_MERGED_TABLES);
    p->out.indent++;
    for (int k = 0; k < HDST__GPU_MERGED_TABLES; k++)
        hdst__write_line(&p->out, "const long one%d = word[(from + %d * parts) * private_words];", k, k);
    for (int k = 0; k < HDST__GPU_MERGED_TABLES; k++) hdst__write_line(&p->out, "all = %s;", combined_text(p, cell, k));
    for (int k = 0; k < HDST__GPU_MERGED_TABLES; k++)
        hdst__write_line(&p->out, "if (one%d != 0) word[(from + %d * parts) * private_words] = 0;", k, k);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "for (; from < tables; from += parts) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const long one0 = word[from * private_words];");
    hdst__write_line(&p->out, "all = %s;", combined_text(p, cell, 0));
    hdst__write_line(&p->out, "if (one0 != 0) word[from * private_words] = 0;");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    const char *to = hdst__arena_printf(p->arena, "%sTotal + row * %" PRIu64 " + e * %" PRIu32 " + %" PRIu64, plan->name,
        plan->accum->device_row_words, cell->device_words, cell->device_first);
    print_flush_word(p, plan, leaf, w, to, "all");
}

static void print_tables_leaf(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (cell->private_words == 0) return;
    hdst__write_line(&p->out, "cells = (ulong)%s * %" PRIu64 ";", rows_text(p, plan), cell->elements);
    hdst__write_line(&p->out, "parts = clamp((ulong)get_global_size(0) / cells, 1UL, max(tables, 1UL));");
    hdst__write_line(&p->out, "for (ulong n = get_global_id(0); n < cells * parts; n += get_global_size(0)) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong row = n %% cells / %" PRIu64 ", e = n %% cells %% %" PRIu64 ";", cell->elements, cell->elements);
    hdst__write_line(&p->out, "__global long *word;\nulong from;\nlong all;");
    for (uint32_t w = 0; w < cell->private_words; w++) print_tables_word(p, plan, leaf, w);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_merge(hdst__printer *p)
{
    hdst__write_line(&p->out, "ulong cells, parts;");
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (hdst__placement(p, &p->plan[a])->place == IR_PLACE_GROUP)
            for (uint32_t l = 0; l < leaf_count(p, &p->plan[a]); l++) print_tables_leaf(p, &p->plan[a], l);
}

void hdst__print_finish_bases(hdst__printer *p)
{
    print_stored_rows(p);
    print_totals(p);
}
