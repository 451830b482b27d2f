// SPDX-License-Identifier: Apache-2.0
// Sources of the public interface: a thin shell around io/source.h.
#include "io/folder.h"
#include "io/source_edges.h"
#include "io/spool.h"
#include "plan/input_source.h"

#include <string.h>

HDST__STAND_IN(hdst_source, no_source);

static void release_source(hdst__object *object) { hdst__source_close(((hdst_source *)object)->source); }

// Runs under the lock; `open` fills the error when it returns NULL.
static hdst_source *adopt(hdst_context *context, hdst__source *opened, const hdst_error *error)
{
    hdst_source *source = hdst__object_create(context, sizeof *source, release_source, &no_source);
    if (source == &no_source || source->object.error) {
        hdst__source_close(opened);
        return source;
    }
    if (!opened) hdst__object_fail(&source->object, error);
    else if (opened->note[0]) hdst__log_write(&context->log, HDST__LOG_INFO, "%s", opened->note);
    source->source = opened;
    return source;
}

// What comes through a pipe, and a folder may have some, is gone once it was read: there is no second time.
static bool is_there_again(const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hdst__spool_needed(paths[i]) || hdst__is_folder(paths[i])) return false;
    return true;
}

// `name`: of the argument that must not be NULL. `again`: whether it may be opened a second time, with more memory.
#define OPEN(name, pointer, again, call)                                                                                \
    do {                                                                                                                \
        hdst_error error = HDST_ERROR_INIT;                                                                             \
        HDST__NEEDS(hdst_source, context, "context");                                                                   \
        hdst__lock(context);                                                                                            \
        const bool given = hdst__check_pointer(__func__, name, pointer, &error) == HDST_OK;                             \
        const bool opens = given && !context->object.error;                                                             \
        hdst__source *opened = opens ? call : NULL;                                                                     \
        if (opens && !opened && (again) && hdst__call_has_more_memory(context, error.code, &error)) {                   \
            error = (hdst_error)HDST_ERROR_INIT;                                                                        \
            opened = call;                                                                                              \
        }                                                                                                               \
        hdst_source *source = adopt(context, opened, &error);                                                           \
        hdst__unlock(context);                                                                                          \
        return source;                                                                                                  \
    } while (0)

hdst_source *hdst_source_open(hdst_context *context, const char *path) 
{
    OPEN("path", path, is_there_again(&path, 1), hdst__source_open(hdst__owned_by(context, HDST__OWNER_READERS), path, NULL, &context->cancel, &error));
}

hdst_source *hdst_source_open_columns(hdst_context *context, const char *path, const char *columns)
{
    OPEN("path", path, is_there_again(&path, 1), hdst__source_open(hdst__owned_by(context, HDST__OWNER_READERS), path, columns, &context->cancel, &error));
}

hdst_source *hdst_source_open_raw(hdst_context *context, const char *path)
{
    OPEN("path", path, is_there_again(&path, 1), hdst__source_raw(hdst__owned_by(context, HDST__OWNER_READERS), path, &context->cancel, &error));
}

hdst_source *hdst_source_from_memory(hdst_context *context, const void *rows, uint64_t count, uint64_t row_bytes)
{
    OPEN("rows", count ? rows : "", true, hdst__source_memory(hdst__owned_by(context, HDST__OWNER_READERS), rows, count, row_bytes, &error));
}

hdst_source *hdst_source_from_floats(hdst_context *context, const float *table, uint64_t rows, uint32_t columns)
{
    OPEN("table", rows && columns ? table : (const float *)"", true,
         hdst__source_floats(hdst__owned_by(context, HDST__OWNER_READERS), table, rows, columns, &error));
}

hdst_source *hdst_source_from_range(hdst_context *context, int64_t begin, int64_t end)
{
    OPEN("", "", true, hdst__source_range(hdst__owned_by(context, HDST__OWNER_READERS), begin, end, &error));
}

hdst_source *hdst_source_from_callback(hdst_context *context, uint64_t count, hdst_source_callback fill, void *user)
{
    OPEN("fill", fill ? "" : NULL, true, hdst__source_from_callback(hdst__owned_by(context, HDST__OWNER_READERS), count, fill, user, false, &error));
}

hdst_source *hdst_source_from_concurrent_callback(hdst_context *context, uint64_t count, hdst_source_callback fill, void *user)
{
    OPEN("fill", fill ? "" : NULL, true, hdst__source_from_callback(hdst__owned_by(context, HDST__OWNER_READERS), count, fill, user, true, &error));
}

hdst_source *hdst_source_from_uncounted_callback(hdst_context *context, hdst_uncounted_callback fill, bool concurrent, void *user)
{
    OPEN("fill", fill ? "" : NULL, true, hdst__source_from_uncounted_callback(hdst__owned_by(context, HDST__OWNER_READERS), fill, user, concurrent,
                                                                        &context->cancel, &error));
}

static bool missing_path(const char *const *paths, size_t count)
{
    bool missing = count && !paths;
    for (size_t i = 0; i < count && !missing; i++) missing = !paths[i];
    return missing;
}

// A file as a table of chosen columns, or as a graph.
typedef hdst__source *(*file_opener)(const hdst_context *context, const hdst__allocator *allocator, const char *path, const void *options, hdst_error *error);

static hdst__source *open_table(const hdst_context *context, const hdst__allocator *allocator, const char *path, const void *columns, hdst_error *error)
{
    return hdst__source_open(allocator, path, columns, &context->cancel, error);
}

static hdst__source *open_graph(const hdst_context *context, const hdst__allocator *allocator, const char *path, const void *given, hdst_error *error)
{
    const hdst_edges_options *options = given;
    const hdst__edges_options edges = {.sizes_first = options->sizes_first, .adjacency = options->adjacency, .cancel = &context->cancel,
                                       .runtime = hdst__engine_runtime(context->engine)};
    return hdst__source_edges(allocator, path, &edges, error);
}

static hdst__source *open_files(const hdst_context *context, const char *const *paths, size_t count, file_opener open, const void *options,
                                hdst_error *error)
{
    const hdst__allocator *allocator = hdst__owned_by(context, HDST__OWNER_READERS);
    if (count == 1) return open(context, allocator, paths[0], options, error);
    hdst__source **parts = hdst__alloc_zero(allocator, count * sizeof *parts);
    if (!parts) {
        hdst__error_memory(error, "a list of files");
        return NULL;
    }
    size_t opened = 0, files = 0;
    while (opened < count && (parts[opened] = open(context, allocator, paths[opened], options, error))) {
        hdst__source_is_one_of_many(parts[opened], files);
        files += parts[opened]->parts ? parts[opened]->part_count : 1;
        opened++;
    }
    hdst__source *all = NULL;
    if (opened == count) all = hdst__source_concat(allocator, parts, count, error);
    else while (opened) hdst__source_close(parts[--opened]);
    hdst__free(allocator, parts);
    return all;
}

hdst_source *hdst_source_open_all(hdst_context *context, const char *const *paths, size_t count, const char *columns)
{
    OPEN("paths", missing_path(paths, count) ? NULL : "", is_there_again(paths, count), open_files(context, paths, count, open_table, columns, &error));
}

static hdst__source *open_edges(const hdst_context *context, const char *const *paths, size_t count, const hdst_edges_options *given, hdst_error *error)
{
    hdst_edges_options options = HDST_EDGES_OPTIONS_INIT;
    if (given && hdst__read_options("hdst_edges_options", "HDST_EDGES_OPTIONS_INIT", &options, sizeof options, sizeof options, given, given->size, error))
        return NULL;
    return open_files(context, paths, count, open_graph, &options, error);
}

hdst_source *hdst_source_open_edges(hdst_context *context, const char *path)
{
    OPEN("path", path, is_there_again(&path, 1), open_edges(context, &path, 1, NULL, &error));
}

hdst_source *hdst_source_open_all_edges(hdst_context *context, const char *const *paths, size_t count, const hdst_edges_options *options)
{
    OPEN("paths", missing_path(paths, count) ? NULL : "", is_there_again(paths, count), open_edges(context, paths, count, options, &error));
}

// NULL after an error.
static const hdst__source *opened(const hdst_source *source)
{
    return source && source->object.context && !source->object.error ? source->source : NULL;
}

// Options are as long as `size` says; what a newer program has beyond them must be zeroes.
static hdst__source *open_lines(const hdst_context *context, const char *const *paths, size_t count, const hdst_lines_options *given, hdst_error *error)
{
    hdst_lines_options options = HDST_LINES_OPTIONS_INIT;
    if (given && hdst__read_options("hdst_lines_options", "HDST_LINES_OPTIONS_INIT", &options, sizeof options, sizeof options, given, given->size, error))
        return NULL;
    const hdst__lines_options lines = {options.strip_returns, options.longest, &context->cancel, hdst__engine_runtime(context->engine)};
    return hdst__source_lines(hdst__owned_by(context, HDST__OWNER_READERS), paths, count, &lines, error);
}

hdst_source *hdst_source_open_lines(hdst_context *context, const char *path)
{
    OPEN("path", path, is_there_again(&path, 1), open_lines(context, &path, 1, NULL, &error));
}

hdst_source *hdst_source_open_all_lines(hdst_context *context, const char *const *paths, size_t count, const hdst_lines_options *options)
{
    OPEN("paths", missing_path(paths, count) ? NULL : "", is_there_again(paths, count), open_lines(context, paths, count, options, &error));
}

// A source whose rows cannot be counted has failed from then on.
static uint64_t count_rows(hdst_source *source)
{
    hdst_error error = HDST_ERROR_INIT;
    if (hdst__input_count(source, &error) == HDST_OK) return source->source->rows;
    hdst__object_fail(&source->object, &error);
    return 0;
}

uint64_t hdst_source_rows(const hdst_source *source)
{
    if (!opened(source)) return 0;
    hdst_source *counted = (hdst_source *)source;       // objects of users are never constant themselves
    hdst__lock(source->object.context);
    const uint64_t rows = count_rows(counted);
    hdst__unlock(source->object.context);
    return rows;
}

uint64_t hdst_source_vertices(const hdst_source *source)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t vertices = 0;
    if (!opened(source)) return 0;
    hdst_source *scanned = (hdst_source *)source;
    hdst__lock(source->object.context);
    hdst_status status = hdst__input_count(scanned, &error);
    if (status == HDST_OK) status = hdst__edges_vertices(scanned->source, hdst__engine_threads(source->object.context->engine), &vertices, &error);
    if (status != HDST_OK) hdst__object_fail(&scanned->object, &error);
    hdst__unlock(source->object.context);
    return status == HDST_OK ? vertices : 0;
}

uint32_t hdst_source_columns(const hdst_source *source) { return opened(source) ? (uint32_t)source->source->width : 0; }

static const hdst__column *find_column(const hdst__source *from, uint32_t number)
{
    for (size_t i = 0; from && i < from->column_count; i++) {
        if (number < from->columns[i].count) return &from->columns[i];      // a column may be an array of numbers
        number -= (uint32_t)from->columns[i].count;
    }
    return NULL;
}

const char *hdst_source_column_name(const hdst_source *source, uint32_t column)
{
    const hdst__column *found = find_column(opened(source), column);
    return found ? found->name : NULL;
}

bool hdst_source_column_type(const hdst_source *source, uint32_t column, hdst_type *type)
{
    const hdst__source *from = opened(source);
    const hdst__column *found = find_column(from, column);
    if (!found || !type || from->format->is_text) return false;
    for (size_t i = 0; i < from->part_count; i++)
        if (from->parts[i]->format->is_text || find_column(from->parts[i], column)->kind != found->kind) return false;
    *type = (hdst_type)found->kind;
    return true;
}

const char *hdst_source_file(const hdst_source *source, uint64_t number)
{
    if (!opened(source)) return NULL;
    const hdst__source *of = source->source;
    return of->format->file ? of->format->file(of, number) : NULL;
}

const char *hdst_source_note(const hdst_source *source) { return opened(source) ? source->source->note : ""; }
hdst_status hdst_source_status(const hdst_source *source, hdst_error *error) { return hdst__check_alive(__func__, "source", source, error); }

void hdst_source_destroy(hdst_source *source)
{
    if (source) hdst__object_destroy(&source->object);
}
