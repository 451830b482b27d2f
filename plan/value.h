// SPDX-License-Identifier: Apache-2.0
// A value: rows that broadcast parameters read. Made and changed by hdst/value_object.c; read with the context's lock held.
#ifndef HDST_PLAN_VALUE_H
#define HDST_PLAN_VALUE_H

#include "engine/memory/text_heap.h"
#include "plan/kernel_module.h"

struct hdst_value {
    hdst__object object;
    hdst_module *module;        // whose record it has
    const hdst__record *record;
    void *data;                 // rows as C structs, unless they are on the device
    uint64_t room;              // rows that `data` has room for
    uint64_t rows;
    uint64_t version;           // grows with every change, so that a run sends only what is new
    hdst__value_rows *resident; // made when a result first leaves rows on the device
    bool on_device;             // the rows are `resident`'s
    hdst__text_heap *texts;     // what the texts of `data` refer to; NULL: it has none
};

// The rows on the host, valid until the value changes; from the device they are read when they are asked for.
hdst_status hdst__value_on_host(const hdst_value *value, const void **rows, hdst_error *error);

// Room for so many rows; what they hold is kept as far as they go.
hdst_status hdst__value_resize(hdst_value *value, uint64_t rows, hdst_error *error);
// The rows become these, which are copied, with their texts.
hdst_status hdst__value_set_rows(hdst_value *value, const void *data, uint64_t rows, hdst_error *error);
// They become the records of `from` (a stage's `resident`), within the device. *taken is false, and they are as they were, where those do not lie there.
// A device that fails meanwhile leaves nothing to rely on: the error sticks to the value.
hdst_status hdst__value_take_resident(hdst_value *value, const hdst__dataset_cache *from, uint64_t rows, bool *taken, hdst_error *error);

// Values are made for a record of some module; they fit another one when the C structs are the same.
bool hdst__same_struct(const hdst__record *a, const hdst__record *b);
// Whether a value of rows of `to` can take rows of `from`: both have the same struct, or one field alone of
// numbers of one kind, which lie end to end.
bool hdst__value_can_take(const hdst__record *to, const hdst__record *from);
// How many rows of the value `count` such rows are. HDST_E_USAGE: not a whole number.
hdst_status hdst__value_rows_from(const hdst_value *value, const hdst__record *from, uint64_t count, uint64_t *rows, hdst_error *error);

#endif
