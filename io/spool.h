// SPDX-License-Identifier: Apache-2.0
// What comes by once, brought into a temporary file, where it is read at any place and more than once.
#ifndef HDST_IO_SPOOL_H
#define HDST_IO_SPOOL_H

#include "base/cancel.h"
#include "io/file.h"

// Whether it is the standard input ("-", "/dev/stdin") or a pipe, which cannot be read at any place. One that is not there is none.
bool hdst__spool_needed(const char *path);
// All that comes to `file`, in a temporary file without a name; `unpacks`: unpacked where it is compressed. The path is borrowed, for messages. A standard
// input that is a regular file is read where it lies, unless it is compressed and `unpacks`. Waits for whoever writes; cancel (NULL: never) ends that.
// HDST_E_IO, HDST_E_CANCELLED, HDST_E_FORMAT as of hdst__text_stream_run; nothing is open then.
hdst_status hdst__spool_open(hdst__file *file, const hdst__allocator *allocator, const char *path, bool unpacks, const hdst__cancel *cancel, hdst_error *error);

#endif
