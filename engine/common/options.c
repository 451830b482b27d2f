// SPDX-License-Identifier: Apache-2.0
// What an engine is created with (engine/common/options.h).
#include "engine/common/options.h"

#include "base/thread_pool.h"

#include <stdlib.h>
#include <string.h>

static hdst__tuning_mode tuning_mode(const hdst__engine_options *options)
{
    static const char *const names[] = {"auto", "off", "full"};
    const char *text = getenv("HDST_TUNING");
    if (options->tuning != HDST__TUNING_AUTO || !text || !*text) return options->tuning;
    for (int i = HDST__TUNING_AUTO; i <= HDST__TUNING_FULL; i++)
        if (strcmp(text, names[i]) == 0) return (hdst__tuning_mode)i;
    hdst__log_write(options->log, HDST__LOG_WARN, "HDST_TUNING is '%s', not auto, off or full: taking auto", text);
    return HDST__TUNING_AUTO;
}

static hdst__hpr highest_level(const hdst__engine_options *options)
{
    const char *text = getenv("HDST_HPR");
    if (options->hpr != HDST__HPR_AUTO) return options->hpr;
    if (!text || !*text) return HDST__HPR_CLUSTER;
    for (hdst__hpr level = HDST__HPR_NONE; level <= HDST__HPR_CLUSTER; level++)
        if (strcmp(text, hdst__hpr_name(level)) == 0) return level;
    hdst__log_write(options->log, HDST__LOG_WARN, "HDST_HPR is '%s', not none, block, device, node or cluster: taking cluster", text);
    return HDST__HPR_CLUSTER;
}

static uint32_t thread_count(const hdst__engine_options *options)
{
    const char *text = getenv("HDST_THREADS");
    if (options->threads || !text || !*text) return options->threads;
    char *end;
    const unsigned long count = strtoul(text, &end, 10);
    if (!*end && *text >= '1' && *text <= '9') return count < HDST__MOST_THREADS ? (uint32_t)count : HDST__MOST_THREADS;
    hdst__log_write(options->log, HDST__LOG_WARN, "HDST_THREADS is '%s', not a number of threads: taking one for each processor", text);
    return 0;
}

static hdst__sharing sharing(const hdst__engine_options *options)
{
    static const char *const names[] = {"auto", "static", "dynamic"};
    const char *text = getenv("HDST_POLICY");
    if (options->policy != HDST__SHARING_AUTO || !text || !*text) return options->policy;
    for (int i = HDST__SHARING_AUTO; i <= HDST__SHARING_DYNAMIC; i++)
        if (strcmp(text, names[i]) == 0) return (hdst__sharing)i;
    hdst__log_write(options->log, HDST__LOG_WARN, "HDST_POLICY is '%s', not auto, static or dynamic: taking auto", text);
    return HDST__SHARING_AUTO;
}

static const char *named_devices(const hdst__engine_options *options)
{
    const char *text = getenv("HDST_DEVICES");
    if (options->device && *options->device) return options->device;
    return text && *text ? text : "all";
}

static uint32_t parts_of_cpus(const hdst__engine_options *options)
{
    const char *text = getenv("HDST_CPU_PARTS");
    if (options->cpu_parts || !text || !*text) return options->cpu_parts;
    char *end;
    const unsigned long parts = strtoul(text, &end, 10);
    if (!*end && text[0] != '-' && parts >= 1 && parts <= HDST__MOST_CPU_PARTS) return (uint32_t)parts;
    hdst__log_write(options->log, HDST__LOG_WARN, "HDST_CPU_PARTS is '%s', not a number from 1 to %d: CPU devices stay whole", text, HDST__MOST_CPU_PARTS);
    return 1;
}

static bool is_off(const hdst__engine_options *options, const char *name)
{
    const char *text = getenv(name);
    if (!text || !*text || strcmp(text, "on") == 0) return false;
    if (strcmp(text, "off") == 0) return true;
    hdst__log_write(options->log, HDST__LOG_WARN, "%s is '%s', not on or off: taking on", name, text);
    return false;
}

hdst__engine_options hdst__engine_options_resolve(const hdst__engine_options *options)
{
    hdst__engine_options resolved = *options;
    resolved.tuning = tuning_mode(options);
    resolved.hpr = highest_level(options);
    resolved.threads = thread_count(options);
    resolved.policy = sharing(options);
    resolved.device = named_devices(options);
    resolved.cpu_parts = parts_of_cpus(options);
    resolved.no_kernel_cache = is_off(options, "HDST_KERNEL_CACHE");
    resolved.no_mapping = is_off(options, "HDST_MAPPING");
    resolved.no_vectors = is_off(options, "HDST_VECTORS");
    return resolved;
}

const char *hdst__hpr_name(hdst__hpr hpr)
{
    static const char *const names[] = {"auto", "none", "block", "device", "node", "cluster"};
    return names[hpr];
}
