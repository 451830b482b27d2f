// SPDX-License-Identifier: Apache-2.0
// A scatter plot of clustered 2-D points as an SVG picture.
#ifndef EXAMPLES_SVG_H
#define EXAMPLES_SVG_H

#include "hdst/error.h"

#include <stdint.h>

typedef struct svg_plot {
    const char *title, *subtitle;   // one line each
    const char *x_label, *y_label;
    const float *points;            // count rows of x, y; rows that are not finite are left out
    const int32_t *cluster;         // of each point, 0 to k - 1
    uint64_t count;
    const float *centers;           // k rows of x, y
    const uint64_t *sizes;          // points of each cluster, for the legend
    uint32_t k;
} svg_plot;

// Both axes have the same scale. Of points that would be drawn on the same spot one is kept, and of very many spots an even share, so the file stays
// below about 1 MB. HDST_E_IO or HDST_E_MEMORY on failure.
hdst_status svg_write(const char *path, const svg_plot *plot, hdst_error *error);

#endif
