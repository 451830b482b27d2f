// SPDX-License-Identifier: Apache-2.0
// Sources that are no files: rows in memory, a table of floats, a range of whole numbers, a callback.
#include "io/source.h"

#include <string.h>

// --- Rows in memory ---

static hdst_status bind_size(hdst__source *source, const hdst__record *record, hdst_error *error)
{
    if (source->row_bytes == record->size) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "the rows in memory have %llu bytes each, record '%s' has %llu", (unsigned long long)source->row_bytes, record->name,
                    (unsigned long long)record->size);
    hdst__error_hint(error, "`hdst schema header` writes the C struct of a record");
    return HDST_E_USAGE;
}

static const hdst__source_format structs_format = {.name = "memory", .bind = bind_size, .in_process = true};
static const hdst__source_format floats_format = {.name = "memory"};

hdst__source *hdst__source_memory(const hdst__allocator *allocator, const void *rows, uint64_t count, uint64_t row_bytes, hdst_error *error)
{
    uint64_t bytes;
    if ((!rows && count) || row_bytes == 0 || __builtin_mul_overflow(count, row_bytes, &bytes)) {
        hdst__error_set(error, HDST_E_USAGE, "a source of %llu rows of %llu bytes at %p", (unsigned long long)count, (unsigned long long)row_bytes, rows);
        hdst__error_hint(error, "rows must point to count * row_bytes bytes, and row_bytes be the size of the record's C struct");
        return NULL;
    }
    hdst__source *source = hdst__source_new(allocator, &structs_format, "memory", error);
    if (!source) return NULL;
    source->rows = count;
    source->row_bytes = row_bytes;
    source->direct = rows;
    source->concurrent = true;
    return source;
}

hdst__source *hdst__source_floats(const hdst__allocator *allocator, const float *table, uint64_t rows, uint32_t columns, hdst_error *error)
{
    if ((!table && rows) || columns == 0) {
        hdst__error_set(error, HDST_E_USAGE, "a table of %llu rows and %u columns at %p", (unsigned long long)rows, columns, (const void *)table);
        return NULL;
    }
    hdst__source *source = hdst__source_new(allocator, &floats_format, "memory", error);
    if (!source) return NULL;
    if (!hdst__source_add_column(source, NULL, HDST__F32, 0, columns)) {
        hdst__source_close(source);
        hdst__error_memory(error, "memory");
        return NULL;
    }
    source->rows = rows;
    source->row_bytes = (uint64_t)columns * sizeof(float);
    source->direct = table;
    source->concurrent = true;
    return source;
}

// --- A range of whole numbers ---

static hdst_status read_range(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    (void)as, (void)error;
    uint64_t begin = (uint64_t)(int64_t)(intptr_t)source->state + first;    // wraps like the two's complement it stands for
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = begin + i;
        memcpy((char *)rows + i * sizeof value, &value, sizeof value);
    }
    return HDST_OK;
}

static const hdst__source_format range_format = {.name = "range", .read = read_range};

hdst__source *hdst__source_range(const hdst__allocator *allocator, int64_t begin, int64_t end, hdst_error *error)
{
    _Static_assert(sizeof(intptr_t) == sizeof(int64_t), "the begin of a range is kept in a pointer");
    if (end < begin) {
        hdst__error_set(error, HDST_E_USAGE, "a range that ends at %lld before it begins at %lld", (long long)end, (long long)begin);
        return NULL;
    }
    hdst__source *source = hdst__source_new(allocator, &range_format, "range", error);
    if (!source) return NULL;
    if (!hdst__source_add_column(source, NULL, HDST__I64, 0, 1)) {
        hdst__source_close(source);
        hdst__error_memory(error, "range");
        return NULL;
    }
    source->rows = (uint64_t)end - (uint64_t)begin;
    source->row_bytes = sizeof(int64_t);
    source->concurrent = true;
    source->state = (void *)(intptr_t)begin;
    return source;
}

bool hdst__source_is_range(const hdst__source *source, int64_t *begin)
{
    if (source->format != &range_format) return false;
    *begin = (intptr_t)source->state;
    return true;
}

// --- A callback ---

typedef struct callback_state {
    hdst__source_callback fill;
    void *user;
} callback_state;

static hdst_status bind_callback(hdst__source *source, const hdst__record *record, hdst_error *error)
{
    if (source->row_bytes && source->row_bytes != record->size)
        return hdst__error_set(error, HDST_E_USAGE, "the callback already gives records of %llu bytes, record '%s' has %llu",
                               (unsigned long long)source->row_bytes, record->name, (unsigned long long)record->size);
    source->row_bytes = record->size;
    return HDST_OK;
}

static hdst_status read_callback(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    (void)as;
    callback_state *state = source->state;
    char message[HDST__CALLBACK_MESSAGE] = "";
    memset(rows, 0, count * source->row_bytes);     // what the callback leaves out is zero, not what was there before
    if (state->fill(first, count, rows, message, state->user)) return HDST_OK;
    message[sizeof message - 1] = 0;
    hdst__error_set(error, HDST_E_IO, "the source's callback failed at records %llu to %llu", (unsigned long long)first,
                    (unsigned long long)(first + count - 1));
    if (message[0]) hdst__error_cause(error, "%s", message);
    return HDST_E_IO;
}

static void close_callback(hdst__source *source) { hdst__free(source->allocator, source->state); }

static const hdst__source_format callback_format = {.name = "callback", .read = read_callback, .bind = bind_callback, .close = close_callback,
                                                    .in_process = true};

hdst__source *hdst__source_from_callback(const hdst__allocator *allocator, uint64_t count, hdst__source_callback fill, void *user, bool concurrent,
                                          hdst_error *error)
{
    if (!fill) {
        hdst__error_set(error, HDST_E_USAGE, "a source whose callback is NULL");
        return NULL;
    }
    hdst__source *source = hdst__source_new(allocator, &callback_format, "callback", error);
    callback_state *state = source ? hdst__alloc(allocator, sizeof *state) : NULL;
    if (!state) {
        if (source) hdst__error_memory(error, "callback");
        hdst__source_close(source);
        return NULL;
    }
    *state = (callback_state){fill, user};
    source->rows = count;
    source->state = state;
    source->concurrent = concurrent;
    return source;
}
