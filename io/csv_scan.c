// SPDX-License-Identifier: Apache-2.0
// Rows of separated text by masks of 64 bytes (io/byte_masks.h).
#include "io/csv_scan.h"

#include "base/vector_targets.h"
#include "io/byte_masks.h"

typedef struct chunk_masks {
    uint64_t newline;       // outside quotes
    uint64_t fields;        // a bit for each field but the first of a row; where blanks delimit, for each field
    uint64_t odd;           // what a plain row does not have
    uint64_t quote, inside; // quotes; what is quoted, with the quotes that open
    uint64_t inner;         // line ends within quotes
} chunk_masks;

typedef struct scanner {
    char delimiter;
    const char *text;
    uint64_t blank_before;  // whether the byte before the chunk is a blank or a line end
    uint64_t quoted;        // all ones: the chunk begins within quotes
} scanner;

// Bytes that are this letter, of either case.
static inline uint64_t letter(const hdst__bytes *bytes, char small) { return hdst__bytes_equal(bytes, small) | hdst__bytes_equal(bytes, (char)(small - 32)); }

// Where a word ends that may be nan, inf or infinity: "nan", "inf" or "ity" that no letter follows. What is not in the chunk may be any letter. Apart, so that
// what few numbers have takes no registers from what all have.
HDST__WIDE_VECTORS static __attribute__((noinline)) uint64_t ends_of_words(const char *chunk, uint64_t letters)
{
    const hdst__bytes loaded = hdst__bytes_load(chunk), *bytes = &loaded;
    const uint64_t n = letter(bytes, 'n'), behind_n = n << 1 | 1, behind_i = letter(bytes, 'i') << 2 | 3;
    const uint64_t nan = n & (letter(bytes, 'a') << 1 | 1) & (n << 2 | 3), inf = letter(bytes, 'f') & behind_n & behind_i;
    const uint64_t ity = letter(bytes, 'y') & (letter(bytes, 't') << 1 | 1) & behind_i;
    return (nan | inf | ity) & ~(letters >> 1);
}

static bool ends_field(const scanner *s, char c) { return c == s->delimiter || c == '\n' || c == '"' || (s->delimiter == ' ' && c == '\t'); }

// Bits from each quote that opens up to before the one that closes: whether a number of quotes stands before, which is odd within.
static inline uint64_t within(uint64_t quotes)
{
    for (int shift = 1; shift < 64; shift *= 2) quotes ^= quotes << shift;
    return quotes;
}

// Takes what stands within quotes out of the masks. A quote that opens stands behind a delimiter, one that closes before one; or both are one of two that stand
// for one. `borders`: delimiters, as far as they are bytes of their own.
static void take_quoted(scanner *s, const char *p, uint64_t borders, uint64_t returns, chunk_masks *m)
{
    const uint64_t ends = borders | m->newline | m->quote, inside = m->inside = within(m->quote) ^ s->quoted;
    const uint64_t before = ends << 1 | (p == s->text || ends_field(s, p[-1]));
    const uint64_t after = (ends | returns) >> 1 | (uint64_t)(ends_field(s, p[64]) || p[64] == '\r') << 63;
    m->odd |= (m->quote & inside & ~before) | (m->quote & ~inside & ~after);
    m->inner = m->newline & inside;
    m->newline &= ~inside;
    s->quoted = inside >> 63 ? UINT64_MAX : 0;
}

static inline chunk_masks masks_of(scanner *s, const char *p)
{
    const hdst__bytes bytes = hdst__bytes_load(p);
    const uint64_t letters = hdst__bytes_letters(&bytes);
    chunk_masks m = {.newline = hdst__bytes_equal(&bytes, '\n'), .quote = hdst__bytes_equal(&bytes, '"'), .odd = letters ? ends_of_words(p, letters) : 0};
    const bool has_quoted = m.quote | s->quoted;
    if (s->delimiter != ' ') {
        const uint64_t delimiters = hdst__bytes_equal(&bytes, s->delimiter);
        if (has_quoted) take_quoted(s, p, delimiters, hdst__bytes_equal(&bytes, '\r'), &m);
        m.fields = delimiters & ~m.inside;
        return m;
    }
    const uint64_t spaces = hdst__bytes_equal(&bytes, ' ') | hdst__bytes_equal(&bytes, '\t'), returns = hdst__bytes_equal(&bytes, '\r');
    const uint64_t newline = m.newline;
    if (has_quoted) take_quoted(s, p, spaces, returns, &m);
    m.odd |= returns & ~m.inside & ~(newline >> 1 | (uint64_t)(p[64] == '\n') << 63);       // within a line it is like a letter
    const uint64_t blanks = (spaces | returns | newline) & ~m.inside;
    m.fields = ~blanks & (blanks << 1 | s->blank_before);
    s->blank_before = blanks >> 63;
    return m;
}

typedef struct row_so_far {
    const char *start;
    uint64_t fields, inner, odd, quotes;
} row_so_far;

static inline void take_part(row_so_far *row, const chunk_masks *m, uint64_t part)
{
    row->fields += (uint64_t)__builtin_popcountll(m->fields & part);
    row->odd |= m->odd & part;
    row->quotes |= m->quote & part;
    if (m->inner) row->inner += (uint64_t)__builtin_popcountll(m->inner & part);
}

HDST__WIDE_VECTORS hdst__csv_stretch hdst__csv_scan(const hdst__csv_shape *shape, const char *text, const char *stop, const char *limit, uint64_t most)
{
    const uint64_t expected = shape->field_count - (shape->delimiter != ' ');
    scanner s = {shape->delimiter, text, 1, 0};
    row_so_far row = {.start = text};
    hdst__csv_stretch all = {text, 0, 0};
    for (const char *p = text; p < limit && row.start < stop; p += 64) {
        const chunk_masks m = masks_of(&s, p);
        uint64_t rest = UINT64_MAX, newlines = limit - p < 64 ? m.newline & ((UINT64_C(1) << (limit - p)) - 1) : m.newline;
        for (; newlines && row.start < stop; newlines &= newlines - 1) {
            const uint64_t line = rest & (newlines ^ (newlines - 1));       // what the chunk has of the row, its newline too
            take_part(&row, &m, line);
            const bool is_row = row.fields == expected && !row.odd && hdst__csv_begins_plain(shape, row.start);
            if (all.rows == most || (!is_row && (row.quotes || !hdst__csv_is_skipped(shape, row.start)))) return all;
            all = (hdst__csv_stretch){p + __builtin_ctzll(newlines) + 1, all.rows + is_row, all.lines + row.inner + 1};
            row = (row_so_far){.start = all.behind};
            rest &= ~line;
        }
        take_part(&row, &m, rest);
        if (row.odd) return all;
    }
    return all;
}
