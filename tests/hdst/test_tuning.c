// SPDX-License-Identifier: Apache-2.0
// The tuning of GPU kernels as a program sees it.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { N = 30000 };

static const char kernels[] =
    "struct row { uint32_t k; float x; };\n"
    "struct total { uint64_t n; float x; };\n"
    "map sums(row r, accum total t[]) { t[r.k % 3].n += r.k; t[r.k % 3].x += r.x; }\n";

typedef struct row { uint32_t k; float x; } row;

static hdst_context *open_context(hdst_tuning tuning, const char *cache)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.tuning = tuning;
    options.cache_dir = cache;
    hdst_context *context = hdst_context_create(&options);
    cr_assert(context->engine);
    context->engine->options.gpu_form_on_cpu = true;
    context->engine->limits.tuning_least = 1000;
    return context;
}

// Runs often enough for some rounds, checks all sums in each, and says whether explain tells a shape and how many others.
static void run_often(hdst_tuning tuning, const char *cache, bool *tells, bool *tried)
{
    static row rows[N];
    uint64_t n[3] = {0};
    double x[3] = {0};
    for (uint32_t i = 0; i < N; i++) {
        rows[i] = (row){i * 7, (float)(i % 1000) / 8};
        n[i * 7 % 3] += i * 7;
        x[i * 7 % 3] += rows[i].x;      // multiples of 1/8 far from overflow
    }
    hdst_context *context = open_context(tuning, cache);
    hdst_module *module = module_of(context, kernels);
    hdst_map_spec *spec = hdst_map_spec_create(module, "sums");
    hdst_bind_accum(spec, "t", 3);
    hdst_result *result = hdst_result_create(hdst_map(hdst_cache(hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), module, "row")), spec));
    for (int run = 0; run < 25; run++) {
        RUN(result);
        for (uint64_t k = 0; k < 3; k++) {
            cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(result, "t", "n"), k, 0), n[k]);
            cr_assert_eq(hdst_view_double(hdst_result_field(result, "t", "x"), k, 0), (double)(float)x[k]);
        }
    }
    hdst_error error;
    const char *text = hdst_explain(result, &error);
    *tells = strstr(text, "\n  shape: ") != NULL;
    *tried = strstr(text, "\n    tried: ") != NULL;
    hdst_context_destroy(context);
}

Test(tuning, shapes_are_tried_unless_switched_off_and_sums_stay_the_same)
{
    char cache[] = "/tmp/hdst-test-tuning-XXXXXX", command[64];
    bool tells, tried;
    if (!have_cpu()) return;
    cr_assert_not_null(mkdtemp(cache));
    run_often(HDST_TUNING_OFF, cache, &tells, &tried);
    cr_assert(!tells && !tried);
    run_often(HDST_TUNING_FULL, cache, &tells, &tried);
    cr_assert(tells && tried);
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    cr_assert_eq(system(command), 0);
}

Test(tuning, a_mode_that_does_not_exist_is_an_error_with_a_hint)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.tuning = (hdst_tuning)3;
    hdst_context *context = hdst_context_create(&options);
    hdst_error error;
    cr_assert_eq(hdst_context_status(context, &error), HDST_E_USAGE);
    cr_assert(strstr(error.hint, "HDST_TUNING_FULL"), "%s", error.hint);
    hdst_context_destroy(context);
}
