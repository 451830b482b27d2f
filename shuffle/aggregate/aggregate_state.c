// SPDX-License-Identifier: Apache-2.0
// Results by key that are kept unfinished, and what partials are made of (shuffle/aggregate/aggregate_state.h).
#include "shuffle/aggregate/aggregate_state.h"

#include "record/key_hash.h"
#include "shuffle/aggregate/aggregate_result.h"

#include <string.h>

enum { LEAST_EXACT = 16, FINISHED_AT_ONCE = 8192 };     // rows

void hdst__aggregate_keep_state(hdst__aggregate *aggregate)
{
    hdst__engine_lock(aggregate->engine);
    aggregate->keeps_state = !aggregate->layout->rows;
    if (aggregate->keeps_state) hdst__aggregate_device_keep_states(aggregate->on_device);
    hdst__engine_unlock(aggregate->engine);
}

// --- Writing, in a run ---

// The number of a copy. 0: no room.
static uint64_t keep_exact(hdst__aggregate *aggregate, const int64_t *superaccumulators)
{
    const uint64_t words = aggregate->layout->superaccumulator_words;
    if (aggregate->exact_count == aggregate->exact_room) {
        const uint64_t room = aggregate->exact_room * 2 + LEAST_EXACT;
        int64_t *grown = hdst__realloc(hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), aggregate->exact, room * words * sizeof *grown);
        if (!grown) return 0;
        aggregate->exact = grown;
        aggregate->exact_room = room;
    }
    memcpy(aggregate->exact + aggregate->exact_count * words, superaccumulators, words * sizeof *superaccumulators);
    return ++aggregate->exact_count;
}

bool hdst__aggregate_write_state(hdst__aggregate_worker *worker, const uint64_t *rows, uint64_t count, uint64_t *to)
{
    hdst__aggregation *run = worker->run;
    const uint32_t words = run->layout->row_words;
    const bool none = hdst__overflow_rows_is_empty(&worker->overflow);
    bool kept = true;
    for (uint64_t i = 0; i < count && kept; i++, rows += words, to += words + 1) {
        const int64_t *exact = none ? NULL : hdst__overflow_rows_find(&worker->overflow, (uint32_t)rows[0], rows + 1);
        memcpy(to, rows, words * sizeof *to);
        to[words] = 0;
        if (!exact) continue;
        pthread_mutex_lock(&run->lock);
        to[words] = keep_exact(run->aggregate, exact);
        pthread_mutex_unlock(&run->lock);
        kept = to[words];
    }
    if (!kept) hdst__error_memory(&worker->error, "unfinished sums by key");
    return kept;
}

// --- After a run ---

void hdst__aggregate_forget_state(hdst__aggregate *aggregate)
{
    const hdst__allocator *allocator = hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY);
    hdst__free(allocator, aggregate->exact);
    hdst__free(allocator, aggregate->finished);
    aggregate->exact = NULL;
    aggregate->finished = NULL;
    aggregate->exact_count = aggregate->exact_room = 0;
}

const uint64_t *hdst__aggregate_state_of(const hdst__aggregate *aggregate, uint64_t i)
{
    return (const uint64_t *)(const void *)aggregate->rows + i * (aggregate->layout->row_words + 1);
}

const int64_t *hdst__aggregate_exact_of(const hdst__aggregate *aggregate, const uint64_t *state)
{
    const uint64_t number = state[aggregate->layout->row_words];
    return number ? aggregate->exact + (number - 1) * aggregate->layout->superaccumulator_words : NULL;
}

hdst_status hdst__aggregate_read_state(hdst__aggregate *aggregate, hdst_error *error)
{
    uint64_t *states;
    hdst__aggregate_forget_rows(aggregate);
    const hdst_status status = hdst__aggregate_device_read_states(aggregate->on_device, &states, &aggregate->row_count, &aggregate->exact,
                                                                  &aggregate->exact_count, error);
    aggregate->rows = (char *)states;
    aggregate->device_did = status == HDST_OK;
    return status == HDST_E_MEMORY ? HDST_OK : status;
}

static void finish_some(void *user, uint64_t piece)
{
    const hdst__aggregate *aggregate = user;
    const uint64_t size = aggregate->layout->record->size, first = piece * FINISHED_AT_ONCE, left = aggregate->row_count - first;
    for (uint64_t i = first; i < first + (left < FINISHED_AT_ONCE ? left : FINISHED_AT_ONCE); i++) {
        const uint64_t *state = hdst__aggregate_state_of(aggregate, i);
        hdst__row_write(aggregate->layout, state, hdst__aggregate_exact_of(aggregate, state), aggregate->finished + i * size);
    }
}

hdst_status hdst__aggregate_finish_state(hdst__aggregate *aggregate, const void **rows, hdst_error *error)
{
    const uint64_t size = aggregate->layout->record->size, pieces = (aggregate->row_count + FINISHED_AT_ONCE - 1) / FINISHED_AT_ONCE;
    hdst__free(hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), aggregate->finished);
    aggregate->finished = hdst__alloc(hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), aggregate->row_count ? aggregate->row_count * size : 1);
    *rows = aggregate->finished;
    if (!aggregate->finished) return hdst__error_memory(error, "the result of a reduce by key");
    hdst__thread_pool_run(hdst__engine_threads(aggregate->engine), pieces, finish_some, aggregate);
    return HDST_OK;
}

// --- As a partial ---

// A cell for each leaf that is reduced; their number.
static size_t list_cells(const hdst__aggregation_layout *layout, hdst__cell *cells)
{
    size_t count = 0;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        if (column->element) continue;
        cells[count] = column->cell;
        cells[count++].elements = layout->record->leaves[column->leaf].elements;
    }
    return count;
}

hdst__partial *hdst__aggregate_empty_partial(const hdst__aggregate *aggregate, const hdst__allocator *allocator, uint64_t rows)
{
    hdst__cell *cells = hdst__alloc(allocator, aggregate->layout->value_count * sizeof *cells + 1);
    if (!cells) return NULL;
    const hdst__accum accum = {.is_table = true, .cell = cells, .leaf_count = list_cells(aggregate->layout, cells)};
    hdst__partial *partial = hdst__partial_create(allocator, &(hdst__tables){.accum = &accum, .accum_count = 1}, &rows);
    hdst__free(allocator, cells);
    return partial;
}

bool hdst__aggregate_add_state(const hdst__aggregate *aggregate, const uint64_t *state, hdst__partial *to, uint64_t row)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    const uint64_t *cells = state + 1 + layout->key_words;
    const int64_t *exact = hdst__aggregate_exact_of(aggregate, state);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const int64_t *rest = exact && column->cell.digits ? exact + column->superaccumulator_word : NULL;
        if (!hdst__partial_add_element(to, column->number, row, column->element, (const int64_t *)cells + column->word, column->words, column->s, rest))
            return false;
    }
    return true;
}

static bool add_row(const hdst__aggregate *aggregate, uint64_t i, hdst__keyed_partial *to)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    const uint64_t *state = hdst__aggregate_state_of(aggregate, i);
    if (layout->key_words) memcpy(to->keys + i * to->key_words, state + 1, layout->key_words * sizeof *state);
    else to->keys[i] = hdst__key_unmix32((uint32_t)state[0]);
    return hdst__aggregate_add_state(aggregate, state, to->state, i);
}

static hdst__keyed_partial *partial_of(const hdst__aggregate *aggregate, const hdst__allocator *allocator)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    hdst__partial *state = hdst__aggregate_empty_partial(aggregate, allocator, aggregate->row_count);
    hdst__keyed_partial *partial = state ? hdst__keyed_partial_of(state, layout->key_bytes, layout->texts, aggregate->row_count) : NULL;
    bool added = partial;
    if (!partial) hdst__partial_destroy(state);
    for (uint64_t i = 0; added && i < aggregate->row_count; i++) added = add_row(aggregate, i, partial);
    if (added) return partial;
    hdst__keyed_partial_destroy(partial);
    return NULL;
}

// What the parts of a spread input came to, part by part.
static hdst__keyed_partial *partial_of_parts(const hdst__aggregate *aggregate, const hdst__allocator *allocator)
{
    const hdst__aggregate_spread *spread = &aggregate->spread;
    hdst__keyed_partial *all = NULL;
    for (uint32_t i = 0; i < spread->parts; i++) {
        hdst__keyed_partial *one = spread->part[i] ? partial_of(spread->part[i], allocator) : NULL;
        const bool merged = one && (!all || hdst__keyed_partial_merge(all, one, NULL) == HDST_OK);
        if (!all) all = one;
        else hdst__keyed_partial_destroy(one);
        if (merged || !spread->part[i]) continue;
        hdst__keyed_partial_destroy(all);
        return NULL;
    }
    return all;
}

hdst__keyed_partial *hdst__aggregate_partial(const hdst__aggregate *aggregate, const hdst__allocator *allocator)
{
    return aggregate->spread_did ? partial_of_parts(aggregate, allocator) : partial_of(aggregate, allocator);
}
