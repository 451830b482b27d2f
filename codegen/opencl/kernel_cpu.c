// SPDX-License-Identifier: Apache-2.0
// The form for CPU devices: one work-item is a strip of records; blocks through the block-form body, then the tail through
// the scalar one. Measured: with the record loops innermost and vectorised this is as fast as hand-written C, while GPU
// shapes are 13 to 44 times slower on a CPU device.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_batch.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_combine.h"
#include "codegen/opencl/print_finish.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_levels.h"
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_pipelined_records.h"
#include "codegen/opencl/print_row_sums.h"
#include "codegen/opencl/print_run_totals.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_sum_loops.h"
#include "codegen/opencl/print_text_copies.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/opencl/print_unpack.h"
#include "codegen/opencl/private_memory.h"
#include "codegen/pass/cpu_form.h"

#include "accum/first_level.h"
#include "codegen/ir/accum_tables.h"
#include "base/costs_cpu.h"

#include <inttypes.h>

// --- What the form does its own way ---

static const hdst__block_sums *block_sums(const hdst__printer *p)
{
    return hdst__sums_are_fast(p) ? &hdst__fast_block_sums : &hdst__exact_block_sums;
}

static size_t print_accum_blocks(hdst__printer *p, ir_stmt *const *stmts, size_t count) { return block_sums(p)->add(p, stmts, count); }

static const char *read_of_block(hdst__printer *p, const ir_expr *e)
{
    if (p->lanes && (e->op == IR_FIELD || e->op == IR_BROADCAST)) return hdst__pipelined_read_text(p, e);
    return e->op == IR_FIELD && p->in_block ? hdst__block_field_text(p, e) : NULL;
}

// Factors of a block of records, which the sums behind them read, or are added beside the next block.
static bool is_kept(const hdst__printer *p, uint32_t var)
{
    return (p->row_sums && p->func->vars[var].per_record) || hdst__is_pipelined_factor(p, var);
}

static const hdst__form cpu_form = {
    .read = read_of_block,
    .run = {[IR_ACCUM_WORDS] = hdst__print_accum_row, [IR_ACCUM_BLOCK] = print_accum_blocks, [IR_RECORDS] = hdst__print_pipelined_records},
    .keeps = is_kept,
};

// --- Sections ---

// A strip's output begins where there is room for that of all records before it, or where the counts say.
static void print_first_place(hdst__printer *p)
{
    if (p->output.way == IR_OUTPUT_BOUNDED) {
        hdst__write_line(&p->out, "ulong place = start * %" PRIu64 ";", p->output.bound);
        if (hdst__combines(p)) hdst__print_combine_begin(p);
    } else if (p->output.way == IR_OUTPUT_COUNTED) {
        hdst__write_line(&p->out, "const ulong begin = places[2];");
        hdst__write_line(&p->out, "ulong place = begin, all = 0;");
        hdst__write_line(&p->out, "for (ulong s = 0; s < strips; s++) {");
        hdst__write_line(&p->out, "    place += s < strip ? places[%d + s] : 0;", HDST__COUNTS_AT);
        hdst__write_line(&p->out, "    all += places[%d + s];", HDST__COUNTS_AT);
        hdst__write_line(&p->out, "}");
        hdst__write_line(&p->out, "const bool fits = begin <= room && all <= room - begin;");
        hdst__write_line(&p->out, "if (strip == 0) {");
        hdst__write_line(&p->out, "    places[0] = all;");
        hdst__write_line(&p->out, "    places[1] = fits ? begin + all : ULONG_MAX;");
        hdst__write_line(&p->out, "}");
        hdst__write_line(&p->out, "if (!fits) return;");
        if (p->output.at_most) hdst__write_line(&p->out, "const ulong own_start = place;");
        if (hdst__combines(p)) hdst__print_combine_begin(p);
        if (p->tables->accum_count == 0 && !p->has_checks && !p->output.at_most)
            hdst__write_line(&p->out, "if (places[%d + strip] == 0) return;", HDST__COUNTS_AT);
    }
    if (!p->output.spare) return;
    hdst__write_line(&p->out, "// What is stored and does not come out goes to a place of the strip's own behind the output, "
        "once all is there that does.");
    hdst__write_line(&p->out, "const ulong own_end = place + places[%d + strip], spare = room + strip * %" PRIu64 ";",
        HDST__COUNTS_AT, p->output.spare);
}

static void print_own_place(hdst__printer *p)
{
    hdst__print_file_scope(p);
    hdst__print_run_ends(p);
    if (p->output.spare) hdst__write_line(&p->out, "#define OWN(place) ((place) < own_end ? (place) : spare)");
}

static void print_setup(hdst__printer *p)
{
    hdst__print_input_bases(p);
    print_first_place(p);
    hdst__print_table_bases(p);
    block_sums(p)->start(p);
}

static void print_finish(hdst__printer *p)
{
    block_sums(p)->end(p);
    hdst__print_batch_end(p);
    if (hdst__combines(p)) hdst__print_combine_end(p);
    if (p->output.at_most) {
        hdst__write_line(&p->out, "places[%d + strips + 2 * strip] = own_start;", HDST__COUNTS_AT);
        hdst__write_line(&p->out, "places[%d + strips + 2 * strip + 1] = place - own_start;", HDST__COUNTS_AT);
    }
    if (p->output.way != IR_OUTPUT_BOUNDED) return;
    hdst__write_line(&p->out, "places[2 * strip] = start * %" PRIu64 ";", p->output.bound);
    hdst__write_line(&p->out, "places[2 * strip + 1] = place - start * %" PRIu64 ";", p->output.bound);
}

// Blocks start where blocks of the layout do, or at a whole number of blocks after that.
static void print_alignment(hdst__printer *p)
{
    hdst__write_line(&p->out, "const ulong past = (skip + i) %% BLOCK;");
    hdst__write_line(&p->out, "if (past && stop - i > BLOCK - past) stop = i + BLOCK - past;");
}

static void print_chunk(hdst__printer *p)
{
    if (p->tables->accum_count == 0) {
        hdst__write_line(&p->out, "ulong stop = end;");
    } else {
        hdst__print_strip_reset(p);
        hdst__write_line(&p->out, "// The table is added to the device's before a word could overflow.");
        hdst__write_line(&p->out, "const ulong room = flush < 1 ? 1 : flush >= BLOCK ? flush - flush %% BLOCK : flush;");
        hdst__write_line(&p->out, "ulong stop = end - i > room ? i + room : end;");
    }
    if (p->options->input->layout == HDST__AOSOA) print_alignment(p);
}

// A function that gives one of each record writes those of a strip one after another where some leave the output again.
static void print_dense_places(hdst__printer *p, const char *records)
{
    if (!hdst__writes_dense_strips(p)) return;
    hdst__write_line(&p->out, "place += %s;", records);
    hdst__print_combine(p);
}

static void print_block_loop(hdst__printer *p)
{
    const char *unless = !p->func->counts && hdst__plan_with_starts(p) ? "!odd_keys && " : "";
    hdst__write_line(&p->out, "for (; %si + BLOCK <= stop; i += BLOCK) {", unless);
    p->out.indent++;
    hdst__print_block_output(p);
    hdst__print_unpack(p);
    hdst__print_function(p);
    if (!p->func->counts && block_sums(p)->end_block) block_sums(p)->end_block(p);
    print_dense_places(p, "BLOCK");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_loop_in_turn(hdst__printer *p)
{
    hdst__write_line(&p->out, "while (i < stop) {");
    p->out.indent++;
    hdst__write_line(&p->out, "#pragma unroll");
    hdst__write_line(&p->out, "for (uint turn = 0; turn < 2 && i < stop; turn++, i++) {");
    p->out.indent++;
    hdst__print_strip_turn(p);
    hdst__print_function(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static bool takes_turns(const hdst__printer *p) { return p->func->tables && p->func->tables->turns > 1; }

static void print_record_loop(hdst__printer *p)
{
    if (p->row_sums) {
        hdst__print_row_sums_block(p);
        return;
    }
    if (takes_turns(p)) {
        print_loop_in_turn(p);
        return;
    }
    hdst__write_line(&p->out, "for (; i < stop; i++) {");
    p->out.indent++;
    hdst__print_function(p);
    print_dense_places(p, "1");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_flush(hdst__printer *p)
{
    if (takes_turns(p)) hdst__write_line(&p->out, "for (ulong w = 0; w < private_words; w++) private_table[w] += private_table[turn_words + w];");
    hdst__print_strip_flush(p);
}

static const char *block_define(hdst__printer *p, const ir_func *block)
{
    const uint32_t records = p->row_sums ? HDST__ROW_SUMS_BLOCK : block && block->block ? block->block : 1;
    return hdst__arena_printf(p->arena, "#define BLOCK %" PRIu32 "\n", records);
}

// --- The kernel that counts ---

typedef struct count_texts {
    const char *setup, *block_define, *chunk, *block_loop, *record_loop;
} count_texts;

static void print_count_chunk(hdst__printer *p)
{
    hdst__write_line(&p->out, "ulong stop = end;");
    if (p->options->input->layout == HDST__AOSOA) print_alignment(p);
}

static count_texts print_counts(hdst__printer *p, const hdst__cpu_forms *forms)
{
    count_texts texts = {"", "", "", "", ""};
    if (!forms->count) return texts;
    hdst__writer outer = p->out;
    hdst__unpacking *const unpacking = p->unpacking;
    hdst__unpacking_create(p);      // this form reads other fields
    if (forms->count_block) hdst__plan_unpack(p, forms->count_block);
    const struct { void (*print)(hdst__printer *); const ir_func *form; const char **text; } sections[] = {
        {hdst__print_input_bases, forms->count, &texts.setup},
        {print_count_chunk, forms->count, &texts.chunk},
        {print_block_loop, forms->count_block, &texts.block_loop},
        {print_record_loop, forms->count, &texts.record_loop},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!sections[i].form) continue;
        p->out = (hdst__writer){.arena = p->arena};
        hdst__print_count_of(p, sections[i].form, sections[i].print);
        *sections[i].text = hdst__writer_text(&p->out);
    }
    p->out = outer;
    p->unpacking = unpacking;
    texts.block_define = hdst__arena_printf(p->arena, "#undef BLOCK\n%s", block_define(p, forms->count_block));
    return texts;
}

// --- The form ---

static hdst__cpu_limits limits_of(const hdst__kernel_options *options)
{
    const hdst__place_limits place = {.rows = options->rows, .fast_sums = options->fast_sums, .no_blocks = options->no_blocks,
                                      .first_level = options->first_level, .writes_rows = options->writes_rows && options->facts.has_double};
    const bool combines = options->combining && options->combining->in_rows && options->facts.has_double && !options->texts_apart;
    return (hdst__cpu_limits){.place = place, .input = options->input, .has_double = options->facts.has_double,
                              .correctly_rounded = options->facts.correctly_rounded, .no_vectors = options->facts.no_vectors,
                              .counts_output = options->counts_output, .passes_on = options->passes_on, .combines = combines};
}

static hdst__printer *create_printer(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, const hdst__tables *tables,
    const hdst__cpu_forms *forms)
{
    hdst__printer *p = hdst__printer_create(arena, func, options, tables, &cpu_form);
    hdst__text_copies_begin(p, func);
    hdst__unpacking_create(p);
    p->unpacking->prefetches = forms->reads_ahead;
    p->unpacking->prefetches_structs = forms->reads_most && (forms->reads_apart || !options->facts.follows_structs);
    if (forms->block->block) hdst__plan_unpack(p, forms->block);
    if (forms->row_sums.count) p->row_sums = (hdst__row_sums *)&forms->row_sums;
    return p;
}

// Where each has a place, some may leave the output: what is left of a strip begins where the strip does.
static void note_dense_strips(hdst__printer *p, hdst__cpu_forms *forms)
{
    p->output = (ir_output){.way = IR_OUTPUT_BOUNDED, .bound = 1};
    forms->block->output = forms->single->output = &p->output;
}

static const char *why_text(hdst__printer *p, const ir_func *block)
{
    const char *form = block->form_why ? block->form_why : block->block ? "block" : "record by record";
    return hdst__arena_printf(p->arena, "form: %s\n%s%s", form, hdst__emit_why(p), hdst__tables_why(p));
}

enum { OWN_FILLINGS = 18 };

const hdst__kernel *hdst__kernel_make_cpu(hdst__arena *arena, const ir_func *scalar, const hdst__kernel_options *options, hdst__diags *diags)
{
    const hdst__cpu_limits limits = limits_of(options);
    ir_func *func = hdst__ir_copy_func(arena, scalar);
    hdst__tables *tables = (hdst__tables *)hdst__ir_accum_tables(arena, func, options->classes);
    hdst__cpu_forms forms;
    const char *wrong = hdst__passes_cpu(func, tables, &limits, &forms);
    if (wrong) {
        hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: form for CPU devices of '%s': %s", func->name, wrong);
        return NULL;
    }
    ir_func *block = forms.block;
    hdst__printer *p = create_printer(arena, func, options, tables, &forms);
    if (hdst__combines_dense(p)) note_dense_strips(p, &forms);
    const uint64_t bytes = hdst__private_bytes(p, block->block ? block : forms.single) + (block->block ? hdst__private_bytes(p, func) : 0) +
        hdst__row_sums_bytes(&forms.row_sums);
    if (!hdst__private_fits(p, block, bytes, HDST__CPU_PRIVATE_BYTES, diags)) return NULL;

    hdst__printer_use(p, block);        // where its accumulators are says what it is given
    hdst__kernel_add_common_args(p);
    const char *block_loop = block->block ? hdst__print_section(p, print_block_loop) : "", *sum_loops = hdst__print_section(p, hdst__print_sum_loops);
    hdst__printer_use(p, forms.single);
    const count_texts counts = print_counts(p, &forms);
    hdst__filling fillings[OWN_FILLINGS + HDST__FINISH_FILLINGS] = {
        {"TITLE", hdst__arena_printf(arena, "%s", func->name)},
        {"BLOCK_DEFINE", block_define(p, block)},
        {"SUM_LOOPS", sum_loops},
        {"STRIP_STEP", hdst__arena_printf(arena, "%" PRIu32, forms.strip_step)},
        {"FEW_STEP", hdst__arena_printf(arena, "%" PRIu32, forms.few_step)},
        {"BLOCK_LOOP", block_loop},
        {"RECORD_LOOP", hdst__print_section(p, print_record_loop)},
        {"FILE_SCOPE", hdst__print_section(p, print_own_place)},
        {"SETUP", hdst__print_section(p, print_setup)},
        {"CHUNK", hdst__print_section(p, print_chunk)},
        {"FLUSH", hdst__print_section(p, print_flush)},
        {"FINISH", hdst__print_section(p, print_finish)},
        {"COUNT_SETUP", counts.setup},
        {"COUNT_BLOCK_DEFINE", counts.block_define},
        {"COUNT_CHUNK", counts.chunk},
        {"COUNT_BLOCK_LOOP", counts.block_loop},
        {"COUNT_RECORD_LOOP", counts.record_loop},
        {"GROUP_SIZE", "1"},
    };
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){.func = block, .local_size = 1, .one_group_per_strip = true, .strips_twice = block->tables->turns > 1,
        .splits_few = forms.few_step < forms.strip_step, .batch_records = hdst__takes_batches(p) ? HDST__CPU_STRIP_STEP : 0, .private_bytes = bytes,
        .why = why_text(p, block), .overflow_cell_words = block->tables->overflow_words};
    const size_t finish = hdst__tables_write_rows(tables) ? HDST__OVERFLOW_FILLINGS : 0;
    if (finish) hdst__finish_texts(p, kernel, fillings + OWN_FILLINGS);
    hdst__kernel_finish(p, kernel, "kernel_cpu.cl", fillings, OWN_FILLINGS + finish);
    return kernel;
}
