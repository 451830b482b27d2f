// SPDX-License-Identifier: Apache-2.0
// Callbacks that do not say beforehand how many records they have: every operator gives what it gives over the same records in memory, to the bit, on each
// device and on several at once; what such callbacks get wrong is told, and nothing hangs.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = 300000 };

typedef struct row { uint32_t k; float v; double w; } row;

static const char text[] =
    "struct row { uint32_t k; float v; double w; };\n"
    "struct total { double w; uint64_t n; int32_t least; };\n"
    "struct sums { double w; uint64_t n; };\n"
    "struct one { uint32_t key; };\n"
    "struct counted { uint32_t key; uint64_t n; };\n"
    "map key_of(row r) -> one { return (one){ .key = r.k % 290u }; }\n"
    "map gather(row r, accum total all) { all.w += r.w; all.n += 1; acc_min(all.least, (int32_t)r.k); }\n"
    "map twice(row r) -> row { return (row){ .k = r.k * 2u, .v = r.v * 2.0f, .w = r.w + 1.0 }; }\n"
    "filter odd(row r) { return (r.k & 1u) == 1u; }\n"
    "flat_map some(row r) -> row { for (uint32_t i = 0; i < r.k % 3u; i++) emit((row){ .k = r.k + i, .v = r.v, .w = r.w }); }\n"
    "map pairs(row r) -> (key uint32_t k, double w, uint64_t n) { return (r.k % 2900u, r.w, 1); }\n"
    "map value(row r) -> sums { return (sums){ .w = r.w, .n = 1 }; }\n"
    "reduce add(sums a, sums b) { return (sums){ .w = a.w + b.w, .n = a.n + b.n }; }\n"
    "associative reduce last(row a, row b) { return b; }\n"
    "map check(row r) -> row { row a[2]; a[0] = r; a[1] = r; return a[r.k == 77u ? 2 : 0]; }\n";

static row rows[MOST];

static void fill_rows(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < MOST; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const double v = ldexp((double)(int32_t)(state >> 40) - 8388608, (int)(state % 70) - 50);
        rows[i] = (row){(uint32_t)(state >> 20), (float)v, v * 1.0009765625};
    }
}

// --- Sources ---

typedef struct feed {
    uint64_t count;             // records that there are
    uint64_t most;              // that it gives in one call
    bool late;                  // it ends with a call that gives none
    uint64_t fails_at;          // it fails when it is asked for this one; UINT64_MAX: never
    _Atomic uint64_t calls, asked;
} feed;

static bool give(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    feed *from = user;
    const uint64_t left = first < from->count ? from->count - first : 0;
    from->calls++;
    if (from->fails_at >= first && from->fails_at - first < count) return snprintf(message, 512, "the line is down"), false;
    if (count > from->most) count = from->most;
    if (count > left) count = left;
    memcpy(records, rows + first, count * sizeof *rows);
    *given = count;
    from->asked += count;
    *ended = from->late ? left == 0 : count == left;
    return true;
}

static feed feed_of(uint64_t count, uint64_t most, bool late) { return (feed){.count = count, .most = most, .late = late, .fails_at = UINT64_MAX}; }

// --- Operators ---

typedef enum kind {
    GATHERED, MAPPED, FILTERED, FLAT, BY_KEY, COUNTED_BY_KEY, DISTINCT, REDUCED, FOLDED, SORTED, TOP, CACHED, SLICED, SLICED_MAP, FIRST_ODD, ALONE, TWO,
    LAYOUT, KINDS
} kind;

static const char *const names[] = {"gathered", "mapped", "filtered", "flat", "by key", "counted by key", "distinct", "reduced", "folded", "sorted", "top",
                                    "cached", "sliced", "sliced map", "first odd", "alone", "two", "layout"};

static hdst_dataset *build(hdst_dataset *d, hdst_module *m, kind k)
{
    switch (k) {
    case GATHERED: return hdst_map_function(d, m, "gather");
    case MAPPED: return hdst_map_function(d, m, "twice");
    case FILTERED: return hdst_filter_function(d, m, "odd");
    case FLAT: return hdst_flat_map_function(d, m, "some");
    case BY_KEY: return hdst_reduce_by_key(hdst_map_function(d, m, "pairs"), m, "add");
    case COUNTED_BY_KEY: return hdst_count_by_key(hdst_map_function(d, m, "key_of"), m, "counted");
    case DISTINCT: return hdst_distinct(d);
    case REDUCED: return hdst_reduce(hdst_map_function(d, m, "value"), m, "add");
    case FOLDED: return hdst_reduce(d, m, "last");
    case SORTED: return hdst_sort(d, "k, w");
    case TOP: return hdst_top(hdst_filter_function(d, m, "odd"), 100, "w");
    case CACHED: return hdst_filter_function(hdst_cache(hdst_map_function(d, m, "twice")), m, "odd");
    case SLICED: return hdst_slice(d, 100, 5000);
    case SLICED_MAP: return hdst_slice(hdst_map_function(d, m, "twice"), 100, 5000);
    case FIRST_ODD: return hdst_slice(hdst_filter_function(d, m, "odd"), 0, 300);
    case ALONE: return d;
    case TWO: return hdst_union(hdst_map_function(d, m, "twice"), hdst_filter_function(d, m, "odd"));
    case LAYOUT: return hdst_map_function(hdst_with_layout(d, HDST_SOA), m, "twice");
    case KINDS: break;
    }
    return d;
}

// --- Comparing ---

typedef struct job {
    hdst_context *context;
    hdst_result *result;
} job;

static job job_of(const char *form, kind k, feed *from, bool concurrent)
{
    job j = {.context = context_in_form(form)};
    hdst_module *m = module_of(j.context, text);
    hdst_source *source = hdst_source_from_uncounted_callback(j.context, give, concurrent, from);
    j.result = hdst_result_create(build(hdst_read(source, m, "row"), m, k));
    return j;
}

static job right_job(kind k, uint64_t count)
{
    job j = {.context = context_on("interp")};
    hdst_module *m = module_of(j.context, text);
    j.result = hdst_result_create(build(hdst_read(hdst_source_from_memory(j.context, rows, count, sizeof *rows), m, "row"), m, k));
    RUN(j.result);
    return j;
}

static uint64_t size_of(kind k)
{
    static const uint64_t sizes[KINDS] = {[GATHERED] = 24, [BY_KEY] = 24, [COUNTED_BY_KEY] = 16, [REDUCED] = 16};
    return sizes[k] ? sizes[k] : sizeof(row);
}

static void expect_equal(const job *right, const job *j, kind k, const char *how)
{
    const char *table = k == GATHERED ? "all" : NULL;
    uint64_t count, wanted;
    const char *a = hdst_result_rows(right->result, table, &wanted), *b = hdst_result_rows(j->result, table, &count);
    cr_assert_eq(count, wanted, "%s, %s: %llu rows, not %llu", names[k], how, (unsigned long long)count, (unsigned long long)wanted);
    cr_assert(count == 0 || !memcmp(a, b, count * size_of(k)), "%s, %s", names[k], how);
}

// Whether nothing but stages over single records reads it: then no record is asked for to be counted.
static bool needs_no_count(kind k) { return k <= BY_KEY || k == COUNTED_BY_KEY || k == REDUCED || k == TWO || k == LAYOUT || k == CACHED; }

static void expect_same(const char *form, kind k, feed from, bool concurrent)
{
    const job right = right_job(k, from.count);
    const job j = job_of(form, k, &from, concurrent);
    RUN(j.result);
    expect_equal(&right, &j, k, form);
    if (needs_no_count(k)) cr_assert_lt(from.asked, from.count * (k == TWO ? 2 : 1) + 5000, "%s, %s: %llu", names[k], form, (unsigned long long)from.asked);
    RUN(j.result);                      // now it is known how many there are
    expect_equal(&right, &j, k, form);
    hdst_context_destroy(j.context);
    hdst_context_destroy(right.context);
}

Test(uncounted_source, every_operator_gives_what_it_gives_of_memory)
{
    fill_rows();
    for (kind k = 0; k < KINDS; k++) {
        expect_same("interp", k, feed_of(20000, 700, k % 2), false);
        expect_same("interp", k, feed_of(k == FOLDED ? 1 : 6400, UINT64_MAX, k % 2), true);
    }
}

Test(uncounted_source, of_any_number)
{
    static const uint64_t counts[] = {0, 1, 63, 64, 65, 4096, 20011};
    fill_rows();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (kind k = 0; k < KINDS; k++) {
            if (counts[i] == 0 && (k == FOLDED || k == REDUCED)) continue;      // which are errors of the run
            expect_same("interp", k, feed_of(counts[i], i % 2 ? 1000 : UINT64_MAX, true), false);
        }
}

Test(uncounted_source, on_a_cpu, .timeout = 600)
{
    fill_rows();
    if (!have_cpu()) cr_skip("no OpenCL CPU device\n");
    for (kind k = 0; k < KINDS; k++) expect_same("cpu", k, feed_of(MOST - 17, 100000, k % 2), k % 3 == 0);
    expect_same("gpu-form", GATHERED, feed_of(100000, UINT64_MAX, false), true);
    expect_same("gpu-form", MAPPED, feed_of(100001, 5000, true), false);
    expect_same("gpu-form", FILTERED, feed_of(100001, 5000, true), false);
    expect_same("gpu-form", BY_KEY, feed_of(100001, 5000, true), false);
}

Test(uncounted_source, by_several_devices, .timeout = 600)
{
    static const kind kinds[] = {GATHERED, MAPPED, FILTERED, FLAT, BY_KEY, FIRST_ODD};
    fill_rows();
    if (!have_team()) cr_skip("no halves\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int turn = 0; turn < 4; turn++) expect_same("team", kinds[i], feed_of(turn == 3 ? 0 : MOST - 1000 * (uint64_t)turn, 50000, turn % 2), turn < 2);
}

// --- What is told ---

static bool give_more(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    (void)first, (void)records, (void)ended, (void)message, (void)user;
    *given = count + 1;
    return true;
}

static bool give_nothing(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    (void)records, (void)ended, (void)message, (void)user;
    *given = first >= 100 ? 0 : count < 100 - first ? count : 100 - first;
    return true;
}

// Less and less of it is there, the more often it is asked.
static bool give_less(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    feed *from = user;
    const bool well = give(first, count, records, given, ended, message, user);
    if (from->calls > 3) from->count = 1000;
    return well;
}

static bool give_always(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    (void)ended, (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((row *)records)[i] = rows[(first + i) % MOST];
    *given = count;
    return true;
}

static const char *const forms[] = {"interp", "cpu", "team"};

static void expect_error(hdst_uncounted_callback fill, feed from, kind k, const char *message, const char *cause)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        feed own = from;
        hdst_context *context = context_in_form(forms[i]);
        hdst_module *m = module_of(context, text);
        hdst_error error = HDST_ERROR_INIT;
        hdst_source *source = hdst_source_from_uncounted_callback(context, fill, true, &own);
        hdst_result *r = hdst_result_create(build(hdst_read(source, m, "row"), m, k));
        cr_assert_eq(hdst_run(r, &error), HDST_E_IO, "%s, %s: %s", names[k], forms[i], error.message);
        cr_assert(strstr(error.message, message), "%s, %s: %s", names[k], forms[i], error.message);
        cr_assert_str_eq(error.cause, cause);
        cr_assert(*cause || *error.hint, "%s", error.message);
        hdst_context_destroy(context);
    }
}

static void expect_errors(hdst_uncounted_callback fill, feed from, const char *message, const char *cause)
{
    static const kind kinds[] = {GATHERED, FILTERED, BY_KEY, SORTED};
    fill_rows();
    if (!have_team()) cr_skip("no halves\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) expect_error(fill, from, kinds[i], message, cause);
}

Test(uncounted_source, one_that_fails)
{
    feed from = feed_of(MOST, 10000, false);
    from.fails_at = 4321;
    expect_errors(give, from, "the source's callback failed at records ", "the line is down");
}

static bool give_counted(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    uint64_t given;
    bool ended;
    return give(first, count, records, &given, &ended, message, user);
}

// With a number, on one thread of several: the others end, and what is told does not depend on which was quicker.
Test(uncounted_source, one_with_a_number_that_fails)
{
    static const kind kinds[] = {GATHERED, FILTERED, BY_KEY, SORTED, CACHED};
    fill_rows();
    if (!have_team()) cr_skip("no halves\n");
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            feed from = feed_of(MOST, UINT64_MAX, false);
            from.fails_at = MOST - 1;
            hdst_context *context = context_in_form(forms[f]);
            hdst_module *m = module_of(context, text);
            hdst_error error = HDST_ERROR_INIT;
            hdst_source *source = hdst_source_from_concurrent_callback(context, MOST, give_counted, &from);
            cr_assert_eq(hdst_run(hdst_result_create(build(hdst_read(source, m, "row"), m, kinds[i])), &error), HDST_E_IO, "%s", error.message);
            cr_assert(strstr(error.message, "to 299999"), "%s, %s: %s", names[kinds[i]], forms[f], error.message);
            cr_assert_str_eq(error.cause, "the line is down");
            hdst_context_destroy(context);
        }
}

Test(uncounted_source, one_that_says_that_it_gave_more) { expect_errors(give_more, feed_of(0, 0, false), "the source's callback says that it gave ", ""); }
Test(uncounted_source, one_that_neither_gives_nor_ends) { expect_errors(give_nothing, feed_of(0, 0, false), "the source's callback gave no record ", ""); }

Test(uncounted_source, one_that_ends_at_two_places)
{
    expect_errors(give_less, feed_of(MOST, 20000, false), "the source's callback ended before record ", "");
}

Test(uncounted_source, the_first_records_of_one_that_never_ends)
{
    static const kind kinds[] = {SLICED, SLICED_MAP, FIRST_ODD};
    fill_rows();
    if (!have_team()) cr_skip("no halves\n");
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const job right = right_job(kinds[i], MOST);
            job j = {.context = context_in_form(forms[f])};
            hdst_module *m = module_of(j.context, text);
            hdst_source *source = hdst_source_from_uncounted_callback(j.context, give_always, true, NULL);
            j.result = hdst_result_create(build(hdst_read(source, m, "row"), m, kinds[i]));
            for (int turn = 0; turn < 2; turn++) {
                RUN(j.result);
                expect_equal(&right, &j, kinds[i], forms[f]);
            }
            hdst_context_destroy(j.context);
            hdst_context_destroy(right.context);
        }
}

static void ends_with_a_cancel(const char *form, kind k)
{
    hdst_context *context = context_in_form(form);
    hdst_module *m = module_of(context, text);
    hdst_source *source = hdst_source_from_uncounted_callback(context, give_always, true, NULL);
    hdst_job *running = hdst_run_async(hdst_result_create(build(hdst_read(source, m, "row"), m, k)));
    bool ended;
    cr_assert_eq(hdst_job_wait(running, 0.2, &ended, NULL), HDST_OK);
    cr_assert_not(ended, "%s, %s", names[k], form);
    hdst_job_cancel(running);
    cr_assert_eq(hdst_job_wait(running, -1, &ended, NULL), HDST_E_CANCELLED, "%s, %s", names[k], form);
    hdst_context_destroy(context);
}

Test(uncounted_source, one_that_never_ends_is_cancelled)
{
    fill_rows();
    if (!have_team()) cr_skip("no halves\n");
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        ends_with_a_cancel(forms[f], GATHERED);
        ends_with_a_cancel(forms[f], SORTED);
    }
}

Test(uncounted_source, a_record_that_fails_is_named_by_its_number)
{
    fill_rows();
    rows[12345].k = 77;
    if (!have_team()) cr_skip("no halves\n");
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        feed from = feed_of(200000, 30000, false);
        hdst_error error = HDST_ERROR_INIT;
        hdst_context *context = context_in_form(forms[f]);
        hdst_module *m = module_of(context, text);
        hdst_dataset *d = hdst_read(hdst_source_from_uncounted_callback(context, give, true, &from), m, "row");
        cr_assert_eq(hdst_run(hdst_result_create(hdst_map_function(d, m, "check")), &error), HDST_E_RECORD, "%s: %s", forms[f], error.message);
        cr_assert_eq(error.record, 12345, "%s: %s", forms[f], error.message);
        hdst_context_destroy(context);
    }
}

Test(uncounted_source, what_is_said_of_it)
{
    feed from = feed_of(5000, UINT64_MAX, false);
    fill_rows();
    hdst_context *context = context_on("interp");
    hdst_module *m = module_of(context, text);
    hdst_source *source = hdst_source_from_uncounted_callback(context, give, false, &from);
    cr_assert_eq(hdst_source_rows(source), 0);              // of what record?
    hdst_dataset *d = hdst_read(source, m, "row");
    hdst_result *gathered = hdst_result_create(hdst_map_function(d, m, "gather")), *sorted = hdst_result_create(hdst_sort(d, "k"));
    cr_assert(strstr(hdst_explain(gathered, NULL), "records that are not counted yet"));
    cr_assert(strstr(hdst_explain(gathered, NULL), "input: all records of row that come"));
    hdst_explain(sorted, NULL);
    cr_assert_lt(from.asked, 2000, "explaining asks for a sample at most");
    RUN(gathered);
    cr_assert_eq(hdst_result_stats(gathered).records, 5000);
    from.asked = 0;
    cr_assert_eq(hdst_source_rows(source), 5000);
    cr_assert_eq(from.asked, 0, "the run has found it");
    RUN(gathered);
    cr_assert(strstr(hdst_explain(gathered, NULL), "input: 5000 records of row"));
    hdst_context_destroy(context);
}
