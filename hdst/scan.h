// SPDX-License-Identifier: Apache-2.0
// Prefix sums, prefixes of any associative function, windows of neighbouring records. hdst/hdst.h includes it.
#ifndef HDST_SCAN_H
#define HDST_SCAN_H

#include "hdst/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdst_dataset hdst_dataset;
typedef struct hdst_module hdst_module;

typedef struct hdst_scan_options {      // start from HDST_SCAN_OPTIONS_INIT; `size` lets the struct grow
    size_t size;
    const char *within;         // fields, with commas between: sums begin anew where one of them differs from the record before, floats by their bits. A sort
                                // by them in front makes a run of each key. NULL: one sum over all
    bool exclusive;             // of the records before alone: 0 in the first one
} hdst_scan_options;
#define HDST_SCAN_OPTIONS_INIT {sizeof(hdst_scan_options), NULL, false}

// The same records in the same order, in which each of these fields holds the sum of itself and of that field of all records before. `fields` names single
// numbers, with commas between (NULL: of records with one field). Sums of floats are exact, each rounded once; those of integers wrap. Computed on the host, by
// all its threads, in two passes over the dataset's records: cache what is costly to compute. Takes up to 540 bytes of memory a field for every 8,192 records.
// options: NULL for the defaults.
HDST_API hdst_dataset *hdst_scan(hdst_dataset *dataset, const char *fields, const hdst_scan_options *options);

// The same for any function: record i becomes what an `associative` reduce makes of the records up to this one, in their order (options->exclusive: up to the
// one in front of it, the reduce's identity in the first one). It need not be commutative: a running maximum, the last value that is not missing, affine maps
// one after another. options->within: begun anew where one of these fields, which may be texts, differs from the record before.
// The grouping is fixed by the records' numbers, so the bits are the same on every device: blocks of 64 records come to one each, from left to right, of which
// 64 come to one again, and so on; a record is what is in front of its block, then the block's records up to it, from left to right. A reduce of sums rounds
// each addition: hdst_scan has exact ones. Runs on the devices, in two passes over the dataset's records: cache what is costly to compute. Takes memory, or a
// temporary file, for a 64th of the records.
HDST_API hdst_dataset *hdst_scan_function(hdst_dataset *dataset, hdst_module *module, const char *function, const hdst_scan_options *options);

// Each record with its neighbours in the order of the dataset, for a function that looks at these (a moving average, the difference to the one before).
// `record` is one of the module, struct window { uint32_t count; uint32_t at; T row[N]; } with N = before + 1 + behind, T the dataset's record, and any
// names: `row` has the records from `before` in front of it to `behind` behind it, as far as there are such, in order; `count` is how many, `at` the place of
// the record itself among them. What is behind them in the array is zero. within: names fields, with commas between; neighbours are only those that no change
// of one of these parts from the record, so with a sort by them in front windows stay within a key. NULL: all may be. There are as many windows as records,
// and window i is that of record i. They are made on the host where they are read, a slice at a time, and nowhere in whole; a slice of windows takes N times
// the memory of its records.
HDST_API hdst_dataset *hdst_window(hdst_dataset *dataset, hdst_module *module, const char *record, uint64_t before, uint64_t behind, const char *within);

#ifdef __cplusplus
}
#endif
#endif
