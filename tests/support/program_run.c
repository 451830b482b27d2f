// SPDX-License-Identifier: Apache-2.0
// Runs a function in IR on random records with the interpreter and keeps all that came out, so that two forms of one
// function can be compared bit by bit (tests/support/program_run.h).
#include "tests/support/program_run.h"

#include "accum/reduce.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "record/layout.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EMITS = 16, ROWS = 4, LARGEST_TEXT = 1 << 20 };

ast_module *program_load(hdst__diags *diags)
{
    FILE *file = fopen(HDST_PROGRAMS, "rb");
    cr_assert_not_null(file);
    char *text = hdst__arena_alloc(diags->arena, LARGEST_TEXT);
    size_t length = fread(text, 1, LARGEST_TEXT - 1, file);
    fclose(file);
    hdst__front_options options = {0};
    ast_module *module = hdst__module_compile(diags, "programs.hk", text, length, &options);
    hdst__buffer report;
    hdst__buffer_init(&report, NULL);
    hdst__diags_render(diags, &report);
    cr_assert_eq(diags->errors, 0, "%s", hdst__buffer_text(&report));
    hdst__buffer_destroy(&report);
    return module;
}

static uint64_t next_random(uint64_t *state)    // xorshift64*, Vigna 2016
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static double random_real(uint64_t *state)
{
    const uint64_t r = next_random(state);
    if (r % 61 == 0) return 1e30 * (double)((int64_t)r >> 60);
    if (r % 67 == 0) return -0.0;
    return (double)((int64_t)(r >> 40) % 2000 - 1000) / 128;
}

static uint64_t random_bits(hdst__kind kind, uint64_t *state)
{
    uint64_t r = next_random(state), bits = 0;
    double real = random_real(state);
    float single = (float)real;
    if (kind == HDST__F32) memcpy(&bits, &single, 4);
    else if (kind == HDST__F64) memcpy(&bits, &real, 8);
    else if (kind == HDST__BOOL) bits = r >> 63;
    else if (kind == HDST__U8) bits = (r >> 32) % 5 ? (r >> 40) % 12 : r >> 56;
    else bits = (r >> 32) % 9 ? (uint64_t)((int64_t)((r >> 40) % 24) - 8) : r;
    return bits;
}

// `count` records as C structs; padding is zero.
static char *random_rows(hdst__arena *arena, const hdst__record *record, uint64_t count, uint64_t *state)
{
    char *rows = hdst__arena_alloc(arena, record->size * count + 64);
    for (uint64_t i = 0; i < count; i++)
        for (size_t leaf = 0; leaf < record->leaf_count; leaf++)
            for (uint64_t e = 0; e < record->leaves[leaf].elements; e++) {
                uint64_t bits = random_bits(record->leaves[leaf].kind, state);
                memcpy(rows + i * record->size + hdst__leaf_offset(&record->leaves[leaf], e), &bits, hdst__scalar_size(record->leaves[leaf].kind));
            }
    return rows;
}

const hdst__tables *program_tables(hdst__arena *arena, const ir_func *func, hdst__precision_class precision)
{
    const uint32_t count = hdst__ir_accum_tables(arena, func, NULL)->scale_count;
    hdst__precision_class *classes = HDST__NEW_ARRAY(arena, hdst__precision_class, count + 1);
    for (uint32_t i = 0; i < count; i++) classes[i] = precision;
    return hdst__ir_accum_tables(arena, func, classes);
}

// The value of every cell: equal whatever the precision class was.
static void read_cells(hdst__arena *arena, const hdst__interp_run *run, program_result *result)
{
    const hdst__tables *tables = run->tables;
    result->cells = HDST__NEW_ARRAY(arena, uint64_t, result->table_words + 1);       // a cell has a word at least
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        const size_t leaves = run->func->params[accum->param].record->leaf_count;
        for (uint64_t row = 0; row < hdst__accum_rows(accum, run->accum_rows); row++)
            for (size_t l = 0; l < leaves; l++)
                for (uint64_t e = 0; e < accum->cell[l].elements; e++)
                    result->cells[result->cell_count++] = hdst__table_read(tables, run->accum_rows, result->table, a, row, (uint32_t)l, e);
    }
}

program_result program_run(hdst__arena *arena, const ir_func *func, unsigned seed) { return program_run_precision(arena, func, seed,
    HDST__CLASS_SUPERACCUMULATOR); }

program_result program_run_precision(hdst__arena *arena, const ir_func *func, unsigned seed, hdst__precision_class precision)
{
    uint64_t state = 88172645463325252u + seed * 7919u;
    program_result result = {.records = PROGRAM_RECORDS};
    hdst__interp_run run = {.func = func, .count = PROGRAM_RECORDS, .first = 1000, .strict = true};
    hdst__interp_table *broadcast = HDST__NEW_ARRAY(arena, hdst__interp_table, func->param_count + 1);
    uint64_t *rows = HDST__NEW_ARRAY(arena, uint64_t, func->param_count + 1);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *p = &func->params[i];
        rows[i] = p->is_table ? ROWS : 1;
        if (p->kind == IR_INPUT) {
            const void **buffers = HDST__NEW_ARRAY(arena, const void *, 1);
            buffers[0] = random_rows(arena, p->record, PROGRAM_RECORDS, &state);
            result.input = buffers[0];
            run.input[0] = hdst__storage_make(arena, p->record, HDST__AOS, 0, PROGRAM_RECORDS);
            run.input_buffers[0] = buffers;
        } else if (p->kind == IR_BROADCAST_TABLE) {
            broadcast[i] = (hdst__interp_table){random_rows(arena, p->record, rows[i], &state), rows[i]};
            result.broadcast = broadcast[i].data;
        } else if (p->kind == IR_OUTPUT) {
            run.output_room = (uint64_t)PROGRAM_RECORDS * (func->emits ? MOST_EMITS : 1);
            result.output_bytes = p->record->size * run.output_room;
        }
    }
    run.broadcast = broadcast;
    run.accum_rows = rows;
    run.tables = program_tables(arena, func, precision);
    result.table_words = hdst__tables_device_words(run.tables, rows);
    run.device_table = result.table = HDST__NEW_ARRAY(arena, int64_t, result.table_words + 1);
    run.output = result.output = hdst__arena_alloc(arena, result.output_bytes + 1);
    run.emits_of = result.emits_of = HDST__NEW_ARRAY(arena, uint32_t, PROGRAM_RECORDS);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__interpret(&run, &error), HDST_OK, "%s: %s", func->name, error.message);
    result.failed_record = run.failed_record;
    result.emitted = run.emitted;
    read_cells(arena, &run, &result);
    for (size_t i = 0; i < PROGRAM_RECORDS && !func->emits; i++) result.emits_of[i] = 1;
    if (result.output_bytes) result.output_bytes = result.output_bytes / run.output_room * run.emitted;
    cr_assert(!result.output_bytes || run.emitted <= run.output_room, "%s", func->name);
    return result;
}

bool program_same(const program_result *a, const program_result *b)
{
    if (a->failed_record != b->failed_record) return false;
    if (a->failed_record != UINT64_MAX) return true;        // what a failed run wrote is not to be used
    return a->output_bytes == b->output_bytes && a->emitted == b->emitted && a->cell_count == b->cell_count && !memcmp(a->output, b->output, a->output_bytes) &&
           !memcmp(a->cells, b->cells, a->cell_count * 8) && !memcmp(a->emits_of, b->emits_of, a->records * sizeof *a->emits_of);
}
