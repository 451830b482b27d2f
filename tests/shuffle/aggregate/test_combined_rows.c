// SPDX-License-Identifier: Apache-2.0
// Sums by few numbers become rows of words in tables of a CPU's cores, before their records leave the kernel: the rows are those of the interpreter, which has
// no such tables, to the bit, whatever the tables hold. Sums of whole numbers are held against plain C too.
#include "tests/hdst/support.h"
#include "tests/support/key_unmix.h"

#include <math.h>
#include <stdlib.h>

enum { RECORDS = 200000, KEYS = 300 };

typedef struct row { uint32_t user, item; float price, amount; } row;

static const char functions[] =
    "struct row { uint32_t user; uint32_t item; float price; float amount; };\n"
    "struct small { uint32_t key; float value; };\n"
    "map sale(row r) -> small { return (small){ .key = r.user ^ r.item * 2654435769u, .value = r.price * r.amount }; }\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "struct sums { float price; int32_t n; double both; uint64_t items; };\n"
    "map wide(row r) -> (float price, int32_t n, key uint64_t user, double both, uint64_t items)\n"
    "{ return (r.price, -1, (uint64_t)(r.user ^ r.item * 2654435769u) << 31, (double)r.price * 0.5, (uint64_t)r.item << 40); }\n"
    "reduce all(sums a, sums b)\n"
    "{ return (sums){ .price = a.price + b.price, .n = a.n + b.n, .both = a.both + b.both, .items = a.items + b.items }; }\n"
    "map fine(row r) -> (key uint32_t user, double v) { return (r.user ^ r.item * 2654435769u, sqrt((double)r.price)); }\n"
    "reduce total(double a, double b) { return a + b; }\n"
    "map halves(row r) -> (key uint64_t both, float amount) { return ((uint64_t)r.user << 32 | r.item, r.amount); }\n"
    "flat_map some(row r) -> small { if (r.amount > 2.0f) { emit(r.item % 76u, r.price); if (r.amount > 5.0f) emit(r.item % 5u, r.amount); } }\n"
    "map most(row r) -> small { return (small){ .key = r.item % 1000u, .value = r.price }; }\n"
    "reduce larger(float a, float b) { return max(a, b); }\n";

static row rows[RECORDS];

// Prices of every fourth key are now and then of another size, which would hide mistakes of all others; a few are none.
static void fill(uint32_t keys)
{
    uint32_t state = 2463534242u;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        rows[i].item = state;
        rows[i].user = state % keys * 2891336453u ^ state * 2654435769u;
        rows[i].price = (float)(int32_t)(state << 7) * 0x1p-20f;
        if (i % 125 == 7 && state % keys % 4 == 0) rows[i].price = ldexpf(rows[i].price, (int)(state % 200) - 100);
        if (i % 50000 == 49999) rows[i].price = i % 100000 == 99999 ? NAN : INFINITY;
        rows[i].amount = (float)(1 + (state >> 20) % 8);
    }
}

typedef struct case_ {
    const char *map, *reduce, *field;   // of the records that come out, any
    bool emits, takes, structs;         // takes: rows are made in the kernel; structs: of C structs, else of columns
    uint32_t bits;                      // limits of the context
    uint64_t look_after, full, sliced;
} case_;

static hdst_result *result_of(hdst_context *context, const case_ *c, hdst_layout layout)
{
    hdst_module *module = module_of(context, functions);
    hdst_dataset *data = hdst_with_layout(hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), module, "row"), layout);
    return hdst_result_create(hdst_reduce_by_key(c->emits ? hdst_flat_map_function(data, module, c->map) : hdst_map_function(data, module, c->map), module,
                                                 c->reduce));
}

static hdst_context *cpu_for(const case_ *c)
{
    hdst_context *context = context_on("cpu");
    hdst__limits *limits = hdst__engine_limits(context->engine);
    limits->combine_least = 1;
    limits->combine_bits = c->bits;
    limits->by_key_look_after = c->look_after;
    limits->by_key_full = c->full;
    limits->slice_records = c->sliced ? c->sliced : 4096;
    return context;
}

static uint64_t number_behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    return at ? strtoull(at + strlen(words), NULL, 10) : 0;
}

// Of whole records, which have a field of this name.
static const void *bytes_of(hdst_result *result, const char *field, uint64_t *bytes)
{
    uint64_t count;
    const void *at = hdst_result_rows(result, NULL, &count);
    *bytes = count * hdst_result_field(result, NULL, field).stride;
    cr_assert_gt(*bytes, 0, "no rows, or no field '%s'", field);
    return at;
}

static uint64_t check(const case_ *c)
{
    hdst_context *interp = context_on("interp"), *cpu = cpu_for(c);
    hdst_result *right = result_of(interp, c, HDST_SOA), *found = result_of(cpu, c, c->structs ? HDST_AOS : HDST_SOA);
    uint64_t n, m;
    RUN(right);
    for (int run = 0; run < 2; run++) {         // the second one begins with nothing of the first
        RUN(found);
        const void *a = bytes_of(right, c->field, &n), *b = bytes_of(found, c->field, &m);
        cr_assert(n == m && !memcmp(a, b, n), "%s, run %d", c->map, run);
    }
    const char *text = hdst_explain(found, NULL);
    const uint64_t taken = number_behind(text, "in tables of the device's cores: ");
    cr_assert_eq(taken > 0, c->takes, "%s: %s", c->map, text);
    cr_assert_leq(taken, RECORDS);
    hdst_context_destroy(interp);
    hdst_context_destroy(cpu);
    return taken;
}

Test(combined_rows, are_those_of_the_interpreter)
{
    if (!has_cpu()) return;
    fill(KEYS);
    const uint64_t taken = check(&(case_){"sale", "add", "value", .takes = true});
    cr_assert(taken > RECORDS / 8 && taken < RECORDS, "%d", (int)taken);         // of those behind the first 131,072, all whose addends fit
    check(&(case_){"wide", "all", "items", .takes = true});
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t turned(uint64_t key, bool turn) { return turn ? key << 32 | key >> 32 : key; }

// Two keys of this hash whose lower or upper halves are one, too.
static void pair_of(uint64_t hash, bool lower, uint64_t pair[2])
{
    enum { TRIED = 1 << 18 };               // about 8 pairs among them
    static uint64_t key[TRIED];
    for (uint64_t i = 0; i < TRIED; i++) key[i] = turned(unmix64(hash << 32 | i), lower);
    qsort(key, TRIED, sizeof *key, by_number);
    size_t at = 1;
    while (at < TRIED && (key[at] ^ key[at - 1]) >> 32) at++;
    cr_assert_lt(at, TRIED);
    for (int i = 0; i < 2; i++) pair[i] = turned(key[at - i], lower);
}

// A tag does not tell these keys from each other, nor does either half of them.
Test(combined_rows, keys_of_one_hash_are_apart)
{
    enum { CROWDED = 12 };
    static uint64_t key[CROWDED];
    if (!has_cpu()) return;
    fill(KEYS);
    for (uint32_t k = 0; k < CROWDED; k += 2) pair_of(k * UINT64_C(0x1000001), k % 4, &key[k]);
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint64_t now = key[rows[i].item % CROWDED];
        rows[i].user = (uint32_t)(now >> 32), rows[i].item = (uint32_t)now;
    }
    check(&(case_){"halves", "add", "amount", .takes = true});
}

// Those that a table has no place for leave the kernel as they are.
Test(combined_rows, what_a_full_table_has_no_place_for_goes_on)
{
    if (!has_cpu()) return;
    fill(KEYS);
    const uint64_t taken = check(&(case_){"sale", "add", "value", .takes = true, .structs = true, .bits = 7});
    cr_assert_lt(taken, RECORDS / 4);
    cr_assert_lt(check(&(case_){"sale", "add", "value", .takes = true, .bits = 7}), RECORDS / 4);
}

// Rows with such words move on; where there is no place for more of them the tables are no longer looked at.
Test(combined_rows, words_do_not_overflow)
{
    if (!has_cpu()) return;
    fill(40);
    check(&(case_){"sale", "add", "value", .takes = true, .look_after = 256, .full = UINT64_C(1) << 41});
    check(&(case_){"sale", "add", "value", .takes = true, .look_after = 128, .full = 1, .bits = 7, .sliced = 1024});
}

static uint64_t sums_of_items(uint64_t key)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        if ((uint64_t)(rows[i].user ^ rows[i].item * 2654435769u) << 31 == key) sum += (uint64_t)rows[i].item << 40;
    return sum;
}

Test(combined_rows, whole_numbers_are_those_of_plain_c)
{
    if (!has_cpu()) return;
    fill(KEYS);
    const case_ c = {"wide", "all", "items"};
    hdst_context *cpu = cpu_for(&c);
    hdst_result *found = result_of(cpu, &c, HDST_AOS);
    RUN(found);
    const hdst_view key = hdst_result_field(found, NULL, "user"), items = hdst_result_field(found, NULL, "items"), n = hdst_result_field(found, NULL, "n");
    int64_t all = 0;
    cr_assert_eq(key.rows, KEYS);
    for (uint64_t i = 0; i < key.rows; i++) {
        all += hdst_view_int64(n, i, 0);
        if (i % 50 == 0) cr_assert_eq((uint64_t)hdst_view_int64(items, i, 0), sums_of_items((uint64_t)hdst_view_int64(key, i, 0)));
    }
    cr_assert_eq(all, -RECORDS);
    hdst_context_destroy(cpu);
}

Test(combined_rows, of_what_a_flat_map_gives)
{
    if (!has_cpu()) return;
    fill(KEYS);
    check(&(case_){"some", "add", "value", .emits = true, .takes = true});
}

// Sums that take two words; maxima.
Test(combined_rows, not_where_they_do_not_fit)
{
    if (!has_cpu()) return;
    fill(KEYS);
    check(&(case_){"fine", "total", "v"});
    check(&(case_){"most", "larger", "value"});
}
