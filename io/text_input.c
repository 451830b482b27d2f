// SPDX-License-Identifier: Apache-2.0
// Texts at any place (io/text_input.h). What is unpacked lies in one temporary file, in pieces that are given out as they are needed: so several files can be
// unpacked at once though nobody knows how long they will be, and a thousand of them need one descriptor.
#define _GNU_SOURCE     // strerror_r that returns the text
#include "io/text_input.h"

#include "base/costs_host.h"
#include "base/temporary_file.h"
#include "io/file.h"
#include "io/text_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct text_file {
    const char *path;           // the list's
    int fd;                     // -1: opened for each use
    bool is_regular, in_place;  // in place: regular and not compressed
    bool begun;                 // what went by of a pipe comes no more
    struct stat opened;         // as it was then
    uint64_t bytes;             // of the text
    uint64_t *piece;            // of the temporary file, where the text is not in place
    size_t pieces;
} text_file;

struct hdst__text_input {
    const hdst__allocator *allocator;
    const hdst__cancel *cancel;
    hdst__runtime *runtime;
    hdst__file_list list;
    text_file *file;            // one for each of the list
    bool prepared;
    int temporary;              // -1: none is needed
    char folder[HDST__TEMPORARY_FOLDER_BYTES];
    _Atomic uint64_t pieces, counted;       // given out; bytes that the runtime counts
};

static hdst_status system_error(const char *path, const char *what, int number, hdst_error *error)
{
    char reason[128];
    const char *words = strerror_r(number, reason, sizeof reason);      // strerror is not thread-safe
    hdst__error_set(error, HDST_E_IO, "%s '%s'", what, path);
    hdst__error_at(error, path, 0, 0);
    hdst__error_cause(error, "%s", words);
    return HDST_E_IO;
}

// --- Files ---

static bool is_standard_input(const char *path) { return !strcmp(path, "-") || !strcmp(path, "/dev/stdin"); }

// Without waiting: a pipe may have no writer yet.
static int open_path(const char *path)
{
    if (is_standard_input(path)) return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static hdst_status check_unchanged(const text_file *file, int fd, hdst_error *error)
{
    struct stat now;
    const struct stat *then = &file->opened;
    if (fstat(fd, &now)) return system_error(file->path, "cannot read", errno, error);
    const bool same = now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec && now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
                      now.st_dev == then->st_dev && now.st_ino == then->st_ino;
    return same ? HDST_OK : hdst__file_changed(file->path, error);
}

static hdst_status take_fd(const text_file *file, int *fd, hdst_error *error)
{
    *fd = file->fd >= 0 ? file->fd : open_path(file->path);
    return *fd >= 0 ? HDST_OK : system_error(file->path, "cannot open", errno, error);
}

static void give_fd(const text_file *file, int fd)
{
    if (fd >= 0 && fd != file->fd) close(fd);
}

// Whether it can be read where it lies, by its first bytes.
static hdst_status look_into(text_file *file, hdst_error *error)
{
    unsigned char start[HDST__UNPACK_START];
    file->bytes = (uint64_t)file->opened.st_size;
    const ssize_t n = pread(file->fd, start, sizeof start, 0);
    if (n < 0) return system_error(file->path, "cannot read", errno, error);
    const char *unknown = hdst__unpack_unknown(start, (size_t)n);
    if (unknown) return hdst__text_stream_refuse(file->path, unknown, error);
    file->in_place = !hdst__unpacker_of(start, (size_t)n);
    return HDST_OK;
}

static hdst_status open_file(text_file *file, const char *path, bool keep, hdst_error *error)
{
    *file = (text_file){.path = path, .fd = open_path(path)};
    if (file->fd < 0 || fstat(file->fd, &file->opened)) return system_error(path, "cannot open", errno, error);
    if (S_ISDIR(file->opened.st_mode)) return system_error(path, "cannot read", EISDIR, error);
    file->is_regular = S_ISREG(file->opened.st_mode);
    if (!file->is_regular) return HDST_OK;
    hdst_status status = look_into(file, error);
    if (!keep && !is_standard_input(path)) {
        close(file->fd);
        file->fd = -1;
    }
    return status;
}

static hdst_status open_files(hdst__text_input *input, hdst_error *error)
{
    const size_t stay = hdst__files_that_stay_open();
    hdst_status status = HDST_OK;
    input->file = hdst__alloc_zero(input->allocator, input->list.count * sizeof *input->file);
    if (!input->file) return hdst__error_memory(error, "a list of files");
    for (size_t i = 0; i < input->list.count; i++) input->file[i].fd = -1;
    for (size_t i = 0; i < input->list.count && status == HDST_OK; i++)
        status = open_file(&input->file[i], input->list.paths[i], i < stay, error);
    return status;
}

hdst_status hdst__text_input_open(const hdst__allocator *allocator, const char *const *paths, size_t count, const hdst__cancel *cancel,
                                  hdst__runtime *runtime, hdst__text_input **out, hdst_error *error)
{
    hdst__text_input *input = hdst__alloc_zero(allocator, sizeof *input);
    *out = NULL;
    if (!input) return hdst__error_memory(error, "a list of files");
    input->allocator = allocator;
    input->cancel = cancel;
    input->runtime = runtime;
    input->temporary = -1;
    hdst_status status = hdst__file_list_make(&input->list, allocator, paths, count, error);
    if (status == HDST_OK) status = open_files(input, error);
    if (status == HDST_OK) *out = input;
    else hdst__text_input_close(input);
    return status;
}

void hdst__text_input_close(hdst__text_input *input)
{
    if (!input) return;
    for (size_t i = 0; input->file && i < input->list.count; i++) {
        if (input->file[i].fd >= 0) close(input->file[i].fd);
        hdst__free(input->allocator, input->file[i].piece);
    }
    if (input->temporary >= 0) close(input->temporary);
    if (input->runtime) hdst__meter_take(&input->runtime->files.bytes, input->counted);
    hdst__free(input->allocator, input->file);
    hdst__file_list_free(&input->list);
    hdst__free(input->allocator, input);
}

// --- Into the temporary file ---

static const uint64_t piece_bytes = HDST__HOST_TEXT_PIECE_BYTES;

static hdst_status temporary_error(const hdst__text_input *input, const char *what, int number, hdst_error *error)
{
    char reason[128];
    const char *words = strerror_r(number, reason, sizeof reason);
    hdst__error_set(error, HDST_E_IO, "temporary file in '%s': %s", input->folder, what);
    hdst__error_cause(error, "%s", words);
    hdst__error_hint(error, "compressed texts, and those that come through pipes, are kept there: let TMPDIR name a folder with room for them");
    return HDST_E_IO;
}

typedef struct passing {        // a file whose bytes go through
    hdst__text_input *input;
    text_file *file;
} passing;

static hdst_status next_piece(const passing *p, hdst_error *error)
{
    text_file *file = p->file;
    if ((file->pieces & (file->pieces - 1)) == 0) {         // there is room for the next power of two
        uint64_t *more = hdst__realloc(p->input->allocator, file->piece, (file->pieces ? 2 * file->pieces : 1) * sizeof *more);
        if (!more) return hdst__error_memory(error, file->path);
        file->piece = more;
    }
    file->piece[file->pieces++] = atomic_fetch_add(&p->input->pieces, 1);
    return HDST_OK;
}

static hdst_status put(void *user, const void *bytes, uint64_t count, hdst_error *error)
{
    const passing *p = user;
    text_file *file = p->file;
    while (count) {
        const uint64_t at = file->bytes % piece_bytes, part = piece_bytes - at < count ? piece_bytes - at : count;
        uint64_t done;
        hdst_status status = file->bytes == file->pieces * piece_bytes ? next_piece(p, error) : HDST_OK;
        if (status != HDST_OK) return status;
        const int number = hdst__write_at(p->input->temporary, file->piece[file->bytes / piece_bytes] * piece_bytes + at, bytes, part, &done);
        if (number) return temporary_error(p->input, "cannot be written", number, error);
        if (p->input->runtime) hdst__meter_add(&p->input->runtime->files.bytes, part), atomic_fetch_add(&p->input->counted, part);
        file->bytes += part;
        bytes = (const char *)bytes + part;
        count -= part;
    }
    return HDST_OK;
}

static hdst_status gone(const text_file *file, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' was read in part before, and cannot be read again", file->path);
    hdst__error_at(error, file->path, 0, 0);
    hdst__error_hint(error, "what comes through a pipe comes once: open a new one, or read a file");
    return HDST_E_IO;
}

static hdst_status pass(hdst__text_input *input, text_file *file, hdst_error *error)
{
    int fd;
    passing p = {input, file};
    if (file->begun && !file->is_regular) return gone(file, error);
    hdst_status status = take_fd(file, &fd, error);
    if (status != HDST_OK) return status;
    file->bytes = 0;
    file->begun = true;
    status = hdst__text_stream_run(&(hdst__text_stream_job){input->allocator, input->cancel, file->path, fd, file->is_regular, put, &p}, error);
    // What is damaged because somebody writes to it is not damaged.
    if (file->is_regular && (status == HDST_OK || status == HDST_E_FORMAT)) {
        hdst_status same = check_unchanged(file, fd, error);
        if (same != HDST_OK) status = same;
    }
    give_fd(file, fd);
    if (status == HDST_OK && file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
    return status;
}

typedef struct preparation {
    hdst__text_input *input;
    size_t *number;             // of the files that go through
    hdst_status *status;
    hdst_error *error;          // of each
} preparation;

static void pass_one(void *user, uint64_t i)
{
    const preparation *run = user;
    if (!hdst__cancel_asked(run->input->cancel)) run->status[i] = pass(run->input, &run->input->file[run->number[i]], &run->error[i]);
    else run->status[i] = hdst__cancel_error(0, 0, &run->error[i]);
}

// The error is that of the first file in the list that has one.
static hdst_status pass_all(preparation *run, size_t count, hdst__thread_pool *threads, hdst_error *error)
{
    if (threads) hdst__thread_pool_run(threads, count, pass_one, run);
    else for (size_t i = 0; i < count; i++) pass_one(run, i);
    for (size_t i = 0; i < count; i++) {
        if (run->status[i] == HDST_OK) continue;
        if (error) *error = run->error[i];
        return run->status[i];
    }
    return HDST_OK;
}

static hdst_status open_temporary(hdst__text_input *input, hdst_error *error)
{
    input->temporary = hdst__temporary_file(input->folder);
    if (input->temporary < 0) return temporary_error(input, "cannot be made", errno, error);
    hdst__temporary_file_look(input->runtime, input->temporary, input->folder);
    return HDST_OK;
}

hdst_status hdst__text_input_prepare(hdst__text_input *input, hdst__thread_pool *threads, hdst_error *error)
{
    if (input->prepared) return HDST_OK;
    const hdst__allocator *allocator = input->allocator;
    const size_t files = input->list.count;
    preparation run = {input, hdst__alloc(allocator, files * sizeof *run.number), hdst__alloc_zero(allocator, files * sizeof *run.status), NULL};
    size_t count = 0;
    for (size_t i = 0; run.number && i < files; i++)
        if (!input->file[i].in_place) run.number[count++] = i;
    if (count) run.error = hdst__alloc_zero(allocator, count * sizeof *run.error);
    hdst_status status = run.number && run.status && (run.error || !count) ? HDST_OK : hdst__error_memory(error, "a list of files");
    if (status == HDST_OK && count && input->temporary < 0) status = open_temporary(input, error);
    if (status == HDST_OK) status = pass_all(&run, count, threads, error);
    input->prepared = status == HDST_OK;
    hdst__free(allocator, run.number);
    hdst__free(allocator, run.status);
    hdst__free(allocator, run.error);
    return status;
}

// --- Reading ---

size_t hdst__text_input_files(const hdst__text_input *input) { return input->list.count; }
const char *hdst__text_input_path(const hdst__text_input *input, size_t file) { return input->file[file].path; }
uint64_t hdst__text_input_bytes(const hdst__text_input *input, size_t file) { return input->file[file].bytes; }

static hdst_status read_in_place(const text_file *file, uint64_t offset, void *data, uint64_t bytes, hdst_error *error)
{
    int fd;
    uint64_t done;
    hdst_status status = take_fd(file, &fd, error);
    if (status != HDST_OK) return status;
    const int number = hdst__read_at(fd, offset, data, bytes, &done);
    status = check_unchanged(file, fd, error);          // which is why there is less of it, if there is
    if (status == HDST_OK && number) status = system_error(file->path, "cannot read", number, error);
    give_fd(file, fd);
    return status;
}

hdst_status hdst__text_input_read(const hdst__text_input *input, size_t number, uint64_t offset, void *data, uint64_t bytes, hdst_error *error)
{
    const text_file *file = &input->file[number];
    if (file->in_place) return read_in_place(file, offset, data, bytes, error);
    while (bytes) {
        const uint64_t at = offset % piece_bytes, part = piece_bytes - at < bytes ? piece_bytes - at : bytes;
        uint64_t done;
        const int failed = hdst__read_at(input->temporary, file->piece[offset / piece_bytes] * piece_bytes + at, data, part, &done);
        if (failed) return temporary_error(input, "cannot be read back", failed, error);
        offset += part;
        bytes -= part;
        data = (char *)data + part;
    }
    return HDST_OK;
}
