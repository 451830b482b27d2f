// SPDX-License-Identifier: Apache-2.0
// A signal handler gets no argument of ours: the flag and the context must be at file scope.
#include "signals.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

volatile sig_atomic_t signals_stop;
static _Atomic(hdst_context *) watched;     // lock-free, so the handler may read it

// A signal between two calls of the library hits neither; the next one may take hours. So it is told again and again.
static void cancel(int number)
{
    (void)number;
    hdst_context_cancel(atomic_load(&watched));
    alarm(1);
}

static void stop(int number)
{
    signals_stop = 1;
    cancel(number);
}

void signals_watch(hdst_context *context)
{
    atomic_store(&watched, context);
    if (!context) alarm(0);
    struct sigaction again = {.sa_handler = cancel};
    sigemptyset(&again.sa_mask);
    if (context) sigaction(SIGALRM, &again, NULL);
    struct sigaction action = {.sa_handler = context ? stop : SIG_DFL, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    // A shell that starts a job in the background lets it ignore SIGINT; that stays so.
    const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
    }
}
