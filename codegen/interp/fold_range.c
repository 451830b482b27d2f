// SPDX-License-Identifier: Apache-2.0
// Parts of the fold tree (codegen/interp/fold_range.h). A row of level l stands for a run of 64^l records, which begins at a multiple of that.
#include "codegen/interp/fold_range.h"

#include "codegen/ir/fold_tree.h"

#include <string.h>

enum { LEVELS = 11, LEVEL_BITS = 6 };       // 64^11 > 2^64 records

static uint64_t length_of(unsigned level) { return (uint64_t)1 << level * LEVEL_BITS; }

// The level of the row that begins at record `at` of a range up to `end`.
static unsigned level_at(uint64_t at, uint64_t end)
{
    unsigned level = 0;
    while (level + 1 < LEVELS && at % length_of(level + 1) == 0 && end - at >= length_of(level + 1)) level++;
    return level;
}

// Writes them, unless `levels` is NULL; returns how many.
static uint64_t list_levels(uint64_t first, uint64_t count, uint8_t *levels)
{
    const uint64_t end = first + count;
    uint64_t rows = 0;
    for (uint64_t at = first; at < end; rows++) {
        const unsigned level = level_at(at, end);
        if (levels) levels[rows] = (uint8_t)level;
        at += length_of(level);
    }
    return rows;
}

// Rows of one level are counted together.
uint64_t hdst__fold_range_rows(uint64_t first, uint64_t count)
{
    const uint64_t end = first + count;
    uint64_t rows = 0;
    for (uint64_t at = first; at < end;) {
        const unsigned level = level_at(at, end);
        const uint64_t length = length_of(level), in_group = HDST__FOLD_RECORDS - at / length % HDST__FOLD_RECORDS, fit = (end - at) / length;
        const uint64_t n = in_group < fit ? in_group : fit;
        rows += n;
        at += n * length;
    }
    return rows;
}

bool hdst__fold_range_is_sound(void *user, const hdst__record_range *range)
{
    (void)user;
    return range->row_count == hdst__fold_range_rows(range->first, range->count);
}

// --- Folding ---

typedef struct pieces {
    const hdst__folder *folder;
    uint64_t first, count;          // the first record; rows
    char *rows;
    uint8_t *level;                 // of each
} pieces;

// Folds runs of 64 rows, each of `length` records, the first of which begins at record `at`; the last run may be shorter. `to` may be `from`.
static hdst_status fold_rows(const hdst__folder *folder, const char *from, uint64_t count, uint64_t at, uint64_t length, char *to, hdst_error *error)
{
    const hdst__record *record = folder->func->params[0].record;
    hdst__leaf_address *address = hdst__alloc(folder->allocator, record->leaf_count * sizeof *address);
    if (!address) return hdst__error_memory(error, "the records of a reduce");
    for (size_t i = 0; i < record->leaf_count; i++) address[i] = (hdst__leaf_address){.offset = record->leaves[i].offset, .stride = record->size};
    const hdst__storage structs = {.record = record, .layout = HDST__AOS, .capacity = count, .leaf = address, .buffers = 1};
    const void *buffers[1] = {from};
    hdst__interp_run run = {.func = folder->func, .allocator = folder->allocator, .cancel = folder->cancel, .input = {&structs}, .input_buffers = {buffers},
                            .count = count, .output = to};
    hdst_status status = hdst__interpret_fold_level(&run, error);
    hdst__free(folder->allocator, address);
    if (status != HDST_OK || run.failed_record == UINT64_MAX) return status;
    hdst__check_to_error(folder->func, run.failed_check, run.failed_index, run.failed_limit, run.failed_text, at + run.failed_record * length, error);
    return HDST_E_RECORD;
}

static void move_rows(pieces *p, uint64_t to, uint64_t from, uint64_t count)
{
    const uint64_t size = p->folder->func->params[0].record->size;
    if (to == from) return;
    memmove(p->rows + to * size, p->rows + from * size, count * size);
    memmove(p->level + to, p->level + from, count);
}

// Folds the whole runs among `n` rows of a level from row `from` on, which begin at record `at`, and moves all that is left to row `to`.
static hdst_status fold_stretch(pieces *p, uint64_t *to, uint64_t from, uint64_t n, uint64_t at, unsigned level, hdst_error *error)
{
    const uint64_t length = length_of(level), size = p->folder->func->params[0].record->size,
                   before = (HDST__FOLD_RECORDS - at / length % HDST__FOLD_RECORDS) % HDST__FOLD_RECORDS,
                   runs = before < n ? (n - before) / HDST__FOLD_RECORDS : 0, head = runs ? before : n;
    move_rows(p, *to, from, head);
    *to += head;
    if (!runs) return HDST_OK;
    const hdst_status status = fold_rows(p->folder, p->rows + (from + head) * size, runs * HDST__FOLD_RECORDS, at + head * length, length,
                                         p->rows + *to * size, error);
    memset(p->level + *to, (int)level + 1, runs);
    *to += runs;
    const uint64_t done = head + runs * HDST__FOLD_RECORDS;
    move_rows(p, *to, from + done, n - done);
    *to += n - done;
    return status;
}

static hdst_status fold_level(pieces *p, unsigned level, hdst_error *error)
{
    uint64_t to = 0, at = p->first;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0, n; i < p->count && status == HDST_OK; i += n) {
        const unsigned of = p->level[i];
        for (n = 1; i + n < p->count && p->level[i + n] == of;) n++;
        if (of == level) {
            status = fold_stretch(p, &to, i, n, at, level, error);
        } else {
            move_rows(p, to, i, n);
            to += n;
        }
        at += n * length_of(of);
    }
    p->count = to;
    return status;
}

// Whatever runs are whole, from the shortest on.
static hdst_status fold_all(pieces *p, hdst__record_range *range, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (unsigned level = 0; level + 1 < LEVELS && status == HDST_OK; level++) status = fold_level(p, level, error);
    range->row_count = p->count;
    return status;
}

// --- Ranges ---

hdst_status hdst__fold_range_complete(const hdst__folder *folder, hdst__record_range *range, uint64_t head, uint64_t runs, hdst_error *error)
{
    pieces p = {folder, range->first, range->row_count, range->rows, hdst__alloc_zero(folder->allocator, range->row_count)};
    if (!p.level) return hdst__error_memory(error, "the records of a reduce");
    memset(p.level + head, 1, runs);
    const hdst_status status = fold_all(&p, range, error);
    hdst__free(folder->allocator, p.level);
    return status;
}

hdst_status hdst__fold_range_join(void *user, const hdst__record_range *left, const hdst__record_range *right, hdst__record_range *joined, hdst_error *error)
{
    const hdst__folder *folder = user;
    const uint64_t size = folder->func->params[0].record->size, rows = left->row_count + right->row_count;
    pieces p = {folder, joined->first, rows, hdst__alloc(folder->allocator, rows * size), hdst__alloc(folder->allocator, rows)};
    hdst_status status = p.rows && p.level ? HDST_OK : hdst__error_memory(error, "a partial");
    if (status == HDST_OK) {
        memcpy(p.rows, left->rows, left->row_count * size);
        memcpy(p.rows + left->row_count * size, right->rows, right->row_count * size);
        (void)list_levels(left->first, left->count, p.level);
        (void)list_levels(right->first, right->count, p.level + left->row_count);
        status = fold_all(&p, joined, error);
    }
    hdst__free(folder->allocator, p.level);
    if (status == HDST_OK) joined->rows = p.rows;
    else hdst__free(folder->allocator, p.rows);
    return status;
}

// A level has at most 63 rows and what came of the shorter runs, which is behind them: one run.
static hdst_status finish_levels(const hdst__folder *folder, const hdst__record_range *range, const uint8_t *level, char *run, hdst_error *error)
{
    const uint64_t size = folder->func->params[0].record->size;
    uint64_t left = range->row_count, carried = 0;
    const uint64_t last = range->first + range->count - 1;
    hdst_status status = HDST_OK;
    for (unsigned l = 0; left && status == HDST_OK; l++) {
        uint64_t n = 0;
        while (n < left && level[left - 1 - n] == l) n++;
        if (!n) continue;               // a run of one record is that record
        memmove(run + n * size, run, carried * size);
        memcpy(run, range->rows + (left - n) * size, n * size);
        left -= n;
        const uint64_t at = l + 1 < LEVELS ? last - last % length_of(l + 1) : 0;
        if (l == 0 || n + carried > 1) status = fold_rows(folder, run, n + carried, at, length_of(l), run, error);
        carried = 1;
    }
    return status;
}

hdst_status hdst__fold_range_finish(const hdst__folder *folder, const hdst__record_range *range, void *record, hdst_error *error)
{
    const uint64_t size = folder->func->params[0].record->size;
    uint8_t *level = hdst__alloc(folder->allocator, range->row_count);
    char *run = hdst__alloc_zero(folder->allocator, (HDST__FOLD_RECORDS + 1) * size);
    hdst_status status = level && run ? HDST_OK : hdst__error_memory(error, "the records of a reduce");
    if (status == HDST_OK) {
        (void)list_levels(range->first, range->count, level);
        status = finish_levels(folder, range, level, run, error);
    }
    if (status == HDST_OK) memcpy(record, run, size);
    hdst__free(folder->allocator, level);
    hdst__free(folder->allocator, run);
    return status;
}
