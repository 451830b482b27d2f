// SPDX-License-Identifier: Apache-2.0
// Which points of a plot are drawn (svg_spots.h).
#include "svg_spots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_group(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    if (p->group != q->group) return p->group < q->group ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

// Marks the raster cell of a spot; false when it was taken already.
static int take_cell(uint8_t *cells, uint64_t columns, const spot_view *view, double x, double y)
{
    if (!(x >= 0 && x <= view->width && y >= 0 && y <= view->height)) return 0;     // also NaN
    uint64_t cell = (uint64_t)(y * SPOT_GRID) * columns + (uint64_t)(x * SPOT_GRID);
    if (cells[cell / 8] >> cell % 8 & 1) return 0;
    cells[cell / 8] |= (uint8_t)(1u << cell % 8);
    return 1;
}

// Every n-th spot, so that `most` are left and their density keeps its shape.
static void thin(spot_list *list, uint32_t most)
{
    if (list->count <= most) return;
    for (uint32_t i = 0; i < most; i++) list->items[i] = list->items[(uint64_t)i * list->count / most];
    list->count = most;
}

spot_list spots_select(const spot_view *view, const float *rows, const int32_t *cluster, uint64_t count, uint32_t groups, uint32_t most)
{
    uint64_t columns = (uint64_t)(view->width * SPOT_GRID) + 1, lines = (uint64_t)(view->height * SPOT_GRID) + 1;
    uint64_t room = count < columns * lines ? count : columns * lines;
    uint8_t *cells = calloc(columns * lines / 8 + 1, 1);
    spot_list list = {malloc((room ? room : 1) * sizeof *list.items), 0};
    if (!cells || !list.items) {
        free(cells);
        free(list.items);
        return (spot_list){NULL, 0};
    }
    for (uint64_t i = 0; i < count; i++) {
        double x = ((double)rows[2 * i] - view->left) * view->scale, y = (view->top - (double)rows[2 * i + 1]) * view->scale;
        if (!take_cell(cells, columns, view, x, y)) continue;
        uint16_t group = cluster ? (uint16_t)((uint32_t)cluster[i] % groups) : 0;
        list.items[list.count++] = (spot){(uint16_t)lround(10 * x), (uint16_t)lround(10 * y), group};
    }
    free(cells);
    qsort(list.items, list.count, sizeof *list.items, by_group);
    thin(&list, most);
    return list;
}
