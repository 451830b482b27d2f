// SPDX-License-Identifier: Apache-2.0
// What all engines of a process share, because the drivers do. It guards the drivers, nothing of hdst; all functions may be called from any thread.
#ifndef HDST_ENGINE_DEVICE_DRIVER_GATE_H
#define HDST_ENGINE_DEVICE_DRIVER_GATE_H

#include <stdbool.h>

// Around the first questions to the drivers: PoCL 3.1 opens its devices then, and a second thread that asks meanwhile is told that there are none, or reads
// half-made ones and crashes.
void hdst__driver_ask_begin(void);
void hdst__driver_ask_end(void);

// Whether the drivers were opened by the process that this one was forked from: their threads are not here, and whoever waits for them waits for
// ever. Then nothing of theirs may be called, and the functions below do nothing.
bool hdst__driver_is_lost(void);

// Around everything that launches kernels and waits for them.
void hdst__driver_run_begin(void);
void hdst__driver_run_end(void);

// Around asking a driver for the binary of a program, inside a run whose own launches have all finished. False: another run is under way, try later; then there
// is no _end. PoCL 3.1 makes a second machine code of the kernel for the binary, and when a launch of the same kernel ends in that moment, of any context, it
// takes that one for its own and aborts ("pocl_release_dlhandle_cache").
bool hdst__driver_save_begin(void);
void hdst__driver_save_end(void);

#endif
