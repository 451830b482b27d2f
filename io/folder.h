// SPDX-License-Identifier: Apache-2.0
// The files of a folder, in the order of their names.
#ifndef HDST_IO_FOLDER_H
#define HDST_IO_FOLDER_H

#include "base/alloc.h"
#include "base/error_object.h"

#include <stdbool.h>

typedef struct hdst__folder {
    const hdst__allocator *allocator;
    char **paths;               // with the folder's
    size_t count;
} hdst__folder;

// Whether there is a folder of that name.
bool hdst__is_folder(const char *path);
// Those files (or what else is no folder) whose names are wanted and do not begin with a point, in the order of the bytes of their names.
hdst_status hdst__folder_read(hdst__folder *folder, const hdst__allocator *allocator, const char *path, bool (*wanted)(const char *name), hdst_error *error);
void hdst__folder_free(hdst__folder *folder);   // also after an error

#endif
