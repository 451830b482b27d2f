// SPDX-License-Identifier: Apache-2.0
// Where keys begin in sorted records on a device, beside a loop over them: keys of all sizes, in segments of any length, and what has no answer.
#include "engine/engine_state.h"
#include "engine/memory/sorted_keys.h"
#include "engine/memory/store.h"
#include "record/key_field.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    hdst__engine *engine;
    hdst__device *device;
    hdst__arena arena;
    jmp_buf out_of_memory;
    const hdst__record *record;
    const hdst__leaf *key;
    hdst__store store;
    uint64_t limit;                 // of a segment, bytes
} job;

// Something in front of the key and behind it.
static const hdst__record *make_record(hdst__arena *arena, hdst__kind kind)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field fields[] = {{.name = "tag", .type = hdst__type_scalar(HDST__U8)}, {.name = "key", .type = hdst__type_scalar(kind)},
                            {.name = "x", .type = hdst__type_scalar(HDST__F32)}};
    *record = (hdst__record){.name = "item", .fields = fields, .field_count = 3};
    const char *why;
    cr_assert(hdst__record_finish(arena, record, &why));
    return record;
}

static bool open_job(job *j, hdst__kind kind, uint64_t memory)
{
    *j = (job){0};
    j->engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .gpu_form_on_cpu = true, .device_memory = memory});
    hdst_error error;
    if (hdst__engine_open(j->engine, &j->device, &error) != HDST_OK) {
        cr_log_warn("no OpenCL CPU device: skipped (%s)", error.message);
        hdst__engine_destroy(j->engine);
        return false;
    }
    hdst__arena_init(&j->arena, NULL, &j->out_of_memory);
    cr_assert(setjmp(j->out_of_memory) == 0);
    j->record = make_record(&j->arena, kind);
    j->key = &j->record->leaves[1];
    hdst__store_init(&j->store, hdst__engine_runtime(j->engine), j->record);
    return true;
}

static void close_job(job *j)
{
    hdst__store_release(&j->store);
    cr_assert_eq(atomic_load(&j->device->budget.used), 0, "all memory is given back");
    hdst__arena_destroy(&j->arena);
    hdst__engine_destroy(j->engine);
}

// Records with these keys, one after another, in segments of at most `j->limit` bytes.
static void put(job *j, const uint64_t *keys, uint64_t count)
{
    hdst_error error;
    hdst__memory *records;
    const uint64_t size = j->record->size, bytes = (count ? count : 1) * size;
    cr_assert_eq(j->device->ops->alloc(j->device, HDST__MEMORY_SHARED, HDST__OWNER_OTHER, bytes, "items", &records, &error), HDST_OK);
    for (uint64_t i = 0; i < count; i++) {
        memset((char *)records->host + i * size, 0xa5, size);
        memcpy((char *)records->host + i * size + j->key->offset, &keys[i], hdst__scalar_size(j->key->kind));
    }
    cr_assert_eq(j->device->ops->to_device(j->device, records, &error), HDST_OK);
    if (count) cr_assert_eq(j->device->ops->write(j->device, records, 0, records->host, bytes, true, &error), HDST_OK);
    j->store.limit = j->limit;
    cr_assert_eq(hdst__store_begin(&j->store, j->device, count, &error), HDST_OK);
    if (count) cr_assert_eq(hdst__store_append(&j->store, records, 0, count, &error), HDST_OK);
    cr_assert_eq(hdst__store_end(&j->store, &error), HDST_OK);
    j->device->ops->release(j->device, records);
}

// What they give, and that nothing behind is written.
static void expect_starts(job *j, const uint64_t *keys, uint64_t records, uint64_t limit, const char *what)
{
    uint64_t *starts = calloc(limit + 1, sizeof *starts), count = 77, next = 0;
    const char *why_not;
    hdst_error error;
    put(j, keys, records);
    starts[limit] = 4711;
    cr_assert_eq(hdst__sorted_keys_find(&j->store.cache, j->key, limit, starts, &count, &why_not, &error), HDST_OK, "%s: %s", what, error.message);
    cr_assert_null(why_not, "%s: %s", what, why_not);
    for (uint64_t i = 0; i < records; i++)
        for (; next <= keys[i]; next++)
            cr_assert_eq(starts[next], i, "%s: key %llu begins at %llu", what, (unsigned long long)next, (unsigned long long)starts[next]);
    cr_assert_eq(count, next, "%s: %llu keys", what, (unsigned long long)count);
    cr_assert_eq(starts[limit], 4711, "%s", what);
    free(starts);
}

enum { RECORDS = 5000 };
static uint64_t keys[RECORDS];

static void check_patterns(job *j, uint64_t largest, const char *kind)
{
    for (int i = 0; i < RECORDS; i++) keys[i] = (uint64_t)i * largest / (RECORDS - 1);
    expect_starts(j, keys, RECORDS, largest + 1, kind);         // all of them, the last one the largest
    expect_starts(j, keys, RECORDS, largest + 100, kind);
    for (int i = 0; i < RECORDS; i++) keys[i] = largest;
    expect_starts(j, keys, RECORDS, largest + 1, kind);         // one key, of which segments are full
    for (int i = 0; i < RECORDS; i++) keys[i] = i < 10 ? 0 : i < 4000 ? largest / 3 : i < 4500 ? largest - 1 : largest;
    expect_starts(j, keys, RECORDS, largest + 1, kind);
    expect_starts(j, keys, 1, 1, kind);
    expect_starts(j, keys, 65, largest, kind);
}

// More keys than are searched for at once, beside few records.
Test(sorted_keys, very_many)
{
    job j;
    if (!open_job(&j, HDST__U32, 0)) return;
    keys[0] = 3, keys[1] = 4500000, keys[2] = 9000000, keys[3] = 9000001;
    expect_starts(&j, keys, 4, 9000002, "u32");
    close_job(&j);
}

Test(sorted_keys, of_all_sizes)
{
    static const struct { hdst__kind kind; uint64_t largest; const char *name; } of[] = {
        {HDST__U8, 255, "u8"}, {HDST__I8, 127, "i8"}, {HDST__U16, 65535, "u16"}, {HDST__I32, 100000, "i32"}, {HDST__U64, 9999, "u64"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        job j;
        if (!open_job(&j, of[k].kind, 0)) return;
        check_patterns(&j, of[k].largest, of[k].name);
        j.limit = 300 * j.record->size;             // 256 records each
        check_patterns(&j, of[k].largest, of[k].name);
        close_job(&j);
    }
}

static void expect_none(job *j, uint64_t records, uint64_t limit, const char *what)
{
    uint64_t starts[16], count = 77;
    const char *why_not;
    hdst_error error;
    put(j, keys, records);
    cr_assert_eq(hdst__sorted_keys_find(&j->store.cache, j->key, limit, starts, &count, &why_not, &error), HDST_OK);
    cr_expect_null(why_not, "%s: %s", what, why_not);
    cr_expect_eq(count, 0, "%s: %llu keys", what, (unsigned long long)count);
}

Test(sorted_keys, negative_and_too_large_ones)
{
    job j;
    if (!open_job(&j, HDST__I64, 0)) return;
    keys[0] = (uint64_t)-1, keys[1] = 3, keys[2] = 9;
    expect_none(&j, 3, 10, "the first one is negative");
    keys[0] = UINT64_C(1) << 63;
    expect_none(&j, 1, 10, "the least one");
    keys[0] = 0;
    expect_none(&j, 3, 9, "the last one is the limit");
    keys[2] = INT64_MAX;
    expect_none(&j, 3, 16, "the last one is very large");
    j.limit = 64 * j.record->size;
    for (int i = 0; i < 200; i++) keys[i] = i < 150 ? 2 : 12;
    expect_none(&j, 200, 12, "in a later segment");
    close_job(&j);
    if (!open_job(&j, HDST__U64, 0)) return;
    keys[0] = 0, keys[1] = UINT64_MAX;
    expect_none(&j, 2, 16, "the largest there is");
    close_job(&j);
}

static const char *refusal(job *j, const hdst__leaf *key, uint64_t limit)
{
    uint64_t *starts = calloc(limit, sizeof *starts), count = 77;
    const char *why_not = NULL;
    hdst_error error;
    cr_assert_eq(hdst__sorted_keys_find(&j->store.cache, key, limit, starts, &count, &why_not, &error), HDST_OK, "%s", error.message);
    cr_expect_eq(count, 0);
    free(starts);
    return why_not ? why_not : "none";
}

Test(sorted_keys, what_the_host_does)
{
    job j;
    if (!open_job(&j, HDST__U32, 256 << 10)) return;
    cr_expect_str_eq(refusal(&j, j.key, 10), "");           // there is nothing
    put(&j, keys, 0);
    cr_expect_str_eq(refusal(&j, j.key, 10), "");
    keys[0] = 100000;
    put(&j, keys, 1);
    hdst__leaf odd = *j.key;
    odd.offset++;
    cr_expect_str_eq(refusal(&j, &odd, 10), "the key lies at odd places");
    cr_expect_str_eq(refusal(&j, j.key, 200000), "the device has no room for it");      // 800 KB of starts
    j.store.cache.streamed = true;
    cr_expect_str_eq(refusal(&j, j.key, 10), "");
    j.store.cache.streamed = false;
    close_job(&j);
}
