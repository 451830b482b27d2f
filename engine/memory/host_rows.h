// SPDX-License-Identifier: Apache-2.0
// Records on the host that no stage computed: read as they are, for a result or a file. All take the runtime's mutex.
#ifndef HDST_ENGINE_MEMORY_HOST_ROWS_H
#define HDST_ENGINE_MEMORY_HOST_ROWS_H

#include "base/runtime.h"
#include "engine/memory/reader.h"
#include "engine/memory/spill.h"
#include "engine/memory/text_room.h"
#include "engine/common/run_stats.h"

// All records of a reader as C structs in host memory, which counts towards the budget.
typedef struct hdst__rows {
    void *records;
    uint64_t count, bytes;
    hdst__spill file;           // where the budget has no room for them: a temporary file that is read like memory
    bool mapped;
    hdst__text_heap *texts;     // NULL, or where the texts' bytes are that were read with them
} hdst__rows;

// The same piece by piece, in order, through a few megabytes: `take` gets each once and may stop it with an error.
typedef hdst_status (*hdst__take_rows)(void *user, const void *records, uint64_t count, hdst_error *error);
// Texts that the reader makes are there until the next piece.
hdst_status hdst__rows_stream(hdst__runtime *runtime, const hdst__reader *reader, hdst__take_rows take, void *user, hdst__run_stats *stats, hdst_error *error);
hdst_status hdst__rows_read(hdst__runtime *runtime, const hdst__reader *reader, hdst__rows *rows, hdst__run_stats *stats, hdst_error *error);
// The same, through a temporary file where the budget has no room; `writable`: what is changed there stays in memory, and does not count.
hdst_status hdst__rows_read_all(hdst__runtime *runtime, const hdst__reader *reader, bool writable, hdst__rows *rows, hdst__run_stats *stats, hdst_error *error);
void hdst__rows_free(const hdst__runtime *runtime, hdst__rows *rows);    // safe on zeroed ones, and twice

#endif
