// SPDX-License-Identifier: Apache-2.0
// Connected components of a graph by a union-find, as an expert writes it: one thread, the larger root below the smaller, ways halved as they are gone. Its
// input is a .npy of shape (m, 2) and type '<i4'.
//   expert_components graph.npy      vertices with an edge, components, vertices of the largest; processor seconds without reading, and with it
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HEADER = 128 };

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

static uint32_t *read_ends(const char *path, uint64_t *ends)
{
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) || ftell(in) <= HEADER) return NULL;
    *ends = ((uint64_t)ftell(in) - HEADER) / sizeof(uint32_t);
    uint32_t *end = malloc(*ends * sizeof *end);
    const int read = end && !fseek(in, HEADER, SEEK_SET) && fread(end, sizeof *end, *ends, in) == *ends;
    fclose(in);
    return read ? end : NULL;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b) parent[b] = a;
    else parent[a] = b;
}

int main(int argc, char **argv)
{
    uint64_t ends, vertices = 0, components = 0, largest = 0, size = 0;
    uint32_t *end = argc == 2 ? read_ends(argv[1], &ends) : NULL;
    if (!end) return fprintf(stderr, "expert_components graph.npy, of int32 in two columns\n"), 2;
    const double begin = seconds();
    for (uint64_t i = 0; i < ends; i++) size = end[i] >= size ? (uint64_t)end[i] + 1 : size;
    uint32_t *parent = malloc(size * sizeof *parent);
    uint64_t *count = calloc(size, sizeof *count);
    unsigned char *seen = calloc(size, 1);
    if (!parent || !count || !seen) return fprintf(stderr, "out of memory\n"), 5;
    for (uint64_t v = 0; v < size; v++) parent[v] = (uint32_t)v;
    for (uint64_t i = 0; i < ends; i += 2) {
        seen[end[i]] = seen[end[i + 1]] = 1;
        join(parent, end[i], end[i + 1]);
    }
    for (uint64_t v = 0; v < size; v++) {
        if (!seen[v]) continue;
        const uint64_t members = ++count[root_of(parent, (uint32_t)v)];
        vertices++;
        components += members == 1;
        largest = members > largest ? members : largest;
    }
    printf("%llu %llu %llu\n%.3f seconds, %.3f with reading\n", (unsigned long long)vertices, (unsigned long long)components, (unsigned long long)largest,
           seconds() - begin, seconds());
    free(end);
    free(parent);
    free(count);
    free(seen);
    return 0;
}
