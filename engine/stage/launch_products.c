// SPDX-License-Identifier: Apache-2.0
// Work-groups and memory of kernels that add up products behind the records: tables of stretches of records, and what these leave.
#include "engine/stage/launch_products.h"

#include "base/costs_gpu.h"

void hdst__plan_choose_products(hdst__launch_plan *plan)
{
    const uint32_t units = plan->device->info->compute_units, items = plan->kernel->product_items;
    const uint64_t fit = hdst__budget_left(&plan->device->budget) / HDST__GPU_TABLE_SHARE / (plan->private_words * sizeof(int64_t)),
        most = (uint64_t)units * HDST__GPU_PRODUCT_GROUPS_PER_UNIT / items;
    const uint64_t stretches = fit < most ? fit : most;
    plan->product_groups = (uint32_t)(stretches ? stretches : 1) * items;
    plan->items = units * HDST__GPU_TABLE_GROUPS_PER_UNIT * plan->kernel->local_size;
    plan->items_why = "8 work-groups per compute unit, 4 to add up products, as far as their tables have room";
}

static uint64_t bytes_of(const hdst__launch_plan *plan, uint64_t records) { return records * plan->kernel->factor_bytes; }

void hdst__plan_product_slices(hdst__launch_plan *plan)
{
    if (!plan->kernel || !plan->kernel->factor_bytes) return;
    const uint64_t share = hdst__budget_left(&plan->device->budget) / HDST__GPU_FACTOR_SHARE, alloc = plan->device->info->max_alloc_bytes;
    const uint64_t most = (share < alloc ? share : alloc) / plan->kernel->factor_bytes / 64 * 64;
    if (plan->slice_most > most) plan->slice_most = most < 64 ? 64 : most;
}

hdst_status hdst__plan_fit_products(hdst__launch_plan *plan, hdst_error *error)
{
    if (!plan->kernel || !plan->kernel->factor_bytes) return HDST_OK;
    hdst__device *device = plan->device;
    const uint64_t most = plan->reader.records < plan->slice_most ? plan->reader.records : plan->slice_most, bytes = bytes_of(plan, most ? most : 1);
    if (plan->factors && plan->factors->bytes >= bytes) return HDST_OK;
    device->ops->release(device, plan->factors);
    plan->factors = NULL;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, bytes, "factors of products", &plan->factors, error);
}
