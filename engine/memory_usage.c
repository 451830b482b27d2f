// SPDX-License-Identifier: Apache-2.0
// Who takes how much memory (engine/memory_usage.h).
#include "engine/memory_usage.h"

#include "engine/engine_state.h"
#include "engine/memory/registered.h"

// --- The numbers ---

static void take_meters(const hdst__budget *budget, hdst__peaks which, hdst__memory_place *place)
{
    place->limit = budget->limit;
    place->allowance = budget->allowance;
    place->used = hdst__budget_used(budget, place->owned);
    const uint64_t peak = which == HDST__PEAKS_EVER ? hdst__budget_peak(budget) : hdst__budget_peak_since_mark(budget);
    place->peak = peak > place->used ? peak : place->used;
    for (size_t i = 0; i < HDST__OWNERS; i++) {
        const hdst__meter *meter = &budget->owned[i];
        const uint64_t most = which == HDST__PEAKS_EVER ? hdst__meter_highest(meter) : atomic_load(&meter->peak);
        place->owned_peak[i] = most > place->owned[i] ? most : place->owned[i];
    }
}

// What the driver gave and nobody uses is kept for whoever wants as much next.
static void add_kept(const hdst__device *device, hdst__peaks which, hdst__memory_place *place)
{
    const hdst__meter *meter = &device->held;
    const uint64_t held = atomic_load(&meter->now), peak = which == HDST__PEAKS_EVER ? hdst__meter_highest(meter) : atomic_load(&meter->peak);
    const uint64_t kept = held > place->used ? held - place->used : 0;
    place->used += kept;
    place->owned[HDST__OWNER_OTHER] += kept;
    if (place->owned_peak[HDST__OWNER_OTHER] < place->owned[HDST__OWNER_OTHER]) place->owned_peak[HDST__OWNER_OTHER] = place->owned[HDST__OWNER_OTHER];
    if (place->peak < peak) place->peak = peak;
}

static const hdst__device *opened(const hdst__engine *engine, uint32_t i) { return atomic_load(&engine->opened[i]); }

void hdst__engine_memory_usage(const hdst__engine *engine, hdst__peaks which, hdst__memory_usage *usage)
{
    const hdst__runtime *runtime = &engine->runtime;
    const hdst__meter *files = &runtime->files.bytes;
    *usage = (hdst__memory_usage){
        .files = atomic_load(&files->now), .files_peak = which == HDST__PEAKS_EVER ? hdst__meter_highest(files) : atomic_load(&files->peak),
        .files_in_memory = runtime->files.are_in_memory, .registered = hdst__registered_bytes(runtime->registered),
    };
    take_meters(&runtime->memory, which, &usage->host);
    for (uint32_t i = 0; i < HDST__MOST_WORKERS; i++) {
        const hdst__device *device = opened(engine, i);
        if (!device) continue;
        hdst__memory_place *place = &usage->device[usage->device_count++];
        *place = (hdst__memory_place){.info = device->info, .in_host_memory = device->unified && device->info->class_ != HDST__DEVICE_GPU};
        take_meters(&device->budget, which, place);
        add_kept(device, which, place);
    }
}

static void for_all(hdst__engine *engine, void (*budgets)(hdst__budget *budget), void (*meters)(hdst__meter *meter))
{
    budgets(&engine->runtime.memory);
    meters(&engine->runtime.files.bytes);
    for (uint32_t i = 0; i < HDST__MOST_WORKERS; i++) {
        hdst__device *device = atomic_load(&engine->opened[i]);
        if (device) budgets(&device->budget), meters(&device->held);
    }
}

void hdst__engine_mark_memory(hdst__engine *engine) { for_all(engine, hdst__budget_mark, hdst__meter_mark); }
void hdst__engine_reset_memory_peaks(hdst__engine *engine) { for_all(engine, hdst__budget_reset_peak, hdst__meter_reset); }

uint64_t hdst__memory_device_peak(const hdst__memory_usage *usage)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < usage->device_count; i++)
        if (usage->device[i].peak > most) most = usage->device[i].peak;
    return most;
}

// --- For people ---

enum { MOST_TOLD = 3 };

static int next_largest(const hdst__memory_place *place, const bool told[HDST__OWNERS])
{
    int largest = -1;
    for (int i = 0; i < HDST__OWNERS; i++)
        if (!told[i] && place->owned_peak[i] && (largest < 0 || place->owned_peak[i] > place->owned_peak[largest])) largest = i;
    return largest;
}

static void explain_owners(const hdst__memory_place *place, hdst__buffer *out)
{
    bool told[HDST__OWNERS] = {false};
    char bytes[24];
    for (int n = 0; n < MOST_TOLD; n++) {
        const int i = next_largest(place, told);
        if (i < 0) return;
        told[i] = true;
        hdst__buffer_printf(out, "%s %s %s", n ? "," : ":", hdst__owner_name((hdst__owner)i), hdst__bytes_text(place->owned_peak[i], bytes));
    }
}

static void explain_place(const hdst__memory_place *place, const char *name, hdst__buffer *out)
{
    char peak[24], limit[24], used[24], small[24];
    hdst__buffer_printf(out, "memory of %s: at most %s", name, hdst__bytes_text(place->peak, peak));
    if (place->limit != UINT64_MAX) hdst__buffer_printf(out, " of %s", hdst__bytes_text(place->limit, limit));
    if (!place->info) hdst__buffer_printf(out, " and %s for small blocks", hdst__bytes_text(place->allowance, small));
    hdst__buffer_printf(out, ", %s after the run", hdst__bytes_text(place->used, used));
    explain_owners(place, out);
    hdst__buffer_puts(out, "\n");
}

void hdst__memory_usage_explain(const hdst__memory_usage *usage, hdst__buffer *out)
{
    char files[24];
    explain_place(&usage->host, "the host", out);
    for (uint32_t i = 0; i < usage->device_count; i++)
        if (!usage->device[i].in_host_memory) explain_place(&usage->device[i], usage->device[i].info->name, out);
    if (usage->files_peak)
        hdst__buffer_printf(out, "temporary files: at most %s%s\n", hdst__bytes_text(usage->files_peak, files),
                            usage->files_in_memory ? ", in memory beside the budget" : "");
}
