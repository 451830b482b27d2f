// SPDX-License-Identifier: Apache-2.0
// Offsets and sizes are checked against structs that the C compiler lays out here.
#include "record/type.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(type, .init = set_up, .fini = tear_down);

static const hdst__type *scalar(hdst__kind kind) { return hdst__type_scalar(kind); }
static const hdst__type *array(const hdst__type *element, uint64_t count) { return hdst__type_array(&arena, element, count); }
static const hdst__type *nested(const hdst__record *record) { return hdst__type_record(&arena, record); }

static hdst__record *make(const char *name, uint64_t pack, const hdst__field *fields, size_t count)
{
    hdst__record *record = HDST__NEW(&arena, hdst__record);
    *record = (hdst__record){.name = name, .fields = fields, .field_count = count, .pack = pack};
    const char *why = "";
    cr_assert(hdst__record_finish(&arena, record, &why), "%s", why);
    return record;
}

static const char *refusal(const hdst__field *fields, size_t count)
{
    hdst__record record = {.name = "r", .fields = fields, .field_count = count};
    const char *why = NULL;
    cr_assert_not(hdst__record_finish(&arena, &record, &why));
    return why;
}

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define ASSERT_OFFSET(record, type, field) cr_assert_eq(hdst__record_field(record, #field)->offset, offsetof(struct type, field), #type "." #field)
#define ASSERT_SHAPE(record, type) \
    cr_assert_eq((record)->size, sizeof(struct type)); \
    cr_assert_eq((record)->align, _Alignof(struct type))

struct mixed { bool a; double b; int16_t c; uint8_t d[3]; int64_t e; float f; };
// The same under every packing that `align` can ask for. #pragma pack(n) is the compiler's own "fields are aligned to at most n".
#define MIXED_FIELDS bool a; double b; int16_t c; uint8_t d[3]; int64_t e; float f;
#pragma pack(push, 1)
struct mixed1 { MIXED_FIELDS } __attribute__((aligned(1)));
#pragma pack(pop)
#pragma pack(push, 2)
struct mixed2 { MIXED_FIELDS } __attribute__((aligned(2)));
#pragma pack(pop)
#pragma pack(push, 4)
struct mixed4 { MIXED_FIELDS } __attribute__((aligned(4)));
#pragma pack(pop)
#pragma pack(push, 16)
struct mixed64 { MIXED_FIELDS } __attribute__((aligned(64)));
#pragma pack(pop)

static hdst__record *make_mixed(uint64_t pack)
{
    hdst__field fields[] = {{"a", scalar(HDST__BOOL)}, {"b", scalar(HDST__F64)}, {"c", scalar(HDST__I16)},
                            {"d", array(scalar(HDST__U8), 3)}, {"e", scalar(HDST__I64)}, {"f", scalar(HDST__F32)}};
    return make("mixed", pack, fields, COUNT(fields));
}

#define CHECK_MIXED(record, type)      \
    ASSERT_SHAPE(record, type);        \
    ASSERT_OFFSET(record, type, a);    \
    ASSERT_OFFSET(record, type, b);    \
    ASSERT_OFFSET(record, type, c);    \
    ASSERT_OFFSET(record, type, d);    \
    ASSERT_OFFSET(record, type, e);    \
    ASSERT_OFFSET(record, type, f)

Test(type, natural_layout_is_that_of_the_compiler)
{
    hdst__record *record = make_mixed(0);
    CHECK_MIXED(record, mixed);
}

Test(type, align_packs_fields_and_sets_the_alignment_of_the_record)
{
    hdst__record *one = make_mixed(1), *two = make_mixed(2), *four = make_mixed(4), *wide = make_mixed(64);
    CHECK_MIXED(one, mixed1);
    CHECK_MIXED(two, mixed2);
    CHECK_MIXED(four, mixed4);
    CHECK_MIXED(wide, mixed64);
    cr_assert_eq(one->size, 1 + 8 + 2 + 3 + 8 + 4);     // an odd-sized record has no padding at all
}

#pragma pack(push, 1)
struct odd { uint8_t tag; float w; int16_t k; };
#pragma pack(pop)
struct from_to { int16_t from; double to[2]; };
struct outer { uint8_t kind; struct odd odd[3]; struct from_to line[2][3]; int32_t last; };

static hdst__record *make_outer(void)
{
    hdst__field odd_fields[] = {{"tag", scalar(HDST__U8)}, {"w", scalar(HDST__F32)}, {"k", scalar(HDST__I16)}};
    hdst__record *odd = make("odd", 1, odd_fields, COUNT(odd_fields));
    hdst__field line_fields[] = {{"from", scalar(HDST__I16)}, {"to", array(scalar(HDST__F64), 2)}};
    hdst__record *line = make("from_to", 0, line_fields, COUNT(line_fields));
    hdst__field fields[] = {{"kind", scalar(HDST__U8)}, {"odd", array(nested(odd), 3)}, {"line", array(array(nested(line), 3), 2)},
                            {"last", scalar(HDST__I32)}};
    return make("outer", 0, fields, COUNT(fields));
}

Test(type, nested_records_and_arrays_of_them_lie_as_in_c)
{
    hdst__record *record = make_outer();
    ASSERT_SHAPE(record, outer);
    ASSERT_OFFSET(record, outer, kind);
    ASSERT_OFFSET(record, outer, odd);
    ASSERT_OFFSET(record, outer, line);
    ASSERT_OFFSET(record, outer, last);
}

Test(type, leaves_reach_every_scalar_at_its_place_in_c)
{
    hdst__record *record = make_outer();
    static const char *const paths[] = {"kind", "odd.tag", "odd.w", "odd.k", "line.from", "line.to", "last"};
    static const uint64_t elements[] = {1, 3, 3, 3, 6, 12, 1};
    cr_assert_eq(record->leaf_count, COUNT(paths));
    uint64_t first = 0;
    for (size_t i = 0; i < COUNT(paths); i++) {
        cr_assert_str_eq(record->leaves[i].path, paths[i]);
        cr_assert_eq(record->leaves[i].elements, elements[i]);
        cr_assert_eq(record->leaves[i].first, first);
        cr_assert_eq(hdst__record_leaf(record, paths[i]), (int)i);
        first += elements[i];
    }
    cr_assert_eq(record->elements, first);
    cr_assert_eq(hdst__record_leaf(record, "line"), -1);

    struct outer o;
    const hdst__leaf *k = &record->leaves[3], *to = &record->leaves[5];
    for (uint64_t i = 0; i < 3; i++) cr_assert_eq(hdst__leaf_offset(k, i), (char *)&o.odd[i].k - (char *)&o);
    for (uint64_t i = 0; i < 12; i++) cr_assert_eq(hdst__leaf_offset(to, i), (char *)&o.line[i / 6][i / 2 % 3].to[i % 2] - (char *)&o);
    cr_assert_eq(to->dims, 3);
    cr_assert_eq(hdst__record_field(record, "missing"), NULL);
}

struct text_in_memory { uint32_t length; char start[4]; uint64_t rest; };
struct tagged { uint8_t tag; struct text_in_memory name; };

Test(type, text_is_a_span)
{
    hdst__field fields[] = {{"tag", scalar(HDST__U8)}, {"name", scalar(HDST__TEXT)}};
    hdst__record *record = make("tagged", 0, fields, COUNT(fields));
    ASSERT_SHAPE(record, tagged);
    ASSERT_OFFSET(record, tagged, name);
    cr_assert(record->has_text);
    cr_assert_not(make_outer()->has_text);
    hdst__field around[] = {{"t", nested(record)}};
    cr_assert(make("around", 0, around, 1)->has_text);
}

Test(type, sizes_that_do_not_fit_are_refused_not_wrapped)
{
    hdst__field huge[] = {{"x", array(array(scalar(HDST__F64), (uint64_t)1 << 40), (uint64_t)1 << 40)}};
    cr_assert_str_eq(refusal(huge, 1), "field 'x' is larger than 2^40 bytes");
    hdst__field sum[65];
    for (int i = 0; i < 65; i++) {
        char name[8];
        snprintf(name, sizeof name, "x%d", i);
        sum[i] = (hdst__field){hdst__arena_strdup(&arena, name), i < 64 ? array(scalar(HDST__F64), (uint64_t)1 << 31) : scalar(HDST__U8)};
    }
    cr_assert_str_eq(refusal(sum, 65), "the record is larger than 2^40 bytes");
    cr_assert(make("largest", 0, sum, 64)->size == (uint64_t)1 << 40);
    cr_assert_str_eq(refusal(NULL, 0), "the record has no fields");
}

// Loops over the elements of a field count in 32 bits, those of 16 lanes too.
Test(type, fields_of_more_numbers_than_32_bits_count_are_refused)
{
    hdst__field flat[] = {{"x", array(scalar(HDST__U8), UINT32_MAX - 16)}}, more[] = {{"x", array(scalar(HDST__U8), UINT32_MAX - 15)}};
    hdst__field square[] = {{"x", array(array(scalar(HDST__U8), 1 << 16), 1 << 16)}};
    cr_assert_eq(make("flat", 0, flat, 1)->elements, UINT32_MAX - 16);
    cr_assert_str_eq(refusal(more, 1), "'x' has more than 4294967279 numbers");
    cr_assert_str_eq(refusal(square, 1), "'x' has more than 4294967279 numbers");
    hdst__field row[] = {{"x", array(scalar(HDST__U8), 1 << 16)}};
    hdst__field rows[] = {{"r", array(nested(make("row", 0, row, 1)), 1 << 16)}};
    cr_assert_str_eq(refusal(rows, 1), "'r.x' has more than 4294967279 numbers");
}

Test(type, nine_dimensions_are_refused)
{
    const hdst__type *eight = scalar(HDST__U8);
    for (int i = 0; i < 8; i++) eight = array(eight, 2);
    hdst__field field = {"x", eight};
    hdst__record *record = make("deep", 0, &field, 1);
    cr_assert_eq(record->leaves[0].elements, 256);
    hdst__field one_more = {"x", array(eight, 2)}, around = {"r", array(nested(record), 2)};
    cr_assert_str_eq(refusal(&one_more, 1), "'x' has more than 8 dimensions");
    cr_assert_str_eq(refusal(&around, 1), "'r.x' has more than 8 dimensions");
}

Test(type, doubling_nests_are_refused_before_they_fill_the_memory)
{
    hdst__field fields[2] = {{"a", scalar(HDST__U8)}, {"b", scalar(HDST__U8)}};
    hdst__record *record = make("r", 0, fields, 2);
    while (record->leaf_count < 8192) {
        fields[0].type = fields[1].type = nested(record);
        record = make("r", 0, fields, 2);
    }
    fields[0].type = fields[1].type = nested(record);
    cr_assert_str_eq(refusal(fields, 2), "the record has more than 10000 scalar fields, nested ones counted");
}

Test(type, equality_is_structural_but_for_records)
{
    hdst__record *a = make_mixed(0), *b = make_mixed(0);
    cr_assert(hdst__type_equal(array(scalar(HDST__F32), 2), array(scalar(HDST__F32), 2)));
    cr_assert_not(hdst__type_equal(array(scalar(HDST__F32), 2), array(scalar(HDST__F32), 3)));
    cr_assert_not(hdst__type_equal(array(scalar(HDST__F32), 2), array(scalar(HDST__F64), 2)));
    cr_assert_not(hdst__type_equal(array(scalar(HDST__F32), 1), scalar(HDST__F32)));
    cr_assert(hdst__type_equal(nested(a), nested(a)));
    cr_assert_not(hdst__type_equal(nested(a), nested(b)));
    cr_assert_not(hdst__type_equal(array(nested(a), 2), array(nested(b), 2)));
    hdst__type stream_a = {.kind = HDST__STREAM, .element = nested(a)}, stream_b = {.kind = HDST__STREAM, .element = nested(b)}, same = stream_a;
    cr_assert(hdst__type_equal(&stream_a, &same));
    cr_assert_not(hdst__type_equal(&stream_a, &stream_b));
}

Test(type, names_read_as_in_c)
{
    cr_assert_str_eq(hdst__type_name(&arena, scalar(HDST__U32)), "uint32_t");
    cr_assert_str_eq(hdst__type_name(&arena, array(array(scalar(HDST__F32), 3), 2)), "float[2][3]");
    cr_assert_str_eq(hdst__type_name(&arena, nested(make_mixed(0))), "struct mixed");
    cr_assert_str_eq(hdst__type_name(&arena, hdst__type_scalar(HDST__VOID)), "void");
    cr_assert_str_eq(hdst__scalar_yaml_name(HDST__F64), "float64");
    cr_assert_str_eq(hdst__scalar_cl_name(HDST__BOOL), "uchar");
}
