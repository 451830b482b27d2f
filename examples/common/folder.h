// SPDX-License-Identifier: Apache-2.0
// Where the kernel files of an example lie, in the build tree and when installed.
#ifndef EXAMPLES_FOLDER_H
#define EXAMPLES_FOLDER_H

#include "hdst/error.h"

#include <stddef.h>

// Finds the folder that holds `file` of `example`: below $HDST_EXAMPLES_DIR when that is set, else beside the program, else in the source tree that it
// was built from. HDST_E_IO names the places where it was looked for.
hdst_status folder_find(const char *example, const char *file, char *folder, size_t size, hdst_error *error);

#endif
