// SPDX-License-Identifier: Apache-2.0
// What all engines of a process share, because the drivers do (engine/device/driver_gate.h).
#include "engine/device/driver_gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t ask_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t run_lock = PTHREAD_MUTEX_INITIALIZER;     // guards `running`; held while a binary is asked for, so that no run begins
static unsigned running;
static _Atomic long opener;     // the process that asked the drivers first; 0: none did

void hdst__driver_ask_begin(void)
{
    long none = 0;
    pthread_mutex_lock(&ask_lock);
    atomic_compare_exchange_strong(&opener, &none, (long)getpid());
}

bool hdst__driver_is_lost(void)
{
    const long process = atomic_load(&opener);
    return process != 0 && process != (long)getpid();
}

void hdst__driver_ask_end(void) { pthread_mutex_unlock(&ask_lock); }

static void count(int change)
{
    if (hdst__driver_is_lost()) return;         // the lock may have been held when the process was forked
    pthread_mutex_lock(&run_lock);
    running += (unsigned)change;
    pthread_mutex_unlock(&run_lock);
}

void hdst__driver_run_begin(void) { count(1); }
void hdst__driver_run_end(void) { count(-1); }

bool hdst__driver_save_begin(void)
{
    pthread_mutex_lock(&run_lock);
    if (running == 1) return true;
    pthread_mutex_unlock(&run_lock);
    return false;
}

void hdst__driver_save_end(void) { pthread_mutex_unlock(&run_lock); }
