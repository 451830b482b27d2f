// SPDX-License-Identifier: Apache-2.0
// Sums of a whole dataset in printed kernels on PoCL (accum/levels.cl and its GPU likeness), against exact cells on
// the host (which are tested against big integers): data made to trip the levels. Each sum is of a field, a square, a
// product or of what was worked out, of floats and doubles, in a float's and in a double's cell; sums whose addends are
// made alike take them as they are.
#include "accum/reduce.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_suite.h"
#include "accum/representation.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernel_levels, .init = set_up, .fini = tear_down);

enum { N = 4096 + 100, SUMS = 17, FLOATS = 5 };

typedef struct input { float f, g; double d; int16_t n; } input;
static const ir_field input_fields[] = {{"f", HDST__F32, 0}, {"g", HDST__F32, 0}, {"d", HDST__F64, 0}, {"n", HDST__I16, 0}};
static const ir_field sums[SUMS] = {{"f", HDST__F32, 0},  {"f_in_double", HDST__F64, 0}, {"ff", HDST__F32, 0},
                                    {"fg", HDST__F64, 0}, {"sum", HDST__F32, 0},         {"d", HDST__F64, 0},
                                    {"dd", HDST__F64, 0}, {"one_more", HDST__F64, 0},
                                    {"mixed", HDST__F64, 0}, {"mixed_2", HDST__F64, 0}, {"mixed_3", HDST__F64, 0},
                                    {"less", HDST__F32, 0}, {"less_2", HDST__F64, 0}, {"less_3", HDST__F32, 0},
                                    {"scaled", HDST__F32, 0}, {"scaled_2", HDST__F64, 0}, {"scaled_3", HDST__F32, 0}};
enum { MIXED = 8, LESS = 11, SCALED = 14 };        // the first of three alike

// The addends, as the program below has them, in the type of their arithmetic.
static void addends(const input *in, double out[SUMS], hdst__kind kind[SUMS])
{
    const float ff = in->f * in->f, fg = in->f * in->g, sum = in->f + in->g;
    const float less = in->f - in->g, scaled = (float)in->n * in->g;
    const double dd = in->d * in->d, one_more = in->d + 1, mixed = fma(in->d, 1.5, (double)in->f);
    const double all[SUMS] = {in->f, in->f, ff, fg, sum, in->d, dd, one_more, mixed, mixed, mixed, less, less, less, scaled, scaled, scaled};
    for (int i = 0; i < SUMS; i++) {
        out[i] = all[i];
        kind[i] = i < FLOATS || i >= LESS ? HDST__F32 : HDST__F64;
    }
}

static ir_expr *field(ir_func *f, uint32_t leaf) { return ir_read(f, IR_FIELD, 0, leaf, NULL, NULL); }

// d * 1.5 + f, f - g, n * g: three of each.
static ir_expr *value_alike(ir_func *f, uint32_t i)
{
    if (i < LESS) return ir_op2(f, IR_ADD, ir_op2(f, IR_MUL, field(f, 2), ir_number(f, HDST__F64, 1.5)), hdst__ir_convert(f, HDST__F64, field(f, 0)));
    ir_expr *value = i < SCALED ? ir_op2(f, IR_SUB, field(f, 0), field(f, 1))
                                : ir_op2(f, IR_MUL, hdst__ir_convert(f, HDST__F32, field(f, 3)), field(f, 1));
    return hdst__ir_convert(f, sums[i].kind, value);
}

static ir_func *make_func(void)
{
    ir_func *f = ir_new(&arena, "sums");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "input", 0, input_fields, 4), false);
    const uint32_t all = ir_param_add(f, IR_ACCUM_TABLE, "all", ir_record(&arena, "sums", 0, sums, SUMS), false);
    f->params[all].leaf_op = HDST__NEW_ARRAY(&arena, hdst__accumulate_op, SUMS);
    ir_expr *value[SUMS] = {field(f, 0),
                            hdst__ir_convert(f, HDST__F64, field(f, 0)),
                            ir_op2(f, IR_MUL, field(f, 0), field(f, 0)),
                            hdst__ir_convert(f, HDST__F64, ir_op2(f, IR_MUL, field(f, 0), field(f, 1))),
                            ir_op2(f, IR_ADD, field(f, 0), field(f, 1)),
                            field(f, 2),
                            ir_op2(f, IR_MUL, field(f, 2), field(f, 2)),
                            ir_op2(f, IR_ADD, field(f, 2), ir_number(f, HDST__F64, 1))};
    for (uint32_t i = MIXED; i < SUMS; i++) value[i] = value_alike(f, i);
    for (uint32_t i = 0; i < SUMS; i++) ir_accumulate(f, &f->body, all, i, NULL, NULL, value[i]);
    return f;
}

// --- Data ---

static uint64_t random_bits(uint64_t *state)      // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static double uniform(uint64_t *state) { return (double)(random_bits(state) >> 11) / 9007199254740992.0; }     // 53 bits, below 1

typedef double (*maker)(uint64_t i, uint64_t *state);

static double whole_numbers(uint64_t i, uint64_t *s) { return (double)(random_bits(s) % 1000) - (double)(i % 2 ? 700 : 200); }
static double all_digits(uint64_t i, uint64_t *s) { (void)i; return uniform(s) * 2 - 1; }
static double many_binades(uint64_t i, uint64_t *s) { (void)i; return ldexp(uniform(s) + 0.5, (int)(random_bits(s) % 90) - 60); }
static double one_sign(uint64_t i, uint64_t *s) { (void)i; (void)s; return 1 - 0x1p-24; }                      // every lane grows as fast as it can
static double largest(uint64_t i, uint64_t *s) { (void)i; (void)s; return 0x1p20 - 0x1p-4; }                   // that fits the scale of these tests
static double other_sign(uint64_t i, uint64_t *s) { (void)i; (void)s; return -1; }
static double odd_halves(uint64_t i, uint64_t *s) { (void)s; return (i % 2 ? 0x1p-20 : -0x1p-20) + (i % 3 ? 1 : -1); }
static double far_outliers(uint64_t i, uint64_t *s) { return i % 700 == 33 ? (i % 2 ? -1e18 : 1e18) : uniform(s); }
static double rare_small(uint64_t i, uint64_t *s) { return i % 700 == 33 ? ldexp(uniform(s), -60) : uniform(s); }
// What is added where leaves the running sum's binade, comes back, and takes the bias's place.
static double there_and_back(uint64_t i, uint64_t *s)
{
    static const double way[] = {1, 0x1p60, -0x1p60, 192, 0.75 * 0x1p24, -0x1p59, 0x1p59};
    return i < 600 ? uniform(s) : way[i / 16 % 7];
}
// Every lane grows as fast as it can, and what no level holds comes just before the units go to the cell.
static double outlier_at_the_turn(uint64_t i, uint64_t *s) { (void)s; return i / 512 == 254 && i % 512 == 5 ? 0x1p-140 : 1 - 0x1p-17; }
static double drifting(uint64_t i, uint64_t *s) { return ldexp(uniform(s) + 0.5, (int)(i / 100) - 20); }
static double falling(uint64_t i, uint64_t *s) { return ldexp(uniform(s) + 0.5, 20 - (int)(i / 60)); }
static double mostly_zero(uint64_t i, uint64_t *s) { return i % 97 ? (i % 2 ? 0.0 : -0.0) : uniform(s); }
static double zeros(uint64_t i, uint64_t *s) { (void)s; return i % 2 ? 0.0 : -0.0; }
static double late_start(uint64_t i, uint64_t *s) { return i < 2000 ? 0.0 : uniform(s) * 1e-20; }
static double denormals(uint64_t i, uint64_t *s) { (void)i; return ldexp((double)(random_bits(s) % 1000) - 500, -149); }
// All digits over more binades than two levels hold, and fewer than 25: such floats are summed in double.
static double broad(uint64_t i, uint64_t *s) { return ldexp(uniform(s) + 1, -(int)(random_bits(s) % 17)) * (i % 3 ? 1 : -1); }
static double broad_with_zeros(uint64_t i, uint64_t *s) { return i > 600 && i % 97 == 5 ? (i % 2 ? 0.0 : -0.0) : broad(i, s); }
static double broad_with_outliers(uint64_t i, uint64_t *s) { return broad(i, s) * (i % 300 == 299 ? (i % 2 ? 0x1p50 : 0x1p-50) : 1); }
static double broad_and_moving(uint64_t i, uint64_t *s) { return ldexp(broad(i, s), (int)(i / 700) * 20 - 60); }
static double broad_with_nan(uint64_t i, uint64_t *s) { return i == 3000 ? NAN : broad(i, s); }
static double broad_denormals(uint64_t i, uint64_t *s) { return i < 1000 ? ldexp(broad(i, s), -90) : ldexp(broad(i, s), -120); }
// The first block leaves room up to 2^3, six others fill a lane as far as it goes: 31 addends at the top, one at the
// bottom. To 2^4 it would be more than a double has digits for. What is great cancels out, so that the sum shows the
// least bit.
static double fill_lanes(uint64_t i, double top)
{
    const double least = 0x1p-22 + 0x1p-45;
    if (i < 512) return i % 2 == 0 ? 0x1p-16 + 0x1p-39 : i % 4 == 1 ? 2 - 0x1p-22 : 0x1p-22 - 2;
    if (i >= 7 * 512 || i / 16 % 32 == 31) return least;
    return (i / 512 % 2 ? top : -top) * (1 - 0x1p-24);
}
static double full(uint64_t i, uint64_t *s) { (void)s; return fill_lanes(i, 8); }
static double over_full(uint64_t i, uint64_t *s) { (void)s; return fill_lanes(i, 16); }
// The same for two levels of doubles: the first block, whose sum is 0, leaves room from 2^-28 to 2^4, six others fill
// a lane; greater ones leave a level, smaller ones are below the last.
static double fill_doubles(uint64_t i, double top, double least)
{
    if (i < 512) return (i % 2 ? 2 - 0x1p-52 : 0x1p-20 + 0x1p-72) * (i % 4 < 2 ? 1 : -1);
    if (i >= 7 * 512 || i / 8 % 64 == 63) return least * (1 + 31 * 0x1p-52);
    return (i / 512 % 2 ? top : -top) * (1 - 0x1p-53);
}
static double full_doubles(uint64_t i, uint64_t *s) { (void)s; return fill_doubles(i, 16, 0x1p-28); }
static double over_full_doubles(uint64_t i, uint64_t *s) { (void)s; return fill_doubles(i, 32, 0x1p-28); }
static double low_doubles(uint64_t i, uint64_t *s) { (void)s; return fill_doubles(i, 0x1p-40, 0x1p-41); }
static double greatest(uint64_t i, uint64_t *s) { (void)s; return i % 3 == 1 ? -(double)FLT_MAX : (double)FLT_MAX; }
static double with_nan(uint64_t i, uint64_t *s) { return i == 777 ? NAN : uniform(s); }
static double with_infinity(uint64_t i, uint64_t *s) { return i == 4100 ? INFINITY : uniform(s); }
static double both_infinities(uint64_t i, uint64_t *s) { return i == 50 ? INFINITY : i == 3000 ? -INFINITY : uniform(s); }

static const struct { const char *name; maker make; } cases[] = {
    {"whole numbers", whole_numbers},
    {"all digits", all_digits},
    {"many binades", many_binades},
    {"one sign", one_sign},
    {"other sign", other_sign},
    {"odd halves", odd_halves},
    {"far outliers", far_outliers},
    {"rare small ones", rare_small},
    {"there and back", there_and_back},
    {"drifting", drifting},
    {"falling", falling},
    {"mostly zero", mostly_zero},
    {"zeros", zeros},
    {"late start", late_start},
    {"denormals", denormals},
    {"broad", broad},
    {"broad with zeros", broad_with_zeros},
    {"broad with outliers", broad_with_outliers},
    {"broad and moving", broad_and_moving},
    {"broad with NaN", broad_with_nan},
    {"broad to denormals", broad_denormals},
    {"full", full},
    {"over full", over_full},
    {"full doubles", full_doubles},
    {"over full doubles", over_full_doubles},
    {"low doubles", low_doubles},
    {"greatest", greatest},
    {"NaN", with_nan},
    {"infinity", with_infinity},
    {"both infinities", both_infinities},
};

// --- Running ---

typedef struct setting {
    ir_func *func;
    const hdst__storage *storage;
    const hdst__kernel *kernel;
    void *buffer;
    uint64_t records;
} setting;

static const uint64_t rows[] = {0, 1};

static setting prepare_func(ir_func *func, hdst__target target, hdst__layout layout, uint64_t records)
{
    setting s = {.func = func, .records = records};
    cr_assert_null(hdst__passes_scalar(s.func));
    s.storage = hdst__storage_make(&arena, s.func->params[0].record, layout, 0, records);
    const hdst__target_facts facts = {target, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = s.storage, .rows = rows};
    s.kernel = hdst__kernel_make(&arena, s.func, &options, &diags);
    cr_assert_not_null(s.kernel);
    s.buffer = aligned_alloc(4096, (s.storage->buffer_bytes[0] + 4095) / 4096 * 4096);
    cr_assert_not_null(s.buffer);
    return s;
}

static setting prepare(hdst__target target, hdst__layout layout, uint64_t records) { return prepare_func(make_func(), target, layout, records); }

static void put(const setting *s, uint64_t i, uint32_t leaf, const void *value, size_t size)
{
    memcpy((char *)s->buffer + hdst__storage_offset(s->storage, leaf, i, 0), value, size);
}

static void add_up(const setting *s, const input *in, int64_t *table)
{
    double value[SUMS];
    hdst__kind kind[SUMS];
    addends(in, value, kind);
    const hdst__accum *accum = &s->kernel->tables->accum[0];
    for (int i = 0; i < SUMS; i++) {
        uint64_t bits;
        if (accum->cell[i].kind == HDST__F32) {
            const float narrow = (float)value[i];
            uint32_t word;
            memcpy(&word, &narrow, sizeof word);
            bits = word;
        } else {
            memcpy(&bits, &value[i], sizeof bits);
        }
        hdst__cell_accumulate(&accum->cell[i], table + accum->cell[i].device_first, bits);
    }
}

static void check_case(const setting *s, const char *name, maker make, size_t groups)
{
    const uint64_t words = hdst__tables_device_words(s->kernel->tables, rows);
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, words), *reference = HDST__NEW_ARRAY(&arena, int64_t, words);
    uint64_t state = 42;
    for (uint64_t i = 0; i < s->records; i++) {
        const input in = {(float)make(i, &state), (float)make(i + 1, &state), make(i, &state), (int16_t)(i * 7919)};
        put(s, i, 0, &in.f, sizeof in.f);
        put(s, i, 1, &in.g, sizeof in.g);
        put(s, i, 2, &in.d, sizeof in.d);
        put(s, i, 3, &in.n, sizeof in.n);
        add_up(s, &in, reference);
    }
    void *buffers[] = {s->buffer};
    static const int32_t scales[SUMS] = {20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20};
    kernel_case c = {.kernel = s->kernel, .func = s->func, .input = s->storage, .input_buffers = buffers,
                     .count = s->records, .rows = rows, .scales = scales, .flush = 1 << 23, .groups = groups,
                     .device_table = device};
    cr_assert(kernel_run(&run, &c));
    for (uint32_t i = 0; i < SUMS; i++) {
        const uint64_t got = hdst__table_read(s->kernel->tables, rows, device, 0, 0, i, 0),
                       want = hdst__table_read(s->kernel->tables, rows, reference, 0, 0, i, 0);
        cr_expect_eq(got, want, "%s, %s: %llx, not %llx", name, sums[i].name, (unsigned long long)got, (unsigned long long)want);
    }
}

static void check_all(hdst__target target, hdst__layout layout)
{
    setting s = prepare(target, layout, N);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&s, cases[i].name, cases[i].make, i % 3 + 1);
    free(s.buffer);
}

Test(kernel_levels, exact_where_they_lie_on_cpus) { check_all(HDST__TARGET_CPU, HDST__SOA); }

Test(kernel_levels, sums_made_alike_share_a_loop_that_takes_what_is_added_as_it_is)
{
    const setting s = prepare(HDST__TARGET_CPU, HDST__SOA, N);
    cr_expect_not_null(strstr(s.kernel->source, "fma(*(__global const packed_double8 *)(a + r), (double8)(1.5), "
        "__builtin_convertvector(*(__global const packed_float8 *)(b + r), double8))"));
    cr_expect_not_null(strstr(s.kernel->source, "*(__global const packed_float16 *)(a + r) - *(__global const packed_float16 *)(b + r)"));
    cr_expect_not_null(strstr(s.kernel->source, "*(__global const packed_float16 *)(a + r) * "
        "__builtin_convertvector(*(__global const packed_short16 *)(b + r), float16)"));
    free(s.buffer);
}
Test(kernel_levels, exact_out_of_arrays_on_cpus) { check_all(HDST__TARGET_CPU, HDST__AOS); }
Test(kernel_levels, exact_in_blocks_of_the_layout_on_cpus) { check_all(HDST__TARGET_CPU, HDST__AOSOA); }
Test(kernel_levels, exact_on_gpus) { check_all(HDST__TARGET_GPU, HDST__SOA); }

// More blocks than units can be held for: they go to the cell between.
Test(kernel_levels, exact_over_many_blocks)
{
    setting s = prepare(HDST__TARGET_CPU, HDST__SOA, 600 * 512 + 7);
    check_case(&s, "one sign", one_sign, 1);
    check_case(&s, "other sign", other_sign, 1);
    check_case(&s, "an outlier at the turn", outlier_at_the_turn, 1);
    check_case(&s, "all digits", all_digits, 1);
    free(s.buffer);
}

// A device without doubles keeps floats in levels.
Test(kernel_levels, no_doubles_where_there_are_none)
{
    ir_func *f = ir_new(&arena, "sums");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "input", 0, input_fields, 1), false);
    const uint32_t all = ir_param_add(f, IR_ACCUM_TABLE, "all", ir_record(&arena, "sums", 0, sums, 1), false);
    f->params[all].leaf_op = HDST__NEW_ARRAY(&arena, hdst__accumulate_op, 1);
    ir_accumulate(f, &f->body, all, 0, NULL, NULL, field(f, 0));
    cr_assert_null(hdst__passes_scalar(f));
    const hdst__storage *storage = hdst__storage_make(&arena, f->params[0].record, HDST__SOA, 0, N);
    for (int has_double = 0; has_double < 2; has_double++) {
        const hdst__target_facts facts = {HDST__TARGET_CPU, 48 << 10, 1024, 2, true, has_double, true, cl_run_is_simulated(&run)};
        const hdst__kernel_options options = {.facts = facts, .input = storage, .rows = rows};
        const hdst__kernel *kernel = hdst__kernel_make(&arena, f, &options, &diags);
        cr_assert_not_null(kernel);
        cr_expect_eq(strstr(kernel->source, "cl_khr_fp64") != NULL, has_double);
        cr_expect_eq(strstr(kernel->source, "double8") != NULL, has_double);
    }
}

// A lane's words are as full as they may become before they join the group's table.
Test(kernel_levels, exact_when_a_lane_makes_all_the_additions_it_may)
{
    setting s = prepare(HDST__TARGET_GPU, HDST__SOA, UINT64_C(256) * 2100);
    check_case(&s, "largest", largest, 1);
    free(s.buffer);
}

// --- An element for each turn of a loop ---

enum { TURNS = 20 };        // more than are unrolled

// for e: z[e] = f * (e + 1);  z[0] = f, so that z stays an array;  for e: row[e] += z[e], wide[e] += z[e] * g
static ir_func *make_loop(void)
{
    static const ir_field elements[] = {{"row", HDST__F32, TURNS}, {"wide", HDST__F64, TURNS}};
    ir_func *f = ir_new(&arena, "loops");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "input", 0, input_fields, 3), false);
    const uint32_t many = ir_param_add(f, IR_ACCUM_TABLE, "many", ir_record(&arena, "sums", 0, elements, 2), false);
    f->params[many].leaf_op = HDST__NEW_ARRAY(&arena, hdst__accumulate_op, 2);
    const uint32_t z = hdst__ir_add_var(f, "z", HDST__F32, TURNS), e[] = {hdst__ir_add_var(f, "e", HDST__U32, 0), hdst__ir_add_var(f, "e", HDST__U32, 0)};
    ir_stmt *loop[2];
    for (int i = 0; i < 2; i++) loop[i] = hdst__ir_for(f, e[i], hdst__ir_const(f, HDST__U32, 0), hdst__ir_const(f, HDST__U32, TURNS), 1);
    hdst__ir_push(f, &f->body, loop[0]);
    ir_stmt *first = ir_add(f, &f->body, IR_SET_ELEM), *set = ir_add(f, &loop[0]->body, IR_SET_ELEM);
    hdst__ir_push(f, &f->body, loop[1]);
    first->var = set->var = z;
    first->index = hdst__ir_const(f, HDST__U32, 0);
    first->value = field(f, 0);
    set->index = hdst__ir_var(f, e[0]);
    set->value = ir_op2(f, IR_MUL, field(f, 0), ir_op2(f, IR_ADD, hdst__ir_convert(f, HDST__F32, hdst__ir_var(f, e[0])), ir_number(f, HDST__F32, 1)));
    ir_expr *at = hdst__ir_unary(f, IR_ELEM, HDST__F32, hdst__ir_var(f, e[1]));
    at->var = z;
    ir_accumulate(f, &loop[1]->body, many, 0, NULL, hdst__ir_var(f, e[1]), at);
    ir_accumulate(f, &loop[1]->body, many, 1, NULL, hdst__ir_var(f, e[1]),
                  hdst__ir_convert(f, HDST__F64, ir_op2(f, IR_MUL, hdst__ir_copy(f, at), field(f, 1))));
    return f;
}

static void check_loop_case(const setting *s, const char *name, maker make)
{
    const hdst__tables *tables = s->kernel->tables;
    const uint64_t words = hdst__tables_device_words(tables, rows);
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, words), *reference = HDST__NEW_ARRAY(&arena, int64_t, words);
    uint64_t state = 42;
    for (uint64_t i = 0; i < s->records; i++) {
        const float f = (float)make(i, &state), g = (float)make(i + 1, &state);
        put(s, i, 0, &f, sizeof f);
        put(s, i, 1, &g, sizeof g);
        for (uint64_t e = 0; e < TURNS; e++) {
            const float z = f * (float)(e + 1), product = z * g;
            const double wide = (double)product;
            uint32_t word;
            uint64_t bits;
            memcpy(&word, &z, sizeof word);
            memcpy(&bits, &wide, sizeof bits);
            const hdst__cell *cell = tables->accum[0].cell;
            hdst__cell_accumulate(&cell[0], reference + cell[0].device_first + e * cell[0].device_words, word);
            hdst__cell_accumulate(&cell[1], reference + cell[1].device_first + e * cell[1].device_words, bits);
        }
    }
    void *buffers[] = {s->buffer};
    static const int32_t scales[2] = {20, 20};
    kernel_case c = {.kernel = s->kernel, .func = s->func, .input = s->storage, .input_buffers = buffers,
                     .count = s->records, .rows = rows, .scales = scales, .flush = 1 << 23, .groups = 2,
                     .device_table = device};
    cr_assert(kernel_run(&run, &c));
    for (uint32_t leaf = 0; leaf < 2; leaf++)
        for (uint64_t e = 0; e < TURNS; e++) {
            const uint64_t got = hdst__table_read(tables, rows, device, 0, 0, leaf, e), want = hdst__table_read(tables, rows, reference, 0, 0, leaf, e);
            cr_expect_eq(got, want, "%s, leaf %u, element %u: %llx, not %llx", name, leaf, (unsigned)e, (unsigned long long)got, (unsigned long long)want);
        }
}

Test(kernel_levels, exact_for_each_turn_of_a_loop)
{
    setting s = prepare_func(make_loop(), HDST__TARGET_CPU, HDST__SOA, N);
    cr_assert_not_null(strstr(s.kernel->source, "levels_add_float(&many_row_FloatLevels[e_2_], z_[e_2_], BLOCK"),
                       "the sums are in levels, an element for each turn");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_loop_case(&s, cases[i].name, cases[i].make);
    free(s.buffer);
}
