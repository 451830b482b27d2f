// SPDX-License-Identifier: Apache-2.0
// KMeans: ten steps of Lloyd's algorithm over points.npy, then the label of every point. Centers start anywhere in the unit cube.
#include "hdst/hdst.h"

#include <stdio.h>

enum { MAX_DIMENSIONS = 64, MAX_CLUSTERS = 64 };

// The mean of the points of each center; an empty one stays where it is.
static void move_centers(float *centers, hdst_view x, hdst_view n, uint32_t d)
{
    for (uint64_t j = 0; j < n.rows; j++) {
        double count = hdst_view_double(n, j, 0);
        for (uint32_t i = 0; i < d && count > 0; i++) centers[j * d + i] = (float)(hdst_view_double(x, j, i) / count);
    }
}

int main(void)
{
    static float centers[MAX_CLUSTERS * MAX_DIMENSIONS];
    const uint64_t k = 8;
    hdst_error err = HDST_ERROR_INIT;
    hdst_context *ctx = hdst_context_create(NULL);
    hdst_source *in = hdst_source_open(ctx, "points.npy");              // rows and columns are known now
    uint32_t d = hdst_source_columns(in);
    hdst_module *hk = hdst_module_load(ctx, "kmeans.hk", HDST_PARAM("D", d));
    hdst_dataset *pts = hdst_cache(hdst_read(in, hk, "point"));
    hdst_value *c = hdst_value_create(hk, "center", k);                 // a broadcast table of k records
    hdst_map_spec *m = hdst_map_spec_create(hk, "assign");
    hdst_bind_value(m, "c", c);
    hdst_bind_accum(m, "t", k);                                         // a table of k accumulators
    hdst_result *r = hdst_result_create(hdst_map(pts, m));              // accumulators of the map are its result
    for (uint64_t j = 0; d <= MAX_DIMENSIONS && j < k * d; j++) centers[j] = (float)((j * 2654435761u) % 1000) / 1000;
    for (int step = 0; step < 10; step++) {
        hdst_value_set(c, centers, k);
        if (hdst_run(r, &err) != HDST_OK) break;
        move_centers(centers, hdst_result_field(r, "t", "x"), hdst_result_field(r, "t", "n"), d);
        fprintf(stderr, "step %d: inertia %g\n", step, hdst_view_double(hdst_result_field(r, "inertia", NULL), 0, 0));
    }

    hdst_map_spec *l = hdst_map_spec_create(hk, "label");
    hdst_bind_value(l, "c", c);
    hdst_result *labels = hdst_result_create(hdst_map(pts, l));
    if (err.code == HDST_OK && hdst_run(labels, &err) == HDST_OK)
        hdst_view_save(hdst_result_field(labels, NULL, "cluster"), "labels.npy", &err);
    if (err.code != HDST_OK) {
        char text[4096];
        hdst_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    hdst_result_destroy(labels);
    hdst_map_spec_destroy(l);
    hdst_result_destroy(r);
    hdst_map_spec_destroy(m);
    hdst_value_destroy(c);
    hdst_module_destroy(hk);
    hdst_source_destroy(in);
    hdst_context_destroy(ctx);
    return hdst_status_exit_code(err.code);
}
