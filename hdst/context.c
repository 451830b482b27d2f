// SPDX-License-Identifier: Apache-2.0
// Contexts: options, devices, the objects' common end.
#include "hdst/result.h"

#include "engine/device/device_list.h"

#include <string.h>

_Static_assert((int)HDST_HPR_NONE == (int)HDST__HPR_NONE && (int)HDST_HPR_CLUSTER == (int)HDST__HPR_CLUSTER, "one enum, two names");
_Static_assert((int)HDST_POLICY_DYNAMIC == (int)HDST__SHARING_DYNAMIC, "one enum, two names");
_Static_assert((int)HDST_TUNING_OFF == (int)HDST__TUNING_OFF && (int)HDST_TUNING_FULL == (int)HDST__TUNING_FULL, "one enum, two names");

HDST__STAND_IN(hdst_context, no_context);

const char *hdst_version(void) { return HDST_VERSION_TEXT; }

static void log_through(int level, const char *message, void *user)
{
    const hdst_context_options *options = user;
    options->log((hdst_log_level)level, message, options->log_user);
}

static void progress_through(const hdst__progress_state *state, void *user)
{
    const hdst_context_options *options = user;
    hdst_progress to = {.function = state->function, .records = state->records, .of = state->of, .seconds = state->seconds, .device_count = state->count};
    to.turn = state->turn.number, to.turns = state->turn.of, to.until = state->turn.until;
    to.turn_value = state->turn.value, to.turn_seconds = state->turn.seconds;
    for (uint32_t i = 0; i < state->count; i++) {
        const hdst__device_info *info = state->worker[i].worker;
        to.device[i] = (hdst_progress_device){info->name, (hdst_device_class)info->class_, state->worker[i].records};
    }
    options->progress(&to, options->progress_user);
}

// Options of an older program are shorter, down to those that were there first: what it does not know keeps its default.
static hdst_status read_options(hdst_context_options *options, const hdst_context_options *given, hdst_error *error)
{
    const size_t least = offsetof(hdst_context_options, unchecked);
    return given ? hdst__read_options("hdst_context_options", "HDST_CONTEXT_OPTIONS_INIT", options, least, sizeof *options, given,
                                      given->size, error) : HDST_OK;
}

typedef struct context_block {      // the context and its options, which the log refers to
    hdst_context context;
    hdst_context_options options;
} context_block;

static hdst_context *allocate_context(const hdst_context_options *options)
{
    hdst__allocator allocator = {options->allocator.allocate, options->allocator.reallocate, options->allocator.release, options->allocator.user};
    context_block *block = hdst__alloc_zero(&allocator, sizeof *block);
    if (!block) return &no_context;
    hdst_context *context = &block->context;
    block->options = *options;
    context->allocator = context->hook = allocator;
    context->unchecked = options->unchecked;
    context->log = (hdst__log){options->log ? log_through : NULL, &block->options, (hdst__log_level)options->log_level};
    hdst__progress_init(&context->progress, options->progress ? progress_through : NULL, &block->options);
    if (pthread_mutex_init(&context->lock, NULL) != 0) {
        hdst__free(&allocator, block);
        return &no_context;
    }
    context->object.context = context;
    return context;
}

static bool copy_text(hdst_context *context, char **to, const char *from)
{
    *to = from ? hdst__strdup(&context->hook, from) : NULL;
    return !from || *to;
}

static hdst_status check_options(const hdst_context_options *options, hdst_error *error)
{
    const hdst_allocator hook = options->allocator;
    if ((hook.allocate || hook.reallocate || hook.release) && !(hook.allocate && hook.reallocate && hook.release)) {
        hdst__error_set(error, HDST_E_USAGE, "the allocator has only some of allocate, reallocate and release");
        hdst__error_hint(error, "set all three functions or none");
        return HDST_E_USAGE;
    }
    hdst_status status = hdst__device_list_check(options->device, error);
    if (status != HDST_OK) return status;
    if ((unsigned)options->log_level > HDST_LOG_DEBUG)
        return hdst__error_set(error, HDST_E_USAGE, "log_level is %d, which means nothing", (int)options->log_level);
    if ((unsigned)options->on_error > HDST_ON_ERROR_SKIP)
        return hdst__error_set(error, HDST_E_USAGE, "on_error is %d, which means nothing", (int)options->on_error);
    if ((unsigned)options->tuning > HDST_TUNING_FULL) {
        hdst__error_set(error, HDST_E_USAGE, "tuning is %d, which means nothing", (int)options->tuning);
        hdst__error_hint(error, "HDST_TUNING_AUTO, HDST_TUNING_OFF or HDST_TUNING_FULL");
        return HDST_E_USAGE;
    }
    if ((unsigned)options->policy > HDST_POLICY_DYNAMIC) {
        hdst__error_set(error, HDST_E_USAGE, "policy is %d, which means nothing", (int)options->policy);
        hdst__error_hint(error, "HDST_POLICY_AUTO, HDST_POLICY_STATIC or HDST_POLICY_DYNAMIC");
        return HDST_E_USAGE;
    }
    if (options->cpu_parts > HDST__MOST_CPU_PARTS)
        return hdst__error_set(error, HDST_E_USAGE, "cpu_parts is %u, the most is %d", options->cpu_parts, HDST__MOST_CPU_PARTS);
    if ((unsigned)options->hpr <= HDST_HPR_CLUSTER) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "hpr is %d, which means nothing", (int)options->hpr);
    hdst__error_hint(error, "HDST_HPR_AUTO, HDST_HPR_NONE, HDST_HPR_BLOCK, HDST_HPR_DEVICE, HDST_HPR_NODE or HDST_HPR_CLUSTER");
    return HDST_E_USAGE;
}

hdst_context *hdst_context_create(const hdst_context_options *given)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = read_options(&options, given, &error);
    if (status == HDST_OK) status = check_options(&options, &error);
    if (status != HDST_OK) options.allocator = (hdst_allocator){0};     // whose parts may be missing
    hdst_context *context = allocate_context(&options);
    if (context == &no_context) return context;
    if (status == HDST_OK && options.trace) status = hdst__timeline_create(&context->hook, &context->log, options.trace, &context->timeline, &error);
    if (status != HDST_OK) {
        hdst__object_fail(&context->object, &error);
        return context;
    }
    if (copy_text(context, &context->device, options.device) && copy_text(context, &context->cache_dir, options.cache_dir) &&
        copy_text(context, &context->replay_dir, options.replay_dir))
        context->engine = hdst__engine_create(&(hdst__engine_options){
            .allocator = &context->hook, .log = &context->log, .cancel = &context->cancel, .device = context->device, .memory = options.memory,
            .device_memory = options.device_memory, .skip_failed = options.on_error == HDST_ON_ERROR_SKIP, .fast_sums = options.fast_sums,
            .tuning = (hdst__tuning_mode)options.tuning, .hpr = (hdst__hpr)options.hpr, .cache_dir = context->cache_dir,
            .policy = (hdst__sharing)options.policy, .cpu_parts = options.cpu_parts, .timeline = context->timeline,
            .progress = options.progress ? &context->progress : NULL});
    if (context->engine) context->allocator = *hdst__engine_allocator(context->engine);
    else context->object.error = &hdst__no_memory;
    return context;
}

void hdst_context_destroy(hdst_context *context)
{
    if (!context || !context->object.context) return;
    if (context->engine) hdst__engine_look_for_fork(context->engine);
    hdst__jobs_end(context);
    hdst__object_free_all(context);
    for (size_t i = 0; i < context->mapped_count; i++) hdst__rows_free(hdst__engine_runtime(context->engine), &context->mapped[i]);
    hdst__free(&context->allocator, context->mapped);
    if (context->object.error != &hdst__no_memory) hdst__free(&context->allocator, context->object.error);
    hdst__timeline_flush(context->timeline);
    if (context->engine && hdst__engine_given_up(context->engine)) return;     // a device may still use what there was
    if (context->engine) hdst__engine_destroy(context->engine);
    hdst__timeline_destroy(context->timeline);
    hdst__allocator allocator = context->hook;
    hdst__free(&allocator, context->device);
    hdst__free(&allocator, context->cache_dir);
    hdst__free(&allocator, context->replay_dir);
    pthread_mutex_destroy(&context->lock);
    hdst__progress_destroy(&context->progress);
    hdst__free(&allocator, context);
}

hdst_status hdst_context_status(const hdst_context *context, hdst_error *error) { return hdst__check_alive(__func__, "context", context, error); }

void hdst_context_cancel(hdst_context *context)
{
    if (context && context->object.context) hdst__cancel_ask(&context->cancel);
}

static void publish_device(const hdst__device_info *from, hdst_device_info *to)
{
    *to = (hdst_device_info){.index = from->index, .device_class = (hdst_device_class)from->class_, .compute_units = from->compute_units,
        .memory_bytes = from->memory_bytes, .local_bytes = from->local_bytes, .has_double = from->has_double, .usable = from->usable};
    memcpy(to->name, from->name, sizeof to->name);
    memcpy(to->platform, from->platform, sizeof to->platform);
    memcpy(to->driver, from->driver, sizeof to->driver);
    memcpy(to->why_not, from->why_not, sizeof to->why_not);
}

static hdst_status list_devices(hdst_context *context, const hdst__device_info **devices, size_t *count, hdst_error *error)
{
    const char *note;
    return hdst__engine_devices(context->engine, devices, count, &note, error);
}

hdst_status hdst_device_count(hdst_context *context, uint32_t *count, hdst_error *error)
{
    const hdst__device_info *devices;
    size_t n = 0;
    if (count) *count = 0;
    hdst_status status = hdst__check_alive(__func__, "context", context, error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "count", count, error);
    if (status != HDST_OK) return status;
    hdst__lock(context);
    status = list_devices(context, &devices, &n, error);
    hdst__unlock(context);
    *count = status == HDST_OK ? (uint32_t)n : 0;
    return status;
}

hdst_status hdst_device_get(hdst_context *context, uint32_t position, hdst_device_info *info, hdst_error *error)
{
    const hdst__device_info *devices;
    size_t n = 0;
    hdst_status status = hdst__check_alive(__func__, "context", context, error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "info", info, error);
    if (status != HDST_OK) return status;
    hdst__lock(context);
    status = list_devices(context, &devices, &n, error);
    if (status == HDST_OK && position < n) publish_device(&devices[position], info);
    else if (status == HDST_OK) status = hdst__error_set(error, HDST_E_USAGE, "device position %u; there are %zu devices", position, n);
    hdst__unlock(context);
    return status;
}

hdst_status hdst_device_chosen(hdst_context *context, hdst_device_info *info, hdst_error *error)
{
    const hdst__device_info *device;
    hdst_status status = hdst__check_alive(__func__, "context", context, error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "info", info, error);
    if (status != HDST_OK) return status;
    hdst__lock(context);
    if (status == HDST_OK) status = hdst__engine_device(context->engine, &device, error);
    if (status == HDST_OK) publish_device(device, info);
    hdst__unlock(context);
    return status;
}
