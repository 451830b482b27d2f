// SPDX-License-Identifier: Apache-2.0
#include "io/source.h"
hdst__source *hdst__source_csv(const hdst__allocator *allocator, const char *path, const char *columns, hdst_error *error)
{
    (void)allocator, (void)columns;
    hdst__error_set(error, HDST_E_UNSUPPORTED, "reading '%s': .csv files are not read yet", path);
    return NULL;
}
