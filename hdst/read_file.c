// SPDX-License-Identifier: Apache-2.0
// A whole text file in memory (hdst/read_file.h).
#include "hdst/read_file.h"

#include "base/buffer.h"
#include "base/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST = 64 << 20 };

static hdst_status fail(const char *path, hdst_status code, const char *what, hdst_error *error)
{
    hdst__error_set(error, code, "cannot read '%s': %s", path, what);
    hdst__error_at(error, path, 0, 0);
    return code;
}

static hdst_status read_all(FILE *file, const char *path, hdst__buffer *text, hdst_error *error)
{
    char chunk[16384];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0) {
        if (memchr(chunk, 0, n)) return fail(path, HDST_E_FORMAT, "it has NUL bytes, so it is no text file", error);
        hdst__buffer_add(text, chunk, n);
        if (text->length > LARGEST) return fail(path, HDST_E_FORMAT, "it is larger than 64 MiB", error);
    }
    if (ferror(file)) return fail(path, HDST_E_IO, strerror(errno), error);
    return HDST_OK;
}

hdst_status hdst__read_file(const hdst__allocator *allocator, const char *path, char **text, hdst_error *error)
{
    char reason[HDST__REASON_BYTES];
    const int fd = hdst__open_regular(path, 0, reason);
    if (fd < 0) return fail(path, HDST_E_IO, reason, error);
    FILE *file = fdopen(fd, "rb");
    if (!file) {
        close(fd);
        return hdst__error_memory(error, path);
    }
    hdst__buffer buffer;
    hdst__buffer_init(&buffer, allocator);
    hdst_status status = read_all(file, path, &buffer, error);
    fclose(file);
    if (status == HDST_OK) {
        *text = hdst__buffer_take(&buffer);
        if (!*text) status = hdst__error_memory(error, path);
    }
    hdst__buffer_destroy(&buffer);
    return status;
}
