// SPDX-License-Identifier: Apache-2.0
// The files that paths of a user name: a file, a folder (the files in it), a pattern with * ? or [ (what it matches).
#ifndef HDST_IO_FILE_LIST_H
#define HDST_IO_FILE_LIST_H

#include "base/alloc.h"
#include "base/error_object.h"

typedef struct hdst__file_list {
    const hdst__allocator *allocator;
    char **paths;               // the list's
    size_t count;
} hdst__file_list;

// In the order of the paths; those of a folder or of a pattern in the order of the bytes of their names, without folders and names that begin with a point.
// A name with * ? or [ that a file has is that file. HDST_E_IO: a folder without files, a pattern that none matches. Whether a file is there is seen when
// it is opened.
hdst_status hdst__file_list_make(hdst__file_list *list, const hdst__allocator *allocator, const char *const *paths, size_t count, hdst_error *error);
void hdst__file_list_free(hdst__file_list *list);       // also after an error

#endif
