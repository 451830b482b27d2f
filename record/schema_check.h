// SPDX-License-Identifier: Apache-2.0
// The rules of schemas, the same for YAML and for records made in C. Each returns NULL when the thing is right, else what is wrong with it.
#ifndef HDST_RECORD_SCHEMA_CHECK_H
#define HDST_RECORD_SCHEMA_CHECK_H

#include "record/type.h"

enum {
    HDST__MAX_ALIGN = 4096,
    HDST__MIN_BLOCK = 64, HDST__MAX_BLOCK = 65536, HDST__DEFAULT_BLOCK = 256,
    HDST__MAX_NAME = 63,            // what C11 promises to tell apart
    HDST__MAX_NESTING = 64,         // records in records
};
#define HDST__MAX_COUNT ((uint64_t)1 << 40)

typedef struct hdst__complaint {
    const char *message, *hint;     // hint may be NULL
} hdst__complaint;

// what: "field", "record" or "param". Identifiers of C that are no keyword of C, C++ or the kernel language and no name of a type.
const hdst__complaint *hdst__check_name(hdst__arena *arena, const char *what, const char *name);
const hdst__complaint *hdst__check_align(hdst__arena *arena, uint64_t align);
const hdst__complaint *hdst__check_block(hdst__arena *arena, uint64_t block);
const hdst__complaint *hdst__check_count(hdst__arena *arena, uint64_t count);
const hdst__complaint *hdst__complain(hdst__arena *arena, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));

// A text of the user for a message: in quotes, cut when long, control characters shown as '?'.
const char *hdst__quoted(hdst__arena *arena, const char *text);

// "float32", "text" ... or a short vector "float32x3"; NULL when it is neither. *near is then what the name may stand for ("float" -> "float32"), or NULL.
const hdst__type *hdst__schema_scalar_type(hdst__arena *arena, const char *name, const char **near);
extern const char *const hdst__layout_names[4];     // by hdst__layout

extern const char *const hdst__missing_names[5];    // by hdst__missing; NULL of UNSAID

// --- Dates and times ---
extern const char *const hdst__time_unit_names[6];  // by hdst__time_unit: "s", "ms", "us", "ns"; NULL of those that are no unit of a `timestamp`
// "date32" or "timestamp", NULL for HDST__NO_TIME.
const char *hdst__time_type_name(hdst__time_unit time);
// Whether it is the name of such a type. *time: HDST__DAYS, or of a timestamp HDST__NO_TIME: its unit stands elsewhere.
bool hdst__schema_time_type(const char *name, hdst__time_unit *time);
// int32 of days, else int64; NULL for HDST__NO_TIME.
const hdst__type *hdst__time_type(hdst__time_unit time);

#endif
