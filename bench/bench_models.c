// SPDX-License-Identifier: Apache-2.0
// hdst's side of the comparisons about models: one step of fuzzy c-means, of logistic regression by Newton's method,
// and of a neural net, by the kernels of the examples. Records stay resident.
//   bench_models --problem fuzzy|logistic|neural [--layout aos|soa|aosoa|aop] [--records N] [--clusters K] [--predictors D] [--sums exact|fast] [--device
//   DEVICE] [--kernels FOLDER] [--explain]
#include "bench/hdst_side.h"
#include "bench/models.h"

enum { MOST_CLUSTERS = 64 };

typedef struct problem {
    const char *path, *record, *function;       // of the examples' folder
    bool (*fill)(uint64_t first, uint64_t count, void *records, char *message, void *user);
    void (*bind)(struct problem *p, hdst_map_spec *spec);
    size_t (*check)(void *state, double *values, size_t limit);
    hdst_layout layout;
    uint64_t records;
    uint32_t clusters, predictors;              // of logistic regression: the first ones of LOGISTIC_PREDICTORS
    hdst_module *module;
    hdst_result *result;
} problem;

static void bind(problem *p, hdst_map_spec *spec, const char *name, const char *type, const void *rows, uint64_t count)
{
    hdst_value *value = hdst_value_create(p->module, type, count);
    hdst_value_set(value, rows, count);
    hdst_bind_value(spec, name, value);
}

static double number(const problem *p, const char *accum, const char *field, uint64_t element)
{
    return hdst_view_double(hdst_result_field(p->result, accum, field), 0, element);
}

// --- Fuzzy c-means ---

static bool fill_points(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    float *x = records;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < FUZZY_COLUMNS; c++) x[i * FUZZY_COLUMNS + c] = bench_coordinate(first + i, c, FUZZY_COLUMNS);
    return true;
}

static void bind_fuzzy(problem *p, hdst_map_spec *spec)
{
    static float centers[MOST_CLUSTERS * FUZZY_COLUMNS];
    for (uint32_t j = 0; j < p->clusters; j++)
        for (uint32_t c = 0; c < FUZZY_COLUMNS; c++) centers[j * FUZZY_COLUMNS + c] = bench_center(j, c, FUZZY_COLUMNS);
    const float m = 2, power = 1;
    bind(p, spec, "c", "centers", centers, 1);
    bind(p, spec, "m", "float", &m, 1);
    bind(p, spec, "power", "float", &power, 1);
}

static size_t check_fuzzy(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const uint32_t last = p->clusters - 1;
    const double all[] = {number(p, "objective", NULL, 0), number(p, "t", "weight", 0), number(p, "t", "x", 0),
                          number(p, "t", "x", last * FUZZY_COLUMNS + FUZZY_COLUMNS - 1)};
    for (size_t i = 0; i < 4 && i < limit; i++) values[i] = all[i];
    return limit < 4 ? limit : 4;
}

// --- Logistic regression ---

static bool fill_rows(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    const uint32_t predictors = ((const problem *)user)->predictors;
    double *x = records;
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < predictors; c++) *x++ = bench_predictor(first + i, c);
        *x++ = bench_class(first + i);
    }
    return true;
}

static void bind_logistic(problem *p, hdst_map_spec *spec)
{
    double scaling[2 * LOGISTIC_PREDICTORS], newton[3 * (LOGISTIC_PREDICTORS + 1) + 3] = {0};     // of which the model comes first
    for (uint32_t c = 0; c < p->predictors; c++) {
        scaling[c] = bench_mean(c);
        scaling[p->predictors + c] = bench_factor(c);
    }
    for (uint32_t i = 0; i <= p->predictors; i++) newton[i] = bench_coefficient(i);
    bind(p, spec, "s", "scaling", scaling, 1);
    bind(p, spec, "m", "newton", newton, 1);
}

static size_t check_logistic(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const uint32_t elements = (p->predictors + 1) * (p->predictors + 2) / 2;
    const double all[] = {number(p, "c", "log_likelihood", 0),        number(p, "c", "right", 0),       number(p, "c", "gradient", 0),
                          number(p, "c", "gradient", p->predictors),  number(p, "c", "information", 0), number(p, "c", "information", 30 % elements),
                          number(p, "c", "information", elements - 1)};
    for (size_t i = 0; i < 7 && i < limit; i++) values[i] = all[i];
    return limit < 7 ? limit : 7;
}

// --- The neural net ---

typedef struct sample {
    float x[NET_COLUMNS];
    uint32_t y;
} sample;

static bool fill_samples(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    sample *s = records;
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < NET_COLUMNS; c++) s[i].x[c] = bench_pixel_of(first + i, c);
        s[i].y = bench_class_of(first + i);
    }
    return true;
}

static void bind_neural(problem *p, hdst_map_spec *spec)
{
    static float weights[NET_WEIGHTS];
    for (uint64_t i = 0; i < NET_WEIGHTS; i++) weights[i] = bench_weight(i);
    bind(p, spec, "n", "net", weights, 1);
}

static size_t check_neural(void *state, double *values, size_t limit)
{
    const problem *p = state;
    const double all[] = {number(p, "gradient", "w1", 100), number(p, "gradient", "w1", NET_B1 - 1), number(p, "gradient", "b1", 0),
                          number(p, "gradient", "w2", 0), number(p, "gradient", "b2", NET_CLASSES - 1)};
    for (size_t i = 0; i < 5 && i < limit; i++) values[i] = all[i];
    return limit < 5 ? limit : 5;
}

// --- All of them ---

static problem choose(int argc, char **argv)
{
    const char *name = side_option(argc, argv, "--problem", "fuzzy");
    problem p = {.records = bench_option(argc, argv, "--records", 4000000),
                 .clusters = (uint32_t)bench_option(argc, argv, "--clusters", 8),
                 .layout = side_layout(argc, argv),
                 .predictors = (uint32_t)bench_option(argc, argv, "--predictors", LOGISTIC_PREDICTORS)};
    if (!strcmp(name, "fuzzy") && p.clusters >= 1 && p.clusters <= MOST_CLUSTERS) {
        p.path = "fuzzy-cmeans", p.record = "point", p.function = "belong", p.fill = fill_points, p.bind = bind_fuzzy, p.check = check_fuzzy;
    } else if (!strcmp(name, "logistic") && p.predictors >= 1 && p.predictors <= LOGISTIC_PREDICTORS) {
        p.path = "logistic-regression", p.record = "row", p.function = "measure", p.fill = fill_rows, p.bind = bind_logistic, p.check = check_logistic;
    } else if (!strcmp(name, "neural")) {
        p.path = "neural-net", p.record = "sample", p.function = "train", p.fill = fill_samples, p.bind = bind_neural, p.check = check_neural;
        p.layout = HDST_AOS;
    } else {
        fprintf(stderr, "bench_models: --problem fuzzy (of up to %d clusters), logistic (of up to %d predictors) or neural\n", MOST_CLUSTERS,
                LOGISTIC_PREDICTORS);
        exit(2);
    }
    return p;
}

static void run(void *state) { side_run(((problem *)state)->result); }

int main(int argc, char **argv)
{
    problem p = choose(argc, argv);
    hdst_context *ctx = side_context(argc, argv);
    char path[4096];
    snprintf(path, sizeof path, "%s/../examples/%s/%s.hk", side_option(argc, argv, "--kernels", BENCH_KERNELS), p.path, p.path);
    const hdst_param fuzzy[] = {{"D", FUZZY_COLUMNS}, {"K", p.clusters}, {"SQUARE", 1}}, logistic[] = {{"D", p.predictors}},
                     neural[] = {{"D", NET_COLUMNS}, {"HIDDEN", NET_HIDDEN}, {"CLASSES", NET_CLASSES}};
    const bool is_logistic = p.fill == fill_rows;
    p.module = hdst_module_load(ctx, path, p.fill == fill_points ? fuzzy : is_logistic ? logistic : neural, is_logistic ? 1 : 3);
    hdst_dataset *data = hdst_cache(hdst_with_layout(hdst_read(hdst_source_from_callback(ctx, p.records, p.fill, &p), p.module, p.record), p.layout));
    hdst_map_spec *spec = hdst_map_spec_create(p.module, p.function);
    p.bind(&p, spec);
    p.result = hdst_result_create(hdst_map(data, spec));
    const bench_case cases[] = {{"step", run, p.check, &p}};
    const int status = bench_serve(cases, 1, p.records);
    side_explain(argc, argv, p.result);
    hdst_context_destroy(ctx);
    return status;
}
