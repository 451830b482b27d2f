// SPDX-License-Identifier: Apache-2.0
// Records that change rows of a value (plan/row_changes.h).
#include "plan/row_changes.h"
#include "engine/device/device.h"

#include "base/thread_pool.h"
#include "record/key_field.h"

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
    hdst__row_changes_release(made);
    *made = (hdst__row_changes){.record = changes, .pieces = HDST__NEW_ARRAY(arena, hdst__row_piece, rows->elements), .times_there = made->times_there};
    for (size_t i = 0; i < rows->leaf_count; i++) {
        const hdst__leaf *from = &changes->leaves[i + 1], *to = &rows->leaves[i];
        for (uint64_t e = 0; e < to->elements; e++) add_piece(made, hdst__leaf_offset(from, e), hdst__leaf_offset(to, e), hdst__scalar_size(to->kind));
    }
    made->shape = (hdst__row_change){changes, rows->size, made->pieces, made->piece_count};
    return HDST_OK;
}

// --- Rows ---

enum {
    BLOCK = 512,                    // records whose numbers are read at once
    BETWEEN_LOOKS = 128 * BLOCK,    // records between two looks at whether the call was cancelled
    SHARED = 1 << 14,               // so many are worth several threads
    MOST_PARTS = 8,                 // each of which looks at all records
};

typedef struct numbers {            // of rows, as a block of records has them
    hdst__key_field field;
    uint64_t size;                  // of a record
    uint64_t row[BLOCK];            // negative ones are larger than any row
} numbers;

static numbers numbers_of(const hdst__row_changes *changes)
{
    const hdst__leaf *leaf = &changes->record->leaves[0];
    return (numbers){.field = {leaf->offset, leaf->kind}, .size = changes->record->size};
}

static uint64_t read_block(numbers *n, const char *records, uint64_t first, uint64_t count)
{
    const uint64_t some = count - first < BLOCK ? count - first : BLOCK;
    hdst__key_field_read_all(&n->field, records + first * n->size, n->size, some, n->row);
    return some;
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
    numbers n = numbers_of(changes);
    for (uint64_t first = 0, some; first < count && status == HDST_OK; first += some) {
        some = read_block(&n, records, first, count);
        for (uint64_t i = 0; i < some && status == HDST_OK; i++)
            if (n.row[i] >= value->rows) status = tell_row(changes, value, first + i, n.row[i], error);
        if (status == HDST_OK && first % BETWEEN_LOOKS == 0) status = hdst__cancel_check(&value->object.context->cancel, first, count, error);
    }
    return status;
}

typedef struct putting {
    const hdst__row_changes *changes;
    const char *records;
    char *rows;
    uint64_t count, row_count, row_bytes, parts;
} putting;

static void put_row(const putting *p, const char *record, char *row)
{
    const hdst__row_piece *piece = p->changes->pieces;
    const size_t pieces = p->changes->piece_count;
    if (pieces == 1 && piece->bytes == 4) memcpy(row + piece->to, record + piece->from, 4);
    else if (pieces == 1 && piece->bytes == 8) memcpy(row + piece->to, record + piece->from, 8);
    else
        for (size_t i = 0; i < pieces; i++) memcpy(row + piece[i].to, record + piece[i].from, (size_t)piece[i].bytes);
}

// Those of the changes that are of its part of the rows, in their order.
static void put_part(void *user, uint64_t part)
{
    const putting *p = user;
    const uint64_t low = p->row_count / p->parts * part, high = part + 1 == p->parts ? p->row_count : p->row_count / p->parts * (part + 1);
    numbers n = numbers_of(p->changes);
    for (uint64_t first = 0, some; first < p->count; first += some) {
        some = read_block(&n, p->records, first, p->count);
        for (uint64_t i = 0; i < some; i++)
            if (n.row[i] - low < high - low) put_row(p, p->records + (first + i) * n.size, p->rows + n.row[i] * p->row_bytes);
    }
}

static void put(const hdst__row_changes *changes, const hdst_value *value, const char *records, uint64_t count, char *rows)
{
    hdst__thread_pool *threads = hdst__engine_threads(value->object.context->engine);
    const uint64_t size = hdst__thread_pool_size(threads), most = size < MOST_PARTS ? size : MOST_PARTS;
    putting p = {changes, records, rows, count, value->rows, value->record->size, count < SHARED ? 1 : most};
    hdst__thread_pool_run(threads, p.parts, put_part, &p);
}

// --- On a device ---

// Where the device works in the host's memory, or was not asked for so far, there is nothing to tell.
static const char *why_on_host(const hdst_value *value)
{
    const hdst__device *device = hdst__engine_opened(value->object.context->engine);
    return device && !device->unified ? "they lie in the host's memory" : "";
}

static hdst_status put_there(hdst__row_changes *changes, hdst_value *value, const hdst__row_change_records *records, bool *done, bool *stray, hdst_error *error)
{
    *stray = false;
    *done = records->count == 0;
    if (*done) return HDST_OK;
    if (!value->on_device) {
        changes->why_not = why_on_host(value);
        return HDST_OK;
    }
    if (!changes->on_device) changes->on_device = hdst__changed_rows_create(hdst__engine_runtime(value->object.context->engine), &changes->shape);
    if (!changes->on_device) return hdst__error_memory(error, "changes of rows");
    hdst_status status = hdst__changed_rows_put(changes->on_device, value->resident, value->rows, records, &changes->why_not, stray, error);
    *done = status == HDST_OK && !changes->why_not;
    if (*done && !*stray) {
        value->version++;
        changes->times_there++;
    }
    return status == HDST_OK ? status : hdst__object_fail(&value->object, error);
}

hdst_status hdst__row_changes_put_there(hdst__row_changes *changes, hdst_value *value, const hdst__dataset_cache *records, bool distinct, bool *done,
                                        hdst_error *error)
{
    bool stray;
    const hdst__row_change_records from = {.cache = records, .count = hdst__dataset_cache_own_reader(records)->records, .distinct = distinct};
    const hdst_status status = put_there(changes, value, &from, done, &stray, error);
    *done &= !stray;        // the host finds out which
    return status;
}

void hdst__row_changes_begin(hdst__row_changes *changes)
{
    changes->times_there = 0;
    changes->why_not = NULL;
}

void hdst__row_changes_release(hdst__row_changes *changes)
{
    hdst__changed_rows_destroy(changes->on_device);
    changes->on_device = NULL;
}

// --- On the host ---

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

hdst_status hdst__row_changes_put(hdst__row_changes *changes, hdst_value *value, const void *records, uint64_t count, hdst_error *error)
{
    void *shared;
    bool done, stray;
    hdst_status status = check(changes, value, records, count, error);
    if (status != HDST_OK || !count) return status;
    status = put_there(changes, value, &(hdst__row_change_records){.rows = records, .count = count}, &done, &stray, error);
    if (status != HDST_OK || done) return status;
    status = open_rows(value, &shared, error);
    if (status != HDST_OK) return status;
    put(changes, value, records, count, shared ? shared : value->data);
    value->version++;
    status = shared ? hdst__value_rows_close(value->resident, error) : HDST_OK;
    return status == HDST_OK ? status : hdst__object_fail(&value->object, error);
}
