// SPDX-License-Identifier: Apache-2.0
// Files without a name, in $TMPDIR (else /tmp): nothing is left behind however the process ends. Whole reads and writes at a place.
//
// Threads: any, also on one file for different places.
#ifndef HDST_BASE_TEMPORARY_FILE_H
#define HDST_BASE_TEMPORARY_FILE_H

#include "base/runtime.h"

#include <stdint.h>

enum { HDST__TEMPORARY_FOLDER_BYTES = 256 };

// A new one, read and written; `folder` gets where it lies, for messages, also on failure. -1: errno says why, ENAMETOOLONG that of a long TMPDIR.
int hdst__temporary_file(char folder[HDST__TEMPORARY_FOLDER_BYTES]);
// A folder that is memory itself (tmpfs) is logged, once; a runtime of NULL has no log.
void hdst__temporary_file_look(hdst__runtime *runtime, int fd, const char *folder);
// Exactly so many bytes. 0, or a number of errno: ENOSPC and EIO where the system takes, or has, no more and says nothing. *done: what was moved.
int hdst__write_at(int fd, uint64_t offset, const void *data, uint64_t bytes, uint64_t *done);
int hdst__read_at(int fd, uint64_t offset, void *data, uint64_t bytes, uint64_t *done);

#endif
