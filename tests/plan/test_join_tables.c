// SPDX-License-Identifier: Apache-2.0
// Joins for whose order nobody asks, where one side is a hash table that kernels look up in: against nested loops in C, on every form of kernels; when that is
// done, and when not; what is found out by a run; errors, which are those of the ordered result.
#include "plan/join_node.h"
#include "tests/hdst/support.h"

typedef struct large { uint32_t k; int16_t a; uint64_t wide; double v; uint32_t at; } large;
typedef struct small { double w; uint64_t wide; uint32_t user; int16_t a; uint8_t tag[3]; uint32_t at; } small;

static const char kernels[] =
    "struct large { uint32_t k; int16_t a; uint64_t wide; double v; uint32_t at; };\n"
    "struct small { double w; uint64_t wide; uint32_t user; int16_t a; uint8_t tag[3]; uint32_t at; };\n"
    "struct keyed { uint32_t key; uint64_t n; double v; };\n"
    "join inner(large l, small s) -> keyed\n"
    "{\n"
    "    return (keyed){s.at % 5u, 1 + s.tag[2] + 1000 * (uint64_t)l.at, l.v * s.w};\n"
    "}\n"
    "join outer(large l, optional small s) -> keyed\n"
    "{\n"
    "    return (keyed){has(s) ? s.at % 5u : 4u + s.at, 1 + s.tag[2] + 1000 * (uint64_t)l.at, l.v * (has(s) ? s.w : -0.25)};\n"
    "}\n"
    "join other(small s, large l) -> keyed\n"
    "{\n"
    "    return (keyed){s.at % 5u, 1 + s.tag[2] + 1000 * (uint64_t)l.at, l.v * s.w};\n"
    "}\n"
    "join full(optional large l, optional small s) -> uint64_t { return (has(l) ? 1u : 100u) + (has(s) ? 7u : 0u); }\n"
    "join numbered(large l, small s) -> uint64_t { return record_index() * l.at; }\n"
    "join checked(large l, small s) -> uint64_t { return 100u / (l.at + s.at - 7u); }\n"
    "map as_number(large l) -> uint64_t { return l.at; }\n"
    "map split(keyed p, accum uint64_t n[], accum double v[]) { n[p.key] += p.n; v[p.key] += p.v; }\n"
    "filter odd(large l) { return l.at % 2u == 1u; }\n"
    "reduce add(uint64_t n, uint64_t m) { return n + m; }\n"
    "struct both { uint64_t n; double v; };\n"
    "reduce add_both(both a, both b) { return (both){a.n + b.n, a.v + b.v}; }\n";

enum { LARGE = 3000, SMALL = 400, KEYS = 5 };
static large larges[LARGE];
static small smalls[SMALL];
static uint32_t large_count, small_count;

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

// Keys of the small side are `distinct` of twice as many; all are wide numbers that differ in their upper halves too.
static void fill_rows(uint32_t count, uint32_t few, uint32_t distinct)
{
    uint64_t state = count + few;
    large_count = count, small_count = few;
    for (uint32_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint32_t k = (uint32_t)(state >> 33) % (2 * distinct);
        larges[i] = (large){k, (int16_t)(k % 3 - 1), k * UINT64_C(0x100000001), 1.0 / (1 + i), i};
    }
    for (uint32_t i = 0; i < few; i++) {
        const uint32_t k = 2 * (i % distinct);
        smalls[i] = (small){0.3 + i, k * UINT64_C(0x100000001), k, (int16_t)(k % 3 - 1), {0, 1, (uint8_t)(i % 11)}, i};
    }
}

typedef struct job { hdst_context *context; hdst_module *module; hdst_dataset *large, *small; bool briefly; } job;

static job begin(hdst_context *context)
{
    job j = {.context = context, .module = module_of(context, kernels)};
    j.large = hdst_read(hdst_source_from_memory(j.context, larges, large_count, sizeof *larges), j.module, "large");
    j.small = hdst_read(hdst_source_from_memory(j.context, smalls, small_count, sizeof *smalls), j.module, "small");
    return j;
}

typedef struct sums { uint64_t n[KEYS]; double v[KEYS]; uint64_t pairs, with, all; } sums;

// v: close to it; the exact sums are compared with those of the interpreter.
static sums expected(bool alone)
{
    sums s = {0};
    for (uint32_t i = 0; i < large_count; i++) {
        uint64_t partners = 0;
        for (uint32_t j = 0; j < small_count; j++) {
            if (larges[i].k != smalls[j].user) continue;
            partners++;
            s.n[j % 5] += 1 + smalls[j].tag[2] + 1000 * (uint64_t)i;
            s.v[j % 5] += larges[i].v * smalls[j].w;
        }
        if (alone && !partners) s.n[4] += 1 + 1000 * (uint64_t)i, s.v[4] += larges[i].v * -0.25;
        s.pairs += partners + (alone && !partners);
        s.with += partners ? i : 0;
        s.all += i;
    }
    return s;
}

static bool has_table(hdst_result *result) { return strstr(hdst_explain(result, NULL), "-> hash table by key") != NULL; }

static hdst_result *splits(const job *j, hdst_dataset *pairs)
{
    hdst_map_spec *split = hdst_map_spec_create(j->module, "split");
    hdst_bind_accum(split, "n", KEYS);
    hdst_bind_accum(split, "v", KEYS);
    return hdst_result_create(hdst_map(pairs, split));
}

static void check_sums(hdst_result *result, const sums *want, const char *what)
{
    RUN(result);
    cr_assert(has_table(result), "%s: %s", what, hdst_explain(result, NULL));
    const uint64_t *n = hdst_result_rows(result, "n", NULL);
    const double *v = hdst_result_rows(result, "v", NULL);
    for (int k = 0; k < KEYS; k++) {
        cr_assert_eq(n[k], want->n[k], "%s: %d", what, k);
        cr_assert(v[k] - want->v[k] < 1e-6 && want->v[k] - v[k] < 1e-6, "%s: %d: %g, not %g", what, k, v[k], want->v[k]);
    }
    hdst_result_destroy(result);
}

static uint64_t number_of(hdst_result *result, bool table, const char *what)
{
    RUN(result);
    cr_assert_eq(has_table(result), table, "%s: %s", what, hdst_explain(result, NULL));
    const uint64_t n = (uint64_t)hdst_view_int64(hdst_result_field(result, NULL, "value"), 0, 0);
    hdst_result_destroy(result);
    return n;
}

// Sums of all records.
static uint64_t total(const job *j, hdst_dataset *numbers, bool table, const char *what)
{
    return number_of(hdst_result_create(hdst_reduce(numbers, j->module, "add")), table, what);
}

static void check_all(const job *j, const char *left_key, const char *right_key, const char *form)
{
    const sums inner = expected(false), outer = expected(true);
    check_sums(splits(j, hdst_join(j->large, left_key, j->small, right_key, j->module, "outer")), &outer, form);
    if (j->briefly) return;
    check_sums(splits(j, hdst_join(j->large, left_key, j->small, right_key, j->module, "inner")), &inner, form);
    check_sums(splits(j, hdst_join(j->small, right_key, j->large, left_key, j->module, "other")), &inner, form);
    hdst_dataset *with = hdst_semi_join(j->large, left_key, j->small, right_key), *without = hdst_anti_join(j->large, left_key, j->small, right_key);
    cr_assert_eq(total(j, hdst_map_function(with, j->module, "as_number"), true, form), inner.with);
    cr_assert_eq(total(j, hdst_map_function(without, j->module, "as_number"), true, form), inner.all - inner.with);
}

Test(join_tables, all_kinds_on_every_form)
{
    static const struct { uint32_t large, small, distinct; } shapes[] = {{LARGE, 300, 300}, {LARGE, SMALL, 130}, {700, 20, 1}, {0, 0, 1}, {5, 0, 1}};
    const bool cpu = have_cpu(), team = cpu && have_team();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if ((f && !cpu) || (f == 3 && !team)) continue;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            if ((f == 1 && s > 1) || (f > 1 && s != 1)) continue;
            fill_rows(shapes[s].large, shapes[s].small, shapes[s].distinct);
            job j = begin(context_in_form(forms[f]));
            j.briefly = f > 1 || (f && s);
            check_all(&j, "k", "user", forms[f]);
            if (!f || (f == 1 && s == 1)) check_all(&j, "a, wide,k", "a,wide, user", forms[f]);
            hdst_context_destroy(j.context);
        }
    }
}

// Exact sums: the same bits by key as of the ordered join.
Test(join_tables, sums_have_the_bits_of_the_ordered_join)
{
    fill_rows(LARGE, SMALL, 130);
    const char *const where[] = {"interp", "cpu"};
    for (int f = 0; f < (have_cpu() ? 2 : 1); f++) {
        job j = begin(context_on(where[f]));
        hdst_dataset *pairs = hdst_join(j.large, "k", j.small, "user", j.module, "inner");
        hdst_result *looked_up = hdst_result_create(hdst_reduce_by_key(pairs, j.module, "add_both"));
        hdst_result *ordered = hdst_result_create(hdst_reduce_by_key(hdst_cache(pairs), j.module, "add_both"));
        RUN(looked_up);
        RUN(ordered);
        cr_assert(has_table(looked_up) && !has_table(ordered), "%s", hdst_explain(looked_up, NULL));
        uint64_t n, m;
        const void *a = hdst_result_rows(looked_up, NULL, &n), *b = hdst_result_rows(ordered, NULL, &m);
        cr_assert(n == KEYS && m == KEYS && !memcmp(a, b, KEYS * 24));
        hdst_context_destroy(j.context);
    }
}

// Who asks for the order, or leaves a table without a bound or a kernel without its key, gets it as ever.
Test(join_tables, when_both_sides_are_ordered)
{
    fill_rows(600, 50, 50);
    job j = begin(context_on("interp"));
    hdst_dataset *inner = hdst_join(j.large, "k", j.small, "user", j.module, "inner");
    hdst_result *rows = hdst_result_create(inner);
    RUN(rows);
    cr_assert_not(has_table(rows));
    total(&j, hdst_join(j.large, "k", j.small, "user", j.module, "full"), false, "full");
    total(&j, hdst_join(j.large, "k", j.small, "user", j.module, "numbered"), false, "numbered");
    hdst_result *two = hdst_result_create(hdst_union(inner, inner));
    RUN(two);
    cr_assert_not(has_table(two));
    hdst_context_destroy(j.context);
}

// Joins of joins, functions in front of either side.
Test(join_tables, one_behind_the_other)
{
    fill_rows(LARGE, 90, 30);
    const char *const where[] = {"interp", "cpu"};
    for (int f = 0; f < (have_cpu() ? 2 : 1); f++) {
        job j = begin(context_on(where[f]));
        hdst_dataset *odd = hdst_filter_function(j.large, j.module, "odd");
        hdst_dataset *once = hdst_semi_join(odd, "k", j.small, "user");
        hdst_dataset *twice = hdst_anti_join(hdst_semi_join(once, "k", j.small, "user"), "at", j.small, "user");
        uint64_t want = 0;
        for (uint32_t i = 0; i < large_count; i++) {
            bool there = false, number = false;
            for (uint32_t s = 0; s < small_count; s++) there |= smalls[s].user == larges[i].k, number |= smalls[s].user == i;
            if (i % 2 && there && !number) want += i;
        }
        cr_assert_eq(total(&j, hdst_map_function(twice, j.module, "as_number"), true, where[f]), want);
        hdst_context_destroy(j.context);
    }
}

// The number of a pair that fails is that of the ordered result.
Test(join_tables, a_pair_that_fails_is_told_as_ever)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.replay_dir = "";
    fill_rows(40, 12, 3);
    for (uint32_t i = 0; i < 40; i++) larges[i].k = 2 * (i % 3);
    job j = begin(hdst_context_create(&options));
    hdst_dataset *checked = hdst_join(j.large, "k", j.small, "user", j.module, "checked");
    hdst_error of_rows = HDST_ERROR_INIT, of_sum = HDST_ERROR_INIT;
    cr_assert_eq(hdst_run(hdst_result_create(checked), &of_rows), HDST_E_RECORD);
    cr_assert_eq(hdst_run(hdst_result_create(hdst_reduce(checked, j.module, "add")), &of_sum), HDST_E_RECORD);
    cr_assert_eq(of_sum.record, of_rows.record);
    cr_assert_str_eq(of_sum.message, of_rows.message);
    hdst_context_destroy(j.context);
}

// The table of a cached side is made once; records in the program's memory may be others in the next run.
Test(join_tables, tables_of_cached_sides_are_kept)
{
    fill_rows(LARGE, 90, 90);
    job j = begin(context_on("interp"));
    hdst_result *fresh = splits(&j, hdst_join(j.large, "k", j.small, "user", j.module, "inner"));
    hdst_result *kept = splits(&j, hdst_join(j.large, "k", hdst_cache(j.small), "user", j.module, "inner"));
    const sums before = expected(false);
    for (int run = 0; run < 2; run++) {
        RUN(fresh);
        RUN(kept);
        const sums now = expected(false);
        for (int k = 0; k < KEYS; k++) {
            cr_assert_eq(((const uint64_t *)hdst_result_rows(fresh, "n", NULL))[k], now.n[k]);
            cr_assert_eq(((const uint64_t *)hdst_result_rows(kept, "n", NULL))[k], before.n[k]);
        }
        for (uint32_t i = 0; i < small_count; i++) smalls[i].tag[2]++;
    }
    cr_expect(strstr(hdst_explain(kept, NULL), "the table of an earlier run"));
    cr_expect_not(strstr(hdst_explain(fresh, NULL), "the table of an earlier run"));
    hdst_context_destroy(j.context);
}

// Who only counts does not ask for the order. That a run looked up is seen by what it found: keys that the small side has more than once.
Test(join_tables, counts)
{
    const char *const where[] = {"interp", "cpu"};
    fill_rows(LARGE, 90, 30);
    const uint64_t inner = expected(false).pairs, outer = expected(true).pairs;
    uint64_t with = 0;
    for (uint32_t i = 0; i < large_count; i++) with += larges[i].k % 2 == 0;        // keys of the small side are the even ones below 60
    for (int f = 0; f < (have_cpu() ? 2 : 1); f++) {
        job j = begin(context_on(where[f]));
        hdst_dataset *both = hdst_join(j.large, "k", j.small, "user", j.module, "inner");
        hdst_dataset *semi = hdst_semi_join(j.large, "k", j.small, "user"), *anti = hdst_anti_join(j.large, "k", j.small, "user");
        const hdst__join_own *own = both->parent->own;
        uint64_t n;
        cr_assert_not(own->repeats);
        cr_assert_eq(hdst_count(both, &n, NULL), HDST_OK);
        cr_assert_eq(n, inner);
        cr_assert(own->repeats && !own->ordered);
        cr_assert_eq(hdst_count(hdst_join(j.large, "k", j.small, "user", j.module, "outer"), &n, NULL), HDST_OK);
        cr_assert_eq(n, outer);
        cr_assert_eq(hdst_count(semi, &n, NULL), HDST_OK);
        cr_assert_eq(n, with);
        cr_assert_eq(hdst_count(anti, &n, NULL), HDST_OK);
        cr_assert_eq(n, LARGE - with);
        hdst_context_destroy(j.context);
    }
}

// A table that the budget has no room for.
Test(join_tables, little_memory)
{
    fill_rows(LARGE, SMALL, 130);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 2 << 20;
    job j = begin(hdst_context_create(&options));
    static small many[60000];
    for (uint32_t i = 0; i < 60000; i++) many[i] = (small){.user = i, .w = 1, .at = i};
    static large more[70000];
    uint64_t want = 0;
    for (uint32_t i = 0; i < 70000; i++) {
        more[i] = (large){.k = i * 3u, .at = i};
        want += i * 3u < 60000 ? i : 0;
    }
    hdst_dataset *l = hdst_read(hdst_source_from_memory(j.context, more, 70000, sizeof *more), j.module, "large");
    hdst_dataset *s = hdst_read(hdst_source_from_memory(j.context, many, 60000, sizeof *many), j.module, "small");
    cr_assert_eq(total(&j, hdst_map_function(hdst_semi_join(l, "k", s, "user"), j.module, "as_number"), false, "no room"), want);
    const sums inner = expected(false);
    check_sums(splits(&j, hdst_join(j.large, "k", j.small, "user", j.module, "inner")), &inner, "room");
    cr_assert_leq(j.context->engine->runtime.memory.peak, 2 << 20);
    hdst_context_destroy(j.context);
}
