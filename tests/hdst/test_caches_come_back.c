// SPDX-License-Identifier: Apache-2.0
// A cached dataset gives way to a run that has no memory beside it, and is there in whole again when a run begins that does not need its memory.
#include "tests/hdst/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1 << 20, COUNT = 250000, LARGE = 50000 };          // 16 bytes each: 3.8 MiB

typedef struct item {
    uint32_t key;
    float x, y;
    uint32_t at;
} item;

static const char kernels[] = "struct item { uint32_t key; float x; float y; uint32_t at; };\n"
                              "map totals(item i, accum uint64_t n, accum double s) { n += 1; s += (double)i.x; }\n";

static const char *const forms[] = {"interp", "cpu", "team"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (form == 0 || (form == 1 ? have_cpu() : have_team()))

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *cached;
    _Atomic uint64_t reads;         // records that the source was asked for
} job;

static item item_at(uint64_t i) { return (item){(uint32_t)(i * 7919 % 701), (float)(i % 1013) / 64, (float)((i * 31 + 7) % COUNT), (uint32_t)i}; }

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    atomic_fetch_add(&((job *)user)->reads, count);
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = item_at(first + i);
    return true;
}

static void open_job(job *j, const char *form)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    const bool team = !strcmp(form, "team");
    options.device = team ? "0,1,2" : form;
    options.cpu_parts = team ? 2 : 0;
    options.memory = 8 * MIB;
    *j = (job){.context = hdst_context_create(&options)};
    cr_assert_eq(hdst_context_status(j->context, NULL), HDST_OK);
    if (team) hdst__engine_limits(j->context->engine)->share_bytes = 0;
    j->module = module_of(j->context, kernels);
    j->cached = hdst_cache(hdst_read(hdst_source_from_callback(j->context, COUNT, fill, j), j->module, "item"));
}

static uint64_t reads_of(job *j, hdst_result *r)
{
    atomic_store(&j->reads, 0);
    RUN(r);
    return atomic_load(&j->reads);
}

// Devices that share it may lay it out anew once they know each other's speed.
static bool comes_to_stay(job *j, hdst_result *r)
{
    uint64_t reads = 1;
    for (int turn = 0; turn < 5 && reads; turn++) reads = reads_of(j, r);
    return !reads;
}

static hdst_result *totals_of(const job *j) { return hdst_result_create(hdst_map_function(j->cached, j->module, "totals")); }

static void expect_totals(hdst_result *r)
{
    double sum = 0;
    for (uint64_t i = 0; i < COUNT; i++) sum += (double)item_at(i).x;
    cr_expect_eq(hdst_view_int64(hdst_result_field(r, "n", NULL), 0, 0), COUNT);
    cr_expect_eq(hdst_view_double(hdst_result_field(r, "s", NULL), 0, 0), sum);
}

// The largest y, which are all different: so many have no room beside the dataset.
static hdst_result *largest_of(const job *j, uint64_t count) { return hdst_result_create(hdst_top(j->cached, count, "y")); }

static void expect_largest(hdst_result *r, uint64_t count)
{
    hdst_view y = hdst_result_field(r, NULL, "y");
    for (uint64_t i = 0; i < count; i++) cr_assert_eq(hdst_view_double(y, i, 0), (double)(COUNT - 1 - i));
}

Test(caches_come_back, behind_a_run_that_had_no_memory_beside_them)
{
    ON_EACH_FORM {
        job j;
        open_job(&j, forms[form]);
        hdst_result *small = totals_of(&j);
        cr_assert_geq(reads_of(&j, small), COUNT);
        cr_assert(comes_to_stay(&j, small), "%s", forms[form]);
        cr_expect_null(strstr(hdst_explain(small, NULL), "memory was short"));
        hdst_result *large = largest_of(&j, LARGE);
        cr_expect_geq(reads_of(&j, large), COUNT, "%s: it gives way", forms[form]);
        expect_largest(large, LARGE);
        hdst_result_destroy(large);
        cr_expect_geq(reads_of(&j, small), COUNT, "%s: it is read once", forms[form]);
        cr_expect(comes_to_stay(&j, small), "%s: all of it stays again", forms[form]);
        expect_totals(small);
        cr_expect(form == 2 || strstr(hdst_explain(small, NULL), "resident in 1 segment, again since memory was short"), "%s", hdst_explain(small, NULL));
        hdst_context_destroy(j.context);
    }
}

// It needs the memory each time: there is no attempt that ends for want of it.
Test(caches_come_back, a_result_that_needed_their_memory_begins_without_them)
{
    job j;
    open_job(&j, "interp");
    hdst_result *small = totals_of(&j), *large = largest_of(&j, LARGE);
    reads_of(&j, small);
    reads_of(&j, large);
    reads_of(&j, small);
    cr_assert_eq(reads_of(&j, small), 0);
    const uint32_t times = j.context->times_lean;
    cr_expect_geq(reads_of(&j, large), COUNT);
    cr_expect_eq(j.context->times_lean, times);
    expect_largest(large, LARGE);
    hdst_context_destroy(j.context);
}

// What another result holds took its place before it was read again: it is there again once that has gone.
Test(caches_come_back, also_where_their_memory_was_taken_meanwhile)
{
    ON_EACH_FORM {
        enum { HELD = 245000 };
        job j;
        open_job(&j, forms[form]);
        hdst_result *small = totals_of(&j);
        cr_assert(comes_to_stay(&j, small), "%s", forms[form]);
        hdst_result *large = largest_of(&j, LARGE);
        reads_of(&j, large);
        hdst_result_destroy(large);
        hdst_result *held = hdst_result_create(hdst_read(hdst_source_from_callback(j.context, HELD, fill, &j), j.module, "item"));
        reads_of(&j, held);
        cr_expect(form == 2 || !comes_to_stay(&j, small), "%s: there is no room", forms[form]);       // a third of it has
        hdst_result_destroy(held);
        cr_expect(comes_to_stay(&j, small), "%s", forms[form]);
        expect_totals(small);
        hdst_context_destroy(j.context);
    }
}

// Where each turn of a loop has a result of its own nobody knows what it needs: attempts that end for want of memory become rare.
Test(caches_come_back, less_and_less_often_where_each_time_they_give_way_again)
{
    enum { TURNS = 16 };
    job j;
    open_job(&j, "interp");
    hdst_result *small = totals_of(&j);
    for (int turn = 0; turn < TURNS; turn++) {
        reads_of(&j, small);
        const uint32_t before = j.context->times_lean;
        hdst_result *large = largest_of(&j, LARGE);
        reads_of(&j, large);
        expect_largest(large, LARGE);
        hdst_result_destroy(large);
        cr_expect_eq(j.context->times_lean - before, turn == 0 || turn == 1 || turn == 4 || turn == 13, "turn %d", turn);
    }
    hdst_context_destroy(j.context);
}

// Nothing that could be given back would do: it is not tried, and what is cached stays.
Test(caches_come_back, what_is_larger_than_the_budget_takes_none_away)
{
    job j;
    open_job(&j, "interp");
    hdst_error error;
    hdst_result *small = totals_of(&j), *large = largest_of(&j, COUNT);
    reads_of(&j, small);
    cr_expect_eq(hdst_run(large, &error), HDST_E_MEMORY);
    cr_expect(strstr(error.hint, "--memory"), "%s", error.hint);
    cr_expect_eq(reads_of(&j, small), 0, "all of it stays");
    hdst_context_destroy(j.context);
}

// --- Calls that are no runs ---

enum { FUNCTIONS = 750, LENGTH = 160 };

static const char *long_text(void)
{
    static char text[FUNCTIONS * LENGTH];
    size_t at = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "map f%d(float x, accum double p) { p += ((double)x * %d.5 + (double)x) * (double)x; }\n", i, i);
    return text;
}

// What is compiled has no room beside the dataset.
Test(caches_come_back, a_module_has_the_memory_of_a_dataset)
{
    job j;
    open_job(&j, "interp");
    hdst_result *small = totals_of(&j);
    hdst_error error;
    cr_assert(comes_to_stay(&j, small));
    hdst_module *module = hdst_module_parse(j.context, "long.hk", long_text(), NULL);
    cr_expect_eq(hdst_module_status(module, &error), HDST_OK, "%s", error.message);
    cr_expect_geq(reads_of(&j, small), COUNT, "it gave way");
    cr_expect_eq(j.context->times_lean, 0, "no run did");
    hdst_module_destroy(module);
    cr_expect(comes_to_stay(&j, small));
    expect_totals(small);
    hdst_context_destroy(j.context);
}

// --- What comes by once ---

enum { NAMES = 60000 };         // of columns, which have no room beside the dataset

static void *write_columns(void *path)
{
    FILE *f = fopen(path, "w");
    for (int row = 0; f && row < 2; row++)
        for (int i = 0; i < NAMES; i++) fprintf(f, row ? "%d%c" : "c%d%c", i, i < NAMES - 1 ? ',' : '\n');
    if (f) fclose(f);
    return NULL;
}

// All of it was read when memory ended: opened a second time it would wait for a writer that never comes.
Test(caches_come_back, a_pipe_is_opened_once, .timeout = 60)
{
    char path[] = "/tmp/hdst-pipe-XXXXXX";
    job j;
    pthread_t writer;
    open_job(&j, "interp");
    hdst_result *small = totals_of(&j);
    cr_assert(comes_to_stay(&j, small));
    cr_assert_not_null(mkdtemp(path));
    char name[64];
    snprintf(name, sizeof name, "%s/columns.csv", path);
    cr_assert_eq(mkfifo(name, 0600), 0);
    cr_assert_eq(pthread_create(&writer, NULL, write_columns, name), 0);
    hdst_source *source = hdst_source_open(j.context, name);
    pthread_join(writer, NULL);
    cr_expect_eq(hdst_source_status(source, NULL), HDST_E_MEMORY);
    unlink(name);
    rmdir(path);
    hdst_context_destroy(j.context);
}
