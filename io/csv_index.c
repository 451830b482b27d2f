// SPDX-License-Identifier: Apache-2.0
// Rows of a text file, counted by all threads. A line end within quotes ends no row, which only who has read from the start can tell. So each group of blocks
// supposes that a row starts behind its first line end and is gone through from there, up to the end of the last row that starts in it. Afterwards blocks are
// put together in order: where one does not begin where the one before it ended it had supposed wrong, and is gone through again. Mistakes are reported there
// too, so that it is the first one and its line is known.
#include "io/csv_index.h"

#include "io/decimal.h"

#include <string.h>

typedef struct block_rows {
    uint64_t begins;            // where its first row does; UINT64_MAX: none does
    hdst__csv_place behind;     // where the last one ends; lines and rows since it began
    hdst__csv_tally tally;
    bool failed;
} block_rows;

typedef struct index_run {
    const hdst__csv_index_job *job;
    block_rows *block;
    uint64_t blocks;
    uint64_t bytes;             // of the file
} index_run;

// --- Rows from a known place ---

static uint64_t count_not_finite(const hdst__csv_index_job *job, const hdst__csv_reader *reader)
{
    uint64_t count = 0;
    for (size_t i = 0; i < job->field_count; i++) {
        const hdst__csv_field *field = &reader->fields[job->fields[i]];
        const char last = field->length ? field->text[field->length - 1] : '0';
        if (last > '9') count += hdst__decimal_is_not_finite(field->text, field->length);     // they end in a letter
    }
    return count;
}

static void leave_out(hdst__csv_tally *tally, const hdst__csv_reader *reader, hdst__csv_place *place)
{
    if (!tally->left_out++) tally->first_left_out = *place;
    *place = (hdst__csv_place){reader->next_offset, reader->next_line, place->row};
}

// One row by all rules: a line that is none, too, and the end of the file.
static hdst_status take_row(const hdst__csv_index_job *job, hdst__csv_reader *reader, char *row, hdst__csv_place *place, hdst__csv_tally *tally,
                            hdst_error *error)
{
    hdst__csv_row_kind kind = HDST__CSV_DATA;
    bool kept = true;
    hdst_status status = hdst__csv_reader_row(reader, place->offset, place->line, &kind, error);
    if (status == HDST_E_FORMAT && !reader->next_offset) return status;
    if (kind == HDST__CSV_DATA && job->judge && (status == HDST_OK || status == HDST_E_FORMAT))
        status = job->judge->look(job->judge->user, reader, status, row, &kept, error);
    else if (status == HDST_OK && kind == HDST__CSV_DATA)
        status = hdst__csv_reader_check(reader, job->cursors->shape.field_count, job->model_line, error);
    if (status != HDST_OK) return status;
    if (!kept) return leave_out(tally, reader, place), HDST_OK;
    if (kind == HDST__CSV_DATA) tally->not_finite += count_not_finite(job, reader);
    *place = (hdst__csv_place){reader->next_offset, reader->next_line, place->row + (kind == HDST__CSV_DATA)};
    return HDST_OK;
}

static hdst__csv_stretch take_plain(const hdst__csv_index_job *job, char *row, const char *text, const char *stop, const char *limit)
{
    const hdst__csv_judge *judge = job->judge;
    if (!judge || !judge->wanted) return hdst__csv_scan(&job->cursors->shape, text, stop, limit, UINT64_MAX);
    return hdst__csv_try(&job->cursors->shape, judge->wanted, text, stop, limit, row, judge->c_locale);
}

// All rows that start before `end`.
static hdst_status take_rows(const index_run *run, hdst__csv_reader *reader, char *row, hdst__csv_place *place, uint64_t end, hdst__csv_tally *tally,
                             hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (end > run->bytes) end = run->bytes;
    while (status == HDST_OK && place->offset < end) {
        const char *text, *limit;
        status = hdst__cancel_check(run->job->cancel, 0, 0, error);
        if (status == HDST_OK) status = hdst__csv_reader_view(reader, place->offset, &text, &limit, error);
        if (status != HDST_OK) return status;
        const char *stop = end - place->offset < (uint64_t)(limit - text) ? text + (end - place->offset) : limit;
        const hdst__csv_stretch plain = take_plain(run->job, row, text, stop, limit);
        hdst__csv_place_move(place, text, &plain);
        if (place->offset < end) status = take_row(run->job, reader, row, place, tally, error);
    }
    return status;
}

// --- Blocks ---

static uint64_t block_end(const index_run *run, uint64_t i)
{
    const uint64_t begin = run->job->first.offset, block = run->job->block_bytes;
    return run->bytes - begin <= (i + 1) * block ? run->bytes : begin + (i + 1) * block;
}

// Behind the first line end from the byte before the block on; UINT64_MAX where it has none.
static hdst_status find_start(const index_run *run, hdst__csv_reader *reader, uint64_t i, uint64_t *start)
{
    const uint64_t end = block_end(run, i);
    for (uint64_t at = block_end(run, i - 1) - 1; at + 1 < end;) {
        const char *text, *limit;
        if (hdst__csv_reader_view(reader, at, &text, &limit, NULL) != HDST_OK) return HDST_E_IO;
        const size_t length = (uint64_t)(limit - text) < end - 1 - at ? (size_t)(limit - text) : (size_t)(end - 1 - at);
        const char *newline = memchr(text, '\n', length);
        *start = newline ? at + (uint64_t)(newline - text) + 1 : UINT64_MAX;
        if (newline) return HDST_OK;
        at += length;
    }
    return HDST_OK;
}

// Goes through a block from `*start` on, or from where its first row is supposed to start; *start becomes where the next block's first row does.
static void go_through(const index_run *run, hdst__csv_reader *reader, char *row, uint64_t i, uint64_t *start)
{
    block_rows *block = &run->block[i];
    const uint64_t end = block_end(run, i);
    hdst_status status = *start == UINT64_MAX ? find_start(run, reader, i, start) : HDST_OK;
    if (status == HDST_OK && *start < end) {
        hdst__csv_place place = {.offset = *start};
        block->begins = *start;
        status = take_rows(run, reader, row, &place, end, &block->tally, NULL);
        block->behind = place;
        *start = place.offset;
    }
    block->failed = status != HDST_OK;
    if (block->failed) *start = UINT64_MAX;
}

// Room for a row that is judged. NULL: none is, or (*failed) there is no memory.
static char *row_room(const index_run *run, bool *failed)
{
    char *row = run->job->judge ? hdst__alloc(run->job->cursors->allocator, run->job->judge->row_bytes + 1) : NULL;
    *failed = run->job->judge && !row;
    return row;
}

// Blocks that are read at once.
static void work(void *user, uint64_t group)
{
    const index_run *run = user;
    const uint64_t most = run->job->group_blocks, begin = group * most, end = run->blocks - begin < most ? run->blocks : begin + most;
    uint64_t start = begin ? UINT64_MAX : run->job->first.offset;
    bool no_room;
    char *row = row_room(run, &no_room);
    hdst__csv_cursor *cursor = no_room ? NULL : hdst__csv_cursors_take(run->job->cursors, UINT64_MAX, NULL);
    for (uint64_t i = begin; i < end; i++) run->block[i] = (block_rows){.begins = UINT64_MAX, .failed = true};
    if (cursor) {
        cursor->reader.until = block_end(run, end - 1);
        for (uint64_t i = begin; i < end; i++) go_through(run, &cursor->reader, row, i, &start);
        cursor->place.row = UINT64_MAX;
        hdst__csv_cursors_give(run->job->cursors, cursor);
    }
    hdst__free(run->job->cursors->allocator, row);
}

// Goes through a block again from where its first row is known to start.
static hdst_status again(const index_run *run, hdst__csv_place *place, uint64_t end, hdst__csv_tally *tally, hdst_error *error)
{
    bool no_room;
    char *row = row_room(run, &no_room);
    if (no_room) return hdst__error_memory(error, "a row of text");
    hdst__csv_cursor *cursor = hdst__csv_cursors_take(run->job->cursors, UINT64_MAX, error);
    hdst_status status = cursor ? HDST_OK : HDST_E_MEMORY;
    if (cursor) {
        cursor->reader.until = end;
        status = take_rows(run, &cursor->reader, row, place, end, tally, error);
        cursor->place.row = UINT64_MAX;
        hdst__csv_cursors_give(run->job->cursors, cursor);
    }
    hdst__free(run->job->cursors->allocator, row);
    return status;
}

// A block's tally counts lines from where it began.
static void add_tally(hdst__csv_tally *all, const hdst__csv_tally *tally, uint64_t line)
{
    if (tally->left_out && !all->left_out) {
        all->first_left_out = tally->first_left_out;
        all->first_left_out.line += line;
    }
    all->left_out += tally->left_out;
    all->not_finite += tally->not_finite;
}

static hdst_status put_together(const index_run *run, hdst__csv_index *index, hdst_error *error)
{
    hdst__csv_place place = run->job->first;
    for (uint64_t i = 0; i < run->blocks; i++) {
        const block_rows *block = &run->block[i];
        if (place.offset >= block_end(run, i)) continue;        // within a row
        index->place[index->count++] = place;
        hdst_status status = HDST_OK;
        if (block->failed || block->begins != place.offset) status = again(run, &place, block_end(run, i), &index->tally, error);
        else {
            add_tally(&index->tally, &block->tally, place.line);
            place = (hdst__csv_place){block->behind.offset, place.line + block->behind.line, place.row + block->behind.row};
        }
        if (status != HDST_OK) return status;
    }
    index->rows = place.row;
    return HDST_OK;
}

static void run_blocks(index_run *run)
{
    const uint64_t groups = (run->blocks + run->job->group_blocks - 1) / run->job->group_blocks;
    if (run->job->threads) hdst__thread_pool_run(run->job->threads, groups, work, run);
    else for (uint64_t i = 0; i < groups; i++) work(run, i);
}

hdst_status hdst__csv_index_make(const hdst__csv_index_job *job, hdst__csv_index *index, hdst_error *error)
{
    const hdst__allocator *allocator = job->cursors->allocator;
    index_run run = {.job = job, .bytes = job->cursors->file->bytes};
    const uint64_t data = run.bytes - job->first.offset, blocks = data / job->block_bytes + (data % job->block_bytes > 0);
    *index = (hdst__csv_index){0};
    run.blocks = blocks;
    if (!blocks) return HDST_OK;
    run.block = hdst__alloc(allocator, blocks * sizeof *run.block);
    index->place = hdst__alloc(allocator, blocks * sizeof *index->place);
    hdst_status status = run.block && index->place ? hdst__cancel_check(job->cancel, 0, 0, error) : hdst__error_memory(error, "the index of a text file");
    if (status == HDST_OK) {
        run_blocks(&run);
        status = put_together(&run, index, error);
    }
    hdst__free(allocator, run.block);
    if (status != HDST_OK) hdst__csv_index_free(index, allocator);
    return status;
}

void hdst__csv_index_free(hdst__csv_index *index, const hdst__allocator *allocator)
{
    hdst__free(allocator, index->place);
    *index = (hdst__csv_index){0};
}

// How many places are not behind the row.
static size_t places_until(const hdst__csv_index *index, uint64_t row)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->place[middle].row <= row) low = middle + 1;
        else high = middle;
    }
    return low;
}

hdst__csv_place hdst__csv_index_find(const hdst__csv_index *index, uint64_t row) { return index->place[places_until(index, row) - 1]; }

uint64_t hdst__csv_index_reach(const hdst__csv_index *index, uint64_t end)
{
    const size_t next = places_until(index, end);
    return next < index->count ? index->place[next].offset : UINT64_MAX;
}
