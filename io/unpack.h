// SPDX-License-Identifier: Apache-2.0
// Compressed bytes made plain, as they come: gzip, zstd, xz, by their libraries. Several members, frames or streams one after another are the bytes of all.
#ifndef HDST_IO_UNPACK_H
#define HDST_IO_UNPACK_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hdst__unpack_io {
    const unsigned char *in;    // what was not taken yet
    size_t in_bytes;
    unsigned char *out;         // where there is room yet
    size_t out_bytes;
    bool last;                  // nothing comes behind this input
} hdst__unpack_io;

typedef enum hdst__unpack_result {
    HDST__UNPACK_MORE,          // within a member
    HDST__UNPACK_WHOLE,         // at the end of one: the input may end here
    HDST__UNPACK_DAMAGED,
    HDST__UNPACK_NEEDS,         // more memory than it may take
    HDST__UNPACK_NO_MEMORY,
} hdst__unpack_result;

// A format is a file io/unpack_NAME.c with one of these, and a line in io/unpack.c.
typedef struct hdst__unpacker {
    const char *name;
    const char *magic;          // the first bytes
    size_t magic_bytes;
    void *(*begin)(const hdst__allocator *allocator);       // NULL: out of memory. The allocator outlives it
    // Moves on in `io` as far as it can. *why: the library's words, where they are damaged. With neither input nor output moved it needs more input, or there
    // is none.
    hdst__unpack_result (*step)(void *state, hdst__unpack_io *io, const char **why);
    void (*end)(void *state);   // NULL is fine
} hdst__unpacker;

extern const hdst__unpacker hdst__unpack_gzip, hdst__unpack_zstd, hdst__unpack_xz;

enum { HDST__UNPACK_START = 16 };       // bytes of a file, that tell its format
// NULL: they are not compressed, or in another way.
const hdst__unpacker *hdst__unpacker_of(const void *start, size_t bytes);
// "bzip2", "zip": formats that are known and not read, for messages; NULL: none of them.
const char *hdst__unpack_unknown(const void *start, size_t bytes);

// How many bytes a file's name has without the ending of a compressed format, if it has one: "a.csv.gz" of "a.csv".
size_t hdst__unpacked_name(const char *path);

#endif
