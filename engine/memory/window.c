// SPDX-License-Identifier: Apache-2.0
// Free room of an output on the host, where kernels write the records themselves (engine/memory/window.h).
#include "engine/memory/window.h"

// What the device can address in one buffer.
static uint64_t most_room(const hdst__window *window)
{
    const uint64_t records = window->device->info->max_alloc_bytes / window->output->record_bytes;
    const uint64_t room = records > window->spare ? records - window->spare : 0;
    return room >= HDST__SUB_BUFFER_BYTES ? room / HDST__SUB_BUFFER_BYTES * HDST__SUB_BUFFER_BYTES : room;
}

static hdst_status too_large(const hdst__window *window, uint64_t records, uint64_t most, hdst_error *error)
{
    char wanted[24], has[24];
    hdst__error_set(error, HDST_E_MEMORY, "%s: the output records of one slice need %s, a buffer may have %s", window->device->info->name,
                    hdst__bytes_text(records * window->output->record_bytes, wanted), hdst__bytes_text(most * window->output->record_bytes, has));
    hdst__error_hint(error, "emit fewer records of each, or --device interp");
    return HDST_E_MEMORY;
}

// Half of what the budget has no room for, until it is what must be.
static hdst_status reserve(hdst__window *window, uint64_t wanted, uint64_t least, hdst_error *error)
{
    hdst__output *output = window->output;
    const uint64_t beside = output->count + window->spare;
    if (output->capacity >= beside + wanted) return HDST_OK;
    for (; wanted > least; wanted = wanted / 2 > least ? wanted / 2 : least)
        if (hdst__output_reserve(output, beside + wanted, NULL) == HDST_OK) return HDST_OK;
    return hdst__output_reserve(output, beside + least, error);
}

// A slice ends with a window that has no room for all, and those behind it on borders as seen from there: segments of the input would end between two, and
// what begins there has no place that a part of a buffer may have.
static void end_on_border(hdst__window *window, uint64_t least)
{
    const uint64_t room = window->room / HDST__SUB_BUFFER_BYTES * HDST__SUB_BUFFER_BYTES;
    if (room && room >= least) window->room = room;
}

hdst_status hdst__window_open(hdst__window *window, uint64_t wanted, uint64_t least, hdst_error *error)
{
    const uint64_t most = most_room(window);
    if (least > most) return too_large(window, least, most, error);
    if (wanted < least) wanted = least;
    hdst_status status = reserve(window, wanted < most ? wanted : most, least, error);
    if (status != HDST_OK) return status;
    hdst__output *output = window->output;
    window->room = output->capacity - output->count - window->spare;
    if (window->room > most) window->room = most;
    if (window->room < wanted) end_on_border(window, least);
    window->used = 0;
    const uint64_t size = output->record_bytes;
    status = window->device->ops->wrap(window->device, output->records + output->count * size, (window->room + window->spare) * size, &window->memory, error);
    window->is_open = status == HDST_OK;
    return status;
}

hdst_status hdst__window_close(hdst__window *window, hdst_error *error)
{
    if (!window->is_open) return HDST_OK;
    window->is_open = false;
    window->output->count += window->used;
    return window->device->ops->unwrap(window->device, &window->memory, error);
}

hdst_status hdst__window_place(hdst__window *window, uint64_t count, hdst__memory *place, hdst_error *error)
{
    const uint64_t size = window->output->record_bytes;
    hdst_status status = window->device->ops->sub_buffer(window->device, &window->memory, window->used * size, count * size, place, error);
    if (status == HDST_OK) window->used += count;
    return status;
}
