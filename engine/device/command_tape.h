// SPDX-License-Identifier: Apache-2.0
// What a turn of a loop asks of a device, noted while it is done: kernels with their arguments, copies within the device, fills, small copies to and from the
// host. A turn that would ask the same again is then enqueued from the tape, without the work of finding out what to ask.
//
// When that is so: the host decides by what it reads from the device, and by nothing else. So the commands of a turn are those of the tape as long as every
// read gives the bytes that it gave when it was noted. Those that decide about the end of a loop are marked, and may be others in each turn.
//
// All functions are called with the engine's mutex held.
#ifndef HDST_ENGINE_DEVICE_COMMAND_TAPE_H
#define HDST_ENGINE_DEVICE_COMMAND_TAPE_H

#include "engine/device/device.h"

typedef struct hdst__tape hdst__tape;

// A repetition may begin before the one before it was looked at, and a third one not: where one writes, another may read.
enum { HDST__TAPE_RING = 3 };

// Rows that a turn makes anew: what it finds in memory k it leaves in memory k + 1, and the last one's in the first. The first one is the memory that
// was noted.
typedef struct hdst__tape_rows {
    hdst__memory *ring[HDST__TAPE_RING];
} hdst__tape_rows;

hdst__tape *hdst__tape_create(hdst__device *device);        // empty; NULL: out of memory
void hdst__tape_destroy(hdst__tape *tape);                  // NULL is fine. No command of it may be in flight
// Forgets what it has and notes what the device is asked for from now on, which is done as ever; until the end. One tape of a device at a time.
void hdst__tape_begin(hdst__tape *tape);
void hdst__tape_end(hdst__tape *tape);
// It cannot be repeated: `why`, a text that stays, follows "because". The first reason counts; NULL: there is none.
void hdst__tape_refuse(hdst__tape *tape, const char *why);
const char *hdst__tape_refusal(const hdst__tape *tape);
// Reads that are noted meanwhile decide.
void hdst__tape_decide(hdst__tape *tape, bool decides);
// Whether both ask for the same, and were answered the same. Two turns one after another whose tapes are alike, and end where they begin, go on so.
bool hdst__tape_alike(const hdst__tape *a, const hdst__tape *b);

// Before it is repeated: `count` rows that turns make anew. False: there was no memory.
bool hdst__tape_prepare(hdst__tape *tape, const hdst__tape_rows *rows, size_t count);
uint64_t hdst__tape_word_bytes(const hdst__tape *tape);     // that a repetition reads
// Enqueues repetition number `turn` since it was prepared. `words`: memory for what it reads, until they were looked at; `decides` false: reads that
// decide are left out.
hdst_status hdst__tape_repeat(const hdst__tape *tape, uint64_t turn, bool decides, char *words, hdst_error *error);
// Of such words, once they are there: whether they are those that were noted; and what decides (NULL: the tape has nothing that does).
bool hdst__tape_is_answered_alike(const hdst__tape *tape, const char *words);
const void *hdst__tape_decision(const hdst__tape *tape, const char *words);

#endif
