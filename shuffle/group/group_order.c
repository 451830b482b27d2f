// SPDX-License-Identifier: Apache-2.0
// The order of records by key, on all threads. A stable partition by the upper bits of their hashes (or dense keys) makes parts that lie in a core's cache:
// each thread counts and moves a share of the records, and a part has those of the first thread first. That is the one time that records leave where they
// lie: then each part is put in order where it is (group_part.c).
#include "shuffle/group/group_order.h"

#include "base/costs_host.h"
#include "engine/engine.h"
#include "shuffle/group/group_key.h"
#include "shuffle/group/group_memory.h"
#include "shuffle/group/group_numbers.h"
#include "shuffle/group/group_part.h"
#include "shuffle/group/group_spread.h"

#include <string.h>

typedef struct share {                          // of a thread
    uint64_t skipped, bad_record, bad_key;
    char *copy;                                 // a window
    hdst__group_part_worker worker;
    bool failed;                                // out of memory, or cancelled
} share;

typedef struct ordering {
    hdst__group *g;
    const hdst__group_input *input;
    uint64_t size, count;           // of a record; records
    uint64_t base;                  // the least number
    unsigned shift;
    uint32_t parts, threads;
    uint64_t *place;                // by thread and part: where its next record goes
    hdst__group_part *part;
    share share[HDST__MOST_THREADS];
    _Atomic uint32_t next;          // part that nobody has taken
} ordering;

static void in_threads(ordering *o, void (*step)(void *user, uint64_t thread))
{
    hdst__thread_pool_run(hdst__engine_threads(o->g->engine), o->threads, step, o);
}

static bool is_cancelled(const ordering *o) { return hdst__cancel_asked(hdst__engine_cancel(o->g->engine)); }
static uint64_t first_of(const ordering *o, uint64_t thread) { return o->count * thread / o->threads; }

// --- Parts ---

static void note_bad(const ordering *o, share *s, const char *rows, uint64_t first, uint64_t i)
{
    uint64_t number;
    if (hdst__group_number_of(o->g, rows + i * o->size, &number)) return;
    if (!s->skipped++) s->bad_record = first + i, s->bad_key = number;
}

static void count_window(ordering *o, uint64_t thread, const char *rows, uint64_t first, const uint32_t *part, uint64_t count)
{
    uint64_t *place = o->place + thread * o->parts;
    for (uint64_t i = 0; i < count; i++) {
        if (part[i] != HDST__GROUP_NOWHERE) place[part[i]]++;
        else note_bad(o, &o->share[thread], rows, first, i);
    }
}

// Of usual keys, which are all in range, nothing else has to be there.
static bool count_keys(ordering *o, uint64_t thread, uint64_t first, uint64_t *count)
{
    uint32_t part[HDST__HOST_GROUP_WINDOW_RECORDS];
    uint64_t stride, *place = o->place + thread * o->parts;
    const char *keys = hdst__group_has_usual_key(o->g) ? hdst__group_input_keys(o->input, first, count, &stride) : NULL;
    if (!keys) return false;
    hdst__group_parts_of_keys(keys, stride, *count, o->base, o->shift, part);
    for (uint64_t i = 0; i < *count; i++) place[part[i]]++;
    return true;
}

// Both passes over a thread's records: they are counted, or moved.
static void pass(ordering *o, uint64_t thread, bool moves)
{
    uint32_t part[HDST__HOST_GROUP_WINDOW_RECORDS];
    const uint64_t end = first_of(o, thread + 1);
    for (uint64_t first = first_of(o, thread), count; first < end; first += count) {
        if (is_cancelled(o)) return;
        count = end - first;
        if (!moves && count_keys(o, thread, first, &count)) continue;
        const char *rows = hdst__group_input_window(o->input, first, &count, o->share[thread].copy);
        hdst__group_parts_of(o->g, rows, count, o->base, o->shift, part);
        if (moves) hdst__group_spread(o->g->rows, rows, count, o->size, part, o->place + thread * o->parts);
        else count_window(o, thread, rows, first, part, count);
    }
}

static void count_share(void *user, uint64_t thread) { pass(user, thread, false); }
static void move_share(void *user, uint64_t thread) { pass(user, thread, true); }

// Counts become places: part by part, in each thread by thread.
static void find_places(ordering *o)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < o->parts; p++) {
        o->part[p] = (hdst__group_part){.first = sum, .base = o->base + ((uint64_t)p << o->shift), .bits = o->shift};
        for (uint32_t t = 0; t < o->threads; t++) {
            uint64_t *place = &o->place[(uint64_t)t * o->parts + p], count = *place;
            *place = sum;
            sum += count;
        }
        o->part[p].count = sum - o->part[p].first;
    }
    o->g->row_count = sum;
}

static void order_parts(void *user, uint64_t thread)
{
    ordering *o = user;
    share *s = &o->share[thread];
    s->worker.group = o->g;
    for (uint32_t p; !s->failed && (p = o->next++) < o->parts;) s->failed = !hdst__group_part_order(&s->worker, o->g->rows, &o->part[p]);
}

static void gather_runs(void *user, uint64_t thread)
{
    ordering *o = user;
    (void)thread;
    for (uint32_t p; !is_cancelled(o) && (p = o->next++) < o->parts;) {
        const hdst__group_part *part = &o->part[p];
        if (part->runs) memcpy(o->g->run + o->place[p], part->run, part->runs * sizeof *part->run);
    }
}

// --- Steps ---

static uint32_t thread_count(const hdst__group *g, uint64_t records)
{
    const uint64_t wanted = records / HDST__HOST_GROUP_THREAD_RECORDS + 1, most = hdst__thread_pool_size(hdst__engine_threads(g->engine));
    return (uint32_t)(wanted < most ? wanted : most);
}

static void choose_parts(ordering *o, uint64_t span)
{
    uint32_t bits = 0;
    while ((1u << bits) < HDST__HOST_GROUP_PARTITIONS && o->count * o->size >> bits > HDST__HOST_GROUP_PARTITION_BYTES) bits++;
    unsigned span_bits = 0;
    while (span_bits < 64 && (span - 1) >> span_bits) span_bits++;
    o->shift = span_bits > bits ? span_bits - bits : 0;
    o->parts = (uint32_t)((span - 1) >> o->shift) + 1;
}

static void note_all_bad(const ordering *o)
{
    hdst__group *g = o->g;
    for (uint32_t t = 0; t < o->threads; t++) {
        const share *s = &o->share[t];
        if (s->skipped && g->bad_record == UINT64_MAX) g->bad_record = s->bad_record, g->bad_key = s->bad_key;
        g->skipped += s->skipped;
    }
}

static hdst_status cancelled(const ordering *o, hdst_error *error) { return hdst__cancel_check(hdst__engine_cancel(o->g->engine), 0, 0, error); }

static hdst_status make_runs(ordering *o, hdst_error *error)
{
    hdst__group *g = o->g;
    uint64_t runs = 0;
    for (uint32_t p = 0; p < o->parts; p++) {
        o->place[p] = runs;
        runs += o->part[p].runs;
    }
    g->run = hdst__budget_alloc(hdst__engine_memory(g->engine), HDST__OWNER_SORTS, runs * sizeof *g->run, "runs of equal keys", error);
    if (!g->run) return HDST_E_MEMORY;
    g->run_count = runs;
    o->next = 0;
    in_threads(o, gather_runs);
    return cancelled(o, error);
}

static hdst_status order(ordering *o, hdst_error *error)
{
    bool failed = false;
    o->next = 0;
    in_threads(o, order_parts);
    for (uint32_t t = 0; t < o->threads; t++) failed |= o->share[t].failed;
    const hdst_status status = cancelled(o, error);         // who was cancelled on the way left work undone
    if (status != HDST_OK) return status;
    if (failed) return hdst__error_memory(error, "the order of records by key");
    return o->g->without_runs ? HDST_OK : make_runs(o, error);
}

static hdst_status part(ordering *o, hdst_error *error)
{
    in_threads(o, count_share);
    hdst_status status = cancelled(o, error);
    if (status != HDST_OK) return status;       // places would not be those of all records
    note_all_bad(o);
    if (o->g->bad_record != UINT64_MAX && !hdst__engine_settings(o->g->engine)->skip_failed) return HDST_OK;
    find_places(o);
    status = hdst__group_take_rows(o->g, o->g->row_count * o->size + 1, error);
    if (status != HDST_OK) return status;
    in_threads(o, move_share);
    return cancelled(o, error);
}

// Memory for places, parts, and a window for each thread where records have to be copied to be looked at.
static hdst_status prepare(ordering *o, hdst_error *error)
{
    hdst__budget *budget = hdst__engine_memory(o->g->engine);
    const uint64_t places = (uint64_t)o->parts * o->threads * sizeof *o->place, parts = o->parts * sizeof *o->part,
                   window = o->input->copies ? o->input->window_records * o->size : 0;
    o->place = hdst__budget_alloc_zero(budget, HDST__OWNER_SORTS, places + parts + window * o->threads, "the order of records by key", error);
    if (!o->place) return HDST_E_MEMORY;
    o->part = (hdst__group_part *)((char *)o->place + places);
    for (uint32_t t = 0; t < o->threads; t++) o->share[t].copy = (char *)o->place + places + parts + t * window;
    return HDST_OK;
}

hdst_status hdst__group_order(hdst__group *g, hdst__group_input *input, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(g->engine, HDST__OWNER_SORTS);
    ordering o = {.g = g, .input = input, .size = g->record->size, .count = input->records};
    o.base = g->whole ? 0 : g->from;
    o.threads = thread_count(g, o.count);
    choose_parts(&o, g->whole ? g->end : g->step);
    hdst_status status = prepare(&o, error);
    if (status == HDST_OK) status = part(&o, error);
    const hdst_status closed = hdst__group_input_close(input, status == HDST_OK ? error : NULL);
    if (status == HDST_OK) status = closed;
    if (status == HDST_OK && g->rows) status = order(&o, error);
    for (uint32_t t = 0; t < o.threads; t++) hdst__group_part_worker_end(&o.share[t].worker);
    hdst__free(allocator, o.place);
    return status;
}
