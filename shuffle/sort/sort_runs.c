// SPDX-License-Identifier: Apache-2.0
// Sorted runs in a temporary file, read back as one sorted sequence (shuffle/sort/sort_runs.h).
#include "shuffle/sort/sort_runs.h"
#include "base/costs_host.h"

#include <string.h>

void hdst__sort_runs_init(hdst__sort_runs *runs, hdst__runtime *runtime, const hdst__sort_field *fields, size_t field_count, uint64_t size)
{
    *runs = (hdst__sort_runs){.runtime = runtime, .allocator = hdst__budget_owned(&runtime->memory, HDST__OWNER_SORTS),
                              .fields = fields, .field_count = field_count, .size = size, .file = {.fd = -1}};
}

static void end_merge(hdst__sort_runs *runs)
{
    hdst__free(runs->allocator, runs->head);
    hdst__free(runs->allocator, runs->loser);
    hdst__free(runs->allocator, runs->buffers);
    hdst__free(runs->allocator, runs->mark);
    runs->head = NULL;
    runs->loser = NULL;
    runs->buffers = NULL;
    runs->mark = NULL;
    runs->merged = 0;
}

void hdst__sort_runs_release(hdst__sort_runs *runs)
{
    end_merge(runs);
    hdst__spill_close(&runs->file);
    hdst__free(runs->allocator, runs->run);
    hdst__sort_runs_init(runs, runs->runtime, runs->fields, runs->field_count, runs->size);
}

hdst_status hdst__sort_runs_add(hdst__sort_runs *runs, uint64_t records, hdst_error *error)
{
    if (!runs->file.open) {
        hdst_status status = hdst__spill_open(runs->runtime, &runs->file, error);
        if (status != HDST_OK) return status;
    }
    if (runs->count == runs->capacity) {
        const size_t capacity = runs->capacity * 2 + 16;
        hdst__sort_run_place *grown = hdst__realloc(runs->allocator, runs->run, capacity * sizeof *grown);
        if (!grown) return hdst__error_memory(error, "sorted runs");
        runs->run = grown;
        runs->capacity = capacity;
    }
    runs->run[runs->count++] = (hdst__sort_run_place){runs->records, records};
    runs->records += records;
    runs->spilled += records * runs->size;
    return HDST_OK;
}

// --- Merging: the heads of the runs ---

static const hdst__sort_run_place *run_of(const hdst__sort_runs *runs, uint32_t h) { return &runs->run[runs->first + h]; }
static bool is_over(const hdst__sort_runs *runs, uint32_t h) { return runs->head[h].next == run_of(runs, h)->count; }

static const char *row_of(const hdst__sort_runs *runs, uint32_t h)
{
    const hdst__run_head *head = &runs->head[h];
    return head->buffer + (head->next - head->loaded) * runs->size;
}

static hdst_status load_head(const hdst__sort_runs *runs, uint32_t h, hdst_error *error)
{
    hdst__run_head *head = &runs->head[h];
    if (is_over(runs, h)) return HDST_OK;
    if (head->next < head->loaded || head->next >= head->loaded + head->count) {
        const hdst__sort_run_place *run = run_of(runs, h);
        const uint64_t left = run->count - head->next, count = left < runs->each ? left : runs->each;
        head->loaded = head->next;
        head->count = 0;
        hdst_status status = hdst__spill_read(&runs->file, (run->first + head->next) * runs->size, head->buffer, count * runs->size, error);
        if (status != HDST_OK) return status;
        head->count = count;
    }
    head->prefix = hdst__sort_prefix(runs->fields, runs->field_count, row_of(runs, h));
    return HDST_OK;
}

// Whether the head of run `a` goes before that of run `b`.
static bool goes_before(const hdst__sort_runs *runs, uint32_t a, uint32_t b)
{
    if (is_over(runs, a) || is_over(runs, b)) return is_over(runs, b) && (!is_over(runs, a) || a < b);
    if (runs->head[a].prefix != runs->head[b].prefix) return runs->head[a].prefix < runs->head[b].prefix;
    const int order = hdst__sort_compare(runs->fields, runs->field_count, row_of(runs, a), row_of(runs, b));
    return order ? order < 0 : a < b;
}

// --- Merging: the tree. Leaves are runs: run h below inner node (h + merged) / 2; inner nodes hold the loser of their match ---

static void build_tree(const hdst__sort_runs *runs)
{
    const uint32_t n = (uint32_t)runs->merged, none = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) runs->loser[i] = none;
    for (uint32_t h = 0; h < n; h++) {
        uint32_t winner = h, node = (h + n) / 2;
        for (; node > 0 && runs->loser[node] != none; node /= 2) {
            const uint32_t other = runs->loser[node];
            const bool wins = goes_before(runs, winner, other);
            runs->loser[node] = wins ? other : winner;
            winner = wins ? winner : other;
        }
        runs->loser[node] = winner;         // waits for the other side; at 0 it has won
    }
}

static void replay(const hdst__sort_runs *runs, uint32_t h)
{
    uint32_t winner = h;
    for (uint32_t node = (h + (uint32_t)runs->merged) / 2; node > 0; node /= 2) {
        const uint32_t other = runs->loser[node];
        if (!goes_before(runs, other, winner)) continue;
        runs->loser[node] = winner;
        winner = other;
    }
    runs->loser[0] = winner;
}

static void set_mark(hdst__sort_runs *runs)
{
    if (!runs->mark || runs->position % runs->mark_step || runs->position / runs->mark_step != runs->marks) return;
    for (size_t h = 0; h < runs->merged; h++) runs->mark[runs->marks * runs->merged + h] = runs->head[h].next;
    runs->marks++;
}

// The next `count` records, to `rows` or (NULL) nowhere.
static hdst_status advance(hdst__sort_runs *runs, uint64_t count, char *rows, hdst_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        if (i % HDST__HOST_MERGE_CANCEL_RECORDS == 0 && hdst__cancel_asked(runs->runtime->cancel)) return hdst__cancel_error(0, 0, error);
        set_mark(runs);
        const uint32_t h = runs->loser[0];
        if (rows) memcpy(rows + i * runs->size, row_of(runs, h), runs->size);
        runs->head[h].next++;
        runs->position++;
        hdst_status status = load_head(runs, h, error);
        if (status != HDST_OK) return status;
        replay(runs, h);
    }
    return HDST_OK;
}

static hdst_status go_to(hdst__sort_runs *runs, uint64_t position, const uint64_t *next, hdst_error *error)
{
    for (uint32_t h = 0; h < runs->merged; h++) {
        runs->head[h].next = next ? next[h] : 0;
        hdst_status status = load_head(runs, h, error);
        if (status != HDST_OK) return status;
    }
    runs->position = position;
    build_tree(runs);
    return HDST_OK;
}

// Runs first ... first + count - 1, with buffers of `each` records.
static hdst_status begin_merge(hdst__sort_runs *runs, size_t first, size_t count, uint64_t each, hdst_error *error)
{
    end_merge(runs);
    runs->first = first;
    runs->merged = count;
    runs->each = each;
    runs->marks = 0;
    runs->head = hdst__alloc_zero(runs->allocator, count * sizeof *runs->head);
    runs->loser = hdst__alloc_zero(runs->allocator, count * sizeof *runs->loser);
    runs->buffers = hdst__alloc(runs->allocator, count * each * runs->size);
    if (!runs->head || !runs->loser || !runs->buffers) return hdst__error_memory(error, "sorted runs");
    for (size_t h = 0; h < count; h++) runs->head[h].buffer = runs->buffers + h * each * runs->size;
    return go_to(runs, 0, NULL, error);
}

// --- More runs than can be merged at once ---

// Records of the piece that goes from a merge to a file at once.
static uint64_t piece_records(const hdst__sort_runs *runs, uint64_t bytes)
{
    const uint64_t piece = bytes / 8 < HDST__HOST_RUN_BUFFER_MOST_BYTES ? bytes / 8 : HDST__HOST_RUN_BUFFER_MOST_BYTES;
    return piece > runs->size ? piece / runs->size : 1;
}

static hdst_status merge_to_file(hdst__sort_runs *runs, hdst__sort_runs *to, char *piece, uint64_t most, hdst_error *error)
{
    uint64_t records = 0;
    for (size_t h = 0; h < runs->merged; h++) records += runs->run[runs->first + h].count;
    hdst_status status = hdst__sort_runs_add(to, records, error);
    for (uint64_t done = 0; done < records && status == HDST_OK; done += most) {
        const uint64_t count = records - done < most ? records - done : most;
        status = advance(runs, count, piece, error);
        if (status == HDST_OK) status = hdst__spill_add(&to->file, piece, count * runs->size, error);
    }
    return status;
}

static hdst_status merge_groups(hdst__sort_runs *runs, size_t fan, uint64_t each, uint64_t most, hdst_error *error)
{
    hdst__sort_runs to;
    hdst__sort_runs_init(&to, runs->runtime, runs->fields, runs->field_count, runs->size);
    char *piece = hdst__alloc(runs->allocator, most * runs->size);
    hdst_status status = piece ? HDST_OK : hdst__error_memory(error, "sorted runs");
    for (size_t first = 0; first < runs->count && status == HDST_OK; first += fan) {
        status = begin_merge(runs, first, runs->count - first < fan ? runs->count - first : fan, each, error);
        if (status == HDST_OK) status = merge_to_file(runs, &to, piece, most, error);
    }
    hdst__free(runs->allocator, piece);
    if (status != HDST_OK) {
        hdst__sort_runs_release(&to);
        return status;
    }
    to.spilled += runs->spilled;
    hdst__sort_runs_release(runs);
    *runs = to;
    return HDST_OK;
}

uint64_t hdst__sort_runs_least(const hdst__sort_runs *runs) { return 4 * runs->size; }

hdst_status hdst__sort_runs_end(hdst__sort_runs *runs, uint64_t bytes, hdst_error *error)
{
    const uint64_t piece = piece_records(runs, bytes), for_heads = bytes - piece * runs->size;
    uint64_t fan = for_heads / (runs->size > HDST__HOST_RUN_BUFFER_LEAST_BYTES ? runs->size : HDST__HOST_RUN_BUFFER_LEAST_BYTES);
    if (fan < 2) fan = 2;
    while (runs->count > fan) {
        const uint64_t each = for_heads / fan / runs->size;
        hdst_status status = merge_groups(runs, (size_t)fan, each ? each : 1, piece, error);
        if (status != HDST_OK) return status;
    }
    if (runs->count == 0) return HDST_OK;
    uint64_t each = for_heads / runs->count / runs->size;
    if (each > HDST__HOST_RUN_BUFFER_MOST_BYTES / runs->size + 1) each = HDST__HOST_RUN_BUFFER_MOST_BYTES / runs->size + 1;       // more gains nothing
    hdst_status status = begin_merge(runs, 0, runs->count, each ? each : 1, error);
    if (status != HDST_OK) return status;
    runs->mark_step = runs->records / HDST__HOST_RUN_MARKS > HDST__HOST_RUN_MARK_RECORDS ? runs->records / HDST__HOST_RUN_MARKS : HDST__HOST_RUN_MARK_RECORDS;
    runs->mark = hdst__alloc(runs->allocator, (runs->records / runs->mark_step + 1) * runs->merged * sizeof *runs->mark);
    return runs->mark ? HDST_OK : hdst__error_memory(error, "sorted runs");
}

// --- Reading ---

hdst_status hdst__sort_runs_read(hdst__sort_runs *runs, uint64_t first, uint64_t count, char *rows, hdst_error *error)
{
    const uint64_t marks = runs->marks, mark = first / runs->mark_step < marks ? first / runs->mark_step : marks - 1;
    hdst_status status = HDST_OK;
    if (marks && (first < runs->position || mark * runs->mark_step > runs->position))
        status = go_to(runs, mark * runs->mark_step, &runs->mark[mark * runs->merged], error);
    if (status == HDST_OK) status = advance(runs, first - runs->position, NULL, error);
    return status == HDST_OK ? advance(runs, count, rows, error) : status;
}
