// SPDX-License-Identifier: Apache-2.0
// What the kmeans program shows: a table, a JSON object, a picture.
#ifndef KMEANS_OUTPUT_H
#define KMEANS_OUTPUT_H

#include "json.h"
#include "kmeans.h"

#include <stdio.h>

// Clusters with sizes and centers, readable: the first 50 rows and 8 columns. names: of the columns, entries may be NULL.
void output_table(const kmeans *job, const char *const *names, FILE *out);

// The members of "result" of the outward contract's object.
void output_members(json *j, const kmeans *job);

// Points and centers as an SVG picture, by their first two columns. labels: the cluster of each point.
hdst_status output_picture(const kmeans *job, hdst_view labels, const char *const *names, const char *path, hdst_error *error);

#endif
