// SPDX-License-Identifier: Apache-2.0
// Rows of large tables that several GPUs make, a part of the keys each (engine/stage/stage_scatter.c): the GPU form on several PoCL devices, beside the
// interpreter. The exchange has several pieces, however small the tables are.
#include "engine/memory/registered.h"
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { RECORDS = 30000, ROWS = 3037, LOCAL = 4096, WIDTH = 9000, PIECE = 1024 };

static const char text[] =
    "struct pair { uint32_t key; float value; };\n"
    "struct cell { float sum; uint32_t n; uint8_t last; };\n"
    "struct extreme { float least; float most; };\n"
    "struct wide { int64_t x[9000]; };\n"
    "map gather(pair p, accum cell t[]) { t[p.key].sum += p.value; t[p.key].n += 1; t[p.key].last += (uint8_t)p.key; }\n"
    "map extremes(pair p, accum extreme t[]) { acc_min(t[p.key].least, p.value); acc_max(t[p.key].most, p.value); }\n"
    "map count(pair p, accum wide t[]) { t[p.key & 1].x[p.key % 9000] += (int64_t)p.value; }\n";

typedef struct pair { uint32_t key; float value; } pair;

static pair pairs[RECORDS];

static void make_pairs(uint32_t rows)
{
    for (uint32_t i = 0; i < RECORDS; i++) pairs[i] = (pair){i * UINT32_C(2654435761) % rows, (float)(i % 100) / 4 - 7};
}

// Three devices as GPUs: PoCL gives as many as it is asked for, before it is opened.
static hdst_context *three_gpus(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    setenv("POCL_DEVICES", "pthread pthread pthread", 1);
    options.device = "0,1,2";
    hdst_context *context = hdst_context_create(&options);
    cr_assert_not_null(context->engine);
    hdst__limits *limits = hdst__engine_limits(context->engine);
    limits->share_bytes = limits->scatter_least = 0;
    limits->scatter_piece = PIECE;
    context->engine->options.gpu_form_on_cpu = true;
    context->engine->options.local_bytes = LOCAL;
    return context;
}

static bool have_three(void)
{
    hdst_context *context = three_gpus();
    hdst_device_info info;
    const bool have = hdst_device_chosen(context, &info, NULL) == HDST_OK && hdst__engine_workers(context->engine) == 3;
    if (!have) cr_log_warn("PoCL does not give three devices: skipped");
    hdst_context_destroy(context);
    return have;
}

static hdst_result *result_of(hdst_context *context, const char *function, uint64_t records, uint64_t rows, bool cached)
{
    hdst_module *m = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(m, function);
    hdst_bind_accum(spec, "t", rows);
    hdst_dataset *read = hdst_read(hdst_source_from_memory(context, pairs, records, sizeof *pairs), m, "pair");
    return hdst_result_create(hdst_map(cached ? hdst_cache(read) : read, spec));
}

static void *rows_of(hdst_result *r, size_t bytes)
{
    const void *rows = hdst_result_rows(r, "t", NULL);
    cr_assert_not_null(rows);
    return memcpy(malloc(bytes), rows, bytes);
}

static void *expected_rows(const char *function, uint64_t records, uint64_t rows, size_t bytes)
{
    hdst_context *context = context_on("interp");
    hdst_result *r = result_of(context, function, records, rows, false);
    RUN(r);
    void *expected = rows_of(r, bytes);
    hdst_context_destroy(context);
    return expected;
}

static const char parted[] = "each device makes the rows of a part of the keys";

typedef struct exchange { const char *function; uint64_t records, rows; size_t row_bytes; bool cached; } exchange;

// Every run gives the interpreter's bits, and explain tells how; `how` NULL: by no device.
static void compare_in(hdst_context *context, const exchange *x, const char *how)
{
    const size_t bytes = x->rows * x->row_bytes;
    void *expected = expected_rows(x->function, x->records, x->rows, bytes);
    hdst_result *r = result_of(context, x->function, x->records, x->rows, x->cached);
    for (int run = 0; run < 3; run++) {
        RUN(r);
        void *found = rows_of(r, bytes);
        cr_assert_arr_eq(found, expected, bytes, "run %d", run);
        memset((void *)hdst_result_rows(r, "t", NULL), 0xa5, bytes);        // nothing of an earlier run may do for a later one
        free(found);
    }
    const char *explained = hdst_explain(r, NULL);
    cr_assert(how ? strstr(explained, how) != NULL : !strstr(explained, parted) && !strstr(explained, "are added on"), "%s", explained);
    free(expected);
}

static const exchange sums = {"gather", RECORDS, ROWS, 12, true}, least_and_most = {"extremes", RECORDS, ROWS, 8, true};

// Neither the keys nor the words of a part are a multiple of anything.
Test(scattered_rows, each_of_three_gpus_makes_a_part)
{
    if (!have_three()) return;
    make_pairs(ROWS);
    const exchange *const all[] = {&sums, &least_and_most};
    for (int i = 0; i < 2; i++) {
        hdst_context *context = three_gpus();
        compare_in(context, all[i], "for which it gets the others' words, 32 bits each");
        hdst_context_destroy(context);
    }
}

// Sums of which some need more than 32 bits, from their last one on; of some devices, or of all.
Test(scattered_rows, words_that_are_not_narrow_go_as_they_are)
{
    if (!have_three()) return;
    for (int all = 0; all < 2; all++) {
        make_pairs(ROWS);
        for (uint32_t i = 0; i < RECORDS; i += all ? 1 : 20000) pairs[i].value = i % 2 ? 0x1.000002p6f : -0x1.000002p-4f;
        hdst_context *context = three_gpus();
        compare_in(context, &sums, all ? "for which it gets the others' words\n" : parted);
        hdst_context_destroy(context);
    }
}

// Each word of another's part crosses to the host and to its owner once, and each row to the host.
Test(scattered_rows, each_word_and_row_crosses_once)
{
    if (!have_three()) return;
    make_pairs(ROWS);
    hdst_context *context = three_gpus();
    hdst_result *r = result_of(context, sums.function, RECORDS, ROWS, true);
    RUN(r);
    RUN(r);
    const hdst_run_stats stats = hdst_result_stats(r);
    const uint64_t words = 2 * ROWS * 3 * sizeof(int32_t), rows = ROWS * 12, flags = 3072;       // of the two that do not own them, narrow
    const uint64_t anew = stats.bytes_to_device > words ? RECORDS * sizeof *pairs : 0;      // the input was laid out again, as one device had taken longer
    cr_assert_eq(stats.bytes_to_device, words + anew, "%llu", (unsigned long long)stats.bytes_to_device);
    cr_assert(stats.bytes_from_device >= words + rows && stats.bytes_from_device < words + rows + flags, "%llu",
              (unsigned long long)stats.bytes_from_device);
    cr_assert_eq(stats.device_count, 3);
    hdst_context_destroy(context);
}

// Two of the devices make no rows, and yet have words for the third.
Test(scattered_rows, there_are_fewer_keys_than_gpus)
{
    if (!have_three()) return;
    make_pairs(60000);
    hdst_context *context = three_gpus();
    compare_in(context, &(exchange){"count", RECORDS, 2, WIDTH * sizeof(int64_t), true}, parted);
    hdst_context_destroy(context);
}

// Devices that had no records add nothing, and make their part of the rows of what the others have.
Test(scattered_rows, some_gpus_have_had_no_records)
{
    if (!have_three()) return;
    make_pairs(ROWS);
    hdst_context *context = three_gpus();
    compare_in(context, &(exchange){"gather", 100, ROWS, 12, false}, parted);
    hdst_context_destroy(context);
}

// What does not fit its word is merged on the host, whosever records it is in: the first one's, or the last one's.
Test(scattered_rows, sums_that_do_not_fit_go_by_way_of_the_host)
{
    if (!have_three()) return;
    for (int last = 0; last < 2; last++) {
        const uint32_t from = last ? RECORDS - 40 : 20;
        make_pairs(ROWS);
        for (uint32_t i = from; i < from + 20; i++) pairs[i] = (pair){i % 3 ? ROWS - i % 3 : 1, i % 2 ? 0x1.8p100f : -0x1p-120f};
        hdst_context *context = three_gpus();
        compare_in(context, &sums, NULL);
        hdst_context_destroy(context);
    }
}

static uint64_t pinned(const hdst_context *context) { return hdst__registered_bytes(context->engine->runtime.outputs); }

// From a result's second run on rows come from one device, and from several, to memory that is pinned.
Test(scattered_rows, many_rows_come_to_pinned_memory)
{
    enum { MANY = 2200000 };
    if (!have_three()) return;
    make_pairs(MANY);
    for (int several = 0; several < 2; several++) {
        hdst_context *context = several ? three_gpus() : context_in_form("gpu-form");
        hdst__engine_limits(context->engine)->scatter_piece = 4 << 20;
        hdst_result *r = result_of(context, "extremes", RECORDS, MANY, true);
        void *expected = NULL;
        for (int run = 0; run < 3; run++) {
            RUN(r);
            void *found = rows_of(r, MANY * 8);
            if (run == 0) cr_assert_eq(pinned(context), 0, "one run does not pay for it");
            else cr_assert_geq(pinned(context), MANY * 8);
            if (expected) cr_assert(!memcmp(found, expected, MANY * 8), "run %d", run);
            else expected = found, found = NULL;
            memset((void *)hdst_result_rows(r, "t", NULL), 0xa5, MANY * 8);
            free(found);
        }
        const float *row = expected;
        for (uint32_t i = 0; i < RECORDS; i++) cr_assert(row[2 * pairs[i].key] <= pairs[i].value && row[2 * pairs[i].key + 1] >= pairs[i].value);
        free(expected);
        hdst_result_destroy(r);
        cr_assert_eq(pinned(context), 0);
        hdst_context_destroy(context);
    }
}

static const hdst__device_ops *usual;
static hdst__device_ops watched;
static hdst__device *poor;

static void watch(hdst_context *context, uint32_t number)
{
    poor = context->engine->worker[number].device;
    usual = poor->ops;
    watched = *usual;
    poor->ops = &watched;
}

// Opens the devices.
static void run_first(hdst_context *context)
{
    hdst_result *r = result_of(context, "gather", 64, ROWS, false);
    RUN(r);
}

static hdst_status alloc_no_rows(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                                 hdst_error *error)
{
    if (!strcmp(what, "rows of accumulators")) return hdst__error_set(error, HDST_E_MEMORY, "the rows have no room");
    return usual->alloc(device, kind, owner, bytes, what, memory, error);
}

// Where one device has no room for its part, the first makes all rows.
Test(scattered_rows, one_gpu_has_no_room_for_its_part)
{
    if (!have_three()) return;
    make_pairs(ROWS);
    hdst_context *context = three_gpus();
    run_first(context);
    watch(context, 2);
    watched.alloc = alloc_no_rows;
    compare_in(context, &sums, "for several to make rows of them there is no room: the rows have no room");
    hdst_context_destroy(context);
}

static hdst_status fail_to_read(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    if (offset && !wait) return hdst__error_set(error, HDST_E_DRIVER, "the words do not come");
    return usual->read(device, memory, offset, bytes, count, wait, error);
}

// One that fails while the others wait for its words ends the exchange; then one device does all of it.
Test(scattered_rows, a_gpu_fails_while_others_wait_for_its_words)
{
    if (!have_three()) return;
    make_pairs(ROWS);
    hdst_context *context = three_gpus();
    run_first(context);
    watch(context, 1);
    watched.read = fail_to_read;
    hdst_result *r = result_of(context, "gather", RECORDS, ROWS, true);
    RUN(r);
    void *expected = expected_rows("gather", RECORDS, ROWS, ROWS * 12);
    cr_assert_arr_eq((const char *)hdst_result_rows(r, "t", NULL), (const char *)expected, ROWS * 12);
    cr_assert(strstr(hdst_explain(r, NULL), "the words do not come"), "%s", hdst_explain(r, NULL));
    free(expected);
    hdst_context_destroy(context);
}
