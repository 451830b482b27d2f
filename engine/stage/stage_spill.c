// SPDX-License-Identifier: Apache-2.0
// Records between stages that the host's budget has no room for: in a temporary file, which is then read like memory. The system takes its pages
// back as it likes.
#include "engine/stage/stage.h"


void hdst__stage_forget_file(hdst__stage *stage)
{
    hdst__spill_unmap_read(stage->runtime, &stage->file, stage->mapped);
    hdst__spill_close(&stage->file);
    stage->mapped = NULL;
}

static hdst_status start(void *user, hdst_error *error)
{
    hdst__stage *stage = user;
    hdst__stage_forget_file(stage);
    return hdst__spill_open(stage->runtime, &stage->file, error);
}

static hdst_status take(void *user, const void *records, uint64_t count, uint64_t expected, hdst_error *error)
{
    hdst__stage *stage = user;
    (void)expected;
    // What is given is the executor's own memory, in which nobody else looks.
    const hdst_status kept = hdst__output_keep_texts(&stage->output, (void *)records, count, error);
    if (kept != HDST_OK) return kept;
    return hdst__spill_add(&stage->file, records, count * stage->output.record_bytes, error);
}

void hdst__stage_spill_init(hdst__stage *stage)
{
    stage->file_consumer = (hdst__consumer){.start = start, .take = take, .user = stage};
}

bool hdst__stage_may_spill(const hdst__stage *stage)
{
    return stage->spec.may_spill && !stage->spec.consumer && stage->plan && stage->plan->output_param && !stage->mode.is[HDST__MODE_OUTPUT_IN_FILE];
}

void hdst__stage_spill(hdst__stage *stage, const char *why)
{
    hdst__mode_set(&stage->mode, HDST__MODE_OUTPUT_IN_FILE, why);
    hdst__log_write(&stage->runtime->log, HDST__LOG_WARN, "records of '%s' go through a temporary file: %s", stage->spec.func->name, why);
    hdst__output_destroy(&stage->output);
}

hdst_status hdst__stage_map_file(hdst__stage *stage, hdst_error *error)
{
    return stage->file.bytes ? hdst__spill_map(&stage->file, &stage->mapped, error) : HDST_OK;
}
