// SPDX-License-Identifier: Apache-2.0
// What several GPUs (the GPU form on two halves of a CPU) accumulate in tables of many rows meets on the first of them, which makes the rows; beside the
// interpreter. Sums and what does not fit their words: test_fixed_point_tables.c.
#include "tests/hdst/support.h"

enum { RECORDS = 40000, ROWS = 3000, LOCAL = 4096 };

static const char extremes[] =
    "struct pair { uint32_t key; float value; };\n"
    "struct extreme { float least; float most; int32_t key; };\n"
    "map gather_extremes(pair p, accum extreme t[])\n"
    "{\n"
    "    acc_min(t[p.key].least, p.value);\n"
    "    acc_max(t[p.key].most, p.value);\n"
    "    acc_max(t[p.key].key, (int32_t)p.key);\n"
    "}\n";

typedef struct extreme { float least, most; int32_t key; } extreme;

static const char stays[] =
    "struct pair { uint32_t key; float value; };\n"
    "map keyed(pair p) -> (key uint32_t key, float v) { return (p.key, p.value); }\n"
    "reduce add(float a, float b) { return a + b; }\n"
    "map twice(float x) -> float { return x * 2; }\n";

typedef struct pair { uint32_t key; float value; } pair;

static pair pairs[RECORDS];

static void make_pairs(void)
{
    for (uint32_t i = 0; i < RECORDS; i++) pairs[i] = (pair){i * UINT32_C(2654435761) % ROWS, (float)(i % 100) / 4 - 7};
}

static hdst_dataset *dataset(hdst_context *context, hdst_module *module)
{
    return hdst_cache(hdst_read(hdst_source_from_memory(context, pairs, RECORDS, sizeof *pairs), module, "pair"));
}

static const char added_there[] = "accumulators of the other devices are added on";

// Minima and maxima by themselves meet there too.
Test(several_gpus, least_and_most_of_another_gpu_meet_where_the_rows_are_made)
{
    if (!have_team()) return;
    make_pairs();
    for (int form = 0; form < 2; form++) {
        hdst_context *context = form ? pair_of_gpus(LOCAL, 0) : context_on("interp");
        hdst_module *m = module_of(context, extremes);
        hdst_map_spec *spec = hdst_map_spec_create(m, "gather_extremes");
        hdst_bind_accum(spec, "t", ROWS);
        hdst_result *r = hdst_result_create(hdst_map(dataset(context, m), spec));
        static extreme found[2][ROWS];
        for (int run = 0; run < 2; run++) {
            RUN(r);
            cr_assert_not_null(hdst_result_rows(r, "t", NULL));
            memcpy(found[form], hdst_result_rows(r, "t", NULL), sizeof found[form]);
            cr_assert_arr_eq(found[form], found[0], sizeof found[0]);
        }
        if (form) cr_assert(strstr(hdst_explain(r, NULL), added_there), "%s", hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
}

static const hdst__device_ops *usual;
static hdst__device_ops watched;
static _Atomic unsigned waits;

static hdst_status read_and_count(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error)
{
    if (wait) atomic_fetch_add(&waits, 1);
    return usual->read(device, memory, offset, bytes, count, wait, error);
}

// Error word, state of the overflow table and words come back with the last slice: a worker waits for no copy by itself. Of an input that is not divided
// beforehand they come behind it, together.
Test(several_gpus, small_copies_are_not_waited_for_one_by_one)
{
    static const char kernels[] = "struct pair { uint32_t key; float value; };\n"
                                  "map sums(pair p, accum float t[]) { t[p.key] += p.value; }\n";
    if (!have_team()) return;
    make_pairs();
    for (int cached = 0; cached < 2; cached++) {
        hdst_context *context = pair_of_gpus(LOCAL, 0);
        hdst_module *m = module_of(context, kernels);
        hdst_map_spec *spec = hdst_map_spec_create(m, "sums");
        hdst_bind_accum(spec, "t", ROWS);
        hdst_source *source = hdst_source_from_memory(context, pairs, RECORDS, sizeof *pairs);
        hdst_result *r = hdst_result_create(hdst_map(cached ? dataset(context, m) : hdst_read(source, m, "pair"), spec));
        RUN(r);
        hdst__device *device[2] = {context->engine->worker[0].device, context->engine->worker[1].device};
        usual = device[0]->ops;
        watched = *usual;
        watched.read = read_and_count;
        device[0]->ops = device[1]->ops = &watched;
        atomic_store(&waits, 0);
        RUN(r);
        device[0]->ops = device[1]->ops = usual;
        const float *sum = hdst_result_rows(r, "t", NULL);
        double all = 0, expected = 0;
        for (uint32_t k = 0; k < ROWS; k++) all += sum[k];
        for (uint32_t i = 0; i < RECORDS; i++) expected += pairs[i].value;
        cr_assert_eq(all, expected);
        cr_assert_leq(waits, 1, "%u waits, %s: one is for the rows", waits, cached ? "cached" : "streamed");
        hdst_context_destroy(context);
    }
}

// Rows that stay on a device for the next stage, as in a loop, are no reason to leave the other one out.
Test(several_gpus, rows_that_a_stage_reads_are_made_by_several_gpus)
{
    if (!have_team()) return;
    make_pairs();
    float *expected = calloc(ROWS, sizeof *expected);
    for (int form = 0; form < 2; form++) {
        hdst_context *context = form ? pair_of_gpus(LOCAL, 0) : context_on("interp");
        hdst_module *m = module_of(context, stays);
        hdst_dataset *keyed = hdst_map(dataset(context, m), hdst_map_spec_create(m, "keyed"));
        hdst_result *r = hdst_result_create(hdst_map(hdst_reduce_dense(keyed, m, "add", ROWS), hdst_map_spec_create(m, "twice")));
        for (int run = 0; run < 2; run++) {
            RUN(r);
            const float *found = hdst_result_rows(r, NULL, NULL);
            cr_assert_not_null(found);
            if (form) cr_assert_arr_eq(found, expected, ROWS * sizeof *found);
            else memcpy(expected, found, ROWS * sizeof *found);
        }
        if (form) cr_assert(strstr(hdst_explain(r, NULL), added_there), "%s", hdst_explain(r, NULL));
        hdst_context_destroy(context);
    }
    free(expected);
}

// The words have room for the additions of all records, of which each device has a part only: no run finds them too narrow and compiles anew.
Test(several_gpus, plans_of_several_gpus_last_from_run_to_run)
{
    enum { MANY = 9000000 };            // more than the 2^23 additions up to which words have as many bits as they may
    if (!have_team()) return;
    hdst_context *context = pair_of_gpus(LOCAL, 0);
    hdst_module *m = module_of(context, "struct cell { float sum; };\n"
                                        "map spread(uint32_t i, accum cell t[]) { t[i % 3000].sum += (float)(i & 3); }\n");
    hdst_map_spec *spec = hdst_map_spec_create(m, "spread");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(hdst_cache(hdst_read(hdst_source_from_range(context, 0, MANY), m, "uint32_t")), spec));
    for (int run = 0; run < 2; run++) {
        RUN(r);
        const float *cells = hdst_result_rows(r, "t", NULL);
        cr_assert_not_null(cells);
        double all = 0;
        for (int k = 0; k < ROWS; k++) all += cells[k];
        cr_assert_eq(all, MANY / 4 * 6.0, "run %d: %g, row 1: %g", run, all, (double)cells[1]);
    }
    cr_assert_eq(hdst_result_stats(r).compile_seconds, 0);
    cr_assert(strstr(hdst_explain(r, NULL), added_there));
    hdst_context_destroy(context);
}

// A table goes by way of tuples, which each GPU brings to it a slice at a time and in whatever order slices come to it; what lies there already stays.
Test(several_gpus, slices_that_go_by_way_of_tuples_are_added_one_to_another)
{
    static const char kernels[] = "struct pair { uint32_t key; float value; };\n"
                                  "map sums(pair p, accum float t[]) { t[p.key] += p.value; }\n";
    if (!have_team()) return;
    make_pairs();
    static float expected[ROWS];
    for (uint32_t i = 0; i < RECORDS; i++) expected[pairs[i].key] += pairs[i].value;        // quarters, which floats add exactly
    hdst_context *context = pair_of_gpus(2 * LOCAL, 0);
    context->engine->options.tuples_always = true;
    hdst__engine_limits(context->engine)->slice_records = RECORDS / 8;
    hdst_module *m = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(m, "sums");
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(dataset(context, m), spec));
    for (int run = 0; run < 2; run++) {
        RUN(r);
        const float *sum = hdst_result_rows(r, "t", NULL);
        cr_assert_not_null(sum);
        for (int k = 0; k < ROWS; k++) cr_assert_eq(sum[k], expected[k], "run %d, row %d: %g, not %g", run, k, (double)sum[k], (double)expected[k]);
    }
    cr_assert(strstr(hdst_explain(r, NULL), added_there), "%s", hdst_explain(r, NULL));
    cr_assert(strstr(hdst_explain(r, NULL), "tuples are put in order"), "%s", hdst_explain(r, NULL));
    hdst_context_destroy(context);
}
