// SPDX-License-Identifier: Apache-2.0
// Texts to be read at any place: the bytes of each of a list of files. Plain files are read where they lie. Compressed ones (io/unpack.h, told by their first
// bytes), pipes and devices go through once, into a temporary file without a name, and are read there.
//
// Threads: reads may be made from several at once, once the input is prepared; everything else from one.
#ifndef HDST_IO_TEXT_INPUT_H
#define HDST_IO_TEXT_INPUT_H

#include "base/runtime.h"
#include "io/file_list.h"

#include <stdbool.h>

typedef struct hdst__text_input hdst__text_input;

// "-" and "/dev/stdin" are the standard input. HDST_E_IO where a file is not there or cannot be read, HDST_E_FORMAT where it is compressed in a way that is not
// read. Nothing is read but the first bytes of regular files. Paths are as those of io/file_list.h, and copied; the allocator and `cancel` (NULL: never; asked
// while bytes go through) outlive the input. What is in temporary files counts in the runtime; NULL: nowhere.
hdst_status hdst__text_input_open(const hdst__allocator *allocator, const char *const *paths, size_t count, const hdst__cancel *cancel,
                                  hdst__runtime *runtime, hdst__text_input **input, hdst_error *error);
void hdst__text_input_close(hdst__text_input *input);       // NULL is fine
// Brings what cannot be read in place into the temporary file, several files at once by the threads of the pool (NULL: the caller). Once; again it does
// nothing. HDST_E_FORMAT: compressed data are damaged or end too early (with the place in the compressed file); HDST_E_IO; HDST_E_CANCELLED.
hdst_status hdst__text_input_prepare(hdst__text_input *input, hdst__thread_pool *threads, hdst_error *error);

size_t hdst__text_input_files(const hdst__text_input *input);
const char *hdst__text_input_path(const hdst__text_input *input, size_t file);
// Once it is prepared: bytes of a file, unpacked.
uint64_t hdst__text_input_bytes(const hdst__text_input *input, size_t file);
// Bytes [offset, offset + bytes) of a file, which it has. HDST_E_IO, also where the file is not what it was when it was opened: its size, its time.
hdst_status hdst__text_input_read(const hdst__text_input *input, size_t file, uint64_t offset, void *data, uint64_t bytes, hdst_error *error);

#endif
