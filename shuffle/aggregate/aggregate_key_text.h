// SPDX-License-Identifier: Apache-2.0
// The key in the kernels of a reduction by key on a GPU, as text: mixed in 32 or 64 bits, and of keys of more than 8 bytes the rest (hash_wide_key.cl).
#ifndef HDST_SHUFFLE_AGGREGATE_AGGREGATE_KEY_TEXT_H
#define HDST_SHUFFLE_AGGREGATE_AGGREGATE_KEY_TEXT_H

#include "base/writer.h"
#include "record/layout.h"
#include "shuffle/aggregate/aggregate_kernels.h"

// What is loaded at once, from column `c` of the key on: bytes of the packed key; 0: another column's load has them.
uint32_t hdst__key_load_bytes(const hdst__aggregation_layout *layout, const hdst__storage *storage, uint64_t c);
// To `tuple`, from the loads x0, x1, ...
void hdst__key_print_mixed(hdst__writer *out, const hdst__aggregation_layout *layout, const hdst__storage *storage,
                           const hdst__aggregate_kernel_shape *shape);
// From a tuple to `words`.
void hdst__key_print_words(hdst__writer *out, const hdst__aggregate_kernel_shape *shape);
// Words to `cells`, a row of a table; from there; to a heavy key's.
void hdst__key_print_add(hdst__writer *out, const hdst__aggregate_kernel_shape *shape);
void hdst__key_print_read(hdst__writer *out, const hdst__aggregate_kernel_shape *shape);
void hdst__key_print_add_heavy(hdst__writer *out, const hdst__aggregate_kernel_shape *shape);
// The packed key, from `m` and `words`: a declaration of its words k0, k1, ...
void hdst__key_print_unmixed(hdst__writer *out, const hdst__aggregate_kernel_shape *shape);
// The macros COMES_BEFORE and KEYS_DIFFER.
void hdst__key_print_macros(hdst__writer *out, const hdst__aggregate_kernel_shape *shape);

#endif
