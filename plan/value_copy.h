// SPDX-License-Identifier: Apache-2.0
// The rows of a value as a node's records: a copy, so that the value may change behind the run.
#ifndef HDST_PLAN_VALUE_COPY_H
#define HDST_PLAN_VALUE_COPY_H

#include "plan/plan.h"

typedef struct hdst__value_copy {   // zeroed at first
    uint64_t version;               // of the value whose rows were copied
    hdst__value_records *on_device; // the copy, where the rows were left on a device
    void *rows;                     // the copy, else
    uint64_t bytes;                 // of `rows`
} hdst__value_copy;

// Makes the node's records those of the value, unless they are its present ones. Where they are on a device, so is the copy.
hdst_status hdst__value_copy_take(hdst__value_copy *copy, const hdst_value *value, hdst__node *node, hdst_error *error);
void hdst__value_copy_drop(hdst__value_copy *copy, hdst__node *node);       // gives the memory back; the node has no records

const hdst_value *hdst__read_value_of(const hdst__node *node);      // op_read_value.c: whose rows an hdst_read_value reads; NULL: the node is none

#endif
