// SPDX-License-Identifier: Apache-2.0
// KMeans over a file of 2-D points, on the fastest device of this machine:  kmeans points.csv
#include <hdst/hdst.h>
#include <stdio.h>

enum { CLUSTERS = 5, ITERATIONS = 10 };
struct center { float x[2]; };              /* as in kmeans.hk */

static int report(const hdst_error *err)
{
    char text[2500];
    hdst_error_format(err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return hdst_status_exit_code(err->code);
}

int main(int argc, char **argv)
{
    struct center centers[CLUSTERS] = {{{-100, 40}}, {{-60, -20}}, {{20, 0}}, {{20, 50}}, {{120, 30}}};
    hdst_error err;
    hdst_context *ctx = hdst_context_create(NULL);
    hdst_source *in = hdst_source_open(ctx, argc > 1 ? argv[1] : "points.csv");
    hdst_module *hk = hdst_module_load(ctx, "kmeans.hk", HDST_PARAM("D", hdst_source_columns(in)));
    hdst_dataset *points = hdst_cache(hdst_read(in, hk, "point"));
    hdst_value *c = hdst_value_create(hk, "center", CLUSTERS);
    hdst_map_spec *assign = hdst_map_spec_create(hk, "assign");
    hdst_bind_value(assign, "c", c);
    hdst_bind_accum(assign, "t", CLUSTERS);
    hdst_result *r = hdst_result_create(hdst_map(points, assign));

    if (hdst_source_columns(in) > 2) return fprintf(stderr, "2-D points, please\n"), 2;
    for (int i = 0; i < ITERATIONS; i++) {
        hdst_value_set(c, centers, CLUSTERS);
        if (hdst_run(r, &err) != HDST_OK) return report(&err);
        hdst_view sum = hdst_result_field(r, "t", "x"), n = hdst_result_field(r, "t", "n");
        for (int j = 0; j < CLUSTERS; j++)  /* an empty cluster keeps its center */
            for (int k = 0; k < 2 && hdst_view_int64(n, j, 0) > 0; k++)
                centers[j].x[k] = (float)(hdst_view_double(sum, j, k) / hdst_view_double(n, j, 0));
    }
    for (int j = 0; j < CLUSTERS; j++) printf("center %d: %8.3f %8.3f\n", j, centers[j].x[0], centers[j].x[1]);
    hdst_context_destroy(ctx);
    return 0;
}
