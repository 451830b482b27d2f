// SPDX-License-Identifier: Apache-2.0
// Reductions by key of cached records that lie on several devices: two halves of a CPU with kernels as a GPU gets them and memory of their own, and the
// interpreter beside them, whose part the host's threads reduce. Rows are those of plain C, in the order of the keys' hash; where sums are far apart, those
// of the interpreter alone, bit for bit.
#include "tests/hdst/support.h"

#include "engine/device/device.h"
#include "record/key_hash.h"

#include <math.h>
#include <stdlib.h>

enum { N = 40000 };

typedef struct row { uint32_t key; float v; } row;
typedef struct counted { uint32_t key; uint64_t n; } counted;
typedef struct keyed { uint16_t a; uint32_t b; double w; int16_t least; float most; uint8_t bits; uint32_t n; } keyed;

static const char text[] =
    "struct row { uint32_t key; float v; };\n"
    "struct count { uint32_t key; uint64_t n; };\n"
    "struct seen { uint64_t n; };\n"
    "map look(row r, accum seen s) { s.n += 1; }\n"
    "reduce add(float a, float b) { return a + b; }\n";
static const char wide_text[] =
    "struct id { uint16_t a; uint32_t b; };\n"
    "struct row { struct id key; double w; int16_t least; float most; uint8_t bits; uint32_t n; };\n"
    "struct seen { uint64_t n; };\n"
    "struct values { double w; int16_t least; float most; uint8_t bits; uint32_t n; };\n"
    "map look(row r, accum seen s) { s.n += 1; }\n"
    "reduce join(values a, values b) { return (values){ .w = a.w + b.w, .least = min(a.least, b.least), .most = max(a.most, b.most),\n"
    "                                                   .bits = a.bits | b.bits, .n = a.n + b.n }; }\n";

static row rows[N];
static keyed wide_rows[N];

static uint64_t next_random(void)
{
    static uint64_t state = 5;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 20;
}

// --- Jobs ---

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;         // cached
    uint64_t records;
} job;

// Devices "0,1" are the halves as GPUs, "0,1,2" with the interpreter; "interp" alone is what others are held against.
static job open_job_in(bool gpu_form, const char *device, const char *words, const void *records, uint64_t count, uint64_t size, hdst_layout layout)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.cpu_parts = 2;
    job j = {.context = hdst_context_create(&options), .records = count};
    j.context->engine->options.gpu_form_on_cpu = gpu_form;
    hdst__engine_limits(j.context->engine)->share_bytes = 0;
    hdst__engine_limits(j.context->engine)->by_key_device_least = 1;
    j.module = module_of(j.context, words);
    j.data = hdst_cache(hdst_with_layout(hdst_read(hdst_source_from_memory(j.context, records, count, size), j.module, "row"), layout));
    return j;
}

static job open_job(const char *device, const char *words, const void *records, uint64_t count, uint64_t size, hdst_layout layout)
{
    return open_job_in(true, device, words, records, count, size, layout);
}

// A stage over all of it, which lays the records out over the devices.
static void look(const job *j)
{
    hdst_result *seen = hdst_result_create(hdst_map_function(j->data, j->module, "look"));
    RUN(seen);
    cr_assert_eq(hdst_view_int64(hdst_result_field(seen, "s", "n"), 0, 0), (int64_t)j->records);
}

static bool have_halves(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.cpu_parts = 2;
    hdst_context *context = hdst_context_create(&options);
    uint32_t count = 0;
    const bool have = hdst_device_count(context, &count, NULL) == HDST_OK && count >= 3;
    if (!have) cr_log_warn("no OpenCL CPU device that can be halved: skipped");
    hdst_context_destroy(context);
    return have;
}

static const char *const teams[] = {"0,1", "0,1,2"};
#define ON_EACH_TEAM(team) for (size_t team = 0; team < sizeof teams / sizeof *teams; team++)

// --- Plain C ---

static int by_hash(const void *a, const void *b)
{
    const uint32_t x = hdst__key_mix32(((const row *)a)->key), y = hdst__key_mix32(((const row *)b)->key);
    return (x > y) - (x < y);
}

static row sorted[N], sums[N];
static uint64_t counts[N];

// Sums of multiples of 2^-20 below 2^10, which integers have exactly; a NaN makes its key's sum one.
static uint64_t reduce_plainly(uint64_t records)
{
    uint64_t keys = 0;
    memcpy(sorted, rows, records * sizeof *rows);
    qsort(sorted, records, sizeof *sorted, by_hash);
    for (uint64_t first = 0, i = 0; first < records; first = i, keys++) {
        int64_t sum = 0;
        bool is_nan = false;
        for (; i < records && sorted[i].key == sorted[first].key; i++) {
            is_nan = is_nan || isnan(sorted[i].v);
            if (!isnan(sorted[i].v)) sum += (int64_t)(sorted[i].v * 0x1p20f);
        }
        sums[keys] = (row){sorted[first].key, is_nan ? NAN : (float)sum * 0x1p-20f};
        counts[keys] = i - first;
    }
    return keys;
}

static bool same_float(float a, float b) { return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0; }

static void expect_sums(hdst_result *r, uint64_t keys, const char *what)
{
    uint64_t count;
    const row *got = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, keys, "%s: %llu keys, not %llu", what, (unsigned long long)count, (unsigned long long)keys);
    for (uint64_t i = 0; i < keys; i++)
        cr_assert(got[i].key == sums[i].key && same_float(got[i].v, sums[i].v), "%s: row %llu is {%u, %a}, not {%u, %a}", what, (unsigned long long)i,
                  got[i].key, got[i].v, sums[i].key, sums[i].v);
}

static void expect_counts(hdst_result *r, uint64_t keys, const char *what)
{
    uint64_t count;
    const counted *got = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, keys, "%s", what);
    for (uint64_t i = 0; i < keys; i++) cr_assert(got[i].key == sums[i].key && got[i].n == counts[i], "%s: row %llu", what, (unsigned long long)i);
}

static bool told(hdst_result *r, const char *words) { return strstr(hdst_explain(r, NULL), words); }
static bool merged(hdst_result *r) { return told(r, "what they give is merged on the host"); }

static void check(const char *what, uint64_t records, hdst_layout layout)
{
    const uint64_t keys = reduce_plainly(records);
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], text, rows, records, sizeof(row), layout);
        hdst_result *summed = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
        hdst_result *number = hdst_result_create(hdst_count_by_key(j.data, j.module, "count"));
        look(&j);
        for (int run = 0; run < 2; run++) {             // the second one knows what the first one found
            RUN(summed);
            expect_sums(summed, keys, what);
            cr_assert(merged(summed), "%s: %s", what, hdst_explain(summed, NULL));
            const hdst_run_stats stats = hdst_result_stats(summed);
            cr_assert_eq(stats.records, records);
            cr_assert_geq(stats.device_count, 2, "%s: %u devices", what, stats.device_count);
        }
        RUN(number);
        expect_counts(number, keys, what);
        hdst_context_destroy(j.context);
    }
}

static float value(void) { return (float)(int32_t)(next_random() % (1 << 24)) * 0x1p-20f - 8; }

Test(by_key_spread, sums_and_counts)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random(), value()};
    check("different keys", N, HDST_AOS);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000 * 77777, value()};
    check("many keys", N, HDST_SOA);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){i % 3 ? 12345 : (uint32_t)next_random() % 2000, value()};
    check("a key that comes often", N, HDST_AOS);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){i / (N / 50), value()};
    check("each key with one device, but for those where parts meet", N, HDST_AOS);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){7, i % 9000 == 0 ? NAN : value()};
    check("one key, and NaNs", N, HDST_SOA);
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){i % 100, i == N - 1 ? NAN : value()};
    check("one NaN, with the last device", N, HDST_AOS);
}

// As CPU devices both halves share the host's memory: its threads read the records where they lie, and nothing of them again.
Test(by_key_spread, parts_that_the_host_can_read)
{
    if (!have_halves()) return;
    for (int layout = 0; layout < 3; layout++) {
        for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000, value()};
        const uint64_t keys = reduce_plainly(N);
        const job j = open_job_in(false, "0,1", text, rows, N, sizeof(row), (const hdst_layout[]){HDST_AOS, HDST_SOA, HDST_AOSOA}[layout]);
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
        look(&j);
        for (uint32_t i = 0; i < N && layout < 2; i++) rows[i].v = 1e30f;       // nobody looks at them
        for (int run = 0; run < 2; run++) {
            RUN(r);
            expect_sums(r, keys, "where the host can read");
            cr_assert_not(merged(r), "%s", hdst_explain(r, NULL));
        }
        look(&j);
        hdst_context_destroy(j.context);
    }
}

// --- Against the interpreter ---

typedef struct rows_of { void *bytes; uint64_t count, size; } rows_of;

static rows_of take_rows(hdst_result *r, uint64_t size)
{
    rows_of all = {.size = size};
    const void *got = hdst_result_rows(r, NULL, &all.count);
    all.bytes = malloc(all.count * size + 1);
    memcpy(all.bytes, got, all.count * size);
    return all;
}

static hdst_dataset *reduced(const job *j, const char *function)
{
    return function ? hdst_reduce_by_key(j->data, j->module, function) : hdst_distinct(j->data);
}

static void check_bits(const char *what, const char *words, const void *records, uint64_t size, hdst_layout layout, const char *function)
{
    const job alone = open_job("interp", words, records, N, size, layout);
    hdst_result *right = hdst_result_create(reduced(&alone, function));
    RUN(right);
    const rows_of expected = take_rows(right, size);
    ON_EACH_TEAM(t) {
        const job j = open_job(teams[t], words, records, N, size, layout);
        hdst_result *r = hdst_result_create(reduced(&j, function));
        look(&j);
        RUN(r);
        const rows_of got = take_rows(r, size);
        cr_assert(merged(r), "%s: %s", what, hdst_explain(r, NULL));
        cr_assert_eq(got.count, expected.count, "%s", what);
        for (uint64_t i = 0; i < got.count; i++)
            cr_assert_eq(memcmp((char *)got.bytes + i * size, (char *)expected.bytes + i * size, size), 0, "%s on %s: row %llu", what, teams[t],
                         (unsigned long long)i);
        free(got.bytes);
        hdst_context_destroy(j.context);
    }
    free(expected.bytes);
    hdst_context_destroy(alone.context);
}

// Sums whose addends are far apart need superaccumulators; halves of the input whose values differ in size are held at different scales.
Test(by_key_spread, sums_at_different_scales)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++)
        rows[i] = (row){(uint32_t)next_random() % 3000, ldexpf((float)(next_random() % (1 << 24)) - (1 << 23), (int)(next_random() % 200) - 120)};
    check_bits("far apart", text, rows, sizeof(row), HDST_AOS, "add");
    for (uint32_t i = 0; i < N; i++)
        rows[i] = (row){(uint32_t)next_random() % 3000, ldexpf((float)(next_random() % (1 << 24)) - (1 << 23), i < N / 2 ? -10 : 9)};
    check_bits("other sizes in the second half", text, rows, sizeof(row), HDST_SOA, "add");
    for (uint32_t i = 0; i < N; i++)
        rows[i] = (row){(uint32_t)next_random() % 3000, i % 4001 ? ldexpf((float)(next_random() % (1 << 24)), -24) : i % 2 ? INFINITY : 1e30f};
    check_bits("some that do not fit", text, rows, sizeof(row), HDST_AOS, "add");
}

// A key of two fields in 64 bits; doubles in two words; minima, maxima, bits and counts; padding.
Test(by_key_spread, wide_keys_and_all_laws)
{
    if (!have_halves()) return;
    memset(wide_rows, 0, sizeof wide_rows);
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t r = next_random();
        wide_rows[i] = (keyed){.a = (uint16_t)(r % 50), .b = (uint32_t)(r >> 8) % 200 * 0x1000001u,
                               .w = ldexp((double)(int64_t)(next_random() >> 3) * 0x1p-40 - 8, i % 400 == 0 ? (int)(r % 60) : 0), .least = (int16_t)(r >> 4),
                               .most = (float)(int)(r >> 12), .bits = (uint8_t)(1u << r % 8), .n = (uint32_t)r};
    }
    check_bits("wide keys", wide_text, wide_rows, sizeof(keyed), HDST_AOS, "join");
    check_bits("wide keys", wide_text, wide_rows, sizeof(keyed), HDST_SOA, "join");
}

Test(by_key_spread, distinct_records)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 3000, (float)(next_random() % 3)};
    check_bits("distinct", text, rows, sizeof(row), HDST_AOS, NULL);
}

// --- Where the input lies nowhere yet ---

static bool on_one_device(hdst_result *r) { return told(r, "device hash") && !merged(r); }

Test(by_key_spread, is_laid_out_where_merging_costs_little)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 200, value()};
    uint64_t keys = reduce_plainly(N);
    job j = open_job("0,1", text, rows, N, sizeof(row), HDST_AOS);
    hdst_result *few = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
    RUN(few);
    expect_sums(few, keys, "few keys");
    cr_assert(merged(few), "%s", hdst_explain(few, NULL));
    look(&j);                                           // a stage finds it laid out
    RUN(few);
    expect_sums(few, keys, "few keys, after a stage");
    hdst_context_destroy(j.context);

    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000, value()};
    keys = reduce_plainly(N);
    j = open_job("0,1", text, rows, N, sizeof(row), HDST_AOS);
    hdst_result *many = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
    RUN(many);
    expect_sums(many, keys, "many keys");
    cr_assert(on_one_device(many), "%s", hdst_explain(many, NULL));
    hdst_context_destroy(j.context);
}

// Small inputs are not worth a second device, nor is one whose other device is no GPU.
Test(by_key_spread, is_left_to_one_device_where_that_is_better)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 200, value()};
    const uint64_t keys = reduce_plainly(N);
    for (int interp = 0; interp < 2; interp++) {
        const job j = open_job(interp ? "0,2" : "0,1", text, rows, N, sizeof(row), HDST_AOS);
        if (!interp) hdst__engine_limits(j.context->engine)->share_bytes = N * sizeof(row) / 32 + 1;
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
        RUN(r);
        expect_sums(r, keys, "one device");
        cr_assert(on_one_device(r), "%s", hdst_explain(r, NULL));
        hdst_context_destroy(j.context);
    }
}

// --- Memory ---

// One device has no room for all of it; each has for half of it.
Test(by_key_spread, what_one_device_has_no_room_for)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000, value()};
    const uint64_t keys = reduce_plainly(N);
    const job j = open_job("0,1", text, rows, N, sizeof(row), HDST_AOS);
    hdst_result *opens = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_memory(j.context, rows, N, sizeof(row)), j.module, "row"),
                                                              j.module, "look"));
    RUN(opens);
    for (int i = 0; i < 2; i++) {
        hdst__budget *budget = &j.context->engine->worker[i].device->budget;
        budget->limit = atomic_load(&budget->used) + N * 30;
    }
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
    RUN(r);
    expect_sums(r, keys, "half of it on each");
    cr_assert(merged(r), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(j.context);
}

// A device that has no room for its tuples leaves its part to the host's threads.
Test(by_key_spread, a_device_without_room)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000, value()};
    const uint64_t keys = reduce_plainly(N);
    const job j = open_job("0,1", text, rows, N, sizeof(row), HDST_SOA);
    look(&j);
    hdst__budget *second = &j.context->engine->worker[1].device->budget;
    second->limit = atomic_load(&second->used) + (64 << 10);
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
    for (int run = 0; run < 2; run++) {
        RUN(r);
        expect_sums(r, keys, "half of it by the host");
        cr_assert(merged(r) && told(r, "device hash") && told(r, "reduced by the host's threads"), "%s", hdst_explain(r, NULL));
    }
    hdst_context_destroy(j.context);
}

// The smallest budgets that still run: without room to merge, the records go to one place; with less, the run ends as out of memory.
Test(by_key_spread, short_memory)
{
    if (!have_halves()) return;
    bool gave_up = false;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 20000, value()};
    const uint64_t keys = reduce_plainly(N);
    for (uint64_t room = 4 << 20; room; room = room > (64 << 10) ? room / 2 : 0) {
        const job j = open_job("0,1", text, rows, N, sizeof(row), HDST_AOS);
        look(&j);
        hdst__budget *host = hdst__engine_memory(j.context->engine);
        host->limit = atomic_load(&host->used) + room;
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
        hdst_error error = HDST_ERROR_INIT;
        const hdst_status status = hdst_run(r, &error);
        cr_assert(status == HDST_OK || status == HDST_E_MEMORY, "%s", error.message);
        if (status == HDST_OK) expect_sums(r, keys, "short memory");
        gave_up |= status == HDST_OK && !merged(r);
        cr_assert(room < (4 << 20) || (status == HDST_OK && merged(r)), "%s", error.message);
        hdst_context_destroy(j.context);
    }
    cr_assert(gave_up, "no budget was too small to merge and enough for one place");
}

// --- What goes wrong ---

static hdst__device_ops patched;
static const hdst__device_ops *whole;
static hdst_context *cancelled;

static hdst_status fail_work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                             hdst_error *error)
{
    (void)device, (void)program, (void)args, (void)count, (void)groups, (void)local;
    return hdst__error_set(error, HDST_E_DRIVER, "the test's device fails");
}

static hdst_status cancel_at_work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                                  hdst_error *error)
{
    hdst_context_cancel(cancelled);
    return whole->work(device, program, args, count, groups, local, error);
}

static void patch(const job *j, uint32_t number, bool cancels)
{
    hdst__device *device = j->context->engine->worker[number].device;
    whole = device->ops;
    patched = *whole;
    patched.work = cancels ? cancel_at_work : fail_work;
    device->ops = &patched;
}

// The first one does it alone where another one fails, and stages find the records again; an error of the first one ends the run.
Test(by_key_spread, a_device_that_fails)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000, value()};
    const uint64_t keys = reduce_plainly(N);
    for (uint32_t number = 0; number < 2; number++) {
        const job j = open_job("0,1,2", text, rows, N, sizeof(row), HDST_AOS);
        hdst_result *r = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
        hdst_error error = HDST_ERROR_INIT;
        look(&j);
        patch(&j, number, false);
        const hdst_status status = hdst_run(r, &error);
        cr_assert_eq(status, number ? HDST_OK : HDST_E_DRIVER, "%s", error.message);
        if (number) expect_sums(r, keys, "while a device fails");
        if (number) cr_assert(on_one_device(r), "%s", hdst_explain(r, NULL));
        else cr_assert_str_eq(error.message, "the test's device fails");
        j.context->engine->worker[number].device->ops = whole;
        look(&j);
        RUN(r);
        expect_sums(r, keys, "after a device failed");
        hdst_context_destroy(j.context);
    }
}

Test(by_key_spread, cancelled)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000, value()};
    const uint64_t keys = reduce_plainly(N);
    const job j = open_job("0,1,2", text, rows, N, sizeof(row), HDST_AOS);
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add"));
    hdst_error error = HDST_ERROR_INIT;
    look(&j);
    cancelled = j.context;
    patch(&j, 1, true);
    cr_assert_eq(hdst_run(r, &error), HDST_E_CANCELLED, "%s", error.message);
    j.context->engine->worker[1].device->ops = whole;
    RUN(r);
    expect_sums(r, keys, "after a cancel");
    hdst_context_destroy(j.context);
}

// --- Partials ---

// What several devices kept merges with what one kept of other records.
Test(by_key_spread, keeps_partials)
{
    if (!have_halves()) return;
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)next_random() % 5000, value()};
    const uint64_t keys = reduce_plainly(N), some = 3 * N / 4;
    const job j = open_job("0,1,2", text, rows, some, sizeof(row), HDST_AOS), other = open_job("0", text, rows + some, N - some, sizeof(row), HDST_AOS);
    hdst_result *r[] = {hdst_result_create(hdst_reduce_by_key(j.data, j.module, "add")),
                        hdst_result_create(hdst_reduce_by_key(other.data, other.module, "add"))};
    hdst_partial *partial[2], *arrived;
    hdst_error error = HDST_ERROR_INIT;
    const void *bytes;
    uint64_t size, count;
    look(&j);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(hdst_result_keep_partial(r[i], &error), HDST_OK, "%s", error.message);
        RUN(r[i]);
        partial[i] = hdst_partial_from_result(r[i]);
        cr_assert_eq(hdst_partial_status(partial[i], &error), HDST_OK, "%s", error.message);
    }
    cr_assert(merged(r[0]) && on_one_device(r[1]), "%s", hdst_explain(r[1], NULL));
    cr_assert_eq(hdst_partial_write(partial[1], &bytes, &size, &error), HDST_OK);
    arrived = hdst_partial_from_bytes(j.context, bytes, size);
    cr_assert_eq(hdst_partial_merge(partial[0], arrived, &error), HDST_OK, "%s", error.message);
    const row *got = hdst_partial_rows(partial[0], NULL, &count);
    cr_assert_eq(count, keys);
    for (uint64_t i = 0; i < keys; i++) cr_assert(got[i].key == sums[i].key && same_float(got[i].v, sums[i].v), "row %llu", (unsigned long long)i);
    hdst_context_destroy(j.context);
    hdst_context_destroy(other.context);
}
