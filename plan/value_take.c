// SPDX-License-Identifier: Apache-2.0
// What a value's rows become (plan/value.h): rows of the host, or records that a run left on the device.
#include "plan/value.h"

#include <string.h>

hdst_status hdst__value_resize(hdst_value *value, uint64_t rows, hdst_error *error)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(rows, value->record->size, &bytes) || bytes > SIZE_MAX / 2)
        return hdst__error_set(error, HDST_E_USAGE, "a value of %llu rows of %llu bytes is too large", (unsigned long long)rows,
                               (unsigned long long)value->record->size);
    void *data = hdst__realloc(hdst__owned_by(value->object.context, HDST__OWNER_VALUES), value->data, (size_t)bytes);
    if (!data) return hdst__error_memory(error, "a value");
    value->data = data;
    value->room = rows;
    return HDST_OK;
}

// The bytes of the rows' texts become the value's own. `data` may be its rows as they were, so the old ones go last.
static hdst_status keep_texts(hdst_value *value, uint64_t rows, hdst_error *error)
{
    if (!value->record->has_text) return HDST_OK;
    hdst__text_heap *before = value->texts;
    hdst__text_writer writer = {.heap = value->texts = hdst__text_heap_create(hdst__engine_runtime(value->object.context->engine), HDST__OWNER_VALUES)};
    const hdst_status status = writer.heap ? hdst__text_keep_rows(&writer, value->record, value->data, rows, error) : hdst__error_memory(error, "a value");
    hdst__text_heap_drop(before);
    return status;
}

hdst_status hdst__value_set_rows(hdst_value *value, const void *data, uint64_t rows, hdst_error *error)
{
    hdst_status status = rows == value->room ? HDST_OK : hdst__value_resize(value, rows, error);
    if (status != HDST_OK) return status;
    if (rows) memcpy(value->data, data, (size_t)(rows * value->record->size));
    status = keep_texts(value, rows, error);
    if (status != HDST_OK) return status;
    value->rows = rows;
    value->on_device = false;
    value->version++;
    return HDST_OK;
}

hdst_status hdst__value_take_resident(hdst_value *value, const hdst__dataset_cache *from, uint64_t rows, bool *taken, hdst_error *error)
{
    *taken = false;
    if (!value->resident) value->resident = hdst__value_rows_create(hdst__engine_runtime(value->object.context->engine));
    if (!value->resident) return hdst__error_memory(error, "a value");
    hdst_status status = hdst__value_rows_take(value->resident, from, taken, error);
    if (!*taken) return status;
    if (status != HDST_OK) return hdst__object_fail(&value->object, error);
    value->rows = rows;
    value->on_device = true;
    value->version++;
    return HDST_OK;
}
