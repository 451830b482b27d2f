// SPDX-License-Identifier: Apache-2.0
// Lines whose records somebody else makes: whoever fills a storage with lines of a text may say where their bytes are and how many end in each stretch of
// them, and a device that has the bytes finds where (engine/memory/line_spans.h).
#ifndef HDST_RECORD_LINE_BLOCKS_H
#define HDST_RECORD_LINE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HDST__LINES_STRIP_RETURNS = 1,  // a \r before a line's end is no part of it
    HDST__LINES_END_OPEN = 2,       // the last line ends with the block, without a line end
};

// A stretch of bytes, and the lines that end in it. As kernels read it.
typedef struct hdst__line_block {
    uint64_t begin, end;            // addresses of its bytes
    uint64_t start;                 // where its first line begins: in it or before
    uint64_t row, lines;            // of the storage: that line's record; so many there are, one at least
    uint64_t offset;                // of `begin` in the file
    uint64_t number;                // of the first line in the file, from 1
    uint32_t source, flags;         // the file's number
} hdst__line_block;

typedef struct hdst__line_blocks {
    // Whether the records of these lines are made elsewhere; else nothing is, and they are to be written. From several threads at once.
    bool (*add)(void *user, const hdst__line_block *blocks, uint64_t count);
    void *user;
} hdst__line_blocks;

// Which leaves of a record take what of a line; UINT32_MAX: none does.
typedef struct hdst__line_leaves { uint32_t text, offset, source, line; } hdst__line_leaves;

#endif
