// SPDX-License-Identifier: Apache-2.0
// A result whose run failed holds nothing: bytes at the allocator hook before and after, for every kind of result; the next run works again.
#include "tests/hdst/support.h"

#include <stdlib.h>

typedef struct item { uint32_t key, at; } item;

enum { RECORDS = 1 << 17, KEYS = 1 << 16, LEAST_HELD = 256 << 10, OF_A_PLAN = 192 << 10 };

static const char kernels[] =
    "struct item { uint32_t key; uint32_t at; };\n"
    "map pairs(item i) -> (key uint32_t key, uint64_t n) { return (i.key, 1); }\n"
    "map counts(item i, accum uint64_t some[], accum uint64_t seen[]) { some[i.key] += 1; seen[i.key] += 1; }\n"
    "map part(item i) -> uint32_t { return i.at % 16u; }\n"
    "filter odd(item i) { return i.at % 2u == 1u; }\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "group last(key uint32_t key, stream item i) -> item { uint32_t at = 0u; for (item e : i) at = e.at; return (item){ .key = key, .at = at }; }\n";

// --- The hook ---

static _Atomic uint64_t taken;
static hdst_context *cancels;       // not NULL: whatever takes memory is cancelled

static void *allocate(size_t bytes, void *user)
{
    (void)user;
    size_t *block = malloc(bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    taken += bytes;
    hdst_context_cancel(cancels);
    return block + 2;
}

static void release(void *pointer, void *user)
{
    (void)user;
    if (!pointer) return;
    taken -= ((size_t *)pointer)[-2];
    free((size_t *)pointer - 2);
}

static void *reallocate(void *pointer, size_t bytes, void *user)
{
    char *block = allocate(bytes, user);
    if (!block || !pointer) return block;
    const size_t before = ((size_t *)pointer)[-2];
    memcpy(block, pointer, before < bytes ? before : bytes);
    release(pointer, user);
    return block;
}

// --- Jobs ---

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    uint64_t records;
    bool fails;                 // the source does, when most of it is read
} job;

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    const job *j = user;
    if (j->fails && first + count == j->records) return snprintf(message, 512, "the disk is gone"), false;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = (item){(uint32_t)((first + i) * 40503 % KEYS), (uint32_t)(first + i)};
    return true;
}

static hdst_dataset *dense(job *j, hdst_dataset *d) { return hdst_reduce_dense(hdst_map_function(d, j->module, "pairs"), j->module, "add", KEYS); }
static hdst_dataset *by_key(job *j, hdst_dataset *d) { return hdst_reduce_by_key(hdst_map_function(d, j->module, "pairs"), j->module, "add"); }
static hdst_dataset *group(job *j, hdst_dataset *d) { return hdst_group_function(d, "key", j->module, "last"); }
static hdst_dataset *sort(job *j, hdst_dataset *d) { return (void)j, hdst_sort(d, "key"); }
static hdst_dataset *partition(job *j, hdst_dataset *d) { return hdst_partition(d, j->module, "part", 16); }
static hdst_dataset *top(job *j, hdst_dataset *d) { return (void)j, hdst_top(d, RECORDS / 2, "at"); }
static hdst_dataset *filter(job *j, hdst_dataset *d) { return hdst_filter_function(d, j->module, "odd"); }
static hdst_dataset *as_it_is(job *j, hdst_dataset *d) { return (void)j, d; }

static hdst_dataset *accumulators(job *j, hdst_dataset *d, uint64_t seen)
{
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "counts");
    hdst_bind_accum(spec, "some", KEYS);
    hdst_bind_accum(spec, "seen", seen);
    return hdst_map(d, spec);
}

static hdst_dataset *counts(job *j, hdst_dataset *d) { return accumulators(j, d, KEYS); }

static const struct { const char *name; hdst_dataset *(*make)(job *, hdst_dataset *); uint64_t rows; } kinds[] = {
    {"dense", dense, KEYS}, {"by key", by_key, KEYS}, {"group", group, KEYS}, {"sort", sort, RECORDS}, {"partition", partition, RECORDS},
    {"top", top, RECORDS / 2},
    {"filter", filter, RECORDS / 2}, {"read", as_it_is, RECORDS}, {"accumulators", counts, 0},
};

static hdst_dataset *open_job(job *j, const char *device, uint64_t records, uint64_t memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = memory;
    options.allocator = (hdst_allocator){allocate, reallocate, release, NULL};
    *j = (job){.context = hdst_context_create(&options), .records = records};
    j->module = module_of(j->context, kernels);
    return hdst_read(hdst_source_from_callback(j->context, records, fill, j), j->module, "item");
}

static void works(hdst_result *r, const char *device, size_t kind)
{
    RUN(r);
    uint64_t rows;
    if (kinds[kind].rows) hdst_result_rows(r, NULL, &rows);
    else rows = hdst_view_int64(hdst_result_field(r, "seen", NULL), 7, 0) == RECORDS / KEYS ? 0 : 1;
    cr_assert_eq(rows, kinds[kind].rows, "%s, %s: %llu rows", device, kinds[kind].name, (unsigned long long)rows);
}

static void holds_nothing(hdst_result *r, const char *device, const char *name, uint64_t before)
{
    uint64_t rows = 1;
    hdst_error error;
    cr_assert(taken < before + OF_A_PLAN, "%s, %s: %llu bytes more than before the run", device, name, (unsigned long long)(taken - before));
    cr_assert(!hdst_result_rows(r, NULL, &rows) && rows == 0, "%s, %s", device, name);
    cr_assert(hdst_result_status(r, &error) == HDST_E_USAGE && strstr(error.message, "holds nothing"), "%s, %s: %s", device, name, error.message);
}

// What the context keeps for the next run (the device, segments for input) is there before: another result ran and ended.
static uint64_t without_a_result(hdst_dataset *dataset)
{
    hdst_result *r = hdst_result_create(dataset);
    hdst_run(r, NULL);
    hdst_result_destroy(r);
    return taken;
}

// Runs well, then fails, then runs well again.
static void check(const char *device, size_t kind, bool cached)
{
    job j;
    hdst_error error;
    hdst_dataset *made = open_job(&j, device, RECORDS, 0);
    made = kinds[kind].make(&j, made);
    const uint64_t before = without_a_result(made);
    hdst_result *r = hdst_result_create(cached ? hdst_cache(made) : made);
    if (!cached) {      // a cache that is filled does not read its input again
        works(r, device, kind);
        cr_assert(taken > before + LEAST_HELD, "%s, %s: the result holds %llu bytes only", device, kinds[kind].name, (unsigned long long)(taken - before));
    }
    j.fails = true;
    cr_assert_eq(hdst_run(r, &error), HDST_E_IO, "%s, %s: %s", device, kinds[kind].name, error.message);
    holds_nothing(r, device, kinds[kind].name, before);
    j.fails = false;
    works(r, device, kind);
    hdst_context_destroy(j.context);
    cr_assert_eq(taken, 0);
}

Test(failed_runs, hold_nothing)
{
    const bool cpu = have_cpu();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check("interp", i, false);
        if (cpu) check("cpu", i, false);
    }
}

// The first table fits the budget, the second does not; what others shall go on with has to be there in whole.
static void check_out_of_memory(const char *device)
{
    job j;
    hdst_error error;
    hdst_dataset *items = open_job(&j, device, RECORDS, 8 << 20);
    hdst_dataset *fits = counts(&j, items);
    const uint64_t before = without_a_result(fits);
    hdst_result *r = hdst_result_create(accumulators(&j, items, 16 << 20));
    cr_assert_eq(hdst_result_keep_partial(r, &error), HDST_OK, "%s", error.message);
    for (int turn = 0; turn < 2; turn++) {
        cr_assert_eq(hdst_run(r, &error), HDST_E_MEMORY, "%s: %s", device, error.message);
        holds_nothing(r, device, "out of memory", before);
    }
    hdst_result *other = hdst_result_create(fits);
    works(other, device, sizeof kinds / sizeof *kinds - 1);
    hdst_context_destroy(j.context);
    cr_assert_eq(taken, 0);
}

Test(failed_runs, hold_nothing_for_lack_of_memory)
{
    check_out_of_memory("interp");
    if (have_cpu()) check_out_of_memory("cpu");
}

// A cache that could not be filled has nothing to keep either.
Test(failed_runs, caches_hold_nothing)
{
    const bool cpu = have_cpu();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].rows) check("interp", i, true);
        if (kinds[i].rows && cpu) check("cpu", i, true);
    }
}

// So long that its plan takes many pieces of memory, at each of which it is cancelled.
static hdst_dataset *long_filter(job *j, hdst_dataset *d)
{
    enum { STATEMENTS = 2000, LINE = 40 };
    static char text[(STATEMENTS + 10) * LINE];
    size_t used = (size_t)snprintf(text, sizeof text, "struct item { uint32_t key; uint32_t at; };\nfilter odd(item i) {\n    uint32_t x = i.at;\n");
    for (int s = 0; s < STATEMENTS; s++) used += (size_t)snprintf(text + used, LINE, "    x ^= x * %du >> 3;\n", s);
    snprintf(text + used, LINE, "    return x %% 2u == 1u;\n}\n");
    return hdst_filter_function(d, module_of(j->context, text), "odd");
}

Test(failed_runs, plans_that_are_cancelled_leave_nothing)
{
    job j;
    hdst_error error;
    hdst_result *r = hdst_result_create(long_filter(&j, open_job(&j, "interp", 1000, 0)));
    const uint64_t before = taken;
    cancels = j.context;
    for (int turn = 0; turn < 100; turn++) cr_assert_eq(hdst_run(r, &error), HDST_E_CANCELLED, "%s", error.message);
    cancels = NULL;
    holds_nothing(r, "interp", "cancelled", before);
    RUN(r);
    hdst_context_destroy(j.context);
    cr_assert_eq(taken, 0);
}
