// SPDX-License-Identifier: Apache-2.0
// Centers of clusters from a file (centers.h).
#include "centers.h"

#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static hdst_status check_shape(const hdst_source *source, const char *path, uint32_t d, uint32_t k, hdst_error *error)
{
    const uint64_t rows = hdst_source_rows(source);
    hdst_status status = hdst_source_status(source, error);
    if (status != HDST_OK) return status;
    uint32_t columns = hdst_source_columns(source);
    if (k != 0 && (rows != k || columns != d))
        return program_fail(error, HDST_E_USAGE, 0, "give a row for each cluster, with the points' columns", "'%.300s' has %" PRIu64 " rows of %" PRIu32
                            " numbers; %" PRIu32 " centers of %" PRIu32 " are needed", path, rows, columns, k, d);
    if (columns != d)
        return program_fail(error, HDST_E_USAGE, 0, "give centers the points' columns, or choose columns of the points with --columns",
                            "'%.300s' has rows of %" PRIu32 " numbers; centers of %" PRIu32 " are needed", path, columns, d);
    if (rows == 0 || rows > INT32_MAX) return program_fail(error, HDST_E_USAGE, 0, "give 1 to 2147483647 centers", "'%.300s' has %" PRIu64 " rows", path, rows);
    return HDST_OK;
}

hdst_status centers_read(hdst_context *context, hdst_module *module, const char *path, uint32_t d, uint32_t *k, float **centers, hdst_error *error)
{
    *centers = NULL;
    hdst_source *source = hdst_source_open(context, path);
    hdst_status status = hdst_source_status(source, error);
    if (status == HDST_OK) status = check_shape(source, path, d, *k, error);
    if (status == HDST_OK) {
        *k = (uint32_t)hdst_source_rows(source);
        *centers = calloc((size_t)*k * d, sizeof **centers);
        status = *centers ? hdst_dataset_take(hdst_read(source, module, "center"), 0, *k, *centers, error)
                          : program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the centers");
    }
    hdst_source_destroy(source);
    for (uint64_t i = 0; status == HDST_OK && i < (uint64_t)*k * d; i++) {
        if (isfinite((*centers)[i])) continue;
        status = program_fail(error, HDST_E_RECORD, i / d, "no point is near such a center: give numbers", "center %" PRIu64 " of '%.300s' is not finite",
                              i / d, path);
    }
    if (status != HDST_OK) {
        free(*centers);
        *centers = NULL;
    }
    return status;
}
