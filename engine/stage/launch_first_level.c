// SPDX-License-Identifier: Apache-2.0
// Plans whose device table has first-level words (accum/first_level.h) (engine/stage/launch_first_level.h).
#include "engine/stage/launch_first_level.h"

#include "accum/first_level.h"

static const int64_t zeroes[HDST__PAGE_WORDS];

static bool has_too_many(const hdst__launch_plan *plan) { return plan->page_count > HDST__CPU_DIRTY_PAGES; }

static void note_pages(hdst__launch_plan *plan, const int64_t *marks)
{
    const uint64_t all = hdst__tables_mark_words(plan->tables, plan->rows) - 1;        // the last one is no page's
    plan->page_count = 0;
    for (uint64_t i = 0; i < all && !has_too_many(plan); i++) {
        if (marks[i] == 0) continue;
        if (plan->page_count < HDST__CPU_DIRTY_PAGES) plan->page[plan->page_count] = i;
        plan->page_count++;
    }
}

// Words of a page; *first: of the table's memory.
static uint64_t page_words(const hdst__launch_plan *plan, uint64_t page, uint64_t *first)
{
    const uint64_t left = plan->device_words - page * HDST__PAGE_WORDS;
    *first = plan->first_level_words + page * HDST__PAGE_WORDS;
    return left < HDST__PAGE_WORDS ? left : HDST__PAGE_WORDS;
}

bool hdst__plan_is_batch(const hdst__launch_plan *plan)
{
    const hdst__kernel *kernel = plan->kernel;
    const uint64_t records = plan->reader.records, most = plan->device->limits->slice_records;
    if (!kernel || !plan->rounds_batches || !plan->first_level_words || plan->reader.open_end || records == 0 || records > kernel->batch_records) return false;
    const bool one_slice = records <= plan->piece->capacity && (most == 0 || records <= most);      // slices of 64 records and fewer are not cut
    return one_slice && records <= plan->flush &&
           hdst__kernel_strips(kernel, plan->items, plan->device->info->compute_units, records) == 1;
}

int64_t *hdst__plan_table_in_place(const hdst__launch_plan *plan) { return plan->first_level_words ? plan->table->in_host : NULL; }

uint64_t hdst__plan_first_level_back(const hdst__launch_plan *plan)
{
    if (!plan->batch || !hdst__plan_table_in_place(plan)) return plan->first_level_words;
    return hdst__tables_mark_words(plan->tables, plan->rows) + hdst__tables_private_words(plan->tables, plan->rows);
}

hdst_status hdst__plan_first_level_clear(hdst__launch_plan *plan, hdst_error *error)
{
    hdst__device *device = plan->device;
    const bool all = has_too_many(plan);
    const size_t count = all ? 0 : plan->page_count;
    plan->page_count = HDST__CPU_DIRTY_PAGES + 1;        // until the run went well
    hdst_status status = plan->batch && !all ? HDST_OK      // its kernel does
        : device->ops->fill(device, plan->table, plan->first_level_words + (all ? plan->device_words : 0), 0, error);
    for (size_t i = 0; i < count && status == HDST_OK; i++) {
        uint64_t first;
        const uint64_t words = page_words(plan, plan->page[i], &first);
        status = device->ops->write(device, plan->table, first * sizeof(int64_t), zeroes, words * sizeof(int64_t), false, error);
    }
    return status;
}

hdst_status hdst__plan_first_level_read(hdst__launch_plan *plan, int64_t *table, hdst_error *error)
{
    hdst__device *device = plan->device;
    hdst_status status = HDST_OK;
    note_pages(plan, table);
    if (has_too_many(plan))
        return device->ops->read(device, plan->table, plan->first_level_words * sizeof(int64_t), table + plan->first_level_words,
                                 plan->device_words * sizeof(int64_t), true, error);
    for (size_t i = 0; i < plan->page_count && status == HDST_OK; i++) {
        uint64_t first;
        const uint64_t words = page_words(plan, plan->page[i], &first);
        status = device->ops->read(device, plan->table, first * sizeof(int64_t), table + first, words * sizeof(int64_t), true, error);
    }
    return status;
}
