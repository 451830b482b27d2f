// SPDX-License-Identifier: Apache-2.0
// Where output goes of which the data says how much, on IR as text: both sides of each limit, and that the text says it.
#include "tests/support/pass_case.h"

#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(output_way, .init = pass_set_up, .fini = pass_tear_down);

// Records of 20 bytes: four of them are more than a cache line.
static const char head[] = "  input p p {f32 x, i32 n}\n  output result result {f32 y, f32 w[4]}\n  var f32 a\n  var i32 i\n";

enum { FEW = 1, STRIPS = 2 };

static ir_output way_of(const char *body, int what)
{
    ir_func *func = pass_read(head, body);
    func->emits_few = what & FEW;
    hdst__pass_output_way(func, what & STRIPS);
    const char *wrong = hdst__ir_verify(func), *text = ir_text_of(func->arena, func);
    cr_expect_null(wrong, "%s\n%s", wrong, text);
    const ir_func *again = ir_text_read(func->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    const ir_output output = hdst__ir_output(func), read = hdst__ir_output(again);
    cr_expect(read.way == output.way && read.bound == output.bound && read.spare == output.spare, "%s", text);
    return output;
}

static const char one[] = "  store result.y = p.x\n  emit if lt(p.n, 3)\n";

// "  a = add(p.x, ... add(p.x, p.x))", on which an emit depends: 2 * adds + 1 nodes.
static const char *costly(size_t adds)
{
    static char text[1 << 12];
    strcpy(text, "  a = ");
    for (size_t i = 0; i < adds; i++) strcat(text, "add(p.x, ");
    strcat(text, "p.x");
    for (size_t i = 0; i < adds; i++) strcat(text, ")");
    return strcat(text, "\n  store result.y = p.x\n  emit if lt(a, 1f)\n");
}

Test(output_way, a_record_for_each_record_is_dense)
{
    cr_expect_eq(way_of("  store result.y = p.x\n", STRIPS).way, IR_OUTPUT_DENSE);
    cr_expect_eq(way_of("  store result.y = p.x\n", 0).way, IR_OUTPUT_DENSE);
}

Test(output_way, what_is_cheap_to_count_is_counted)
{
    const ir_output strips = way_of(one, STRIPS), tiles = way_of(one, 0);
    cr_expect(strips.way == IR_OUTPUT_COUNTED && strips.spare == 4, "a cache line and a record: %u", (unsigned)strips.spare);
    cr_expect(tiles.way == IR_OUTPUT_COUNTED && tiles.spare == 0);
}

Test(output_way, strips_write_what_costs_as_much_to_count)
{
    const ir_output cheap = way_of(costly(20), STRIPS), dear = way_of(costly(24), STRIPS), loop =
        way_of("  for i = 0 to p.n {\n    a = add(a, p.x)\n  }\n  store result.y = p.x\n  emit if lt(a, 1f)\n", STRIPS);
    cr_expect_eq(cheap.way, IR_OUTPUT_COUNTED);
    cr_expect(dear.way == IR_OUTPUT_BOUNDED && dear.bound == 1);
    cr_expect(loop.way == IR_OUTPUT_BOUNDED && loop.bound == 1);
    cr_expect_eq(way_of(costly(24), 0).way, IR_OUTPUT_COUNTED, "a GPU has no strips");
}

Test(output_way, strips_write_what_hardly_ever_comes)
{
    cr_expect_eq(way_of(one, STRIPS | FEW).way, IR_OUTPUT_BOUNDED);
    cr_expect_eq(way_of(one, FEW).way, IR_OUTPUT_COUNTED);
}

Test(output_way, strips_leave_room_for_four_records_of_one)
{
    static const char four[] = "  for i = 0 to 4 {\n    store result.y = p.x\n    emit\n  }\n";
    static const char five[] = "  for i = 0 to 5 {\n    store result.y = p.x\n    emit\n  }\n";
    const ir_output output = way_of(four, STRIPS);
    cr_expect(output.way == IR_OUTPUT_BOUNDED && output.bound == 4);
    cr_expect_eq(way_of(five, STRIPS).way, IR_OUTPUT_COUNTED);
}

Test(output_way, the_verifier_refuses_what_cannot_be)
{
    ir_func *func = pass_read(head, "  store result.y = p.x\n");
    ir_output output = {.way = IR_OUTPUT_COUNTED};
    func->output = &output;
    cr_expect(strstr(hdst__ir_verify(func), "without emits"));
    func = pass_read(head, "  for i = 0 to 4 {\n    store result.y = p.x\n    emit\n  }\n");
    func->output = &output;
    output = (ir_output){.way = IR_OUTPUT_BOUNDED, .bound = 3};
    cr_expect(strstr(hdst__ir_verify(func), "more output than there is room for"));
    output.bound = 4;
    cr_expect_null(hdst__ir_verify(func));
}
