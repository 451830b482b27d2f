// SPDX-License-Identifier: Apache-2.0
// Keys in C structs with texts among their fields: hash and order are those of the words that record/key_hash.h and record/key_texts.h describe.
#include "record/key_field.h"

#include "record/key_hash.h"
#include "record/key_texts.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct row { uint8_t a; int16_t b; hdst__text_span t; uint32_t c; hdst__text_span u; } row;

static const hdst__key_field fields[] = {{offsetof(row, a), HDST__U8}, {offsetof(row, b), HDST__I16}, {offsetof(row, t), HDST__TEXT},
                                         {offsetof(row, c), HDST__U32}, {offsetof(row, u), HDST__TEXT}};

static row make_row(uint32_t random)
{
    static const char *const texts[] = {"", "a", "a long text with one end", "a long text with another", "a long", "twelve bytes"};
    row r;
    memset(&r, 0, sizeof r);
    r.a = (uint8_t)(random % 2 * 200);
    r.b = (int16_t)(random / 2 % 2 ? -3 : 3);
    r.c = random / 4 % 2 * 77777777u;
    static char elsewhere[2][6][40];
    const uint32_t which = random / 8 % 6;
    const char *t = strcpy(elsewhere[random % 2][which], texts[which]), *u = texts[random / 48 % 6];    // some of equal bytes in another place
    r.t = hdst__text_span_of(t, (uint32_t)strlen(t));
    r.u = hdst__text_span_of(u, (uint32_t)strlen(u));
    return r;
}

static int compare_texts(const char *a, const char *b) { return strcmp(a, b); }
static const char *text_of(const hdst__text_span *span, char *to)
{
    memcpy(to, hdst__text_bytes(span), span->length);
    to[span->length] = 0;
    return to;
}

static int expected_order(const row *x, const row *y)
{
    char s[40], t[40];
    const uint64_t p = x->a | (uint64_t)(uint16_t)x->b << 16, q = y->a | (uint64_t)(uint16_t)y->b << 16;
    if (p != q) return p < q ? -1 : 1;
    int order = compare_texts(text_of(&x->t, s), text_of(&y->t, t));
    if (order) return order;
    if (x->c != y->c) return x->c < y->c ? -1 : 1;
    return compare_texts(text_of(&x->u, s), text_of(&y->u, t));
}

static int sign(int x) { return (x > 0) - (x < 0); }

Test(key_field, orders_and_hashes_keys_with_texts)
{
    enum { ROWS = 288 };
    static row rows[ROWS];
    const hdst__key_fields key = hdst__key_fields_of(fields, 5);
    cr_assert_eq(key.bytes, 32);
    for (uint32_t i = 0; i < ROWS; i++) rows[i] = make_row(i);
    for (uint32_t i = 0; i < ROWS; i++) {
        const row *r = &rows[i];
        const uint64_t words[] = {r->a | (uint64_t)(uint16_t)r->b << 16, hdst__text_span_hash(&r->t), r->c, hdst__text_span_hash(&r->u)};
        cr_assert_eq(hdst__key_fields_hash(&key, (const char *)r), hdst__key_hash(words, 32));
        for (uint32_t j = 0; j < ROWS; j++)
            cr_assert_eq(sign(hdst__key_fields_compare(&key, (const char *)r, (const char *)&rows[j])), sign(expected_order(r, &rows[j])));
    }
}

// The same in containers' words, where spans stand.
Test(key_field, words_with_spans_have_the_same_order_and_mix_all_of_the_bytes)
{
    static const uint32_t at[] = {1, 4};
    const hdst__key_texts texts = {at, 2};
    enum { ROWS = 288, WORDS = 6 };
    static uint64_t words[ROWS][WORDS];
    static row rows[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        const row r = rows[i] = make_row(i);
        words[i][0] = r.a | (uint64_t)(uint16_t)r.b << 16;
        memcpy(&words[i][1], &r.t, 16);
        words[i][3] = r.c;
        memcpy(&words[i][4], &r.u, 16);
    }
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < ROWS; j++) {
            const int order = sign(expected_order(&rows[i], &rows[j]));
            cr_assert_eq(sign(hdst__key_compare(&texts, words[i], words[j], WORDS)), order);
            cr_assert_eq(hdst__key_texts_equal(&texts, words[i], words[j], WORDS), order == 0);
            cr_assert_eq(hdst__key_texts_mixed(&texts, words[i], WORDS, 77) == hdst__key_texts_mixed(&texts, words[j], WORDS, 77), order == 0);
        }
    cr_assert_neq(hdst__key_texts_mixed(&texts, words[0], WORDS, 77), hdst__key_texts_mixed(&texts, words[0], WORDS, 78));
}

Test(key_field, many_numbers_are_those_of_each_row)
{
    enum { ROWS = 100, BYTES = 24 };
    static const hdst__kind kinds[] = {HDST__BOOL, HDST__I8, HDST__I16, HDST__I32, HDST__I64, HDST__U8, HDST__U16, HDST__U32, HDST__U64};
    char rows[ROWS * BYTES];
    uint64_t all[ROWS];
    for (size_t i = 0; i < sizeof rows; i++) rows[i] = (char)(i * 151 ^ i >> 3);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const hdst__key_field field = {8, kinds[k]};
        hdst__key_field_read_all(&field, rows, BYTES, ROWS, all);
        for (size_t i = 0; i < ROWS; i++) cr_assert_eq(all[i], hdst__key_field_read(&field, rows + i * BYTES), "kind %zu, row %zu", k, i);
    }
}
