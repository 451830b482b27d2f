// SPDX-License-Identifier: Apache-2.0
// A reduce as bytes, for whoever goes on with its records where neither module nor dataset is: the texts of its module, from which it is compiled again.
// Numbers are little-endian, a text is its u32 length and bytes:
//
//     text function, text module, u32 sources; for each: text name, text; text: a schema of records that no source declares
//     u32 params; for each: text name, u64 bits, u64 bits of the double, u8 whether it is real, u8 whether it is unsigned
#ifndef HDST_PLAN_SAVED_FUNCTION_H
#define HDST_PLAN_SAVED_FUNCTION_H

#include "accum/partial_frame.h"
#include "plan/dataset.h"
#include "codegen/ir/ir.h"

typedef struct hdst__saved_function {
    const ir_func *func;            // of two records; scalar passes done
    const void *identity;           // one row as C struct; NULL: it has none
} hdst__saved_function;

// Of a dataset of hdst_reduce. The arena is for scratch memory.
void hdst__saved_function_write(hdst__arena *arena, const hdst_dataset *reduce, hdst__buffer *out);
// In the arena, whose handler is called without memory. HDST_E_FORMAT: they are no such bytes, or not of an associative reduce of such records.
hdst_status hdst__saved_function_read(hdst__arena *arena, const hdst_context *context, hdst__byte_cursor *from, const hdst__record *record,
                                      hdst__saved_function *saved, hdst_error *error);

#endif
