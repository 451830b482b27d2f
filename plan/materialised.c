// SPDX-License-Identifier: Apache-2.0
// Cached datasets. Below a cache stands a plan of its own, so that what is cached is computed once for all results that read it.
#include "plan/materialised.h"

struct hdst__kept {
    hdst_dataset *dataset;
    hdst__arena arena;
    hdst__plan plan;
    bool filled;
    hdst__dataset_cache *resident;      // the target stage's, or made for its reader
    hdst__dataset_cache *made;
};

static hdst_status make_plan(hdst__kept *kept, hdst_error *error)
{
    jmp_buf out_of_memory;
    kept->arena.out_of_memory = &out_of_memory;
    hdst__arena_compiles(&kept->arena, &kept->dataset->object.context->cancel);
    hdst_status status = setjmp(out_of_memory) ? hdst__arena_error(&kept->arena, "a plan", error)
        : hdst__plan_make(&kept->arena, kept->dataset->parent, &kept->plan, error);
    kept->arena.out_of_memory = NULL;
    hdst__arena_compiled(&kept->arena);
    if (status == HDST_OK) kept->plan.target->keeps = true;
    return status;
}

hdst_status hdst__kept_make(hdst_dataset *cache, hdst_error *error)
{
    if (cache->kept) return HDST_OK;
    hdst__kept *kept = hdst__alloc_zero(HDST__ALLOCATOR(cache), sizeof *kept);
    if (!kept) return hdst__error_memory(error, "a cached dataset");
    kept->dataset = cache;
    hdst__arena_init(&kept->arena, HDST__ALLOCATOR(cache), NULL);
    hdst_status status = make_plan(kept, error);
    if (status == HDST_OK) cache->kept = kept;
    else hdst__kept_destroy(kept);
    return status;
}

static hdst_status fill(hdst__kept *kept, hdst__run_stats *stats, hdst_error *error)
{
    hdst_status status = hdst__plan_run(&kept->plan, error);
    hdst__plan_add_stats(stats, &kept->plan.stats);
    if (status != HDST_OK) return status;
    kept->resident = kept->plan.target->resident;
    hdst__runtime *runtime = hdst__engine_runtime(kept->dataset->object.context->engine);
    if (!kept->resident) kept->resident = kept->made = hdst__dataset_cache_create(runtime, &kept->plan.target->reader);
    return kept->resident ? HDST_OK : hdst__error_memory(error, "a cached dataset");
}

hdst_status hdst__kept_fill(hdst_dataset *cache, hdst__reader *reader, hdst__dataset_cache **resident, hdst__run_stats *stats, hdst_error *error)
{
    hdst__kept *kept = cache->kept;
    hdst_status status = kept->filled ? HDST_OK : fill(kept, stats, error);
    kept->filled = status == HDST_OK;
    if (!kept->filled) {
        hdst__kept_release(kept);       // what those of its stages hold that came to their end
        return status;
    }
    *reader = kept->made ? hdst__dataset_cache_reader(kept->made) : kept->plan.target->reader;
    *resident = kept->resident;
    return HDST_OK;
}

hdst__plan *hdst__kept_plan(hdst__kept *kept) { return &kept->plan; }
bool hdst__kept_is_filled(const hdst__kept *kept) { return kept->filled; }

void hdst__kept_release(hdst__kept *kept)
{
    if (kept->made) hdst__dataset_cache_destroy(kept->made);
    kept->resident = kept->made = NULL;
    kept->filled = false;
    hdst__plan_release(&kept->plan);
}

void hdst__kept_destroy(hdst__kept *kept)
{
    hdst__kept_release(kept);
    hdst__arena_destroy(&kept->arena);
    hdst__free(HDST__ALLOCATOR(kept->dataset), kept);
}
