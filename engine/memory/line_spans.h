// SPDX-License-Identifier: Apache-2.0
// Records of lines that a device makes of their bytes. Whoever fills a segment tells where the bytes of lines are and how many end where
// (record/line_blocks.h), which it knows of counting them; so it needs not look for each line's end, and records do not cross the link.
#ifndef HDST_ENGINE_MEMORY_LINE_SPANS_H
#define HDST_ENGINE_MEMORY_LINE_SPANS_H

#include "engine/device/device.h"
#include "engine/memory/reader.h"
#include "engine/memory/text_mirror.h"

#include <pthread.h>

typedef struct hdst__line_spans hdst__line_spans;      // of a device: its kernel. device->line_spans, made at first use

void hdst__line_spans_destroy(hdst__line_spans *spans, hdst__device *device);   // NULL is fine

// NULL: the device makes records of the reader's lines in such a storage; else why it does not, or "" where that is no question.
const char *hdst__line_spans_refusal(const hdst__device *device, const hdst__reader *reader, const hdst__storage *storage);

typedef struct hdst__line_notes {       // of a segment; zeroed at first
    const hdst__text_mirror *mirror;
    hdst__runtime *runtime;
    hdst__line_block *block;
    uint64_t count, room, lines;        // blocks; lines in them
    bool refused;                       // some lines were not taken
    hdst__memory *memory;               // the device's copy
    pthread_mutex_t mutex;
    hdst__line_blocks sink;
} hdst__line_notes;

// Before records are read: *storage, which puts texts into the mirror (text_mirror.h), is told of lines. What was noted is forgotten.
void hdst__line_notes_open(hdst__line_notes *notes, hdst__runtime *runtime, hdst__text_mirror *mirror, const hdst__storage **storage);
void hdst__line_notes_end(hdst__line_notes *notes);     // no more lines come
// Behind the mirror's bytes: the device makes records of them, in `memory`, one for each buffer of the storage. *moved counts the bytes that cross.
hdst_status hdst__line_notes_make(hdst__line_notes *notes, hdst__device *device, const hdst__line_leaves *leaves, const hdst__storage *storage,
                                  hdst__memory *const *memory, uint64_t *moved, hdst_error *error);
void hdst__line_notes_close(hdst__line_notes *notes, hdst__device *device);     // safe on a zeroed one, and twice

#endif
