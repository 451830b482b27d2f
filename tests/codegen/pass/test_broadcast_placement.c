// SPDX-License-Identifier: Apache-2.0
// Which broadcasts go to local memory, on IR as text: both sides of each condition.
#include "tests/support/pass_case.h"

#include "codegen/ir/accum_tables.h"
#include "codegen/pass/gpu_form.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(broadcast_placement, .init = pass_set_up, .fini = pass_tear_down);

enum { LOCAL = 4096 };

static ir_func *placed(const char *head, const uint64_t *rows)
{
    ir_func *func = pass_read(head, "");
    const hdst__place_limits limits = {.local_bytes = LOCAL, .rows = rows};
    func->shape = HDST__NEW(func->arena, ir_shape);
    *func->shape = (ir_shape){.group = 64, .records = 1};
    const hdst__tables *tables = hdst__pass_accumulator_placement_gpu(func, NULL, hdst__ir_accum_tables(func->arena, func, NULL), &limits);
    hdst__pass_broadcast_placement(func, NULL, tables, &limits);
    return func;
}

// It says the same when it is read again.
static bool is_local(const char *head, const uint64_t *rows, const char *line)
{
    const ir_func *func = placed(head, rows);
    const char *wrong = hdst__ir_verify(func), *text = ir_text_of(func->arena, func);
    cr_expect_null(wrong, "%s\n%s", wrong, text);
    const ir_func *again = ir_text_read(func->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    cr_expect_str_eq(ir_text_of(func->arena, again), text);
    return strstr(text, line);
}

Test(broadcast_placement, rows_go_where_half_of_local_memory_has_room)
{
    static const char head[] = "  input p p {f32 x}\n  broadcast c c[] {f32 y, u32 k}\n";
    cr_expect(is_local(head, (uint64_t[]){0, 254}, "  place c local\n"));           // 254 * 8 + 16 bytes: 2048
    cr_expect(!is_local(head, (uint64_t[]){0, 255}, "place c"));
    cr_expect(!is_local(head, (uint64_t[]){0, UINT64_MAX / 4}, "place c"));        // whose bytes wrap
    cr_expect(!is_local(head, NULL, "place c"));
}

Test(broadcast_placement, each_takes_from_what_the_others_left)
{
    static const char head[] = "  input p p {f32 x}\n  broadcast c c[] {f32 y, u32 k}\n  broadcast d d[] {f32 y}\n";
    cr_expect(is_local(head, (uint64_t[]){0, 100, 300}, "  place c local\n"));
    cr_expect(!is_local(head, (uint64_t[]){0, 100, 305}, "  place d local\n"));    // 816 and 1236 bytes of 2048
    cr_expect(is_local(head, (uint64_t[]){0, 100, 304}, "  place d local\n"));
    cr_expect(is_local(head, (uint64_t[]){0, 300, 300}, "  place d local\n"));     // the first has no room, the second has
}

Test(broadcast_placement, accumulators_come_first)
{
    static const char head[] = "  input p p {f32 x}\n  broadcast c c[] {f32 y, u32 k}\n  accum t t[] {u32 n max}\n";
    cr_expect(is_local(head, (uint64_t[]){0, 126, 511}, "  place c local\n"));     // 512 words: one copy of 2 KiB, 1 KiB is left
    cr_expect(!is_local(head, (uint64_t[]){0, 127, 511}, "place c"));
}

Test(broadcast_placement, other_rows_stay)
{
    static const char single[] = "  input p p {f32 x}\n  broadcast c c {f32 y, u32 k}\n", odd[] = "  input p p {f32 x}\n  broadcast c c[] {u16 y}\n";
    static const char lookup[] = "  input p p {f32 x}\n  lookup c c[] {f32 y, u32 k}\n";
    cr_expect(!is_local(lookup, (uint64_t[]){0, 1}, "place c"));        // read where it lies, however small
    cr_expect(!is_local(single, (uint64_t[]){0, 1}, "place c"));
    cr_expect(!is_local(odd, (uint64_t[]){0, 1}, "place c"));
}

Test(broadcast_placement, the_verifier_knows_where_a_broadcast_can_be)
{
    static const char head[] = "  input p p {f32 x}\n  broadcast c c[] {f32 y}\n  broadcast d d {f32 y}\n";
    ir_func *func = placed(head, (uint64_t[]){0, 1, 1});
    cr_expect_null(hdst__ir_verify(func));
    func->params[1].placement->place = IR_PLACE_STRIP;
    cr_expect_not_null(hdst__ir_verify(func));
    func->params[1].placement->place = IR_PLACE_LOCAL;
    func->params[2].placement->place = IR_PLACE_LOCAL;         // no table
    cr_expect_not_null(hdst__ir_verify(func));
}
