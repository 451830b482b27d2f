// SPDX-License-Identifier: Apache-2.0
// Temporary files for what does not fit the memory budget: without a name (base/temporary_file.h), so nothing is left behind however the process ends.
// One thread at a time per file.
#ifndef HDST_ENGINE_MEMORY_SPILL_H
#define HDST_ENGINE_MEMORY_SPILL_H

#include "base/error_object.h"
#include "base/runtime.h"
#include "base/temporary_file.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__spill {
    bool open;
    int fd;
    uint64_t bytes;                 // written so far
    hdst__temporary_files *files;   // where they count; NULL: nowhere
    char folder[HDST__TEMPORARY_FOLDER_BYTES];      // for messages
} hdst__spill;

// HDST_E_IO, with the folder and the system's reason, when there is no such folder, or it cannot be written. The runtime counts what is written, and a folder
// that is memory itself is logged, once; NULL: neither.
hdst_status hdst__spill_open(hdst__runtime *runtime, hdst__spill *spill, hdst_error *error);
void hdst__spill_close(hdst__spill *spill);     // gives the room on the disk back; safe on a zeroed one, and twice
bool hdst__spill_is_in_memory(int file);        // tmpfs or ramfs
// At the end of the file. HDST_E_IO when the disk is full.
hdst_status hdst__spill_add(hdst__spill *spill, const void *data, uint64_t bytes, hdst_error *error);
// The same from `offset` on: what is left out in between is zero.
hdst_status hdst__spill_put(hdst__spill *spill, uint64_t offset, const void *data, uint64_t bytes, hdst_error *error);
// All that was written, for reading, until unmap: pages that the system takes back as it likes; NULL where nothing was. HDST_E_IO.
hdst_status hdst__spill_map(const hdst__spill *spill, const void **data, hdst_error *error);
// The same for a caller who may write to it: what is written stays in this process's memory.
hdst_status hdst__spill_map_private(const hdst__spill *spill, void **data, hdst_error *error);
// `bytes` zero bytes that have room on the disk, in an empty file, for reading and writing: what is written is the file's, until unmap. HDST_E_IO.
hdst_status hdst__spill_map_new(hdst__spill *spill, uint64_t bytes, void **data, hdst_error *error);
// The same for what a device may have read where it lies: it stays where one was given up.
void hdst__spill_unmap_read(const hdst__runtime *runtime, const hdst__spill *spill, const void *data);
// Bytes that were written.
hdst_status hdst__spill_read(const hdst__spill *spill, uint64_t offset, void *data, uint64_t bytes, hdst_error *error);

#endif
