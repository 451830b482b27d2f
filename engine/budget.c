// SPDX-License-Identifier: Apache-2.0
#include "engine/budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hdst__budget_init(hdst__budget *budget, const char *name, const char *option, uint64_t limit)
{
    budget->name = name;
    budget->option = option;
    budget->limit = limit;
    atomic_init(&budget->used, 0);
    atomic_init(&budget->peak, 0);
}

bool hdst__budget_reserve(hdst__budget *budget, uint64_t bytes)
{
    uint64_t used = atomic_load(&budget->used), next;
    do {
        if (bytes > budget->limit || used > budget->limit - bytes) return false;
        next = used + bytes;
    } while (!atomic_compare_exchange_weak(&budget->used, &used, next));
    uint64_t peak = atomic_load(&budget->peak);
    while (peak < next && !atomic_compare_exchange_weak(&budget->peak, &peak, next)) {}
    return true;
}

void hdst__budget_release(hdst__budget *budget, uint64_t bytes)
{
    atomic_fetch_sub(&budget->used, bytes);
}

uint64_t hdst__budget_left(const hdst__budget *budget)
{
    uint64_t used = atomic_load(&budget->used);
    return used < budget->limit ? budget->limit - used : 0;
}

void *hdst__budget_alloc(hdst__budget *budget, const hdst__allocator *allocator, uint64_t bytes, const char *what, hdst_error *error)
{
    if (!hdst__budget_reserve(budget, bytes)) {
        hdst__budget_error(budget, bytes, what, error);
        return NULL;
    }
    void *memory = hdst__alloc(allocator, bytes ? bytes : 1);
    if (memory) return memory;
    hdst__budget_release(budget, bytes);
    hdst__error_memory(error, what);
    return NULL;
}

void hdst__budget_free(hdst__budget *budget, const hdst__allocator *allocator, void *memory, uint64_t bytes)
{
    if (!memory) return;
    hdst__free(allocator, memory);
    hdst__budget_release(budget, bytes);
}

const char *hdst__bytes_text(uint64_t bytes, char text[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit < 6) value /= 1024, unit++;
    snprintf(text, 24, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

hdst_status hdst__budget_error(const hdst__budget *budget, uint64_t bytes, const char *what, hdst_error *error)
{
    char wanted[24], left[24], limit[24];
    hdst__error_set(error, HDST_E_MEMORY, "%s: %s needs %s, %s of %s are left", budget->name, what, hdst__bytes_text(bytes, wanted),
                    hdst__bytes_text(hdst__budget_left(budget), left), hdst__bytes_text(budget->limit, limit));
    hdst__error_hint(error, "raise it with %s, or use smaller tables or fewer cached datasets", budget->option);
    return HDST_E_MEMORY;
}

// --- What the machine and its cgroups allow ---

static uint64_t read_limit(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return UINT64_MAX;
    char text[64] = "";
    if (!fgets(text, sizeof text, file)) text[0] = 0;
    fclose(file);
    char *end;
    uint64_t limit = strtoull(text, &end, 10);
    // "max" has no digits; v1 says "no limit" with a number just below 2^63.
    return end == text || limit >= UINT64_MAX / 4 ? UINT64_MAX : limit;
}

// The least limit of the cgroup `path` below `root` and of all above it: the limits of parents hold too.
static uint64_t walk_up(const char *root, const char *path, const char *file)
{
    char current[1024], name[2080];
    snprintf(current, sizeof current, "%s", path);
    uint64_t least = UINT64_MAX;
    for (;;) {
        snprintf(name, sizeof name, "%s%s/%s", root, strcmp(current, "/") ? current : "", file);
        uint64_t limit = read_limit(name);
        if (limit < least) least = limit;
        char *slash = strrchr(current, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

// One line of /proc/self/cgroup: "0::/path" (v2) or "5:memory,cpu:/path" (v1). False when it says nothing about memory.
static bool parse_line(char *line, const char **file, const char **path, bool *v1)
{
    char *controllers = strchr(line, ':');
    char *where = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!where) return false;
    *controllers++ = 0;
    *where++ = 0;
    *path = where;
    *v1 = *controllers != 0;
    *file = *v1 ? "memory.limit_in_bytes" : "memory.max";
    if (!*v1) return strcmp(line, "0") == 0;
    char *rest = NULL;
    for (char *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (strcmp(name, "memory") == 0) return true;
    return false;
}

uint64_t hdst__cgroup_memory_limit(const char *membership, const char *mount)
{
    uint64_t least = UINT64_MAX;
    while (*membership) {
        size_t length = strcspn(membership, "\n");
        char line[1024], root[512];
        if (length < sizeof line) {
            memcpy(line, membership, length);
            line[length] = 0;
            const char *file, *path;
            bool v1;
            if (parse_line(line, &file, &path, &v1)) {
                snprintf(root, sizeof root, "%s%s", mount, v1 ? "/memory" : "");
                uint64_t limit = walk_up(root, path, file);
                if (limit < least) least = limit;
            }
        }
        membership += length + (membership[length] == '\n');
    }
    return least;
}

uint64_t hdst__host_memory_limit(void)
{
    uint64_t limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGE_SIZE);
    char text[4096];
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (!file) return limit;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    uint64_t cgroup = hdst__cgroup_memory_limit(text, "/sys/fs/cgroup");
    return cgroup < limit ? cgroup : limit;
}
