// SPDX-License-Identifier: Apache-2.0
// Sorting on an OpenCL device: radix, 8 bits a pass, least significant first. Bits in which no two keys differ take no pass. A record that is its key moves
// alone; others follow an index that moves with the key, once, at the end.
#ifndef HDST_SHUFFLE_SORT_SORT_DEVICE_H
#define HDST_SHUFFLE_SORT_SORT_DEVICE_H

#include "engine/device/device.h"
#include "shuffle/sort/sort_key.h"

typedef struct hdst__device_sort hdst__device_sort;

// NULL: out of memory. Compiles nothing yet.
// large_least: records from which on a GPU takes large tiles where they are keys alone (engine/common/limits.h).
hdst__device_sort *hdst__device_sort_create(hdst__device *device, const hdst__record *record, const hdst__sort_field *fields, size_t count,
                                            uint64_t large_least);
// Before anything else: by the hash of the fields, which are a key of at most 8 bytes, and among equal hashes anyhow, but equal keys one after another.
void hdst__device_sort_set_by_hash(hdst__device_sort *sort);
void hdst__device_sort_rest(hdst__device_sort *sort);       // gives back the memory that it works with
void hdst__device_sort_destroy(hdst__device_sort *sort);        // NULL is fine
// Whether the device can sort so many records at once, its memory aside.
bool hdst__device_sort_can(const hdst__device_sort *sort, uint64_t records);
// Bytes of device memory for each record, beside the input and the output.
uint64_t hdst__device_sort_bytes(const hdst__device_sort *sort);
// Sorts `records` C structs of `input` to `output`, which is another memory. Waits for the end. The memory that it works with stays until destroy.
hdst_status hdst__device_sort_run(hdst__device_sort *sort, const hdst__memory *input, uint64_t records, hdst__memory *output, hdst_error *error);
uint32_t hdst__device_sort_passes(const hdst__device_sort *sort);       // of the last run
bool hdst__device_sort_moves_keys(const hdst__device_sort *sort);       // records are their keys

#endif
