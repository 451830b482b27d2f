// SPDX-License-Identifier: Apache-2.0
// Of a cached dataset that does not fit a part stays: later runs read the rest and nothing else from where it comes from, whatever the budget, with the same
// answers; who needs the memory gets it.
#include "tests/hdst/support.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MIB = 1 << 20, COUNT = 1500037 };     // 16 bytes each: 22.9 MiB

typedef struct item {
    uint64_t key;
    uint32_t v, at;
} item;

static const char kernels[] =
    "struct item { uint64_t key; uint32_t v; uint32_t at; };\n"
    "struct sums { uint64_t n; double s; };\n"
    "map all(item i, accum sums total, accum uint64_t seen[]) { total.n += 1; total.s += (double)i.v; seen[i.v % 64u] += i.at; }\n"
    "map checked(item i, broadcast uint32_t bad[], accum uint64_t n) { n += bad[i.at >= bad[0] ? 5u : 0u] > 0u ? 1u : 0u; }\n"
    "map doubled(item i) -> item { return (item){ .key = i.key, .v = i.v, .at = i.at * 2u }; }\n"
    "filter some(item i) { return i.v % 8u == 3u; }\n"
    "struct counted { uint64_t n; };\n"
    "map by(item i) -> (key uint64_t key, uint64_t n) { return (i.key % 1000, 1); }\n"
    "reduce more(counted a, counted b) { return (counted){ .n = a.n + b.n }; }\n"
    "map wide(item i, accum double t[]) { t[i.at % 1000u] += (double)i.v; }\n"
    "associative reduce later(item a, item b) { return b; }\n";

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

static uint64_t copies_after = UINT64_MAX;       // hdst__limits'
static uint64_t host_budget;                    // of a device with memory of its own; 0: all

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *cached;
    _Atomic uint64_t reads;         // records that the source was asked for
    _Atomic int64_t lean;           // those of the first half, less the others
} job;

static uint32_t value_at(uint64_t i) { return (uint32_t)(i * 2654435761u) >> 12; }
static item item_at(uint64_t i) { return (item){i * 977 % 10007, value_at(i), (uint32_t)i}; }

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    atomic_fetch_add(&((job *)user)->reads, count);
    atomic_fetch_add(&((job *)user)->lean, first < COUNT / 2 ? (int64_t)count : -(int64_t)count);
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = item_at(first + i);
    return true;
}

// The budget is that of the memory in which the device has the records.
static void open_job_in(job *j, const char *form, uint64_t budget, bool cached, hdst_layout layout)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    const bool gpu = !strcmp(form, "gpu-form");
    options.device = gpu ? "cpu" : form;
    options.memory = gpu ? host_budget : budget;
    options.device_memory = gpu ? budget : 0;
    *j = (job){.context = hdst_context_create(&options)};
    cr_assert_eq(hdst_context_status(j->context, NULL), HDST_OK);
    j->context->engine->options.gpu_form_on_cpu = gpu;
    hdst__engine_limits(j->context->engine)->copies_after = copies_after;
    j->module = module_of(j->context, kernels);
    hdst_source *source = hdst_source_from_callback(j->context, COUNT, fill, j);
    hdst_dataset *items = hdst_with_layout(hdst_read(source, j->module, "item"), layout);
    j->cached = cached ? hdst_cache(items) : items;
    hdst_source_destroy(source);
}

static void open_job(job *j, const char *form, uint64_t budget, bool cached) { open_job_in(j, form, budget, cached, HDST_AOS); }

// What stays, by the ledger: of the device, which counts whole pages.
static uint64_t resident(const job *j)
{
    hdst_memory_use use = HDST_MEMORY_USE_INIT;
    cr_assert_eq(hdst_memory_usage(j->context, &use, NULL), HDST_OK);
    return use.device_count ? use.device[0].owner_used[HDST_MEMORY_CACHES] : 0;
}

static hdst_result *sums_of(const job *j)
{
    hdst_map_spec *spec = hdst_map_spec_create(j->module, "all");
    hdst_bind_accum(spec, "seen", 64);
    return hdst_result_create(hdst_map(j->cached, spec));
}

static void expect_sums(hdst_result *r)
{
    uint64_t seen[64] = {0};
    double sum = 0;
    for (uint64_t i = 0; i < COUNT; i++) seen[value_at(i) % 64] += i, sum += value_at(i);
    cr_assert_eq(hdst_view_int64(hdst_result_field(r, "total", "n"), 0, 0), COUNT);
    cr_assert_eq(hdst_view_double(hdst_result_field(r, "total", "s"), 0, 0), sum);
    for (uint64_t k = 0; k < 64; k++) cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(r, "seen", NULL), k, 0), seen[k]);
}

static uint64_t rerun(job *j, hdst_result *r)
{
    atomic_store(&j->reads, 0);
    atomic_store(&j->lean, 0);
    RUN(r);
    return atomic_load(&j->reads) * sizeof(item);
}

// --- What is read again ---

// The source is asked for what does not stay, by the ledger's word, and for nothing else; so much crosses to a device with memory of its own.
static void expect_reads(job *j, hdst_result *r, bool copies)
{
    const uint64_t all = COUNT * sizeof(item), stays = resident(j), read = rerun(j, r);
    const hdst_run_stats stats = hdst_result_stats(r);
    cr_assert(read <= all);
    cr_expect(all - read <= stays && stays <= all - read + 4096, "%lu of %lu read, %lu stay", (unsigned long)read, (unsigned long)all, (unsigned long)stays);
    cr_expect_eq(resident(j), stays, "the same stay");
    cr_expect_eq(stats.bytes_to_device, copies ? read : 0, "%lu to the device, %lu read", (unsigned long)stats.bytes_to_device, (unsigned long)read);
    cr_expect_eq(stats.cache_miss_bytes, read, "%lu missed, %lu read, %lu hit", (unsigned long)stats.cache_miss_bytes, (unsigned long)read,
                 (unsigned long)stats.cache_hit_bytes);
    cr_expect_eq(stats.cache_hit_bytes, all - read);
}

Test(partial_residency, only_what_does_not_stay_is_read_again)
{
    static const uint64_t budgets[] = {2, 6, 10, 16, 20, 24, 28, 48};
    ON_EACH_FORM {
        uint64_t before = 0;
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            job j;
            open_job(&j, forms[form], budgets[b] * MIB, true);
            hdst_result *r = sums_of(&j);
            RUN(r);
            expect_sums(r);
            for (int turn = 0; turn < 3; turn++) {
                expect_reads(&j, r, !strcmp(forms[form], "gpu-form"));
                expect_sums(r);
                cr_expect(budgets[b] != 16 || llabs(j.lean) <= COUNT / 8, "what stays is spread evenly, so what is read is: by %ld", (long)j.lean);
            }
            const uint64_t stays = resident(&j);
            const bool in_part = stays < COUNT * sizeof(item);
            cr_expect(stays >= before, "more budget, and less stays");
            cr_expect(budgets[b] != 16 || stays > 6 * MIB, "%s: %lu stay of 16 MiB", forms[form], (unsigned long)stays);
            cr_expect(budgets[b] != 48 || !in_part, "%s", forms[form]);
            if (in_part && stays) cr_expect(strstr(hdst_explain(r, NULL), ", resident: "), "%s", hdst_explain(r, NULL));
            before = stays;
            hdst_result_destroy(r);
            hdst_context_destroy(j.context);
        }
    }
}

// --- Answers ---

static void expect_filtered(const job *j)
{
    item *rows;
    uint64_t count, n = 0;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_collect(hdst_filter(j->cached, hdst_map_spec_create(j->module, "some")), (void **)&rows, &count, &error), HDST_OK, "%s", error.message);
    for (uint64_t i = 0; i < COUNT; i++) {
        if (value_at(i) % 8 != 3) continue;
        const item want = item_at(i);
        cr_assert(n < count && rows[n].key == want.key && rows[n].v == want.v && rows[n].at == want.at, "row %lu", (unsigned long)n);
        n++;
    }
    cr_expect_eq(count, n);
    hdst_rows_destroy(j->context, rows);
}

static void expect_mapped(const job *j)
{
    hdst_result *r = hdst_result_create(hdst_map_function(j->cached, j->module, "doubled"));
    RUN(r);
    uint64_t count;
    const item *rows = hdst_result_rows(r, NULL, &count);
    cr_assert_eq(count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) cr_assert(rows[i].at == 2 * (uint32_t)i && rows[i].v == value_at(i), "row %lu", (unsigned long)i);
    hdst_result_destroy(r);
}

static void expect_last(const job *j)
{
    hdst_result *r = hdst_result_create(hdst_reduce(j->cached, j->module, "later"));
    RUN(r);
    const item *row = hdst_result_rows(r, NULL, NULL);
    cr_assert(row && row->at == COUNT - 1);
    hdst_result_destroy(r);
}

// Reductions by key and sorts ask for all of it, or read it on the host.
static void expect_by_key(const job *j)
{
    hdst_result *r = hdst_result_create(hdst_reduce_by_key(hdst_map_function(j->cached, j->module, "by"), j->module, "more"));
    uint64_t rows, n = 0;
    RUN(r);
    hdst_result_rows(r, NULL, &rows);
    for (uint64_t i = 0; i < rows; i++) n += (uint64_t)hdst_view_int64(hdst_result_field(r, NULL, "n"), i, 0);
    cr_expect_eq(rows, 1000);
    cr_expect_eq(n, COUNT);
    hdst_result_destroy(r);
}

static void expect_sorted(const job *j)
{
    hdst_result *r = hdst_result_create(hdst_slice(hdst_sort(j->cached, "key"), COUNT - 3, 3));
    RUN(r);
    const item *rows = hdst_result_rows(r, NULL, NULL);
    cr_assert(rows && rows[0].key == 10006 && rows[1].at < rows[2].at, "the last of equal keys come in their order");
    hdst_result_destroy(r);
}

Test(partial_residency, answers_are_those_of_all_records_in_their_order)
{
    copies_after = 1;
    ON_EACH_FORM {
        job j;
        open_job(&j, forms[form], 20 * MIB, true);
        hdst_result *r = sums_of(&j);
        RUN(r);
        cr_assert(resident(&j) > 0 && resident(&j) < COUNT * sizeof(item), "%s: %lu stay", forms[form], (unsigned long)resident(&j));
        expect_filtered(&j);
        expect_last(&j);
        expect_by_key(&j);
        if (strcmp(forms[form], "gpu-form") == 0) expect_mapped(&j);        // the host's budget has no room for these
        expect_sorted(&j);
        RUN(r);
        expect_sums(r);
        hdst_result_destroy(r);
        hdst_context_destroy(j.context);
    }
}

Test(partial_residency, in_every_layout)
{
    static const hdst_layout layouts[] = {HDST_SOA, HDST_AOSOA, HDST_AOP};
    copies_after = 1;
    ON_EACH_FORM for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        job j;
        open_job_in(&j, forms[form], 20 * MIB, true, layouts[l]);
        hdst_result *r = sums_of(&j);
        for (int turn = 0; turn < 3; turn++) {
            const uint64_t read = rerun(&j, r);
            expect_sums(r);
            const bool is_copied = turn > 1 && !strcmp(forms[form], "gpu-form");
            cr_expect(turn == 0 || (is_copied ? read == 0 : read > 0 && read < COUNT * sizeof(item)), "layout %zu: %lu read", l, (unsigned long)read);
        }
        expect_filtered(&j);
        hdst_result_destroy(r);
        hdst_context_destroy(j.context);
    }
}

// --- What is copied from the host ---

static uint64_t on_host(const job *j)
{
    hdst_memory_use use = HDST_MEMORY_USE_INIT;
    cr_assert_eq(hdst_memory_usage(j->context, &use, NULL), HDST_OK);
    return use.host.owner_used[HDST_MEMORY_CACHES];
}

static void expect_copied(job *j, hdst_result *r, uint64_t missing)
{
    cr_expect_eq(rerun(j, r), 0, "nothing is read");
    const hdst_run_stats stats = hdst_result_stats(r);
    expect_sums(r);
    cr_expect_eq(stats.bytes_to_device, missing);
    cr_expect_eq(stats.cache_miss_bytes, missing);
    cr_expect_eq(stats.cache_hit_bytes, COUNT * sizeof(item) - missing);
    cr_expect(on_host(j) >= missing, "%lu on the host, %lu missing", (unsigned long)on_host(j), (unsigned long)missing);
    cr_expect(strstr(hdst_explain(r, NULL), " are copied from the host in every run, "), "%s", hdst_explain(r, NULL));
}

Test(partial_residency, what_was_read_twice_is_copied_from_the_host)
{
    static const uint64_t budgets[] = {2, 16};
    copies_after = 1;
    for (int b = 0; b < 2 && have_cpu(); b++) {
        job j;
        open_job(&j, "gpu-form", budgets[b] * MIB, true);
        hdst_result *r = sums_of(&j);
        cr_expect_geq(rerun(&j, r), COUNT * sizeof(item));      // and a sample
        cr_expect_eq(on_host(&j), 0, "once does not pay for it");
        const uint64_t missing = rerun(&j, r);
        cr_expect(missing > 0 && missing < COUNT * sizeof(item));
        for (int turn = 0; turn < 3; turn++) expect_copied(&j, r, missing);
        expect_filtered(&j);
        hdst_result_destroy(r);
        hdst_context_destroy(j.context);
    }
}

// Whoever wants the host's memory gets it, and the next run reads again what went.
Test(partial_residency, copies_go_when_others_want_their_memory)
{
    if (!have_cpu()) return;
    job j;
    copies_after = 1;
    host_budget = 64 * MIB;
    open_job(&j, "gpu-form", 6 * MIB, true);
    hdst_result *r = sums_of(&j);
    RUN(r);
    const uint64_t missing = rerun(&j, r);
    expect_copied(&j, r, missing);
    hdst__budget *budget = &j.context->engine->runtime.memory;
    const uint64_t left = hdst__budget_left(budget);
    cr_expect(left > hdst__budget_unused(budget) + missing, "what is copied counts as left");
    cr_assert(hdst__budget_reserve(budget, HDST__OWNER_OTHER, left));
    cr_expect_eq(on_host(&j), 0);
    hdst__budget_release(budget, HDST__OWNER_OTHER, left);
    cr_expect_eq(hdst__budget_left(budget), left);
    for (int turn = 0; turn < 2; turn++) cr_expect_eq(rerun(&j, r), missing);
    expect_sums(r);
    expect_copied(&j, r, missing);
    hdst_result_destroy(r);
    hdst_context_destroy(j.context);
}

// Some of the segments have a copy, others are read. An eighth of what was unused before the last copy of a quarter MiB is left, whatever the budget.
Test(partial_residency, a_host_with_little_room_keeps_some)
{
    if (!have_cpu()) return;
    copies_after = 1;
    for (uint64_t more = 0; more < 9; more++) {
        job j;
        host_budget = 16 * MIB + more * MIB / 32;
        open_job(&j, "gpu-form", 2 * MIB, true);
        hdst_result *r = sums_of(&j);
        for (int turn = 0; turn < 3; turn++) {
            const uint64_t read = rerun(&j, r);
            expect_sums(r);
            cr_expect(turn < 2 || (read > 0 && read < COUNT * sizeof(item) - resident(&j)), "%lu read", (unsigned long)read);
        }
        const uint64_t left = hdst__budget_unused(&j.context->engine->runtime.memory);
        cr_expect(left >= MIB / 4 / 7, "of %lu KiB %lu are left", (unsigned long)(host_budget >> 10), (unsigned long)(left >> 10));
        hdst_result_destroy(r);
        hdst_context_destroy(j.context);
    }
}

// From bad[0] on all records fail: the least of them is told, wherever it lies.
Test(partial_residency, the_least_failing_record_is_told_wherever_it_lies)
{
    copies_after = 1;
    ON_EACH_FORM {
        job j;
        open_job(&j, forms[form], 16 * MIB, true);
        uint32_t bad = UINT32_MAX;
        hdst_value *v = hdst_value_create(j.module, "uint32_t", 1);
        hdst_map_spec *spec = hdst_map_spec_create(j.module, "checked");
        hdst_value_set(v, &bad, 1);
        hdst_bind_value(spec, "bad", v);
        hdst_result *r = hdst_result_create(hdst_map(j.cached, spec));
        RUN(r);
        cr_assert(resident(&j) > 0);
        for (uint64_t at = 11; at < COUNT; at += COUNT / 19) {
            hdst_error error = HDST_ERROR_INIT;
            bad = (uint32_t)at;
            hdst_value_set(v, &bad, 1);
            cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
            cr_assert_eq(error.record, at, "record %lu, not %lu", (unsigned long)at, (unsigned long)error.record);
        }
        bad = UINT32_MAX;
        hdst_value_set(v, &bad, 1);
        RUN(r);
        cr_expect_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), COUNT);
        hdst_result_destroy(r);
        hdst_context_destroy(j.context);
    }
}

// --- Others want the memory ---

static hdst_status run_wide(const job *j, uint64_t rows)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_map_spec *wide = hdst_map_spec_create(j->module, "wide");
    hdst_bind_accum(wide, "t", rows);
    hdst_result *t = hdst_result_create(hdst_map(j->cached, wide));
    const hdst_status status = hdst_run(t, &error);
    if (status == HDST_OK) {
        double sum = 0;
        for (uint64_t i = 7; i < COUNT; i += 1000) sum += value_at(i);
        cr_expect_eq(hdst_view_double(hdst_result_field(t, "t", NULL), 7, 0), sum);
    }
    hdst_result_destroy(t);
    return status;
}

// A table that has room beside an input that streams has room where a part of it stays.
Test(partial_residency, what_stays_goes_when_others_want_its_memory)
{
    ON_EACH_FORM {
        bool some_went = false;
        for (uint64_t rows = 20000; rows < 900000; rows *= 16) {
            job alone, beside;
            open_job(&alone, forms[form], 16 * MIB, false);
            hdst_result *before = sums_of(&alone);
            RUN(before);
            const hdst_status could = run_wide(&alone, rows);
            hdst_result_destroy(before);
            hdst_context_destroy(alone.context);
            open_job(&beside, forms[form], 16 * MIB, true);
            hdst_result *r = sums_of(&beside);
            RUN(r);
            const uint64_t stayed = resident(&beside);
            cr_expect_eq(run_wide(&beside, rows), could, "%s: %lu rows", forms[form], (unsigned long)rows);
            some_went |= resident(&beside) < stayed;
            RUN(r);
            expect_sums(r);
            expect_reads(&beside, r, !strcmp(forms[form], "gpu-form"));
            hdst_result_destroy(r);
            hdst_context_destroy(beside.context);
        }
        cr_expect(some_went, "%s: nothing was wanted", forms[form]);
    }
}
