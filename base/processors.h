// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use: its affinity, its cgroups' time, and which of them are near to which memory (NUMA nodes).
#ifndef HDST_BASE_PROCESSORS_H
#define HDST_BASE_PROCESSORS_H

// cpu_set_t is the C library's only with _GNU_SOURCE.
#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first header"
#endif
#include <sched.h>
#include <stdint.h>

enum { HDST__PROCESSOR_NODES = 64 };

typedef struct hdst__processors {
    cpu_set_t allowed;                          // none: the system did not say
    uint32_t count;                             // that are busy all the time at most, 1 or more: of those allowed, and less where the cgroups' time says so
    uint32_t nodes;                             // with processors that are allowed; 0 and 1: all memory is equally near
    cpu_set_t node[HDST__PROCESSOR_NODES];      // those of them that are allowed
} hdst__processors;

void hdst__processors_find(hdst__processors *processors);
// Notes the nodes of a folder as /sys/devices/system/node: node0/cpulist "0-3,8-11" and so on.
void hdst__processors_find_nodes(hdst__processors *processors, const char *folder);
// Where thread `i` of `count` is to stay, in turn by the processors of all nodes; NULL: anywhere.
const cpu_set_t *hdst__processors_of_thread(const hdst__processors *processors, uint32_t i, uint32_t count);

#endif
