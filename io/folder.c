// SPDX-License-Identifier: Apache-2.0
// The files of a folder, in the order of their names (io/folder.h).
#define _GNU_SOURCE     // strerror_r that returns the text
#include "io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool hdst__is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static hdst_status add(hdst__folder *folder, const char *path, const char *name, hdst_error *error)
{
    if ((folder->count & (folder->count - 1)) == 0) {       // there is room for the next power of two
        char **more = hdst__realloc(folder->allocator, folder->paths, (folder->count ? 2 * folder->count : 1) * sizeof *more);
        if (!more) return hdst__error_memory(error, path);
        folder->paths = more;
    }
    const size_t bytes = strlen(path) + strlen(name) + 2;
    char *whole = hdst__alloc(folder->allocator, bytes);
    if (!whole) return hdst__error_memory(error, path);
    snprintf(whole, bytes, "%s%s%s", path, path[0] && path[strlen(path) - 1] == '/' ? "" : "/", name);
    if (hdst__is_folder(whole)) hdst__free(folder->allocator, whole);
    else folder->paths[folder->count++] = whole;
    return HDST_OK;
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

hdst_status hdst__folder_read(hdst__folder *folder, const hdst__allocator *allocator, const char *path, bool (*wanted)(const char *name), hdst_error *error)
{
    *folder = (hdst__folder){.allocator = allocator};
    DIR *open = opendir(path);
    hdst_status status = HDST_OK;
    errno = 0;
    for (const struct dirent *entry; open && status == HDST_OK && (entry = readdir(open)); errno = 0)
        if (entry->d_name[0] != '.' && wanted(entry->d_name)) status = add(folder, path, entry->d_name, error);
    const int number = errno;
    if (open) closedir(open);
    if (status != HDST_OK) return status;
    if (!open || number) {
        char reason[128];
        hdst__error_set(error, HDST_E_IO, "cannot read the folder '%s'", path);
        hdst__error_at(error, path, 0, 0);
        hdst__error_cause(error, "%s", strerror_r(number, reason, sizeof reason));
        return HDST_E_IO;
    }
    if (folder->count) qsort(folder->paths, folder->count, sizeof *folder->paths, compare);
    return HDST_OK;
}

void hdst__folder_free(hdst__folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) hdst__free(folder->allocator, folder->paths[i]);
    hdst__free(folder->allocator, folder->paths);
    *folder = (hdst__folder){0};
}
