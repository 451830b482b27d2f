// SPDX-License-Identifier: Apache-2.0
// Device tables as devices would leave them, for the tests of partials (accum/partial.h): in each form, at any precision class and scale, filled on
// the host from the addends of the conformance suite.
#ifndef HDST_TESTS_PARTIAL_CASE_H
#define HDST_TESTS_PARTIAL_CASE_H

#include "accum/first_level.h"
#include "accum/fixed_point.h"
#include "accum/overflow_table.h"
#include "accum/partial.h"
#include "accum/representation.h"
#include "accum/superaccumulator.h"
#include "tests/accum/conformance_integers.h"

#include <stdlib.h>

enum { CASE_ROWS = 5, CASE_ELEMENTS = 3, CASE_LEAVES = 2, CASE_PLACES = 64, CASE_CELL_WORDS = HDST__F64_DIGITS + 1 };

typedef enum table_form { FORM_PLAIN, FORM_FIRST_LEVEL, FORM_FIXED_POINT, TABLE_FORMS } table_form;

// A record of a plain number before an array of `kind`, which is summed or otherwise taken.
typedef struct case_row {
    uint32_t records;
    uint64_t value[CASE_ELEMENTS];      // the first bytes of each: a number of the kind
} case_row;

typedef struct case_shape {
    hdst__record record;
    hdst__leaf leaf[CASE_LEAVES];
    hdst__accumulate_op op[CASE_LEAVES];
    bool from_float[CASE_LEAVES];
    hdst__accum_shape shape;
} case_shape;

typedef struct case_table {
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__device_table table;
    int32_t scale;
    int64_t *words, *overflow;
} case_table;

static const uint64_t case_rows[1] = {CASE_ROWS};

static inline void case_shape_init(case_shape *s, hdst__kind kind, hdst__accumulate_op op)
{
    memset(s, 0, sizeof *s);
    s->leaf[0] = (hdst__leaf){.path = "records", .kind = HDST__U32, .elements = 1, .offset = offsetof(case_row, records)};
    s->leaf[1] = (hdst__leaf){.path = "value", .kind = kind, .elements = CASE_ELEMENTS, .offset = offsetof(case_row, value), .dims = 1};
    s->leaf[1].dim[0].count = CASE_ELEMENTS;
    s->leaf[1].dim[0].stride = sizeof(uint64_t);
    s->op[0] = HDST__SUM;
    s->op[1] = op;
    s->record = (hdst__record){.name = "row", .leaves = s->leaf, .leaf_count = CASE_LEAVES, .size = sizeof(case_row), .align = 8};
    s->shape = (hdst__accum_shape){.param = 0, .record = &s->record, .is_table = true, .op = s->op, .from_float = s->from_float};
}

static inline void case_table_init(case_table *t, const case_shape *s, table_form form, hdst__precision_class precision, int32_t scale)
{
    hdst__arena_init(&t->arena, NULL, &t->out_of_memory);
    hdst__tables *tables = (hdst__tables *)hdst__tables_make(&t->arena, &s->shape, 1, &precision);
    if (form == FORM_FIXED_POINT) hdst__accum_make_fixed_point((hdst__accum *)&tables->accum[0]);
    tables->first_level = form == FORM_FIRST_LEVEL;
    t->scale = scale;
    t->words = calloc(hdst__tables_first_level_words(tables, case_rows) + hdst__tables_device_words(tables, case_rows), sizeof *t->words);
    t->overflow = calloc(hdst__overflow_words(CASE_PLACES, CASE_CELL_WORDS), sizeof *t->overflow);
    t->overflow[HDST__OVERFLOW_LAST_PLACE] = CASE_PLACES - 1;
    t->table = (hdst__device_table){.tables = tables, .rows = case_rows, .words = t->words, .scale = &t->scale,
                                    .overflow = form == FORM_FIXED_POINT ? t->overflow : NULL, .overflow_cell_words = CASE_CELL_WORDS};
}

static inline void case_table_destroy(case_table *t)
{
    free(t->words);
    free(t->overflow);
    hdst__arena_destroy(&t->arena);
}

static inline int32_t case_scale(const case_table *t, const hdst__cell *cell)
{
    return hdst__fixed_scale(cell->of_floats ? HDST__F32 : HDST__F64, t->scale);
}

// One word at scale s, where it fits and has room.
static inline bool case_add_word(const hdst__cell *cell, int64_t *word, int32_t s, uint64_t bits)
{
    int64_t q[2];
    return hdst__fixed_split(cell->kind, 1, s, bits, q) && !__builtin_add_overflow(*word, q[0], word);
}

// As first_level.cl has it: the word, two words, the superaccumulator, whose pages are marked.
static inline void case_add_first_level(case_table *t, const hdst__accum *accum, const hdst__cell *cell, uint64_t row, uint64_t e, uint64_t bits)
{
    const hdst__tables *tables = t->table.tables;
    const uint64_t words = hdst__tables_private_words(tables, case_rows), marks = hdst__tables_mark_words(tables, case_rows);
    int64_t *word = t->words + marks + row * accum->private_row_words + cell->private_first + e * cell->private_words, q[2];
    const uint64_t at = row * accum->device_row_words + cell->device_first + e * cell->device_words;
    if (!cell->digits) {
        (void)hdst__exact_representation(cell)->add(cell, word, 0, bits);
        return;
    }
    int64_t *second = cell->private_words == 2 ? word + 1 : word + words;
    if (cell->private_words && hdst__fixed_split(cell->kind, 2, case_scale(t, cell), bits, q)) {
        *word += q[0];
        *second += q[1];
        return;
    }
    for (uint64_t page = at / HDST__PAGE_WORDS; page <= (at + cell->device_words - 1) / HDST__PAGE_WORDS; page++) t->words[page] = 1;
    hdst__cell_accumulate(cell, t->words + marks + 2 * words + at, bits);
}

// What lies on pages without a mark is left from another run.
static inline void case_soil(case_table *t)
{
    const hdst__tables *tables = t->table.tables;
    const uint64_t all = tables->first_level ? hdst__tables_device_words(tables, case_rows) : 0;
    int64_t *cells = t->words + hdst__tables_first_level_words(tables, case_rows);
    for (uint64_t i = 0; i < all; i++)
        if (!t->words[i / HDST__PAGE_WORDS]) cells[i] = 12345;
}

static inline void case_add(case_table *t, uint32_t leaf, uint64_t row, uint64_t e, uint64_t bits)
{
    const hdst__accum *accum = &t->table.tables->accum[0];
    const hdst__cell *cell = &accum->cell[leaf];
    if (t->table.tables->first_level) {
        case_add_first_level(t, accum, cell, row, e, bits);
        return;
    }
    const uint64_t at = row * accum->device_row_words + cell->device_first + e * cell->device_words;
    if (!cell->digits || !accum->fixed_point) hdst__cell_accumulate(cell, t->words + at, bits);
    else if (!case_add_word(cell, t->words + at, case_scale(t, cell), bits))
        hdst__cell_accumulate(cell, hdst__overflow_cell(t->overflow, CASE_CELL_WORDS, at), bits);
}

// A form, class and scale at random, such as devices choose, or not.
static inline void case_table_random(case_table *t, const case_shape *s, uint64_t *seed)
{
    static const int32_t scales[] = {0, 0, 0, 23, 23, 60, -7, -2000, 2000};
    const table_form form = (table_form)(random_word(seed) % TABLE_FORMS);
    hdst__precision_class precision = (hdst__precision_class)(HDST__CLASS_ONE_WORD + random_word(seed) % 3);
    if (form == FORM_FIXED_POINT) precision = HDST__CLASS_ONE_WORD;
    case_table_init(t, s, form, precision, scales[random_word(seed) % (sizeof scales / sizeof *scales)]);
}

#endif
