// SPDX-License-Identifier: Apache-2.0
// Opens files and folders by name, for all of the library (base/files.h).
#define _GNU_SOURCE     // strerror_r that returns the text
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(int fd, int number, const char *words, char reason[HDST__REASON_BYTES])
{
    char system[HDST__REASON_BYTES];        // strerror is not thread-safe
    snprintf(reason, HDST__REASON_BYTES, "%s", words ? words : strerror_r(number, system, sizeof system));
    if (fd >= 0) close(fd);
    errno = number;
    return -1;
}

static const char *what_it_is(mode_t mode)
{
    return S_ISDIR(mode) ? "it is a folder, not a file" : S_ISFIFO(mode) ? "it is a pipe, not a regular file" : "it is a device or socket, not a regular file";
}

int hdst__open_regular(const char *path, int flags, char reason[HDST__REASON_BYTES])
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (fd < 0) return refuse(fd, errno, errno == ENXIO ? what_it_is(S_IFSOCK) : NULL, reason);
    if (fstat(fd, &status)) return refuse(fd, errno, NULL, reason);
    return S_ISREG(status.st_mode) ? fd : refuse(fd, EINVAL, what_it_is(status.st_mode), reason);
}

// An existing parent may lie in a folder that cannot be written to, so failing to make a parent only matters when the folder
// below it cannot be made either: then the message names the parent.
bool hdst__make_folders(const char *path, char *reason, size_t reason_bytes)
{
    char part[PATH_MAX], system[HDST__REASON_BYTES];
    size_t length = strlen(path), told = 0;
    int number = 0;
    for (size_t end = 1; end <= length && length < sizeof part; end++) {
        if (end < length && path[end] != '/') continue;
        memcpy(part, path, end);
        part[end] = 0;
        if (mkdir(part, 0700) == 0 || errno == EEXIST) number = 0;
        else if (!number) number = errno, told = end;
    }
    if (length >= sizeof part) number = ENAMETOOLONG, told = length;
    if (!number) return true;
    snprintf(reason, reason_bytes, "cannot make the folder %.*s: %s", (int)told, path, strerror_r(number, system, sizeof system));
    errno = number;
    return false;
}
