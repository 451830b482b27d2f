// SPDX-License-Identifier: Apache-2.0
// A sample: each record stays with a probability, by its number and a seed.
#include "codegen/lower/operator_functions.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct sample_own {
    uint64_t seed, limit;           // of random numbers below 2^63, those below limit are in
} sample_own;

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const sample_own *own = dataset->own;
    hdst__buffer_printf(out, " -> sample %g, seed %" PRIu64, (double)own->limit * 0x1p-63, own->seed);
}

static ir_func *lower(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error)
{
    (void)error;
    return hdst__operator_sample(arena, dataset->record);
}

static hdst__plan_param bind(const ir_func *func, const ir_param *param, const hdst_dataset *dataset)
{
    const sample_own *own = dataset->own;
    return (hdst__plan_param){.function = func->name, .name = param->name, .rows = 1, .data = strcmp(param->name, "seed") ? &own->limit : &own->seed};
}

const hdst__operator hdst__op_sample = {
    .name = "hdst_sample", .gives = HDST__GIVES_SOME, .own_bytes = sizeof(sample_own), .describe = describe, .lower = lower, .bind = bind,
};

hdst_dataset *hdst_sample(hdst_dataset *from, double fraction, uint64_t seed)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_sample, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        sample_own *own = dataset->own;
        if (!(fraction >= 0 && fraction <= 1)) {
            hdst__error_set(&error, HDST_E_USAGE, "a sample of the fraction %g", fraction);
            hdst__error_hint(&error, "a fraction is from 0 (no record) to 1 (all)");
        } else {
            hdst__dataset_has_records(from, "hdst_sample", &error);
        }
        if (error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
        else own->limit = (uint64_t)ldexp(fraction, 63);
        own->seed = seed;
        hdst__dataset_as_structs(dataset);
    }
    hdst__unlock(from->object.context);
    return dataset;
}
