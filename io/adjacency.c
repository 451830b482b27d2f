// SPDX-License-Identifier: Apache-2.0
// Adjacency lists as a source of edges: a line for each vertex, its number, a colon or none, then the numbers of its neighbours. As lines differ in what they
// hold, the text goes through once, when its edges are counted, and leaves them as pairs of int64 in a temporary file, where they are read.
#include "io/adjacency.h"

#include "base/temporary_file.h"
#include "io/file.h"
#include "io/text_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAIRS = 4096 };      // that are written at once

typedef struct adjacency {
    const hdst__cancel *cancel;
    hdst__runtime *runtime;
    int fd;                     // of the temporary file; -1: there is none
    char folder[HDST__TEMPORARY_FOLDER_BYTES];
    uint64_t written, vertices; // written: pairs
    // Of the line that is read:
    uint64_t line, column, numbers;
    int64_t from, number;
    bool in_number, in_comment, may_have_colon;
    size_t held;
    int64_t pair[PAIRS][2];
} adjacency;

// What the temporary file holds is no longer wanted.
static void forget(adjacency *a)
{
    if (a->runtime) hdst__meter_take(&a->runtime->files.bytes, a->written * sizeof *a->pair);
    a->written = a->held = 0;
}

static void close_adjacency(hdst__source *source)
{
    adjacency *a = source->state;
    if (!a) return;
    if (a->fd >= 0) close(a->fd);
    forget(a);
    hdst__free(source->allocator, a);
}

static hdst_status temporary_error(const adjacency *a, const char *what, int number, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "a temporary file in '%s' %s: %s", a->folder, what, strerror(number));
    hdst__error_hint(error, "$TMPDIR says where temporary files lie; edges of adjacency lists take 16 bytes each there");
    return HDST_E_IO;
}

// --- The text ---

static hdst_status write_pairs(adjacency *a, hdst_error *error)
{
    uint64_t done;
    const int failed = hdst__write_at(a->fd, a->written * sizeof *a->pair, a->pair, a->held * sizeof *a->pair, &done);
    if (failed) return temporary_error(a, "cannot be written", failed, error);
    if (a->runtime) hdst__meter_add(&a->runtime->files.bytes, a->held * sizeof *a->pair);
    a->written += a->held;
    a->held = 0;
    return HDST_OK;
}

static hdst_status refuse(const hdst__source *source, const char *message, hdst_error *error)
{
    const adjacency *a = source->state;
    hdst__error_set(error, HDST_E_FORMAT, "%s", message);
    hdst__error_at(error, source->name, (uint32_t)a->line, (uint32_t)a->column);
    hdst__error_hint(error, "a line has the number of a vertex, maybe a colon, then the numbers of its neighbours: 3: 1 4");
    return HDST_E_FORMAT;
}

static hdst_status end_number(adjacency *a, hdst_error *error)
{
    if (!a->in_number) return HDST_OK;
    a->in_number = false;
    if ((uint64_t)a->number >= a->vertices) a->vertices = (uint64_t)a->number + 1;
    a->may_have_colon = a->numbers == 0;
    if (a->numbers++ == 0) {
        a->from = a->number;
        return HDST_OK;
    }
    a->pair[a->held][0] = a->from;
    a->pair[a->held++][1] = a->number;
    return a->held == PAIRS ? write_pairs(a, error) : HDST_OK;
}

static hdst_status take_digit(const hdst__source *source, adjacency *a, int digit, hdst_error *error)
{
    if (!a->in_number) a->number = 0;
    a->in_number = true;
    if (__builtin_mul_overflow(a->number, 10, &a->number) || __builtin_add_overflow(a->number, digit, &a->number))
        return refuse(source, "a vertex is numbered from 0 to 2^63 - 1", error);
    return HDST_OK;
}

static hdst_status take_byte(const hdst__source *source, adjacency *a, char c, hdst_error *error)
{
    if (c == '\n') {
        hdst_status status = end_number(a, error);
        a->line++;
        a->column = a->numbers = 0;
        a->in_comment = a->may_have_colon = false;
        return status;
    }
    if (a->in_comment) return HDST_OK;
    if (c >= '0' && c <= '9') return take_digit(source, a, c - '0', error);
    hdst_status status = end_number(a, error);
    if (status != HDST_OK || c == ' ' || c == '\t' || c == '\r' || (c == ',' && a->numbers)) return status;
    if (c == ':' && a->may_have_colon) {
        a->may_have_colon = false;
        return HDST_OK;
    }
    a->in_comment = (c == '#' || c == '%') && !a->numbers;
    return a->in_comment ? HDST_OK : refuse(source, c == '-' ? "a vertex is numbered from 0 on" : "this is no number of a vertex", error);
}

static hdst_status put(void *user, const void *bytes, uint64_t count, hdst_error *error)
{
    const hdst__source *source = user;
    adjacency *a = source->state;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
        a->column++;
        status = take_byte(source, a, ((const char *)bytes)[i], error);
    }
    return status;
}

static hdst_status count_adjacency(hdst__source *source, hdst_error *error)
{
    adjacency *a = source->state;
    hdst__file file;
    if (a->fd < 0) a->fd = hdst__temporary_file(a->folder);
    if (a->fd < 0) return temporary_error(a, "cannot be made", errno, error);
    hdst__temporary_file_look(a->runtime, a->fd, a->folder);
    forget(a);          // of a count that failed
    a->line = 1;
    a->column = a->numbers = a->vertices = 0;
    a->in_number = a->in_comment = false;
    hdst_status status = hdst__file_open(&file, source->name, error);
    if (status != HDST_OK) return status;
    const hdst__text_stream_job job = {source->allocator, a->cancel, source->name, file.fd, true, put, source};
    status = hdst__text_stream_run(&job, error);
    hdst__file_close(&file);
    if (status == HDST_OK) status = end_number(a, error);
    if (status == HDST_OK) status = write_pairs(a, error);
    source->rows = a->written;
    return status;
}

static hdst_status read_adjacency(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    (void)as;
    const adjacency *a = source->state;
    uint64_t done;
    const int failed = hdst__read_at(a->fd, first * sizeof *a->pair, rows, count * sizeof *a->pair, &done);
    return failed ? temporary_error(a, "cannot be read back", failed, error) : HDST_OK;
}

static const hdst__source_format adjacency_format = {.name = "adjacency list", .count = count_adjacency, .read = read_adjacency, .close = close_adjacency};

hdst__source *hdst__source_adjacency(const hdst__allocator *allocator, const char *path, const hdst__cancel *cancel, hdst__runtime *runtime, hdst_error *error)
{
    hdst__file file;
    if (hdst__file_open(&file, path, error) != HDST_OK) return NULL;     // what is not there is told at once
    hdst__file_close(&file);
    hdst__source *source = hdst__source_new(allocator, &adjacency_format, path, error);
    if (!source) return NULL;
    adjacency *a = source->state = hdst__alloc_zero(allocator, sizeof *a);
    if (a) {
        a->fd = -1;
        a->cancel = cancel;
        a->runtime = runtime;
        source->row_bytes = sizeof *a->pair;
        source->concurrent = true;
        if (hdst__source_add_column(source, "from", HDST__I64, 0, 1) && hdst__source_add_column(source, "to", HDST__I64, 8, 1)) return source;
    }
    hdst__error_memory(error, path);
    hdst__source_close(source);
    return NULL;
}

uint64_t hdst__adjacency_vertices(const hdst__source *source) { return ((const adjacency *)source->state)->vertices; }
