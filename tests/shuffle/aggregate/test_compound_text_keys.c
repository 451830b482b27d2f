// SPDX-License-Identifier: Apache-2.0
// Keys of several fields, two of them texts: their order, sums that fit no word and so need the key in tables of another order, parts whose keys meet.
#include "tests/shuffle/texts.h"

#include "shuffle/aggregate/aggregate_run.h"

enum { N = 90000, KEYS = 12000 };

typedef struct visit { uint32_t shop; hdst__text_span item; uint16_t day; hdst__text_span place; double price; int64_t least; } visit;

typedef struct row {                    // what a key should come to
    uint32_t shop;
    string item, place;
    uint16_t day;
    uint32_t hash;
    double price;
    int64_t least;
} row;

static row wanted[KEYS];
static size_t keys;
static visit visits[N];

static const hdst__record *make_visits(hdst__arena *arena)
{
    static const hdst__kind kinds[] = {HDST__U32, HDST__TEXT, HDST__U16, HDST__TEXT, HDST__F64, HDST__I64};
    static const char *const names[] = {"shop", "item", "day", "place", "price", "least"};
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 6);
    const char *why;
    for (size_t i = 0; i < 6; i++) fields[i] = (hdst__field){.name = names[i], .type = hdst__type_scalar(kinds[i])};
    *record = (hdst__record){.name = "visit", .fields = fields, .field_count = 6};
    cr_assert(hdst__record_finish(arena, record, &why));
    cr_assert_eq(record->size, sizeof(visit));
    return record;
}

static uint32_t hash_of(const row *r)
{
    const uint64_t words[] = {r->shop, text_hash(r->item.bytes, r->item.length), r->day, text_hash(r->place.bytes, r->place.length)};
    uint64_t h = 0;
    for (size_t w = 0; w < 4; w++) h = mixed((h ^ words[w]) + STEP);
    return (uint32_t)(h >> 32);
}

static int compare(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    if (x->shop != y->shop) return x->shop < y->shop ? -1 : 1;
    if (compare_bytes(&x->item, &y->item)) return compare_bytes(&x->item, &y->item);
    if (x->day != y->day) return x->day < y->day ? -1 : 1;
    return compare_bytes(&x->place, &y->place);
}

static string make_string(uint64_t *state, uint32_t longest)
{
    static char pool[2 * KEYS * 64], *next = pool;
    const size_t length = next_random(state) % (longest + 1);
    char *bytes = next;
    next += length;
    for (size_t k = 0; k < length; k++) bytes[k] = (char)(k + 3 < length ? 'x' : (int)(next_random(state) % 3));
    return (string){.bytes = bytes, .length = length};
}

// One of them is so large that only superaccumulators hold what others add to it, until it is taken away again.
static double price_of(uint32_t times) { return times == 1 ? 0x1p200 : times == 3 ? -0x1p200 : (double)times * 0.5 + 0x1p-40; }

static void make_all(void)
{
    static uint32_t times[KEYS];
    uint64_t state = 5;
    for (size_t i = 0; i < KEYS; i++) {
        row *r = &wanted[i];
        *r = (row){.shop = (uint32_t)(next_random(&state) % 3), .item = make_string(&state, 20), .day = (uint16_t)(next_random(&state) % 2),
                   .place = make_string(&state, 30), .least = INT64_MAX};
        r->hash = hash_of(r);
    }
    qsort(wanted, KEYS, sizeof *wanted, compare);
    for (size_t i = 0; i < KEYS; i++)
        if (!keys || compare(&wanted[keys - 1], &wanted[i])) wanted[keys++] = wanted[i];
    for (uint32_t i = 0; i < N; i++) {
        const size_t k = next_random(&state) % keys;
        row *r = &wanted[k];
        const double price = price_of(++times[k]);
        visits[i] = (visit){r->shop, hdst__text_span_of(r->item.bytes, (uint32_t)r->item.length), r->day,
                            hdst__text_span_of(r->place.bytes, (uint32_t)r->place.length), price, (int64_t)(next_random(&state) % 1000) - 500};
        if (visits[i].least < r->least) r->least = visits[i].least;
    }
    size_t seen = 0;
    for (size_t i = 0; i < keys; i++) {             // exact: few bits beside the large ones
        if (!times[i]) continue;
        double small = 0;
        for (uint32_t t = 1; t <= times[i]; t++) small += t == 1 || t == 3 ? 0 : price_of(t);
        wanted[i].price = times[i] < 3 ? 0x1p200 + small : small;
        wanted[seen++] = wanted[i];
    }
    keys = seen;
}

static void check_rows(const visit *rows, uint64_t count, int container)
{
    cr_assert_eq(count, keys, "container %d", container);
    for (uint64_t i = 0; i < count; i++) {
        const row *w = &wanted[i];
        const visit *r = &rows[i];
        cr_assert(r->shop == w->shop && r->day == w->day && r->least == w->least, "container %d, row %d", container, (int)i);
        cr_assert(r->item.length == w->item.length && !memcmp(hdst__text_bytes(&r->item), w->item.bytes, w->item.length), "row %d", (int)i);
        cr_assert(r->place.length == w->place.length && !memcmp(hdst__text_bytes(&r->place), w->place.bytes, w->place.length), "row %d", (int)i);
        cr_assert(r->price == w->price, "container %d, row %d: %a, %a", container, (int)i, r->price, w->price);
    }
}

static hdst__aggregate *make_aggregate(hdst__engine *engine, const hdst__record *record, hdst__container container)
{
    static const uint32_t key[] = {0, 1, 2, 3};
    static const hdst__accumulate_op laws[] = {HDST__SUM, HDST__MIN};
    return hdst__aggregate_create(engine, &(hdst__aggregate_spec){.record = record, .key_leaves = key, .key_count = 4, .laws = laws, .container = container});
}

static hdst_status run(hdst__aggregate *a, const hdst__record *record, const visit *rows, uint64_t count, const visit **got, uint64_t *keys_got)
{
    hdst_error error = HDST_ERROR_INIT;
    const hdst__reader reader = {.records = count, .record = record, .layout = HDST__AOS};
    const hdst_status status = hdst__aggregate_run(a, &(hdst__aggregate_input){&reader, NULL, rows, false}, (const void **)got, keys_got, &error);
    cr_assert_eq(status, HDST_OK, "%s", error.message);
    return status;
}

Test(compound_text_keys, in_every_container_and_little_memory)
{
    const uint64_t budgets[] = {UINT64_C(1) << 30, 3 << 20};
    hdst__arena arena;
    jmp_buf out_of_memory;
    make_all();
    hdst__arena_init(&arena, NULL, &out_of_memory);
    cr_assert(setjmp(out_of_memory) == 0);
    const hdst__record *record = make_visits(&arena);
    for (int i = 0; i < 8; i++) {
        hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = budgets[i / 4], .threads = 2});
        const hdst__container container = (hdst__container[]){HDST__CONTAINER_AUTO, HDST__CONTAINER_TABLE, HDST__CONTAINER_PARTITIONS,
                                                              HDST__CONTAINER_SORTED}[i % 4];
        hdst__aggregate *a = make_aggregate(engine, record, container);
        if (i < 4 && i % 2) hdst__aggregate_keep_state(a);        // results by way of unfinished ones
        const visit *rows;
        uint64_t count;
        run(a, record, visits, N, &rows, &count);
        check_rows(rows, count, (int)container);
        hdst__aggregate_destroy(a);
        hdst__engine_destroy(engine);
    }
    hdst__arena_destroy(&arena);
}

// Of two runs, whose texts lie in two heaps: the same key in both is found by its bytes.
Test(compound_text_keys, that_lie_in_two_parts)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    make_all();
    hdst__arena_init(&arena, NULL, &out_of_memory);
    cr_assert(setjmp(out_of_memory) == 0);
    const hdst__record *record = make_visits(&arena);
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .threads = 2});
    hdst__aggregate *a = make_aggregate(engine, record, HDST__CONTAINER_AUTO);
    visit input[3000], rows[6000];
    for (int shared = 0; shared < 2; shared++) {
        uint64_t counts[2], all = 0;
        hdst__text_heap *heaps[2];
        for (uint32_t part = 0; part < 2; part++) {
            uint64_t n = 0;
            for (uint32_t i = 0; i < N && n < 3000; i++)
                if (visits[i].place.length > 12 && visits[i].place.length % 2 == part) input[n++] = visits[i];
            if (shared && part == 0)
                for (uint32_t i = 0; i < N; i++)        // any record of the other part
                    if (visits[i].place.length > 12 && visits[i].place.length % 2) { input[1500] = visits[i]; break; }
            const visit *got;
            run(a, record, input, n, &got, &counts[part]);
            memcpy(rows + all, got, counts[part] * sizeof *rows);
            heaps[part] = hdst__text_heap_hold(hdst__aggregate_texts(a));
            all += counts[part];
        }
        hdst__aggregate_duplicate twice;
        cr_assert_eq(hdst__aggregate_across(a, rows, counts, 2, &twice, NULL), HDST_OK);
        cr_assert_eq(twice.found, shared == 1);
        for (int part = 0; part < 2; part++) hdst__text_heap_drop(heaps[part]);
    }
    hdst__aggregate_destroy(a);
    hdst__engine_destroy(engine);
    hdst__arena_destroy(&arena);
}
