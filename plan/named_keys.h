// SPDX-License-Identifier: Apache-2.0
// Keys that a program names: "user", "from.x, day".
#ifndef HDST_PLAN_NAMED_KEYS_H
#define HDST_PLAN_NAMED_KEYS_H

#include "plan/dataset.h"
#include "record/field_path.h"
#include "record/key_field.h"

typedef struct hdst__named_keys {
    hdst__field_place *place;       // in the record, by weight
    size_t count;
} hdst__named_keys;

// What is there already stays. `call`: in whose name errors are.
hdst_status hdst__named_keys_add(hdst__named_keys *keys, const hdst__allocator *allocator, hdst__field_place place, hdst_error *error);
// Fields of `text` with commas between; of a record that is a bare number the text may be empty.
hdst_status hdst__named_keys_read(hdst__named_keys *keys, const hdst__allocator *allocator, const char *call, const hdst__record *record, const char *text,
                                  hdst_error *error);
// " within user, day", or nothing where there are none.
void hdst__named_keys_describe_within(const hdst__named_keys *keys, const hdst__record *record, hdst__buffer *out);
hdst_status hdst__named_keys_check_size(uint64_t elements, hdst_error *error);
// The numbers and texts that they are, in the arena; returns how many.
size_t hdst__named_keys_fields(hdst__arena *arena, const hdst__named_keys *keys, const hdst__record *record, hdst__key_field **fields);

#endif
