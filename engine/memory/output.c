// SPDX-License-Identifier: Apache-2.0
// Output records of a run, gathered on the host in input order, one after another (engine/memory/output.h).
#include "engine/memory/output.h"
#include "base/costs_host.h"
#include "base/pool_copy.h"
#include "engine/memory/registered.h"

void hdst__output_init(hdst__output *output, const hdst__allocator *allocator, hdst__budget *budget, uint64_t record_bytes)
{
    *output = (hdst__output){.allocator = allocator, .budget = budget, .record_bytes = record_bytes};
}

void hdst__output_has_texts(hdst__output *output, hdst__runtime *runtime, const hdst__record *record)
{
    output->texts_of = record && record->has_text ? record : NULL;
    output->runtime = runtime;
}

static void forget_texts(hdst__output *output)
{
    hdst__text_heap_drop(output->texts);        // others may hold them
    output->texts = NULL;
    output->writer = (hdst__text_writer){0};
}

static hdst_status take_heap(hdst__output *output, hdst_error *error)
{
    if (!output->texts) output->writer.heap = output->texts = hdst__text_heap_create(output->runtime, HDST__OWNER_OUTPUT);
    return output->texts ? HDST_OK : hdst__error_memory(error, "texts of output records");
}

hdst_status hdst__output_settle_texts(hdst__output *output, void *records, uint64_t count, hdst_error *error)
{
    if (!output->texts_of || !output->settles) return HDST_OK;
    hdst_status status = take_heap(output, error);
    if (status != HDST_OK) return status;
    hdst__text_heap_reset(output->texts);
    output->writer = (hdst__text_writer){.heap = output->texts};
    return hdst__text_settle_rows(&output->writer, output->texts_of, records, count, error);
}

hdst_status hdst__output_keep_texts(hdst__output *output, void *records, uint64_t count, hdst_error *error)
{
    if (!output->texts_of) return HDST_OK;
    const hdst_status status = take_heap(output, error);
    if (status != HDST_OK) return status;
    return hdst__text_keep_rows(&output->writer, output->texts_of, records, count, error);
}

hdst_status hdst__output_hold_texts(hdst__output *output, const hdst__output *from, hdst_error *error)
{
    if (!from->texts) return HDST_OK;
    const hdst_status status = take_heap(output, error);
    if (status != HDST_OK) return status;
    return hdst__text_heap_holds(output->texts, from->texts) ? HDST_OK : hdst__error_memory(error, "texts of output records");
}

void hdst__output_pin(hdst__output *output)
{
    const uint64_t bytes = output->capacity * output->record_bytes;
    if (!output->pins || output->is_pinned || !output->was_filled || bytes < HDST__HOST_PINNED_LEAST_BYTES) return;
    output->is_pinned = hdst__registered_add(output->pins, output->records, bytes, NULL) == HDST_OK;
}

// Before the memory moves or goes.
static void unpin(hdst__output *output)
{
    if (output->is_pinned) hdst__registered_remove(output->pins, output->records, NULL);
    output->is_pinned = output->was_filled = false;
}

void hdst__output_destroy(hdst__output *output)
{
    forget_texts(output);
    unpin(output);
    hdst__free(output->allocator, output->records);
    output->records = NULL;
    output->count = output->capacity = 0;
}

void hdst__output_reset(hdst__output *output)
{
    forget_texts(output);
    output->was_filled |= output->count > 0;
    output->count = 0;
}

static bool fits(const hdst__output *output, uint64_t bytes)
{
    const uint64_t has = hdst__budget_left(output->budget) + output->capacity * output->record_bytes;
    return !output->leaves_room || bytes <= has / HDST__HOST_LEFT_SHARE * (HDST__HOST_LEFT_SHARE - 1);
}

hdst_status hdst__output_reserve(hdst__output *output, uint64_t records, hdst_error *error)
{
    if (records <= output->capacity) return HDST_OK;
    if (records > SIZE_MAX / 2 / output->record_bytes) return hdst__error_memory(error, "output records");
    if (!fits(output, records * output->record_bytes)) return hdst__budget_error(output->budget, records * output->record_bytes,
        "output records, and room beside them,", error);
    unpin(output);
    char *grown = hdst__budget_realloc(output->budget, HDST__OWNER_OUTPUT, output->records, records * output->record_bytes, "output records", error);
    if (!grown) return HDST_E_MEMORY;
    output->records = grown;
    output->capacity = records;
    return HDST_OK;
}

// Doubling keeps the copies few; where the budget has no room for that, what is needed must do.
static hdst_status make_room(hdst__output *output, uint64_t more, hdst_error *error)
{
    uint64_t need = output->count + more;
    if (need <= output->capacity) return HDST_OK;
    if (need < output->capacity * 2 && hdst__output_reserve(output, output->capacity * 2, NULL) == HDST_OK) return HDST_OK;
    return hdst__output_reserve(output, need, error);
}

static hdst_status add(hdst__output *output, hdst__thread_pool *threads, const void *records, uint64_t count, hdst_error *error)
{
    const hdst_status status = make_room(output, count, error);
    if (status != HDST_OK) return status;
    hdst__pool_copy(threads, output->records + output->count * output->record_bytes, records, count * output->record_bytes);
    output->count += count;
    return HDST_OK;
}

hdst_status hdst__output_add_by(hdst__output *output, hdst__thread_pool *threads, const void *records, uint64_t count, hdst_error *error)
{
    if (count == 0) return HDST_OK;
    const hdst_status status = add(output, threads, records, count, error);
    if (status != HDST_OK) return status;
    return hdst__output_keep_texts(output, output->records + (output->count - count) * output->record_bytes, count, error);
}

hdst_status hdst__output_add(hdst__output *output, const void *records, uint64_t count, hdst_error *error)
{
    return hdst__output_add_by(output, NULL, records, count, error);
}

hdst_status hdst__output_add_of(hdst__output *output, const hdst__output *from, hdst_error *error)
{
    const hdst_status status = from->count ? add(output, NULL, from->records, from->count, error) : HDST_OK;
    return status == HDST_OK ? hdst__output_hold_texts(output, from, error) : status;
}
