// SPDX-License-Identifier: Apache-2.0
// NaNs through maps, filters, sorts, keys, accumulators, reduces and groups.
#define _GNU_SOURCE
#include "bench/nan_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct pair { uint32_t key, most, n; } pair;
typedef struct keyed { uint64_t key, least; uint32_t most, total, n, none; } keyed;
typedef struct counted { uint64_t key, n; } counted;
typedef struct sums { uint64_t sum, least; uint32_t most, total; } sums;
typedef struct state { uint64_t u; uint32_t x, n; } state;
typedef struct numbered { uint64_t i; record r; } numbered;
enum { WIDE = 64, WIDE_RECORDS = 300 };
typedef struct wide { uint32_t v[WIDE]; uint64_t w[16]; } wide;

static const char operators_text[] = NAN_RECORD_TEXT
    "struct numbered { uint64_t i; float x, y; double u, v; uint32_t n, part; };\n"
    "struct pair { float key; float most; uint32_t n; };\n"
    "struct most { float most; uint32_t n; };\n"
    "struct single { double key; };\n"
    "struct counted { double key; uint64_t n; };\n"
    "struct parts { double least; float most; float total; uint32_t n, none; };\n"
    "struct sums { double sum; double least; float most; float total; };\n"
    "struct state { double u; float x; uint32_t n; };\n"
    "struct two { double u; float x; uint32_t part; };\n"
    "struct wide { float v[64]; double w[16]; };\n"
    "map product(rec p) -> rec { rec q = p; q.x = p.x * p.y; q.u = p.u - p.v; q.v = -p.v; return q; }\n"
    "filter some(rec p) { return p.n % 3u != 1u; }\n"
    "map part_of(rec p) -> uint32_t { return p.part; }\n"
    "flat_map twice(rec p) -> rec { if (p.part == 0) return; emit(p); if (p.x != p.y) { rec q = p; q.x = p.y / p.x; emit(q); } }\n"
    "associative reduce later(rec a, rec b) { return b; }\n"
    "reduce last(rec a, rec b) { return b; }\n"
    "reduce most(most a, most b) { return (most){ .most = max(a.most, b.most), .n = a.n + b.n }; }\n"
    "reduce first(most a, most b) { return a; }\n"
    "map to_pair(rec p) -> pair { return (pair){ .key = p.x, .most = p.y, .n = 1 }; }\n"
    "map to_parts(rec p) -> (key double key, double least, float most, float total, uint32_t n, uint32_t none)\n"
    "{ return (p.u * p.v, p.v, -p.x, p.x, 1, 0); }\n"
    "reduce add(parts a, parts b)\n"
    "{ return (parts){ .least = min(a.least, b.least), .most = max(a.most, b.most), .total = a.total + b.total, .n = a.n + b.n, .none = a.none + b.none }; }\n"
    "map to_single(rec p) -> single { return (single){ .key = p.u }; }\n"
    "map to_two(rec p) -> two { return (two){ .u = p.u, .x = p.x / p.y, .part = p.part }; }\n"
    "map gather(rec p, accum sums t[], accum sums all)\n"
    "{ t[p.n].sum += p.u; acc_min(t[p.n].least, -p.v); acc_max(t[p.n].most, p.x * p.y); t[p.n].total += p.y;\n"
    "  all.sum += p.u; acc_min(all.least, -p.v); acc_max(all.most, p.x); all.total += p.y; }\n"
    "map send(rec p) -> (key uint32_t part, uint32_t n, double u, float x, uint32_t m) { return (p.part, 0, p.u, p.x, p.n); }\n"
    "struct kept { uint32_t n; double u; float x; uint32_t m; };\n"
    "reduce pick(kept a, kept b) identity { .x = -NAN, .u = NAN } { return b; }\n"
    "group keeps(key uint32_t part, stream rec e) -> state\n"
    "{ state s; for (rec r : e) { s.u = r.u; s.x = r.x; } s.n = part; return s; }\n"
    "map turn(wide a) -> wide\n"
    "{ wide b = a; for (uint32_t i = 0; i < 64; i += 2) b.v[i] = -a.v[i]; for (uint32_t i = 0; i < 16; i++) b.w[i] = a.w[i] * a.w[15 - i]; return b; }\n";

static float x_of(const record *r) { return of_bits_float(r->x); }
static float y_of(const record *r) { return of_bits_float(r->y); }
static double u_of(const record *r) { return of_bits_double(r->u); }
static double v_of(const record *r) { return of_bits_double(r->v); }

static record canonical(const record *r)
{
    return (record){bits_float(x_of(r)), bits_float(y_of(r)), bits_double(u_of(r)), bits_double(v_of(r)), r->n, r->part};
}

static record right_product(const record *r)
{
    return (record){bits_float(x_of(r) * y_of(r)), bits_float(y_of(r)), bits_double(u_of(r) - v_of(r)), bits_double(-v_of(r)), r->n, r->part};
}

static size_t ordered_bytes;
static int by_bytes(const void *a, const void *b) { return memcmp(a, b, ordered_bytes); }

static void put_in_order(void *rows, size_t count, size_t bytes)
{
    ordered_bytes = bytes;
    if (rows) qsort(rows, count, bytes, by_bytes);
}

// What `d` gives must be `right`; any_order: the same records.
static void expect(job *j, const char *name, hdst_dataset *d, void *right, size_t count, size_t bytes, bool any_order)
{
    uint64_t got_count;
    void *got = nan_collect(j, name, d, bytes, &got_count);
    if (!got) return;
    if (any_order) {
        put_in_order(got, got_count, bytes);
        put_in_order(right, count, bytes);
    }
    nan_tell_records(j->look, name, got, got_count, right, count, bytes);
    free(got);
}

#define EXPECT(name, dataset, right, count) expect(j, name, dataset, right, count, sizeof *(right), false)
#define EXPECT_SET(name, dataset, right, count) expect(j, name, dataset, right, count, sizeof *(right), true)

static hdst_dataset *product_of(job *j, hdst_dataset *d) { return hdst_map_function(d, j->module, "product"); }
static hdst_dataset *some_of(job *j, hdst_dataset *d) { return hdst_filter_function(d, j->module, "some"); }

// What a file holds of the records that a map gives.
static void file_of(job *j, const record *right)
{
    char path[] = "/tmp/nan-cases-XXXXXX.raw";
    static record got[RECORDS + 1];
    hdst_error error = HDST_ERROR_INIT;
    const int file = mkstemps(path, 4);
    if (file < 0 || j->failed) return;
    if (hdst_save(product_of(j, j->raw), path, &error) != HDST_OK) nan_fail(j, "save", &error);
    FILE *in = fopen(path, "rb");
    const size_t count = in ? fread(got, sizeof *got, RECORDS + 1, in) : 0;
    if (in) fclose(in);
    close(file);
    unlink(path);
    if (!j->failed) nan_tell_records(j->look, "map, file", got, count, right, RECORDS, sizeof *got);
}

static void maps_and_filters(job *j)
{
    static record right[2 * RECORDS];
    size_t n = 0;
    for (size_t i = 0; i < RECORDS; i++) right[i] = right_product(&j->records[i]);
    EXPECT("map", product_of(j, j->raw), right, RECORDS);
    file_of(j, right);
    EXPECT("map of arrays", product_of(j, hdst_cache(hdst_with_layout(j->raw, HDST_SOA))), right, RECORDS);
    for (size_t i = 0; i < RECORDS; i++)
        if (i % 3 != 1) right[n++] = j->records[i];
    EXPECT("filter", some_of(j, j->raw), right, n);
    for (size_t i = 0; i < n; i++) right[i] = right_product(&right[i]);
    EXPECT("map, filter", some_of(j, product_of(j, j->raw)), right, n);
    EXPECT("filter, map", product_of(j, some_of(j, j->raw)), right, n);
    n = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        const record *r = &j->records[i];
        if (!r->part) continue;
        right[n++] = canonical(r);
        if (!(x_of(r) != y_of(r))) continue;
        right[n] = canonical(r);
        right[n++].x = bits_float(y_of(r) / x_of(r));
    }
    EXPECT("flat_map", hdst_flat_map_function(j->raw, j->module, "twice"), right, n);
}

static void what_goes_through(job *j)
{
    static record right[RECORDS + 100];
    static numbered counted_up[RECORDS], mapped[RECORDS];
    for (size_t i = 0; i < RECORDS; i++) {
        right[i] = j->records[i];
        counted_up[i] = (numbered){i, j->records[i]};
        mapped[i] = (numbered){i, right_product(&j->records[i])};
    }
    memcpy(right + RECORDS, j->records + 50, 100 * sizeof *right);
    EXPECT("cache", hdst_cache(j->raw), right, RECORDS);
    EXPECT("layout", hdst_cache(hdst_with_layout(j->raw, HDST_AOSOA)), right, RECORDS);
    EXPECT("sample", hdst_sample(j->raw, 1.0, 7), right, RECORDS);
    EXPECT("union, slice", hdst_union(j->raw, hdst_slice(j->raw, 50, 100)), right, RECORDS + 100);
    size_t n = 0;
    for (uint32_t part = 0; part < PARTS; part++)
        for (size_t i = 0; i < RECORDS; i++)
            if (j->records[i].part == part) right[n++] = j->records[i];
    EXPECT("partition", hdst_partition(j->raw, j->module, "part_of", PARTS), right, RECORDS);
    EXPECT("zip_with_index", hdst_zip_with_index(j->raw, j->module, "numbered"), counted_up, RECORDS);
    EXPECT("map, zip_with_index", hdst_zip_with_index(product_of(j, j->raw), j->module, "numbered"), mapped, RECORDS);
}

// Where a number stands in the total order of IEEE 754.
static uint64_t rank(uint64_t bits, unsigned width)
{
    const uint64_t sign = UINT64_C(1) << (width - 1);
    return bits & sign ? (sign << 1) - 1 - bits : bits | sign;
}

static int by_x_down_then_u(const void *a, const void *b)
{
    const record *p = a, *q = b;
    if (p->x != q->x) return rank(p->x, 32) > rank(q->x, 32) ? -1 : 1;
    if (p->u != q->u) return rank(p->u, 64) < rank(q->u, 64) ? -1 : 1;
    return p->n < q->n ? -1 : 1;
}

// Numbers descending, NaNs last, equal ones as they came.
static int by_value_down(const void *a, const void *b)
{
    const record *p = a, *q = b;
    const float x = x_of(p), y = x_of(q);
    if (isnan(x) || isnan(y) ? isnan(x) != isnan(y) : x != y) return isnan(y) || x > y ? -1 : 1;
    return p->n < q->n ? -1 : 1;
}

static void orders(job *j)
{
    static record right[RECORDS];
    memcpy(right, j->records, sizeof right);
    qsort(right, RECORDS, sizeof *right, by_value_down);
    EXPECT("top", hdst_top(j->raw, RECORDS, "x"), right, RECORDS);
    qsort(right, RECORDS, sizeof *right, by_x_down_then_u);
    EXPECT("sort", hdst_sort(j->raw, "x desc, u"), right, RECORDS);
    for (size_t i = 0; i < RECORDS; i++) right[i] = right_product(&j->records[i]);
    qsort(right, RECORDS, sizeof *right, by_x_down_then_u);
    EXPECT("map, sort", hdst_sort(product_of(j, j->raw), "x desc, u"), right, RECORDS);
}

static void add_keyed(keyed *rows, size_t *count, const record *r)
{
    const uint64_t key = bits_double(u_of(r) * v_of(r));
    size_t at = 0;
    while (at < *count && rows[at].key != key) at++;
    keyed *to = &rows[at];
    if (at == *count) *to = (keyed){.key = key, .least = bits_double(INFINITY), .most = bits_float(-INFINITY)}, ++*count;
    to->least = bits_double(LESSER(of_bits_double(to->least), v_of(r)));
    to->most = bits_float(GREATER(of_bits_float(to->most), -x_of(r)));
    to->n++;
}

static int by_key(const void *a, const void *b)
{
    const keyed *p = a, *q = b;
    return p->key < q->key ? -1 : p->key > q->key;
}

// The sums are looked at only where the first record of a key says what they are: NaN.
static void keys_of_a_map(job *j)
{
    static keyed right[RECORDS];
    static bool none[RECORDS];
    size_t n = 0;
    for (size_t i = 0; i < RECORDS; i++) add_keyed(right, &n, &j->records[i]);
    qsort(right, n, sizeof *right, by_key);
    for (size_t i = 0; i < RECORDS; i++) {
        const uint64_t key = bits_double(u_of(&j->records[i]) * v_of(&j->records[i]));
        for (size_t k = 0; k < n; k++) none[k] |= right[k].key == key && isnan(x_of(&j->records[i]));
    }
    uint64_t count;
    keyed *got =
        nan_collect(j, "map, reduce_by_key", hdst_reduce_by_key(hdst_map_function(j->raw, j->module, "to_parts"), j->module, "add"), sizeof *got, &count);
    if (!got) return;
    qsort(got, count, sizeof *got, by_key);
    for (size_t k = 0; k < n; k++) right[k].total = none[k] || k >= count ? one_nan_float : got[k].total;
    nan_tell_records(j->look, "map, reduce_by_key", got, count, right, n, sizeof *got);
    free(got);
}

// Keys that nobody computed are what they are: each NaN is one of its own.
static void keys_as_they_came(job *j)
{
    static pair pairs[RECORDS], right[RECORDS];
    static counted of_key[RECORDS];
    static uint64_t keys[NUMBERS];
    for (size_t i = 0; i < RECORDS; i++) pairs[i] = (pair){j->records[i].x, j->records[i].y, 1};
    for (size_t k = 0; k < NUMBERS; k++) {
        right[k] = (pair){numbers_float[k], one_nan_float, NUMBERS};
        of_key[k] = (counted){numbers_double[k], NUMBERS};
        keys[k] = numbers_double[k];
    }
    hdst_source *source = hdst_source_from_memory(j->context, pairs, RECORDS, sizeof *pairs);
    static uint64_t singles[RECORDS];
    for (size_t i = 0; i < RECORDS; i++) singles[i] = j->records[i].u;
    hdst_source *single = hdst_source_from_memory(j->context, singles, RECORDS, sizeof *singles);
    hdst_dataset *raw = hdst_read(source, j->module, "pair"), *alone = hdst_read(single, j->module, "single");
    hdst_source_destroy(source);
    hdst_source_destroy(single);
    EXPECT_SET("reduce_by_key", hdst_reduce_by_key(hdst_cache(raw), j->module, "most"), right, NUMBERS);
    for (size_t k = 0; k < NUMBERS; k++) right[k].n = 1;
    EXPECT_SET("reduce_by_key in order", hdst_reduce_by_key(raw, j->module, "first"), right, NUMBERS);
    EXPECT_SET("count_by_key", hdst_count_by_key(alone, j->module, "counted"), of_key, NUMBERS);
    EXPECT_SET("distinct", hdst_distinct(alone), keys, NUMBERS);
    size_t n = 0;
    for (size_t k = 0; k < NUMBERS; k++) {      // a map makes the NaNs one
        const uint64_t bits = one_double(numbers_double[k]);
        if (bits == numbers_double[k]) keys[n++] = bits;
    }
    EXPECT_SET("map, distinct", hdst_distinct(hdst_map_function(j->raw, j->module, "to_single")), keys, n);
    memset(right, 0, sizeof right);
    for (size_t k = n = 0; k < NUMBERS; k++) {
        const uint32_t bits = one_float(numbers_float[k]);
        if (bits != numbers_float[k]) right[0].n += NUMBERS;
        else right[++n] = (pair){bits, one_nan_float, NUMBERS};
    }
    for (size_t k = 1; k <= n; k++)
        if (right[k].key == one_nan_float) right[k].n += right[0].n;
    EXPECT_SET("map of a copy, reduce_by_key", hdst_reduce_by_key(hdst_map_function(j->raw, j->module, "to_pair"), j->module, "most"), right + 1, n);
}

static uint64_t sum_of_one_double(double v) { return v == 0 ? 0 : bits_double(v); }     // sums begin at +0
static uint32_t sum_of_one_float(float v) { return v == 0 ? 0 : bits_float(v); }

static void accumulators(job *j)
{
    static sums right[RECORDS];
    hdst_error error = HDST_ERROR_INIT;
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "gather");
    hdst_bind_accum(spec, "t", RECORDS);
    hdst_result *result = hdst_result_create(hdst_map(j->raw, spec));
    uint64_t rows;
    if (hdst_run(result, &error) != HDST_OK) nan_fail(j, "accumulators", &error);
    for (size_t i = 0; i < RECORDS; i++) {
        const record *r = &j->records[i];
        right[i] = (sums){sum_of_one_double(u_of(r)), bits_double(-v_of(r)), bits_float(x_of(r) * y_of(r)), sum_of_one_float(y_of(r))};
    }
    const void *got = j->failed ? NULL : hdst_result_rows(result, "t", &rows);
    if (got) nan_tell_records(j->look, "accumulators by row", got, rows, right, RECORDS, sizeof *right);
    got = j->failed ? NULL : hdst_result_rows(result, "all", &rows);
    const sums none = {one_nan_double, one_nan_double, one_nan_float, one_nan_float};
    if (got) nan_tell_records(j->look, "accumulators of all", got, rows, &none, 1, sizeof none);
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
}

static void reduces(job *j)
{
    enum { FIRST = 61 };
    record right = canonical(&j->records[FIRST - 1]);       // x and u are NaNs with payloads
    hdst_dataset *some = hdst_slice(j->raw, 0, FIRST), *one = hdst_slice(j->raw, FIRST - 1, 1);
    EXPECT("associative reduce", hdst_reduce(some, j->module, "later"), &right, 1);
    EXPECT("associative reduce of one", hdst_reduce(one, j->module, "later"), &right, 1);
    EXPECT("reduce in order", hdst_reduce(some, j->module, "last"), &right, 1);
    EXPECT("reduce in order of one", hdst_reduce(one, j->module, "last"), &right, 1);
    typedef struct kept { uint64_t n, u; uint32_t x, m; } kept;
    static kept kept_of[PARTS + 1];
    static state of_part[PARTS];
    for (size_t i = 0; i < FIRST; i++) {        // the last ones are NaNs
        const record *r = &j->records[i];
        const record c = canonical(r);
        kept_of[r->part] = (kept){0, c.u, c.x, r->n};
        of_part[r->part] = (state){c.u, c.x, r->part};
    }
    kept_of[PARTS] = (kept){0, one_nan_double, one_nan_float, 0};
    EXPECT_SET("group", hdst_group_function(some, "part", j->module, "keeps"), of_part, PARTS);
    EXPECT("reduce_dense", hdst_reduce_dense(hdst_map_function(some, j->module, "send"), j->module, "pick", PARTS + 1), kept_of, PARTS + 1);
}

static void wide_records(job *j)
{
    static wide wides[WIDE_RECORDS], right[WIDE_RECORDS];
    for (size_t i = 0; i < WIDE_RECORDS; i++) {
        for (size_t e = 0; e < WIDE; e++) wides[i].v[e] = numbers_float[(i + 7 * e) % NUMBERS];
        for (size_t e = 0; e < 16; e++) wides[i].w[e] = numbers_double[(3 * i + 5 * e) % NUMBERS];
        for (size_t e = 0; e < WIDE; e++) right[i].v[e] = bits_float(e % 2 ? of_bits_float(wides[i].v[e]) : -of_bits_float(wides[i].v[e]));
        for (size_t e = 0; e < 16; e++) right[i].w[e] = bits_double(of_bits_double(wides[i].w[e]) * of_bits_double(wides[i].w[15 - e]));
    }
    hdst_source *source = hdst_source_from_memory(j->context, wides, WIDE_RECORDS, sizeof *wides);
    EXPECT("map of wide records", hdst_map_function(hdst_read(source, j->module, "wide"), j->module, "turn"), right, WIDE_RECORDS);
    hdst_source_destroy(source);
}

bool nan_cases_operators(hdst_context *context, const nan_look *look)
{
    static record records[RECORDS];
    nan_make_records(records);
    job j;
    nan_open_job(&j, context, look, operators_text, records);
    static void (*const cases[])(job *) = {maps_and_filters, what_goes_through, orders, keys_of_a_map, keys_as_they_came, accumulators, reduces, wide_records};
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !j.failed; i++) cases[i](&j);
    return nan_close_job(&j);
}
