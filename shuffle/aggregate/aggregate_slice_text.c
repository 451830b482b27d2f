// SPDX-License-Identifier: Apache-2.0
// Kernels that reduce what a slice gave (shuffle/aggregate/aggregate_slice_text.h): slice_gpu.cl, with the keys and values of the records printed in front.
#include "shuffle/aggregate/aggregate_slice_text.h"

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

static void print_hash(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    hdst__write_text(out, "inline ulong hash_of_key(__global const uchar *record, TEXTS)\n{\n    ulong h = 0;\n");
    for (uint64_t c = 0; c < layout->key_count; c++) {
        const hdst__key_column *key = &layout->key[c];
        const uint64_t at = offset_of(layout, key->leaf, key->element);
        if (layout->record->leaves[key->leaf].kind == HDST__TEXT) hdst__write(out, "    h = hash_of_text(h, record + %" PRIu64 ", TEXTS_OF);\n", at);
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
        if (layout->record->leaves[key->leaf].kind == HDST__TEXT)
            hdst__write(out, " && same_text(a + %" PRIu64 ", b + %" PRIu64 ", TEXTS_OF)", at, at);
        else hdst__write(out, " && same_bytes(a + %" PRIu64 ", b + %" PRIu64 ", %uu)", at, at, (unsigned)key->bytes);
    }
    hdst__write_text(out, ";\n}\n");
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

// Bits go by halves.
static void print_value(hdst__writer *out, const hdst__cell *cell, uint32_t bytes, uint64_t at)
{
    const char *name = operation_of(cell), *type = hdst__kind_is_signed(cell->kind) && hdst__is_key(cell->acc) ? "int" : "uint";
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

void hdst__aggregate_slice_text(hdst__writer *out, const hdst__aggregation_layout *layout)
{
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    hdst__write(out, "#define LANES %uu\n#define RECORD_BYTES %" PRIu64 "ul\n", (unsigned)HDST__SLICE_LANES, layout->record->size);
    hdst__write_text(out, "#define TEXTS __global const uchar *restrict texts, ulong text_bytes, ulong text_host\n"
                          "#define TEXTS_OF texts, text_bytes, text_host\n");
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__aggregate_pieces, "slice_key.cl"));
    print_hash(out, layout);
    print_same(out, layout);
    print_values(out, layout);
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__aggregate_pieces, "slice_gpu.cl"));
}
