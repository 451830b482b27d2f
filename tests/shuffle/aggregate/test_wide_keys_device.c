// SPDX-License-Identifier: Apache-2.0
// Keys of more than 8 bytes on a GPU (kernels as a GPU gets them, on a CPU device): rows are those of records that are sorted here by the bytes of their keys
// and added up one by one, in the order in which the host's containers give them; keys that are made to share all 64 bits of what places are found by are left
// to these.
#include "tests/hdst/support.h"

#include "record/key_hash.h"

#include <math.h>
#include <stdlib.h>

enum { N = 30000, MOST_SPANS = 4, MOST_BYTES = 64 };

typedef struct values { double w; int64_t least; uint32_t n; } values;
#define VALUES "double w; int64_t least; uint32_t n;"
#define JOIN "struct values { " VALUES " };\n" \
    "reduce join(values a, values b) { return (values){ .w = a.w + b.w, .least = min(a.least, b.least), .n = a.n + b.n }; }\n"

typedef struct span { uint32_t at, bytes; } span;
typedef struct shape {
    const char *name, *text;
    uint32_t struct_bytes;          // of the key, as in C
    span span[MOST_SPANS];          // its elements: between them there is padding
    bool is_float;                  // the last one
} shape;

#define ROW(fields) "struct id { " fields " };\nstruct row { struct id key; " VALUES " };\n" JOIN
static const shape shapes[] = {
    {"two u64", ROW("uint64_t a; uint64_t b;"), 16, {{0, 8}, {8, 8}}, false},
    {"four u32", ROW("uint32_t a; uint32_t b; uint32_t c; uint32_t d;"), 16, {{0, 4}, {4, 4}, {8, 4}, {12, 4}}, false},
    {"u8[16]", ROW("uint8_t a[16];"), 16, {{0, 16}}, false},
    {"u8[9]", ROW("uint8_t a[9];"), 9, {{0, 9}}, false},
    {"u64 and f32", ROW("uint64_t a; float b;"), 16, {{0, 8}, {8, 4}}, true},
    {"padding", ROW("uint8_t a; uint16_t b; uint64_t c; uint8_t d;"), 24, {{0, 1}, {2, 2}, {8, 8}, {16, 1}}, false},
    {"three u64", ROW("uint64_t a[3];"), 24, {{0, 24}}, false},
    {"u8[32]", ROW("uint8_t a[32];"), 32, {{0, 32}}, false},
    {"u16, u8[2], u8, u32", ROW("uint16_t a; uint8_t b[2]; uint8_t c; uint32_t d[2];"), 16, {{0, 2}, {2, 2}, {4, 1}, {8, 8}}, false},
    {"a struct with padding", "struct in { uint16_t a; uint8_t b; };\n" ROW("struct in a; uint8_t b; uint8_t c[3]; uint64_t d;"), 16, {{0, 3}, {4, 4}, {8, 8}},
     false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static uint64_t values_at(const shape *s) { return (s->struct_bytes + 7) / 8 * 8; }
static uint64_t size_of(const shape *s) { return values_at(s) + sizeof(values); }

// --- Records ---

static uint64_t mixed(uint64_t x) { return hdst__key_mix64(x + 0x1234567); }

static void put_key(const shape *s, char *at, uint64_t id)
{
    static const uint32_t special[] = {0, 0x80000000u, 0x7fc00000u, 0x7f800001u, 0xffc12345u, 0x7f800000u, 0x3f800000u};
    char bytes[MOST_BYTES];
    for (uint32_t b = 0; b < sizeof bytes; b += 8) {
        uint64_t word = mixed(id * 8 + b / 8);
        if ((mixed(id) >> b / 4) % 4 == 0) word = id % 2 ? word << 32 : word >> 32;     // halves that are zero
        if (id % 5 == 1 && b < 8) word = 0;
        if (b == 8) word ^= id;
        memcpy(bytes + b, &word, 8);
    }
    for (uint32_t i = 0; i < MOST_SPANS; i++) memcpy(at + s->span[i].at, bytes + s->span[i].at, s->span[i].bytes);
    if (s->is_float) memcpy(at + s->span[1].at, &special[id % 7], 4);
}

static void put_values(const shape *s, char *at, uint64_t r)
{
    values v;
    memset(&v, 0, sizeof v);
    v.w = ldexp((double)(int64_t)(r >> 40) - (1 << 23), -10);
    v.least = (int64_t)(r << 7 ^ r >> 9);
    v.n = (uint32_t)r;
    memcpy(at + values_at(s), &v, sizeof v);
}

// `keys`: of how many, about; 0: each its own; one in `hot` has the first one.
static char *make_records(const shape *s, uint64_t count, uint64_t keys, uint64_t hot)
{
    char *all = malloc(count * size_of(s) + 1);
    for (uint64_t i = 0; i < count * size_of(s); i++) all[i] = (char)mixed(i);       // padding
    for (uint64_t i = 0; i < count; i++) {
        put_key(s, all + i * size_of(s), hot && i % hot ? 0 : keys ? mixed(i + 77) % keys : i);
        put_values(s, all + i * size_of(s), mixed(i * 3 + 1));
    }
    return all;
}

// --- By hand ---

static const shape *sorted_shape;

static int by_key(const void *a, const void *b)
{
    int order = 0;
    for (uint32_t i = 0; i < MOST_SPANS && !order; i++)
        order = memcmp((const char *)a + sorted_shape->span[i].at, (const char *)b + sorted_shape->span[i].at, sorted_shape->span[i].bytes);
    return order;
}

static uint64_t add_up(const shape *s, char *all, uint64_t count)
{
    const uint64_t size = size_of(s);
    uint64_t rows = 0;
    sorted_shape = s;
    qsort(all, count, size, by_key);
    for (uint64_t i = 0; i < count; i++) {
        values one, sum;
        if (!rows || by_key(all + (rows - 1) * size, all + i * size)) {
            memmove(all + rows++ * size, all + i * size, size);
            continue;
        }
        memcpy(&one, all + i * size + values_at(s), sizeof one);
        memcpy(&sum, all + (rows - 1) * size + values_at(s), sizeof sum);
        sum.w += one.w;         // multiples of 2^-10 below 2^40: exact
        sum.n += one.n;
        if (one.least < sum.least) sum.least = one.least;
        memcpy(all + (rows - 1) * size + values_at(s), &sum, sizeof sum);
    }
    return rows;
}

static void check_by_hand(const shape *s, const char *records, uint64_t count, const void *rows, uint64_t row_count, const char *what)
{
    const uint64_t size = size_of(s);
    char *expected = malloc(count * size + 1), *got = malloc(row_count * size + 1);
    memcpy(expected, records, count * size);
    memcpy(got, rows, row_count * size);
    const uint64_t keys = add_up(s, expected, count);
    sorted_shape = s;
    qsort(got, row_count, size, by_key);
    cr_assert_eq(row_count, keys, "%s, %s: %llu rows, not %llu", s->name, what, (unsigned long long)row_count, (unsigned long long)keys);
    for (uint64_t i = 0; i < keys; i++) {
        values a, b;
        memcpy(&a, expected + i * size + values_at(s), sizeof a);
        memcpy(&b, got + i * size + values_at(s), sizeof b);
        cr_assert(by_key(expected + i * size, got + i * size) == 0, "%s, %s: key %llu", s->name, what, (unsigned long long)i);
        cr_assert(a.w == b.w && a.least == b.least && a.n == b.n, "%s, %s: values of key %llu", s->name, what, (unsigned long long)i);
    }
    free(expected);
    free(got);
}

// --- Runs ---

typedef struct rows_of { void *bytes; uint64_t count; char how[4096]; } rows_of;
typedef struct form { const char *device; uint32_t table_bits, part_bits; hdst_layout layout; uint64_t local_bytes; } form;

static const form host = {"interp", 0, 0, HDST_AOS, 0};
static const form forms[] = {{"gpu-form", 0, 0, HDST_AOS, 0}, {"gpu-form", 0, 0, HDST_SOA, 0}, {"gpu-form", 7, 2, HDST_AOS, 0}};

static rows_of reduce(const form *f, const shape *s, const char *records, uint64_t count)
{
    hdst_context *context = context_in_form(f->device);
    context->engine->limits.by_key_device_least = 1;
    context->engine->options.local_bytes = f->local_bytes;
    context->engine->limits.by_key_table_bits = f->table_bits;
    context->engine->limits.by_key_partition_bits = f->part_bits;
    hdst_module *module = module_of(context, s->text);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, records, count, size_of(s)), module, "row");
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(hdst_cache(hdst_with_layout(data, f->layout)), module, "join"));
    rows_of all = {0};
    for (int run = 0; run < 2; run++) {
        RUN(result);
        const void *got = hdst_result_rows(result, NULL, &all.count);
        free(all.bytes);
        all.bytes = malloc(all.count * size_of(s) + 1);
        memcpy(all.bytes, got, all.count * size_of(s));
    }
    snprintf(all.how, sizeof all.how, "%s", hdst_explain(result, NULL));
    hdst_context_destroy(context);
    return all;
}

// told: in what explain says.
static void check(const shape *s, const char *records, uint64_t count, const form *f, const char *told, const char *what)
{
    rows_of expected = reduce(&host, s, records, count), got = reduce(f, s, records, count);
    cr_assert(strstr(got.how, told), "%s, %s: %s\n%s", s->name, what, told, got.how);
    check_by_hand(s, records, count, got.bytes, got.count, what);
    cr_assert_eq(got.count, expected.count);
    cr_assert(memcmp(got.bytes, expected.bytes, got.count * size_of(s)) == 0, "%s, %s: not as on the host", s->name, what);
    free(expected.bytes);
    free(got.bytes);
}

static void check_shapes(uint64_t count, uint64_t keys, uint64_t hot, const char *what)
{
    if (!have_cpu()) return;
    for (uint32_t i = 0; i < SHAPES; i++) {
        char *records = make_records(&shapes[i], count, keys, hot);
        check(&shapes[i], records, count, &forms[(i + keys) % 3], "device hash", what);
        free(records);
    }
}

Test(wide_keys_device, each_its_own) { check_shapes(N, 0, 0, "each its own"); }
Test(wide_keys_device, many) { check_shapes(N, 5003, 0, "many"); }
Test(wide_keys_device, few) { check_shapes(N + 17, 61, 0, "few"); }
Test(wide_keys_device, one) { check_shapes(N, 1, 0, "one"); }

// In as many parts as one round makes of them.
Test(wide_keys_device, in_a_thousand_parts)
{
    if (!have_cpu()) return;
    static const form many = {"gpu-form", 0, 10, HDST_SOA, 0};
    for (uint32_t i = 0; i < SHAPES; i++) {
        char *records = make_records(&shapes[i], N + 17, 20011, 0);
        check(&shapes[i], records, N + 17, &many, "1024 parts by hash in 1 round,", "in a thousand parts");
        free(records);
    }
}

Test(wide_keys_device, a_hot_one) { check_shapes(N, 9001, 3, "a hot one"); }
Test(wide_keys_device, one_record) { check_shapes(1, 1, 0, "one record"); }

// Addends that do not fit the words of their row, NaNs and infinities among them: bit for bit as on the host.
Test(wide_keys_device, sums_far_apart)
{
    if (!have_cpu()) return;
    static const double special[] = {-0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, 0x1.fffffffffffffp1023, 1e300};
    for (uint32_t i = 0; i < SHAPES; i += 2) {
        const shape *s = &shapes[i];
        char *records = make_records(s, N, i % 4 ? 40 : 4001, 0);
        for (uint64_t r = 0; r < N; r += 97) {
            const double v = r % 5 ? ldexp((double)(int64_t)mixed(r), (int)(mixed(r + 1) % 600) - 400) : special[r % 7];
            memcpy(records + r * size_of(s) + values_at(s), &v, sizeof v);
        }
        rows_of expected = reduce(&host, s, records, N), got = reduce(&forms[i / 2 % 3], s, records, N);
        cr_assert(strstr(got.how, "device hash"), "%s", got.how);
        cr_assert_eq(got.count, expected.count);
        cr_assert(memcmp(got.bytes, expected.bytes, got.count * size_of(s)) == 0, "%s: not as on the host", s->name);
        free(expected.bytes);
        free(got.bytes);
        free(records);
    }
}

// --- Keys that are made to share bits of the hash ---

static uint64_t unmix(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

// The second word with which a first one comes to this.
static uint64_t second_of(uint64_t target, uint64_t first) { return (unmix(target) - HDST__KEY_STEP) ^ hdst__key_mix64(first + HDST__KEY_STEP); }

// The pairs have 32 bits in common, one in two all 64.
static char *make_pairs(bool all_bits, uint64_t keys)
{
    const shape *s = &shapes[0];
    char *all = make_records(s, N, 0, 0);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t id = mixed(i) % keys, hash = mixed(id / 3) >> 32 << 32;
        const uint64_t word[2] = {id % 3 == 2 && !all_bits ? 1 : id % 3 ? mixed(id) : mixed(id + 1), 0};
        memcpy(all + i * size_of(s), word, 8);
        const uint64_t second = second_of(hash | (all_bits ? 5 : id % 3 * 1000003), word[0]);
        memcpy(all + i * size_of(s) + 8, &second, 8);
        cr_assert_eq(hdst__key_hash((const uint64_t[]){word[0], second}, 16), hash >> 32);
    }
    return all;
}

Test(wide_keys_device, of_one_hash_are_in_order)
{
    if (!have_cpu()) return;
    for (uint32_t f = 0; f < 3; f++) {
        char *records = make_pairs(false, f ? 6000 : 60);
        check(&shapes[0], records, N, &forms[f], "device hash", "one hash");
        free(records);
    }
}

Test(wide_keys_device, of_the_same_64_bits_are_the_hosts)
{
    if (!have_cpu()) return;
    for (uint32_t f = 0; f < 3; f++) {
        char *records = make_pairs(true, f ? 6000 : 60);        // heavy ones, too
        check(&shapes[0], records, N, &forms[f], "one hash of 64 bits in common", "64 bits");
        free(records);
    }
}

// A half of a word that is zero looks like a cell to which nobody came yet.
Test(wide_keys_device, of_the_same_64_bits_differ_in_a_zero)
{
    if (!have_cpu()) return;
    const shape *s = &shapes[0];
    for (int first = 0; first < 2; first++) {
        char *records = make_records(s, N, 0, 0);
        const uint64_t twin[2] = {UINT64_C(7) << 32, UINT64_C(7) << 32 | 9};
        for (uint64_t i = first ? 0 : N - 2, end = i + 2; i < end; i++) {
            const uint64_t second = second_of(UINT64_C(0x123456789abcdef0), twin[i % 2]);
            memcpy(records + i * size_of(s), &twin[i % 2], 8);
            memcpy(records + i * size_of(s) + 8, &second, 8);
        }
        check(s, records, N, &forms[0], "one hash of 64 bits in common", "a zero");
        free(records);
    }
}

// --- On two devices, which leave rows unfinished ---

Test(wide_keys_device, on_two_devices)
{
    if (!have_cpu() || !have_team()) return;
    for (uint32_t i = 0; i < SHAPES; i += 3) {
        const shape *s = &shapes[i];
        char *records = make_records(s, N, 7001, i ? 2 : 0), text[1024];
        snprintf(text, sizeof text, "%sstruct seen { uint64_t n; };\nmap look(row r, accum seen s) { s.n += 1; }\n", s->text);
        hdst_context *context = pair_of_gpus(0, 0);
        hdst__engine_limits(context->engine)->by_key_device_least = 1;
        hdst_module *module = module_of(context, text);
        hdst_dataset *data = hdst_cache(hdst_read(hdst_source_from_memory(context, records, N, size_of(s)), module, "row"));
        hdst_result *seen = hdst_result_create(hdst_map_function(data, module, "look")), *result;
        RUN(seen);
        result = hdst_result_create(hdst_reduce_by_key(data, module, "join"));
        RUN(result);
        uint64_t count = 0;
        const void *rows = hdst_result_rows(result, NULL, &count);
        const char *how = hdst_explain(result, NULL);
        cr_assert(strstr(how, "    device 1 ") && !strstr(how, "not on the device"), "%s", how);
        check_by_hand(s, records, N, rows, count, "two devices");
        rows_of expected = reduce(&host, s, records, N);
        cr_assert(count == expected.count && memcmp(rows, expected.bytes, count * size_of(s)) == 0, "%s: not as on the host", s->name);
        free(expected.bytes);
        free(records);
        hdst_context_destroy(context);
    }
}

// --- Other ways to reduce ---

static const char count_kernels[] =
    "struct id { uint64_t a; uint64_t b; };\n"
    "struct row { struct id key; };\n"
    "struct count { struct id key; uint64_t n; };\n";
typedef struct count { uint64_t a, b, n; } count;

static int by_words(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

Test(wide_keys_device, counts_and_distinct_keys)
{
    if (!have_cpu()) return;
    static uint64_t rows[N][2], sorted[N][2];
    for (uint64_t i = 0; i < N; i++) rows[i][0] = mixed(i) % 100, rows[i][1] = mixed(i + N) % 50 << 40;
    memcpy(sorted, rows, sizeof rows);
    qsort(sorted, N, sizeof *sorted, by_words);
    for (int counts = 0; counts < 2; counts++) {
        hdst_context *context = context_in_form("gpu-form");
        context->engine->limits.by_key_device_least = 1;
        hdst_module *module = module_of(context, count_kernels);
        hdst_dataset *data = hdst_cache(hdst_read(hdst_source_from_memory(context, rows, N, 16), module, "row"));
        hdst_result *result = hdst_result_create(counts ? hdst_count_by_key(data, module, "count") : hdst_distinct(data));
        uint64_t got = 0, keys = 0;
        RUN(result);
        cr_assert(strstr(hdst_explain(result, NULL), "device hash"), "%s", hdst_explain(result, NULL));
        const uint64_t words = counts ? 3 : 2;
        const void *given = hdst_result_rows(result, NULL, &got);
        uint64_t *all = malloc(got * words * 8 + 1);
        memcpy(all, given, got * words * 8);
        qsort(all, got, words * 8, by_words);
        for (uint64_t i = 0, n = 0; i < N; i++) {
            n++;
            if (i + 1 < N && !by_words(sorted[i], sorted[i + 1])) continue;
            cr_assert_lt(keys, got);
            cr_assert(by_words(sorted[i], all + keys * words) == 0, "key %llu", (unsigned long long)keys);
            if (counts) cr_assert_eq(all[keys * words + 2], n);
            keys++;
            n = 0;
        }
        cr_assert_eq(keys, got);
        free(all);
        hdst_context_destroy(context);
    }
}

Test(wide_keys_device, wider_ones_are_the_hosts)
{
    if (!have_cpu()) return;
    static const shape wider = {"u8[33]", ROW("uint8_t a[33];"), 33, {{0, 33}}, false};
    char *records = make_records(&wider, N, 500, 0);
    check(&wider, records, N, &forms[0], "the key has more than 32 bytes", "wider");
    free(records);
}

Test(wide_keys_device, in_little_local_memory)
{
    if (!have_cpu()) return;
    static const form some = {"gpu-form", 0, 0, HDST_AOS, 32 << 10}, little = {"gpu-form", 0, 0, HDST_AOS, 16 << 10};
    char *records = make_records(&shapes[7], N, 900, 0);
    check(&shapes[7], records, N, &some, "device hash", "some local memory");
    check(&shapes[7], records, N, &little, "a tile of the records has no room in local memory", "little local memory");
    free(records);
}
