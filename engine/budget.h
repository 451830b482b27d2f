// SPDX-License-Identifier: Apache-2.0
// Memory budgets as objects: whoever takes much memory reserves it first and gives it back later. One budget for the host, one per device.
#ifndef HDST_ENGINE_BUDGET_H
#define HDST_ENGINE_BUDGET_H

#include "base/alloc.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__budget {
    const char *name;           // "host memory", "device memory": for messages
    const char *option;         // the option that raises it: "--memory"
    uint64_t limit;             // bytes
    _Atomic uint64_t used, peak;
} hdst__budget;

void hdst__budget_init(hdst__budget *budget, const char *name, const char *option, uint64_t limit);
// Thread-safe. False, with nothing reserved, when the limit would be passed.
bool hdst__budget_reserve(hdst__budget *budget, uint64_t bytes);
void hdst__budget_release(hdst__budget *budget, uint64_t bytes);
uint64_t hdst__budget_left(const hdst__budget *budget);
// Memory that counts towards the budget. NULL: no room in the budget, or none at all; the error says what it was for. `bytes` are given back with it; NULL is fine.
void *hdst__budget_alloc(hdst__budget *budget, const hdst__allocator *allocator, uint64_t bytes, const char *what, hdst_error *error);
void hdst__budget_free(hdst__budget *budget, const hdst__allocator *allocator, void *memory, uint64_t bytes);
// HDST_E_MEMORY: what was wanted for what, what is left of the limit, which option raises it.
hdst_status hdst__budget_error(const hdst__budget *budget, uint64_t bytes, const char *what, hdst_error *error);

// What this process may use at most, bytes: the machine's memory, or less where a cgroup (v2 or v1) says so.
uint64_t hdst__host_memory_limit(void);
// The least memory limit of the cgroups that `membership` (the text of /proc/self/cgroup) names below `mount` ("/sys/fs/cgroup"); UINT64_MAX: none.
uint64_t hdst__cgroup_memory_limit(const char *membership, const char *mount);

// "1.5 GiB", "300 B": for people; the text is cut at the size of `text`.
const char *hdst__bytes_text(uint64_t bytes, char text[24]);

#endif
