// SPDX-License-Identifier: Apache-2.0
// The plans of a loop: one for what it begins with, one for each dataset of its body (plan/loop_turns.h).
#include "plan/loop_turns.h"

#include <string.h>

// --- What a plan gives ---

enum { MOST_NAMES = 64 };           // that a message suggests from

typedef struct names {
    const char *name[MOST_NAMES];
    size_t count;
    bool has_two;                   // of the one that was looked for
} names;

// NULL: the plan has none of that name, and those that it has are noted; or, with the error filled, two.
static hdst__plan_table *find_in_plan(const hdst__plan *plan, const char *name, names *known, hdst_error *error)
{
    hdst__plan_table *found = NULL;
    for (size_t n = 0; n < plan->node_count; n++) {
        for (size_t t = 0; t < plan->nodes[n]->table_count; t++) {
            hdst__plan_table *table = &plan->nodes[n]->tables[t];
            if (known->count < MOST_NAMES) known->name[known->count++] = table->name;
            if (!hdst__is_called(table->function, table->name, name)) continue;
            if (found) {
                known->has_two = true;
                hdst__tell_two_tables(found->function, table->function, name, error);
                return NULL;
            }
            found = table;
        }
    }
    return found;
}

// *part: the one that has it, at first where to begin. NULL with the error filled: none from there to `end` has it, or one has two.
static hdst__plan_table *find_table(const hdst__loop *loop, size_t *part, size_t end, const char *name, hdst_error *error)
{
    names known = {.count = 0};
    for (; *part < end; ++*part) {
        hdst__plan_table *table = find_in_plan(&loop->parts[*part].plan, name, &known, error);
        if (table || known.has_two) return table;
    }
    hdst__error_set(error, HDST_E_USAGE, "the body of the loop has no accumulator '%s'", name);
    hdst__error_suggest(error, "its accumulators are", name, known.name, known.count);
    return NULL;
}

static hdst_status find_decision(hdst__loop *loop, hdst_error *error)
{
    if (!loop->until) return HDST_OK;
    loop->decides_part = 0;
    loop->decides = find_table(loop, &loop->decides_part, loop->part_count, loop->until, error);
    if (!loop->decides) return error->code;
    const hdst__record *record = loop->decides->record;
    if (record->leaf_count != 1 || record->elements != 1)
        return hdst__error_set(error, HDST_E_USAGE, "'%s' cannot end a loop: it is a record, not one number", loop->until);
    return HDST_OK;
}

static hdst_status find_source(const hdst__loop *loop, hdst__loop_step *step, hdst_error *error)
{
    size_t part = step->part;
    if (!step->table) {
        loop->parts[part].plan.target->keeps = true;
        return HDST_OK;
    }
    step->from = find_table(loop, &part, part + 1, step->table, error);
    return step->from ? HDST_OK : error->code;
}

static hdst_status find_step(const hdst__loop *loop, hdst__loop_step *step, hdst_error *error)
{
    hdst__loop_part *part = &loop->parts[step->part];
    hdst_status status = find_source(loop, step, error);
    if (status != HDST_OK) return status;
    const hdst__record *record = step->from ? step->from->record : part->dataset->record;
    if (step->is_changes) return hdst__row_changes_make(&part->arena, record, step->value->record, &step->changes, error);
    if (hdst__value_can_take(step->value->record, record)) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "accumulator '%s' of the loop's body has rows of '%s', and its value rows of '%s'", step->table, record->name,
                           step->value->record->name);
}

// --- Plans ---

static void end_part(hdst__loop_part *part)
{
    if (part->planned) {
        hdst__plan_release(&part->plan);
        hdst__arena_destroy(&part->arena);
    }
    part->plan = (hdst__plan){0};
    part->planned = false;
}

static hdst_status plan_part(hdst__loop_part *part, hdst_error *error)
{
    hdst__arena_init(&part->arena, HDST__ALLOCATOR(part->dataset), NULL);
    part->planned = true;
    const hdst_status status = hdst__plan_make(&part->arena, part->dataset, &part->plan, error);
    if (status != HDST_OK) end_part(part);
    return status;
}

// Nobody reads an accumulator of a body but its steps and who asks what decides. So rows of all of them stay where they are made, and turns that differ in
// nothing but those can be enqueued ahead (loop_chain.c).
static void keep_tables(const hdst__plan *plan)
{
    for (size_t n = 0; n < plan->node_count; n++)
        for (size_t t = 0; t < plan->nodes[n]->table_count; t++) plan->nodes[n]->tables[t].keeps = true;
}

// In a delta loop records are the few of the work set, and what functions make of them: they stay where the state is.
static void keep_many(const hdst__plan *plan)
{
    for (size_t n = 0; n < plan->node_count; n++) plan->nodes[n]->keeps_many = true;
}

// What steps take out of the plans, and what decides.
static hdst_status find_all(hdst__loop *loop, hdst_error *error)
{
    hdst_status status = HDST_OK;
    loop->start.plan.target->keeps = true;
    if (loop->work) loop->first.plan.target->keeps = true;
    for (size_t i = 0; i < loop->part_count; i++) {
        keep_tables(&loop->parts[i].plan);
        if (loop->work) keep_many(&loop->parts[i].plan);
    }
    for (size_t i = 0; i < loop->step_count && status == HDST_OK; i++) status = find_step(loop, &loop->steps[i], error);
    return status == HDST_OK ? find_decision(loop, error) : status;
}

hdst_status hdst__loop_plan(hdst__loop *loop, hdst_error *error)
{
    if (loop->planned) return HDST_OK;
    hdst_status status = plan_part(&loop->start, error);
    if (status == HDST_OK && loop->work) status = plan_part(&loop->first, error);
    for (size_t i = 0; i < loop->part_count && status == HDST_OK; i++) status = plan_part(&loop->parts[i], error);
    if (status == HDST_OK) status = find_all(loop, error);
    loop->planned = status == HDST_OK;
    if (!loop->planned) hdst__loop_end_plans(loop);
    return status;
}

static void release_changes(hdst__loop *loop)
{
    for (size_t i = 0; i < loop->step_count; i++) hdst__row_changes_release(&loop->steps[i].changes);
}

void hdst__loop_end_plans(hdst__loop *loop)
{
    release_changes(loop);
    end_part(&loop->start);
    end_part(&loop->first);
    for (size_t i = 0; i < loop->part_count; i++) end_part(&loop->parts[i]);
    loop->planned = false;
}

void hdst__loop_release(hdst__loop *loop)
{
    if (!loop->planned) return;
    release_changes(loop);
    hdst__plan_release(&loop->start.plan);
    if (loop->work) hdst__plan_release(&loop->first.plan);
    for (size_t i = 0; i < loop->part_count; i++) hdst__plan_release(&loop->parts[i].plan);
}

// --- Running ---

// Where memory is short: what the other parts gave is a value's by now, or is made anew when their turn comes.
static void drop_others(hdst__loop *loop, const hdst__loop_part *part)
{
    if (part != &loop->start) hdst__plan_drop_idle(&loop->start.plan);
    if (loop->work && part != &loop->first) hdst__plan_drop_idle(&loop->first.plan);
    for (size_t i = 0; i < loop->part_count; i++)
        if (part != &loop->parts[i]) hdst__plan_drop_idle(&loop->parts[i].plan);
}

hdst_status hdst__loop_run_part(hdst__loop *loop, hdst__loop_part *part, hdst__run_stats *stats, hdst_error *error)
{
    drop_others(loop, part);
    hdst_status status = hdst__plan_run(&part->plan, error);
    if (status == HDST_E_MEMORY && hdst__plan_runs_otherwise(&part->plan, status)) {
        *error = (hdst_error)HDST_ERROR_INIT;
        end_part(part);
        status = plan_part(part, error);
        if (status == HDST_OK) status = find_all(loop, error);
        if (status != HDST_OK) hdst__loop_end_plans(loop);
        if (status == HDST_OK) status = hdst__plan_run(&part->plan, error);
    }
    hdst__plan_add_stats(stats, &part->plan.stats);
    return status;
}
