// SPDX-License-Identifier: Apache-2.0
// How far the scan in progress is, told to the program now and then (base/progress.h).
#include "base/progress.h"

#include "base/clock.h"

#include <stdbool.h>

static const double least_seconds = 0.1;        // between two times that it is told

void hdst__progress_init(hdst__progress *progress, void (*tell)(const hdst__progress_state *state, void *user), void *user)
{
    *progress = (hdst__progress){.tell = tell, .user = user, .caller = pthread_self(), .told = hdst__now()};
    pthread_mutex_init(&progress->lock, NULL);
}

void hdst__progress_destroy(hdst__progress *progress) { pthread_mutex_destroy(&progress->lock); }

void hdst__progress_begin(hdst__progress *progress, const char *function, uint64_t of)
{
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    progress->caller = pthread_self();
    progress->began = hdst__now();
    progress->state = (hdst__progress_state){.function = function, .of = of, .turn = progress->turn};
    pthread_mutex_unlock(&progress->lock);
}

static hdst__progress_worker *find(hdst__progress_state *state, const void *worker)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->worker[i].worker == worker) return &state->worker[i];
    if (state->count == HDST__PROGRESS_WORKERS) return NULL;
    state->worker[state->count].worker = worker;
    return &state->worker[state->count++];
}

// A fold goes on with what its records came to, which is more than its input has.
void hdst__progress_add(hdst__progress *progress, const void *worker, uint64_t records)
{
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    hdst__progress_state *state = &progress->state;
    if (state->of && records > state->of - state->records) records = state->of - state->records;
    hdst__progress_worker *of = find(state, worker);
    state->records += records;
    if (of) of->records += records;
    pthread_mutex_unlock(&progress->lock);
}

void hdst__progress_look(hdst__progress *progress)
{
    if (!progress) return;
    const double now = hdst__now();
    hdst__progress_state state;
    pthread_mutex_lock(&progress->lock);
    const bool tells = progress->state.function && pthread_equal(progress->caller, pthread_self()) && now - progress->told >= least_seconds;
    if (tells) {
        progress->told = now;
        state = progress->state;
        state.seconds = now - progress->began;
    }
    pthread_mutex_unlock(&progress->lock);
    if (tells) progress->tell(&state, progress->user);
}

void hdst__progress_end(hdst__progress *progress)
{
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    progress->state.function = NULL;
    pthread_mutex_unlock(&progress->lock);
}

hdst__progress_turn hdst__progress_set_turn(hdst__progress *progress, hdst__progress_turn turn)
{
    if (!progress) return (hdst__progress_turn){0};
    pthread_mutex_lock(&progress->lock);
    const hdst__progress_turn before = progress->turn;
    progress->turn = turn;
    pthread_mutex_unlock(&progress->lock);
    return before;
}
