// SPDX-License-Identifier: Apache-2.0
// Pictures: what stands in the file. How they look is for eyes.
#include "svg.h"

#include "svg_spots.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/hdst-svg-XXXXXX";

static char *draw(const svg_plot *plot)
{
    hdst_error error;
    int file = mkstemp(path);
    cr_assert(file >= 0);
    close(file);
    cr_assert_eq(svg_write(path, plot, &error), HDST_OK, "%s", error.message);
    FILE *in = fopen(path, "r");
    fseek(in, 0, SEEK_END);
    size_t size = (size_t)ftell(in);
    rewind(in);
    char *text = calloc(size + 1, 1);
    cr_assert_eq(fread(text, 1, size, in), size);
    fclose(in);
    remove(path);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) n++;
    return n;
}

Test(svg, every_point_of_a_few_is_drawn_in_its_clusters_colour)
{
    const float points[] = {0, 0, 1, 0, 0, 1, 10, 10}, centers[] = {1.f / 3, 1.f / 3, 10, 10};
    const int32_t cluster[] = {0, 0, 0, 1};
    const uint64_t sizes[] = {3, 1};
    char *text = draw(&(svg_plot){"t", "s", "x", "y", points, cluster, 4, centers, sizes, 2});
    cr_expect_eq(count(text, "h0"), 4);
    cr_expect_eq(count(text, "<path class=\"p\""), 2);
    cr_expect_eq(count(text, "r=\"11\""), 2);
    cr_expect(strstr(text, ">0: 3<"));
    cr_expect(strstr(text, ">1: 1<"));
    cr_expect(strstr(text, "</svg>\n"));
    free(text);
}

Test(svg, both_axes_have_one_scale)
{
    // Corners of a square: their spots must be a square too.
    const float points[] = {0, 0, 8, 8}, centers[] = {4, 4};
    const int32_t cluster[] = {0, 0};
    const uint64_t sizes[] = {2};
    char *text = draw(&(svg_plot){"t", "s", "x", "y", points, cluster, 2, centers, sizes, 1});
    double x0, y0, x1, y1;
    const char *at = strstr(strstr(text, "class=\"p\""), "d=\"M");
    cr_assert_eq(sscanf(at, "d=\"M%lf %lfh0M%lf %lfh0", &x0, &y0, &x1, &y1), 4);
    cr_expect_float_eq(fabs(x1 - x0), fabs(y1 - y0), 0.2);
    cr_expect_gt(fabs(x1 - x0), 100);
    free(text);
}

Test(svg, texts_are_escaped)
{
    const float points[] = {0, 0};
    const int32_t cluster[] = {0};
    const uint64_t sizes[] = {1};
    char *text = draw(&(svg_plot){"a < b & c > d", "s", "x<y", "y", points, cluster, 1, points, sizes, 1});
    cr_expect(strstr(text, "a &lt; b &amp; c &gt; d"));
    cr_expect(strstr(text, "x&lt;y"));
    cr_expect_null(strstr(text, "x<y"));
    free(text);
}

Test(svg, points_of_one_place_and_odd_numbers_do_no_harm)
{
    const float points[] = {5, 5, 5, 5, NAN, 1, 1, INFINITY}, huge[] = {-3e38f, -3e38f, 3e38f, 3e38f};
    const int32_t cluster[] = {0, 0, 0, 0};
    const uint64_t sizes[] = {4};
    char *text = draw(&(svg_plot){"t", "s", "x", "y", points, cluster, 4, points, sizes, 1});
    cr_expect_eq(count(text, "h0"), 1);
    cr_expect_null(strstr(text, "nan"));
    cr_expect_null(strstr(text, "inf"));
    free(text);
    memcpy(path, "/tmp/hdst-svg-XXXXXX", sizeof path);
    text = draw(&(svg_plot){"t", "s", "x", "y", huge, cluster, 2, huge, sizes, 1});
    cr_expect_eq(count(text, "h0"), 2);
    cr_expect_null(strstr(text, "inf"));
    free(text);
}

Test(svg, a_million_points_and_many_centers_stay_below_a_megabyte)
{
    enum { N = 1000000, K = 100000 };
    float *points = malloc(N * 2 * sizeof *points);
    int32_t *cluster = malloc(N * sizeof *cluster);
    uint64_t *sizes = calloc(K, sizeof *sizes), state = 7;
    for (uint32_t i = 0; i < N; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        points[2 * i] = (float)(state >> 40);
        points[2 * i + 1] = (float)(state >> 16 & 0xffffff);
        cluster[i] = (int32_t)(i % K);
    }
    char *text = draw(&(svg_plot){"t", "s", "x", "y", points, cluster, N, points, sizes, K});
    cr_expect_lt(strlen(text), 1000000);
    cr_expect_gt(count(text, "h0"), 20000);
    free(text);
    free(points);
    free(cluster);
    free(sizes);
}

Test(svg, points_on_the_same_spot_are_kept_once)
{
    const float rows[] = {1, 1, 1, 1, 1.001f, 1, 5, 5};
    const int32_t cluster[] = {0, 1, 2, 1};
    const spot_view view = {0, 10, 10, 100, 100};
    spot_list list = spots_select(&view, rows, cluster, 4, 3, 100);
    cr_assert_eq(list.count, 2);
    cr_expect_eq(list.items[0].group, 0);
    cr_expect_eq(list.items[0].x, 100);     // (1 - 0) * 10 units, in tenths
    cr_expect_eq(list.items[0].y, 900);     // (10 - 1) * 10 units
    cr_expect_eq(list.items[1].group, 1);
    free(list.items);
}

Test(svg, a_folder_that_is_not_there_is_an_error)
{
    const float points[] = {0, 0};
    const int32_t cluster[] = {0};
    const uint64_t sizes[] = {1};
    hdst_error error;
    svg_plot plot = {"t", "s", "x", "y", points, cluster, 1, points, sizes, 1};
    cr_assert_eq(svg_write("/nonexistent/folder/a.svg", &plot, &error), HDST_E_IO);
    cr_assert_str_eq(error.message, "cannot write '/nonexistent/folder/a.svg': No such file or directory");
    cr_assert_eq(svg_write("/dev/full", &plot, &error), HDST_E_IO);
}
