// SPDX-License-Identifier: Apache-2.0
// A stage over lines whose first function is a filter that keeps those with a text alone: the reader looks for it, in bytes as they come, and other lines
// come as records of nothing, which the filter then throws away as it would have the lines. So their number is what it was, and so is the place of each.
#ifndef HDST_PLAN_SEARCHED_INPUT_H
#define HDST_PLAN_SEARCHED_INPUT_H

#include "plan/plan.h"
#include "codegen/ir/needed_text.h"
#include "io/source.h"

typedef struct hdst__searched_input {
    bool is_wanted;                 // the filter asks for a text of its records
    const char *filter;             // its name
    hdst__needed_text needed;
    hdst__plan_param what;          // where no constant is looked for: the parameter that has it, as it is bound,
    const hdst__record *record;     // its rows
    hdst__line_search search;       // of this run
    hdst__bound_source *bound;      // the lines as the stage reads them; NULL: not yet, or never
    bool is_used;                   // by the stage, in this run
} hdst__searched_input;

// What the first of a stage's functions asks for, before they are fused.
void hdst__searched_input_note(hdst__searched_input *searched, const hdst_dataset *first);
// The stage's reader for this run, in place of its input's, where that gives lines as they are read and no GPU would look for texts itself, faster.
hdst_status hdst__searched_input_read(hdst__searched_input *searched, const hdst__node *node, hdst__reader *reader, hdst_error *error);
void hdst__searched_input_explain(const hdst__searched_input *searched, hdst__buffer *out);
void hdst__searched_input_release(hdst__searched_input *searched);

#endif
