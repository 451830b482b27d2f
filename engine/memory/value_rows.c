// SPDX-License-Identifier: Apache-2.0
// Rows of a value in the device's memory, where kernels read them as a broadcast (engine/memory/value_rows.h).
#include "engine/memory/value_rows.h"

#include "engine/memory/dataset_cache.h"
#include "engine/device/driver_gate.h"

hdst__value_rows *hdst__value_rows_create(hdst__runtime *runtime)
{
    hdst__value_rows *rows = hdst__alloc_zero(runtime->allocator, sizeof *rows);
    if (rows) rows->runtime = runtime;
    return rows;
}

void hdst__value_rows_destroy(hdst__value_rows *rows)
{
    if (!rows) return;
    hdst__runtime *runtime = rows->runtime;
    pthread_mutex_lock(&runtime->mutex);
    if (rows->device) rows->device->ops->release(rows->device, rows->memory);
    pthread_mutex_unlock(&runtime->mutex);
    hdst__free(runtime->allocator, rows->host);
    hdst__free(runtime->allocator, rows);
}

// --- From records on the device ---

static bool lies_on_device(const hdst__dataset_cache *from)
{
    return from->device && !from->streamed && from->count && from->loaded == from->count && from->reader.layout == HDST__AOS;
}

// The rows there are stay until there is room for the new ones.
static hdst_status make_room(hdst__value_rows *rows, hdst__device *device, uint64_t bytes, hdst_error *error)
{
    hdst__memory *memory;
    if (rows->device == device && rows->memory->bytes >= bytes) return HDST_OK;
    hdst_status status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_VALUES, bytes, "a value", &memory, error);
    if (status != HDST_OK) return status;
    if (rows->device) rows->device->ops->release(rows->device, rows->memory);
    rows->device = device;
    rows->memory = memory;
    return HDST_OK;
}

static hdst_status copy_segments(hdst__value_rows *rows, const hdst__dataset_cache *from, hdst_error *error)
{
    hdst__device *device = rows->device;
    const uint64_t size = from->reader.record->size;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < from->count && status == HDST_OK; i++)
        status = device->ops->copy(device, rows->memory, from->segment[i].first * size, from->segment[i].memory[0], 0, from->segment[i].count * size, error);
    if (status != HDST_OK) {
        device->ops->finish(device);
        return status;
    }
    return hdst__device_wait(device, error);
}

static hdst_status take(hdst__value_rows *rows, const hdst__dataset_cache *from, bool *taken, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    if (!lies_on_device(from)) return HDST_OK;
    const uint64_t bytes = from->reader.records * from->reader.record->size, all = from->segment[0].memory[0]->bytes;
    hdst_status status = make_room(rows, from->device, from->count == 1 && all > bytes ? all : bytes, &full);      // so one can stand in for the other
    if (status == HDST_E_MEMORY) {
        if (!rows->warned) hdst__log_write(&rows->runtime->log, HDST__LOG_WARN, "records that become a value go through the host: %s", full.message);
        rows->warned = true;
        return HDST_OK;
    }
    if (status != HDST_OK) {
        if (error) *error = full;
        return status;
    }
    *taken = true;
    rows->copied = false;
    rows->bytes = bytes;
    hdst__driver_run_begin();
    status = copy_segments(rows, from, error);
    hdst__driver_run_end();
    return status;
}

hdst_status hdst__value_rows_take(hdst__value_rows *rows, const hdst__dataset_cache *from, bool *taken, hdst_error *error)
{
    *taken = false;
    pthread_mutex_lock(&rows->runtime->mutex);
    hdst_status status = take(rows, from, taken, error);
    pthread_mutex_unlock(&rows->runtime->mutex);
    return status;
}

// --- On the host ---

static hdst_status copy_to_host(hdst__value_rows *rows, hdst_error *error)
{
    if (rows->host_bytes < rows->bytes) {
        void *grown = hdst__realloc(hdst__budget_owned(&rows->runtime->memory, HDST__OWNER_VALUES), rows->host, rows->bytes);
        if (!grown) return hdst__error_memory(error, "a value");
        rows->host = grown;
        rows->host_bytes = rows->bytes;
    }
    hdst_status status = rows->device->ops->read(rows->device, rows->memory, 0, rows->host, rows->bytes, true, error);
    rows->copied = status == HDST_OK;
    return status;
}

hdst_status hdst__value_rows_on_host(hdst__value_rows *rows, const void **host, hdst_error *error)
{
    hdst_status status = rows->copied ? HDST_OK : copy_to_host(rows, error);
    *host = status == HDST_OK ? rows->host : NULL;
    return status;
}

hdst_status hdst__value_rows_read(hdst__value_rows *rows, const void **host, hdst_error *error)
{
    pthread_mutex_lock(&rows->runtime->mutex);
    hdst_status status = hdst__value_rows_on_host(rows, host, error);
    pthread_mutex_unlock(&rows->runtime->mutex);
    return status;
}

// --- Changed in place ---

static hdst_status copy_to_shared(const hdst__value_rows *rows, hdst__memory *to, hdst_error *error)
{
    hdst__device *device = rows->device;
    hdst_status status = device->ops->to_host(device, to, error);
    if (status == HDST_OK) status = device->ops->read(device, rows->memory, 0, to->host, rows->bytes, true, error);
    return status == HDST_OK ? device->ops->to_device(device, to, error) : status;
}

// The rows come to memory that the host can have, where they lie in none yet. Without room for it they stay where they are.
static hdst_status move_to_shared(hdst__value_rows *rows, hdst_error *error)
{
    hdst__device *device = rows->device;
    hdst__memory *memory;
    hdst_error full = HDST_ERROR_INIT;
    hdst_status status = device->ops->alloc(device, HDST__MEMORY_SHARED, HDST__OWNER_VALUES, rows->memory->bytes, "a value", &memory, &full);
    if (status == HDST_E_MEMORY) return HDST_OK;
    if (status != HDST_OK) {
        *error = full;
        return status;
    }
    status = copy_to_shared(rows, memory, error);
    device->ops->release(device, status == HDST_OK ? rows->memory : memory);
    if (status == HDST_OK) rows->memory = memory;
    return status;
}

static hdst_status open_rows(hdst__value_rows *rows, void **host, hdst_error *error)
{
    if (!rows->device->unified || !rows->bytes) return HDST_OK;
    hdst_status status = rows->memory->kind == HDST__MEMORY_SHARED ? HDST_OK : move_to_shared(rows, error);
    if (status != HDST_OK || rows->memory->kind != HDST__MEMORY_SHARED) return status;
    status = rows->device->ops->to_host(rows->device, rows->memory, error);
    if (status == HDST_OK) *host = rows->memory->host;
    rows->copied = false;
    return status;
}

hdst_status hdst__value_rows_open(hdst__value_rows *rows, void **host, hdst_error *error)
{
    *host = NULL;
    pthread_mutex_lock(&rows->runtime->mutex);
    hdst_status status = open_rows(rows, host, error);
    pthread_mutex_unlock(&rows->runtime->mutex);
    return status;
}

hdst_status hdst__value_rows_close(hdst__value_rows *rows, hdst_error *error)
{
    pthread_mutex_lock(&rows->runtime->mutex);
    hdst_status status = rows->device->ops->to_device(rows->device, rows->memory, error);
    pthread_mutex_unlock(&rows->runtime->mutex);
    return status;
}
