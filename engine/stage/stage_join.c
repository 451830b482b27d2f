// SPDX-License-Identifier: Apache-2.0
// Devices of another class that join the first (engine/stage/stage_join.h).
#include "engine/stage/stage_join.h"

#include "base/costs_host.h"
#include "engine/memory/registered.h"
#include "engine/stage/stage_share.h"
#include "engine/worker.h"

#include <stdio.h>

static bool reads_in_place(const hdst__stage *stage)
{
    const hdst__reader *reader = &stage->reader;
    if (stage->spec.cache || !reader->rows || reader->layout != HDST__AOS || !reader->records) return false;
    return hdst__registered_holds(stage->runtime->registered, stage->device, reader->rows, reader->records * reader->record->size);
}

bool hdst__stage_joins(const hdst__stage *stage, uint32_t number)
{
    const hdst__limits *limits = hdst__engine_limits(stage->engine);
    const hdst__stage_join *join = &stage->join;
    if (join->why_not[0] || !(join->alone_seconds > limits->join_seconds)) return false;
    if (hdst__engine_worker_info(stage->engine, number)->class_ == HDST__DEVICE_INTERP && !limits->named_join) return false;
    return reads_in_place(stage);
}

static void least(double *known, double seen)
{
    if (!*known || seen < *known) *known = seen;
}

void hdst__stage_join_note(hdst__stage *stage)
{
    hdst__stage_join *join = &stage->join;
    const double seconds = stage->stats.total_seconds - stage->stats.compile_seconds, records = (double)hdst__reader_records(&stage->reader);
    if (!(seconds > 0) || !records || stage->spec.limit) return;      // of a run that ended early nobody knows what the rest takes
    if (!stage->shares && !join->alone++) return;      // the first run makes what the others find
    if (!stage->shares) {
        join->alone_seconds += seconds;
        least(&join->alone_each, seconds / records);
        return;
    }
    if (!join->alone_each || join->why_not[0] || stage->passes_by) return;
    least(&join->together_each, seconds / records);
    if (++join->together % HDST__HOST_JOIN_RUNS) return;
    if (join->together_each <= HDST__HOST_JOIN_GAIN * join->alone_each) {
        join->together_each = 0;            // the next runs are looked at by themselves
        return;
    }
    snprintf(join->why_not, sizeof join->why_not, "a record took %.3g ns with others, %.3g without; name them by their indices to have them",
             join->together_each * 1e9, join->alone_each * 1e9);
    hdst__log_write(&stage->runtime->log, HDST__LOG_INFO, "'%s' runs on one device: %s", stage->spec.func->name, join->why_not);
}
