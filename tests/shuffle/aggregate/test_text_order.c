// SPDX-License-Identifier: Apache-2.0
// Records that are put in order of their texts' hashes: each key once, its numbers what a plain loop makes of them, between fields nothing, in the order of a
// qsort by (hash, bytes); with keys that share all bits of the hash that the order looks at, too.
#include "tests/shuffle/texts.h"

#include "shuffle/aggregate/text_order.h"

typedef struct row { int16_t high; hdst__text_span key; uint32_t all; int64_t n; } row;     // a maximum, bits that all have, a sum

static const hdst__aggregation_layout *make_layout(hdst__arena *arena)
{
    static const struct { const char *name; hdst__kind kind; } fields[] = {{"high", HDST__I16}, {"key", HDST__TEXT}, {"all", HDST__U32}, {"n", HDST__I64}};
    static const hdst__accumulate_op laws[] = {HDST__MAX, HDST__AND, HDST__SUM};
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *field = HDST__NEW_ARRAY(arena, hdst__field, 4);
    const char *why;
    for (int f = 0; f < 4; f++) field[f] = (hdst__field){.name = fields[f].name, .type = hdst__type_scalar(fields[f].kind)};
    *record = (hdst__record){.name = "row", .fields = field, .field_count = 4};
    cr_assert(hdst__record_finish(arena, record, &why));
    cr_assert_eq(record->size, sizeof(row));
    return hdst__aggregation_layout_make(arena, record, &(uint32_t){1}, 1, laws);
}

typedef struct known { string text; row row; } known;       // text.n: its number among the keys

// Keys of 0 to 30 bytes, and `alike` of 8 that share their hash.
static void make_keys(known *keys, uint32_t count, uint32_t alike, char *bytes)
{
    uint64_t state = count;
    for (uint32_t k = 0; k < count; k++, bytes += 32) {
        const uint32_t length = k < alike ? 8 : k == alike ? 0 : 4 + (uint32_t)(next_random(&state) % 27);
        for (uint32_t i = 0; i < length; i++) bytes[i] = "\0ab\xff"[next_random(&state) % 4];
        if (k < alike) end_with_hash(bytes, 8, unmixed(UINT64_C(0x1234567800000000) | k * 77));
        else if (length) memcpy(bytes, &k, sizeof k);           // no two are the same
        keys[k].text = (string){.bytes = bytes, .length = length, .hash = (uint32_t)(mixed(text_hash(bytes, length)) >> 32)};
        keys[k].row = (row){.high = INT16_MIN, .key = hdst__text_span_of(bytes, length), .all = UINT32_MAX};
    }
}

static void make_rows(row *rows, uint32_t count, known *keys, uint32_t key_count)
{
    uint64_t state = 99;
    memset(rows, 0xAA, count * sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        known *k = &keys[i < key_count ? i : next_random(&state) % (key_count / 10 + 1)];       // most come once
        rows[i].high = (int16_t)next_random(&state);
        memcpy(&rows[i].key, &k->row.key, sizeof rows[i].key);
        rows[i].all = (uint32_t)next_random(&state) | (uint32_t)next_random(&state);
        rows[i].n = (int64_t)next_random(&state);
        if (rows[i].high > k->row.high) k->row.high = rows[i].high;
        k->row.all &= rows[i].all;
        k->row.n = (int64_t)((uint64_t)k->row.n + (uint64_t)rows[i].n);
    }
}

static void expect_row(const row *found, const known *k, uint32_t i)
{
    static const uint8_t none[8];
    cr_assert(found->key.length == k->text.length && !memcmp(hdst__text_bytes(&found->key), k->text.bytes, k->text.length), "row %d", (int)i);
    cr_assert(found->high == k->row.high && found->all == k->row.all && found->n == k->row.n, "row %d", (int)i);
    cr_assert(!memcmp((const char *)found + 2, none, 6) && !memcmp((const char *)found + 28, none, 4), "between the fields of row %d", (int)i);
}

static void check(uint32_t count, uint32_t key_count, uint32_t alike)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    cr_assert(setjmp(out_of_memory) == 0);
    known *keys = calloc(key_count + 1, sizeof *keys);
    char *bytes = calloc(key_count + 1, 32);
    row *rows = malloc((count + 1) * sizeof *rows), *to = malloc((key_count + 1) * sizeof *to);
    make_keys(keys, key_count, alike, bytes);
    make_rows(rows, count, keys, key_count);
    qsort(keys, key_count, sizeof *keys, compare_keys);
    hdst__text_order order = {.layout = make_layout(&arena), .threads = hdst__thread_pool_create(NULL, 3), .room = count};
    char *memory = malloc(hdst__text_order_bytes(order.layout, count) + 1);
    order.place = (uint64_t *)(void *)memory;
    order.spare = order.place + count;
    order.records = (char *)(order.spare + count);
    const uint32_t first = count / 3;
    hdst__text_order_take(&order, rows, first);
    hdst__text_order_take(&order, rows + first, count - first);
    cr_assert_eq(hdst__text_order_sort(&order, NULL), HDST_OK);
    cr_assert_eq(order.keys, key_count);
    hdst__text_order_write(&order, (char *)to);
    for (uint32_t i = 0; i < key_count; i++) expect_row(&to[i], &keys[i], i);
    hdst__text_order_free(&order);
    hdst__thread_pool_destroy(order.threads);
    free(memory), free(to), free(rows), free(bytes), free(keys);
    hdst__arena_destroy(&arena);
}

Test(text_order, is_that_of_hashes_then_of_bytes)
{
    static const uint32_t counts[][3] = {{0, 0, 0}, {1, 1, 0}, {2, 1, 0}, {9, 9, 0}, {130, 100, 0}, {40000, 33000, 0}, {40000, 30000, 4000},
                                         {3000, 2000, 2000}};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) check(counts[c][0], counts[c][1], counts[c][2]);
}

// Only texts of more than 12 bytes lie elsewhere.
Test(text_order, says_which_records_refer_to_bytes)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    cr_assert(setjmp(out_of_memory) == 0);
    row rows[2] = {{.key = hdst__text_span_of("twelve bytes", 12)}, {.key = hdst__text_span_of("thirteen byte", 13)}}, memory[2];
    uint64_t place[4];
    hdst__text_order order = {.layout = make_layout(&arena), .threads = hdst__thread_pool_create(NULL, 1), .room = 2, .records = (char *)memory,
                              .place = place, .spare = place + 2};
    cr_assert_not(hdst__text_order_take(&order, rows, 1));
    cr_assert(hdst__text_order_take(&order, rows + 1, 1));
    hdst__thread_pool_destroy(order.threads);
    hdst__arena_destroy(&arena);
}
