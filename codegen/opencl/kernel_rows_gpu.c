// SPDX-License-Identifier: Apache-2.0
// The form for GPUs of additions to the rows of arranged records (ir_placement.writes_rows): tiles of records in local memory, in place of a lane for each.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_finish.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_row_out.h"
#include "codegen/opencl/print_runs.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/opencl/print_text_copies.h"
#include "codegen/opencl/print_words.h"
#include "codegen/opencl/private_memory.h"
#include "codegen/pass/arranged_rows.h"
#include "codegen/pass/gpu_form.h"
#include "codegen/ir/accum_tables.h"

#include <inttypes.h>

// Of a row, without what pads it.
static uint64_t words_of(const hdst__accum *accum)
{
    uint64_t words = 0;
    for (size_t l = 0; l < accum->leaf_count; l++) words += accum->cell[l].elements * accum->cell[l].private_words;
    return words;
}

// --- A record's words ---

static const char *word_at(hdst__printer *p, uint64_t word) { return hdst__arena_printf(p->arena, "tile_words[%" PRIu64 " * TILE_ROOM + AT(slot)]", word); }

static void print_sum(hdst__printer *p, const hdst__accum_plan *plan, const ir_stmt *s, uint64_t word)
{
    const hdst__cell *cell = &plan->accum->cell[s->leaf];
    const char *type = hdst__sum_type(p, s->param, s->leaf), *scale = hdst__scale_name(p, s->param, s->leaf);
    hdst__write_line(&p->out, "const %s addend = %s;", type, hdst__addend_text(p, s->param, s->leaf, s->value));
    hdst__write_line(&p->out, "const bool fits = %s;", hdst__fixed_text(p, "fits", s->param, s->leaf, "addend"));
    hdst__write_line(&p->out, "%s = fits ? (long)(addend * %sUp) : 0;", word_at(p, word), scale);
    if (cell->private_words == 2)
        hdst__write_line(&p->out, "%s = fits ? (long)rest_row_of_%s(addend * %sUp) : 0;", word_at(p, word + 1), type, scale);
    if (p->form->failed) {
        hdst__write_line(&p->out, "again |= !fits;");
        return;
    }
    hdst__write_line(&p->out, "if (!fits) {");
    hdst__write_line(&p->out, "    superaccumulator_add_%s(%s, addend);", cell->kind == HDST__F32 ? "float" : "double", hdst__overflow_cell_text(p, s));
    hdst__write_line(&p->out, "    tile_apart = 1;");
    hdst__write_line(&p->out, "}");
}

static size_t print_addition(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    (void)count;
    const ir_stmt *s = stmts[0];
    const hdst__accum_plan *plan = hdst__find_plan(p, s->param);
    const hdst__cell *cell = &plan->accum->cell[s->leaf];
    const uint64_t word = hdst__row_word(plan->accum, s);
    hdst__write_line(&p->out, "if (slot == 0) tile_first = %s;", hdst__expr_text(p, s->index, HDST__WHOLE));
    hdst__write_line(&p->out, "if (i + 1 == stop) tile_last = %s;", hdst__expr_text(p, s->index, HDST__WHOLE));
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    if (cell->digits) print_sum(p, plan, s, word);
    else hdst__write_line(&p->out, "%s = %s;", word_at(p, word), hdst__cell_word_text(p, cell, s->value));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    return 1;
}

static const char *read_of_lane(hdst__printer *p, const ir_expr *e) { return e->op == IR_FIELD ? hdst__word_text(p, e) : NULL; }

static void print_again(hdst__printer *p) { hdst__write_line(&p->out, "again |= failed != 0;"); }

// Of a whole tile a lane's records go side by side, so that what they read is under way together; what one of them needs beside is left to a second look
// at all of them.
static const hdst__form rows_form = {.read = read_of_lane, .run = {[IR_ACCUM] = print_addition}, .begin_record = hdst__print_words},
    whole_form = {.read = read_of_lane, .run = {[IR_ACCUM] = print_addition}, .begin_record = hdst__print_words, .failed = print_again};

// --- Sections ---

static void print_own_scope(hdst__printer *p)
{
    hdst__print_file_scope(p);
    hdst__print_run_ends(p);
}

static void print_setup(hdst__printer *p)
{
    hdst__print_input_bases(p);
    hdst__print_scales(p);
    hdst__write_line(&p->out, "__global const ulong *run_starts = (__global const ulong *)%sAt;", p->param_name[hdst__placement(p, &p->plan[0])->starts]);
}

static void print_record(hdst__printer *p) { hdst__print_function(p); }

static const char *whole_text(hdst__printer *p)
{
    p->form = &whole_form;
    const char *text = hdst__print_section(p, print_record);
    p->form = &rows_form;
    return text;
}

// Of row `row` the tile has the records in [low, high).
static void print_row(hdst__printer *p)
{
    const hdst__accum_plan *plan = &p->plan[0];
    const uint64_t words = words_of(plan->accum);
    const char *halves = "", *come = "";
    for (uint64_t w = 0; w < words; w++) {
        come = hdst__arena_printf(p->arena, "%s%sTOTAL(%" PRIu64 ", high - 1) - (low ? TOTAL(%" PRIu64 ", low - 1) : 0)", come, w ? ", " : "", w, w);
        halves = hdst__arena_printf(p->arena, "%s%scome[%" PRIu64 "], come[%" PRIu64 "] >> 63", halves, w ? ", " : "", w, w);
    }
    hdst__write_line(&p->out, "const long come[ROW_WORDS] = {%s};", come);
    hdst__write_line(&p->out, "const ulong %sRun = row;", plan->name);
    hdst__write_line(&p->out, "if (begin >= tile_begin && end <= tile_end && !tile_apart) {");
    hdst__write_line(&p->out, "    %s;", hdst__run_whole_text(p, plan));
    hdst__write_line(&p->out, "} else {");
    hdst__write_line(&p->out, "    long %sOwn[2 * ROW_WORDS] = {%s};", plan->name, halves);
    hdst__write_line(&p->out, "    %s;", hdst__run_end_text(p, plan));
    hdst__write_line(&p->out, "}");
}

// --- The form ---

enum { OWN_FILLINGS = 9, GROUP = 256, MOST_WORDS = 6, TILE_WORDS = 2048, LEAST_LOCAL_BYTES = 40 << 10 };

static int tile_records(uint64_t words) { return words > 4 ? GROUP : words > 2 ? TILE_WORDS / 4 : (int)(TILE_WORDS / words); }

static bool suits(const ir_func *func, const hdst__tables *tables, const hdst__kernel_options *options)
{
    if (!options->writes_rows || !options->facts.has_double || !func->params[0].starts || func->emits || tables->accum_count != 1) return false;
    if (!options->facts.has_int64_atomics || (options->facts.max_group && options->facts.max_group < GROUP)) return false;
    const hdst__accum *accum = &tables->accum[0];
    if (hdst__accum_has_superaccumulators(accum)) return false;
    return accum->is_table && words_of(accum) <= MOST_WORDS && options->facts.local_bytes >= LEAST_LOCAL_BYTES && hdst__each_adds_to_its_row(func, accum);
}

static void place(ir_func *func, hdst__tables *tables, const hdst__gpu_forms *forms, uint32_t starts)
{
    hdst__accum *accum = (hdst__accum *)&tables->accum[0];
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_BROADCAST_TABLE && func->params[i].placement) func->params[i].placement->place = IR_PLACE_GLOBAL;
    ir_placement *to = forms->single->params[accum->param].placement;
    *to = (ir_placement){.place = IR_PLACE_RUN, .runs = true, .starts = starts, .writes_rows = true, .leaf = to->leaf};
    *func->tables = (ir_tables){.copies = 1, .overflow_words = hdst__accum_overflow_words(accum)};
    hdst__accum_make_fixed_point(accum);
    accum->writes_rows = true;
}

static bool needs_more(const ir_func *func, const hdst__gpu_forms *forms) { return func->shape->span || forms->loops || forms->count; }

const hdst__kernel *hdst__kernel_make_rows_gpu(hdst__arena *arena, const ir_func *scalar, const hdst__kernel_options *options, hdst__diags *diags)
{
    ir_func *func = hdst__ir_copy_func(arena, scalar);
    const hdst__tables *tables = hdst__ir_accum_tables(arena, func, options->classes);
    if (!suits(func, tables, options)) return NULL;
    const hdst__gpu_limits limits = {.place = {.local_bytes = options->facts.local_bytes, .rows = options->rows}, .asked = {.group = GROUP, .records = 1},
                                     .most_group = options->facts.max_group, .no_unroll_hints = options->facts.portable};
    hdst__gpu_forms forms;
    if (hdst__passes_gpu(func, tables, &limits, &forms) || needs_more(func, &forms)) return NULL;
    place(func, forms.tables, &forms, scalar->params[0].starts);
    const uint64_t words = words_of(&forms.tables->accum[0]);
    hdst__printer *p = hdst__printer_create(arena, func, options, forms.tables, &rows_form);
    hdst__text_copies_begin(p, scalar);
    hdst__plan_words(p);
    hdst__kernel_add_common_args(p);
    hdst__printer_use(p, forms.single);
    const char *setup = hdst__print_section(p, print_setup), *record = hdst__print_section(p, print_record), *row = hdst__print_section(p, print_row);
    hdst__filling fillings[OWN_FILLINGS + HDST__FINISH_FILLINGS] = {
        {"TITLE", func->name}, {"GROUP_SIZE", hdst__arena_printf(arena, "%d", GROUP)},
        {"TILE_SIZE", hdst__arena_printf(arena, "%d", tile_records(words))},
        {"WORDS_OF_ROW", hdst__arena_printf(arena, "%" PRIu64, words)},
        {"SETUP", setup}, {"RECORD", record}, {"WHOLE", whole_text(p)}, {"ROW", row}, {"FILE_SCOPE", hdst__print_section(p, print_own_scope)},
    };
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){.func = func, .local_size = GROUP, .shape = *func->shape, .private_bytes = hdst__private_bytes(p, forms.single),
                             .overflow_cell_words = func->tables->overflow_words, .rows_tile = (uint32_t)tile_records(words)};
    kernel->why = hdst__arena_printf(arena, "form: tiles of records, whose rows end in local memory\n%s", hdst__tables_why(p));
    hdst__finish_texts(p, kernel, fillings + OWN_FILLINGS);
    hdst__kernel_finish(p, kernel, "kernel_rows_gpu.cl", fillings, OWN_FILLINGS + HDST__OVERFLOW_FILLINGS);
    return kernel;
}
