// SPDX-License-Identifier: Apache-2.0
// Reads at any offset; writes that appear whole or not at all.
#define _GNU_SOURCE     // strerror_r that returns the text
#include "io/file.h"

#include "base/files.h"
#include "base/costs_host.h"
#include "io/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_SHARE = 4 };        // of the files that the process may have open

static hdst_status system_error(hdst_error *error, const char *path, const char *what, int number)
{
    char reason[128];
    const char *words = strerror_r(number, reason, sizeof reason);      // strerror is not thread-safe
    hdst__error_set(error, HDST_E_IO, "%s '%s'", what, path);
    hdst__error_at(error, path, 0, 0);
    hdst__error_cause(error, "%s", words);
    if (number == EMFILE) hdst__error_hint(error, "`ulimit -n` says how many files the process may have open");
    return HDST_E_IO;
}

// --- Reading ---

hdst_status hdst__file_open(hdst__file *file, const char *path, hdst_error *error)
{
    struct stat status;
    char reason[HDST__REASON_BYTES];
    *file = (hdst__file){.fd = -1, .path = path};
    const int fd = hdst__open_regular(path, 0, reason);
    if (fd < 0) {
        const int number = errno;
        if (number != EINVAL) return system_error(error, path, "cannot open", number);
        hdst__error_set(error, HDST_E_IO, "cannot open '%s': %s", path, reason);
        hdst__error_at(error, path, 0, 0);
        hdst__error_hint(error, "records are read at any place and more than once, which folders, pipes and devices do not allow");
        return HDST_E_IO;
    }
    if (fstat(fd, &status)) {
        int number = errno;
        close(fd);
        return system_error(error, path, "cannot open", number);
    }
    *file = (hdst__file){.fd = fd, .path = path, .bytes = (uint64_t)status.st_size, .is_named = true,
                         .is = {(uint64_t)status.st_dev, (uint64_t)status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec}};
    return HDST_OK;
}

void hdst__file_close(hdst__file *file)
{
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
}

void hdst__file_rest(hdst__file *file)
{
    if (!file->is_named || file->fd < 0) return;
    hdst__file_close(file);
    file->rests = true;
}

size_t hdst__files_that_stay_open(void)
{
    struct rlimit limit;
    const size_t most = HDST__HOST_OPEN_FILES;
    return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / OPEN_SHARE >= most ? most : (size_t)limit.rlim_cur / OPEN_SHARE;
}

static bool is_same(const hdst__file *a, const hdst__file *b)
{
    return a->bytes == b->bytes && a->is.device == b->is.device && a->is.number == b->is.number && a->is.seconds == b->is.seconds &&
           a->is.nanoseconds == b->is.nanoseconds;
}

hdst_status hdst__file_changed(const char *path, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read", path);
    hdst__error_at(error, path, 0, 0);
    hdst__error_hint(error, "read it again when nobody writes to it any more, or read a copy");
    return HDST_E_IO;
}

static hdst_status open_again(const hdst__file *file, hdst__file *again, hdst_error *error)
{
    const hdst_status status = hdst__file_open(again, file->path, error);
    if (status != HDST_OK || is_same(file, again)) return status;
    hdst__file_close(again);
    return hdst__file_changed(file->path, error);
}

// What was added while the file was read may belong to rows that were there before.
static hdst_status check_end(const hdst__file *file, hdst_error *error)
{
    struct stat status;
    if (fstat(file->fd, &status)) return system_error(error, file->path, "cannot read", errno);
    if ((uint64_t)status.st_size <= file->bytes) return HDST_OK;
    hdst__error_set(error, HDST_E_IO, "'%s' has %llu bytes although it had %llu when it was opened", file->path, (unsigned long long)status.st_size,
                    (unsigned long long)file->bytes);
    hdst__error_at(error, file->path, 0, 0);
    hdst__error_hint(error, "something added to the file while it was read: open it again when it is complete");
    return HDST_E_IO;
}

static hdst_status read_open(const hdst__file *file, uint64_t offset, void *data, uint64_t bytes, hdst_error *error)
{
    for (uint64_t done = 0; done < bytes;) {
        uint64_t left = bytes - done;
        ssize_t n = pread(file->fd, (char *)data + done, left < ((uint64_t)1 << 30) ? left : (uint64_t)1 << 30, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_error(error, file->path, "cannot read", errno);
        if (n == 0) {
            hdst__error_set(error, HDST_E_IO, "'%s' ends at byte %llu although it had %llu bytes when it was opened", file->path,
                            (unsigned long long)(offset + done), (unsigned long long)file->bytes);
            hdst__error_at(error, file->path, 0, 0);
            hdst__error_hint(error, "something shortened the file while it was read");
            return HDST_E_IO;
        }
        done += (uint64_t)n;
    }
    return offset + bytes == file->bytes ? check_end(file, error) : HDST_OK;
}

hdst_status hdst__file_read(const hdst__file *file, uint64_t offset, void *data, uint64_t bytes, hdst_error *error)
{
    hdst__file again;
    if (!file->rests) return read_open(file, offset, data, bytes, error);
    hdst_status status = open_again(file, &again, error);
    if (status != HDST_OK) return status;
    status = read_open(&again, offset, data, bytes, error);
    hdst__file_close(&again);
    return status;
}

// --- Writing ---

struct hdst__file_writer {
    const hdst__allocator *allocator;
    int fd;
    bool to_stdout, replaces;       // neither: a pipe or device, written in place
    char *path;
    hdst__replacement replacement;
    size_t used;
    hdst_error failed;              // code HDST_OK: none yet
    char buffer[HDST__HOST_WRITE_BUFFER_BYTES];
};

static void release(hdst__file_writer *writer)
{
    if (writer->replaces) hdst__replacement_close(&writer->replacement);
    else if (writer->fd >= 0 && !writer->to_stdout) close(writer->fd);
    hdst__free(writer->allocator, writer->path);
    hdst__free(writer->allocator, writer);
}

// Names the folder in the error, where the folder is the reason.
static void hint_folder(hdst_error *error, const char *path, int number)
{
    const char *slash = strrchr(path, '/');
    const int length = slash ? slash == path ? 1 : (int)(slash - path) : 1;
    const char *folder = slash ? path : ".";
    if (number == ENOENT) hdst__error_hint(error, "there is no folder '%.*s'", length, folder);
    else if (number == EACCES || number == EPERM || number == EROFS)
        hdst__error_hint(error, "the file is made in the folder '%.*s', which must be writable", length, folder);
}

static hdst_status open_replacement(hdst__file_writer *writer, bool is_private, hdst_error *error)
{
    writer->replaces = true;
    const int number = hdst__replacement_open(&writer->replacement, writer->allocator, writer->path, is_private);
    writer->fd = writer->replacement.fd;
    if (!number) return HDST_OK;
    if (number == ENOMEM) return hdst__error_memory(error, writer->path);
    system_error(error, writer->path, "cannot write", number);
    hint_folder(error, writer->path, number);
    return HDST_E_IO;
}

// A pipe or a device (/dev/stdout) is written in place: a rename would put a file where it was.
static hdst_status open_target(hdst__file_writer *writer, bool is_private, hdst_error *error)
{
    struct stat status;
    if (is_private || stat(writer->path, &status) || S_ISREG(status.st_mode)) return open_replacement(writer, is_private, error);
    writer->fd = open(writer->path, O_WRONLY | O_CLOEXEC);
    return writer->fd >= 0 ? HDST_OK : system_error(error, writer->path, "cannot write", errno);
}

static hdst__file_writer *open_writer(const hdst__allocator *allocator, const char *path, bool is_private, hdst_error *error)
{
    hdst__file_writer *writer = hdst__alloc_zero(allocator, sizeof *writer);
    if (!writer || !(writer->path = hdst__strdup(allocator, path))) {
        hdst__free(allocator, writer);
        hdst__error_memory(error, path);
        return NULL;
    }
    writer->allocator = allocator;
    writer->fd = -1;
    writer->to_stdout = !is_private && !strcmp(path, "-");
    if (writer->to_stdout) writer->fd = STDOUT_FILENO;
    else if (open_target(writer, is_private, error) != HDST_OK) {
        release(writer);
        return NULL;
    }
    return writer;
}

hdst__file_writer *hdst__file_writer_open(const hdst__allocator *allocator, const char *path, hdst_error *error)
{
    return open_writer(allocator, path, false, error);
}
hdst__file_writer *hdst__file_writer_open_private(const hdst__allocator *allocator, const char *path, hdst_error *error)
{
    return open_writer(allocator, path, true, error);
}

static hdst_status fail(hdst__file_writer *writer, int number)
{
    return system_error(&writer->failed, writer->to_stdout ? "standard output" : writer->path, "cannot write", number);
}

static hdst_status write_all(hdst__file_writer *writer, const char *bytes, uint64_t count)
{
    while (count) {
        ssize_t n = write(writer->fd, bytes, count < ((uint64_t)1 << 30) ? count : (uint64_t)1 << 30);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(writer, errno);
        bytes += n;
        count -= (uint64_t)n;
    }
    return HDST_OK;
}

static hdst_status flush(hdst__file_writer *writer)
{
    hdst_status status = write_all(writer, writer->buffer, writer->used);
    writer->used = 0;
    return status;
}

static hdst_status report(const hdst__file_writer *writer, hdst_error *error)
{
    if (error) *error = writer->failed;
    return writer->failed.code;
}

hdst_status hdst__file_writer_add(hdst__file_writer *writer, const void *bytes, uint64_t count, hdst_error *error)
{
    if (writer->failed.code) return report(writer, error);
    if (count > HDST__HOST_WRITE_BUFFER_BYTES - writer->used && flush(writer) != HDST_OK) return report(writer, error);
    if (count >= HDST__HOST_WRITE_BUFFER_BYTES) return write_all(writer, bytes, count) == HDST_OK ? HDST_OK : report(writer, error);
    if (count) memcpy(writer->buffer + writer->used, bytes, count);
    writer->used += count;
    return HDST_OK;
}

void hdst__file_writer_fail(hdst__file_writer *writer, const char *what)
{
    if (!writer->failed.code) hdst__error_set(&writer->failed, HDST_E_MEMORY, "%s", what);
}

static void put_in_place(hdst__file_writer *writer)
{
    int number = 0;
    if (writer->replaces) {
        number = hdst__replacement_commit(&writer->replacement);
    } else {
        number = close(writer->fd) ? errno : 0;
        writer->fd = -1;
    }
    if (number) fail(writer, number);
}

hdst_status hdst__file_writer_commit(hdst__file_writer *writer, hdst_error *error)
{
    if (!writer->failed.code) flush(writer);
    if (!writer->failed.code && !writer->to_stdout) put_in_place(writer);
    hdst_status status = writer->failed.code;
    if (status != HDST_OK) report(writer, error);
    release(writer);
    return status;
}

void hdst__file_writer_abandon(hdst__file_writer *writer)
{
    if (writer) release(writer);
}
