// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file (versions 1 to 3): types and names of the columns, shape, order.
#ifndef HDST_IO_NPY_HEADER_H
#define HDST_IO_NPY_HEADER_H

#include "base/alloc.h"
#include "record/type.h"
#include "io/file.h"

enum { HDST__NPY_DIMS = 32 };

typedef struct hdst__npy_column {
    char *name;             // "x", "from.x"; NULL for an array without fields
    hdst__kind kind;        // of the numbers, half precision as HDST__F32
    bool is_half;           // 2 bytes in the file
    bool is_swapped;        // the other byte order
    uint64_t offset;        // bytes from the start of a row
    uint64_t count;         // numbers, packed
} hdst__npy_column;

typedef struct hdst__npy_header {
    const hdst__allocator *allocator;
    hdst__npy_column *columns;
    size_t column_count;
    bool has_fields;
    uint64_t rows, row_bytes;
    uint64_t dim[HDST__NPY_DIMS];
    size_t dims;            // of a row: 0 of (m,), 1 of (m, d), 2 of (m, a, b); its numbers are taken in C order
    bool column_major;      // 'fortran_order': True of an array with more than one number in a row
    uint64_t data_offset;
} hdst__npy_header;

// Reads and checks the header against the file's size. On failure nothing is left to destroy.
hdst_status hdst__npy_header_read(hdst__npy_header *header, const hdst__allocator *allocator, const hdst__file *file, hdst_error *error);
void hdst__npy_header_destroy(hdst__npy_header *header);
// Where the file has a row's number `number` (in C order) where column_major is set: how many columns of the array come before it.
uint64_t hdst__npy_fortran_place(const hdst__npy_header *header, uint64_t number);
uint64_t hdst__npy_scalar_bytes(const hdst__npy_column *column);

#endif
