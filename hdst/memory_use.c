// SPDX-License-Identifier: Apache-2.0
// What memory a context takes, and for what, as the public interface tells it. No lock: a run may go on.
#include "engine/memory_usage.h"
#include "plan/object.h"

#include <string.h>

_Static_assert((int)HDST_MEMORY_OTHER == (int)HDST__OWNER_OTHER && (int)HDST_MEMORY_SEGMENTS == (int)HDST__OWNER_SEGMENTS &&
               (int)HDST_MEMORY_CACHES == (int)HDST__OWNER_CACHES && (int)HDST_MEMORY_VALUES == (int)HDST__OWNER_VALUES &&
               (int)HDST_MEMORY_ACCUMULATORS == (int)HDST__OWNER_ACCUMULATORS && (int)HDST_MEMORY_OUTPUT == (int)HDST__OWNER_OUTPUT &&
               (int)HDST_MEMORY_BY_KEY == (int)HDST__OWNER_BY_KEY && (int)HDST_MEMORY_SORTS == (int)HDST__OWNER_SORTS &&
               (int)HDST_MEMORY_READERS == (int)HDST__OWNER_READERS && (int)HDST_MEMORY_COMPILER == (int)HDST__OWNER_COMPILER &&
               (int)HDST_MEMORY_OWNERS == (int)HDST__OWNERS, "owners have the same numbers inside and outside");
_Static_assert((int)HDST__OWNERS <= (int)HDST_MEMORY_MOST_OWNERS, "there is room for all owners");

const char *hdst_memory_owner_name(hdst_memory_owner owner) { return hdst__owner_name((hdst__owner)owner); }

static void publish(const hdst__memory_place *from, hdst_memory_place *to)
{
    *to = (hdst_memory_place){.limit = from->limit == UINT64_MAX ? 0 : from->limit, .used = from->used, .peak = from->peak,
                              .in_host_memory = from->in_host_memory};
    if (from->info) memcpy(to->name, from->info->name, sizeof to->name);
    else strcpy(to->name, "host");
    memcpy(to->owner_used, from->owned, sizeof from->owned);
    memcpy(to->owner_peak, from->owned_peak, sizeof from->owned_peak);
}

static void fill(const hdst_context *context, hdst_memory_use *use)
{
    hdst__memory_usage usage;
    hdst__engine_memory_usage(context->engine, HDST__PEAKS_EVER, &usage);
    *use = (hdst_memory_use){.device_count = usage.device_count, .files_in_memory = usage.files_in_memory, .files = usage.files,
                             .files_peak = usage.files_peak, .registered = usage.registered};
    publish(&usage.host, &use->host);
    for (uint32_t i = 0; i < usage.device_count; i++) publish(&usage.device[i], &use->device[i]);
}

hdst_status hdst_memory_usage(hdst_context *context, hdst_memory_use *use, hdst_error *error)
{
    hdst_status status = hdst__check_alive(__func__, "context", context, error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "use", use, error);
    if (status != HDST_OK) return status;
    const size_t size = use->size;
    if (size < sizeof(hdst_memory_use)) {
        hdst__error_set(error, HDST_E_USAGE, "hdst_memory_use has a size of %zu bytes, at least %zu are needed", size, sizeof(hdst_memory_use));
        hdst__error_hint(error, "start from HDST_MEMORY_USE_INIT");
        return HDST_E_USAGE;
    }
    hdst_memory_use own;
    fill(context, &own);
    memset(use, 0, size);           // what a newer program has beyond
    *use = own;
    use->size = size;
    return HDST_OK;
}

hdst_status hdst_memory_reset_peaks(hdst_context *context, hdst_error *error)
{
    hdst_status status = hdst__check_alive(__func__, "context", context, error);
    if (status == HDST_OK) hdst__engine_reset_memory_peaks(context->engine);
    return status;
}
