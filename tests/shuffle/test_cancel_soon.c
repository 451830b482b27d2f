// SPDX-License-Identifier: Apache-2.0
// How much is done after a cancel, wherever it comes: counted in stretches of large blocks that are touched for the
// first time, and of files that are written or read. The run is asked to end at one of these events; whoever does not
// look goes through all that are left.
#include "shuffle/aggregate/aggregate.h"
#include "engine/engine_state.h"
#include "shuffle/group/group.h"
#include "shuffle/group/repartition.h"
#include "shuffle/sort/sort_host.h"
#include "shuffle/sort/sort_state.h"
#include "tests/shuffle/pairs.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STRETCH = 8 << 10, STRETCHES_OF_A_MB = (1 << 20) / STRETCH, LARGE = 1 << 20, MOST_BLOCKS = 4096 };

static hdst__cancel cancel;
static _Atomic uint64_t events, ask_at;        // 0: never
static _Thread_local bool quiet;               // the source's own work

static void event(void)
{
    if (!quiet && atomic_fetch_add(&events, 1) + 1 == atomic_load(&ask_at)) hdst__cancel_ask(&cancel);
}

// --- Memory: large blocks cannot be touched but stretch by stretch, each of which is seen once ---

static struct { char *_Atomic at; _Atomic size_t bytes; } blocks[MOST_BLOCKS];

static bool open_stretch(const char *address)
{
    for (size_t i = 0; i < MOST_BLOCKS; i++) {
        char *at = atomic_load(&blocks[i].at);
        if (!at || address < at || address >= at + atomic_load(&blocks[i].bytes)) continue;
        mprotect(at + (size_t)(address - at) / STRETCH * STRETCH, STRETCH, PROT_READ | PROT_WRITE);
        return true;
    }
    return false;
}

static void on_touch(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (open_stretch(info->si_addr)) event();
    else signal(number, SIG_DFL);               // a crash as any other
}

static void watch_memory(void)
{
    struct sigaction action = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO | SA_NODEFER};
    cr_assert_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

static size_t whole(size_t bytes) { return (bytes + STRETCH - 1) / STRETCH * STRETCH; }

static void *take_large(size_t bytes)
{
    char *at = mmap(NULL, whole(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert_neq(at, MAP_FAILED);
    for (size_t i = 0; i < MOST_BLOCKS; i++) {
        char *none = NULL;
        if (!atomic_compare_exchange_strong(&blocks[i].at, &none, at)) continue;
        atomic_store(&blocks[i].bytes, whole(bytes));
        return at;
    }
    cr_assert_fail("more blocks than the test can count");
    return NULL;
}

static size_t find_large(const void *memory)
{
    size_t i = 0;
    while (i < MOST_BLOCKS && atomic_load(&blocks[i].at) != memory) i++;
    return i;
}

static void *take(size_t bytes, void *user) { return (void)user, bytes < LARGE ? malloc(bytes) : take_large(bytes); }
static void *take_zero(size_t bytes, void *user) { return (void)user, bytes < LARGE ? calloc(1, bytes) : take_large(bytes); }

static void give(void *memory, void *user)
{
    (void)user;
    const size_t i = memory ? find_large(memory) : MOST_BLOCKS;
    if (i == MOST_BLOCKS) {
        free(memory);
        return;
    }
    const size_t bytes = atomic_exchange(&blocks[i].bytes, 0);
    atomic_store(&blocks[i].at, NULL);
    munmap(memory, bytes);
}

// Moving what is there is the caller's wish, not its work.
static void *retake(void *memory, size_t bytes, void *user)
{
    const size_t i = memory ? find_large(memory) : MOST_BLOCKS;
    if (i == MOST_BLOCKS && bytes < LARGE) return realloc(memory, bytes);
    void *copy = take(bytes, user);
    const bool before = quiet;
    quiet = true;
    if (i < MOST_BLOCKS) memcpy(copy, memory, bytes < blocks[i].bytes ? bytes : blocks[i].bytes);
    else if (memory) memcpy(copy, memory, LARGE / 2);
    quiet = before;
    give(memory, user);
    return copy;
}

static const hdst__allocator counting = {take, retake, give, NULL, take_zero};

// --- Files: the kernel does not touch what is closed ---

static void touch(char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += STRETCH / 2) *(volatile char *)(at + i) = 0;
    if (bytes) *(volatile char *)(at + bytes - 1) = 0;
}

static void file_events(size_t bytes)
{
    for (size_t i = 0; i < bytes; i += STRETCH) event();
}

// In place of the C library's.
ssize_t pwrite(int file, const void *from, size_t bytes, off_t offset)
{
    file_events(bytes);         // what is written was touched before
    return syscall(SYS_pwrite64, file, from, bytes, offset);
}

ssize_t pread(int file, void *to, size_t bytes, off_t offset)
{
    touch(to, bytes);
    file_events(bytes);
    return syscall(SYS_pread64, file, to, bytes, offset);
}

// --- Runs ---

typedef struct job {
    uint64_t records;
    hdst__engine *engine;
    hdst__arena arena;
    jmp_buf out_of_memory;
    const hdst__record *record, *number;
    hdst__reader reader, numbers;
    hdst_error error;
} job;

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    (void)user, (void)error;
    quiet = true;
    fill_pairs(first, count, storage, buffers, to_first);
    quiet = false;
    return HDST_OK;
}

typedef hdst_status (*step)(job *j);

typedef struct run_case {
    const char *what;
    step run;
    uint64_t records, memory;
    uint64_t megabytes;         // that may be gone through between two looks, all threads and arrays together
} run_case;

static hdst_status once(const run_case *c, uint64_t at)
{
    job j = {.records = c->records, .error = HDST_ERROR_INIT};
    j.engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .memory = c->memory, .cancel = &cancel, .allocator = &counting});
    hdst__arena_init(&j.arena, NULL, &j.out_of_memory);
    cr_assert(setjmp(j.out_of_memory) == 0);
    j.record = make_record(&j.arena, HDST__U64, 2);
    j.number = make_record(&j.arena, HDST__U32, 1);
    j.reader = (hdst__reader){fill, NULL, c->records, j.record, HDST__AOS, 0};
    j.numbers = (hdst__reader){fill, NULL, c->records, j.number, HDST__AOS, 0};
    atomic_store(&events, 0);
    atomic_store(&ask_at, at);
    hdst__cancel_begin(&cancel);
    const hdst_status status = c->run(&j);
    hdst__cancel_end(&cancel);
    cr_assert(status == HDST_OK || (at && status == HDST_E_CANCELLED), "%s", j.error.message);
    const uint64_t counted = atomic_load(&events);
    hdst__engine_destroy(j.engine);
    hdst__arena_destroy(&j.arena);
    atomic_store(&events, counted);
    return status;
}

// Wherever it comes, but at the very end, the run ends so. With threads no two runs have quite as many events: one may be over before it is asked.
static void expect_soon(run_case c)
{
#ifdef __SANITIZE_ADDRESS__
    enum { TIMES = 8 };         // some in each phase
#else
    enum { TIMES = 16 };
#endif
    watch_memory();
    cr_assert_eq(once(&c, 0), HDST_OK);
    const uint64_t all = atomic_load(&events), allowed = c.megabytes * STRETCHES_OF_A_MB;
    cr_assert_gt(all, 2 * allowed, "%s: %llu events", c.what, (unsigned long long)all);
    for (uint64_t i = 0; i < TIMES; i++) {
        const uint64_t at = all * i / TIMES + 1;
        const hdst_status status = once(&c, at);
        if (atomic_load(&events) < at) continue;
        const uint64_t after = atomic_load(&events) - at;
        cr_expect_leq(after, allowed, "%s, asked at event %llu of %llu: %llu more", c.what, (unsigned long long)at, (unsigned long long)all,
                      (unsigned long long)after);
        cr_expect(status == HDST_E_CANCELLED || after <= allowed / 8, "%s, asked at event %llu of %llu, ended well after %llu more", c.what,
                  (unsigned long long)at,
                  (unsigned long long)all, (unsigned long long)after);
    }
}

enum { ENOUGH = 1 << 30 };
static const hdst__sort_key by_value = {.leaf = 0};

static hdst_status sort(job *j)
{
    hdst__sort *s = hdst__sort_create(j->engine, j->record, &by_value, 1);
    hdst_status status = hdst__sort_run(s, &j->reader, NULL, NULL, false, &j->error);
    static char rows[100000 * sizeof(pair)];
    enum { SOME = sizeof rows / sizeof(pair) };
    for (uint64_t first = 0; s->runs.count && first < j->records && status == HDST_OK; first += SOME)
        status = hdst__sort_runs_read(&s->runs, first, j->records - first < SOME ? j->records - first : SOME, rows, &j->error);
    hdst__sort_destroy(s);
    return status;
}

Test(cancel_soon, a_sort) { expect_soon((run_case){"a sort", sort, 3000000, ENOUGH, 18}); }
Test(cancel_soon, a_sort_through_runs) { expect_soon((run_case){"a sort through runs", sort, 3000000, 16 << 20, 6}); }

static hdst_status group(job *j)
{
    static const hdst__key_field key = {offsetof(pair, key), HDST__U64};
    hdst__group g;
    bool more = true;
    hdst__group_init(&g, j->engine, j->record, &key, 1);
    hdst_status status = hdst__group_start(&g, &j->reader, &j->error);
    while (status == HDST_OK && more) status = hdst__group_next(&g, &j->reader, &more, &j->error);
    hdst__group_release(&g);
    return status;
}

Test(cancel_soon, groups) { expect_soon((run_case){"groups", group, 1500000, ENOUGH, 8}); }

static hdst_status part(job *j)
{
    const char *why;
    hdst__repartition *parting = hdst__repartition_create(j->engine, j->record, 16, &why);
    const hdst_status status = hdst__repartition_run(parting, &j->reader, &j->numbers, &j->error);
    hdst__repartition_destroy(parting);
    return status;
}

Test(cancel_soon, records_in_parts) { expect_soon((run_case){"records in parts", part, 3000000, ENOUGH, 20}); }

static hdst_status reduce(job *j, hdst__container container)
{
    static const uint32_t key = 0;
    static const hdst__accumulate_op sum = HDST__SUM;
    const hdst__aggregate_input input = {.reader = &j->reader};
    const void *rows;
    uint64_t count;
    hdst__aggregate *by_key = hdst__aggregate_create(j->engine, &(hdst__aggregate_spec){.record = j->record, .key_leaves = &key, .key_count = 1,
                                                                                        .laws = &sum, .container = container});
    const hdst_status status = hdst__aggregate_run(by_key, &input, &rows, &count, &j->error);
    hdst__aggregate_destroy(by_key);
    return status;
}

static hdst_status reduce_in_parts(job *j) { return reduce(j, HDST__CONTAINER_PARTITIONS); }
static hdst_status reduce_sorted(job *j) { return reduce(j, HDST__CONTAINER_SORTED); }

Test(cancel_soon, a_reduction_by_key) { expect_soon((run_case){"a reduction by key", reduce_in_parts, 1500000, ENOUGH, 8}); }
Test(cancel_soon, a_reduction_by_key_in_sorted_runs) { expect_soon((run_case){"a reduction by key in sorted runs", reduce_sorted, 1500000, ENOUGH, 8}); }
Test(cancel_soon, a_reduction_by_key_through_files) { expect_soon((run_case){"a reduction by key through files", reduce_in_parts, 1500000, 16 << 20, 8}); }
