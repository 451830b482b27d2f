// SPDX-License-Identifier: Apache-2.0
// Sorts of what has no room on one device: two halves of a CPU, with kernels as a GPU gets them, sort tiles of it, also of what lies with each. Against qsort
// by key and place, which is what stable means; floats with NaNs against the interpreter.
#include "tests/hdst/support.h"

#include "engine/device/device.h"

#include <math.h>
#include <stdlib.h>

enum { N = 50000 };

typedef struct row { uint32_t k; float x; uint32_t id; } row;

static const char text[] =
    "struct row { uint32_t k; float x; uint32_t id; };\n"
    "struct seen { uint64_t n; };\n"
    "map look(row r, accum seen s) { s.n += 1; }\n"
    "map same(row r) -> row { return r; }\n"
    "map part(row r) -> uint32_t { return r.k; }\n";

static row rows[N], expected[N];

static void fill(uint32_t keys)
{
    for (uint32_t i = 0; i < N; i++) rows[i] = (row){(uint32_t)rand() % keys, rand() % 50 ? (float)(rand() % 1000) - 500 : NAN, i};
}

static int by_key(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->k != y->k) return x->k > y->k ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
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

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

// cached: its records lie with both devices.
static job open_job(const char *device, bool cached)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.cpu_parts = 2;
    job j = {.context = hdst_context_create(&options)};
    j.context->engine->options.gpu_form_on_cpu = true;
    hdst__engine_limits(j.context->engine)->share_bytes = 0;
    hdst__engine_limits(j.context->engine)->sort_least = 64;
    j.module = module_of(j.context, text);
    hdst_dataset *read = hdst_read(hdst_source_from_memory(j.context, rows, N, sizeof(row)), j.module, "row");
    j.data = cached ? hdst_cache(read) : read;
    hdst_result *opens = hdst_result_create(hdst_map_function(j.data, j.module, "look"));
    RUN(opens);
    return j;
}

// From now on each device has room for so many records, about, that are sorted.
static void limit_devices(const job *j, uint64_t records)
{
    for (uint32_t i = 0; i < hdst__engine_workers(j->context->engine); i++) {
        hdst__device *device = j->context->engine->worker[i].device;
        if (device) device->budget.limit = atomic_load(&device->budget.used) + records * 60;
    }
}

// On a busy machine one of two devices may have sorted all tiles before the other one began.
#define IN_TILES " tiles that the host merges"

static uint64_t records_of_all(hdst_result *r)
{
    const hdst_run_stats stats = hdst_result_stats(r);
    uint64_t records = 0;
    for (uint32_t i = 0; i < stats.device_count; i++) records += stats.device[i].records;
    return records;
}

static void expect(hdst_result *r, const row *right, const char *how)
{
    uint64_t count;
    const row *got = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, N);
    for (uint32_t i = 0; i < N; i++) cr_assert(!memcmp(&got[i], &right[i], sizeof(row)), "row %u is of %u, not of %u", i, got[i].id, right[i].id);
    cr_assert(strstr(hdst_explain(r, NULL), how), "%s", hdst_explain(r, NULL));
}

Test(sort_tiles, what_has_no_room_on_one_device)
{
    static const uint32_t keys[] = {1, 7, 1 << 30};
    if (!have_halves()) return;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        fill(keys[k]);
        memcpy(expected, rows, sizeof rows);
        qsort(expected, N, sizeof *expected, by_key);
        for (int cached = 0; cached < 2; cached++) {
            const job j = open_job(cached ? "0,1" : "0,1,2", cached);
            hdst_result *r = hdst_result_create(hdst_sort(j.data, "k desc"));
            limit_devices(&j, N / (cached ? 2 : 5));
            for (int run = 0; run < 2; run++) {
                RUN(r);
                expect(r, expected, IN_TILES);
                cr_assert_eq(records_of_all(r), N);
            }
            hdst_context_destroy(j.context);
        }
    }
}

Test(sort_tiles, floats_and_nans)
{
    if (!have_halves()) return;
    fill(3);
    const job alone = open_job("interp", false), j = open_job("0,1", false);
    hdst_result *right = hdst_result_create(hdst_sort(alone.data, "x, k desc")), *r = hdst_result_create(hdst_sort(j.data, "x, k desc"));
    limit_devices(&j, N / 4);
    RUN(right);
    RUN(r);
    expect(r, hdst_result_rows(right, NULL, NULL), IN_TILES);
    hdst_context_destroy(j.context);
    hdst_context_destroy(alone.context);
}

static int by_key_up(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return x->k != y->k ? (x->k < y->k ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

// Records that lie with both devices are copied from there, which no other thread may work with meanwhile: one device sorts them all, tile after tile.
Test(sort_tiles, of_records_that_are_copied_from_devices)
{
    enum { PARTS = 100 };
    if (!have_halves()) return;
    fill(PARTS);
    memcpy(expected, rows, sizeof rows);
    qsort(expected, N, sizeof *expected, by_key_up);
    for (int turn = 0; turn < 4; turn++) {
        const job j = open_job("0,1", false);
        hdst_result *r = hdst_result_create(hdst_partition(hdst_map_function(j.data, j.module, "same"), j.module, "part", PARTS));
        limit_devices(&j, N);
        for (int run = 0; run < 2; run++) {
            RUN(r);
            expect(r, expected, "radix sort on 1 device, in ");
        }
        hdst_context_destroy(j.context);
    }
}

// What lies with devices, or was sorted on one, is copied from there by whoever reads it next: one device does, while no other works.
Test(sort_tiles, stages_that_copy_from_devices_run_alone)
{
    enum { PARTS = 100 };
    if (!have_halves()) return;
    fill(PARTS);
    for (int which = 0; which < 3; which++) {
        const job j = open_job("0,1", false);
        hdst_dataset *same = hdst_map_function(j.data, j.module, "same"), *d = hdst_partition(which ? j.data : same, j.module, "part", PARTS);
        if (which == 2) d = hdst_cache(d);
        hdst_result *r = hdst_result_create(hdst_map_function(d, j.module, "look"));
        for (int run = 0; run < 2; run++) {
            RUN(r);
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "s", "n"), 0, 0), N);
            const char *look = strstr(hdst_explain(r, NULL), "stage look:");
            const char *why = which == 2 ? "not used: its input is cached on one device" : "not used: its input is copied from a device";
            cr_assert(look && strstr(look, why), "%d: %s", which, hdst_explain(r, NULL));
        }
        hdst_context_destroy(j.context);
    }
}

// One device sorts one tile after the other; what is sorted is read by a stage.
Test(sort_tiles, one_device)
{
    if (!have_halves()) return;
    fill(100);
    memcpy(expected, rows, sizeof rows);
    qsort(expected, N, sizeof *expected, by_key);
    const job j = open_job("0", false);
    limit_devices(&j, N / 10);
    hdst_result *r = hdst_result_create(hdst_sort(j.data, "k desc"));
    RUN(r);
    expect(r, expected, "radix sort on 1 device, in ");
    hdst_context_destroy(j.context);
}

// Without room to merge on the host the records go through files; the rows are the same.
Test(sort_tiles, short_memory)
{
    if (!have_halves()) return;
    bool other = false;
    fill(1000);
    memcpy(expected, rows, sizeof rows);
    qsort(expected, N, sizeof *expected, by_key);
    for (uint64_t room = 16 * sizeof rows; room > 0; room = room > sizeof rows / 8 ? room / 2 : 0) {
        const job j = open_job("0,1", false);
        hdst_result *r = hdst_result_create(hdst_sort(j.data, "k desc"));
        hdst_error error = HDST_ERROR_INIT;
        limit_devices(&j, N / 4);
        hdst__budget *host = hdst__engine_memory(j.context->engine);
        host->limit = atomic_load(&host->used) + room;
        const hdst_status status = hdst_run(r, &error);
        cr_assert(status == HDST_OK || status == HDST_E_MEMORY, "%s", error.message);
        if (status == HDST_OK) {
            char first[sizeof(row)];
            expect(r, expected, "");
            memcpy(first, hdst_result_rows(r, NULL, NULL), sizeof first);
            other |= !strstr(hdst_explain(r, NULL), "in tiles") && !strstr(hdst_explain(r, NULL), "tiles that");
        }
        hdst_context_destroy(j.context);
    }
    cr_assert(other, "no budget was too small for tiles and enough for runs");
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

Test(sort_tiles, a_device_that_fails_and_a_cancel)
{
    if (!have_halves()) return;
    fill(100);
    memcpy(expected, rows, sizeof rows);
    qsort(expected, N, sizeof *expected, by_key);
    for (int cancels = 0; cancels < 2; cancels++) {
        const job j = open_job("0,1", true);
        hdst_result *r = hdst_result_create(hdst_sort(j.data, "k desc"));
        hdst_error error = HDST_ERROR_INIT;
        limit_devices(&j, N / 2);
        hdst__device *device = j.context->engine->worker[1].device;
        whole = device->ops;
        patched = *whole;
        patched.work = cancels ? cancel_at_work : fail_work;
        cancelled = j.context;
        device->ops = &patched;
        cr_assert_eq(hdst_run(r, &error), cancels ? HDST_E_CANCELLED : HDST_OK, "%s", error.message);
        device->ops = whole;
        if (!cancels) expect(r, expected, "sort on the host by the first bytes of keys");
        RUN(r);
        expect(r, expected, cancels ? IN_TILES : "");
        hdst_context_destroy(j.context);
    }
}
