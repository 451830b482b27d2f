// SPDX-License-Identifier: Apache-2.0
// A plain program: every operator by itself at the memory budgets named (MiB), over inputs that exceed them (budget.h
// tells what is looked at); answers are compared with arithmetic on the generator. Use: budget_matrix [--rss] DEVICE
// FACTOR MIB...; FACTOR: bytes of input for each byte of the budget, 0.85 or 4. The variable BUDGET_MATRIX_ONLY is a
// part of the names of the jobs to run; with BUDGET_MATRIX_UNCOUNTED the callback does not say how many records it has.
#include "tests/hdst/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct item { uint64_t key; uint32_t v, at; } item;
typedef struct pair { uint64_t key; uint64_t n; double s; } pair;

static const char kernels[] =
    "struct item { uint64_t key; uint32_t v; uint32_t at; };\n"
    "struct counted { uint64_t key; uint64_t same; uint64_t n; };\n"
    "struct sums { uint64_t n; double s; };\n"
    "map all(item i, accum sums total, accum uint64_t seen[]) { total.n += 1; total.s += i.v; seen[i.v % 1024u] += 1; }\n"
    "struct center { float x; float y; };\n"
    "map assign(item i, broadcast center c[], accum sums near[])\n"
    "{\n"
    "    float x = (float)(i.v % 1024u); float y = (float)(i.at % 1024u); float least = 1e30f; uint32_t best = 0u;\n"
    "    for (uint32_t k = 0u; k < len(c); k++) {\n"
    "        float d = (x - c[k].x) * (x - c[k].x) + (y - c[k].y) * (y - c[k].y);\n"
    "        if (d < least) { least = d; best = k; }\n"
    "    }\n"
    "    near[best].n += 1; near[best].s += least;\n"
    "}\n"
    "map pairs(item i) -> (key uint64_t key, uint64_t n, double s) { return (i.key, 1, (double)i.v); }\n"
    "map keys(item i) -> (key uint64_t key, key uint64_t same) { return (i.key, i.key); }\n"
    "map few_rows(item i) -> (key uint32_t row, uint64_t n, double s) { return (i.v % 1024u, 1, (double)i.v); }\n"
    "map many_rows(item i) -> (key uint32_t row, uint64_t n, double s) { return (i.at / 8u, 1, (double)i.v); }\n"
    "map own_rows(item i) -> (key uint32_t row, uint64_t n, double s) { return (i.at, 1, (double)i.v); }\n"
    "map doubled(item i) -> item { return (item){ .key = i.key, .v = i.v, .at = i.at * 2u }; }\n"
    "map looked_up(item i, broadcast uint32_t t[], accum uint64_t sum) { sum += t[i.at % len(t)]; }\n"
    "map part(item i) -> uint32_t { return i.v % 16u; }\n"
    "filter most(item i) { return i.at % 8u != 3u; }\n"
    "filter some(item i) { return i.at % 8u == 3u; }\n"
    "flat_map twice(item i) -> item { emit(i); emit(i); }\n"
    "reduce add(sums a, sums b) { return (sums){ .n = a.n + b.n, .s = a.s + b.s }; }\n"
    "group last(key uint64_t key, stream item i) -> item { uint32_t v = 0u; uint32_t at = 0u; for (item e : i) { v = e.v; at = e.at; } "
    "return (item){ .key = key, .v = v, .at = at }; }\n";

// --- What goes in ---

enum { FEW = 10007, FEW_ROWS = 1024 };
static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    uint64_t records, keys;         // record i has the key (i % keys) * odd
    hdst_error error;
    char wrong[300];                // "": the answer was right
} job;

static uint32_t value_at(uint64_t i) { return (uint32_t)(i * 2654435761u) >> 12; }

static item item_at(const job *j, uint64_t i) { return (item){i % j->keys * odd, value_at(i), (uint32_t)i}; }

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = item_at(user, first + i);
    return true;
}

static bool fill_uncounted(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    const uint64_t all = ((const job *)user)->records, left = first < all ? all - first : 0;
    *given = count < left ? count : left;
    *ended = *given == left;
    return fill(first, *given, records, message, user);
}

static uint64_t inverse(uint64_t n)
{
    uint64_t x = n;
    for (int i = 0; i < 6; i++) x *= 2 - n * x;
    return x;
}

static uint64_t rank_of(uint64_t key) { return key * inverse(odd); }

static hdst_dataset *items(job *j, uint64_t keys)
{
    j->keys = keys;
    hdst_source *source = getenv("BUDGET_MATRIX_UNCOUNTED") ? hdst_source_from_uncounted_callback(j->context, fill_uncounted, true, j)
                                                            : hdst_source_from_callback(j->context, j->records, fill, j);
    hdst_dataset *data = hdst_read(source, j->module, "item");
    hdst_source_destroy(source);
    return data;
}

// Of the records r, r + step, r + 2 step ...
static uint64_t count_from(const job *j, uint64_t r, uint64_t step) { return r < j->records ? (j->records - 1 - r) / step + 1 : 0; }

static double sum_from(const job *j, uint64_t r, uint64_t step)
{
    double sum = 0;
    for (uint64_t i = r; i < j->records; i += step) sum += value_at(i);
    return sum;
}

#define WRONG(...) do { if (!j->wrong[0]) snprintf(j->wrong, sizeof j->wrong, __VA_ARGS__); return HDST_OK; } while (0)
#define EXPECT(condition) do { if (!(condition)) WRONG("line %d: %s", __LINE__, #condition); } while (0)

static hdst_result *run(job *j, hdst_dataset *dataset, hdst_status *status)
{
    hdst_result *result = hdst_result_create(dataset);
    *status = hdst_run(result, &j->error);
    return result;
}

// --- Jobs ---

static hdst_status accumulators(job *j)
{
    hdst_status status;
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "all");
    hdst_bind_accum(spec, "seen", FEW_ROWS);
    hdst_result *r = run(j, hdst_map(items(j, FEW), spec), &status);
    if (status != HDST_OK) return status;
    uint64_t seen[FEW_ROWS] = {0};
    for (uint64_t i = 0; i < j->records; i++) seen[value_at(i) % FEW_ROWS]++;
    EXPECT(hdst_view_int64(hdst_result_field(r, "total", "n"), 0, 0) == (int64_t)j->records);
    EXPECT(hdst_view_double(hdst_result_field(r, "total", "s"), 0, 0) == sum_from(j, 0, 1));
    for (uint64_t k = 0; k < FEW_ROWS; k++) EXPECT(hdst_view_int64(hdst_result_field(r, "seen", NULL), k, 0) == (int64_t)seen[k]);
    return HDST_OK;
}

// A step of KMeans over whole numbers, whose squares are exact.
enum { CENTERS = 8 };
typedef struct center { float x, y; } center;
typedef struct near { uint64_t n; double s; } near;

static void assign(const center *c, uint64_t i, near *rows)
{
    const float x = (float)(value_at(i) % 1024), y = (float)((uint32_t)i % 1024);
    float least = 1e30f;
    int best = 0;
    for (int k = 0; k < CENTERS; k++) {
        const float d = (x - c[k].x) * (x - c[k].x) + (y - c[k].y) * (y - c[k].y);
        if (d < least) least = d, best = k;
    }
    rows[best].n++;
    rows[best].s += (double)least;
}

static hdst_status kmeans(job *j)
{
    hdst_status status;
    center centers[CENTERS];
    near expected[CENTERS] = {{0}};
    for (int k = 0; k < CENTERS; k++) centers[k] = (center){(float)(k * 397 % 1024), (float)(k * 211 % 1024)};
    for (uint64_t i = 0; i < j->records; i++) assign(centers, i, expected);
    hdst_value *c = hdst_value_create(j->module, "center", CENTERS);
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "assign");
    hdst_value_set(c, centers, CENTERS);
    hdst_bind_value(spec, "c", c);
    hdst_bind_accum(spec, "near", CENTERS);
    hdst_result *r = run(j, hdst_map(items(j, FEW), spec), &status);
    if (status != HDST_OK) return status;
    const near *got = hdst_result_rows(r, "near", NULL);
    for (int k = 0; k < CENTERS; k++) EXPECT(got && got[k].n == expected[k].n && got[k].s == expected[k].s);
    return HDST_OK;
}

// A record's row is its value's remainder, or (`of_row`) so many records after one another have one.
static hdst_status check_rows(job *j, hdst_dataset *dataset, uint64_t rows, uint64_t of_row)
{
    hdst_status status;
    uint64_t n, all = 0;
    hdst_result *r = run(j, dataset, &status);
    if (status != HDST_OK) return status;
    const struct { uint64_t n; double s; } *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == rows);
    double *sum = budget_own_memory(rows * sizeof *sum);
    for (uint64_t i = 0; i < j->records; i++) sum[of_row ? i / of_row : value_at(i) % rows] += value_at(i);
    for (uint64_t k = 0; k < n && all != UINT64_MAX; k++) all = got[k].s == sum[k] ? all + got[k].n : UINT64_MAX;
    free(sum);
    EXPECT(all == j->records);
    return HDST_OK;
}

static hdst_status dense_few(job *j)
{
    return check_rows(j, hdst_reduce_dense(hdst_map_function(items(j, FEW), j->module, "few_rows"), j->module, "add", FEW_ROWS), FEW_ROWS, 0);
}
static hdst_status dense_many(job *j)
{
    return check_rows(j, hdst_reduce_dense(hdst_map_function(items(j, FEW), j->module, "many_rows"), j->module, "add", j->records / 8), j->records / 8, 8);
}
// A table as large as the input, which is several times as large as the budget.
static hdst_status dense_all(job *j)
{
    return check_rows(j, hdst_reduce_dense(hdst_map_function(items(j, FEW), j->module, "own_rows"), j->module, "add", j->records), j->records, 1);
}

static hdst_status by_key(job *j, uint64_t keys)
{
    hdst_status status;
    uint64_t n, all = 0;
    hdst_result *r = run(j, hdst_reduce_by_key(hdst_map_function(items(j, keys), j->module, "pairs"), j->module, "add"), &status);
    if (status != HDST_OK) return status;
    const pair *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == (keys < j->records ? keys : j->records));
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t rank = rank_of(got[k].key);
        EXPECT(rank < n && got[k].n == count_from(j, rank, keys) && got[k].s == sum_from(j, rank, keys));
        all += got[k].n;
    }
    EXPECT(all == j->records);
    return HDST_OK;
}

static hdst_status by_key_few(job *j) { return by_key(j, FEW); }
static hdst_status by_key_many(job *j) { return by_key(j, j->records / 2 + 1); }
static hdst_status by_key_all(job *j) { return by_key(j, j->records); }

static hdst_status distinct_or_count(job *j, hdst_dataset *dataset, uint64_t keys, uint64_t words)
{
    hdst_status status;
    uint64_t n;
    hdst_result *r = run(j, dataset, &status);
    if (status != HDST_OK) return status;
    const uint64_t *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == keys);
    uint8_t *seen = budget_own_memory(keys);
    uint64_t good = 0;
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t rank = rank_of(got[k * words]);
        good += rank < keys && !seen[rank]++ && (words == 2 || got[k * words + 2] == count_from(j, rank, keys));
    }
    free(seen);
    EXPECT(good == n);
    return HDST_OK;
}

static hdst_status distinct(job *j)
{
    return distinct_or_count(j, hdst_distinct(hdst_map_function(items(j, j->records / 3), j->module, "keys")), j->records / 3, 2);
}
static hdst_status count_by_key(job *j)
{
    return distinct_or_count(j, hdst_count_by_key(hdst_map_function(items(j, j->records / 5), j->module, "keys"), j->module, "counted"), j->records / 5, 3);
}

static hdst_status count(job *j)
{
    uint64_t n;
    hdst_status status = hdst_count(hdst_filter_function(items(j, FEW), j->module, "some"), &n, &j->error);
    if (status == HDST_OK) EXPECT(n == count_from(j, 3, 8));
    return status;
}

static hdst_status sort(job *j)
{
    hdst_status status;
    uint64_t n, sum = 0, good = 1;
    hdst_result *r = run(j, hdst_sort(items(j, FEW), "v, at"), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == j->records);
    for (uint64_t i = 0; i < n; i++) {
        sum += got[i].at;
        good &= got[i].v == value_at(got[i].at) && (i == 0 || got[i - 1].v < got[i].v || (got[i - 1].v == got[i].v && got[i - 1].at < got[i].at));
    }
    EXPECT(good && sum == n * (n - 1) / 2);
    return HDST_OK;
}

static hdst_status save_sorted(job *j)
{
    const char *path = "budget_matrix.raw";
    hdst_status status = hdst_save(hdst_sort(items(j, FEW), "v"), path, &j->error);
    if (status != HDST_OK) return status;
    FILE *file = fopen(path, "rb");
    item it, before = {0};
    uint64_t n = 0, good = 1;
    while (file && fread(&it, sizeof it, 1, file) == 1) {
        good &= it.v == value_at(it.at) && (n == 0 || before.v < it.v || (before.v == it.v && before.at < it.at));
        before = it;
        n++;
    }
    if (file) fclose(file);
    remove(path);
    EXPECT(good && n == j->records);
    return HDST_OK;
}

static hdst_status group(job *j, hdst_dataset *dataset, uint64_t keys, uint32_t factor)
{
    hdst_status status;
    uint64_t n, good = 0;
    hdst_result *r = run(j, hdst_group_function(dataset, "key", j->module, "last"), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == keys);
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t rank = rank_of(got[k].key);
        if (rank >= keys) break;
        const uint64_t last = rank + (count_from(j, rank, keys) - 1) * keys;
        good += got[k].at == factor * (uint32_t)last && got[k].v == value_at(last);
    }
    EXPECT(good == n);
    return HDST_OK;
}

static hdst_status group_few(job *j) { return group(j, items(j, FEW), FEW, 1); }
static hdst_status group_many(job *j) { return group(j, items(j, j->records / 2), j->records / 2, 1); }
static hdst_status group_mapped(job *j) { return group(j, hdst_map_function(items(j, FEW), j->module, "doubled"), FEW, 2); }

static hdst_status partition(job *j)
{
    hdst_status status;
    uint64_t n, good = 1, sum = 0;
    hdst_result *r = run(j, hdst_partition(items(j, FEW), j->module, "part", 16), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == j->records);
    for (uint64_t i = 0; i < n; i++) {
        sum += got[i].at;
        if (i) good &= got[i - 1].v % 16 < got[i].v % 16 || (got[i - 1].v % 16 == got[i].v % 16 && got[i - 1].at < got[i].at);
    }
    EXPECT(good && sum == n * (n - 1) / 2);
    return HDST_OK;
}

static hdst_status pick(job *j)
{
    enum { WANTED = 1000 };
    hdst_status status;
    uint64_t n, larger = 0;
    hdst_result *r = run(j, hdst_top(items(j, FEW), WANTED, "v"), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == WANTED);
    for (uint64_t i = 1; i < n; i++) EXPECT(got[i - 1].v >= got[i].v && got[i].v == value_at(got[i].at));
    for (uint64_t i = 0; i < j->records; i++) larger += value_at(i) > got[n - 1].v;
    EXPECT(larger < WANTED);
    r = run(j, hdst_min_by(items(j, FEW), "v"), &status);
    if (status != HDST_OK) return status;
    const item *least = hdst_result_rows(r, NULL, &n);
    EXPECT(n == 1 && least->v == 0 && least->at == 0);
    return HDST_OK;
}

static hdst_status pick_many(job *j)
{
    hdst_status status;
    uint64_t n, larger = 0, good = 1;
    hdst_result *r = run(j, hdst_top(items(j, FEW), j->records / 2, "v"), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == j->records / 2);
    for (uint64_t i = 1; i < n; i++) good &= got[i - 1].v >= got[i].v && got[i].v == value_at(got[i].at);
    for (uint64_t i = 0; i < j->records; i++) larger += value_at(i) > got[n - 1].v;
    EXPECT(good && larger < n);
    return HDST_OK;
}

static hdst_status cached(job *j)
{
    hdst_status status = HDST_OK;
    hdst_dataset *data = hdst_cache(hdst_filter_function(items(j, FEW), j->module, "most"));
    for (int turn = 0; turn < 2 && status == HDST_OK; turn++) {
        uint64_t n;
        hdst_result *r = run(j, hdst_reduce_dense(hdst_map_function(data, j->module, "few_rows"), j->module, "add", FEW_ROWS), &status);
        if (status != HDST_OK) return status;
        const struct { uint64_t n; double s; } *got = hdst_result_rows(r, NULL, &n);
        double all = 0;
        for (uint64_t k = 0; k < n; k++) all += got[k].s;
        EXPECT(all == sum_from(j, 0, 1) - sum_from(j, 3, 8));
        hdst_result_destroy(r);
    }
    return status;
}

// Read in several runs, between which others want all the memory there is.
static hdst_status cached_in_part(job *j)
{
    hdst_status status;
    uint64_t n;
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "all");
    hdst_bind_accum(spec, "seen", FEW_ROWS);
    hdst_dataset *data = hdst_cache(items(j, FEW));
    hdst_result *r = hdst_result_create(hdst_map(data, spec));
    for (int turn = 0; turn < 4; turn++) {
        status = hdst_run(r, &j->error);
        if (status != HDST_OK) return status;
        EXPECT(hdst_view_int64(hdst_result_field(r, "total", "n"), 0, 0) == (int64_t)j->records);
        EXPECT(hdst_view_double(hdst_result_field(r, "total", "s"), 0, 0) == sum_from(j, 0, 1));
        hdst_result *other = turn % 2 ? run(j, hdst_slice(hdst_sort(data, "v"), 0, 1), &status)
            : run(j, hdst_reduce_by_key(hdst_map_function(data, j->module, "pairs"), j->module, "add"), &status);
        if (status != HDST_OK) return status;
        hdst_result_rows(other, NULL, &n);
        EXPECT(n == (turn % 2 ? 1 : j->records < FEW ? j->records : FEW));
        if (turn) hdst_result_destroy(other);
    }
    return HDST_OK;
}

static hdst_status united(job *j)
{
    hdst_status status;
    hdst_dataset *data = items(j, FEW), *filtered = hdst_filter_function(data, j->module, "most");
    uint64_t n;
    hdst_result *r = run(j, hdst_reduce_dense(hdst_map_function(hdst_union(hdst_slice(data, 0, j->records / 2), filtered), j->module, "few_rows"),
                                              j->module, "add", FEW_ROWS), &status);
    if (status != HDST_OK) return status;
    const struct { uint64_t n; double s; } *got = hdst_result_rows(r, NULL, &n);
    uint64_t records = 0;
    for (uint64_t k = 0; k < n; k++) records += got[k].n;
    EXPECT(records == j->records / 2 + j->records - count_from(j, 3, 8));
    return HDST_OK;
}

static hdst_status sliced(job *j)
{
    hdst_status status;
    uint64_t n, good = 1, most = j->records / 2;
    hdst_result *r = run(j, hdst_slice(hdst_filter_function(items(j, FEW), j->module, "most"), 1000, most), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == most);
    for (uint64_t i = 0; i < n; i++) good &= got[i].at == (i + 1000) / 7 * 8 + ((i + 1000) % 7 < 3 ? (i + 1000) % 7 : (i + 1000) % 7 + 1);
    EXPECT(good);
    return HDST_OK;
}

static hdst_status value(job *j, uint64_t rows)
{
    hdst_status status;
    hdst_value *t = hdst_value_create(j->module, "uint32_t", rows);
    if ((status = hdst_value_status(t, &j->error)) != HDST_OK) return status;
    uint32_t *numbers = budget_own_memory(rows * sizeof *numbers);
    uint64_t sum = 0;
    for (uint64_t k = 0; k < rows; k++) numbers[k] = (uint32_t)k;
    for (uint64_t i = 0; i < j->records; i++) sum += (uint32_t)i % rows;
    status = hdst_value_set(t, numbers, rows);
    free(numbers);
    if (status != HDST_OK) return hdst_value_status(t, &j->error);
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "looked_up");
    hdst_bind_value(spec, "t", t);
    hdst_result *r = run(j, hdst_map(items(j, FEW), spec), &status);
    if (status == HDST_OK) EXPECT(hdst_view_int64(hdst_result_field(r, "sum", NULL), 0, 0) == (int64_t)sum);
    return status;
}

static hdst_status small_value(job *j) { return value(j, 1000); }
static hdst_status large_value(job *j) { return value(j, j->records); }

static hdst_status filtered(job *j)
{
    hdst_status status;
    uint64_t n, good = 1;
    hdst_result *r = run(j, hdst_filter_function(items(j, FEW), j->module, "most"), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == j->records - count_from(j, 3, 8));
    for (uint64_t i = 0; i < n; i++) good &= got[i].at == i / 7 * 8 + (i % 7 < 3 ? i % 7 : i % 7 + 1) && got[i].v == value_at(got[i].at);
    EXPECT(good);
    return HDST_OK;
}

static hdst_status mapped(job *j)
{
    hdst_status status;
    uint64_t n, good = 1;
    hdst_result *r = run(j, hdst_map_function(items(j, FEW), j->module, "doubled"), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == j->records);
    for (uint64_t i = 0; i < n; i++) good &= got[i].at == 2 * i && got[i].v == value_at(i);
    EXPECT(good);
    return HDST_OK;
}

static hdst_status as_it_is(job *j)
{
    hdst_status status;
    uint64_t n, good = 1;
    hdst_result *r = run(j, items(j, FEW), &status);
    if (status != HDST_OK) return status;
    const item *got = hdst_result_rows(r, NULL, &n);
    EXPECT(n == j->records);
    for (uint64_t i = 0; i < n; i++) good &= got[i].at == i && got[i].v == value_at(i);
    EXPECT(good);
    return HDST_OK;
}

static hdst_status collect_one(job *j, hdst_dataset *dataset, uint32_t factor)
{
    void *rows;
    uint64_t n, good = 1;
    hdst_status status = hdst_collect(dataset, &rows, &n, &j->error);
    if (status != HDST_OK) return status;
    const item *got = rows;
    for (uint64_t i = 0; i < n; i++) good &= got[i].at == factor * i && got[i].v == value_at(i);
    if (n) ((item *)rows)[n - 1].at = 1;        // they are the caller's
    hdst_rows_destroy(j->context, rows);
    EXPECT(n == j->records && good);
    return HDST_OK;
}

static hdst_status collect(job *j) { return collect_one(j, items(j, FEW), 1); }
static hdst_status collect_mapped(job *j) { return collect_one(j, hdst_map_function(items(j, FEW), j->module, "doubled"), 2); }

// Saves, and reads back what was saved through the library.
static hdst_status through_file(job *j, hdst_dataset *dataset, const char *path, uint64_t expected)
{
    hdst_status status = hdst_save(dataset, path, &j->error);
    if (status != HDST_OK) return status;
    hdst_source *source = strstr(path, ".raw") ? hdst_source_open_raw(j->context, path) : hdst_source_open(j->context, path);
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "all");
    hdst_bind_accum(spec, "seen", FEW_ROWS);
    hdst_result *r = run(j, hdst_map(hdst_read(source, j->module, "item"), spec), &status);
    remove(path);
    if (status != HDST_OK) return status;
    EXPECT(hdst_view_int64(hdst_result_field(r, "total", "n"), 0, 0) == (int64_t)expected);
    const double all = sum_from(j, 0, 1);
    EXPECT(hdst_view_double(hdst_result_field(r, "total", "s"), 0, 0) == (expected > j->records ? 2 * all : all - sum_from(j, 3, 8)));
    return HDST_OK;
}

static hdst_status save_filter(job *j)
{
    return through_file(j, hdst_filter_function(items(j, FEW), j->module, "most"), "budget_matrix.npy", j->records - count_from(j, 3, 8));
}
static hdst_status save_flat_map(job *j)
{
    return through_file(j, hdst_flat_map_function(items(j, FEW), j->module, "twice"), "budget_matrix.raw", 2 * j->records);
}
static hdst_status save_csv(job *j)
{
    return through_file(j, hdst_filter_function(items(j, FEW), j->module, "most"), "budget_matrix.csv", j->records - count_from(j, 3, 8));
}

// Only jobs whose tables have to be in memory may end with the error for it, below so many MiB; what streams has to work at every budget.
enum { TABLES = 4 };
typedef struct entry { const char *name; hdst_status (*run)(job *); unsigned least; } entry;
static const entry jobs[] = {
    {"kmeans", kmeans}, {"accumulators", accumulators, TABLES}, {"dense, few rows", dense_few, TABLES}, {"dense, many rows", dense_many, TABLES},
    {"dense, a row for each", dense_all, TABLES},
    {"by key, few", by_key_few}, {"by key, many", by_key_many},
    {"by key, all different", by_key_all}, {"distinct", distinct}, {"count by key", count_by_key}, {"count", count}, {"sort", sort},
    {"sort, saved", save_sorted},
    {"group, few keys", group_few}, {"group, many keys", group_many}, {"group of a map", group_mapped}, {"partition", partition},
    {"top, min_by", pick, TABLES}, {"top, half", pick_many, BUDGET_IN_MEMORY}, {"cache", cached, TABLES},
    {"cache, in part", cached_in_part, TABLES},
    {"union, slice", united, TABLES}, {"slice of a filter", sliced}, {"value, small", small_value},
    {"value, large", large_value, BUDGET_IN_MEMORY}, {"filter", filtered}, {"map", mapped}, {"read", as_it_is},
    {"collect", collect}, {"collect of a map", collect_mapped}, {"save of a filter, npy", save_filter},
    {"save of a flat_map, raw", save_flat_map}, {"save and read, csv", save_csv},
};

static void run_entry(const budget_job *what, hdst_context *context, budget_cell *cell)
{
    const entry *e = what->what;
    job j = {.context = context, .records = what->bytes / sizeof(item), .error = HDST_ERROR_INIT};
    j.module = hdst_module_parse(context, "matrix.hk", kernels, NULL);
    if (hdst_module_status(j.module, NULL) != HDST_OK) {
        fprintf(stderr, "%s\n", hdst_module_diagnostics(j.module));
        exit(1);
    }
    cell->status = e->run(&j);
    cell->error = j.error;
    memcpy(cell->wrong, j.wrong, sizeof cell->wrong);
}

int main(int argc, char **argv)
{
    const bool rss = argc > 1 && !strcmp(argv[1], "--rss");
    argc -= rss, argv += rss;
    bool good = argc > 3;
    const char *only = getenv("BUDGET_MATRIX_ONLY");
    if (good && !budget_have(argv[1])) {
        fprintf(stderr, "no device '%s': skipped\n", argv[1]);
        return 77;
    }
    char folder[] = "/tmp/budget-matrix-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    for (int b = 3; b < argc; b++) {
        const uint64_t budget = strtoull(argv[b], NULL, 10) << 20, bytes = (uint64_t)((double)budget * strtod(argv[2], NULL));
        for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
            const bool tables_stay = !strcmp(argv[1], "gpu-form") && (jobs[i].run == dense_many || jobs[i].run == dense_all);
            const unsigned least = tables_stay ? BUDGET_IN_MEMORY : jobs[i].least;
            const budget_job what = {.name = jobs[i].name, .bytes = bytes, .least = least, .run = run_entry, .what = &jobs[i]};
            if (!only || strstr(jobs[i].name, only)) good &= budget_check(&what, argv[1], budget, rss);
        }
    }
    if (chdir("/") == 0) rmdir(folder);
    return !good;
}
