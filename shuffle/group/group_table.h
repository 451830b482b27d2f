// SPDX-License-Identifier: Apache-2.0
// The keys of the rows of a partition, and which of them each row has: an open hash table whose places are the upper bits of the number, so that its slots
// are in the order of the numbers but for neighbours.
#ifndef HDST_SHUFFLE_GROUP_GROUP_TABLE_H
#define HDST_SHUFFLE_GROUP_GROUP_TABLE_H

#include "shuffle/group/group.h"

typedef struct hdst__group_table {
    uint64_t *slot;                 // by place: number << 32 | key + 1; 0: free. HDST__GROUP_TABLE_END more than there are places
    uint32_t *row;                  // by key, in the order in which they came: its first row
    uint64_t *next;                 //     how many rows it has, then where its next one goes
    uint64_t *order;                // the slots in use, in the order of the keys
    uint32_t keys, bits;            // 2^bits places
    uint32_t usual;                 // bits with which the next partition begins
    uint32_t vain;                  // so many partitions are not tried, as the one before them was in vain
    void *memory;
    uint64_t capacity;              // bytes
    uint32_t *of;                   // by row: its key
    uint64_t of_capacity;
} hdst__group_table;

enum { HDST__GROUP_TABLE_END = 64 };

// Finds the keys of `count` rows, fewer than 2^32, whose numbers, less `base`, have at most `bits` <= 32 bits; of, next and order are set. false: it is not
// worth it (nearly each row has a key of its own, or somebody made them so that they collide), there is no memory, or the run was cancelled.
bool hdst__group_table_fill(hdst__group_table *table, const hdst__group *group, const char *rows, uint64_t count, uint64_t base, unsigned bits);
void hdst__group_table_free(hdst__group_table *table, const hdst__group *group);

#endif
