// SPDX-License-Identifier: Apache-2.0
// Plans whose device table is compact (codegen/table.h): a word for each float sum, and spare cells for the few that need more.
#include "engine/plan_compact.h"

#include "engine/engine_private.h"

#include <stdio.h>

enum { LEAST_CELLS = 1 << 10, MOST_SPARE_BYTES = 128 << 20, ROWS_PER_CELL = 4, SHARE = 16 };

uint32_t hdst__plan_compact_bits(const hdst__launch_plan *plan, uint64_t records)
{
    uint64_t additions;
    if (!plan->tables || plan->wide_by_count || plan->output_param) return 0;
    if (plan->adds == UINT64_MAX || __builtin_mul_overflow(records, plan->adds, &additions)) return 0;
    return hdst__compact_bits(additions);
}

// The word is narrower by the number of the additions, and with it what fits.
static bool choose_scale(hdst__launch_plan *plan, const hdst__cell *cell)
{
    const hdst__addends *seen = &plan->addends[cell->scale];
    const int32_t bits = (int32_t)plan->compact_bits, s = hdst__addends_scale(seen, cell->kind, bits);
    plan->scale[cell->scale] = s;
    return hdst__addends_tier(seen, cell->kind, s, bits) == HDST__TIER_ONE;
}

bool hdst__plan_compact_scales(hdst__launch_plan *plan)
{
    bool fit = true;
    for (size_t a = 0; a < plan->tables->accum_count; a++) {
        const hdst__accum *accum = &plan->tables->accum[a];
        for (size_t leaf = 0; accum->compact && leaf < accum->leaf_count; leaf++)
            if (accum->cell[leaf].digits) fit &= choose_scale(plan, &accum->cell[leaf]);
    }
    return fit;
}

static uint64_t choose_cells(const hdst__launch_plan *plan)
{
    const uint64_t asked = plan->device->engine->spare_cells, bytes = (plan->kernel->spare_words + 1) * sizeof(int64_t), left = hdst__budget_left(&plan->device->budget) / SHARE;
    const uint64_t most = (left < MOST_SPARE_BYTES ? left : MOST_SPARE_BYTES) / bytes, wanted = asked ? asked : plan->device_words / ROWS_PER_CELL;
    uint64_t cells = asked ? 1 : LEAST_CELLS;
    while (cells * 2 <= most && cells < wanted) cells *= 2;
    return cells;
}

hdst_status hdst__plan_compact_take(hdst__launch_plan *plan, hdst_error *error)
{
    if (!plan->kernel || !plan->kernel->spare_words) return HDST_OK;
    plan->spare_cells = choose_cells(plan);
    const uint64_t words = hdst__kernel_spare_words(plan->kernel, plan->spare_cells);
    return plan->device->ops->alloc(plan->device, HDST__MEMORY_DEVICE, words * sizeof(int64_t), "spare cells of accumulators", &plan->spares, error);
}

// A run that went well leaves all cells empty.
hdst_status hdst__plan_compact_clear(hdst__launch_plan *plan, hdst_error *error)
{
    if (!plan->spares || plan->spares_are_clean) return HDST_OK;
    hdst__device *device = plan->device;
    plan->spare_mask = plan->spare_cells - 1;
    hdst_status status = device->ops->fill(device, plan->spares, hdst__kernel_spare_words(plan->kernel, plan->spare_cells), 0, error);
    return status == HDST_OK ? device->ops->write(device, plan->spares, 0, &plan->spare_mask, sizeof plan->spare_mask, false, error) : status;
}

hdst_status hdst__plan_compact_check(hdst__launch_plan *plan, hdst_error *error)
{
    uint64_t full = 0;
    if (!plan->spares) return HDST_OK;
    hdst_status status = plan->device->ops->read(plan->device, plan->spares, sizeof full, &full, sizeof full, true, error);
    plan->spares_are_full = full != 0;
    plan->spares_are_clean = status == HDST_OK && full == 0;
    return status;
}
