// SPDX-License-Identifier: Apache-2.0
// A table of a GPU in which records become fewer as they are made (engine/stage/device_rows.h).
#include "engine/stage/device_rows.h"

#include "base/costs_gpu.h"

enum { LEAST_BITS = 10 };

static uint64_t bytes_of(const hdst__device_rows *rows, uint32_t bits) { return rows->kernel->combined_row_bytes << bits; }

// Twice as many rows as there are records, or as many as there is room for. 0: there is no room.
static uint32_t choose_bits(const hdst__device_rows *rows, uint64_t in_all)
{
    const uint64_t share = hdst__budget_left(&rows->device->budget) / HDST__GPU_COMBINE_SHARE, alloc = rows->device->info->max_alloc_bytes,
                   most = share < alloc ? share : alloc;
    uint32_t bits = LEAST_BITS;
    if (rows->device->limits->combine_bits) return rows->device->limits->combine_bits;
    while (bits < HDST__GPU_COMBINE_BITS && UINT64_C(1) << bits < 2 * in_all) bits++;
    while (bits >= LEAST_BITS && bytes_of(rows, bits) > most) bits--;
    return bits < LEAST_BITS ? 0 : bits;
}

static bool take_memory(hdst__device_rows *rows, uint64_t in_all)
{
    static const char what[] = "a table of records that become one";
    const hdst__device_ops *ops = rows->device->ops;
    rows->tried = true;
    rows->bits = choose_bits(rows, in_all);
    if (!rows->bits) return false;
    const uint64_t bytes = bytes_of(rows, rows->bits);
    if (ops->alloc(rows->device, HDST__MEMORY_DEVICE, HDST__OWNER_BY_KEY, bytes, what, &rows->memory, NULL) != HDST_OK) return false;
    if (ops->fill(rows->device, rows->memory, bytes / sizeof(uint64_t), 0, NULL) == HDST_OK) return true;
    ops->release(rows->device, rows->memory);
    rows->memory = NULL;
    return false;
}

bool hdst__device_rows_offer(hdst__device_rows *rows, uint64_t expected, uint64_t in_all, bool goes_on, hdst__launch *launch)
{
    const bool takes = !rows->tried && expected >= rows->device->limits->by_key_slice_least;
    if ((rows->ended && !goes_on) || (!rows->memory && !(takes && take_memory(rows, in_all)))) return false;
    launch->combined = rows->memory;
    launch->combined_tables = 1;
    launch->combined_bits = rows->bits;
    return true;
}

// Few records say little: all of their keys are new.
void hdst__device_rows_note(hdst__device_rows *rows, uint64_t made, uint64_t left)
{
    rows->made += made;
    rows->left += left;
    if (rows->made >= HDST__GPU_COMBINE_LOOKS * rows->device->limits->by_key_slice_least && left > made / 4 * 3) rows->ended = true;
}

uint64_t hdst__device_rows_left_of(const hdst__device_rows *rows, uint64_t records)
{
    return rows->made ? (uint64_t)((double)records * ((double)rows->left / (double)rows->made)) : records;
}

void hdst__device_rows_end(hdst__device_rows *rows)
{
    if (rows->memory) rows->device->ops->release(rows->device, rows->memory);
    rows->memory = NULL;
}
