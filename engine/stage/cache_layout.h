// SPDX-License-Identifier: Apache-2.0
// Where a cached input lies that several workers are to share (engine/memory/spread_cache.c): a run of its records with each. With the engine's mutex held.
#ifndef HDST_ENGINE_STAGE_CACHE_LAYOUT_H
#define HDST_ENGINE_STAGE_CACHE_LAYOUT_H

#include "engine/engine.h"
#include "engine/memory/cached_dataset.h"

// Records of each worker as it is likely to do beside others, before anything was measured; cut at multiples of 64, so that the first has some.
void hdst__cache_cut_by_weight(const hdst__engine *engine, uint64_t records, uint64_t *counts);
// One count for each worker. What does not fit where it was to lie has all of it streamed. HDST_E_DEVICE, HDST_E_MEMORY.
hdst_status hdst__cache_lay_out(hdst__engine *engine, hdst__dataset_cache *cache, const uint64_t *counts, hdst_error *error);
// stage_workers.c: whether a worker takes part in what runs are shared.
bool hdst__worker_is_wanted(const hdst__engine *engine, uint32_t number);

#endif
