// SPDX-License-Identifier: Apache-2.0
// Compiled programs as files: one file per key in a directory that only its owner can write. Knows nothing of OpenCL.
//
// Races: a file appears by rename and is never changed, so a reader sees all of it or none; two writers write the same bytes and the last one stays.
// What does not carry the right key and checksum is as good as absent, and is replaced by the next write.
#ifndef HDST_ENGINE_DEVICE_PROGRAM_CACHE_H
#define HDST_ENGINE_DEVICE_PROGRAM_CACHE_H

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hdst__program_cache {
    const hdst__allocator *allocator;
    const hdst__log *log;
    char *directory;            // NULL: memory only
    char why[256];              // why there is no directory
    bool warned;
} hdst__program_cache;

// Decides where: `wanted`, else HDST_CACHE_DIR, XDG_CACHE_HOME/hdst, HOME/.cache/hdst. Touches no file yet. Never fails: without a place it keeps nothing.
void hdst__program_cache_init(hdst__program_cache *cache, const hdst__allocator *allocator, const hdst__log *log, const char *wanted);
void hdst__program_cache_destroy(hdst__program_cache *cache);

// Whether what is written may be kept: the directory is there, or is made now. If not, that is told once, as a warning.
bool hdst__program_cache_usable(hdst__program_cache *cache);
// The bytes kept under `key`, to be freed by the caller; NULL when there are none, or when they are damaged.
void *hdst__program_cache_read(hdst__program_cache *cache, const hdst__hash *key, size_t *length);
// Keeps them. A failure is told once, as a warning, and costs nothing but time in the next process.
void hdst__program_cache_write(hdst__program_cache *cache, const hdst__hash *key, const void *bytes, size_t length);
// The same for a small text about a program, in a file of its own (.note beside .bin).
void *hdst__program_cache_read_note(hdst__program_cache *cache, const hdst__hash *key, size_t *length);
void hdst__program_cache_write_note(hdst__program_cache *cache, const hdst__hash *key, const char *text);
// The same for a measured power (.power).
void *hdst__program_cache_read_power(hdst__program_cache *cache, const hdst__hash *key, size_t *length);
void hdst__program_cache_write_power(hdst__program_cache *cache, const hdst__hash *key, const void *bytes, size_t length);
// Writes a source that did not build to the directory, else to TMPDIR or /tmp; false when nowhere. `path` gets the file's name.
bool hdst__program_cache_keep_source(hdst__program_cache *cache, const hdst__hash *key, const char *source, char *path, size_t path_size);

// --- program_cache_files.c ---
typedef enum hdst__cached_kind {
    HDST__CACHED_PROGRAM, HDST__CACHED_NOTE, HDST__CACHED_POWER, HDST__CACHED_SOURCE,
    HDST__CACHED_REST,          // of writes that did not end
    HDST__CACHED_KINDS
} hdst__cached_kind;

typedef struct hdst__cached_file {
    int directory;              // open
    const char *name;           // in it
    hdst__cached_kind kind;
    uint64_t bytes;
} hdst__cached_file;

typedef bool (*hdst__cached_visitor)(const hdst__cached_file *file, void *user);     // may remove it; false ends the visit

// Shows each regular file that a cache has made in its directory; none when there is no directory yet. false: the directory cannot be read, or the
// visitor ended it (errno).
bool hdst__program_cache_visit(const hdst__program_cache *cache, hdst__cached_visitor visit, void *user);

#endif
