// SPDX-License-Identifier: Apache-2.0
// The result of a reduction by key: the rows of all partitions one after another. In memory that is expected to do; where the budget has none for it, in a
// temporary file that is then read like memory.
#include "shuffle/aggregate/aggregate_result.h"

#include "shuffle/aggregate/aggregate_memory.h"
#include "shuffle/aggregate/aggregate_state.h"
#include "base/costs_host.h"

#include <string.h>

static const char what[] = "the result of a reduce by key";

void hdst__aggregate_forget_rows(hdst__aggregate *aggregate)
{
    hdst__aggregation run = {.engine = aggregate->engine};
    if (aggregate->mapped) hdst__spill_unmap_read(hdst__engine_runtime(aggregate->engine), &aggregate->file, aggregate->mapped);
    else hdst__aggregate_give(&run, aggregate->rows);
    hdst__spill_close(&aggregate->file);
    aggregate->mapped = NULL;
    aggregate->rows = NULL;
    aggregate->row_bytes = aggregate->row_count = 0;
}

void hdst__aggregate_expect_rows(hdst__aggregation *run)
{
    hdst__aggregate *aggregate = run->aggregate;
    const double keys = run->choice.rows > run->choice.distinct ? run->choice.rows : run->choice.distinct;
    const double expected = keys * HDST__HOST_KEY_RESULT_MARGIN + 1024, most = (double)run->records;
    const uint64_t bytes = (uint64_t)(expected < most ? expected : most) * hdst__aggregate_row_bytes(run);
    hdst_error ignored;
    if (!aggregate->mapped) hdst__spill_close(&aggregate->file);      // of a run that failed
    if (aggregate->rows && !aggregate->mapped && aggregate->row_bytes >= bytes / 5 * 4) return;
    hdst__aggregate_forget_rows(aggregate);
    if (bytes > run->room / HDST__HOST_KEY_RESULT_SHARE) return;         // or little would be left to get them
    aggregate->rows = hdst__aggregate_take(run, bytes, what, &ignored);
    if (aggregate->rows) aggregate->row_bytes = bytes;
}

// --- Partitions ---

static void wait_for_turn(hdst__aggregation *run, uint32_t partition)
{
    while (run->partitions_counted < partition && !atomic_load(&run->stop)) pthread_cond_wait(&run->counted, &run->lock);
}

static void tell_count(hdst__aggregation *run, uint32_t partition, uint64_t count)
{
    hdst__aggregate_result *result = &run->result[partition];
    result->count = count;
    result[1].first = result->first + count;
    run->partitions_counted = partition + 1;
    pthread_cond_broadcast(&run->counted);
}

char *hdst__aggregate_place(hdst__aggregate_worker *worker, uint32_t partition, uint64_t count)
{
    hdst__aggregation *run = worker->run;
    hdst__aggregate_result *result = &run->result[partition];
    const uint64_t size = hdst__aggregate_row_bytes(run);
    hdst_error ignored;
    pthread_mutex_lock(&run->lock);
    wait_for_turn(run, partition);
    tell_count(run, partition, count);
    pthread_mutex_unlock(&run->lock);
    if (count == 0 || atomic_load(&run->stop)) return &worker->nothing;
    if ((result->first + count) * size <= run->aggregate->row_bytes) return run->aggregate->rows + result->first * size;
    // What waits for the others leaves them what they may take.
    if (hdst__budget_left(hdst__engine_memory(run->engine)) > hdst__aggregate_shared_memory(run) + count * size)
        result->records = hdst__aggregate_take(run, count * size, what, &ignored);
    result->passes = !result->records;
    return result->records;
}

void hdst__aggregate_give_partition(hdst__aggregation *run, hdst__aggregate_result *result)
{
    hdst__aggregate_give(run, result->records);
    result->records = NULL;
}

static hdst_status to_file(hdst__aggregation *run, uint64_t first, const void *records, uint64_t count, hdst_error *error)
{
    const uint64_t size = hdst__aggregate_row_bytes(run);
    hdst__spill *file = &run->aggregate->file;
    hdst_status status = file->open ? HDST_OK : hdst__spill_open(hdst__engine_runtime(run->engine), file, error);
    return status == HDST_OK ? hdst__spill_put(file, first * size, records, count * size, error) : status;
}

void hdst__aggregate_begin_partition_in_file(hdst__aggregate_worker *worker, uint32_t partition)
{
    hdst__aggregation *run = worker->run;
    pthread_mutex_lock(&run->lock);
    wait_for_turn(run, partition);
    run->result[partition].passes = true;
    pthread_mutex_unlock(&run->lock);
}

bool hdst__aggregate_put_in_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t at, const void *records, uint64_t count)
{
    hdst__aggregation *run = worker->run;
    pthread_mutex_lock(&run->lock);
    const hdst_status status = to_file(run, run->result[partition].first + at, records, count, &worker->error);
    pthread_mutex_unlock(&run->lock);
    return status == HDST_OK;
}

void hdst__aggregate_end_partition_in_file(hdst__aggregate_worker *worker, uint32_t partition, uint64_t count)
{
    hdst__aggregation *run = worker->run;
    pthread_mutex_lock(&run->lock);
    tell_count(run, partition, count);
    pthread_mutex_unlock(&run->lock);
}

// --- All of them ---

// Rows of a partition that are in memory; NULL: they are in the file, or there are none.
static const char *rows_of(const hdst__aggregation *run, const hdst__aggregate_result *result)
{
    if (result->records || result->passes || !result->count) return result->records;
    return run->aggregate->rows + result->first * hdst__aggregate_row_bytes(run);
}

static hdst_status join_in_memory(hdst__aggregation *run, char *rows, uint64_t bytes, hdst_error *error)
{
    hdst__aggregate *aggregate = run->aggregate;
    const uint64_t size = hdst__aggregate_row_bytes(run), count = aggregate->row_count;
    hdst_status status = HDST_OK;
    for (uint32_t p = 0; p < UINT32_C(1) << run->choice.partition_bits && status == HDST_OK; p++) {
        hdst__aggregate_result *result = &run->result[p];
        const char *from = rows_of(run, result);
        status = hdst__cancel_check(hdst__engine_cancel(run->engine), 0, 0, error);
        if (from && status == HDST_OK) memcpy(rows + result->first * size, from, result->count * size);
        hdst__aggregate_give_partition(run, result);
    }
    if (status != HDST_OK) {
        hdst__aggregate_give(run, rows);
        return status;
    }
    hdst__aggregate_forget_rows(aggregate);
    aggregate->rows = rows;
    aggregate->row_bytes = bytes;
    aggregate->row_count = count;
    return HDST_OK;
}

static hdst_status join_in_file(hdst__aggregation *run, hdst_error *error)
{
    hdst__aggregate *aggregate = run->aggregate;
    hdst_status status = HDST_OK;
    for (uint32_t p = 0; p < UINT32_C(1) << run->choice.partition_bits && status == HDST_OK; p++) {
        hdst__aggregate_result *result = &run->result[p];
        const char *from = rows_of(run, result);
        status = hdst__cancel_check(hdst__engine_cancel(run->engine), 0, 0, error);
        if (from && status == HDST_OK) status = to_file(run, result->first, from, result->count, error);
        hdst__aggregate_give_partition(run, result);
    }
    hdst__aggregate_give(run, aggregate->rows);
    aggregate->rows = NULL;
    aggregate->row_bytes = 0;
    if (status == HDST_OK) status = hdst__spill_map(&aggregate->file, &aggregate->mapped, error);
    aggregate->rows = (char *)aggregate->mapped;      // nobody writes there: row_bytes is 0
    return status;
}

hdst_status hdst__aggregate_join(hdst__aggregation *run, hdst_error *error)
{
    hdst__aggregate *aggregate = run->aggregate;
    const uint64_t count = run->result[UINT32_C(1) << run->choice.partition_bits].first, bytes = count * hdst__aggregate_row_bytes(run);
    hdst_error ignored;
    aggregate->row_count = count;
    if (bytes <= aggregate->row_bytes && aggregate->rows && !aggregate->file.open) return HDST_OK;
    char *rows = aggregate->file.open ? NULL : hdst__aggregate_take(run, bytes, what, &ignored);
    return rows ? join_in_memory(run, rows, bytes, error) : join_in_file(run, error);
}
