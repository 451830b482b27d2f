// SPDX-License-Identifier: Apache-2.0
// Readers of one text file for all threads that read it.
#include "io/csv_cursors.h"

void hdst__csv_cursors_init(hdst__csv_cursors *cursors, const hdst__allocator *allocator, const hdst__csv_file *file, uint64_t window_bytes)
{
    *cursors = (hdst__csv_cursors){.allocator = allocator, .file = file, .window_bytes = window_bytes};
    pthread_mutex_init(&cursors->mutex, NULL);
    pthread_cond_init(&cursors->given, NULL);
}

static void end_cursor(hdst__csv_cursors *cursors, hdst__csv_cursor *cursor)
{
    hdst__csv_reader_close(&cursor->reader);
    hdst__free(cursors->allocator, cursor->wanted);
    hdst__free(cursors->allocator, cursor);
}

void hdst__csv_cursors_destroy(hdst__csv_cursors *cursors)
{
    while (cursors->idle) {
        hdst__csv_cursor *cursor = cursors->idle;
        cursors->idle = cursor->next;
        end_cursor(cursors, cursor);
    }
    pthread_cond_destroy(&cursors->given);
    pthread_mutex_destroy(&cursors->mutex);
}

static hdst__csv_cursor *make_cursor(hdst__csv_cursors *cursors, hdst_error *error)
{
    hdst__csv_cursor *cursor = hdst__alloc_zero(cursors->allocator, sizeof *cursor);
    if (cursor) cursor->wanted = hdst__alloc(cursors->allocator, cursors->shape.field_count * sizeof *cursor->wanted);
    if (!cursor || !cursor->wanted) {
        hdst__free(cursors->allocator, cursor);
        hdst__error_memory(error, cursors->file->path);
        return NULL;
    }
    cursor->place.row = UINT64_MAX;
    if (hdst__csv_reader_open(&cursor->reader, cursors->allocator, cursors->file, cursors->shape.delimiter, cursors->window_bytes, error) != HDST_OK) {
        end_cursor(cursors, cursor);
        return NULL;
    }
    cursor->reader.comment = cursors->shape.comment;
    return cursor;
}

// With the mutex held.
static hdst__csv_cursor *take_idle(hdst__csv_cursors *cursors, uint64_t row)
{
    hdst__csv_cursor **link = &cursors->idle;
    while (*link && (*link)->place.row != row) link = &(*link)->next;
    if (!*link) link = &cursors->idle;
    hdst__csv_cursor *cursor = *link;
    if (cursor) *link = cursor->next;
    return cursor;
}

// There was no memory for one more: this waits while somebody has one.
static hdst__csv_cursor *wait_for_one(hdst__csv_cursors *cursors, uint64_t row)
{
    pthread_mutex_lock(&cursors->mutex);
    cursors->taken--;
    while (!cursors->idle && cursors->taken) pthread_cond_wait(&cursors->given, &cursors->mutex);
    hdst__csv_cursor *cursor = take_idle(cursors, row);
    cursors->taken += cursor != NULL;
    if (!cursor) pthread_cond_broadcast(&cursors->given);       // so that all who wait for nobody end
    pthread_mutex_unlock(&cursors->mutex);
    return cursor;
}

hdst__csv_cursor *hdst__csv_cursors_take(hdst__csv_cursors *cursors, uint64_t row, hdst_error *error)
{
    hdst_error why = HDST_ERROR_INIT;
    pthread_mutex_lock(&cursors->mutex);
    hdst__csv_cursor *cursor = take_idle(cursors, row);
    cursors->taken++;               // one that is being made too, of which whoever waits may hope
    pthread_mutex_unlock(&cursors->mutex);
    if (!cursor) cursor = make_cursor(cursors, &why);
    if (!cursor) cursor = wait_for_one(cursors, row);
    if (!cursor && error) *error = why;
    return cursor;
}

void hdst__csv_cursors_give(hdst__csv_cursors *cursors, hdst__csv_cursor *cursor)
{
    pthread_mutex_lock(&cursors->mutex);
    cursor->next = cursors->idle;
    cursors->idle = cursor;
    cursors->taken--;
    pthread_cond_signal(&cursors->given);
    pthread_mutex_unlock(&cursors->mutex);
}
