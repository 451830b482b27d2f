// SPDX-License-Identifier: Apache-2.0
#include "engine/output.h"

#include <string.h>

void hdst__output_init(hdst__output *output, const hdst__allocator *allocator, hdst__budget *budget, uint64_t record_bytes)
{
    *output = (hdst__output){.allocator = allocator, .budget = budget, .record_bytes = record_bytes};
}

void hdst__output_destroy(hdst__output *output)
{
    hdst__free(output->allocator, output->records);
    if (output->budget) hdst__budget_release(output->budget, output->capacity * output->record_bytes);
    output->records = NULL;
    output->count = output->capacity = 0;
}

void hdst__output_reset(hdst__output *output)
{
    output->count = 0;
}

hdst_status hdst__output_reserve(hdst__output *output, uint64_t records, hdst_error *error)
{
    if (records <= output->capacity) return HDST_OK;
    uint64_t more = records - output->capacity;
    if (records > SIZE_MAX / 2 / output->record_bytes) return hdst__error_memory(error, "output records");
    if (!hdst__budget_reserve(output->budget, more * output->record_bytes))
        return hdst__budget_error(output->budget, more * output->record_bytes, "output records", error);
    char *grown = hdst__realloc(output->allocator, output->records, records * output->record_bytes);
    if (!grown) {
        hdst__budget_release(output->budget, more * output->record_bytes);
        return hdst__error_memory(error, "output records");
    }
    output->records = grown;
    output->capacity = records;
    return HDST_OK;
}

static uint64_t count_kept(const uint8_t *keep, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) kept += keep[i] != 0;
    return kept;
}

// Doubling keeps the copies few; where the budget has no room for that, what is needed must do.
static hdst_status make_room(hdst__output *output, uint64_t more, hdst_error *error)
{
    uint64_t need = output->count + more;
    if (need <= output->capacity) return HDST_OK;
    if (need < output->capacity * 2 && hdst__output_reserve(output, output->capacity * 2, NULL) == HDST_OK) return HDST_OK;
    return hdst__output_reserve(output, need, error);
}

hdst_status hdst__output_add(hdst__output *output, const void *records, const uint8_t *keep, uint64_t count, hdst_error *error)
{
    uint64_t kept = keep ? count_kept(keep, count) : count, size = output->record_bytes;
    if (kept == 0) return HDST_OK;
    hdst_status status = make_room(output, kept, error);
    if (status != HDST_OK) return status;
    char *to = output->records + output->count * size;
    const char *from = records;
    output->count += kept;
    if (kept == count) {
        memcpy(to, from, count * size);
        return HDST_OK;
    }
    for (uint64_t i = 0; i < count; i++)
        if (keep[i]) {
            memcpy(to, from + i * size, size);
            to += size;
        }
    return HDST_OK;
}
