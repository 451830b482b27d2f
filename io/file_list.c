// SPDX-License-Identifier: Apache-2.0
// The files that paths name (io/file_list.h).
#include "io/file_list.h"

#include "io/folder.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static hdst_status add(hdst__file_list *list, const char *path, hdst_error *error)
{
    if ((list->count & (list->count - 1)) == 0) {           // there is room for the next power of two
        char **more = hdst__realloc(list->allocator, list->paths, (list->count ? 2 * list->count : 1) * sizeof *more);
        if (!more) return hdst__error_memory(error, path);
        list->paths = more;
    }
    char *copy = hdst__strdup(list->allocator, path);
    if (!copy) return hdst__error_memory(error, path);
    list->paths[list->count++] = copy;
    return HDST_OK;
}

static hdst_status none(const char *what, const char *path, const char *hint, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, what, path);
    hdst__error_at(error, path, 0, 0);
    hdst__error_hint(error, "%s", hint);
    return HDST_E_IO;
}

// --- Folders ---

static bool any(const char *name)
{
    (void)name;
    return true;
}

static hdst_status add_folder(hdst__file_list *list, const char *path, hdst_error *error)
{
    hdst__folder folder;
    hdst_status status = hdst__folder_read(&folder, list->allocator, path, any, error);
    if (status == HDST_OK && !folder.count)
        status = none("the folder '%s' has no files", path, "folders within it, and files whose names begin with a point, are not looked at", error);
    for (size_t i = 0; i < folder.count && status == HDST_OK; i++) status = add(list, folder.paths[i], error);
    hdst__folder_free(&folder);
    return status;
}

// --- Patterns ---

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

// A folder in the pattern that cannot be read is an error: files are missing otherwise, and nobody is told.
static hdst_status match(const char *pattern, glob_t *found, hdst_error *error)
{
    errno = 0;
    switch (glob(pattern, GLOB_NOSORT | GLOB_ERR, NULL, found)) {
        case 0: return HDST_OK;
        case GLOB_NOMATCH: return none("no file matches '%s'", pattern, "* stands for any bytes of a name, ? for one, [ab] for one of those", error);
        case GLOB_NOSPACE: return hdst__error_memory(error, pattern);
        default: return none("cannot look for '%s'", pattern, "a folder in it cannot be read", error);
    }
}

static hdst_status add_pattern(hdst__file_list *list, const char *pattern, hdst_error *error)
{
    glob_t found = {0};
    const size_t before = list->count;
    hdst_status status = match(pattern, &found, error);
    // The C library sorts by the locale.
    if (status == HDST_OK) qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare);
    for (size_t i = 0; status == HDST_OK && i < found.gl_pathc; i++)
        if (!hdst__is_folder(found.gl_pathv[i])) status = add(list, found.gl_pathv[i], error);
    if (status == HDST_OK && list->count == before) status = none("'%s' matches folders only", pattern, "'FOLDER/*/*' would name the files in them", error);
    globfree(&found);
    return status;
}

// --- The list ---

static hdst_status add_path(hdst__file_list *list, const char *path, hdst_error *error)
{
    struct stat status;
    if (hdst__is_folder(path)) return add_folder(list, path, error);
    return strpbrk(path, "*?[") && lstat(path, &status) ? add_pattern(list, path, error) : add(list, path, error);
}

hdst_status hdst__file_list_make(hdst__file_list *list, const hdst__allocator *allocator, const char *const *paths, size_t count, hdst_error *error)
{
    *list = (hdst__file_list){.allocator = allocator};
    hdst_status status = count ? HDST_OK : hdst__error_set(error, HDST_E_USAGE, "a list of no files");
    for (size_t i = 0; i < count && status == HDST_OK; i++) status = add_path(list, paths[i], error);
    return status;
}

void hdst__file_list_free(hdst__file_list *list)
{
    for (size_t i = 0; i < list->count; i++) hdst__free(list->allocator, list->paths[i]);
    hdst__free(list->allocator, list->paths);
    *list = (hdst__file_list){0};
}
