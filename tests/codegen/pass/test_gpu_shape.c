// SPDX-License-Identifier: Apache-2.0
// How a GPU form is cut, on IR as text: both sides of each limit.
#include "tests/support/pass_case.h"

#include "codegen/pass/gpu_form.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(gpu_shape, .init = pass_set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x, u32 k}\n  broadcast c c[] {f32 y}\n  accum t t {f32 x, u32 n}\n  var u32 i\n  var f32 d\n  var f32 e[4]\n";

// The shape says the same when it is read again.
static ir_shape shape_of(const char *with, const char *body, ir_shape asked, uint32_t most_group)
{
    ir_func *func = pass_read(with, body);
    hdst__pass_uniformity(func);
    hdst__pass_gpu_shape(func, &asked, most_group);
    const char *wrong = hdst__ir_verify(func), *text = ir_text_of(func->arena, func);
    cr_expect_null(wrong, "%s", wrong);
    const ir_func *again = ir_text_read(func->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    cr_expect(again->shape->group == func->shape->group && again->shape->records == func->shape->records, "%s", text);
    return *func->shape;
}

static uint32_t records_of(const char *body) { return shape_of(head, body, (ir_shape){0}, 0).records; }

// "  d = add(p.x, ... add(p.x, p.x))": 2 * adds + 1 nodes.
static const char *long_sum(const char *before, size_t adds, const char *after)
{
    static char text[1 << 14];
    strcpy(text, before);
    strcat(text, "  d = ");
    for (size_t i = 0; i < adds; i++) strcat(text, "add(p.x, ");
    strcat(text, "p.x");
    for (size_t i = 0; i < adds; i++) strcat(text, ")");
    strcat(text, "\n");
    return strcat(text, after);
}

Test(gpu_shape, little_work_leaves_room_for_more_records)
{
    cr_expect_eq(records_of("  accum t.n += 1u\n"), 8);
    cr_expect_eq(records_of("  d = p.x\n"), 4);         // nothing is added: a map
    static const char loop[] = "  for i = 0u to u32(length(c)) {\n    d = c[i].y\n  }\n  accum t.n += 1u\n";
    cr_expect_eq(records_of(loop), 4);                  // records share the loop
}

Test(gpu_shape, records_that_part_go_one_by_one)
{
    cr_expect_eq(records_of("  for i = 0u to p.k {\n    d = c[0u].y\n  }\n  accum t.n += 1u\n"), 1);
}

Test(gpu_shape, arrays_of_a_record_go_one_by_one)
{
    cr_expect_eq(records_of("  e[0u] = p.x\n  accum t.x += e[0u]\n"), 8);
    cr_expect_eq(records_of("  e[0u] = p.x\n  accum t.x += e[rem(p.k, 4u)]\n"), 1);
    cr_expect_eq(records_of("  e[rem(p.k, 4u)] = p.x\n  accum t.x += e[0u]\n"), 1);
}

// An addition counts ten nodes beside its addend, here one.
Test(gpu_shape, longer_bodies_take_fewer_records)
{
    static const char one[] = "  accum t.x += d\n", four[] = "  accum t.x += d\n  accum t.x += d\n  accum t.x += d\n  accum t.x += d\n";
    cr_expect_eq(records_of(long_sum("", 54, one)), 8);     // 109 + 11 nodes
    cr_expect_eq(records_of(long_sum("", 55, one)), 4);     // 122
    cr_expect_eq(records_of(long_sum("", 38, four)), 2);    // 77 + 44, four additions
    cr_expect_eq(records_of(long_sum("", 94, one)), 4);     // 200
    cr_expect_eq(records_of(long_sum("", 95, one)), 2);
    cr_expect_eq(records_of(long_sum("", 294, one)), 2);    // 600
    cr_expect_eq(records_of(long_sum("", 295, one)), 1);
    static const char loop[] = "  for i = 0u to u32(length(c)) {\n  }\n";
    cr_expect_eq(records_of(long_sum(loop, 70, one)), 2);
    cr_expect_eq(records_of(long_sum(loop, 95, one)), 1);
}

Test(gpu_shape, wide_records_have_small_groups_and_a_lane_each)
{
    static const char wide[] = "  input p p {f32 x[128]}\n  accum t t {u32 n}\n", narrow[] = "  input p p {f32 x[127]}\n  accum t t {u32 n}\n";
    const ir_shape of_wide = shape_of(wide, "  accum t.n += 1u\n", (ir_shape){0}, 0), of_narrow = shape_of(narrow, "  accum t.n += 1u\n", (ir_shape){0}, 0);
    cr_expect(of_wide.group == 128 && of_wide.records == 1);
    cr_expect(of_narrow.group == 256 && of_narrow.records == 8);
}

Test(gpu_shape, what_is_asked_for_is_taken_where_it_can_be)
{
    const ir_shape asked = shape_of(head, "  accum t.n += 1u\n", (ir_shape){.group = 64, .records = 2, .unroll = 3}, 0);
    cr_expect(asked.group == 64 && asked.records == 2 && asked.unroll == 3);
    const ir_shape most = shape_of(head, "  accum t.n += 1u\n", (ir_shape){.records = 100}, 100);
    cr_expect(most.group == 64 && most.records == IR_LANE_RECORDS);
}

Test(gpu_shape, a_function_that_emits_has_one_record_whatever_is_asked)
{
    ir_func *func = pass_read(head, "  d = p.x\n");
    func->emits = true;
    hdst__pass_gpu_shape(func, &(ir_shape){.records = 4}, 0);
    cr_expect_eq(func->shape->records, 1);
}

Test(gpu_shape, the_verifier_refuses_shapes_that_cannot_be)
{
    static const ir_shape wrong[] = {{0, 1, 0}, {96, 1, 0}, {64, 0, 0}, {64, IR_LANE_RECORDS + 1, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ir_func *func = pass_read(head, "  d = p.x\n");
        func->shape = (ir_shape *)&wrong[i];
        cr_expect_not_null(hdst__ir_verify(func), "%zu", i);
    }
}
