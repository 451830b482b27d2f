// SPDX-License-Identifier: Apache-2.0
// The bytes that a segment's texts refer to, for a device that cannot reach the host's memory: all in one stretch of memory of both, whose copy on the device
// kernels look at. What a reader makes is put there at once; texts that lie elsewhere are gathered, and the segment's spans then refer to the stretch.
#ifndef HDST_ENGINE_MEMORY_TEXT_MIRROR_H
#define HDST_ENGINE_MEMORY_TEXT_MIRROR_H

#include "engine/device/device.h"
#include "engine/memory/reader.h"
#include "record/text_bytes.h"

#include <stdatomic.h>

typedef struct hdst__text_mirror {        // zeroed at first
    hdst__memory *memory;               // shared; NULL: there was no long text yet
    _Atomic uint64_t used;              // of its bytes, or of those of `copy`
    const char *lent;                   // in memory that the program registered, as far as the segment's texts go there; NULL: they are in `memory`
    hdst__memory *copy;                 // of the device, where such texts go
    _Atomic uint64_t lacked;            // bytes of texts that had no room
    const hdst__bytes_place *beyond;    // where a reader's texts go that have no room
    hdst__bytes_place sink;
    hdst__storage with;
} hdst__text_mirror;

// Before `count` records are read: *storage becomes one that puts texts here, where the reader makes some. What was here is forgotten.
hdst_status hdst__text_mirror_open(hdst__text_mirror *mirror, hdst__device *device, const hdst__reader *reader, uint64_t count, const hdst__storage **storage,
                                 hdst_error *error);
// Behind it: texts of the first `count` records that lie elsewhere come here too.
hdst_status hdst__text_mirror_gather(hdst__text_mirror *mirror, hdst__device *device, const hdst__storage *storage, void *const *buffers, uint64_t count,
                                   hdst_error *error);
// In place of both, of records that lie in registered memory, in C structs: whether their texts do, in a stretch of which they take a good part. Then that
// goes to the device from where it lies. False: they are to be gathered.
bool hdst__text_mirror_lend(hdst__text_mirror *mirror, hdst__device *device, const hdst__storage *storage, const char *rows, uint64_t count);
// The copy that kernels look at, and where its first byte is on the host; NULL and 0: there are no texts.
hdst__memory *hdst__text_mirror_copy(const hdst__text_mirror *mirror);
uint64_t hdst__text_mirror_host(const hdst__text_mirror *mirror);
// To the device; *moved counts the bytes.
hdst_status hdst__text_mirror_write(const hdst__text_mirror *mirror, hdst__device *device, uint64_t *moved, hdst_error *error);
void hdst__text_mirror_close(hdst__text_mirror *mirror, hdst__device *device);    // safe on a zeroed one, and twice

#endif
