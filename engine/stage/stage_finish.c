// SPDX-License-Identifier: Apache-2.0
// Accumulators that become rows of C structs on the device: large tables cross to the host rounded, and those that another stage or a value reads do
// not cross at all.
#include "engine/stage/launch_fixed_point.h"
#include "engine/stage/stage_share.h"
#include "base/costs_gpu.h"
#include "engine/memory/registered.h"

#include <stdio.h>

bool hdst__stage_may_finish(const hdst__stage *stage)
{
    return stage->spec.takes_rows && !stage->device->unified && !stage->reader.open_end &&
           !stage->mode.is[HDST__MODE_SKIP_FAILED] && !stage->mode.is[HDST__MODE_ROUND_ON_HOST];
}

bool hdst__stage_may_write_rows(const hdst__stage *stage)
{
    return stage->spec.takes_rows && !stage->shares && !stage->reader.open_end && !stage->mode.is[HDST__MODE_SKIP_FAILED] &&
           !stage->mode.is[HDST__MODE_TABLE_OF_WORDS] && hdst__engine_settings(stage->engine)->hpr != HDST__HPR_NONE;
}

static bool is_worthwhile(const hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    if (hdst__plan_writes_rows(plan)) return true;
    if (!hdst__stage_may_finish(stage) || !plan->kernel || !plan->kernel->finish_name) return false;
    if (stage->shares && !hdst__stage_may_merge_there(stage)) return false;
    return stage->spec.keep_rows || hdst__tables_are_fixed_point(plan->tables) || plan->device_words * sizeof(int64_t) >= HDST__GPU_LEAST_FINISHED;
}

static hdst_status make_list(hdst__stage *stage, hdst_error *error)
{
    const hdst__allocator *allocator = stage->runtime->allocator;
    const size_t count = stage->plan->tables->accum_count;
    if (stage->finished) return HDST_OK;
    stage->finished = hdst__alloc_zero(allocator, count * sizeof *stage->finished);
    stage->finished_memory = hdst__alloc_zero(allocator, count * sizeof *stage->finished_memory);
    if (!stage->finished || !stage->finished_memory) return hdst__error_memory(error, "a result");
    stage->finished_count = count;
    for (size_t i = 0; i < count; i++) hdst__store_init(&stage->finished[i], stage->runtime,
                                                        stage->spec.func->params[stage->plan->tables->accum[i].param].record);
    return HDST_OK;
}

static hdst_status take_memory(hdst__stage *stage, hdst_error *error)
{
    hdst_status status = make_list(stage, error);
    for (size_t i = 0; i < stage->finished_count && status == HDST_OK; i++)
        status = hdst__store_hold(&stage->finished[i], stage->device, stage->plan->rows[stage->plan->tables->accum[i].param],
                                  &stage->finished_memory[i], error);
    return status;
}

// Where devices have no memory for it the first one makes all rows.
static hdst_status scatter_begin(hdst__stage *stage, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    stage->no_scatter[0] = 0;
    stage->scatters = stage->finishes && stage->shares && hdst__stage_may_scatter(stage);
    if (!stage->scatters) return HDST_OK;
    const hdst_status status = hdst__stage_scatter_begin(stage, &full);
    stage->scatters = status == HDST_OK;
    if (status == HDST_E_MEMORY) {
        snprintf(stage->no_scatter, sizeof stage->no_scatter, "%s", full.message);
        return HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    return status;
}

hdst_status hdst__stage_finish_begin(hdst__stage *stage, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    stage->finishes = stage->plan && stage->plan->tables && is_worthwhile(stage);
    hdst_status status = scatter_begin(stage, error);
    if (!stage->finishes || stage->scatters || status != HDST_OK) return status;
    status = take_memory(stage, &full);
    if (status == HDST_E_MEMORY && !hdst__tables_are_fixed_point(stage->plan->tables)) {     // superaccumulators take more
        hdst__mode_set(&stage->mode, HDST__MODE_ROUND_ON_HOST, full.message);
        hdst__log_write(&stage->runtime->log, HDST__LOG_WARN, "accumulators are rounded on the host: %s", full.message);
        hdst__stage_finish_release(stage);
        return HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    return status;
}

void hdst__stage_finish_release(hdst__stage *stage)
{
    for (size_t i = 0; i < stage->finished_count; i++) hdst__store_release(&stage->finished[i]);
    hdst__free(stage->runtime->allocator, stage->finished);
    hdst__free(stage->runtime->allocator, stage->finished_memory);
    stage->finished = NULL;
    stage->finished_memory = NULL;
    stage->finished_count = 0;
    stage->finishes = stage->scatters = false;
}

hdst__dataset_cache *hdst__stage_finished(const hdst__stage *stage, size_t accum)
{
    return stage->finishes && !stage->scatters && accum < stage->finished_count ? &stage->finished[accum].cache : NULL;
}

bool hdst__stage_has_finished(const hdst__stage *stage, size_t accum) { return stage->scatters || hdst__stage_finished(stage, accum); }

static hdst_status read_parts(hdst__stage *stage, void *rows, hdst_error *error)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    const hdst_status status = hdst__stage_read_scattered(stage, rows, error);
    pthread_mutex_unlock(&stage->runtime->mutex);
    return status;
}

hdst_status hdst__stage_read_finished(hdst__stage *stage, size_t accum, void *rows, hdst_error *error)
{
    if (stage->scatters) return read_parts(stage, rows, error);
    const hdst__reader *reader = &stage->finished[accum].cache.reader;
    const uint64_t bytes = reader->records * reader->record->size;
    if (bytes == 0) return HDST_OK;
    pthread_mutex_lock(&stage->runtime->mutex);
    (void)hdst__registered_holds(stage->runtime->outputs, stage->device, rows, bytes);      // where they are, they are pinned
    hdst_status status = stage->device->ops->read(stage->device, stage->finished_memory[accum], 0, rows, bytes, true, error);
    if (status == HDST_OK) stage->stats.bytes_from_device += bytes;
    pthread_mutex_unlock(&stage->runtime->mutex);
    return status;
}

void hdst__stage_keep_rows(hdst__stage *stage)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    stage->spec.keep_rows = true;
    pthread_mutex_unlock(&stage->runtime->mutex);
}
