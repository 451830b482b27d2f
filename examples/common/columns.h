// SPDX-License-Identifier: Apache-2.0
// Columns that a program finds by itself: by a name that is usual, or that an option of its own gives.
#ifndef EXAMPLES_COLUMNS_H
#define EXAMPLES_COLUMNS_H

#include "program.h"

// What --lines of programs about ratings reads.
#define REVIEWS_LINES "the input is lines of reviews: movie: user_rating,user_rating,..."

// The column of a name or of an index from 0, as the first `length` bytes of `word` have it. -1: none.
int64_t columns_find(const hdst_source *source, const char *word, size_t length);

// Opens all inputs anew in place of run->source, with these columns ("2,0").
hdst_status columns_reopen(program_run *run, const char *list, hdst_error *error);

// Leaves the columns of ratings in run->source: the rating, with an item before it when `with_item`. They are those
// of --columns, of which there must be so many; without it the rating is the column called "rating" or else the last
// one, the item the first other one. HDST_E_USAGE when there are too few.
hdst_status columns_of_ratings(program_run *run, bool with_item, hdst_error *error);

#endif
