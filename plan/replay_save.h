// SPDX-License-Identifier: Apache-2.0
// Saves records that end a run, for `hdst replay`.
#ifndef HDST_PLAN_REPLAY_SAVE_H
#define HDST_PLAN_REPLAY_SAVE_H

#include "plan/stage_node.h"
#include "io/replay_file.h"

// After a run of `node`, a stage, that ended with HDST_E_RECORD (of a fold: `pair`, which it could not combine; NULL: it is none): saves the record
// and all that its function needs below the context's folder for that (hdst_context_options, replay_dir) as FUNCTION.replay, and adds to the error's
// hint how to look at it. What cannot be saved is left out; the log says why. The context's lock is held.
void hdst__replay_save(const hdst__node *node, const hdst__stage_node *stage, const void *pair, hdst_error *error);
// replay_group.c: the same of a function over the records of a key, `count` of them from `rows` on: all that the failing call had.
void hdst__replay_save_group(const hdst__node *node, const char *rows, uint64_t count, hdst_error *error);

// --- For both ---

const char *hdst__replay_folder(hdst__arena *arena, const hdst_context *context);       // NULL: records are saved nowhere
void hdst__replay_add_module(hdst__arena *arena, const hdst_module *module, hdst__replay *replay);
// Writes the file and tells of it in the hint of `why`.
hdst_status hdst__replay_store(hdst__arena *arena, const char *folder, hdst__replay *replay, hdst_error *why, hdst_error *error);

#endif
