// SPDX-License-Identifier: Apache-2.0
// Rows of separated text as cells of numbers and texts: plain ones quickly, others by all rules; which number is none.
#include "io/csv_source.h"

#include "io/decimal.h"

#include <stdio.h>
#include <string.h>

// "column 'lon'", or "column 3" without names
static const char *column_words(const hdst__source *source, size_t column, char words[80])
{
    const hdst__csv_state *state = source->state;
    if (state->names) snprintf(words, 80, "column '%.60s'", state->names[state->fields[column]]);
    else snprintf(words, 80, "column %zu", state->fields[column]);
    return words;
}

static hdst_status bad_number(const hdst__source *source, const hdst__csv_reader *reader, size_t column, hdst__decimal_status why, hdst__kind as,
                              hdst_error *error)
{
    const hdst__csv_state *state = source->state;
    const hdst__csv_field *field = &reader->fields[state->fields[column]];
    char words[80], text[48];
    size_t n = 0;
    for (; n < field->length && n < sizeof text - 4; n++) text[n] = (unsigned char)field->text[n] < 32 || field->text[n] == 127 ? '?' : field->text[n];
    text[n] = 0;
    if (n < field->length) strcat(text, "...");
    const char *what = why == HDST__DECIMAL_TOO_LARGE   ? (text[0] == '-' ? "is too small for" : "is too large for")
                       : why == HDST__DECIMAL_NOT_WHOLE ? "is not a whole number for"
                                                        : NULL;
    if (what) hdst__error_set(error, HDST_E_FORMAT, "'%s' %s %s in %s", text, what, hdst__scalar_yaml_name(as), column_words(source, column, words));
    else if (n == 0) hdst__error_set(error, HDST_E_FORMAT, "there is no number in %s", column_words(source, column, words));
    else hdst__error_set(error, HDST_E_FORMAT, "'%s' is not a number, in %s", text, column_words(source, column, words));
    hdst__csv_reader_locate(reader, field->text, field->length, error);
    bool decimal_comma = !what && memchr(field->text, ',', field->length);
    if (state->list && (!what || text[0] == '-')) hdst__error_hint(error, "%s", what ? state->list->sign_hint : state->list->row_hint);
    else if (decimal_comma) hdst__error_hint(error, "numbers are written with a point, as in 1.5");
    else if (what) hdst__error_hint(error, "declare the field with a type that holds it");
    else hdst__error_hint(error, "choose the columns that hold numbers, by name or index");
    return HDST_E_FORMAT;
}

static hdst_status changed(const hdst__source *source, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read", source->name);
    hdst__error_at(error, source->name, 0, 0);
    return HDST_E_IO;
}

static hdst_status parse_row(const hdst__source *source, const hdst__csv_reader *reader, const hdst__csv_cells *cells, char *to, hdst_error *error)
{
    const hdst__csv_state *state = source->state;
    for (size_t c = 0; c < source->column_count; c++, to += cells->cell_bytes) {
        const hdst__csv_field *field = &reader->fields[state->fields[c]];
        if (cells->as[c] == HDST__VOID) continue;
        if (cells->as[c] == HDST__TEXT) {
            memcpy(to, &(hdst__csv_raw_text){(char *)field->text, (uint32_t)field->length, hdst__csv_is_quoted(reader, field)}, sizeof(hdst__csv_raw_text));
            continue;
        }
        hdst__decimal_status status = hdst__decimal_parse(field->text, field->length, cells->as[c], state->c_locale, to);
        if (status != HDST__DECIMAL_OK) return bad_number(source, reader, c, status, cells->as[c], error);
    }
    return HDST_OK;
}

// One row by all rules.
static hdst_status read_row(const hdst__source *source, hdst__csv_cursor *cursor, const hdst__csv_cells *cells, char *to, hdst_error *error)
{
    const hdst__csv_state *state = source->state;
    bool more;
    hdst_status status = hdst__csv_reader_data(&cursor->reader, &cursor->place, &more, error);
    if (status == HDST_OK && !more) status = changed(source, error);
    if (status == HDST_OK) status = hdst__csv_reader_check(&cursor->reader, state->field_count, state->model_line, error);
    return status == HDST_OK && to ? parse_row(source, &cursor->reader, cells, to, error) : status;
}

static hdst__csv_stretch read_plain(const hdst__csv_state *state, const hdst__csv_cursor *cursor, const hdst__csv_cells *cells, const char *text,
                                    const char *limit, uint64_t most, char *to)
{
    const hdst__csv_shape *shape = &state->cursors.shape;
    if (!to) return hdst__csv_scan(shape, text, limit, limit, most);
    return (cells->has_texts ? hdst__csv_values : hdst__csv_numbers)(shape, cursor->wanted, text, limit, most, to, cells->row_bytes, state->c_locale);
}

hdst_status hdst__csv_read_rows(const hdst__source *source, hdst__csv_cursor *cursor, const hdst__csv_cells *cells, uint64_t end, char *to,
                                hdst_error *error)
{
    const hdst__csv_state *state = source->state;
    hdst__csv_place *place = &cursor->place;
    const uint64_t first = place->row;
    while (place->row < end) {
        const char *text, *limit;
        if (place->offset >= state->file.bytes) return changed(source, error);
        hdst_status status = hdst__csv_reader_view(&cursor->reader, place->offset, &text, &limit, error);
        if (status != HDST_OK) return status;
        const uint64_t most = end - place->row;
        char *next = to ? to + (place->row - first) * cells->row_bytes : NULL;
        const hdst__csv_stretch plain = read_plain(state, cursor, cells, text, limit, most, next);
        hdst__csv_place_move(place, text, &plain);
        if (next) next += plain.rows * cells->row_bytes;
        if (plain.rows < most) status = read_row(source, cursor, cells, next, error);
        if (status != HDST_OK) return status;
    }
    return HDST_OK;
}

void hdst__csv_choose_wanted(const hdst__source *source, const hdst__csv_cells *cells, hdst__csv_wanted *wanted)
{
    const hdst__csv_state *state = source->state;
    for (size_t i = 0; i < state->field_count; i++) wanted[i].as = HDST__VOID;
    for (size_t c = 0; c < source->column_count; c++) wanted[state->fields[c]] = (hdst__csv_wanted){cells->as[c], c * cells->cell_bytes};
}
