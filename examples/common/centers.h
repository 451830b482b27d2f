// SPDX-License-Identifier: Apache-2.0
// Centers of clusters from a file.
#ifndef EXAMPLES_CENTERS_H
#define EXAMPLES_CENTERS_H

#include "hdst/hdst.h"

// Reads a .npy or .csv file of *k rows (0: any number of them, which is then written to *k) of d columns as records
// "center" of the module, which must be d floats. The caller frees *centers, k rows of d. HDST_E_USAGE: another
// shape; HDST_E_RECORD: a number that is not finite.
hdst_status centers_read(hdst_context *context, hdst_module *module, const char *path, uint32_t d, uint32_t *k, float **centers, hdst_error *error);

#endif
