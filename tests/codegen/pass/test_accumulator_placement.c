// SPDX-License-Identifier: Apache-2.0
// Where accumulators are, on IR as text: what stands in front of a placed function, and where the additions of a work-group's loops go.
#include "tests/support/pass_case.h"

#include "codegen/pass/accumulator_placement.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(accumulator_placement, .init = pass_set_up, .fini = pass_tear_down);

enum { LOCAL = 48 << 10, GROUP = 256 };
static const hdst__place_limits usual = {.local_bytes = LOCAL, .may_turn = true};

static hdst__place_limits with_rows(hdst__place_limits limits, const uint64_t *rows)
{
    limits.rows = rows;
    return limits;
}

// The lines of the head that say where accumulators are.
static const char *places(const ir_func *func)
{
    static const char *const words[] = {"  place ", "  tables", "  tuples ", "  together"};
    const char *text = "";
    for (const char *line = pass_head(func); *line; line += strcspn(line, "\n") + 1)
        for (int w = 0; w < 4; w++)
            if (!strncmp(line, words[w], strlen(words[w]))) text = hdst__arena_printf(func->arena, "%s%.*s\n", text, (int)strcspn(line, "\n"), line);
    return text;
}

// It says the same when it is read again, and is well formed.
static void expect_places(const ir_func *func, const char *expected)
{
    const char *found = places(func), *wrong = hdst__ir_verify(func), *text = ir_text_of(func->arena, func);
    cr_expect_str_eq(found, expected, "expected\n%sfound\n%s", expected, found);
    cr_expect_null(wrong, "%s\n%s", wrong, text);
    const ir_func *again = ir_text_read(func->arena, text, &wrong);
    cr_assert_not_null(again, "%s\n%s", wrong, text);
    cr_expect_str_eq(ir_text_of(func->arena, again), text);
}

typedef struct placed {
    ir_func *func, *loops;
    hdst__tables *tables;
} placed;

static placed on_gpu(const char *head, const char *body, const hdst__precision_class *classes, hdst__place_limits limits)
{
    ir_func *func = pass_read(head, body);
    placed p = {.func = func};
    func->shape = HDST__NEW(func->arena, ir_shape);
    *func->shape = (ir_shape){.group = GROUP, .records = 4};
    p.tables = (hdst__tables *)hdst__pass_accumulator_placement_gpu(func, NULL, hdst__ir_accum_tables(func->arena, func, classes), &limits);
    p.loops = hdst__pass_accumulator_placement_loops(func, p.tables, &limits);
    hdst__pass_accumulator_placement_fixed_point(func, p.loops, p.tables, &limits);
    return p;
}

static placed on_cpu(const char *head, const char *body, const hdst__precision_class *classes, hdst__place_limits limits)
{
    ir_func *func = pass_read(head, body);
    const ir_func *scalar = hdst__ir_copy_func(func->arena, func);
    placed p = {.func = func, .tables = (hdst__tables *)hdst__ir_accum_tables(func->arena, func, classes)};
    hdst__pass_accumulator_placement_cpu(func, scalar, p.tables, &limits);
    return p;
}

// --- GPU ---

static const char by_row[] = "  input p p {u32 k, f32 x, f64 d}\n  accum t t[] {f32 x, u32 n, f64 d, u32 top max}\n  var u32 r\n";
static const char by_row_body[] = "  r = rem(p.k, 7u)\n  accum t[r].x += p.x\n  accum t[r].n += 1u\n  accum t[r].d += p.d\n  accum t[r].top max= p.k\n";

Test(accumulator_placement, a_table_that_fits_is_in_local_memory_in_copies)
{
    const placed p = on_gpu(by_row, by_row_body, NULL, with_rows(usual, (uint64_t[]){0, 7}));
    // A word of 64 bits for x, one of 32 for a count and for a maximum of 32 bits, two of 64 for a double. 8 rows of 8 words: 256 bytes; 16 copies.
    expect_places(p.func, "  place t local 8 slots: x joint 0 by 2, n word 2 by 1, d joint 3 by 2, top word 7 by 1\n  tables copies 16\n");
    const placed many = on_gpu(by_row, by_row_body, NULL, with_rows(usual, (uint64_t[]){0, 400}));
    expect_places(many.func, "  place t local 8 slots: x joint 0 by 2, n word 2 by 1, d joint 3 by 2, top word 7 by 1\n  tables copies 1\n");
}

Test(accumulator_placement, what_addends_do_not_fit_goes_to_the_superaccumulator)
{
    const hdst__precision_class wide[] = {HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_TWO_WORDS}, two[] = {HDST__CLASS_TWO_WORDS, HDST__CLASS_ONE_WORD};
    expect_places(on_gpu(by_row, by_row_body, wide, with_rows(usual, (uint64_t[]){0, 7})).func,
                  "  place t local 6 slots: x superaccumulator 0 by 0, n word 0 by 1, d joint 1 by 2, top word 5 by 1\n  tables copies 16\n");
    expect_places(on_gpu(by_row, by_row_body, two, with_rows(usual, (uint64_t[]){0, 7})).func,
                  "  place t local 8 slots: x tested 0 by 2, n word 4 by 1, d joint 5 by 2, top word 7 by 1\n  tables copies 16\n");
}

Test(accumulator_placement, a_count_by_large_numbers_takes_64_bits)
{
    static const char head[] = "  input p p {u32 k}\n  accum t t[] {u32 n, u64 top max}\n";
    expect_places(on_gpu(head, "  accum t[rem(p.k, 7u)].n += 255u\n  accum t[rem(p.k, 7u)].top max= u64(p.k)\n",
        NULL, with_rows(usual, (uint64_t[]){0, 7})).func,
                  "  place t local 1 slots: n word 0 by 1, top word 1 by 0\n  tables copies 16\n");
    expect_places(on_gpu(head, "  accum t[rem(p.k, 7u)].n += 256u\n", NULL, with_rows(usual, (uint64_t[]){0, 7})).func,
                  "  place t local 2 slots: n word 0 by 2, top word 2 by 0\n  tables copies 16\n");
}

Test(accumulator_placement, a_table_too_large_for_local_memory_is_in_device_memory)
{
    // 49 KiB of words in local memory where 36 may be taken; in device memory eight tables serve all.
    expect_places(on_gpu(by_row, by_row_body, NULL, with_rows(usual, (uint64_t[]){0, 1600})).func,
                  "  place t group: x joint, n word, d joint, top word\n  tables copies 16 shared 8\n");
    expect_places(on_gpu(by_row, by_row_body, NULL, with_rows(usual, (uint64_t[]){0, 100000})).func,
                  "  place t group: x joint, n word, d joint, top word\n  tables copies 16 shared 2\n");
}

Test(accumulator_placement, without_tables_of_blocks_all_is_global)
{
    hdst__place_limits none = usual;
    none.no_blocks = true;
    expect_places(on_gpu(by_row, by_row_body, NULL, none).func,
                  "  place t global: x superaccumulator, n word, d superaccumulator, top word\n  tables copies 16\n");
    expect_places(on_cpu(by_row, by_row_body, NULL, none).func, "  place t global: x superaccumulator, n word, d superaccumulator, top word\n  tables\n");
}

static const char totals[] = "  input p p {f32 x, f64 d, u32 i}\n  accum s s {f32 x, f64 of of float, f64 d, u32 n}\n";
static const char totals_body[] = "  accum s.x += p.x\n  accum s.of += f64(p.x)\n  accum s.d += p.d\n  accum s.n += p.i\n";

Test(accumulator_placement, few_sums_of_all_records_are_in_registers)
{
    expect_places(on_gpu(totals, totals_body, NULL, usual).func,
                  "  place s registers 14 slots: x levels 0 by 2, of levels 4 by 2, d pair 8 by 2, n word 12 by 2\n  tables copies 16\n");
    hdst__place_limits fast = usual;
    fast.fast_sums = true;
    const placed p = on_gpu(totals, totals_body, NULL, fast);
    expect_places(p.func, "  place s registers 14 slots: x levels 0 by 2 fast, of levels 4 by 2 fast, d joint 8 by 2, n word 12 by 2\n  tables copies 16\n");
    const hdst__cell *cell = hdst__tables_accum(p.tables, 1)->cell;
    cr_expect(cell[0].fast && cell[1].fast && !cell[2].fast && !cell[3].fast);
}

// One word each before they become running sums: their width as those decides.
Test(accumulator_placement, running_sums_of_doubles_have_room_as_such)
{
    static const hdst__precision_class one[] = {HDST__CLASS_ONE_WORD};
    static const uint64_t large_rows[] = {0, 0, 3000};
    for (int sums = 1; sums <= 33; sums++) {
        char head[128], body[128];
        snprintf(head, sizeof head, "  input p p {f64 d, u32 i}\n  accum s s {f64 d[%d]}\n  accum t t[] {u32 n}\n", sums);
        snprintf(body, sizeof body, "  accum s.d[%du] += p.d\n  accum t[p.i].n += 1u\n", sums - 1);
        for (int large = 0; large < 2; large++) {
            const placed p = on_gpu(head, body, one, large ? with_rows(usual, large_rows) : usual);
            const char *text = places(p.func);
            cr_expect_eq(strstr(text, "d pair") != NULL, sums <= 16, "%d: %s", sums, text);
            cr_expect_eq(strstr(text, "place s registers") != NULL, sums <= 16, "%d: %s", sums, text);
        }
    }
}

Test(accumulator_placement, elements_by_number_and_many_words_are_no_registers)
{
    static const char head[] = "  input p p {f32 x, u32 k}\n  accum s s {f32 x[4]}\n  accum m m {u64 n[17]}\n";
    expect_places(on_gpu(head, "  accum s.x[rem(p.k, 4u)] += p.x\n  accum m.n[0u] += 1ul\n", NULL, usual).func,
                  "  place s local 8 slots: x joint 0 by 2\n  place m local 17 slots: n word 0 by 1\n  tables copies 16\n");
    expect_places(on_cpu(head, "  accum s.x[rem(p.k, 4u)] += p.x\n  accum m.n[0u] += 1ul\n", NULL, usual).func,
        "  place s strip: x tested\n  place m strip: n word\n  tables\n");
    expect_places(on_cpu(head, "  accum s.x[1u] += p.x\n", NULL, usual).func, "  place s registers: x tested\n  place m strip: n word\n  tables\n");
}

// --- GPU: many rows ---

static const char keyed[] = "  input p p {u32 k, f32 x, i16 i}\n  accum t t[] {f32 x, u32 n, i64 i}\n  var i32 v\n";
static const char keyed_body[] = "  accum t[p.k].x += p.x\n  accum t[p.k].n += 1u\n  accum t[p.k].i += i64(p.i)\n";

Test(accumulator_placement, many_rows_are_words_in_fixed_point)
{
    hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 100000});
    limits.fixed_point_bits = 36;
    const placed p = on_gpu(keyed, keyed_body, NULL, limits);
    expect_places(p.func, "  place t fixed point: x joint, n word, i word\n  tables copies 16 overflow 10\n");
    cr_expect(p.tables->accum[0].fixed_point);
    const hdst__precision_class two[] = {HDST__CLASS_TWO_WORDS};     // a row of four words, 3.05 MiB in all: five of them in 16 MiB
    expect_places(on_gpu(keyed, keyed_body, two, limits).func, "  place t group: x tested, n word, i word\n  tables copies 16 shared 5\n");
}

Test(accumulator_placement, more_of_them_go_by_way_of_tuples)
{
    hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 100000});
    limits.fixed_point_bits = 36;
    limits.may_take_tuples = true;
    // Of a row a partition has six words of 32 bits: 36 KiB hold 2^10 rows, so there are 98 partitions. A tuple has x
    // and i beside the row, 16 bytes: 8 of a lane in 32 KiB.
    const placed p = on_gpu(keyed, keyed_body, NULL, limits);
    expect_places(p.func,
        "  place t fixed point: x joint values 0 of 1 sum 0, n word values 1 of 0 sum 2, i word values 1 of 1 sum 4\n"
        "  tables copies 16 overflow 10\n"
                          "  tuples rows 8 keys 10 low 0 parts 98 values 2 sums 6\n");
    cr_expect_eq(p.func->shape->records, 4);
    cr_expect_eq(hdst__tuple_bytes(&p.func->tables->tuples), 16);
    limits.rows = (uint64_t[]){0, 10000000};        // 9766 partitions: 2^7 in the second round
    expect_places(on_gpu(keyed, keyed_body, NULL, limits).func,
                  "  place t fixed point: x joint values 0 of 1 sum 0, n word values 1 of 0 sum 2, i word values 1 of 1 sum 4\n  tables copies 16 overflow 10\n"
                  "  tuples rows 8 keys 10 low 7 parts 77 values 2 sums 6\n");
}

Test(accumulator_placement, tuples_are_for_one_addition_to_each_leaf_of_one_row)
{
    static const char *const bodies[] = {
        "  accum t[p.k].x += p.x\n  accum t[p.k].n += 1u\n",                                                                  // not to i
        "  accum t[p.k].x += p.x\n  accum t[p.k].n += 1u\n  accum t[0u].i += i64(p.i)\n",                                       // another row
        "  accum t[p.k].x += p.x\n  accum t[p.k].x += p.x\n  accum t[p.k].n += 1u\n  accum t[p.k].i += i64(p.i)\n",             // x twice
        "  accum t[p.k].x += p.x\n  accum t[p.k].n += 1u\n  if gt(p.k, 3u) {\n    accum t[p.k].i += i64(p.i)\n  }\n",            // i not always
    };
    hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 100000});
    limits.fixed_point_bits = 36;
    limits.may_take_tuples = true;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        expect_places(on_gpu(keyed, bodies[i], NULL, limits).func, "  place t fixed point: x joint, n word, i word\n  tables copies 16 overflow 10\n");
}

// --- GPU: loops of the work-group ---

static const char rows_head[] = "  input p p {f32 x[784], u32 k, f32 f}\n  accum t t[] {f32 x[784], u32 n}\n"
    "  accum g g {f32 w[784]}\n  var u32 i\n  var u32 best\n  var f32 f\n";
static const char rows_body[] = "  best = rem(p.k, 10u)\n  f = p.f\n  for i = 0u to 784u {\n"
    "    accum t[best].x[i] += p.x[i]\n    accum g.w[i] += mul(f, p.x[i])\n  }\n  accum t[best].n += 1u\n";

Test(accumulator_placement, what_all_records_add_to_is_in_a_register_and_few_rows_in_a_tile)
{
    const placed p = on_gpu(rows_head, rows_body, NULL, with_rows(usual, (uint64_t[]){0, 8, 1}));
    cr_assert_not_null(p.loops);
    expect_places(p.loops, "  place t group: x joint, n word\n  place g group: w joint\n  tables copies 16 shared 8 tile t of 1\n  together\n");
    cr_expect_str_eq(pass_body(p.loops),
        "  for i = 0u to 784u {\n    accum t[best].x[i] += p.x[i] in tile\n"
        "    accum g.w[i] += mul(f, p.x[i]) in register 0\n  }\n");
    cr_expect_str_eq(pass_body(p.func), "  best = rem(p.k, 10u)\n  f = p.f\n  accum t[best].n += 1u\n");
    // Of each record two numbers, and of all records the largest and smallest of both; of the tile nine rows.
    const hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 8, 1});
    cr_expect_eq(hdst__place_loop_bytes(p.loops, p.tables, &limits), (GROUP + 2) * 8 + 9 * GROUP * 8 + HDST__LOCAL_ALIGN);
}

Test(accumulator_placement, fast_sums_are_those_that_all_records_add_to_in_a_register)
{
    hdst__place_limits fast = with_rows(usual, (uint64_t[]){0, 8, 1});
    fast.fast_sums = true;
    const placed p = on_gpu(rows_head, rows_body, NULL, fast);
    expect_places(p.loops, "  place t group: x joint, n word\n  place g group: w joint fast\n  tables copies 16 shared 8 tile t of 1\n  together\n");
    cr_expect(p.tables->accum[1].cell[0].fast && !p.tables->accum[0].cell[0].fast && !p.tables->accum[0].cell[1].fast);
}

Test(accumulator_placement, many_rows_have_no_tile_and_large_tables_are_shared)
{
    const placed p = on_gpu(rows_head, rows_body, NULL, with_rows(usual, (uint64_t[]){0, 13, 1}));
    expect_places(p.loops, "  place t group: x joint, n word\n  place g group: w joint\n  tables copies 16\n  together\n");
    cr_expect_str_eq(pass_body(p.loops), "  for i = 0u to 784u {\n    accum t[best].x[i] += p.x[i]\n    accum g.w[i] += mul(f, p.x[i]) in register 0\n  }\n");
    // 784 floats and a count of 1000 rows are 6 MiB: two of them in 16 MiB.
    expect_places(on_gpu(rows_head, rows_body, NULL, with_rows(usual, (uint64_t[]){0, 1000, 1})).loops,
                  "  place t group: x joint, n word\n  place g group: w joint\n  tables copies 16 shared 2\n  together\n");
}

// Rows that local memory has in few copies at most leave it; so do not those that a record adds to elsewhere as well, or that have few elements.
Test(accumulator_placement, wide_rows_leave_local_memory_for_the_loops_of_work_groups)
{
    static const char head[] = "  input p p {f32 x[256], u32 k}\n  accum t t[] {f32 x[256], u32 n}\n  accum s s {f32 x[9]}\n  var u32 best\n"
                               "  var u32 i\n  var u32 j\n";
    static const char body[] = "  best = rem(p.k, 5u)\n  for i = 0u to 256u {\n    accum t[best].x[i] += p.x[i]\n  }\n  accum t[best].n += 1u\n"
                               "  for j = 0u to 9u {\n    accum s.x[j] += p.x[j]\n  }\n";
    static const char alone[] = "  best = rem(p.k, 5u)\n  accum t[best].x[best] += p.x[best]\n";
    const hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 5, 1});
    const placed p = on_gpu(head, body, NULL, limits);
    cr_assert_not_null(p.loops);
    expect_places(p.loops, "  place t group: x joint, n word\n  place s local 18 slots: x joint 0 by 2\n  tables copies 16 shared 8 tile t of 1\n"
                  "  together\n");
    expect_places(on_gpu(head, alone, NULL, limits).func, "  place t local 513 slots: x joint 0 by 2, n word 512 by 1\n"
                  "  place s registers 18 slots: x joint 0 by 2\n  tables copies 1\n");
    cr_expect_null(on_gpu("  input p p {f32 x[31], u32 k}\n  accum t t[] {f32 x[31]}\n  var u32 best\n  var u32 i\n",
                          "  best = rem(p.k, 70u)\n  for i = 0u to 31u {\n    accum t[best].x[i] += p.x[i]\n  }\n", NULL,
                          with_rows(usual, (uint64_t[]){0, 70})).loops);
}

// What the tile takes beside what records leave for the loops has room, or there is no tile.
Test(accumulator_placement, a_tile_that_has_no_room_beside_the_rest_is_none)
{
    hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 8, 1});
    limits.local_bytes = (GROUP + 2) * 8 + 9 * GROUP * 8 + HDST__LOCAL_ALIGN;
    cr_expect(on_gpu(rows_head, rows_body, NULL, limits).func->tables->has_tile);
    limits.local_bytes--;
    cr_expect(!on_gpu(rows_head, rows_body, NULL, limits).func->tables->has_tile);
}

// A loop that adds record by record to a table keeps all tables for work-groups of their own.
Test(accumulator_placement, tables_are_shared_where_all_that_goes_there_is_sums_of_many_records)
{
    static const char head[] = "  input p p {f32 x[784], u32 k}\n  accum t t[] {f32 x[784]}\n  accum s s[] {f32 x[784]}\n  var u32 best\n  var u32 i\n";
    static const char tile[] = "  best = rem(p.k, 8u)\n  for i = 0u to 784u {\n    accum t[best].x[i] += p.x[i]\n  }\n";
    static const char both[] = "  best = rem(p.k, 8u)\n  for i = 0u to 784u {\n    accum t[best].x[i] += p.x[i]\n"
                               "    accum s[best].x[i] += p.x[i]\n  }\n";
    const hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 8, 8});
    const placed alone = on_gpu(head, tile, NULL, limits), with = on_gpu(head, both, NULL, limits);
    cr_assert(alone.loops && with.loops);
    cr_expect(hdst__place_leaves_sums(alone.loops) && alone.func->tables->shared == 8);
    cr_expect(with.func->tables->has_tile && !hdst__place_leaves_sums(with.loops) && with.func->tables->shared == 0);
    const placed one = on_gpu("  input p p {f32 x[9000]}\n  accum g g {f32 w[9000]}\n  var u32 i\n",
                              "  for i = 0u to 9000u {\n    accum g.w[i] += p.x[i]\n  }\n", NULL, usual);
    cr_assert_not_null(one.loops);
    cr_expect(!hdst__place_leaves_sums(one.loops) && one.func->tables->shared == 0);
}

Test(accumulator_placement, sums_in_two_words_take_two_registers)
{
    const hdst__precision_class two[] = {HDST__CLASS_TWO_WORDS, HDST__CLASS_TWO_WORDS};
    static const char head[] = "  input p p {f32 x[784], f32 y[784]}\n  accum g g {f32 w[784], f32 v[784]}\n  var u32 i\n";
    const placed p = on_gpu(head, "  for i = 0u to 784u {\n    accum g.w[i] += p.x[i]\n    accum g.v[i] += p.y[i]\n    accum g.w[i] += p.y[i]\n  }\n", two,
                            (hdst__place_limits){.local_bytes = 8192});
    cr_assert_not_null(p.loops);
    cr_expect_str_eq(pass_body(p.loops),
        "  for i = 0u to 784u {\n    accum g.w[i] += p.x[i] in register 0\n    accum g.v[i] += p.y[i] in register 2\n"
        "    accum g.w[i] += p.y[i] in register 0\n  }\n");
}

Test(accumulator_placement, loops_whose_needs_have_no_room_stay)
{
    const placed p = on_gpu(rows_head, rows_body, NULL, (hdst__place_limits){.local_bytes = 2048, .rows = (uint64_t[]){0, 8, 1}});
    cr_expect_null(p.loops);
    cr_expect_str_eq(pass_body(p.func), rows_body);
    expect_places(p.func, "  place t group: x joint, n word\n  place g group: w joint\n  tables copies 16 shared 8\n");
}

// --- CPU ---

Test(accumulator_placement, a_strip_has_a_table_and_its_tail_calls)
{
    const placed p = on_cpu(by_row, by_row_body, NULL, usual);
    expect_places(p.func, "  place t strip: x tested, n word, d tested, top word\n  tables\n");
    ir_func *tail = hdst__ir_copy_func(p.func->arena, p.func);
    hdst__place_tail(tail, p.func, p.tables);
    expect_places(tail, "  place t strip: x called, n word, d tested, top word\n  tables\n");
    const hdst__precision_class wide[] = {HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_ONE_WORD};
    expect_places(on_cpu(by_row, by_row_body, wide, usual).func, "  place t strip: x superaccumulator, n word, d tested, top word\n  tables\n");
}

Test(accumulator_placement, sums_over_blocks_are_in_levels)
{
    static const char head[] = "  block 64\n  input p p {f32 x, f64 d}\n  accum s s {f64 of of float, f64 d, f64 none}\n  var f32 v varying per record\n";
    static const char body[] = "  block s.of += p.x\n  block s.d += p.d\n  block s.d += p.d\n";
    expect_places(on_cpu(head, body, NULL, usual).func, "  place s registers: of tested blocks of floats, d tested blocks of doubles, none tested\n  tables\n");
    hdst__place_limits fast = usual;
    fast.fast_sums = true;
    const placed p = on_cpu(head, body, NULL, fast);
    const hdst__cell *cell = hdst__tables_accum(p.tables, 1)->cell;
    cr_expect(cell[0].fast && cell[1].fast && !cell[2].fast);
    expect_places(p.func, "  place s registers: of tested blocks of floats fast, d tested blocks of doubles fast, none tested\n  tables\n");
}

Test(accumulator_placement, counters_have_two_tables_which_records_take_in_turn)
{
    static const char head[] = "  input p p {u8 k}\n  accum t t[] {u32 n}\n", body[] = "  accum t[p.k].n += 1u\n";
    expect_places(on_cpu(head, body, NULL, with_rows(usual, (uint64_t[]){0, 256})).func, "  place t strip: n word\n  tables turns 2\n");
    expect_places(on_cpu(head, body, NULL, with_rows(usual, (uint64_t[]){0, 1024})).func, "  place t strip: n word\n  tables turns 2\n");
    expect_places(on_cpu(head, body, NULL, with_rows(usual, (uint64_t[]){0, 1025})).func, "  place t strip: n word\n  tables\n");
    hdst__place_limits once = with_rows(usual, (uint64_t[]){0, 256});
    once.may_turn = false;
    expect_places(on_cpu(head, body, NULL, once).func, "  place t strip: n word\n  tables\n");
}

Test(accumulator_placement, large_tables_of_rows_have_a_first_level)
{
    hdst__place_limits limits = with_rows(usual, (uint64_t[]){0, 1000});
    limits.first_level = true;
    const placed p = on_cpu(by_row, by_row_body, NULL, limits);
    expect_places(p.func, "  place t strip: x tested, n word, d tested, top word\n  tables first level\n");
    cr_expect(p.tables->first_level);
    limits.rows = (uint64_t[]){0, 50};              // 79 words each: less than 8 pages
    expect_places(on_cpu(by_row, by_row_body, NULL, limits).func, "  place t strip: x tested, n word, d tested, top word\n  tables\n");
}

// --- What is no placement ---

static const char *verdict(const char *head, const char *body)
{
    const char *wrong = NULL;
    ir_func *read = pass_read("", "");
    const char *text = hdst__arena_printf(read->arena,
        "func f\n  input p p {f32 x, u32 k}\n  accum t t[] {f32 x[2]}\n  accum s s {f32 x[2]}\n%s{\n%s}\n", head,
        body);
    ir_func *func = ir_text_read(read->arena, text, &wrong);
    cr_assert_not_null(func, "%s\n%s", wrong, text);
    wrong = hdst__ir_verify(func);
    return wrong ? wrong : "";
}

static void expect_verdict(const char *head, const char *body, const char *part)
{
    const char *found = verdict(head, body);
    cr_expect(*part ? strstr(found, part) != NULL : !*found, "'%s' lacks '%s' of\n%s%s", found, part, head, body);
}

Test(accumulator_placement, the_verifier_finds_what_is_no_placement)
{
    static const char add[] = "  accum t[p.k].x[0u] += p.x\n", by_number[] = "  accum s.x[rem(p.k, 2u)] += p.x\n";
    expect_verdict("  place t local 4 slots: x joint 0 by 2\n  tables copies 4\n", add, "");
    expect_verdict("  place t local 3 slots: x joint 0 by 2\n  tables copies 4\n", add, "words beyond the row in local memory");
    expect_verdict("  place t registers: x joint\n  tables\n", add, "a table in registers");
    expect_verdict("  place s registers: x tested\n  tables\n", by_number, "a register by number");
    expect_verdict("  place s strip: x tested\n  tables\n", by_number, "");
    expect_verdict("  place t group: x pair\n  tables\n", add, "running sums elsewhere than in registers");
    expect_verdict("  place t global: x joint\n  tables\n", add, "words where there are superaccumulators");
    expect_verdict("  place p strip: x tested, k word\n  tables\n", add, "a place of what is no accumulator");
    expect_verdict("  place t strip: x tested\n", add, "a place of what is no accumulator");       // no tables
    expect_verdict("  place t fixed point: x joint values 0 of 2 sum 0\n  tables\n"
        "  tuples rows 1 keys 1 low 0 parts 1 values 1 sums 2\n", add, "values that a tuple does not have");
    expect_verdict("  place t fixed point: x joint values 0 of 1 sum 2\n  tables\n"
        "  tuples rows 1 keys 1 low 0 parts 1 values 1 sums 2\n", add, "a sum that a partition does not have");
    expect_verdict("  place t fixed point: x joint values 0 of 1 sum 0\n  tables\n"
        "  tuples rows 1 keys 1 low 0 parts 1 values 1 sums 2\n", add, "tuples of several accumulators");
}

Test(accumulator_placement, the_verifier_finds_homes_out_of_place)
{
    static const char tile[] = "  accum t[p.k].x[0u] += p.x in tile\n",
        first[] = "  accum t[p.k].x[0u] += p.x in register 15\n",
        last[] = "  accum t[p.k].x[0u] += p.x in register 16\n";
    expect_verdict("  place t group: x joint\n  tables tile t of 1\n  together\n", tile, "");
    expect_verdict("  place t group: x joint\n  tables tile t of 1\n", tile, "a place of a work-group's loop elsewhere");
    expect_verdict("  place t group: x joint\n  tables\n  together\n", tile, "there is no such tile");
    expect_verdict("  place t local: x joint\n  tables tile t of 1\n  together\n", tile, "a place of its own");
    expect_verdict("  place t group: x joint\n  tables\n  together\n", first, "");
    expect_verdict("  place t group: x joint\n  tables\n  together\n", last, "no such register");
}
