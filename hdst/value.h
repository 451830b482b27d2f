// SPDX-License-Identifier: Apache-2.0
#ifndef HDST_VALUE_H
#define HDST_VALUE_H

#include "hdst/module.h"

struct hdst_value {
    hdst__object object;
    hdst_module *module;        // whose record it has
    const hdst__record *record;
    void *data;                 // rows as C structs
    uint64_t rows;
    uint64_t version;           // grows with every change, so that a run sends only what is new
};

// Values are made for a record of some module; they fit another one when the C structs are the same.
bool hdst__same_struct(const hdst__record *a, const hdst__record *b);

#endif
