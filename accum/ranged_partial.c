// SPDX-License-Identifier: Apache-2.0
// Partials of ranges of records: merged, written, read (accum/ranged_partial.h).
#include "accum/ranged_partial.h"

#include <inttypes.h>
#include <string.h>

static uint64_t end_of(const hdst__record_range *range) { return range->first + range->count; }

void hdst__ranged_partial_destroy(hdst__ranged_partial *partial)
{
    for (size_t i = 0; i < partial->range_count; i++) hdst__free(partial->allocator, partial->range[i].rows);
    hdst__free(partial->allocator, partial->range);
    partial->range = NULL;
    partial->range_count = 0;
}

// --- Merging ---

// The next range of two lists, by its first record.
static const hdst__record_range *take_next(const hdst__ranged_partial *a, size_t *i, const hdst__ranged_partial *b, size_t *j)
{
    const bool from_a = *j == b->range_count || (*i < a->range_count && a->range[*i].first <= b->range[*j].first);
    return from_a ? &a->range[(*i)++] : &b->range[(*j)++];
}

static hdst_status check_apart(const hdst__ranged_partial *a, const hdst__ranged_partial *b, hdst_error *error)
{
    const hdst__record_range *before = NULL;
    for (size_t i = 0, j = 0; i < a->range_count || j < b->range_count;) {
        const hdst__record_range *next = take_next(a, &i, b, &j);
        if (before && next->first < end_of(before)) {
            const uint64_t end = end_of(before) < end_of(next) ? end_of(before) : end_of(next);
            hdst__error_set(error, HDST_E_USAGE, "records %" PRIu64 " to %" PRIu64 " are in both partials", next->first, end - 1);
            hdst__error_hint(error, "say where each part begins in the whole: hdst_result_keep_partial_at");
            return HDST_E_USAGE;
        }
        before = next;
    }
    return HDST_OK;
}

static hdst_status copy_range(const hdst__ranged_partial *to, const hdst__record_range *from, hdst__record_range *copy, hdst_error *error)
{
    *copy = *from;
    copy->rows = hdst__alloc(to->allocator, from->row_count * to->row_bytes);
    if (!copy->rows) return hdst__error_memory(error, "a partial");
    memcpy(copy->rows, from->rows, from->row_count * to->row_bytes);
    return HDST_OK;
}

// Puts the next range behind those of `to`; a neighbour grows by it.
static hdst_status append(hdst__ranged_partial *to, const hdst__record_range *next, const hdst__range_rule *rule, hdst_error *error)
{
    hdst__record_range *last = to->range_count ? &to->range[to->range_count - 1] : NULL, joined;
    if (!last || end_of(last) != next->first) {
        const hdst_status status = copy_range(to, next, &to->range[to->range_count], error);
        to->range_count += status == HDST_OK;
        return status;
    }
    joined = (hdst__record_range){.first = last->first, .count = last->count + next->count};
    const hdst_status status = rule->join(rule->user, last, next, &joined, error);
    if (status != HDST_OK) return status;
    hdst__free(to->allocator, last->rows);
    *last = joined;
    return HDST_OK;
}

hdst_status hdst__ranged_partial_merge(hdst__ranged_partial *to, const hdst__ranged_partial *from, const hdst__range_rule *rule, hdst_error *error)
{
    hdst_status status = check_apart(to, from, error);
    if (status != HDST_OK || !from->range_count) return status;
    hdst__ranged_partial both = {to->allocator, to->row_bytes, NULL, 0};
    both.range = hdst__alloc_zero(to->allocator, (to->range_count + from->range_count) * sizeof *both.range);
    if (!both.range) return hdst__error_memory(error, "a partial");
    for (size_t i = 0, j = 0; status == HDST_OK && (i < to->range_count || j < from->range_count);)
        status = append(&both, take_next(to, &i, from, &j), rule, error);
    if (status == HDST_OK) {
        const hdst__ranged_partial before = *to;
        *to = both;
        both = before;
    }
    hdst__ranged_partial_destroy(&both);
    return status;
}

hdst_status hdst__ranged_partial_add(hdst__ranged_partial *partial, hdst__record_range *range, const hdst__range_rule *rule, hdst_error *error)
{
    const hdst__ranged_partial one = {partial->allocator, partial->row_bytes, range, range->count ? 1 : 0};
    const hdst_status status = hdst__ranged_partial_merge(partial, &one, rule, error);
    hdst__free(partial->allocator, range->rows);
    range->rows = NULL;
    return status;
}

hdst_status hdst__ranged_partial_is_whole(const hdst__ranged_partial *partial, hdst_error *error)
{
    const hdst__record_range *first = partial->range;
    if (!partial->range_count || (partial->range_count == 1 && first->first == 0)) return HDST_OK;
    const uint64_t from = first->first ? 0 : end_of(first), to = first->first ? first->first : first[1].first;
    hdst__error_set(error, HDST_E_USAGE, "records %" PRIu64 " to %" PRIu64 " are missing", from, to - 1);
    hdst__error_hint(error, "merge the partials of all parts first; each says where it begins in the whole (hdst_result_keep_partial_at)");
    return HDST_E_USAGE;
}

// --- Rows ---

static void copy_fields(const hdst__record *record, char *to, const char *from)
{
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        const uint64_t bytes = hdst__scalar_size(leaf->kind);
        for (uint64_t e = 0; e < leaf->elements; e++) memcpy(to + hdst__leaf_offset(leaf, e), from + hdst__leaf_offset(leaf, e), bytes);
    }
}

bool hdst__clear_padding(const hdst__allocator *allocator, const hdst__record *record, char *rows, uint64_t count)
{
    char *row = hdst__alloc_zero(allocator, record->size);
    for (uint64_t i = 0; row && i < count; i++) {
        copy_fields(record, row, rows + i * record->size);
        memcpy(rows + i * record->size, row, record->size);
    }
    hdst__free(allocator, row);
    return row != NULL;
}

// --- Bytes ---

void hdst__ranged_partial_write(const hdst__ranged_partial *partial, const hdst__record *record, hdst__buffer *out)
{
    hdst__put_u64(out, partial->row_bytes);
    hdst__put_u64(out, partial->range_count);
    for (size_t i = 0; i < partial->range_count; i++) {
        const hdst__record_range *range = &partial->range[i];
        hdst__put_u64(out, range->first);
        hdst__put_u64(out, range->count);
        hdst__put_u64(out, range->row_count);
        hdst__text_rows_write(&(hdst__text_rows){.record = record}, range->rows, range->row_count, out);
    }
}

enum { HEAD_BYTES = 24 };       // of a range

static hdst_status read_range(const hdst__ranged_partial *partial, const hdst__record *record, const hdst__bytes_place *place, hdst__record_range *range,
                              hdst__byte_cursor *from)
{
    uint64_t bytes, end;
    if (!hdst__cursor_take(from, &range->first, sizeof range->first) || !hdst__cursor_take(from, &range->count, sizeof range->count) ||
        !hdst__cursor_take(from, &range->row_count, sizeof range->row_count)) return HDST_E_FORMAT;
    if (!range->count || __builtin_add_overflow(range->first, range->count, &end)) return HDST_E_FORMAT;
    if (__builtin_mul_overflow(range->row_count, partial->row_bytes, &bytes) || bytes > from->left) return HDST_E_FORMAT;
    range->rows = hdst__alloc(partial->allocator, bytes);
    if (!range->rows) return HDST_E_MEMORY;
    const hdst_status status = hdst__text_rows_read(&(hdst__text_rows){.record = record}, range->rows, range->row_count, from, place, NULL);
    return status == HDST_OK || status == HDST_E_FORMAT ? status : HDST_E_MEMORY;
}

hdst_status hdst__ranged_partial_read(hdst__ranged_partial *partial, const hdst__record *record, const hdst__range_rule *rule,
                                      const hdst__bytes_place *place, hdst__byte_cursor *from)
{
    uint64_t row_bytes, count;
    hdst_status status = HDST_OK;
    if (!hdst__cursor_take(from, &row_bytes, sizeof row_bytes) || !hdst__cursor_take(from, &count, sizeof count)) return HDST_E_FORMAT;
    if (row_bytes != partial->row_bytes || count > from->left / HEAD_BYTES) return HDST_E_FORMAT;
    partial->range = hdst__alloc_zero(partial->allocator, count * sizeof *partial->range);
    if (!partial->range) return HDST_E_MEMORY;
    for (uint64_t end = 0; partial->range_count < count && status == HDST_OK; partial->range_count++) {
        hdst__record_range *range = &partial->range[partial->range_count];
        status = read_range(partial, record, place, range, from);
        if (status == HDST_OK && ((partial->range_count && range->first <= end) || !rule->is_sound(rule->user, range))) status = HDST_E_FORMAT;
        end = end_of(range);
    }
    return status == HDST_OK && from->left ? HDST_E_FORMAT : status;
}
