// SPDX-License-Identifier: Apache-2.0
// What fields hold whose cell is empty, for record/type.c.
#ifndef HDST_RECORD_MISSING_H
#define HDST_RECORD_MISSING_H

#include "record/type.h"

// Why what a record's fields say of empty cells cannot be, or NULL.
const char *hdst__missing_wrong(hdst__arena *arena, const hdst__record *record);
enum { HDST__NULL_VALUES = 64 };        // of a field, at most
// Why a word cannot be a null value, or NULL.
const char *hdst__null_value_wrong(const char *text, size_t length);
// Of a field of scalars: what it says, or what is so where it says nothing.
hdst__missing hdst__missing_of(const hdst__field *field);
// Tells the leaves which of them say whether others are valid. Those of nested records know already.
void hdst__missing_link(const hdst__record *record, hdst__leaf *leaves);

#endif
