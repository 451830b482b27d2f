// SPDX-License-Identifier: Apache-2.0
// Opens a file of numbers or texts in the format of its name, or of its first bytes where the name says nothing; a folder as its files in the order of their
// names.
#include "io/source.h"

#include "io/file.h"
#include "io/folder.h"
#include "io/spool.h"
#include "io/unpack.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, size_t n, const char *end)
{
    const size_t m = strlen(end);
    return n >= m && !strncasecmp(text + n - m, end, m);
}

static hdst__source *open_npy(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error)
{
    (void)cancel;
    return hdst__source_npy(allocator, path, columns, error);
}

enum { MOST_ENDINGS = 6 };

// A format is a file with a function such as these, and a line here.
static const struct format {
    hdst__source *(*open)(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error);
    const char *ending[MOST_ENDINGS];   // of names
    const char *start;                  // the first bytes of each such file, which go before any name; NULL: it has none
    bool is_unpacked;                   // it is read compressed, too: its names may end in .gz, .zst or .xz behind
} formats[] = {
    {open_npy, {".npy"}, "\x93NUMPY", false},
    {hdst__source_csv, {".csv", ".tsv", ".txt", ".data", ".dat"}, NULL, true},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool ends_as(const char *path, size_t length, const char *const endings[MOST_ENDINGS])
{
    for (size_t i = 0; i < MOST_ENDINGS && endings[i]; i++)
        if (ends_with(path, length, endings[i])) return true;
    return false;
}

static bool starts_as(const hdst__file *file, const struct format *format)
{
    char bytes[16];
    const size_t count = strlen(format->start);
    return file->bytes >= count && hdst__file_read(file, 0, bytes, count, NULL) == HDST_OK && !memcmp(bytes, format->start, count);
}

static const struct format *by_name(const char *path, bool with_start)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (!formats[i].start == !with_start && ends_as(path, formats[i].is_unpacked ? hdst__unpacked_name(path) : strlen(path), formats[i].ending))
            return &formats[i];
    return NULL;
}

static const struct format *by_start(const hdst__file *file)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].start && starts_as(file, &formats[i])) return &formats[i];
    return NULL;
}

// ".npy, .csv or .tsv": the endings of all formats
static const char *all_endings(char text[], size_t size)
{
    const char *all[FORMATS * MOST_ENDINGS];
    size_t count = 0, length = 0;
    for (size_t i = 0; i < FORMATS; i++)
        for (size_t k = 0; k < MOST_ENDINGS && formats[i].ending[k]; k++) all[count++] = formats[i].ending[k];
    for (size_t i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", all[i]);
    return text;
}

static hdst__source *refused(const char *path, hdst_error *error)
{
    static const char *const packed[MOST_ENDINGS] = {".gz", ".xz", ".zst", ".bz2", ".zip", ".npz"};
    char text[200];
    hdst__error_set(error, HDST_E_FORMAT, "what '%s' holds cannot be told from its name", path);
    hdst__error_at(error, path, 0, 0);
    if (ends_as(path, strlen(path), packed)) hdst__error_hint(error, "unpack it first");
    else hdst__error_hint(error, "files of numbers end in %s", all_endings(text, sizeof text));
    return NULL;
}

static hdst__source *open_file(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error)
{
    const struct format *format = by_name(path, true);
    const bool comes_by = !format && hdst__spool_needed(path);      // without a name, or with a text's
    if (comes_by) return hdst__source_csv(allocator, path, columns, cancel, error);
    if (!format) {
        hdst__file file;
        if (hdst__file_open(&file, path, error) != HDST_OK) return NULL;     // "no such file" comes before "what is it?"
        format = by_start(&file);
        hdst__file_close(&file);
    }
    if (!format) format = by_name(path, false);
    return format ? format->open(allocator, path, columns, cancel, error) : refused(path, error);
}

// --- Folders ---

static bool has_format(const char *name) { return by_name(name, true) || by_name(name, false); }

static hdst__source *open_parts(const hdst__allocator *allocator, const hdst__folder *folder, const char *columns, const hdst__cancel *cancel,
                                hdst_error *error)
{
    hdst__source **parts = hdst__alloc_zero(allocator, folder->count * sizeof *parts), *all = NULL;
    size_t opened = 0;
    if (!parts) hdst__error_memory(error, "a list of files");
    while (parts && opened < folder->count && (parts[opened] = open_file(allocator, folder->paths[opened], columns, cancel, error))) {
        hdst__source_is_one_of_many(parts[opened], opened);
        opened++;
    }
    if (parts && opened == folder->count) all = hdst__source_concat(allocator, parts, opened, error);
    else while (opened) hdst__source_close(parts[--opened]);
    hdst__free(allocator, parts);
    return all;
}

static hdst__source *open_folder(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error)
{
    hdst__folder folder;
    char text[200];
    hdst__source *all = NULL;
    if (hdst__folder_read(&folder, allocator, path, has_format, error) == HDST_OK) {
        if (folder.count) {
            all = open_parts(allocator, &folder, columns, cancel, error);
        } else {
            hdst__error_set(error, HDST_E_IO, "the folder '%s' has no files of numbers", path);
            hdst__error_at(error, path, 0, 0);
            hdst__error_hint(error, "their names end in %s; folders within it are not looked into", all_endings(text, sizeof text));
        }
    }
    hdst__folder_free(&folder);
    return all;
}

hdst__source *hdst__source_open(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error)
{
    return (hdst__is_folder(path) ? open_folder : open_file)(allocator, path, columns, cancel, error);
}
