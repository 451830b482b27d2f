// SPDX-License-Identifier: Apache-2.0
// Texts of the function and of values, for a device that cannot reach the host's memory (engine/stage/launch_texts.h).
#include "engine/stage/launch_texts.h"
#include "record/text_span.h"

#include <string.h>

enum { SLACK = 16 };        // kernels read whole words

typedef struct stretch {
    char *at;               // where the next text goes; NULL: they are only counted
    uint64_t bytes;
} stretch;

bool hdst__plan_texts_has(const hdst__launch_plan *plan, size_t param)
{
    const ir_param *p = &plan->func->params[param];
    return plan->reader.copies_texts && p->kind == IR_BROADCAST_TABLE && p->record->has_text;
}

static bool put_one(void *user, hdst__text_span *span)
{
    stretch *s = user;
    if (hdst__text_is_inline(span)) return true;
    s->bytes += span->length;
    if (!s->at) return true;
    memcpy(s->at, hdst__text_bytes(span), span->length);
    span->address = (uint64_t)(uintptr_t)s->at;
    s->at += span->length;
    return true;
}

// A copy of a value's rows; their texts are counted, or put into the stretch and the rows written to the device.
static hdst_status put_rows(hdst__launch_plan *plan, const hdst__stage_values *values, size_t i, stretch *s, hdst__run_stats *stats, hdst_error *error)
{
    hdst__device *device = plan->device;
    const hdst__record *record = plan->func->params[i].record;
    const uint64_t bytes = plan->rows[i] * record->size;
    const void *rows;
    hdst_status status = hdst__stage_value_on_host(values, i, &rows, error);
    char *copy = status == HDST_OK ? hdst__budget_alloc(&device->runtime->memory, HDST__OWNER_VALUES, bytes + 1, "values with texts", error) : NULL;
    if (!copy) return status == HDST_OK ? HDST_E_MEMORY : status;
    memcpy(copy, rows, bytes);
    hdst__record_texts(record, copy, plan->rows[i], put_one, s);
    if (s->at && bytes) status = device->ops->write(device, plan->broadcast[i], 0, copy, bytes, true, error);
    if (s->at) stats->bytes_to_device += bytes;
    hdst__free(device->runtime->allocator, copy);
    plan->version[i] = values->version[i];
    return status;
}

static hdst_status put_all(hdst__launch_plan *plan, const hdst__stage_values *values, stretch *s, hdst__run_stats *stats, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < plan->func->param_count && status == HDST_OK; i++)
        if (hdst__plan_texts_has(plan, i)) status = put_rows(plan, values, i, s, stats, error);
    return status;
}

static hdst_status provide(hdst__launch_plan *plan, uint64_t bytes, hdst_error *error)
{
    static const char what[] = "texts of a function and of values";
    hdst__device *device = plan->device;
    if (plan->text_constants && plan->text_constants->bytes >= bytes) return HDST_OK;
    hdst__plan_texts_free(plan);
    plan->text_host = hdst__budget_alloc(&device->runtime->memory, HDST__OWNER_VALUES, bytes, what, error);
    if (!plan->text_host) return HDST_E_MEMORY;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_VALUES, bytes, what, &plan->text_constants, error);
}

hdst_status hdst__plan_texts_write(hdst__launch_plan *plan, const hdst__stage_values *values, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__kernel *kernel = plan->kernel;
    hdst__device *device = plan->device;
    stretch s = {NULL, kernel->text_constant_bytes};
    hdst_status status = put_all(plan, values, &s, stats, error);
    const uint64_t bytes = s.bytes + SLACK;
    if (status == HDST_OK) status = provide(plan, bytes, error);
    if (status != HDST_OK) return status;
    memset(plan->text_host, 0, bytes);
    memcpy(plan->text_host, kernel->text_constants, kernel->text_constant_bytes);
    s = (stretch){plan->text_host + kernel->text_constant_bytes, 0};
    status = put_all(plan, values, &s, stats, error);
    stats->bytes_to_device += bytes;
    return status == HDST_OK ? device->ops->write(device, plan->text_constants, 0, plan->text_host, bytes, true, error) : status;
}

void hdst__plan_texts_free(hdst__launch_plan *plan)
{
    plan->device->ops->release(plan->device, plan->text_constants);
    hdst__free(plan->device->runtime->allocator, plan->text_host);
    plan->text_constants = NULL;
    plan->text_host = NULL;
}
