// SPDX-License-Identifier: Apache-2.0
// Exact sums of floats by key (u32, f32), the keys' range declared (or, --hashed, not), over pairs that stay
// resident, through the public interface. With BENCH_TIMES in the environment it says after each iteration how long
// the device's kernels took, by its own clock. Values are multiples of 2^-24 below 1, so that the sums in whole
// numbers are what they must be (`check`: 1 when all rows are). With `--values wild` one value in 256 lies over 120
// binades, and `check` gives a hash of the bits of all rows, which is the same on every device. With --map keys
// (hashed) and values are computed from records of four fields. With --wide keys have 16 bytes.
//   bench_by_key [--keys N] [--zipf EXPONENT] [--values even|wild] [--layout aos|soa] [--records N] [--device DEVICE] [--hashed] [--map] [--wide]
//   [--kernels FOLDER] [--explain]
// Keys are uniform, or by Zipf's law: key number k comes in proportion to k^-EXPONENT.
#include "bench/hdst_side.h"

#include <math.h>

typedef struct problem {
    uint64_t records, keys;
    double zipf;
    bool wild;
    bool hashed, map, wide;
    hdst_result *result;
} problem;

typedef struct pair { uint32_t key; float value; } pair;

// The inverse of the law's distribution, taken as continuous; numbers are spread over the range.
static uint32_t zipf_key(const problem *p, uint64_t random)
{
    const double u = (double)(random >> 11) * 0x1p-53, n = (double)p->keys + 1, e = 1 - p->zipf;
    const double k = fabs(e) < 1e-9 ? pow(n, u) : pow((pow(n, e) - 1) * u + 1, 1 / e);
    const uint64_t number = k < 1 ? 0 : (uint64_t)k - 1 < p->keys ? (uint64_t)k - 1 : p->keys - 1;
    return (uint32_t)(number * 2654435761u % p->keys);
}

static pair pair_of(const problem *p, uint64_t record)
{
    const uint64_t random = bench_random(2 * record);
    const uint32_t key = p->zipf > 0 ? zipf_key(p, random) : (uint32_t)((random >> 32) * p->keys >> 32);
    const uint64_t bits = bench_random(2 * record + 1);
    return (pair){p->hashed ? bench_spread_key(key) : key, ldexpf((float)(bits >> 40) * 0x1p-24f, p->wild && bits % 256 == 0 ? (int)(bits >> 8) % 120 : 0)};
}

static bool fill_pairs(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    pair *pairs = records;
    for (uint64_t i = 0; i < count; i++) pairs[i] = pair_of(user, first + i);
    return true;
}

typedef struct wide { uint64_t user, item; float value; } wide;

static bool fill_wide(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    wide *all = records;
    memset(all, 0, count * sizeof *all);
    for (uint64_t i = 0; i < count; i++) {
        const pair one = pair_of(user, first + i);
        all[i].user = bench_random(one.key);
        all[i].item = one.key;
        all[i].value = one.value;
    }
    return true;
}

typedef struct order { uint32_t user, item; float price, amount; } order;

static bool fill_orders(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    const problem *p = user;
    order *o = records;
    for (uint64_t i = 0; i < count; i++) bench_order_at(first + i, p->keys, &o[i].user, &o[i].item, &o[i].price, &o[i].amount);
    return true;
}

static void run(void *state) { side_run(((problem *)state)->result); }

// A hash of the bits of all rows.
static size_t check_wild(const problem *p, double *values)
{
    const hdst_view rows = hdst_result_field(p->result, NULL, NULL);
    uint64_t hash = 1469598103934665603u;
    for (uint64_t k = 0; k < rows.rows; k++) {
        uint32_t bits;
        memcpy(&bits, (const char *)rows.base + k * rows.stride, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    values[0] = (double)(hash >> 11);
    return 1;
}

static size_t check_wide(const problem *p, double *values)
{
    uint64_t count;
    const wide *rows = hdst_result_rows(p->result, NULL, &count);
    values[0] = values[1] = values[2] = 0;
    for (uint64_t i = 0; i < count; i++) bench_add_group((uint32_t)rows[i].item, (double)rows[i].value, values);
    return 3;
}

static size_t check_groups(const problem *p, double *values)
{
    uint64_t count;
    if (p->wide) return check_wide(p, values);
    const pair *rows = hdst_result_rows(p->result, NULL, &count);
    values[0] = values[1] = values[2] = 0;
    for (uint64_t i = 0; i < count; i++) bench_add_group(rows[i].key, (double)rows[i].value, values);
    return 3;
}

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (p->hashed) return limit < 3 ? 0 : check_groups(p, values);
    if (p->wild) return check_wild(p, values);
    int64_t *sum = calloc(p->keys, sizeof *sum);
    if (!sum || limit < 1) return 0;
    for (uint64_t i = 0; i < p->records; i++) {
        const pair one = pair_of(p, i);
        sum[one.key] += (int64_t)(one.value * 0x1p24f);
    }
    const hdst_view rows = hdst_result_field(p->result, NULL, NULL);
    bool right = rows.rows == p->keys;
    for (uint64_t k = 0; k < p->keys && right; k++) {
        float row;
        memcpy(&row, (const char *)rows.base + k * rows.stride, sizeof row);
        right = row == (float)sum[k] * 0x1p-24f;
    }
    free(sum);
    values[0] = right;
    return 1;
}

int main(int argc, char **argv)
{
    char path[4096];
    problem p = {.records = bench_option(argc, argv, "--records", 50000000), .keys = bench_option(argc, argv, "--keys", 1000000)};
    p.wild = !strcmp(side_option(argc, argv, "--values", "even"), "wild");
    p.zipf = atof(side_option(argc, argv, "--zipf", "0"));
    for (int i = 1; i < argc; i++) {
        p.map |= !strcmp(argv[i], "--map");
        p.wide |= !strcmp(argv[i], "--wide");
        p.hashed |= p.map || p.wide || !strcmp(argv[i], "--hashed");
    }
    hdst_context *ctx = side_context(argc, argv);
    snprintf(path, sizeof path, "%s/by_key.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS));
    hdst_source *in = hdst_source_from_callback(ctx, p.records, p.wide ? fill_wide : p.map ? fill_orders : fill_pairs, &p);
    hdst_module *hk = hdst_module_load(ctx, path, NULL, 0);
    hdst_dataset *data = hdst_cache(hdst_with_layout(hdst_read(in, hk, p.wide ? "wide" : p.map ? "order" : "pair"), side_layout(argc, argv)));
    hdst_dataset *pairs = p.map ? hdst_map_function(data, hk, "sale") : data;
    p.result = hdst_result_create(p.hashed ? hdst_reduce_by_key(pairs, hk, "add") : hdst_reduce_dense(pairs, hk, "add", p.keys));
    const bench_case cases[] = {{"step", run, check, &p}};
    int status = bench_serve(cases, 1, p.records);
    side_explain(argc, argv, p.result);
    hdst_context_destroy(ctx);
    return status;
}
