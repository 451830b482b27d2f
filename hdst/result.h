// SPDX-License-Identifier: Apache-2.0
#ifndef HDST_RESULT_H
#define HDST_RESULT_H

#include "hdst/plan.h"

typedef struct hdst__result_table {
    const char *function, *name;    // "assign", "t"
    const hdst__record *record;
    uint32_t param;                 // of the plan's function
    void *rows;                     // finished, as C structs; NULL before a run
    uint64_t row_count;
} hdst__result_table;

struct hdst_result {
    hdst__object object;
    hdst_dataset *dataset;
    hdst__arena arena;              // of the plan
    hdst__plan plan;
    bool planned, ran;
    hdst__result_table *tables;     // in the order of the plan's accumulators
    size_t table_count;
    const void *records;            // belongs to the plan's last stage
    uint64_t record_count;
    char *explanation;
    hdst_error view_error;          // why the last view was NULL
};

#endif
