// SPDX-License-Identifier: Apache-2.0
// Movies as lines of reviews, and centers that are such lines, too (reviewed.hk).
#ifndef EXAMPLES_CLASSIFICATION_REVIEWED_H
#define EXAMPLES_CLASSIFICATION_REVIEWED_H

#include "program.h"

enum { REVIEWED_MOST_CENTERS = 1024 };

typedef struct reviewed {
    hdst_module *module;
    hdst_value *ratings, *lengths;      // of the centers
    uint32_t k;
} reviewed;

// Reads the centers from the file. The caller closes *r in any case. HDST_E_USAGE: none, too many, or none with a rating.
hdst_status reviewed_open(reviewed *r, program_run *run, const char *centers, hdst_error *error);
void reviewed_close(reviewed *r);

// The class of each movie that stands in the program's input.
hdst_dataset *reviewed_labels(const reviewed *r, program_run *run);

#endif
