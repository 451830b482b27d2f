// SPDX-License-Identifier: Apache-2.0
// Rows of separated text as cells of numbers and texts: plain ones quickly, others by all rules; which number is none.
#include "io/csv_source.h"

#include "io/decimal.h"
#include "io/iso_time.h"

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

// The first bytes of a cell, without control characters.
static void cell_text(const hdst__csv_field *field, char text[48])
{
    size_t n = 0;
    for (; n < field->length && n < 48 - 4; n++) text[n] = (unsigned char)field->text[n] < 32 || field->text[n] == 127 ? '?' : field->text[n];
    text[n] = 0;
    if (n < field->length) strcat(text, "...");
}

static const char no_value_hint[] = "choose the columns that hold values, or say in the schema what an empty cell is: `missing: zero`, `missing: nan`";

static const char null_value_hint[] = "if it stands for no value, say so in the schema: `null_values: [\"%s\"]`, and what it becomes: `missing: zero`, `skip`";

// What other programs write where they have no value.
static bool is_usual_null_value(const hdst__csv_field *field)
{
    static const char *const usual[] = {"NA", "N/A", "n/a", "#N/A", "NULL", "null", "Null", "None", "none", "NaT", "nil", "-", "--", "?", "."};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (field->length == strlen(usual[i]) && !memcmp(field->text, usual[i], field->length)) return true;
    return false;
}

static hdst_status bad_number(const hdst__csv_field *field, const char *words, hdst__decimal_status why, hdst__kind as, const hdst__csv_list *list,
                              hdst_error *error)
{
    char text[48];
    cell_text(field, text);
    const char *what = why == HDST__DECIMAL_TOO_LARGE   ? (text[0] == '-' ? "is too small for" : "is too large for")
                       : why == HDST__DECIMAL_NOT_WHOLE ? "is not a whole number for"
                                                        : NULL;
    if (what) hdst__error_set(error, HDST_E_FORMAT, "'%s' %s %s in %s", text, what, hdst__scalar_yaml_name(as), words);
    else if (!field->length) hdst__error_set(error, HDST_E_FORMAT, "there is no number in %s", words);
    else hdst__error_set(error, HDST_E_FORMAT, "'%s' is not a number, in %s", text, words);
    if (list && (!what || text[0] == '-')) hdst__error_hint(error, "%s", what ? list->sign_hint : list->row_hint);
    else if (what) hdst__error_hint(error, "declare the field with a type that holds it");
    else if (!field->length) hdst__error_hint(error, "%s", no_value_hint);
    else if (memchr(field->text, ',', field->length)) hdst__error_hint(error, "numbers are written with a point, as in 1.5");
    else if (is_usual_null_value(field)) hdst__error_hint(error, null_value_hint, text);
    else hdst__error_hint(error, "choose the columns that hold numbers, by name or index");
    return HDST_E_FORMAT;
}

static hdst_status bad_text(const char *words, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "there is no text in %s", words);
    hdst__error_hint(error, "%s", no_value_hint);
    return HDST_E_FORMAT;
}

static hdst_status bad_time(const hdst__csv_field *field, const char *words, hdst__iso_status why, hdst__time_unit unit, hdst_error *error)
{
    char text[48];
    const char *what = unit == HDST__DAYS ? "date" : "time";
    const char *example = unit == HDST__DAYS ? "dates are written as in 2024-02-29" : "times are written as in 2024-02-29T12:34:56.789Z";
    cell_text(field, text);
    switch (field->length ? why : HDST__ISO_OK) {
    case HDST__ISO_OK: hdst__error_set(error, HDST_E_FORMAT, "there is no %s in %s", what, words); break;
    case HDST__ISO_NO_SUCH_TIME: hdst__error_set(error, HDST_E_FORMAT, "'%s' in %s is in no calendar: there is no such %s", text, words, what); break;
    case HDST__ISO_TOO_FAR: hdst__error_set(error, HDST_E_FORMAT, "'%s' in %s is too far from 1970 for the field", text, words); break;
    case HDST__ISO_NOT_WHOLE:
        hdst__error_set(error, HDST_E_FORMAT, "'%s' in %s %s", text, words,
                        unit == HDST__DAYS ? "has a time of day, which a date32 has not" : "is finer than the unit of the field");
        break;
    case HDST__ISO_MALFORMED: hdst__error_set(error, HDST_E_FORMAT, "'%s' is not a %s, in %s", text, what, words); break;
    }
    if (why == HDST__ISO_NOT_WHOLE) hdst__error_hint(error, "declare it as a timestamp whose unit (s, ms, us, ns) is fine enough");
    else if (why == HDST__ISO_TOO_FAR) hdst__error_hint(error, "a coarser unit reaches further; nanoseconds reach from 1677 to 2262");
    else if (is_usual_null_value(field)) hdst__error_hint(error, null_value_hint, text);
    else hdst__error_hint(error, "%s", field->length ? example : no_value_hint);
    return HDST_E_FORMAT;
}

// A cell of a number or time by all rules; one of a text that must not be empty, and is.
static hdst_status parse_cell(const hdst__source *source, const hdst__csv_reader *reader, size_t column, const hdst__csv_field *field, hdst__cell_form as,
                              char *to, hdst_error *error)
{
    const hdst__csv_state *state = source->state;
    char words[80];
    hdst_status status = HDST_OK;
    if (as.kind == HDST__TEXT) status = bad_text(column_words(source, column, words), error);
    else if (as.time) {
        const hdst__iso_status why = hdst__iso_parse(field->text, field->length, as.time, to);
        if (why != HDST__ISO_OK) status = bad_time(field, column_words(source, column, words), why, as.time, error);
    } else {
        const hdst__decimal_status why = hdst__decimal_parse(field->text, field->length, as.kind, state->c_locale, to);
        if (why != HDST__DECIMAL_OK) status = bad_number(field, column_words(source, column, words), why, as.kind, state->list, error);
    }
    if (status != HDST_OK) hdst__csv_reader_locate(reader, field->text, field->length, error);
    return status;
}

static hdst_status changed(const hdst__source *source, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read", source->name);
    hdst__error_at(error, source->name, 0, 0);
    return HDST_E_IO;
}

static bool says_nothing(const hdst__cell_form *as, const hdst__csv_field *field, bool is_quoted_text)
{
    if (is_quoted_text) return false;
    for (size_t i = 0; as->null_values && i < as->null_values->count; i++) {
        const hdst__null_value *word = &as->null_values->value[i];
        if (field->length == word->length && !memcmp(field->text, word->bytes, word->length)) return true;
    }
    return !field->length;
}

static hdst_status parse_row(const hdst__source *source, const hdst__csv_reader *reader, const hdst__csv_cells *cells, char *row, bool *may_skip,
                             hdst_error *error)
{
    const hdst__csv_state *state = source->state;
    hdst_status status = HDST_OK;
    char *to = row;
    for (size_t c = 0; c < source->column_count && status == HDST_OK; c++, to += cells->cell_bytes) {
        const hdst__csv_field *field = &reader->fields[state->fields[c]];
        const hdst__cell_form *as = &cells->as->cell[c];
        const bool is_text = as->kind == HDST__TEXT, empty = says_nothing(as, field, is_text && hdst__csv_is_quoted(reader, field));
        if (as->kind == HDST__VOID) continue;
        if (as->valid) row[(as->valid - 1) * cells->cell_bytes] = !empty;
        if (empty && hdst__may_be_empty(as)) hdst__csv_put_missing(as, to);
        else if (is_text && !empty)
            memcpy(to, &(hdst__csv_raw_text){(char *)field->text, (uint32_t)field->length, hdst__csv_is_quoted(reader, field)}, sizeof(hdst__csv_raw_text));
        else {
            const hdst__csv_field none = {field->text, 0};
            status = parse_cell(source, reader, c, empty ? &none : field, *as, to, error);
            *may_skip = cells->as->skips_malformed || (empty && as->missing == HDST__MISSING_SKIP);
        }
    }
    return status;
}

hdst_status hdst__csv_judge_row(const hdst__source *source, const hdst__csv_reader *reader, const hdst__csv_cells *cells, hdst_status wrong, char *row,
                                bool *kept, hdst_error *error)
{
    const hdst__csv_state *state = source->state;
    bool may_skip = cells->as && cells->as->skips_malformed;
    hdst_status status = wrong;
    if (status == HDST_OK) status = hdst__csv_reader_check(reader, state->field_count, state->model_line, error);
    if (status == HDST_OK && row) status = parse_row(source, reader, cells, row, &may_skip, error);
    *kept = status == HDST_OK;
    return status == HDST_E_FORMAT && may_skip ? HDST_OK : status;
}

// One row by all rules. One that is left out does not count.
static hdst_status read_row(const hdst__source *source, hdst__csv_cursor *cursor, const hdst__csv_cells *cells, char *to, hdst_error *error)
{
    hdst__csv_reader *reader = &cursor->reader;
    const uint64_t row = cursor->place.row;
    bool more = true, kept;
    hdst_status status = hdst__csv_reader_data(reader, &cursor->place, &more, error);
    if (status == HDST_OK && !more) return changed(source, error);
    if (status != HDST_OK && (status != HDST_E_FORMAT || !reader->next_offset)) return status;
    status = hdst__csv_judge_row(source, reader, cells, status, to ? to : cells->scratch, &kept, error);
    if (status == HDST_OK && !kept) cursor->place = (hdst__csv_place){reader->next_offset, reader->next_line, row};
    return status;
}

static hdst__csv_stretch read_plain(const hdst__csv_state *state, const hdst__csv_cursor *cursor, const hdst__csv_cells *cells, const char *text,
                                    const char *limit, uint64_t most, char *to)
{
    const hdst__csv_shape *shape = &state->cursors.shape;
    if (!to && !cells->scratch) return hdst__csv_scan(shape, text, limit, limit, most);
    if (!to) return hdst__csv_values(shape, cursor->wanted, text, limit, most, cells->scratch, 0, state->c_locale);
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
    for (size_t i = 0; i < state->field_count; i++) wanted[i].as.kind = HDST__VOID;
    for (size_t c = 0; c < source->column_count; c++) {
        const hdst__cell_form as = cells->as->cell[c];
        wanted[state->fields[c]] = (hdst__csv_wanted){as, c * cells->cell_bytes, as.valid ? (as.valid - 1) * cells->cell_bytes : 0};
    }
}
