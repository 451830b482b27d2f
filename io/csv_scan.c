// SPDX-License-Identifier: Apache-2.0
// Rows of separated text by masks of 64 bytes (io/byte_masks.h).
#include "io/csv_scan.h"

#include "base/vector_targets.h"
#include "io/byte_masks.h"

typedef struct chunk_masks {
    uint64_t newline;
    uint64_t fields;        // a bit for each field but the first of a row; where blanks delimit, for each field
    uint64_t odd;           // what a plain row does not have
} chunk_masks;

// Where a word ends that may be nan, inf or infinity: an n, f or y that no letter follows. In the last byte one may.
static inline uint64_t ends_of_words(const hdst__bytes *bytes)
{
    const uint64_t letters = hdst__bytes_letters(bytes);
    if (!letters) return 0;
    uint64_t last = 0;
    for (const char *c = "nNfFyY"; *c; c++) last |= hdst__bytes_equal(bytes, *c);
    return last & ~(letters >> 1);
}

static inline chunk_masks masks_of(const char *p, char delimiter, uint64_t *blank_before)
{
    const hdst__bytes bytes = hdst__bytes_load(p);
    chunk_masks m = {.newline = hdst__bytes_equal(&bytes, '\n'), .odd = hdst__bytes_equal(&bytes, '"') | ends_of_words(&bytes)};
    if (delimiter != ' ') {
        m.fields = hdst__bytes_equal(&bytes, delimiter);
        return m;
    }
    const uint64_t returns = hdst__bytes_equal(&bytes, '\r');
    const uint64_t blanks = hdst__bytes_equal(&bytes, ' ') | hdst__bytes_equal(&bytes, '\t') | returns | m.newline;
    m.odd |= returns & ~(m.newline >> 1 | (uint64_t)(p[64] == '\n') << 63);     // within a line it is like a letter
    m.fields = ~blanks & (blanks << 1 | *blank_before);
    *blank_before = blanks >> 63;
    return m;
}

HDST__WIDE_VECTORS uint64_t hdst__csv_scan(const hdst__csv_shape *shape, const char *text, const char *stop, const char *limit, uint64_t most,
                                           const char **behind)
{
    const uint64_t expected = shape->field_count - (shape->delimiter != ' ');
    const char *row = text;
    uint64_t rows = 0, fields = 0, blank_before = 1;
    bool is_plain = most > 0;
    for (const char *p = text; p < limit && row < stop && is_plain; p += 64) {
        const chunk_masks m = masks_of(p, shape->delimiter, &blank_before);
        uint64_t rest = UINT64_MAX, newlines = limit - p < 64 ? m.newline & ((UINT64_C(1) << (limit - p)) - 1) : m.newline;
        for (; newlines && row < stop && is_plain; newlines &= newlines - 1) {
            const uint64_t line = rest & (newlines ^ (newlines - 1));       // what the chunk has of the row, its newline too
            fields += (uint64_t)__builtin_popcountll(m.fields & line);
            is_plain = fields == expected && !(m.odd & line) && hdst__csv_begins_plain(row);
            if (!is_plain) break;
            row = p + __builtin_ctzll(newlines) + 1;
            rest &= ~line;
            fields = 0;
            is_plain = ++rows < most;
        }
        fields += (uint64_t)__builtin_popcountll(m.fields & rest);
        is_plain &= !(m.odd & rest);
    }
    *behind = row;
    return rows;
}
