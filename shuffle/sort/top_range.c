// SPDX-License-Identifier: Apache-2.0
// The best records of ranges, merged (shuffle/sort/top_range.h).
#include "shuffle/sort/top_range.h"

#include <string.h>

// The best of both, in order; returns how many. `to` overlaps neither.
static uint64_t merge_rows(const hdst__top_k *top, const char *left, uint64_t left_count, const char *right, uint64_t right_count, char *to)
{
    const uint64_t size = top->record->size;
    uint64_t i = 0, j = 0, n = 0;
    for (; n < top->wanted && (i < left_count || j < right_count); n++) {
        const char *a = left + i * size, *b = right + j * size;
        const bool from_left = j == right_count || (i < left_count && hdst__top_k_order(top, a, b) <= 0);
        memcpy(to + n * size, from_left ? a : b, size);
        i += from_left;
        j += !from_left;
    }
    return n;
}

static uint64_t at_most(const hdst__top_k *top, uint64_t rows) { return rows < top->wanted ? rows : top->wanted; }

hdst_status hdst__top_range_join(void *user, const hdst__record_range *left, const hdst__record_range *right, hdst__record_range *joined, hdst_error *error)
{
    const hdst__top_range *of = user;
    joined->rows = hdst__alloc(of->allocator, at_most(&of->top, left->row_count + right->row_count) * of->top.record->size);
    if (!joined->rows) return hdst__error_memory(error, "the records with the largest values");
    joined->row_count = merge_rows(&of->top, left->rows, left->row_count, right->rows, right->row_count, joined->rows);
    return HDST_OK;
}

bool hdst__top_range_is_sound(void *user, const hdst__record_range *range)
{
    const hdst__top_range *of = user;
    const uint64_t size = of->top.record->size;
    if (range->row_count > of->top.wanted) return false;
    for (uint64_t i = 1; i < range->row_count; i++)
        if (hdst__top_k_order(&of->top, range->rows + (i - 1) * size, range->rows + i * size) > 0) return false;
    return true;
}

uint64_t hdst__top_range_most(const hdst__top_range *of, const hdst__ranged_partial *partial)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < partial->range_count; i++) rows += partial->range[i].row_count;
    return 2 * at_most(&of->top, rows);
}

uint64_t hdst__top_range_finish(const hdst__top_range *of, const hdst__ranged_partial *partial, char *rows)
{
    const uint64_t most = hdst__top_range_most(of, partial) / 2, size = of->top.record->size;
    uint64_t count = 0;
    char *best = rows, *next = rows + most * size;
    for (size_t i = 0; i < partial->range_count; i++) {
        count = merge_rows(&of->top, best, count, partial->range[i].rows, partial->range[i].row_count, next);
        char *merged = next;
        next = best;
        best = merged;
    }
    memmove(rows, best, count * size);
    return count;
}
