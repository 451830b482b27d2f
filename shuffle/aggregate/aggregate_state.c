// SPDX-License-Identifier: Apache-2.0
// Results by key that are kept unfinished, and what partials are made of (shuffle/aggregate/aggregate_state.h).
#include "shuffle/aggregate/aggregate_state.h"

#include "record/key_hash.h"

#include <string.h>

enum { LEAST_EXACT = 16 };

void hdst__aggregate_keep_state(hdst__aggregate *aggregate)
{
    hdst__engine_lock(aggregate->engine);
    aggregate->keeps_state = !aggregate->layout->rows;
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

static const uint64_t *state_of(const hdst__aggregate *aggregate, uint64_t i)
{
    return (const uint64_t *)(const void *)aggregate->rows + i * (aggregate->layout->row_words + 1);
}

static const int64_t *exact_of(const hdst__aggregate *aggregate, const uint64_t *state)
{
    const uint64_t number = state[aggregate->layout->row_words];
    return number ? aggregate->exact + (number - 1) * aggregate->layout->superaccumulator_words : NULL;
}

hdst_status hdst__aggregate_finish_state(hdst__aggregate *aggregate, const void **rows, hdst_error *error)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    const uint64_t size = layout->record->size;
    hdst__free(hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), aggregate->finished);
    aggregate->finished = hdst__alloc(hdst__engine_owned(aggregate->engine, HDST__OWNER_BY_KEY), aggregate->row_count ? aggregate->row_count * size : 1);
    *rows = aggregate->finished;
    if (!aggregate->finished) return hdst__error_memory(error, "the result of a reduce by key");
    for (uint64_t i = 0; i < aggregate->row_count; i++) {
        const uint64_t *state = state_of(aggregate, i);
        hdst__row_write(layout, state, exact_of(aggregate, state), aggregate->finished + i * size);
    }
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

static bool add_row(const hdst__aggregate *aggregate, uint64_t i, hdst__keyed_partial *to)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    const uint64_t *state = state_of(aggregate, i), *cells = state + 1 + layout->key_words;
    const int64_t *exact = exact_of(aggregate, state);
    if (layout->key_words) memcpy(to->keys + i * to->key_words, state + 1, layout->key_words * sizeof *state);
    else to->keys[i] = hdst__key_unmix32((uint32_t)state[0]);
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const int64_t *rest = exact && column->cell.digits ? exact + column->superaccumulator_word : NULL;
        if (!hdst__partial_add_element(to->state, column->number, i, column->element, (const int64_t *)cells + column->word, column->words, column->s, rest))
            return false;
    }
    return true;
}

hdst__keyed_partial *hdst__aggregate_partial(const hdst__aggregate *aggregate, const hdst__allocator *allocator)
{
    const hdst__aggregation_layout *layout = aggregate->layout;
    hdst__cell *cells = hdst__alloc(allocator, layout->value_count * sizeof *cells + 1);
    if (!cells) return NULL;
    hdst__keyed_partial *partial = hdst__keyed_partial_create(allocator, layout->key_bytes, cells, list_cells(layout, cells), aggregate->row_count);
    hdst__free(allocator, cells);
    bool added = partial;
    for (uint64_t i = 0; added && i < aggregate->row_count; i++) added = add_row(aggregate, i, partial);
    if (added) return partial;
    hdst__keyed_partial_destroy(partial);
    return NULL;
}
