// SPDX-License-Identifier: Apache-2.0
// Files without a name (base/temporary_file.h).
#define _GNU_SOURCE     // mkostemp
#include "base/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t most_at_once = (uint64_t)1 << 30;     // of one call to the system

int hdst__temporary_file(char folder[HDST__TEMPORARY_FOLDER_BYTES])
{
    const char *wanted = getenv("TMPDIR");
    char path[HDST__TEMPORARY_FOLDER_BYTES + 24];
    if (!wanted || !*wanted) wanted = "/tmp";
    snprintf(folder, HDST__TEMPORARY_FOLDER_BYTES, "%s", wanted);
    if (strlen(wanted) >= HDST__TEMPORARY_FOLDER_BYTES) return errno = ENAMETOOLONG, -1;
    snprintf(path, sizeof path, "%s/hdst-XXXXXX", folder);
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

void hdst__temporary_file_look(hdst__runtime *runtime, int fd, const char *folder)
{
    hdst__temporary_files *files = runtime ? &runtime->files : NULL;
    if (!files || files->are_in_memory || !files->in_memory || !files->in_memory(fd) || atomic_exchange(&files->are_in_memory, true)) return;
    hdst__log_write(&runtime->log, HDST__LOG_WARN,
                    "temporary files in '%s' take memory beside the memory budget, as that folder is memory itself (tmpfs); "
                    "let TMPDIR name a folder on a disk",
                    folder);
}

int hdst__write_at(int fd, uint64_t offset, const void *data, uint64_t bytes, uint64_t *done)
{
    for (*done = 0; *done < bytes;) {
        const uint64_t left = bytes - *done;
        const ssize_t n = pwrite(fd, (const char *)data + *done, left < most_at_once ? left : most_at_once, (off_t)(offset + *done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        *done += (uint64_t)n;
    }
    return 0;
}

int hdst__read_at(int fd, uint64_t offset, void *data, uint64_t bytes, uint64_t *done)
{
    for (*done = 0; *done < bytes;) {
        const uint64_t left = bytes - *done;
        const ssize_t n = pread(fd, (char *)data + *done, left < most_at_once ? left : most_at_once, (off_t)(offset + *done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        *done += (uint64_t)n;
    }
    return 0;
}
