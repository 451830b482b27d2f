// SPDX-License-Identifier: Apache-2.0
// Cached datasets: below a cache stands a plan of its own, so that what is cached is computed once for all results that read it.
#include "plan/op_cache.h"
#include "plan/op_reduce_arranged.h"

typedef hdst__cache_own cache_own;

static cache_own *own_of(const hdst__node *node) { return node->dataset->own; }

// --- What it holds ---

// Gives the memory back; the next run fills it again.
static void forget(const hdst_dataset *dataset, cache_own *own)
{
    hdst__key_starts_forget(&own->starts, hdst__engine_runtime(dataset->object.context->engine));
    hdst__arranged_keys_forget(&own->keys, hdst__engine_runtime(dataset->object.context->engine));
    hdst__key_stretches_end(&own->stretches, dataset->object.context->engine);
    if (own->made) hdst__dataset_cache_destroy(own->made);
    own->resident = own->made = NULL;
    own->filled = false;
    hdst__plan_release(&own->plan);
}

// Who reads it still wants to know which keys there are and where they begin.
static void end_plan(const hdst_dataset *dataset, cache_own *own)
{
    forget(dataset, own);
    hdst__arena_destroy(&own->arena);
    *own = (cache_own){.fills = own->fills, .starts = own->starts, .keys = own->keys};
}

static hdst_status make_plan(const hdst_dataset *dataset, cache_own *own, hdst_error *error)
{
    hdst__arena_init(&own->arena, HDST__ALLOCATOR(dataset), NULL);
    own->plan.may_run_again = true;
    const hdst_status status = hdst__plan_make(&own->arena, dataset->parent, &own->plan, error);
    own->planned = status == HDST_OK;
    if (own->planned) own->plan.target->keeps = true;
    else end_plan(dataset, own);
    return status;
}

static hdst_status fill(const hdst_dataset *dataset, cache_own *own, hdst__run_stats *stats, hdst_error *error)
{
    hdst_status status = hdst__plan_run(&own->plan, error);
    while (status != HDST_OK && hdst__plan_runs_otherwise(&own->plan, status)) {
        end_plan(dataset, own);
        *error = (hdst_error)HDST_ERROR_INIT;
        status = make_plan(dataset, own, error);
        if (status == HDST_OK) status = hdst__plan_run(&own->plan, error);
        if (!own->planned) return status;
    }
    hdst__plan_add_stats(stats, &own->plan.stats);
    if (status != HDST_OK) return status;
    own->resident = own->plan.target->resident;
    hdst__runtime *runtime = hdst__engine_runtime(dataset->object.context->engine);
    if (!own->resident) own->resident = own->made = hdst__dataset_cache_create(runtime, &own->plan.target->reader);
    return own->resident ? HDST_OK : hdst__error_memory(error, "a cached dataset");
}

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "cache (%s", own_of(node)->filled ? "filled" : "filled by the next run");
    hdst__cache_line_starts(own_of(node), out);
    hdst__buffer_puts(out, ")");
}

void hdst__cache_line_starts(const cache_own *own, hdst__buffer *out)
{
    if (own->starts.made && own->starts.found) hdst__buffer_printf(out, "; where its keys begin: %s", own->starts.found);
}

hdst_status hdst__cache_build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)arena;
    cache_own *own = own_of(node);
    return own->planned ? HDST_OK : make_plan(node->dataset, own, error);
}

static hdst__reader reader_of(const cache_own *own) { return own->made ? hdst__dataset_cache_reader(own->made) : own->plan.target->reader; }

static hdst_status find_starts(const hdst_dataset *dataset, cache_own *own, hdst_error *error)
{
    const hdst__reader reader = reader_of(own);
    hdst__runtime *runtime = hdst__engine_runtime(dataset->object.context->engine);
    return hdst__key_starts_make(&own->starts, runtime, &reader, own->resident, dataset->arranged - 1, &own->keys, error);
}

// Who had no memory for them goes another way; the records stay.
static hdst_status find_keys(const hdst__plan *plan, const hdst_dataset *dataset, cache_own *own, hdst_error *error)
{
    if (!hdst__plan_wants_keys(plan, &own->keys)) return HDST_OK;
    const hdst__reader reader = reader_of(own);
    const hdst__plan_rows *starts = hdst__key_starts_of_all(&own->starts);
    return hdst__arranged_keys_make(&own->keys, hdst__engine_runtime(dataset->object.context->engine), &reader, dataset->arranged - 1, starts, error);
}

const hdst__plan_rows *hdst__cache_key_starts(const hdst_dataset *dataset, uint64_t keys)
{
    cache_own *own = dataset->own;
    if (!dataset->arranged) return NULL;
    if (keys > own->starts.limit) own->starts.limit = keys;
    return &own->starts.rows;
}

// A stage finds the records at `resident` after its first scan of them.
hdst_status hdst__cache_run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    cache_own *own = own_of(node);
    const bool was_filled = own->filled;
    hdst_status status = was_filled ? HDST_OK : fill(node->dataset, own, &plan->stats, error), known = status;
    if (status == HDST_OK) known = find_keys(plan, node->dataset, own, error);
    if (known == HDST_OK) status = find_starts(node->dataset, own, error);
    own->filled = status == HDST_OK;
    own->fills += !was_filled;
    if (!own->filled) {
        forget(node->dataset, own);        // what those of its stages hold that came to their end
        return status;
    }
    node->reader = reader_of(own);
    node->resident = own->resident;
    return known;
}

uint64_t hdst__cache_version(const hdst__node *node) { return own_of(node)->filled ? own_of(node)->fills : 0; }
hdst__plan *hdst__cache_below(const hdst__node *node) { return &own_of(node)->plan; }
bool hdst__cache_known(const hdst__node *node) { return own_of(node)->filled || hdst__plan_is_known(hdst__cache_below(node)); }

void hdst__cache_end(hdst_dataset *dataset)
{
    cache_own *own = dataset->own;
    if (own->planned) end_plan(dataset, own);
}

const hdst__operator hdst__op_cache = {
    .name = "hdst_cache", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(cache_own), .line = line, .build = hdst__cache_build,
    .run = hdst__cache_run, .known = hdst__cache_known, .below = hdst__cache_below, .key_starts = hdst__cache_key_starts,
    .version = hdst__cache_version,
    .end = hdst__cache_end,
};

// --- The dataset ---

enum { MOST_NESTED = 200 };     // caches below one another: a run goes into them one inside the other

hdst_status hdst__cache_nest(hdst_dataset *dataset, hdst_error *error)
{
    if (++dataset->nested <= MOST_NESTED) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "more than %d caches below one another", MOST_NESTED);
    hdst__error_hint(error, "collect the records of a long loop and read them again");
    return HDST_E_USAGE;
}

hdst_dataset *hdst_cache(hdst_dataset *from)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_cache, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        dataset->arranged = from->arranged;
        if (hdst__cache_nest(dataset, &error) == HDST_OK) hdst__dataset_has_records(from, "hdst_cache", &error);
        if (error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
    }
    hdst__unlock(from->object.context);
    return dataset;
}

void hdst_uncache(hdst_dataset *dataset)
{
    if (!dataset || !dataset->object.context) return;
    hdst__lock(dataset->object.context);
    if (dataset->op->run == hdst__cache_run) forget(dataset, dataset->own);
    hdst__unlock(dataset->object.context);
}
