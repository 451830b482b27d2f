// SPDX-License-Identifier: Apache-2.0
// A file of numbers by its name, or by its first bytes where the name says nothing.
#include "io/source.h"

#include "io/file.h"

#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcasecmp(text + n - m, end);
}

static const char *const text_endings[] = {".csv", ".tsv", ".txt", ".data", ".dat"};
static const char *const packed_endings[] = {".gz", ".xz", ".zst", ".bz2", ".zip", ".npz"};

static bool ends_with_any(const char *path, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ends_with(path, endings[i])) return true;
    return false;
}
#define ENDS_WITH_ANY(path, endings) ends_with_any((path), (endings), sizeof(endings) / sizeof *(endings))

static bool starts_as_npy(const hdst__file *file)
{
    char start[6];
    return file->bytes >= sizeof start && hdst__file_read(file, 0, start, sizeof start, NULL) == HDST_OK && !memcmp(start, "\x93NUMPY", sizeof start);
}

hdst__source *hdst__source_open(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error)
{
    if (ends_with(path, ".npy")) return hdst__source_npy(allocator, path, columns, error);
    hdst__file file;
    if (hdst__file_open(&file, path, error) != HDST_OK) return NULL;     // "no such file" comes before "what is it?"
    bool is_npy = starts_as_npy(&file);
    hdst__file_close(&file);
    if (is_npy) return hdst__source_npy(allocator, path, columns, error);
    if (ENDS_WITH_ANY(path, text_endings)) return hdst__source_csv(allocator, path, columns, cancel, error);
    hdst__error_set(error, HDST_E_FORMAT, "what '%s' holds cannot be told from its name", path);
    hdst__error_at(error, path, 0, 0);
    if (ENDS_WITH_ANY(path, packed_endings)) hdst__error_hint(error, "unpack it first");
    else hdst__error_hint(error, "files of numbers end in .npy, .csv, .tsv, .txt, .data or .dat");
    return NULL;
}
