// SPDX-License-Identifier: Apache-2.0
// The OpenCL back end and its kernel cache. Every test is a process of its own and opens OpenCL there.
#define _GNU_SOURCE     // nftw
#include "engine/device/device_opencl.h"
#include "engine/device/driver_gate.h"
#include "engine/device/opencl_devices.h"
#include "engine/engine_state.h"
#include "tests/engine/fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static void set_up(void)
{
    snprintf(root, sizeof root, "/tmp/hdst-test-opencl-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void tear_down(void)
{
    char command[160];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", root, root);
    cr_assert_eq(system(command), 0);
}

TestSuite(device_opencl, .init = set_up, .fini = tear_down);

// --- What is known of it ---

Test(device_opencl, which_processor_asks_for_structs_by_itself)
{
    for (int gpu_form = 0; gpu_form < 2; gpu_form++) {
        hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .gpu_form_on_cpu = gpu_form, .cache_dir = root});
        hdst__device *device;
        hdst_error error = HDST_ERROR_INIT;
        cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
        cr_expect_eq(device->facts.follows_structs, !gpu_form && hdst__processor_follows_structs(device->info->name), "%s", device->info->name);
        hdst__engine_destroy(engine);
    }
}

// --- Memory ---

// Reads to where a CPU's memory is already: all of it, a part, and what a fill and a write that nobody waited for have left.
static void expect_words_in_place(hdst__device *device, hdst__memory *memory, const uint64_t *words, uint64_t bytes)
{
    const uint64_t some[2] = {7, 8};
    const uint64_t *here = memory->in_host;
    cr_assert_eq(device->ops->read(device, memory, 0, memory->in_host, bytes, true, NULL), HDST_OK);
    cr_assert_eq(memcmp(here, words, bytes), 0);
    cr_assert_eq(device->ops->fill(device, memory, 20, 3, NULL), HDST_OK);
    cr_assert_eq(device->ops->write(device, memory, 12 * sizeof *here, some, sizeof some, false, NULL), HDST_OK);
    cr_assert_eq(device->ops->read(device, memory, 8 * sizeof *here, (uint64_t *)memory->in_host + 8, bytes - 8 * sizeof *here, true, NULL), HDST_OK);
    for (uint64_t i = 0; i < bytes / sizeof *here; i++) cr_assert_eq(here[i], i >= 12 && i < 14 ? i - 5 : i < 20 ? 3 : words[i]);
}

static void memory_keeps_its_bytes(bool gpu_form)
{
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .gpu_form_on_cpu = gpu_form, .cache_dir = root});
    hdst__device *device;
    hdst__memory *memory;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
    uint64_t words[1000], back[1000];
    for (uint64_t i = 0; i < 1000; i++) words[i] = i * i;
    cr_assert_eq(device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_OTHER, sizeof words, "a test", &memory, &error), HDST_OK);
    cr_assert_eq(device->ops->write(device, memory, 0, words, sizeof words, true, &error), HDST_OK);
    cr_assert_eq(device->ops->fill(device, memory, 10, UINT64_MAX, &error), HDST_OK);
    cr_assert_eq(device->ops->read(device, memory, 0, back, sizeof back, true, &error), HDST_OK);
    for (uint64_t i = 0; i < 1000; i++) cr_assert_eq(back[i], i < 10 ? UINT64_MAX : i * i);
    cr_assert_eq(memory->in_host != NULL, device->unified);
    if (device->unified) expect_words_in_place(device, memory, back, sizeof back);
    device->ops->release(device, memory);

    cr_assert_eq(device->ops->alloc(device, HDST__MEMORY_SHARED, HDST__OWNER_OTHER, sizeof words, "a test", &memory, &error), HDST_OK);
    cr_assert_eq((uintptr_t)memory->host % 4096, 0);
    memcpy(memory->host, words, sizeof words);
    cr_assert_eq(device->ops->to_device(device, memory, &error), HDST_OK);
    if (!device->unified) cr_assert_eq(device->ops->write(device, memory, 0, memory->host, sizeof words, true, &error), HDST_OK);
    memset(back, 0, sizeof back);
    cr_assert_eq(device->ops->read(device, memory, 0, back, sizeof back, true, &error), HDST_OK);
    cr_assert_eq(memcmp(back, words, sizeof words), 0);
    cr_assert_eq(device->ops->to_host(device, memory, &error), HDST_OK);
    cr_assert_eq(memcmp(memory->host, words, sizeof words), 0);
    device->ops->release(device, memory);
    cr_assert_eq(engine->runtime.memory.used, 0);
    cr_assert_eq(device->budget.used, 0);
    hdst__engine_destroy(engine);
}

Test(device_opencl, memory_of_a_cpu_device_keeps_its_bytes) { memory_keeps_its_bytes(false); }
Test(device_opencl, memory_beside_the_host_keeps_its_bytes) { memory_keeps_its_bytes(true); }

// --- Memory that goes while commands use it ---

enum { FILLS = 12 };

typedef struct watched { const void *block; const uint64_t *last; uint64_t seen; } watched;

static void *plain_allocate(size_t bytes, void *user) { (void)user; return malloc(bytes); }
static void *plain_reallocate(void *pointer, size_t bytes, void *user) { (void)user; return realloc(pointer, bytes); }

static void note_last_word(void *pointer, void *user)
{
    watched *w = user;
    const uintptr_t before = (uintptr_t)w->block - (uintptr_t)pointer;      // a few bytes, which say how large it is
    if (w->block && before < 64) w->seen = *w->last;
    free(pointer);
}

// The host's memory goes back to the hook once the last of several fills, that nobody waited for, is in it.
Test(device_opencl, memory_goes_when_what_writes_to_it_has_ended)
{
    watched w = {0};
    const hdst__allocator hook = {.allocate = plain_allocate, .reallocate = plain_reallocate, .release = note_last_word, .user = &w};
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .allocator = &hook, .cache_dir = root});
    hdst__device *device;
    hdst__memory *memory;
    hdst_error error = HDST_ERROR_INIT;
    const uint64_t words = 8 * 1024 * 1024;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_OTHER, words * sizeof words, "a test", &memory, &error), HDST_OK);
    cr_assert_not_null(memory->buffer);
    w = (watched){.block = memory->buffer, .last = (const uint64_t *)memory->in_host + words - 1};
    for (uint64_t i = 1; i <= FILLS; i++) cr_assert_eq(device->ops->fill(device, memory, words, i, &error), HDST_OK);
    device->ops->release(device, memory);
    cr_expect_eq(w.seen, FILLS, "%d", (int)w.seen);

    // A write from the host's memory, too: the caller may take that away with the memory that it went to.
    uint64_t *from = malloc(words * sizeof *from);
    memset(from, 7, words * sizeof *from);
    cr_assert_eq(device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_OTHER, words * sizeof words, "a test", &memory, &error), HDST_OK);
    w = (watched){.block = memory->buffer, .last = (const uint64_t *)memory->in_host + words - 1};
    cr_assert_eq(device->ops->write(device, memory, 0, from, words * sizeof words, false, &error), HDST_OK);
    device->ops->release(device, memory);
    cr_expect_eq(w.seen, UINT64_C(0x0707070707070707));
    free(from);
    w.block = NULL;
    hdst__engine_destroy(engine);
}

// --- Buffers that are kept ---

enum { MB = 1 << 20, POOL_LIMIT = 16 * MB };

static hdst__memory *take_of(hdst__device *device, uint64_t bytes)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__memory *memory = NULL;
    cr_assert_eq(device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_OTHER, bytes, "a test", &memory, &error), HDST_OK, "%s", error.message);
    cr_assert_leq(atomic_load(&device->held.now), device->budget.limit, "what is used and kept together");
    return memory;
}

static hdst__memory *take(hdst__device *device, uint64_t bytes)
{
    hdst__memory *memory = take_of(device, bytes);
    cr_assert_leq(atomic_load(&device->held.now), POOL_LIMIT, "what is used and kept together");
    return memory;
}

static hdst__engine *engine_with_memory(uint64_t bytes, hdst__device **device)
{
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .gpu_form_on_cpu = true, .device_memory = bytes,
                                                                       .cache_dir = root});
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_open(engine, device, &error), HDST_OK, "%s", error.message);
    return engine;
}

static hdst__engine *engine_with_pool(hdst__device **device) { return engine_with_memory(POOL_LIMIT, device); }

Test(device_opencl, a_buffer_that_was_given_back_is_used_again)
{
    hdst__device *device;
    hdst__engine *engine = engine_with_pool(&device);
    const hdst__opencl_pool *pool = &((hdst__opencl_device *)device)->pool;
    hdst__memory *memory = take(device, MB);
    void *const first = memory->object;
    device->ops->release(device, memory);
    cr_assert_eq(atomic_load(&device->budget.used), 0);
    cr_assert_eq(atomic_load(&device->held.now), MB);
    device->ops->finish(device);
    memory = take(device, MB - 5000);                   // nearly as much
    cr_assert_eq(memory->object, first);
    cr_assert_eq(pool->reused, 1);
    cr_assert_eq(atomic_load(&device->budget.used), MB, "all of it counts");
    hdst__memory *other = take(device, MB), *half = take(device, MB / 2);
    cr_assert(other->object != first && half->object != first && pool->reused == 1);
    device->ops->release(device, memory);
    device->ops->release(device, other);
    device->ops->release(device, half);
    device->ops->finish(device);
    other = take(device, MB / 4);                       // all are much larger
    cr_assert_eq(pool->reused, 1);
    device->ops->release(device, other);
    cr_assert_eq(atomic_load(&device->budget.used), 0);
    hdst__engine_destroy(engine);
}

// Many sizes, in a random order: what is used and kept is never more than the budget, each use has memory of its own, and much is used again.
Test(device_opencl, kept_buffers_go_when_memory_is_short)
{
    enum { HELD = 8, TURNS = 600 };
    hdst__memory *held[HELD] = {NULL};
    uint64_t value[HELD] = {0}, state = 7, back;
    hdst__device *device;
    hdst__engine *engine = engine_with_pool(&device);
    hdst_error error = HDST_ERROR_INIT;
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t i = state >> 40 & (HELD - 1), sizes[] = {2 * MB - 4096, MB / 2, 100000, 2000, MB / 4};
        if (held[i]) {
            cr_assert_eq(device->ops->read(device, held[i], 0, &back, sizeof back, true, &error), HDST_OK);
            cr_assert_eq(back, value[i], "turn %d", (int)turn);
            device->ops->release(device, held[i]);
        }
        held[i] = take(device, sizes[(state >> 50) % 5]);
        value[i] = turn;
        cr_assert_eq(device->ops->write(device, held[i], 0, &turn, sizeof turn, true, &error), HDST_OK);
    }
    cr_assert_gt(((hdst__opencl_device *)device)->pool.reused, TURNS / 10);
    for (int i = 0; i < HELD; i++) device->ops->release(device, held[i]);
    hdst__memory *all = take(device, POOL_LIMIT);       // there is room for it once all kept ones have gone
    cr_assert_eq(((hdst__opencl_device *)device)->pool.count, 0);
    device->ops->release(device, all);
    hdst__engine_destroy(engine);
}

// --- Small memory ---

enum { ARENAS_LIMIT = 128 * MB, ARENA = 2 * MB, LARGEST_PART = 64 << 10 };

static void write_words(hdst__device *device, hdst__memory *memory, uint64_t value)
{
    static uint64_t words[LARGEST_PART / sizeof(uint64_t)];
    hdst_error error = HDST_ERROR_INIT;
    for (uint64_t i = 0; i < memory->bytes / sizeof *words; i++) words[i] = value * 100000 + i;
    cr_assert_eq(device->ops->write(device, memory, 0, words, memory->bytes / sizeof *words * sizeof *words, true, &error), HDST_OK);
}

static void expect_words(hdst__device *device, hdst__memory *memory, uint64_t value)
{
    static uint64_t words[LARGEST_PART / sizeof(uint64_t)];
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(device->ops->read(device, memory, 0, words, memory->bytes / sizeof *words * sizeof *words, true, &error), HDST_OK);
    for (uint64_t i = 0; i < memory->bytes / sizeof *words; i++) cr_assert_eq(words[i], value * 100000 + i, "word %d", (int)i);
}

// Many sizes, in a random order: each has memory of its own in few buffers of the driver's; at the end nothing is taken.
Test(device_opencl, small_memory_is_a_part_of_few_buffers)
{
    enum { HELD = 64, TURNS = 1500 };
    hdst__memory *held[HELD] = {NULL};
    uint64_t value[HELD] = {0}, state = 11, bytes = 0, most_held = 0;
    hdst__device *device;
    hdst__engine *engine = engine_with_memory(ARENAS_LIMIT, &device);
    hdst_error error = HDST_ERROR_INIT;
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t i = state >> 40 & (HELD - 1), wanted = 8 + (state >> 46) % (state >> 63 ? 3000 : LARGEST_PART - 8);
        if (held[i]) {
            expect_words(device, held[i], value[i]);
            bytes -= held[i]->held;
            device->ops->release(device, held[i]);
        }
        cr_assert_eq(device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_VALUES, wanted, "a test", &held[i], &error), HDST_OK, "%s", error.message);
        cr_assert(held[i]->held >= wanted && held[i]->held < wanted + HDST__SUB_BUFFER_BYTES, "no more than a unit is given away");
        write_words(device, held[i], value[i] = turn);
        bytes += held[i]->held;
        cr_assert_eq(atomic_load(&device->budget.owned[HDST__OWNER_VALUES].now), bytes);
        cr_assert_eq(atomic_load(&device->budget.used) % ARENA, 0, "arenas count in whole");
        if (most_held < atomic_load(&device->held.now)) most_held = atomic_load(&device->held.now);
    }
    cr_assert_leq(most_held, 4 * ARENA, "parts are used again: 64 of 32 KiB each lie in two arenas, those that wait beside them");
    for (int i = 0; i < HELD; i++) device->ops->release(device, held[i]);
    cr_assert_eq(atomic_load(&device->budget.used), 0);
    cr_assert_null(((hdst__opencl_device *)device)->pool.arenas);
    hdst__memory *all = take_of(device, ARENAS_LIMIT);
    cr_assert_eq(atomic_load(&device->held.now), ARENAS_LIMIT, "what was kept has gone");
    device->ops->release(device, all);
    hdst__engine_destroy(engine);
}

// A kernel's output may be a part of memory that is a part itself.
Test(device_opencl, a_part_has_parts)
{
    hdst__device *device;
    hdst__engine *engine = engine_with_memory(ARENAS_LIMIT, &device);
    hdst_error error = HDST_ERROR_INIT;
    hdst__memory *first = take_of(device, 4096), *second = take_of(device, 4096), part;
    uint64_t word = 77, back = 0;
    cr_assert(first->arena && first->arena == second->arena && first->arena_at != second->arena_at);
    write_words(device, first, 1);
    write_words(device, second, 2);
    cr_assert_eq(device->ops->sub_buffer(device, second, 1024, 512, &part, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(device->ops->write(device, &part, 8, &word, sizeof word, true, &error), HDST_OK);
    device->ops->release_sub_buffer(device, &part);
    cr_assert_eq(device->ops->read(device, second, 1032, &back, sizeof back, true, &error), HDST_OK);
    cr_assert_eq(back, 77);
    expect_words(device, first, 1);
    device->ops->release(device, first);
    device->ops->release(device, second);
    hdst__engine_destroy(engine);
}

// Nearly all of a budget is refused to no one for the sake of arenas: then small memory is a buffer of its own.
Test(device_opencl, no_arena_takes_the_last_memory)
{
    hdst__device *device;
    hdst__engine *engine = engine_with_memory(ARENAS_LIMIT, &device);
    hdst__memory *large = take_of(device, ARENAS_LIMIT - 2 * ARENA), *small = take_of(device, 5000), *last = take_of(device, 2 * ARENA - 8192);
    cr_assert_null(small->arena);
    cr_assert_eq(atomic_load(&device->budget.used), ARENAS_LIMIT);
    device->ops->release(device, large);
    device->ops->release(device, small);
    device->ops->release(device, last);
    hdst__engine_destroy(engine);
}

// Sizes that differ by little are one class: either way round the second use has the buffer of the first.
Test(device_opencl, sizes_of_a_class_have_the_same_buffers)
{
    hdst__device *device;
    hdst__engine *engine = engine_with_memory((uint64_t)1 << 30, &device);
    hdst__opencl_pool *pool = &((hdst__opencl_device *)device)->pool;
    static const uint64_t sizes[] = {920000, 940000, 930000, 983040};      // above 7/8 MiB, up to 15/16
    void *object = NULL;
    for (int i = 0; i < 4; i++) {
        hdst__memory *memory = take_of(device, sizes[i]);
        cr_assert_eq(memory->held, 983040);
        cr_assert(i == 0 || memory->object == object);
        object = memory->object;
        device->ops->release(device, memory);
        device->ops->finish(device);
    }
    cr_assert_eq(pool->reused, 3);
    hdst__memory *large = take_of(device, 100 * MB + 4096);
    cr_assert_eq(large->held, 100 * MB + 4096, "an eighth of much is not given away");
    device->ops->release(device, large);
    hdst__engine_destroy(engine);
}

Test(device_opencl, a_buffer_larger_than_the_device_allows_is_a_memory_error)
{
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .memory = UINT64_MAX / 2, .device_memory = UINT64_MAX / 2,
                                                                       .cache_dir = root});
    hdst__device *device;
    hdst__memory *memory;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK);
    cr_assert_eq(device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_OTHER, (uint64_t)1 << 60, "the table", &memory, &error), HDST_E_MEMORY);
    cr_assert(strstr(error.message, "the table"), "%s", error.message);
    hdst__engine_destroy(engine);
}

// --- Refused kernels ---

Test(device_opencl, a_refused_kernel_gives_the_log_and_keeps_the_source)
{
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .cache_dir = root});
    hdst__device *device;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
    hdst__kernel kernel = {.name = "wrong", .source = "__kernel void wrong(__global int *a) { a[0] = no_such_thing; }\n", .build_options = "-cl-std=CL1.2"};
    hdst__code code = {.kernel = &kernel, .items = 1};
    hdst__program *program = NULL;
    cr_assert_eq(device->ops->load(device, &code, &program, &error), HDST_E_DRIVER);
    cr_assert(strstr(error.cause, "no_such_thing"), "%s", error.cause);
    char *start = strstr(error.hint, root), text[64] = "";
    cr_assert_not_null(start, "%s", error.hint);
    start[strcspn(start, ";")] = 0;
    FILE *file = fopen(start, "r");
    cr_assert_not_null(file, "%s", start);
    cr_assert_not_null(fgets(text, sizeof text, file));
    fclose(file);
    cr_assert(strstr(text, "__kernel void wrong"));
    hdst__engine_destroy(engine);
}

// --- The cache on disk ---

Test(device_opencl, everything_that_changes_machine_code_changes_the_key)
{
    const hdst__device_info info = {.platform = "p", .name = "n", .driver = "1", .cl_version = "v"};
    const hdst__kernel kernel = {.build_options = "-o", .source = "s"};
    const hdst__hash key = hdst__device_program_key(&(hdst__device){.info = &info}, &kernel);
    for (int i = 0; i < 7; i++) {
        hdst__device_info other = info;
        hdst__kernel changed = kernel;
        if (i == 1) other.platform[0]++;
        if (i == 2) other.name[0]++;
        if (i == 3) other.driver[0]++;
        if (i == 4) other.cl_version[0]++;
        if (i == 5) changed.build_options = "-p";
        if (i == 6) changed.source = "t";
        const hdst__hash got = hdst__device_program_key(&(hdst__device){.info = &other}, &changed);
        cr_expect_eq(got.high == key.high && got.low == key.low, i == 0, "part %d", i);
    }
}

// A driver may take bytes that are a program, but another one: here one whose kernel has another name.
Test(device_opencl, a_program_on_disk_without_the_kernel_is_compiled_anew_and_replaced)
{
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "cpu", .cache_dir = root});
    engine->limits.binary_after = 1;
    hdst__device *device;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_open(engine, &device, &error), HDST_OK, "%s", error.message);
    const hdst__kernel first = {.name = "first", .source = "__kernel void first(__global int *a) { a[0] = 1; }\n", .build_options = "-cl-std=CL1.2"};
    const hdst__kernel second = {.name = "second", .source = "__kernel void second(__global int *a) { a[0] = 2; }\n", .build_options = "-cl-std=CL1.2"};
    hdst__program *program = NULL;
    cr_assert_eq(device->ops->load(device, &(hdst__code){.kernel = &first, .items = 1}, &program, &error), HDST_OK, "%s", error.message);
    hdst__driver_run_begin();
    cr_assert(hdst__opencl_proven(device, program));
    device->ops->unload(device, program);
    const hdst__hash a = hdst__device_program_key(device, &first), b = hdst__device_program_key(device, &second);
    size_t length, kept;
    void *bytes = hdst__program_cache_read(&engine->worker[0].cache, &a, &length);
    cr_assert_not_null(bytes);
    hdst__program_cache_write(&engine->worker[0].cache, &b, bytes, length);
    cr_assert_eq(device->ops->load(device, &(hdst__code){.kernel = &second, .items = 1}, &program, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(error.code, HDST_OK, "what went well has an error: %s", error.message);
    cr_assert(hdst__opencl_proven(device, program));
    hdst__driver_run_end();
    device->ops->unload(device, program);
    void *now = hdst__program_cache_read(&engine->worker[0].cache, &b, &kept);
    cr_assert_not_null(now);
    cr_assert(kept != length || memcmp(now, bytes, length) != 0, "the wrong program stays on disk");
    hdst__free(engine->runtime.allocator, bytes);
    hdst__free(engine->runtime.allocator, now);
    hdst__engine_destroy(engine);
}

static uint32_t binary_after = 1;      // of the runs below

static hdst_status run_with(const char *cache_dir, char *log, size_t size, int *warnings)
{
    fixture f;
    hdst_status status = fixture_open(&f, &(fixture_options){.device = "cpu", .layout = HDST__SOA, .records = 1000, .accumulates = true, .cache_dir = cache_dir,
                                                             .binary_after = binary_after});
    if (status == HDST_OK) status = fixture_run(&f);
    if (status == HDST_OK) fixture_expect_right(&f);
    snprintf(log, size, "%s", f.log);
    *warnings = f.warnings;
    fixture_close(&f);
    return status;
}

static int count_files(char path[256])
{
    DIR *directory = opendir(root);
    int files = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, 256, "%s/%.100s", root, entry->d_name);
        files++;
    }
    closedir(directory);
    return files;
}

Test(device_opencl, the_second_process_takes_the_program_from_disk)
{
    char log[4096], path[256];
    int warnings;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        cr_assert_geq(child, 0);
        if (child == 0) {
            hdst_status status = run_with(root, log, sizeof log, &warnings);
            _exit(status != HDST_OK || !strstr(log, i == 0 ? "compiled" : "from the kernel cache"));
        }
        int status = 1;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d", i);
        cr_assert_eq(count_files(path), 1);
    }
}

Test(device_opencl, a_damaged_program_on_disk_is_compiled_again_and_replaced)
{
    char log[4096], path[256];
    int warnings;
    struct stat before, after;
    cr_assert_eq(run_with(root, log, sizeof log, &warnings), HDST_OK);
    cr_assert_eq(count_files(path), 1);
    cr_assert_eq(stat(path, &before), 0);
    cr_assert_eq(truncate(path, before.st_size / 2), 0);
    cr_assert_eq(run_with(root, log, sizeof log, &warnings), HDST_OK);
    cr_assert(strstr(log, "compiled"), "%s", log);
    cr_assert_eq(stat(path, &after), 0);
    cr_assert_gt(after.st_size, before.st_size / 2);
    cr_assert_eq(run_with(root, log, sizeof log, &warnings), HDST_OK);
    cr_assert(strstr(log, "from the kernel cache"), "%s", log);
}

Test(device_opencl, without_a_usable_cache_directory_it_runs_with_one_warning)
{
    char log[4096], file[128];
    int warnings;
    snprintf(file, sizeof file, "%s/file", root);
    FILE *made = fopen(file, "w");
    cr_assert_not_null(made);
    fclose(made);
    cr_assert_eq(run_with(file, log, sizeof log, &warnings), HDST_OK);
    cr_assert_eq(warnings, 1, "%s", log);
}

Test(device_opencl, two_processes_may_fill_the_cache_at_once)
{
    char log[4096], path[256];
    int warnings;
    pid_t child[2];
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        cr_assert_geq(child[i], 0);
        if (child[i] == 0) _exit(run_with(root, log, sizeof log, &warnings) != HDST_OK || warnings);
    }
    for (int i = 0; i < 2; i++) {
        int status = 1;
        cr_assert_eq(waitpid(child[i], &status, 0), child[i]);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    cr_assert_eq(count_files(path), 1);
    cr_assert_eq(run_with(root, log, sizeof log, &warnings), HDST_OK);
    cr_assert(strstr(log, "from the kernel cache"), "%s", log);
}

// --- How often PoCL compiles a kernel ---

static int objects;             // machine code in PoCL's cache

static int look_at(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    objects += type == FTW_F && at->level > 0 && strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".so") == 0;
    return 0;
}

// Runs with a cache of PoCL's that nobody else uses. The one kernel's machine code is to be there once.
static void expect_compiled_once(const char *cache_dir)
{
    char log[4096], pocl[128];
    int warnings;
    snprintf(pocl, sizeof pocl, "%s/pocl", root);
    cr_assert_eq(mkdir(pocl, 0700), 0);
    setenv("POCL_CACHE_DIR", pocl, 1);
    cr_assert_eq(run_with(cache_dir, log, sizeof log, &warnings), HDST_OK);
    const char *compiled = strstr(log, ": compiled");
    cr_assert(compiled && !strstr(compiled + 1, ": compiled"), "%s", log);
    objects = 0;
    cr_assert_eq(nftw(pocl, look_at, 16, FTW_PHYS), 0);
    if (objects == 0) cr_skip("the CPU's driver is not PoCL");
    cr_assert_eq(objects, 1);
}

Test(device_opencl, a_kernel_is_compiled_once_though_its_binary_may_be_kept)
{
    char cache_dir[128];
    snprintf(cache_dir, sizeof cache_dir, "%s/cache", root);
    binary_after = 0;
    expect_compiled_once(cache_dir);
}

// PoCL keeps machine code of its own, so that a binary has to pay first.
Test(device_opencl, a_binary_is_kept_once_so_many_processes_have_used_the_program)
{
    char log[4096], path[256];
    int warnings;
    binary_after = 3;
    for (int i = 1; i <= 4; i++) {
        cr_assert_eq(run_with(root, log, sizeof log, &warnings), HDST_OK);
        cr_assert_eq(warnings, 0);
        cr_assert(strstr(log, i < 4 ? ": compiled" : "from the kernel cache"), "%d: %s", i, log);
        cr_assert_eq(count_files(path), i < 3 ? 1 : 2, "%d", i);     // the count, and then the program too
    }
}

Test(device_opencl, no_binary_is_asked_for_that_could_not_be_kept)
{
    char file[128];
    snprintf(file, sizeof file, "%s/file", root);
    FILE *made = fopen(file, "w");
    cr_assert_not_null(made);
    fclose(made);
    expect_compiled_once(file);         // though the first process would ask for it
}
