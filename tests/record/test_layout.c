// SPDX-License-Identifier: Apache-2.0
// Values travel through every pair of layouts and come back; addresses are checked against the rule written out by hand.
#include "record/layout.h"
#include "codegen/opencl/print_input.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(layout, .init = set_up, .fini = tear_down);

#pragma pack(push, 2)
struct part { uint8_t tag; double value; };
struct whole { int16_t id; struct part part[2][3]; float x[5]; bool flag; uint64_t text[2]; };
#pragma pack(pop)

static hdst__record *finish(hdst__record record)
{
    hdst__record *copy = HDST__NEW(&arena, hdst__record);
    *copy = record;
    cr_assert(hdst__record_finish(&arena, copy, NULL));
    return copy;
}

static hdst__record *make_whole(void)
{
    hdst__field part_fields[] = {{"tag", hdst__type_scalar(HDST__U8)}, {"value", hdst__type_scalar(HDST__F64)}};
    hdst__record *part = finish((hdst__record){.name = "part", .fields = part_fields, .field_count = 2, .pack = 2});
    hdst__field fields[] = {
        {"id", hdst__type_scalar(HDST__I16)},
        {"part", hdst__type_array(&arena, hdst__type_array(&arena, hdst__type_record(&arena, part), 3), 2)},
        {"x", hdst__type_array(&arena, hdst__type_scalar(HDST__F32), 5)},
        {"flag", hdst__type_scalar(HDST__BOOL)},
        {"text", hdst__type_scalar(HDST__TEXT)},
    };
    return finish((hdst__record){.name = "whole", .fields = fields, .field_count = 5, .pack = 2});
}

enum { MAX_BUFFERS = 16 };

static void allocate(const hdst__storage *storage, void **buffers)
{
    for (uint32_t b = 0; b < storage->buffers; b++) buffers[b] = memset(malloc(storage->buffer_bytes[b] + 1), 0xAA, storage->buffer_bytes[b] + 1);
}

// The byte behind the last one must still be what it was: nothing was written past the end.
static void release(const hdst__storage *storage, void **buffers)
{
    for (uint32_t b = 0; b < storage->buffers; b++) {
        cr_assert_eq(((unsigned char *)buffers[b])[storage->buffer_bytes[b]], 0xAA);
        free(buffers[b]);
    }
}

static const struct { hdst__layout layout; uint64_t block; } layouts[] = {{HDST__AOS, 0}, {HDST__SOA, 0}, {HDST__AOSOA, 64}, {HDST__AOSOA, 256},
                                                                          {HDST__AOP, 0}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, RECORDS = 700, TO_SHIFT = 37, FROM_SHIFT = 5 };

static void fill(struct whole *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->id = (int16_t)(seed * 31);
    for (int p = 0; p < 6; p++) w->part[p / 3][p % 3] = (struct part){(uint8_t)(seed + p), (double)seed + p / 8.0};
    for (int i = 0; i < 5; i++) w->x[i] = (float)seed * (i + 1);
    w->flag = seed & 1;
    w->text[0] = seed * 1000003;
    w->text[1] = seed % 100;
}

static bool same(const struct whole *a, const struct whole *b)
{
    for (int p = 0; p < 6; p++)
        if (a->part[p / 3][p % 3].tag != b->part[p / 3][p % 3].tag || a->part[p / 3][p % 3].value != b->part[p / 3][p % 3].value) return false;
    return a->id == b->id && !memcmp(a->x, b->x, sizeof a->x) && a->flag == b->flag && !memcmp(a->text, b->text, sizeof a->text);
}

static void round_trip(const hdst__record *record, size_t first_layout, size_t second_layout)
{
    const hdst__storage *structs = hdst__storage_make(&arena, record, HDST__AOS, 0, RECORDS);
    const hdst__storage *first = hdst__storage_make(&arena, record, layouts[first_layout].layout, layouts[first_layout].block, RECORDS + FROM_SHIFT);
    const hdst__storage *second = hdst__storage_make(&arena, record, layouts[second_layout].layout, layouts[second_layout].block, RECORDS + TO_SHIFT);
    struct whole *in = malloc(RECORDS * sizeof *in), *out = calloc(RECORDS, sizeof *out);
    for (uint64_t i = 0; i < RECORDS; i++) fill(&in[i], i);
    void *a[MAX_BUFFERS], *b[MAX_BUFFERS], *in_buffers[] = {in}, *out_buffers[] = {out};
    allocate(first, a);
    allocate(second, b);
    hdst__storage_copy(first, a, FROM_SHIFT, structs, (const void *const *)in_buffers, 0, RECORDS);
    hdst__storage_copy(second, b, TO_SHIFT, first, (const void *const *)a, FROM_SHIFT, RECORDS);
    hdst__storage_copy(structs, out_buffers, 0, second, (const void *const *)b, TO_SHIFT, RECORDS);
    for (uint64_t i = 0; i < RECORDS; i++) cr_assert(same(&in[i], &out[i]), "record %d, layouts %zu to %zu", (int)i, first_layout, second_layout);
    // One value read through the address rule, not through a copy.
    double value;
    memcpy(&value, (char *)b[second->leaf[2].buffer] + hdst__storage_offset(second, 2, 400 + TO_SHIFT, 4), sizeof value);
    cr_assert_eq(value, in[400].part[1][1].value);
    release(first, a);
    release(second, b);
    free(in);
    free(out);
}

Test(layout, values_survive_every_pair_of_layouts)
{
    const hdst__record *record = make_whole();
    cr_assert_eq(record->size, sizeof(struct whole));
    cr_assert_str_eq(record->leaves[2].path, "part.value");
    for (size_t i = 0; i < LAYOUTS; i++)
        for (size_t j = 0; j < LAYOUTS; j++) round_trip(record, i, j);
}

// struct { float x[2]; uint8_t k; }: element arrays of 4, 4 and 1 bytes a record
static hdst__record *make_point(void)
{
    hdst__field fields[] = {{"x", hdst__type_array(&arena, hdst__type_scalar(HDST__F32), 2)}, {"k", hdst__type_scalar(HDST__U8)}};
    return finish((hdst__record){.name = "point", .fields = fields, .field_count = 2});
}

Test(layout, soa_arrays_start_at_cache_lines)
{
    const hdst__storage *s = hdst__storage_make(&arena, make_point(), HDST__SOA, 0, 100);
    cr_assert_eq(hdst__storage_offset(s, 0, 0, 1), 448);            // 400 bytes rounded up to 64
    cr_assert_eq(hdst__storage_offset(s, 0, 99, 1), 448 + 396);
    cr_assert_eq(hdst__storage_offset(s, 1, 7, 0), 896 + 7);
    cr_assert_eq(hdst__storage_bytes(s), 896 + 128);
}

Test(layout, aop_has_a_buffer_per_leaf)
{
    const hdst__storage *s = hdst__storage_make(&arena, make_point(), HDST__AOP, 0, 100);
    cr_assert_eq(s->buffers, 2);
    cr_assert_eq(s->leaf[1].buffer, 1);
    cr_assert_eq(hdst__storage_offset(s, 1, 7, 0), 7);
    cr_assert_eq(s->buffer_bytes[0], 896);
    cr_assert_eq(s->buffer_bytes[1], 128);
}

Test(layout, aosoa_repeats_soa_in_blocks)
{
    const hdst__storage *s = hdst__storage_make(&arena, make_point(), HDST__AOSOA, 64, 100);
    cr_assert_eq(s->capacity, 128);
    cr_assert_eq(hdst__storage_offset(s, 0, 63, 1), 256 + 252);
    cr_assert_eq(hdst__storage_offset(s, 0, 64, 0), 576);           // a block is 2 * 64 * 4 + 64 bytes
    cr_assert_eq(hdst__storage_offset(s, 1, 66, 0), 576 + 512 + 2);
    cr_assert_eq(hdst__storage_bytes(s), 2 * 576);
    cr_assert_eq(hdst__storage_make(&arena, make_point(), HDST__AOSOA, 0, 1)->block, 256);
}

Test(layout, nothing_at_all_needs_no_bytes)
{
    for (size_t i = 0; i < LAYOUTS; i++)
        cr_assert_eq(hdst__storage_bytes(hdst__storage_make(&arena, make_point(), layouts[i].layout, layouts[i].block, 0)), 0);
}

Test(layout, a_storage_beyond_all_memory_is_refused)
{
    cr_assert_null(hdst__storage_make(&arena, make_point(), HDST__SOA, 0, (uint64_t)1 << 60));
    cr_assert_null(hdst__storage_make(&arena, make_point(), HDST__AOSOA, 256, UINT64_MAX));
}

// Elements are numbered in 32 bits; their bytes may be more.
Test(layout, offsets_of_elements_beyond_two_gibibytes_are_of_64_bits)
{
    const hdst__type *f32 = hdst__type_scalar(HDST__F32), *f64 = hdst__type_scalar(HDST__F64);
    hdst__field pair_fields[] = {{"a", f32}, {"b", f64}};
    hdst__record *pair = finish((hdst__record){.name = "pair", .fields = pair_fields, .field_count = 2});
    hdst__field fields[] = {{"small", hdst__type_array(&arena, f32, 1 << 29)}, {"large", hdst__type_array(&arena, f32, (1 << 29) + 1)},
                            {"pairs", hdst__type_array(&arena, hdst__type_record(&arena, pair), 1 << 28)}};
    const hdst__record *record = finish((hdst__record){.name = "record", .fields = fields, .field_count = 3});
    cr_expect_str_eq(hdst__element_offset(&arena, &record->leaves[0]), " + (e) * 4");
    cr_expect_str_eq(hdst__element_offset(&arena, &record->leaves[1]), " + (ulong)(e) * 4");
    cr_expect_str_eq(hdst__element_offset(&arena, &record->leaves[2]), " + (ulong)(e) / 1 % 268435456 * 16");
}
