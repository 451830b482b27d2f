// SPDX-License-Identifier: Apache-2.0
// Which rows of separated text are kept as records (io/csv_kept.h).
#include "io/csv_kept.h"

#include "base/costs_host.h"

typedef struct judging {
    const hdst__source *source;
    const hdst__csv_cells *cells;
} judging;

static hdst_status look(const void *user, const hdst__csv_reader *reader, hdst_status wrong, char *row, bool *kept, hdst_error *error)
{
    const judging *j = user;
    return hdst__csv_judge_row(j->source, reader, j->cells, wrong, row, kept, error);
}

static hdst_status look_at_fields(const void *user, const hdst__csv_reader *reader, hdst_status wrong, char *row, bool *kept, hdst_error *error)
{
    const hdst__source *source = user;
    const hdst__csv_state *state = source->state;
    (void)row;
    *kept = wrong == HDST_OK && hdst__csv_reader_check(reader, state->field_count, state->model_line, error) == HDST_OK;
    return HDST_OK;
}

hdst__csv_judge hdst__csv_judge_fields(const hdst__source *source) { return (hdst__csv_judge){.look = look_at_fields, .user = source}; }

// Reads the first row that is left out again, for its error.
static void tell_first(hdst__bound_source *bound, const judging *j, char *row)
{
    hdst__csv_kept *kept = bound->as.kept;
    const hdst__csv_place *place = &kept->index.tally.first_left_out;
    hdst__csv_cursor *cursor = hdst__csv_cursors_take(&kept->cursors, UINT64_MAX, NULL);
    hdst__csv_row_kind kind;
    bool is_kept;
    if (!cursor) return;
    cursor->reader.until = UINT64_MAX;
    const hdst_status status = hdst__csv_reader_row(&cursor->reader, place->offset, place->line, &kind, &bound->first_left_out);
    hdst__csv_judge_row(j->source, &cursor->reader, j->cells, status, row, &is_kept, &bound->first_left_out);
    cursor->place.row = UINT64_MAX;
    hdst__csv_cursors_give(&kept->cursors, cursor);
}

static hdst_status index_kept(hdst__bound_source *bound, const judging *j, hdst__csv_wanted *wanted, char *row, hdst_error *error)
{
    hdst__source *source = bound->source;
    const hdst__csv_state *state = source->state;
    hdst__csv_kept *kept = bound->as.kept;
    hdst__csv_choose_wanted(source, j->cells, wanted);
    const hdst__csv_judge judge = {wanted, j->cells->row_bytes, state->c_locale, look, j};
    const hdst__csv_index_job job = {.cursors = &kept->cursors,
                                     .first = state->first,
                                     .model_line = state->model_line,
                                     .fields = state->fields,
                                     .field_count = source->column_count,
                                     .block_bytes = state->block_bytes,
                                     .group_blocks = HDST__HOST_CSV_GROUP_BLOCKS,
                                     .threads = source->threads,
                                     .cancel = state->cancel,
                                     .judge = &judge};
    hdst_status status = hdst__csv_index_make(&job, &kept->index, error);
    if (status != HDST_OK) return status;
    bound->kept_rows = kept->index.rows;
    bound->left_out = kept->index.tally.left_out;
    const uint64_t text_bytes = bound->kept_rows ? (state->file.bytes - state->first.offset) / bound->kept_rows + 1 : 0;
    if (text_bytes > source->text_bytes) source->text_bytes = text_bytes;
    if (bound->left_out) tell_first(bound, j, row);
    return HDST_OK;
}

hdst_status hdst__csv_keep(hdst__bound_source *bound, hdst_error *error)
{
    const hdst__source *source = bound->source;
    const hdst__csv_state *state = source->state;
    const uint64_t cell_bytes = sizeof(hdst__csv_raw_text);
    const hdst__csv_cells cells = {.as = &bound->as, .cell_bytes = cell_bytes, .row_bytes = bound->as.count * cell_bytes, .has_texts = true};
    const judging j = {source, &cells};
    hdst__csv_kept *kept = hdst__alloc_zero(source->allocator, sizeof *kept);
    hdst__csv_wanted *wanted = hdst__alloc(source->allocator, state->field_count * sizeof *wanted);
    char *row = hdst__alloc(source->allocator, cells.row_bytes + 1);
    hdst_status status = kept && wanted && row ? HDST_OK : hdst__error_memory(error, source->name);
    if (kept) {
        hdst__csv_cursors_init(&kept->cursors, source->allocator, &state->file, state->cursors.window_bytes);
        kept->cursors.shape = state->cursors.shape;
        bound->as.kept = kept;
    }
    if (status == HDST_OK) status = index_kept(bound, &j, wanted, row, error);
    if (status != HDST_OK) hdst__csv_forget(bound);
    hdst__free(source->allocator, wanted);
    hdst__free(source->allocator, row);
    return status;
}

void hdst__csv_forget(hdst__bound_source *bound)
{
    hdst__csv_kept *kept = bound->as.kept;
    if (!kept) return;
    hdst__csv_index_free(&kept->index, bound->source->allocator);
    hdst__csv_cursors_destroy(&kept->cursors);
    hdst__free(bound->source->allocator, kept);
    bound->as.kept = NULL;
}
