// SPDX-License-Identifier: Apache-2.0
// Additions to accumulators (accum/tables.h): into private variables, a strip's table, interleaved local tables, or the device table.
#include "codegen/opencl/printer.h"

#include <inttypes.h>

const hdst__accum_plan *hdst__find_plan(const hdst__printer *p, uint32_t param)
{
    size_t a = 0;
    while (p->plan[a].accum->param != param) a++;       // the verifier saw to it that the parameter is an accumulator
    return &p->plan[a];
}

const ir_placement *hdst__placement(const hdst__printer *p, const hdst__accum_plan *plan) { return p->func->params[plan->accum->param].placement; }

const ir_leaf_placement *hdst__leaf_placement(const hdst__printer *p, uint32_t param, uint32_t leaf) { return &p->func->params[param].placement->leaf[leaf]; }

bool hdst__sums_are_fast(const hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (size_t l = 0; l < p->tables->accum[a].leaf_count; l++)
            if (hdst__placement(p, &p->plan[a])->leaf[l].fast) return true;
    return false;
}

const hdst__cell *hdst__find_cell(const hdst__printer *p, uint32_t param, uint32_t leaf)
{
    return &hdst__find_plan(p, param)->accum->cell[leaf];
}

// --- Addends ---

bool hdst__sums_floats(const hdst__printer *p, uint32_t param, uint32_t leaf)
{
    const ir_param *accum = &p->func->params[param];
    return accum->record->leaves[leaf].kind == HDST__F32 || (accum->leaf_from_float && accum->leaf_from_float[leaf]);
}

const char *hdst__scale_name(hdst__printer *p, uint32_t param, uint32_t leaf)
{
    return hdst__leaf_name(p, param, leaf);
}

static const char *sum_type(const hdst__printer *p, uint32_t param, uint32_t leaf)
{
    return hdst__sums_floats(p, param, leaf) ? "float" : "double";
}

const char *hdst__addend_text(hdst__printer *p, uint32_t param, uint32_t leaf, const ir_expr *value)
{
    if (!hdst__sums_floats(p, param, leaf) || value->kind == HDST__F32) return hdst__expr_text(p, value, HDST__WHOLE);
    if (value->op == IR_CONVERT && value->a->kind == HDST__F32) return hdst__expr_text(p, value->a, HDST__WHOLE);
    return hdst__arena_printf(p->arena, "(float)(%s)", hdst__expr_text(p, value, HDST__WHOLE));      // it is a float's value, so nothing is lost
}

const char *hdst__fixed_text(hdst__printer *p, const char *function, uint32_t param, uint32_t leaf, const char *addend)
{
    const char *scale = hdst__scale_name(p, param, leaf), *type = sum_type(p, param, leaf);
    if (type[0] == 'd') p->uses_double = true;
    const char *words = hdst__find_cell(p, param, leaf)->tier == HDST__TIER_TWO ? "_two" : "";
    return hdst__arena_printf(p->arena, "%s%s_%s(%s, %sUp, %sDown)", function, words, type, addend, scale, scale);
}

const char *hdst__key_text(hdst__printer *p, hdst__accumulate_op acc, const ir_expr *value)
{
    if (value->kind == HDST__F64) p->uses_double = true;
    return hdst__arena_printf(p->arena, "%s_key_%s(%s)", acc == HDST__MIN ? "min" : "max", hdst__cl_name(value->kind), hdst__expr_text(p, value, HDST__WHOLE));
}

// A plain cell's addend as a 64-bit word (scalar form; the block form has it in the IR).
const char *hdst__cell_word_text(hdst__printer *p, const hdst__cell *cell, const ir_expr *value)
{
    if (cell->op == HDST__WORD_MAX) return hdst__key_text(p, cell->acc, value);
    return hdst__arena_printf(p->arena, cell->acc == HDST__AND ? "~(long)%s" : "(long)%s", hdst__expr_text(p, value, HDST__PRIMARY));
}

// --- Places ---

static const char *times(hdst__arena *arena, const char *index, uint64_t words)
{
    return words == 1 ? index : hdst__arena_printf(arena, "%s * %" PRIu64, index, words);
}

// "row * 21 + 10" for the first word of a cell, from its row and element, in numbers of `type`; constants are added up.
static const char *offset_text(hdst__printer *p, const char *type, const ir_expr *row, uint64_t row_words,
    uint64_t first, const ir_expr *element, uint64_t words)
{
    const char *text = "";
    if (row && !(row->op == IR_CONST && row->bits == 0))
        text = hdst__arena_printf(p->arena, "%s + ", times(p->arena, hdst__arena_printf(p->arena, "(%s)(%s)", type,
            hdst__expr_text(p, row, HDST__WHOLE)), row_words));
    if (element && element->op == IR_CONST)
        first += element->bits * words;
    else if (element)
        text = hdst__arena_printf(p->arena, "%s%s + ", text, times(p->arena, hdst__arena_printf(p->arena, "(%s)(%s)",
            type, hdst__expr_text(p, element, HDST__WHOLE)), words));
    return hdst__arena_printf(p->arena, "%s%" PRIu64, text, first);
}

const char *hdst__device_place(hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    const hdst__cell *cell = &plan->accum->cell[stmt->leaf];
    return hdst__arena_printf(p->arena, "%sTotal + %s", plan->name,
                              offset_text(p, "ulong", stmt->index, plan->accum->device_row_words, cell->device_first, stmt->index2, cell->device_words));
}

// An lvalue; in registers, a strip's table or a work-group's.
static const char *word_place(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    const hdst__cell *cell = &plan->accum->cell[stmt->leaf];
    const ir_place place = hdst__placement(p, plan)->place;
    const ir_expr *row = place == IR_PLACE_REGISTERS ? NULL : stmt->index;
    const bool in_turn = place == IR_PLACE_STRIP && p->func->tables->turns > 1;
    return hdst__arena_printf(p->arena, "%s%s[%s]", plan->name, in_turn ? "Turn" : "Own",
                              offset_text(p, "ulong", row, plan->accum->strip_row_words, cell->strip_first + word, stmt->index2, cell->strip_words));
}

// In local memory: the first slot of a cell's word, as a pointer to 32-bit words; copies lie side by side.
static const char *slot_place(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    const hdst__cell *cell = &plan->accum->cell[stmt->leaf];
    const ir_placement *placement = hdst__placement(p, plan);
    const ir_leaf_placement *leaf = &placement->leaf[stmt->leaf];
    const char *slot = offset_text(p, "uint", stmt->index, placement->slots, leaf->slot + word * leaf->slot_words,
        stmt->index2, (uint64_t)leaf->slot_words * cell->strip_words);
    return hdst__arena_printf(p->arena, "%sLocal + (%s) * COPIES + copy", plan->name, slot);
}

// --- Statements ---

void hdst__print_word_into(hdst__printer *p, const hdst__cell *cell, const char *place, const char *value)
{
    if (cell->op == HDST__WORD_MAX) hdst__write_line(&p->out, "%s = (long)max((ulong)%s, (ulong)(%s));", place, place, value);
    else hdst__write_line(&p->out, "%s %s= %s;", place, cell->op == HDST__WORD_ADD ? "+" : cell->op == HDST__WORD_OR ? "|" : "^", value);
}

// The function that adds to a word which others add to as well; NULL: nobody does. *place: the word, as it takes it.
static const char *atomic_function(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word, const char **place)
{
    static const char *const device[] = {"device_add", "device_max", "device_or", "device_xor"};
    static const char *const local[][4] = {[1] = {"local_add32", "local_max32", "local_or32", "local_xor32"},
        [2] = {"local_add64", "local_max64", "local_or64", "local_xor64"}};
    const ir_placement *placement = hdst__placement(p, plan);
    const hdst__word_op op = plan->accum->cell[stmt->leaf].op;
    const uint32_t slot_words = placement->leaf[stmt->leaf].slot_words;
    switch (placement->place) {
    case IR_PLACE_REGISTERS: case IR_PLACE_STRIP: case IR_PLACES: return NULL;
    case IR_PLACE_GROUP:
        if (p->func->together && !p->func->tables->shared) return NULL;
        *place = hdst__arena_printf(p->arena, "&%s", word_place(p, plan, stmt, word));
        return device[op];
    case IR_PLACE_LOCAL:
        if (slot_words == 0) break;
        p->uses_local = true;
        *place = slot_place(p, plan, stmt, word);
        return local[slot_words][op];
    case IR_PLACE_GLOBAL: case IR_PLACE_FIXED_POINT: break;
    }
    *place = hdst__device_place(p, stmt);
    return device[op];
}

void hdst__print_add_word(hdst__printer *p, const ir_stmt *stmt, uint32_t word, const char *value)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    const hdst__cell *cell = &plan->accum->cell[stmt->leaf];
    const char *place = stmt->home ? hdst__spread_home(p, stmt, word) : NULL;
    const char *function = place ? NULL : atomic_function(p, plan, stmt, word, &place);
    if (function) hdst__write_line(&p->out, "%s(%s, %s);", function, place, value);
    else hdst__print_word_into(p, cell, place ? place : word_place(p, plan, stmt, word), value);
}

static bool has_low_word(const hdst__cell *cell) { return cell->kind == HDST__F32 && cell->tier == HDST__TIER_ONE; }

// To the front word and its low word, or to the cell at `place`.
static void print_front_settle(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, const char *place, const char *addend)
{
    const hdst__cell *cell = &plan->accum->cell[stmt->leaf];
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf);
    const char *word = offset_text(p, "ulong", stmt->index, plan->accum->strip_row_words, cell->strip_first, stmt->index2, cell->strip_words);
    hdst__write_line(&p->out,
        "front_settle_float(marks, cells_at, %s, %sFront + %s, strip_words, %s, %sUp, %sDown, %sScale);", place,
        plan->name, word, addend, scale, scale, scale);
}

static void print_wide(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, const char *addend)
{
    const bool is_float = plan->accum->cell[stmt->leaf].kind == HDST__F32;
    if (!is_float) p->uses_double = true;
    const char *place = hdst__device_place(p, stmt);
    if (p->func->tables->first_level && has_low_word(&plan->accum->cell[stmt->leaf])) {
        print_front_settle(p, plan, stmt, place, addend);
        return;
    }
    if (p->func->tables->first_level) place = hdst__arena_printf(p->arena,
        "marked(marks, cells_at, %s, %" PRIu32 ")", place, plan->accum->cell[stmt->leaf].device_words);
    hdst__write_line(&p->out, "wide_add_%s(%s, %s);", is_float ? "float" : "double", place, addend);
}

// Of a sum in one word.
static void print_call(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt)
{
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf), *value = hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value);
    hdst__write_line(&p->out, "add_singly_float(&%s, %s, %s, %sUp, %sDown);", word_place(p, plan, stmt, 0), hdst__device_place(p, stmt), value, scale, scale);
}

static void print_tested(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt)
{
    const char *value = hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value);
    const bool two = plan->accum->cell[stmt->leaf].tier == HDST__TIER_TWO;
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "const %s addend = %s;", sum_type(p, stmt->param, stmt->leaf), value);
    hdst__write_line(&p->out, "if (%s) {", hdst__fixed_text(p, "fits", stmt->param, stmt->leaf, "addend"));
    p->out.indent++;
    const char *scaled = hdst__arena_printf(p->arena, "addend * %sUp", hdst__scale_name(p, stmt->param, stmt->leaf));
    hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "(long)(%s)", scaled));
    if (two) hdst__print_add_word(p, stmt, 1, hdst__arena_printf(p->arena, "(long)rest_of_%s(%s)", sum_type(p, stmt->param, stmt->leaf), scaled));
    p->out.indent--;
    hdst__write_line(&p->out, "} else {");
    p->out.indent++;
    print_wide(p, plan, stmt, "addend");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_accum(hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    switch (hdst__placement(p, plan)->leaf[stmt->leaf].way) {
    case IR_WAY_WORD: hdst__print_add_word(p, stmt, 0, hdst__cell_word_text(p, &plan->accum->cell[stmt->leaf], stmt->value)); break;
    case IR_WAY_WIDE: print_wide(p, plan, stmt, hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value)); break;
    case IR_WAY_CALLED: print_call(p, plan, stmt); break;
    // print_accum_run.c has what stands together
    case IR_WAY_TESTED: case IR_WAY_JOINT: case IR_WAY_LEVELS: case IR_WAY_PAIR: case IR_WAYS: print_tested(p, plan, stmt); break;
    }
}

void hdst__print_accum_wide(hdst__printer *p, const ir_stmt *stmt)
{
    print_wide(p, hdst__find_plan(p, stmt->param), stmt, hdst__expr_text(p, stmt->value, HDST__WHOLE));
}

// --- Block form: words ---

// The word within its row, or UINT64_MAX when the element is not constant.
static uint64_t word_in_row(const hdst__cell *cell, const ir_stmt *stmt)
{
    if (stmt->index2 && stmt->index2->op != IR_CONST) return UINT64_MAX;
    return cell->strip_first + (stmt->index2 ? stmt->index2->bits : 0) * cell->strip_words + stmt->word;
}

// How many statements from the first one on add to different words of one row.
static size_t run_length(const hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmts[0]->param);
    const uint64_t words = plan->accum->strip_row_words;
    if (hdst__placement(p, plan)->place != IR_PLACE_STRIP || (words != 4 && words != 8)) return 1;
    size_t n = 0;
    uint64_t last = 0;
    for (; n < count && stmts[n]->kind == IR_ACCUM_WORDS && stmts[n]->param == stmts[0]->param; n++) {
        const hdst__cell *cell = &plan->accum->cell[stmts[n]->leaf];
        const uint64_t word = word_in_row(cell, stmts[n]);
        if (cell->op != HDST__WORD_ADD || word == UINT64_MAX || (n && word <= last)) break;
        if (n && !(stmts[n]->index && stmts[0]->index && hdst__ir_expr_equal(stmts[n]->index, stmts[0]->index))) break;
        last = word;
    }
    return n ? n : 1;
}

// One vector addition to the whole row.
static void print_row_add(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmts[0]->param);
    const unsigned words = (unsigned)plan->accum->strip_row_words;
    const char *value[8] = {"0", "0", "0", "0", "0", "0", "0", "0"};
    for (size_t i = 0; i < count; i++) value[word_in_row(&plan->accum->cell[stmts[i]->leaf], stmts[i])] = hdst__expr_text(p, stmts[i]->value, HDST__WHOLE);
    const char *vector = "";
    for (unsigned w = 0; w < words; w++) vector = hdst__arena_printf(p->arena, "%s%s%s", vector, w ? ", " : "", value[w]);
    hdst__write_line(&p->out, "{");
    hdst__write_line(&p->out, "    __global long *row = %sOwn + %s;", plan->name, offset_text(p, "ulong", stmts[0]->index, words, 0, NULL, 0));
    hdst__write_line(&p->out, "    vstore%u(vload%u(0, row) + (long%u)(%s), 0, row);", words, words, words, vector);
    hdst__write_line(&p->out, "}");
}

size_t hdst__print_accum_words(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const size_t run = run_length(p, stmts, count);
    if (run > 1) {
        print_row_add(p, stmts, run);
        return run;
    }
    hdst__print_add_word(p, stmts[0], stmts[0]->word, hdst__expr_text(p, stmts[0]->value, HDST__WHOLE));
    return 1;
}
