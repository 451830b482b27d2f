// SPDX-License-Identifier: Apache-2.0
// Tables of several devices, merged and read out as values and as C structs.
#include "accum/reduce.h"
#include "accum/representation.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {            // one leaf per law
    float x[2];
    uint8_t count;
    int16_t low;
    double high;
    uint32_t any, all;
    bool never, every;
    int64_t parity;
} row;

enum { LEAVES = 9, ROWS = 3 };

typedef struct fixture {
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__record record;
    hdst__leaf leaf[LEAVES];
    hdst__accumulate_op op[LEAVES];
    ir_param param;
    ir_func func;
    const hdst__tables *tables;
} fixture;

#define LEAF(field, scalar, law) (hdst__leaf){.path = #field, .kind = scalar, .elements = 1, .offset = offsetof(row, field)}, law

static void set_leaf(fixture *f, int i, hdst__leaf leaf, hdst__accumulate_op op)
{
    f->leaf[i] = leaf;
    f->op[i] = op;
}

static void start(fixture *f)
{
    hdst__arena_init(&f->arena, NULL, &f->out_of_memory);
    set_leaf(f, 0, LEAF(x, HDST__F32, HDST__SUM));
    f->leaf[0].elements = f->leaf[0].dim[0].count = 2;
    f->leaf[0].dims = 1;
    f->leaf[0].dim[0].stride = 4;
    set_leaf(f, 1, LEAF(count, HDST__U8, HDST__SUM));
    set_leaf(f, 2, LEAF(low, HDST__I16, HDST__MIN));
    set_leaf(f, 3, LEAF(high, HDST__F64, HDST__MAX));
    set_leaf(f, 4, LEAF(any, HDST__U32, HDST__OR));
    set_leaf(f, 5, LEAF(all, HDST__U32, HDST__AND));
    set_leaf(f, 6, LEAF(never, HDST__BOOL, HDST__OR));
    set_leaf(f, 7, LEAF(every, HDST__BOOL, HDST__AND));
    set_leaf(f, 8, LEAF(parity, HDST__I64, HDST__XOR));
    f->record = (hdst__record){.name = "row", .leaves = f->leaf, .leaf_count = LEAVES, .size = sizeof(row), .align = 8};
    f->param = (ir_param){.kind = IR_ACCUM_TABLE, .record = &f->record, .is_table = true, .leaf_op = f->op};
    f->func = (ir_func){.arena = &f->arena, .params = &f->param, .param_count = 1};
    f->tables = hdst__ir_accum_tables(&f->arena, &f->func, NULL);
}

static const uint64_t rows[1] = {ROWS};

static int64_t *new_table(const fixture *f)
{
    return calloc(hdst__tables_device_words(f->tables, rows), sizeof(int64_t));
}

static void put(const fixture *f, int64_t *table, uint64_t r, uint32_t leaf, uint64_t element, uint64_t bits)
{
    const hdst__cell *cell = &f->tables->accum[0].cell[leaf];
    hdst__cell_accumulate(cell, table + r * f->tables->accum[0].device_row_words + cell->device_first + element * cell->device_words, bits);
}

static uint64_t f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

static uint64_t f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

Test(reduce, untouched_rows_are_the_identities)
{
    fixture f;
    start(&f);
    int64_t *table = new_table(&f);
    row out[ROWS];
    hdst__table_read_rows(f.tables, rows, table, 0, &f.record, 0, ROWS, out);
    for (int i = 0; i < ROWS; i++) {
        cr_expect_eq(f32(out[i].x[0]), 0);
        cr_expect_eq(out[i].count, 0);
        cr_expect_eq(out[i].low, INT16_MAX);
        cr_expect_eq(f64(out[i].high), f64(-__builtin_inf()));
        cr_expect_eq(out[i].any, 0);
        cr_expect_eq(out[i].all, UINT32_MAX);
        cr_expect(!out[i].never && out[i].every);
        cr_expect_eq(out[i].parity, 0);
    }
    free(table);
    hdst__arena_destroy(&f.arena);
}

Test(reduce, tables_of_three_devices_meet)
{
    fixture f;
    start(&f);
    int64_t *table[3] = {new_table(&f), new_table(&f), new_table(&f)};
    const float x[3] = {1e8f, 1, -1e8f};
    for (int d = 0; d < 3; d++) {
        put(&f, table[d], 1, 0, 1, f32(x[d]));
        for (int i = 0; i < 100; i++) put(&f, table[d], 1, 1, 0, 1);                     // 300 modulo 256
        put(&f, table[d], 1, 2, 0, (uint64_t)(int64_t)(5 - 10 * d));
        put(&f, table[d], 1, 3, 0, f64(-1.5 * (d + 1)));
        put(&f, table[d], 1, 4, 0, 1u << d);
        put(&f, table[d], 1, 5, 0, 0xffffffff & ~(1u << (31 - d)));
        put(&f, table[d], 1, 6, 0, d == 2);
        put(&f, table[d], 1, 7, 0, d != 1);
        put(&f, table[d], 1, 8, 0, (uint64_t)-(d + 1));
    }
    hdst__tables_merge(f.tables, rows, table[0], table[1]);
    hdst__tables_merge(f.tables, rows, table[0], table[2]);
    row out;
    hdst__table_read_rows(f.tables, rows, table[0], 0, &f.record, 1, 1, &out);
    cr_expect_eq(out.x[0], 0);
    cr_expect_eq(out.x[1], 1);
    cr_expect_eq(out.count, 44);
    cr_expect_eq(out.low, -15);
    cr_expect_eq(out.high, -1.5);
    cr_expect_eq(out.any, 7);
    cr_expect_eq(out.all, 0x1fffffff);
    cr_expect(out.never && !out.every);
    cr_expect_eq(out.parity, -1 ^ -2 ^ -3);
    cr_expect_eq(hdst__table_read(f.tables, rows, table[0], 0, 1, 0, 1), f32(1));
    cr_expect_eq(hdst__table_read(f.tables, rows, table[0], 0, 1, 2, 0), (uint64_t)-15);
    cr_expect_eq(hdst__table_read(f.tables, rows, table[0], 0, 2, 1, 0), 0, "the rows beside it are untouched");
    for (int d = 0; d < 3; d++) free(table[d]);
    hdst__arena_destroy(&f.arena);
}

// Keys of minima and maxima are unsigned: those of numbers on both sides of zero, and of a table that nothing was added to.
Test(reduce, extremes_on_both_sides_of_zero_meet)
{
    fixture f;
    row out;
    start(&f);
    static const double values[][3] = {{-3, 0, 0}, {-3, 8, 0}, {8, -3, 0}, {8, 0, -3}, {0, 0, 8}};      // 0: that table has none
    for (size_t c = 0; c < sizeof values / sizeof *values; c++) {
        int64_t *table[3] = {new_table(&f), new_table(&f), new_table(&f)};
        double high = -1e300;
        int16_t low = INT16_MAX;
        for (int d = 0; d < 3; d++) {
            if (values[c][d] == 0) continue;
            put(&f, table[d], 1, 2, 0, (uint64_t)(int64_t)values[c][d]);
            put(&f, table[d], 1, 3, 0, f64(values[c][d]));
            if (values[c][d] > high) high = values[c][d];
            if (values[c][d] < low) low = (int16_t)values[c][d];
        }
        hdst__tables_merge(f.tables, rows, table[0], table[1]);
        hdst__tables_merge(f.tables, rows, table[0], table[2]);
        hdst__table_read_rows(f.tables, rows, table[0], 0, &f.record, 1, 1, &out);
        cr_expect(out.high == high && out.low == low, "case %zu: %g %d", c, out.high, (int)out.low);
        for (int d = 0; d < 3; d++) free(table[d]);
    }
    hdst__arena_destroy(&f.arena);
}

// What is not finite stays, whichever table has it.
Test(reduce, infinities_and_nans_of_one_table_stay)
{
    fixture f;
    row out;
    start(&f);
    for (int with = 0; with < 2; with++) {
        int64_t *table[2] = {new_table(&f), new_table(&f)};
        for (int d = 0; d < 2; d++) {
            put(&f, table[d], 1, 0, 0, f32(d == with ? (float)INFINITY : 1));
            put(&f, table[d], 1, 0, 1, f32(d == with ? (float)NAN : 1));
        }
        hdst__tables_merge(f.tables, rows, table[0], table[1]);
        hdst__table_read_rows(f.tables, rows, table[0], 0, &f.record, 1, 1, &out);
        cr_expect(isinf(out.x[0]) && isnan(out.x[1]), "table %d: %g %g", with, (double)out.x[0], (double)out.x[1]);
        for (int d = 0; d < 2; d++) free(table[d]);
    }
    hdst__arena_destroy(&f.arena);
}
