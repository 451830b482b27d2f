// SPDX-License-Identifier: Apache-2.0
// Which loops of a work-group become products that another kernel makes, and how their tiles are cut, on IR as text.
#include "tests/support/pass_case.h"

#include "codegen/pass/accumulator_placement.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pass_product_tiles, .init = pass_set_up, .fini = pass_tear_down);

enum { LOCAL = 48 << 10 };

static const hdst__place_limits usual = {.local_bytes = LOCAL, .product = {.has_double = true, .local_bytes = LOCAL}};

static const char head[] = "  input p p {f32 x[784], f32 y[30], u32 k}\n"
                           "  accum g g {f32 w[23520], f32 v[300], f32 u[300], f32 b[100], u32 n}\n  accum ulong all {u64 value}\n"
                           "  var f32 kept[30]\n  var u32 h\n  var u32 h_2\n  var u32 h_3\n  var u32 i\n  var u32 e\n  var u32 j\n";

#define KEEP "  for h = 0u to 30u {\n    kept[h] = mul(p.y[h], 2f)\n  }\n"
#define WIDE(product)                            \
    "  for i = 0u to 784u" product " {\n"        \
    "    for h_2 = 0u to 30u {\n"                \
    "      accum g.w[add(mul(h_2, 784u), i)] += mul(kept[h_2], p.x[i]) in register 0\n" \
    "    }\n  }\n"
#define WIDE_BEFORE                              \
    "  for i = 0u to 784u {\n"                    \
    "    for h_2 = 0u to 30u {\n"                \
    "      accum g.w[add(mul(h_2, 784u), i)] += mul(kept[h_2], p.x[i])\n" \
    "    }\n  }\n"

typedef struct placed {
    ir_func *func, *loops;
    const hdst__tables *tables;
} placed;

static placed on_gpu(const char *body, hdst__place_limits limits, const hdst__precision_class *classes)
{
    ir_func *func = pass_read(head, body);
    func->shape = HDST__NEW(func->arena, ir_shape);
    *func->shape = (ir_shape){.group = 128, .records = 1};
    const hdst__tables *tables = hdst__pass_accumulator_placement_gpu(func, NULL, hdst__ir_accum_tables(func->arena, func, classes), &limits);
    return (placed){func, hdst__pass_accumulator_placement_loops(func, tables, &limits), tables};
}

// The loops, which say the same when they are read again.
static void expect_loops(const placed *p, const char *expected, bool apart)
{
    const char *wrong;
    cr_assert_not_null(p->loops);
    cr_expect_eq(p->loops->tables->apart, apart, "%s", pass_body(p->loops));
    cr_expect_str_eq(pass_body(p->loops), expected, "expected\n%sfound\n%s", expected, pass_body(p->loops));
    const char *text = ir_text_of(p->loops->arena, p->loops);
    const ir_func *again = ir_text_read(p->loops->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    cr_expect_str_eq(ir_text_of(p->loops->arena, again), text);
    cr_expect_eq(strstr(text, " apart\n") != NULL, apart, "%s", text);
}

Test(pass_product_tiles, a_factor_of_the_record_times_its_array_is_a_product_of_matrices)
{
    const placed p = on_gpu(KEEP WIDE_BEFORE, usual, NULL);
    expect_loops(&p, WIDE(" product 4 by 5 across 16 steps 32"), true);
    cr_expect_str_eq(pass_body(p.func), KEEP);
}

Test(pass_product_tiles, plain_sums_take_fewer_registers_so_a_lane_has_more_of_them)
{
    hdst__place_limits fast = usual;
    fast.fast_sums = true;
    const placed p = on_gpu(KEEP WIDE_BEFORE, fast, NULL);
    expect_loops(&p, WIDE(" product 8 by 5 across 32 steps 32"), true);
    fast.product.has_double = false;            // which exact ones need
    const placed lacking = on_gpu(KEEP WIDE_BEFORE, fast, NULL);
    expect_loops(&lacking, WIDE(" product 8 by 5 across 32 steps 32"), true);
}

Test(pass_product_tiles, where_local_memory_is_small_fewer_records_are_in_it)
{
    hdst__place_limits small = usual;
    small.product.local_bytes = 5 << 10;
    const placed p = on_gpu(KEEP WIDE_BEFORE, small, NULL);
    expect_loops(&p, WIDE(" product 4 by 2 across 16 steps 16"), true);
    small.product.local_bytes = 1 << 10;
    const placed smaller = on_gpu(KEEP WIDE_BEFORE, small, NULL);
    expect_loops(&smaller, WIDE(" product 4 by 1 across 16 steps 4"), true);
    small.product.local_bytes = 512;
    const placed none = on_gpu(KEEP WIDE_BEFORE, small, NULL);
    expect_loops(&none, WIDE(""), false);
    cr_expect(!hdst__pass_product_tiles(none.loops, none.func, none.tables, &small.product));
    cr_expect(hdst__pass_product_tiles(none.loops, none.func, none.tables, &usual.product) && none.func->tables->apart);
}

// Sums of elements alone have one factor; what does not suit goes along as it is.
Test(pass_product_tiles, all_other_loops_go_with_it)
{
    const placed p = on_gpu(KEEP WIDE_BEFORE "  for h_3 = 0u to 300u {\n    accum g.u[h_3] += p.x[h_3]\n  }\n"
                                             "  for j = 0u to 100u {\n    accum g.b[j] += p.x[j]\n  }\n"
                                             "  for e = 0u to 300u {\n    accum g.v[e] += p.x[e]\n    accum g.v[e] += p.x[add(e, 1u)]\n  }\n"
                                             "  accum all.value += 1ul\n",
                            usual, NULL);
    expect_loops(&p, WIDE(" product 4 by 5 across 16 steps 32")
                     "  for h_3 = 0u to 300u product 1 by 1 across 128 steps 32 {\n    accum g.u[h_3] += p.x[h_3] in register 0\n  }\n"
                     "  for j = 0u to 100u product 1 by 1 across 128 steps 32 beside {\n    accum g.b[j] += p.x[j] in register 0\n  }\n"
                     "  for e = 0u to 300u {\n    accum g.v[e] += p.x[e] in register 0\n    accum g.v[e] += p.x[add(e, 1u)] in register 0\n  }\n",
                 true);
    cr_expect_str_eq(pass_body(p.func), KEEP "  accum all.value += 1ul\n");
}

Test(pass_product_tiles, records_that_add_to_the_table_themselves_keep_all_in_one_kernel)
{
    const placed p = on_gpu(KEEP WIDE_BEFORE "  accum g.n += 1u\n", usual, NULL);
    expect_loops(&p, WIDE(""), false);
}

Test(pass_product_tiles, two_loops_that_add_to_one_leaf_meet_in_its_cells)
{
    const placed p = on_gpu(KEEP WIDE_BEFORE "  for e = 0u to 784u {\n    accum g.w[e] += p.x[e]\n  }\n", usual, NULL);
    expect_loops(&p, WIDE("") "  for e = 0u to 784u {\n    accum g.w[e] += p.x[e] in register 0\n  }\n", false);
}

// No loop is one whose cells differ from record to record, or are those of several factors or elements, which lanes with others of them add to at once; whose
// addend is no product of what either loop counts; or that has few sums.
Test(pass_product_tiles, other_additions_are_no_products)
{
    static const char *const bodies[] = {
        "  for i = 0u to 784u {\n    for h_2 = 0u to 30u {\n"
        "      accum g.w[add(mul(h_2, 784u), i)] += mul(kept[h_2], add(p.x[i], kept[h_2]))\n    }\n  }\n",
        "  for i = 0u to 784u {\n    for h_2 = 0u to 30u {\n      accum g.w[add(mul(h_2, 784u), i)] += add(kept[h_2], p.x[i])\n    }\n  }\n",
        "  for i = 0u to 784u {\n    for h_2 = 0u to 3u {\n      accum g.w[add(mul(h_2, 784u), i)] += mul(kept[h_2], p.x[i])\n    }\n  }\n",
        "  for i = 0u to 784u {\n    accum g.w[i] += mul(kept[3u], p.x[i])\n  }\n",
        "  for i = 0u to 784u {\n    for h_2 = 0u to 30u {\n      accum g.w[i] += mul(kept[h_2], p.x[i])\n    }\n  }\n",
    };
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        const placed p = on_gpu(hdst__arena_printf(pass_read(head, KEEP)->arena, KEEP "%s", bodies[b]), usual, NULL);
        cr_expect(p.loops && !p.loops->tables->apart, "%s", bodies[b]);
    }
    const hdst__precision_class two[] = {HDST__CLASS_TWO_WORDS, HDST__CLASS_TWO_WORDS, HDST__CLASS_TWO_WORDS, HDST__CLASS_TWO_WORDS};   // w, v, u, b
    const placed p = on_gpu(KEEP WIDE_BEFORE, usual, two);
    cr_expect(p.loops && !p.loops->tables->apart, "two words");
}
