// SPDX-License-Identifier: Apache-2.0
// Datasets that are kept: as they are, or in the order of a key. hdst/hdst.h includes it.
#ifndef HDST_ARRANGE_H
#define HDST_ARRANGE_H

#include "hdst/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdst_dataset hdst_dataset;       // hdst/hdst.h

// Computed (or read) once, kept in memory (and on the device) for all runs of all results, until hdst_uncache or the context's end. Values that are bound to
// operators below it are read when the cache is filled. Accumulators of maps below it keep what they had then.
HDST_API hdst_dataset *hdst_cache(hdst_dataset *dataset);
// Gives the memory of a hdst_cache or hdst_arrange back; the next run fills it again. Of no effect on other datasets.
HDST_API void hdst_uncache(hdst_dataset *dataset);
// The same records in the order of `key`, an integer field (signed numbers by value), computed (or read) and sorted once and kept in memory and on the device
// as by hdst_cache, until hdst_uncache or the context's end. Records with equal keys stay in their order; those of a hdst_sort by `key` first, ascending, are
// not sorted again. A dense reduction by this key (hdst_reduce_dense, or a map with `t[r.key] += ...`) of these records, with functions in front of it that
// make a record of each, adds up a key's records where they stand, before it touches the key's row: quicker turn after turn, with the same bits as without.
// For hdst_reduce_dense, where a kernel runs, it also keeps where the records of each key begin: 8 bytes for each number up to the largest key, in host memory
// and on the device. Other operators see a cached dataset in this order.
// HDST_E_USAGE: no such field, one that is no integer, records without fields.
HDST_API hdst_dataset *hdst_arrange(hdst_dataset *dataset, const char *key);

#ifdef __cplusplus
}
#endif
#endif
