// SPDX-License-Identifier: Apache-2.0
// gzip (RFC 1952), by zlib: members one after another; zero bytes behind the last are padding, as gzip takes them.
#include "io/unpack.h"

#include <string.h>
#include <zlib.h>

typedef struct gzip {
    const hdst__allocator *allocator;
    z_stream stream;
    bool between, padded;       // behind a member; behind zeros
} gzip;

static void *take(void *user, unsigned count, unsigned bytes) { return hdst__alloc(user, (size_t)count * bytes); }
static void give(void *user, void *memory) { hdst__free(user, memory); }

static void *begin(const hdst__allocator *allocator)
{
    gzip *g = hdst__alloc_zero(allocator, sizeof *g);
    if (!g) return NULL;
    g->allocator = allocator;
    g->stream = (z_stream){.zalloc = take, .zfree = give, .opaque = (void *)allocator};
    if (inflateInit2(&g->stream, 15 + 16) == Z_OK) return g;        // any window, a gzip header
    hdst__free(allocator, g);
    return NULL;
}

// True: another member begins.
static bool skip_padding(gzip *g, hdst__unpack_io *io)
{
    while (io->in_bytes && *io->in == 0) io->in++, io->in_bytes--, g->padded = true;
    return io->in_bytes;
}

static hdst__unpack_result step(void *state, hdst__unpack_io *io, const char **why)
{
    gzip *g = state;
    if (g->between) {
        if (!skip_padding(g, io)) return HDST__UNPACK_WHOLE;
        *why = "what follows the last member is none";
        if (g->padded || *io->in != 0x1F) return HDST__UNPACK_DAMAGED;
        inflateReset(&g->stream);
        g->between = false;
    }
    g->stream.next_in = (unsigned char *)io->in;
    g->stream.avail_in = (unsigned)io->in_bytes;
    g->stream.next_out = io->out;
    g->stream.avail_out = (unsigned)io->out_bytes;
    const int result = inflate(&g->stream, Z_NO_FLUSH);
    io->in = g->stream.next_in;
    io->in_bytes = g->stream.avail_in;
    io->out = g->stream.next_out;
    io->out_bytes = g->stream.avail_out;
    g->between = result == Z_STREAM_END;
    *why = g->stream.msg ? g->stream.msg : "it needs a dictionary";
    if (result == Z_MEM_ERROR) return HDST__UNPACK_NO_MEMORY;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return HDST__UNPACK_DAMAGED;
    return g->between ? HDST__UNPACK_WHOLE : HDST__UNPACK_MORE;
}

static void end(void *state)
{
    gzip *g = state;
    if (!g) return;
    inflateEnd(&g->stream);
    hdst__free(g->allocator, g);
}

const hdst__unpacker hdst__unpack_gzip = {"gzip", "\x1F\x8B", 2, begin, step, end};
