// SPDX-License-Identifier: Apache-2.0
// How many records a bound source has: the rows of its source, less those that are left out as they do not parse or lack a value.
#include "io/bound.h"

bool hdst__bound_source_leaves_out(const hdst__bound_source *bound)
{
    if (!bound->source->parts) return bound->source->format->keep && (bound->as.skips_malformed || bound->as.skips_missing);
    for (size_t i = 0; i < bound->source->part_count; i++)
        if (hdst__bound_source_leaves_out(bound->parts[i])) return true;
    return false;
}

void hdst__bound_source_skip_malformed(hdst__bound_source *bound)
{
    bound->as.skips_malformed = true;
    for (size_t i = 0; i < bound->source->part_count; i++) hdst__bound_source_skip_malformed(bound->parts[i]);
}

hdst_status hdst__bound_source_count(hdst__bound_source *bound, hdst__thread_pool *threads, hdst_error *error)
{
    hdst__source *source = bound->source;
    if (!hdst__bound_source_leaves_out(bound)) return hdst__source_count(source, threads, error);
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < source->part_count && status == HDST_OK; i++) status = hdst__bound_source_count(bound->parts[i], threads, error);
    if (threads) source->threads = threads;
    return source->parts || bound->as.kept ? status : source->format->keep(bound, error);
}

uint64_t hdst__bound_source_records(const hdst__bound_source *bound)
{
    if (!hdst__bound_source_leaves_out(bound)) return bound->source->rows;
    uint64_t records = bound->kept_rows;
    for (size_t i = 0; i < bound->source->part_count; i++) records += hdst__bound_source_records(bound->parts[i]);
    return records;
}

uint64_t hdst__bound_source_left_out(const hdst__bound_source *bound, hdst_error *first)
{
    uint64_t all = bound->left_out;
    if (all) *first = bound->first_left_out;
    for (size_t i = 0; i < bound->source->part_count; i++) {
        hdst_error own;
        const uint64_t of_part = hdst__bound_source_left_out(bound->parts[i], &own);
        if (of_part && !all) *first = own;
        all += of_part;
    }
    return all;
}
