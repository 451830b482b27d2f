// SPDX-License-Identifier: Apache-2.0
// The rows of a value as records that a stage reads, where both lie on one device (engine/memory/resident_value.h).
#include "engine/memory/value_rows.h"

#include "engine/device/driver_gate.h"
#include "engine/memory/store.h"

struct hdst__value_records {
    hdst__store store;
    hdst__runtime *runtime;
};

hdst__value_records *hdst__value_records_create(hdst__runtime *runtime, const hdst__record *record)
{
    hdst__value_records *records = hdst__alloc_zero(runtime->allocator, sizeof *records);
    if (!records) return NULL;
    records->runtime = runtime;
    pthread_mutex_lock(&runtime->mutex);
    hdst__store_init(&records->store, runtime, record);
    records->store.whole = true;        // those who read them cut slices by segments
    pthread_mutex_unlock(&runtime->mutex);
    return records;
}

void hdst__value_records_destroy(hdst__value_records *records)
{
    if (!records) return;
    hdst__runtime *runtime = records->runtime;
    pthread_mutex_lock(&runtime->mutex);
    hdst__store_release(&records->store);
    pthread_mutex_unlock(&runtime->mutex);
    hdst__free(runtime->allocator, records);
}

static hdst_status copy(hdst__store *store, const hdst__value_rows *rows, hdst_error *error)
{
    const uint64_t count = rows->bytes / store->cache.reader.record->size;
    hdst__memory *memory;
    bool fresh;
    hdst_status status = hdst__store_hold_unwritten(store, rows->device, count, &memory, &fresh, error);
    if (status == HDST_OK && memory) status = rows->device->ops->copy(rows->device, memory, 0, rows->memory, 0, rows->bytes, error);
    store->copies = memory != NULL;
    const hdst_status ended = hdst__store_end(store, status == HDST_OK ? error : NULL);
    return status == HDST_OK ? ended : status;
}

hdst_status hdst__value_records_take(hdst__value_records *records, const hdst__value_rows *rows, hdst__dataset_cache **taken, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    *taken = NULL;
    pthread_mutex_lock(&records->runtime->mutex);
    hdst__driver_run_begin();
    hdst_status status = copy(&records->store, rows, &full);
    hdst__driver_run_end();
    if (status == HDST_OK) *taken = &records->store.cache;
    else if (status != HDST_E_MEMORY && error) *error = full;
    pthread_mutex_unlock(&records->runtime->mutex);
    return status == HDST_E_MEMORY ? HDST_OK : status;
}
