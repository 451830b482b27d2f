// SPDX-License-Identifier: Apache-2.0
// Records by their keys, on the host: read (group_read.c), ordered and cut into runs (group_order.c); where memory is short, in parts by ranges of their
// hashes.
#include "shuffle/group/group.h"

#include "engine/engine.h"
#include "shuffle/group/group_device.h"
#include "shuffle/group/group_input.h"
#include "shuffle/group/group_large.h"
#include "shuffle/group/group_memory.h"
#include "shuffle/group/group_order.h"
#include "shuffle/group/group_read.h"
#include "shuffle/sort/radix_sort.h"
#include "engine/common/run_stats.h"
#include "engine/memory/host_rows.h"
#include "engine/memory/reader.h"
#include "base/costs_host.h"

#include <string.h>

void hdst__group_init(hdst__group *group, hdst__engine *engine, const hdst__record *record, const hdst__key_field *field, size_t field_count)
{
    *group = (hdst__group){.engine = engine, .record = record, .key = hdst__key_fields_of(field, field_count), .bad_record = UINT64_MAX, .why_host = ""};
}

static void end_part(hdst__group *g)
{
    hdst__group_leave_rows(g);
    hdst__group_leave_device(g);
    hdst__free(hdst__engine_owned(g->engine, HDST__OWNER_SORTS), g->run);
    g->run = NULL;
    g->row_count = g->run_count = 0;
    g->large = false;
}

void hdst__group_rest(hdst__group *g)
{
    end_part(g);
    hdst__group_rest_on_device(g);
    if (g->kept_bytes > hdst__budget_unused(hdst__engine_memory(g->engine)) / HDST__HOST_GROUP_KEPT_SHARE) hdst__group_drop_kept(g);
}

void hdst__group_release(hdst__group *g)
{
    if (!g->engine) return;
    end_part(g);
    hdst__group_drop_kept(g);
    hdst__group_end_device(g);
}

// --- Parts ---

// What a record takes: as read and in order, on the device as a table, its place in the order twice, a run and a piece of one in the worst case.
static uint64_t bytes_of(const hdst__group *g, bool wide)
{
    return 3 * g->record->size + 2 * (wide ? sizeof(hdst__radix_entry) : sizeof(uint64_t)) + 2 * sizeof(hdst__run);
}

hdst_status hdst__group_start(hdst__group *g, const hdst__reader *input, hdst_error *error)
{
    end_part(g);
    g->stats = (hdst__run_stats){0};
    g->skipped = g->parts = g->from = 0;
    g->bad_record = UINT64_MAX;
    g->end = !g->dense ? (uint64_t)UINT32_MAX + 1 : g->dense_rows ? g->dense_rows : 1;
    g->wide = input->records > UINT32_MAX || g->end > (uint64_t)UINT32_MAX + 1;
    const uint64_t room = (hdst__budget_left(hdst__engine_memory(g->engine)) + g->kept_bytes) / 2;
    g->most = room / bytes_of(g, g->wide);
    g->whole = input->records <= g->most;
    g->usual = g->step = g->end;
    if (g->whole) return HDST_OK;
    hdst__group_drop_kept(g);
    const uint64_t least = HDST__HOST_GROUP_LEAST_RECORDS;
    if (g->most < least) return hdst__budget_error(hdst__engine_memory(g->engine), least * 2 * bytes_of(g, g->wide), "records by key", error);
    g->usual = g->step = g->end / (input->records / g->most * 5 / 4 + 2) + 1;      // hashes are as good as evenly spread, keys are cut again where they are not
    return HDST_OK;
}

static hdst_status order_next(hdst__group *g, const hdst__reader *input, hdst_error *error)
{
    hdst__rows rows = {0};
    hdst__group_input all = {.group = g};
    bool full = true;
    hdst_status status = HDST_OK;
    while (full && !g->large && status == HDST_OK) {
        status = g->whole ? hdst__group_input_open(g, input, &all, error)
            : hdst__group_read_part(g, &rows, input, &full, error);
        full = full && !g->whole;
        if (full) hdst__rows_free(hdst__engine_runtime(g->engine), &rows);
        if (full && status == HDST_OK) status = hdst__group_narrow(g, input, error);
    }
    if (!g->whole) hdst__group_input_of_rows(g, &rows, &all);
    if (status == HDST_OK) status = g->large ? hdst__group_list_large(g, input, error) : hdst__group_order(g, &all, error);
    hdst__group_input_close(&all, NULL);
    if (!g->whole) hdst__group_drop_kept(g);        // before the function runs, whose records may be many
    return status;
}

hdst_status hdst__group_next(hdst__group *g, const hdst__reader *input, bool *more, hdst_error *error)
{
    bool done = false;
    end_part(g);
    *more = g->from < g->end;
    if (!*more) return HDST_OK;
    hdst_status status = g->may_stay && g->whole ? hdst__group_order_on_device(g, input, &done, error) : HDST_OK;
    if (status == HDST_OK && !done) status = order_next(g, input, error);
    if (status != HDST_OK) hdst__group_release(g);
    g->from += g->step;
    g->step = g->usual;
    g->parts++;
    return status;
}
