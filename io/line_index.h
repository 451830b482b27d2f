// SPDX-License-Identifier: Apache-2.0
// Where the lines of texts are: all threads go through the bytes once and leave the number of line ends in front of each block behind, 8 bytes for 64 KiB.
// It may be whole at once, or grow: by counting on, or by what somebody counted who read lines for their own sake.
//
// Threads: one at a time lets it grow; any number may ask meanwhile for what it has.
//
// A line ends in \n, which is no part of it; the last one of a file needs none. An empty file has no lines, and no line goes from one file into the next.
// Bytes are bytes: a \r is one, a NUL too.
#ifndef HDST_IO_LINE_INDEX_H
#define HDST_IO_LINE_INDEX_H

#include "io/text_input.h"

typedef struct hdst__line_index hdst__line_index;

typedef struct hdst__line_place {
    size_t file;
    uint64_t offset;            // in the file
    uint64_t line;              // in the file, from 0
} hdst__line_place;

// Of a prepared input, which outlives it. block_bytes: 0 for the usual size. HDST_E_IO, HDST_E_MEMORY, HDST_E_CANCELLED (`cancel` may be NULL).
hdst_status hdst__line_index_make(const hdst__text_input *input, const hdst__allocator *allocator, uint64_t block_bytes, hdst__thread_pool *threads,
                                  const hdst__cancel *cancel, hdst__line_index **index, hdst_error *error);
// The same with no line counted.
hdst_status hdst__line_index_begin(const hdst__text_input *input, const hdst__allocator *allocator, uint64_t block_bytes, const hdst__cancel *cancel,
                                   hdst__line_index **index, hdst_error *error);
// Counts on until it has so many lines, or all. Errors leave it as far as it went.
hdst_status hdst__line_index_grow(hdst__line_index *index, uint64_t lines, hdst__thread_pool *threads, hdst_error *error);
// Line ends that were counted elsewhere: in bytes [from->offset, end) of a file, of which `from` is where a line begins that it has, ends[i] of block
// from->offset / block_bytes + i. open: they are the file's last, and a line without an end is behind the last one.
void hdst__line_index_note(hdst__line_index *index, const hdst__line_place *from, uint64_t end, const uint64_t *ends, bool open);
void hdst__line_index_free(hdst__line_index *index);        // NULL is fine
bool hdst__line_index_is_whole(const hdst__line_index *index);
uint64_t hdst__line_index_lines(const hdst__line_index *index);         // of all files, as far as they are counted
uint64_t hdst__line_index_file_lines(const hdst__line_index *index, size_t file);      // UINT64_MAX: it is not counted to its end
uint64_t hdst__line_index_counted_bytes(const hdst__line_index *index);         // of the blocks that they were counted in, about
uint64_t hdst__line_index_block_bytes(const hdst__line_index *index);
// Where line `number` of all (from 0) begins, of those that are counted or right behind them; that behind all at the end of the last file.
// Reads a block at most. Thread-safe.
hdst_status hdst__line_index_find(const hdst__line_index *index, uint64_t number, hdst__line_place *place, hdst_error *error);
// Bytes of lines [first, first + count) with their ends, of a whole index, nothing read: right to two blocks.
uint64_t hdst__line_index_bytes(const hdst__line_index *index, uint64_t first, uint64_t count);

// Without an index: where the first line begins that begins at `offset` of a file or behind it; the file's end where none does. So stretches between any two
// such places are whole lines, and a text can be cut without being read.
hdst_status hdst__line_begins(const hdst__text_input *input, size_t file, uint64_t offset, uint64_t *begins, hdst_error *error);

#endif
