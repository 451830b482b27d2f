// SPDX-License-Identifier: Apache-2.0
// Workers: devices in use, each with a thread that waits for work (engine/worker.h).
#include "engine/worker.h"

#include "base/thread_signals.h"
#include "engine/device/give_up.h"
#include "engine/memory/line_spans.h"

void hdst__worker_init(hdst__device_worker *worker, const hdst__device_info *info)
{
    worker->info = info;
    pthread_mutex_init(&worker->mutex, NULL);
    hdst__pieces_init(&worker->changed);
}

static void end_thread(hdst__device_worker *worker)
{
    if (!worker->has_thread) return;
    pthread_mutex_lock(&worker->mutex);
    worker->ends = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    worker->has_thread = false;
}

void hdst__worker_destroy(hdst__device_worker *worker)
{
    end_thread(worker);
    if (worker->device) {
        hdst__ring_destroy(&worker->ring, worker->device);
        hdst__line_spans_destroy(worker->device->line_spans, worker->device);
        worker->device->ops->destroy(worker->device);
    }
    if (worker->has_cache) hdst__program_cache_destroy(&worker->cache);
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->mutex);
}

static void *serve(void *user)
{
    hdst__device_worker *worker = user;
    pthread_mutex_lock(&worker->mutex);
    while (!worker->ends) {
        if (!worker->work) {
            pthread_cond_wait(&worker->changed, &worker->mutex);
            continue;
        }
        void (*const work)(void *) = worker->work;
        pthread_mutex_unlock(&worker->mutex);
        work(worker->user);
        pthread_mutex_lock(&worker->mutex);
        worker->work = NULL;
        pthread_cond_broadcast(&worker->changed);
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

static bool make_thread(hdst__device_worker *worker)
{
    sigset_t before;
    hdst__thread_signals_block(&before);
    worker->has_thread = pthread_create(&worker->thread, NULL, serve, worker) == 0;
    hdst__thread_signals_restore(&before);
    return worker->has_thread;
}

bool hdst__worker_start(hdst__device_worker *worker, void (*work)(void *user), void *user)
{
    if (!worker->has_thread && !make_thread(worker)) return false;
    pthread_mutex_lock(&worker->mutex);
    worker->user = user;
    worker->work = work;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
    return true;
}

// Whether the call has returned, after a wait of some milliseconds at most.
static bool ends_soon(hdst__device_worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    if (worker->work) hdst__pieces_wait(&worker->changed, &worker->mutex);
    const bool ended = !worker->work;
    pthread_mutex_unlock(&worker->mutex);
    return ended;
}

void hdst__worker_wait(hdst__device_worker *worker)
{
    hdst__progress *progress = worker->device->runtime->progress;
    while (progress && !ends_soon(worker)) hdst__progress_look(progress);
    pthread_mutex_lock(&worker->mutex);
    while (worker->work) pthread_cond_wait(&worker->changed, &worker->mutex);
    pthread_mutex_unlock(&worker->mutex);
}
