// SPDX-License-Identifier: Apache-2.0
// Output records of several workers in the order of the input (engine/stage/assembly.h).
#include "engine/stage/assembly.h"

#include "base/costs_host.h"

static uint64_t groups_of(const hdst__assembly *assembly, uint64_t records) { return records / assembly->group + (records % assembly->group > 0); }

hdst_status hdst__assembly_init(hdst__assembly *assembly, hdst__output *to, uint64_t group, uint64_t records, double each, uint64_t limit, hdst_error *error)
{
    *assembly = (hdst__assembly){.to = to, .group = group, .records = records, .each = each, .limit = limit};
    assembly->expected = (uint64_t)((double)records * each);
    if (limit && assembly->expected > limit) assembly->expected = limit;
    assembly->most_waiting = hdst__budget_left(to->budget) / HDST__HOST_WAITING_SHARE;
    pthread_mutex_init(&assembly->mutex, NULL);
    pthread_cond_init(&assembly->changed, NULL);
    return group ? hdst__output_reserve(to, groups_of(assembly, records), error) : HDST_OK;
}

static void free_chunk(const hdst__assembly *assembly, hdst__chunk *chunk)
{
    if (assembly->group) chunk->output.records = NULL;      // which are the whole output's
    hdst__output_destroy(&chunk->output);
    hdst__free(assembly->to->allocator, chunk);
}

void hdst__assembly_destroy(hdst__assembly *assembly)
{
    while (assembly->first) {
        hdst__chunk *chunk = assembly->first;
        assembly->first = chunk->next;
        free_chunk(assembly, chunk);
    }
    pthread_cond_destroy(&assembly->changed);
    pthread_mutex_destroy(&assembly->mutex);
}

// --- Workers ---

static hdst__chunk *make_chunk(hdst__assembly *assembly, const hdst__share *share)
{
    hdst__output *to = assembly->to;
    hdst__chunk *chunk = hdst__alloc_zero(to->allocator, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->share = *share;
    hdst__output_init(&chunk->output, to->allocator, to->budget, to->record_bytes);
    hdst__output_has_texts(&chunk->output, to->runtime, to->texts_of);
    if (!assembly->group) return chunk;
    chunk->output.records = to->records + share->first / assembly->group * to->record_bytes;
    chunk->output.capacity = groups_of(assembly, share->count);
    return chunk;
}

// Where the limit will be reached before this share, going by what was seen.
static bool is_unwanted(const hdst__assembly *assembly, const hdst__share *share)
{
    const uint64_t have = assembly->whole_outputs;
    if (!assembly->limit || !(assembly->each > 0) || have >= assembly->limit) return false;
    const double end = (double)assembly->whole_to + (double)(assembly->limit - have) / assembly->each * HDST__HOST_OUTPUT_MARGIN;
    return (double)share->first > end;
}

static bool is_full(const hdst__assembly *assembly, const hdst__share *share)
{
    const bool full = assembly->waiting_bytes > assembly->most_waiting || is_unwanted(assembly, share);
    return !assembly->ends && share->first > assembly->reached && share->first < assembly->records && full;
}

bool hdst__assembly_is_full(hdst__assembly *assembly, const hdst__share *share)
{
    pthread_mutex_lock(&assembly->mutex);
    const bool full = is_full(assembly, share);
    pthread_mutex_unlock(&assembly->mutex);
    return full;
}

hdst__chunk *hdst__assembly_begin(hdst__assembly *assembly, const hdst__share *share, bool may_wait)
{
    pthread_mutex_lock(&assembly->mutex);
    while (may_wait && is_full(assembly, share)) pthread_cond_wait(&assembly->changed, &assembly->mutex);
    hdst__chunk *chunk = make_chunk(assembly, share), **at = &assembly->first;
    while (chunk && *at && (*at)->share.first < share->first) at = &(*at)->next;
    if (chunk) {
        chunk->next = *at;
        *at = chunk;
    }
    pthread_mutex_unlock(&assembly->mutex);
    return chunk;
}

static bool is_whole(const hdst__chunk *chunk) { return chunk->taken == chunk->share.count; }

static uint64_t bytes_of(const hdst__assembly *assembly, const hdst__chunk *chunk)
{
    return assembly->group ? 0 : chunk->output.count * chunk->output.record_bytes;
}

// What there is without a gap; and what a record gives.
static void count_wanted(hdst__assembly *assembly, const hdst__chunk *changed, uint64_t records, uint64_t outputs)
{
    uint64_t to = assembly->passed, have = assembly->given;
    assembly->seen_records += records;
    assembly->seen_outputs += outputs;
    if (assembly->seen_outputs) assembly->each = (double)assembly->seen_outputs / (double)assembly->seen_records;
    if (changed->share.first > assembly->whole_to) return;
    for (const hdst__chunk *chunk = assembly->first; chunk && chunk->share.first == to; chunk = chunk->next) {
        to += chunk->taken;
        have += chunk->ready;
    }
    assembly->whole_to = to;
    assembly->whole_outputs = have;
    if (have >= assembly->limit) assembly->ends = true;
}

bool hdst__assembly_taken(hdst__assembly *assembly, hdst__chunk *chunk, uint64_t records)
{
    const uint64_t before = chunk->ready;
    pthread_mutex_lock(&assembly->mutex);
    chunk->taken += records;
    chunk->ready = chunk->output.count;
    if (is_whole(chunk)) assembly->waiting_bytes += bytes_of(assembly, chunk);
    if (assembly->limit) count_wanted(assembly, chunk, records, chunk->ready - before);
    const bool enough = assembly->limit && assembly->whole_outputs >= assembly->limit;
    if (is_whole(chunk) || assembly->limit) pthread_cond_broadcast(&assembly->changed);
    pthread_mutex_unlock(&assembly->mutex);
    return enough;
}

void hdst__assembly_cut(hdst__assembly *assembly, hdst__chunk *chunk, uint64_t records)
{
    pthread_mutex_lock(&assembly->mutex);
    const bool was_whole = is_whole(chunk);
    chunk->share.count = records;
    if (chunk->share.first + records < assembly->records) assembly->records = chunk->share.first + records;
    if (!was_whole && is_whole(chunk)) assembly->waiting_bytes += bytes_of(assembly, chunk);
    pthread_cond_broadcast(&assembly->changed);
    pthread_mutex_unlock(&assembly->mutex);
}

void hdst__assembly_end(hdst__assembly *assembly)
{
    pthread_mutex_lock(&assembly->mutex);
    assembly->ends = true;
    pthread_cond_broadcast(&assembly->changed);
    pthread_mutex_unlock(&assembly->mutex);
}

// --- The first worker ---

static hdst_status give_chunk(hdst__assembly *assembly, const hdst__chunk *chunk, hdst_error *error)
{
    hdst__output *to = assembly->to;
    const hdst__output *from = &chunk->output;
    const hdst__consumer *consumer = to->consumer;
    if (assembly->group || consumer) to->count += from->count;
    if (assembly->group) return hdst__output_hold_texts(to, from, error);
    if (consumer) return from->count ? consumer->take(consumer->user, from->records, from->count, assembly->expected, error) : HDST_OK;
    return hdst__output_add_of(to, from, error);
}

// With the mutex held; NULL: what comes next is not whole yet.
static hdst__chunk *next_whole(hdst__assembly *assembly)
{
    hdst__chunk *chunk = assembly->first;
    if (!chunk || chunk->share.first != assembly->reached || !is_whole(chunk)) return NULL;
    assembly->first = chunk->next;
    assembly->passed += chunk->share.count;
    assembly->given += chunk->output.count;
    return chunk;
}

// The workers go on meanwhile.
static hdst_status give_one(hdst__assembly *assembly, hdst__chunk *chunk, hdst_error *error)
{
    pthread_mutex_unlock(&assembly->mutex);
    hdst_status status = give_chunk(assembly, chunk, error);
    pthread_mutex_lock(&assembly->mutex);
    assembly->reached += chunk->share.count;
    assembly->waiting_bytes -= bytes_of(assembly, chunk);
    free_chunk(assembly, chunk);
    pthread_cond_broadcast(&assembly->changed);
    return status;
}

hdst_status hdst__assembly_give(hdst__assembly *assembly, bool all, hdst_error *error)
{
    hdst_status status = HDST_OK;
    pthread_mutex_lock(&assembly->mutex);
    while (status == HDST_OK && assembly->reached < assembly->records && !(assembly->limit && assembly->given >= assembly->limit)) {
        hdst__chunk *chunk = next_whole(assembly);
        if (chunk) status = give_one(assembly, chunk, error);
        else if (!all || assembly->ends) break;
        else pthread_cond_wait(&assembly->changed, &assembly->mutex);
    }
    pthread_mutex_unlock(&assembly->mutex);
    return status;
}

// The chunk that was in progress has the last ones.
hdst_status hdst__assembly_give_wanted(hdst__assembly *assembly, bool *enough, hdst_error *error)
{
    const hdst__chunk *last;
    *enough = assembly->whole_outputs >= assembly->limit;
    if (!*enough) return HDST_OK;
    hdst_status status = hdst__assembly_give(assembly, false, error);
    if (status != HDST_OK || assembly->given >= assembly->limit) return status;
    last = assembly->first;
    return give_chunk(assembly, last, error);
}
