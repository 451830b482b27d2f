// SPDX-License-Identifier: Apache-2.0
// What functions see of texts, in the interpreter, beside plain scans byte by byte: tokens of every class, views, comparisons, what is
// found, numbers and hashes. The first byte says how long the second text is, the next one which view of the first is looked at; the rest are both.
#define _GNU_SOURCE     // memmem
#include "hdst/hdst.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

enum { WORDS, SPACES, BETWEEN, NUMBERS, PLACE };
enum { AS_IT_IS, LOWER, UPPER };
enum { NO_INTEGER = -77 };
static const double no_double = -0.25;

static const char kernel[] =
    "struct pair { text t, s; uint8_t view; };\n"
    "struct seen { int64_t kind, n; text t; uint64_t bits, hash; int64_t integer; };\n"
    "seen found(int64_t kind, int64_t n, text t) { return (seen){ .kind = kind, .n = n, .t = t }; }\n"
    "flat_map look(pair p) -> seen\n"
    "{\n"
    "    text t = p.view == 0 ? p.t : p.view == 1 ? lower(p.t) : upper(p.t);\n"
    "    for (text w : tokens(t, WORD)) emit(found(0, len(w), w));\n"
    "    for (text w : tokens(t, SPACE)) emit(found(1, len(w), w));\n"
    "    for (text w : tokens(t, chars(p.s))) emit(found(2, len(w), w));\n"
    "    emit((seen){ .kind = 3, .n = (int64_t)as_uint(parse_float(t, -0.25f)), .t = t, .bits = as_ulong(parse_double(t, -0.25)), .hash = hash(t),\n"
    "                 .integer = parse_int(t, -77) });\n"
    "    int64_t order = (t < p.s ? 1 : 0) + (t <= p.s ? 2 : 0) + (t == p.s ? 4 : 0) + (starts_with(t, p.s) ? 8 : 0) + (ends_with(t, p.s) ? 16 : 0);\n"
    "    emit((seen){ .kind = 4, .n = order, .t = t[find(t, p.s):len(t)], .integer = find(t, p.s) });\n"
    "}\n";

typedef struct pair { hdst_text_span t, s; uint8_t view; } pair;
typedef struct seen { int64_t kind, n; hdst_text_span t; uint64_t bits, hash; int64_t integer; } seen;

// What is read, and what came out of it: the same objects for all inputs, so that nothing is compiled again.
static pair input;
static hdst_result *result;

static void open_once(void)
{
    if (result) return;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = 24 << 20;          // what is taken for each run is a share of it, and sanitizers mark all of it
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = hdst_module_parse(context, "tokens.hk", kernel, NULL);
    require(hdst_module_status(module, NULL) == HDST_OK);
    hdst_source *source = hdst_source_from_memory(context, &input, 1, sizeof input);
    result = hdst_result_create(hdst_flat_map_function(hdst_read(source, module, "pair"), module, "look"));
}

// --- Plain scans ---

typedef struct bytes { const char *at; size_t length; } bytes;

static bool is_one_of(char c, bytes set) { return set.length && memchr(set.at, c, set.length); }

static bool in_token(int kind, char c, bytes separators)
{
    const unsigned char u = (unsigned char)c;
    if (kind == WORDS) return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '_';
    if (kind == SPACES) return !(u == ' ' || (u >= 9 && u <= 13));
    return !is_one_of(c, separators);
}

static bool same(const hdst_text_span *span, const char *at, size_t length)
{
    return span->length == length && (!length || !memcmp(hdst_text_bytes(span), at, length));
}

// Takes the tokens of a kind from the front of the rows.
static const seen *check_tokens(const seen *row, const seen *end, int kind, bytes t, bytes separators)
{
    for (size_t i = 0; i < t.length;) {
        size_t n = 0;
        while (i + n < t.length && in_token(kind, t.at[i + n], separators)) n++;
        if (n) {
            require(row < end && row->kind == kind && row->n == (int64_t)n && same(&row->t, t.at + i, n));
            row++;
        }
        i += n + 1;
    }
    return row;
}

static bytes trimmed(bytes t)
{
    while (t.length && !in_token(SPACES, t.at[0], t)) t.at++, t.length--;
    while (t.length && !in_token(SPACES, t.at[t.length - 1], t)) t.length--;
    return t;
}

static bool is_word(bytes t, const char *word)
{
    return t.length == strlen(word) && !strncasecmp(t.at, word, t.length);
}

static size_t digits(bytes t, size_t from)
{
    size_t n = 0;
    while (from + n < t.length && t.at[from + n] >= '0' && t.at[from + n] <= '9') n++;
    return n;
}

// [+-] digits [. digits] [e [+-] digits], with a digit in front of the exponent; `whole`: digits alone.
static bool is_number(bytes t, bool *whole)
{
    size_t at = t.length && (t.at[0] == '+' || t.at[0] == '-');
    const bytes rest = {t.at + at, t.length - at};
    if (is_word(rest, "inf") || is_word(rest, "infinity") || is_word(rest, "nan")) return true;
    size_t before = digits(t, at), behind = 0;
    at += before;
    *whole = before && at == t.length;
    if (at < t.length && t.at[at] == '.') at += 1 + (behind = digits(t, at + 1));
    if (!before && !behind) return false;
    if (at < t.length && (t.at[at] | 32) == 'e') {
        at += 1 + (at + 1 < t.length && (t.at[at + 1] == '+' || t.at[at + 1] == '-'));
        const size_t power = digits(t, at);
        if (!power) return false;
        at += power;
    }
    return at == t.length;
}

static void check_numbers(const seen *row, bytes t)
{
    bool whole = false;
    const bytes number = trimmed(t);
    char *text = strndup(number.at, number.length);
    double d = no_double;
    float f = (float)no_double;
    int64_t integer = NO_INTEGER;
    if (is_number(number, &whole)) d = strtod(text, NULL), f = strtof(text, NULL);
    errno = 0;
    if (whole) integer = strtoll(text, NULL, 10);
    if (errno == ERANGE) integer = NO_INTEGER;
    free(text);
    if (d != d) d = NAN, f = NAN;
    uint64_t bits = 0;
    uint32_t short_bits = 0;
    memcpy(&bits, &d, sizeof bits);
    memcpy(&short_bits, &f, sizeof short_bits);
    require(row->kind == NUMBERS && row->integer == integer && row->bits == bits && row->n == (int64_t)short_bits && same(&row->t, t.at, t.length));
}

// As docs/kernel-language.md says.
static uint64_t hash_of(bytes t)
{
    uint64_t h = t.length;
    for (size_t i = 0; i < t.length; i += 8) {
        uint64_t w = 0;
        memcpy(&w, t.at + i, t.length - i < 8 ? t.length - i : 8);
        h = (h ^ w) + 0x9e3779b97f4a7c15;
        h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9;
        h = (h ^ h >> 27) * 0x94d049bb133111eb;
        h = h ^ h >> 31;
    }
    return h;
}

static int compare(bytes a, bytes b)
{
    const size_t n = a.length < b.length ? a.length : b.length;
    const int order = n ? memcmp(a.at, b.at, n) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static void check_place(const seen *row, bytes t, bytes s)
{
    const int order = compare(t, s);
    const bool starts = s.length <= t.length && (!s.length || !memcmp(t.at, s.at, s.length));
    const bool ends = s.length <= t.length && (!s.length || !memcmp(t.at + t.length - s.length, s.at, s.length));
    const char *at = s.length ? memmem(t.at, t.length, s.at, s.length) : t.at;
    require(row->kind == PLACE && row->n == (order < 0) + 2 * (order <= 0) + 4 * (order == 0) + 8 * starts + 16 * ends);
    require(row->integer == (at ? at - t.at : -1));
    require(same(&row->t, at ? at : t.at, at ? t.length - (size_t)(at - t.at) : t.length));
}

static char turned(char c, int view)
{
    if (view == LOWER && c >= 'A' && c <= 'Z') return (char)(c + 32);
    return view == UPPER && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1 << 16) return 0;
    open_once();
    const size_t all = size - 2, short_length = data[0] < all ? data[0] : all, length = all - short_length;
    // Texts in memory have bytes behind them that may be read.
    char *memory = calloc(1, size + 64), *looked_at = calloc(1, length + 1);
    const bytes s = {memory, short_length}, t = {memory + short_length, length}, viewed = {looked_at, length};
    require(memory && looked_at);
    memcpy(memory, data + 2, all);
    input = (pair){hdst_text_span_of(t.at, (uint32_t)length), hdst_text_span_of(s.at, (uint32_t)short_length), data[1] % 3};
    for (size_t i = 0; i < length; i++) looked_at[i] = turned(t.at[i], input.view);
    uint64_t count;
    require(hdst_run(result, NULL) == HDST_OK);
    const seen *row = hdst_result_rows(result, NULL, &count), *end = row + count;
    for (int kind = WORDS; kind <= BETWEEN; kind++) row = check_tokens(row, end, kind, viewed, s);
    require(end - row == 2 && row->hash == hash_of(viewed));
    check_numbers(row, viewed);
    check_place(row + 1, viewed, s);
    free(memory);
    free(looked_at);
    return 0;
}
