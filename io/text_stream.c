// SPDX-License-Identifier: Apache-2.0
// Bytes as they come (io/text_stream.h): a buffer of what is read, an unpacker, a buffer of what comes out.
#define _GNU_SOURCE     // strerror_r that returns the text
#include "io/text_stream.h"

#include "base/costs_host.h"
#include "base/error_object.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MILLISECONDS = 20 };        // between two looks at whether the call was cancelled

typedef struct stream {
    const hdst__text_stream_job *job;
    const hdst__unpacker *unpacker;     // NULL: plain bytes
    void *state;
    unsigned char *in, *out;            // the buffers
    hdst__unpack_io io;
    uint64_t taken;                     // read from the file
} stream;

// --- Reading ---

// A pipe without a writer yet gives neither data nor an end: both wait here.
static hdst_status wait_for_data(const stream *s, hdst_error *error)
{
    struct pollfd pipe = {.fd = s->job->fd, .events = POLLIN};
    hdst_status status = HDST_OK;
    while (status == HDST_OK && poll(&pipe, 1, WAIT_MILLISECONDS) <= 0) status = hdst__cancel_check(s->job->cancel, 0, 0, error);
    return status;
}

static ssize_t read_some(const stream *s, void *to, size_t room)
{
    return s->job->is_regular ? pread(s->job->fd, to, room, (off_t)s->taken) : read(s->job->fd, to, room);
}

// More input behind what is left of it; io.last: there is none.
static hdst_status refill(stream *s, hdst_error *error)
{
    memmove(s->in, s->io.in, s->io.in_bytes);
    s->io.in = s->in;
    for (;;) {
        hdst_status status = s->job->is_regular ? HDST_OK : wait_for_data(s, error);
        if (status != HDST_OK) return status;
        const ssize_t n = read_some(s, s->in + s->io.in_bytes, HDST__HOST_TEXT_INPUT_BYTES - s->io.in_bytes);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) {
            char reason[128];
            const char *words = strerror_r(errno, reason, sizeof reason);
            hdst__error_set(error, HDST_E_IO, "cannot read '%s'", s->job->path);
            hdst__error_at(error, s->job->path, 0, 0);
            hdst__error_cause(error, "%s", words);
            return HDST_E_IO;
        }
        s->io.last = n == 0;
        s->io.in_bytes += (size_t)n;
        s->taken += (uint64_t)n;
        return HDST_OK;
    }
}

// --- Messages ---

hdst_status hdst__text_stream_refuse(const char *path, const char *format, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "'%s' is compressed with %s, which is not read", path, format);
    hdst__error_at(error, path, 0, 0);
    hdst__error_hint(error, "unpack it first; gzip, zstd and xz are unpacked on the way");
    return HDST_E_FORMAT;
}

static hdst_status damaged(const stream *s, const char *why, hdst_error *error)
{
    const char *path = s->job->path, *name = s->unpacker->name;
    hdst__error_set(error, HDST_E_FORMAT, "'%s' is damaged: no %s data at byte %llu of the compressed file", path, name,
                    (unsigned long long)(s->taken - s->io.in_bytes));
    hdst__error_at(error, path, 0, 0);
    hdst__error_cause(error, "%s: %s", name, why);
    hdst__error_hint(error, "`%s -t` tests the whole file: get or make it again", name);
    return HDST_E_FORMAT;
}

static hdst_status cut_short(const stream *s, hdst_error *error)
{
    const char *path = s->job->path, *name = s->unpacker->name;
    hdst__error_set(error, HDST_E_FORMAT, "'%s' ends within its %s data, at byte %llu of the compressed file", path, name, (unsigned long long)s->taken);
    hdst__error_at(error, path, 0, 0);
    hdst__error_cause(error, "the file was cut, or is not yet complete");
    hdst__error_hint(error, "`%s -t` tests the whole file: get or make it again", name);
    return HDST_E_FORMAT;
}

static hdst_status needs_more(const stream *s, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "'%s' needs more memory to be unpacked than is given for it", s->job->path);
    hdst__error_at(error, s->job->path, 0, 0);
    hdst__error_hint(error, "it was compressed with a very large window (`zstd --long`, `xz --lzma2=dict=`): compress it again without, or unpack it first");
    return HDST_E_FORMAT;
}

// --- Out ---

static hdst_status put_out(stream *s, hdst_error *error)
{
    const size_t count = (size_t)(s->io.out - s->out);
    hdst_status status = hdst__cancel_check(s->job->cancel, 0, 0, error);
    if (status == HDST_OK && count) status = s->job->put(s->job->user, s->out, count, error);
    s->io.out = s->out;
    s->io.out_bytes = HDST__HOST_TEXT_OUTPUT_BYTES;
    return status;
}

static hdst_status copy_plain(stream *s, hdst_error *error)
{
    hdst_status status = HDST_OK;
    while (status == HDST_OK && (s->io.in_bytes || !s->io.last)) {
        status = hdst__cancel_check(s->job->cancel, 0, 0, error);
        if (status == HDST_OK && s->io.in_bytes) status = s->job->put(s->job->user, s->io.in, s->io.in_bytes, error);
        s->io.in_bytes = 0;
        if (status == HDST_OK) status = refill(s, error);
    }
    return status;
}

static hdst_status unpack(stream *s, hdst_error *error)
{
    hdst__unpack_result result = HDST__UNPACK_MORE;
    for (;;) {
        hdst_status status = !s->io.in_bytes && !s->io.last ? refill(s, error) : HDST_OK;
        if (status == HDST_OK && s->io.last && !s->io.in_bytes && result == HDST__UNPACK_WHOLE) return put_out(s, error);
        if (status != HDST_OK) return status;
        const char *why = "";
        const size_t in = s->io.in_bytes, room = s->io.out_bytes;
        result = s->unpacker->step(s->state, &s->io, &why);
        if (result == HDST__UNPACK_DAMAGED) return damaged(s, why, error);
        if (result == HDST__UNPACK_NEEDS) return needs_more(s, error);
        if (result == HDST__UNPACK_NO_MEMORY) return hdst__error_memory(error, s->job->path);
        const bool moved = s->io.in_bytes < in || s->io.out_bytes < room;
        if (!moved && !s->io.in_bytes && s->io.last && result == HDST__UNPACK_MORE) return cut_short(s, error);
        if (!moved && s->io.in_bytes) return damaged(s, "it goes on nowhere", error);
        if (!s->io.out_bytes) status = put_out(s, error);
        if (status != HDST_OK) return status;
    }
}

static hdst_status run(stream *s, hdst_error *error)
{
    hdst_status status = HDST_OK;
    // A pipe may give its first bytes one by one.
    while (status == HDST_OK && s->io.in_bytes < HDST__UNPACK_START && !s->io.last) status = refill(s, error);
    if (status != HDST_OK) return status;
    if (s->job->as_is) return copy_plain(s, error);
    const char *unknown = hdst__unpack_unknown(s->io.in, s->io.in_bytes);
    if (unknown) return hdst__text_stream_refuse(s->job->path, unknown, error);
    s->unpacker = hdst__unpacker_of(s->io.in, s->io.in_bytes);
    if (!s->unpacker) return copy_plain(s, error);
    s->out = hdst__alloc(s->job->allocator, HDST__HOST_TEXT_OUTPUT_BYTES);
    s->io.out = s->out;
    s->io.out_bytes = HDST__HOST_TEXT_OUTPUT_BYTES;
    s->state = s->out ? s->unpacker->begin(s->job->allocator) : NULL;
    status = s->state ? unpack(s, error) : hdst__error_memory(error, s->job->path);
    s->unpacker->end(s->state);
    return status;
}

hdst_status hdst__text_stream_run(const hdst__text_stream_job *job, hdst_error *error)
{
    stream s = {.job = job, .in = hdst__alloc(job->allocator, HDST__HOST_TEXT_INPUT_BYTES)};
    s.io.in = s.in;
    hdst_status status = s.in ? run(&s, error) : hdst__error_memory(error, job->path);
    hdst__free(job->allocator, s.out);
    hdst__free(job->allocator, s.in);
    return status;
}
