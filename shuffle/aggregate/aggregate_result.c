// SPDX-License-Identifier: Apache-2.0
// The result of a reduction by key: the rows of all parts one after another. In memory that is expected to do; where the budget has none for it, in a temporary file that
// is then read like memory.
#include "shuffle/aggregate/aggregate_run.h"

#include <string.h>

static const char what[] = "the result of a reduce by key";

enum { ROWS_SHARE = 2 };                // of the memory of a run

void hdst__by_key_forget_rows(hdst__by_key *by_key)
{
    hdst__by_key_pass run = {.engine = by_key->engine};
    if (by_key->mapped) hdst__engine_unmap(by_key->engine, &by_key->file, by_key->mapped);
    else hdst__by_key_give(&run, by_key->rows);
    hdst__spill_close(&by_key->file);
    by_key->mapped = NULL;
    by_key->rows = NULL;
    by_key->row_bytes = by_key->row_count = 0;
}

void hdst__by_key_expect_rows(hdst__by_key_pass *run)
{
    hdst__by_key *by_key = run->by_key;
    const double expected = run->choice.distinct * 1.1 + 1024, most = (double)run->records;
    const uint64_t bytes = (uint64_t)(expected < most ? expected : most) * run->keyed->record->size;
    hdst_error ignored;
    if (!by_key->mapped) hdst__spill_close(&by_key->file);      // of a run that failed
    if (by_key->rows && !by_key->mapped && by_key->row_bytes >= bytes / 5 * 4) return;
    hdst__by_key_forget_rows(by_key);
    if (bytes > run->room / ROWS_SHARE) return;         // or little would be left to get them
    by_key->rows = hdst__by_key_take(run, bytes, what, &ignored);
    if (by_key->rows) by_key->row_bytes = bytes;
}

// --- Parts ---

static void wait_for_turn(hdst__by_key_pass *run, uint32_t part)
{
    while (run->parts_counted < part && !atomic_load(&run->stop)) pthread_cond_wait(&run->counted, &run->lock);
}

static void tell_count(hdst__by_key_pass *run, uint32_t part, uint64_t count)
{
    hdst__by_key_result *result = &run->result[part];
    result->count = count;
    result[1].first = result->first + count;
    run->parts_counted = part + 1;
    pthread_cond_broadcast(&run->counted);
}

char *hdst__by_key_place(hdst__by_key_worker *worker, uint32_t part, uint64_t count)
{
    hdst__by_key_pass *run = worker->run;
    hdst__by_key_result *result = &run->result[part];
    const uint64_t size = run->keyed->record->size;
    hdst_error ignored;
    pthread_mutex_lock(&run->lock);
    wait_for_turn(run, part);
    tell_count(run, part, count);
    pthread_mutex_unlock(&run->lock);
    if (count == 0 || atomic_load(&run->stop)) return &worker->nothing;
    if ((result->first + count) * size <= run->by_key->row_bytes) return run->by_key->rows + result->first * size;
    // What waits for the others leaves them what they may take.
    if (hdst__budget_left(&run->engine->memory) > hdst__by_key_shared_memory(run) + count * size) result->records = hdst__by_key_take(run, count * size, what, &ignored);
    result->passes = !result->records;
    return result->records;
}

void hdst__by_key_give_part(hdst__by_key_pass *run, hdst__by_key_result *result)
{
    hdst__by_key_give(run, result->records);
    result->records = NULL;
}

static hdst_status to_file(hdst__by_key_pass *run, uint64_t first, const void *records, uint64_t count, hdst_error *error)
{
    const uint64_t size = run->keyed->record->size;
    hdst__spill *file = &run->by_key->file;
    hdst_status status = file->open ? HDST_OK : hdst__spill_open(file, error);
    return status == HDST_OK ? hdst__spill_put(file, first * size, records, count * size, error) : status;
}

void hdst__by_key_begin_part_in_file(hdst__by_key_worker *worker, uint32_t part)
{
    hdst__by_key_pass *run = worker->run;
    pthread_mutex_lock(&run->lock);
    wait_for_turn(run, part);
    run->result[part].passes = true;
    pthread_mutex_unlock(&run->lock);
}

bool hdst__by_key_put_in_file(hdst__by_key_worker *worker, uint32_t part, uint64_t at, const void *records, uint64_t count)
{
    hdst__by_key_pass *run = worker->run;
    pthread_mutex_lock(&run->lock);
    const hdst_status status = to_file(run, run->result[part].first + at, records, count, &worker->error);
    pthread_mutex_unlock(&run->lock);
    return status == HDST_OK;
}

void hdst__by_key_end_part_in_file(hdst__by_key_worker *worker, uint32_t part, uint64_t count)
{
    hdst__by_key_pass *run = worker->run;
    pthread_mutex_lock(&run->lock);
    tell_count(run, part, count);
    pthread_mutex_unlock(&run->lock);
}

// --- All of them ---

// Rows of a part that are in memory; NULL: they are in the file, or there are none.
static const char *rows_of(const hdst__by_key_pass *run, const hdst__by_key_result *result)
{
    if (result->records || result->passes || !result->count) return result->records;
    return run->by_key->rows + result->first * run->keyed->record->size;
}

static hdst_status join_in_memory(hdst__by_key_pass *run, char *rows, uint64_t bytes, hdst_error *error)
{
    hdst__by_key *by_key = run->by_key;
    const uint64_t size = run->keyed->record->size, count = by_key->row_count;
    hdst_status status = HDST_OK;
    for (uint32_t p = 0; p < UINT32_C(1) << run->choice.part_bits && status == HDST_OK; p++) {
        hdst__by_key_result *result = &run->result[p];
        const char *from = rows_of(run, result);
        status = hdst__cancel_check(run->engine->cancel, 0, 0, error);
        if (from && status == HDST_OK) memcpy(rows + result->first * size, from, result->count * size);
        hdst__by_key_give_part(run, result);
    }
    if (status != HDST_OK) {
        hdst__by_key_give(run, rows);
        return status;
    }
    hdst__by_key_forget_rows(by_key);
    by_key->rows = rows;
    by_key->row_bytes = bytes;
    by_key->row_count = count;
    return HDST_OK;
}

static hdst_status join_in_file(hdst__by_key_pass *run, hdst_error *error)
{
    hdst__by_key *by_key = run->by_key;
    hdst_status status = HDST_OK;
    for (uint32_t p = 0; p < UINT32_C(1) << run->choice.part_bits && status == HDST_OK; p++) {
        hdst__by_key_result *result = &run->result[p];
        const char *from = rows_of(run, result);
        status = hdst__cancel_check(run->engine->cancel, 0, 0, error);
        if (from && status == HDST_OK) status = to_file(run, result->first, from, result->count, error);
        hdst__by_key_give_part(run, result);
    }
    hdst__by_key_give(run, by_key->rows);
    by_key->rows = NULL;
    by_key->row_bytes = 0;
    if (status == HDST_OK) status = hdst__spill_map(&by_key->file, &by_key->mapped, error);
    by_key->rows = (char *)by_key->mapped;      // nobody writes there: row_bytes is 0
    return status;
}

hdst_status hdst__by_key_join(hdst__by_key_pass *run, hdst_error *error)
{
    hdst__by_key *by_key = run->by_key;
    const uint64_t count = run->result[UINT32_C(1) << run->choice.part_bits].first, bytes = count * run->keyed->record->size;
    hdst_error ignored;
    by_key->row_count = count;
    if (bytes <= by_key->row_bytes && by_key->rows && !by_key->file.open) return HDST_OK;
    char *rows = by_key->file.open ? NULL : hdst__by_key_take(run, bytes, what, &ignored);
    return rows ? join_in_memory(run, rows, bytes, error) : join_in_file(run, error);
}
