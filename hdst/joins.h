// SPDX-License-Identifier: Apache-2.0
// Datasets of the records of two others that belong together. hdst/hdst.h includes it.
#ifndef HDST_JOINS_H
#define HDST_JOINS_H

#include "hdst/api.h"
#include "hdst/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdst_module hdst_module;         // hdst/hdst.h
typedef struct hdst_dataset hdst_dataset;
typedef struct hdst_map_spec hdst_map_spec;

// Joined: one record for each pair of a left and a right record with equal keys, which a `join` function makes of them. `join f(A a, B b) -> T` is an inner
// join; with `optional B b` a left record without a partner comes alone (`has(b)` is false and b is zero), with `optional A a` a right one, with both either.
// The keys name fields of the left and of the right record, with commas between ("user", "from.x, day"), of the same types in order; numbers, bools, texts,
// arrays of these; floats are keys by their bits, as for hdst_group. Keys may repeat on both sides: all pairs. The result is in the order of (the keys' hash,
// the key, the left record's place, the right one's), the same on every device. Pairs are made as they are read, however many there are; where memory is
// short the sides go through temporary files.
HDST_API hdst_dataset *hdst_join(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, hdst_module *module,
                                 const char *function);
// The same with values bound to the function.
HDST_API hdst_dataset *hdst_join_by(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, const hdst_map_spec *spec);
// The left records whose key is among the right ones' (semi join), or is not (anti join), each once, as they are, in the order of a join.
HDST_API hdst_dataset *hdst_semi_join(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key);
HDST_API hdst_dataset *hdst_anti_join(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key);
// What a `group` function of two streams, `group f(key K k, stream A a, stream B b) -> T`, makes of all left and all right records with one key, each in their
// order; of a key that one side has alone the other stream is empty. Keys are named as for hdst_join, of K's types in order. One record for each key, or as
// many as it emits, in the order of (the keys' hash, the key), the same on every device. Where memory is short it does as hdst_group.
HDST_API hdst_dataset *hdst_co_group(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, hdst_module *module,
                                     const char *function);
// The same with values bound to the function.
HDST_API hdst_dataset *hdst_co_group_by(hdst_dataset *left, const char *left_key, hdst_dataset *right, const char *right_key, const hdst_map_spec *spec);
// One record for each left record with each right one, which a `join` function without optional sides makes of them: those of the first left record come first,
// in the order of the right ones. The right records must fit a quarter of what the memory budget has left (HDST_E_MEMORY).
HDST_API hdst_dataset *hdst_cross(hdst_dataset *left, hdst_dataset *right, hdst_module *module, const char *function);
HDST_API hdst_dataset *hdst_cross_by(hdst_dataset *left, hdst_dataset *right, const hdst_map_spec *spec);

// Lets `lookup V t[K]` of the spec's function look up records of a dataset by their key (docs/kernel-language.md): t[k] is the one with the key k, has(t, k)
// whether there is one. `key` names fields of the records, as for hdst_join, of the types of K's fields in order; NULL: the first fields. V is the dataset's
// record, or what this has beside the key, in order. Keys occur once, else the run ends with HDST_E_RECORD, as for a t[k] that is not there. A run computes the
// records, and makes a hash table of them in the host's memory, before the function runs; it is kept as long as they are those of one cached dataset
// (hdst_cache) or of a value that did not change. The error sticks to the spec too.
// `lookup V t[K][]` has all records of a key: those of a dataset that hdst_arrange has in the order of `key` (NULL: of the key by which it is), an integer that
// is not negative. They are kept with the dataset, with 8 bytes for each number up to the largest key. HDST_E_USAGE, also: it is not in this order, or not
// kept (a hdst_with_layout of it, without hdst_cache).
HDST_API hdst_status hdst_bind_lookup(hdst_map_spec *spec, const char *parameter, hdst_dataset *records, const char *key);

#ifdef __cplusplus
}
#endif
#endif
