// SPDX-License-Identifier: Apache-2.0
// What was done when, as a file in the trace event format that Chrome and Perfetto show: processes with tracks, on these spans with a begin and an end,
// flows from one span to another, counters.
//
// The file is JSON and whole after each piece that is written, so it is of use however the process ends. Where it cannot be written that is told once, as
// a warning, and nothing is recorded from then on.
//
// Threads: all functions but create and destroy may be called from any thread. In a process that was forked nothing is recorded.
#ifndef HDST_BASE_TIMELINE_H
#define HDST_BASE_TIMELINE_H

#include "base/alloc.h"
#include "base/error_object.h"
#include "base/log.h"

#include <stdint.h>

typedef struct hdst__timeline hdst__timeline;

enum { HDST__TIMELINE_HOST = 1 };       // the process whose tracks are the host's threads; others are free

typedef struct hdst__timeline_place {
    uint32_t process, track;
    double time;                        // of hdst__now, as all times here
} hdst__timeline_place;

// Spans of a track lie inside one another or apart.
typedef struct hdst__timeline_span {
    uint32_t process, track;
    const char *name, *function;        // function: of the stage it is done for; NULL: none
    double begin, end;
    double queued, submitted;           // of a command to a device; 0: not told
    uint64_t records, bytes;            // 0: not told
    uint64_t turn;                      // of a loop, from 1; 0: it is none
    double value;                       // of a turn: what decides about the end of the loop; told where it is finite
} hdst__timeline_span;

// Makes the file, or empties the one that is there: it must be a file, not a pipe. The log must outlive the timeline.
hdst_status hdst__timeline_create(const hdst__allocator *allocator, const hdst__log *log, const char *path, hdst__timeline **timeline, hdst_error *error);
void hdst__timeline_flush(hdst__timeline *timeline);        // writes what there is; NULL is fine
void hdst__timeline_destroy(hdst__timeline *timeline);      // and flushes; NULL is fine

// Names are copied. A process is named before it is used.
void hdst__timeline_name_process(hdst__timeline *timeline, uint32_t process, const char *name);
void hdst__timeline_name_track(hdst__timeline *timeline, uint32_t process, uint32_t track, const char *name);
void hdst__timeline_add(hdst__timeline *timeline, const hdst__timeline_span *span);
void hdst__timeline_flow(hdst__timeline *timeline, const hdst__timeline_place *from, const hdst__timeline_place *to);    // each within a span
void hdst__timeline_count(hdst__timeline *timeline, uint32_t process, const char *name, uint64_t value);                // from now on

// --- Spans of the calling thread. NULL: nothing is recorded, which costs a test ---

double hdst__timeline_begin(const hdst__timeline *timeline);
void hdst__timeline_end(hdst__timeline *timeline, double begin, const char *name, const char *function, uint64_t records);
void hdst__timeline_end_turn(hdst__timeline *timeline, double begin, uint64_t turn, uint64_t records, double value);
void hdst__timeline_name_thread(hdst__timeline *timeline, const char *name);       // the first name stays

#endif
