// SPDX-License-Identifier: Apache-2.0
// Partials of folds and of the best records: any split of the records into parts, from any device, merged in any order and grouping, by way of bytes, comes to
// the bits of one run over all, which plain C computes again. The functions are not associative, whatever they are declared to be, so a record in another
// place of the tree shows.
#include "tests/hdst/support.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 300000, MOST_PARTS = 50 };

typedef struct row { uint32_t k, n; double w; } row;

static const char text[] =
    "struct row { uint32_t k, n; double w; };\n"
    "struct odd_size { uint8_t a; double b; };\n"
    "associative reduce chain(row a, row b) { return (row){ .k = a.k * 31u + b.k, .n = a.n + b.n, .w = a.w * 0.5 + b.w }; }\n"
    "associative commutative reduce same_chain(row a, row b) { return (row){ .k = a.k * 31u + b.k, .n = a.n + b.n, .w = a.w * 0.5 + b.w }; }\n"
    "associative reduce with_identity(row a, row b) identity { .k = 7, .w = -2.0 } { return (row){ .k = a.k * 31u + b.k, .n = a.n + b.n, .w = a.w - b.w }; }\n"
    "associative reduce divided(row a, row b) { return (row){ .k = a.k + 1u / b.k, .n = a.n + b.n, .w = a.w }; }\n"
    "associative reduce odd_sizes(odd_size a, odd_size b) { return (odd_size){ .a = (uint8_t)(a.a * 3u + b.a), .b = a.b * 0.5 + b.b }; }\n"
    "reduce in_order(row a, row b) { return (row){ .k = a.k * 31u + b.k, .n = a.n + b.n, .w = a.w }; }\n"
    "filter odd(row r) { return (r.k & 1u) == 1u; }\n"
    "map twice(row r) -> row { return (row){ .k = r.k * 2u + 1u, .n = r.n, .w = r.w + 1.0 }; }\n"
    "map odd_sized(row r) -> odd_size { return (odd_size){ .a = (uint8_t)r.k, .b = r.w }; }\n"
    "struct sum { double w; };\n"
    "map counted(row r, accum sum s) -> row { s.w += r.w; return r; }\n";

static row rows[MOST];

// Few values of w, so that many are equal.
static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < MOST; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        rows[i] = (row){(uint32_t)(state >> 20), 1, (double)((int32_t)(state >> 40) % 1000) * 0.125};
    }
    rows[5].w = rows[4444].w = NAN;
    rows[17].w = -0.0;
}

static row chain(row a, row b) { return (row){a.k * 31 + b.k, a.n + b.n, a.w * 0.5 + b.w}; }

// The fixed tree: 64 to one, and so on.
static row by_tree(const row *from, uint64_t count)
{
    row *level = malloc(count * sizeof *level);
    memcpy(level, from, count * sizeof *level);
    while (count > 1) {
        const uint64_t runs = (count + 63) / 64;
        for (uint64_t r = 0; r < runs; r++) {
            row sum = level[64 * r];
            for (uint64_t i = 64 * r + 1; i < 64 * r + 64 && i < count; i++) sum = chain(sum, level[i]);
            level[r] = sum;
        }
        count = runs;
    }
    const row result = level[0];
    free(level);
    return result;
}

// --- Parts ---

typedef struct side {
    hdst_context *context;
    hdst_module *module;
} side;

static side open_side(const char *form)
{
    setenv("HDST_REPLAY_DIR", "", 1);
    side s = {.context = context_in_form(form)};
    cr_assert_eq(hdst_context_status(s.context, NULL), HDST_OK);
    s.module = module_of(s.context, text);
    return s;
}

typedef hdst_dataset *(*maker)(side s, hdst_dataset *data);

static hdst_dataset *chained(side s, hdst_dataset *data) { return hdst_reduce(data, s.module, "chain"); }
static hdst_dataset *chained_twice(side s, hdst_dataset *data) { return hdst_reduce(hdst_map_function(data, s.module, "twice"), s.module, "same_chain"); }
static hdst_dataset *chained_soa(side s, hdst_dataset *data) { return hdst_reduce(hdst_with_layout(data, HDST_SOA), s.module, "chain"); }
static hdst_dataset *mapped(side s, hdst_dataset *data, const char *map) { return hdst_map_function(data, s.module, map); }
static hdst_dataset *chained_cached(side s, hdst_dataset *data) { return hdst_reduce(hdst_cache(mapped(s, data, "twice")), s.module, "chain"); }
static hdst_dataset *chained_odd_sizes(side s, hdst_dataset *data) { return hdst_reduce(mapped(s, data, "odd_sized"), s.module, "odd_sizes"); }
static hdst_dataset *hundred_best(side s, hdst_dataset *data) { (void)s; return hdst_top(data, 100, "w"); }
static hdst_dataset *many_best(side s, hdst_dataset *data) { (void)s; return hdst_top(data, 7000, "w"); }
static hdst_dataset *best_of_few(side s, hdst_dataset *data) { return hdst_top(hdst_filter_function(data, s.module, "odd"), 500, "w"); }
static hdst_dataset *smallest(side s, hdst_dataset *data) { (void)s; return hdst_min_by(data, "w"); }
static hdst_dataset *largest(side s, hdst_dataset *data) { return hdst_max_by(hdst_map_function(data, s.module, "twice"), "w"); }

static hdst_dataset *data_of(side s, uint64_t first, uint64_t count)
{
    return hdst_read(hdst_source_from_memory(s.context, rows + first, count, sizeof(row)), s.module, "row");
}

static hdst_result *result_of(side s, maker make, uint64_t first, uint64_t count) { return hdst_result_create(make(s, data_of(s, first, count))); }

#define GOOD(call)                                                                          \
    do {                                                                                    \
        hdst_error good_error = HDST_ERROR_INIT, *e = &good_error;                          \
        cr_assert_eq((call), HDST_OK, "%s", e->message);                                    \
    } while (0)

static hdst_partial *carry(hdst_partial *partial, side to)
{
    const void *bytes;
    uint64_t size;
    GOOD(hdst_partial_write(partial, &bytes, &size, e));
    hdst_partial *arrived = hdst_partial_from_bytes(to.context, bytes, size);
    GOOD(hdst_partial_status(arrived, e));
    hdst_partial_destroy(partial);
    return arrived;
}

static hdst_partial *part(side from, maker make, uint64_t first, uint64_t count)
{
    hdst_result *result = result_of(from, make, first, count);
    GOOD(hdst_result_keep_partial_at(result, first, e));
    RUN(result);
    hdst_partial *partial = hdst_partial_from_result(result);
    GOOD(hdst_partial_status(partial, e));
    hdst_result_destroy(result);
    return partial;
}

static uint64_t next(uint64_t *seed) { return (*seed = *seed * 6364136223846793005u + 1442695040888963407u) >> 33; }

// Cuts anywhere, at multiples of 64, or at the ends of nearly nothing.
static uint64_t cut(uint64_t left, uint64_t parts_left, uint64_t *seed)
{
    const uint64_t kind = next(seed) % 4, most = 2 * left / parts_left + 1, count = next(seed) % most;
    const uint64_t wanted = kind == 0 ? count / 64 * 64 : kind == 1 ? count % 3 : count;
    return parts_left == 1 || wanted > left ? left : wanted;
}

static size_t make_parts(const side *sides, size_t side_count, side home, maker make, uint64_t records, uint64_t *seed, hdst_partial **partial)
{
    const size_t parts = 1 + next(seed) % MOST_PARTS;
    uint64_t first = 0;
    for (size_t p = 0; p < parts; p++) {
        const uint64_t count = cut(records - first, parts - p, seed);
        partial[p] = part(sides[p % side_count], make, first, count);
        if (next(seed) % 2 || sides[p % side_count].context != home.context) partial[p] = carry(partial[p], home);
        first += count;
    }
    return parts;
}

static hdst_partial *merge_all(hdst_partial **partial, size_t parts, side home, uint64_t *seed)
{
    for (size_t count = parts; count > 1; count--) {
        const size_t to = next(seed) % count, from = (to + 1 + next(seed) % (count - 1)) % count;
        GOOD(hdst_partial_merge(partial[to], partial[from], e));
        hdst_partial_destroy(partial[from]);
        if (next(seed) % 4 == 0) partial[to] = carry(partial[to], home);
        partial[from] = partial[count - 1];
    }
    return partial[0];
}

static void expect_rows(hdst_partial *partial, hdst_result *whole, const char *what)
{
    uint64_t count, expected_count;
    const void *expected = hdst_result_rows(whole, NULL, &expected_count), *found = hdst_partial_rows(partial, NULL, &count);
    hdst_error error = HDST_ERROR_INIT;
    hdst_partial_status(partial, &error);
    cr_assert(expected && found, "%s: %s", what, error.message);
    cr_assert_eq(count, expected_count, "%s: %d rows, not %d", what, (int)count, (int)expected_count);
    cr_assert(!memcmp(found, expected, count * sizeof(row)), "%s", what);
}

static void run_split(const side *sides, size_t side_count, side home, maker make, uint64_t records, uint64_t seed, const char *what)
{
    hdst_partial *partial[MOST_PARTS];
    uint64_t first, count;
    hdst_result *whole = result_of(home, make, 0, records);
    RUN(whole);
    const size_t parts = make_parts(sides, side_count, home, make, records, &seed, partial);
    hdst_partial *all = merge_all(partial, parts, home, &seed);
    expect_rows(all, whole, what);
    cr_assert_eq(hdst_partial_range(all, 0, &first, &count), 1);
    cr_assert(first == 0 && count == records);
    hdst_partial_destroy(all);
    hdst_result_destroy(whole);
}

static const struct { maker make; const char *name; } makers[] = {
    {chained, "chain"}, {chained_twice, "chain behind a map"}, {chained_soa, "chain of columns"}, {chained_cached, "chain of a cache"},
    {hundred_best, "top"}, {many_best, "top of many"}, {best_of_few, "top behind a filter"}, {smallest, "min_by"}, {largest, "max_by"},
};

static void run_all(const char *const *forms, size_t form_count, const uint64_t *records, size_t rounds)
{
    side sides[3], home = open_side("interp");
    fill();
    for (size_t f = 0; f < form_count; f++) sides[f] = open_side(forms[f]);
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        for (size_t n = 0; n < rounds; n++) run_split(sides, form_count, home, makers[m].make, records[n], 17 * m + n, makers[m].name);
    for (size_t f = 0; f < form_count; f++) hdst_context_destroy(sides[f].context);
    hdst_context_destroy(home.context);
}

Test(partial_of_parts, on_the_interpreter) { run_all((const char *const[]){"interp"}, 1, (const uint64_t[]){1000, 64, 4096, 20001, 9999, 130}, 6); }

Test(partial_of_parts, on_several_devices)
{
    if (!have_cpu()) cr_skip();
    run_all((const char *const[]){"cpu", "gpu-form", "interp"}, 3, (const uint64_t[]){20001, 5000}, 2);
}

Test(partial_of_parts, that_several_devices_share)
{
    if (!have_team()) cr_skip();
    run_all((const char *const[]){"team", "cpu"}, 2, (const uint64_t[]){30000}, 1);
}

// --- Against plain C ---

static row fold_of_parts(side s, uint64_t records, uint64_t seed)
{
    hdst_partial *partial[MOST_PARTS];
    const size_t parts = make_parts(&s, 1, s, chained, records, &seed, partial);
    hdst_partial *all = merge_all(partial, parts, s, &seed);
    const row *found = hdst_partial_rows(all, NULL, NULL);
    cr_assert_not_null(found);
    const row result = *found;
    hdst_partial_destroy(all);
    return result;
}

Test(partial_of_parts, folds_are_the_fixed_tree)
{
    static const uint64_t counts[] = {1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 8192 + 65, 20000, 262144, 262145, MOST};
    fill();
    rows[5].w = rows[4444].w = 1;
    side s = open_side("interp");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const row wanted = by_tree(rows, counts[i]), found = fold_of_parts(s, counts[i], i);
        cr_assert(!memcmp(&wanted, &found, sizeof found), "%d records: %u %u %g, not %u %u %g", (int)counts[i], found.k, found.n, found.w, wanted.k, wanted.n,
                  wanted.w);
    }
    hdst_context_destroy(s.context);
}

static int earlier(const void *a, const void *b)
{
    const row *x = *(const row *const *)a, *y = *(const row *const *)b;
    if (isnan(x->w) != isnan(y->w)) return isnan(x->w) ? 1 : -1;
    if (x->w != y->w && !isnan(x->w)) return x->w > y->w ? -1 : 1;
    return x < y ? -1 : 1;
}

Test(partial_of_parts, of_equal_values_the_first_are_the_best)
{
    enum { RECORDS = 5000, WANTED = 100 };
    static const row *order[RECORDS];
    uint64_t seed = 99, count;
    hdst_partial *partial[MOST_PARTS];
    fill();
    side s = open_side("interp");
    for (int i = 0; i < RECORDS; i++) order[i] = &rows[i];
    qsort(order, RECORDS, sizeof *order, earlier);
    const size_t parts = make_parts(&s, 1, s, hundred_best, RECORDS, &seed, partial);
    hdst_partial *all = merge_all(partial, parts, s, &seed);
    const row *found = hdst_partial_rows(all, NULL, &count);
    cr_assert_eq(count, WANTED);
    for (int i = 0; i < WANTED; i++) cr_assert(!memcmp(&found[i], order[i], sizeof *found), "%d", i);
    hdst_context_destroy(s.context);
}

// Three parts have six orders and two groupings.
Test(partial_of_parts, equal_bytes_whatever_the_order)
{
    static const maker both[] = {chained, hundred_best, chained_odd_sizes};
    static const uint64_t first[] = {0, 100, 5001, 9000};
    fill();
    side s = open_side("interp");
    for (int m = 0; m < 3; m++) {
        uint64_t size = 0, again;
        const void *bytes;
        char *kept = NULL;
        for (int order = 0; order < 6; order++) {
            const int a = order / 2, b = (a + 1 + order % 2) % 3, c = 3 - a - b;
            hdst_partial *p[3];
            for (int i = 0; i < 3; i++) p[i] = part(s, both[m], first[i], first[i + 1] - first[i]);
            GOOD(hdst_partial_merge(p[a], p[b], e));
            GOOD(order % 3 ? hdst_partial_merge(p[a], p[c], e) : hdst_partial_merge(p[c], p[a], e));
            GOOD(hdst_partial_write(order % 3 ? p[a] : p[c], &bytes, &again, e));
            if (!kept) kept = malloc(size = again), memcpy(kept, bytes, size);
            cr_assert(size == again && !memcmp(kept, bytes, size), "%d: order %d", m, order);
            for (int i = 0; i < 3; i++) hdst_partial_destroy(p[i]);
        }
        free(kept);
    }
    hdst_context_destroy(s.context);
}

// --- What they cover ---

static void expect_no_rows(hdst_partial *partial, const char *message)
{
    hdst_error error;
    uint64_t count = 1;
    cr_expect_null(hdst_partial_rows(partial, NULL, &count));
    cr_expect_eq(count, 0);
    cr_expect_eq(hdst_partial_status(partial, &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, message);
}

Test(partial_of_parts, missing_and_repeated_records)
{
    hdst_error error;
    uint64_t first, count;
    fill();
    side s = open_side("interp");
    hdst_partial *a = part(s, chained, 100, 50), *b = part(s, chained, 300, 64), *c = part(s, chained, 149, 2), *top = part(s, hundred_best, 10, 5);
    expect_no_rows(a, "records 0 to 99 are missing");
    GOOD(hdst_partial_merge(a, b, e));
    cr_expect_eq(hdst_partial_range(a, 1, &first, &count), 2);
    cr_expect(first == 300 && count == 64);
    cr_expect_eq(hdst_partial_range(a, 2, &first, &count), 2);
    cr_expect(first == 0 && count == 0);
    cr_expect_eq(hdst_partial_merge(a, c, &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, "records 149 to 149 are in both partials");
    cr_expect_eq(hdst_partial_merge(a, b, &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, "records 300 to 363 are in both partials");
    GOOD(hdst_partial_merge(a, part(s, chained, 0, 100), e));
    expect_no_rows(a, "records 150 to 299 are missing");
    GOOD(hdst_partial_merge(a, part(s, chained, 150, 150), e));
    const row wanted = by_tree(rows, 364);
    const row *found = hdst_partial_rows(a, NULL, NULL);
    cr_expect(found && found->k == wanted.k && found->n == 364);
    cr_expect_eq(hdst_partial_merge(a, top, &error), HDST_E_USAGE);
    cr_expect_not_null(hdst_partial_rows(top, NULL, &count));       // the best of what is there
    cr_expect_eq(count, 5);
    cr_expect_eq(hdst_partial_range(part(s, hundred_best, 0, 0), 0, &first, &count), 0);
    hdst_context_destroy(s.context);
}

// A range that a long one before it hides from its neighbour.
Test(partial_of_parts, repeated_records_behind_a_long_range)
{
    hdst_error error;
    fill();
    side s = open_side("interp");
    hdst_partial *few = part(s, chained, 10, 5), *all = part(s, chained, 0, 1000);
    GOOD(hdst_partial_merge(few, part(s, chained, 900, 10), e));
    cr_expect_eq(hdst_partial_merge(few, all, &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, "records 10 to 14 are in both partials");
    hdst_partial *last = part(s, chained, 905, 5);
    cr_expect_eq(hdst_partial_merge(all, last, &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, "records 905 to 909 are in both partials");
    hdst_context_destroy(s.context);
}

static hdst_dataset *identified(side s, hdst_dataset *data) { return hdst_reduce(data, s.module, "with_identity"); }

Test(partial_of_parts, of_no_records)
{
    fill();
    side s = open_side("interp");
    hdst_partial *none = part(s, chained, 0, 0), *later = part(s, chained, 40, 0), *least = part(s, smallest, 3, 0), *identity = part(s, identified, 8, 0);
    GOOD(hdst_partial_merge(none, later, e));
    expect_no_rows(none, "reduce 'chain' of an empty dataset has no result");
    expect_no_rows(least, "'min_by' of an empty dataset has no result");
    identity = carry(identity, s);
    const row *found = hdst_partial_rows(identity, NULL, NULL);
    cr_assert_not_null(found);
    cr_expect(found->k == 7 && found->n == 0 && found->w == -2.0);
    GOOD(hdst_partial_merge(none, part(s, chained, 0, 10), e));
    const row wanted = by_tree(rows, 10);
    found = hdst_partial_rows(none, NULL, NULL);
    cr_expect(found && !memcmp(found, &wanted, 12));
    hdst_context_destroy(s.context);
}

// Its part begins where the filter's records of the parts before end.
Test(partial_of_parts, behind_a_filter)
{
    uint64_t first = 0, count, records = 0;
    static row kept[10000];
    fill();
    side s = open_side("interp");
    for (int i = 0; i < 10000; i++)
        if (rows[i].k & 1) kept[records++] = rows[i];
    hdst_partial *all = NULL;
    for (int p = 0; p < 4; p++) {
        hdst_result *result = hdst_result_create(hdst_reduce(hdst_filter_function(data_of(s, 2500 * p, 2500), s.module, "odd"), s.module, "chain"));
        GOOD(hdst_result_keep_partial_at(result, first, e));
        RUN(result);
        hdst_partial *partial = hdst_partial_from_result(result);
        cr_assert_eq(hdst_partial_range(partial, 0, NULL, &count), 1);
        first += count;
        if (all) GOOD(hdst_partial_merge(all, partial, e));
        else all = partial;
    }
    cr_expect_eq(first, records);
    rows[5].w = 1;
    const row wanted = by_tree(kept, records), *found = hdst_partial_rows(all, NULL, NULL);
    cr_expect(found && found->k == wanted.k && found->n == wanted.n);
    hdst_context_destroy(s.context);
}

// One result, whose part moves between its runs.
Test(partial_of_parts, the_records_of_the_result)
{
    uint64_t count;
    fill();
    side s = open_side("interp");
    hdst_result *result = result_of(s, chained, 0, 1000), *plain = result_of(s, chained, 0, 1000);
    RUN(plain);
    RUN(result);
    GOOD(hdst_result_keep_partial(result, e));
    cr_expect_not_null(hdst_result_rows(result, NULL, NULL));       // of the run before
    cr_expect_eq(hdst_partial_status(hdst_partial_from_result(result), NULL), HDST_E_USAGE);
    RUN(result);
    expect_rows(hdst_partial_from_result(result), plain, "from the beginning");
    cr_expect(!memcmp(hdst_result_rows(result, NULL, &count), hdst_result_rows(plain, NULL, NULL), 12));
    cr_expect_eq(count, 1);
    for (uint64_t first = 1; first < 4000; first = first * 3 + 1) {
        uint64_t found, records;
        GOOD(hdst_result_keep_partial_at(result, first, e));
        cr_expect_not_null(hdst_explain(result, NULL));
        RUN(result);
        (void)hdst_result_rows(result, NULL, &count);
        cr_expect_eq(count, 0);
        cr_expect_eq(hdst_partial_range(hdst_partial_from_result(result), 0, &found, &records), 1);
        cr_expect(found == first && records == 1000);
    }
    GOOD(hdst_result_keep_partial_at(result, UINT64_MAX - 10, e));
    cr_expect_eq(hdst_run(result, NULL), HDST_E_USAGE);
    hdst_context_destroy(s.context);
}

// --- What is refused ---

static void refuse(side s, hdst_dataset *dataset, const char *message)
{
    hdst_error error;
    hdst_result *result = hdst_result_create(dataset);
    cr_expect_eq(hdst_result_keep_partial_at(result, 5, &error), HDST_E_UNSUPPORTED, "%s", error.message);
    cr_expect_str_eq(error.message, message);
    (void)s;
}

Test(partial_of_parts, cannot_be_kept)
{
    fill();
    side s = open_side("interp");
    refuse(s, hdst_reduce(data_of(s, 0, 10), s.module, "in_order"), "the records of hdst_reduce cannot be kept unfinished");
    hdst_map_spec *sums = hdst_map_spec_create(s.module, "counted");
    hdst_bind_accum(sums, "s", 1);
    refuse(s, hdst_top(hdst_map(data_of(s, 0, 10), sums), 3, "w"),
           "accumulators of maps in front of hdst_top cannot be kept unfinished together with it");
    refuse(s, hdst_reduce(hdst_top(data_of(s, 0, 10), 3, "w"), s.module, "chain"),
           "accumulators behind hdst_top cannot be kept unfinished: they see what all records of a run come to");
    hdst_context_destroy(s.context);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.on_error = HDST_ON_ERROR_SKIP;
    s.context = hdst_context_create(&options);
    s.module = module_of(s.context, text);
    refuse(s, hdst_reduce(data_of(s, 0, 10), s.module, "divided"),
           "the records of hdst_reduce cannot be kept unfinished where those that 'divided' fails on are left out");
    hdst_context_destroy(s.context);
}

static hdst_dataset *divide(side s, hdst_dataset *data) { return hdst_reduce(data, s.module, "divided"); }

// A record of a run of 64 that begins in the part fails where it is folded, others where they meet those before them; its number is that in the whole.
Test(partial_of_parts, a_record_that_fails)
{
    static const uint64_t failing[] = {130, 192, 127, 1030};
    hdst_error error;
    fill();
    side s = open_side("interp");
    for (int i = 0; i < 4; i++) {
        const uint32_t k = rows[failing[i]].k;
        rows[failing[i]].k = 0;
        const bool in_run = failing[i] != 127 && failing[i] != 192;
        hdst_result *result = result_of(s, divide, failing[i] - 30, i == 3 ? 200 : 50);
        GOOD(hdst_result_keep_partial_at(result, failing[i] - 30, e));
        const hdst_status ran = hdst_run(result, &error);
        if (ran == HDST_OK) {
            hdst_partial *partial = hdst_partial_from_result(result), *before = part(s, divide, 0, failing[i] - 30);
            hdst_partial *after = part(s, divide, failing[i] + 20, 200);
            hdst_status status = hdst_partial_merge(partial, before, &error);
            if (status == HDST_OK) status = hdst_partial_merge(partial, after, &error);
            if (i == 1) {       // the first of its run divides nothing
                cr_expect_eq(status, HDST_OK);
                rows[failing[i]].k = k;
                continue;
            }
            cr_expect_eq(status, HDST_E_RECORD, "%d", i);
        }
        cr_expect_eq(error.record, failing[i], "%d: %d %s", i, (int)error.record, error.message);
        cr_expect_eq(ran, in_run ? HDST_E_RECORD : HDST_OK, "%d", i);
        rows[failing[i]].k = k;
    }
    hdst_context_destroy(s.context);
}

// A merge that fails leaves the partial as it was.
Test(partial_of_parts, a_failed_merge_changes_nothing)
{
    const void *bytes, *again;
    uint64_t size, size_again;
    fill();
    rows[70].k = 0;
    side s = open_side("interp");
    hdst_partial *a = part(s, divide, 65, 10), *b = part(s, divide, 64, 1);
    GOOD(hdst_partial_merge(b, part(s, divide, 75, 200), e));
    GOOD(hdst_partial_write(a, &bytes, &size, e));
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    cr_expect_eq(hdst_partial_merge(a, b, NULL), HDST_E_RECORD);
    cr_expect_eq(hdst_partial_status(a, NULL), HDST_OK);
    GOOD(hdst_partial_write(a, &again, &size_again, e));
    cr_expect(size == size_again && !memcmp(copy, again, size));
    free(copy);
    hdst_context_destroy(s.context);
}

Test(partial_of_parts, of_other_functions)
{
    hdst_error error;
    fill();
    side s = open_side("interp");
    hdst_partial *fold = part(s, chained, 0, 10);
    cr_expect_eq(hdst_partial_merge(fold, part(s, chained_twice, 10, 10), &error), HDST_E_USAGE);
    cr_expect_eq(hdst_partial_merge(fold, part(s, identified, 10, 10), &error), HDST_E_USAGE);
    cr_expect_eq(hdst_partial_merge(part(s, hundred_best, 0, 10), part(s, many_best, 10, 10), &error), HDST_E_USAGE);
    cr_expect_str_eq(error.message, "two partials of 'hdst_top.records' cannot be merged: their functions, records or numbers of rows differ");
    hdst_context_destroy(s.context);
}

// --- Bytes ---

// Bits flipped with a checksum that is right again are refused or harmless.
static void flip_bits(side s, maker make)
{
    const void *bytes;
    uint64_t size;
    int accepted = 0;
    hdst_partial *good = part(s, make, 60, 10), *neighbour = part(s, make, 70, 10);
    GOOD(hdst_partial_write(good, &bytes, &size, e));
    char *copy = malloc(size);
    for (uint64_t at = 0; at < size - 16; at++) {
        memcpy(copy, bytes, size);
        copy[at] ^= (char)(1 << at % 8);
        cr_assert_eq(hdst_partial_status(hdst_partial_from_bytes(s.context, copy, size), NULL), HDST_E_FORMAT);
        hdst__hash checksum = HDST__HASH_INIT;
        hdst__hash_add(&checksum, copy, size - sizeof checksum);
        memcpy(copy + size - sizeof checksum, &checksum, sizeof checksum);
        hdst_partial *made = hdst_partial_from_bytes(s.context, copy, size);
        if (hdst_partial_status(made, NULL) == HDST_OK) {
            accepted++;
            (void)hdst_partial_rows(made, NULL, NULL);
            (void)hdst_partial_merge(made, neighbour, NULL);
        }
        hdst_partial_destroy(made);
    }
    for (uint64_t cut_at = 0; cut_at < size; cut_at += 7)
        cr_assert_eq(hdst_partial_status(hdst_partial_from_bytes(s.context, bytes, cut_at), NULL), HDST_E_FORMAT);
    cr_expect_gt(accepted, 50);
    free(copy);
}

Test(partial_of_parts, damaged_bytes)
{
    fill();
    side s = open_side("interp");
    flip_bits(s, chained);
    flip_bits(s, hundred_best);
    hdst_context_destroy(s.context);
}
