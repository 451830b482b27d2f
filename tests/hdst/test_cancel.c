// SPDX-License-Identifier: Apache-2.0
// Cancelling a run, counted in records: a source that cancels while a certain record is read is asked for no other,
// wherever its records go. No later run is hit.
#include "hdst/result.h"
#include "io/source.h"
#include "tests/hdst/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct item { uint64_t key, value; } item;

enum { NEVER = 0 };

typedef struct feed {
    hdst_context *context;
    uint64_t cancel_at;         // the record whose reading cancels, from 1; NEVER
    uint64_t asked_after;       // records that were wanted after that
    bool cancelled;
} feed;

static bool give(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    feed *f = user;
    item *to = records;
    (void)message;
    if (f->cancelled) f->asked_after += count;
    else if (f->cancel_at != NEVER && first + count >= f->cancel_at) {
        hdst_context_cancel(f->context);
        f->cancelled = true;
    }
    for (uint64_t i = 0; i < count; i++) to[i] = (item){(first + i) * UINT64_C(0x9e3779b97f4a7c15) >> 44, first + i};
    return true;
}

static const char text[] =
    "struct item { uint64_t key; uint64_t value; };\n"
    "map add(item a, accum uint64_t s) { s += a.value; }\n"
    "map twice(item a) -> item { item r; r.key = a.key; r.value = 2 * a.value; return r; }\n"
    "reduce total(uint64_t a, uint64_t b) { return a + b; }\n"
    "associative reduce by_law(item a, item b) { item r; r.key = a.key; r.value = a.value * b.value; return r; }\n"
    "reduce in_order(item a, item b) { item r; r.key = a.key; r.value = a.value * 3 + b.value; return r; }\n"
    "map part(item a) -> uint32_t { return (uint32_t)(a.key & 7); }\n"
    "group largest(key uint64_t key, stream item s) -> item {\n"
    "    item r; r.key = key; r.value = 0; for (item e : s) { r.value = e.value > r.value ? e.value : r.value; } return r;\n"
    "}\n";

typedef hdst_dataset *(*operator_of)(hdst_dataset *items, hdst_module *module);

static hdst_dataset *adds(hdst_dataset *items, hdst_module *module) { return hdst_map_function(items, module, "add"); }
static hdst_dataset *maps(hdst_dataset *items, hdst_module *module) { return hdst_map_function(items, module, "twice"); }
static hdst_dataset *folds(hdst_dataset *items, hdst_module *module) { return hdst_reduce(items, module, "by_law"); }
static hdst_dataset *folds_in_order(hdst_dataset *items, hdst_module *module) { return hdst_reduce(items, module, "in_order"); }
static hdst_dataset *reduces(hdst_dataset *items, hdst_module *module) { return hdst_reduce_by_key(items, module, "total"); }
static hdst_dataset *groups(hdst_dataset *items, hdst_module *module) { return hdst_group_function(items, NULL, module, "largest"); }
static hdst_dataset *parts(hdst_dataset *items, hdst_module *module) { return hdst_partition(items, module, "part", 8); }
static hdst_dataset *sorts(hdst_dataset *items, hdst_module *module) { return (void)module, hdst_sort(items, "value desc"); }
static hdst_dataset *caches(hdst_dataset *items, hdst_module *module) { return (void)module, hdst_cache(items); }
static hdst_dataset *tops(hdst_dataset *items, hdst_module *module) { return (void)module, hdst_top(items, 10, "value"); }

typedef struct run_case {
    const char *what;
    operator_of make;
    uint64_t records, memory;
    uint64_t cancel_at;         // within what is read in several steps: the last but one at the latest
} run_case;

// Steps of reading are pieces of 4 MB of a stage and a reduction by key, 16 MB of what goes to memory as it is, 1 MB
// where groups are read in parts, 4096 records in order.
static const run_case cases[] = {
    {"accumulators", adds, 1000000, 0, 1},
    {"a map", maps, 1000000, 0, 1},
    {"an associative reduce", folds, 1000000, 0, 1},
    {"a reduce in order", folds_in_order, 100000, 0, 5000},
    {"a reduction by key", reduces, 1000000, 0, 300000},
    {"a sort", sorts, 3000000, 0, 1},
    {"a sort through runs", sorts, 3000000, 24 << 20, 1},
    {"groups", groups, 3000000, 0, 1},
    {"groups in parts", groups, 400000, 8 << 20, 1},
    {"parts", parts, 3000000, 0, 1},
    {"a cache", caches, 3000000, 0, 1},
    {"the largest", tops, 1000000, 0, 1},
};

static void expect_ends(const char *device, const run_case *c)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = c->memory;
    feed f = {.context = hdst_context_create(&options), .cancel_at = c->cancel_at};
    hdst_module *module = module_of(f.context, text);
    hdst_source *source = hdst_source_from_callback(f.context, c->records, give, &f);
    hdst_result *result = hdst_result_create(c->make(hdst_read(source, module, "item"), module));
    hdst_error error;
    cr_assert_eq(hdst_run(result, &error), HDST_E_CANCELLED, "%s on %s: %s", c->what, device, error.message);
    cr_assert(f.cancelled);
    cr_assert_eq(f.asked_after, 0, "%s on %s: asked for %llu records after it was cancelled", c->what, device, (unsigned long long)f.asked_after);
    hdst_context_destroy(f.context);
}

Test(cancel, no_record_is_read_after_it)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_ends("interp", &cases[i]);
    // Records of the first piece are read before, for the plan; slices on the interpreter look for themselves.
    static const run_case behind_the_first_piece[] = {{"accumulators", adds, 1000000, 0, 300000}, {"a map", maps, 1000000, 0, 300000}};
    for (size_t i = 0; i < 2 && have_cpu(); i++) expect_ends("cpu", &behind_the_first_piece[i]);
}

// Records that lie in memory are not asked for, so what was done is read from the message.
Test(cancel, a_reduction_by_key_in_the_hosts_memory)
{
    enum { N = 1000000 };
    feed f = {.context = context_on("interp")};
    hdst_module *module = module_of(f.context, text);
    hdst_source *source = hdst_source_from_callback(f.context, N, give, &f);
    hdst_dataset *cached = hdst_cache(hdst_read(source, module, "item"));
    hdst_result *read = hdst_result_create(cached), *result = hdst_result_create(reduces(cached, module));
    hdst_error error;
    RUN(read);
    RUN(result);                                    // planned and compiled: these look for themselves
    hdst__cancel_begin(&f.context->cancel);         // what the public call does, and a cancel at its very start
    hdst__cancel_ask(&f.context->cancel);
    cr_assert_eq(hdst__result_run(result, &error), HDST_E_CANCELLED);
    cr_assert_str_eq(error.message, "cancelled after 0 of 1000000 records");
    hdst__cancel_end(&f.context->cancel);
    RUN(result);
    hdst_context_destroy(f.context);
}

Test(cancel, a_cancelled_run_holds_nothing_and_the_next_one_is_right)
{
    enum { N = 1000000 };
    feed f = {.context = context_on("interp"), .cancel_at = 1};
    hdst_module *module = module_of(f.context, text);
    hdst_source *source = hdst_source_from_callback(f.context, N, give, &f);
    hdst_result *result = hdst_result_create(adds(hdst_read(source, module, "item"), module));
    cr_assert_eq(hdst_run(result, NULL), HDST_E_CANCELLED);
    cr_assert_null(hdst_result_rows(result, "s", NULL));
    f = (feed){.context = f.context};
    RUN(result);
    cr_assert_eq(hdst_view_int64(hdst_result_field(result, "s", NULL), 0, 0), (int64_t)N * (N - 1) / 2);
    hdst_context_destroy(f.context);
}

// Before a run, between runs, or too late to be seen: it concerns none that comes later.
Test(cancel, it_concerns_the_call_in_progress_alone)
{
    enum { N = 1000 };
    feed f = {.context = context_on("interp")};
    hdst_context_cancel(f.context);
    hdst_module *module = module_of(f.context, text);
    hdst_source *source = hdst_source_from_callback(f.context, N, give, &f);
    hdst_context_cancel(f.context);
    hdst_result *result = hdst_result_create(adds(hdst_read(source, module, "item"), module));
    for (int i = 0; i < 3; i++) {
        hdst_context_cancel(f.context);
        RUN(result);
        uint64_t count = 0;
        hdst_context_cancel(f.context);
        cr_assert_eq(hdst_count(hdst_read(source, module, "item"), &count, NULL), HDST_OK);
        cr_assert_eq(count, N);
    }
    hdst_context_destroy(f.context);
    hdst_context_cancel(NULL);
}

// A cancel concerns the call whose number it finds: an action that took two would lose one that comes between them.
Test(cancel, an_action_is_one_call)
{
    static const char odd[] = "struct item { uint64_t key; uint64_t value; };\nfilter odd(item a) { return (a.value & 1) != 0; }\n";
    feed f = {.context = context_on("interp")};
    hdst_module *module = module_of(f.context, odd);
    hdst_dataset *items = hdst_read(hdst_source_from_callback(f.context, 1000, give, &f), module, "item");
    hdst_dataset *some = hdst_filter_function(items, module, "odd");
    item rows[10];
    uint64_t count = 0;
    uint64_t before = atomic_load(&f.context->cancel.word) / HDST__CANCEL_NEXT;
    cr_assert_eq(hdst_take(some, 10, rows, &count, NULL), HDST_OK);
    cr_assert_eq(count, 10);
    cr_assert_eq(rows[9].value, 19);
    cr_assert_eq(atomic_load(&f.context->cancel.word) / HDST__CANCEL_NEXT, before + 1);
    cr_assert_eq(hdst_count(some, &count, NULL), HDST_OK);
    cr_assert_eq(count, 500);
    cr_assert_eq(atomic_load(&f.context->cancel.word) / HDST__CANCEL_NEXT, before + 2);
    hdst_context_destroy(f.context);
}

Test(cancel, actions_that_copy_records)
{
    enum { N = 3000000 };
    item *rows = malloc(N * sizeof *rows);
    feed f = {.context = context_on("interp")};
    hdst_module *module = module_of(f.context, text);
    hdst_dataset *items = hdst_read(hdst_source_from_callback(f.context, N, give, &f), module, "item");
    void *collected;
    uint64_t count;
    for (int i = 0; i < 4; i++) {
        f = (feed){.context = f.context, .cancel_at = 1};
        const hdst_status status = i == 0 ? hdst_take(items, N, rows, NULL, NULL) : i == 1 ? hdst_dataset_take(items, 0, N, rows, NULL)
                                 : i == 2 ? hdst_collect(items, &collected, &count, NULL) : hdst_save(items, "/dev/null/none/x.raw", NULL);
        if (i == 3) continue;           // there is no such folder: nothing was read
        cr_assert_eq(status, HDST_E_CANCELLED, "%d", i);
        cr_assert_eq(f.asked_after, 0, "%d", i);
    }
    free(rows);
    hdst_context_destroy(f.context);
}

// --- A loop without an end ---

typedef struct canceller {
    hdst_context *context;
    atomic_bool over;
} canceller;

// Until the run is over, for nobody can tell when the loop has begun.
static void *keep_cancelling(void *user)
{
    canceller *c = user;
    while (!atomic_load(&c->over)) hdst_context_cancel(c->context);
    return NULL;
}

Test(cancel, a_kernel_loop_that_never_ends_on_the_interpreter)
{
    static const char endless[] =
        "map spin(int64_t i, accum int64_t s) { int64_t n = i; while (n >= 0) { n = n == 7 ? 0 : n + (n < 7 ? 1 : 0); } s += n; }\n"
        "map count(int64_t i, accum int64_t s) { int64_t n = i; for (int64_t k = 0; k < 4000000000000000000; k++) { n ^= k * n; } s += n; }\n";
    static const char *const functions[] = {"spin", "count" /* centuries */};
    for (size_t i = 0; i < 2; i++) {
        canceller c = {.context = context_on("interp")};
        hdst_module *module = module_of(c.context, endless);
        hdst_result *result = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_range(c.context, 0, 1000), module, "int64_t"),
                                                                   module, functions[i]));
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, keep_cancelling, &c), 0);
        cr_assert_eq(hdst_run(result, NULL), HDST_E_CANCELLED);
        atomic_store(&c.over, true);
        pthread_join(thread, NULL);
        hdst_context_destroy(c.context);
    }
}

// --- Counting the rows of a file ---

// A text of numbers is gone through when its rows are counted, with a look at every block.
Test(cancel, a_text_file_whose_rows_are_counted)
{
    char path[] = "/tmp/hdst-cancel-XXXXXX.csv";
    const int fd = mkstemps(path, 4);
    FILE *file = fdopen(fd, "w");
    for (int i = 0; i < 5000; i++) fprintf(file, "%d,%d\n", i, i);
    fclose(file);
    hdst__cancel cancel = {0};
    hdst_error error;
    hdst__cancel_begin(&cancel);
    hdst__source *source = hdst__source_open(NULL, path, NULL, &cancel, &error);
    cr_assert_not_null(source);
    hdst__cancel_ask(&cancel);
    cr_assert_eq(hdst__source_count(source, NULL, &error), HDST_E_CANCELLED);
    hdst__cancel_end(&cancel);
    cr_assert_eq(hdst__source_count(source, NULL, &error), HDST_OK);     // it may be asked again
    cr_assert_eq(source->rows, 5000);
    hdst__source_close(source);
    unlink(path);
}

// --- Compiling ---

static char *import_that_cancels(const char *name, const char *importing, void *user)
{
    (void)name, (void)importing;
    hdst_context_cancel(*(hdst_context **)user);
    return strdup("struct item { uint64_t key; uint64_t value; };\n");
}

Test(cancel, a_module_that_is_compiled)
{
    hdst_context *context = hdst_context_create(NULL);
    hdst_error error = HDST_ERROR_INIT;
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.import_file = import_that_cancels;
    options.import_user = &context;
    hdst_module *module = hdst_module_parse(context, "a.hk", "import \"b.hk\";\nmap f(item a) -> uint64_t { return a.key; }\n", &options);
    cr_expect_eq(hdst_module_status(module, &error), HDST_E_CANCELLED, "%s", error.message);
    cr_expect_eq(hdst_module_status(hdst_module_parse(context, "c.hk", text, NULL), &error), HDST_OK, "%s", error.message);
    hdst_context_destroy(context);
}

// Counts what is allocated, and cancels at one of these. Whoever does not look goes on until records are read.
typedef struct spy {
    hdst_context *context;
    uint64_t taken, ask_at, before_records;
} spy;

static void count_taken(spy *s)
{
    if (++s->taken == s->ask_at) hdst_context_cancel(s->context);
}

static void *spied_take(size_t bytes, void *user) { return count_taken(user), malloc(bytes); }
static void *spied_move(void *pointer, size_t bytes, void *user) { return count_taken(user), realloc(pointer, bytes); }
static void spied_release(void *pointer, void *user) { (void)user, free(pointer); }

static bool note_reading(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    spy *s = user;
    (void)first, (void)message;
    if (!s->before_records) s->before_records = s->taken;
    memset(records, 0, count * sizeof(item));
    return true;
}

static char *long_text(int statements, const char *begin, const char *each, const char *end)
{
    char *all = malloc(1000 + (size_t)statements * 100), *at = all + sprintf(all, "%s", begin);
    for (int i = 0; i < statements; i++) at += sprintf(at, each, i, i);
    strcpy(at, end);
    return all;
}

// What the run itself allocates; making its result is another call.
static hdst_status plan_by(int way, hdst_dataset *dataset, spy *s, uint64_t ask_at)
{
    void *rows = NULL;
    uint64_t count;
    if (way) {
        *s = (spy){.context = s->context, .ask_at = ask_at};
        const hdst_status status = hdst_collect(dataset, &rows, &count, NULL);
        hdst_rows_destroy(dataset->object.context, rows);
        return status;
    }
    hdst_result *result = hdst_result_create(dataset);
    *s = (spy){.context = s->context, .ask_at = ask_at};
    const hdst_status status = hdst_run(result, NULL);
    hdst_result_destroy(result);
    return status;
}

static hdst_context *spied_context(spy *s)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.allocator = (hdst_allocator){spied_take, spied_move, spied_release, s};
    return s->context = hdst_context_create(&options);
}

enum { TIMES = 8, AT_ONCE = 12 };      // allocations that are no compiler's: the error's, and what is taken to give back

Test(cancel, functions_that_a_run_compiles)
{
    char *kernel = long_text(1500, "struct item { uint64_t key; uint64_t value; };\nmap lengthy(item a) -> item\n{\n    item r = a;\n",
                             "    r.value = r.value * %du + (r.key ^ %du);\n", "    return r;\n}\n");
    spy s = {0};
    hdst_context *context = spied_context(&s);
    hdst_module *module = module_of(context, kernel);
    hdst_dataset *items = hdst_map_function(hdst_read(hdst_source_from_callback(context, 1000, note_reading, &s), module, "item"), module, "lengthy");
    for (int way = 0; way < 2; way++) {
        cr_assert_eq(plan_by(way, items, &s, 0), HDST_OK);
        const uint64_t all = s.before_records;
        cr_assert_gt(all, 2 * TIMES + AT_ONCE, "%d: %llu", way, (unsigned long long)all);
        for (uint64_t i = 0; i < TIMES; i++) {
            cr_expect_eq(plan_by(way, items, &s, all * i / (TIMES + 1) + 1), HDST_E_CANCELLED, "%d, %llu", way, (unsigned long long)i);
            cr_expect_leq(s.taken - s.ask_at, AT_ONCE, "%d, at %llu of %llu: %llu more", way, (unsigned long long)s.ask_at,
                          (unsigned long long)all, (unsigned long long)(s.taken - s.ask_at));
        }
    }
    hdst_context_destroy(context);
    free(kernel);
}

Test(cancel, a_schema_that_is_read)
{
    char *schema = long_text(4000, "record: wide\nfields:\n", "  - {name: field%d, type: float32, count: %d}\n", "");
    memcpy(strstr(schema, "count: 0"), "count: 1", 8);
    spy s = {0};
    hdst_context *context = spied_context(&s);
    s = (spy){.context = context};
    cr_assert_eq(hdst_schema_status(hdst_schema_parse(context, "wide.yaml", schema, NULL, 0), NULL), HDST_OK);
    const uint64_t all = s.taken;
    cr_assert_gt(all, 2 * TIMES, "%llu", (unsigned long long)all);
    for (uint64_t i = 1; i < TIMES; i++) {
        s = (spy){.context = context, .ask_at = all * i / TIMES};
        cr_expect_eq(hdst_schema_status(hdst_schema_parse(context, "wide.yaml", schema, NULL, 0), NULL), HDST_E_CANCELLED, "%llu", (unsigned long long)i);
    }
    hdst_context_destroy(context);
    free(schema);
}
