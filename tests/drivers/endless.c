// SPDX-License-Identifier: Apache-2.0
// A kernel that never ends, on an OpenCL device, and a cancel: the run returns, its context goes, another one works,
// the process ends. A plain program, because Criterion does not start under the thread sanitizer, and because the
// process ends with the kernel still at work. Exits with 7 when all is right, which `main` turns into 0: a child does
// the work, so that its way of ending is seen too.
// usage: endless short|streamed|cached|sorted|grouped DEVICE
#include "engine/engine_state.h"
#include "plan/object.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 600000, ROWS = 3 /* of the table */, RIGHT = 7, NO_DEVICE = 77 };

// The loop's end depends on the data, and its turns on a table, so that no compiler may leave it out.
static const char kernel[] = "struct item { uint32_t x; uint32_t y; };\n"
                             "map turn(item a, broadcast uint32_t n[], accum uint64_t s)\n"
                             "{\n"
                             "    uint32_t k = a.x & n[0];\n"
                             "    uint64_t turns = 0;\n"
                             "    while (k > 0) { k = (k | 1u) + (k & 2u) * 2u; turns += k; }\n"
                             "    s += turns + a.y;\n"
                             "}\n"
                             "map same(item a) -> item { return a; }\n"
                             "map shift(item a, broadcast uint32_t n[]) -> item\n"
                             "{\n"
                             "    uint32_t k = a.x & n[0];\n"
                             "    item r;\n"
                             "    r.x = a.x;\n"
                             "    r.y = a.y;\n"
                             "    while (k > 0) { k = (k | 1u) + (k & 2u) * 2u; r.y += k; }\n"
                             "    return r;\n"
                             "}\n"
                             "group again(key uint32_t x, stream item i, broadcast uint32_t n[]) -> item\n"
                             "{\n"
                             "    uint32_t k = x & n[0];\n"
                             "    uint32_t s = 0;\n"
                             "    for (item e : i) s += e.y;\n"
                             "    while (k > 0) {\n"
                             "        for (item e : i) s = (s ^ e.y) * 3u + k;\n"
                             "        k = n[s % 3u];\n"
                             "    }\n"
                             "    return (item){ .x = x, .y = s };\n"
                             "}\n";

// --- An allocator that sees whether anything goes that a device may still use ---

typedef struct block {
    struct block *next;             // all blocks can be reached: what stays on purpose is no leak
    size_t bytes;
    bool freed;
    char pad[15];
} block;

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;
static bool watching;               // since the device was given up
static size_t freed_while_watching;

static void *take(size_t bytes, void *user)
{
    (void)user;
    block *b = malloc(sizeof *b + bytes);
    if (!b) return NULL;
    pthread_mutex_lock(&blocks_lock);
    *b = (block){.next = blocks, .bytes = bytes};
    blocks = b;
    pthread_mutex_unlock(&blocks_lock);
    return b + 1;
}

static void give(void *memory, void *user)
{
    (void)user;
    if (!memory) return;
    pthread_mutex_lock(&blocks_lock);
    ((block *)memory - 1)->freed = true;        // and stays, so that nothing takes its place
    if (watching) freed_while_watching++;
    pthread_mutex_unlock(&blocks_lock);
}

static void *retake(void *memory, size_t bytes, void *user)
{
    void *copy = take(bytes, user);
    const size_t before = memory ? ((block *)memory - 1)->bytes : 0;
    if (copy && memory) memcpy(copy, memory, before < bytes ? before : bytes);
    if (copy) give(memory, user);
    return copy;
}

// --- The run ---

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    uint32_t *to = records;
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) to[2 * i] = (uint32_t)(first + i) | 1, to[2 * i + 1] = (uint32_t)((first + i) % 1000);
    return true;
}

// Of one key, and more than the budget has room for: the kernel reads them where they lie, in a file that is mapped.
enum { LITTLE_MEMORY = 4 << 20 };

static bool fill_one_key(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    uint32_t *to = records;
    (void)first, (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) to[2 * i] = 1, to[2 * i + 1] = 1;
    return true;
}

typedef struct delayed {
    hdst_context *context;
    unsigned milliseconds;
} delayed;

static void *cancel_later(void *argument)
{
    const delayed *d = argument;
    usleep(d->milliseconds * 1000);
    hdst_context_cancel(d->context);
    return NULL;
}

static int wrong(const char *what, const hdst_error *error)
{
    char text[2500] = "";
    if (error) hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "endless: %s: %s\n", what, text);
    return 1;
}

static bool is_given_up(const hdst_error *error) { return error->code == HDST_E_CANCELLED && strstr(error->message, "given up"); }

// A cancel that comes before the first kernel began ends the run as ever, so the next one comes later. In between
// there is a run that ends: it leaves what is compiled for the data to the next one, which would look at the data
// first, on the host, and not get to the device.
static hdst_status run_for_ever(hdst_result *result, hdst_context *context, hdst_value *value, hdst_error *error)
{
    const uint32_t none[ROWS] = {0}, all[ROWS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (delayed d = {context, 20};; d.milliseconds *= 2) {
        pthread_t thread;
        hdst_value_set(value, none, ROWS);
        if (hdst_run(result, error) != HDST_OK) return HDST_E_INTERNAL;
        hdst_value_set(value, all, ROWS);
        if (pthread_create(&thread, NULL, cancel_later, &d)) return HDST_E_INTERNAL;
        hdst_status status = hdst_run(result, error);
        pthread_join(thread, NULL);
        if (status != HDST_E_CANCELLED || is_given_up(error)) return status;
    }
}

// Another context, while the kernel is still at work.
static int use_interpreter(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    hdst_context *context = hdst_context_create(&options);
    hdst_error error = HDST_ERROR_INIT;
    const uint32_t none = 0;
    hdst_module *module = hdst_module_parse(context, "endless.hk", kernel, NULL);
    hdst_value *value = hdst_value_create(module, "uint32_t", 1);
    hdst_value_set(value, &none, 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "turn");
    hdst_bind_value(spec, "n", value);
    hdst_result *result = hdst_result_create(hdst_map(hdst_read(hdst_source_from_callback(context, 1000, fill, NULL), module, "item"), spec));
    if (hdst_run(result, &error) != HDST_OK) return wrong("the interpreter", &error);
    if (hdst_view_int64(hdst_result_field(result, "s", NULL), 0, 0) != 999 * 1000 / 2) return wrong("the interpreter's sum", NULL);
    hdst_context_destroy(context);
    return 0;
}

static int work(const char *how, const char *name)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = name;
    options.allocator = (hdst_allocator){take, retake, give, NULL};
    if (!strcmp(how, "grouped")) options.memory = LITTLE_MEMORY;
    hdst_context *context = hdst_context_create(&options);
    hdst_error error = HDST_ERROR_INIT;
    hdst_device_info device;
    if (hdst_device_chosen(context, &device, &error) == HDST_E_DEVICE) return NO_DEVICE;
    context->engine->limits.grace_seconds = 0.1;
    const bool sorts = !strcmp(how, "sorted"), groups = !strcmp(how, "grouped");
    // "short" is one piece, and the wait is for a slice; else it is for memory to read the next piece into.
    const uint64_t records = strcmp(how, "short") ? RECORDS : RECORDS / 10;
    hdst_module *module = hdst_module_parse(context, "endless.hk", kernel, NULL);
    hdst_value *value = hdst_value_create(module, "uint32_t", ROWS);
    hdst_map_spec *spec = hdst_map_spec_create(module, groups ? "again" : sorts ? "shift" : "turn");
    hdst_bind_value(spec, "n", value);
    hdst_dataset *items = hdst_read(hdst_source_from_callback(context, records, groups ? fill_one_key : fill, NULL), module, "item");
    hdst_dataset *turned = groups ? hdst_group(items, "x", spec) : hdst_map(strcmp(how, "cached") ? items : hdst_cache(items), spec);
    hdst_result *result = hdst_result_create(sorts ? hdst_sort(turned, "y desc") : turned);
    hdst_status status = run_for_ever(result, context, value, &error);
    if (status != HDST_E_CANCELLED || !is_given_up(&error)) return wrong("the run that does not end", &error);
    watching = true;
    if (hdst_run(result, &error) != HDST_E_DEVICE || !strstr(error.hint, "new context")) return wrong("the next run", &error);
    void *rows = NULL;
    uint64_t count;
    if (hdst_collect(hdst_map_function(items, module, "same"), &rows, &count, &error) != HDST_E_DEVICE) return wrong("another function", &error);
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
    hdst_context_destroy(context);
    if (freed_while_watching) return wrong("memory was freed that the device may use", NULL);
    return use_interpreter() ? 1 : RIGHT;
}

int main(int argc, char **argv)
{
    if (argc == 4) return work(argv[1], argv[2]);
    if (argc != 3) return wrong("usage: endless short|streamed|cached|sorted|grouped DEVICE", NULL);
    const pid_t child = fork();
    if (child < 0) return wrong("fork", NULL);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);       // a run that hangs ends with whoever ends this program
        execl("/proc/self/exe", argv[0], argv[1], argv[2], "child", (char *)NULL);
        _exit(1);
    }
    int how;
    if (waitpid(child, &how, 0) != child || !WIFEXITED(how)) return wrong("the child did not exit", NULL);
    if (WEXITSTATUS(how) == NO_DEVICE) return NO_DEVICE;
    return WEXITSTATUS(how) == RIGHT ? 0 : wrong("the child failed", NULL);
}
