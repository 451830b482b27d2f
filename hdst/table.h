// SPDX-License-Identifier: Apache-2.0
// Tables as people have them: fields of dates and times, empty cells. hdst/hdst.h includes it.
#ifndef HDST_TABLE_H
#define HDST_TABLE_H

#include "hdst/api.h"
#include "hdst/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdst_schema hdst_schema;

// A date, or a time that is a count of a unit: an int32_t of days since 1970-01-01 (`date32` of schemas), or an int64_t since 1970-01-01T00:00:00Z
// (`timestamp`). Separated text holds it as ISO 8601, all else as the integer. count 1: a plain field. Errors: as hdst_schema_add_field.
typedef enum hdst_time_unit { HDST_DAYS = 1, HDST_SECONDS, HDST_MILLISECONDS, HDST_MICROSECONDS, HDST_NANOSECONDS } hdst_time_unit;
HDST_API hdst_status hdst_schema_add_time(hdst_schema *schema, const char *name, hdst_time_unit unit, uint64_t count, hdst_error *error);
// What the field that was added last holds where its cell of a table is empty; without this call it is an error, but a text is empty. HDST_MISSING_SKIP:
// its row is left out and counted (hdst_run_stats.records_skipped). `valid`: the field of the record, a bool or uint8 of the same count, that is 0 where the
// cell was empty, else 1, and takes no column itself; NULL: none. HDST_E_USAGE: there is no field yet; HDST_E_SCHEMA, from here or when the record is closed:
// the two cannot be (docs/schema.md, "Empty cells").
typedef enum hdst_missing { HDST_MISSING_ERROR = 1, HDST_MISSING_ZERO, HDST_MISSING_NAN, HDST_MISSING_SKIP } hdst_missing;
HDST_API hdst_status hdst_schema_set_missing(hdst_schema *schema, hdst_missing missing, const char *valid, hdst_error *error);
// Words that count as empty cells of the field that was added last, such as "NA" (`null_values` of schemas): 1 to 64 of them, which are copied; called
// again, others instead. Errors: as hdst_schema_set_missing.
HDST_API hdst_status hdst_schema_set_null_values(hdst_schema *schema, const char *const *words, size_t count, hdst_error *error);

#ifdef __cplusplus
}
#endif
#endif
