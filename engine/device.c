// SPDX-License-Identifier: Apache-2.0
// What back ends share: page-aligned host memory under the budget.
#include "engine/device.h"

#include "engine/engine_private.h"

#include <unistd.h>

enum { PAGE = 4096 };           // OpenCL devices ask for no more; a larger machine page is only an alignment that is not reached

uint64_t hdst__page_round(uint64_t bytes)
{
    if (bytes == 0) bytes = 1;
    return bytes > UINT64_MAX - PAGE ? UINT64_MAX / PAGE * PAGE : (bytes + PAGE - 1) / PAGE * PAGE;
}

hdst_status hdst__device_host_memory(hdst__device *device, hdst__memory *memory, const char *what, hdst_error *error)
{
    hdst__engine *engine = device->engine;
    uint64_t bytes = hdst__page_round(memory->bytes);
    if (!hdst__budget_reserve(&engine->memory, bytes)) return hdst__budget_error(&engine->memory, bytes, what, error);
    memory->allocation = bytes > SIZE_MAX - PAGE ? NULL : hdst__alloc(engine->allocator, bytes + PAGE);
    if (!memory->allocation) {
        hdst__budget_release(&engine->memory, bytes);
        return hdst__error_memory(error, what);
    }
    memory->host = (void *)(((uintptr_t)memory->allocation + PAGE - 1) / PAGE * PAGE);
    return HDST_OK;
}

void hdst__device_free_host_memory(hdst__device *device, hdst__memory *memory)
{
    if (!memory->allocation) return;
    hdst__free(device->engine->allocator, memory->allocation);
    hdst__budget_release(&device->engine->memory, hdst__page_round(memory->bytes));
    memory->allocation = memory->host = NULL;
}
