// SPDX-License-Identifier: Apache-2.0
// A source of the public interface, as reads take it. Made by hdst/source_object.c; read with the context's lock held.
#ifndef HDST_PLAN_INPUT_SOURCE_H
#define HDST_PLAN_INPUT_SOURCE_H

#include "io/source.h"
#include "plan/object.h"

struct hdst_source {
    hdst__object object;
    hdst__source *source;           // NULL after an error
};

// Counts its rows, by all threads of the engine, unless they are known; what that says of them goes to the log.
hdst_status hdst__input_count(hdst_source *source, hdst_error *error);

#endif
