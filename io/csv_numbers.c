// SPDX-License-Identifier: Apache-2.0
// Numbers and texts of plain rows of separated text.
#include "io/csv_numbers.h"

#include "base/vector_targets.h"
#include "io/byte_masks.h"
#include "io/decimal.h"
#include "io/decimal_short.h"
#include "io/iso_time.h"

#include <string.h>

typedef struct row_text {
    char delimiter, other_blank;        // what else than ' ' is a blank: '\t', or ' ' again where tabs delimit
    const char *limit;
    locale_t c_locale;
    uint64_t lines;                     // line ends within quotes of the row that is read
} row_text;

static inline const char *skip_blanks(const row_text *t, const char *p)
{
    while (*p == ' ' || *p == t->other_blank) p++;
    return p;
}

// Where the field ends that starts at p: at its delimiter, or at the end of the line, or at the limit.
static const char *field_end(const row_text *t, const char *p)
{
    for (; p < t->limit; p += 64) {
        const hdst__bytes bytes = hdst__bytes_load(p);
        uint64_t ends = hdst__bytes_equal(&bytes, t->delimiter) | hdst__bytes_equal(&bytes, '\n');
        if (t->delimiter == ' ') ends |= hdst__bytes_equal(&bytes, '\t');
        if (ends) return p + __builtin_ctzll(ends);
    }
    return t->limit;
}

// Behind the quote that closes the field at p, whose line ends are counted. NULL: none does before the limit.
static const char *quoted_end(row_text *t, const char *p)
{
    for (p++; (p = memchr(p, '"', (size_t)(t->limit - p))) != NULL && p[1] == '"'; p += 2) {}
    return p ? p + 1 : NULL;
}

// The end of a field that is passed over, without a carriage return that belongs to the end of the line. NULL: it is not there, or not whole.
static const char *pass_over(row_text *t, const char *p)
{
    if (*p == '"') {
        const char *end = quoted_end(t, p);
        for (; end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) t->lines++;
        return end;
    }
    const char *end = field_end(t, p);
    if (end > p && end[-1] == '\r' && *end == '\n') end--;
    return end == p && t->delimiter == ' ' ? NULL : end;
}

// Of a number of at most eight digits, so that 32 bits and a sign hold it.
static inline bool store_whole(const hdst__short_decimal *d, hdst__kind as, char *cell)
{
    static const int64_t least[HDST__SCALAR_KINDS] = {[HDST__I8] = INT8_MIN, [HDST__I16] = INT16_MIN, [HDST__I32] = INT32_MIN, [HDST__I64] = INT64_MIN};
    static const int64_t most[HDST__SCALAR_KINDS] = {[HDST__I8] = INT8_MAX, [HDST__I16] = INT16_MAX, [HDST__I32] = INT32_MAX, [HDST__I64] = INT64_MAX,
                                                     [HDST__U8] = UINT8_MAX, [HDST__U16] = UINT16_MAX, [HDST__U32] = UINT32_MAX, [HDST__U64] = INT64_MAX};
    const int64_t value = d->negative ? -(int64_t)d->digits : (int64_t)d->digits;
    if (!d->whole || value < least[as] || value > most[as]) return false;
    const uint64_t bits = (uint64_t)value;
    switch (hdst__scalar_size(as)) {
    case 1: memcpy(cell, &(uint8_t){(uint8_t)bits}, 1); break;
    case 2: memcpy(cell, &(uint16_t){(uint16_t)bits}, 2); break;
    case 4: memcpy(cell, &(uint32_t){(uint32_t)bits}, 4); break;
    default: memcpy(cell, &bits, 8); break;
    }
    return true;
}

static inline bool store_short(const hdst__short_decimal *d, hdst__kind as, char *cell)
{
    if (as != HDST__F32 && as != HDST__F64) return as != HDST__BOOL && store_whole(d, as, cell);
    double value;
    if (!hdst__short_decimal_double(d, &value)) return false;
    if (as == HDST__F64) memcpy(cell, &value, sizeof value);
    else memcpy(cell, &(float){(float)value}, sizeof(float));
    return true;
}

// Where blanks delimit, none is part of a time that is not in quotes.
static const char *read_time(const row_text *t, const char *p, hdst__time_unit unit, char *cell)
{
    const char *end;
    return hdst__iso_read(p, t->limit, unit, t->delimiter != ' ', cell, &end) == HDST__ISO_OK ? end : NULL;
}

// The end of a number, or time. NULL: it is none that fits. What follows may make it another text, which whoever looks for the field's end will see.
static inline const char *read_bare(const row_text *t, const char *p, hdst__cell_form as, char *cell)
{
    hdst__short_decimal d;
    if (as.time) return read_time(t, p, as.time, cell);
    const char *end = hdst__short_decimal_read(p, &d);
    if (end && *end != 'e' && *end != 'E' && store_short(&d, as.kind, cell)) return end;
    return hdst__decimal_read(p, t->limit, as.kind, t->c_locale, cell);
}

static inline const char *read_number(const row_text *t, const char *p, hdst__cell_form as, char *cell)
{
    if (*p != '"') return read_bare(t, p, as, cell);
    p = read_bare(t, p + 1, as, cell);
    return p && *p == '"' ? p + 1 : NULL;
}

// Goes on to the next field, or NULL.
static inline const char *take_delimiter(const row_text *t, const char *p)
{
    if (t->delimiter == ' ') return *p == ' ' || *p == '\t' ? p + 1 : NULL;
    if (*p == t->delimiter) return p + 1;
    p = skip_blanks(t, p);
    return *p == t->delimiter ? p + 1 : NULL;
}

// Goes on to the next row, or NULL.
static inline const char *take_line_end(const row_text *t, const char *p)
{
    if (*p == '\n') return p + 1;
    p = skip_blanks(t, p);
    p += *p == '\r';
    return *p == '\n' ? p + 1 : NULL;
}

// Behind a text, which reaches up to there but for quotes around it and blanks behind it.
static const char *read_text(row_text *t, const char *p, char *cell)
{
    const char *end = pass_over(t, p), *last = end;
    if (!end) return NULL;
    const bool quoted = *p == '"';
    while (!quoted && last > p && (last[-1] == ' ' || last[-1] == t->other_blank)) last--;
    const hdst__csv_raw_text raw = {(char *)p + quoted, (uint32_t)(last - p) - 2 * quoted, quoted};
    memcpy(cell, &raw, sizeof raw);
    return end;
}

void hdst__csv_put_missing(const hdst__cell_form *as, char *cell)
{
    static const uint64_t double_nan = UINT64_C(0x7ff8000000000000);
    static const uint32_t float_nan = 0x7fc00000;
    if (as->kind == HDST__TEXT) memset(cell, 0, sizeof(hdst__csv_raw_text));
    else if (as->missing == HDST__MISSING_ZERO) memset(cell, 0, HDST__TEXT_CELL_BYTES);
    else if (as->kind == HDST__F64) memcpy(cell, &double_nan, sizeof double_nan);
    else memcpy(cell, &float_nan, sizeof float_nan);
}

// Whether the field at p ends there.
static bool ends_here(const row_text *t, const char *p)
{
    return p < t->limit && (*p == t->delimiter || *p == '\n' || (*p == '\r' && p[1] == '\n'));
}

static const char *put_missing(const hdst__csv_wanted *wanted, const char *end, char *cells)
{
    hdst__csv_put_missing(&wanted->as, cells + wanted->cell);
    if (wanted->as.valid) cells[wanted->valid] = 0;
    return end;
}

// A field that is no number since it is empty, quoted or not. Its end, or NULL: it is something else, or must not be empty.
static const char *read_missing(const row_text *t, const char *p, const hdst__csv_wanted *wanted, char *cells)
{
    const char *end = *p == '"' && p[1] == '"' && p[2] != '"' ? p + 2 : p;
    if (!hdst__may_be_empty(&wanted->as) || (end == p && !ends_here(t, p))) return NULL;
    return put_missing(wanted, end, cells);
}

// Whether a field ends behind what was read of it, but for blanks.
static bool ends_behind(const row_text *t, const char *p)
{
    if (t->delimiter == ' ' && *p == '\t') return true;
    return ends_here(t, t->delimiter == ' ' ? p : skip_blanks(t, p));
}

// The end of a field that is one of the words that say as much as an empty one. NULL: it is none. In quotes a text is what it says.
static const char *read_null_value(const row_text *t, const char *p, const hdst__cell_form *as)
{
    const bool quoted = *p == '"';
    if (quoted && as->kind == HDST__TEXT) return NULL;
    const char *begin = p + quoted;
    for (size_t i = 0; i < as->null_values->count && begin < t->limit; i++) {
        const hdst__null_value *word = &as->null_values->value[i];
        if ((size_t)(t->limit - begin) <= word->length || memcmp(begin, word->bytes, word->length)) continue;
        const char *end = begin + word->length;
        if (!quoted && memchr(word->bytes, t->delimiter, word->length)) continue;      // those are several fields
        if (quoted && *end++ != '"') continue;
        if (ends_behind(t, end)) return end;
    }
    return NULL;
}

static const char *read_wanted_text(row_text *t, const char *p, const hdst__csv_wanted *wanted, char *cells)
{
    const bool empty = ends_here(t, p);
    if (empty && !hdst__may_be_empty(&wanted->as)) return NULL;
    if (wanted->as.valid) cells[wanted->valid] = !empty;
    return read_text(t, p, cells + wanted->cell);
}

static inline const char *read_field(row_text *t, const char *p, const hdst__csv_wanted *wanted, bool has_texts, char *cells)
{
    if (wanted->as.kind == HDST__VOID) return pass_over(t, p);
    const char *null = wanted->as.null_values ? read_null_value(t, p, &wanted->as) : NULL;
    if (null) return hdst__may_be_empty(&wanted->as) ? put_missing(wanted, null, cells) : NULL;
    if (has_texts && wanted->as.kind == HDST__TEXT) return read_wanted_text(t, p, wanted, cells);
    const char *end = read_number(t, p, wanted->as, cells + wanted->cell);
    if (!end) return read_missing(t, p, wanted, cells);
    if (wanted->as.valid) cells[wanted->valid] = 1;
    return end;
}

static inline const char *read_row(row_text *t, const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, bool has_texts, const char *p, char *cells)
{
    if (!hdst__csv_begins_plain(shape, p)) return NULL;
    for (size_t i = 0; i < shape->field_count; i++) {
        p = skip_blanks(t, p);
        p = read_field(t, p, &wanted[i], has_texts, cells);
        if (!p) return NULL;
        p = i + 1 < shape->field_count ? take_delimiter(t, p) : take_line_end(t, p);
        if (!p) return NULL;
    }
    return p <= t->limit ? p : NULL;
}

// Behind the line, if it has no data.
static inline const char *skip_line(const row_text *t, const hdst__csv_shape *shape, const char *p)
{
    const char *end = hdst__csv_is_skipped(shape, p) ? memchr(p, '\n', (size_t)(t->limit - p)) : NULL;
    return end ? end + 1 : NULL;
}

static inline __attribute__((always_inline)) hdst__csv_stretch read_plain(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, bool has_texts,
                                                                          const char *text, const char *stop, const char *limit, uint64_t most,
                                                                          char *cells, uint64_t row_bytes, locale_t c_locale)
{
    row_text t = {shape->delimiter, shape->delimiter == '\t' ? ' ' : '\t', limit, c_locale, 0};
    hdst__csv_stretch all = {text, 0, 0};
    while (all.rows < most && all.behind < stop) {
        t.lines = 0;
        const char *row = read_row(&t, shape, wanted, has_texts, all.behind, cells), *next = row ? row : skip_line(&t, shape, all.behind);
        if (!next) break;
        all = (hdst__csv_stretch){next, all.rows + (row != NULL), all.lines + (row ? t.lines : 0) + 1};
        if (row) cells += row_bytes;
    }
    return all;
}

HDST__WIDE_VECTORS hdst__csv_stretch hdst__csv_numbers(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, const char *text, const char *limit,
                                                       uint64_t most, char *cells, uint64_t row_bytes, locale_t c_locale)
{
    return read_plain(shape, wanted, false, text, limit, limit, most, cells, row_bytes, c_locale);
}

HDST__WIDE_VECTORS hdst__csv_stretch hdst__csv_values(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, const char *text, const char *limit,
                                                      uint64_t most, char *cells, uint64_t row_bytes, locale_t c_locale)
{
    return read_plain(shape, wanted, true, text, limit, limit, most, cells, row_bytes, c_locale);
}

hdst__csv_stretch hdst__csv_try(const hdst__csv_shape *shape, const hdst__csv_wanted *wanted, const char *text, const char *stop, const char *limit, char *row,
                                locale_t c_locale)
{
    return read_plain(shape, wanted, true, text, stop, limit, UINT64_MAX, row, 0, c_locale);
}
