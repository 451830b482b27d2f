// SPDX-License-Identifier: Apache-2.0
// Which format compressed bytes have, by the first of them (io/unpack.h).
#include "io/unpack.h"

#include <string.h>
#include <strings.h>

static const hdst__unpacker *const unpackers[] = {&hdst__unpack_gzip, &hdst__unpack_zstd, &hdst__unpack_xz};

// What pzstd puts in front: a frame that is skipped.
static bool is_skipped_frame(const unsigned char *p, size_t bytes) { return bytes >= 4 && (p[0] & 0xF0) == 0x50 && !memcmp(p + 1, "\x2A\x4D\x18", 3); }

const hdst__unpacker *hdst__unpacker_of(const void *start, size_t bytes)
{
    for (size_t i = 0; i < sizeof unpackers / sizeof *unpackers; i++)
        if (bytes >= unpackers[i]->magic_bytes && !memcmp(start, unpackers[i]->magic, unpackers[i]->magic_bytes)) return unpackers[i];
    return is_skipped_frame(start, bytes) ? &hdst__unpack_zstd : NULL;
}

const char *hdst__unpack_unknown(const void *start, size_t bytes)
{
    const unsigned char *p = start;
    if (bytes >= 10 && !memcmp(p, "BZh", 3) && !memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6)) return "bzip2";
    if (bytes >= 6 && !memcmp(p, "PK\x03\x04", 4) && p[5] == 0) return "zip";
    if (bytes >= 6 && !memcmp(p, "7z\xBC\xAF\x27\x1C", 6)) return "7z";
    return bytes >= 4 && !memcmp(p, "\x04\x22\x4D\x18", 4) ? "lz4" : NULL;
}

size_t hdst__unpacked_name(const char *path)
{
    static const char *const endings[] = {".gz", ".zst", ".xz"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);
        if (length > n && !strcasecmp(path + length - n, endings[i])) return length - n;
    }
    return length;
}
