// SPDX-License-Identifier: Apache-2.0
// The bytes of a file of separated text, at any place: where it lies, or, where it is compressed (io/unpack.h, told by its first bytes), unpacked once into a
// temporary file, as is what comes through a pipe.
#ifndef HDST_IO_CSV_FILE_H
#define HDST_IO_CSV_FILE_H

#include "io/file.h"
#include "io/text_input.h"

typedef struct hdst__csv_file {
    const char *path;           // borrowed, for messages
    uint64_t bytes;             // of the text
    hdst__file plain;
    hdst__text_input *unpacked; // NULL: it lies there as it is
} hdst__csv_file;

// Errors: as hdst__file_open; compressed data that are damaged or end too early (HDST_E_FORMAT), or packed in a way that is not read. cancel: NULL: never.
hdst_status hdst__csv_file_open(hdst__csv_file *file, const hdst__allocator *allocator, const char *path, const hdst__cancel *cancel, hdst_error *error);
void hdst__csv_file_close(hdst__csv_file *file);
// Exactly `bytes` bytes from `offset`; an error where the file is not what it was when it was opened, as far as that is seen.
hdst_status hdst__csv_file_read(const hdst__csv_file *file, uint64_t offset, void *data, uint64_t bytes, hdst_error *error);

#endif
