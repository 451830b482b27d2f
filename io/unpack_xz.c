// SPDX-License-Identifier: Apache-2.0
// xz, by liblzma: streams one after another, with padding between them. It takes the window that the file was made with: 64 MiB for `xz -9`.
#include "io/unpack.h"

#include <lzma.h>
#include <string.h>

#define MOST_MEMORY ((uint64_t)256 << 20)

typedef struct xz {
    const hdst__allocator *allocator;
    lzma_allocator hook;
    lzma_stream stream;
} xz;

static void *take(void *user, size_t count, size_t bytes) { return hdst__alloc(user, count * bytes); }
static void give(void *user, void *memory) { hdst__free(user, memory); }

static void end(void *state)
{
    xz *x = state;
    if (!x) return;
    lzma_end(&x->stream);
    hdst__free(x->allocator, x);
}

static void *begin(const hdst__allocator *allocator)
{
    xz *x = hdst__alloc_zero(allocator, sizeof *x);
    if (!x) return NULL;
    x->allocator = allocator;
    x->hook = (lzma_allocator){take, give, (void *)allocator};
    x->stream = (lzma_stream)LZMA_STREAM_INIT;
    x->stream.allocator = &x->hook;
    if (lzma_stream_decoder(&x->stream, MOST_MEMORY, LZMA_CONCATENATED) == LZMA_OK) return x;
    end(x);
    return NULL;
}

static const char *words_of(lzma_ret result)
{
    switch (result) {
        case LZMA_FORMAT_ERROR: return "what follows the last stream is none";
        case LZMA_OPTIONS_ERROR: return "it uses an option that the library does not know";
        case LZMA_MEMLIMIT_ERROR: return "its window is larger than 256 MiB";
        default: return "the data or their check are wrong";
    }
}

static hdst__unpack_result step(void *state, hdst__unpack_io *io, const char **why)
{
    xz *x = state;
    x->stream.next_in = io->in;
    x->stream.avail_in = io->in_bytes;
    x->stream.next_out = io->out;
    x->stream.avail_out = io->out_bytes;
    const lzma_ret result = lzma_code(&x->stream, io->last ? LZMA_FINISH : LZMA_RUN);
    io->in = x->stream.next_in;
    io->in_bytes = x->stream.avail_in;
    io->out = x->stream.next_out;
    io->out_bytes = x->stream.avail_out;
    *why = words_of(result);
    switch (result) {
        case LZMA_OK: case LZMA_BUF_ERROR: return HDST__UNPACK_MORE;        // whether a stream has ended it says at the end of the input alone
        case LZMA_STREAM_END: return HDST__UNPACK_WHOLE;
        case LZMA_MEM_ERROR: return HDST__UNPACK_NO_MEMORY;
        case LZMA_MEMLIMIT_ERROR: return HDST__UNPACK_NEEDS;
        default: return HDST__UNPACK_DAMAGED;
    }
}

const hdst__unpacker hdst__unpack_xz = {"xz", "\xFD" "7zXZ\0", 6, begin, step, end};
