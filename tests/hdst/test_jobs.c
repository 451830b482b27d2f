// SPDX-License-Identifier: Apache-2.0
// Runs on threads of their own: waiting with and without a deadline, cancelling one of several, ends in every order. A source that waits at a gate makes
// each order certain; no time is measured.
#include "tests/hdst/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { RECORDS = 1000 };

typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool open, reached;
} gate;

#define GATE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false}

static void open_gate(gate *g)
{
    pthread_mutex_lock(&g->mutex);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

static void await_reader(gate *g)
{
    pthread_mutex_lock(&g->mutex);
    while (!g->reached) pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static bool give(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    gate *g = user;
    (void)message;
    pthread_mutex_lock(&g->mutex);
    g->reached = true;
    pthread_cond_broadcast(&g->changed);
    while (!g->open) pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    for (uint64_t i = 0; i < count; i++) ((uint64_t *)records)[i] = first + i;
    return true;
}

static hdst_result *sum_behind(hdst_context *context, gate *g)
{
    hdst_module *m = module_of(context, "struct item { uint64_t v; };\nmap add(item i, accum item s) { s.v += i.v; }\n");
    hdst_dataset *items = hdst_read(hdst_source_from_callback(context, RECORDS, give, g), m, "item");
    return hdst_result_create(hdst_map_function(items, m, "add"));
}

static uint64_t sum_of(hdst_result *r) { return (uint64_t)hdst_view_int64(hdst_result_field(r, "s", "v"), 0, 0); }

static hdst_status wait_long(hdst_job *job, hdst_error *error)
{
    bool ended = false;
    hdst_status status = hdst_job_wait(job, -1, &ended, error);
    cr_assert(ended);
    return status;
}

Test(jobs, a_job_goes_on_until_its_source_does)
{
    static gate g = GATE;
    hdst_context *context = context_on("interp");
    hdst_result *r = sum_behind(context, &g);
    hdst_job *job = hdst_run_async(r);
    hdst_error error;
    bool ended = true;
    await_reader(&g);
    cr_assert_eq(hdst_job_wait(job, 0, &ended, &error), HDST_OK);
    cr_assert_not(ended, "its source has given nothing yet");
    ended = true;
    cr_assert_eq(hdst_job_wait(job, 0.01, &ended, &error), HDST_OK, "a deadline that passes is no error");
    cr_assert_not(ended);
    open_gate(&g);
    cr_assert_eq(wait_long(job, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(sum_of(r), (uint64_t)RECORDS * (RECORDS - 1) / 2);
    cr_assert_eq(hdst_job_wait(job, 0, &ended, NULL), HDST_OK, "it may be asked again");
    cr_assert(ended);
    hdst_job_cancel(job);                       // too late, for it and for what comes after it
    RUN(r);
    hdst_job_destroy(job);
    hdst_context_destroy(context);
}

Test(jobs, one_of_two_is_cancelled_before_its_turn)
{
    static gate first = GATE, second = GATE;
    hdst_context *context = context_on("interp");
    hdst_result *a = sum_behind(context, &first), *b = sum_behind(context, &second);
    hdst_job *one = hdst_run_async(a);
    hdst_error error;
    await_reader(&first);
    // Making the second job needs the context, which the first one has: another thread would wait as long.
    open_gate(&first);
    hdst_job *two = hdst_run_async(b);
    hdst_job_cancel(two);
    open_gate(&second);
    const hdst_status status = wait_long(two, &error);
    cr_assert_eq(status, HDST_E_CANCELLED, "%s", error.message);
    cr_assert_eq(wait_long(two, &error), HDST_E_CANCELLED, "the status stays");
    cr_assert_eq(wait_long(one, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(sum_of(a), (uint64_t)RECORDS * (RECORDS - 1) / 2);
    hdst_job_destroy(one);
    hdst_job_destroy(two);
    hdst_context_destroy(context);
}

Test(jobs, one_that_runs_is_cancelled)
{
    static gate g = GATE;
    hdst_context *context = context_on("interp");
    hdst_result *r = sum_behind(context, &g);
    hdst_job *job = hdst_run_async(r);
    hdst_error error;
    await_reader(&g);
    hdst_job_cancel(job);
    open_gate(&g);
    cr_assert_eq(wait_long(job, &error), HDST_E_CANCELLED, "%s", error.message);
    RUN(r);                                     // the cancel was the job's alone
    cr_assert_eq(sum_of(r), (uint64_t)RECORDS * (RECORDS - 1) / 2);
    hdst_job_destroy(job);
    hdst_context_destroy(context);
}

static void *open_later(void *user)
{
    usleep(20000);
    open_gate(user);
    return NULL;
}

// Of a job that nobody waits for, and of its context.
Test(jobs, ends_wait_for_what_runs)
{
    for (int whole = 0; whole < 2; whole++) {
        gate g = GATE;
        pthread_t thread;
        hdst_context *context = context_on("interp");
        hdst_job *job = hdst_run_async(sum_behind(context, &g));
        await_reader(&g);
        cr_assert_eq(pthread_create(&thread, NULL, open_later, &g), 0);
        if (!whole) hdst_job_destroy(job);
        hdst_context_destroy(context);
        pthread_join(thread, NULL);
    }
}

Test(jobs, what_is_wrong_is_the_job_s_status)
{
    hdst_context *context = context_on("interp");
    hdst_module *m = module_of(context, "struct item { uint64_t v; };\n");
    hdst_error error;
    bool ended = false;
    hdst_job *none = hdst_run_async(NULL);
    cr_assert_not_null(none);
    cr_assert_eq(hdst_job_wait(none, 0, &ended, &error), HDST_E_USAGE);
    cr_assert(ended);
    hdst_job_cancel(none);
    hdst_job_destroy(none);
    hdst_job *bad = hdst_run_async(hdst_result_create(hdst_read(hdst_source_open(context, "/nowhere/x.npy"), m, "item")));
    cr_assert_eq(wait_long(bad, &error), HDST_E_IO, "%s", error.message);
    cr_assert(strstr(error.message, "x.npy"), "%s", error.message);
    hdst_job_destroy(bad);
    cr_assert_eq(hdst_job_wait(NULL, 0, NULL, &error), HDST_E_USAGE);
    hdst_job_cancel(NULL);
    hdst_job_destroy(NULL);
    hdst_context_destroy(context);
}

// Jobs of several contexts side by side: each source waits until the other's was asked.
Test(jobs, contexts_do_not_wait_for_each_other)
{
    static gate g[2] = {GATE, GATE};
    hdst_context *context[2];
    hdst_job *job[2];
    hdst_error error;
    for (int i = 0; i < 2; i++) {
        context[i] = context_on("interp");
        job[i] = hdst_run_async(sum_behind(context[i], &g[i]));
    }
    for (int i = 0; i < 2; i++) await_reader(&g[i]);
    for (int i = 0; i < 2; i++) open_gate(&g[i]);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(wait_long(job[i], &error), HDST_OK, "%s", error.message);
        hdst_job_destroy(job[i]);
        hdst_context_destroy(context[i]);
    }
}
