// SPDX-License-Identifier: Apache-2.0
// The kernels of a reduction by key on a GPU as text, which lies in the writer's arena
// (shuffle/aggregate/aggregate_kernels.h).
#include "shuffle/aggregate/aggregate_kernels.h"
#include "shuffle/aggregate/aggregate_key_text.h"

#include "accum/accum_pieces.h"
#include "accum/value_text.h"
#include "base/costs_gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_two(const hdst__value_column *column) { return column->cell.digits && column->cell.precision == HDST__CLASS_TWO_WORDS; }
// Whether the sum is done with floats: nothing of it needs doubles.
static bool is_narrow(const hdst__value_column *column) { return column->cell.kind == HDST__F32 && !is_two(column); }

// A minimum or maximum of doubles.
static bool is_double_key(const hdst__value_column *column) { return hdst__is_key(column->cell.acc) && column->cell.kind == HDST__F64; }

// --- Shape ---

static const char *why_not_value(const hdst__value_column *column, const hdst__target_facts *facts)
{
    const hdst__cell *cell = &column->cell;
    if (cell->digits && cell->precision == HDST__CLASS_SUPERACCUMULATOR) return "no two words hold most addends";
    if (cell->digits && !is_narrow(column) && !facts->has_double) return "the device has no doubles";
    if (cell->op == HDST__WORD_ADD && cell->kind == HDST__BOOL) return "it adds up bools";
    if (is_double_key(column) && !facts->has_double) return "the device has no doubles";
    return NULL;
}

// Words of 32 bits that a tuple needs.
static uint64_t tuple_words(const hdst__aggregation_layout *layout)
{
    uint64_t words = layout->key_bytes <= 4 ? 1 : 2 * layout->key_words;
    for (uint64_t c = 0; c < layout->value_count; c++) words += layout->value[c].bytes > 4 ? 2 : 1;
    return words;
}

uint64_t hdst__aggregate_kernels_tuple_bytes(const hdst__aggregation_layout *layout)
{
    uint64_t words = 2;
    while (words < tuple_words(layout)) words *= 2;
    return words * 4;
}

static uint64_t tile_bytes_of(const hdst__target_facts *facts)
{
    const uint64_t local = facts->local_bytes < HDST__GPU_KEY_LOCAL_BYTES ? facts->local_bytes : HDST__GPU_KEY_LOCAL_BYTES;
    return local * HDST__GPU_KEY_TILE_BYTES / HDST__GPU_KEY_LOCAL_BYTES;
}

const char *hdst__aggregate_kernels_why_not(const hdst__aggregation_layout *layout, const hdst__storage *storage, const hdst__target_facts *facts)
{
    const uint64_t words = tuple_words(layout);
    if (!facts->has_int64_atomics) return "the device has no atomic operations on 64 bits";
    if (layout->texts) return "the key has a text, which only the host takes apart";
    if (layout->key_bytes > HDST__AGGREGATE_KEY_BYTES) return "the key has more than 32 bytes";
    if (storage->layout == HDST__AOSOA) return "records lie in blocks";
    const uint64_t columns = layout->key_count + layout->value_count;
    if (layout->value_count > HDST__AGGREGATE_VALUES || columns > HDST__AGGREGATE_COLUMNS || storage->buffers > HDST__AGGREGATE_COLUMNS)
        return "records have many values";
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const char *why = why_not_value(&layout->value[c], facts);
        if (why) return why;
    }
    if (words > HDST__GPU_KEY_TUPLE_WORDS) return "records have many values";
    const uint64_t tile = HDST__AGGREGATE_LANES * hdst__aggregate_kernels_tuple_bytes(layout);
    return tile > tile_bytes_of(facts) ? "a tile of the records has no room in local memory" : NULL;
}

// 64-bit words of a value among those of a heavy hitter, 32-bit words among those of a table's row.
static uint32_t units_of(const hdst__value_column *column)
{
    if (column->cell.digits) return is_two(column) ? 2 : 1;
    return column->bytes > 4 && column->cell.op != HDST__WORD_ADD && column->cell.op != HDST__WORD_MAX ? 2 : 1;       // bits go by halves
}

static uint32_t cells_of(const hdst__value_column *column)
{
    if (column->cell.digits) return is_two(column) ? 4 : 2;
    return column->bytes > 4 ? 2 : 1;
}

static void place_values(const hdst__aggregation_layout *layout, hdst__aggregate_kernel_shape *shape)
{
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        shape->value[c] = (hdst__aggregate_kernel_value){shape->mixed_bytes / 4 + shape->rest + shape->payload, shape->units, shape->cells, shape->sums};
        shape->payload += column->bytes > 4 ? 2 : 1;
        shape->units += units_of(column);
        shape->cells += cells_of(column);
        shape->doubles |= is_double_key(column);
        if (!column->cell.digits) continue;
        shape->sums++;
        shape->doubles |= !is_narrow(column);
        if (column->cell.device_words > shape->overflow_cell_words) shape->overflow_cell_words = column->cell.device_words;
    }
    shape->rest_unit = shape->units;
    shape->rest_cell = shape->cells;
    if (shape->rest) shape->units += shape->rest + 1, shape->cells += shape->rest + 1;
}

static uint32_t slots_in(uint64_t bytes, uint32_t each, uint32_t unit)
{
    const uint64_t slots = bytes / each / unit * unit;
    if (slots > HDST__GPU_KEY_TABLE_MOST_ROWS) return HDST__GPU_KEY_TABLE_MOST_ROWS;
    return slots < HDST__GPU_KEY_TABLE_LEAST_ROWS ? HDST__GPU_KEY_TABLE_LEAST_ROWS : (uint32_t)slots;
}

// Of a partition's table: beside it a work-group has a number for each lane, and three bits for each row and 32 of them for each 32.
static uint32_t table_rows(uint64_t local, const hdst__aggregate_kernel_shape *shape)
{
    const uint64_t bytes = local - (uint64_t)shape->total_lanes * 4 - HDST__GPU_KEY_TABLE_SPARE_BYTES, each = shape->mixed_bytes + 4 * shape->cells;
    return slots_in(bytes * 8 / (each * 8 + 3), 1, 64);
}

void hdst__aggregate_kernel_shape_of(const hdst__aggregation_layout *layout, const hdst__target_facts *facts, bool states, hdst__aggregate_kernel_shape *shape)
{
    *shape = (hdst__aggregate_kernel_shape){.mixed_bytes = layout->key_bytes <= 4 ? 4 : 8, .rest = layout->key_words > 1 ? 2 * (layout->key_words - 1) : 0,
                                            .overflow_cell_words = 1, .states = states};
    place_values(layout, shape);
    shape->row_bytes = states ? shape->mixed_bytes + 4 * shape->cells : (uint32_t)layout->record->size;
    shape->state_words = layout->row_words + 1;
    const uint64_t local = facts->local_bytes < HDST__GPU_KEY_LOCAL_BYTES ? facts->local_bytes : HDST__GPU_KEY_LOCAL_BYTES;
    const uint64_t tile_bytes = tile_bytes_of(facts);
    shape->tuple_words = (uint32_t)(hdst__aggregate_kernels_tuple_bytes(layout) / 4);
    if (shape->units == 0) shape->units = shape->cells = 1;         // of keys alone: never read
    // Tables leave few work-groups room on a compute unit, so each has many lanes; what the lanes need themselves comes on top of the table.
    const bool large = local == HDST__GPU_KEY_LOCAL_BYTES && facts->max_group >= 2 * HDST__AGGREGATE_LANES;
    shape->total_lanes = large ? 2 * HDST__AGGREGATE_LANES : HDST__AGGREGATE_LANES;
    shape->counted_bits = large ? HDST__GPU_KEY_COUNTED_BITS : HDST__GPU_KEY_COUNTED_BITS_LEAST;
    shape->few_lanes = large ? 2 * HDST__AGGREGATE_LANES : HDST__AGGREGATE_LANES;
    const bool many = large && facts->max_group >= 2 * shape->few_lanes;
    shape->many_lanes = many ? 2 * shape->few_lanes : shape->few_lanes;
    shape->most_bits = many ? HDST__AGGREGATE_FEW_BITS + 1 : HDST__AGGREGATE_FEW_BITS;
    shape->tile_rows = HDST__GPU_KEY_TILE_ROWS;
    while (shape->tile_rows > 1 && shape->tile_rows * shape->few_lanes * shape->tuple_words * 4 > tile_bytes) shape->tile_rows /= 2;
    shape->many_rows = many && shape->tile_rows > 1 ? shape->tile_rows * 3 / 2 : shape->tile_rows;
    shape->slots = table_rows(local, shape);
    shape->heavy_slots = slots_in(local * HDST__GPU_HEAVY_TABLE_BYTES / HDST__GPU_KEY_LOCAL_BYTES, shape->mixed_bytes + 4 * shape->cells, 64);
}

// --- Reading records ---

static const char *type_of(uint32_t bytes)
{
    return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

typedef struct element {                // of the key or of the values, in one count
    uint32_t leaf, bytes;
    uint64_t element;
} element;

static element element_of(const hdst__aggregation_layout *layout, uint64_t c)
{
    if (c < layout->key_count) return (element){layout->key[c].leaf, layout->key[c].bytes, layout->key[c].element};
    const hdst__value_column *value = &layout->value[c - layout->key_count];
    return (element){value->leaf, value->bytes, value->element};
}

static void print_source(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage)
{
    const uint64_t columns = storage->layout == HDST__AOS ? 0 : layout->key_count + layout->value_count;
    hdst__write_text(out, "#define SRC __global const uchar *restrict b0");
    for (uint32_t b = 1; b < storage->buffers; b++) hdst__write(out, ", __global const uchar *restrict b%u", (unsigned)b);
    for (uint64_t c = 0; c < columns; c++) hdst__write(out, ", ulong o%u", (unsigned)c);
    hdst__write_text(out, "\n#define SRC_ARGS b0");
    for (uint32_t b = 1; b < storage->buffers; b++) hdst__write(out, ", b%u", (unsigned)b);
    for (uint64_t c = 0; c < columns; c++) hdst__write(out, ", o%u", (unsigned)c);
    hdst__write_text(out, "\n");
}

// Of 0 bytes: another element's load has it.
static element load_of(const hdst__aggregation_layout *layout, const hdst__storage *storage, uint64_t c)
{
    element at = element_of(layout, c);
    if (c < layout->key_count) at.bytes = hdst__key_load_bytes(layout, storage, c);
    return at;
}

// Structs of 8 or 16 bytes are read as one vector, if all that is wanted of them lies at whole words.
static uint32_t struct_words(const hdst__aggregation_layout *layout, const hdst__storage *storage)
{
    const uint64_t size = layout->record->size;
    if (storage->layout != HDST__AOS || (size != 8 && size != 16)) return 0;
    for (uint64_t c = 0; c < layout->key_count + layout->value_count; c++) {
        const element at = load_of(layout, storage, c);
        if (at.bytes && (at.bytes < 4 || hdst__leaf_offset(&layout->record->leaves[at.leaf], at.element) % 4)) return 0;
    }
    return (uint32_t)size / 4;
}

static void print_load(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage, uint64_t c)
{
    const element at = load_of(layout, storage, c);
    const hdst__leaf_address *address = &storage->leaf[at.leaf];
    if (!at.bytes) return;
    const uint64_t offset = hdst__leaf_offset(&layout->record->leaves[at.leaf], at.element), word = offset / 4;
    const char *type = at.bytes == 8 ? "ulong" : "uint";
    hdst__write(out, "    const %s x%u = ", type, (unsigned)c);
    if (struct_words(layout, storage)) {
        hdst__write(out, at.bytes == 8 ? "all.s%u | (ulong)all.s%u << 32;\n" : "all.s%u;\n", (unsigned)word, (unsigned)word + 1);
    } else if (storage->layout != HDST__AOS) {
        hdst__write(out, "*(__global const %s *)(b%u + o%u + i * %" PRIu64 ");\n", type_of(at.bytes), (unsigned)address->buffer, (unsigned)c, address->stride);
    } else if (layout->record->size % at.bytes == 0 && offset % at.bytes == 0) {
        hdst__write(out, "*(__global const %s *)(b0 + i * SIZE + %" PRIu64 ");\n", type_of(at.bytes), offset);
    } else {
        for (uint32_t b = 0; b < at.bytes; b++) hdst__write(out, "%s(%s)b0[i * SIZE + %" PRIu64 "] << %u", b ? " | " : "", type, offset + b, (unsigned)(8 * b));
        hdst__write_text(out, ";\n");
    }
}

static const char *key_type(hdst__kind kind)
{
    static const char *const names[] = {[HDST__BOOL] = "bool", [HDST__I8] = "char", [HDST__U8] = "uchar", [HDST__I16] = "short",
        [HDST__U16] = "ushort", [HDST__I32] = "int", [HDST__U32] = "uint",
                                        [HDST__F32] = "float", [HDST__I64] = "long", [HDST__U64] = "ulong", [HDST__F64] = "double"};
    return names[kind];
}

static void print_payload(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape, uint64_t v)
{
    const hdst__cell *cell = &layout->value[v].cell;
    const unsigned word = shape->value[v].payload, x = (unsigned)(layout->key_count + v);
    if (hdst__is_key(cell->acc)) {
        const char *as = cell->kind == HDST__F32 ? "as_float" : cell->kind == HDST__F64 ? "as_double" : cell->kind == HDST__BOOL ? "0 != " : "";
        hdst__write(out, "    const ulong k%u = %s_key_%s((%s)%s(x%u));\n    tuple.s%x = (uint)k%u;\n", x, cell->acc == HDST__MIN ? "min" : "max",
            key_type(cell->kind), key_type(cell->kind), as, x, word, x);
        if (layout->value[v].bytes > 4) hdst__write(out, "    tuple.s%x = (uint)(k%u >> 32);\n", word + 1, x);
        return;
    }
    const char *inverted = cell->acc == HDST__AND ? "~" : "";
    hdst__write(out, "    tuple.s%x = (uint)%sx%u;\n", word, inverted, x);
    if (layout->value[v].bytes > 4) hdst__write(out, "    tuple.s%x = (uint)(%sx%u >> 32);\n", word + 1, inverted, x);
}

static void print_tuple(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage, const hdst__aggregate_kernel_shape *shape)
{
    const uint32_t words = struct_words(layout, storage);
    hdst__write_text(out, "inline TUPLE tuple_at(SRC, ulong i)\n{\n    TUPLE tuple = (TUPLE)(0);\n");
    if (words) hdst__write(out, "    const uint%u all = ((__global const uint%u *)b0)[i];\n", (unsigned)words, (unsigned)words);
    for (uint64_t c = 0; c < layout->key_count + layout->value_count; c++) print_load(out, layout, storage, c);
    hdst__key_print_mixed(out, layout, storage, shape);
    for (uint64_t v = 0; v < layout->value_count; v++) print_payload(out, layout, shape, v);
    hdst__write_text(out, "    return tuple;\n}\n");
    hdst__write(out, "inline MIXED mixed_of(TUPLE tuple) { return %s; }\n", shape->mixed_bytes == 4 ? "tuple.s0" : "tuple.s0 | (ulong)tuple.s1 << 32");
}

// --- Words ---

static void print_scales(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    hdst__write_text(out, "typedef struct {\n    float limit;\n    uint bits;\n");
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const unsigned s = shape->value[v].sum;
        const char *type = is_narrow(&layout->value[v]) ? "float" : "double";
        if (layout->value[v].cell.digits) hdst__write(out, "    int s%u;\n    %s up%u, down%u;\n", s, type, s, s);
    }
    hdst__write_text(out, "} scales_t;\n#define SCALES __global const int *restrict scale_list, "
        "ulong addend_bits\n#define SCALES_OF scales_of(scale_list, (uint)addend_bits)\n");
    hdst__write_text(out, "inline scales_t scales_of(__global const int *restrict list, "
        "uint bits)\n{\n    scales_t scales;\n    scales.bits = bits;\n    scales.limit = float_power((int)bits);\n");
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const unsigned s = shape->value[v].sum;
        if (!layout->value[v].cell.digits) continue;
        const char *type = is_narrow(&layout->value[v]) ? "float" : "double";
        hdst__write(out, "    scales.s%u = list[%u];\n    scales.up%u = %s_power(list[%u]);\n    scales.down%u = %s_power(-list[%u]);\n", s, s, s,
            type, s, s, type, s);
    }
    hdst__write_text(out, "    return scales;\n}\n");
}

static void print_word(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape, uint64_t v)
{
    const hdst__value_column *column = &layout->value[v];
    const hdst__aggregate_kernel_value *at = &shape->value[v];
    const unsigned u = at->unit, w = at->payload, s = at->sum;
    if (!column->cell.digits) {
        if (column->bytes <= 4) hdst__write(out, "    words.w%u = tuple.s%x;\n", u, w);
        else if (units_of(column) == 2) hdst__write(out, "    words.w%u = tuple.s%x;\n    words.w%u = tuple.s%x;\n", u, w, u + 1, w + 1);
        else hdst__write(out, "    words.w%u = (long)(tuple.s%x | (ulong)tuple.s%x << 32);\n", u, w, w + 1);
        return;
    }
    char value[64];
    if (column->cell.kind == HDST__F32) snprintf(value, sizeof value, "%sas_float(tuple.s%x)", is_narrow(column) ? "" : "(double)", w);
    else snprintf(value, sizeof value, "as_double(tuple.s%x | (ulong)tuple.s%x << 32)", w, w + 1);
    if (is_two(column))
        hdst__write(out, "    words.w%u = two_words_of(%s, scales.up%u, scales.limit, %uu, &exceptions, &words.w%u);\n", u, value, s, 1u << s, u + 1);
    else if (is_narrow(column))
        hdst__write(out, "    words.w%u = word_of_float(%s, scales.up%u, scales.down%u, scales.limit, %uu, &exceptions);\n", u, value, s, s, 1u << s);
    else hdst__write(out, "    words.w%u = word_of_double(%s, scales.up%u, scales.down%u, scales.limit, %uu, &exceptions);\n", u, value, s, s, 1u << s);
}

typedef enum unit_op { ADD64, ADD32, MAX64, MAX32, OR32, XOR32 } unit_op;

static unit_op op_of(const hdst__value_column *column)
{
    switch (column->cell.op) {
    case HDST__WORD_ADD: return column->cell.digits || column->bytes > 4 ? ADD64 : ADD32;
    case HDST__WORD_MAX: return column->bytes > 4 ? MAX64 : MAX32;
    case HDST__WORD_OR: return OR32;
    case HDST__WORD_XOR: break;
    }
    return XOR32;
}

// Words of a table's row lie `stride` apart, from `at` on, but for those of 64 bits that one operation changes: they are whole.
static void print_unit(hdst__writer *out, unit_op op, unsigned unit, unsigned cell, int which)
{
    const char *const local_name[] = {"", "atomic_add", "whole_max64", "local_max32", "atomic_or", "atomic_xor"},
               *const global_name[] = {"device_add", "atomic_add", "device_max", "atomic_max", "atomic_or", "atomic_xor"};
    const char *whole = "(volatile __local ulong *)(cells + %u * stride)";
    char row[80];
    snprintf(row, sizeof row, op == MAX64 ? whole : "cells + %u * stride", cell);
    if (which == 0 && op == ADD64) hdst__write(out, "    strided_add64(%s + at, stride, words.w%u);\n", row, unit);
    if (which == 0 && op != ADD64) hdst__write(out, "    %s(%s + at, (%s)words.w%u);\n", local_name[op], row, op == MAX64 ? "ulong" : "uint", unit);
    if (which == 1 && op == ADD64)
        hdst__write(out, "    words.w%u = (long)(cells[%u * stride + at] | (ulong)cells[%u * stride + at] << 32);\n", unit, cell, cell + 1);
    if (which == 1 && op != ADD64) hdst__write(out, "    words.w%u = (long)(%s)[at];\n", unit, row);
    if (which == 2 && (op == ADD64 || op == MAX64)) hdst__write(out, "    %s((volatile __global long *)to + %u, words.w%u);\n", global_name[op], unit, unit);
    else if (which == 2) hdst__write(out, "    if (words.w%u) %s((volatile __global uint *)(to + %u), (uint)words.w%u);\n", unit, global_name[op], unit, unit);
}

static void print_units(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape, int which)
{
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const hdst__value_column *column = &layout->value[v];
        const uint32_t units = units_of(column), cells = cells_of(column) / units;
        for (uint32_t u = 0; u < units; u++) print_unit(out, op_of(column), shape->value[v].unit + u, shape->value[v].cell + u * cells, which);
    }
}

static void print_words(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    hdst__write_text(out, "typedef struct {\n    uint exceptions;       // a bit for each sum whose addend does not fit\n");
    for (uint32_t u = 0; u < shape->units; u++) hdst__write(out, "    long w%u;\n", (unsigned)u);
    hdst__write_text(out, "} words_t;\ninline words_t words_of(TUPLE tuple, scales_t scales)\n{\n    words_t words;\n    uint exceptions = 0;\n");
    for (uint64_t v = 0; v < layout->value_count; v++) print_word(out, layout, shape, v);
    hdst__key_print_words(out, shape);
    hdst__write_text(out, "    words.exceptions = exceptions;\n    return words;\n}\n// To a row of a table, whose words lie `stride` apart; and from there.\n"
                           "inline void add_cells(volatile __local uint *cells, uint at, uint stride, words_t words)\n{\n");
    print_units(out, layout, shape, 0);
    hdst__key_print_add(out, shape);
    hdst__write_text(out, "}\ninline words_t cells_at(volatile __local uint *cells, uint at, uint stride)\n{\n    words_t words;\n    words.exceptions = 0;\n");
    print_units(out, layout, shape, 1);
    hdst__key_print_read(out, shape);
    hdst__write_text(out, "    return words;\n}\n// To the words of a heavy key, and from there.\ninline void add_words(volatile __global ulong *to, "
        "words_t words)\n{\n");
    print_units(out, layout, shape, 2);
    hdst__key_print_add_heavy(out, shape);
    hdst__write_text(out, "}\ninline words_t words_at(__global const ulong *at)\n{\n    words_t words;\n    words.exceptions = 0;\n");
    for (uint32_t u = 0; u < shape->units; u++) hdst__write(out, "    words.w%u = (long)at[%u];\n", (unsigned)u, (unsigned)u);
    hdst__write_text(out, "    return words;\n}\n");
}

// --- Rows ---

static void print_put(hdst__writer *out, const hdst__aggregation_layout *layout, element at, const char *bits)
{
    const uint64_t offset = hdst__leaf_offset(&layout->record->leaves[at.leaf], at.element);
    if (layout->record->size % at.bytes == 0 && offset % at.bytes == 0)
        hdst__write(out, "*(__global %s *)(row + %" PRIu64 ") = (%s)(%s);\n", type_of(at.bytes), offset, type_of(at.bytes), bits);
    else hdst__write(out, "put_bytes(row + %" PRIu64 ", %s, %u);\n", offset, bits, (unsigned)at.bytes);
}

static const char *sum_text(hdst__arena *arena, const hdst__value_column *column, const hdst__aggregate_kernel_value *at)
{
    const char *word = hdst__arena_printf(arena, "words.w%u", (unsigned)at->unit);
    const char *low = hdst__arena_printf(arena, "words.w%u", (unsigned)at->unit + 1), *s = hdst__arena_printf(arena, "scales.s%u", (unsigned)at->sum);
    if (is_two(column)) return hdst__fixed_two_value_text(arena, &column->cell, word, low, s, "scales.bits");
    return hdst__fixed_value_text(arena, &column->cell, word, hdst__arena_printf(arena, "scales.down%u", (unsigned)at->sum));
}

static const char *value_text(hdst__arena *arena, const hdst__value_column *column, const hdst__aggregate_kernel_value *at)
{
    const unsigned u = at->unit;
    if (column->cell.digits) return sum_text(arena, column, at);
    const char *word = hdst__arena_printf(arena, units_of(column) == 2 ? "((ulong)words.w%u | (ulong)words.w%u << 32)" : "words.w%u", u, u + 1);
    return hdst__word_value_text(arena, &column->cell, word);
}

// A row's padding is zero.
static void print_finished_row(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    uint64_t bytes = 0;
    hdst__write(out, "inline void write_row(__global uchar *row, MIXED m, words_t words, scales_t scales)\n{\n");
    hdst__key_print_unmixed(out, shape);
    for (uint64_t c = 0; c < layout->key_count + layout->value_count; c++) bytes += element_of(layout, c).bytes;
    if (bytes < layout->record->size) hdst__write_text(out, "    for (uint b = 0; b < (uint)SIZE; b++) row[b] = 0;\n");
    for (uint64_t c = 0; c < layout->key_count; c++) {
        hdst__write_text(out, "    ");
        const unsigned at = layout->key[c].at;
        print_put(out, layout, element_of(layout, c), hdst__arena_printf(out->arena, "k%u >> %u", at / 8, at % 8 * 8));
    }
    for (uint64_t v = 0; v < layout->value_count; v++) {
        hdst__write_text(out, "    ");
        print_put(out, layout, element_of(layout, layout->key_count + v), value_text(out->arena, &layout->value[v], &shape->value[v]));
    }
    hdst__write_text(out, "}\n");
}

// A row that is not finished: the mixed key and the words of the table's row, 32 bits each.
static void print_unfinished_row(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    const unsigned first = shape->mixed_bytes / 4;
    hdst__write_text(out, "inline void write_row(__global uchar *row, MIXED m, words_t words, scales_t scales)\n{\n"
                          "    __global uint *to = (__global uint *)row;\n    to[0] = (uint)m;\n");
    if (first == 2) hdst__write_text(out, "    to[1] = (uint)(m >> 32);\n");
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const uint32_t units = units_of(&layout->value[v]), words = cells_of(&layout->value[v]) / units;
        for (uint32_t u = 0; u < units * words; u++)
            hdst__write(out, "    to[%u] = (uint)((ulong)words.w%u >> %u);\n", first + (unsigned)(shape->value[v].cell + u),
                        (unsigned)(shape->value[v].unit + u / words), 32 * (unsigned)(u % words));
    }
    for (uint32_t i = 0; i < shape->rest; i++)
        hdst__write(out, "    to[%u] = (uint)words.w%u;\n", first + (unsigned)(shape->rest_cell + i), (unsigned)(shape->rest_unit + i));
    hdst__write_text(out, "}\n");
}

static void print_state_of(hdst__writer *out, const hdst__value_column *column, unsigned to, unsigned at)
{
    if (is_two(column)) {       // the second word counts multiples of 2^-(s + 40) there, and is below 2^40
        hdst__write(out, "    high = (long)(at[%u] | (ulong)at[%u] << 32);\n    low = (long)(at[%u] | (ulong)at[%u] << 32);\n", at, at + 1, at + 2, at + 3);
        hdst__write(out, "    to[%u] = (ulong)(high + (low >> addend_bits));\n    to[%u] = ((ulong)low & ((1ul << addend_bits) - 1)) << (%u - addend_bits);\n",
                    to, to + 1, (unsigned)HDST__FIXED_BITS);
    } else if (cells_of(column) == 2) {
        hdst__write(out, "    to[%u] = at[%u] | (ulong)at[%u] << 32;\n", to, at, at + 1);
    } else {
        hdst__write(out, "    to[%u] = at[%u];\n", to, at);
    }
}

static void print_key_of_state(hdst__writer *out, const hdst__aggregate_kernel_shape *shape)
{
    const unsigned first = shape->mixed_bytes / 4, last = shape->rest / 2, rest = first + shape->rest_cell;
    if (first == 2 && !last) hdst__write_text(out, "    to[1] = unmix64(at[0] | (ulong)at[1] << 32);\n");
    if (last) hdst__write_text(out, "    ulong h = 0;\n");
    for (unsigned w = 0; w < last; w++)
        hdst__write(out, "    to[%u] = at[%u] | (ulong)at[%u] << 32;\n    h = chain_key(h, to[%u]);\n", 1 + w, rest + 2 * w, rest + 2 * w + 1, 1 + w);
    if (last) hdst__write(out, "    to[%u] = last_of_key(at[0] | (ulong)at[1] << 32, h);\n", 1 + last);
}

// Such a row as a state: a tag, the key where the hash does not tell it, the cells, and no number of superaccumulators yet.
static void print_state(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    const unsigned first = shape->mixed_bytes / 4;
    hdst__write(out, "#define STATE_WORDS %uu\ninline void write_state(__global const uchar *row, __global ulong *to, uint addend_bits)\n{\n"
                     "    __global const uint *at = (__global const uint *)row;\n    long high, low;\n", (unsigned)shape->state_words);
    hdst__write(out, "    to[0] = at[%u] | 1ul << 32;\n", first - 1);
    print_key_of_state(out, shape);
    for (uint64_t v = 0; v < layout->value_count; v++)
        print_state_of(out, &layout->value[v], 1 + layout->key_words + layout->value[v].word, first + shape->value[v].cell);
    hdst__write_text(out, "    to[STATE_WORDS - 1] = 0;\n}\n");
}

static void print_row(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    if (!shape->states) print_finished_row(out, layout, shape);
    if (shape->states) print_unfinished_row(out, layout, shape);
    if (shape->states) print_state(out, layout, shape);
}

// --- Addends that do not fit ---

// A row's words go to its superaccumulators, too, unless it is not to be finished: then the host has both.
static void print_exception(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    hdst__write_text(out, "// An addend that does not fit goes to the overflow cell of the row's sum.\n"
                           "__attribute__((noinline)) void add_exceptions(volatile __global long *overflow, ulong place, TUPLE tuple, uint exceptions)\n{\n");
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const hdst__aggregate_kernel_value *at = &shape->value[v];
        const bool is_float = layout->value[v].cell.kind == HDST__F32;
        if (!layout->value[v].cell.digits) continue;
        hdst__write(out, "    if (exceptions & %uu) superaccumulator_add_%s(overflow_cell(overflow, place + %u), ",
                    1u << at->sum, is_float ? "float" : "double", (unsigned)at->sum);
        if (is_float) hdst__write(out, "as_float(tuple.s%x));\n", (unsigned)at->payload);
        else hdst__write(out, "as_double(tuple.s%x | (ulong)tuple.s%x << 32));\n", (unsigned)at->payload, (unsigned)at->payload + 1);
    }
    hdst__write_text(out, "}\n// And in the end the words go there too.\n"
                          "__attribute__((noinline)) void finish_exceptions(volatile __global long *overflow, __global ulong *rows_of_overflow, ulong place, "
                           "ulong row, words_t words, scales_t scales)\n{\n"
                           "    const ulong size = (ulong)overflow[0] + 1;\n    volatile __global long *cells = overflow + 2 + size;\n");
    for (uint64_t v = 0; v < layout->value_count; v++) {
        const hdst__aggregate_kernel_value *at = &shape->value[v];
        const char *kind = layout->value[v].cell.kind == HDST__F32 ? "FLOAT" : "DOUBLE";
        if (!layout->value[v].cell.digits) continue;
        hdst__write(out,
            "    {\n        volatile __global long *cell = overflow_cell(overflow, place + %u);\n"
            "        rows_of_overflow[(ulong)(cell - cells) / OVERFLOW_CELL_WORDS] = row;\n", (unsigned)at->sum);
        if (!shape->states) hdst__write(out, "        superaccumulator_add_fixed(cell, %s_LAST, %s_LOWEST, words.w%u, scales.s%u);\n", kind, kind,
                                        (unsigned)at->unit, (unsigned)at->sum);
        if (is_two(&layout->value[v]) && !shape->states) hdst__write(out,
            "        superaccumulator_add_fixed(cell, %s_LAST, %s_LOWEST, words.w%u, scales.s%u + (int)scales.bits);\n",
                        kind, kind, (unsigned)at->unit + 1, (unsigned)at->sum);
        hdst__write_text(out, "    }\n");
    }
    hdst__write_text(out, "}\ninline void put_sum(__global uchar *row, ulong sum, __global const long *cell)\n{\n");
    for (uint64_t v = 0; v < layout->value_count; v++) {
        if (!layout->value[v].cell.digits) continue;
        hdst__write(out, "    if (sum == %u) ", (unsigned)shape->value[v].sum);
        print_put(out, layout, element_of(layout, layout->key_count + v), hdst__superaccumulator_value_text(out->arena, &layout->value[v].cell, "cell"));
    }
    hdst__write_text(out, "}\n");
}

// --- The program ---

// The widest words that rows can be copied by.
static uint32_t copy_bytes(const hdst__record *record)
{
    uint32_t bytes = 8;
    while (record->size % bytes) bytes /= 2;
    return bytes;
}

static void print_macros(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__aggregate_kernel_shape *shape)
{
    const uint32_t word = copy_bytes(layout->record);
    if (shape->rest) hdst__write(out, "#define REST_WORDS %uu\n#define REST_CELL %uu\n", (unsigned)shape->rest / 2, (unsigned)shape->rest_cell);
    if (shape->doubles) hdst__write_text(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    hdst__write(out, "#define LANES %uu\n#define TOTAL_LANES %uu\n", (unsigned)HDST__AGGREGATE_LANES, (unsigned)shape->total_lanes);
    hdst__write(out, "#define COUNTED_BITS %uu\n#define SHARE_TILES %uu\n", (unsigned)shape->counted_bits, (unsigned)HDST__GPU_KEY_CHUNK_TILES);
    hdst__write(out, "#define FEW_LANES %uu\n#define MANY_LANES %uu\n#define MANY_ROWS %uu\n#define EACH %uu\n", (unsigned)shape->few_lanes,
                (unsigned)shape->many_lanes, (unsigned)shape->many_rows, (1u << HDST__AGGREGATE_FEW_BITS) / (unsigned)shape->few_lanes);
    hdst__write(out, "#define MIXED_BYTES %u\n#define TUPLE uint%u\n#define TILE_ROWS %uu\n#define AT_ONCE 4u\n#define SLOTS %uu\n"
        "#define CELLS %uu\n#define UNITS %uu\n#define HEAVY_CELLS %uu\n",
                        (unsigned)shape->mixed_bytes, (unsigned)shape->tuple_words, (unsigned)shape->tile_rows, (unsigned)shape->slots,
                            (unsigned)shape->cells, (unsigned)shape->units,
                        (unsigned)shape->heavy_slots);
    hdst__write(out,
        "#define FLOATS %uu\n#define OVERFLOW_CELL_WORDS %u\n#define SUPERACCUMULATOR_LIMBS %u\n"
        "#define SIZE %" PRIu64 "ul\n#define ROW_BYTES %uul\n#define WORD %s\n#define WORDS %" PRIu64 "u\n",
        (unsigned)(shape->sums ? shape->sums : 1), (unsigned)shape->overflow_cell_words,
        (unsigned)hdst__superaccumulator_limbs(shape->overflow_cell_words - 1), layout->record->size,
                        (unsigned)shape->row_bytes, type_of(word),
                        layout->record->size / word);
}

// All kernels, without what they call by name.
static const char *kernels_text(hdst__arena *arena, const hdst__aggregation_layout *layout, const hdst__storage *storage,
                                const hdst__aggregate_kernel_shape *shape)
{
    hdst__writer text = {.arena = arena};
    print_source(&text, layout, storage);
    print_tuple(&text, layout, storage, shape);
    print_scales(&text, layout, shape);
    print_words(&text, layout, shape);
    print_row(&text, layout, shape);
    print_exception(&text, layout, shape);
    hdst__key_print_macros(&text, shape);
    hdst__write_text(&text, hdst__pieces_text(arena, &hdst__aggregate_pieces, "hash_gpu.cl"));
    hdst__write_text(&text, hdst__pieces_text(arena, &hdst__aggregate_pieces, shape->in_rows ? "hash_rows.cl" : "hash_total.cl"));
    if (shape->states) hdst__write_text(&text, hdst__pieces_text(arena, &hdst__aggregate_pieces, "hash_state.cl"));
    return hdst__writer_text(&text);
}

void hdst__aggregate_kernels_text(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage,
                                  const hdst__aggregate_kernel_shape *shape, bool portable)
{
    const hdst__piece_file files[] = {
        {&hdst__base_pieces, portable ? "dialect_portable.cl" : "dialect_plain.cl"},
        {&hdst__accum_pieces, "minmax_keys.cl"},
        {&hdst__accum_pieces, "minmax_keys_double.cl"},
        {&hdst__accum_pieces, "superaccumulator.cl"},
        {&hdst__accum_pieces, "fixed_point.cl"},
        {&hdst__accum_pieces, "superaccumulator_double.cl"},
        {&hdst__accum_pieces, "fixed_point_double.cl"},
        {&hdst__accum_pieces, "integer_words.cl"},
        {&hdst__accum_pieces, "integer_words_local.cl"},
        {&hdst__accum_pieces, "overflow_table.cl"},
        {&hdst__accum_pieces, "rounding.cl"},
        {&hdst__accum_pieces, "rounding_double.cl"},
        {&hdst__accum_pieces, "minmax_values.cl"},
        {&hdst__base_pieces, "put_bytes.cl"},
        {&hdst__base_pieces, "group_sums.cl"},
        {&hdst__aggregate_pieces, "hash_key.cl"},
        {&hdst__aggregate_pieces, "hash_wide_key.cl"},
    };
    hdst__words words = {.arena = out->arena};
    const char *kernels = kernels_text(out->arena, layout, storage, shape);
    hdst__words_add(&words, kernels);
    print_macros(out, layout, shape);
    hdst__write_text(out, hdst__pieces_needed(&words, files, sizeof files / sizeof *files));
    hdst__write_text(out, kernels);
}
