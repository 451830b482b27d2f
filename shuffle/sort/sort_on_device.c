// SPDX-License-Identifier: Apache-2.0
// A sort on an OpenCL device: where its input lies, where its output goes.
#include "shuffle/sort/sort_on_device.h"

#include "engine/device/driver_gate.h"
#include "engine/engine.h"
#include "engine/stage/executor.h"
#include "base/clock.h"
#include "base/costs_host.h"
#include "shuffle/sort/msd_radix.h"

#include <inttypes.h>
#include <string.h>

void hdst__sort_release_device(hdst__sort *sort)
{
    hdst__device_sort_destroy(sort->on_device);
    hdst__structs_copy_destroy(sort->structs);
    if (sort->device) hdst__segment_destroy(sort->device, &sort->input);
    hdst__store_release(&sort->store);
    hdst__arena_destroy(&sort->arena);
    sort->on_device = NULL;
    sort->structs = NULL;
    hdst__store_init(&sort->store, hdst__engine_runtime(sort->engine), sort->record);
    sort->store.whole = true;
}

// --- The input ---

static const hdst__storage *make_storage(hdst__sort *sort, uint64_t records)
{
    jmp_buf out_of_memory;
    const hdst__storage *volatile storage = NULL;
    hdst__arena_destroy(&sort->arena);
    hdst__arena_init(&sort->arena, hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), &out_of_memory);
    if (!setjmp(out_of_memory)) storage = hdst__storage_make(&sort->arena, sort->record, HDST__AOS, 0, records);
    sort->arena.out_of_memory = NULL;
    return storage;
}

static bool becomes_structs(const hdst__sort *sort, const hdst__dataset_cache *cache)
{
    return cache->reader.layout == HDST__AOS || hdst__structs_copy_suits(sort->device, sort->record);
}

// All of a cached dataset, as C structs, or what becomes such without leaving the device.
static bool lies_there(const hdst__sort *sort, const hdst__dataset_cache *cache)
{
    if (!cache || cache->device != sort->device || cache->streamed || !cache->count || cache->loaded != cache->count) return false;
    return becomes_structs(sort, cache);
}

// Reads a cached dataset that nobody has read yet.
static hdst_status load_cache(hdst__sort *sort, hdst__dataset_cache *cache, hdst_error *error)
{
    if (!cache || !becomes_structs(sort, cache)) return HDST_OK;
    const double start = hdst__now();
    const hdst_status status = hdst__dataset_cache_load(cache, sort->device, "a sort", &sort->stats.bytes_to_device, error);
    sort->stats.read_seconds += hdst__now() - start;
    return status;
}

// Memory that is there and large enough serves again.
static hdst_status provide_input(hdst__sort *sort, uint64_t records, hdst__memory_kind kind, const hdst__storage **storage, hdst_error *error)
{
    const hdst__memory *there = sort->input.memory ? sort->input.memory[0] : NULL;
    if (there && (there->bytes < records * sort->record->size || there->kind != kind)) hdst__segment_destroy(sort->device, &sort->input);
    *storage = make_storage(sort, records);
    if (!*storage) return hdst__error_memory(error, "a sort");
    return sort->input.memory ? HDST_OK : hdst__segment_create(sort->device, kind, HDST__OWNER_SORTS, *storage, "a sort", &sort->input, error);
}

static hdst_status copy_structs(hdst__sort *sort, const hdst__dataset_cache *cache, hdst_error *error)
{
    if (!sort->structs) sort->structs = hdst__structs_copy_create(sort->device);
    if (!sort->structs) return hdst__error_memory(error, "a sort");
    return hdst__structs_copy_run(sort->structs, cache, sort->input.memory[0], error);
}

static hdst_status copy_segments(hdst__sort *sort, const hdst__dataset_cache *cache, hdst_error *error)
{
    hdst__device *device = sort->device;
    const uint64_t size = sort->record->size;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < cache->count && status == HDST_OK; i++)
        status = device->ops->copy(device, sort->input.memory[0], cache->segment[i].first * size, cache->segment[i].memory[0], 0,
                                   cache->segment[i].count * size, error);
    return status;
}

static bool is_whole(const hdst__dataset_cache *cache) { return cache->count == 1 && cache->reader.layout == HDST__AOS; }

// Segments of a cached dataset, one behind the other.
static hdst_status join_segments(hdst__sort *sort, const hdst__dataset_cache *cache, const hdst__memory **memory, hdst_error *error)
{
    hdst__device *device = sort->device;
    const hdst__storage *storage;
    *memory = cache->segment[0].memory[0];
    if (is_whole(cache)) return HDST_OK;
    hdst_status status = provide_input(sort, cache->reader.records, device->unified ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE, &storage, error);
    if (status == HDST_OK) status = device->ops->to_device(device, sort->input.memory[0], error);
    if (status == HDST_OK) status = cache->reader.layout == HDST__AOS ? copy_segments(sort, cache, error) : copy_structs(sort, cache, error);
    if (status == HDST_OK) *memory = sort->input.memory[0];
    return status;
}

// Records first ... of the input.
static hdst_status load_input(hdst__sort *sort, const hdst__reader *input, uint64_t first, uint64_t records, const hdst__memory **memory, hdst_error *error)
{
    const hdst__storage *storage;
    hdst_status status = provide_input(sort, records, HDST__MEMORY_SHARED, &storage, error);
    if (status != HDST_OK) return status;
    const double start = hdst__now();
    status = hdst__segment_load(&sort->input, sort->device, input, storage, first, records, &sort->stats.bytes_to_device, error);
    sort->stats.read_seconds += hdst__now() - start;
    *memory = sort->input.memory[0];
    return status;
}

// --- Choosing ---

// Whether everything has room beside a quarter for others; what earlier runs left is used again.
static bool has_room(const hdst__sort *sort, uint64_t records, const hdst__dataset_cache *resident)
{
    const bool one = resident && is_whole(resident);
    const hdst__device *device = sort->device;
    const uint64_t size = sort->record->size, kept = sort->store.chunks ? records * (size + hdst__device_sort_bytes(sort->on_device)) : 0;
    const uint64_t on_device = records * ((one ? 1 : 2) * size + hdst__device_sort_bytes(sort->on_device));
    const uint64_t on_host = device->unified ? on_device : resident ? 0 : records * size;
    if (records * size > device->info->max_alloc_bytes) return false;
    return on_device <= (hdst__budget_left(&device->budget) + kept) / 4 * 3 &&
        on_host <= (hdst__budget_left(hdst__engine_memory(sort->engine)) + (device->unified ? kept : 0)) / 4 * 3;
}

static hdst_status prepare(hdst__sort *sort, hdst_error *error)
{
    if (sort->on_device || hdst__sort_has_texts(sort->field, sort->field_count)) return HDST_OK;       // the host knows where their bytes are
    hdst_status status = hdst__engine_open(sort->engine, &sort->device, error);
    const bool stays_apart = sort->record->has_text && !sort->device->unified;      // what texts refer to would be out of the device's reach
    if (status != HDST_OK || !sort->device->ops->work || stays_apart) return status;
    sort->on_device = hdst__device_sort_create(sort->device, sort->record, sort->field, sort->field_count,
                                                hdst__engine_limits(sort->engine)->sort_large_least);
    if (!sort->on_device) return hdst__error_memory(error, "a sort");
    if (sort->by_hash) hdst__device_sort_set_by_hash(sort->on_device);
    return HDST_OK;
}

static hdst_status give_to_host(hdst__sort *sort, hdst__memory *output, hdst_error *error)
{
    hdst_status status = sort->device->ops->to_host(sort->device, output, error);
    sort->mapped = output;
    sort->rows = output->host;
    return status;
}

static hdst_status run(hdst__sort *sort, const hdst__reader *input, const hdst__dataset_cache *resident, bool keep, hdst_error *error)
{
    const hdst__memory *memory;
    hdst__memory *output;
    hdst_status status = resident ? join_segments(sort, resident, &memory, error) : load_input(sort, input, 0, input->records, &memory, error);
    if (status == HDST_OK) status = hdst__store_hold(&sort->store, sort->device, input->records, &output, error);
    const double start = hdst__now();
    if (status == HDST_OK) status = hdst__device_sort_run(sort->on_device, memory, input->records, output, error);
    if (status != HDST_OK) return status;
    sort->stats.device[0] = (hdst__device_use){.slices = 1, .records = input->records, .busy_seconds = hdst__now() - start};
    memcpy(sort->stats.device[0].name, sort->device->info->name, sizeof sort->stats.device[0].name);
    sort->stats.device_count = 1;
    sort->device_did = true;
    sort->way = hdst__device_sort_moves_keys(sort->on_device) ? "radix sort of the records on the device" : "radix sort of keys and an index on the device";
    sort->resident = keep || !sort->device->unified;
    return sort->resident ? HDST_OK : give_to_host(sort, output, error);
}

// --- Small records on a CPU device: by the host's threads, in the device's memory. Kernels are quicker where records are nothing but keys. ---

static bool goes_by_digits(const hdst__sort *sort)
{
    const hdst__device *device = sort->device;
    return device->unified && device->facts.target != HDST__TARGET_GPU && !hdst__engine_limits(sort->engine)->sort_by_kernels &&
        !hdst__device_sort_moves_keys(sort->on_device) && hdst__msd_radix_suits(sort->field, sort->field_count, sort->record->size);
}

static bool has_room_for_digits(const hdst__sort *sort, uint64_t records, bool lies_there)
{
    const uint64_t bytes = records * sort->record->size, kept = sort->store.chunks ? bytes : 0, wanted = (lies_there ? 1 : 2) * bytes + bytes / 8;
    return bytes <= sort->device->info->max_alloc_bytes && wanted <= (hdst__budget_left(&sort->device->budget) + kept) / 4 * 3 &&
        wanted <= (hdst__budget_left(hdst__engine_memory(sort->engine)) + kept) / 4 * 3;
}

typedef struct digits_input {       // runs of records, or those that were dealt already
    const hdst__row_run *runs;
    uint64_t run_count, records;
    hdst__msd_slices *dealt;
} digits_input;

hdst__msd_sort hdst__sort_by_digits_of(const hdst__sort *sort, const hdst__row_run *runs, uint64_t run_count, uint64_t records)
{
    return (hdst__msd_sort){.threads = hdst__engine_threads(sort->engine), .allocator = hdst__engine_owned(sort->engine, HDST__OWNER_SORTS),
                            .fields = sort->field, .field_count = sort->field_count, .size = sort->record->size, .runs = runs, .run_count = run_count,
                            .count = records, .cancel = hdst__engine_cancel(sort->engine)};
}

static hdst_status sort_digits(const hdst__sort *sort, const digits_input *input, char *to, bool *done, hdst_error *error)
{
    const hdst__msd_sort all = hdst__sort_by_digits_of(sort, input->runs, input->run_count, input->records);
    return input->dealt ? hdst__msd_slices_end(input->dealt, to, done, error) : hdst__msd_radix_sort(&all, to, done, error);
}

static hdst_status sort_input(hdst__sort *sort, const digits_input *input, hdst__memory *output, bool fresh, bool *done, hdst_error *error)
{
    const uint64_t end = input->records * sort->record->size;
    hdst_status status = sort->device->ops->to_host(sort->device, output, error);
    if (status != HDST_OK) return status;
    if (fresh) memset((char *)output->host + end, 0, output->bytes - end);
    status = sort_digits(sort, input, output->host, done, error);
    if (status == HDST_OK && *done && !sort->resident) {
        sort->mapped = output;
        sort->rows = output->host;
        return HDST_OK;
    }
    const hdst_status back = sort->device->ops->to_device(sort->device, output, status == HDST_OK ? error : NULL);
    return status == HDST_OK ? back : status;
}

static hdst_status sort_runs(hdst__sort *sort, const hdst__row_run *runs, uint64_t run_count, uint64_t records, hdst__memory *output, bool fresh, bool *done,
                             hdst_error *error)
{
    const digits_input input = {runs, run_count, records, NULL};
    return sort_input(sort, &input, output, fresh, done, error);
}

// The segments of a cached dataset, as the host has them.
static hdst_status sort_segments(hdst__sort *sort, hdst__dataset_cache *cache, uint64_t records, hdst__memory *output, bool fresh, bool *done,
                                 hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(sort->engine, HDST__OWNER_SORTS);
    hdst__row_run *runs = hdst__alloc(allocator, cache->count * sizeof *runs);
    bool there = false;
    if (!runs) return hdst__error_memory(error, "a sort");
    hdst_status status = hdst__dataset_cache_to_host(cache, sort->device, &there, error);
    for (uint64_t i = 0; i < cache->count && there; i++) runs[i] = (hdst__row_run){cache->segment[i].memory[0]->host, cache->segment[i].count};
    if (status == HDST_OK && there) status = sort_runs(sort, runs, cache->count, records, output, fresh, done, error);
    if (there) {
        const hdst_status back = hdst__dataset_cache_to_device(cache, status == HDST_OK ? error : NULL);
        if (status == HDST_OK) status = back;
    }
    hdst__free(allocator, runs);
    return status;
}

static hdst_status sort_read(hdst__sort *sort, const hdst__reader *input, hdst__memory *output, bool fresh, bool *done, hdst_error *error)
{
    const hdst__memory *memory;
    hdst_status status = load_input(sort, input, 0, input->records, &memory, error);
    if (status == HDST_OK) status = sort->device->ops->to_host(sort->device, sort->input.memory[0], error);
    if (status != HDST_OK) return status;
    const hdst__row_run run = {memory->host, input->records};
    status = sort_runs(sort, &run, 1, input->records, output, fresh, done, error);
    const hdst_status back = sort->device->ops->to_device(sort->device, sort->input.memory[0], status == HDST_OK ? error : NULL);
    // The next run is quicker with this memory, but not where others miss it.
    if (hdst__budget_left(hdst__engine_memory(sort->engine)) / 4 < input->records * sort->record->size) hdst__segment_destroy(sort->device, &sort->input);
    return status == HDST_OK ? back : status;
}

static hdst_status by_digits(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *resident, const void *rows, bool keep, bool *done,
                             hdst_error *error)
{
    const hdst__row_run run = {rows, input->records};
    hdst__memory *output;
    bool fresh;
    hdst_status status = hdst__store_hold_unwritten(&sort->store, sort->device, input->records, &output, &fresh, error);
    if (status != HDST_OK) return status;
    sort->resident = keep;
    if (resident) status = sort_segments(sort, resident, input->records, output, fresh, done, error);
    else if (rows) status = sort_runs(sort, &run, 1, input->records, output, fresh, done, error);
    else status = sort_read(sort, input, output, fresh, done, error);
    sort->way = "radix sort of the records by the host's threads, from the highest digit";
    if (status == HDST_OK && *done) return HDST_OK;
    *done = sort->resident = false;
    hdst__sort_release_device(sort);        // kernels want records whose padding is clear
    return status == HDST_OK ? prepare(sort, error) : status;
}

hdst_status hdst__sort_goes_by_digits(hdst__sort *sort, bool *by_digits, hdst_error *error)
{
    const hdst_status status = prepare(sort, error);
    *by_digits = status == HDST_OK && sort->on_device && goes_by_digits(sort);
    return status;
}

static hdst_status sort_dealt(hdst__sort *sort, hdst__msd_slices *dealt, bool keep, bool *done, hdst_error *error)
{
    const digits_input input = {NULL, 0, hdst__msd_slices_count(dealt), dealt};
    hdst__memory *output;
    bool fresh;
    hdst_status status = hdst__store_hold_unwritten(&sort->store, sort->device, input.records, &output, &fresh, error);
    if (status != HDST_OK) return status;
    sort->resident = keep;
    status = sort_input(sort, &input, output, fresh, done, error);
    sort->way = hdst__msd_slices_were_dealt_again(dealt)
        ? "radix sort of the records by the host's threads, which were dealt as they came, and again, as the first ones told little of the others"
        : hdst__msd_slices_are_packed(dealt)
        ? "radix sort of the records by the host's threads, which were dealt by the highest digit as they came, packed to 8 bytes"
        : "radix sort of the records by the host's threads, which were dealt by the highest digit as they came";
    if (!*done) sort->resident = false;
    return status;
}

hdst_status hdst__sort_dealt_on_device(hdst__sort *sort, hdst__msd_slices *dealt, bool keep, bool *done, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    hdst_status status = HDST_OK;
    *done = false;
    sort->records = hdst__msd_slices_count(dealt);
    hdst__driver_run_begin();
    if (has_room_for_digits(sort, sort->records, true)) status = sort_dealt(sort, dealt, keep, done, &full);
    if (status == HDST_E_MEMORY) status = HDST_OK;          // the budget was not enough after all
    if (status != HDST_OK && error) *error = full;
    hdst__driver_run_end();
    if (!*done) hdst__sort_release_device(sort);
    return status;
}

// --- The whole ---

static hdst_status sort_there(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *resident, const void *rows, bool keep, bool *done,
                              hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (goes_by_digits(sort) && has_room_for_digits(sort, input->records, rows || resident)) {
        status = by_digits(sort, input, resident, rows, keep, done, error);
        if (status != HDST_OK || *done) return status;
    }
    if (!has_room(sort, input->records, resident)) return HDST_OK;
    status = run(sort, input, resident, keep, error);
    *done = status == HDST_OK;
    return status;
}

hdst_status hdst__sort_on_device(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, const void *rows, bool keep, bool *done,
                                 hdst_error *error)
{
    *done = false;
    if (input->records < hdst__engine_limits(sort->engine)->sort_least) return HDST_OK;
    hdst_status status = prepare(sort, error);
    if (status != HDST_OK || !sort->on_device || !hdst__device_sort_can(sort->on_device, input->records)) return status;
    hdst_error full = HDST_ERROR_INIT;
    hdst__driver_run_begin();
    status = load_cache(sort, cache, &full);
    if (status == HDST_OK) status = sort_there(sort, input, lies_there(sort, cache) ? cache : NULL, rows, keep, done, &full);
    if (status == HDST_E_MEMORY) status = HDST_OK;          // the budget was not enough after all
    if (status != HDST_OK && error) *error = full;
    hdst__driver_run_end();
    if (!*done) hdst__sort_release_device(sort);
    return status;
}

// --- Runs ---

// Records of a run; 0: the device cannot, or they are too few to pay.
static uint64_t run_records(const hdst__sort *sort, uint64_t room)
{
    const hdst__device *device = sort->device;
    const uint64_t size = sort->record->size, on_device = 2 * size + hdst__device_sort_bytes(sort->on_device),
                   rounding = HDST__HOST_SORT_ROUNDING_BYTES;
    const uint64_t fit = hdst__budget_left(&device->budget) / 4 * 3 / on_device, most = device->info->max_alloc_bytes / size;
    uint64_t each = room > 2 * rounding ? (room - rounding) / (device->unified ? on_device : size) : 0;
    if (!device->unified && each > HDST__HOST_SORT_PIECE_BYTES / size) each -= HDST__HOST_SORT_PIECE_BYTES / size;
    if (each > fit) each = fit;
    if (each > most) each = most;
    each = each / 64 * 64;
    return each >= hdst__engine_limits(sort->engine)->sort_least && hdst__device_sort_can(sort->on_device, each) ? each : 0;
}

static hdst_status spill_output(hdst__sort *sort, hdst__memory *output, uint64_t records, hdst_error *error)
{
    hdst__device *device = sort->device;
    const uint64_t bytes = records * sort->record->size;
    hdst_status status = hdst__sort_runs_add(&sort->runs, records, error);
    if (status == HDST_OK && device->unified) {
        status = device->ops->to_host(device, output, error);
        if (status == HDST_OK) status = hdst__spill_add(&sort->runs.file, output->host, bytes, error);
        return status == HDST_OK ? device->ops->to_device(device, output, error) : status;
    }
    char *piece = hdst__alloc(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), HDST__HOST_SORT_PIECE_BYTES);
    if (!piece) return hdst__error_memory(error, "a sort");
    for (uint64_t at = 0; at < bytes && status == HDST_OK; at += HDST__HOST_SORT_PIECE_BYTES) {
        const uint64_t part = bytes - at < HDST__HOST_SORT_PIECE_BYTES ? bytes - at : HDST__HOST_SORT_PIECE_BYTES;
        status = device->ops->read(device, output, at, piece, part, true, error);
        if (status == HDST_OK) status = hdst__spill_add(&sort->runs.file, piece, part, error);
    }
    hdst__free(hdst__engine_owned(sort->engine, HDST__OWNER_SORTS), piece);
    return status;
}

static hdst_status make_run(hdst__sort *sort, const hdst__reader *input, uint64_t first, uint64_t records, hdst_error *error)
{
    const hdst__memory *memory;
    hdst__memory *output;
    if (hdst__cancel_asked(hdst__engine_cancel(sort->engine))) return hdst__cancel_error(first, input->records, error);
    hdst_status status = load_input(sort, input, first, records, &memory, error);
    if (status == HDST_OK) status = hdst__store_hold(&sort->store, sort->device, records, &output, error);
    if (status == HDST_OK) status = hdst__device_sort_run(sort->on_device, memory, records, output, error);
    return status == HDST_OK ? spill_output(sort, output, records, error) : status;
}

hdst_status hdst__sort_runs_on_device(hdst__sort *sort, const hdst__reader *input, uint64_t room, bool *done, hdst_error *error)
{
    *done = false;
    hdst_status status = prepare(sort, error);
    const uint64_t each = status == HDST_OK && sort->on_device ? run_records(sort, room) : 0;
    if (each == 0) return status;
    hdst_error full = HDST_ERROR_INIT;
    hdst__driver_run_begin();
    for (uint64_t first = 0; first < input->records && status == HDST_OK; first += each)
        status = make_run(sort, input, first, input->records - first < each ? input->records - first : each, &full);
    hdst__driver_run_end();
    hdst__sort_release_device(sort);                      // its memory is needed to merge
    *done = status == HDST_OK;
    sort->way = "radix sort on the device, in runs";
    if (status == HDST_E_MEMORY) {      // the budget was not enough after all
        hdst__sort_runs_release(&sort->runs);
        return HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    return status;
}
