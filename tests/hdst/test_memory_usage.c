// SPDX-License-Identifier: Apache-2.0
// What the library says of its memory is what its allocator's hook sees, to the byte; each owner has what its objects take; temporary files are told, and
// warned of where they lie in memory themselves.
#include "tests/hdst/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

// --- The witness: a hook that counts ---

static _Atomic size_t taken, peak;

static void note(size_t more)
{
    const size_t now = atomic_fetch_add(&taken, more) + more;
    size_t before = atomic_load(&peak);
    while (before < now && !atomic_compare_exchange_weak(&peak, &before, now)) {}
}

static void *allocate(size_t bytes, void *user)
{
    (void)user;
    size_t *block = malloc(bytes + 16);
    *block = bytes;
    note(bytes);
    return block + 2;
}

static void release(void *pointer, void *user)
{
    (void)user;
    if (!pointer) return;
    atomic_fetch_sub(&taken, ((size_t *)pointer)[-2]);
    free((size_t *)pointer - 2);
}

static void *reallocate(void *pointer, size_t bytes, void *user)
{
    if (!pointer) return allocate(bytes, user);
    size_t *block = (size_t *)pointer - 2, before = *block;
    block = realloc(block, bytes + 16);
    *block = bytes;
    if (bytes > before) note(bytes - before);
    else atomic_fetch_sub(&taken, before - bytes);
    return block + 2;
}

static int warnings;
static char warning[600];

static void take_log(hdst_log_level level, const char *message, void *user)
{
    (void)user;
    if (level != HDST_LOG_WARN || !strstr(message, "temporary files")) return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", message);
}

static size_t beside;       // what is not the engine's: the context itself

static hdst_memory_use usage(hdst_context *context)
{
    hdst_memory_use use = HDST_MEMORY_USE_INIT;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_memory_usage(context, &use, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(use.size, sizeof use);
    return use;
}

static hdst_context *context_with(const char *form, uint64_t budget)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    const bool gpu = !strcmp(form, "gpu-form");
    options.device = gpu ? "cpu" : form;
    options.memory = budget;
    options.log = take_log;
    options.allocator = (hdst_allocator){allocate, reallocate, release, NULL};
    hdst_context *context = hdst_context_create(&options);
    cr_assert_eq(hdst_context_status(context, NULL), HDST_OK);
    context->engine->options.gpu_form_on_cpu = gpu;
    beside = taken - usage(context).host.used;
    return context;
}

// The ledger and the hook agree, and owners add up.
static void expect_balanced(hdst_context *context)
{
    const hdst_memory_use use = usage(context);
    uint64_t sum = 0;
    for (int i = 0; i < HDST_MEMORY_OWNERS; i++) sum += use.host.owner_used[i];
    cr_expect_eq(sum, use.host.used);
    cr_expect_eq(use.host.used + beside, taken, "%lu and %zu beside are not %zu", (unsigned long)use.host.used, beside, taken);
    for (uint32_t d = 0; d < use.device_count; d++) {
        sum = 0;
        for (int i = 0; i < HDST_MEMORY_OWNERS; i++) sum += use.device[d].owner_used[i];
        cr_expect_eq(sum, use.device[d].used);
        const hdst__device *device = context->engine->worker[d].device;
        const uint64_t kept = device->unified ? 0 : atomic_load(&device->held.now) - device->budget.used;       // buffers that nobody uses
        cr_expect_eq(sum, device->budget.used + kept);
        cr_expect(use.device[d].peak >= use.device[d].used);
        if (use.device[d].in_host_memory) cr_expect(use.device[d].used <= use.host.used);
    }
}

// --- What runs ---

typedef struct item { uint64_t key; float x; uint32_t at; } item;

enum { COUNT = 400000, ROWS = 50000 };

static const char kernels[] =
    "struct item { uint64_t key; float x; uint32_t at; };\n"
    "struct sums { double x; };\n"
    "map add(item i, accum double sums[]) { sums[i.at % len(sums)] += i.x; }\n"
    "map looked(item i, broadcast uint64_t v[], accum uint64_t sum) { sum += v[i.at % len(v)]; }\n"
    "map total(item i) -> (key uint64_t key, double x) { return (i.key, (double)i.x); }\n"
    "reduce more(sums a, sums b) { return (sums){ .x = a.x + b.x }; }\n"
    "map turned(item i) -> item { return (item){ .key = i.key, .x = -i.x, .at = i.at }; }\n";

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++)
        ((item *)records)[i] = (item){(first + i) * 2654435761u % 300007, (float)((first + i) % 1000), (uint32_t)(first + i)};
    return true;
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *items;
} job;

static job begin(const char *form, uint64_t budget, uint64_t count)
{
    job j = {.context = context_with(form, budget)};
    j.module = module_of(j.context, kernels);
    j.items = hdst_read(hdst_source_from_callback(j.context, count, fill, NULL), j.module, "item");
    return j;
}

static hdst_memory_use after_run(const job *j, hdst_dataset *d)
{
    hdst_memory_reset_peaks(j->context, NULL);
    hdst_result *r = hdst_result_create(d);
    RUN(r);
    const hdst_memory_use use = usage(j->context);
    expect_balanced(j->context);
    hdst_result_destroy(r);
    return use;
}

static void expect_in_host_or_device(const hdst_memory_use *use, hdst_memory_owner owner, uint64_t least)
{
    const uint64_t host = use->host.owner_peak[owner], device = use->device_count ? use->device[0].owner_peak[owner] : 0;
    cr_expect(host >= least || device >= least, "%s: %lu and %lu bytes are less than %lu", hdst_memory_owner_name(owner), (unsigned long)host,
              (unsigned long)device, (unsigned long)least);
    cr_expect(host < least * 40 + 64 * MIB && device < least * 40 + 64 * MIB, "%s", hdst_memory_owner_name(owner));
}

Test(memory_usage, each_owner_has_what_its_objects_take)
{
    static uint64_t rows[ROWS];
    ON_EACH_FORM {
        job j = begin(forms[form], 0, COUNT);
        cr_expect(usage(j.context).host.owner_used[HDST_MEMORY_COMPILER] > 1000);
        hdst_map_spec *add = hdst_map_spec_create(j.module, "add"), *looked = hdst_map_spec_create(j.module, "looked");
        hdst_bind_accum(add, "sums", ROWS);
        hdst_memory_use use = after_run(&j, hdst_map(j.items, add));
        expect_in_host_or_device(&use, HDST_MEMORY_ACCUMULATORS, ROWS * sizeof(int64_t));
        expect_in_host_or_device(&use, HDST_MEMORY_SEGMENTS, 64 * sizeof(item));

        hdst_value *v = hdst_value_create(j.module, "uint64_t", ROWS);
        hdst_value_set(v, rows, ROWS);
        hdst_bind_value(looked, "v", v);
        use = after_run(&j, hdst_map(j.items, looked));
        cr_expect(use.host.owner_used[HDST_MEMORY_VALUES] >= sizeof rows);

        hdst_dataset *cached = hdst_cache(j.items);
        use = after_run(&j, hdst_map(cached, looked));
        cr_expect(use.device[0].owner_used[HDST_MEMORY_CACHES] >= COUNT * sizeof(item));
        hdst_uncache(cached);
        cr_expect_eq(usage(j.context).device[0].owner_used[HDST_MEMORY_CACHES], 0);
        expect_balanced(j.context);

        use = after_run(&j, hdst_map_function(j.items, j.module, "turned"));
        expect_in_host_or_device(&use, HDST_MEMORY_OUTPUT, COUNT * sizeof(item));
        use = after_run(&j, hdst_reduce_by_key(hdst_map_function(j.items, j.module, "total"), j.module, "more"));
        expect_in_host_or_device(&use, HDST_MEMORY_BY_KEY, 300007 * sizeof(uint64_t));
        use = after_run(&j, hdst_sort(j.items, "key"));
        expect_in_host_or_device(&use, HDST_MEMORY_SORTS, COUNT * sizeof(item));
        hdst_context_destroy(j.context);
        cr_expect_eq(taken, 0);
    }
}

Test(memory_usage, what_a_source_keeps_is_the_readers)
{
    char path[] = "/tmp/hdst-test-XXXXXX.csv";
    const int number = mkstemps(path, 4);
    FILE *file = fdopen(number, "w");
    cr_assert_not_null(file);
    for (int i = 0; i < 200000; i++) fprintf(file, "%d,%d,%d\n", i, i % 7, i % 1000);
    fclose(file);
    job j = begin("interp", 0, 10);
    const uint64_t before = usage(j.context).host.owner_used[HDST_MEMORY_READERS];
    hdst_source *source = hdst_source_open(j.context, path);
    cr_assert_eq(hdst_source_rows(source), 200000);
    cr_expect(usage(j.context).host.owner_used[HDST_MEMORY_READERS] >= before + sizeof "0,0,0");
    expect_balanced(j.context);
    hdst_source_destroy(source);
    cr_expect_eq(usage(j.context).host.owner_used[HDST_MEMORY_READERS], before);
    hdst_context_destroy(j.context);
    unlink(path);
}

// --- Peaks ---

Test(memory_usage, peaks_are_the_hooks)
{
    job j = begin("interp", 64 * MIB, COUNT);
    hdst_result *r = hdst_result_create(hdst_sort(j.items, "key")), *small = hdst_result_create(hdst_slice(j.items, 0, 10));
    peak = taken;
    RUN(r);
    const uint64_t seen = peak - beside, told = hdst_result_stats(r).host_peak_bytes;
    cr_expect(told >= seen && told <= seen + seen / 50, "%lu are told, %lu were seen", (unsigned long)told, (unsigned long)seen);
    cr_expect_eq(usage(j.context).host.peak, told);
    cr_expect(strstr(hdst_explain(r, NULL), "memory of the host: at most "));
    cr_expect(strstr(hdst_explain(r, NULL), " of 64.0 MiB and 8.3 MiB for small blocks, ") && strstr(hdst_explain(r, NULL), "sorts and groups "));
    hdst_result_destroy(r);
    RUN(small);
    cr_expect(hdst_result_stats(small).host_peak_bytes < told / 2, "a run tells its own peak");
    cr_expect(usage(j.context).host.peak >= told, "the context that of all its runs");
    hdst_memory_reset_peaks(j.context, NULL);
    cr_expect(usage(j.context).host.peak < told / 2);
    hdst_context_destroy(j.context);
}

Test(memory_usage, a_runs_peak_on_devices_is_told)
{
    ON_EACH_FORM {
        job j = begin(forms[form], 0, COUNT);
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_cache(j.items), j.module, "turned"));
        RUN(r);
        const hdst_run_stats stats = hdst_result_stats(r);
        cr_expect(stats.device_peak_bytes >= COUNT * sizeof(item) && stats.device_peak_bytes < 16 * COUNT * sizeof(item) + 256 * MIB);
        const hdst_memory_use use = usage(j.context);
        cr_expect_eq(use.device_count, 1);
        cr_expect_eq(use.device[0].in_host_memory, form < 2);
        cr_expect_eq(use.device[0].limit == 0, form == 0, "the interpreter has no limit of its own");
        hdst_context_destroy(j.context);
    }
}

typedef struct asking {
    hdst_context *context;
    _Atomic bool ends;
    uint64_t asked, most;
} asking;

static void *ask(void *user)
{
    asking *a = user;
    while (!a->ends) {
        const hdst_memory_use use = usage(a->context);
        uint64_t sum = 0;
        for (int i = 0; i < HDST_MEMORY_OWNERS; i++) sum += use.host.owner_used[i];
        cr_assert_eq(sum, use.host.used);
        if (sum > a->most) a->most = sum;
        a->asked++;
    }
    return NULL;
}

Test(memory_usage, is_told_while_a_run_goes_on)
{
    ON_EACH_FORM {
        job j = begin(forms[form], 0, COUNT);
        asking a = {.context = j.context};
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, ask, &a), 0);
        hdst_result *r = hdst_result_create(hdst_sort(j.items, "key"));
        for (int i = 0; i < 3; i++) RUN(r);
        a.ends = true;
        pthread_join(thread, NULL);
        cr_expect(a.asked > 3);
        cr_expect(a.most <= usage(j.context).host.peak);
        hdst_context_destroy(j.context);
    }
}

// --- Temporary files ---

static bool yes(int file) { return (void)file, true; }

static hdst_memory_use sort_through_a_file(bool (*in_memory)(int file))
{
    warnings = 0;
    job j = begin("interp", 2 * MIB, COUNT);
    if (in_memory) j.context->engine->runtime.files.in_memory = in_memory;
    hdst_result *r = hdst_result_create(hdst_sort(j.items, "key"));
    for (int i = 0; i < 2; i++) RUN(r);
    cr_expect(strstr(hdst_explain(r, NULL), "temporary files: at most "));
    cr_expect_eq(!!strstr(hdst_explain(r, NULL), "in memory beside the budget"), usage(j.context).files_in_memory);
    hdst_result_destroy(r);
    const hdst_memory_use use = usage(j.context);
    hdst_context_destroy(j.context);
    return use;
}

Test(memory_usage, tells_temporary_files_apart)
{
    const hdst_memory_use use = sort_through_a_file(NULL);
    cr_expect(use.files_peak >= COUNT * sizeof(item), "%lu", (unsigned long)use.files_peak);
    cr_expect_eq(use.files, 0);
    cr_expect(use.host.peak < 5 * MIB);
}

Test(memory_usage, warns_once_of_temporary_files_in_memory)
{
    const hdst_memory_use use = sort_through_a_file(yes);
    cr_expect(use.files_in_memory);
    cr_expect_eq(warnings, 1);
    cr_expect(strstr(warning, "TMPDIR"));
}

Test(memory_usage, a_tmpfs_is_noticed)
{
    char folder[] = "/dev/shm/hdst-test-XXXXXX";
    if (!mkdtemp(folder)) {
        cr_log_warn("no folder in /dev/shm: skipped");
        return;
    }
    setenv("TMPDIR", folder, 1);
    const hdst_memory_use use = sort_through_a_file(NULL);
    cr_expect(use.files_in_memory);
    cr_expect_eq(warnings, 1);
    cr_expect(strstr(warning, folder));
    cr_expect_eq(rmdir(folder), 0);
    cr_log_info("/dev/shm was there");
}

// --- Too little ---

// What the hint of an error for memory names does.
Test(memory_usage, a_budget_that_is_too_small_says_how_much_is_needed)
{
    static const uint64_t budgets[] = {1 << 10, 8 << 10, 100 << 10, MIB};
    ON_EACH_FORM for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        uint64_t budget = budgets[b];
        hdst_status status = HDST_E_MEMORY;
        for (int turn = 0; turn < 2 && status != HDST_OK; turn++) {
            job j = begin(forms[form], budget, COUNT);
            hdst_error error = HDST_ERROR_INIT;
            hdst_map_spec *add = hdst_map_spec_create(j.module, "add");
            hdst_bind_accum(add, "sums", 10);
            status = hdst_run(hdst_result_create(hdst_map(j.items, add)), &error);
            hdst_context_destroy(j.context);
            const char *named = strstr(error.hint, "--memory ");
            if (status == HDST_OK) break;
            cr_assert_eq(status, HDST_E_MEMORY, "%s", error.message);
            cr_assert(turn == 0 && named, "%s with %lu bytes: %s (%s)", forms[form], (unsigned long)budget, error.message, error.hint);
            budget = strtoull(named + strlen("--memory "), NULL, 10) * MIB;
            cr_assert(budget >= MIB && budget <= 16 * MIB);
        }
        cr_expect_eq(status, HDST_OK);
    }
}

// --- CPU devices ---

// What a CPU device has is memory of the host: the device's buffers count there too, and the host's budget bounds them.
Test(memory_usage, memory_of_a_cpu_device_counts_as_the_hosts)
{
    for (size_t form = 0; form < 2; form++) {
        if (form == 1 && !have_cpu()) return;
        job j = begin(forms[form], 0, COUNT);
        hdst_dataset *cached = hdst_cache(j.items);
        const hdst_memory_use use = after_run(&j, hdst_map_function(cached, j.module, "turned"));
        cr_expect(use.device[0].in_host_memory);
        for (int i = 0; i < HDST_MEMORY_OWNERS; i++)
            cr_expect(use.host.owner_used[i] >= use.device[0].owner_used[i], "%s", hdst_memory_owner_name((hdst_memory_owner)i));
        cr_expect(use.host.peak >= use.device[0].peak);
        hdst_context_destroy(j.context);

        j = begin(forms[form], 4 * MIB, COUNT);         // the records alone have 6.1 MiB
        peak = 0;
        after_run(&j, hdst_map_function(hdst_cache(j.items), j.module, "turned"));
        cr_expect(peak <= 4 * MIB / 10 * 11 + 2 * MIB, "%zu", (size_t)peak);
        hdst_context_destroy(j.context);
    }
}

// --- Wrong use, and what is not the library's ---

Test(memory_usage, registered_memory_is_told_and_does_not_count)
{
    job j = begin("interp", 0, 10);
    char *some = malloc(3 * MIB);
    const uint64_t before = usage(j.context).host.used;
    cr_assert_eq(hdst_memory_register(j.context, some, 3 * MIB, NULL), HDST_OK);
    cr_expect_eq(usage(j.context).registered, 3 * MIB);
    cr_expect(usage(j.context).host.used < before + 1000);
    cr_assert_eq(hdst_memory_unregister(j.context, some, NULL), HDST_OK);
    cr_expect_eq(usage(j.context).registered, 0);
    hdst_context_destroy(j.context);
    free(some);
}

Test(memory_usage, refuses_what_it_cannot_fill)
{
    hdst_context *context = context_on("interp");
    struct { hdst_memory_use use; char more[8]; } newer = {HDST_MEMORY_USE_INIT, "abcdefg"};
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_memory_usage(context, NULL, &error), HDST_E_USAGE);
    cr_assert_eq(hdst_memory_usage(NULL, &newer.use, &error), HDST_E_USAGE);
    cr_assert_eq(hdst_memory_reset_peaks(NULL, &error), HDST_E_USAGE);
    newer.use.size = sizeof newer;
    cr_assert_eq(hdst_memory_usage(context, &newer.use, &error), HDST_OK);
    cr_expect_eq(newer.more[0], 0, "what this library does not know is zero");
    newer.use.size = 8;
    cr_assert_eq(hdst_memory_usage(context, &newer.use, &error), HDST_E_USAGE);
    cr_expect(strstr(error.hint, "HDST_MEMORY_USE_INIT"));
    hdst_context_destroy(context);
}
