// SPDX-License-Identifier: Apache-2.0
// What lies in the kernel cache: for people who look after it.
#include "engine/device/program_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// "0123456789abcdef0123456789abcdef.bin"; what a process that died left behind has six more characters: ".bin.Ab3dEf".
static bool is_kept(const char *name, hdst__cached_kind *kind)
{
    static const char *const suffixes[] = {[HDST__CACHED_PROGRAM] = ".bin", [HDST__CACHED_NOTE] = ".note", [HDST__CACHED_POWER] = ".power",
                                           [HDST__CACHED_SOURCE] = ".cl"};
    if (strspn(name, "0123456789abcdef") != 32) return false;
    for (int i = 0; i < HDST__CACHED_KINDS - 1; i++) {
        const size_t length = strlen(suffixes[i]);
        if (strncmp(name + 32, suffixes[i], length) != 0) continue;
        const char *rest = name + 32 + length;
        *kind = *rest ? HDST__CACHED_REST : (hdst__cached_kind)i;
        return !*rest || (*rest == '.' && strlen(rest) == 7);
    }
    return false;
}

bool hdst__program_cache_visit(const hdst__program_cache *cache, hdst__cached_visitor visit, void *user)
{
    errno = 0;
    DIR *directory = cache->directory ? opendir(cache->directory) : NULL;
    if (!directory) return errno == ENOENT || errno == 0;
    bool go_on = true;
    struct dirent *entry;
    while (go_on && (errno = 0, entry = readdir(directory))) {
        hdst__cached_file file = {.directory = dirfd(directory), .name = entry->d_name};
        struct stat status;
        if (!is_kept(file.name, &file.kind) || fstatat(file.directory, file.name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
        file.bytes = (uint64_t)status.st_size;
        go_on = visit(&file, user);
    }
    const int cause = errno;
    closedir(directory);
    errno = cause;
    return go_on && !cause;
}
