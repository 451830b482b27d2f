// SPDX-License-Identifier: Apache-2.0
// Rows read from tables with first-level words, beside superaccumulators that were given all parts of each sum: every scale there
// may be, sums of either sign, ties, cells that are marked or hold what nobody may look at.
#include "accum/reduce.h"
#include "accum/first_level.h"
#include "accum/fixed_point.h"
#include "accum/superaccumulator.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, ELEMENTS = 150, WORD = 64 };

typedef struct row { float x[ELEMENTS]; double d[ELEMENTS]; } row;

typedef struct fixture {
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__record record;
    hdst__leaf leaf[2];
    hdst__accumulate_op op[2];
    ir_param param;
    ir_func func;
    hdst__tables *tables;
    int32_t scale[2];
    int64_t *memory;
} fixture;

static const uint64_t rows[1] = {ROWS};
static uint64_t state = 99;

static uint64_t random_bits(void)       // xorshift64*
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

// Of any size; one in four has few bits, so that halves between two floats come.
static int64_t random_word(void)
{
    const int64_t word = (int64_t)random_bits() >> random_bits() % WORD;
    return random_bits() % 4 ? word : word & ~((INT64_C(1) << random_bits() % 40) - 1);
}

static void set_leaf(fixture *f, int i, hdst__kind kind, uint64_t offset)
{
    f->leaf[i] = (hdst__leaf){.path = i ? "d" : "x", .kind = kind, .offset = offset, .elements = ELEMENTS, .dims = 1};
    f->leaf[i].dim[0].count = ELEMENTS;
    f->leaf[i].dim[0].stride = hdst__scalar_size(kind);
    f->op[i] = HDST__SUM;
}

static void start(fixture *f, hdst__precision_class x, int32_t x_scale, hdst__precision_class d, int32_t d_scale)
{
    hdst__arena_init(&f->arena, NULL, &f->out_of_memory);
    set_leaf(f, 0, HDST__F32, offsetof(row, x));
    set_leaf(f, 1, HDST__F64, offsetof(row, d));
    f->record = (hdst__record){.name = "row", .leaves = f->leaf, .leaf_count = 2, .size = sizeof(row), .align = 8};
    f->param = (ir_param){.kind = IR_ACCUM_TABLE, .record = &f->record, .is_table = true, .leaf_op = f->op};
    f->func = (ir_func){.arena = &f->arena, .params = &f->param, .param_count = 1};
    f->tables = (hdst__tables *)hdst__ir_accum_tables(&f->arena, &f->func, (hdst__precision_class[]){x, d});
    f->tables->first_level = true;
    f->scale[0] = x_scale;
    f->scale[1] = d_scale;
    f->memory = calloc(hdst__tables_first_level_words(f->tables, rows) + hdst__tables_device_words(f->tables, rows), sizeof *f->memory);
}

static void stop(fixture *f)
{
    free(f->memory);
    hdst__arena_destroy(&f->arena);
}

// Words everywhere, low words in one sum of two where they are in use; a page in three is marked, and the others' cells hold what would be seen.
static void fill(fixture *f)
{
    const hdst__accum *a = &f->tables->accum[0];
    int64_t *words = f->memory + hdst__tables_mark_words(f->tables, rows), *low = words + hdst__tables_private_words(f->tables,
        rows), *cells = f->memory + hdst__tables_first_level_words(f->tables, rows);
    const uint64_t all = hdst__tables_device_words(f->tables, rows);
    const int drop = (int[]){0, 5, 11, 12, 13, 30}[random_bits() % 6];         // of the upper bits: words of 52 bits at most are rounded together
    for (uint64_t i = 0; i < hdst__tables_private_words(f->tables, rows); i++) words[i] = random_word() >> drop;
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t e = 0; a->cell[0].private_words == 1 && e < ELEMENTS; e++)
            if (e / 70 % 2 && random_bits() % 2) low[r * a->private_row_words + a->cell[0].private_first + e] = random_word();
    for (uint64_t page = 0; page * HDST__PAGE_WORDS < all; page++) {
        f->memory[page] = random_bits() % 3 == 0;
        for (uint64_t i = page * HDST__PAGE_WORDS; i < all && i < (page + 1) * HDST__PAGE_WORDS; i++) cells[i] = 0;
    }
    for (uint64_t r = 0; r < ROWS; r++)
        for (int leaf = 0; leaf < 2; leaf++)
            for (uint64_t e = 0; e < ELEMENTS; e++) {
                const uint64_t at = r * a->device_row_words + a->cell[leaf].device_first + e * a->cell[leaf].device_words,
                               last = at + a->cell[leaf].device_words - 1;
                const bool one = f->memory[at / HDST__PAGE_WORDS], other = f->memory[last / HDST__PAGE_WORDS];
                if (one && other) hdst__superaccumulator_add_fixed(cells + at, a->cell[leaf].kind, random_word() | 1, f->scale[leaf]);
                if (!one && !other) cells[at + 3] = 12345;
            }
}

static uint64_t expected(const fixture *f, uint64_t r, int leaf, uint64_t e)
{
    const hdst__accum *a = &f->tables->accum[0];
    const hdst__cell *cell = &a->cell[leaf];
    const int64_t *words = f->memory + hdst__tables_mark_words(f->tables, rows), *low = words + hdst__tables_private_words(f->tables,
        rows), *cells = f->memory + hdst__tables_first_level_words(f->tables, rows);
    const uint64_t at = r * a->device_row_words + cell->device_first + e * cell->device_words;
    const uint64_t word = r * a->private_row_words + cell->private_first + e * cell->private_words;
    int64_t all[HDST__F64_DIGITS + 1] = {0};
    if (f->memory[at / HDST__PAGE_WORDS] || f->memory[(at + cell->device_words - 1) / HDST__PAGE_WORDS])
        memcpy(all, cells + at, cell->device_words * sizeof *all);
    hdst__superaccumulator_add_fixed(all, cell->kind, words[word], f->scale[leaf]);
    const int64_t second = cell->private_words == 2 ? words[word + 1] : low[word];
    if (second) hdst__superaccumulator_add_fixed(all, cell->kind, second, f->scale[leaf] + HDST__FIXED_BITS);
    return hdst__superaccumulator_round(all, cell->kind);
}

static void check(hdst__precision_class x, int32_t x_scale, hdst__precision_class d, int32_t d_scale)
{
    fixture f;
    row out[ROWS];
    start(&f, x, x_scale, d, d_scale);
    fill(&f);
    const hdst__first_level front = hdst__first_level_of(f.tables, rows, f.memory, f.scale);
    hdst__first_level_read_rows(f.tables, rows, &front, 0, &f.record, out);
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t e = 0; e < ELEMENTS; e++)
            for (int leaf = 0; leaf < 2; leaf++) {
                const uint64_t right = expected(&f, r, leaf, e);
                uint64_t bits = 0;
                if (leaf) memcpy(&bits, &out[r].d[e], 8);
                else memcpy(&bits, &out[r].x[e], 4);
                cr_assert_eq(bits, right, "leaf %d at 2^%d, row %d, element %d: %llx, not %llx", leaf, (int)f.scale[leaf], (int)r, (int)e,
                             (unsigned long long)bits, (unsigned long long)right);
                cr_assert_eq(hdst__first_level_read(f.tables, rows, &front, 0, r, (uint32_t)leaf, e), right);
            }
    stop(&f);
}

Test(front, rows_are_the_rounded_sums_at_every_scale)
{
    static const int32_t x[] = {-100, -61, -21, -20, 0, 17, 40, 84, 85, 86}, d[] = {-970, -900, -861, 0, 17, 300, 939, 979, 980, 980};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        for (int classes = 0; classes < 4; classes++)
            check(classes % 2 ? HDST__CLASS_TWO_WORDS : HDST__CLASS_ONE_WORD, x[i], classes / 2 ? HDST__CLASS_TWO_WORDS : HDST__CLASS_ONE_WORD, d[i]);
}
