// SPDX-License-Identifier: Apache-2.0
// The shape of records with a key (shuffle/aggregate/aggregation_layout.h).
#include "shuffle/aggregate/aggregation_layout.h"
#include "base/costs_host.h"


static bool is_key(const uint32_t *key_leaves, uint32_t count, uint32_t leaf)
{
    for (uint32_t i = 0; i < count; i++)
        if (key_leaves[i] == leaf) return true;
    return false;
}

enum { MOST_KEY_ELEMENTS = 4096 };

const char *hdst__aggregation_layout_why_not(const hdst__record *record, const uint32_t *key_leaves, uint32_t count, uint32_t *leaf)
{
    uint64_t elements = 0;
    for (uint32_t i = 0; i < count; i++) {
        *leaf = key_leaves[i];
        if (record->leaves[*leaf].elements > MOST_KEY_ELEMENTS - elements) return "a key has 4096 elements at most";
        elements += record->leaves[*leaf].elements;
    }
    return NULL;
}

static void add_keys(hdst__arena *arena, hdst__aggregation_layout *layout, const uint32_t *key_leaves, uint32_t count)
{
    const hdst__record *record = layout->record;
    hdst__key_column *key = HDST__NEW_ARRAY(arena, hdst__key_column, record->elements);
    for (uint32_t i = 0; i < count; i++) {
        const hdst__leaf *leaf = &record->leaves[key_leaves[i]];
        const uint32_t bytes = (uint32_t)hdst__scalar_size(leaf->kind), align = bytes < 8 ? bytes : 8;
        layout->key_bytes = (layout->key_bytes + align - 1) / align * align;
        for (uint64_t e = 0; e < leaf->elements; e++, layout->key_bytes += bytes)
            key[layout->key_count++] = (hdst__key_column){key_leaves[i], e, bytes, layout->key_bytes};
    }
    layout->key = key;
    layout->key_words = layout->key_bytes <= 4 ? 0 : (layout->key_bytes + 7) / 8;
}

static void note_texts(hdst__arena *arena, hdst__aggregation_layout *layout)
{
    uint32_t *word = HDST__NEW_ARRAY(arena, uint32_t, layout->key_count + 1), count = 0;
    for (uint64_t c = 0; c < layout->key_count; c++)
        if (layout->record->leaves[layout->key[c].leaf].kind == HDST__TEXT) word[count++] = layout->key[c].at / 8;
    if (!count) return;
    hdst__key_texts *texts = HDST__NEW(arena, hdst__key_texts);
    *texts = (hdst__key_texts){word, count};
    layout->texts = texts;
}

// A key that is a number, and sums, each of which has a word.
static bool suits_rows(const hdst__aggregation_layout *layout)
{
    const hdst__kind key = layout->record->leaves[layout->key->leaf].kind;
    if (!hdst__kind_is_integer(key) || hdst__scalar_size(key) < 4) return false;
    for (uint64_t i = 0; i < layout->value_count; i++)
        if (layout->value[i].cell.acc != HDST__SUM || layout->value[i].bytes < 4 || layout->value[i].element) return false;
    return layout->value_count && layout->value_count <= HDST__COMBINED_SUMS;
}

// A key that is one text, and values that may meet in any grouping: sums of floats are rounded once, from all addends.
static void note_combining(hdst__arena *arena, hdst__aggregation_layout *layout)
{
    if (layout->key_count != 1 || (!layout->texts && !suits_rows(layout))) return;
    hdst__accumulate_op *op = HDST__NEW_ARRAY(arena, hdst__accumulate_op, layout->record->leaf_count);
    for (uint64_t i = 0; i < layout->value_count; i++) {
        if (layout->texts && !hdst__kind_is_integer(layout->value[i].cell.kind)) return;
        op[layout->value[i].leaf] = layout->value[i].cell.acc;
    }
    hdst__combining *combining = HDST__NEW(arena, hdst__combining);
    *combining = (hdst__combining){layout->record, layout->key->leaf, op, !layout->texts};
    layout->combining = combining;
}

static void add_leaf(hdst__aggregation_layout *layout, uint32_t leaf_index, uint32_t number, hdst__accumulate_op acc)
{
    const hdst__leaf *leaf = &layout->record->leaves[leaf_index];
    const hdst__cell cell = hdst__cell_make(leaf->kind, acc, leaf->kind == HDST__F32 ? HDST__CLASS_ONE_WORD : HDST__CLASS_TWO_WORDS);
    for (uint64_t e = 0; e < leaf->elements; e++)
        layout->value[layout->value_count++] = (hdst__value_column){.leaf = leaf_index, .number = number, .element = e, .cell = cell,
                                                                  .bytes = (uint32_t)hdst__scalar_size(leaf->kind)};
}

// Small values stand next to the hash, so that a record of a 32-bit key and a float takes 8 bytes.
static void place_raw(hdst__aggregation_layout *layout)
{
    uint32_t at = 4, align = 4;
    for (uint32_t bytes = 4; bytes; bytes /= 2)
        for (uint64_t i = 0; i < layout->value_count; i++) {
            if (layout->value[i].bytes != bytes) continue;
            layout->value[i].raw_at = at;
            at += bytes;
        }
    at = (at + 3) / 4 * 4;
    if (layout->key_words) {
        layout->raw_key_at = at = (at + 7) / 8 * 8;
        at += 8 * layout->key_words;
        align = 8;
    }
    for (uint64_t i = 0; i < layout->value_count; i++) {
        if (layout->value[i].bytes != 8) continue;
        layout->value[i].raw_at = at = (at + 7) / 8 * 8;
        at += 8;
        align = 8;
    }
    layout->raw_bytes = (at + align - 1) / align * align;
}

hdst__aggregation_layout *hdst__aggregation_layout_make(hdst__arena *arena, const hdst__record *record, const uint32_t *key_leaves, uint32_t count,
                                                        const hdst__accumulate_op *laws)
{
    hdst__aggregation_layout *layout = HDST__NEW(arena, hdst__aggregation_layout);
    *layout = (hdst__aggregation_layout){.record = record, .look_after = HDST__KEY_ADDS, .full = HDST__KEY_FULL};
    layout->value = HDST__NEW_ARRAY(arena, hdst__value_column, record->elements);
    add_keys(arena, layout, key_leaves, count);
    note_texts(arena, layout);
    uint32_t number = 0;
    for (uint32_t leaf = 0; leaf < record->leaf_count; leaf++) {
        if (is_key(key_leaves, count, leaf)) continue;
        add_leaf(layout, leaf, number, laws[number]);
        number++;
    }
    note_combining(arena, layout);
    place_raw(layout);
    hdst__aggregation_layout_choose(layout);
    return layout;
}

hdst__aggregation_layout *hdst__aggregation_layout_make_rows(hdst__arena *arena, const hdst__record *record, uint32_t key_leaf, const hdst__accumulate_op *laws,
                                                             const hdst__record *rows, uint64_t row_count)
{
    hdst__aggregation_layout *layout = hdst__aggregation_layout_make(arena, record, &key_leaf, 1, laws);
    layout->rows = rows;
    layout->combining = NULL;
    layout->row_count = row_count;
    layout->row_shift = 31;              // a hash of one bit at least
    while (row_count > UINT64_C(1) << (32 - layout->row_shift)) layout->row_shift--;
    layout->key_words = 0;
    place_raw(layout);
    hdst__aggregation_layout_choose(layout);
    return layout;
}

static uint32_t words_of(const hdst__cell *cell)
{
    if (!cell->digits) return 1;
    return cell->precision == HDST__CLASS_ONE_WORD ? 1 : cell->precision == HDST__CLASS_TWO_WORDS ? 2 : 0;
}

void hdst__aggregation_layout_choose(hdst__aggregation_layout *layout)
{
    layout->cell_words = layout->superaccumulator_words = 0;
    layout->fixed = 0;
    for (uint64_t i = 0; i < layout->value_count; i++) {
        hdst__value_column *column = &layout->value[i];
        column->word = layout->cell_words;
        column->words = column->cell.private_words = words_of(&column->cell);
        layout->cell_words += column->words;
        column->superaccumulator_word = layout->superaccumulator_words;
        if (!column->cell.digits) continue;
        layout->superaccumulator_words += column->cell.device_words;
        layout->fixed += column->words > 0;
    }
    layout->row_words = 1 + layout->key_words + layout->cell_words;
    layout->overflow_row_words = 1 + layout->key_words + layout->superaccumulator_words;
    const uint32_t fit = HDST__HOST_KEY_BATCH_WORDS / (layout->cell_words + layout->key_words + 1);
    layout->batch = fit >= HDST__KEY_BATCH ? HDST__KEY_BATCH : fit < 64 ? 64 : fit / 64 * 64;
}
