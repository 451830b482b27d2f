// SPDX-License-Identifier: Apache-2.0
// A device back end: one device, which works as the interpreter does.
#include "engine/device/backend.h"

#include <stdio.h>

static hdst_status find(hdst__device_list *list, void **own, hdst_error *error)
{
    const hdst_status status = hdst__device_interp.find(list, own, error);
    if (status == HDST_OK) snprintf(list->info[list->count - 1].name, sizeof list->info->name, "recipe");
    return status;
}

static hdst_status open_device(const hdst__device_setup *setup, hdst__device **device, hdst_error *error)
{
    fprintf(stderr, "recipe: a back end opens %s\n", setup->info->name);
    return hdst__device_interp.open(setup, device, error);
}

const hdst__device_backend hdst__device_recipe = {.name = "recipe", .find = find, .open = open_device};
