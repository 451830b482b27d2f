// SPDX-License-Identifier: Apache-2.0
// A run of several devices in virtual time.
#include "simulator.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { AHEAD = 3, DONE_MOST = 1 << 20 };       // slices under way; shares that are looked at in the end

// --- Devices ---

static double pace_at(const sim_device *device, double time, double *until)
{
    double pace = 1;
    *until = HUGE_VAL;
    for (uint32_t i = 0; i < device->paces; i++) {
        if (device->pace[i].from > time) {
            *until = device->pace[i].from;
            break;
        }
        pace = device->pace[i].pace;
    }
    return pace;
}

// When so many seconds of work are done.
static double work_until(const sim_device *device, double start, double work)
{
    for (double time = start;;) {
        double until;
        const double pace = pace_at(device, time, &until);
        if (pace > 0 && time + work / pace <= until) return time + work / pace;
        if (until == HUGE_VAL) return HUGE_VAL;
        work -= (until - time) * pace;
        time = until;
    }
}

static double work_by(const sim_device *device, double end)
{
    double work = 0;
    for (double time = 0; time < end;) {
        double until;
        const double pace = pace_at(device, time, &until);
        until = fmin(until, end);
        work += (until - time) * pace;
        time = until;
    }
    return work;
}

// --- The least time ---

static double worth(const sim_job *job, uint64_t first, uint64_t count) { return job->weight ? job->weight(first, count) : (double)count; }

// Average records that it can do by a time, of those that lie with it and of others, which may be copied in while it works on the former.
static double worth_by(const sim_job *job, const sim_device *device, double end, double *resident)
{
    const double mine = device->resident.count ? worth(job, device->resident.first, device->resident.count) : 0;
    const double work = (work_by(device, device->dies > 0 ? fmin(end, device->dies) : end) - device->fixed) / (1 + device->noise / 2);
    *resident = fmin(mine, fmax(work, 0) / device->kernel);
    const double rest = fmax(work - *resident * device->kernel, 0);
    return device->copies_apart ? fmin(fmax(work, 0) / device->copy, rest / device->kernel) : rest / (device->copy + device->kernel);
}

// With what lies with a device that dies, others may go on.
static bool can_end(const sim_job *job, double end)
{
    double free = worth(job, 0, job->records), done = 0;
    for (uint32_t i = 0; i < job->devices; i++) {
        double resident;
        done += worth_by(job, &job->device[i], end, &resident);
        const double mine = job->device[i].resident.count ? worth(job, job->device[i].resident.first, job->device[i].resident.count) : 0;
        free -= resident;
        if (resident < mine && !(job->device[i].dies > 0)) return false;
    }
    return done >= free;
}

double sim_optimum(const sim_job *job)
{
    double low = 0, high = 1e-3;
    while (!can_end(job, high)) high *= 2;
    for (int i = 0; i < 60; i++) can_end(job, (low + high) / 2) ? (high = (low + high) / 2) : (low = (low + high) / 2);
    return high;
}

// --- The run ---

typedef struct sim_slice {
    hdst__share share;
    double ends, fixed, copy, kernel;
} sim_slice;

typedef struct sim_worker {
    const sim_device *device;
    hdst__power power;
    hdst__share share;              // what is left to submit
    sim_slice slice[AHEAD];         // a queue
    uint32_t oldest, under_way;
    double copies_until, kernels_until;     // its queues are busy
    uint64_t reached;
    bool is_dead;
} sim_worker;

typedef struct sim_run {
    const sim_job *job;
    const hdst__policy *policy;
    hdst__schedule *schedule;
    sim_worker worker[SIM_WORKERS];
    hdst__share *done;              // in the order in which they were done
    uint32_t done_count;
    uint64_t seed;
    sim_result result;
} sim_run;

static double random_part(sim_run *run)
{
    run->seed = run->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(run->seed >> 40) / (1 << 24);
}

static bool lies_with(const sim_device *device, const hdst__share *share)
{
    return share->first >= device->resident.first && share->first + share->count <= device->resident.first + device->resident.count;
}

static void submit(sim_run *run, uint32_t number, double now)
{
    sim_worker *worker = &run->worker[number];
    const sim_device *device = worker->device;
    const hdst__slice_limits limits = {.left = worker->share.count, .unit = 64, .least = 64, .most = 1 << 26, .seconds = 0.25};
    const uint64_t count = run->policy->slice(run->schedule, number, &limits);
    cr_assert(count >= 1 && count <= limits.left);
    sim_slice *slice = &worker->slice[(worker->oldest + worker->under_way++) % AHEAD];
    *slice = (sim_slice){.share = {worker->share.first, count}};
    worker->share.first += count;
    worker->share.count -= count;
    const double records = worth(run->job, slice->share.first, count) * (1 + device->noise * random_part(run));
    const double copy = lies_with(device, &slice->share) ? 0 : records * device->copy;
    double *copies = device->copies_apart ? &worker->copies_until : &worker->kernels_until;
    const double copied = work_until(device, fmax(now, *copies), copy), start = fmax(copied, worker->kernels_until);
    *copies = copied;
    const double begun = work_until(device, start, device->fixed);
    slice->ends = worker->kernels_until = work_until(device, begun, records * device->kernel);
    slice->fixed = begun - start;
    slice->kernel = slice->ends - begun;
    slice->copy = copied - fmax(now, copied - copy);
    run->result.slices++;
}

static bool fill(sim_run *run, uint32_t number, double now)
{
    sim_worker *worker = &run->worker[number];
    bool any = false;
    while (!worker->is_dead && worker->under_way < AHEAD) {
        if (worker->share.count == 0) {
            if (!run->policy->next(run->schedule, number, &worker->share)) return any;
            cr_assert(worker->share.count && worker->share.first + worker->share.count <= run->job->records);
            if (worker->share.first < worker->reached) run->result.ascends = false;
            worker->reached = worker->share.first + worker->share.count;
            run->result.shares++;
        }
        submit(run, number, now);
        any = true;
    }
    return any;
}

static void end_slice(sim_run *run, uint32_t number)
{
    sim_worker *worker = &run->worker[number];
    const sim_slice *slice = &worker->slice[worker->oldest];
    worker->oldest = (worker->oldest + 1) % AHEAD;
    worker->under_way--;
    run->result.seconds = fmax(run->result.seconds, slice->ends);
    run->result.done[number] += slice->share.count;
    cr_assert_lt(run->done_count, DONE_MOST);
    run->done[run->done_count++] = slice->share;
    run->policy->done(run->schedule, number, &(hdst__slice_cost){slice->share.count, slice->fixed, slice->copy, slice->kernel});
}

static void die(sim_run *run, uint32_t number)
{
    sim_worker *worker = &run->worker[number];
    worker->is_dead = true;
    cr_assert(run->policy->give_back(run->schedule, number, &worker->share, true));
    for (; worker->under_way; worker->under_way--, worker->oldest = (worker->oldest + 1) % AHEAD)
        cr_assert(run->policy->give_back(run->schedule, number, &worker->slice[worker->oldest].share, true));
}

// The next thing that happens: a slice ends, or a device dies. False: nothing more does.
static bool next_event(const sim_run *run, double *time, uint32_t *number, bool *dies)
{
    *time = HUGE_VAL;
    for (uint32_t i = 0; i < run->job->devices; i++) {
        const sim_worker *worker = &run->worker[i];
        if (worker->is_dead) continue;
        const double end = worker->under_way ? worker->slice[worker->oldest].ends : HUGE_VAL;
        const double death = worker->device->dies > 0 ? worker->device->dies : HUGE_VAL;
        if (fmin(end, death) >= *time) continue;
        *time = fmin(end, death);
        *number = i;
        *dies = death <= end;
    }
    return *time < HUGE_VAL;
}

static void begin(sim_run *run, hdst__worker *told)
{
    const sim_job *job = run->job;
    for (uint32_t i = 0; i < job->devices; i++) {
        const sim_device *device = &job->device[i];
        const double times = device->told_wrong > 0 ? device->told_wrong : 1;
        run->worker[i].device = device;
        if (device->is_told)
            run->worker[i].power = (hdst__power){device->fixed * times, device->copy * times, device->kernel * times, device->noise / 4, 100};
        told[i] = (hdst__worker){&run->worker[i].power, device->copies_apart, &device->resident, device->resident.count > 0};
    }
    run->schedule = run->policy->begin(&(hdst__job){job->records, job->unit, job->devices, told, job->wish}, NULL);
    cr_assert_not_null(run->schedule);
    run->result.thought = run->policy->seconds(run->schedule);
}

static int by_first(const void *a, const void *b)
{
    const hdst__share *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void check_all_done_once(sim_run *run)
{
    qsort(run->done, run->done_count, sizeof *run->done, by_first);
    uint64_t reached = 0;
    for (uint32_t i = 0; i < run->done_count; i++) {
        cr_assert_eq(run->done[i].first, reached, "'%s': records from %llu on come twice, or never", run->policy->name, (unsigned long long)reached);
        reached += run->done[i].count;
    }
    cr_assert_eq(reached, run->job->records, "'%s' ends with %llu of %llu records", run->policy->name, (unsigned long long)reached,
                 (unsigned long long)run->job->records);
}

sim_result simulate(const sim_job *job, const hdst__policy *policy)
{
    sim_run *run = calloc(1, sizeof *run);
    hdst__worker told[SIM_WORKERS];
    run->job = job, run->policy = policy, run->seed = job->seed, run->result.ascends = true;
    run->done = malloc(DONE_MOST * sizeof *run->done);
    begin(run, told);
    double now = 0;
    uint32_t number = 0;
    bool dies = false;
    for (uint32_t i = 0; i < job->devices; i++) fill(run, i, now);
    while (run->done_count < DONE_MOST && next_event(run, &now, &number, &dies)) {
        dies ? die(run, number) : end_slice(run, number);
        if (!dies) fill(run, number, now);
        for (uint32_t i = 0; i < job->devices; i++)
            if (i != number && !run->worker[i].under_way && (job->patient || dies)) fill(run, i, now);
    }
    check_all_done_once(run);
    for (uint32_t i = 0; i < job->devices; i++) run->result.left_out[i] = policy->left_out(run->schedule, i);
    policy->end(run->schedule);
    const sim_result result = run->result;
    free(run->done);
    free(run);
    return result;
}
