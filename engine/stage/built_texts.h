// SPDX-License-Identifier: Apache-2.0
// Texts that a function builds in arrays of its own (codegen/lower/lower_text.c): what it writes has their lengths and bytes behind the fields of its record.
// Here the records come out, whose texts refer to the bytes where these are: good for as long as what the function wrote. Who takes them copies the bytes, as
// of any texts of a slice.
#ifndef HDST_ENGINE_STAGE_BUILT_TEXTS_H
#define HDST_ENGINE_STAGE_BUILT_TEXTS_H

#include "base/budget.h"
#include "codegen/ir/ir.h"
#include "hdst/error.h"

typedef struct hdst__built_texts {
    const ir_param *output;     // with `given`; NULL: there are none, and records come out as they were written
    hdst__budget *budget;
    char *rows;                 // of those that are taken apart at once
} hdst__built_texts;

// Calls `take` with the records that `count` written ones stand for, as C structs, some at a time, in their order; they are good until it returns. Without
// texts to be taken apart (`built` NULL) once, with what was written. HDST_E_MEMORY, and what `take` gives.
typedef hdst_status hdst__built_taker(void *user, const char *records, uint64_t count, hdst_error *error);
hdst_status hdst__built_texts_each(hdst__built_texts *built, const char *written, uint64_t count, hdst__built_taker *take, void *user, hdst_error *error);
void hdst__built_texts_free(hdst__built_texts *built, const hdst__allocator *allocator);

#endif
