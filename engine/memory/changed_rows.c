// SPDX-License-Identifier: Apache-2.0
// Rows of a value, changed where they lie (engine/memory/changed_rows.h): one kernel notes which record names a row last, a second one moves these.
#include "engine/memory/changed_rows.h"

#include "base/costs_gpu.h"
#include "base/pieces.h"
#include "engine/device/library_kernel.h"
#include "engine/device/driver_gate.h"
#include "engine/memory/dataset_cache.h"
#include "engine/memory/value_rows.h"

#include <inttypes.h>

extern const hdst__pieces hdst__memory_pieces;      // engine/memory/*.cl

enum { NAME, CHANGE, MOVE, KERNELS };
enum { LANES = 256, MOST_PIECES = 16 };
enum { LAST, STRAY, HOSTS_RECORDS, MEMORIES };      // by row, a word, records that come from the host

struct hdst__changed_rows {
    hdst__runtime *runtime;
    const hdst__row_change *change;
    hdst__device *device;           // of all that follows; NULL: there is nothing yet
    hdst__arena arena;              // of the kernels' text
    const char *text;
    hdst__kernel kernel[KERNELS];
    hdst__program *program[KERNELS];
    hdst__memory *memory[MEMORIES];
    bool counts;                    // `last` was cleared since it is there;
    uint64_t before;                //     records that were counted since then
};

static const char no_room[] = "the device has no room for what changes rows there";

hdst__changed_rows *hdst__changed_rows_create(hdst__runtime *runtime, const hdst__row_change *change)
{
    hdst__changed_rows *c = hdst__alloc_zero(runtime->allocator, sizeof *c);
    if (!c) return NULL;
    c->runtime = runtime;
    c->change = change;
    hdst__arena_init(&c->arena, runtime->allocator, NULL);
    return c;
}

static void leave_device(hdst__changed_rows *c)
{
    for (int i = 0; c->device && i < KERNELS; i++) c->device->ops->unload(c->device, c->program[i]);
    for (int i = 0; c->device && i < MEMORIES; i++) c->device->ops->release(c->device, c->memory[i]);
    for (int i = 0; i < KERNELS; i++) c->program[i] = NULL;
    for (int i = 0; i < MEMORIES; i++) c->memory[i] = NULL;
    c->device = NULL;
    c->counts = false;
}

void hdst__changed_rows_destroy(hdst__changed_rows *c)
{
    if (!c) return;
    hdst__runtime *runtime = c->runtime;
    pthread_mutex_lock(&runtime->mutex);
    leave_device(c);
    hdst__arena_destroy(&c->arena);
    hdst__free(runtime->allocator, c);
    pthread_mutex_unlock(&runtime->mutex);
}

// --- Kernels ---

// The widest words by which all pieces can be moved.
static uint64_t word_of(const hdst__row_change *change)
{
    uint64_t all = change->record->size | change->row_bytes | 8;
    for (size_t i = 0; i < change->piece_count; i++) all |= change->pieces[i].from | change->pieces[i].to | change->pieces[i].bytes;
    return all & (0 - all);
}

static const char *unsigned_of(uint64_t bytes) { return bytes == 8 ? "ulong" : bytes == 4 ? "uint" : bytes == 2 ? "ushort" : "uchar"; }

static const char *number_type(hdst__kind kind)
{
    const char *name = unsigned_of(hdst__scalar_size(kind));
    return hdst__kind_is_signed(kind) ? name + 1 : name;
}

static void write_text(hdst__writer *out, const void *user)
{
    const hdst__row_change *change = user;
    const hdst__leaf *number = &change->record->leaves[0];
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__base_pieces, "head.cl"));
    hdst__write(out, "#define WORD %s\n#define RECORD_BYTES %" PRIu64 "ul\n#define ROW_BYTES %" PRIu64 "ul\n", unsigned_of(word_of(change)),
                change->record->size, change->row_bytes);
    hdst__write(out, "#define NUMBER %s\n#define NUMBER_AT %" PRIu64 "ul\n#define MOVES", number_type(number->kind), number->offset);
    for (size_t i = 0; i < change->piece_count; i++)
        hdst__write(out, " MOVE(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", change->pieces[i].from, change->pieces[i].to, change->pieces[i].bytes);
    hdst__write(out, "\n%s", hdst__pieces_text(out->arena, &hdst__memory_pieces, "changed_rows.cl"));
}

static hdst_status open_device(hdst__changed_rows *c, hdst__device *device, hdst_error *error)
{
    if (c->device == device) return HDST_OK;
    leave_device(c);
    c->device = device;
    return c->text ? HDST_OK : hdst__library_kernel_text(&c->arena, write_text, c->change, "changes of rows", &c->text, error);
}

// --- Memory ---

static hdst_status provide(hdst__changed_rows *c, int which, uint64_t bytes, hdst_error *error)
{
    hdst__device *device = c->device;
    const uint64_t whole = (bytes + 7) / 8 * 8;
    if (c->memory[which] && c->memory[which]->bytes >= whole) return HDST_OK;
    device->ops->release(device, c->memory[which]);
    c->memory[which] = NULL;
    if (which == LAST) c->counts = false;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_VALUES, whole, "changes of rows", &c->memory[which], error);
}

// Which record named a row last, of rows that none has named, or whose counts have come to their end, is cleared.
static hdst_status make_ready(hdst__changed_rows *c, uint64_t row_count, uint64_t count, hdst_error *error)
{
    hdst__device *device = c->device;
    hdst_status status = provide(c, LAST, row_count * sizeof(uint32_t), error);
    if (status == HDST_OK) status = provide(c, STRAY, sizeof(uint64_t), error);
    if (status == HDST_OK && (!c->counts || c->before + count > UINT32_MAX)) {
        c->before = 0;
        status = device->ops->fill(device, c->memory[LAST], c->memory[LAST]->bytes / 8, 0, error);
        c->counts = status == HDST_OK;
    }
    return status == HDST_OK ? device->ops->fill(device, c->memory[STRAY], 1, 0, error) : status;
}

// --- Records ---

typedef struct stretch {            // records that lie one after another
    const hdst__memory *memory;
    uint64_t first, count;
} stretch;

static stretch stretch_of(const hdst__changed_rows *c, const hdst__row_change_records *records, uint64_t i)
{
    if (!records->cache) return (stretch){c->memory[HOSTS_RECORDS], 0, records->count};
    const hdst__segment *segment = &records->cache->segment[i];
    return (stretch){segment->memory[0], segment->first, segment->count};
}

static hdst_status load(hdst__changed_rows *c, int kernel, hdst_error *error)
{
    static const char *const names[] = {[NAME] = "name_rows", [CHANGE] = "change_rows", [MOVE] = "move_rows"};
    return hdst__library_kernel_load(c->device, c->text, names[kernel], LANES, &c->kernel[kernel], &c->program[kernel], error);
}

static hdst_status work(hdst__changed_rows *c, int kernel, const stretch *s, const hdst__value_rows *rows, uint64_t row_count, hdst_error *error)
{
    const hdst__device *device = c->device;
    const uint64_t groups = hdst__device_groups(device, s->count / LANES + 1, HDST__GPU_SCAN_GROUPS_PER_UNIT);
    const hdst__work_arg records = {.memory = s->memory}, count = {.number = s->count}, before = {.number = c->before + s->first},
                         last = {.memory = c->memory[LAST]}, stray = {.memory = c->memory[STRAY]};
    const hdst__work_arg names[] = {records, count, before, {.number = row_count}, last, stray},
                         changes[] = {records, count, before, last, stray, {.memory = rows->memory}}, moves[] = {records, count, {.memory = rows->memory}};
    const hdst__work_arg *const args[] = {[NAME] = names, [CHANGE] = changes, [MOVE] = moves};
    const hdst_status status = load(c, kernel, error);
    if (status != HDST_OK || !s->count) return status;
    return device->ops->work(c->device, c->program[kernel], args[kernel], kernel == MOVE ? 3 : 6, groups, LANES, error);
}

static hdst_status over_records(hdst__changed_rows *c, int kernel, const hdst__value_rows *rows, uint64_t row_count, const hdst__row_change_records *records,
                                hdst_error *error)
{
    const uint64_t stretches = records->cache ? records->cache->count : 1;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < stretches && status == HDST_OK; i++) {
        const stretch s = stretch_of(c, records, i);
        status = work(c, kernel, &s, rows, row_count, error);
    }
    return status;
}

static hdst_status move(hdst__changed_rows *c, const hdst__value_rows *rows, uint64_t row_count, const hdst__row_change_records *records, hdst_error *error)
{
    const hdst_status status = over_records(c, MOVE, rows, row_count, records, error);
    return status == HDST_OK ? hdst__device_wait(c->device, error) : status;
}

static hdst_status run(hdst__changed_rows *c, hdst__value_rows *rows, uint64_t row_count, const hdst__row_change_records *records, bool *stray,
                       hdst_error *error)
{
    hdst__device *device = c->device;
    const uint64_t bytes = records->count * c->change->record->size;
    uint32_t word = 0;
    if (records->distinct) return move(c, rows, row_count, records, error);
    hdst_status status = make_ready(c, row_count, records->count, error);
    if (status == HDST_OK && !records->cache) status = provide(c, HOSTS_RECORDS, bytes, error);
    if (status == HDST_OK && !records->cache) status = device->ops->write(device, c->memory[HOSTS_RECORDS], 0, records->rows, bytes, true, error);
    if (status == HDST_OK) status = over_records(c, NAME, rows, row_count, records, error);
    if (status == HDST_OK) status = over_records(c, CHANGE, rows, row_count, records, error);
    if (status == HDST_OK) status = device->ops->read(device, c->memory[STRAY], 0, &word, sizeof word, true, error);
    else device->ops->finish(device);
    c->before += records->count;
    *stray = word;
    return status;
}

// --- Whether ---

static const char *refusal(const hdst__changed_rows *c, const hdst__value_rows *rows, const hdst__row_change_records *records)
{
    const hdst__dataset_cache *cache = records->cache;
    const hdst__device *device = rows->device;
    if (device->unified) return "";
    if (!device->ops->work || device->facts.max_group < LANES) return "the device has no kernels for it";
    if (c->change->piece_count > MOST_PIECES) return "rows have many fields that lie apart";
    if (records->count > UINT32_MAX / 2) return "there are too many of them";
    if (cache && (cache->device != device || cache->streamed || cache->loaded != cache->count || cache->reader.layout != HDST__AOS))
        return "they do not lie on the device of the rows";
    return NULL;
}

static hdst_status put(hdst__changed_rows *c, hdst__value_rows *rows, uint64_t row_count, const hdst__row_change_records *records, const char **why_not,
                       bool *stray, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    *why_not = refusal(c, rows, records);
    if (*why_not) return HDST_OK;
    hdst__driver_run_begin();
    hdst_status status = open_device(c, rows->device, &full);
    if (status == HDST_OK) status = run(c, rows, row_count, records, stray, &full);
    hdst__driver_run_end();
    if (status == HDST_OK) rows->copied &= *stray;
    if (status == HDST_E_MEMORY) {
        leave_device(c);
        *why_not = no_room;
        return HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    return status;
}

hdst_status hdst__changed_rows_put(hdst__changed_rows *c, hdst__value_rows *rows, uint64_t row_count, const hdst__row_change_records *records,
                                   const char **why_not, bool *stray, hdst_error *error)
{
    *stray = false;
    pthread_mutex_lock(&c->runtime->mutex);
    const hdst_status status = put(c, rows, row_count, records, why_not, stray, error);
    pthread_mutex_unlock(&c->runtime->mutex);
    return status;
}
