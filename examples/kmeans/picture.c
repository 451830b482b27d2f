// SPDX-License-Identifier: Apache-2.0
// The picture that --svg draws: the points that have room in it, read once more, in the colours of their clusters
// (output.h).
#include "output.h"

#include "svg.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_POINTS = 1000000, CHUNK_FLOATS = 1 << 20 };     // more points than the picture has room for

typedef struct drawn {
    float *rows;            // count rows of x, y
    int32_t *cluster;
    uint64_t count;
    float *chunk, *centers;
} drawn;

// Every step-th point, read in large pieces.
static hdst_status collect(const kmeans *job, hdst_view labels, uint64_t step, drawn *to, hdst_error *error)
{
    uint64_t piece = CHUNK_FLOATS / job->d ? CHUNK_FLOATS / job->d : 1;
    for (uint64_t first = 0; first < job->points; first += piece) {
        uint64_t count = job->points - first < piece ? job->points - first : piece;
        hdst_status status = hdst_dataset_take(job->data, first, count, to->chunk, error);
        if (status != HDST_OK) return status;
        for (uint64_t i = (step - first % step) % step; i < count; i += step) {
            to->rows[2 * to->count] = to->chunk[i * job->d];
            to->rows[2 * to->count + 1] = to->chunk[i * job->d + 1];
            to->cluster[to->count++] = (int32_t)hdst_view_int64(labels, first + i, 0);
        }
    }
    return HDST_OK;
}

static hdst_status write_picture(const kmeans *job, const drawn *from, const char *const *names, const char *path, hdst_error *error)
{
    char title[128], subtitle[160];
    snprintf(title, sizeof title, "KMeans: %" PRIu32 " cluster%s of %" PRIu64 " points", job->k, job->k == 1 ? "" : "s", job->points);
    int length = snprintf(subtitle, sizeof subtitle, "inertia %.6g after %" PRIu32 " iterations", job->inertia, job->iterations);
    if (job->d > 2) snprintf(subtitle + length, sizeof subtitle - (size_t)length, "; 2 of %" PRIu32 " columns shown", job->d);
    svg_plot plot = {title, subtitle, names[0] ? names[0] : "column 0", names[1] ? names[1] : "column 1", from->rows, from->cluster, from->count,
                     from->centers, job->sizes, job->k};
    return svg_write(path, &plot, error);
}

hdst_status output_picture(const kmeans *job, hdst_view labels, const char *const *names, const char *path, hdst_error *error)
{
    uint64_t step = job->points / MOST_POINTS + 1, room = job->points / step + 1, piece = CHUNK_FLOATS > job->d ? CHUNK_FLOATS : job->d;
    drawn to = {malloc(room * 2 * sizeof(float)), malloc(room * sizeof(int32_t)), 0,
                malloc(piece * sizeof(float)), malloc((uint64_t)job->k * 2 * sizeof(float))};
    hdst_status status = HDST_OK;
    if (!to.rows || !to.cluster || !to.chunk || !to.centers) {
        *error = (hdst_error)HDST_ERROR_INIT;
        status = error->code = HDST_E_MEMORY;
        snprintf(error->message, sizeof error->message, "out of memory: the picture");
    }
    if (status == HDST_OK) status = collect(job, labels, step, &to, error);
    for (uint64_t i = 0; i < (uint64_t)job->k * 2 && status == HDST_OK; i++) to.centers[i] = job->centers[i / 2 * job->d + i % 2];
    if (status == HDST_OK) status = write_picture(job, &to, names, path, error);
    free(to.rows);
    free(to.cluster);
    free(to.chunk);
    free(to.centers);
    return status;
}
