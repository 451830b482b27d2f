// SPDX-License-Identifier: Apache-2.0
// Rows of a bound source into a segment of any layout.
#include "io/bound.h"

#include "io/convert.h"

#include <stdio.h>
#include <string.h>

// Reports a number in the rows at `rows` that is no value of its field.
static hdst_status refuse_value(const hdst__bound_source *bound, const hdst__move *m, uint64_t element, const void *value, uint64_t row, hdst_error *error)
{
    const hdst__leaf *leaf = &bound->record->leaves[m->leaf];
    char text[64], place[32] = "";
    hdst__convert_text(m->from, value, text, sizeof text);
    if (leaf->elements > 1) snprintf(place, sizeof place, "[%llu]", (unsigned long long)(m->element + element));
    hdst__error_set(error, HDST_E_FORMAT, "record %llu: %s is no value of field '%s%s' (%s)", (unsigned long long)row, text, leaf->path, place,
                    hdst__scalar_yaml_name(leaf->kind));
    hdst__error_at(error, bound->source->name, 0, 0);
    hdst__error_hint(error, "the numbers are stored as %s: declare the field so in the schema, or change the data", hdst__scalar_yaml_name(m->from));
    return HDST_E_FORMAT;
}

hdst_status hdst__bound_move(const hdst__bound_source *bound, const hdst__move *m, uint64_t element, const char *from, uint64_t stride,
                             uint64_t first_row, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const hdst__leaf_address *address = &storage->leaf[m->leaf];
    // Stretches within which records are a constant stride apart: all of them, or the block's rest for AoSoA.
    for (uint64_t done = 0; done < count;) {
        uint64_t record = to_first + done, left = count - done, part = storage->block ? storage->block - record % storage->block : left;
        if (part > left) part = left;
        char *target = (char *)buffers[address->buffer] + hdst__storage_offset(storage, m->leaf, record, m->element + element);
        const char *values = from + done * stride;
        uint64_t moved = hdst__convert_strided(storage->record->leaves[m->leaf].kind, target, address->stride, m->from, values, stride, part);
        if (moved < part) return refuse_value(bound, m, element, values + moved * stride, first_row + done + moved, error);
        done += part;
    }
    return HDST_OK;
}

static hdst_status move_numbers(const hdst__bound_source *bound, const char *rows, uint64_t first_row, uint64_t count, const hdst__storage *storage,
                                void *const *buffers, uint64_t to_first, hdst_error *error)
{
    for (size_t i = 0; i < bound->move_count; i++) {
        for (uint64_t e = 0; e < bound->moves[i].count; e++) {
            const hdst__move *m = &bound->moves[i];
            hdst_status status = hdst__bound_move(bound, m, e, rows + m->offset + e * hdst__scalar_size(m->from), bound->row_bytes, first_row, count,
                                                  storage, buffers, to_first, error);
            if (status != HDST_OK) return status;
        }
    }
    return HDST_OK;
}

// Structs may hold any byte in a bool; a segment holds 0 or 1.
static void normalise_bools(const hdst__storage *storage, void *const *buffers, uint64_t to_first, uint64_t count)
{
    for (uint32_t l = 0; l < storage->record->leaf_count; l++) {
        if (storage->record->leaves[l].kind != HDST__BOOL) continue;
        for (uint64_t e = 0; e < storage->record->leaves[l].elements; e++)
            for (uint64_t i = 0; i < count; i++) {
                char *byte = (char *)buffers[storage->leaf[l].buffer] + hdst__storage_offset(storage, l, to_first + i, e);
                *byte = *byte != 0;
            }
    }
}

static hdst_status place(const hdst__bound_source *bound, const void *rows, uint64_t first_row, uint64_t count, const hdst__storage *storage,
                         void *const *buffers, uint64_t to_first, hdst_error *error)
{
    if (!bound->rows_as_structs) return move_numbers(bound, rows, first_row, count, storage, buffers, to_first, error);
    hdst__storage_copy(storage, buffers, to_first, bound->rows_as_structs, &rows, 0, count);
    normalise_bools(storage, buffers, to_first, count);
    return HDST_OK;
}

// Reads rows that have the layout of the segment's structs straight into the segment.
static hdst_status read_in_place(hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                 uint64_t to_first, hdst_error *error)
{
    const hdst__source *source = bound->source;
    char *to = (char *)buffers[0] + to_first * storage->record->size;
    if (source->direct) memcpy(to, (const char *)source->direct + first * source->row_bytes, count * source->row_bytes);
    else {
        hdst_status status = source->format->read(bound->source, &bound->as, first, count, to, error);
        if (status != HDST_OK) return status;
    }
    normalise_bools(storage, buffers, to_first, count);
    return HDST_OK;
}

// The same of rows that may have it: numbers that fit their fields stay as they were read. A stretch at a time, so that it is looked at while a cache has it.
static hdst_status look_in_place(hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                 uint64_t to_first, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK;) {
        const uint64_t part = count - done < bound->staging_rows ? count - done : bound->staging_rows;
        char *to = (char *)buffers[0] + (to_first + done) * storage->record->size;
        status = bound->source->format->read(bound->source, &bound->as, first + done, part, to, error);
        if (status == HDST_OK) status = place(bound, to, first + done, part, storage, buffers, to_first + done, error);
        done += part;
    }
    return status;
}

// Made by whoever reads first: all parts are counted then. NULL: there is no memory.
static const uint64_t *ends_of_parts(hdst__bound_source *bound)
{
    uint64_t *end = atomic_load(&bound->part_end), *made_meanwhile = NULL;
    const size_t parts = bound->source->part_count;
    if (end || !(end = hdst__alloc(bound->source->allocator, parts * sizeof *end))) return end;
    for (size_t i = 0; i < parts; i++) end[i] = (i ? end[i - 1] : 0) + hdst__bound_source_records(bound->parts[i]);
    if (atomic_compare_exchange_strong(&bound->part_end, &made_meanwhile, end)) return end;
    hdst__free(bound->source->allocator, end);
    return made_meanwhile;
}

// The part that the record is of.
static size_t part_of(const uint64_t *end, size_t parts, uint64_t record)
{
    size_t low = 0, high = parts;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (end[middle] <= record) low = middle + 1;
        else high = middle;
    }
    return low;
}

static hdst_status fill_from_parts(hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                   uint64_t to_first, hdst_error *error)
{
    const uint64_t *end = ends_of_parts(bound);
    if (!end) return hdst__error_memory(error, bound->source->name);
    for (size_t i = part_of(end, bound->source->part_count, first); i < bound->source->part_count && count; i++) {
        const uint64_t begin = i ? end[i - 1] : 0, part = end[i] - first < count ? end[i] - first : count;
        hdst_status status = hdst__bound_source_fill(bound->parts[i], first - begin, part, storage, buffers, to_first, error);
        if (status != HDST_OK) return status;
        first += part;
        count -= part;
        to_first += part;
    }
    return HDST_OK;
}

// --- By way of a staging block, which stays in a core's second-level cache ---

static hdst__bound_source *staging_of(hdst__bound_source *bound) { return bound->whole ? bound->whole : bound; }

static void *take_staging(hdst__bound_source *bound, bool *own)
{
    hdst__bound_source *of = staging_of(bound);
    void *more = NULL;
    *own = pthread_mutex_trylock(&of->staging_lock) == 0;
    if (!*own) more = hdst__alloc(bound->source->allocator, (size_t)bound->staging_bytes);
    if (more) return more;
    if (!*own) pthread_mutex_lock(&of->staging_lock);
    *own = true;
    return of->staging;
}

static void give_staging(hdst__bound_source *bound, void *staging, bool own)
{
    if (own) pthread_mutex_unlock(&staging_of(bound)->staging_lock);
    else hdst__free(bound->source->allocator, staging);
}

static hdst_status fill_by_row(hdst__bound_source *bound, void *staging, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                               uint64_t to_first, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK;) {
        const uint64_t part = count - done < bound->staging_rows ? count - done : bound->staging_rows;
        status = bound->source->format->read(bound->source, &bound->as, first + done, part, staging, error);
        if (status == HDST_OK) status = place(bound, staging, first + done, part, storage, buffers, to_first + done, error);
        done += part;
    }
    return status;
}

// Numbers that lie in the segment as in the file go there at once.
static hdst_status fill_element(hdst__bound_source *bound, const hdst__move *m, uint64_t element, void *staging, uint64_t first, uint64_t count,
                                const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const hdst__leaf_address *address = &storage->leaf[m->leaf];
    const uint64_t size = hdst__scalar_size(m->from), room = bound->staging_bytes / size;
    const hdst__kind to = bound->record->leaves[m->leaf].kind;
    hdst__source *source = bound->source;
    if (to == m->from && to != HDST__BOOL && !storage->block && address->stride == size) {
        char *target = (char *)buffers[address->buffer] + hdst__storage_offset(storage, m->leaf, to_first, m->element + element);
        return source->format->read_numbers(source, m->column, m->column_element + element, first, count, target, error);
    }
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK;) {
        const uint64_t part = count - done < room ? count - done : room;
        status = source->format->read_numbers(source, m->column, m->column_element + element, first + done, part, staging, error);
        if (status == HDST_OK)
            status = hdst__bound_move(bound, m, element, staging, size, first + done, part, storage, buffers, to_first + done, error);
        done += part;
    }
    return status;
}

static hdst_status fill_by_column(hdst__bound_source *bound, void *staging, uint64_t first, uint64_t count, const hdst__storage *storage,
                                  void *const *buffers, uint64_t to_first, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < bound->move_count; i++)
        for (uint64_t e = 0; e < bound->moves[i].count && status == HDST_OK; e++)
            status = fill_element(bound, &bound->moves[i], e, staging, first, count, storage, buffers, to_first, error);
    return status;
}

hdst_status hdst__bound_source_fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                    hdst_error *error)
{
    hdst__bound_source *bound = user;
    hdst__source *source = bound->source;
    if (count == 0) return HDST_OK;
    if (source->parts) return fill_from_parts(bound, first, count, storage, buffers, to_first, error);
    if (source->format->fill) return source->format->fill(bound, first, count, storage, buffers, to_first, error);
    if (hdst__bound_fills_texts(bound)) return source->format->fill_texts(bound, first, count, storage, buffers, to_first, error);
    if (storage->layout == HDST__AOS && bound->rows_are_structs) return read_in_place(bound, first, count, storage, buffers, to_first, error);
    if (storage->layout == HDST__AOS && bound->rows_may_be_structs && !source->direct)
        return look_in_place(bound, first, count, storage, buffers, to_first, error);
    if (source->direct)
        return place(bound, (const char *)source->direct + first * source->row_bytes, first, count, storage, buffers, to_first, error);
    bool own;
    void *staging = take_staging(bound, &own);
    hdst_status status = (source->by_column ? fill_by_column : fill_by_row)(bound, staging, first, count, storage, buffers, to_first, error);
    give_staging(bound, staging, own);
    return status;
}
