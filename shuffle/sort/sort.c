// SPDX-License-Identifier: Apache-2.0
// A sort: what fits the memory budget is sorted there; what does not is cut into runs, which are sorted one by one, written to a temporary file, and merged as
// they are read.
#include "shuffle/sort/msd_radix.h"
#include "shuffle/sort/sort_host.h"
#include "shuffle/sort/sort_on_device.h"
#include "shuffle/sort/sort_prefixes.h"
#include "shuffle/sort/sort_tiles.h"

#include "engine/device/driver_gate.h"
#include "engine/engine.h"
#include "engine/stage/executor.h"
#include "base/clock.h"
#include "base/costs_host.h"
#include "base/huge_pages.h"
#include "base/thread_pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Its fields are still to be named.
static hdst__sort *create(hdst__engine *engine, const hdst__record *record, size_t count)
{
    hdst__sort *sort = hdst__alloc_zero(hdst__engine_owned(engine, HDST__OWNER_SORTS), sizeof *sort);
    if (!sort) return NULL;
    sort->engine = engine;
    sort->record = record;
    sort->field_count = count;
    sort->field = hdst__alloc(hdst__engine_owned(engine, HDST__OWNER_SORTS), count * sizeof *sort->field);
    if (!sort->field) {
        hdst__free(hdst__engine_owned(engine, HDST__OWNER_SORTS), sort);
        return NULL;
    }
    hdst__sort_runs_init(&sort->runs, hdst__engine_runtime(engine), sort->field, count, record->size);
    hdst__store_init(&sort->store, hdst__engine_runtime(engine), record);
    sort->store.whole = true;
    return sort;
}

hdst__sort *hdst__sort_create(hdst__engine *engine, const hdst__record *record, const hdst__sort_key *keys, size_t count)
{
    hdst__sort *sort = create(engine, record, count);
    if (!sort) return NULL;
    for (size_t i = 0; i < count; i++) sort->field[i] = hdst__sort_field_of(record, &keys[i]);
    hdst__sort_slices_init(sort);
    return sort;
}

hdst__sort *hdst__sort_create_by_hash(hdst__engine *engine, const hdst__record *record, const hdst__key_fields *key)
{
    hdst__sort *sort = create(engine, record, key->count);
    if (!sort) return NULL;
    for (size_t i = 0; i < key->count; i++)
        sort->field[i] = (hdst__sort_field){key->field[i].offset, key->field[i].kind, 8 * (uint32_t)hdst__scalar_size(key->field[i].kind), false};
    sort->by_hash = true;
    hdst__sort_slices_init(sort);
    return sort;
}

static void forget(hdst__sort *sort)
{
    if (sort->owned) hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), sort->rows);
    if (sort->mapped) sort->device->ops->to_device(sort->device, sort->mapped, NULL);
    hdst__sort_runs_release(&sort->runs);
    sort->rows = NULL;
    sort->mapped = NULL;
    sort->owned = sort->resident = sort->device_did = false;
    sort->records = 0;
    sort->way = NULL;
    sort->told[0] = 0;
}

void hdst__sort_forget(hdst__sort *sort)
{
    char told[sizeof sort->told];
    hdst__engine_lock(sort->engine);
    memcpy(told, sort->told, sizeof told);
    forget(sort);
    memcpy(sort->told, told, sizeof told);
    hdst__sort_release_device(sort);
    hdst__engine_unlock(sort->engine);
}

void hdst__sort_destroy(hdst__sort *sort)
{
    if (!sort) return;
    hdst__engine *engine = sort->engine;
    hdst__engine_lock(engine);
    forget(sort);
    hdst__sort_slices_forget(sort);
    hdst__sort_release_device(sort);
    hdst__engine_unlock(engine);
    hdst__free(hdst__engine_owned(engine, HDST__OWNER_SORTS), sort->field);
    hdst__free(hdst__engine_owned(engine, HDST__OWNER_SORTS), sort);
}

const hdst__run_stats *hdst__sort_stats(const hdst__sort *sort) { return &sort->stats; }
const void *hdst__sort_rows(const hdst__sort *sort) { return sort->rows; }

// --- Reading the input as C structs ---

static hdst_status read_batches(const hdst__sort *sort, const hdst__reader *input, const hdst__storage *storage, uint64_t first,
                                uint64_t count, void *rows, hdst_error *error)
{
    const uint64_t batch = HDST__HOST_SORT_BATCH_BYTES / sort->record->size + 1;
    hdst__thread_pool *threads = hdst__engine_threads(sort->engine);
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK; done += batch) {
        status = hdst__cancel_check(hdst__engine_cancel(sort->engine), first + done, input->records, error);
        const uint64_t part = count - done < batch ? count - done : batch;
        if (status == HDST_OK) status = hdst__reader_fill(input, threads, first + done, part, storage, &rows, done, error);
    }
    return status;
}

static hdst_status read_rows(hdst__sort *sort, const hdst__reader *input, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    const double start = hdst__now();
    hdst__arena_init(&arena, hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), &out_of_memory);
    hdst_status status;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "a sort");
    } else {
        const hdst__storage *storage = hdst__storage_make(&arena, input->record, HDST__AOS, 0, count);
        status = storage ? read_batches(sort, input, storage, first, count, rows, error) : hdst__error_memory(error, "a sort");
    }
    hdst__arena_destroy(&arena);
    sort->stats.read_seconds += hdst__now() - start;
    return status;
}

// --- In memory ---

typedef struct workspace {
    const char *rows;           // to be sorted
    char *copied;               // NULL: they lie somewhere else
    hdst__sort_entry *entries, *scratch;
} workspace;

static void free_workspace(const hdst__sort *sort, workspace *w)
{
    hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), w->copied);
    hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), w->entries);
    hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), w->scratch);
    *w = (workspace){0};
}

static hdst__sort_entry *take_entries(hdst__budget *budget, uint64_t records, hdst_error *error)
{
    hdst__sort_entry *entries = hdst__budget_alloc(budget, HDST__OWNER_SORTS, records * sizeof *entries, "a sort", error);
    if (entries) hdst__ask_for_huge_pages(entries, records * sizeof *entries);
    return entries;
}

static char *take_rows(const hdst__sort *sort, uint64_t records, hdst_error *error)
{
    char *rows = hdst__budget_alloc_zero(hdst__engine_memory(sort->engine), HDST__OWNER_SORTS, records * sort->record->size, "a sort", error);
    if (rows) hdst__ask_for_huge_pages(rows, records * sort->record->size);
    return rows;
}

// `rows`: NULL: memory for them.
static hdst_status make_workspace(const hdst__sort *sort, const void *rows, uint64_t records, workspace *w, hdst_error *error)
{
    hdst__budget *budget = hdst__engine_memory(sort->engine);
    *w = (workspace){.rows = rows};
    if (!rows) w->rows = w->copied = take_rows(sort, records, error);
    w->entries = w->rows ? take_entries(budget, records, error) : NULL;
    w->scratch = w->entries ? take_entries(budget, records, error) : NULL;
    if (w->scratch) return HDST_OK;
    free_workspace(sort, w);
    return HDST_E_MEMORY;
}

static const hdst__sort_entry *sort_workspace(const hdst__sort *sort, const workspace *w, uint64_t records)
{
    return hdst__sort_by_prefixes(hdst__engine_threads(sort->engine), sort->field, sort->field_count, w->rows, sort->record->size, records, w->entries,
                                  w->scratch, hdst__engine_cancel(sort->engine));
}

typedef struct gathering {
    hdst__sort *sort;
    const workspace *from;
    const hdst__sort_entry *order;
    uint64_t records, batch;
} gathering;

static void gather_batch(void *user, uint64_t i)
{
    const gathering *g = user;
    const uint64_t size = g->sort->record->size, first = i * g->batch, end = g->records - first < g->batch ? g->records : first + g->batch;
    if (hdst__cancel_asked(hdst__engine_cancel(g->sort->engine))) return;
    for (uint64_t k = first; k < end; k++) memcpy(g->sort->rows + k * size, g->from->rows + g->order[k].index * size, size);
}

// Rows in order, some at a time.
static hdst_status gather(hdst__sort *sort, const workspace *w, const hdst__sort_entry *order, uint64_t records, hdst_error *error)
{
    gathering g = {sort, w, order, records, HDST__HOST_GATHER_BYTES / sort->record->size + 1};
    hdst__thread_pool_run(hdst__engine_threads(sort->engine), (records + g.batch - 1) / g.batch, gather_batch, &g);
    return hdst__cancel_check(hdst__engine_cancel(sort->engine), 0, 0, error);
}

static hdst_status sort_in_memory(hdst__sort *sort, const hdst__reader *input, const void *rows, hdst_error *error)
{
    const uint64_t size = sort->record->size, records = input->records;
    workspace w;
    hdst_status status = make_workspace(sort, rows, records, &w, error);
    if (status == HDST_OK && !rows) status = read_rows(sort, input, 0, records, w.copied, error);
    const hdst__sort_entry *order = status == HDST_OK ? sort_workspace(sort, &w, records) : NULL;
    if (status == HDST_OK && !order) status = hdst__cancel_error(0, 0, error);
    if (status == HDST_OK) {
        hdst__sort_entry **unused = order == w.entries ? &w.scratch : &w.entries;
        hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), *unused);       // before the sorted rows need memory
        *unused = NULL;
        sort->rows = hdst__budget_alloc(hdst__engine_memory(sort->engine), HDST__OWNER_SORTS, records * size, "a sort", error);
        if (sort->rows) hdst__ask_for_huge_pages(sort->rows, records * size);
        status = sort->rows ? gather(sort, &w, order, records, error) : HDST_E_MEMORY;
    }
    free_workspace(sort, &w);
    sort->owned = true;
    sort->way = "sort on the host by the first bytes of keys";
    return status;
}

// --- Through runs ---

static hdst_status write_run(hdst__sort *sort, const workspace *w, const hdst__sort_entry *order, uint64_t records, hdst_error *error)
{
    const uint64_t size = sort->record->size;
    char stack[HDST__HOST_RUN_PIECE_BYTES];
    uint64_t used = 0;
    if (!order) return hdst__cancel_error(0, 0, error);
    hdst_status status = hdst__sort_runs_add(&sort->runs, records, error);
    for (uint64_t i = 0; i < records && status == HDST_OK; i++) {
        const char *row = w->rows + order[i].index * size;
        if (size > HDST__HOST_RUN_PIECE_BYTES) {
            status = hdst__spill_add(&sort->runs.file, row, size, error);
            continue;
        }
        if (used + size > HDST__HOST_RUN_PIECE_BYTES) {
            status = hdst__cancel_check(hdst__engine_cancel(sort->engine), 0, 0, error);
            if (status == HDST_OK) status = hdst__spill_add(&sort->runs.file, stack, used, error);
            used = 0;
        }
        memcpy(stack + used, row, size);
        used += size;
    }
    return status == HDST_OK ? hdst__spill_add(&sort->runs.file, stack, used, error) : status;
}

static hdst_status make_runs(hdst__sort *sort, const hdst__reader *input, uint64_t each, hdst_error *error)
{
    workspace w;
    hdst_status status = make_workspace(sort, NULL, each, &w, error);
    for (uint64_t first = 0; first < input->records && status == HDST_OK; first += each) {
        const uint64_t count = input->records - first < each ? input->records - first : each;
        status = read_rows(sort, input, first, count, w.copied, error);
        if (status == HDST_OK) status = write_run(sort, &w, sort_workspace(sort, &w, count), count, error);
    }
    free_workspace(sort, &w);
    return status;
}

static hdst_status sort_through_runs(hdst__sort *sort, const hdst__reader *input, uint64_t room, hdst_error *error)
{
    const uint64_t size = sort->record->size, each = room / (size + 2 * sizeof(hdst__sort_entry));
    const uint64_t merging = room / 2;                      // what stays taken while the result is read
    bool done = false;
    hdst_status tried = hdst__sort_runs_on_device(sort, input, room, &done, error);
    if (tried != HDST_OK) return tried;
    if (done) return hdst__sort_runs_end(&sort->runs, merging, error);
    if (each < 64 || merging < hdst__sort_runs_least(&sort->runs))
        return hdst__budget_error(hdst__engine_memory(sort->engine), 128 * (size + 32), "a sort", error);
    hdst_status status = make_runs(sort, input, each, error);
    sort->way = "sort on the host by the first bytes of keys, in runs";
    return status == HDST_OK ? hdst__sort_runs_end(&sort->runs, merging, error) : status;
}

// --- Choosing ---

static hdst_status sort_records(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, const void *rows, bool keep, hdst_error *error)
{
    const uint64_t size = sort->record->size, records = input->records;
    uint64_t bytes;
    bool done = false;
    sort->records = records;
    if (records == 0) {
        sort->way = "no records";
        return HDST_OK;
    }
    hdst_status tried = hdst__sort_on_device(sort, input, cache, rows, keep, &done, error);
    if (tried != HDST_OK || done) return tried;
    const uint64_t room = hdst__budget_left(hdst__engine_memory(sort->engine)) / 4 * 3;
    const uint64_t each = size > sizeof(hdst__sort_entry) ? 2 * size + sizeof(hdst__sort_entry) : size + 2 * sizeof(hdst__sort_entry);
    if (__builtin_mul_overflow(records, each, &bytes)) return sort_through_runs(sort, input, room, error);
    if (!hdst__sort_has_texts(sort->field, sort->field_count)) tried = hdst__sort_in_tiles(sort, input, cache, room, &done, error);
    if (tried != HDST_OK || done) return tried;
    return bytes > room ? sort_through_runs(sort, input, room, error) : sort_in_memory(sort, input, rows, error);
}

static void tell(hdst__sort *sort)
{
    char passes[40] = "", runs[340] = "", bytes[24];
    const char *const filed = sort->slices.file.open ? ", out of a temporary file" : "";
    if (sort->device_did) snprintf(passes, sizeof passes, ", %u passes", (unsigned)hdst__device_sort_passes(sort->on_device));
    if (sort->runs.count)
        snprintf(runs, sizeof runs, ": %zu to merge, %s written to %s", sort->runs.count, hdst__bytes_text(sort->runs.spilled, bytes), sort->runs.file.folder);
    snprintf(sort->told, sizeof sort->told, "%s%s%s%s", sort->way, filed, passes, runs);
}

static hdst_status end_run(hdst__sort *sort, double start, hdst_status status)
{
    if (status == HDST_OK) tell(sort);
    else forget(sort);
    sort->stats.records = status == HDST_OK ? sort->records : 0;
    sort->stats.total_seconds = hdst__now() - start;
    sort->stats.run_seconds = sort->stats.total_seconds - sort->stats.read_seconds;
    return status;
}

hdst_status hdst__sort_run(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, const void *rows, bool keep, hdst_error *error)
{
    const double start = hdst__now();
    hdst__engine_lock(sort->engine);
    forget(sort);
    sort->stats = (hdst__run_stats){0};
    const hdst_status status = end_run(sort, start, sort_records(sort, input, cache, rows, keep, error));
    hdst__engine_unlock(sort->engine);
    return status;
}

hdst_status hdst__sort_run_on_device(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, bool *done, hdst_error *error)
{
    const double start = hdst__now();
    hdst__engine_lock(sort->engine);
    forget(sort);
    sort->stats = (hdst__run_stats){0};
    sort->records = input->records;
    const hdst_status tried = hdst__sort_on_device(sort, input, cache, NULL, true, done, error);
    const hdst_status status = *done ? end_run(sort, start, tried) : tried;
    if (!*done) forget(sort);
    hdst__engine_unlock(sort->engine);
    return status;
}

void hdst__sort_rest_on_device(hdst__sort *sort)
{
    hdst__engine_lock(sort->engine);
    if (sort->on_device) hdst__device_sort_rest(sort->on_device);
    if (sort->device) hdst__segment_destroy(sort->device, &sort->input);
    hdst__engine_unlock(sort->engine);
}

// --- As they come ---

bool hdst__sort_takes_slices(hdst__engine *engine, const hdst__record *record, const hdst__sort_key *keys, size_t count)
{
    hdst__sort_field fields[HDST__SORT_SLICES_KEYS];
    hdst__device *device = NULL;
    uint64_t bits = 0;
    if (count > HDST__SORT_SLICES_KEYS || record->has_text) return false;
    for (size_t i = 0; i < count; i++) {
        fields[i] = hdst__sort_field_of(record, &keys[i]);
        bits += fields[i].bits;
    }
    if (bits == 8 * record->size || !hdst__msd_radix_suits(fields, count, record->size)) return false;
    if (hdst__thread_pool_size(hdst__engine_threads(engine)) > hdst__engine_limits(engine)->sort_dealing_threads) return false;
    hdst__engine_lock(engine);
    const hdst_status status = hdst__engine_open(engine, &device, NULL);
    const bool takes = status == HDST_OK && hdst__engine_workers(engine) == 1 && device->unified && device->ops->work &&
        device->facts.target != HDST__TARGET_GPU && !hdst__engine_limits(engine)->sort_by_kernels;
    hdst__engine_unlock(engine);
    return takes;
}

const hdst__consumer *hdst__sort_consumer(hdst__sort *sort) { return &sort->slices.consumer; }

void hdst__sort_begin(hdst__sort *sort)
{
    hdst__engine_lock(sort->engine);
    forget(sort);
    hdst__engine_unlock(sort->engine);
}

static hdst_status sort_slices(hdst__sort *sort, bool keep, hdst_error *error)
{
    bool done;
    const void *rows;
    const hdst_status status = hdst__sort_slices_end(sort, keep, &done, error);
    if (status != HDST_OK || done) return status;
    const hdst__reader input = hdst__sort_slices_reader(sort, &rows);
    return sort_records(sort, &input, NULL, rows, keep, error);
}

hdst_status hdst__sort_end(hdst__sort *sort, bool keep, hdst_error *error)
{
    const double start = hdst__now();
    hdst__engine_lock(sort->engine);
    sort->stats = (hdst__run_stats){0};
    const hdst_status status = end_run(sort, start, sort_slices(sort, keep, error));
    hdst__sort_slices_forget(sort);
    hdst__engine_unlock(sort->engine);
    return status;
}

// --- The result ---

// `most` records at a time, through a piece of C structs where they come from a file.
static hdst_status copy_pieces(hdst__sort *sort, uint64_t first, uint64_t count, const hdst__storage *structs, char *piece,
                               const hdst__storage *storage, void *const *buffers,
                               uint64_t to_first, hdst_error *error)
{
    const uint64_t most = structs->capacity;
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK; done += most) {
        const uint64_t part = count - done < most ? count - done : most;
        if (piece) status = hdst__sort_runs_read(&sort->runs, first + done, part, piece, error);
        const void *from[] = {piece ? piece : sort->rows + (first + done) * sort->record->size};
        if (status == HDST_OK) hdst__storage_copy(storage, buffers, to_first + done, structs, from, 0, part);
    }
    return status;
}

// C structs are everybody's form between stages; here they are wanted in another layout.
static hdst_status scatter(hdst__sort *sort, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                           uint64_t to_first, hdst_error *error)
{
    const uint64_t size = sort->record->size, share = hdst__budget_left(hdst__engine_memory(sort->engine)) / HDST__HOST_SORT_PIECE_SHARE,
        fit = (share < HDST__HOST_SORT_PIECE_BYTES ? share : HDST__HOST_SORT_PIECE_BYTES) / size + 1;
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst_status status;
    hdst__arena_init(&arena, hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), &out_of_memory);
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "sorted records");
    } else {
        const hdst__storage *structs = hdst__storage_make(&arena, sort->record, HDST__AOS, 0, count < fit ? count : fit);
        char *piece = sort->rows ? NULL : hdst__arena_alloc(&arena, structs->capacity * size);
        status = copy_pieces(sort, first, count, structs, piece, storage, buffers, to_first, error);
    }
    hdst__arena_destroy(&arena);
    return status;
}

static hdst_status fill_sorted(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                               uint64_t to_first, hdst_error *error)
{
    hdst__sort *sort = user;
    const uint64_t size = sort->record->size;
    if (count == 0) return HDST_OK;
    if (storage->layout != HDST__AOS) return scatter(sort, first, count, storage, buffers, to_first, error);
    char *to = (char *)buffers[0] + to_first * size;
    if (!sort->rows) return hdst__sort_runs_read(&sort->runs, first, count, to, error);
    memcpy(to, sort->rows + first * size, (size_t)(count * size));
    return HDST_OK;
}

hdst__reader hdst__sort_reader(hdst__sort *sort)
{
    return sort->resident ? sort->store.cache.reader : (hdst__reader){fill_sorted, sort, sort->records, sort->record, HDST__AOS, 0, true};
}

hdst__dataset_cache *hdst__sort_resident(hdst__sort *sort) { return sort->resident ? &sort->store.cache : NULL; }

void hdst__sort_explain(const hdst__sort *sort, hdst__buffer *out)
{
    if (sort->told[0]) hdst__buffer_printf(out, "  %s\n", sort->told);
}
