// SPDX-License-Identifier: Apache-2.0
// --target COLUMN: the inputs with their columns in the order of a regression, the predictors first and the target last.
#ifndef EXAMPLES_TARGET_H
#define EXAMPLES_TARGET_H

#include "program.h"

// HDST_E_USAGE when no --target was given (NULL).
hdst_status target_is_given(const char *target, hdst_error *error);
// Opens all inputs anew in place of run->source, with the chosen columns (all, without --columns) but the target, then the target. `target` is a name or an
// index from 0 in the file; it need not be among the chosen columns. HDST_E_USAGE when there is no such column or none is left to predict from.
hdst_status target_open(program_run *run, const char *target, hdst_error *error);

#endif
