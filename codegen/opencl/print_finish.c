// SPDX-License-Identifier: Apache-2.0
// GPU form: the kernel that turns a device table into rows of C structs, so that they need not cross to the host as
// superaccumulators (accum/reduce.c does the same there, and says what each kind of cell holds).
#include "codegen/opencl/print_finish.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_row_out.h"
#include "codegen/opencl/print_tables.h"
#include "accum/value_text.h"

#include <inttypes.h>

// The scale of a leaf's words. Its limits keep what a word holds away from denormals (accum/rounding.cl).
static const char *scale_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const char *type = hdst__sum_type(p, plan->accum->param, leaf);
    return hdst__arena_printf(p->arena, "%s_scale(scales[%" PRId32 "])", type, plan->accum->cell[leaf].scale);
}

static const char *fixed_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (cell->kind == HDST__F64) p->uses_double = true;
    const char *unit = hdst__arena_printf(p->arena, "%s_power(-%s)", cell->kind == HDST__F32 ? "float" : "double", scale_text(p, plan, leaf));
    return hdst__fixed_value_text(p->arena, cell, "*word", unit);
}

// The value's bits from the cell's first word, `word`.
static const char *bits_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (!cell->digits) return hdst__word_value_text(p->arena, cell, "*word");
    return plan->accum->fixed_point ? fixed_text(p, plan, leaf) : hdst__superaccumulator_value_text(p->arena, cell, "word");
}

// A range of rows can be made alone, so that several devices share them (engine/stage/stage_scatter.c).
static bool makes_parts(const hdst__printer *p) { return p->tables->accum_count == 1 && p->tables->accum[0].is_table && !p->tables->accum[0].writes_rows; }

// Each cell has one reader, which may leave it clear for the next run: unless overflow cells are added to it behind that, or lanes beside one another
// would clear words that lie far apart.
static bool can_clear(const hdst__printer *p)
{
    bool near = true;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum *accum = &p->tables->accum[a];
        for (size_t l = 0; l < accum->leaf_count; l++) near &= !accum->is_table || accum->cell[l].device_words == 1;
    }
    return near && !p->func->tables->overflow_words;
}

enum { LEAF_LANES = 32 };            // few sums of several leaves are rounded by as many warps

// `number`: of the leaf among all that the kernel makes.
static void print_leaf(hdst__printer *p, const hdst__accum_plan *plan, uint32_t l, uint32_t number)
{
    const hdst__record *record = p->func->params[plan->accum->param].record;
    const hdst__cell *cell = &plan->accum->cell[l];
    const char *rows = plan->accum->is_table ? hdst__arena_printf(p->arena, "%sRows * ", plan->name) : "";
    hdst__write_line(&p->out, "for (ulong n = (get_global_id(0) + %u) %% get_global_size(0); n < %s%" PRIu64 "; n += get_global_size(0)) {",
                     number * LEAF_LANES, rows, cell->elements);
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong row = n / %" PRIu64 ", e = n %% %" PRIu64 ";", cell->elements, cell->elements);
    hdst__write_line(&p->out, "__global long *word = %sTotal + (row%s) * %" PRIu64 " + e * %" PRIu32 " + %" PRIu64 ";", plan->name,
        makes_parts(p) ? " + first_row" : "", plan->accum->device_row_words, cell->device_words, cell->device_first);
    const char *at = hdst__arena_printf(p->arena, "%sOut + row * %" PRIu64 " + %" PRIu64 "%s", plan->name, record->size, record->leaves[l].offset,
                                        hdst__element_offset(p->arena, &record->leaves[l]));
    hdst__print_put(p, record, &record->leaves[l], at, bits_text(p, plan, l));
    if (can_clear(p)) hdst__write_line(&p->out, "for (uint w = 0; w < %" PRIu32 " && clears; w++) word[w] = 0;", cell->device_words);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_finish(hdst__printer *p)
{
    uint32_t number = 0;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        for (uint32_t l = 0; l < p->func->params[plan->accum->param].record->leaf_count; l++) print_leaf(p, plan, l, number++);
    }
}

// The word at `place` of the device table goes to the overflow cell `cell`, if it is of this leaf, and the sum to its row.
static void print_overflow_leaf(hdst__printer *p, const hdst__accum_plan *plan, uint32_t l)
{
    const hdst__record *record = p->func->params[plan->accum->param].record;
    const hdst__cell *cell = &plan->accum->cell[l];
    const char *kind = cell->kind == HDST__F32 ? "FLOAT" : "DOUBLE";
    if (!cell->digits) return;
    if (kind[0] == 'D') p->uses_double = true;
    hdst__write_line(&p->out, "if (row < %sRows && at_word >= %" PRIu64 " && at_word < %" PRIu64 ") {", plan->name, cell->device_first,
        cell->device_first + cell->elements);
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong e = at_word - %" PRIu64 ";", cell->device_first);
    hdst__write_line(&p->out, "superaccumulator_add_fixed(cell, %s_LAST, %s_LOWEST, device_table[place], %s);", kind, kind, scale_text(p, plan, l));
    const char *at = hdst__arena_printf(p->arena, "%sOut + row * %" PRIu64 " + %" PRIu64 "%s", plan->name, record->size, record->leaves[l].offset,
                                        hdst__element_offset(p->arena, &record->leaves[l]));
    hdst__print_put(p, record, &record->leaves[l], at, hdst__superaccumulator_value_text(p->arena, cell, "cell"));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_overflow(hdst__printer *p)
{
    if (hdst__tables_write_rows(p->tables)) {
        hdst__print_rows_apart(p, &p->plan[0]);
        return;
    }
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        if (!plan->accum->fixed_point) continue;
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        hdst__write_line(&p->out, "const ulong words = (ulong)(%sTotal - device_table);", plan->name);
        hdst__write_line(&p->out, "const ulong row = place < words ? ULONG_MAX : (place - words) / %" PRIu64 "%s;", plan->accum->device_row_words,
                         makes_parts(p) ? " - first_row" : "");
        hdst__write_line(&p->out, "const ulong at_word = (place - words) %% %" PRIu64 ";", plan->accum->device_row_words);
        for (uint32_t l = 0; l < p->func->params[plan->accum->param].record->leaf_count; l++) print_overflow_leaf(p, plan, l);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

// The arguments of this kernel are its own.
static void add_args(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->tables->accum[a].is_table) hdst__kernel_add_arg(p, HDST__ARG_ROWS, p->tables->accum[a].param, "ulong %sRows", p->plan[a].name);
    if (makes_parts(p)) hdst__kernel_add_arg(p, HDST__ARG_FIRST_ROW, 0, "ulong first_row");
    const bool from_table = !hdst__tables_write_rows(p->tables);
    if (from_table && can_clear(p)) hdst__kernel_add_arg(p, HDST__ARG_CLEARS, 0, "ulong clears");
    if (from_table) hdst__kernel_add_arg(p, HDST__ARG_DEVICE_TABLE, 0, "__global long *device_table");
    if (from_table && p->func->tables->overflow_words) hdst__kernel_add_arg(p, HDST__ARG_SCALES, 0, "__global const int *scales");
    if (p->func->tables->overflow_words) hdst__kernel_add_arg(p, HDST__ARG_OVERFLOW, 0, "__global long *overflow");
    for (size_t a = 0; a < p->tables->accum_count; a++) hdst__kernel_add_arg(p, HDST__ARG_FINISHED, (uint32_t)a, "__global uchar *%sOut", p->plan[a].name);
}

void hdst__finish_texts(hdst__printer *p, hdst__kernel *kernel, hdst__filling fillings[HDST__FINISH_FILLINGS])
{
    const hdst__printer outer = *p;
    p->args = NULL;
    p->arg_count = p->arg_capacity = 0;
    p->arg_text = (hdst__writer){.arena = p->arena};
    const bool from_table = !hdst__tables_write_rows(p->tables);
    add_args(p);
    kernel->finish_args = p->args;
    kernel->finish_arg_count = p->arg_count;
    kernel->finish_clears = from_table && can_clear(p);
    fillings[0] = (hdst__filling){"FINISH_ARGS", hdst__writer_text(&p->arg_text)};
    fillings[1] = (hdst__filling){"FINISH_SETUP", from_table ? hdst__print_section(p, hdst__print_finish_bases) : ""};
    fillings[3] = (hdst__filling){"FINISH", from_table ? hdst__print_section(p, print_finish) : ""};
    fillings[2] = (hdst__filling){"OVERFLOW", hdst__print_section(p, print_overflow)};
    p->args = outer.args;
    p->arg_count = outer.arg_count;
    p->arg_capacity = outer.arg_capacity;
    p->arg_text = outer.arg_text;
}
