// SPDX-License-Identifier: Apache-2.0
// The table of device back ends.
#include "engine/device/backend.h"

// In the order in which their devices are numbered: what is added to a machine must not renumber what was there. The interpreter is the last one.
static const hdst__device_backend *const backends[] = {
    &hdst__device_opencl,
    &hdst__device_interp,
};
static const size_t count = sizeof backends / sizeof *backends;

_Static_assert(sizeof backends / sizeof *backends <= HDST__MOST_BACKENDS, "a list of devices has no room for so many back ends");

static hdst_status find(const hdst__device_backend *backend, hdst__device_list *list, hdst_error *error)
{
    hdst__found_by *found = &list->found_by[list->backends++];
    found->backend = backend;
    return backend->find(list, &found->own, error);
}

hdst_status hdst__backends_find(hdst__device_list *list, const hdst__allocator *allocator, hdst_error *error)
{
    hdst_status status = HDST_OK;
    list->allocator = allocator;
    for (size_t i = 0; i < count && status == HDST_OK; i++) status = find(backends[i], list, error);
    if (status != HDST_OK) hdst__device_list_clear(list);
    return status;
}

hdst_status hdst__backend_find(const hdst__device_backend *backend, hdst__device_list *list, const hdst__allocator *allocator, hdst_error *error)
{
    list->allocator = allocator;
    hdst_status status = find(backend, list, error);
    if (status != HDST_OK) hdst__device_list_clear(list);
    return status;
}
