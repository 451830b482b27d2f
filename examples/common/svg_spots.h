// SPDX-License-Identifier: Apache-2.0
// Which points of a plot are drawn: one for each spot of the picture, grouped by colour. For svg.c only.
#ifndef EXAMPLES_SVG_SPOTS_H
#define EXAMPLES_SVG_SPOTS_H

#include <stdint.h>

typedef struct spot {
    uint16_t x, y;          // tenths of a picture unit
    uint16_t group;
} spot;

typedef struct spot_list {
    spot *items;            // sorted by group; NULL when out of memory
    uint32_t count;
} spot_list;

// The view of the data: x_spot = (x - left) * scale, y_spot = (top - y) * scale, in picture units, within width x height.
typedef struct spot_view {
    double left, top, scale, width, height;
} spot_view;

enum { SPOT_GRID = 2 };     // spots lie on a raster of 1 / SPOT_GRID units

// group[i] < groups is the colour of row i (NULL: all 0); at most `most` spots are kept. The caller frees items.
spot_list spots_select(const spot_view *view, const float *rows, const int32_t *cluster, uint64_t count, uint32_t groups, uint32_t most);

#endif
