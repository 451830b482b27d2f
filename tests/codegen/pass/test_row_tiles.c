// SPDX-License-Identifier: Apache-2.0
// The pass row-tiles on IR alone: what leaves a loop for a tile of the work-group, and what stays.
#include "codegen/pass/row_form.h"
#include "codegen/pass/row_tiles.h"
#include "tests/support/pass_case.h"

#include <criterion/criterion.h>

static hdst__row_tiles limits;

static void tiles(ir_func *func) { hdst__pass_row_tiles(func, &limits); }

static void set_up(void)
{
    pass_set_up();
    limits = (hdst__row_tiles){.local_bytes = 48 << 10, .records = 8, .span = 64};
}

TestSuite(pass_row_tiles, .init = set_up, .fini = pass_tear_down);

static const char head[] = "  input p p {f32 x[40], u32 k}\n"
                           "  broadcast c c[] {f32 x[40]}\n"
                           "  broadcast n n {f32 w[200], f32 b[5]}\n"
                           "  accum double all {f64 value}\n"
                           "  output r r {f32 y}\n"
                           "  var u32 j\n  var u32 lane\n  var u32 i\n  var f32 sum\n  var f32 e\n"
                           "  var f32 lanes[16]\n  var f32 d\n  var f32 best\n  var u32 at\n";
static const pass_case c = {tiles, head};

#define TREE                                                                                                            \
    "add(add(add(add(lanes[0u], lanes[8u]), add(lanes[4u], lanes[12u])), add(add(lanes[2u], lanes[10u]), "             \
    "add(lanes[6u], lanes[14u]))), add(add(add(lanes[1u], lanes[9u]), add(lanes[5u], lanes[13u])), "                   \
    "add(add(lanes[3u], lanes[11u]), add(lanes[7u], lanes[15u]))))"

// The lanes of a dot at a depth, with the addend of element i.
#define LANES(in, addend)                                                                                               \
    in "for lane = 0u to 16u {\n" in "  sum = 0f\n" in "  for i = lane to 40u step 16 {\n" in "    " addend "\n"        \
    in "  }\n" in "  lanes[lane] = sum\n" in "}\n"
#define DOT(in, addend) LANES(in, addend) in "d = " TREE "\n"

#define WEIGHT(j) "sum = fma(n.w[add(mul(" j ", 40u), i)], p.x[i], sum)"
#define DISTANCE(j) "sum = fma(sub(p.x[i], c[" j "].x[i]), sub(p.x[i], c[" j "].x[i]), sum)"
#define ROWS "u32(min(length(c), 4294967295ul))"

Test(pass_row_tiles, dots_of_a_short_loop_are_made_before_it)
{
    PASS_GIVES(c, "  best = 0f\n  for j = 0u to 5u {\n" DOT("    ", WEIGHT("j")) "    best = max(best, add(d, n.b[j]))\n  }\n  store r.y = best\n",
               "  best = 0f\n"
               "  for j_2 = 0u to 5u tile 8 by 5 {\n" LANES("    ", WEIGHT("j_2")) "    tile[j_2] = " TREE "\n  }\n"
               "  for j = 0u to 5u {\n    d = tile[j]\n    best = max(best, add(d, n.b[j]))\n  }\n  store r.y = best\n");
}

// A work-group with few turns has few records, but many where they add to tables in device memory.
Test(pass_row_tiles, few_turns_have_many_records_beside_tables)
{
    static const char body[] = "  best = 0f\n  for j = 0u to 3u {\n" DOT("    ", WEIGHT("j")) "    best = max(best, add(d, n.b[j]))\n  }\n  store r.y = best\n";
    for (int tables = 0; tables < 2; tables++) {
        limits.tables = tables;
        limits.records = 4, limits.span = 128;
        ir_func *func = pass_read(head, body);
        cr_assert(hdst__pass_row_tiles(func, &limits));
        cr_expect_eq(func->shape->span, tables ? 128 : 8);
        cr_expect_eq(hdst__row_tile_records(func, func->body.items[1]->tile), tables ? 32 : 8);
    }
}

Test(pass_row_tiles, a_loop_of_any_length_goes_so_many_turns_at_a_time)
{
#define CUT "add(first, min(sub(" ROWS ", first), 30u))"
    PASS_GIVES(c, "  best = inff\n  for j = 0u to " ROWS " {\n" DOT("    ", DISTANCE("j")) "    best = min(best, d)\n  }\n  store r.y = best\n",
               "  best = inff\n"
               "  for first = 0u to " ROWS " step 30 {\n"
               "    for j_2 = first to " CUT " tile 8 by 15 {\n" LANES("      ", DISTANCE("j_2")) "      tile[sub(j_2, first)] = " TREE "\n    }\n"
               "    for j = first to " CUT " {\n      d = tile[sub(j, first)]\n      best = min(best, d)\n    }\n"
               "  }\n  store r.y = best\n");
}

Test(pass_row_tiles, rows_that_are_known_cut_the_tile)
{
    limits.rows = (const uint64_t[]){0, 10, 1, 1, 0};
    const char *after = pass_body(pass_after(&c, "  best = inff\n  for j = 0u to " ROWS " {\n" DOT("    ", DISTANCE("j"))
                                                 "    best = min(best, d)\n  }\n  store r.y = best\n"));
    cr_expect_not_null(strstr(after, "step 10 {"), "%s", after);
    cr_expect_not_null(strstr(after, "tile 8 by 10 {"), "%s", after);
}

Test(pass_row_tiles, one_dot_is_a_loop_of_one_turn_for_few_records_of_a_work_group)
{
    PASS_GIVES(c, DOT("  ", "sum = fma(n.w[i], p.x[i], sum)") "  store r.y = d\n",
               "  for once_2 = 0u to 1u tile 1 by 1 {\n" LANES("    ", "sum = fma(n.w[i], p.x[i], sum)") "    tile[once_2] = " TREE "\n  }\n"
               "  d = tile[0u]\n  store r.y = d\n");
    const char *shape = pass_head(pass_after(&c, DOT("  ", "sum = fma(n.w[i], p.x[i], sum)") "  store r.y = d\n"));
    cr_expect_not_null(strstr(shape, "shape group 128 records 1 span 8"), "%s", shape);
}

#define LOOP(body) "  best = inff\n  for j = 0u to 5u {\n" body "    best = min(best, d)\n  }\n  store r.y = best\n"

Test(pass_row_tiles, what_needs_more_than_record_and_broadcasts_stays)
{
    PASS_LEAVES(c, LOOP(DOT("    ", "sum = fma(best, p.x[i], sum)")));                         // what the turn before left
    PASS_LEAVES(c, "  at = rem(p.k, 5u)\n" LOOP(DOT("    ", WEIGHT("at"))));
    PASS_LEAVES(c, LOOP(DOT("    ", "sum = fma(f32(record_index()), p.x[i], sum)")));
    PASS_LEAVES(c, LOOP(DOT("    ", "sum = fma(n.w[i], 2f, sum)")));                           // nothing of the record
    PASS_LEAVES(c, LOOP(DOT("    ", WEIGHT("j")) "    d = add(d, lanes[3u])\n"));              // a lane by itself is read
    PASS_LEAVES(c, LOOP(DOT("    ", WEIGHT("j")) "    d = add(d, sum)\n"));
    PASS_LEAVES(c, LOOP(DOT("    ", WEIGHT("j")) "    d = add(d, f32(i))\n"));
}

Test(pass_row_tiles, what_not_all_lanes_come_to_stays)
{
    PASS_LEAVES(c, "  d = 0f\n  if gt(p.k, 3u) {\n" DOT("    ", "sum = fma(n.w[i], p.x[i], sum)") "  }\n  store r.y = d\n");
    PASS_LEAVES(c, "  best = 0f\n  for j = 0u to rem(p.k, 5u) {\n" DOT("    ", WEIGHT("j")) "    best = max(best, d)\n  }\n  store r.y = best\n");
    PASS_LEAVES(c, LOOP("    if gt(f32(p.k), best) {\n      break\n    }\n" DOT("    ", WEIGHT("j"))));
}

Test(pass_row_tiles, a_tile_without_room_or_lanes_is_none)
{
    limits.local_bytes = 1024;
    PASS_LEAVES(c, LOOP(DOT("    ", WEIGHT("j"))));
    limits = (hdst__row_tiles){.local_bytes = 48 << 10, .records = 8, .span = 64, .most_group = 8};
    PASS_LEAVES(c, LOOP(DOT("    ", WEIGHT("j"))));
}

Test(pass_row_tiles, additions_of_a_loop_whose_turns_are_not_known_stay)
{
    PASS_LEAVES(c, "  for j = 0u to " ROWS " {\n" DOT("    ", DISTANCE("j")) "    accum all.value += f64(d)\n  }\n  store r.y = 0f\n");
}

// --- Sums that are written as loops ---

#define LOOPED(in, start, body) in "d = " start "\n" in "for i = 0u to 40u {\n" body in "}\n"
#define SQUARES(element) "      e = sub(p.x[i], " element ")\n      d = fma(e, e, d)\n"
#define NEAREST(turns, dot) "  best = inff\n  for j = 0u to " turns " {\n" dot "    best = min(best, d)\n  }\n  store r.y = best\n"

Test(pass_row_tiles, sums_written_as_loops_are_made_whole_and_in_order)
{
#define FORTY "add(first, min(sub(" ROWS ", first), 64u))"
    PASS_GIVES(c, NEAREST(ROWS, LOOPED("    ", "n.b[0u]", SQUARES("c[j].x[i]"))),
               "  best = inff\n"
               "  for first = 0u to " ROWS " step 64 {\n"
               "    for j_2 = first to " FORTY " tile 4 by 8 across 8 {\n"
               "      sum_2 = n.b[0u]\n"
               "      for i = 0u to 40u {\n        own = p.x[i]\n        other = c[j_2].x[i]\n"
               "        e = sub(own, other)\n        sum_2 = fma(e, e, sum_2)\n      }\n"
               "      tile[sub(j_2, first)] = sum_2\n    }\n"
               "    for j = first to " FORTY " {\n      d = tile[sub(j, first)]\n      best = min(best, d)\n    }\n"
               "  }\n  store r.y = best\n");
    const char *shape = pass_head(pass_after(&c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("c[j].x[i]")))));
    cr_expect_not_null(strstr(shape, "shape group 128 records 1 span 64"), "%s", shape);
}

Test(pass_row_tiles, fewer_turns_have_fewer_lanes_side_by_side)
{
    limits.rows = (const uint64_t[]){0, 33, 1, 1, 0};
    const char *after = pass_body(pass_after(&c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("c[j].x[i]")))));
    cr_expect_not_null(strstr(after, "step 33 {"), "%s", after);
    cr_expect_not_null(strstr(after, "tile 4 by 8 across 8 {"), "%s", after);
    limits.rows = (const uint64_t[]){0, 32, 1, 1, 0};
    after = pass_body(pass_after(&c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("c[j].x[i]")))));
    cr_expect_not_null(strstr(after, "tile 2 by 8 across 4 {"), "%s", after);
    limits.most_group = 16;
    const ir_func *small = pass_after(&c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("c[j].x[i]"))));
    cr_expect_not_null(strstr(pass_body(small), "tile 4 by 8 across 4 {"), "%s", pass_body(small));
    cr_expect_not_null(strstr(pass_head(small), "shape group 16 records 1 span 16"), "%s", pass_head(small));
}

Test(pass_row_tiles, sums_written_as_loops_stay_where_little_is_shared)
{
    PASS_LEAVES(c, NEAREST("5u", LOOPED("    ", "0f", SQUARES("n.w[add(mul(j, 40u), i)]"))));
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("1f"))));                                 // nothing of a broadcast
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", "      d = fma(c[j].x[i], 2f, d)\n")));           // nothing of the record
    limits.rows = (const uint64_t[]){0, 31, 1, 1, 0};
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("c[j].x[i]"))));
}

Test(pass_row_tiles, sums_written_as_loops_stay_where_they_need_more)
{
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "best", SQUARES("c[j].x[i]"))));                        // begins with what the turn before left
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "p.x[3u]", SQUARES("c[j].x[i]"))));                     // with a number of the record
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("mul(c[j].x[i], f32(p.k))"))));           // adds with one
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("c[j].x[i]") "      d = add(d, e)\n")));  // two additions
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("mul(c[j].x[i], n.w[i])"))));             // two of broadcasts
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("mul(c[j].x[i], p.x[sub(39u, i)])"))));   // two of the record
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", "      d = fma(p.x[min(add(i, j), 39u)], c[j].x[i], d)\n")));      // the turn says which
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("c[j].x[i]")) "    d = add(d, e)\n"));    // somebody looks at an addend
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("n.w[add(rem(p.k, 3u), i)]"))));          // the record says which
    PASS_LEAVES(c, NEAREST(ROWS, LOOPED("    ", "0f", SQUARES("n.w[add(u32(n.b[1u]), i)]"))));          // another number of the broadcast does
}
