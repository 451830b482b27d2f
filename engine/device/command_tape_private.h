// SPDX-License-Identifier: Apache-2.0
// Tapes of commands from within: command_tape.c notes them, tape_repeat.c repeats them.
#ifndef HDST_ENGINE_DEVICE_COMMAND_TAPE_PRIVATE_H
#define HDST_ENGINE_DEVICE_COMMAND_TAPE_PRIVATE_H

#include "engine/device/command_tape.h"

typedef enum hdst__command_kind {
    HDST__COMMAND_LAUNCH, HDST__COMMAND_FINISH, HDST__COMMAND_WORK, HDST__COMMAND_COPY, HDST__COMMAND_FILL, HDST__COMMAND_WRITE, HDST__COMMAND_READ
} hdst__command_kind;

typedef struct hdst__command {
    hdst__command_kind kind;
    bool decides, answered;         // a read: see above; `data` is what it gave
    const char *function;           // of the stage, for the timeline
    hdst__program *program;
    hdst__launch launch;
    hdst__work_arg *args;           // of the engine's own kernels
    size_t arg_count;
    uint64_t groups;
    uint32_t local;
    const hdst__memory *to, *from;
    uint64_t to_offset, from_offset, bytes, pattern;        // fill: words
    void *data;                     // what is written, or was read
    const void *host;               // where it is read to, and before which mark: until it is answered
    const hdst__ticket *ticket;
    uint64_t place;                 // of a read, in the words of a repetition
} hdst__command;

typedef struct hdst__tape_part {               // of a memory, the place of a kernel's output; the tape's once its user gives it back
    struct hdst__tape_part *next;
    hdst__memory memory;
    const hdst__memory *of;
    uint64_t offset, bytes;
    bool held;
} hdst__tape_part;

typedef struct hdst__tape_block {
    struct hdst__tape_block *next;
    max_align_t data[];
} hdst__tape_block;

struct hdst__tape {
    hdst__device *device;
    const hdst__device_ops *real;   // what the device does, while it notes
    hdst__device_ops noting;        // the same, noted
    hdst__tape *before;             // of a loop around this one, which misses what is noted here
    const char *why;                // it cannot be repeated; NULL: it can
    bool decides;
    hdst__command *command[HDST__TAPE_RING];      // [0]: as noted; each of them with the rows where they are in its turns
    size_t count, capacity;
    uint64_t word_bytes;
    hdst__tape_part *parts;
    hdst__tape_block *blocks;                  // memory of arrays and data
};

void *hdst__tape_take(hdst__tape *tape, size_t bytes);                              // zeroed, the tape's; NULL: out of memory, and it refuses
void *hdst__tape_keep(hdst__tape *tape, const void *from, size_t bytes);            // a copy that is the tape's; NULL also of nothing
hdst__tape_part *hdst__tape_part_of(const hdst__tape *tape, const hdst__memory *memory);     // NULL: it is no part

#endif
