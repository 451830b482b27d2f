// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use (base/processors.h).
#define _GNU_SOURCE     // sched_getaffinity
#include "base/processors.h"

#include "base/cgroup.h"

#include <stdbool.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// "0-3,8,10-11"
static void parse_list(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (char *end; *text && *text != '\n'; text = *end == ',' ? end + 1 : end) {
        const unsigned long first = strtoul(text, &end, 10);
        if (end == text) return;
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        for (unsigned long c = first; c <= last && c < CPU_SETSIZE; c++) CPU_SET(c, set);
    }
}

void hdst__processors_find_nodes(hdst__processors *processors, const char *folder)
{
    processors->nodes = 0;
    for (int i = 0; i < HDST__PROCESSOR_NODES; i++) {
        char name[512], text[1 << 14];        // each second of 2048 processors
        snprintf(name, sizeof name, "%s/node%d/cpulist", folder, i);
        FILE *file = fopen(name, "r");
        if (!file) continue;            // numbers may have gaps
        cpu_set_t *node = &processors->node[processors->nodes];
        CPU_ZERO(node);
        if (fgets(text, sizeof text, file)) parse_list(text, node);
        fclose(file);
        CPU_AND(node, node, &processors->allowed);
        if (CPU_COUNT(node)) processors->nodes++;
    }
}

void hdst__processors_find(hdst__processors *processors)
{
    CPU_ZERO(&processors->allowed);
    const bool told = sched_getaffinity(0, sizeof processors->allowed, &processors->allowed) == 0;      // not on machines of more than CPU_SETSIZE
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    processors->count = told ? (uint32_t)CPU_COUNT(&processors->allowed) : online > 0 ? (uint32_t)online : 1;
    char membership[4096];
    hdst__cgroup_membership(membership, sizeof membership);
    const double time = ceil(hdst__cgroup_processors(membership, "/sys/fs/cgroup"));
    if (time < processors->count) processors->count = (uint32_t)time;
    if (processors->count == 0) processors->count = 1;
    hdst__processors_find_nodes(processors, "/sys/devices/system/node");
}

static const cpu_set_t *node_of(const hdst__processors *processors, size_t processor)
{
    for (uint32_t n = 0; n < processors->nodes; n++)
        if (CPU_ISSET(processor, &processors->node[n])) return &processors->node[n];
    return NULL;
}

const cpu_set_t *hdst__processors_of_thread(const hdst__processors *processors, uint32_t i, uint32_t count)
{
    if (processors->nodes < 2) return NULL;
    const uint64_t allowed = (uint64_t)CPU_COUNT(&processors->allowed);
    uint64_t nth = count <= allowed ? i * allowed / count : i % allowed;
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &processors->allowed) && nth-- == 0) return node_of(processors, c);
    return NULL;
}
