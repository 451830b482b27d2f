// SPDX-License-Identifier: Apache-2.0
// Which edges were read, whatever for, and the largest vertex in them: where all were, nobody needs to read them to count the vertices.
#include "io/edges.h"

void hdst__edges_see(hdst__edges *edges, size_t column, uint64_t first, uint64_t count, uint64_t largest)
{
    hdst__edges_seen *seen = &edges->seen[column];
    hdst__edge_stretch all = {first, first + count};
    pthread_mutex_lock(&edges->lock);
    for (size_t i = 0; i < seen->count;) {      // those that touch it become one with it: no two touch each other
        const hdst__edge_stretch *one = &seen->stretch[i];
        if (one->end < all.begin || one->begin > all.end) {
            i++;
            continue;
        }
        if (one->begin < all.begin) all.begin = one->begin;
        if (one->end > all.end) all.end = one->end;
        seen->stretch[i] = seen->stretch[--seen->count];
    }
    if (seen->count < HDST__EDGE_STRETCHES) seen->stretch[seen->count++] = all;     // one that has no room was not seen
    if (largest > seen->largest) seen->largest = largest;
    pthread_mutex_unlock(&edges->lock);
}

bool hdst__edges_saw_all(hdst__edges *edges, uint64_t rows, uint64_t *largest)
{
    bool all = true;
    *largest = 0;
    pthread_mutex_lock(&edges->lock);
    for (size_t c = 0; c < HDST__EDGE_WEIGHT; c++) {
        const hdst__edges_seen *seen = &edges->seen[c];
        all &= seen->count == 1 && seen->stretch[0].begin == 0 && seen->stretch[0].end == rows;
        if (seen->largest > *largest) *largest = seen->largest;
    }
    pthread_mutex_unlock(&edges->lock);
    return all;
}
