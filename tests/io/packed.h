// SPDX-License-Identifier: Apache-2.0
// For tests of texts: bytes packed by the libraries' own compressors.
#ifndef TESTS_IO_PACKED_H
#define TESTS_IO_PACKED_H

#include "helper.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

typedef struct packed_bytes {
    char *bytes;
    size_t count;
} packed_bytes;

static packed_bytes pack_gzip(const char *bytes, size_t count)
{
    z_stream z = {0};
    packed_bytes p = {hdst__arena_alloc(&arena, count + count / 100 + 200), 0};
    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)bytes;
    z.avail_in = (unsigned)count;
    z.next_out = (unsigned char *)p.bytes;
    z.avail_out = (unsigned)(count + count / 100 + 200);
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    p.count = z.total_out;
    deflateEnd(&z);
    return p;
}

static packed_bytes pack_zstd(const char *bytes, size_t count)
{
    const size_t room = ZSTD_compressBound(count);
    packed_bytes p = {hdst__arena_alloc(&arena, room), 0};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    p.count = ZSTD_compress2(context, p.bytes, room, bytes, count);
    cr_assert_not(ZSTD_isError(p.count));
    ZSTD_freeCCtx(context);
    return p;
}

static packed_bytes pack_xz(const char *bytes, size_t count)
{
    const size_t room = lzma_stream_buffer_bound(count);
    packed_bytes p = {hdst__arena_alloc(&arena, room), 0};
    cr_assert_eq(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)bytes, count, (uint8_t *)p.bytes, &p.count, room), LZMA_OK);
    return p;
}

static const struct { const char *name; packed_bytes (*pack)(const char *, size_t); } packers[] = {{"gzip", pack_gzip}, {"zstd", pack_zstd}, {"xz", pack_xz}};
enum { PACKERS = 3 };

static __attribute__((unused)) packed_bytes join(packed_bytes a, packed_bytes b)
{
    packed_bytes p = {hdst__arena_alloc(&arena, a.count + b.count + 1), a.count + b.count};
    memcpy(p.bytes, a.bytes, a.count);
    memcpy(p.bytes + a.count, b.bytes, b.count);
    return p;
}

// Text that is compressible and nowhere the same, of any bytes.
static __attribute__((unused)) char *some_text(size_t count, uint32_t seed)
{
    char *text = hdst__arena_alloc(&arena, count + 1);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        text[i] = (char)(seed >> 30 ? "etaoin shrdlu\n"[(seed >> 20) % 14] : seed >> 8);
    }
    return text;
}

#endif
