// SPDX-License-Identifier: Apache-2.0
#ifndef HDST_HDST_SOURCE_OBJECT_H
#define HDST_HDST_SOURCE_OBJECT_H

#include "plan/object.h"
#include "io/source.h"

struct hdst_source {
    hdst__object object;
    hdst__source *source;       // NULL after an error
};

#endif
