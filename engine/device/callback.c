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
                                  .output = launch->output->host, .places = launch->places ? launch->places->host : NULL,
                                  .values = launch->values, .rows = launch->rows};
}

typedef struct parts {
    hdst__callback *callback;
    const hdst__callback_slice *slice;
    uint64_t each;                      // records; the last one may have fewer
    uint64_t kept[HDST__MOST_THREADS];  // of a filter: records of each part that stay, at the front of the part's output
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

static hdst__slice slice_of(const parts *p, uint64_t from, uint64_t count)
{
    const hdst__callback_slice *s = p->slice;
    return (hdst__slice){.first = s->first + from, .count = count, .records = s->input + (s->skip + from) * s->func->params[0].record->size,
                         .values = s->values + 1, .value_rows = s->rows + 1, .value_count = s->func->param_count - 2};      // the output comes last
}

static uint64_t record_bytes(const hdst__callback_slice *s) { return s->func->params[s->func->param_count - 1].record->size; }

static void map_part(const parts *p, uint64_t from, uint64_t count)
{
    char message[512] = "";
    hdst__slice slice = slice_of(p, from, count);
    slice.output = p->slice->output + from * record_bytes(p->slice);
    if (!p->callback->call(&slice, message, p->callback->user)) note_failure(p->callback, slice.first, message);
}

// Some records at a time, so that what is said of them needs little memory. Returns how many stay.
static uint64_t filter_part(const parts *p, uint64_t from, uint64_t count)
{
    const uint64_t size = record_bytes(p->slice);
    char *to = p->slice->output + from * size;
    uint64_t kept = 0;
    for (uint64_t done = 0; done < count; done += HDST__CPU_CALLBACK_RECORDS) {
        bool keep[HDST__CPU_CALLBACK_RECORDS] = {false};
        char message[512] = "";
        hdst__slice slice = slice_of(p, from + done, count - done < HDST__CPU_CALLBACK_RECORDS ? count - done : HDST__CPU_CALLBACK_RECORDS);
        slice.keep = keep;
        if (!p->callback->call(&slice, message, p->callback->user)) {
            note_failure(p->callback, slice.first, message);
            return kept;
        }
        for (uint64_t i = 0; i < slice.count; i++)
            if (keep[i]) memcpy(to + kept++ * size, (const char *)slice.records + i * size, size);
    }
    return kept;
}

static void run_part(void *argument, uint64_t i)
{
    parts *p = argument;
    const uint64_t from = i * p->each, left = p->slice->count - from, count = left < p->each ? left : p->each;
    if (p->callback->filters) p->kept[i] = filter_part(p, from, count);
    else map_part(p, from, count);
}

static void close_gaps(const parts *p, uint64_t count)
{
    const uint64_t size = record_bytes(p->slice);
    uint64_t kept = p->kept[0];
    for (uint64_t i = 1; i < count; i++) {
        memmove(p->slice->output + kept * size, p->slice->output + i * p->each * size, p->kept[i] * size);
        kept += p->kept[i];
    }
    p->slice->places[0] = kept;
}

void hdst__callback_run(hdst__callback *callback, const hdst__callback_slice *slice)
{
    const uint64_t wanted = (slice->count + HDST__CPU_CALLBACK_RECORDS - 1) / HDST__CPU_CALLBACK_RECORDS,
        most = callback->threads < HDST__MOST_THREADS ? callback->threads : HDST__MOST_THREADS, count = wanted < most ? wanted : most;
    if (callback->filters) slice->places[0] = 0;
    if (count == 0) return;
    parts p = {.callback = callback, .slice = slice, .each = ((slice->count + count - 1) / count + 63) / 64 * 64};
    const uint64_t all = (slice->count + p.each - 1) / p.each;
    hdst__thread_pool_run(callback->pool, all, run_part, &p);
    if (callback->filters) close_gaps(&p, all);
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
