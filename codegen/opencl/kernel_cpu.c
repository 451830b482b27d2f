// SPDX-License-Identifier: Apache-2.0
// The form for CPU devices: one work-item is a strip of records; blocks through the block-form body, then the tail through
// the scalar one. Measured: with the record loops innermost and vectorised this is as fast as hand-written C, while GPU
// shapes are 13 to 44 times slower on a CPU device.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_levels.h"
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_row_sums.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_sum_loops.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/opencl/print_unpack.h"
#include "codegen/opencl/private_memory.h"
#include "codegen/pass/accumulator_placement.h"

#include "accum/first_level.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/pass/passes.h"
#include "base/costs_cpu.h"
#include "codegen/pass/sum_loops.h"

#include <inttypes.h>

// --- What the form does its own way ---

static const hdst__block_sums *block_sums(const hdst__printer *p)
{
    return hdst__sums_are_fast(p) ? &hdst__fast_block_sums : &hdst__exact_block_sums;
}

static size_t print_accum_blocks(hdst__printer *p, ir_stmt *const *stmts, size_t count) { return block_sums(p)->add(p, stmts, count); }

static const char *read_of_block(hdst__printer *p, const ir_expr *e)
{
    return e->op == IR_FIELD && p->in_block ? hdst__block_field_text(p, e) : NULL;
}

// Factors of a block of records, which the sums behind them read.
static bool keeps_for_row_sums(const hdst__printer *p, uint32_t var) { return p->row_sums && p->func->vars[var].per_record; }

static const hdst__form cpu_form = {
    .read = read_of_block,
    .run = {[IR_ACCUM_WORDS] = hdst__print_accum_row, [IR_ACCUM_BLOCK] = print_accum_blocks},
    .keeps = keeps_for_row_sums,
};

// --- Sections ---

// A strip's output begins where there is room for that of all records before it, or where the counts say.
static void print_first_place(hdst__printer *p)
{
    if (p->output.way == HDST__OUTPUT_BOUNDED) {
        hdst__write_line(&p->out, "ulong place = start * %" PRIu64 ";", p->output.emit_bound);
    } else if (p->output.way == HDST__OUTPUT_COUNTED) {
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
        if (p->tables->accum_count == 0 && !p->has_checks) hdst__write_line(&p->out, "if (places[%d + strip] == 0) return;", HDST__COUNTS_AT);
    }
    if (!p->output.spare_records) return;
    hdst__write_line(&p->out, "// What is stored and does not come out goes to a place of the strip's own behind the output, "
        "once all is there that does.");
    hdst__write_line(&p->out, "const ulong own_end = place + places[%d + strip], spare = room + strip * %" PRIu64 ";",
        HDST__COUNTS_AT, p->output.spare_records);
}

static void print_own_place(hdst__printer *p)
{
    hdst__print_file_scope(p);
    if (p->output.spare_records) hdst__write_line(&p->out, "#define OWN(place) ((place) < own_end ? (place) : spare)");
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
    if (p->output.way != HDST__OUTPUT_BOUNDED) return;
    hdst__write_line(&p->out, "places[2 * strip] = start * %" PRIu64 ";", p->output.emit_bound);
    hdst__write_line(&p->out, "places[2 * strip + 1] = place - start * %" PRIu64 ";", p->output.emit_bound);
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

static void print_block_loop(hdst__printer *p)
{
    hdst__write_line(&p->out, "for (; i + BLOCK <= stop; i += BLOCK) {");
    p->out.indent++;
    hdst__print_block_output(p);
    hdst__print_unpack(p);
    hdst__print_function(p);
    if (!p->func->counts && block_sums(p)->end_block) block_sums(p)->end_block(p);
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
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_flush(hdst__printer *p)
{
    if (takes_turns(p)) hdst__write_line(&p->out, "for (ulong w = 0; w < strip_words; w++) strip_table[w] += strip_table[turn_words + w];");
    hdst__print_strip_flush(p);
}

// Blocks of the layout are read whole, in order: with half of one at a time the processor's prefetching loses the thread
// (measured: KMeans 1.2 times slower). True where little is computed for a record, as blocks of many records say: then
// memory is what counts.
static bool follow_layout(ir_func *block, const hdst__storage *input)
{
    const bool little = block->block > HDST__CPU_LAYOUT_BLOCK / 2;
    if (block->block && input->layout == HDST__AOSOA && input->block <= HDST__CPU_LAYOUT_BLOCK) block->block = (uint32_t)input->block;
    return little;
}

static const char *strip_step(hdst__printer *p, const ir_func *block)
{
    return hdst__arena_printf(p->arena, "%" PRIu32, block->block > HDST__CPU_STRIP_STEP ? block->block : HDST__CPU_STRIP_STEP);
}

static const char *block_define(hdst__printer *p, const ir_func *block)
{
    if (p->row_sums) return hdst__arena_printf(p->arena, "#define BLOCK %d\n", HDST__ROW_SUMS_BLOCK);
    return hdst__arena_printf(p->arena, "#define BLOCK %" PRIu32 "\n", block->block ? block->block : 1);
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

static bool print_counts(hdst__printer *p, const ir_func *func, hdst__diags *diags, count_texts *texts)
{
    ir_func *count;
    *texts = (count_texts){"", "", "", "", ""};
    if (!hdst__emit_count_form(p, func, diags, &count)) return false;
    if (!count) return true;
    ir_func *block = hdst__ir_copy_func(p->arena, count);
    const char *wrong = hdst__passes_cpu(block, hdst__ir_accum_tables(p->arena, block, NULL), p->options->input);
    if (wrong) {
        hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: form for CPU devices that counts of '%s': %s", count->name, wrong);
        return false;
    }
    follow_layout(block, p->options->input);
    hdst__writer outer = p->out;
    hdst__unpacking *const unpacking = p->unpacking;
    hdst__unpacking_create(p);      // this form reads other fields
    if (block->block) hdst__plan_unpack(p, block);
    const char **text[] = {&texts->setup, &texts->chunk, &texts->block_loop, &texts->record_loop};
    void (*const print[])(hdst__printer *) = {hdst__print_input_bases, print_count_chunk, print_block_loop, print_record_loop};
    for (size_t i = 0; i < sizeof print / sizeof *print; i++) {
        const bool in_blocks = print[i] == print_block_loop;
        if (in_blocks && !block->block) continue;
        p->out = (hdst__writer){.arena = p->arena};
        hdst__print_count_of(p, in_blocks || !block->block ? block : count, print[i]);
        *text[i] = hdst__writer_text(&p->out);
    }
    p->out = outer;
    p->unpacking = unpacking;
    texts->block_define = hdst__arena_printf(p->arena, "#undef BLOCK\n%s", block_define(p, block));
    return true;
}

// --- Row form: sums over a block of records ---

// `rows`: the function in row form, in which all records add one after another. NULL with *wrong NULL: nothing is to be had by blocks.
static ir_func *with_row_sums(hdst__arena *arena, const ir_func *func, const ir_func *rows, hdst__tables *tables,
    const hdst__kernel_options *options, hdst__row_sums *sums, const char **wrong)
{
    ir_func *split = hdst__ir_copy_func(arena, func);
    *wrong = NULL;
    if (rows->block || !options->facts.has_double || !hdst__pass_row_sums(split, tables, options->input, sums)) return NULL;
    *wrong = hdst__passes_row(split, tables);
    hdst__row_sums_renumber(split, sums);
    for (size_t i = 0; i < sums->count && options->fast_sums; i++)
        ((hdst__cell *)&hdst__tables_accum(tables, sums->sum[i].param)->cell[sums->sum[i].leaf])->fast = true;      // of this kernel's own tables
    split->form_why = hdst__arena_printf(arena, "%s; sums over %d records", rows->form_why, HDST__ROW_SUMS_BLOCK);
    return *wrong ? NULL : split;
}

const hdst__kernel *hdst__kernel_make_cpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags)
{
    hdst__tables *tables = (hdst__tables *)hdst__ir_accum_tables(arena, func, options->tiers);
    ir_func *block = hdst__ir_copy_func(arena, func);
    const bool singly = options->no_blocks && tables->accum_count;     // a block of records would combine them
    if (singly) block->form_why = "record by record, each addend straight to the device's table";
    const char *wrong = singly ? NULL : hdst__passes_cpu(block, tables, options->input);
    hdst__row_sums sums = {0};
    ir_func *split = wrong || singly ? NULL : with_row_sums(arena, func, block, tables, options, &sums, &wrong);
    if (split) block = split;
    if (wrong) {
        hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: form for CPU devices of '%s': %s", func->name, wrong);
        return NULL;
    }
    const bool prefetches = follow_layout(block, options->input);
    hdst__printer *p = hdst__printer_create(arena, func, options, tables, &cpu_form);
    hdst__unpacking_create(p);
    p->unpacking->prefetches = prefetches;
    const hdst__place_limits limits = {.rows = options->rows, .fast_sums = options->fast_sums,
        .no_blocks = options->no_blocks, .may_turn = !split, .front = options->front};
    hdst__pass_accumulator_placement_cpu(block, func, tables, &limits);
    hdst__pass_sum_loops(block, options->facts.has_double);
    hdst__emit_plan(p);
    if (p->output.way == HDST__OUTPUT_BOUNDED) p->output.emit_bound = hdst__ir_emit_bound(block);    // branches became conditions, which all count
    if (block->block) hdst__plan_unpack(p, block);
    if (split) p->row_sums = &sums;
    const uint64_t bytes = hdst__private_bytes(p, block) + (block->block ? hdst__private_bytes(p, func) : 0) + hdst__row_sums_bytes(&sums);
    if (!hdst__private_fits(p, block, bytes, HDST__CPU_PRIVATE_BYTES, diags)) return NULL;

    hdst__kernel_add_common_args(p);
    hdst__printer_use(p, block);
    const char *block_loop = block->block ? hdst__print_section(p, print_block_loop) : "", *sum_loops = hdst__print_section(p, hdst__print_sum_loops);
    ir_func *single = hdst__ir_copy_func(arena, block->block ? func : block);      // rows: one after another
    if (p->output.way == HDST__OUTPUT_COUNTED) hdst__pass_emit_counts_place(single);
    if (block->block) hdst__place_tail(single, block, tables);
    hdst__printer_use(p, single);
    count_texts counts;
    if (!print_counts(p, func, diags, &counts)) return NULL;
    hdst__filling fillings[] = {
        {"TITLE", hdst__arena_printf(arena, "%s", func->name)},
        {"BLOCK_DEFINE", block_define(p, block)},
        {"SUM_LOOPS", sum_loops},
        {"STRIP_STEP", strip_step(p, block)},
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
    };
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){.func = block, .local_size = 1, .one_group_per_strip = true, .strips_twice = block->tables->turns > 1, .private_bytes = bytes};
    kernel->why = hdst__arena_printf(arena, "form: %s\n%s%s",
                                     block->form_why ? block->form_why
                                     : block->block  ? "block"
                                                     : "record by record",
                                     hdst__emit_why(p), hdst__tables_why(p));
    hdst__kernel_finish(p, kernel, "kernel_cpu.cl", fillings, sizeof fillings / sizeof *fillings);
    return kernel;
}
