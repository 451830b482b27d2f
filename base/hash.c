// SPDX-License-Identifier: Apache-2.0
// A 128-bit content hash for cache keys (not for security) (base/hash.h).
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hdst__hash_add(hdst__hash *hash, const void *bytes, size_t length)
{
    // The 128-bit FNV prime is 2^88 + 0x13b.
    const unsigned char *p = bytes;
    unsigned __int128 h = (unsigned __int128)hash->high << 64 | hash->low, prime = ((unsigned __int128)1 << 88) + 0x13b;
    for (size_t i = 0; i < length; i++) h = (h ^ p[i]) * prime;
    hash->high = (uint64_t)(h >> 64);
    hash->low = (uint64_t)h;
}

void hdst__hash_add_text(hdst__hash *hash, const char *text)
{
    uint64_t length = strlen(text);
    hdst__hash_add(hash, &length, sizeof length);
    hdst__hash_add(hash, text, (size_t)length);
}

void hdst__hash_hex(const hdst__hash *hash, char text[33])
{
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, hash->high, hash->low);
}
