// SPDX-License-Identifier: Apache-2.0
// Additions to accumulators (accum/tables.h): into private variables, a strip's table, interleaved local tables, or the
// device table. Where they are is their placement (codegen/ir/placement.h).
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_row_out.h"
#include "codegen/opencl/print_run_totals.h"
#include "codegen/opencl/print_runs.h"
#include "codegen/pass/arranged_rows.h"

#include <inttypes.h>

// --- Addends ---

// A plain cell's addend as a 64-bit word (scalar form; the block form has it in the IR).
const char *hdst__cell_word_text(hdst__printer *p, const hdst__cell *cell, const ir_expr *value)
{
    if (cell->op == HDST__WORD_MAX) return hdst__key_text(p, cell->acc, value->kind, hdst__expr_text(p, value, HDST__WHOLE));
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
    const ir_expr *row = place == IR_PLACE_REGISTERS || hdst__placement(p, plan)->runs ? NULL : stmt->index;
    const bool in_turn = place == IR_PLACE_STRIP && p->func->tables->turns > 1;
    return hdst__arena_printf(p->arena, "%s%s[%s]", plan->name, in_turn ? "Turn" : "Own",
                              offset_text(p, "ulong", row, plan->accum->private_row_words, cell->private_first + word, stmt->index2, cell->private_words));
}

// In local memory: the first slot of a cell's word, as a pointer to 32-bit words; copies lie side by side.
static const char *slot_place(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    const hdst__cell *cell = &plan->accum->cell[stmt->leaf];
    const ir_placement *placement = hdst__placement(p, plan);
    const ir_leaf_placement *leaf = &placement->leaf[stmt->leaf];
    const char *slot = offset_text(p, "uint", stmt->index, placement->slots, leaf->slot + word * leaf->slot_words,
        stmt->index2, (uint64_t)leaf->slot_words * cell->private_words);
    return hdst__arena_printf(p->arena, "%sLocal + (%s) * COPIES + copy", plan->name, slot);
}

// --- Statements ---

void hdst__print_word_into(hdst__printer *p, const hdst__cell *cell, const char *place, const char *value)
{
    if (cell->op == HDST__WORD_MAX) hdst__write_line(&p->out, "%s = (long)max((ulong)%s, (ulong)(%s));", place, place, value);
    else hdst__write_line(&p->out, "%s %s= %s;", place, cell->op == HDST__WORD_ADD ? "+" : cell->op == HDST__WORD_OR ? "|" : "^", value);
}

// Where the words of an accumulator are while a strip or work-group runs: an lvalue, or the place that `function` takes.
typedef struct word_target {
    const char *place;
    const char *function;       // adds to a word which others add to as well; NULL: nobody does
} word_target;

typedef word_target find_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word);

static const char *const device_function[] = {"device_add", "device_max", "device_or", "device_xor"};

static hdst__word_op op_of(const hdst__accum_plan *plan, const ir_stmt *stmt) { return plan->accum->cell[stmt->leaf].op; }

static word_target own_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    return (word_target){word_place(p, plan, stmt, word), NULL};
}

// Another row than the last record's: that one's run has ended.
static word_target run_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    const char *row = hdst__expr_text(p, stmt->index, HDST__PRIMARY);
    hdst__write_line(&p->out, "if (%sRun != %s) {", plan->name, row);
    hdst__write_line(&p->out, "    %s;", hdst__run_end_text(p, plan));
    hdst__write_line(&p->out, "    %sRun = %s;", plan->name, row);
    hdst__write_line(&p->out, "}");
    if (!plan->accum->writes_rows) return (word_target){word_place(p, plan, stmt, word), NULL};
    const uint64_t at = hdst__row_word(plan->accum, stmt) + word - stmt->word;
    return (word_target){hdst__arena_printf(p->arena, "%sOwn + %" PRIu64, plan->name, 2 * at), "row_add"};
}

static word_target group_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    const char *place = word_place(p, plan, stmt, word);
    if (p->func->together && !p->func->tables->shared) return (word_target){place, NULL};
    return (word_target){hdst__arena_printf(p->arena, "&%s", place), device_function[op_of(plan, stmt)]};
}

static word_target device_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    (void)word;
    return (word_target){hdst__device_place(p, stmt), device_function[op_of(plan, stmt)]};
}

static word_target local_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    static const char *const function[][4] = {[1] = {"local_add32", "local_max32", "local_or32", "local_xor32"},
        [2] = {"local_add64", "local_max64", "local_or64", "local_xor64"}};
    const uint32_t slot_words = hdst__placement(p, plan)->leaf[stmt->leaf].slot_words;
    if (slot_words == 0) return device_word(p, plan, stmt, word);
    p->uses_local = true;
    return (word_target){slot_place(p, plan, stmt, word), function[slot_words][op_of(plan, stmt)]};
}

static word_target fixed_point_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, uint32_t word)
{
    return (hdst__placement(p, plan)->runs ? run_word : device_word)(p, plan, stmt, word);
}

static find_word *const word_at[IR_PLACES] = {
    [IR_PLACE_GLOBAL] = device_word, [IR_PLACE_FIXED_POINT] = fixed_point_word, [IR_PLACE_REGISTERS] = own_word,
    [IR_PLACE_RUN] = run_word, [IR_PLACE_STRIP] = own_word, [IR_PLACE_LOCAL] = local_word, [IR_PLACE_GROUP] = group_word,
};

void hdst__print_add_word(hdst__printer *p, const ir_stmt *stmt, uint32_t word, const char *value)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    const word_target to = stmt->home ? (word_target){p->form->home(p, stmt, word), NULL}
                                      : word_at[hdst__placement(p, plan)->place](p, plan, stmt, word);
    if (to.function) hdst__write_line(&p->out, "%s(%s, %s);", to.function, to.place, value);
    else hdst__print_word_into(p, &plan->accum->cell[stmt->leaf], to.place, value);
}

static bool has_low_word(const hdst__cell *cell) { return cell->kind == HDST__F32 && cell->precision == HDST__CLASS_ONE_WORD; }

// To the first-level word and its low word, or to the cell at `place`.
static void print_first_level_exception(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, const char *place, const char *addend)
{
    const hdst__cell *cell = &plan->accum->cell[stmt->leaf];
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf);
    const char *word = offset_text(p, "ulong", stmt->index, plan->accum->private_row_words, cell->private_first, stmt->index2, cell->private_words);
    hdst__write_line(&p->out,
        "first_level_exception_float(marks, cells_at, %s, %sFirstLevel + %s, private_words, %s, %sUp, %sDown, %sScale);", place,
        plan->name, word, addend, scale, scale, scale);
}

static void print_wide(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt, const char *addend)
{
    const bool is_float = plan->accum->cell[stmt->leaf].kind == HDST__F32;
    if (!is_float) p->uses_double = true;
    if (plan->accum->writes_rows) {
        hdst__write_line(&p->out, "superaccumulator_add_%s(%s, %s);", is_float ? "float" : "double", hdst__overflow_cell_text(p, stmt), addend);
        hdst__write_line(&p->out, "run_apart = true;");
        return;
    }
    const char *place = hdst__device_place(p, stmt);
    if (p->func->tables->first_level && has_low_word(&plan->accum->cell[stmt->leaf])) {
        print_first_level_exception(p, plan, stmt, place, addend);
        return;
    }
    if (p->func->tables->first_level) place = hdst__arena_printf(p->arena,
        "marked(marks, cells_at, %s, %" PRIu32 ")", place, plan->accum->cell[stmt->leaf].device_words);
    hdst__write_line(&p->out, "superaccumulator_add_%s(%s, %s);", is_float ? "float" : "double", place, addend);
}

// Of a sum in one word.
static void print_call(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt)
{
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf), *value = hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value);
    hdst__write_line(&p->out, "add_singly_float(&%s, %s, %s, %sUp, %sDown);", word_place(p, plan, stmt, 0), hdst__device_place(p, stmt), value, scale, scale);
}

static void print_tested(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt)
{
    const char *value = hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value), *type = hdst__sum_type(p, stmt->param, stmt->leaf);
    const bool two = plan->accum->cell[stmt->leaf].precision == HDST__CLASS_TWO_WORDS;
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "const %s addend = %s;", type, value);
    hdst__write_line(&p->out, "if (%s) {", hdst__fixed_text(p, "fits", stmt->param, stmt->leaf, "addend"));
    p->out.indent++;
    const char *scaled = hdst__arena_printf(p->arena, "addend * %sUp", hdst__scale_name(p, stmt->param, stmt->leaf));
    hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "(long)(%s)", scaled));
    if (two) hdst__print_add_word(p, stmt, 1, hdst__arena_printf(p->arena, "(long)rest_%sof_%s(%s)", plan->accum->writes_rows ? "row_" : "", type, scaled));
    p->out.indent--;
    hdst__write_line(&p->out, "} else {");
    p->out.indent++;
    print_wide(p, plan, stmt, "addend");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_word(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt)
{
    hdst__print_add_word(p, stmt, 0, hdst__cell_word_text(p, &plan->accum->cell[stmt->leaf], stmt->value));
}

static void print_superaccumulator_value(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt)
{
    print_wide(p, plan, stmt, hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
}

// Additions by themselves. Those that share a test are print_accum_run.c's.
static void (*const print_way[IR_WAYS])(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *stmt) = {
    [IR_WAY_WORD] = print_word, [IR_WAY_SUPERACCUMULATOR] = print_superaccumulator_value, [IR_WAY_TESTED] = print_tested, [IR_WAY_CALLED] = print_call,
    [IR_WAY_JOINT] = print_tested, [IR_WAY_LEVELS] = print_tested, [IR_WAY_PAIR] = print_tested,
};

void hdst__print_accum(hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    print_way[hdst__placement(p, plan)->leaf[stmt->leaf].way](p, plan, stmt);
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
    return cell->private_first + (stmt->index2 ? stmt->index2->bits : 0) * cell->private_words + stmt->word;
}

// How many statements from the first one on add to different words of one row.
static size_t run_length(const hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmts[0]->param);
    const uint64_t words = plan->accum->private_row_words;
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
    const unsigned words = (unsigned)plan->accum->private_row_words;
    const char *value[8] = {"0", "0", "0", "0", "0", "0", "0", "0"};
    for (size_t i = 0; i < count; i++)
        value[word_in_row(&plan->accum->cell[stmts[i]->leaf], stmts[i])] = hdst__expr_text(p, stmts[i]->value, HDST__WHOLE);
    const char *vector = "";
    for (unsigned w = 0; w < words; w++) vector = hdst__arena_printf(p->arena, "%s%s%s", vector, w ? ", " : "", value[w]);
    hdst__write_line(&p->out, "{");
    hdst__write_line(&p->out, "    __global long *row = %sOwn + %s;", plan->name, offset_text(p, "ulong", stmts[0]->index, words, 0, NULL, 0));
    hdst__write_line(&p->out, "    vstore%u(vload%u(0, row) + (long%u)(%s), 0, row);", words, words, words, vector);
    hdst__write_line(&p->out, "}");
}

void hdst__print_accum_words(hdst__printer *p, const ir_stmt *stmt)
{
    if (p->run_totals) {
        hdst__print_run_total(p, stmt);
        return;
    }
    hdst__print_add_word(p, stmt, stmt->word, hdst__expr_text(p, stmt->value, HDST__WHOLE));
}

size_t hdst__print_accum_row(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const size_t run = run_length(p, stmts, count);
    if (run <= 1) return 0;
    print_row_add(p, stmts, run);
    return run;
}
