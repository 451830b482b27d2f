// SPDX-License-Identifier: Apache-2.0
// By what names accumulators are found where several functions, or one function several times, have one of the same name: never another one than is meant,
// and never what an earlier run left where this one counted anew.
#include "tests/hdst/support.h"

enum { NUMBERS = 1000 };

static const char kernels[] =
    "flat_map halve(int64_t x, accum uint64_t left) -> int64_t { if (x % 2 == 0) { left += 1; emit(x / 2); } }\n"
    "map upward(int64_t x, accum uint64_t left, accum uint64_t all) -> int64_t { left += x; all += 1; return x + 1; }\n"
    "reduce add(int64_t a, int64_t b) { return a + b; }\n";

typedef struct scene {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *numbers;
} scene;

static scene begin(void)
{
    scene s = {.context = context_in_form("interp")};
    s.module = module_of(s.context, kernels);
    s.numbers = hdst_read(hdst_source_from_range(s.context, 0, NUMBERS), s.module, "int64_t");
    return s;
}

static hdst_dataset *halved(const scene *s, hdst_dataset *from) { return hdst_flat_map_function(from, s->module, "halve"); }
static hdst_dataset *moved(const scene *s, hdst_dataset *from) { return hdst_map_function(from, s->module, "upward"); }

static hdst_result *ran(hdst_dataset *dataset)
{
    hdst_result *result = hdst_result_create(dataset);
    RUN(result);
    return result;
}

// How many of the numbers 0 .. NUMBERS - 1 are divided by 2 in the given round.
static uint64_t left_after(int round)
{
    uint64_t left = 0;
    for (int x = 0; x < NUMBERS; x++) left += x % (1 << round) == 0;
    return left;
}

static void expect(hdst_result *result, const char *name, uint64_t right)
{
    const hdst_view view = hdst_result_field(result, name, NULL);
    cr_assert(view.base, "there is no '%s'", name);
    cr_expect_eq((uint64_t)hdst_view_int64(view, 0, 0), right, "'%s' is %lld, not %llu", name, (long long)hdst_view_int64(view, 0, 0),
                 (unsigned long long)right);
    uint64_t rows = 0;
    const uint64_t *row = hdst_result_rows(result, name, &rows);
    cr_expect(row && rows == 1 && *row == right);
}

static void expect_two(hdst_result *result, const char *name, const char *functions, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t rows = 7;
    cr_expect(!hdst_result_field(result, name, NULL).base, "'%s' is one of two", name);
    cr_expect_eq(hdst_result_status(result, &error), HDST_E_USAGE);
    cr_expect(strstr(error.message, functions), "%s", error.message);
    cr_expect(strstr(error.hint, hint), "%s", error.hint);
    cr_expect(!hdst_result_rows(result, name, &rows) && rows == 0);
}

// A program that halves round after round looks at how many are left: each of its results has the last round's, though those before are below caches.
Test(accumulator_names, rounds_of_caches)
{
    enum { ROUNDS = 5 };
    scene s = begin();
    hdst_dataset *round[ROUNDS + 1] = {s.numbers};
    for (int i = 1; i <= ROUNDS; i++) {
        round[i] = hdst_cache(halved(&s, round[i - 1]));
        hdst_result *result = ran(round[i]);
        expect(result, "left", left_after(i));
        expect(result, "halve.left", left_after(i));
        RUN(result);                            // which runs nothing: the cache has it
        expect(result, "left", left_after(i));
    }
    expect(ran(round[2]), "left", left_after(2));
    expect(ran(hdst_map_function(round[ROUNDS], s.module, "upward")), "halve.left", left_after(ROUNDS));
    hdst_context_destroy(s.context);
}

// The cache is filled again, from other records, when the program says so; an accumulator that nothing hides is the one of its last filling.
Test(accumulator_names, a_cache_filled_again)
{
    scene s = begin();
    hdst_value *rows = hdst_value_create(s.module, "int64_t", 2);
    hdst_value_set(rows, (const int64_t[]){8, 3}, 2);
    hdst_dataset *inner = hdst_cache(halved(&s, hdst_read_value(rows))), *outer = hdst_cache(halved(&s, inner));
    hdst_result *result = ran(hdst_reduce(outer, s.module, "add")), *before = ran(inner);
    expect(result, "left", 1);
    expect(before, "left", 1);
    hdst_value_set(rows, (const int64_t[]){6, 10}, 2);
    hdst_uncache(outer);
    hdst_uncache(inner);
    RUN(result);
    RUN(before);
    expect(result, "left", 0);
    expect(before, "left", 2);
    hdst_context_destroy(s.context);
}

// Other functions: a name alone means the one behind the cache, and the other one is found by its function's name.
Test(accumulator_names, of_other_functions_below_a_cache)
{
    scene s = begin();
    hdst_result *result = ran(moved(&s, hdst_cache(halved(&s, s.numbers))));
    expect(result, "left", 499 * 500 / 2);
    expect(result, "upward.left", 499 * 500 / 2);
    expect(result, "halve.left", 500);
    expect(result, "all", 500);
    hdst_context_destroy(s.context);
}

// Nothing says which of two is meant that stand in one stage, or neither of which reads the other: that is told, with what to do.
Test(accumulator_names, of_which_one_is_not_nearer)
{
    scene s = begin();
    hdst_result *one = ran(moved(&s, halved(&s, s.numbers)));
    expect_two(one, "left", "one of 'halve' and one of 'upward'", "'halve.left' or 'upward.left'");
    expect(one, "halve.left", 500);
    expect(one, "upward.left", 499 * 500 / 2);
    hdst_result *same = ran(halved(&s, halved(&s, s.numbers)));
    expect_two(same, "left", "one of 'halve' and one of 'halve'", "hdst_cache between the two");
    expect_two(same, "halve.left", "one of 'halve' and one of 'halve'", "hdst_cache between the two");
    hdst_result *beside = ran(hdst_union(hdst_cache(halved(&s, s.numbers)), moved(&s, s.numbers)));
    expect_two(beside, "left", "one of 'upward' and one of 'halve'", "'upward.left' or 'halve.left'");
    expect(beside, "halve.left", 500);
    hdst_error error = HDST_ERROR_INIT;
    hdst_value *value = hdst_value_create(s.module, "uint64_t", 1);
    cr_expect_eq(hdst_value_set_result(value, one, "left", &error), HDST_E_USAGE);
    cr_expect(strstr(error.message, "two accumulators are called 'left'"), "%s", error.message);
    hdst_context_destroy(s.context);
}

// A cache that two ways lead to has one accumulator, and who reads the cache on one of them hides it.
Test(accumulator_names, of_a_cache_that_two_ways_lead_to)
{
    scene s = begin();
    hdst_dataset *shared = hdst_cache(halved(&s, s.numbers));
    expect(ran(hdst_union(shared, hdst_cache(hdst_slice(shared, 3, 9)))), "left", 500);
    expect(ran(hdst_union(hdst_cache(halved(&s, shared)), shared)), "left", left_after(2));
    expect(ran(hdst_union(shared, hdst_cache(halved(&s, shared)))), "left", left_after(2));
    hdst_context_destroy(s.context);
}

// A partial has no caches below it, and tells the same.
Test(accumulator_names, of_partials)
{
    scene s = begin();
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *result = hdst_result_create(moved(&s, halved(&s, s.numbers)));
    cr_assert_eq(hdst_result_keep_partial(result, &error), HDST_OK, "%s", error.message);
    RUN(result);
    hdst_partial *partial = hdst_partial_from_result(result);
    uint64_t rows;
    cr_expect(!hdst_partial_rows(partial, "left", &rows));
    cr_expect_eq(hdst_partial_status(partial, &error), HDST_E_USAGE);
    cr_expect(strstr(error.message, "two accumulators are called 'left'"), "%s", error.message);
    const uint64_t *left = hdst_partial_rows(partial, "halve.left", &rows);
    cr_expect(left && *left == 500);
    hdst_context_destroy(s.context);
}
