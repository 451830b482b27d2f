// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM end a run cleanly: a flag for the program's own loops, and the library is told.
#ifndef EXAMPLES_SIGNALS_H
#define EXAMPLES_SIGNALS_H

#include "hdst/hdst.h"

#include <signal.h>

// Becomes 1 at the first SIGINT or SIGTERM; a second one ends the process at once.
extern volatile sig_atomic_t signals_stop;

// From now on the signals also cancel what `context` runs, again each second (SIGALRM), for one between two runs cancels nothing. NULL: no longer (before
// the context is destroyed).
void signals_watch(hdst_context *context);

#endif
