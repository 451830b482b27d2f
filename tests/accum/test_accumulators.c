// SPDX-License-Identifier: Apache-2.0
// The words of accumulator tables, the keys of minimum and maximum, scales and precision classes from samples.
#include "accum/tables.h"
#include "accum/addends.h"
#include "accum/fixed_point.h"
#include "accum/minmax_keys.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint64_t f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

static uint64_t f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

Test(table, cells_follow_one_another_in_rows)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__leaf total_leaves[2] = {{.path = "x", .kind = HDST__F32, .elements = 3}, {.path = "n", .kind = HDST__U32, .elements = 1}};
    hdst__leaf inertia_leaf = {.path = "value", .kind = HDST__F64, .elements = 1};
    hdst__record total = {.name = "total", .leaves = total_leaves, .leaf_count = 2}, inertia = {.name = "double", .leaves = &inertia_leaf, .leaf_count = 1};
    ir_param params[3] = {{.kind = IR_INPUT}, {.kind = IR_ACCUM_TABLE, .record = &total, .is_table = true}, {.kind = IR_ACCUM_TABLE, .record = &inertia}};
    ir_func func = {.arena = &arena, .params = params, .param_count = 3};
    const hdst__tables *tables = hdst__ir_accum_tables(&arena, &func, NULL);
    cr_assert_eq(tables->accum_count, 2);
    cr_expect_eq(tables->scale_count, 2);
    const hdst__accum *t = &tables->accum[0];
    cr_expect_eq(t->param, 1);
    cr_expect_eq(t->cell[0].device_words, 10);
    cr_expect_eq(t->cell[1].device_first, 30);
    cr_expect_eq(t->device_row_words, 31);
    cr_expect_eq(t->private_row_words, 4);
    cr_expect_eq(t->cell[0].precision, HDST__CLASS_ONE_WORD);
    cr_expect_eq(t->cell[1].scale, -1);
    cr_expect_eq(tables->accum[1].cell[0].precision, HDST__CLASS_TWO_WORDS);
    cr_expect_eq(tables->accum[1].cell[0].scale, 1);
    const uint64_t rows[3] = {0, 50, 7};        // the last is no table: one row
    cr_expect_eq(hdst__tables_device_words(tables, rows), 50 * 31 + 67);
    cr_expect_eq(hdst__tables_device_first(tables, rows, 1), 50 * 31);
    cr_expect_eq(hdst__tables_private_words(tables, rows), 50 * 4 + 2);
    const hdst__precision_class wide[2] = {HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_ONE_WORD};
    const hdst__tables *other = hdst__ir_accum_tables(&arena, &func, wide);
    cr_expect_eq(hdst__tables_private_words(other, rows), 50 * 1 + 1);
    cr_expect_eq(other->accum[0].cell[1].private_first, 0);
    cr_expect_eq(hdst__tables_accum(tables, 2), &tables->accum[1]);
    cr_expect_null(hdst__tables_accum(tables, 0));
    hdst__arena_destroy(&arena);
}

static void expect_ordered(hdst__kind kind, const uint64_t *ascending, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t low = hdst__key_encode(kind, HDST__MIN, ascending[i]), high = hdst__key_encode(kind, HDST__MAX, ascending[i]);
        cr_expect_eq(hdst__key_decode(kind, HDST__MIN, low), ascending[i]);
        cr_expect_eq(hdst__key_decode(kind, HDST__MAX, high), ascending[i]);
        if (i == 0) continue;
        cr_expect_gt(high, hdst__key_encode(kind, HDST__MAX, ascending[i - 1]));
        cr_expect_lt(low, hdst__key_encode(kind, HDST__MIN, ascending[i - 1]));
    }
    cr_expect_eq(hdst__key_encode(kind, HDST__MAX, ascending[0]), 0, "only the identity of max has key 0");
    cr_expect_eq(hdst__key_encode(kind, HDST__MIN, ascending[count - 1]), 0, "only the identity of min has key 0");
}

Test(table, keys_keep_the_order_of_every_kind)
{
    const uint64_t bools[] = {0, 1}, u8s[] = {0, 1, 127, 128, 255}, u64s[] = {0, 1, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    const uint64_t i32s[] = {(uint64_t)(int64_t)INT32_MIN, (uint64_t)-5, (uint64_t)-1, 0, 1, INT32_MAX};
    const uint64_t i64s[] = {(uint64_t)INT64_MIN, (uint64_t)-1, 0, 1, INT64_MAX};
    const uint64_t f32s[] = {f32(-INFINITY), f32(-3e38f), f32(-1), f32(-1e-45f), f32(-0.f), f32(0), f32(1e-45f), f32(1), f32(3e38f), f32(INFINITY)};
    const uint64_t f64s[] = {f64(-INFINITY), f64(-1e308), f64(-5e-324), f64(-0.0), f64(0), f64(5e-324), f64(2), f64(1e308), f64(INFINITY)};
    expect_ordered(HDST__BOOL, bools, 2);
    expect_ordered(HDST__U8, u8s, 5);
    expect_ordered(HDST__U64, u64s, 5);
    expect_ordered(HDST__I32, i32s, 6);
    expect_ordered(HDST__I64, i64s, 5);
    expect_ordered(HDST__F32, f32s, 10);
    expect_ordered(HDST__F64, f64s, 9);
}

Test(table, nan_wins_over_every_key)
{
    for (int acc = HDST__MIN; acc <= HDST__MAX; acc++) {
        const uint64_t key32 = hdst__key_encode(HDST__F32, (hdst__accumulate_op)acc, 0xffc12345),
                       key64 = hdst__key_encode(HDST__F64, (hdst__accumulate_op)acc, f64(NAN));
        cr_expect_gt(key32, hdst__key_encode(HDST__F32, (hdst__accumulate_op)acc, f32(acc == HDST__MIN ? -INFINITY : INFINITY)));
        cr_expect_gt(key64, hdst__key_encode(HDST__F64, (hdst__accumulate_op)acc, f64(acc == HDST__MIN ? -INFINITY : INFINITY)));
        cr_expect_eq(hdst__key_decode(HDST__F32, (hdst__accumulate_op)acc, key32), 0x7fc00000);
        cr_expect_eq(hdst__key_decode(HDST__F64, (hdst__accumulate_op)acc, key64), 0x7ff8000000000000);
    }
}

Test(table, addends_are_measured_against_the_running_maximum)
{
    hdst__addends a;
    hdst__addends_init(&a);
    hdst__addends_add(&a, HDST__F32, f32(0.75f));       // 2^-1 + 2^-2: highest -1, last bit -2
    hdst__addends_add(&a, HDST__F32, f32(-40));         // 32 + 8: highest 5, last bit 3
    hdst__addends_add(&a, HDST__F32, f32(0));
    hdst__addends_add(&a, HDST__F32, f32(INFINITY));
    hdst__addends_add(&a, HDST__F32, f32(NAN));
    hdst__addends_add(&a, HDST__F32, 1);                // 2^-149
    cr_expect_eq(a.count, 3);
    cr_expect_eq(a.highest, 5);
    cr_expect_eq(a.lowest_bit, -149);
    cr_expect_eq(a.last_bit[7], 1);
    cr_expect_eq(a.last_bit[2], 1);
    cr_expect_eq(a.last_bit[154], 1);
    cr_expect_eq(a.top_bit[6], 1);
    cr_expect_eq(a.top_bit[0], 1);
    cr_expect_eq(a.top_bit[154], 1);
}

// What scale and precision class promise: most addends are integers below 2^40 (or 2^80 in two words) when multiplied by 2^s.
static void expect_most_fit(const double *v, size_t n, hdst__kind kind, hdst__precision_class precision)
{
    hdst__addends a;
    hdst__addends_init(&a);
    for (size_t i = 0; i < n; i++) hdst__addends_add(&a, kind, kind == HDST__F32 ? f32((float)v[i]) : f64(v[i]));
    const int32_t s = hdst__addends_scale(&a, kind, HDST__FIXED_BITS);
    cr_assert_eq(hdst__addends_precision(&a, kind, s, HDST__FIXED_BITS), precision, "precision %d", hdst__addends_precision(&a, kind, s, HDST__FIXED_BITS));
    size_t fit = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = ldexp(kind == HDST__F32 ? (float)v[i] : v[i], s), fine = ldexp(x, precision == HDST__CLASS_TWO_WORDS ? 40 : 0);
        fit += fabs(x) < 0x1p40 && (fabs(fine) >= 0x1p53 || fine == floor(fine));
    }
    cr_expect_geq(fit * 32, n * 31, "%zu of %zu fit", fit, n);
}

Test(table, scale_and_precision_class_suit_the_sample)
{
    enum { N = 1000 };
    double unit[N], integers[N], mixed[N], tiny[N];
    uint64_t state = 1;
    for (int i = 0; i < N; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        unit[i] = (double)(state >> 11) * 0x1p-53;
        integers[i] = (double)(state >> 50);
        mixed[i] = ldexp(unit[i], (int)(state % 900) - 450);
        tiny[i] = unit[i] * 1e-285;
    }
    expect_most_fit(unit, N, HDST__F32, HDST__CLASS_ONE_WORD);
    expect_most_fit(integers, N, HDST__F64, HDST__CLASS_ONE_WORD);
    expect_most_fit(unit, N, HDST__F64, HDST__CLASS_TWO_WORDS);
    hdst__addends a;
    for (int which = 0; which < 2; which++) {
        hdst__addends_init(&a);
        for (int i = 0; i < N; i++) hdst__addends_add(&a, HDST__F64, f64(which ? tiny[i] : mixed[i]));
        const int32_t s = hdst__addends_scale(&a, HDST__F64, HDST__FIXED_BITS);
        cr_expect_eq(hdst__addends_precision(&a, HDST__F64, s, HDST__FIXED_BITS), which ? HDST__CLASS_TWO_WORDS : HDST__CLASS_SUPERACCUMULATOR);
        cr_expect_leq(s, 980);
    }
    hdst__addends_init(&a);
    cr_expect_eq(hdst__addends_scale(&a, HDST__F32, HDST__FIXED_BITS), 0);
    cr_expect_eq(hdst__addends_precision(&a, HDST__F64, 0, HDST__FIXED_BITS), HDST__CLASS_TWO_WORDS);
}

Test(table, words_of_a_table_in_fixed_point_cannot_overflow)
{
    for (uint32_t shift = 0; shift < 40; shift++)
        for (int64_t more = -1; more <= 1; more++) {
            const uint64_t additions = (UINT64_C(1) << shift) + (uint64_t)more;
            const uint32_t bits = hdst__fixed_point_bits(additions);
            if (bits == 0) {
                cr_expect_gt((double)additions * 0x1p30, 0x1p63, "%" PRIu64 " additions", additions);
                continue;
            }
            cr_expect(bits >= 30 && bits <= HDST__FIXED_BITS);
            cr_expect_leq((double)additions * (double)(UINT64_C(1) << bits), 0x1p63, "%" PRIu64 " additions", additions);
        }
}

// One addend in 128 is far above the others: they keep their word, and it goes elsewhere. Where large ones are common they count.
Test(table, a_few_large_addends_do_not_choose_the_scale)
{
    for (int every = 128; every >= 8; every /= 16) {
        hdst__addends a;
        hdst__addends_init(&a);
        for (int i = 0; i < 512; i++) {
            const float v = i % every == 5 ? 0x1p100f : 1 + (float)i / 512;
            uint32_t bits;
            memcpy(&bits, &v, sizeof bits);
            hdst__addends_add(&a, HDST__F32, bits);
        }
        const int32_t s = hdst__addends_scale(&a, HDST__F32, HDST__FIXED_BITS);
        const hdst__precision_class precision = hdst__addends_precision(&a, HDST__F32, s, HDST__FIXED_BITS);
        cr_expect(every == 128 ? s >= 9 && s <= 38 && precision == HDST__CLASS_ONE_WORD : precision == HDST__CLASS_SUPERACCUMULATOR,
                  "one in %d: scale %d, precision %d", every, s, precision);
    }
}
