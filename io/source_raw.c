// SPDX-License-Identifier: Apache-2.0
// Raw binary records: the bytes of the record's C struct, one after another, without a header. Their number is known once the
// source is bound to a record.
#include "io/source.h"

#include "io/file.h"
#include "io/spool.h"

static hdst_status bind_raw(hdst__source *source, const hdst__record *record, hdst_error *error)
{
    const hdst__file *file = source->state;
    uint64_t rest = file->bytes % record->size;
    if (rest) {
        hdst__error_set(error, HDST_E_FORMAT, "%llu bytes are no whole number of records '%s' of %llu bytes: %llu bytes are left over",
                        (unsigned long long)file->bytes, record->name, (unsigned long long)record->size, (unsigned long long)rest);
        hdst__error_at(error, source->name, 0, 0);
        hdst__error_hint(error, "the file must hold the bytes of the C struct that `hdst schema header` shows; is it cut, or of another record?");
        return HDST_E_FORMAT;
    }
    if (source->row_bytes && source->row_bytes != record->size)
        return hdst__error_set(error, HDST_E_USAGE, "'%s' is already read as records of %llu bytes, record '%s' has %llu", source->name,
                               (unsigned long long)source->row_bytes, record->name, (unsigned long long)record->size);
    source->row_bytes = record->size;
    source->rows = file->bytes / record->size;
    return HDST_OK;
}

static hdst_status read_raw(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    (void)as;
    return hdst__file_read(source->state, first * source->row_bytes, rows, count * source->row_bytes, error);
}

static void close_raw(hdst__source *source)
{
    if (source->state) hdst__file_close(source->state);
    hdst__free(source->allocator, source->state);
}

static const hdst__source_format raw_format = {.name = "raw", .read = read_raw, .bind = bind_raw, .close = close_raw};

static hdst_status open_raw(hdst__file *file, const hdst__source *source, const hdst__cancel *cancel, hdst_error *error)
{
    if (hdst__spool_needed(source->name)) return hdst__spool_open(file, source->allocator, source->name, false, cancel, error);
    return hdst__file_open(file, source->name, error);
}

hdst__source *hdst__source_raw(const hdst__allocator *allocator, const char *path, const hdst__cancel *cancel, hdst_error *error)
{
    hdst__source *source = hdst__source_new(allocator, &raw_format, path, error);
    if (!source) return NULL;
    source->concurrent = true;
    hdst__file *file = source->state = hdst__alloc(allocator, sizeof *file);
    if (file) *file = (hdst__file){.fd = -1};
    if (file && open_raw(file, source, cancel, error) == HDST_OK) return source;
    if (!file) hdst__error_memory(error, path);
    hdst__source_close(source);
    return NULL;
}
