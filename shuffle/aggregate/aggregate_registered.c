// SPDX-License-Identifier: Apache-2.0
// A reduction by key on a GPU over records that lie in registered memory of the program's (shuffle/aggregate/aggregate_registered.h): they cross at the speed
// of the link, lie on the device as those of a cache do as long as the run takes, and are copied again by the next one, as the program may have written to
// them. From 1,000 keys on the link was seen to take less time than the host's threads (docs/performance.md); fewer keys were not measured.
#include "shuffle/aggregate/aggregate_registered.h"

#include "engine/memory/dataset_cache.h"
#include "engine/memory/registered.h"

// Pins the memory for the device.
static bool pays(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst__runtime *runtime)
{
    const hdst__reader *reader = input->reader;
    const uint64_t bytes = reader->records * reader->record->size;
    if (aggregate->not_copied || !reader->rows || reader->layout != HDST__AOS || reader->record->has_text) return false;
    if (!hdst__registered_has(runtime->registered, reader->rows, bytes)) return false;
    hdst__device *device = hdst__aggregate_device_suiting(aggregate->on_device, reader->records);
    return device && hdst__registered_holds(runtime->registered, device, reader->rows, bytes);
}

hdst_status hdst__aggregate_run_registered(hdst__aggregate *aggregate, const hdst__aggregate_input *input, hdst_error *error)
{
    hdst__runtime *runtime = hdst__engine_runtime(aggregate->engine);
    aggregate->copied = false;
    if (!pays(aggregate, input, runtime)) return HDST_OK;
    hdst__dataset_cache *copy = hdst__dataset_cache_create(runtime, input->reader);
    if (!copy) return hdst__error_memory(error, "a reduce by key");
    const hdst__aggregate_input there = {input->reader, copy, NULL, 0};
    const hdst_status status = hdst__aggregate_device_run(aggregate->on_device, &there, &aggregate->stats, &aggregate->device_did, error);
    hdst__dataset_cache_end(copy);
    aggregate->copied = aggregate->device_did;
    // What it cannot do it could not do the next time; memory that it had not may be there by then.
    aggregate->not_copied = status == HDST_OK && !aggregate->device_did && !hdst__aggregate_device_may_do_later(aggregate->on_device);
    return status;
}
