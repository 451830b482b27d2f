// SPDX-License-Identifier: Apache-2.0
// Devices that lack something: memory, which other programs have taken, at whatever call of the driver that shows; double. A run ends well with the right
// bits, in a way that takes less, or with an error that says what is missing; then the next run, when it is there again, is right.
#include "engine/device/device_opencl.h"
#include "tests/hdst/support.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { RECORDS = 20000, ROWS = 7, KEYS = 100 };

typedef struct row { uint32_t k; float v; } row;

static const char text[] =
    "struct row { uint32_t key; float v; };\n"
    "struct total { float v; uint32_t n; };\n"
    "struct value { float v; };\n"
    "map gather(row r, accum total t[]) { t[r.key % 7u].v += r.v; t[r.key % 7u].n += 1u; }\n"
    "map twice(row r) -> row { return (row){ .key = r.key, .v = r.v * 2.0f }; }\n"
    "filter odd(row r) { return r.key % 2u == 1u; }\n"
    "reduce add(value a, value b) { return (value){ .v = a.v + b.v }; }\n";

static row rows[RECORDS];

static void fill(void)
{
    for (uint32_t i = 0; i < RECORDS; i++) rows[i] = (row){i * 7919 % KEYS, (float)(i * 2654435761u >> 20)};
}

// --- The driver, with calls that find no memory ---

static hdst__opencl lacking;
static const hdst__opencl *whole;
static _Atomic int32_t left;            // calls that go well

static bool refuses(void) { return atomic_fetch_sub(&left, 1) <= 0; }

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *code)
{
    if (!refuses()) return whole->clCreateBuffer(context, flags, bytes, host, code);
    *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

// Drivers take memory when it is first used.
static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
                                         const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event)
{
    if (refuses()) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return whole->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem to, cl_bool blocks, size_t offset, size_t bytes, const void *from, cl_uint waits,
                                        const cl_event *wait, cl_event *event)
{
    if (refuses()) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return whole->clEnqueueWriteBuffer(queue, to, blocks, offset, bytes, from, waits, wait, event);
}

typedef enum fault { BUFFERS, LAUNCHES, WRITES, FAULTS } fault;

static void take_memory(hdst__device *device, fault f, int32_t after)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    whole = self->cl;
    lacking = *whole;
    atomic_store(&left, after);
    if (f == BUFFERS) lacking.clCreateBuffer = create_buffer;
    if (f == LAUNCHES) lacking.clEnqueueNDRangeKernel = enqueue_kernel;
    if (f == WRITES) lacking.clEnqueueWriteBuffer = enqueue_write;
    self->cl = &lacking;
}

static void give_memory(hdst__device *device) { ((hdst__opencl_device *)device)->cl = whole; }

// --- Jobs ---

typedef enum kind { SUMS, MAPPED, FILTERED, SORTED, BY_KEY, CACHED, KINDS } kind;

static hdst_result *make(hdst_context *context, hdst_module *m, kind k)
{
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), m, "row");
    hdst_map_spec *gather = hdst_map_spec_create(m, "gather");
    hdst_bind_accum(gather, "t", ROWS);
    switch (k) {
    case SUMS: return hdst_result_create(hdst_map(data, gather));
    case MAPPED: return hdst_result_create(hdst_map_function(data, m, "twice"));
    case FILTERED: return hdst_result_create(hdst_filter_function(data, m, "odd"));
    case SORTED: return hdst_result_create(hdst_sort(hdst_map_function(data, m, "twice"), "key"));
    case BY_KEY: return hdst_result_create(hdst_reduce_by_key(data, m, "add"));
    default: return hdst_result_create(hdst_map(hdst_cache(data), gather));
    }
}

static void expect_sums(hdst_result *r)
{
    for (uint32_t t = 0; t < ROWS; t++) {
        double sum = 0;
        int64_t n = 0;
        for (uint32_t i = 0; i < RECORDS; i++)
            if (rows[i].k % ROWS == t) sum += rows[i].v, n++;
        cr_assert_eq(hdst_view_double(hdst_result_field(r, "t", "v"), t, 0), (double)(float)sum);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "t", "n"), t, 0), n);
    }
}

static void expect_keys(const row *got, uint64_t count)
{
    double sum[KEYS] = {0};
    for (uint32_t i = 0; i < RECORDS; i++) sum[rows[i].k] += rows[i].v;
    cr_assert_eq(count, KEYS);
    for (uint64_t i = 0; i < count; i++) cr_assert_eq(got[i].v, (float)sum[got[i].k]);
}

static void expect_sorted(const row *got, uint64_t count)
{
    uint64_t at = 0;
    cr_assert_eq(count, RECORDS);
    for (uint32_t key = 0; key < KEYS; key++) {
        for (uint32_t i = 0; i < RECORDS; i++) {
            if (rows[i].k != key) continue;
            cr_assert(got[at].k == key && got[at].v == rows[i].v * 2, "record %u", (unsigned)at);
            at++;
        }
    }
}

static void expect_rows(const row *got, uint64_t count, kind k)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (k == FILTERED && rows[i].k % 2 == 0) continue;
        cr_assert(at < count && got[at].k == rows[i].k && got[at].v == (k == MAPPED ? rows[i].v * 2 : rows[i].v), "record %u", (unsigned)i);
        at++;
    }
    cr_assert_eq(at, count);
}

static void expect(hdst_result *r, kind k)
{
    uint64_t count = 0;
    const row *got = k == SUMS || k == CACHED ? NULL : hdst_result_rows(r, NULL, &count);
    if (k == SUMS || k == CACHED) expect_sums(r);
    else if (k == SORTED) expect_sorted(got, count);
    else if (k == BY_KEY) expect_keys(got, count);
    else expect_rows(got, count, k);
}

// One call after another is the first that finds none, until a run ends that had all it asked for.
static void check(const char *form, kind k, fault f)
{
    bool failed = true;
    for (int32_t after = 0; failed && after < 40; after = after * 3 / 2 + 1) {
        hdst_context *context = context_in_form(form);
        hdst_module *m = module_of(context, text);
        hdst_error error;
        RUN(make(context, m, MAPPED));                  // opens the device
        hdst__device *device = context->engine->worker[0].device;
        const uint64_t used = atomic_load(&device->budget.used);
        hdst_result *r = make(context, m, k);
        take_memory(device, f, after);
        const hdst_status status = hdst_run(r, &error);
        failed = atomic_load(&left) < 0;
        give_memory(device);
        if (status == HDST_OK) expect(r, k);
        cr_assert(status == HDST_OK || (failed && status == HDST_E_MEMORY), "%s, kind %d, fault %d, after %d: %s", form, (int)k, (int)f, (int)after,
                  error.message);
        if (status != HDST_OK) {
            cr_assert(strstr(error.message, "the device has no memory left"), "%s", error.message);
            cr_assert(strstr(error.cause, "CL_MEM_OBJECT_ALLOCATION_FAILURE") && error.retriable && error.hint[0], "%s", error.cause);
        }
        RUN(r);                                         // now that there is memory
        expect(r, k);
        hdst_result_destroy(r);
        cr_assert_leq(used, atomic_load(&device->budget.peak));
        hdst_context_destroy(context);
    }
}

static void check_all(const char *form)
{
    fill();
    if (!have_cpu()) cr_skip("no CPU\n");
    for (kind k = 0; k < KINDS; k++)
        for (fault f = 0; f < FAULTS; f++) check(form, k, f);
}

Test(lacking_devices, memory_that_others_took) { check_all("cpu"); }
Test(lacking_devices, memory_of_a_device_s_own_that_others_took) { check_all("gpu-form"); }

// --- No double ---

static const char of_doubles[] =
    "struct row { uint32_t key; float v; };\n"
    "struct wide { double h; };\n"
    "map halves(row r) -> wide { return (wide){ .h = (double)r.v * 0.3 }; }\n"
    "map gather(row r, accum float s) { s += r.v; }\n";

Test(lacking_devices, without_double)
{
    fill();
    if (!have_cpu()) cr_skip("no CPU\n");
    hdst_device_info info;
    hdst_error error;
    hdst_context *context = context_on("cpu");
    cr_assert_eq(hdst_device_chosen(context, &info, NULL), HDST_OK);
    ((hdst__device_info *)context->engine->worker[0].info)->has_double = false;         // before it is opened
    hdst_module *m = module_of(context, of_doubles);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), m, "row");
    hdst_result *doubles = hdst_result_create(hdst_map_function(data, m, "halves")), *floats = hdst_result_create(hdst_map_function(data, m, "gather"));
    cr_assert_eq(hdst_run(doubles, &error), HDST_E_KERNEL, "%s", error.message);
    cr_assert(strstr(error.message, "'halves' needs double, which this device does not have"), "%s", error.message);
    cr_assert(strstr(error.hint, "--device interp"), "%s", error.hint);
    double sum = 0;
    for (uint32_t i = 0; i < RECORDS; i++) sum += rows[i].v;
    RUN(floats);                                        // whose exact sums need none
    cr_assert_eq(hdst_view_double(hdst_result_field(floats, "s", NULL), 0, 0), (double)(float)sum);
    hdst_context_destroy(context);
}
