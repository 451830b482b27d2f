// SPDX-License-Identifier: Apache-2.0
// Policies for several workers with a thread for each, as a plain program, because Criterion does not start under the thread sanitizer: every record is done
// once, by plain writes to memory that nobody else may touch; workers stop, fail and lose what they did meanwhile. Exits with 1 and says why when one is
// left out or comes twice.
#include "partition/policy.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 12, UNIT = 64, RECORDS = 200000, JOBS = 60, RESIDENT = 10000 };

typedef struct job {
    const hdst__policy *policy;
    hdst__schedule *schedule;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool patient;                       // who has nothing to do asks again when others have done something; else it never does
    uint64_t changes, left;             // guarded: how often something happened; records that are not done
    unsigned char *times;               // of each record: it was done
} job;

typedef struct worker {
    job *job;
    uint32_t number;
    uint32_t fails_at;                  // the share at which it leaves; 0: never
    uint64_t seed;
} worker;

static void changed(job *j, uint64_t done)
{
    pthread_mutex_lock(&j->mutex);
    j->changes++;
    j->left -= done;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->mutex);
}

// Whether something happened since `seen`; false: everything is done.
static bool wait_for_change(job *j, uint64_t *seen)
{
    pthread_mutex_lock(&j->mutex);
    while (j->left && j->changes == *seen) pthread_cond_wait(&j->changed, &j->mutex);
    *seen = j->changes;
    const bool more = j->left > 0;
    pthread_mutex_unlock(&j->mutex);
    return more;
}

static uint64_t changes_of(job *j)
{
    pthread_mutex_lock(&j->mutex);
    const uint64_t changes = j->changes;
    pthread_mutex_unlock(&j->mutex);
    return changes;
}

// A record takes the worker's number of millionths, more or less.
static void run_share(worker *w, hdst__share share)
{
    job *j = w->job;
    while (share.count) {
        const hdst__slice_limits limits = {.left = share.count, .unit = UNIT, .least = UNIT, .most = 1 << 14, .seconds = 0.01};
        const uint64_t count = j->policy->slice(j->schedule, w->number, &limits);
        if (count == 0 || count > share.count) fprintf(stderr, "policies: a slice of %llu\n", (unsigned long long)count), exit(1);
        for (uint64_t i = 0; i < count; i++) j->times[share.first + i]++;
        share.first += count, share.count -= count;
        w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
        const double each = 1e-6 * (w->number + 1) * (1 + (double)(w->seed >> 60) / 16);
        j->policy->done(j->schedule, w->number, &(hdst__slice_cost){count, 1e-5, each * (double)count / 2, each * (double)count});
        changed(j, count);
    }
}

static void leave(worker *w, hdst__share share)
{
    const uint64_t half = share.count / 2 / UNIT * UNIT;
    run_share(w, (hdst__share){share.first, half});
    const hdst__share rest = {share.first + half, share.count - half};
    if (!w->job->policy->give_back(w->job->schedule, w->number, &rest, true)) fprintf(stderr, "policies: out of memory\n"), exit(1);
    changed(w->job, 0);
}

static void *work(void *user)
{
    worker *w = user;
    job *j = w->job;
    uint32_t shares = 0;
    for (;;) {
        uint64_t seen = changes_of(j);
        hdst__share share;
        if (j->policy->next(j->schedule, w->number, &share)) {
            if (++shares == w->fails_at) return leave(w, share), NULL;
            run_share(w, share);
        } else if (!j->patient || !wait_for_change(j, &seen)) return NULL;
        j->policy->left_out(j->schedule, w->number);
    }
}

static bool run(const hdst__policy *policy, hdst__wish wish, uint64_t seed)
{
    hdst__power power[WORKERS] = {{0}};
    hdst__worker told[WORKERS];
    const hdst__share resident[2] = {{1000, RESIDENT}, {150000, RESIDENT}};
    job j = {.policy = policy, .patient = seed % 3, .left = RECORDS, .times = calloc(RECORDS, 1)};
    pthread_mutex_init(&j.mutex, NULL);
    pthread_cond_init(&j.changed, NULL);
    for (uint32_t i = 0; i < WORKERS; i++) {
        told[i] = (hdst__worker){&power[i], i % 2, i < 2 ? &resident[i] : NULL, i < 2};
        if (seed % 2) power[i] = (hdst__power){1e-5, 0.5e-6 * (i + 1), 1e-6 * (i + 1), 0.05, 10};
    }
    j.schedule = policy->begin(&(hdst__job){RECORDS, UNIT, WORKERS, told, wish}, NULL);
    worker w[WORKERS];
    pthread_t thread[WORKERS];
    for (uint32_t i = 0; i < WORKERS; i++) {
        w[i] = (worker){&j, i, j.patient && i + 1 < WORKERS && (seed >> i) % 3 == 0 ? 1 + (uint32_t)(seed % 5) : 0, seed + i};
        if (pthread_create(&thread[i], NULL, work, &w[i])) exit(2);
    }
    for (uint32_t i = 0; i < WORKERS; i++) pthread_join(thread[i], NULL);
    bool right = true;
    for (uint64_t i = 0; i < RECORDS; i++) right = right && j.times[i] == 1;
    if (!right) fprintf(stderr, "policies: '%s': a record was left out or came twice\n", policy->name);
    policy->end(j.schedule);
    free(j.times);
    return right;
}

int main(void)
{
    for (uint64_t i = 0; i < JOBS; i++)
        for (hdst__wish wish = HDST__POLICY_AUTO; wish <= HDST__POLICY_DYNAMIC; wish++) {
            const hdst__policy *policy = hdst__policy_for(&(hdst__job){.records = RECORDS, .workers = WORKERS, .wish = wish});
            if (!run(policy, wish, i * 2654435761u >> 3)) return 1;
        }
    return 0;
}
