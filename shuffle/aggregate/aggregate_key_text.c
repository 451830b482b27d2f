// SPDX-License-Identifier: Apache-2.0
// Keys in kernels of a reduction by key on a GPU (shuffle/aggregate/aggregate_key_text.h).
#include "shuffle/aggregate/aggregate_key_text.h"

static uint64_t offset_of(const hdst__aggregation_layout *layout, uint64_t c)
{
    const hdst__key_column *column = &layout->key[c];
    return hdst__leaf_offset(&layout->record->leaves[column->leaf], column->element);
}

// --- From records ---

// Small elements that fill 4 bytes of the packed key as they lie in the record, the first of them at a multiple of 4, are one load.
uint32_t hdst__key_load_bytes(const hdst__aggregation_layout *layout, const hdst__storage *storage, uint64_t c)
{
    const hdst__key_column *column = &layout->key[c];
    const uint32_t begin = column->at / 4 * 4;
    uint64_t first = c, end = c;
    if (column->bytes >= 4 || storage->layout != HDST__AOS || layout->record->size % 4) return column->bytes;
    while (first > 0 && layout->key[first - 1].at >= begin) first--;
    if (offset_of(layout, first) % 4) return column->bytes;
    uint32_t at = begin;
    for (end = first; end < layout->key_count && layout->key[end].at == at && at < begin + 4; at += layout->key[end++].bytes)
        if (offset_of(layout, end) != offset_of(layout, first) + (at - begin)) return column->bytes;
    return at != begin + 4 ? column->bytes : c == first ? 4 : 0;
}

static void print_word(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage, uint32_t word)
{
    hdst__write(out, "    const ulong k%u = 0", (unsigned)word);
    for (uint64_t c = 0; c < layout->key_count; c++)
        if (layout->key[c].at / 8 == word && hdst__key_load_bytes(layout, storage, c))
            hdst__write(out, " | (ulong)x%u << %u", (unsigned)c, (unsigned)(8 * (layout->key[c].at % 8)));
    hdst__write_text(out, ";\n");
}

void hdst__key_print_mixed(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage,
                           const hdst__aggregate_kernel_shape *shape)
{
    const uint32_t last = shape->rest / 2;
    for (uint32_t w = 0; w <= last; w++) print_word(out, layout, storage, w);
    if (shape->mixed_bytes == 4) {
        hdst__write_text(out, "    tuple.s0 = mix32((uint)k0);\n");
        return;
    }
    hdst__write_text(out, last ? "    ulong m = 0;\n" : "    const ulong m = mix64(k0);\n");
    for (uint32_t w = 0; w <= last && last; w++) hdst__write(out, "    m = chain_key(m, k%u);\n", (unsigned)w);
    hdst__write_text(out, "    tuple.s0 = (uint)m;\n    tuple.s1 = (uint)(m >> 32);\n");
    for (unsigned i = 0; i < shape->rest; i++) hdst__write(out, "    tuple.s%x = (uint)(k%u >> %u);\n", 2 + i, i / 2, i % 2 * 32);
}

// --- The rest among the words of a row ---

void hdst__key_print_words(hdst__writer *out, const hdst__aggregate_kernel_shape *shape)
{
    if (!shape->rest) return;
    for (uint32_t i = 0; i < shape->rest; i++) hdst__write(out, "    words.w%u = tuple.s%x;\n", (unsigned)(shape->rest_unit + i), (unsigned)(2 + i));
    hdst__write(out, "    words.w%u = 0", (unsigned)(shape->rest_unit + shape->rest));
    for (uint32_t i = 0; i < shape->rest; i++) hdst__write(out, " | (tuple.s%x == 0) << %u", (unsigned)(2 + i), (unsigned)i);
    hdst__write_text(out, ";\n");
}

void hdst__key_print_add(hdst__writer *out, const hdst__aggregate_kernel_shape *shape)
{
    const unsigned cell = shape->rest_cell, unit = shape->rest_unit, note = shape->rest_cell + shape->rest;
    if (!shape->rest) return;
    for (unsigned i = 0; i < shape->rest; i++)
        hdst__write(out, "    keep_rest(cells + %u * stride + at, cells + %u * stride + at, (uint)words.w%u);\n", cell + i, note, unit + i);
    hdst__write(out, "    keep_note(cells + %u * stride + at, (uint)words.w%u);\n", note, unit + (unsigned)shape->rest);
}

void hdst__key_print_read(hdst__writer *out, const hdst__aggregate_kernel_shape *shape)
{
    if (!shape->rest) return;
    for (unsigned i = 0; i <= shape->rest; i++)
        hdst__write(out, "    words.w%u = (long)(cells + %u * stride)[at];\n", (unsigned)shape->rest_unit + i, (unsigned)shape->rest_cell + i);
}

void hdst__key_print_add_heavy(hdst__writer *out, const hdst__aggregate_kernel_shape *shape)
{
    const unsigned unit = shape->rest_unit, note = shape->rest_unit + shape->rest;
    if (!shape->rest) return;
    for (unsigned i = 0; i < shape->rest; i++)
        hdst__write(out, "    keep_heavy_rest((volatile __global uint *)(to + %u), (volatile __global uint *)(to + %u), (uint)words.w%u);\n", unit + i, note,
                    unit + i);
    hdst__write(out, "    if (words.w%u) atomic_or((volatile __global uint *)(to + %u), (uint)words.w%u);\n", note, note, note);
}

// --- Back to keys ---

void hdst__key_print_unmixed(hdst__writer *out, const hdst__aggregate_kernel_shape *shape)
{
    const unsigned last = shape->rest / 2, unit = shape->rest_unit;
    if (!last) {
        hdst__write(out, "    const ulong k0 = %s(m);\n", shape->mixed_bytes == 4 ? "unmix32" : "unmix64");
        return;
    }
    hdst__write_text(out, "    ulong h = 0;\n");
    for (unsigned w = 0; w < last; w++)
        hdst__write(out, "    const ulong k%u = (ulong)(uint)words.w%u | (ulong)words.w%u << 32;\n    h = chain_key(h, k%u);\n", w, unit + 2 * w,
                    unit + 2 * w + 1, w);
    hdst__write(out, "    const ulong k%u = last_of_key(m, h);\n", last);
}

void hdst__key_print_macros(hdst__writer *out, const hdst__aggregate_kernel_shape *shape)
{
    const unsigned unit = shape->rest_unit, note = shape->rest_unit + shape->rest;
    hdst__write(out, "#define COMES_BEFORE%s\n", shape->rest ? " wide_comes_before" : shape->mixed_bytes == 4 ? "(cells, at_a, a, at_b, b, top) ((a) < (b))"
                                                                                 : "(cells, at_a, a, at_b, b, top) comes_before(a, b, top)");
    if (!shape->rest) {
        hdst__write_text(out, "#define KEYS_DIFFER(words) false\n");
        return;
    }
    hdst__write(out, "#define KEYS_DIFFER(words) (((words).w%u & OTHER_KEY) != 0", note);
    for (unsigned i = 0; i < shape->rest; i++) hdst__write(out, " || (((words).w%u >> %u & 1) != 0 && (words).w%u != 0)", note, i, unit + i);
    hdst__write_text(out, ")\n");
}
