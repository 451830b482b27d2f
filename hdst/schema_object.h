// SPDX-License-Identifier: Apache-2.0
// A schema as a public object.
#ifndef HDST_HDST_SCHEMA_OBJECT_H
#define HDST_HDST_SCHEMA_OBJECT_H

#include "record/schema.h"
#include "plan/object.h"

struct hdst_schema {
    hdst__object object;
    hdst__arena arena;
    hdst__diags diags;
    hdst__schema schema;
};

// Closes the record that is being built, if any: its error sticks. The record array stays valid as long as the schema.
hdst_status hdst__schema_settle(hdst_schema *schema);
size_t hdst__schema_record_count(const hdst_schema *schema);
hdst__record *hdst__schema_record_at(const hdst_schema *schema, size_t index);

#endif
