// SPDX-License-Identifier: Apache-2.0
// Pipes and the standard input as files (io/spool.h).
#define _GNU_SOURCE     // strerror_r that returns the text
#include "io/spool.h"

#include "base/temporary_file.h"
#include "io/text_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct spool {
    hdst__file *file;
    char folder[HDST__TEMPORARY_FOLDER_BYTES];
} spool;

static bool is_standard_input(const char *path) { return !strcmp(path, "-") || !strcmp(path, "/dev/stdin"); }

bool hdst__spool_needed(const char *path)
{
    struct stat status;
    return is_standard_input(path) || (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)));
}

static hdst_status system_error(const char *path, const char *what, int number, hdst_error *error)
{
    char reason[128];
    const char *words = strerror_r(number, reason, sizeof reason);
    hdst__error_set(error, HDST_E_IO, "%s '%s'", what, path);
    hdst__error_at(error, path, 0, 0);
    hdst__error_cause(error, "%s", words);
    return HDST_E_IO;
}

static hdst_status temporary_error(const spool *to, const char *what, int number, hdst_error *error)
{
    char reason[128];
    const char *words = strerror_r(number, reason, sizeof reason);
    hdst__error_set(error, HDST_E_IO, "temporary file in '%s': %s, for what comes through '%s'", to->folder, what, to->file->path);
    hdst__error_cause(error, "%s", words);
    hdst__error_hint(error, "TMPDIR names a folder for temporary files, with room for all of it");
    return HDST_E_IO;
}

static hdst_status put(void *user, const void *bytes, uint64_t count, hdst_error *error)
{
    const spool *to = user;
    uint64_t done = 0;
    const int number = hdst__write_at(to->file->fd, to->file->bytes, bytes, count, &done);
    to->file->bytes += done;
    return number ? temporary_error(to, "cannot be written", number, error) : HDST_OK;
}

static hdst_status bring(spool *to, const hdst__text_stream_job *job, hdst_error *error)
{
    to->file->fd = hdst__temporary_file(to->folder);
    if (to->file->fd < 0) return temporary_error(to, "cannot be made", errno, error);
    hdst__temporary_file_look(NULL, to->file->fd, to->folder);
    const hdst_status status = hdst__text_stream_run(job, error);
    if (status != HDST_OK) hdst__file_close(to->file);
    return status;
}

// Whether a regular file can be read as it is.
static bool lies_there(const hdst__text_stream_job *job, const struct stat *status)
{
    unsigned char start[HDST__UNPACK_START];
    if (!S_ISREG(status->st_mode)) return false;
    const ssize_t n = job->as_is ? 0 : pread(job->fd, start, sizeof start, 0);
    return n >= 0 && !hdst__unpack_unknown(start, (size_t)n) && !hdst__unpacker_of(start, (size_t)n);
}

// Opening does not wait: a pipe may have no writer yet.
hdst_status hdst__spool_open(hdst__file *file, const hdst__allocator *allocator, const char *path, bool unpacks, const hdst__cancel *cancel, hdst_error *error)
{
    struct stat status;
    spool to = {.file = file};
    *file = (hdst__file){.fd = -1, .path = path};
    const int fd = is_standard_input(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                           : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status)) {
        const int number = errno;
        if (fd >= 0) close(fd);
        return system_error(path, "cannot open", number, error);
    }
    const hdst__text_stream_job job = {.allocator = allocator, .cancel = cancel, .path = path, .fd = fd, .is_regular = S_ISREG(status.st_mode), .put = put,
                                       .user = &to, .as_is = !unpacks};
    if (lies_there(&job, &status)) {
        *file = (hdst__file){.fd = fd, .path = path, .bytes = (uint64_t)status.st_size};
        return HDST_OK;
    }
    const hdst_status brought = bring(&to, &job, error);
    close(fd);
    return brought;
}
