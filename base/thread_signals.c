// SPDX-License-Identifier: Apache-2.0
// Signals that the library's own threads do not take (base/thread_signals.h).
#include "base/thread_signals.h"

#include <pthread.h>
#include <stddef.h>

void hdst__thread_signals_block(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void hdst__thread_signals_restore(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }
