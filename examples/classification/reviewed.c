// SPDX-License-Identifier: Apache-2.0
// Movies as lines of reviews (reviewed.h). What the file of centers holds is read by kernels, like the movies.
#include "reviewed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct rating {         // as in reviewed.hk
    int64_t user;
    uint32_t center;
    double rating;
} rating;

static hdst_dataset *movies_of(const reviewed *r, program_run *run, hdst_source *source)
{
    return hdst_filter_function(hdst_with_layout(hdst_read(source, r->module, "text"), program_layout(run, HDST_AOS)), r->module, "is_movie");
}

static hdst_status set_lengths(reviewed *r, const rating *ratings, uint64_t count, hdst_error *error)
{
    double *lengths = calloc(r->k, sizeof *lengths);
    if (!lengths) return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the centers");
    for (uint64_t i = 0; i < count; i++) lengths[ratings[i].center] += ratings[i].rating * ratings[i].rating;
    for (uint32_t k = 0; k < r->k; k++) lengths[k] = sqrt(lengths[k]);
    r->lengths = hdst_value_create(r->module, "length_of_center", r->k);
    hdst_value_set(r->lengths, lengths, r->k);
    free(lengths);
    return HDST_OK;
}

static hdst_status read_ratings(reviewed *r, program_run *run, hdst_source *source, hdst_error *error)
{
    rating *ratings = NULL;
    uint64_t count = 0;
    hdst_dataset *found = hdst_sort(hdst_flat_map_function(movies_of(r, run, source), r->module, "ratings_of_centers"), "user, center");
    hdst_status status = hdst_collect(found, (void **)&ratings, &count, error);
    if (status == HDST_OK && !count) status = program_fail(error, HDST_E_USAGE, 0, "movie: user_rating,user_rating,...", "the centers have no ratings");
    if (status == HDST_OK) status = set_lengths(r, ratings, count, error);
    if (status == HDST_OK) {
        r->ratings = hdst_value_create(r->module, "rating_of_center", count);
        hdst_value_set(r->ratings, ratings, count);
    }
    hdst_rows_destroy(run->context, ratings);
    return status;
}

// How many centers there are is a param of the kernels, so they are counted with kernels of their own.
static hdst_status count_centers(reviewed *r, program_run *run, hdst_source *source, uint64_t *count, hdst_error *error)
{
    const hdst_param one = {"K", 1};
    hdst_status status = program_load(run, "reviewed.hk", &one, 1, &r->module, error);
    if (status == HDST_OK) status = hdst_count(movies_of(r, run, source), count, error);
    hdst_module_destroy(r->module);
    r->module = NULL;
    if (status != HDST_OK || (*count > 0 && *count <= REVIEWED_MOST_CENTERS)) return status;
    return program_fail(error, HDST_E_USAGE, 0, "a line for each class: movie: user_rating,...", "there are %" PRIu64 " centers, not 1 to %d", *count,
                        REVIEWED_MOST_CENTERS);
}

hdst_status reviewed_open(reviewed *r, program_run *run, const char *centers, hdst_error *error)
{
    uint64_t count = 0;
    hdst_source *source = hdst_source_open_lines(run->context, centers);
    hdst_status status = hdst_source_status(source, error);
    if (status == HDST_OK) status = count_centers(r, run, source, &count, error);
    r->k = (uint32_t)count;
    const hdst_param k = {"K", (double)count};
    if (status == HDST_OK) status = program_load(run, "reviewed.hk", &k, 1, &r->module, error);
    if (status == HDST_OK) status = read_ratings(r, run, source, error);
    hdst_source_destroy(source);
    return status;
}

void reviewed_close(reviewed *r)
{
    hdst_value_destroy(r->ratings);
    hdst_value_destroy(r->lengths);
    hdst_module_destroy(r->module);
}

hdst_dataset *reviewed_labels(const reviewed *r, program_run *run)
{
    hdst_map_spec *classify = hdst_map_spec_create(r->module, "classify_line");
    hdst_bind_value(classify, "c", r->ratings);
    hdst_bind_value(classify, "l", r->lengths);
    hdst_dataset *labels = hdst_map(movies_of(r, run, run->source), classify);
    hdst_map_spec_destroy(classify);
    return labels;
}
