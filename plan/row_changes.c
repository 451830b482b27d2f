// SPDX-License-Identifier: Apache-2.0
// Records that change rows of a value (plan/row_changes.h).
#include "plan/row_changes.h"

#include <inttypes.h>
#include <string.h>

// --- Which bytes of a record become which of a row ---

static hdst_status refuse(const hdst__record *changes, const hdst__record *rows, hdst_error *error)
{
    hdst__error_set(error, HDST_E_USAGE, "records of '%s' cannot change rows of '%s'", changes->name, rows->name);
    hdst__error_hint(error, "a change has the number of a row in front, an integer, then the fields of the row, in their order and of their types");
    return HDST_E_USAGE;
}

static bool fits(const hdst__record *changes, const hdst__record *rows)
{
    if (changes->leaf_count != rows->leaf_count + 1 || changes->leaves[0].elements != 1 || !hdst__kind_is_integer(changes->leaves[0].kind)) return false;
    for (size_t i = 0; i < rows->leaf_count; i++)
        if (rows->leaves[i].kind != changes->leaves[i + 1].kind || rows->leaves[i].elements != changes->leaves[i + 1].elements) return false;
    return true;
}

static void add_piece(hdst__row_changes *made, uint64_t from, uint64_t to, uint64_t bytes)
{
    hdst__row_piece *last = made->piece_count ? &made->pieces[made->piece_count - 1] : NULL;
    if (last && last->from + last->bytes == from && last->to + last->bytes == to) last->bytes += bytes;
    else made->pieces[made->piece_count++] = (hdst__row_piece){from, to, bytes};
}

hdst_status hdst__row_changes_make(hdst__arena *arena, const hdst__record *changes, const hdst__record *rows, hdst__row_changes *made, hdst_error *error)
{
    if (!fits(changes, rows)) return refuse(changes, rows, error);
    if (rows->has_text) return hdst__error_set(error, HDST_E_USAGE, "rows of '%s' have texts, which cannot be changed one by one", rows->name);
    *made = (hdst__row_changes){.record = changes, .pieces = HDST__NEW_ARRAY(arena, hdst__row_piece, rows->elements)};
    for (size_t i = 0; i < rows->leaf_count; i++) {
        const hdst__leaf *from = &changes->leaves[i + 1], *to = &rows->leaves[i];
        for (uint64_t e = 0; e < to->elements; e++) add_piece(made, hdst__leaf_offset(from, e), hdst__leaf_offset(to, e), hdst__scalar_size(to->kind));
    }
    return HDST_OK;
}

// --- Rows ---

enum { BETWEEN_LOOKS = 65536 };     // records between two looks at whether the call was cancelled

// Numbers that are negative are larger than any row.
static uint64_t row_of(const hdst__row_changes *changes, const char *record)
{
    const hdst__leaf *leaf = &changes->record->leaves[0];
    const uint64_t bytes = hdst__scalar_size(leaf->kind);
    uint64_t row = 0;
    memcpy(&row, record + leaf->offset, (size_t)bytes);
    const unsigned unused = 64 - 8 * (unsigned)bytes;
    return hdst__kind_is_signed(leaf->kind) ? (uint64_t)((int64_t)(row << unused) >> unused) : row;
}

static hdst_status tell_row(const hdst__row_changes *changes, const hdst_value *value, uint64_t number, uint64_t row, hdst_error *error)
{
    if (hdst__kind_is_signed(changes->record->leaves[0].kind) && (int64_t)row < 0)
        hdst__error_set(error, HDST_E_RECORD, "change %" PRIu64 " is of row %" PRId64 ", and there are %" PRIu64 " rows", number, (int64_t)row, value->rows);
    else hdst__error_set(error, HDST_E_RECORD, "change %" PRIu64 " is of row %" PRIu64 ", and there are %" PRIu64 " rows", number, row, value->rows);
    hdst__error_hint(error, "rows are numbered from 0; the first field of a change, '%s', names one", changes->record->leaves[0].path);
    error->record = number;
    return HDST_E_RECORD;
}

static hdst_status check(const hdst__row_changes *changes, const hdst_value *value, const char *records, uint64_t count, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
        const uint64_t row = row_of(changes, records + i * changes->record->size);
        if (row >= value->rows) status = tell_row(changes, value, i, row, error);
        else if (i % BETWEEN_LOOKS == 0) status = hdst__cancel_check(&value->object.context->cancel, i, count, error);
    }
    return status;
}

static void put(const hdst__row_changes *changes, uint64_t row_bytes, const char *records, uint64_t count, char *rows)
{
    for (uint64_t i = 0; i < count; i++, records += changes->record->size) {
        char *row = rows + row_of(changes, records) * row_bytes;
        for (size_t p = 0; p < changes->piece_count; p++)
            memcpy(row + changes->pieces[p].to, records + changes->pieces[p].from, (size_t)changes->pieces[p].bytes);
    }
}

// Rows that lie in memory which the host does not share become the host's.
static hdst_status open_rows(hdst_value *value, void **shared, hdst_error *error)
{
    const void *rows;
    *shared = NULL;
    hdst_status status = value->on_device ? hdst__value_rows_open(value->resident, shared, error) : HDST_OK;
    if (status != HDST_OK || *shared || !value->on_device) return status;
    status = hdst__value_on_host(value, &rows, error);
    return status == HDST_OK ? hdst__value_set_rows(value, rows, value->rows, error) : status;
}

hdst_status hdst__row_changes_put(const hdst__row_changes *changes, hdst_value *value, const void *records, uint64_t count, hdst_error *error)
{
    void *shared;
    hdst_status status = check(changes, value, records, count, error);
    if (status != HDST_OK || !count) return status;
    status = open_rows(value, &shared, error);
    if (status != HDST_OK) return status;
    put(changes, value->record->size, records, count, shared ? shared : value->data);
    value->version++;
    status = shared ? hdst__value_rows_close(value->resident, error) : HDST_OK;
    return status == HDST_OK ? status : hdst__object_fail(&value->object, error);
}
