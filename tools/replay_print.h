// SPDX-License-Identifier: Apache-2.0
// The steps of a record through a function, as a text for people: each source line as it is reached, below it what it set.
#ifndef HDST_TOOLS_REPLAY_PRINT_H
#define HDST_TOOLS_REPLAY_PRINT_H

#include "codegen/interp/interp_trace.h"

enum { HDST_REPLAY_DEPTH = 256, HDST_REPLAY_TURNS = 2 };     // loops inside one another; first turns that are shown, beside the last one

typedef struct hdst_replay_loop {
    uint64_t turn;
    bool waits;                 // turns after the first ones wait in `text` until it is known whether they are the last
    hdst__buffer text;
} hdst_replay_loop;

typedef struct hdst_replay_printer {
    const ir_func *func;
    hdst__buffer *out;
    hdst_replay_loop loops[HDST_REPLAY_DEPTH];
    size_t depth;
    uint32_t source, line;      // printed last; line 0: none
    bool failed;                // the failing check was printed: what follows does not count
} hdst_replay_printer;

void hdst_replay_printer_init(hdst_replay_printer *printer, const ir_func *func, hdst__buffer *out);
void hdst_replay_event(void *printer, const hdst__trace_event *event);      // for hdst__trace
// "[0.5, 1.25, ...]": a leaf of a record that lies at `row`.
void hdst_replay_leaf(const hdst__leaf *leaf, const void *row, hdst__buffer *out);

#endif
