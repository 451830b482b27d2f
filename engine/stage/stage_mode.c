// SPDX-License-Identifier: Apache-2.0
// How a stage runs now, and why no longer as it began (engine/stage/stage_mode.h).
#include "engine/stage/stage_mode.h"

#include <stdio.h>

enum { LONGEST_WHY = 150 };

static const char *const done[HDST__MODE_CHANGES] = {
    [HDST__MODE_ONE_DEVICE] = "other devices: not used",
    [HDST__MODE_OUTPUT_ON_HOST] = "output: through the host",
    [HDST__MODE_OUTPUT_IN_FILE] = "output: through a temporary file",
    [HDST__MODE_COUNTED_OUTPUT] = "output: counted before it is written",
    [HDST__MODE_ROUND_ON_HOST] = "accumulators: rounded on the host",
    [HDST__MODE_TABLE_OF_WORDS] = "rows: by way of a table of words",
    [HDST__MODE_SUPERACCUMULATORS] = "accumulators: in superaccumulators",
    [HDST__MODE_SKIP_FAILED] = "records with errors are left out: a first pass over each makes its checks",
};

void hdst__mode_set(hdst__stage_mode *mode, hdst__mode_change change, const char *why)
{
    mode->is[change] = true;
    snprintf(mode->why[change], sizeof mode->why[change], "%.*s", LONGEST_WHY, why);
}

void hdst__mode_explain(const hdst__stage_mode *mode, hdst__mode_change change, hdst__buffer *out)
{
    if (mode->is[change]) hdst__buffer_printf(out, "  %s (%s)\n", done[change], mode->why[change]);
}
