// SPDX-License-Identifier: Apache-2.0
// All records of one input with all of another (shuffle/join/cross.h).
#include "shuffle/join/cross.h"

#include "base/costs_host.h"

#include <inttypes.h>
#include <string.h>

void hdst__cross_init(hdst__cross *cross, hdst__engine *engine, const hdst__record *result)
{
    *cross = (hdst__cross){.engine = engine, .result = result};
    hdst__arena_init(&cross->arena, hdst__engine_owned(engine, HDST__OWNER_SORTS), NULL);
}

void hdst__cross_forget(hdst__cross *cross)
{
    if (!cross->engine) return;
    hdst__rows_free(hdst__engine_runtime(cross->engine), &cross->right);
    hdst__arena_destroy(&cross->arena);
    hdst__cross_init(cross, cross->engine, cross->result);
}

// --- A run ---

static hdst_status read_right(hdst__cross *cross, const hdst__reader *right, hdst__run_stats *stats, hdst_error *error)
{
    hdst__budget *budget = hdst__engine_memory(cross->engine);
    uint64_t bytes;
    if (__builtin_mul_overflow(right->records, right->record->size, &bytes)) bytes = UINT64_MAX / HDST__HOST_CROSS_SHARE;
    if (bytes <= hdst__budget_left(budget) / HDST__HOST_CROSS_SHARE)
        return hdst__rows_read(hdst__engine_runtime(cross->engine), right, &cross->right, stats, error);
    hdst__budget_error(budget, bytes * HDST__HOST_CROSS_SHARE, "the right side of hdst_cross", error);
    return HDST_E_MEMORY;
}

static hdst_status make_piece(hdst__cross *cross, hdst_error *error)
{
    jmp_buf out_of_memory;
    cross->arena.out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) {
        cross->arena.out_of_memory = NULL;
        return hdst__error_memory(error, "records of a cross");
    }
    cross->piece = hdst__storage_make(&cross->arena, cross->left->record, HDST__AOS, 0, HDST__HOST_JOIN_PIECE_BYTES / cross->left->record->size + 1);
    cross->arena.out_of_memory = NULL;
    return cross->piece ? HDST_OK : hdst__error_memory(error, "records of a cross");
}

hdst_status hdst__cross_run(hdst__cross *cross, const hdst__reader *left, const hdst__reader *right, hdst__run_stats *stats, hdst_error *error)
{
    hdst__cross_forget(cross);
    cross->left = left;
    if (__builtin_mul_overflow(left->records, right->records, &cross->results))
        return hdst__error_set(error, HDST_E_USAGE, "hdst_cross of %" PRIu64 " and %" PRIu64 " records: more than 2^64 pairs", left->records, right->records);
    hdst_status status = make_piece(cross, error);
    if (status == HDST_OK) status = read_right(cross, right, stats, error);
    if (status != HDST_OK) hdst__cross_forget(cross);
    return status;
}

// --- Pairs ---

// Pairs of `lefts` left records, without the first `skip` of the first one, `most` at most. Returns how many.
static uint64_t write_pairs(const hdst__cross *cross, const char *from, uint64_t lefts, uint64_t skip, uint64_t most, char *to)
{
    const uint64_t size = cross->result->size, rights = cross->right.count, right_at = cross->result->fields[1].offset;
    const uint64_t left_size = cross->left->record->size, right_size = hdst__type_size(cross->result->fields[1].type);
    uint64_t written = 0;
    for (uint64_t l = 0; l < lefts; l++, skip = 0) {
        for (uint64_t r = skip; r < rights && written < most; r++, written++, to += size) {
            memset(to, 0, size);                // padding is nobody's secret
            memcpy(to, from + l * left_size, left_size);
            memcpy(to + right_at, (const char *)cross->right.records + r * right_size, right_size);
        }
    }
    return written;
}

// Only ever asked for C structs: its reader says so.
static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const hdst__cross *cross = user;
    const hdst__allocator *allocator = hdst__engine_owned(cross->engine, HDST__OWNER_SORTS);
    const uint64_t rights = cross->right.count, end = first + count;
    if (!count) return HDST_OK;
    const uint64_t lefts = (end - 1) / rights + 1 - first / rights, fit = lefts < cross->piece->capacity ? lefts : cross->piece->capacity;
    char *rows = hdst__alloc(allocator, fit * cross->left->record->size + 1), *to = (char *)buffers[0] + to_first * storage->record->size;
    void *to_rows[] = {rows};
    hdst_status status = rows ? HDST_OK : hdst__error_memory(error, "records of a cross");
    for (uint64_t at = first; at < end && status == HDST_OK;) {
        const uint64_t left = at / rights, behind = (end - 1) / rights + 1, part = behind - left < fit ? behind - left : fit;
        status = cross->left->fill(cross->left->user, left, part, cross->piece, to_rows, 0, error);
        if (status == HDST_OK) at += write_pairs(cross, rows, part, at % rights, end - at, to + (at - first) * storage->record->size);
    }
    hdst__free(allocator, rows);
    return status;
}

hdst__reader hdst__cross_reader(hdst__cross *cross)
{
    return (hdst__reader){.fill = fill, .user = cross, .records = cross->results, .record = cross->result, .layout = HDST__AOS, .held = true,
                          .concurrent = cross->left->concurrent, .on_device = cross->left->on_device};
}
