// SPDX-License-Identifier: Apache-2.0
// zstd (RFC 8878), by its library, which takes its memory from malloc: at most a window of 128 MiB and what goes with it.
#include "io/unpack.h"

#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd {
    const hdst__allocator *allocator;
    ZSTD_DStream *stream;
} zstd;

static void end(void *state)
{
    zstd *z = state;
    if (!z) return;
    ZSTD_freeDStream(z->stream);
    hdst__free(z->allocator, z);
}

static void *begin(const hdst__allocator *allocator)
{
    zstd *z = hdst__alloc_zero(allocator, sizeof *z);
    if (!z) return NULL;
    z->allocator = allocator;
    z->stream = ZSTD_createDStream();
    if (z->stream) return z;
    end(z);
    return NULL;
}

static hdst__unpack_result step(void *state, hdst__unpack_io *io, const char **why)
{
    zstd *z = state;
    ZSTD_inBuffer in = {io->in, io->in_bytes, 0};
    ZSTD_outBuffer out = {io->out, io->out_bytes, 0};
    const size_t left = ZSTD_decompressStream(z->stream, &out, &in);
    io->in += in.pos;
    io->in_bytes -= in.pos;
    io->out += out.pos;
    io->out_bytes -= out.pos;
    if (!ZSTD_isError(left)) return left ? HDST__UNPACK_MORE : HDST__UNPACK_WHOLE;
    *why = ZSTD_getErrorName(left);
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(left);
    if (code == ZSTD_error_memory_allocation) return HDST__UNPACK_NO_MEMORY;
    return code == ZSTD_error_frameParameter_windowTooLarge ? HDST__UNPACK_NEEDS : HDST__UNPACK_DAMAGED;
}

const hdst__unpacker hdst__unpack_zstd = {"zstd", "\x28\xB5\x2F\xFD", 4, begin, step, end};
