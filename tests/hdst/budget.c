// SPDX-License-Identifier: Apache-2.0
// What the tests of memory budgets share (tests/hdst/budget.h).
#include "tests/hdst/budget.h"

#include "engine/engine_state.h"
#include "plan/object.h"
#include "tests/hdst/random_team.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- The hook ---

static _Atomic size_t taken, peak;

static void note(size_t more)
{
    const size_t now = atomic_fetch_add(&taken, more) + more;
    size_t before = atomic_load(&peak);
    while (before < now && !atomic_compare_exchange_weak(&peak, &before, now)) {}
}

static void *allocate(size_t bytes, void *user)
{
    (void)user;
    size_t *block = malloc(bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    note(bytes);
    return block + 2;
}

static void release(void *pointer, void *user)
{
    (void)user;
    if (!pointer) return;
    size_t *block = (size_t *)pointer - 2;
    atomic_fetch_sub(&taken, *block);
    free(block);
}

static void *reallocate(void *pointer, size_t bytes, void *user)
{
    if (!pointer) return allocate(bytes, user);
    size_t *block = (size_t *)pointer - 2, before = *block;
    block = realloc(block, bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    if (bytes > before) note(bytes - before);
    else atomic_fetch_sub(&taken, before - bytes);
    return block + 2;
}

// --- The second witness ---

static _Atomic bool watching;
static _Atomic size_t rss_peak, own;

void *budget_own_memory(size_t bytes)
{
    atomic_fetch_add(&own, bytes);
    return calloc(bytes, 1);
}

static size_t anonymous_bytes(void)
{
    unsigned long long resident = 0, of_files = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*u %llu %llu", &resident, &of_files) != 2) exit(1);
    fclose(file);
    return (size_t)(resident - of_files) * (size_t)sysconf(_SC_PAGE_SIZE);
}

static void *watch(void *nothing)
{
    while (atomic_load(&watching)) {
        const size_t now = anonymous_bytes();
        if (now > atomic_load(&rss_peak)) atomic_store(&rss_peak, now);
        usleep(500);
    }
    return nothing;
}

// --- One run ---

static char team[100];              // what was drawn

static void ignore_log(hdst_log_level level, const char *message, void *user) { (void)level, (void)message, (void)user; }

static hdst_context *context_with(const char *device, uint64_t budget)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    const bool gpu = !strcmp(device, "gpu-form");
    options.device = gpu ? "cpu" : device;
    options.memory = budget;
    options.log = ignore_log;
    options.allocator = (hdst_allocator){allocate, reallocate, release, NULL};
    if (!strncmp(device, "team", 4)) return random_team(device[4] ? strtoull(device + 5, NULL, 10) : 0, options, team);
    hdst_context *context = hdst_context_create(&options);
    if (context->engine) context->engine->options.gpu_form_on_cpu = gpu;       // no device is open yet
    return context;
}

static budget_cell measure(const budget_job *job, const char *device, uint64_t budget)
{
    budget_cell c = {.budget = budget, .error = HDST_ERROR_INIT};
    atomic_store(&peak, atomic_load(&taken));
    hdst_context *context = context_with(device, budget);
    job->run(job, context, &c);
    hdst_context_destroy(context);
    c.peak = atomic_load(&peak);
    c.left = atomic_load(&taken);
    return c;
}

static uint64_t slack(void) { return (4 << 20) + ((uint64_t)sysconf(_SC_NPROCESSORS_ONLN) << 16); }

// The last of three runs, watched: a driver compiles in the first one, and takes memory for what it compiled in the second one still.
static budget_cell measure_rss(const budget_job *job, const char *device, uint64_t budget)
{
    pthread_t watcher;
    // Or the C library raises it to the largest block that was freed, and keeps twice as much that nobody uses
    mallopt(M_MMAP_THRESHOLD, HDST__BUDGET_LARGE);
    budget_job first = *job;
    if (first.bytes > 2 * budget) first.bytes = 2 * budget;
    budget_job warm = first;
    if (warm.bytes > budget) warm.bytes = budget;
    measure(&warm, device, budget);
    budget_cell c = measure(&first, device, budget);
    if (c.status != HDST_OK) return c;
    malloc_trim(0);
    const size_t before = anonymous_bytes();
    atomic_store(&rss_peak, before);
    atomic_store(&own, 0);
    atomic_store(&watching, true);
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) exit(1);
    c = measure(job, device, budget);
    atomic_store(&watching, false);
    pthread_join(watcher, NULL);
    const size_t grown = atomic_load(&rss_peak) - before, checks = atomic_load(&own);
    c.rss = grown > checks ? grown - checks : 1;
    return c;
}

static bool is_bad(const budget_cell *c)
{
    const uint64_t most = c->budget / 10 * 11 + (2 << 20);
    return c->peak > most || c->rss > most + slack() || c->left || c->wrong[0] || (c->status != HDST_OK && c->status != HDST_E_MEMORY);
}

static void print(const budget_cell *c, const char *device, const budget_job *job)
{
    char rss[40] = "";
    if (c->rss) snprintf(rss, sizeof rss, " (process %.2f MiB)", (double)c->rss / (1 << 20));
    printf("%-9s %-24s %6.0f MiB %9.2f MiB%s  %s%s%s%s\n", device, job->name, (double)c->budget / (1 << 20), (double)c->peak / (1 << 20), rss,
           c->wrong[0] ? c->wrong : c->left ? "memory is lost" : c->status == HDST_OK ? "right" : c->error.message, is_bad(c) ? "   BAD" : "",
           *team ? "  " : "", team);
    if (c->status != HDST_OK) printf("          hint: %s\n", c->error.hint);
    fflush(stdout);
}

enum { LITTLE = 16 << 20 };         // where the least shares of a budget count more than what the job needs

// What the hint names: "... --memory 12M ...". 0: nothing.
static uint64_t named(const hdst_error *error)
{
    const char *at = strstr(error->hint, "--memory ");
    return at ? strtoull(at + strlen("--memory "), NULL, 10) << 20 : 0;
}

bool budget_check(const budget_job *job, const char *device, uint64_t budget, bool rss)
{
    budget_cell c = (rss ? measure_rss : measure)(job, device, budget);
    print(&c, device, job);
    if (is_bad(&c)) return false;
    if (c.status == HDST_OK || strstr(c.error.message, "a buffer may have")) return true;       // the device's own limit: no budget changes it
    if (budget >> 20 >= job->least) return printf("          BAD: what this job needs does not depend on its input\n"), false;
    const uint64_t least = named(&c.error);
    if (least <= budget || least > 128 * (job->bytes + budget)) return printf("          BAD: the error names no budget that would do\n"), false;
    c = measure(job, device, least);
    print(&c, device, job);
    if (c.status != HDST_OK || is_bad(&c)) return printf("          BAD: the budget that the error named does not do\n"), false;
    const unsigned within = job->within ? job->within : 2;
    if (least < LITTLE || measure(job, device, least / within).status == HDST_E_MEMORY) return true;
    printf("          BAD: one %uth of the budget that the error named does\n", within);
    return false;
}

bool budget_have(const char *device)
{
    if (!strncmp(device, "team", 4)) return random_team_have();
    hdst_context *context = context_with(device, 0);
    hdst_device_info info;
    const bool there = hdst_device_chosen(context, &info, NULL) == HDST_OK;
    hdst_context_destroy(context);
    return there;
}
