// SPDX-License-Identifier: Apache-2.0
// Code that the program gives for a map or a filter apart from its module: OpenCL C or a C function, for a class of devices.
#include "plan/map_spec.h"

#include <string.h>

_Static_assert((int)HDST_DEVICE_GPU == (int)HDST__DEVICE_GPU && (int)HDST_DEVICE_CPU == (int)HDST__DEVICE_CPU, "one enum, two names");

// Accumulators are the engine's tables, which only its own kernels know how to fill.
static hdst_status check_function(const hdst_map_spec *spec, ast_function_kind kind, hdst_error *error)
{
    const ast_function *f = spec->function;
    if (f->kind != kind && kind == AST_FILTER) {
        hdst__error_set(error, HDST_E_USAGE, "which records stay is for a filter to say; '%s' is none", f->name);
        return HDST_E_USAGE;
    }
    if (f->kind != kind) {
        hdst__error_set(error, HDST_E_USAGE, "code can be given apart for maps; '%s' is none", f->name);
        if (f->kind == AST_FILTER) hdst__error_hint(error, "hdst_map_spec_set_filter takes a C function for a filter");
        return HDST_E_USAGE;
    }
    for (size_t i = 0; i < f->param_count; i++) {
        if (f->params[i]->qualifier != AST_ACCUM) continue;
        hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' has the accumulator '%s', which code given apart cannot fill", f->name, f->params[i]->name);
        hdst__error_hint(error, "let the map give records, and accumulate in a map behind it");
        return HDST_E_UNSUPPORTED;
    }
    return HDST_OK;
}

static hdst_status check_class(hdst_device_class device_class, hdst_device_class without, const char *what, hdst_error *error)
{
    static const char *const names[] = {"the interpreter", "CPU devices", "GPUs"};
    if ((unsigned)device_class > HDST_DEVICE_GPU) return hdst__error_set(error, HDST_E_USAGE, "device class %d does not exist", (int)device_class);
    if (device_class != without) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "%s cannot run %s", names[device_class], what);
}

static hdst_status set_opencl(hdst_map_spec *spec, hdst_device_class device_class, const char *text, const char *kernel, uint32_t group, hdst_error *error)
{
    hdst_status status = check_class(device_class, HDST_DEVICE_INTERP, "OpenCL C", error);
    if (status == HDST_OK) status = check_function(spec, AST_MAP, error);
    if (status != HDST_OK) return status;
    if (!text || !kernel || !*kernel)
        return hdst__error_set(error, HDST_E_USAGE, "OpenCL C for '%s' needs a text and the name of its kernel", spec->function->name);
    hdst__separate *code = &spec->code[device_class];
    hdst__map_spec_forget_text(spec, code);
    *code = (hdst__separate){.local_size = group};
    if (hdst__map_spec_take_text(spec, code, text, kernel) != HDST_OK) return hdst__error_memory(error, "the text of a kernel");
    spec->separate = true;
    return HDST_OK;
}

static bool call_part(const hdst__slice *slice, char *message, void *user)
{
    const struct hdst__part_call *call = user;
    hdst_part part = {slice->first, slice->count, slice->records, slice->output, slice->values, slice->value_rows, slice->value_count};
    return call->function(&part, message, call->user);
}

static bool call_filter(const hdst__slice *slice, char *message, void *user)
{
    const struct hdst__part_call *call = user;
    hdst_part part = {slice->first, slice->count, slice->records, NULL, slice->values, slice->value_rows, slice->value_count};
    return call->filter(&part, slice->keep, message, call->user);
}

static hdst_status set_function(hdst_map_spec *spec, hdst_device_class device_class, const struct hdst__part_call *call, hdst_error *error)
{
    const ast_function_kind kind = call->filter ? AST_FILTER : AST_MAP;
    hdst_status status = check_class(device_class, HDST_DEVICE_GPU, "C functions", error);
    if (status == HDST_OK) status = check_function(spec, kind, error);
    if (status != HDST_OK) return status;
    hdst__separate *code = &spec->code[device_class];
    hdst__map_spec_forget_text(spec, code);
    spec->call[device_class] = *call;
    *code = (hdst__separate){.call = call->filter ? call_filter : call_part, .user = &spec->call[device_class], .filters = call->filter != NULL};
    spec->separate = true;
    return HDST_OK;
}

static hdst_status give_function(hdst_map_spec *spec, hdst_device_class device_class, const struct hdst__part_call *call)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(spec->object.context);
    hdst_status status = !spec->function || call->function || call->filter ? HDST_OK
        : hdst__error_set(&error, HDST_E_USAGE, "no function was given for '%s'", spec->function->name);
    if (status == HDST_OK) status = set_function(spec, device_class, call, &error);
    if (status != HDST_OK) hdst__object_fail(&spec->object, &error);
    hdst__unlock(spec->object.context);
    return status;
}

hdst_status hdst_map_spec_set_opencl(hdst_map_spec *spec, hdst_device_class device_class, const char *text, const char *kernel, uint32_t group)
{
    const hdst_status before = hdst__check_alive(__func__, "spec", spec, NULL);
    if (before != HDST_OK) return before;
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(spec->object.context);
    hdst_status status = set_opencl(spec, device_class, text, kernel, group, &error);
    if (status != HDST_OK) hdst__object_fail(&spec->object, &error);
    hdst__unlock(spec->object.context);
    return status;
}

hdst_status hdst_map_spec_set_function(hdst_map_spec *spec, hdst_device_class device_class, hdst_part_function function, void *user)
{
    const hdst_status before = hdst__check_alive(__func__, "spec", spec, NULL);
    const struct hdst__part_call call = {.function = function, .user = user};
    return before == HDST_OK ? give_function(spec, device_class, &call) : before;
}

hdst_status hdst_map_spec_set_filter(hdst_map_spec *spec, hdst_device_class device_class, hdst_filter_part_function function, void *user)
{
    const hdst_status before = hdst__check_alive(__func__, "spec", spec, NULL);
    const struct hdst__part_call call = {.filter = function, .user = user};
    return before == HDST_OK ? give_function(spec, device_class, &call) : before;
}
