// SPDX-License-Identifier: Apache-2.0
// Where the cells of a stage's accumulators lie (accum/tables.h).
#include "accum/tables.h"

#include "accum/fixed_point.h"

// --- Cells ---

static hdst__precision_class default_class(const hdst__accum_shape *shape, size_t leaf)
{
    if (shape->record->leaves[leaf].kind == HDST__F32) return HDST__CLASS_ONE_WORD;
    return shape->from_float && shape->from_float[leaf] ? HDST__CLASS_ONE_WORD : HDST__CLASS_TWO_WORDS;
}

// A small row is padded to a vector, so that a CPU device adds a record to all of its words at once.
static uint64_t padded(uint64_t words)
{
    return words == 3 ? 4 : words > 4 && words < 8 ? 8 : words;
}

static void make_accum(hdst__arena *arena, hdst__accum *accum, const hdst__accum_shape *shape, const hdst__precision_class *classes, uint32_t *scales)
{
    const hdst__record *record = shape->record;
    hdst__cell *cells = HDST__NEW_ARRAY(arena, hdst__cell, record->leaf_count);
    for (size_t i = 0; i < record->leaf_count; i++) {
        hdst__cell *cell = &cells[i];
        const hdst__accumulate_op op = shape->op ? shape->op[i] : HDST__SUM;
        const bool float_sum = op == HDST__SUM && hdst__kind_is_float(record->leaves[i].kind);
        *cell = hdst__cell_make(record->leaves[i].kind, op, !float_sum ? HDST__CLASS_PLAIN : classes ? classes[*scales] : default_class(shape, i));
        cell->elements = record->leaves[i].elements;
        if (float_sum) {
            cell->scale = (int32_t)(*scales)++;
            cell->of_floats = cell->kind == HDST__F32 || (shape->from_float && shape->from_float[i]);
        }
        cell->device_first = accum->device_row_words;
        cell->private_first = accum->private_row_words;
        accum->device_row_words += cell->elements * cell->device_words;
        accum->private_row_words += cell->elements * cell->private_words;
    }
    if (shape->is_table) accum->private_row_words = padded(accum->private_row_words);
    accum->cell = cells;
    accum->leaf_count = record->leaf_count;
    accum->is_table = shape->is_table;
}

const hdst__tables *hdst__tables_make(hdst__arena *arena, const hdst__accum_shape *shapes, size_t count, const hdst__precision_class *classes)
{
    hdst__tables *tables = HDST__NEW(arena, hdst__tables);
    hdst__accum *accums = HDST__NEW_ARRAY(arena, hdst__accum, count);
    for (size_t i = 0; i < count; i++) {
        accums[i].param = shapes[i].param;
        make_accum(arena, &accums[i], &shapes[i], classes, &tables->scale_count);
    }
    tables->accum = accums;
    tables->accum_count = count;
    return tables;
}

uint64_t hdst__accum_rows(const hdst__accum *accum, const uint64_t *rows)
{
    // A record that failed a check may still touch row 0.
    return accum->is_table && rows[accum->param] ? rows[accum->param] : 1;
}

uint64_t hdst__tables_device_first(const hdst__tables *tables, const uint64_t *rows, size_t accum)
{
    uint64_t words = 0;
    for (size_t i = 0; i < accum; i++) words += hdst__accum_rows(&tables->accum[i], rows) * tables->accum[i].device_row_words;
    return words;
}

uint64_t hdst__tables_private_first(const hdst__tables *tables, const uint64_t *rows, size_t accum)
{
    uint64_t words = 0;
    for (size_t i = 0; i < accum; i++) words += hdst__accum_rows(&tables->accum[i], rows) * tables->accum[i].private_row_words;
    return words;
}

uint64_t hdst__tables_device_words(const hdst__tables *tables, const uint64_t *rows)
{
    return hdst__tables_device_first(tables, rows, tables->accum_count);
}

uint64_t hdst__tables_private_words(const hdst__tables *tables, const uint64_t *rows)
{
    return hdst__tables_private_first(tables, rows, tables->accum_count);
}

uint64_t hdst__tables_turns_words(const hdst__tables *tables, const uint64_t *rows)
{
    return 2 * ((hdst__tables_private_words(tables, rows) + HDST__TURN_UNIT - 1) / HDST__TURN_UNIT * HDST__TURN_UNIT + HDST__TURN_APART);
}

// --- Tables in fixed point ---

enum { LEAST_FIXED_POINT_BITS = 30 };

bool hdst__accum_may_be_fixed_point(const hdst__accum *accum)
{
    bool may = accum->is_table;
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) may &= accum->cell[leaf].precision == HDST__CLASS_PLAIN
        || accum->cell[leaf].precision == HDST__CLASS_ONE_WORD;
    return may;
}

void hdst__accum_make_fixed_point(hdst__accum *accum)
{
    accum->fixed_point = true;
    accum->device_row_words = 0;
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) {
        hdst__cell *cell = (hdst__cell *)&accum->cell[leaf];
        cell->device_words = cell->private_words;
        cell->device_first = accum->device_row_words;
        accum->device_row_words += cell->elements * cell->device_words;
    }
}

uint32_t hdst__accum_overflow_words(const hdst__accum *accum)
{
    uint32_t words = 1;
    for (size_t l = 0; l < accum->leaf_count; l++)
        if (accum->cell[l].digits >= words) words = accum->cell[l].digits + 1;
    return words;
}

bool hdst__accum_has_superaccumulators(const hdst__accum *accum)
{
    bool has = false;
    for (size_t l = 0; l < accum->leaf_count; l++) has |= accum->cell[l].precision == HDST__CLASS_SUPERACCUMULATOR;
    return has;
}

bool hdst__tables_are_fixed_point(const hdst__tables *tables)
{
    bool fixed_point = false;
    for (size_t a = 0; a < tables->accum_count; a++) fixed_point |= tables->accum[a].fixed_point;
    return fixed_point;
}

bool hdst__tables_write_rows(const hdst__tables *tables) { return tables->accum_count == 1 && tables->accum[0].writes_rows; }

uint32_t hdst__fixed_point_bits(uint64_t additions)
{
    const uint32_t count_bits = additions > 1 ? 64 - (uint32_t)__builtin_clzll(additions - 1) : 0, bits = count_bits < 63 ? 63 - count_bits : 0;
    return bits < LEAST_FIXED_POINT_BITS ? 0 : bits > HDST__FIXED_BITS ? HDST__FIXED_BITS : bits;
}

const hdst__accum *hdst__tables_accum(const hdst__tables *tables, uint32_t param)
{
    for (size_t i = 0; i < tables->accum_count; i++)
        if (tables->accum[i].param == param) return &tables->accum[i];
    return NULL;
}

uint32_t hdst__tables_fast_sums(const hdst__tables *tables)
{
    uint32_t fast = 0;
    for (size_t a = 0; a < tables->accum_count; a++)
        for (size_t leaf = 0; leaf < tables->accum[a].leaf_count; leaf++) fast += tables->accum[a].cell[leaf].fast;
    return fast;
}
