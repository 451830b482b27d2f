// SPDX-License-Identifier: Apache-2.0
// Kernels that reduce what a slice gave (shuffle/aggregate/aggregate_slice_text.h): slice_gpu.cl, with the keys and values of the records printed in front.
#include "shuffle/aggregate/aggregate_slice_text.h"

#include "base/costs_gpu.h"
#include "base/pieces.h"

#include <inttypes.h>

extern const hdst__pieces hdst__aggregate_pieces;

// --- What is possible ---

// Sums of floats are rounded once, from all addends; other values may be reduced in any grouping. Words of 64 bits have an atomic addition only.
static const char *why_not_value(const hdst__value_column *column)
{
    const hdst__cell *cell = &column->cell;
    if (hdst__kind_is_float(cell->kind)) return "it reduces floats";
    if (cell->kind == HDST__BOOL || column->bytes < 4) return "it reduces values of less than 32 bits";
    if (hdst__is_key(cell->acc) && column->bytes > 4) return "it takes the minimum or maximum of values of 64 bits";
    return NULL;
}

static uint64_t offset_of(const hdst__aggregation_layout *layout, uint32_t leaf, uint64_t element)
{
    return hdst__leaf_offset(&layout->record->leaves[leaf], element);
}

const char *hdst__aggregate_slice_why_not(const hdst__aggregation_layout *layout)
{
    const uint64_t whole = sizeof(uint64_t);
    if (!layout->texts || layout->rows) return "its keys have no texts";
    if (layout->record->size % whole) return "records are no multiple of 8 bytes";
    for (uint64_t c = 0; c < layout->key_count; c++)
        if (layout->record->leaves[layout->key[c].leaf].kind == HDST__TEXT && offset_of(layout, layout->key[c].leaf, layout->key[c].element) % whole)
            return "texts are not aligned";
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const hdst__value_column *column = &layout->value[v];
        const char *why = why_not_value(column);
        if (why) return why;
        if (offset_of(layout, column->leaf, column->element) % column->bytes) return "values are not aligned";
    }
    return NULL;
}

// --- Printing ---

static bool is_text(const hdst__aggregation_layout *layout, const hdst__key_column *key) { return layout->record->leaves[key->leaf].kind == HDST__TEXT; }

static void print_hash(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    hdst__write_text(out, "inline ulong hash_of_key(__global const uchar *record, TEXTS)\n{\n    ulong h = 0;\n");
    for (uint64_t c = 0; c < layout->key_count; c++) {
        const hdst__key_column *key = &layout->key[c];
        const uint64_t at = offset_of(layout, key->leaf, key->element);
        if (is_text(layout, key)) hdst__write(out, "    h = hash_of_text(h, record + %" PRIu64 ", TEXTS_OF);\n", at);
        else hdst__write(out, "    h = hash_of_bytes(h, record + %" PRIu64 ", %uu);\n", at, (unsigned)key->bytes);
    }
    hdst__write_text(out, "    return h ^ h >> 32;\n}\n");
}

static void print_same(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    hdst__write_text(out, "inline bool same_key(__global const uchar *a, __global const uchar *b, TEXTS)\n{\n    return true");
    for (uint64_t c = 0; c < layout->key_count; c++) {
        const hdst__key_column *key = &layout->key[c];
        const uint64_t at = offset_of(layout, key->leaf, key->element);
        if (is_text(layout, key)) hdst__write(out, " && same_text(a + %" PRIu64 ", b + %" PRIu64 ", TEXTS_OF)", at, at);
        else hdst__write(out, " && same_bytes(a + %" PRIu64 ", b + %" PRIu64 ", %uu)", at, at, (unsigned)key->bytes);
    }
    hdst__write_text(out, ";\n}\n");
}

// One line for each text of the key: `form`, with its place.
static void print_texts(hdst__writer *out, const hdst__aggregation_layout *layout, const char *head, const char *form, const char *end)
{
    hdst__write_text(out, head);
    for (uint64_t c = 0; c < layout->key_count; c++)
        if (is_text(layout, &layout->key[c])) hdst__write(out, form, offset_of(layout, layout->key[c].leaf, layout->key[c].element));
    hdst__write_text(out, end);
}

static void print_staying(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    print_texts(out, layout, "inline bool can_stay(__global const uchar *record, TEXTS)\n{\n    return true",
                " && can_stay_text(record + %" PRIu64 ", TEXTS_OF)", ";\n}\n");
    print_texts(out, layout, "inline ulong heap_bytes(__global const uchar *record)\n{\n    return 0", " + heap_bytes_of(record + %" PRIu64 ")", ";\n}\n");
    print_texts(out, layout, "inline void stay(__global uchar *row, __global uchar *to, ulong at, TEXTS)\n{\n",
                "    stay_text(row + %" PRIu64 ", to, &at, TEXTS_OF);\n", "}\n");
}

static const char *operation_of(const hdst__cell *cell)
{
    switch (cell->acc) {
    case HDST__SUM: return "add";
    case HDST__MIN: return "min";
    case HDST__MAX: return "max";
    case HDST__AND: return "and";
    case HDST__OR: return "or";
    case HDST__XOR: break;
    }
    return "xor";
}

// Of 32 bits, or of the halves of 64 bits.
static const char *type_of(const hdst__cell *cell) { return hdst__kind_is_signed(cell->kind) && hdst__is_key(cell->acc) ? "int" : "uint"; }

// Bits go by halves.
static void print_value(hdst__writer *out, const hdst__cell *cell, uint32_t bytes, uint64_t at)
{
    const char *name = operation_of(cell), *type = type_of(cell);
    if (bytes > 4 && cell->acc == HDST__SUM) {
        hdst__write(out, "    atom_add((volatile __global ulong *)(row + %" PRIu64 "), *(__global const ulong *)(record + %" PRIu64 "));\n", at, at);
        return;
    }
    for (uint32_t part = 0; part < bytes; part += 4)
        hdst__write(out, "    atomic_%s((volatile __global %s *)(row + %" PRIu64 "), *(__global const %s *)(record + %" PRIu64 "));\n", name, type, at + part,
                    type, at + part);
}

static void print_values(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    hdst__write_text(out, "inline void add_values(volatile __global uchar *row, __global const uchar *record)\n{\n");
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const hdst__value_column *column = &layout->value[v];
        print_value(out, &column->cell, column->bytes, offset_of(layout, column->leaf, column->element));
    }
    hdst__write_text(out, "}\n");
}

// --- Values of a work-group ---

static uint32_t words_of(const hdst__aggregation_layout *layout)
{
    uint32_t words = 0;
    for (uint64_t v = 0; v < layout->value_count; v++) words += layout->value[v].bytes / 4;
    return words;
}

// As many rows as have room; 0: records have no values, or too many.
static uint32_t hot_rows_of(const hdst__aggregation_layout *layout)
{
    const uint64_t row = words_of(layout) * sizeof(uint32_t);
    uint32_t rows = HDST__GPU_SLICE_HOT_ROWS;
    while (row * rows > HDST__GPU_SLICE_HOT_BYTES) rows /= 2;
    return row ? rows : 0;
}

// What adds nothing.
static const char *identity_of(const hdst__cell *cell)
{
    const bool is_signed = hdst__kind_is_signed(cell->kind);
    switch (cell->acc) {
    case HDST__MIN: return is_signed ? "0x7fffffffu" : "0xffffffffu";
    case HDST__MAX: return is_signed ? "0x80000000u" : "0u";
    case HDST__AND: return "0xffffffffu";
    case HDST__SUM:
    case HDST__OR:
    case HDST__XOR: break;
    }
    return "0u";
}

static void print_hot_sum(hdst__writer *out, uint32_t word, uint64_t at)
{
    hdst__write(out, "    {\n        const ulong addend = *(__global const ulong *)(record + %" PRIu64 ");\n", at);
    hdst__write(out, "        const uint part = (uint)addend, old = atomic_add(hot + %" PRIu32 " * HOT_ROWS, part);\n", word);
    hdst__write_text(out, "        const uint high = (uint)(addend >> 32) + ((uint)(old + part) < old);\n");
    hdst__write(out, "        if (high) atomic_add(hot + %" PRIu32 " * HOT_ROWS, high);\n    }\n", word + 1);
}

static void print_hot_value(hdst__writer *out, const hdst__value_column *column, uint32_t word, uint64_t at)
{
    const hdst__cell *cell = &column->cell;
    if (column->bytes > 4 && cell->acc == HDST__SUM) {
        print_hot_sum(out, word, at);
        return;
    }
    for (uint32_t part = 0; part < column->bytes / 4; part++)
        hdst__write(out, "    atomic_%s((volatile __local %s *)hot + %" PRIu32 " * HOT_ROWS, *(__global const %s *)(record + %" PRIu64 "));\n",
                    operation_of(cell), type_of(cell), word + part, type_of(cell), at + part * 4);
}

static void print_hot_end(hdst__writer *out, const hdst__value_column *column, uint32_t word, uint64_t at)
{
    const hdst__cell *cell = &column->cell;
    if (column->bytes > 4 && cell->acc == HDST__SUM) {
        hdst__write(out, "    {\n        const ulong all = (ulong)hot[%" PRIu32 " * HOT_ROWS] << 32 | hot[%" PRIu32 " * HOT_ROWS];\n", word + 1, word);
        hdst__write(out, "        if (all) atom_add((volatile __global ulong *)(row + %" PRIu64 "), all);\n    }\n", at);
        return;
    }
    for (uint32_t part = 0; part < column->bytes / 4; part++) {
        hdst__write(out, "    if (hot[%" PRIu32 " * HOT_ROWS] != %s)\n", word + part, identity_of(cell));
        hdst__write(out, "        atomic_%s((volatile __global %s *)(row + %" PRIu64 "), (%s)hot[%" PRIu32 " * HOT_ROWS]);\n", operation_of(cell),
                    type_of(cell), at + part * 4, type_of(cell), word + part);
    }
}

static void print_hot_start(hdst__writer *out, const hdst__value_column *column, uint32_t word, uint64_t at)
{
    (void)at;
    for (uint32_t part = 0; part < column->bytes / 4; part++)
        hdst__write(out, "    hot[%" PRIu32 " * HOT_ROWS] = %s;\n", word + part, identity_of(&column->cell));
}

static void print_hot(hdst__writer *out, const hdst__aggregation_layout *layout, const char *head,
                      void (*print)(hdst__writer *out, const hdst__value_column *column, uint32_t word, uint64_t at))
{
    uint32_t word = 0;
    hdst__write(out, "inline void %s\n{\n", head);
    for (uint64_t v = 0; v < layout->value_count && hot_rows_of(layout); v++) {
        const hdst__value_column *column = &layout->value[v];
        print(out, column, word, offset_of(layout, column->leaf, column->element));
        word += column->bytes / 4;
    }
    hdst__write_text(out, "}\n");
}

static void print_macros(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    const uint32_t hot = hot_rows_of(layout), words = hot * words_of(layout);
    hdst__write(out, "#define LANES %uu\n#define RECORD_BYTES %" PRIu64 "ul\n", (unsigned)HDST__SLICE_LANES, layout->record->size);
    hdst__write(out, "#define HOT_ROWS %" PRIu32 "u\n#define HOT_WORDS %" PRIu32 "u\n", hot, words ? words : 1);
    hdst__write(out, "#define LONGEST %uu\n", (unsigned)HDST__GPU_SLICE_KEY_BYTES);
    hdst__write_text(out, "#define TEXTS __global const uchar *restrict texts, ulong text_bytes, ulong text_host, __global const uchar *restrict own_texts, "
                          "ulong own_bytes, ulong own_host, __global uchar *heap\n"
                          "#define TEXTS_OF texts, text_bytes, text_host, own_texts, own_bytes, own_host, heap\n");
}

void hdst__aggregate_slice_text(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    print_macros(out, layout);
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__aggregate_pieces, "slice_key.cl"));
    print_hash(out, layout);
    print_same(out, layout);
    print_staying(out, layout);
    print_values(out, layout);
    print_hot(out, layout, "start_hot(__local uint *hot)", print_hot_start);
    print_hot(out, layout, "add_to_hot(volatile __local uint *hot, __global const uchar *record)", print_hot_value);
    print_hot(out, layout, "end_hot(volatile __global uchar *row, __local const uint *hot)", print_hot_end);
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__aggregate_pieces, "slice_gpu.cl"));
}
