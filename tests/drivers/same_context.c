// SPDX-License-Identifier: Apache-2.0
// Very many jobs of one context, as a plain program for the sanitizers: a map with sums, a reduction by key, a sort, a count of words and a loop over and over,
// each time as a result of its own. Every answer is right. What hdst_memory_usage tells is the same at the end as when each had run some times, on the host
// and on each device, owner by owner; so are the process's threads and open files, and its anonymous memory is not much more.
// usage: same_context JOBS DEVICE         (DEVICE: as of --device; gpu-form: a CPU device that stands in for a GPU)
#include "engine/engine_state.h"
#include "hdst/hdst.h"
#include "plan/object.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { IS_SANITIZED = 1 };          // they keep what was given back, and each job takes long
#else
enum { IS_SANITIZED = 0 };
#endif

enum { RECORDS = 3000, KEYS = 40, TURNS = 5, WARM_ROUNDS = 20, SANITIZED_JOBS = 150, MOST_GROWTH = 8 << 20, MOST_KEPT = 16 << 10 };

typedef struct item { uint32_t key, v; } item;

static const char kernels[] = "struct item { uint32_t key, v; };\n"
                              "map total(item i, accum uint64_t sum[]) { sum[i.v % 7] += i.v; }\n"
                              "map keyed(item i) -> (key uint32_t k, uint64_t v) { return (i.key, i.v); }\n"
                              "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
                              "flat_map words(text line) -> (key text word, uint64_t n) { for (text w : tokens(line, SPACE)) emit(w, 1); }\n"
                              "map first(int64_t i) -> double { return i; }\n"
                              "map half(double x, lookup double all[]) -> double { return all[(record_index() + 1) % len(all)] / 2; }\n";

typedef enum kind { TOTAL, BY_KEY, SORTED, WORDS, LOOP, KINDS } kind;

static const char *const names[] = {"sums", "by key", "sort", "words", "loop"};
static item items[RECORDS];
static int wrong;

static void complain(kind k, const char *what, const hdst_error *error)
{
    fprintf(stderr, "same_context: %s: %s: %s\n", names[k], what, error ? error->message : "");
    wrong++;
}

static void expect(kind k, bool is_so, const char *what)
{
    if (!is_so) complain(k, what, NULL);
}

// --- The jobs ---

static void write_lines(const char *path)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < RECORDS; i++) fprintf(file, "word%d a_word_that_is_longer_than_a_span word%d\n", i % KEYS, i % 3);
    if (!file || fclose(file)) fprintf(stderr, "same_context: %s cannot be written\n", path), exit(1);
}

static hdst_dataset *read_items(hdst_context *context, hdst_module *module)
{
    for (uint32_t i = 0; i < RECORDS; i++) items[i] = (item){i * 7 % KEYS, (i * 2654435761u) >> 8};
    hdst_source *source = hdst_source_from_memory(context, items, RECORDS, sizeof *items);
    hdst_dataset *data = hdst_read(source, module, "item");
    hdst_source_destroy(source);
    return data;
}

static hdst_dataset *make_loop(hdst_context *context, hdst_module *module)
{
    hdst_source *range = hdst_source_from_range(context, 0, RECORDS);
    hdst_value *state = hdst_value_create(module, "double", 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "half");
    hdst_bind_value(spec, "all", state);
    const hdst_loop_step step = {.dataset = hdst_map(hdst_read_value(state), spec), .value = state};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = TURNS;
    hdst_dataset *loop = hdst_loop(hdst_map_function(hdst_read(range, module, "int64_t"), module, "first"), state, &step, 1, &options);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(state);
    hdst_source_destroy(range);
    return loop;
}

static void make_all(hdst_context *context, hdst_module *module, const char *path, hdst_dataset *of[KINDS])
{
    hdst_dataset *data = read_items(context, module);
    hdst_map_spec *spec = hdst_map_spec_create(module, "total");
    hdst_bind_accum(spec, "sum", 7);
    of[TOTAL] = hdst_map(data, spec);
    hdst_map_spec_destroy(spec);
    of[BY_KEY] = hdst_reduce_by_key(hdst_map_function(data, module, "keyed"), module, "add");
    of[SORTED] = hdst_sort(data, "v,key desc");
    hdst_source *lines = hdst_source_open_lines(context, path);
    of[WORDS] = hdst_reduce_by_key(hdst_flat_map_function(hdst_read(lines, module, "text"), module, "words"), module, "add");
    hdst_source_destroy(lines);
    of[LOOP] = make_loop(context, module);
}

// --- Their answers ---

static void check_total(hdst_result *r)
{
    uint64_t right[7] = {0};
    for (int i = 0; i < RECORDS; i++) right[items[i].v % 7] += items[i].v;
    for (uint64_t s = 0; s < 7; s++) expect(TOTAL, hdst_view_int64(hdst_result_field(r, "sum", NULL), s, 0) == (int64_t)right[s], "a wrong sum");
}

static void check_keys(hdst_result *r)
{
    uint64_t count, right[KEYS] = {0};
    const struct { uint32_t k; uint64_t v; } *rows = hdst_result_rows(r, NULL, &count);
    for (int i = 0; i < RECORDS; i++) right[items[i].key] += items[i].v;
    expect(BY_KEY, rows && count == KEYS, "not all keys");
    for (uint64_t i = 0; rows && i < count; i++) expect(BY_KEY, rows[i].v == right[rows[i].k], "a wrong sum");
}

static void check_sorted(hdst_result *r)
{
    uint64_t count, sum = 0, right = 0;
    const item *rows = hdst_result_rows(r, NULL, &count);
    expect(SORTED, rows && count == RECORDS, "not all records");
    for (int i = 0; i < RECORDS; i++) right += items[i].v * (items[i].key + 1);
    for (uint64_t i = 0; rows && i < count; i++) {
        sum += rows[i].v * (rows[i].key + 1);
        expect(SORTED, i == 0 || rows[i - 1].v <= rows[i].v, "out of order");
    }
    expect(SORTED, sum == right, "other records");
}

static void check_words(hdst_result *r)
{
    uint64_t count, sum = 0;
    const struct { hdst_text word; uint64_t n; } *rows = hdst_result_rows(r, NULL, &count);
    expect(WORDS, rows && count == KEYS + 1, "not all words");
    for (uint64_t i = 0; rows && i < count; i++) sum += rows[i].n;
    expect(WORDS, sum == 3 * RECORDS, "not as often as they occur");
}

static void check_loop(hdst_result *r)
{
    uint64_t count;
    const double *x = hdst_result_rows(r, NULL, &count);
    expect(LOOP, x && count == RECORDS, "not all records");
    for (uint64_t i = 0; x && i < count; i++) expect(LOOP, x[i] == (double)((i + TURNS) % RECORDS) / (1 << TURNS), "another number");
}

static void run(kind k, hdst_dataset *dataset)
{
    static void (*const check[])(hdst_result *r) = {check_total, check_keys, check_sorted, check_words, check_loop};
    hdst_error error;
    hdst_result *r = hdst_result_create(dataset);
    if (hdst_run(r, &error) == HDST_OK) check[k](r);
    else complain(k, "does not run", &error);
    hdst_result_destroy(r);
}

// --- What is taken ---

typedef struct use {
    uint64_t threads, files, anonymous;
    hdst_memory_use memory;
} use;

static uint64_t entries(const char *folder)
{
    uint64_t count = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

static use now(hdst_context *context)
{
    use u = {entries("/proc/self/task"), entries("/proc/self/fd"), 0, HDST_MEMORY_USE_INIT};
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %" SCNu64, &u.anonymous) == 1) u.anonymous <<= 10;
    if (file) fclose(file);
    hdst_memory_usage(context, &u.memory, NULL);
    return u;
}

// Owner by owner, and with what may be kept for the next job.
static bool is_as_before(const hdst_memory_place *before, const hdst_memory_place *after)
{
    bool same = true;
    for (int o = 0; o < HDST_MEMORY_OWNERS; o++) {
        if (after->owner_used[o] <= before->owner_used[o] + MOST_KEPT) continue;
        fprintf(stderr, "same_context: %s: %s: %" PRIu64 " bytes, then %" PRIu64 "\n", before->name, hdst_memory_owner_name((hdst_memory_owner)o),
                before->owner_used[o], after->owner_used[o]);
        same = false;
    }
    return same;
}

static bool is_flat(const use *warm, const use *end)
{
    const uint64_t most = IS_SANITIZED ? UINT64_MAX : warm->anonymous + MOST_GROWTH;
    bool flat = end->threads <= warm->threads && end->files <= warm->files && end->anonymous <= most;
    flat &= warm->memory.device_count == end->memory.device_count && is_as_before(&warm->memory.host, &end->memory.host);
    for (uint32_t i = 0; i < warm->memory.device_count; i++) flat &= is_as_before(&warm->memory.device[i], &end->memory.device[i]);
    return flat && end->memory.files == 0;
}

static void show(const char *when, const use *u)
{
    printf("%s: %" PRIu64 " threads, %" PRIu64 " files, %.1f MiB; %" PRIu64 " bytes of the host's budget, %" PRIu64 " of the device's\n", when, u->threads,
           u->files, (double)u->anonymous / (1 << 20), u->memory.host.used, u->memory.device[0].used);
}

static int run_all(hdst_context *context, uint64_t jobs, const char *path)
{
    hdst_module *module = hdst_module_parse(context, "same.hk", kernels, NULL);
    hdst_dataset *of[KINDS];
    use warm = {0};
    make_all(context, module, path, of);
    for (uint64_t i = 0; i < jobs; i++) {
        if (i == WARM_ROUNDS * KINDS) warm = now(context);
        run((kind)(i % KINDS), of[i % KINDS]);
    }
    const use end = now(context);
    show("warm", &warm);
    show("end", &end);
    const bool flat = jobs > WARM_ROUNDS * KINDS && is_flat(&warm, &end);
    if (!flat) fprintf(stderr, "same_context: not all is given back\n");
    hdst_module_destroy(module);
    return wrong || !flat;
}

int main(int argc, char **argv)
{
    const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    const uint64_t jobs = IS_SANITIZED && wanted > SANITIZED_JOBS ? SANITIZED_JOBS : wanted;
    const char *device = argc > 2 ? argv[2] : "interp";
    const bool stands_in = !strcmp(device, "gpu-form");
    char path[64];
    hdst_device_info info;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = stands_in ? "cpu" : device;
    hdst_context *context = hdst_context_create(&options);
    if (stands_in && context->engine) context->engine->options.gpu_form_on_cpu = true;       // no device is open yet
    if (hdst_device_chosen(context, &info, NULL) != HDST_OK) return fprintf(stderr, "same_context: no device '%s': skipped\n", device), 77;
    snprintf(path, sizeof path, "/tmp/hdst-same-context-%d.txt", (int)getpid());
    write_lines(path);
    const int code = run_all(context, jobs, path);
    hdst_context_destroy(context);
    remove(path);
    return code;
}
