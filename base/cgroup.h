// SPDX-License-Identifier: Apache-2.0
// What the cgroups of this process allow it (v2 and v1), and all groups above them: memory and processor time.
#ifndef HDST_BASE_CGROUP_H
#define HDST_BASE_CGROUP_H

#include <stddef.h>
#include <stdint.h>

// The text of /proc/self/cgroup, "" where there is none; what does not fit is left out.
void hdst__cgroup_membership(char *text, size_t bytes);
// Of the cgroups that `membership` names below `mount` ("/sys/fs/cgroup"), the least limit of memory in bytes, and of processor time in processors: 1.5
// is one and a half all the time. UINT64_MAX, INFINITY: none.
uint64_t hdst__cgroup_memory_limit(const char *membership, const char *mount);
double hdst__cgroup_processors(const char *membership, const char *mount);

#endif
