// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says how far a run is, rewritten in place.
#ifndef EXAMPLES_PROGRESS_LINE_H
#define EXAMPLES_PROGRESS_LINE_H

#include "hdst/hdst.h"

#include <stdbool.h>

// Whether standard error is a terminal, so that a line makes sense.
bool progress_line_wanted(void);
// The progress callback of a context; `user` is the program's name.
void progress_line_show(const hdst_progress *progress, void *user);
// Takes the line away, if there is one: before anything else is written to the terminal. From any thread, by one that has locked stderr.
void progress_line_clear(void);

// "kmeans: 123.4 M of 210 M records, 1.2 G/s, H200 98 %, CPU 2 %, 0:04 left", cut at `size` bytes with the zero that ends it.
// In a loop ", turn 3 of 100: moved 0.0123, 0.0456 s each" stands behind it.
void progress_line_text(char *text, size_t size, const char *program, const hdst_progress *progress);

#endif
