// SPDX-License-Identifier: Apache-2.0
// Values: the rows that broadcast parameters read. A run takes a snapshot when it starts.
#include "hdst/result.h"

#include <string.h>

HDST__STAND_IN(hdst_value, no_value);

static void release_value(hdst__object *object)
{
    hdst_value *value = (hdst_value *)object;
    hdst__free(HDST__ALLOCATOR(value), value->data);
    hdst__value_rows_destroy(value->resident);
    hdst__text_heap_drop(value->texts);
    if (value->module) hdst__object_drop(&value->module->object);
}

static void fill_in(hdst_value *value, hdst_module *module, const char *type, uint64_t rows)
{
    hdst_error error;
    if (hdst__object_inherit(&value->object, &module->object) != HDST_OK) return;
    if (hdst__check_pointer("hdst_value_create", "type", type, &error) == HDST_OK) value->record = hdst__module_find_record(module, type, &error);
    if (!value->record || hdst__value_resize(value, rows, &error) != HDST_OK) {
        hdst__object_fail(&value->object, &error);
        return;
    }
    memset(value->data, 0, (size_t)(rows * value->record->size));
    value->rows = rows;
    value->module = module;
    hdst__object_retain(&module->object);
}

hdst_value *hdst_value_create(hdst_module *module, const char *type, uint64_t rows)
{
    HDST__NEEDS(hdst_value, module, "module");
    hdst_context *context = module->object.context;
    hdst__lock(context);
    hdst_value *value = hdst__object_create(context, sizeof *value, release_value, &no_value);
    if (!value->object.error) fill_in(value, module, type, rows);
    hdst__unlock(context);
    return value;
}

hdst_status hdst_value_set(hdst_value *value, const void *data, uint64_t rows)
{
    hdst_error error;
    hdst_status status = hdst__check_alive(__func__, "value", value, NULL);
    if (status != HDST_OK) return status;
    hdst__lock(value->object.context);
    status = rows ? hdst__check_pointer(__func__, "data", data, &error) : HDST_OK;
    if (status == HDST_OK) status = hdst__value_set_rows(value, data, rows, &error);
    if (status != HDST_OK) hdst__object_fail(&value->object, &error);
    hdst__unlock(value->object.context);
    return status;
}

static hdst_status take_rows(hdst_value *value, hdst_result *result, const char *table, hdst_error *error)
{
    hdst__row_block from = {0};
    hdst_status status = hdst__check_object(value->object.context, "hdst_value_set_result", "result", result, error);
    if (status != HDST_OK) return status;
    if (!hdst__result_find_block(result, table, &from)) {
        *error = result->view_error;
        return error->code;
    }
    if (!hdst__value_can_take(value->record, from.record))
        return hdst__error_set(error, HDST_E_USAGE, "a value of '%s' cannot take rows of '%s'", value->record->name, from.record->name);
    bool taken = false;
    uint64_t rows;
    status = hdst__value_rows_from(value, from.record, from.count, &rows, error);
    if (status != HDST_OK) return status;
    if (table) hdst__result_keep_table(result, table);
    else hdst__result_keep_records(result);
    if (from.resident) status = hdst__value_take_resident(value, from.resident, rows, &taken, error);
    if (status != HDST_OK || taken) return status;
    if (hdst__result_find_rows(result, table, &from)) return hdst__value_set_rows(value, from.rows, rows, error);
    *error = result->view_error;
    return error->code;
}

hdst_status hdst_value_set_result(hdst_value *value, hdst_result *result, const char *table, hdst_error *error)
{
    hdst_error own;
    if (!error) error = &own;
    *error = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__check_alive(__func__, "value", value, error);
    if (status != HDST_OK) return status;
    hdst__lock(value->object.context);
    status = take_rows(value, result, table, error);
    hdst__unlock(value->object.context);
    return status;
}

hdst_status hdst_value_status(const hdst_value *value, hdst_error *error) { return hdst__check_alive(__func__, "value", value, error); }

void hdst_value_destroy(hdst_value *value)
{
    if (value) hdst__object_destroy(&value->object);
}
