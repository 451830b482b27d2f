// SPDX-License-Identifier: Apache-2.0
// The progress callback: by which thread it is called, how often, and that its figures agree with each other and with the run's.
#include "tests/hdst/support.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { RECORDS = 4 << 20, MOST = 1000 };

static const char text[] =
    "struct row { uint32_t k; uint32_t v; };\n"
    "struct total { uint64_t v; };\n"
    "map gather(row r, accum total t) { t.v += (uint64_t)r.v; }\n"
    "filter odd(row r) { return (r.v & 1u) == 1u; }\n"
    "reduce left(row a, row b) { return (row){ .k = a.k * 31u + b.k, .v = a.v ^ b.v }; }\n";

typedef struct seen {
    hdst_context *context;
    pthread_t caller;
    bool cancels;
    uint32_t calls;
    hdst_progress progress[MOST];
    char function[MOST][32];
} seen;

static void note(const hdst_progress *progress, void *user)
{
    seen *s = user;
    cr_assert(pthread_equal(s->caller, pthread_self()), "another thread than the one that called");
    if (s->cancels) hdst_context_cancel(s->context);
    if (s->calls == MOST) return;
    snprintf(s->function[s->calls], sizeof s->function[0], "%s", progress->function);
    s->progress[s->calls++] = *progress;
}

// Slowly, so that a run takes longer than the time between two calls.
static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    uint32_t *row = records;
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) row[2 * i] = row[2 * i + 1] = (uint32_t)(first + i);
    nanosleep(&(struct timespec){.tv_nsec = (long)count * 200}, NULL);
    return true;
}

static hdst_context *open_context(seen *s, const char *device)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.cpu_parts = 2;
    options.memory = 24 << 20;          // several segments
    options.progress = note;
    options.progress_user = s;
    *s = (seen){.caller = pthread_self(), .context = hdst_context_create(&options)};
    cr_assert_eq(hdst_context_status(s->context, NULL), HDST_OK);
    hdst__engine_limits(s->context->engine)->share_bytes = 0;
    return s->context;
}

static hdst_status run_gather(seen *s, uint64_t *sum, hdst_error *error)
{
    hdst_module *module = module_of(s->context, text);
    hdst_dataset *data = hdst_read(hdst_source_from_callback(s->context, RECORDS, fill, NULL), module, "row");
    hdst_result *result = hdst_result_create(hdst_map_function(data, module, "gather"));
    const hdst_status status = hdst_run(result, error);
    const uint64_t *total = status == HDST_OK ? hdst_result_rows(result, "t", NULL) : NULL;
    *sum = total ? *total : 0;
    return status;
}

static void check_figures(const seen *s, const char *function)
{
    cr_assert_geq(s->calls, 2);
    for (uint32_t i = 0; i < s->calls; i++) {
        const hdst_progress *p = &s->progress[i];
        uint64_t records = 0;
        for (uint32_t d = 0; d < p->device_count; d++) records += p->device[d].records;
        cr_expect_eq(records, p->records, "devices have done %llu of %llu", (unsigned long long)records, (unsigned long long)p->records);
        cr_expect_eq(p->of, RECORDS);
        cr_expect_leq(p->records, RECORDS);
        cr_expect_gt(p->seconds, 0);
        cr_expect_str_eq(s->function[i], function);
        if (i == 0) continue;
        cr_expect_geq(p->records, s->progress[i - 1].records);
        // By its own clock: on a busy machine a call can come any time after it was due.
        cr_expect_geq(p->seconds - s->progress[i - 1].seconds, 0.0999, "more often than ten times a second");
    }
    cr_expect_gt(s->progress[s->calls - 1].records, 0);
}

static seen s;

Test(progress, one_device_tells_by_the_thread_that_called)
{
    uint64_t sum;
    hdst_error error = HDST_ERROR_INIT;
    open_context(&s, "interp");
    cr_assert_eq(run_gather(&s, &sum, &error), HDST_OK, "%s", error.message);
    cr_expect_eq(sum, (uint64_t)RECORDS * (RECORDS - 1) / 2);
    check_figures(&s, "gather");
    cr_expect_eq(s.progress[0].device_count, 1);
    cr_expect_eq(s.progress[0].device[0].device_class, HDST_DEVICE_INTERP);
    cr_expect_str_eq(s.progress[0].device[0].name, "interpreter");
    hdst_context_destroy(s.context);
}

Test(progress, several_devices_tell_by_the_thread_that_called)
{
    uint64_t sum;
    uint32_t count = 0;
    hdst_error error = HDST_ERROR_INIT;
    open_context(&s, "0,1");
    if (hdst_device_count(s.context, &count, NULL) != HDST_OK || count < 3) {
        cr_log_warn("no OpenCL CPU device that can be halved: skipped");
        hdst_context_destroy(s.context);
        return;
    }
    cr_assert_eq(run_gather(&s, &sum, &error), HDST_OK, "%s", error.message);
    cr_expect_eq(sum, (uint64_t)RECORDS * (RECORDS - 1) / 2);
    check_figures(&s, "gather");
    cr_expect_eq(s.progress[s.calls - 1].device_count, 2);
    cr_expect_eq(s.progress[s.calls - 1].device[0].device_class, HDST_DEVICE_CPU);
    hdst_context_destroy(s.context);
}

Test(progress, a_reduce_in_order_tells)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_context(&s, "interp");
    hdst_module *module = module_of(context, text);
    hdst_dataset *data = hdst_read(hdst_source_from_callback(context, RECORDS, fill, NULL), module, "row");
    cr_assert_eq(hdst_run(hdst_result_create(hdst_reduce(data, module, "left")), &error), HDST_OK, "%s", error.message);
    check_figures(&s, "left");
    hdst_context_destroy(context);
}

Test(progress, it_may_cancel)
{
    uint64_t sum;
    hdst_error error = HDST_ERROR_INIT;
    open_context(&s, "interp");
    s.cancels = true;
    cr_assert_eq(run_gather(&s, &sum, &error), HDST_E_CANCELLED);
    cr_expect_eq(s.calls, 1, "told again after a cancel");
    s.cancels = false;
    s.calls = 0;
    cr_assert_eq(run_gather(&s, &sum, &error), HDST_OK, "%s", error.message);
    cr_expect_eq(sum, (uint64_t)RECORDS * (RECORDS - 1) / 2, "a call that is cancelled concerns no other");
    check_figures(&s, "gather");
    hdst_context_destroy(s.context);
}

// Of how many is not known where a run ends early.
Test(progress, where_a_run_ends_early_the_end_is_not_known)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_context(&s, "interp");
    hdst_module *module = module_of(context, text);
    hdst_dataset *data = hdst_read(hdst_source_from_callback(context, RECORDS, fill, NULL), module, "row");
    enum { TAKEN = RECORDS / 3 };
    uint64_t taken = 0;
    uint32_t (*rows)[2] = malloc(TAKEN * sizeof *rows);
    cr_assert_not_null(rows);
    cr_assert_eq(hdst_take(hdst_filter_function(data, module, "odd"), TAKEN, rows, &taken, &error), HDST_OK, "%s", error.message);
    cr_expect_eq(taken, TAKEN);
    cr_expect_eq(rows[TAKEN - 1][0], 2 * (TAKEN - 1) + 1);
    cr_expect_gt(s.calls, 0);
    for (uint32_t i = 0; i < s.calls; i++) cr_expect_eq(s.progress[i].of, 0);
    free(rows);
    hdst_context_destroy(context);
}

// What a scan belongs to: the turn of its loop, what ended the turn before, how long turns were; nothing of it behind the loop.
Test(progress, turns_of_a_loop_are_told)
{
    enum { TURNS = 3, EACH = RECORDS / 4 };
    const uint64_t start = 5;
    hdst_error error = HDST_ERROR_INIT;
    hdst_context *context = open_context(&s, "interp");
    hdst_module *module = module_of(context, text);
    hdst_dataset *data = hdst_read(hdst_source_from_callback(context, EACH, fill, NULL), module, "row");
    hdst_value *state = hdst_value_create(module, "total", 1);
    const hdst_loop_step step = {.dataset = hdst_map_function(data, module, "gather"), .table = "t", .value = state};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = TURNS, options.until = "t", options.quiet = 1;
    hdst_dataset *loop = hdst_loop(hdst_read(hdst_source_from_memory(context, &start, 1, sizeof start), module, "total"), state, &step, 1, &options);
    cr_assert_eq(hdst_run(hdst_result_create(loop), &error), HDST_OK, "%s", error.message);
    cr_assert_geq(s.calls, TURNS);       // each takes longer than twice the time between two calls
    for (uint32_t i = 0; i < s.calls; i++) {
        const hdst_progress *p = &s.progress[i];
        cr_assert(p->turn >= 1 && p->turn <= TURNS && p->turns == TURNS, "turn %llu of %llu", (unsigned long long)p->turn, (unsigned long long)p->turns);
        cr_expect(i == 0 || p->turn >= s.progress[i - 1].turn);
        cr_expect(p->until && !strcmp(p->until, "t"));
        if (p->turn == 1) cr_expect(isnan(p->turn_value) && p->turn_seconds == 0);
        else cr_expect(p->turn_value == (double)EACH * (EACH - 1) / 2 && p->turn_seconds > EACH * 200e-9);
    }
    cr_expect_eq(s.progress[s.calls - 1].turn, TURNS);
    s.calls = 0;
    cr_assert_eq(hdst_run(hdst_result_create(hdst_map_function(data, module, "gather")), &error), HDST_OK, "%s", error.message);
    cr_assert_gt(s.calls, 0);
    cr_expect(s.progress[0].turn == 0 && s.progress[0].turns == 0 && !s.progress[0].until);
    hdst_context_destroy(context);
}
