// SPDX-License-Identifier: Apache-2.0
// Texts of a segment in one stretch: those that a reader puts there, those for which there was no room, and those that lie anywhere; what spans then say.
#include "engine/engine_state.h"
#include "engine/memory/registered.h"
#include "engine/memory/text_heap.h"
#include "engine/memory/text_mirror.h"
#include "record/text_bytes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 300, LONGEST = 500 };

typedef struct row { uint8_t tag; hdst__text_span a; uint32_t n; hdst__text_span b; } row;

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__engine *engine;
static hdst__device *device;
static hdst__record record;
static hdst__reader reader;
static char *text[2 * COUNT];       // each in memory of its own
static hdst__text_mirror mirror;
static hdst_error error;

static uint32_t length_of(uint32_t i) { return i * 37 % LONGEST; }      // a few are empty or short

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 4);
    static const char *const names[] = {"tag", "a", "n", "b"};
    static const hdst__kind kinds[] = {HDST__U8, HDST__TEXT, HDST__U32, HDST__TEXT};
    for (int i = 0; i < 4; i++) fields[i] = (hdst__field){.name = names[i], .type = hdst__type_scalar(kinds[i])};
    record = (hdst__record){.name = "row", .fields = fields, .field_count = 4};
    const char *why;
    cr_assert(hdst__record_finish(&arena, &record, &why) && record.size == sizeof(row) && record.has_text);
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        text[i] = malloc(length_of(i) + 1);
        for (uint32_t k = 0; k < length_of(i); k++) text[i][k] = (char)(i * 31 + k * (k % 7 + 1));
    }
    engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = 16 << 20});
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK);
    mirror = (hdst__text_mirror){0};
}

static void tear_down(void)
{
    hdst__text_mirror_close(&mirror, device);
    hdst__text_mirror_close(&mirror, device);
    for (uint32_t i = 0; i < 2 * COUNT; i++) free(text[i]);
    cr_assert_eq(engine->runtime.memory.used, 0, "%llu bytes of the budget were not given back", (unsigned long long)engine->runtime.memory.used);
    hdst__engine_destroy(engine);
    hdst__arena_destroy(&arena);
}

TestSuite(text_mirror, .init = set_up, .fini = tear_down);

// Puts a record's spans into a storage.
static void put(const hdst__storage *storage, char *buffer, uint64_t i, uint32_t leaf, const char *bytes, uint32_t length)
{
    const hdst__text_span span = hdst__text_span_of(bytes, length);
    memcpy(buffer + hdst__storage_offset(storage, leaf, i, 0), &span, sizeof span);
}

static void expect(const hdst__storage *storage, const char *buffer, uint64_t i, uint32_t leaf, const char *bytes, uint32_t length)
{
    hdst__text_span span;
    memcpy(&span, buffer + hdst__storage_offset(storage, leaf, i, 0), sizeof span);
    cr_assert(span.length == length && !memcmp(hdst__text_bytes(&span), bytes, length), "record %llu", (unsigned long long)i);
    const char *host = mirror.memory->host;
    cr_assert(hdst__text_is_inline(&span) || (hdst__text_bytes(&span) >= host && hdst__text_bytes(&span) + length <= host + mirror.used));
}

static void check_gathered(hdst__layout layout, uint64_t block)
{
    const hdst__storage *storage = hdst__storage_make(&arena, &record, layout, block, COUNT);
    char *buffer = calloc(1, storage->buffer_bytes[0]);
    void *buffers[] = {buffer};
    uint64_t moved = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        put(storage, buffer, i, 1, text[i], length_of(i));
        put(storage, buffer, i, 3, text[COUNT + i], length_of(COUNT + i));
    }
    reader = (hdst__reader){.records = COUNT, .record = &record};
    cr_assert_eq(hdst__text_mirror_open(&mirror, device, &reader, COUNT, &storage, &error), HDST_OK);
    cr_assert_eq(hdst__text_mirror_gather(&mirror, device, storage, buffers, COUNT, &error), HDST_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(storage, buffer, i, 1, text[i], length_of(i));
        expect(storage, buffer, i, 3, text[COUNT + i], length_of(COUNT + i));
    }
    cr_assert_eq(hdst__text_mirror_write(&mirror, device, &moved, &error), HDST_OK);
    cr_assert_eq(moved, mirror.used);
    free(buffer);
}

Test(text_mirror, texts_that_lie_anywhere_are_gathered_in_every_layout)
{
    check_gathered(HDST__AOS, 0);
    check_gathered(HDST__SOA, 0);
    check_gathered(HDST__AOSOA, 64);
}

// Of each other and of one before: a stretch has their bytes once.
Test(text_mirror, parts_of_one_text_are_copied_once)
{
    const hdst__storage *storage = hdst__storage_make(&arena, &record, HDST__AOS, 0, COUNT);
    char *buffer = calloc(1, storage->buffer_bytes[0]), *whole = malloc(LONGEST);
    void *buffers[] = {buffer};
    for (int k = 0; k < LONGEST; k++) whole[k] = (char)(k * k);
    for (uint32_t i = 0; i < COUNT; i++) put(storage, buffer, i, 1, whole + i % 50 * (i > 0), LONGEST - i % 50 * (i > 0));
    reader = (hdst__reader){.records = COUNT, .record = &record};
    cr_assert_eq(hdst__text_mirror_open(&mirror, device, &reader, COUNT, &storage, &error), HDST_OK);
    cr_assert_eq(hdst__text_mirror_gather(&mirror, device, storage, buffers, COUNT, &error), HDST_OK);
    for (uint32_t i = 0; i < COUNT; i++) expect(storage, buffer, i, 1, whole + i % 50 * (i > 0), LONGEST - i % 50 * (i > 0));
    cr_assert_lt(mirror.used, 2 * LONGEST);
    free(whole);
    free(buffer);
}

// What the reader makes goes to the stretch at once; a reader whose texts are longer than it said has some beyond, and these come behind the others.
static void check_made(uint64_t about)
{
    const hdst__storage *storage = hdst__storage_make(&arena, &record, HDST__AOS, 0, COUNT), *to;
    hdst__storage with = *storage;
    hdst__text_heap *heap = hdst__text_heap_create(&engine->runtime, HDST__OWNER_SEGMENTS);
    const hdst__bytes_place sink = hdst__text_heap_sink(heap);
    char *buffer = calloc(1, storage->buffer_bytes[0]), *at;
    void *buffers[] = {buffer};
    reader = (hdst__reader){.records = COUNT, .record = &record, .makes_texts = true, .text_bytes = about};
    with.text = &sink;
    to = &with;
    cr_assert_eq(hdst__text_mirror_open(&mirror, device, &reader, COUNT, &to, &error), HDST_OK);
    cr_assert_neq(to, &with);
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        cr_assert_eq(to->text->take(to->text->user, length_of(i), &at, &error), HDST_OK);
        memcpy(at, text[i], length_of(i));
        put(storage, buffer, i % COUNT, i < COUNT ? 1 : 3, at, length_of(i));
    }
    const bool fits = hdst__text_heap_bytes(heap) == 0;
    cr_assert_eq(fits, about > 0);
    cr_assert_eq(hdst__text_mirror_gather(&mirror, device, storage, buffers, COUNT, &error), HDST_OK);
    hdst__text_heap_drop(heap);
    for (uint32_t i = 0; i < 2 * COUNT; i++) expect(storage, buffer, i % COUNT, i < COUNT ? 1 : 3, text[i], length_of(i));
    free(buffer);
}

Test(text_mirror, what_a_reader_makes_is_there_at_once) { check_made(2 * LONGEST); }
Test(text_mirror, what_has_no_room_comes_behind) { check_made(0); }
Test(text_mirror, a_guess_beyond_the_budget_begins_with_less) { check_made(1 << 20); }      // 300 MiB of 16

Test(text_mirror, without_room_in_the_budget_it_says_so)
{
    static char huge[17 << 20];
    const hdst__storage *storage = hdst__storage_make(&arena, &record, HDST__AOS, 0, 1);
    row one = {.a = hdst__text_span_of(huge, sizeof huge)};
    void *buffers[] = {&one};
    reader = (hdst__reader){.records = 1, .record = &record};
    cr_assert_eq(hdst__text_mirror_open(&mirror, device, &reader, 1, &storage, &error), HDST_OK);
    cr_assert_eq(hdst__text_mirror_gather(&mirror, device, storage, buffers, 1, &error), HDST_E_MEMORY);
    cr_assert_not_null(strstr(error.message, "the texts of a segment"));
}

// --- Texts that stay where they are ---

enum { STRETCH = 200000 };

// Two texts a record, of `step` bytes at most, from an odd address on; every fifth one is short, and in its span.
static row *rows_over(const char *from, uint32_t step)
{
    row *rows = calloc(COUNT, sizeof *rows);
    for (uint32_t i = 0; i < COUNT; i++) {
        rows[i].a = hdst__text_span_of(from + 2 * i * step, i % 5 ? step : 7);
        rows[i].b = hdst__text_span_of(from + (2 * i + 1) * step, 13);
    }
    return rows;
}

static bool lends(const row *rows)
{
    const hdst__storage *storage = hdst__storage_make(&arena, &record, HDST__AOS, 0, COUNT);
    return hdst__text_mirror_lend(&mirror, device, storage, (const char *)rows, COUNT);
}

Test(text_mirror, registered_texts_go_to_the_device_from_where_they_lie)
{
    static char bytes[STRETCH];
    uint64_t moved = 0;
    for (int i = 0; i < STRETCH; i++) bytes[i] = (char)(i * 7 + i / 251);
    row *rows = rows_over(bytes + 13, 300);
    cr_assert_not(lends(rows), "nobody registered them");
    cr_assert_eq(hdst__registered_add(engine->runtime.registered, bytes + 13, 2 * COUNT * 300 - 287, &error), HDST_OK);
    cr_assert(lends(rows));
    cr_assert_eq(hdst__text_mirror_write(&mirror, device, &moved, &error), HDST_OK);
    cr_assert_eq(moved, mirror.used);
    const char *copy = hdst__text_mirror_copy(&mirror)->host;       // the interpreter's
    const uint64_t host = hdst__text_mirror_host(&mirror);
    cr_assert(host == rows[0].b.address / 8 * 8, "from the first text that is not in its span");
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 5) cr_assert(!memcmp(copy + (rows[i].a.address - host), (const char *)(uintptr_t)rows[i].a.address, 300), "record %u", i);
        cr_assert(!memcmp(copy + (rows[i].b.address - host), (const char *)(uintptr_t)rows[i].b.address, 13), "record %u", i);
    }
    rows[COUNT - 1].b.length = 14;                                  // ends a byte behind what was registered
    cr_assert_not(lends(rows));
    free(rows);
}

Test(text_mirror, registered_texts_that_are_few_of_many_bytes_are_gathered)
{
    static char bytes[STRETCH * 5];
    row *rows = rows_over(bytes, 1000);
    cr_assert_eq(hdst__registered_add(engine->runtime.registered, bytes, sizeof bytes, &error), HDST_OK);
    cr_assert(lends(rows));
    for (uint32_t i = 1; i < COUNT; i++) rows[i].a = hdst__text_span_of(bytes, 20);
    cr_assert_not(lends(rows));
    for (uint32_t i = 0; i < COUNT; i++) rows[i].a = rows[i].b = hdst__text_span_of("in the span", 11);
    cr_assert(lends(rows));
    cr_assert(mirror.used == 0 && !mirror.lent);
    free(rows);
}
