// SPDX-License-Identifier: Apache-2.0
// A 128-bit content hash for cache keys (not for security): FNV-1a in 128 bits, parameters from the FNV draft (Fowler, Noll, Vo, Eastlake).
#ifndef HDST_BASE_HASH_H
#define HDST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct hdst__hash {
    uint64_t high, low;
} hdst__hash;

#define HDST__HASH_INIT {0x6c62272e07bb0142u, 0x62b821756295c58du}

void hdst__hash_add(hdst__hash *hash, const void *bytes, size_t length);
void hdst__hash_add_text(hdst__hash *hash, const char *text);       // its length too, so that "ab","c" and "a","bc" differ
void hdst__hash_hex(const hdst__hash *hash, char text[33]);

#endif
