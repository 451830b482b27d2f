// SPDX-License-Identifier: Apache-2.0
// Partials as bytes: the same bytes for the same sums, whichever way they came; the same sums from the bytes; foreign and damaged bytes are refused.
#include "accum/partial_bytes.h"
#include "tests/accum/partial_split.h"

#include <criterion/criterion.h>

enum { SPLITS = 6 };

static const hdst__hash identity = {UINT64_C(0x1122334455667788), 42};

static hdst__buffer written(const hdst__partial *partial)
{
    hdst__buffer out;
    hdst_error error = HDST_ERROR_INIT;
    const hdst__partial_label label = {identity, "rows of a test", 14};
    hdst__buffer_init(&out, NULL);
    cr_assert_eq(hdst__partial_write(partial, &label, &out, &error), HDST_OK, "%s", error.message);
    return out;
}

static hdst__partial *read_back(const hdst__buffer *bytes)
{
    hdst__partial *partial;
    hdst__partial_label label;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__partial_from_bytes(NULL, bytes->data, bytes->length, &partial, &label, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(label.identity.high, identity.high);
    cr_assert_eq(label.identity.low, identity.low);
    cr_assert(label.description_bytes == 14 && !memcmp(label.description, "rows of a test", 14));
    return partial;
}

// Written, read, and written again; and four times the sum, most of it by way of bytes.
static void check_bytes(const hdst__partial *all, uint64_t expected, const addend_case *c, bool is_sum)
{
    hdst__buffer bytes = written(all);
    hdst__partial *arrived = read_back(&bytes), *other = read_back(&bytes);
    hdst__buffer again = written(arrived);
    cr_assert(again.length == bytes.length && !memcmp(again.data, bytes.data, bytes.length), "%s: written again", c->name);
    cr_assert_eq(hdst__partial_read(arrived, 0, ROW, 1, ELEMENT), expected, "%s: read back", c->name);
    cr_assert_eq(hdst__partial_read(arrived, 0, 0, 1, ELEMENT), hdst__partial_read(all, 0, 0, 1, ELEMENT), "%s: an empty element", c->name);
    merge(arrived, other);
    merge(arrived, all);
    merge(other, arrived);
    cr_assert_eq(hdst__partial_read(other, 0, ROW, 1, ELEMENT), is_sum ? true_sum(c, 2) : expected, "%s: four times", c->name);
    hdst__partial_destroy(arrived);
    hdst__partial_destroy(other);
    hdst__buffer_destroy(&bytes);
    hdst__buffer_destroy(&again);
}

static void check_doubled(const hdst__partial *all, const addend_case *c)
{
    hdst__buffer bytes = written(all);
    hdst__partial *sum = read_back(&bytes), *same = read_back(&bytes);
    merge(sum, same);
    cr_assert_eq(hdst__partial_read(sum, 0, ROW, 1, ELEMENT), true_sum(c, 1), "%s: twice", c->name);
    hdst__partial_destroy(sum);
    hdst__partial_destroy(same);
    hdst__buffer_destroy(&bytes);
}

static void run_floats(const addend_case *c, hdst__accumulate_op op, uint64_t seed)
{
    const uint64_t expected = op == HDST__SUM ? true_sum(c, 0) : true_extreme(c, op == HDST__MIN);
    hdst__partial *partial[MOST_PARTIALS];
    hdst__buffer first = {0};
    uint64_t bits[MOST_ADDENDS];
    case_shape s;
    case_shape_init(&s, c->kind, op);
    for (size_t i = 0; i < c->count; i++) bits[i] = bits_of_value(c->kind, c->v[i]);
    for (int n = 0; n < SPLITS; n++) {
        const size_t parts = split(&s, bits, c->count, &seed, partial);
        hdst__partial *all = merge_at_random(partial, parts, &seed);
        check_bytes(all, expected, c, op == HDST__SUM);
        if (op == HDST__SUM) check_doubled(all, c);
        hdst__buffer bytes = written(all);
        if (n > 0) cr_assert(bytes.length == first.length && !memcmp(bytes.data, first.data, first.length), "%s: equal sums, other bytes", c->name);
        hdst__buffer_destroy(n > 0 ? &bytes : &first);
        if (n == 0) first = bytes;
        hdst__partial_destroy(all);
    }
    hdst__buffer_destroy(&first);
}

Test(partial_bytes, equal_sums_have_equal_bytes_whichever_way_they_came)
{
    for (int kind = HDST__F32; kind <= HDST__F64; kind++)
        for (int which = 0; which < ADDEND_CASES; which++)
            for (uint64_t seed = 0; seed < (may_be_doubled(which) ? 4 : 1); seed++) {
                const addend_case c = addends_of((hdst__kind)kind, which, seed);
                for (hdst__accumulate_op op = HDST__SUM; op <= HDST__MAX; op++) run_floats(&c, op, 100 * seed + (uint64_t)which);
            }
}

Test(partial_bytes, integers_of_every_operation)
{
    static const hdst__kind kinds[] = {HDST__BOOL, HDST__I8, HDST__I16, HDST__I32, HDST__I64, HDST__U8, HDST__U16, HDST__U32, HDST__U64};
    uint64_t v[MOST_ADDENDS], seed = 5;
    hdst__partial *partial[MOST_PARTIALS];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (hdst__accumulate_op op = HDST__SUM; op <= HDST__XOR; op++)
            for (int round = 0; round < 6; round++) {
                const size_t count = 1 + random_word(&seed) % MOST_ADDENDS;
                case_shape s;
                case_shape_init(&s, kinds[k], op);
                for (size_t i = 0; i < count; i++) v[i] = some_integer(kinds[k], &seed, round % 2);
                const size_t parts = split(&s, v, count, &seed, partial);
                for (size_t p = 0; p < parts; p++) {
                    hdst__buffer bytes = written(partial[p]);
                    hdst__partial_destroy(partial[p]);
                    partial[p] = read_back(&bytes);
                    hdst__buffer_destroy(&bytes);
                }
                hdst__partial *all = merge_at_random(partial, parts, &seed);
                cr_assert_eq(hdst__partial_read(all, 0, ROW, 1, ELEMENT), true_integer(kinds[k], op, v, count), "kind %d, operation %d", (int)kinds[k],
                             (int)op);
                hdst__partial_destroy(all);
            }
}

// --- The format ---

// 1.5 + 2 in one element of 15, one record counted: 3.5 is 7 times 2^-1.
static hdst__partial *small_partial(void)
{
    case_shape s;
    case_table table;
    case_shape_init(&s, HDST__F32, HDST__SUM);
    case_table_init(&table, &s, FORM_FIRST_LEVEL, HDST__CLASS_ONE_WORD, 9);
    case_add(&table, 0, ROW, 0, 1);
    case_add(&table, 1, ROW, ELEMENT, bits_of_value(HDST__F32, 1.5));
    case_add(&table, 1, ROW, ELEMENT, bits_of_value(HDST__F32, 2));
    hdst__partial *partial = new_partial(&table);
    add_table(partial, &table);
    case_table_destroy(&table);
    return partial;
}

Test(partial_bytes, the_format_by_hand)
{
    static const uint8_t expected[] = {
        'H', 'D', 'S', 'T', 'P', 'A', 'R', 'T', 1, 0, 0, 0, 0, 0, 0, 0, 156, 0, 0, 0, 0, 0, 0, 0,
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 42, 0, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0, 0, 0, 0,
        'r', 'o', 'w', 's', ' ', 'o', 'f', ' ', 'a', ' ', 't', 'e', 's', 't',
        1, 0, 0, 0, CASE_ROWS, 0, 0, 0, 0, 0, 0, 0, CASE_LEAVES, 0, 0, 0,
        HDST__U32, HDST__SUM, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        HDST__F32, HDST__SUM, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    };
    hdst__partial *partial = small_partial();
    hdst__buffer bytes = written(partial);
    cr_assert_eq(bytes.length, sizeof expected + 16, "%zu bytes, not %zu", bytes.length, sizeof expected + 16);
    for (size_t i = 0; i < sizeof expected; i++) cr_expect_eq((uint8_t)bytes.data[i], expected[i], "byte %zu: %d", i, (uint8_t)bytes.data[i]);
    hdst__buffer_destroy(&bytes);
    hdst__partial_destroy(partial);
}

// --- What is refused ---

static hdst_status try_bytes(const void *bytes, uint64_t size, hdst_error *error)
{
    hdst__partial *partial;
    hdst__partial_label label;
    *error = (hdst_error)HDST_ERROR_INIT;
    const hdst_status status = hdst__partial_from_bytes(NULL, bytes, size, &partial, &label, error);
    cr_assert_eq(status == HDST_OK, partial != NULL);
    hdst__partial_destroy(partial);
    return status;
}

Test(partial_bytes, cut_off_and_flipped_bytes_are_refused)
{
    hdst__partial *partial = small_partial();
    hdst__buffer bytes = written(partial);
    hdst_error error;
    for (size_t size = 0; size < bytes.length; size++) {
        char *cut = malloc(size + 1);       // of this size: who reads on is seen by the sanitizers
        memcpy(cut, bytes.data, size);
        cr_expect_eq(try_bytes(cut, size, &error), HDST_E_FORMAT, "%zu bytes", size);
        cr_expect(error.message[0] && error.hint[0], "%zu bytes", size);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * bytes.length; bit++) {
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
        cr_expect_eq(try_bytes(bytes.data, bytes.length, &error), HDST_E_FORMAT, "bit %zu", bit);
        cr_expect(error.message[0]);
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    cr_expect_eq(try_bytes(bytes.data, bytes.length, &error), HDST_OK);
    hdst__buffer_destroy(&bytes);
    hdst__partial_destroy(partial);
}

Test(partial_bytes, messages_say_what_is_wrong)
{
    hdst__partial *partial = small_partial();
    hdst__buffer bytes = written(partial);
    hdst_error error;
    (void)try_bytes("\x93NUMPY..", 9, &error);
    cr_expect_str_eq(error.message, "these bytes are no partial: they do not begin with 'HDSTPART'");
    (void)try_bytes(bytes.data, 100, &error);
    cr_expect_str_eq(error.message, "the partial is damaged: it has 100 bytes, and was written with 156");
    bytes.data[60] ^= 1;
    (void)try_bytes(bytes.data, bytes.length, &error);
    cr_expect_str_eq(error.message, "the partial is damaged: its checksum does not match");
    bytes.data[8] = 9;
    (void)try_bytes(bytes.data, bytes.length, &error);
    cr_expect_str_eq(error.message, "the partial is of version 9 of its format; this library reads version 1");
    hdst__buffer_destroy(&bytes);
    hdst__partial_destroy(partial);
}

// One byte more: behind the bytes, and behind the last accumulator, with size and checksum that are right.
Test(partial_bytes, what_follows_is_refused)
{
    hdst__partial *partial = small_partial();
    hdst__buffer bytes = written(partial);
    hdst_error error;
    const uint64_t size = bytes.length, longer = size + 1;
    hdst__hash checksum = HDST__HASH_INIT;
    char *copy = calloc(1, longer);
    memcpy(copy, bytes.data, size);
    cr_expect_eq(try_bytes(copy, longer, &error), HDST_E_FORMAT);
    cr_expect_str_eq(error.message, "the partial is damaged: it has 157 bytes, and was written with 156");
    memset(copy + size - sizeof checksum, 0, sizeof checksum + 1);
    memcpy(copy + 16, &longer, sizeof longer);
    hdst__hash_add(&checksum, copy, longer - sizeof checksum);
    memcpy(copy + longer - sizeof checksum, &checksum, sizeof checksum);
    cr_expect_eq(try_bytes(copy, longer, &error), HDST_E_FORMAT);
    cr_expect_str_eq(error.message, "the partial is damaged: its accumulators make no sense");
    free(copy);
    hdst__buffer_destroy(&bytes);
    hdst__partial_destroy(partial);
}

// Bytes that somebody made up and gave a checksum: refused, or some partial that can be read, merged and written.
Test(partial_bytes, made_up_contents_do_no_harm)
{
    const addend_case c = addends_of(HDST__F64, 7, 0);
    uint64_t seed = 3, bits[MOST_ADDENDS];
    hdst__partial *parts[MOST_PARTIALS];
    case_shape s;
    case_shape_init(&s, HDST__F64, HDST__SUM);
    for (size_t i = 0; i < c.count; i++) bits[i] = bits_of_value(c.kind, c.v[i]);
    hdst__partial *all = merge_at_random(parts, split(&s, bits, c.count, &seed, parts), &seed);
    hdst__buffer bytes = written(all);
    int accepted = 0, refused = 0;
    for (int n = 0; n < 20000; n++) {
        char *copy = malloc(bytes.length);
        memcpy(copy, bytes.data, bytes.length);
        for (uint64_t k = 0; k <= random_word(&seed) % 3; k++) copy[24 + random_word(&seed) % (bytes.length - 40)] = (char)random_word(&seed);
        hdst__hash checksum = HDST__HASH_INIT;
        hdst__hash_add(&checksum, copy, bytes.length - sizeof checksum);
        memcpy(copy + bytes.length - sizeof checksum, &checksum, sizeof checksum);
        hdst__partial *made = NULL;
        hdst__partial_label label;
        const hdst_status status = hdst__partial_from_bytes(NULL, copy, bytes.length, &made, &label, NULL);
        cr_assert(status == HDST_OK || status == HDST_E_FORMAT);
        accepted += status == HDST_OK;
        refused += status == HDST_E_FORMAT;
        (void)hdst__partial_merge(all, made ? made : all, NULL);        // often of another shape
        hdst__partial_destroy(made);
        free(copy);
    }
    cr_expect(accepted > 100 && refused > 100, "%d, %d", accepted, refused);
    hdst__buffer_destroy(&bytes);
    hdst__partial_destroy(all);
}
