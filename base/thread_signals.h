// SPDX-License-Identifier: Apache-2.0
// Signals and the library's own threads: the program's signals are for its own threads, but for those that an instruction of a thread itself raises; blocked
// they would end the process, whatever handler it has for them.
#ifndef HDST_BASE_THREAD_SIGNALS_H
#define HDST_BASE_THREAD_SIGNALS_H

#include <signal.h>

// Around the making of threads, which inherit what is blocked.
void hdst__thread_signals_block(sigset_t *before);
void hdst__thread_signals_restore(const sigset_t *before);

#endif
