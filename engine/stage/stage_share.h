// SPDX-License-Identifier: Apache-2.0
// What the files about shared stages (stage_share.c, stage_spread.c, stage_parts.c, stage_team.c, stage_merge.c,
// stage_scatter.c) have in common.
#ifndef HDST_ENGINE_STAGE_STAGE_SHARE_H
#define HDST_ENGINE_STAGE_STAGE_SHARE_H

#include "engine/device/device_list.h"
#include "engine/stage/stage.h"

// stage_workers.c: whether the program named each device by its index; whether worker `number` is to take part; has the worker's thread call work(other),
// and waits until it has.
bool hdst__stage_names_each(const hdst__stage *stage);
bool hdst__stage_wants(const hdst__stage *stage, uint32_t number);
void hdst__stage_worker_start(hdst__stage_worker *other, void (*work)(void *user));
void hdst__stage_worker_wait(hdst__stage_worker *other);

// stage_share.c: it takes no part from now on.
void hdst__stage_drop_other(hdst__stage_worker *other);

// stage_spread.c: the part of the cached input that lies with a worker; NULL: all share it. The second: only where it is resident.
hdst__dataset_cache *hdst__stage_part(const hdst__stage *stage, uint32_t number);
hdst__dataset_cache *hdst__stage_resident_part(const hdst__stage *stage, uint32_t number);
// Records of the run of the input that a worker has; UINT64_MAX: all share it.
uint64_t hdst__stage_part_records(const hdst__stage *stage, uint32_t number);
// Records of each worker so that all end together, as they were measured; false: they do nearly so as it is, or too little is known.
bool hdst__stage_cut_anew(const hdst__stage *stage, uint64_t *counts);

// stage_merge.c: before a run, whether the first worker will make rows of what all have accumulated, on its device; after the run of all, their accumulators
// become one, in stage->merged or, where they were to and could, in rows on that device (else stage->finishes is false from then on). `begins`: nothing
// was merged before in this run; `ends`: it is all there is, so no other round comes.
bool hdst__stage_may_merge_there(const hdst__stage *stage);
hdst_status hdst__stage_merge_tables(hdst__stage *stage, uint32_t others, bool begins, bool ends, hdst_error *error);
void hdst__stage_merge_release(hdst__stage *stage);

// stage_scatter.c, for a stage that hdst__stage_may_merge_there: whether each worker is to make a part of the rows; before a run, memory for that on their
// devices; once all have run, whether those who were to are there still, and do so; the rows go to `rows`, which has room for all.
bool hdst__stage_may_scatter(const hdst__stage *stage);
hdst_status hdst__stage_scatter_begin(hdst__stage *stage, hdst_error *error);
bool hdst__stage_can_scatter(const hdst__stage *stage);
bool hdst__stage_scatters_narrow(const hdst__stage *stage);         // in the last run 32 bits of each word did
hdst_status hdst__stage_scatter(hdst__stage *stage, hdst_error *error);
hdst_status hdst__stage_read_scattered(hdst__stage *stage, void *rows, hdst_error *error);
void hdst__stage_scatter_release(hdst__stage *stage);

// stage_parts.c, where stage->keeps_parts: the store of what a worker makes (else NULL); before a run of its plan; after the run of all.
hdst__store *hdst__stage_kept_store(const hdst__stage *stage, uint32_t number);
hdst_status hdst__stage_begin_part(hdst__store *store, const hdst__launch_plan *plan, hdst_error *error);
void hdst__stage_join_parts(hdst__stage *stage);

#endif
