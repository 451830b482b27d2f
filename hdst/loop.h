// SPDX-License-Identifier: Apache-2.0
// What a loop keeps from one turn to the next. hdst/hdst.h includes it.
#ifndef HDST_LOOP_H
#define HDST_LOOP_H

#include "hdst/api.h"
#include "hdst/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdst_dataset hdst_dataset;
typedef struct hdst_result hdst_result;
typedef struct hdst_value hdst_value;

// Takes the rows of an accumulator table of the result's last run, or (table NULL) its records, as they are now; rows may be of any record with the same
// struct. In a loop: run a result, give what it computed to the value that its next run reads; records of a map stay on the device then (docs/datasets.md). On
// failure the value is as it was, but for a device that fails while it copies: that error sticks to the value.
HDST_API hdst_status hdst_value_set_result(hdst_value *value, hdst_result *result, const char *table, hdst_error *error);
// The rows of a value as records, in their order: each run reads those that the value has then. Rows that a result left on the device stay there. The
// dataset retains the value, which the program may destroy.
HDST_API hdst_dataset *hdst_read_value(hdst_value *value);

#ifdef __cplusplus
}
#endif
#endif
