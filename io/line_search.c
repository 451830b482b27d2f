// SPDX-License-Identifier: Apache-2.0
// Texts in bytes (io/line_search.h): 64 places at a time are looked at where the first and the last byte of the text stand as far apart as in it.
#include "io/line_search.h"

#include "base/vector_targets.h"
#include "io/byte_masks.h"

enum { RUN = 64, SKIP = 256 };      // bytes that are looked at at once: for places, for whether there is one

typedef struct needle {
    const char *text;
    uint64_t length;
    bool small_letters;
    char first[2], last[2];     // the bytes that count as them: a small letter and the large one, which has a bit less, or twice the same
} needle;

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }
static char large(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

static bool is_there(const needle *n, const char *at)
{
    if (!n->small_letters) return memcmp(at, n->text, n->length) == 0;
    for (uint64_t i = 0; i < n->length; i++)
        if (small(at[i]) != n->text[i]) return false;
    return true;
}

// How many of so many times SKIP bytes, from the first on, have no place: there both differences are 0 at once.
HDST__WIDE_VECTORS static uint64_t skip(const needle *n, const char *bytes, uint64_t times)
{
    const uint8_t first = (uint8_t)n->first[0], last = (uint8_t)n->last[0], first_case = n->first[0] ^ n->first[1], last_case = n->last[0] ^ n->last[1];
    const uint8_t *at = (const uint8_t *)bytes, *end = at + n->length - 1;
    for (uint64_t t = 0; t < times; t++, at += SKIP, end += SKIP) {
        uint8_t least = UINT8_MAX;
        for (int i = 0; i < SKIP; i++) {
            const uint8_t differs = (uint8_t)(((at[i] | first_case) ^ first) | ((end[i] | last_case) ^ last));
            least = differs < least ? differs : least;
        }
        if (least == 0) return t;
    }
    return times;
}

static uint64_t places(const needle *n, const char *at)
{
    const hdst__bytes first = hdst__bytes_load(at), last = hdst__bytes_load(at + n->length - 1);
    return (hdst__bytes_equal(&first, n->first[0]) | hdst__bytes_equal(&first, n->first[1])) &
           (hdst__bytes_equal(&last, n->last[0]) | hdst__bytes_equal(&last, n->last[1]));
}

// Places from `at` on, of which each has all bytes that are looked at in front of `end`; *next: the first that was not looked at.
static uint64_t find_in_runs(const needle *n, const char *bytes, uint64_t at, uint64_t end, uint64_t *next)
{
    while (end - at >= RUN + n->length - 1) {
        at += SKIP * skip(n, bytes + at, (end - at - (n->length - 1)) / SKIP);
        for (int i = 0; i < SKIP / RUN && end - at >= RUN + n->length - 1; i++, at += RUN)
            for (uint64_t found = places(n, bytes + at); found; found &= found - 1) {
                const uint64_t place = at + (uint64_t)__builtin_ctzll(found);
                if (is_there(n, bytes + place)) return place;
            }
    }
    *next = at;
    return end;
}

uint64_t hdst__line_search_find(const hdst__line_search *search, const char *bytes, uint64_t at, uint64_t end)
{
    needle n = {.text = hdst__text_bytes(&search->text), .length = search->text.length, .small_letters = search->small_letters};
    if (n.length > end - at || memchr(n.text, '\n', n.length)) return end;
    n.first[0] = n.text[0];
    n.last[0] = n.text[n.length - 1];
    n.first[1] = search->small_letters ? large(n.first[0]) : n.first[0];
    n.last[1] = search->small_letters ? large(n.last[0]) : n.last[0];
    uint64_t next = at;
    const uint64_t place = find_in_runs(&n, bytes, at, end, &next);
    if (place != end) return place;
    for (; end - next >= n.length; next++)
        if (is_there(&n, bytes + next)) return next;
    return end;
}
