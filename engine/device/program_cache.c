// SPDX-License-Identifier: Apache-2.0
// Compiled programs as files (engine/device/program_cache.h).
#include "engine/device/program_cache.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct header {         // of a file; little-endian like every machine hdst runs on
    char magic[8];
    uint64_t version, length;   // of the bytes that follow
    hdst__hash key, content;
} header;

static const char magic[8] = "hdstprog";
enum { FORMAT = 1, MAX_BYTES = 1 << 30 };

// --- The directory ---

static char *join(const hdst__allocator *allocator, const char *a, const char *b)
{
    size_t bytes = strlen(a) + strlen(b) + 2;
    char *path = hdst__alloc(allocator, bytes);
    if (path) snprintf(path, bytes, "%s%s%s", a, *b ? "/" : "", b);
    return path;
}

void hdst__program_cache_init(hdst__program_cache *cache, const hdst__allocator *allocator, const hdst__log *log, const char *wanted)
{
    *cache = (hdst__program_cache){.allocator = allocator, .log = log};
    const char *own = wanted && *wanted ? wanted : getenv("HDST_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && *own) cache->directory = join(allocator, own, "");
    else if (xdg && *xdg == '/') cache->directory = join(allocator, xdg, "hdst");
    else if (home && *home == '/') cache->directory = join(allocator, home, ".cache/hdst");
    else {
        snprintf(cache->why, sizeof cache->why, "neither HDST_CACHE_DIR, XDG_CACHE_HOME nor HOME is set");
        return;
    }
    if (!cache->directory) snprintf(cache->why, sizeof cache->why, "out of memory");
}

void hdst__program_cache_destroy(hdst__program_cache *cache)
{
    hdst__free(cache->allocator, cache->directory);
    *cache = (hdst__program_cache){0};
}

static void forget_directory(hdst__program_cache *cache)
{
    hdst__free(cache->allocator, cache->directory);
    cache->directory = NULL;
}

static void give_up(hdst__program_cache *cache, const char *what, const char *path)
{
    snprintf(cache->why, sizeof cache->why, "%s %s: %s", what, path, strerror(errno));
    forget_directory(cache);
}

// Machine code is loaded from here: nobody else may be able to write it.
static const char *why_not_private(const struct stat *status)
{
    if (!S_ISDIR(status->st_mode)) return "is not a folder";
    if (status->st_uid != geteuid()) return "belongs to another user";
    return status->st_mode & (S_IWGRP | S_IWOTH) ? "may be written by others (chmod go-w)" : NULL;
}

static bool trusted(hdst__program_cache *cache)
{
    struct stat status;
    if (stat(cache->directory, &status) != 0) return false;
    const char *why_not = why_not_private(&status);
    if (!why_not) return true;
    snprintf(cache->why, sizeof cache->why, "%.180s %s", cache->directory, why_not);
    forget_directory(cache);
    return false;
}

static bool make_directory(hdst__program_cache *cache)
{
    if (hdst__make_folders(cache->directory, cache->why, sizeof cache->why)) return trusted(cache);
    forget_directory(cache);
    return false;
}

static void warn_once(hdst__program_cache *cache)
{
    if (cache->warned) return;
    cache->warned = true;
    hdst__log_write(cache->log, HDST__LOG_WARN, "compiled kernels are kept in memory only: %s (set HDST_CACHE_DIR to a directory of yours)", cache->why);
}

bool hdst__program_cache_usable(hdst__program_cache *cache)
{
    if (cache->directory && make_directory(cache)) return true;
    warn_once(cache);
    return false;
}

// --- Files ---

static bool read_all(int file, void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = read(file, (char *)bytes + done, length - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = write(file, (const char *)bytes + done, length - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static char *file_name(hdst__program_cache *cache, const hdst__hash *key, const char *suffix)
{
    char hex[33], name[64];
    hdst__hash_hex(key, hex);
    snprintf(name, sizeof name, "%s%s", hex, suffix);
    return join(cache->allocator, cache->directory, name);
}

static void *read_checked(hdst__program_cache *cache, int file, const hdst__hash *key, size_t *length)
{
    header head;
    if (!read_all(file, &head, sizeof head) || memcmp(head.magic, magic, sizeof magic) != 0 || head.version != FORMAT) return NULL;
    if (memcmp(&head.key, key, sizeof *key) != 0 || head.length == 0 || head.length > MAX_BYTES) return NULL;
    void *bytes = hdst__alloc(cache->allocator, head.length);
    if (!bytes) return NULL;
    hdst__hash content = HDST__HASH_INIT;
    bool whole = read_all(file, bytes, head.length);
    if (whole) hdst__hash_add(&content, bytes, head.length);
    if (!whole || memcmp(&content, &head.content, sizeof content) != 0) {
        hdst__free(cache->allocator, bytes);
        return NULL;
    }
    *length = head.length;
    return bytes;
}

static void *read_named(hdst__program_cache *cache, const hdst__hash *key, const char *suffix, size_t *length)
{
    if (!cache->directory || !trusted(cache)) return NULL;
    char *name = file_name(cache, key, suffix);
    if (!name) return NULL;
    char reason[HDST__REASON_BYTES];
    const int file = hdst__open_regular(name, O_NOFOLLOW, reason);
    void *bytes = NULL;
    if (file >= 0) {
        bytes = read_checked(cache, file, key, length);
        if (!bytes) hdst__log_write(cache->log, HDST__LOG_DEBUG, "damaged or foreign file in the kernel cache, ignored: %s", name);
        close(file);
    }
    hdst__free(cache->allocator, name);
    return bytes;
}

static bool write_file(const char *name, const header *head, const void *bytes, size_t length)
{
    size_t room = strlen(name) + 16;
    char temporary[4096];
    if (room > sizeof temporary) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", name);
    int file = mkstemp(temporary);      // mode 0600
    if (file < 0) return false;
    bool good = (!head || write_all(file, head, sizeof *head)) && write_all(file, bytes, length);
    int cause = errno;
    good = close(file) == 0 && good && rename(temporary, name) == 0;
    if (!good) {
        if (!cause) cause = errno;
        unlink(temporary);
        errno = cause;
    }
    return good;
}

static void write_named(hdst__program_cache *cache, const hdst__hash *key, const char *suffix, const void *bytes, size_t length)
{
    if (!hdst__program_cache_usable(cache)) return;
    header head = {.version = FORMAT, .length = length, .key = *key, .content = HDST__HASH_INIT};
    memcpy(head.magic, magic, sizeof magic);
    hdst__hash_add(&head.content, bytes, length);
    char *name = file_name(cache, key, suffix);
    errno = ENOMEM;
    if (!name || !write_file(name, &head, bytes, length)) {
        give_up(cache, "cannot write to", cache->directory);
        warn_once(cache);
    }
    hdst__free(cache->allocator, name);
}

void *hdst__program_cache_read(hdst__program_cache *cache, const hdst__hash *key, size_t *length) { return read_named(cache, key, ".bin", length); }
void *hdst__program_cache_read_note(hdst__program_cache *cache, const hdst__hash *key, size_t *length) { return read_named(cache, key, ".note", length); }

void hdst__program_cache_write(hdst__program_cache *cache, const hdst__hash *key, const void *bytes, size_t length)
{
    write_named(cache, key, ".bin", bytes, length);
}

void hdst__program_cache_write_note(hdst__program_cache *cache, const hdst__hash *key,
                                    const char *text) { write_named(cache, key, ".note", text, strlen(text)); }

void *hdst__program_cache_read_power(hdst__program_cache *cache, const hdst__hash *key, size_t *length) { return read_named(cache, key, ".power", length); }

void hdst__program_cache_write_power(hdst__program_cache *cache, const hdst__hash *key, const void *bytes, size_t length)
{
    write_named(cache, key, ".power", bytes, length);
}

bool hdst__program_cache_keep_source(hdst__program_cache *cache, const hdst__hash *key, const char *source, char *path, size_t path_size)
{
    char hex[33];
    hdst__hash_hex(key, hex);
    if (cache->directory && make_directory(cache)) {
        snprintf(path, path_size, "%s/%s.cl", cache->directory, hex);
        if (write_file(path, NULL, source, strlen(source))) return true;
    }
    const char *temporary = getenv("TMPDIR");
    snprintf(path, path_size, "%s/hdst-%s.cl", temporary && *temporary ? temporary : "/tmp", hex);
    return write_file(path, NULL, source, strlen(source));
}
