// SPDX-License-Identifier: Apache-2.0
// .npy files made byte by byte: every type, order and shape arrives as the same numbers; everything malformed gets a message.
#include "tests/io/helper.h"

#include <math.h>

TestSuite(source_npy, .init = set_up, .fini = tear_down);

enum { ROWS = 300 };

// A header of the usual form. shape as Python writes it.
static const char *header(const char *descr, const char *shape)
{
    return hdst__arena_printf(&arena, "{'descr': %s, 'fortran_order': False, 'shape': %s, }", descr, shape);
}

static hdst__source *open_npy(const char *descr, const char *shape, const void *data, size_t bytes, const char *columns)
{
    const char *path = write_npy("a.npy", header(descr, shape), data, bytes);
    return OPEN_OK(hdst__source_npy(NULL, path, columns, error));
}

Test(source_npy, rows_of_floats_are_read_as_they_are)
{
    float table[ROWS][3];
    for (int i = 0; i < ROWS * 3; i++) table[i / 3][i % 3] = (float)i / 7;
    hdst__source *source = open_npy("'<f4'", "(300, 3)", table, sizeof table, NULL);
    cr_assert_eq(source->width, 3);
    cr_assert_eq(source->rows, ROWS);
    hdst__record *record = array_record(HDST__F32, 3);
    expect_records(source, record, table, ROWS);
    hdst__bound_source *bound;
    cr_assert_eq(hdst__source_bind(source, record, &bound, NULL), HDST_OK);
    cr_assert_null(hdst__bound_source_note(bound));
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

static const struct { const char *descr; hdst__kind kind; int bytes; } types[] = {
    {"|b1", HDST__BOOL, 1}, {"?", HDST__BOOL, 1}, {"|i1", HDST__I8, 1}, {"<i2", HDST__I16, 2}, {"<i4", HDST__I32, 4}, {"<i8", HDST__I64, 8},
    {"|u1", HDST__U8, 1},
    {"<u2", HDST__U16, 2}, {"<u4", HDST__U32, 4}, {"<u8", HDST__U64, 8}, {"=f4", HDST__F32, 4}, {"<f8", HDST__F64, 8}, {"<f2", HDST__F32, 2},
};

// Half precision of 0 and 1, so that every type holds the values: 0x0000, 0x3c00.
static void put(char *to, hdst__kind kind, int bytes, int value)
{
    union { int8_t i8; int16_t i16; int32_t i32; int64_t i64; float f; double d; uint16_t half; } v = {0};
    if (bytes == 2 && kind == HDST__F32) v.half = value ? 0x3c00 : 0;
    else if (kind == HDST__F32) v.f = (float)value;
    else if (kind == HDST__F64) v.d = value;
    else if (bytes == 1) v.i8 = (int8_t)value;
    else if (bytes == 2) v.i16 = (int16_t)value;
    else if (bytes == 4) v.i32 = value;
    else v.i64 = value;
    memcpy(to, &v, (size_t)bytes);
}

Test(source_npy, every_type_and_both_byte_orders_convert_to_every_type)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (int swapped = 0; swapped < 2; swapped++) {
            char data[ROWS * 2 * 8], descr[16];
            for (int i = 0; i < ROWS * 2; i++) {
                char *to = data + i * types[t].bytes;
                put(to, types[t].kind, types[t].bytes, i % 3 == 0);
                for (int a = 0, b = types[t].bytes - 1; swapped && a < b; a++, b--) { char c = to[a]; to[a] = to[b]; to[b] = c; }
            }
            snprintf(descr, sizeof descr, "'%s'", types[t].descr);
            if (swapped && strchr("<=", descr[1])) descr[1] = '>';
            else if (swapped) continue;
            hdst__source *source = open_npy(descr, "(300, 2)", data, (size_t)(ROWS * 2 * types[t].bytes), NULL);
            for (size_t u = 0; u < 12; u++) {
                char expected[ROWS * 2 * 8];
                int size = (int)hdst__scalar_size(types[u].kind);
                for (int i = 0; i < ROWS * 2; i++) put(expected + i * size, types[u].kind, size, i % 3 == 0);
                expect_records(source, array_record(types[u].kind, 2), expected, ROWS);
            }
            hdst__source_close(source);
        }
    }
}

Test(source_npy, half_floats_are_exact)
{
    // 1, -2, 65504, the smallest normal, the smallest denormal, the largest denormal, -0, inf
    uint16_t half[] = {0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x03ff, 0x8000, 0x7c00};
    float expected[] = {1, -2, 65504, 0x1p-14f, 0x1p-24f, 0x1.ff8p-15f, -0.0f, INFINITY};
    hdst__source *source = open_npy("'<f2'", "(8,)", half, sizeof half, NULL);
    expect_records(source, array_record(HDST__F32, 1), expected, 8);
    hdst__source_close(source);
}

Test(source_npy, conversions_are_noted_with_what_they_cost)
{
    static const struct { const char *descr; int bytes; hdst__kind to; const char *note; } cases[] = {
        {"'<f8'", 8, HDST__F32, "float64 converted to float32 (rounded to nearest)"},
        {"'<i4'", 4, HDST__F32, "int32 converted to float32 (rounded to nearest)"},
        {"'<i2'", 2, HDST__F32, "int16 converted to float32 (exactly)"},              {"'<f4'", 4, HDST__F64, "float32 converted to float64 (exactly)"},
        {"'<i8'", 8, HDST__I32, "int64 converted to int32 (exactly)"},                {"'<u4'", 4, HDST__BOOL, "uint32 converted to bool (true when not 0)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char zero[16] = {0};
        hdst__source *source = open_npy(cases[i].descr, "(2,)", zero, (size_t)(2 * cases[i].bytes), NULL);
        hdst__bound_source *bound;
        cr_assert_eq(hdst__source_bind(source, array_record(cases[i].to, 1), &bound, NULL), HDST_OK);
        cr_expect(strstr(hdst__bound_source_note(bound), cases[i].note), "%s", hdst__bound_source_note(bound));
        hdst__source_unbind(bound);
        hdst__source_close(source);
    }
}

Test(source_npy, conversions_round_to_nearest_even)
{
    // Halfway cases: 2^24 + 1 and + 3 go to even; 2^53 + 1 as well. A double between two floats too.
    int64_t whole[] = {16777217, 16777219, -16777217, 9007199254740993};
    hdst__source *source = open_npy("'<i8'", "(4,)", whole, sizeof whole, NULL);
    expect_records(source, array_record(HDST__F32, 1), (float[]){16777216, 16777220, -16777216, 9007199254740992}, 4);
    expect_records(source, array_record(HDST__F64, 1), (double[]){16777217, 16777219, -16777217, 9007199254740992}, 4);
    hdst__source_close(source);
    double wide[] = {0x1.000001p0, 0x1.000003p0, 0.1, 1e-50};
    source = open_npy("'<f8'", "(4,)", wide, sizeof wide, NULL);
    expect_records(source, array_record(HDST__F32, 1), (float[]){1, 0x1.000004p0f, 0x1.99999ap-4f, 0}, 4);
    hdst__source_close(source);
}

// Signs and payloads: what is only read keeps its bits, what changes its width is the quiet, positive one.
Test(source_npy, nans_that_are_converted_are_one)
{
    uint32_t singles[] = {0x7f800001, 0xff800001, 0x7fc00000, 0xffc12345, 0xffffffff, 0xff800000};
    uint64_t doubles[] = {0x7ff0000000000001, 0xfff0000000000001, 0x7ff8000000000000, 0xfff8000012345678, 0xffffffffffffffff, 0xfff0000000000000};
    uint16_t halves[] = {0x7c01, 0xfc01, 0x7e00, 0xfe55, 0xffff, 0xfc00};
    const uint32_t one = 0x7fc00000, one_single[] = {one, one, one, one, one, 0xff800000};
    const uint64_t two = 0x7ff8000000000000, one_double[] = {two, two, two, two, two, 0xfff0000000000000};
    const struct { const char *descr; void *data; size_t bytes; const void *single, *wide; } files[] = {
        {"'<f4'", singles, sizeof singles, singles, one_double}, {"'<f8'", doubles, sizeof doubles, one_single, doubles},
        {"'<f2'", halves, sizeof halves, one_single, one_double}};
    for (size_t i = 0; i < 3; i++) {
        hdst__source *source = open_npy(files[i].descr, "(6,)", files[i].data, files[i].bytes, NULL);
        expect_records(source, array_record(HDST__F32, 1), files[i].single, 6);
        expect_records(source, array_record(HDST__F64, 1), files[i].wide, 6);
        hdst__source_close(source);
    }
}

Test(source_npy, values_that_do_not_fit_name_the_record)
{
    static const struct { double value; hdst__kind to; const char *message; } cases[] = {
        {1e39, HDST__F32, "record 1: 1e+39 is no value of field 'x' (float32)"}, {0.5, HDST__I32, "record 1: 0.5 is no value of field 'x' (int32)"},
        {256, HDST__U8, "record 1: 256 is no value of field 'x' (uint8)"}, {-1, HDST__U64, "record 1: -1 is no value of field 'x' (uint64)"},
        {0x1p63, HDST__I64, "record 1: 9.2233720368547758e+18 is no value of field 'x' (int64)"},
        {NAN, HDST__I8, "record 1: nan is no value of field 'x' (int8)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double data[] = {1, cases[i].value};
        hdst_error error = failure_of(open_npy("'<f8'", "(2,)", data, sizeof data, NULL), array_record(cases[i].to, 1), (hdst_error)HDST_ERROR_INIT);
        cr_expect_eq(error.code, HDST_E_FORMAT);
        cr_expect_str_eq(error.message, cases[i].message);
    }
}

// Of one size and another sign: the same bytes, as far as the highest bit is clear.
Test(source_npy, integers_of_the_other_sign)
{
    enum { COUNT = 700, BAD = 691 };
    static uint32_t narrow[COUNT];
    static uint64_t wide[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) wide[i] = (uint64_t)(narrow[i] = i * 3000017u % 0x80000000u) << 32 | i;
    static const struct { const char *descr; void *data; size_t bytes; hdst__kind to; const char *message; } files[] = {
        {"'<i4'", narrow, sizeof narrow, HDST__U32, "record 691: -2147483648 is no value of field 'x' (uint32)"},
        {"'<u4'", narrow, sizeof narrow, HDST__I32, "record 691: 2147483648 is no value of field 'x' (int32)"},
        {"'<i8'", wide, sizeof wide, HDST__U64, "record 691: -9223372036854775808 is no value of field 'x' (uint64)"},
        {"'<u8'", wide, sizeof wide, HDST__I64, "record 691: 9223372036854775808 is no value of field 'x' (int64)"}};
    for (int bad = 0; bad < 2; bad++)
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            if (bad) narrow[BAD] = UINT32_C(1) << 31, wide[BAD] = UINT64_C(1) << 63;
            hdst__source *source = open_npy(files[i].descr, "(700,)", files[i].data, files[i].bytes, NULL);
            if (bad) cr_expect_str_eq(failure_of(source, array_record(files[i].to, 1), (hdst_error)HDST_ERROR_INIT).message, files[i].message);
            else expect_records(source, array_record(files[i].to, 1), files[i].data, COUNT);
            if (!bad) hdst__source_close(source);
        }
}

// Rows of two such numbers are structs as they lie in the file: more than are read at once, and the first number that does not fit, in the last of them.
Test(source_npy, structs_of_the_other_sign)
{
    enum { COUNT = 50000, BAD = 49000 };
    static int32_t rows[COUNT][2];
    static const char *const names[] = {"from", "to"};
    for (int32_t i = 0; i < COUNT; i++) rows[i][0] = i * 7, rows[i][1] = INT32_MAX - i;
    const hdst__record *record = scalars_record(2, names, (hdst__kind[]){HDST__U32, HDST__U32});
    hdst__source *source = open_npy("'<i4'", "(50000, 2)", rows, sizeof rows, NULL);
    expect_records(source, record, rows, COUNT);
    hdst__source_close(source);
    rows[BAD][1] = -5;
    rows[BAD + 1][0] = -6;
    source = open_npy("'<i4'", "(50000, 2)", rows, sizeof rows, NULL);
    for (int which = 0; which < LAYOUTS; which++) {
        hdst__bound_source *bound;
        hdst_error error = HDST_ERROR_INIT;
        cr_assert_eq(hdst__source_bind(source, record, &bound, &error), HDST_OK);
        cr_expect_null(fill_layout(bound, record, COUNT, 1000, which, &error));
        cr_expect(strstr(error.message, "is no value of field") && error.code == HDST_E_FORMAT, "layout %d: %s", which, error.message);
        hdst__source_unbind(bound);
    }
    hdst__source_close(source);
}

Test(source_npy, fortran_order_and_chosen_columns)
{
    float by_column[3][ROWS], rows[ROWS][3], chosen[ROWS][2];
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < 3; c++) by_column[c][i] = rows[i][c] = (float)(i * 3 + c);
    for (int i = 0; i < ROWS; i++) chosen[i][0] = rows[i][2], chosen[i][1] = rows[i][0];
    const char *path = write_npy("f.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (300, 3), }", by_column, sizeof by_column);
    hdst__source *source = OPEN_OK(hdst__source_npy(NULL, path, NULL, error));
    expect_records(source, array_record(HDST__F32, 3), rows, ROWS);
    hdst__source_close(source);
    source = OPEN_OK(hdst__source_npy(NULL, path, "2,0", error));
    cr_assert_eq(source->width, 2);
    expect_records(source, array_record(HDST__F32, 2), chosen, ROWS);
    hdst__source_close(source);
    source = open_npy("'<f4'", "(300, 3)", rows, sizeof rows, "2,0");
    expect_records(source, array_record(HDST__F32, 2), chosen, ROWS);
    hdst__source_close(source);
}

// A row is a[i] as a.ravel() has it: its last dimension runs fastest, whatever the order of the file.
Test(source_npy, rows_may_have_several_dimensions)
{
    enum { A = 2, B = 3, C = 4, NUMBERS = A * B * C };
    static double rows[ROWS][A][B][C], fortran[C][B][A][ROWS];
    static float expected[ROWS][NUMBERS], chosen[ROWS][3];
    for (int i = 0; i < ROWS; i++)
        for (int n = 0; n < NUMBERS; n++) {
            const int a = n / (B * C), b = n / C % B, c = n % C;
            rows[i][a][b][c] = fortran[c][b][a][i] = expected[i][n] = (float)(i * 1000 + a * 100 + b * 10 + c);
        }
    for (int i = 0; i < ROWS; i++) chosen[i][0] = expected[i][23], chosen[i][1] = expected[i][1], chosen[i][2] = expected[i][4];
    const char *paths[] = {write_npy("c.npy", header("'<f8'", "(300, 2, 3, 4)"), rows, sizeof rows),
                           write_npy("f.npy", "{'descr': '<f8', 'fortran_order': True, 'shape': (300, 2, 3, 4), }", fortran, sizeof fortran)};
    for (int file = 0; file < 2; file++) {
        hdst__source *source = OPEN_OK(hdst__source_npy(NULL, paths[file], NULL, error));
        cr_expect_eq(source->rows, ROWS);
        cr_expect_eq(source->width, NUMBERS);
        expect_records(source, array_record(HDST__F32, NUMBERS), expected, ROWS);
        hdst__source_close(source);
        source = OPEN_OK(hdst__source_npy(NULL, paths[file], "23,1,4", error));
        expect_records(source, array_record(HDST__F32, 3), chosen, ROWS);
        hdst__source_close(source);
    }
}

#pragma pack(push, 1)
struct mixed { int16_t n; double y; float x[2]; uint8_t gap[3]; };
#pragma pack(pop)

static const char mixed_descr[] = "[('n', '<i2'), (('a title', 'y'), '<f8'), ('x', '<f4', (2,)), ('', '|V3')]";

Test(source_npy, fields_are_found_by_name)
{
    static struct mixed rows[ROWS];
    struct { float x[2]; int32_t n; } expected[ROWS];
    for (int i = 0; i < ROWS; i++) {
        rows[i] = (struct mixed){(int16_t)-i, i * 0.5, {(float)i, (float)i + 1}, {9, 9, 9}};
        expected[i].x[0] = (float)i, expected[i].x[1] = (float)i + 1, expected[i].n = -i;
    }
    hdst__source *source = open_npy(mixed_descr, "(300,)", rows, sizeof rows, NULL);
    hdst__field fields[] = {{"x", hdst__type_array(&arena, hdst__type_scalar(HDST__F32), 2)}, {"n", hdst__type_scalar(HDST__I32)}};
    expect_records(source, make_record("some", fields, 2), expected, ROWS);
    hdst__source_close(source);
    // Chosen fields are taken in their order, whatever their names.
    source = open_npy(mixed_descr, "(300,)", rows, sizeof rows, "n,x");
    float in_order[ROWS][3];
    for (int i = 0; i < ROWS; i++) in_order[i][0] = (float)-i, in_order[i][1] = (float)i, in_order[i][2] = (float)i + 1;
    expect_records(source, array_record(HDST__F32, 3), in_order, ROWS);
    hdst__source_close(source);
}

Test(source_npy, nested_fields_are_found_by_path)
{
    struct { uint32_t id; float x, y; } rows[] = {{1, 2, 3}, {4, 5, 6}};
    hdst__source *source = open_npy("[('id', '<u4'), ('to', [('x', '<f4'), ('y', '<f4')])]", "(2,)", rows, sizeof rows, NULL);
    hdst__field inner[] = {{"y", hdst__type_scalar(HDST__F32)}, {"x", hdst__type_scalar(HDST__F32)}};
    hdst__field outer[] = {{"to", hdst__type_record(&arena, make_record("place", inner, 2))}};
    expect_records(source, make_record("edge", outer, 1), (float[]){3, 2, 6, 5}, 2);
    hdst__source_close(source);
}

Test(source_npy, a_field_without_a_column_is_an_error_where_others_have_one)
{
    static struct mixed rows[2];
    static const char *const names[] = {"y", "z"};
    static const hdst__kind kinds[] = {HDST__F64, HDST__F64};
    hdst_error error = failure_of(open_npy(mixed_descr, "(2,)", rows, sizeof rows, NULL), scalars_record(2, names, kinds), (hdst_error)HDST_ERROR_INIT);
    cr_assert_str_eq(error.message, "there is no column for field 'z' of record 'row', though other fields have one of their name");
    static const char *const counts[] = {"y", "x"};
    error = failure_of(open_npy(mixed_descr, "(2,)", rows, sizeof rows, NULL), scalars_record(2, counts, kinds), (hdst_error)HDST_ERROR_INIT);
    cr_assert_str_eq(error.message, "column 'x' has 2 numbers, field 'x' of record 'row' has 1");
}

Test(source_npy, versions_2_and_3_and_no_rows)
{
    char file[128];
    const char *text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 1), }\n";
    for (int version = 2; version <= 3; version++) {
        float value = 2.5f;
        memcpy(file, "\x93NUMPY\x00\x00\x3d\0\0\0", 12);
        file[6] = (char)version;
        cr_assert_eq(strlen(text), 0x3d);
        memcpy(file + 12, text, 0x3d);
        memcpy(file + 12 + 0x3d, &value, 4);
        hdst__source *source = OPEN_OK(hdst__source_npy(NULL, write_file("v.npy", file, 12 + 0x3d + 4), NULL, error));
        expect_records(source, array_record(HDST__F32, 1), &value, 1);
        hdst__source_close(source);
    }
    hdst__source *source = open_npy("'<f4'", "(0, 2)", "", 0, NULL);
    expect_records(source, array_record(HDST__F32, 2), "", 0);
    hdst__source_close(source);
}

static const struct { const char *header; int bytes; const char *message; } bad[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
     "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }", 4,
     "there are too many dimensions"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 23,
     "the file is truncated: the header promises 3 rows of 8 bytes, there are 23 bytes after it"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 25, "1 bytes follow the array's data"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", 24, "the array holds Python objects (dtype '|O'), which are not read"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", 24, "the array holds complex numbers (dtype '<c8')"},
    {"{'descr': '<U5', 'fortran_order': False, 'shape': (3,), }", 24, "the array holds texts (dtype '<U5')"},
    {"{'descr': '|S5', 'fortran_order': False, 'shape': (3,), }", 15, "the array holds texts (dtype '|S5')"},
    {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,), }", 24, "the array holds dates or times (dtype '<M8[ns]')"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (3,), }", 48, "the array holds floats of this size (dtype '<f16')"},
    {"{'descr': '<i3', 'fortran_order': False, 'shape': (3,), }", 9, "the array holds values of this type (dtype '<i3')"},
    {"{'descr': '', 'fortran_order': False, 'shape': (3,), }", 9, "(dtype '')"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, "the array has shape (): a single number is no table"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }", 0, "the array has shape (3, 0): a row has no numbers"},
    {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3, 1), }", 12, "a structured array must have one dimension"},
    {"{'descr': [], 'fortran_order': False, 'shape': (3,), }", 0, "a row has no numbers"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 9999999), }", 0, "there are more than 1,048,576 columns"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1024, 1025), }", 0, "there are more than 1,048,576 columns"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4294967296, 4294967296), }", 0, "there are more than 1,048,576 columns"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, 0, 2), }", 0, "the array has shape (3, 2, 0, 2): a row has no numbers"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, 2), }", 47, "the file is truncated: the header promises 3 rows of 16 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", 0, "the file is truncated"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 0, "a number is too large"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 0, "a whole number is expected"},
    {"{'descr': [('x', '<f4', (65536, 65536))], 'fortran_order': False, 'shape': (1,), }", 0, "a field is too large"},
    {"{'descr': [('x', [('y', '<f4')], (2,))], 'fortran_order': False, 'shape': (1,), }", 8, "an array of nested records is not read"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)", 12, "',' or '}' is expected"},
    {"{'descr': '<f4', 'fortran_order': False, }", 12, "the header lacks descr, fortran_order or shape"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12, "'descr' is there twice"},
    {"{'descr': '<f4', 'order': False, 'shape': (3,), }", 12, "the header has an unknown key"},
    {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,), }", 12, "True or False is expected"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } x", 12, "the header goes on after '}'"},
    {"{'descr': '<f4, 'fortran_order': False, 'shape': (3,), }", 12, "(dtype '<f4, ')"},
    {"garbage", 12, "the header does not start with '{', at byte 10"},
    {"", 0, "the header does not start with '{'"},
};

Test(source_npy, what_is_malformed_gets_a_message)
{
    char zeros[64] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hdst_error error = HDST_ERROR_INIT;
        hdst__source *source = hdst__source_npy(NULL, write_npy("bad.npy", bad[i].header, zeros, (size_t)bad[i].bytes), NULL, &error);
        cr_expect_null(source, "%s", bad[i].header);
        cr_expect_eq(error.code, HDST_E_FORMAT, "%s: %d", bad[i].header, error.code);
        cr_expect(strstr(error.message, bad[i].message), "%s: '%s'", bad[i].header, error.message);
        cr_expect(strstr(error.file, "bad.npy"));
        cr_expect_null(hdst__source_npy(NULL, path_of("bad.npy"), NULL, NULL));      // no error object: the same, silently
    }
}

static const struct { const char *bytes; int count; const char *message; } starts[] = {
    {"", 0, "not an .npy file: it is empty"}, {"PK\3\4", 4, "it is a zip archive (.npz?)"}, {"1,2\n3,4\n", 8, "it does not start with \\x93NUMPY"},
    {"\x93NUMPY", 6, "it ends within the first 12 bytes"}, {"\x93NUMPY\1\0\xff", 9, "it ends within the first 12 bytes"},
    {"\x93NUMPY\1\0\xff\xff{}", 12, "its header is longer than the file"}, {"\x93NUMPY\2\0\xff\xff\xff\xff{}", 14, "its header is longer than the file"},
    {"\x93NUMPY\4\0\1\0{}", 12, ".npy version 4.0 is not known"},
};

Test(source_npy, files_that_are_no_npy_files)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        hdst_error error = HDST_ERROR_INIT;
        cr_expect_null(hdst__source_npy(NULL, write_file("start.npy", starts[i].bytes, (size_t)starts[i].count), NULL, &error));
        cr_expect_eq(error.code, HDST_E_FORMAT);
        cr_expect(strstr(error.message, starts[i].message), "'%s' instead of '%s'", error.message, starts[i].message);
    }
    hdst_error error = HDST_ERROR_INIT;
    cr_expect_null(hdst__source_npy(NULL, path_of("missing.npy"), NULL, &error));
    cr_expect_eq(error.code, HDST_E_IO);
    cr_expect_str_eq(error.cause, "No such file or directory");
    cr_expect_null(hdst__source_npy(NULL, folder, NULL, &error));
    cr_expect_eq(error.code, HDST_E_IO);
}

Test(source_npy, bombs_of_a_header_are_refused_without_their_memory)
{
    char *text = hdst__arena_alloc(&arena, 1 << 16);
    for (int i = 0; i < 60000; i++) text[i] = '[';
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_null(hdst__source_npy(NULL, write_npy("deep.npy", text, "", 0), NULL, &error));
    strcpy(text, "{'descr': ");
    for (int i = 0; i < 5000; i++) strcat(text, "[('a', ");
    cr_assert_null(hdst__source_npy(NULL, write_npy("deep.npy", text, "", 0), NULL, &error));
    cr_assert(strstr(error.message, "fields are nested too deep"), "%s", error.message);
    // A header of 4 GiB in a file that really is that long (and full of holes).
    const char *path = write_file("long.npy", "\x93NUMPY\2\0\xff\xff\xff\x7f", 12);
    cr_assert_eq(truncate(path, (off_t)1 << 32), 0);
    cr_assert_null(hdst__source_npy(NULL, path, NULL, &error));
    cr_assert(strstr(error.message, "its header has more than 1 MiB"), "%s", error.message);
}

// The allocator fails at the nth call: an error each time, no crash and (under a leak checker) no leak.
static int calls_left;
static void *limited(size_t bytes, void *user) { (void)user; return calls_left-- > 0 ? malloc(bytes) : NULL; }
static void *limited_again(void *pointer, size_t bytes, void *user) { (void)user; return calls_left-- > 0 ? realloc(pointer, bytes) : NULL; }
static void release(void *pointer, void *user) { (void)user; free(pointer); }

static hdst_status open_and_fill(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__record *record, hdst_error *error)
{
    hdst__source *source = hdst__source_open(allocator, path, columns, NULL, error);
    if (!source) return error->code;
    hdst__bound_source *bound;
    hdst_status status = hdst__source_bind(source, record, &bound, error);
    if (status == HDST_OK) {
        fill_layout(bound, record, source->rows, 1000, 1, error);
        hdst__source_unbind(bound);
    }
    hdst__source_close(source);
    return status;
}

Test(source_npy, every_allocation_may_fail)
{
    hdst__allocator allocator = {limited, limited_again, release, NULL};
    static struct mixed rows[5];
    const char *paths[] = {write_npy("m.npy", header(mixed_descr, "(5,)"), rows, sizeof rows), write_npy("h.npy", header("'<f2'", "(2, 2)"), rows, 8),
                           write_text("t.csv", "a,b,c\n1,2,3\n")};
    const char *columns[] = {"n,y", NULL, "b,c"};
    for (int file = 0; file < 3; file++) {
        hdst_status status = HDST_E_MEMORY;
        int n = 0;
        for (; status != HDST_OK && n < 100; n++) {
            hdst_error error = HDST_ERROR_INIT;
            calls_left = n;
            status = open_and_fill(&allocator, paths[file], columns[file], array_record(HDST__F64, 2), &error);
            if (status != HDST_OK) cr_assert_eq(error.code, HDST_E_MEMORY, "%s: %s", paths[file], error.message);
        }
        cr_assert(n > 4 && n < 100, "%d", n);
    }
}
