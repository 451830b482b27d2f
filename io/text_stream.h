// SPDX-License-Identifier: Apache-2.0
// Bytes of a file, pipe or device as they come, unpacked where they are compressed, given to whoever takes them.
#ifndef HDST_IO_TEXT_STREAM_H
#define HDST_IO_TEXT_STREAM_H

#include "base/cancel.h"
#include "io/unpack.h"

typedef struct hdst__text_stream_job {
    const hdst__allocator *allocator;
    const hdst__cancel *cancel;
    const char *path;           // for messages
    int fd;                     // regular files are read from their start
    bool is_regular;
    // Takes the next bytes; an error ends it.
    hdst_status (*put)(void *user, const void *bytes, uint64_t count, hdst_error *error);
    void *user;
    bool as_is;                 // compressed bytes are given as they are
} hdst__text_stream_job;

// HDST_E_FORMAT where compressed data are damaged, or end too early; HDST_E_IO; HDST_E_CANCELLED; what `put` gave.
hdst_status hdst__text_stream_run(const hdst__text_stream_job *job, hdst_error *error);
// Of messages: "bzip2 is not read".
hdst_status hdst__text_stream_refuse(const char *path, const char *format, hdst_error *error);

#endif
