// SPDX-License-Identifier: Apache-2.0
// Spans of texts against plain bytes: lengths around what a span holds, NUL bytes, common beginnings; the hash word by word.
#include "record/text_span.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252u;
static uint32_t next(uint32_t below)
{
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return (uint32_t)(state % below);
}

// Bytes of a small alphabet, with NUL and 0xff, so that many texts share their beginning.
static uint32_t fill(char *bytes)
{
    static const char letters[] = {0, 'a', 'b', (char)0xff};
    const uint32_t length = next(4) ? next(20) : next(80);
    for (uint32_t i = 0; i < length; i++) bytes[i] = next(8) ? 'a' : letters[next(4)];
    return length;
}

static int sign(int x) { return (x > 0) - (x < 0); }

static int compare_bytes(const char *a, uint32_t m, const char *b, uint32_t n)
{
    for (uint32_t i = 0; i < m && i < n; i++)
        if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
    return (m > n) - (m < n);
}

Test(text_span, orders_and_compares_as_bytes_do)
{
    int equal = 0;
    for (int turn = 0; turn < 200000; turn++) {
        char a[80], b[80];
        const uint32_t m = fill(a);
        uint32_t n = fill(b);
        if (!next(4)) memcpy(b, a, n = m);
        const hdst__text_span s = hdst__text_span_of(a, m), t = hdst__text_span_of(b, n);
        const int wanted = compare_bytes(a, m, b, n);
        cr_assert_eq(sign(hdst__text_compare(&s, &t)), wanted);
        cr_assert_eq(hdst__text_equal(&s, &t), wanted == 0);
        if (!wanted) {
            equal++;
            cr_assert_eq(hdst__text_span_hash(&s), hdst__text_span_hash(&t));
            if (m <= HDST__TEXT_INLINE) cr_assert(!memcmp(&s, &t, sizeof s), "short texts that are equal have equal spans");
        }
        cr_assert_eq(s.length, m);
        cr_assert(!memcmp(hdst__text_bytes(&s), a, m));
    }
    cr_assert_gt(equal, 10000);
}

Test(text_span, hashes_as_the_rule_says)
{
    cr_assert_eq(hdst__text_hash("", 0), 0);
    cr_assert_eq(hdst__text_hash("a", 1), hdst__key_mix64((1 ^ UINT64_C(0x61)) + HDST__KEY_STEP));
    const uint64_t first = hdst__key_mix64((9 ^ UINT64_C(0x6867666564636261)) + HDST__KEY_STEP);
    cr_assert_eq(hdst__text_hash("abcdefghi", 9), hdst__key_mix64((first ^ UINT64_C(0x69)) + HDST__KEY_STEP));
    cr_assert_neq(hdst__text_hash("a", 1), hdst__text_hash("a\0", 2));
}

static bool count_text(void *user, hdst__text_span *span)
{
    *(uint64_t *)user = *(uint64_t *)user * 31 + span->length;
    span->length++;
    return span->length < 8;
}

Test(text_span, finds_all_texts_of_records_aligned_or_not)
{
    jmp_buf out_of_memory;
    hdst__arena arena;
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__field fields[] = {{"tag", hdst__type_scalar(HDST__U8)}, {"names", hdst__type_array(&arena, hdst__type_scalar(HDST__TEXT), 2)}};
    hdst__record record = {.name = "packed", .fields = fields, .field_count = 2, .pack = 1};
    cr_assert(hdst__record_finish(&arena, &record, NULL));
    cr_assert_eq(record.size, 33);
    char rows[99] = {0};
    for (int i = 0; i < 3; i++)
        for (int e = 0; e < 2; e++) rows[33 * i + 1 + 16 * e] = (char)(2 * i + e + 1);
    uint64_t seen = 0;
    cr_assert(hdst__record_texts(&record, rows, 3, count_text, &seen));
    cr_assert_eq(seen, ((((1 * 31 + 2) * 31 + 3) * 31 + 4) * 31 + 5) * 31 + 6);
    cr_assert_eq(rows[33 * 2 + 17], 7, "a changed span is written back");
    cr_assert_not(hdst__record_texts(&record, rows, 3, count_text, &seen), "the last one ends it");
    hdst__arena_destroy(&arena);
}
