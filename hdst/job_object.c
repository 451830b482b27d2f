// SPDX-License-Identifier: Apache-2.0
// Jobs: runs on threads of their own, to be waited for with a deadline and cancelled one by one.
#include "hdst/result.h"

#include "base/thread_signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

struct hdst_job {
    hdst__object object;
    hdst_result *result;        // retained
    hdst_job *next;             // of the context's
    pthread_t thread;
    pid_t process;              // that the thread is in: not that of a child that was forked
    bool has_thread;
    atomic_bool cancelled;
    _Atomic uint64_t call;      // its own, by base/cancel.h; 0: its turn has not come, or is over
    pthread_mutex_t mutex;      // guards what follows
    pthread_cond_t changed;
    bool ended;
    hdst_error error;           // of the run; its code is the status
};

HDST__STAND_IN(hdst_job, no_job);

// --- The thread ---

static void end(hdst_job *job, const hdst_error *error)
{
    pthread_mutex_lock(&job->mutex);
    job->error = *error;
    job->ended = true;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->mutex);
}

// A cancel that came before the number of the call was known is seen here, one that comes later ends the call.
static hdst_status run(hdst_job *job, hdst_error *error)
{
    hdst_context *context = job->object.context;
    atomic_store(&job->call, hdst__cancel_call(&context->cancel));
    hdst_status status = atomic_load(&job->cancelled) ? hdst__cancel_error(0, 0, error) : hdst__result_run(job->result, error);
    hdst__explain_memory(context, error);
    atomic_store(&job->call, 0);
    return status;
}

static void *serve(void *user)
{
    hdst_job *job = user;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(job->object.context);
    error.code = run(job, &error);
    hdst__unlock(job->object.context);
    end(job, &error);
    return NULL;
}

// --- Making ---

static void release_job(hdst__object *object)
{
    hdst_job *job = (hdst_job *)object;
    if (job->result) hdst__object_drop((hdst__object *)job->result);
    pthread_cond_destroy(&job->changed);
    pthread_mutex_destroy(&job->mutex);
}

static hdst_job *create(hdst_result *result)
{
    hdst_context *context = result->object.context;
    hdst_job *job = hdst__object_create(context, sizeof *job, release_job, &no_job);
    if (job == &no_job) return job;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&job->mutex, NULL);
    job->result = result;
    hdst__object_retain(&result->object);
    job->next = context->jobs;
    context->jobs = job;
    return job;
}

hdst_job *hdst_run_async(hdst_result *result)
{
    HDST__NEEDS(hdst_job, result, "result");
    hdst_context *context = result->object.context;
    hdst__lock(context);
    hdst_job *job = create(result);
    hdst__unlock(context);
    if (job == &no_job) return job;
    hdst_error error = HDST_ERROR_INIT;
    error.code = hdst__object_status(&job->object, &error);
    if (error.code == HDST_OK) {
        job->process = getpid();
        sigset_t before;
        hdst__thread_signals_block(&before);
        job->has_thread = pthread_create(&job->thread, NULL, serve, job) == 0;
        hdst__thread_signals_restore(&before);
        if (!job->has_thread) hdst__error_set(&error, HDST_E_MEMORY, "no thread can be made for a run");
    }
    if (!job->has_thread) end(job, &error);
    return job;
}

// --- Waiting ---

static struct timespec deadline(double seconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    if (seconds > 1e9) seconds = 1e9;
    at.tv_sec += (time_t)seconds;
    at.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    return at;
}

hdst_status hdst_job_wait(hdst_job *job, double seconds, bool *ended, hdst_error *error)
{
    if (ended) *ended = true;
    hdst_error ignored;
    if (!error) error = &ignored;
    *error = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__check_alive(__func__, "job", job, error);
    if (!job || !job->object.context) return status;
    const struct timespec until = deadline(seconds > 0 ? seconds : 0);
    pthread_mutex_lock(&job->mutex);
    for (int late = 0; !job->ended && late != ETIMEDOUT;)
        late = seconds < 0 ? pthread_cond_wait(&job->changed, &job->mutex) : pthread_cond_timedwait(&job->changed, &job->mutex, &until);
    if (ended) *ended = job->ended;
    status = job->ended ? job->error.code : HDST_OK;
    if (job->ended) *error = job->error;
    pthread_mutex_unlock(&job->mutex);
    return status;
}

void hdst_job_cancel(hdst_job *job)
{
    if (!job || !job->object.context) return;
    atomic_store(&job->cancelled, true);
    const uint64_t call = atomic_load(&job->call);
    if (call) hdst__cancel_ask_call(&job->object.context->cancel, call);
}

// --- Ending ---

static void finish(hdst_job *job)
{
    if (!job->has_thread || job->process != getpid()) return;
    hdst_job_cancel(job);
    pthread_join(job->thread, NULL);
    job->has_thread = false;
}

void hdst__jobs_end(hdst_context *context)
{
    for (hdst_job *job = context->jobs; job; job = job->next) finish(job);
    context->jobs = NULL;
}

void hdst_job_destroy(hdst_job *job)
{
    if (!job || !job->object.context) return;
    hdst_context *context = job->object.context;
    finish(job);
    hdst__lock(context);
    hdst_job **at = &context->jobs;
    while (*at && *at != job) at = &(*at)->next;
    if (*at) *at = job->next;
    hdst__unlock(context);
    hdst__object_destroy(&job->object);
}
