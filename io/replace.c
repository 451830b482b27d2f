// SPDX-License-Identifier: Apache-2.0
// A file that takes the place of another one, whole or not at all (io/replace.h).
#define _GNU_SOURCE     // O_TMPFILE
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SLOTS = 16,             // numbers of temporary names that are looked at for remains
    MOST_SLOTS = 1000,      // that many may write the same file at once
    LONGEST_NAME = 200,     // bytes of the target's name in a temporary one: NAME_MAX less the rest, with room to spare
    MOST_LINKS = 40,        // as the kernel follows
    LONGEST_LINK = 4096,
};

static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path + 1) : 0;
}

// --- What is replaced ---

// The path that a link leads to, relative to the link's folder. Frees `path`.
static char *follow(const hdst__allocator *allocator, char *path, const char *text)
{
    const int folder = *text == '/' ? 0 : folder_length(path);
    const size_t bytes = (size_t)folder + strlen(text) + 1;
    char *to = hdst__alloc(allocator, bytes);
    if (to) snprintf(to, bytes, "%.*s%s", folder, path, text);
    hdst__free(allocator, path);
    return to;
}

// Follows links, also one to a file that does not exist yet: that file will be made.
static int follow_links(hdst__replacement *r)
{
    char text[LONGEST_LINK + 1];
    for (int i = 0; r->target && i < MOST_LINKS; i++) {
        const ssize_t n = readlink(r->target, text, LONGEST_LINK);
        if (n < 0) return 0;
        text[n] = 0;
        r->target = follow(r->allocator, r->target, text);
    }
    return r->target ? ELOOP : ENOMEM;
}

// --- Temporary names ---

static void name_slot(hdst__replacement *r, size_t size, unsigned slot)
{
    const int folder = folder_length(r->target);
    snprintf(r->temporary, size, "%.*s.%.*s.hdst-%u.tmp", folder, r->target, LONGEST_NAME, r->target + folder, slot);
}

static bool has_name(int fd, const char *name)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && lstat(name, &named) == 0 && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Removes a file that a dead process left: nobody holds its lock. Only the holder of the lock may remove or give up the name, so
// the name stays the same file's meanwhile.
static void remove_remains(const char *name)
{
    struct stat status;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd, name))
        unlink(name);
    close(fd);
}

// Before the new file is locked another process may take it for remains and remove it: then the next number is tried.
static bool lock(int fd, const char *name)
{
    return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && has_name(fd, name);
}

// --- The new file ---

// -1: the file system, or a system without /proc, does not do it.
static int open_nameless(const hdst__replacement *r, char *folder, mode_t mode)
{
    char handle[32];
    const int length = folder_length(r->target);
    snprintf(folder, (size_t)length + 2, "%.*s", length ? length : 1, length ? r->target : ".");
    const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    snprintf(handle, sizeof handle, "/proc/self/fd/%d", fd);
    if (fd < 0 || (access(handle, F_OK) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)) return fd;
    close(fd);
    return -1;
}

static int open_named(hdst__replacement *r, size_t size, mode_t mode)
{
    for (unsigned slot = 0; slot < MOST_SLOTS; slot++) {
        name_slot(r, size, slot);
        r->fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (r->fd < 0 && errno != EEXIST) return errno;
        if (r->fd < 0) continue;
        r->named = true;
        if (lock(r->fd, r->temporary)) return 0;
        close(r->fd);
        r->fd = -1;
        r->named = false;
    }
    return EEXIST;
}

// Gives the new file the owner, group and mode of the old one. Where the group cannot be kept, the new group gets no more rights
// than all others, since its members are not those of the old one.
static int keep_mode(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    struct stat status;
    if (fstat(fd, &status)) return errno;
    if (status.st_uid != old->st_uid && fchown(fd, old->st_uid, (gid_t)-1)) errno = 0;      // only root can
    if (status.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid)) mode &= ~(mode_t)070 | (mode & 07) << 3;
    return fchmod(fd, mode) ? errno : 0;
}

static int make(hdst__replacement *r, size_t size, mode_t mode)
{
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        name_slot(r, size, slot);
        remove_remains(r->temporary);
    }
    r->fd = open_nameless(r, r->temporary, mode);
    return r->fd >= 0 ? 0 : open_named(r, size, mode);
}

static size_t name_bytes(const hdst__replacement *r) { return strlen(r->target) + 64; }

int hdst__replacement_open(hdst__replacement *r, const hdst__allocator *allocator, const char *path, bool is_private)
{
    struct stat old;
    *r = (hdst__replacement){.allocator = allocator, .fd = -1, .target = hdst__strdup(allocator, path)};
    // stat first: the kernel does not follow others' links in folders that all may write, and says so here.
    const bool replaces = !is_private && stat(path, &old) == 0;
    if (!is_private && !replaces && errno != ENOENT) return errno;
    int number = r->target ? is_private ? 0 : follow_links(r) : ENOMEM;
    if (number) return number;
    r->temporary = hdst__alloc(allocator, name_bytes(r));
    if (!r->temporary) return ENOMEM;
    number = make(r, name_bytes(r), is_private ? 0600 : replaces ? old.st_mode & 0777 & 0666 : 0666);
    return number || !replaces ? number : keep_mode(r->fd, &old);
}

// --- The change ---

static int give_name(hdst__replacement *r)
{
    char handle[32];
    snprintf(handle, sizeof handle, "/proc/self/fd/%d", r->fd);
    for (unsigned slot = 0; slot < MOST_SLOTS; slot++) {
        name_slot(r, name_bytes(r), slot);
        if (linkat(AT_FDCWD, handle, AT_FDCWD, r->temporary, AT_SYMLINK_FOLLOW) == 0) {
            r->named = true;
            return 0;
        }
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

int hdst__replacement_commit(hdst__replacement *r)
{
    if (fsync(r->fd)) return errno;
    const int number = r->named ? 0 : give_name(r);
    if (number) return number;
    if (rename(r->temporary, r->target)) return errno;
    r->named = false;
    return 0;
}

void hdst__replacement_close(hdst__replacement *r)
{
    if (r->named) unlink(r->temporary);         // before the lock goes
    if (r->fd >= 0) close(r->fd);
    hdst__free(r->allocator, r->target);
    hdst__free(r->allocator, r->temporary);
    *r = (hdst__replacement){.fd = -1};
}
