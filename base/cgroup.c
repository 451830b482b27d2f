// SPDX-License-Identifier: Apache-2.0
// What the cgroups of this process allow it (base/cgroup.h).
#include "base/cgroup.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct controller {
    const char *name;                           // of v1
    double (*limit)(const char *group, bool v1);        // of the group whose folder that is; INFINITY: none
} controller;

// The first line of a file of the group; false: there is none.
static bool read_line(const char *group, const char *file, char *text, int bytes)
{
    char name[2100];
    snprintf(name, sizeof name, "%s/%s", group, file);
    FILE *stream = fopen(name, "r");
    if (!stream) return false;
    const bool read = fgets(text, bytes, stream);
    fclose(stream);
    return read;
}

static double memory_limit(const char *group, bool v1)
{
    char text[64], *end;
    if (!read_line(group, v1 ? "memory.limit_in_bytes" : "memory.max", text, sizeof text)) return INFINITY;
    const uint64_t limit = strtoull(text, &end, 10);
    // "max" has no digits; v1 says "no limit" with a number just below 2^63.
    return end == text || limit >= UINT64_MAX / 4 ? INFINITY : (double)limit;
}

// v2 has "150000 100000", time in each period, or "max 100000"; v1 a file for each of them, and -1.
static double processor_limit(const char *group, bool v1)
{
    char text[64], second[64], *end;
    if (!read_line(group, v1 ? "cpu.cfs_quota_us" : "cpu.max", text, sizeof text)) return INFINITY;
    const double quota = strtod(text, &end);
    if (end == text || quota <= 0) return INFINITY;
    if (v1 && !read_line(group, "cpu.cfs_period_us", second, sizeof second)) return INFINITY;
    const double period = strtod(v1 ? second : end, NULL);
    return period > 0 ? quota / period : INFINITY;
}

// The least limit of the cgroup `path` below `root` and of all above it: the limits of parents hold too.
static double walk_up(const char *root, const char *path, const controller *of, bool v1)
{
    char current[1024], group[2048];
    snprintf(current, sizeof current, "%s", path);
    double least = INFINITY;
    for (;;) {
        snprintf(group, sizeof group, "%s%s", root, strcmp(current, "/") ? current : "");
        least = fmin(least, of->limit(group, v1));
        char *slash = strrchr(current, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

// One line of /proc/self/cgroup: "0::/path" (v2) or "5:memory,cpu:/path" (v1). False when it says nothing about the controller that is wanted.
static bool parse_line(char *line, const char *wanted, const char **path, bool *v1)
{
    char *controllers = strchr(line, ':');
    char *where = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!where) return false;
    *controllers++ = 0;
    *where++ = 0;
    *path = where;
    *v1 = *controllers != 0;
    if (!*v1) return strcmp(line, "0") == 0;
    char *rest = NULL;
    for (char *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (strcmp(name, wanted) == 0) return true;
    return false;
}

static double least_limit(const char *membership, const char *mount, const controller *of)
{
    double least = INFINITY;
    while (*membership) {
        const size_t length = strcspn(membership, "\n");
        char line[1024], root[512];
        if (length < sizeof line) {
            memcpy(line, membership, length);
            line[length] = 0;
            const char *path;
            bool v1;
            if (parse_line(line, of->name, &path, &v1)) {
                snprintf(root, sizeof root, "%s%s%s", mount, v1 ? "/" : "", v1 ? of->name : "");
                least = fmin(least, walk_up(root, path, of, v1));
            }
        }
        membership += length + (membership[length] == '\n');
    }
    return least;
}

void hdst__cgroup_membership(char *text, size_t bytes)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    const size_t length = file ? fread(text, 1, bytes - 1, file) : 0;
    if (file) fclose(file);
    text[length] = 0;
}

uint64_t hdst__cgroup_memory_limit(const char *membership, const char *mount)
{
    const double limit = least_limit(membership, mount, &(controller){"memory", memory_limit});
    return isinf(limit) ? UINT64_MAX : (uint64_t)limit;
}

double hdst__cgroup_processors(const char *membership, const char *mount)
{
    return least_limit(membership, mount, &(controller){"cpu", processor_limit});
}
