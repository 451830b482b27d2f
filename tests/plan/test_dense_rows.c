// SPDX-License-Identifier: Apache-2.0
// Dense reduces to many rows behind functions: they go by partitions of rows, the functions make the check of the key; with the same rows, errors and
// counts as a stage has that adds up by itself, against plain arithmetic. Results that are larger than the memory budget.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

typedef struct item { uint32_t key; float v; uint32_t at; } item;
typedef struct row { double s; uint64_t n; float least; int16_t odd; } row;

static const char kernels[] =
    "struct item { uint32_t key; float v; uint32_t at; };\n"
    "struct row { double s; uint64_t n; float least; int16_t odd; };\n"
    "struct wide { float v[3]; };\n"
    "map keyed(item i) -> (key uint32_t k, double s, uint64_t n, float least, int16_t odd) { return (i.key, (double)i.v, 1, i.v, (int16_t)i.at); }\n"
    "map counted(item i, accum uint64_t seen) -> (key uint32_t k, float v) { seen += 1; return (i.key, i.v); }\n"
    "map floats(item i) -> (key uint32_t k, float v) { return (i.key, i.v); }\n"
    "map inverse(item i, broadcast uint32_t t[]) -> (key uint32_t k, float v) { return (i.key, (float)t[i.at % 1000u]); }\n"
    "map signed_key(item i) -> (key int32_t k, float v) { return ((int32_t)i.key, i.v); }\n"
    "map wides(item i) -> (key uint32_t k, float v[3]) { float a[3] = { i.v, i.v * 2.0f, 1.0f }; return (i.key, a); }\n"
    "filter most(item i) { return i.at % 3u != 1u; }\n"
    "flat_map twice(item i) -> item { emit(i); if (i.at % 2u == 0u) { emit(i); } }\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "reduce join(row a, row b) { return (row){ .s = a.s + b.s, .n = a.n + b.n, .least = min(a.least, b.least), .odd = a.odd ^ b.odd }; }\n"
    "reduce add_wide(wide a, wide b) { return (wide){ .v = { a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2] } }; }\n";

enum { N = 60000, ROWS = 2503 };
static item items[N];

static void fill(uint32_t rows)
{
    uint64_t state = 7;
    for (uint32_t i = 0; i < N; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        items[i] = (item){(uint32_t)(state >> 33) % rows, (float)((state >> 20) % 4096) / 8, i};
    }
}

typedef enum way { BY_STAGE, BY_ROWS } way;

static hdst_context *open_on(const char *device, way how, hdst_on_error on_error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.on_error = on_error;
    options.replay_dir = "";
    hdst_context *context = hdst_context_create(&options);
    context->engine->limits.by_key_least_cells = how == BY_ROWS ? 1 : UINT64_MAX;
    context->engine->limits.by_key_partition_bits = 4;
    return context;
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *module)
{
    return hdst_read(hdst_source_from_memory(context, items, N, sizeof *items), module, "item");
}

static bool went_by_rows(hdst_result *result) { return strstr(hdst_explain(result, NULL), "partitions by number of row"); }

// --- Rows ---

static bool stays(uint32_t i) { return i % 3 != 1; }

static void check_chain(hdst_result *result, const char *device)
{
    static row expected[ROWS];
    memset(expected, 0, sizeof expected);
    for (uint32_t k = 0; k < ROWS; k++) expected[k].least = INFINITY;
    for (uint32_t i = 0; i < N; i++) {
        row *e = &expected[items[i].key];
        for (uint32_t times = stays(i) ? 1 + (i % 2 == 0) : 0; times > 0; times--) {
            e->s += (double)items[i].v;         // exact: multiples of 1/8
            e->n++;
            e->least = items[i].v < e->least ? items[i].v : e->least;
            e->odd = (int16_t)(e->odd ^ (int16_t)i);
        }
    }
    uint64_t rows;
    const row *got = hdst_result_rows(result, NULL, &rows);
    cr_assert_eq(rows, ROWS);
    for (uint32_t k = 0; k < ROWS; k++)
        cr_assert(got[k].s == expected[k].s && got[k].n == expected[k].n && got[k].least == expected[k].least && got[k].odd == expected[k].odd,
                  "%s: row %u", device, (unsigned)k);
}

Test(dense_rows, behind_maps_filters_and_flat_maps)
{
    const char *const devices[] = {"interp", "cpu"};
    fill(ROWS - 3);
    for (int d = 0; d < 1 + have_cpu(); d++)
        for (way how = BY_STAGE; how <= BY_ROWS; how++) {
            hdst_context *context = open_on(devices[d], how, HDST_ON_ERROR_FAIL);
            hdst_module *module = module_of(context, kernels);
            hdst_dataset *data = hdst_flat_map_function(hdst_filter_function(read_items(context, module), module, "most"), module, "twice");
            hdst_result *result = hdst_result_create(hdst_reduce_dense(hdst_map_function(data, module, "keyed"), module, "join", ROWS));
            for (int run = 0; run < 2; run++) {
                RUN(result);
                check_chain(result, devices[d]);
            }
            cr_assert_eq(went_by_rows(result), how == BY_ROWS, "%s", hdst_explain(result, NULL));
            cr_assert_null(strstr(hdst_explain(result, NULL), how == BY_ROWS ? "\n4: " : "\n3: "), "%s", hdst_explain(result, NULL));     // one stage
            hdst_context_destroy(context);
        }
}

// Several devices run the functions, and their tuples come in order.
Test(dense_rows, behind_functions_that_several_devices_run)
{
    if (!have_team()) return;
    fill(ROWS - 3);
    for (way how = BY_STAGE; how <= BY_ROWS; how++) {
        hdst_context *context = context_of_team();
        context->engine->limits.by_key_least_cells = how == BY_ROWS ? 1 : UINT64_MAX;
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *data = hdst_flat_map_function(hdst_filter_function(read_items(context, module), module, "most"), module, "twice");
        hdst_result *result = hdst_result_create(hdst_reduce_dense(hdst_map_function(data, module, "keyed"), module, "join", ROWS));
        for (int run = 0; run < 2; run++) {
            RUN(result);
            check_chain(result, "team");
        }
        cr_assert_eq(went_by_rows(result), how == BY_ROWS, "%s", hdst_explain(result, NULL));
        cr_assert_eq(hdst_result_stats(result).device_count, 3);
        hdst_context_destroy(context);
    }
}

// One device's tables would have room, those of three have not.
Test(dense_rows, several_devices_need_as_many_tables)
{
    enum { MANY = 20000 };
    if (!have_team()) return;
    fill(MANY);
    static row expected[MANY];
    for (uint32_t i = 0; i < N; i++) expected[items[i].key].s += (double)items[i].v, expected[items[i].key].n++;
    for (int team = 0; team < 2; team++) {
        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = team ? "0,1,2" : "0";
        options.cpu_parts = 2;
        options.memory = 64 << 20;
        hdst_context *context = hdst_context_create(&options);
        context->engine->limits.share_bytes = 0;
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *keyed = hdst_map_function(read_items(context, module), module, "keyed");
        hdst_result *result = hdst_result_create(hdst_reduce_dense(keyed, module, "join", MANY));
        RUN(result);
        const row *got = hdst_result_rows(result, NULL, NULL);
        for (uint32_t k = 0; k < MANY; k++) cr_assert(got[k].s == expected[k].s && got[k].n == expected[k].n, "row %u", (unsigned)k);
        cr_assert_eq(went_by_rows(result), team, "%s", hdst_explain(result, NULL));
        cr_assert_eq(hdst_result_stats(result).device_count, team ? 3 : 1);
        hdst_context_destroy(context);
    }
}

// What the functions read and accumulate beside is as it was.
Test(dense_rows, functions_keep_their_values_accumulators_and_arrays)
{
    float expected[ROWS] = {0}, all[ROWS] = {0}, wides[ROWS][3] = {{0}};
    uint32_t table[1000];
    fill(ROWS);
    for (uint32_t i = 0; i < 1000; i++) table[i] = i * 7 % 1000;
    for (uint32_t i = 0; i < N; i++) {
        all[items[i].key] += items[i].v;
        expected[items[i].key] += (float)table[i % 1000];
        wides[items[i].key][0] += items[i].v, wides[items[i].key][1] += 2 * items[i].v, wides[items[i].key][2] += 1;
    }
    hdst_context *context = open_on("interp", BY_ROWS, HDST_ON_ERROR_FAIL);
    hdst_module *module = module_of(context, kernels);
    hdst_value *t = hdst_value_create(module, "uint32_t", 1000);
    hdst_value_set(t, table, 1000);
    hdst_map_spec *spec = hdst_map_spec_create(module, "inverse");
    hdst_bind_value(spec, "t", t);
    hdst_result *result = hdst_result_create(hdst_reduce_dense(hdst_map(read_items(context, module), spec), module, "add", ROWS));
    RUN(result);
    cr_assert(went_by_rows(result) && !memcmp(hdst_result_rows(result, NULL, NULL), expected, sizeof expected));
    result = hdst_result_create(hdst_reduce_dense(hdst_map_function(read_items(context, module), module, "counted"), module, "add", ROWS));
    RUN(result);
    cr_assert(went_by_rows(result) && !memcmp(hdst_result_rows(result, NULL, NULL), all, sizeof all));
    cr_assert_eq(hdst_view_int64(hdst_result_field(result, "seen", NULL), 0, 0), N);
    result = hdst_result_create(hdst_reduce_dense(hdst_map_function(read_items(context, module), module, "wides"), module, "add_wide", ROWS));
    RUN(result);
    cr_assert(went_by_rows(result) && !memcmp(hdst_result_rows(result, NULL, NULL), wides, sizeof wides));
    hdst_context_destroy(context);
}

// --- Errors ---

static void message_of(way how, const char *map, bool filtered, uint64_t rows, char *message, size_t room)
{
    hdst_context *context = open_on("interp", how, HDST_ON_ERROR_FAIL);
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = read_items(context, module);
    if (filtered) data = hdst_filter_function(data, module, "most");
    hdst_result *result = hdst_result_create(hdst_reduce_dense(hdst_map_function(data, module, map), module, "add", rows));
    hdst_error error;
    cr_assert_eq(hdst_run(result, &error), HDST_E_RECORD);
    hdst_error_format(&error, message, room);
    hdst_context_destroy(context);
}

// A record is called by its number in the input, also behind a filter.
Test(dense_rows, errors_are_those_of_a_stage)
{
    char of_stage[2048], of_rows[2048];
    fill(ROWS);
    items[40125].key = ROWS;
    items[40129].key = UINT32_MAX - 2;
    for (int filtered = 0; filtered < 2; filtered++) {
        message_of(BY_STAGE, "floats", filtered, ROWS, of_stage, sizeof of_stage);
        message_of(BY_ROWS, "floats", filtered, ROWS, of_rows, sizeof of_rows);
        cr_assert_str_eq(of_rows, of_stage);
        cr_assert(strstr(of_rows, "key 'k' is 2503, out of range 0..2502, in record 40,125"), "%s", of_rows);
    }
    items[40125].key = 0;
    message_of(BY_STAGE, "signed_key", false, ROWS, of_stage, sizeof of_stage);
    message_of(BY_ROWS, "signed_key", false, ROWS, of_rows, sizeof of_rows);
    cr_assert_str_eq(of_rows, of_stage);
    cr_assert(strstr(of_rows, "key 'k' is -3, out of range 0..2502, in record 40,129"), "%s", of_rows);
}

Test(dense_rows, records_with_errors_are_left_out_and_counted)
{
    float expected[ROWS] = {0};
    uint64_t bad = 0;
    fill(ROWS);
    for (uint32_t i = 0; i < N; i++) {
        if (i % 7 == 3) items[i].key = ROWS + i;
        bad += stays(i) && i % 7 == 3;
        if (stays(i) && i % 7 != 3) expected[items[i].key] += items[i].v;
    }
    for (way how = BY_STAGE; how <= BY_ROWS; how++) {
        hdst_context *context = open_on("interp", how, HDST_ON_ERROR_SKIP);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *data = hdst_filter_function(read_items(context, module), module, "most");
        hdst_result *result = hdst_result_create(hdst_reduce_dense(hdst_map_function(data, module, "floats"), module, "add", ROWS));
        RUN(result);
        cr_assert(!memcmp(hdst_result_rows(result, NULL, NULL), expected, sizeof expected));
        cr_assert_eq(hdst_result_stats(result).records_skipped, bad);
        hdst_context_destroy(context);
    }
}

// The words are those of the result's own plan, whatever other results of the dataset there were.
Test(dense_rows, another_result_of_the_dataset_may_end)
{
    hdst_context *context = open_on("interp", BY_ROWS, HDST_ON_ERROR_FAIL);
    hdst_module *module = module_of(context, "struct pair { uint32_t key; float v; }; reduce add(float a, float b) { return a + b; }");
    struct { uint32_t key; float v; } pairs[300] = {{0}};
    hdst_source *source = hdst_source_from_memory(context, pairs, 300, sizeof *pairs);
    hdst_dataset *dense = hdst_reduce_dense(hdst_read(source, module, "pair"), module, "add", 100);
    hdst_result *result = hdst_result_create(dense), *other = hdst_result_create(dense);
    RUN(result);
    RUN(other);
    hdst_result_destroy(other);
    pairs[299].key = 100;
    hdst_error error;
    cr_assert_eq(hdst_run(result, &error), HDST_E_RECORD);
    cr_assert(strstr(error.message, "key 'key' is 100, out of range 0..99, in record 299"), "%s", error.message);
    hdst_context_destroy(context);
}

// --- Unfinished ---

Test(dense_rows, partials_of_many_rows)
{
    float expected[ROWS] = {0};
    fill(ROWS);
    for (uint32_t i = 0; i < N; i++) expected[items[i].key] += 2 * items[i].v;
    hdst_context *context = open_on("interp", BY_ROWS, HDST_ON_ERROR_FAIL);
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *dense = hdst_reduce_dense(hdst_map_function(read_items(context, module), module, "floats"), module, "add", ROWS);
    hdst_result *result = hdst_result_create(dense), *late = hdst_result_create(dense);
    hdst_error error;
    cr_assert(hdst_explain(result, NULL));          // makes a plan, which changes
    cr_assert_eq(hdst_result_keep_partial(result, &error), HDST_OK, "%s", error.message);
    RUN(result);
    cr_assert_not(went_by_rows(result));
    hdst_partial *partial = hdst_partial_from_result(result), *again = hdst_partial_from_result(result);
    cr_assert_eq(hdst_partial_merge(partial, again, &error), HDST_OK, "%s", error.message);
    uint64_t rows;
    const float *got = hdst_partial_rows(partial, NULL, &rows);
    cr_assert(rows == ROWS && !memcmp(got, expected, sizeof expected));
    RUN(late);
    cr_assert(went_by_rows(late));
    cr_assert_eq(hdst_result_keep_partial(late, &error), HDST_E_UNSUPPORTED);
    cr_assert(strstr(error.message, "which are many") && strstr(error.hint, "before the first run"), "%s: %s", error.message, error.hint);
    hdst_context_destroy(context);
}

// --- Memory ---

enum { MIB = 1 << 20 };

// Sums that a stage has no room for, though they are few for partitions; and results from a tenth to four times of the budget: those of more than half
// of it lie in a file.
Test(dense_rows, tables_beside_the_budget)
{
    const char *const devices[] = {"interp", "cpu"};
    for (int d = 0; d < 1 + have_cpu(); d++)
        for (uint32_t tenths = 1; tenths <= 41; tenths += tenths < 5 ? 4 : 12) {
            const uint64_t budget = 6 * MIB;
            const uint32_t rows = (uint32_t)(budget * tenths / 10 / sizeof(row));
            hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
            options.device = devices[d];
            options.memory = budget;
            fill(rows);
            row *expected = calloc(rows, sizeof *expected);
            for (uint32_t k = 0; k < rows; k++) expected[k].least = INFINITY;
            for (uint32_t i = 0; i < N; i++) {
                row *e = &expected[items[i].key];
                *e = (row){e->s + (double)items[i].v, e->n + 1, items[i].v < e->least ? items[i].v : e->least, (int16_t)(e->odd ^ (int16_t)i)};
            }
            hdst_context *context = hdst_context_create(&options);
            hdst_module *module = module_of(context, kernels);
            hdst_dataset *keyed = hdst_map_function(read_items(context, module), module, "keyed");
            hdst_result *result = hdst_result_create(hdst_reduce_dense(keyed, module, "join", rows));
            for (int run = 0; run < 2; run++) {
                uint64_t count;
                RUN(result);
                const row *got = hdst_result_rows(result, NULL, &count);
                cr_assert_eq(count, rows);
                for (uint32_t k = 0; k < rows; k++)
                    cr_assert(got[k].s == expected[k].s && got[k].n == expected[k].n && got[k].least == expected[k].least && got[k].odd == expected[k].odd,
                              "%s, %u rows: row %u", devices[d], (unsigned)rows, (unsigned)k);
            }
            cr_assert(went_by_rows(result), "%u rows on %s: %s", (unsigned)rows, devices[d], hdst_explain(result, NULL));
            cr_assert_leq(hdst_result_stats(result).host_peak_bytes, budget + budget / 10);
            hdst_context_destroy(context);
            free(expected);
        }
}
