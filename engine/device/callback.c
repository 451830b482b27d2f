// SPDX-License-Identifier: Apache-2.0
// A map whose code is a C function of the program's (engine/device/callback.h).
#include "engine/device/callback.h"
#include "base/costs_cpu.h"

#include "codegen/ir/ir.h"

#include <stdio.h>
#include <string.h>

void hdst__callback_init(hdst__callback *callback, hdst__thread_pool *pool)
{
    *callback = (hdst__callback){.pool = pool, .threads = 1, .failed = UINT64_MAX};
    pthread_mutex_init(&callback->lock, NULL);
}

void hdst__callback_destroy(hdst__callback *callback)
{
    pthread_mutex_destroy(&callback->lock);
}

hdst__callback_slice hdst__callback_slice_of(const ir_func *func, const hdst__launch *launch)
{
    return (hdst__callback_slice){.func = func, .first = launch->first, .skip = launch->skip, .count = launch->count, .input = launch->input[0]->host,
                                  .output = launch->output->host, .values = launch->values, .rows = launch->rows};
}

typedef struct parts {
    hdst__callback *callback;
    const hdst__callback_slice *slice;
    uint64_t each;                      // records; the last one may have fewer
} parts;

// Of parts that fail, the one that comes first in the input is told, as a run on one thread would.
static void note_failure(hdst__callback *callback, uint64_t first, const char *message)
{
    pthread_mutex_lock(&callback->lock);
    if (first < callback->failed) {
        callback->failed = first;
        snprintf(callback->message, sizeof callback->message, "%s", message);
    }
    pthread_mutex_unlock(&callback->lock);
}

static void run_part(void *argument, uint64_t i)
{
    const parts *p = argument;
    const hdst__callback_slice *s = p->slice;
    const ir_func *func = s->func;
    const uint64_t in = func->params[0].record->size, out = func->params[func->param_count - 1].record->size;       // the output comes last
    const uint64_t from = i * p->each, left = s->count - from;
    hdst__slice slice = {
        .first = s->first + from, .count = left < p->each ? left : p->each, .records = s->input + (s->skip + from) * in, .output = s->output + from * out,
        .values = s->values + 1, .value_rows = s->rows + 1, .value_count = func->param_count - 2,
    };
    char message[512] = "";
    if (!p->callback->call(&slice, message, p->callback->user)) note_failure(p->callback, slice.first, message);
}

void hdst__callback_run(hdst__callback *callback, const hdst__callback_slice *slice)
{
    const uint64_t wanted = (slice->count + HDST__CPU_CALLBACK_RECORDS - 1) / HDST__CPU_CALLBACK_RECORDS,
        count = wanted < callback->threads ? wanted : callback->threads;
    if (count == 0) return;
    parts p = {callback, slice, ((slice->count + count - 1) / count + 63) / 64 * 64};
    hdst__thread_pool_run(callback->pool, (slice->count + p.each - 1) / p.each, run_part, &p);
}

hdst_status hdst__callback_status(hdst__callback *callback, const char *function, hdst_error *error)
{
    uint64_t failed = callback->failed;
    callback->failed = UINT64_MAX;
    if (failed == UINT64_MAX) return HDST_OK;
    hdst__error_set(error, HDST_E_RECORD, "the C function given for '%s' failed on the records from %llu on", function, (unsigned long long)failed);
    if (callback->message[0]) hdst__error_cause(error, "%s", callback->message);
    return HDST_E_RECORD;
}
