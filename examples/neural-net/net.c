// SPDX-License-Identifier: Apache-2.0
// A net with one hidden layer of tanh and a softmax behind it, trained by mini-batches on hdst (net.h).
#include "net.h"

#include "random.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 1000 };

static size_t sample_bytes(const net *n) { return ((size_t)n->d + 1) * sizeof(float); }

static uint64_t weight_count(const net *n) { return (uint64_t)n->hidden * (n->d + 1) + (uint64_t)n->classes * (n->hidden + 1); }

// --- Samples ---

static hdst_status load(net *n, program_run *run, hdst_error *error)
{
    const hdst_param params[] = {{"D", n->d}, {"HIDDEN", n->hidden}, {"CLASSES", n->classes}};
    hdst_module_destroy(n->module);
    return program_load(run, "neural-net.hk", params, 3, &n->module, error);
}

// low and scale of each column: what has no width becomes 0.
static hdst_status read_ranges(net *n, hdst_result *r, float *unit, hdst_error *error)
{
    uint64_t unusable = (uint64_t)hdst_view_int64(hdst_result_field(r, "unusable", NULL), 0, 0);
    uint64_t first = (uint64_t)hdst_view_int64(hdst_result_field(r, "first", NULL), 0, 0),
             highest = (uint64_t)hdst_view_int64(hdst_result_field(r, "highest", NULL), 0, 0);
    if (unusable)
        return program_fail(error, HDST_E_RECORD, first, "a net needs numbers: remove or mend it",
                            "%" PRIu64 " sample%s not finite (or beyond 1e18); the first is record %" PRIu64 " (counted from 0)", unusable,
                            unusable == 1 ? " is" : "s are", first);
    if (highest >= MOST_CLASSES)
        return options_misuse(error, "classes are whole numbers from 0; which column has them says --target", "class %" PRIu64 " of at most %d", highest,
                              MOST_CLASSES - 1);
    n->classes = (uint32_t)highest + 1;
    hdst_view low = hdst_result_field(r, "r", "low"), high = hdst_result_field(r, "r", "high");
    for (uint32_t i = 0; i < n->d; i++) {
        float width = (float)(hdst_view_double(high, 0, i) - hdst_view_double(low, 0, i));
        unit[i] = (float)hdst_view_double(low, 0, i);
        unit[n->d + i] = width > 0 ? 1 / width : 0;
    }
    return HDST_OK;
}

static hdst_status find_ranges(net *n, program_run *run, hdst_dataset *data, float *unit, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(data, n->module, "find_ranges"));
    hdst_status status = program_run_result(run, r, &n->explained, error);
    if (status == HDST_OK) status = read_ranges(n, r, unit, error);
    hdst_result_destroy(r);
    return status;
}

static hdst_status read_samples(net *n, program_run *run, hdst_error *error)
{
    n->classes = 1;         // not known yet
    float *unit = calloc(2 * (size_t)n->d, sizeof *unit);
    hdst_status status = unit ? load(n, run, error) : program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: ranges of columns");
    hdst_dataset *data = hdst_with_layout(hdst_read(run->source, n->module, "sample"), program_layout(run, HDST_AOS));
    if (status == HDST_OK) status = find_ranges(n, run, data, unit, error);
    hdst_value *value = hdst_value_create(n->module, "unit", 1);
    hdst_map_spec *spec = hdst_map_spec_create(n->module, "to_unit");
    hdst_bind_value(spec, "u", value);
    if (status == HDST_OK) hdst_value_set(value, unit, 1);
    if (status == HDST_OK) status = hdst_collect(hdst_map(data, spec), (void **)&n->samples, &n->records, error);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(value);
    free(unit);
    return status == HDST_OK ? load(n, run, error) : status;
}

// Of the first `count` of the order: every permutation is as likely (Fisher and Yates; Knuth, TAOCP 2, 3.4.2, algorithm P).
static void shuffle(net *n, uint64_t count)
{
    for (uint64_t i = count; i > 1; i--) {
        uint64_t j = random_next(&n->random) % i, swap = n->order[i - 1];
        n->order[i - 1] = n->order[j];
        n->order[j] = swap;
    }
}

// Weights of a layer, uniform within sqrt(6 / (in + out)) (Glorot and Bengio, "Understanding the difficulty of
// training deep feedforward neural networks", AISTATS 2010).
static void draw_weights(net *n, float *to, uint32_t in, uint32_t out)
{
    double bound = sqrt(6.0 / ((double)in + out));
    for (uint64_t i = 0; i < (uint64_t)in * out; i++) to[i] = (float)((2 * random_unit(&n->random) - 1) * bound);
}

hdst_status net_open(net *n, program_run *run, hdst_error *error)
{
    hdst_status status = read_samples(n, run, error);
    if (status != HDST_OK) return status;
    uint64_t trained = n->records - n->held_out, most = n->held_out ? n->held_out : n->records;
    if (n->batch > trained) n->batch = trained;
    n->order = malloc(n->records * sizeof *n->order);
    n->piece = malloc((most > n->batch ? most : n->batch) * sample_bytes(n));
    n->weights = calloc(weight_count(n), sizeof *n->weights);
    n->velocity = calloc(weight_count(n), sizeof *n->velocity);
    if (!n->order || !n->piece || !n->weights || !n->velocity) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the net and its samples");
    for (uint64_t i = 0; i < n->records; i++) n->order[i] = i;
    shuffle(n, n->records);
    draw_weights(n, n->weights, n->d, n->hidden);
    draw_weights(n, n->weights + (uint64_t)n->hidden * (n->d + 1), n->hidden, n->classes);
    n->value = hdst_value_create(n->module, "net", 1);
    return hdst_value_status(n->value, error);
}

void net_close(net *n, program_run *run)
{
    hdst_value_destroy(n->value);
    hdst_module_destroy(n->module);
    hdst_rows_destroy(run->context, n->samples);
    free(n->order);
    free(n->piece);
    free(n->weights);
    free(n->velocity);
}

// --- Passes ---

static void gather(net *n, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) memcpy(n->piece + i * sample_bytes(n), n->samples + n->order[first + i] * sample_bytes(n), sample_bytes(n));
}

static hdst_result *make_pass(net *n, hdst_source *source, const char *function)
{
    hdst_map_spec *spec = hdst_map_spec_create(n->module, function);
    hdst_bind_value(spec, "n", n->value);
    hdst_result *r = hdst_result_create(hdst_map(hdst_read(source, n->module, "sample"), spec));
    hdst_map_spec_destroy(spec);
    return r;
}

// Gradient descent with momentum (Polyak, "Some methods of speeding up the convergence of iteration methods", 1964).
static void descend(net *n, const float *gradient)
{
    float momentum = (float)n->momentum, rate = (float)(n->rate / (double)n->batch);
    for (uint64_t i = 0; i < weight_count(n); i++) {
        n->velocity[i] = momentum * n->velocity[i];
        n->velocity[i] -= rate * gradient[i];
        n->weights[i] += n->velocity[i];
    }
}

static hdst_status train_epoch(net *n, program_run *run, hdst_result *pass, hdst_error *error)
{
    uint64_t trained = n->records - n->held_out;
    shuffle(n, trained);
    for (uint64_t first = 0; first + n->batch <= trained; first += n->batch) {
        if (signals_stop) return program_fail(error, HDST_E_CANCELLED, 0, "", "interrupted");
        gather(n, first, n->batch);
        hdst_value_set(n->value, n->weights, 1);
        hdst_status status = program_run_result(run, pass, &n->explained, error);
        const float *gradient = status == HDST_OK ? hdst_result_rows(pass, "gradient", NULL) : NULL;
        if (status == HDST_OK && !gradient) status = hdst_result_status(pass, error);
        if (status != HDST_OK) return status;
        descend(n, gradient);
    }
    return HDST_OK;
}

hdst_status net_train(net *n, program_run *run, uint64_t epochs, hdst_error *error)
{
    n->explained = false;       // --explain tells of the training
    hdst_source *source = hdst_source_from_memory(run->context, n->piece, n->batch, sample_bytes(n));
    hdst_result *pass = make_pass(n, source, "train");
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < epochs && status == HDST_OK; i++) status = train_epoch(n, run, pass, error);
    hdst_result_destroy(pass);
    hdst_source_destroy(source);
    return status;
}

hdst_status net_measure(net *n, program_run *run, hdst_error *error)
{
    uint64_t count = n->held_out ? n->held_out : n->records;
    gather(n, n->records - count, count);
    hdst_value_set(n->value, n->weights, 1);
    hdst_source *source = hdst_source_from_memory(run->context, n->piece, count, sample_bytes(n));
    hdst_result *pass = make_pass(n, source, "judge");
    hdst_status status = program_run_result(run, pass, &n->explained, error);
    if (status == HDST_OK) {
        n->accuracy = hdst_view_double(hdst_result_field(pass, "right", NULL), 0, 0) / (double)count;
        n->loss = hdst_view_double(hdst_result_field(pass, "loss", NULL), 0, 0) / (double)count;
    }
    hdst_result_destroy(pass);
    hdst_source_destroy(source);
    return status;
}

hdst_status net_save_answers(net *n, program_run *run, const char *path, hdst_error *error)
{
    hdst_source *source = hdst_source_from_memory(run->context, n->samples, n->records, sample_bytes(n));
    hdst_result *pass = make_pass(n, source, "judge");
    hdst_status status = program_run_result(run, pass, &n->explained, error);
    if (status == HDST_OK) status = hdst_view_save(hdst_result_field(pass, NULL, "y"), path, error);
    hdst_result_destroy(pass);
    hdst_source_destroy(source);
    return status;
}
