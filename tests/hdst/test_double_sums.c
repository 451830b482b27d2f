// SPDX-License-Identifier: Apache-2.0
// Sums of doubles over a whole dataset, which GPUs keep in registers: the bits of the interpreter, which is tested
// against big integers, for addends of like and of very different sizes, zeros, infinities and NaN, in branches and
// in loops. Nothing cancels unless it is meant to.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS = 30000, SUMS = 8 };

typedef struct row { double x, y; uint32_t n; } row;

static const char kernels[] =
    "struct row { double x, y; uint32_t n; };\n"
    "struct sums { double plain, product, square[2], branch, loop, wide; };\n"
    "map add(row r, accum sums s, accum double more)\n"
    "{\n"
    "    s.plain += r.x;\n"
    "    s.product += r.x * r.y;\n"
    "    s.square[0] += r.x * r.x;\n"
    "    s.square[1] += r.y * r.y;\n"
    "    if (r.n != 2) s.branch += r.x - r.y;\n"
    "    for (uint32_t k = 0; k < 12; k++) if (k < r.n * 4) s.loop += r.y + k;\n"
    "    s.wide += r.n == 3 ? r.x * 1e40 : r.x * 1e-40;\n"
    "    more += abs(r.y) - 0.5;\n"
    "    more += r.x;\n"
    "}\n";

static uint64_t random_bits(uint64_t *state)      // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static double uniform(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-52 - 1; }

// kind 0: of like sizes; 1: now and then zero, tiny, denormal or huge; 2: of 600 binades; 3: large ones that the
// first records do not show; from 4 on: all cancel but for a smaller and smaller one, so that the sum's last bit is
// this one's
static row *make_rows(int kind)
{
    static row rows[RECORDS];
    uint64_t state = 99 + (uint64_t)kind;
    for (int i = 0; i < RECORDS; i++) {
        rows[i] = (row){uniform(&state), uniform(&state), (uint32_t)(random_bits(&state) % 4)};
        const uint64_t pick = random_bits(&state) % 100;
        if (kind == 1)
            rows[i].x = pick == 0 ? 0 : pick == 1 ? rows[i].x * 1e-20 : pick == 2 ? rows[i].x * 0x1p-1070 : pick == 3 ? rows[i].x * 1e15
                : pick == 4 ? -0.0 : rows[i].x;
        if (kind == 2) rows[i].x = ldexp(rows[i].x, (int)(random_bits(&state) % 600) - 300);
        if (kind == 3 && i > 20000) rows[i].x *= 1e9;
        if (kind >= 4 && i % 2) rows[i] = (row){-rows[i - 1].x, -rows[i - 1].y, rows[i - 1].n};
    }
    if (kind >= 4) rows[RECORDS - 2].x = 0, rows[RECORDS - 1].x = ldexp(0x1.9e3779b97f4a7p0, -2 * (kind - 4));
    return rows;
}

static void sums_on(const char *form, const row *rows, double values[SUMS])
{
    static const char *const names[] = {"plain", "product", "square", "branch", "loop", "wide"};
    hdst_context *context = context_in_form(form);
    hdst_module *m = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_with_layout(hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof *rows),
            m, "row"), HDST_SOA), m, "add"));
    RUN(r);
    size_t n = 0;
    for (size_t i = 0; i < 6; i++)
        for (uint32_t e = 0; e < (i == 2 ? 2 : 1); e++) values[n++] = hdst_view_double(hdst_result_field(r, "s", names[i]), 0, e);
    values[n] = hdst_view_double(hdst_result_field(r, "more", NULL), 0, 0);
    hdst_context_destroy(context);
}

static void expect_equal_bits(const row *rows, const char *what)
{
    static const char *const forms[] = {"cpu", "gpu-form"};
    double right[SUMS], got[SUMS];
    sums_on("interp", rows, right);
    for (size_t f = 0; f < 2 && have_cpu(); f++) {
        sums_on(forms[f], rows, got);
        for (size_t i = 0; i < SUMS; i++)
            cr_assert_eq(memcmp(&got[i], &right[i], sizeof got[i]), 0, "%s, %s, sum %zu: %a, not %a", what, forms[f], i, got[i], right[i]);
    }
}

Test(double_sums, of_addends_of_like_sizes) { expect_equal_bits(make_rows(0), "like sizes"); }
Test(double_sums, with_rare_addends_that_registers_do_not_hold) { expect_equal_bits(make_rows(1), "rare ones"); }
Test(double_sums, of_addends_of_all_sizes) { expect_equal_bits(make_rows(2), "all sizes"); }
Test(double_sums, of_addends_that_the_sample_did_not_show) { expect_equal_bits(make_rows(3), "unseen ones"); }

// Blocks of 128, three in turn: small addends choose the levels; one that the sum has room for, beside one that the bit test does not let through, brings a
// running sum near the end of its binade; then come the greatest that the bit test lets through, which bring it there.
static row *make_drifting_rows(double large)
{
    row *rows = make_rows(0);
    for (int i = 0; i < RECORDS; i++) {
        const int block = i / 128 % 3, at = i % 128;
        const double small = 0x1p-10 + 0x1p-62 * (i % 7), great = copysign(0x1p-7 * (1 + 0x1p-20 * at), large);
        rows[i].x = block == 2 ? great : block == 1 && at == 0 ? large : block == 1 && at == 1 ? 0x1p-45 : small;
        rows[i].y = 0.5;
    }
    return rows;
}

Test(double_sums, that_a_great_addend_brought_near_the_end_of_their_binade)
{
    expect_equal_bits(make_drifting_rows(-0.97), "down");
    expect_equal_bits(make_drifting_rows(0.93), "up");
}

Test(double_sums, of_which_the_small_addends_remain) 
{
    for (int kind = 4; kind < 20; kind++) expect_equal_bits(make_rows(kind), "a small one");
}

// Blocks of zeros alone, of either sign, before the first addend and behind it; and a block whose only other one is an infinity.
Test(double_sums, of_zeros_with_few_others)
{
    static row rows[RECORDS];
    for (int i = 0; i < RECORDS; i++) rows[i] = (row){i % 3 ? 0 : -0.0, i % 2 ? 0 : -0.0, 2};
    expect_equal_bits(rows, "zeros alone");
    rows[20000].x = 0x1.8p-1074, rows[20001].x = 0x1p900, rows[25000].y = 1e-300;
    expect_equal_bits(rows, "few others");
    rows[11].y = INFINITY;
    expect_equal_bits(rows, "an infinity among zeros");
}

Test(double_sums, with_infinities_and_nan)
{
    row *rows = make_rows(0);
    rows[1234].x = INFINITY;
    expect_equal_bits(rows, "infinity");
    rows[4321].x = -INFINITY;
    expect_equal_bits(rows, "NaN");
}

// Floats of 2^exponent, which a float's range leaves hardly any room above. Even kinds: with those of the other sign,
// which come next, they come to zero, but for a small one in a hundred. Odd ones: whole numbers of units, which a
// double adds exactly.
static void expect_sums_of_floats(int exponent, int kind)
{
    static const char text[] = "struct one { float x; };\nstruct sums { float narrow; double wide; };\n"
                               "map add(one r, accum sums s) { s.narrow += r.x; s.wide += r.x; }\n";
    static const char *const forms[] = {"interp", "cpu", "gpu-form"};
    static float x[RECORDS];
    uint64_t state = 5;
    double right = 0;
    for (int i = 0; i < RECORDS; i++) {
        const uint64_t bits = random_bits(&state);
        const float mantissa = kind < 2 ? 1 + (float)(bits % 0x800000) * 0x1p-23f : 1;
        x[i] = kind % 2 == 0 && i % 2 ? -x[i - 1] : ldexpf(bits >> 63 ? -mantissa : mantissa, exponent);
        if (kind % 2 == 0 && i % 200 / 2 == 50) x[i] = 0x1p-137f;
        right += kind % 2 || i % 200 / 2 == 50 ? (double)x[i] : 0;
    }
    for (size_t f = 0; f < 3 && (f == 0 || have_cpu()); f++) {
        hdst_context *context = context_in_form(forms[f]);
        hdst_module *m = module_of(context, text);
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_memory(context, x, RECORDS, sizeof *x), m, "one"), m, "add"));
        RUN(r);
        const double wide = hdst_view_double(hdst_result_field(r, "s", "wide"), 0, 0), narrow = hdst_view_double(hdst_result_field(r, "s", "narrow"), 0, 0);
        cr_assert(wide == right && narrow == (double)(float)right, "%s, 2^%d, kind %d: %a and %a, not %a", forms[f], exponent, kind, wide, narrow, right);
        hdst_context_destroy(context);
    }
}

Test(double_sums, of_floats_near_the_largest)
{
    for (int kind = 0; kind < 4; kind++)
        for (int exponent = 96; exponent < 128; exponent += exponent < 110 ? 4 : 1) expect_sums_of_floats(exponent, kind);
}

// Independent of the interpreter: whole numbers whose sum a double has exactly.
Test(double_sums, of_whole_numbers_are_right)
{
    row *rows = make_rows(0);
    double right = 0, got[SUMS];
    for (int i = 0; i < RECORDS; i++) {
        rows[i].x = (double)(int64_t)(rows[i].x * 0x1p30);
        right += rows[i].x;
    }
    static const char *const forms[] = {"interp", "cpu", "gpu-form"};
    for (size_t f = 0; f < 3 && (f == 0 || have_cpu()); f++) {
        sums_on(forms[f], rows, got);
        cr_assert_eq(got[0], right, "%s: %a, not %a", forms[f], got[0], right);
    }
}

// Records at round places are no picture of the others: addends stand between them alone, and the look at the data that chooses scales finds some.
Test(double_sums, addends_between_round_places_are_seen)
{
    enum { NUMBERS = 1 << 16 };
    if (!have_cpu()) return;
    hdst_context *context = context_in_form("cpu");
    hdst_module *m = module_of(context, "map add(int64_t i, accum double sum) { if (i % 1024 >= 64) sum += (double)i / 1048576; }\n");
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_range(context, 0, NUMBERS), m, "int64_t"), m, "add"));
    RUN(r);
    double right = 0;
    for (int64_t i = 0; i < NUMBERS; i++) right += i % 1024 >= 64 ? (double)i / 1048576 : 0;
    cr_expect_eq(hdst_view_double(hdst_result_field(r, "sum", NULL), 0, 0), right);
    const char *text = hdst_explain(r, NULL);
    cr_expect(strstr(text, " sampled addends lie below 2^"), "%s", text);
    hdst_context_destroy(context);
}
