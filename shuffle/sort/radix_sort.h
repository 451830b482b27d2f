// SPDX-License-Identifier: Apache-2.0
// Numbers in order, stably, on the host: by their digits, over words where the number and the place of a record fit one, else over entries of two words; and a
// merge sort for the few that have to be compared otherwise. Each has a scratch array as long as the other, and returns the one of the two that holds the
// result.
#ifndef HDST_SHUFFLE_SORT_RADIX_SORT_H
#define HDST_SHUFFLE_SORT_RADIX_SORT_H

#include "base/cancel.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hdst__radix_entry {
    uint64_t key, index;            // the number; which record
} hdst__radix_entry;

// By key. NULL: cancelled; the arrays hold anything then.
hdst__radix_entry *hdst__radix_sort_entries(hdst__radix_entry *entries, hdst__radix_entry *scratch, uint64_t count, const hdst__cancel *cancel);
uint64_t *hdst__radix_sort_words(uint64_t *words, uint64_t *scratch, uint64_t count);                                       // by their upper 32 bits
// Bottom up, merging two runs at a time. compare: below 0, 0, above 0.
typedef int (*hdst__compare_words)(const void *user, uint64_t a, uint64_t b);
uint64_t *hdst__merge_sort_words(uint64_t *words, uint64_t *scratch, uint64_t count, hdst__compare_words compare, const void *user);

#endif
