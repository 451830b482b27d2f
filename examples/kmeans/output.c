// SPDX-License-Identifier: Apache-2.0
// What the kmeans program shows (output.h).
#include "output.h"

#include "json.h"

#include <inttypes.h>

enum { TABLE_ROWS = 50, TABLE_COLUMNS = 8 };

static void print_heading(const kmeans *job, const char *const *names, uint32_t columns, FILE *out)
{
    fprintf(out, "%8s %12s", "cluster", "points");
    for (uint32_t i = 0; i < columns; i++) {
        char number[24];
        snprintf(number, sizeof number, "column %" PRIu32, i);
        fprintf(out, " %12.12s", names[i] ? names[i] : number);
    }
    fputs(columns < job->d ? " ...\n" : "\n", out);
}

void output_table(const kmeans *job, const char *const *names, FILE *out)
{
    uint32_t rows = job->k < TABLE_ROWS ? job->k : TABLE_ROWS, columns = job->d < TABLE_COLUMNS ? job->d : TABLE_COLUMNS;
    print_heading(job, names, columns, out);
    for (uint32_t j = 0; j < rows; j++) {
        fprintf(out, "%8" PRIu32 " %12" PRIu64, j, job->sizes[j]);
        for (uint32_t i = 0; i < columns; i++) fprintf(out, " %12.6g", (double)job->centers[(uint64_t)j * job->d + i]);
        fputs(columns < job->d ? " ...\n" : "\n", out);
    }
    if (rows < job->k || columns < job->d) fprintf(out, "... of %" PRIu32 " clusters and %" PRIu32 " columns; --json gives all\n", job->k, job->d);
    char text[32];
    fprintf(out, "inertia %s after %" PRIu32 " iteration%s over %" PRIu64 " points\n", shortest_double(job->inertia, text), job->iterations,
            job->iterations == 1 ? "" : "s", job->points);
}

void output_members(json *j, const kmeans *job)
{
    json_rows(j, "centers", job->centers, job->k, job->d);
    json_open(j, "sizes", '[');
    for (uint32_t row = 0; row < job->k; row++) json_uint(j, NULL, job->sizes[row]);
    json_close(j, ']');
    json_double(j, "inertia", job->inertia);
    json_uint(j, "iterations", job->iterations);
}
