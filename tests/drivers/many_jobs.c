// SPDX-License-Identifier: Apache-2.0
// Very many jobs in one process, as a plain program for the sanitizers: several contexts, one after another and side by side, on one device and on several;
// jobs that are waited for, run on threads of their own, are cancelled in the middle, fail in a callback or in a record. Every sum is right, and at the end
// the process has as many threads and open files as before, and no more memory than a few MB.
// usage: many_jobs JOBS [DEVICE...]        (CPU devices are halved: 0,1 are the halves, 2 is the interpreter)
#include "hdst/hdst.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 6000, SIDE_BY_SIDE = 2, JOBS_EACH = 10, LEAST_WARM = 40, MOST_GROWTH = 24 << 20 };

typedef struct item { uint64_t key, v; } item;

static const char text[] = "struct item { uint64_t key; uint64_t v; };\n"
                           "struct value { uint64_t v; };\n"
                           "map sum(item i, broadcast uint64_t limit[], accum value s[]) { s[i.v % limit[0]].v += i.v; }\n"
                           "filter odd(item i) { return i.v % 2 == 1; }\n"
                           "reduce add(value a, value b) { return (value){ .v = a.v + b.v }; }\n"
                           "group all_of(key uint64_t key, stream item s) -> item\n"
                           "{ uint64_t v = 0; for (item i : s) v += i.v; return (item){ .key = key, .v = v }; }\n";

typedef enum kind { SUMS, BY_KEY, GROUPED, FIRST_ONES, ASYNC, CANCELLED, BAD_CALLBACK, BAD_RECORD, SORTED, PARTIAL, KINDS } kind;

enum { GROUPS = 1000, FIRST = 700 };

typedef struct job {
    hdst_context *context;
    kind kind;
    _Atomic uint32_t calls;
} job;

static int wrong;

static void complain(const job *j, const char *what, const hdst_error *error)
{
    fprintf(stderr, "many_jobs: kind %d: %s: %s\n", (int)j->kind, what, error ? error->message : "");
    wrong++;
}

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    job *j = user;
    const uint32_t call = atomic_fetch_add(&j->calls, 1);
    if (j->kind == CANCELLED && call == 1) hdst_context_cancel(j->context);
    if (j->kind == BAD_CALLBACK && first + count > RECORDS / 2) {
        snprintf(message, 512, "no record %d", RECORDS / 2);
        return false;
    }
    for (uint64_t i = first; i < first + count; i++)
        ((item *)records)[i - first] = (item){i % (j->kind == GROUPED ? GROUPS : 10), j->kind == BAD_RECORD && i < RECORDS / 4 * 3 ? i % 5 : i};
    return true;
}

static hdst_result *make(job *j, hdst_module *m, hdst_value *limit)
{
    hdst_source *source = j->calls % 2 ? hdst_source_from_callback(j->context, RECORDS, fill, j)
                                       : hdst_source_from_concurrent_callback(j->context, RECORDS, fill, j);
    hdst_dataset *data = hdst_read(source, m, "item");
    hdst_source_destroy(source);
    if (j->kind == BY_KEY) return hdst_result_create(hdst_reduce_by_key(hdst_filter_function(data, m, "odd"), m, "add"));
    if (j->kind == GROUPED) return hdst_result_create(hdst_group_function(data, NULL, m, "all_of"));
    if (j->kind == SORTED) return hdst_result_create(hdst_sort(data, "key,v desc"));
    if (j->kind == FIRST_ONES) return hdst_result_create(hdst_slice(hdst_filter_function(data, m, "odd"), 0, FIRST));
    hdst_map_spec *spec = hdst_map_spec_create(m, "sum");
    hdst_bind_value(spec, "limit", limit);
    hdst_bind_accum(spec, "s", 5);
    hdst_result *r = hdst_result_create(hdst_map(data, spec));
    hdst_map_spec_destroy(spec);
    if (j->kind == PARTIAL && hdst_result_keep_partial(r, NULL) != HDST_OK) complain(j, "keeps no partial", NULL);
    return r;
}

static void check_sums(const job *j, hdst_result *r)
{
    for (uint64_t s = 0; s < 5; s++) {
        uint64_t right = 0;
        for (uint64_t v = s; v < RECORDS; v += 5) right += v;
        if (hdst_view_int64(hdst_result_field(r, "s", "v"), s, 0) != (int64_t)right) complain(j, "a wrong sum", NULL);
    }
}

static void check_keys(const job *j, hdst_result *r)
{
    uint64_t count, right[10] = {0};
    const item *rows = hdst_result_rows(r, NULL, &count);
    for (uint64_t v = 1; v < RECORDS; v += 2) right[v % 10] += v;
    if (count != 5) complain(j, "not all keys", NULL);
    for (uint64_t i = 0; i < count; i++)
        if (rows[i].v != right[rows[i].key]) complain(j, "a wrong sum by key", NULL);
}

static void check_groups(const job *j, hdst_result *r)
{
    uint64_t count, right[GROUPS] = {0};
    const item *rows = hdst_result_rows(r, NULL, &count);
    for (uint64_t v = 0; v < RECORDS; v++) right[v % GROUPS] += v;
    if (count != GROUPS) complain(j, "not all groups", NULL);
    for (uint64_t i = 0; i < count; i++)
        if (rows[i].v != right[rows[i].key]) complain(j, "a wrong group", NULL);
}

static void check_first(const job *j, hdst_result *r)
{
    uint64_t count;
    const item *rows = hdst_result_rows(r, NULL, &count);
    if (count != FIRST) complain(j, "not so many", NULL);
    for (uint64_t i = 0; i < count; i++)
        if (rows[i].v != 2 * i + 1) complain(j, "not the first ones", NULL);
}

static void check_sorted(const job *j, hdst_result *r)
{
    uint64_t count;
    const item *rows = hdst_result_rows(r, NULL, &count);
    if (count != RECORDS) complain(j, "not all records", NULL);
    for (uint64_t i = 0; i < count; i++)
        if (rows[i].key != i / (RECORDS / 10) || rows[i].v != (RECORDS / 10 - 1 - i % (RECORDS / 10)) * 10 + rows[i].key) complain(j, "out of order", NULL);
}

// As bytes, read, merged with itself: twice the sum.
static void check_partial(const job *j, hdst_result *r)
{
    const void *bytes;
    uint64_t size;
    hdst_error error = HDST_ERROR_INIT;
    hdst_partial *partial = hdst_partial_from_result(r);
    if (hdst_partial_write(partial, &bytes, &size, &error) != HDST_OK) complain(j, "not written", &error);
    hdst_partial *read = hdst_partial_from_bytes(j->context, bytes, size), *cut = hdst_partial_from_bytes(j->context, bytes, size - 1);
    if (hdst_partial_status(cut, NULL) != HDST_E_FORMAT) complain(j, "cut off, and good", NULL);
    if (hdst_partial_merge(read, partial, &error) != HDST_OK) complain(j, "not merged", &error);
    for (uint64_t s = 0; s < 5; s++) {
        const int64_t once = hdst_view_int64(hdst_result_field(r, "s", "v"), s, 0);
        if (hdst_view_int64(hdst_partial_field(read, "s", "v"), s, 0) != 2 * once) complain(j, "a wrong merge", NULL);
    }
    hdst_partial_destroy(cut);
    hdst_partial_destroy(read);
    hdst_partial_destroy(partial);
    check_sums(j, r);
}

static hdst_status run(job *j, hdst_result *r, uint64_t number, hdst_error *error)
{
    if (j->kind != ASYNC) return hdst_run(r, error);
    hdst_job *async = hdst_run_async(r);
    if (number % 2) hdst_job_cancel(async);
    hdst_status status = hdst_job_wait(async, -1, NULL, error);
    hdst_job_destroy(async);
    return status;
}

static void check(const job *j, hdst_result *r, hdst_status status, const hdst_error *error)
{
    const hdst_status right[KINDS] = {[CANCELLED] = HDST_E_CANCELLED, [BAD_CALLBACK] = HDST_E_IO, [BAD_RECORD] = HDST_E_RECORD};
    const bool may_end = j->kind == CANCELLED || j->kind == ASYNC;      // a cancel may come too late
    if (status != right[j->kind] && !(may_end && (status == HDST_OK || status == HDST_E_CANCELLED))) complain(j, "another status", error);
    else if (status == HDST_OK && j->kind == BY_KEY) check_keys(j, r);
    else if (status == HDST_OK && j->kind == SORTED) check_sorted(j, r);
    else if (status == HDST_OK && j->kind == PARTIAL) check_partial(j, r);
    else if (status == HDST_OK && j->kind == GROUPED) check_groups(j, r);
    else if (status == HDST_OK && j->kind == FIRST_ONES) check_first(j, r);
    else if (status == HDST_OK) check_sums(j, r);
}

static void one(hdst_context *context, hdst_module *m, uint64_t number)
{
    job j = {.context = context, .kind = (kind)(number % KINDS)};
    hdst_error error;
    hdst_value *limit = hdst_value_create(m, "uint64_t", 1);
    hdst_value_set(limit, &(uint64_t){j.kind == BAD_RECORD ? 7000 : 5}, 1);       // there are five rows
    hdst_result *r = make(&j, m, limit);
    for (int turn = 0; turn < 2; turn++) {
        atomic_store(&j.calls, 0);
        check(&j, r, run(&j, r, number + (uint64_t)turn, &error), &error);
    }
    hdst_result_destroy(r);
    hdst_value_destroy(limit);
}

// --- What the process has ---

typedef struct use { uint64_t threads, files, anonymous; } use;

static uint64_t entries(const char *folder)
{
    uint64_t count = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

static use now(void)
{
    use u = {entries("/proc/self/task"), entries("/proc/self/fd"), 0};
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %" SCNu64, &u.anonymous) == 1) u.anonymous <<= 10;
    if (file) fclose(file);
    return u;
}

// --- Contexts ---

static bool some_jobs(const char *device, uint64_t *number)
{
    hdst_context *context[SIDE_BY_SIDE];
    hdst_module *module[SIDE_BY_SIDE];
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.cpu_parts = 2;
    options.replay_dir = "";
    hdst_device_info info;
    bool there = true;
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        context[i] = hdst_context_create(&options);
        there &= hdst_device_chosen(context[i], &info, NULL) == HDST_OK;
        module[i] = hdst_module_parse(context[i], "many.hk", text, NULL);
    }
    for (int k = 0; there && k < JOBS_EACH; k++, ++*number) one(context[k % SIDE_BY_SIDE], module[k % SIDE_BY_SIDE], *number);
    for (int i = 0; i < SIDE_BY_SIDE; i++) hdst_context_destroy(context[i]);
    return there;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"0,1", "0,1,2", "cpu", "interp"};
    const char *const *devices = argc > 2 ? (const char *const *)argv + 2 : usual;
    const uint64_t count = argc > 2 ? (uint64_t)argc - 2 : sizeof usual / sizeof *usual, jobs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    const uint64_t warm_jobs = jobs / 4 > LEAST_WARM ? jobs / 4 : LEAST_WARM;
    use warm = {0};
    setenv("HDST_SHARE_BYTES", "0", 1);
    for (uint64_t number = 0, k = 0; number < jobs; k++) {
        if (!some_jobs(devices[k % count], &number)) return fprintf(stderr, "many_jobs: no device '%s': skipped\n", devices[k % count]), 77;
        if (number >= warm_jobs && !warm.threads) warm = now();
    }
    const use end = now();
    printf("%" PRIu64 " threads, %" PRIu64 " files, %.1f MiB after %" PRIu64 " jobs; %" PRIu64 ", %" PRIu64 ", %.1f MiB after %" PRIu64 "\n", warm.threads,
           warm.files, (double)warm.anonymous / (1 << 20), warm_jobs, end.threads, end.files, (double)end.anonymous / (1 << 20), jobs);
#ifdef __SANITIZE_ADDRESS__
    const uint64_t most = UINT64_MAX;           // it keeps what was given back
#elif defined __SANITIZE_THREAD__
    const uint64_t most = UINT64_MAX;
#else
    const uint64_t most = warm.anonymous + MOST_GROWTH;
#endif
    const bool flat = end.threads <= warm.threads && end.files <= warm.files && end.anonymous <= most;
    if (!flat) fprintf(stderr, "many_jobs: not all is given back\n");
    return wrong || !flat;
}
