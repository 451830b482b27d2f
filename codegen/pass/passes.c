// SPDX-License-Identifier: Apache-2.0
// The order of the passes. The verifier runs after each: it is cheap, and a pass that broke something is named.
#include "codegen/pass/row_form.h"
#include "accum/tables.h"
#include "codegen/pass/passes.h"
#include "record/layout.h"
#include "base/costs_cpu.h"

typedef struct pass {
    const char *name;
    void (*run)(ir_func *func);
} pass;

// After a pass: NULL, or what the verifier says.
static const char *ran(ir_func *func, const char *name)
{
    if (func->after_pass) func->after_pass(func, name, func->after_pass_user);
    const char *wrong = hdst__ir_verify(func);
    return wrong ? hdst__arena_printf(func->arena, "after pass %s: %s", name, wrong) : NULL;
}

static const char *run_passes(ir_func *func, const pass *passes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        passes[i].run(func);
        const char *wrong = ran(func, passes[i].name);
        if (wrong) return wrong;
    }
    return NULL;
}

#define RUN(func, passes) run_passes((func), (passes), sizeof(passes) / sizeof *(passes))

// Whatever changed: what nobody reads goes, branches that differ become selects. All forms of both targets begin with what these leave.
static const pass last_scalar_passes[] = {
    {"dead-code", hdst__pass_dead_code},
    {"uniformity", hdst__pass_uniformity},
    {"if-conversion", hdst__pass_if_conversion},
    {"constant-folding", hdst__pass_constant_folding},
    {"dead-code", hdst__pass_dead_code},
    {"uniformity", hdst__pass_uniformity},
};

const char *hdst__passes_scalar(ir_func *func)
{
    static const pass passes[] = {
        {"fma-placement", hdst__pass_fma_placement},            // first: it goes by the expressions as written
        {"structured-exits", hdst__pass_structured_exits},
        {"constant-folding", hdst__pass_constant_folding},
        {"bounds-checks", hdst__pass_bounds_checks},      // before unrolling: it goes by the bounds of loops
        {"constant-folding", hdst__pass_constant_folding},
        {"loop-checks", hdst__pass_loop_checks},
        {"array-contraction", hdst__pass_array_contraction},  // before unrolling, which hides that an array is filled
        {"dead-stores", hdst__pass_dead_stores},    // before unrolling too
        {"loop-unrolling", hdst__pass_loop_unrolling},
        {"constant-propagation", hdst__pass_constant_propagation},
        {"constant-folding", hdst__pass_constant_folding},
        {"loop-unrolling-of-arrays", hdst__pass_loop_unrolling_of_arrays},       // loops within those, whose bounds became constant; and longer ones
        {"constant-folding", hdst__pass_constant_folding},
        {"constant-propagation", hdst__pass_constant_propagation},
        {"constant-folding", hdst__pass_constant_folding},
        {"bounds-checks", hdst__pass_bounds_checks},      // what unrolling made constant, and what it repeats
        {"constant-folding", hdst__pass_constant_folding},
        {"scalar-replacement", hdst__pass_scalar_replacement},
        {"constant-propagation", hdst__pass_constant_propagation},    // the zeroes that their elements began with
        {"constant-folding", hdst__pass_constant_folding},
        {"emit-counts-dense", hdst__pass_emit_counts_dense},
        {"canonical-nans", hdst__pass_canonical_nans},          // before what is read and what varies is marked
    };
    const char *wrong = hdst__ir_verify(func);
    if (wrong) return hdst__arena_printf(func->arena, "as lowered: %s", wrong);
    wrong = RUN(func, passes);
    return wrong ? wrong : RUN(func, last_scalar_passes);
}

// A function that was taken apart into its checks and the rest.
static const char *after_skip(ir_func *func)
{
    static const pass passes[] = {
        {"constant-folding", hdst__pass_constant_folding},
    };
    const char *wrong = hdst__ir_verify(func);
    if (wrong) return hdst__arena_printf(func->arena, "after pass skip-failed: %s", wrong);
    wrong = RUN(func, passes);
    return wrong ? wrong : RUN(func, last_scalar_passes);
}

const char *hdst__passes_skip(ir_func *func, uint32_t *skipped)
{
    *skipped = hdst__pass_skip_failed(func);
    return after_skip(func);
}

const char *hdst__passes_skip_fold(ir_func *func, const hdst__record *counted, bool next_is_counted)
{
    hdst__pass_skip_failed_fold(func, counted, next_is_counted);
    return after_skip(func);
}

// --- Block form ---

// Above the last limit there is no block form.
static const struct { uint32_t records, bytes_per_record; } BLOCKS[] = HDST__CPU_BLOCKS;

static uint32_t block_for(uint64_t bytes_per_record, uint32_t most)
{
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++)
        if (bytes_per_record <= BLOCKS[i].bytes_per_record) return BLOCKS[i].records < most ? BLOCKS[i].records : most;
    return 0;
}

static const char *form(ir_func *func, const hdst__tables *tables, void (*split)(ir_func *func))
{
    split(func);
    const char *wrong = ran(func, "block-form");
    if (wrong) return wrong;
    hdst__pass_block_accumulation(func, tables);
    return ran(func, "block-accumulation");
}

static void split_at_uniform_control(ir_func *func) { hdst__pass_block_form(func, HDST__CPU_BLOCK); }

static bool find_reduce(ir_stmt *s, void *user)
{
    (void)user;
    return s->kind != IR_REDUCE;
}

static bool is_masked(const ir_func *func) { return !hdst__ir_visit_stmts((ir_block *)&func->body, find_reduce, NULL); }

static bool find_loop(ir_stmt *s, void *user)
{
    (void)user;
    return s->kind != IR_FOR && s->kind != IR_LOOP;
}

static bool has_loops(const ir_func *func) { return !hdst__ir_visit_stmts((ir_block *)&func->body, find_loop, NULL); }

static bool has_rows_from(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].rows_from) return true;
    return false;
}

const char *hdst__passes_block(ir_func *func, const hdst__tables *tables)
{
    static const pass before[] = {
        {"integer-narrowing", hdst__pass_integer_narrowing}, {"predication", hdst__pass_predication},
        {"if-conversion-of-effects", hdst__pass_if_conversion_of_effects},
        {"emit-counts-settle", hdst__pass_emit_counts_settle}, {"constant-folding", hdst__pass_constant_folding},
        {"uniformity", hdst__pass_uniformity},
    };
    static const pass after[] = {
        {"unroll-and-jam", hdst__pass_unroll_and_jam}, {"constant-folding", hdst__pass_constant_folding},
        {"loop-invariants", hdst__pass_loop_invariants}, {"vector-width", hdst__pass_vector_width},
        {"plain-minima", hdst__pass_plain_minima},
    };
    if (func->emits && !func->counts && hdst__ir_emit_bound(func) > HDST__EMIT_BOUND) hdst__pass_emit_counts_place(func);
    ir_func *plain = hdst__ir_copy_func(func->arena, func);
    const char *wrong = RUN(func, before);
    const uint32_t most = is_masked(func) ? HDST__CPU_MASKED_BLOCK : HDST__CPU_BLOCK;
    if (!wrong) wrong = form(func, tables, split_at_uniform_control);
    if (wrong) return wrong;
    const uint64_t bytes = hdst__block_bytes_per_record(func);
    const uint32_t block = block_for(bytes, most);
    if (!block) {
        *func = *plain;
        func->form_why = hdst__arena_printf(func->arena, "rows: the block form would keep %llu bytes for each record", (unsigned long long)bytes);
        return hdst__passes_row(func, tables);
    }
    func->block = block;
    if (bytes <= HDST__CPU_LONGER_BLOCK_BYTES && most == HDST__CPU_BLOCK && tables->accum_count && !has_loops(func))
        func->block = bytes <= HDST__CPU_SUMMING_BLOCK_BYTES ? HDST__CPU_SUMMING_BLOCK : HDST__CPU_LONGER_BLOCK;
    if (has_rows_from(func) && func->block == HDST__CPU_SUMMING_BLOCK)
        func->block = bytes <= HDST__CPU_RUNS_BLOCK_BYTES ? HDST__CPU_RUNS_BLOCK : HDST__CPU_RUNS_BLOCK / 2;
    func->form_why = hdst__arena_printf(func->arena, "blocks of %u records, %llu bytes kept for each", func->block, (unsigned long long)bytes);
    return RUN(func, after);
}

// --- Row form ---

const char *hdst__passes_row(ir_func *func, const hdst__tables *tables)
{
    static const pass before[] = {
        {"integer-narrowing", hdst__pass_integer_narrowing}, {"lane-reductions", hdst__pass_lane_reductions},
        {"loop-unrolling", hdst__pass_loop_unrolling}, {"constant-folding", hdst__pass_constant_folding},
        {"row-unroll-and-jam", hdst__pass_row_unroll_and_jam}, {"constant-folding", hdst__pass_constant_folding},
    };
    const char *wrong = RUN(func, before);
    if (wrong) return wrong;
    hdst__pass_element_loops(func, tables);
    if ((wrong = ran(func, "element-loops"))) return wrong;
    hdst__pass_vector_width(func);
    return ran(func, "vector-width");
}

// --- Which ---

uint64_t hdst__bytes_read(const ir_func *func)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        for (size_t l = 0; param->kind == IR_INPUT && l < param->record->leaf_count; l++)
            if (!param->leaf_used || param->leaf_used[l]) bytes += param->record->leaves[l].elements * hdst__scalar_size(param->record->leaves[l].kind);
    }
    return bytes;
}

// Block form over rows in memory: what adds to or stores whole rows goes row by row, all else has the records side by side; a block of them is small enough
// for its columns to stay in the second-level cache.
static const char *passes_block_of_rows(ir_func *func, const hdst__tables *tables)
{
    hdst__pass_element_loops_of_rows(func, tables);
    const char *wrong = hdst__passes_block(func, tables);
    const uint64_t bytes = hdst__bytes_read(func);
    if (wrong || !func->block || bytes < HDST__CPU_WIDE_RECORD_BYTES) return wrong;
    while (func->block > HDST__CPU_LEAST_BLOCK && func->block * bytes > HDST__CPU_COLUMN_BYTES) func->block /= 2;
    func->form_why = hdst__arena_printf(func->arena, "blocks of %u records, %llu bytes read of each", func->block, (unsigned long long)bytes);
    hdst__pass_vector_width(func);            // no vector is longer than a block
    return ran(func, "vector-width");
}

const char *hdst__passes_blocks_or_rows(ir_func *func, const hdst__tables *tables, const hdst__storage *input)
{
    func->apart = input->layout == HDST__AOS;
    if (hdst__ir_works_on_texts(func)) {
        func->form_why = "record by record: it works on texts";
        return hdst__passes_row(func, tables);
    }
    if (hdst__row_only_scatters(func)) {
        func->form_why = "record by record: it does hardly more than add to rows that records choose";
        return hdst__passes_row(func, tables);
    }
    ir_func *rows = hdst__ir_copy_func(func->arena, func);
    const char *wrong = hdst__passes_row(rows, tables);
    if (wrong) return wrong;
    const hdst__leaf *leaf = hdst__row_leaf(rows, input);
    if (!leaf && input->layout == HDST__AOS) return passes_block_of_rows(func, tables);
    if (!leaf) return hdst__passes_block(func, tables);
    rows->form_why = hdst__arena_printf(func->arena, "rows: the %llu elements of %s lie side by side", (unsigned long long)leaf->elements, leaf->path);
    *func = *rows;
    return NULL;
}
