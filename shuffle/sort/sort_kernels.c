// SPDX-License-Identifier: Apache-2.0
// The kernels of a device's sort as text, which lies in the writer's arena (shuffle/sort/sort_kernels.h).
#include "shuffle/sort/sort_kernels.h"

#include "base/costs_gpu.h"

#include <inttypes.h>

size_t hdst__sort_word_of(const hdst__sort_field *fields, size_t count, hdst__sort_word *word)
{
    *word = (hdst__sort_word){0};
    while (count > 0 && word->bits + fields[count - 1].bits <= 64) {
        word->bits += fields[--count].bits;
        word->count++;
    }
    word->fields = fields + count;
    return count;
}

static uint64_t align_to(uint64_t at, uint64_t bytes) { return (at + bytes - 1) / bytes * bytes; }

void hdst__sort_mixed_word_of(const hdst__sort_field *fields, size_t count, hdst__sort_word *word)
{
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) at = align_to(at, fields[i].bits / 8) + fields[i].bits / 8;
    *word = (hdst__sort_word){.fields = fields, .count = count, .bits = at > 4 ? 64 : 32, .mixed = true};
}

bool hdst__sort_is_key(const hdst__record *record, const hdst__sort_word *word)
{
    const hdst__sort_field *field = &word->fields[0];
    // A bool may have other bits than 0 and 1.
    return word->count == 1 && record->elements == 1 && record->size * 8 == field->bits && field->kind != HDST__BOOL;
}

static const char *type_of(uint32_t bits)
{
    return bits == 8 ? "uchar" : bits == 16 ? "ushort" : bits == 32 ? "uint" : "ulong";
}

static const char *suffix_of(uint32_t bits) { return bits == 64 ? "ul" : "u"; }
static uint64_t sign_of(const hdst__sort_field *field) { return (uint64_t)1 << (field->bits - 1); }
static uint64_t mask_of(const hdst__sort_field *field) { return ~(uint64_t)0 >> (64 - field->bits); }

// A memory's start is aligned, so records of a suitable size at suitable offsets are.
static void write_load(hdst__writer *out, const hdst__sort_field *field, uint64_t size)
{
    const char *type = field->bits == 64 ? "ulong" : "uint";
    const uint32_t bytes = field->bits / 8;
    if (size % bytes == 0 && field->offset % bytes == 0) {
        hdst__write(out, "    %s x = *(__global const %s *)(row + %" PRIu64 ");\n", type, type_of(field->bits), field->offset);
        return;
    }
    hdst__write(out, "    %s x = row[%" PRIu64 "]", type, field->offset);
    for (uint32_t b = 1; b < bytes; b++) hdst__write(out, " | (%s)row[%" PRIu64 "] << %u", type, field->offset + b, (unsigned)(8 * b));
    hdst__write_text(out, ";\n");
}

// The text of sort_number (sort_key.c).
static void write_field(hdst__writer *out, const hdst__sort_field *field, uint32_t shift, uint64_t size)
{
    const char *suffix = suffix_of(field->bits);
    hdst__write_text(out, "    {\n");
    write_load(out, field, size);
    if (hdst__kind_is_float(field->kind)) hdst__write(out, "    x ^= (0 - (x >> %u)) | 0x%" PRIx64 "%s;\n", (unsigned)field->bits - 1, sign_of(field), suffix);
    else if (hdst__kind_is_signed(field->kind)) hdst__write(out, "    x ^= 0x%" PRIx64 "%s;\n", sign_of(field), suffix);
    else if (field->kind == HDST__BOOL) hdst__write_text(out, "    x = x != 0;\n");
    if (field->descending) hdst__write(out, "    x ^= 0x%" PRIx64 "%s;\n", mask_of(field), suffix);
    hdst__write(out, "    key |= (KEY)x << %u;\n    }\n", (unsigned)shift);
}

void hdst__sort_packed_text(hdst__writer *out, const hdst__record *record, const hdst__sort_word *word)
{
    const unsigned bytes = word->bits / 8;
    hdst__write(out, "#define MIXED_BYTES %u\n%s\n", bytes, hdst__pieces_text(out->arena, &hdst__sort_pieces, "hash_key.cl"));
    hdst__write(out, "#define PACKED %s\ninline PACKED packed_of(__global const uchar *row)\n{\n    PACKED key = 0;\n", bytes == 8 ? "ulong" : "uint");
    uint64_t at = 0;
    for (size_t i = 0; i < word->count; i++) {
        const hdst__sort_field *field = &word->fields[i];
        at = align_to(at, field->bits / 8);
        hdst__write_text(out, "    {\n");
        write_load(out, field, record->size);
        hdst__write(out, "    key |= (PACKED)x << %u;\n    }\n", (unsigned)(8 * at));
        at += field->bits / 8;
    }
    hdst__write(out, "    return key;\n}\ninline PACKED mixed_of(__global const uchar *row) { return mix%u(packed_of(row)); }\n", (unsigned)word->bits);
}

// And back.
static void write_value(hdst__writer *out, const hdst__sort_field *field)
{
    const char *suffix = suffix_of(field->bits);
    hdst__write(out, "#define VALUE %s\n#define VALUE16 %s16\ninline VALUE value_of(KEY x)\n{\n", type_of(field->bits), type_of(field->bits));
    if (field->descending) hdst__write(out, "    x ^= 0x%" PRIx64 "%s;\n", mask_of(field), suffix);
    if (hdst__kind_is_float(field->kind)) hdst__write(out, "    x ^= ((x >> %u) - 1) | 0x%" PRIx64 "%s;\n", (unsigned)field->bits - 1, sign_of(field), suffix);
    else if (hdst__kind_is_signed(field->kind)) hdst__write(out, "    x ^= 0x%" PRIx64 "%s;\n", sign_of(field), suffix);
    hdst__write_text(out, "    return (VALUE)x;\n}\n");
}

hdst__sort_tile hdst__sort_tile_of(uint64_t key_bytes, bool large)
{
    const uint32_t lanes = large ? HDST__GPU_SORT_LARGE_GROUP : HDST__GPU_SORT_GROUP, bytes = large ? HDST__GPU_SORT_LARGE_KEY_BYTES : HDST__GPU_SORT_KEY_BYTES;
    return (hdst__sort_tile){lanes, bytes / (uint32_t)key_bytes};
}

void hdst__sort_pass_text(hdst__writer *out, const hdst__record *record, const hdst__sort_word *word, hdst__sort_source source, bool pairs, bool last,
                          const hdst__sort_tile *tile)
{
    const char *key = word->bits > 32 ? "ulong" : "uint";
    hdst__write(out, "#define KEY %s\n#define SRC %d\n#define PAIRS %d\n#define LAST %d\n#define SIZE %" PRIu64 "ul\n",
                key, (int)source, pairs, last, record->size);
    if (source != HDST__SORT_KEYS && word->mixed) {
        hdst__sort_packed_text(out, record, word);
        hdst__write_text(out, "#define key_of(row) mixed_of(row)\n");
    } else if (source != HDST__SORT_KEYS) {
        hdst__write_text(out, "inline KEY key_of(__global const uchar *row)\n{\n    KEY key = 0;\n");
        uint32_t shift = word->bits;
        for (size_t i = 0; i < word->count; i++) {
            shift -= word->fields[i].bits;
            write_field(out, &word->fields[i], shift, record->size);
        }
        hdst__write_text(out, "    return key;\n}\n");
    }
    if (!pairs && last) write_value(out, &word->fields[0]);
    hdst__write(out, "#define OUT16 %s\n", !pairs && last ? "VALUE16" : word->bits > 32 ? "ulong16" : "uint16");
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__sort_pieces, "sort_order.cl"));
    if (tile) hdst__write(out, "#define LANES %uu\n#define ROWS %uu\n", (unsigned)tile->lanes, (unsigned)tile->rows);
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__sort_pieces, tile ? "sort_gpu.cl" : "sort_cpu.cl"));
}

// The widest words that records can be copied by.
static uint64_t copy_word(const hdst__record *record)
{
    uint64_t word = 8;
    while (record->size % word) word /= 2;
    return word;
}

void hdst__sort_gather_text(hdst__writer *out, const hdst__record *record, bool gpu)
{
    const uint64_t word = copy_word(record);
    hdst__write(out, "#define WORD %s\n#define WORDS %" PRIu64 "u\n", type_of((uint32_t)word * 8), record->size / word);
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__sort_pieces, gpu ? "sort_gather_gpu.cl" : "sort_gather_cpu.cl"));
}
