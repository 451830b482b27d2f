// SPDX-License-Identifier: Apache-2.0
// Arrays and records as files. All are written whole or not at all; "-" is the standard output (io/file.h).
#ifndef HDST_IO_WRITE_H
#define HDST_IO_WRITE_H

#include "record/type.h"
#include "io/file.h"

// An array of numbers in C order. shape has `dims` entries (0: a single number). Begin, then hdst__file_writer_add with exactly the bytes of the shape,
// then hdst__file_writer_commit. NULL on failure.
hdst__file_writer *hdst__npy_begin(const hdst__allocator *allocator, const char *path, hdst__kind kind, const uint64_t *shape, size_t dims, hdst_error *error);

// `count` C structs of `record`. .npy: a structured array with a field per leaf ("from.x"), packed, in the order of declaration. .csv: a header with the
// leaves' names (x[0], x[1] for arrays), numbers that read back to the same bits. .tsv: the same with tabs. Texts in them
// as io/text_write.h says. .txt: the line of each record, which is one text. raw: the bytes of the structs. In pieces: begin (NULL on failure), rows in
// order, hdst__file_writer_commit, which also tells what adding failed with.
typedef struct hdst__record_format {
    hdst__file_writer *(*begin)(const hdst__allocator *allocator, const char *path, const hdst__record *record, uint64_t count, hdst_error *error);
    void (*add)(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count);
} hdst__record_format;
extern const hdst__record_format hdst__records_npy, hdst__records_csv, hdst__records_tsv, hdst__records_lines, hdst__records_raw;
hdst_status hdst__records_write(const hdst__record_format *format, const hdst__allocator *allocator, const char *path, const hdst__record *record,
                                const void *rows, uint64_t count, hdst_error *error);      // at once

#endif
