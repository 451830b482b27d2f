// SPDX-License-Identifier: Apache-2.0
// What a filter asks of the texts of its records, for readers that can look for it themselves.
#ifndef HDST_CODEGEN_IR_NEEDED_TEXT_H
#define HDST_CODEGEN_IR_NEEDED_TEXT_H

#include "codegen/ir/ir.h"
#include "codegen/ir/text_value.h"

typedef struct hdst__needed_text {
    uint32_t leaf;                  // of the input: it must have the text below
    bool small_letters;             // looked at as small letters
    const hdst__text_value *text;   // a constant; NULL: what a parameter has,
    uint32_t param, param_leaf;     // the first row's leaf
} hdst__needed_text;

// Whether no record passes but those whose leaf has a text, the same for all records, and whether nothing of others is seen: they could be any records without
// it, for they fail no check and are accumulated nowhere. Of a filter as it was lowered. One that asks in a way that is not understood has none.
bool hdst__ir_needed_text(const ir_func *filter, hdst__needed_text *needed);

#endif
