// SPDX-License-Identifier: Apache-2.0
// Cached datasets: what a plan of their own computed once (materialised.h), for all results that read it.
#include "plan/materialised.h"

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    hdst__buffer_printf(out, "cache (%s)", hdst__kept_is_filled(node->dataset->kept) ? "filled" : "filled by the next run");
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)arena;
    return hdst__kept_make(node->dataset, error);
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    return hdst__kept_fill(node->dataset, &node->reader, &node->resident, &plan->stats, error);
}

static hdst__plan *below(const hdst__node *node) { return hdst__kept_plan(node->dataset->kept); }
static bool known(const hdst__node *node) { return hdst__kept_is_filled(node->dataset->kept) || hdst__plan_is_known(below(node)); }

static void end(hdst_dataset *dataset)
{
    if (dataset->kept) hdst__kept_destroy(dataset->kept);
}

const hdst__operator hdst__op_cache = {.name = "hdst_cache", .gives = HDST__GIVES_EACH, .line = line, .build = build, .run = run,
                                       .known = known, .below = below, .end = end};

// --- The dataset ---

enum { MOST_NESTED = 200 };     // caches below one another: a run goes into them one inside the other

hdst_dataset *hdst_cache(hdst_dataset *from)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_cache, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error) {
        dataset->nested++;
        if (dataset->nested > MOST_NESTED) {
            hdst__error_set(&error, HDST_E_USAGE, "more than %d caches below one another", MOST_NESTED);
            hdst__error_hint(&error, "collect the records of a long loop and read them again");
        } else {
            hdst__dataset_has_records(from, "hdst_cache", &error);
        }
        if (error.code != HDST_OK) hdst__dataset_fail(dataset, &error);
    }
    hdst__unlock(from->object.context);
    return dataset;
}

void hdst_uncache(hdst_dataset *dataset)
{
    if (!dataset || !dataset->object.context) return;
    hdst__lock(dataset->object.context);
    if (dataset->kept) hdst__kept_release(dataset->kept);
    hdst__unlock(dataset->object.context);
}
