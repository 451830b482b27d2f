// SPDX-License-Identifier: Apache-2.0
// Opens files and folders by name, for all of the library: a name may lead to anything, for example a pipe without a writer.
#ifndef HDST_BASE_FILES_H
#define HDST_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { HDST__REASON_BYTES = 160 };

// Opens a regular file for reading; `flags` are added to those of open(2). -1: `reason` has the words ("it is a pipe,
// not a regular file"), errno the number (EINVAL for what is no regular file). Never waits for anybody.
int hdst__open_regular(const char *path, int flags, char reason[HDST__REASON_BYTES]);

// Makes the folder and those it lies in, with mode 0700. False: `reason` says which of them could not be made, and
// why ("cannot make the folder /nowhere: Permission denied").
bool hdst__make_folders(const char *path, char *reason, size_t reason_bytes);

#endif
