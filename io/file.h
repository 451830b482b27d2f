// SPDX-License-Identifier: Apache-2.0
// Files as readers and writers need them: reads at any offset, and results that appear whole or not at all.
#ifndef HDST_IO_FILE_H
#define HDST_IO_FILE_H

#include "base/alloc.h"
#include "base/error_object.h"

#include <stdbool.h>

// --- Reading ---

typedef struct hdst__file_identity {        // what a file is known by when it is opened again
    uint64_t device, number;
    int64_t seconds, nanoseconds;           // when it was written to
} hdst__file_identity;

typedef struct hdst__file {
    int fd;                 // -1: not open, or at rest
    const char *path;       // borrowed, for messages and to open it again
    uint64_t bytes;         // size when it was opened
    bool is_named, rests;   // the path leads to it; it is opened for each read
    hdst__file_identity is;
} hdst__file;

// Regular files only: everything else cannot be read at any place. HDST_E_IO with the system's reason as the cause.
hdst_status hdst__file_open(hdst__file *file, const char *path, hdst_error *error);
void hdst__file_close(hdst__file *file);
// Gives the descriptor back, where the path leads to the file: from now on it is opened for each read, about 3 us, and one that is not what it was is an error.
void hdst__file_rest(hdst__file *file);
// HDST_E_IO: it is not what it was when it was opened.
hdst_status hdst__file_changed(const char *path, hdst_error *error);
// How many of the files that are read together stay open: a process may have few.
size_t hdst__files_that_stay_open(void);
// Exactly `bytes` bytes from `offset`; an earlier end is an error (the file was cut after it was opened), and where they reach to the end that it had, a later
// one is too.
hdst_status hdst__file_read(const hdst__file *file, uint64_t offset, void *data, uint64_t bytes, hdst_error *error);

// --- Writing ---

typedef struct hdst__file_writer hdst__file_writer;

// Writes to a new file in the same folder, which commit renames to `path` (io/replace.h). The standard output ("-"), pipes and
// devices are written directly. NULL with the error filled on failure.
hdst__file_writer *hdst__file_writer_open(const hdst__allocator *allocator, const char *path, hdst_error *error);
// For data of the user in folders that others may see or write: mode 0600, and whatever has the name is replaced, also a link or a pipe.
hdst__file_writer *hdst__file_writer_open_private(const hdst__allocator *allocator, const char *path, hdst_error *error);
// Buffered. After a failure every later call fails with the same error.
hdst_status hdst__file_writer_add(hdst__file_writer *writer, const void *bytes, uint64_t count, hdst_error *error);
void hdst__file_writer_fail(hdst__file_writer *writer, const char *what);       // as if adding had failed: for lack of memory
// Flushes, syncs, renames. The writer is gone afterwards, also on failure; then nothing is left behind and an older file is as it was.
hdst_status hdst__file_writer_commit(hdst__file_writer *writer, hdst_error *error);
void hdst__file_writer_abandon(hdst__file_writer *writer);      // removes what was written; NULL is fine

#endif
