// SPDX-License-Identifier: Apache-2.0
// What the last run of a stage took, as a text for people, beside what was expected of it (engine/stage/stage.h).
#include "engine/stage/stage.h"

// By the power of its kernel, as a sample, a note or the runs before have it; 0: nobody knows, or several devices share it, whose policy knows more.
double hdst__stage_expected_seconds(const hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    const bool several = hdst__engine_workers(stage->engine) > 1 && !stage->alone[0];
    if (!plan || several || stage->reader.open_end) return 0;
    return plan->power.fixed + plan->power.kernel * (double)stage->reader.records;
}

static void explain_device(const hdst__device_use *use, uint64_t records, double expected, hdst__buffer *out)
{
    const double share = records ? 100.0 * (double)use->records / (double)records : 0;
    hdst__buffer_printf(out, "    %s: %.0f %% of the records in %llu slice%s, %.3g s at work", use->name, share, (unsigned long long)use->slices,
                        use->slices == 1 ? "" : "s", use->busy_seconds);
    if (expected > 0) hdst__buffer_printf(out, ", %.3g s expected", expected);
    hdst__buffer_puts(out, "\n");
}

void hdst__stage_explain_run(const hdst__stage *stage, hdst__buffer *out)
{
    const hdst__run_stats *stats = &stage->stats;
    char in[24], back[24];
    uint64_t records = 0, slices = 0;
    for (uint32_t i = 0; i < stats->device_count; i++) records += stats->device[i].records, slices += stats->device[i].slices;
    if (!slices) return;
    hdst__buffer_printf(out, "  last run: %.3g s, %.3g s of it reading; %s to devices, %s back\n", stats->run_seconds + stats->read_seconds,
                        stats->read_seconds, hdst__bytes_text(stats->bytes_to_device, in), hdst__bytes_text(stats->bytes_from_device, back));
    for (uint32_t i = 0; i < stats->device_count; i++)
        explain_device(&stats->device[i], records, stats->device_count == 1 ? stage->expected_seconds : 0, out);
}
