// SPDX-License-Identifier: Apache-2.0
#ifndef HDST_REPLAY_SAVE_H
#define HDST_REPLAY_SAVE_H

#include "hdst/plan.h"

// After a run of the stage `node` that ended with HDST_E_RECORD: saves the record and all that its function needs below the context's folder for that (hdst_context_options,
// replay_dir) as FUNCTION.replay, and adds to the error's hint how to look at it. What cannot be saved is left out; the log says why. The context's lock is held.
void hdst__replay_save(const hdst__node *node, hdst_error *error);

#endif
