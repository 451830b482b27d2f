// SPDX-License-Identifier: Apache-2.0
// Fields that a program names by a text: "price", "from.x", "line[2].from.x".
#ifndef HDST_RECORD_FIELD_PATH_H
#define HDST_RECORD_FIELD_PATH_H

#include "record/type.h"
#include "base/error_object.h"

typedef struct hdst__field_place {
    uint32_t leaf;              // of the record
    uint64_t element;           // of the leaf
    uint64_t elements;          // 1: a single value; more: as many from `element` on, for the text names an array of numbers
} hdst__field_place;

// Finds the numbers that `path` names: a field, through nested records, with an index for each dimension of an array, or without
// the last ones for the array itself. A record of one field needs no name: NULL or "". HDST_E_USAGE with a similar name or what is
// wrong with an index, and for records and arrays of records, which have no place.
// The same for a path of `length` bytes in a longer text.
hdst_status hdst__field_find_part(const hdst__record *record, const char *text, size_t length, hdst__field_place *place, hdst_error *error);
// The same for a single value: an array is an error too.
hdst_status hdst__field_find_scalar(const hdst__record *record, const char *path, hdst__field_place *place, hdst_error *error);

// The values of some fields of a row, for people: "user = 17, day = 3".
void hdst__fields_describe(const hdst__record *record, const hdst__field_place *fields, size_t count, const char *row, char *text, size_t size);

#endif
