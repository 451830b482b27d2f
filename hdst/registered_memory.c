// SPDX-License-Identifier: Apache-2.0
// Memory of the program's that devices read where it lies.
#include "engine/memory/registered.h"
#include "plan/object.h"

static hdst_status change(hdst_context *context, const char *call, const void *memory, const uint64_t *bytes, hdst_error *error)
{
    hdst_status status = hdst__check_alive(call, "context", context, error);
    if (status != HDST_OK) return status;
    hdst__lock(context);
    status = hdst__check_pointer(call, "memory", memory, error);
    hdst__registered *all = hdst__engine_registered(context->engine);
    if (status == HDST_OK) status = bytes ? hdst__registered_add(all, memory, *bytes, error) : hdst__registered_remove(all, memory, error);
    hdst__unlock(context);
    return status;
}

hdst_status hdst_memory_register(hdst_context *context, const void *memory, uint64_t bytes, hdst_error *error)
{
    return change(context, __func__, memory, &bytes, error);
}

hdst_status hdst_memory_unregister(hdst_context *context, const void *memory, hdst_error *error)
{
    return change(context, __func__, memory, NULL, error);
}
