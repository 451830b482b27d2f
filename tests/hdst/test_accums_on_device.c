// SPDX-License-Identifier: Apache-2.0
// Accumulators whose rows the device makes: the same numbers as from the host, and fewer bytes that cross. Sums are
// of small whole numbers, so plain C has them exactly.
#include "tests/hdst/support.h"

#include <stdlib.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

static bool on_gpu(size_t form) { return form == 2; }

enum { RECORDS = 3000, ROWS = 40, WIDTH = 90, KEYS = 50, TURNS = 4 };

static uint32_t index_of[RECORDS];

static hdst_dataset *indices(hdst_context *context, hdst_module *module)
{
    for (uint32_t i = 0; i < RECORDS; i++) index_of[i] = i;
    return hdst_cache(hdst_read(hdst_source_from_memory(context, index_of, RECORDS, sizeof *index_of), module, "uint32_t"));
}

// --- A large table ---

static const char wide[] =
    "struct row { float x[90]; double d; int16_t least; uint8_t flag; };\n"
    "map gather(uint32_t i, accum row t[])\n"
    "{\n"
    "    uint32_t k = i % 40;\n"
    "    for (uint32_t e = 0; e < 90; e++) t[k].x[e] += (float)(i % 7) - e;\n"
    "    t[k].d += i;\n"
    "    acc_min(t[k].least, (int16_t)(i % 1000));\n"
    "    t[k].flag |= (uint8_t)(1 << i % 5);\n"
    "}\n";

typedef struct row { float x[WIDTH]; double d; int16_t least; uint8_t flag; } row;

static void gather(row *rows)
{
    for (int k = 0; k < ROWS; k++) rows[k] = (row){.least = INT16_MAX};
    for (uint32_t i = 0; i < RECORDS; i++) {
        row *r = &rows[i % ROWS];
        for (int e = 0; e < WIDTH; e++) r->x[e] += (float)(i % 7) - (float)e;
        r->d += i;
        if ((int)(i % 1000) < r->least) r->least = (int16_t)(i % 1000);
        r->flag |= (uint8_t)(1 << i % 5);
    }
}

Test(accums_on_device, large_tables_cross_as_rows)
{
    static row expected[ROWS];
    gather(expected);
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, wide);
        hdst_map_spec *spec = hdst_map_spec_create(m, "gather");
        hdst_bind_accum(spec, "t", ROWS);
        hdst_result *r = hdst_result_create(hdst_map(indices(context, m), spec));
        for (int t = 0; t < 2; t++) {
            RUN(r);
            uint64_t count;
            const row *rows = hdst_result_rows(r, "t", &count);
            cr_assert(rows && count == ROWS, "%s", forms[form]);
            for (int k = 0; k < ROWS; k++) {
                cr_assert_arr_eq(rows[k].x, expected[k].x, sizeof rows[k].x, "row %d on %s", k, forms[form]);
                cr_assert(rows[k].d == expected[k].d && rows[k].least == expected[k].least && rows[k].flag == expected[k].flag, "row %d on %s", k, forms[form]);
            }
            // As superaccumulators it would be 40 * (90 * 10 + 67 + 2) words.
            const uint64_t bytes = hdst_result_stats(r).bytes_from_device;
            cr_assert(!on_gpu(form) || (bytes >= sizeof expected && bytes <= sizeof expected + 64), "%llu bytes", (unsigned long long)bytes);
        }
        hdst_context_destroy(context);
    }
}

// --- A large table whose row is found from the record ---

// On a GPU a work-group makes the loop's additions together, each lane some elements of all its records, so no lane has the others' fields at hand.
static const char scattered[] =
    "struct place { uint32_t row, weight; };\n"
    "struct heap { float x[3000]; };\n"
    "map scatter(place p, accum heap t[], accum uint32_t all)\n"
    "{\n"
    "    all += p.row ^ p.weight;\n"
    "    for (uint32_t e = 0; e < 3000; e++) t[p.row % len(t)].x[e] += (float)(p.weight % 7 + e);\n"
    "}\n";

typedef struct place { uint32_t row, weight; } place;

Test(accums_on_device, rows_of_large_tables_are_found_from_any_record)
{
    static place places[RECORDS];
    static float expected[ROWS][3000];
    uint32_t all = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        places[i] = (place){i * 2654435761u, i};
        all += places[i].row ^ i;
        for (uint32_t e = 0; e < 3000; e++) expected[places[i].row % ROWS][e] += (float)(i % 7 + e);
    }
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, scattered);
        hdst_map_spec *spec = hdst_map_spec_create(m, "scatter");
        hdst_bind_accum(spec, "t", ROWS);
        hdst_dataset *read = hdst_read(hdst_source_from_memory(context, places, RECORDS, sizeof *places), m, "place");
        hdst_result *r = hdst_result_create(hdst_map(hdst_with_layout(read, HDST_AOS), spec));
        RUN(r);
        if (on_gpu(form)) cr_assert(strstr(hdst_explain(r, NULL), "a table in device memory for each work-group"), "%s", hdst_explain(r, NULL));
        const void *rows = hdst_result_rows(r, "t", NULL);
        cr_assert_not_null(rows);
        cr_assert_arr_eq(rows, expected, sizeof expected, "on %s", forms[form]);
        cr_assert_eq(*(const uint32_t *)hdst_result_rows(r, "all", NULL), all, "on %s", forms[form]);
        hdst_context_destroy(context);
    }
}

// --- Few rows that are wide ---

static const char nearest[] =
    "struct point { float x[1100]; };\n"
    "struct total { float x[1100]; uint32_t n; };\n"
    "map assign(point p, broadcast point c[], accum total t[])\n"
    "{\n"
    "    uint32_t best = 0;\n"
    "    float least = INFINITY;\n"
    "    for (uint32_t j = 0; j < len(c); j++) {\n"
    "        float e[1100];\n"
    "        for (uint32_t i = 0; i < 1100; i++) e[i] = p.x[i] - c[j].x[i];\n"
    "        float d = dot(e, e);\n"
    "        if (d < least) { least = d; best = j; }\n"
    "    }\n"
    "    for (uint32_t i = 0; i < 1100; i++) t[best].x[i] += p.x[i];\n"
    "    t[best].n += 1;\n"
    "}\n";

enum { CENTERS = 7, POINTS = 300, WIDER = 1100 };

typedef struct point { float x[WIDER]; } point;
typedef struct sums_of_points { float x[WIDER]; uint32_t n; } sums_of_points;

static float coordinate(uint32_t i, uint32_t e) { return (float)((i % CENTERS * 37 + e * 11) % 64) + (float)(i % 3); }

// Distances within a center are at most 3 a coordinate, far less than to others.
Test(accums_on_device, sums_of_work_groups_go_to_tables_that_they_share)
{
    static point points[POINTS], centers[CENTERS];
    static sums_of_points expected[CENTERS];
    for (uint32_t i = 0; i < POINTS; i++) {
        for (uint32_t e = 0; e < WIDER; e++) {
            points[i].x[e] = coordinate(i, e);
            if (i < CENTERS) centers[i].x[e] = coordinate(i, e);
            expected[i % CENTERS].x[e] += points[i].x[e];
        }
        expected[i % CENTERS].n++;
    }
    ON_EACH_FORM for (int layout = HDST_AOS; layout <= HDST_SOA; layout++) {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, nearest);
        hdst_map_spec *spec = hdst_map_spec_create(m, "assign");
        hdst_value *value = hdst_value_create(m, "point", CENTERS);
        hdst_value_set(value, centers, CENTERS);
        hdst_bind_value(spec, "c", value);
        hdst_bind_accum(spec, "t", CENTERS);
        hdst_dataset *read = hdst_read(hdst_source_from_memory(context, points, POINTS, sizeof *points), m, "point");
        hdst_result *r = hdst_result_create(hdst_map(hdst_with_layout(read, (hdst_layout)layout), spec));
        for (int t = 0; t < 2; t++) {
            RUN(r);
            cr_assert_arr_eq(hdst_result_rows(r, "t", NULL), expected, sizeof expected, "on %s", forms[form]);
        }
        const char *why = hdst_explain(r, NULL);
        if (on_gpu(form)) cr_assert(strstr(why, "a sum goes there when a work-group has gone through its records"), "%s", why);
        if (on_gpu(form)) cr_assert(strstr(why, "(8 work-groups per compute unit)"), "%s", why);
        hdst_context_destroy(context);
    }
}

// --- A loop over a reduce by key, as PageRank is ---

static const char rank[] =
    "map send(uint32_t i, broadcast float v[]) -> (key uint32_t to, float x) { return (i * 7 % 50, v[i % 50] - i % 3); }\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "map settle(float x) -> float { return (float)((int32_t)x % 64); }\n"
    "struct cell { float value; };\n"
    "map total(uint32_t i, broadcast cell v[], accum cell t[]) { t[i % 50].value += v[(i + 1) % 50].value; }\n";

static float settled(float x) { return (float)((int32_t)x % 64); }

Test(accums_on_device, a_reduce_by_key_stays_there_for_the_map_that_reads_it)
{
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, rank);
        hdst_value *v = hdst_value_create(m, "float", KEYS);
        float values[KEYS];
        for (int k = 0; k < KEYS; k++) values[k] = (float)(k % 5);
        hdst_value_set(v, values, KEYS);
        hdst_map_spec *send = hdst_map_spec_create(m, "send");
        hdst_bind_value(send, "v", v);
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_reduce_dense(hdst_map(indices(context, m), send), m, "add", KEYS), m, "settle"));
        for (int t = 0; t < TURNS; t++) {
            hdst_error error;
            float next[KEYS] = {0};
            RUN(r);
            const hdst_run_stats stats = hdst_result_stats(r);
            cr_assert_eq(hdst_value_set_result(v, r, NULL, &error), HDST_OK, "%s", error.message);
            for (uint32_t i = 0; i < RECORDS; i++) next[i * 7 % KEYS] += values[i % KEYS] - (float)(i % 3);
            for (int k = 0; k < KEYS; k++) values[k] = settled(next[k]);
            // From the third turn on nothing crosses but the words that say whether a record failed, one for each of the two stages.
            if (on_gpu(form) && t >= 2)
                cr_assert(stats.bytes_to_device == 0 && stats.bytes_from_device <= 2 * sizeof(uint64_t), "turn %d: %llu and %llu bytes", t,
                                                  (unsigned long long)stats.bytes_to_device, (unsigned long long)stats.bytes_from_device);
        }
        uint64_t count;
        const float *rows = hdst_result_rows(r, NULL, &count);
        cr_assert_eq(count, KEYS);
        for (int k = 0; k < KEYS; k++) cr_assert_eq(rows[k], values[k], "%d on %s: %g, not %g", k, forms[form], (double)rows[k], (double)values[k]);
        hdst_context_destroy(context);
    }
}

// --- A value from an accumulator ---

Test(accums_on_device, a_value_takes_an_accumulator_there)
{
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, rank);
        hdst_value *v = hdst_value_create(m, "cell", KEYS);
        float values[KEYS];
        for (int k = 0; k < KEYS; k++) values[k] = (float)(k % 3);
        hdst_value_set(v, values, KEYS);
        hdst_map_spec *total = hdst_map_spec_create(m, "total");
        hdst_bind_value(total, "v", v);
        hdst_bind_accum(total, "t", KEYS);
        hdst_result *r = hdst_result_create(hdst_map(indices(context, m), total));
        for (int t = 0; t < 3; t++) {
            hdst_error error;
            float next[KEYS] = {0};
            RUN(r);
            const hdst_run_stats stats = hdst_result_stats(r);
            cr_assert_eq(hdst_value_set_result(v, r, "t", &error), HDST_OK, "%s", error.message);
            for (uint32_t i = 0; i < RECORDS; i++) next[i % KEYS] += values[(i + 1) % KEYS];
            memcpy(values, next, sizeof values);
            if (on_gpu(form) && t == 2) cr_assert(stats.bytes_to_device == 0 && stats.bytes_from_device <= sizeof(uint64_t));
            // Rows that stayed come when they are asked for, as often as one likes.
            const float *rows = hdst_result_rows(r, "t", NULL);
            cr_assert_eq(rows, hdst_result_rows(r, "t", NULL));
            cr_assert_arr_eq(rows, values, sizeof values, "turn %d on %s", t, forms[form]);
        }
        hdst_context_destroy(context);
    }
}

static int warnings;

static void count_warnings(hdst_log_level level, const char *message, void *user)
{
    (void)user;
    warnings += level == HDST_LOG_WARN && strstr(message, "accumulators are rounded on the host") != NULL;
}

Test(accums_on_device, without_room_there_the_host_rounds_with_one_warning)
{
    if (!have_cpu()) return;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.log = count_warnings;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = true;
    hdst_module *m = module_of(context, rank);
    hdst_value *v = hdst_value_create(m, "cell", KEYS), *taken = hdst_value_create(m, "cell", KEYS);
    float values[KEYS], expected[KEYS] = {0};
    for (int k = 0; k < KEYS; k++) values[k] = (float)(k % 3);
    for (uint32_t i = 0; i < RECORDS; i++) expected[i % KEYS] += values[(i + 1) % KEYS];
    hdst_value_set(v, values, KEYS);
    hdst_map_spec *total = hdst_map_spec_create(m, "total");
    hdst_bind_value(total, "v", v);
    hdst_bind_accum(total, "t", KEYS);
    hdst_result *r = hdst_result_create(hdst_map(indices(context, m), total));
    for (int t = 0; t < 3; t++) {
        hdst_error error;
        RUN(r);
        context->engine->worker[0].device->budget.limit = atomic_load(&context->engine->worker[0].device->budget.used);     // of the device: nothing more fits
        cr_assert_eq(hdst_value_set_result(taken, r, "t", &error), HDST_OK, "%s", error.message);
        cr_assert_arr_eq(hdst_result_rows(r, "t", NULL), expected, sizeof expected);
    }
    cr_assert_eq(warnings, 1);
    hdst_context_destroy(context);
}

// The first slice's output does not fit, which is seen when the last one has been submitted, and the accumulators
// read behind it: they are read again behind each piece.
Test(accums_on_device, behind_the_pieces_of_a_slice_that_was_cut)
{
    enum { ITEMS = 1400000, BURST = 5000, BURST_END = 20000, EACH = 60 };
    if (!have_cpu()) return;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.memory = 40 << 20;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = true;
    hdst_module *module = module_of(context, "struct item { uint32_t n; float v; };\n"
                                             "flat_map burst(item a, accum uint64_t seen, accum uint64_t given) -> item\n"
                                             "{ seen += 1; for (uint32_t i = 0u; i < a.n; i++) { given += 1; emit((item){ .n = i, .v = a.v }); } }\n");
    struct { uint32_t n; float v; } *items = calloc(ITEMS, sizeof *items), *got;
    for (uint32_t i = 0; i < ITEMS; i++) items[i].n = i >= BURST && i < BURST_END ? EACH : 0, items[i].v = (float)i;
    hdst_map_spec *spec = hdst_map_spec_create(module, "burst");
    hdst_result *r = hdst_result_create(hdst_flat_map(hdst_read(hdst_source_from_memory(context, items, ITEMS, sizeof *items), module, "item"), spec));
    RUN(r);
    uint64_t n;
    got = (void *)hdst_result_rows(r, NULL, &n);
    cr_assert_eq(n, (BURST_END - BURST) * EACH, "%llu", (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++) cr_assert(got[i].n == i % EACH && got[i].v == (float)(BURST + i / EACH), "record %llu", (unsigned long long)i);
    hdst_value *seen = hdst_value_create(module, "uint64_t", 1);
    for (int again = 0; again < 3; again++) {       // behind the first time rows are made of them on the device, behind each piece
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "seen", NULL), 0, 0), ITEMS, "run %d", again);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "given", NULL), 0, 0), (int64_t)n, "run %d", again);
        cr_assert_eq(hdst_value_set_result(seen, r, "seen", NULL), HDST_OK);
        RUN(r);
    }
    free(items);
    hdst_context_destroy(context);
}
