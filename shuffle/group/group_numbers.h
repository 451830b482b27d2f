// SPDX-License-Identifier: Apache-2.0
// The numbers by which records are ordered, many at once: a key's hash, or the dense key.
#ifndef HDST_SHUFFLE_GROUP_GROUP_NUMBERS_H
#define HDST_SHUFFLE_GROUP_GROUP_NUMBERS_H

#include "shuffle/group/group.h"
#include "shuffle/group/group_spread.h"

// Which part each of `count` rows goes to: its number, less `base`, without its lowest `shift` bits; HDST__GROUP_NOWHERE: a dense key out of range.
void hdst__group_parts_of(const hdst__group *group, const char *rows, uint64_t count, uint64_t base, unsigned shift, uint32_t *part);
// The same where the key is all that is known of them: it is the usual one, and lies every `stride` bytes.
bool hdst__group_has_usual_key(const hdst__group *group);
void hdst__group_parts_of_keys(const char *key, uint64_t stride, uint64_t count, uint64_t base, unsigned shift, uint32_t *part);
// The numbers of rows of a part that begins at `base`, and is no wider than 32 bits, less it.
void hdst__group_numbers_of(const hdst__group *group, const char *rows, uint64_t count, uint64_t base, uint32_t *number);

#endif
