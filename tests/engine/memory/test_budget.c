// SPDX-License-Identifier: Apache-2.0
// Memory budgets to the byte, and what goes to files where they end.
#include "base/budget.h"
#include "base/cgroup.h"
#include "engine/memory/output.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

Test(budget, gives_up_to_the_limit_and_no_byte_more)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 600));
    cr_assert_not(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 401));
    cr_assert_eq(hdst__budget_left(&budget), 400);
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 400));
    cr_assert_not(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 1));
    hdst__budget_release(&budget, HDST__OWNER_OTHER, 1000);
    cr_assert_eq(hdst__budget_left(&budget), 1000);
    cr_assert_eq(budget.peak, 1000);
}

// --- What goes when it is wanted ---

typedef struct kept {
    uint64_t blocks, bytes;         // that are there, of so many bytes
    int asked;
} kept;

static bool evict_one(hdst__budget *budget, void *user)
{
    kept *k = user;
    k->asked++;
    if (!k->blocks) return false;
    k->blocks--;
    hdst__budget_release(budget, HDST__OWNER_CACHES, k->bytes);
    hdst__budget_evictable(budget, -(int64_t)k->bytes, evict_one, k);
    return true;
}

static void keep_blocks(hdst__budget *budget, kept *k)
{
    for (uint64_t i = 0; i < k->blocks; i++) {
        cr_assert(hdst__budget_reserve(budget, HDST__OWNER_CACHES, k->bytes));
        hdst__budget_evictable(budget, (int64_t)k->bytes, evict_one, k);
    }
}

Test(budget, what_is_evictable_counts_as_left_and_goes_as_far_as_it_is_wanted)
{
    hdst__budget budget;
    kept k = {5, 100, 0};
    hdst__budget_init(&budget, "device memory", "--device-memory", 1000);
    keep_blocks(&budget, &k);
    cr_assert_eq(hdst__budget_unused(&budget), 500);
    cr_assert_eq(hdst__budget_left(&budget), 1000);
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 500));
    cr_assert_eq(k.asked, 0, "there was room");
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 101));
    cr_assert_eq(k.blocks, 3, "two blocks make room for 101 bytes, %lu are left", (unsigned long)k.blocks);
    cr_assert_eq(hdst__budget_left(&budget), 399);
    cr_assert_not(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 400));
    cr_assert_eq(k.blocks, 3, "nothing goes in vain");
    cr_assert_eq(budget.refused, 1);
    cr_assert_eq(budget.refused_left, 399);
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 399));
    cr_assert_eq(k.blocks, 0);
    cr_assert_eq(budget.peak, 1000, "never more than the limit");
}

// Small blocks that pass their allowance are as much wanted as large ones.
Test(budget, what_is_evictable_goes_for_small_blocks_too)
{
    hdst__budget budget;
    kept k = {5, 1 << 20, 0};
    hdst__budget_init(&budget, "host memory", "--memory", 5 << 20);
    const hdst__allocator allocator = hdst__budget_allocator(&budget, NULL);
    void *block[64];
    keep_blocks(&budget, &k);
    for (int i = 0; i < 64; i++) cr_assert(block[i] = hdst__alloc(&allocator, 64 << 10));      // 4 MiB, the allowance is 2.5
    cr_assert_eq(k.blocks, 3);
    for (int i = 0; i < 64; i++) hdst__free(&allocator, block[i]);
    void *large = hdst__alloc(&allocator, 1 << 20);
    cr_assert(hdst__budget_block_bytes(large) >= 1 << 20 && hdst__budget_block_bytes(large) <= (1 << 20) + 64);
    hdst__free(&allocator, large);
}

Test(budget, a_request_near_2_to_64_does_not_wrap)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 10));
    cr_assert_not(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, UINT64_MAX - 5));
    cr_assert_eq(hdst__budget_left(&budget), 990);
}

Test(budget, its_error_names_the_need_the_rest_and_the_option)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "device memory", "--device-memory", 3 << 20);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__budget_error(&budget, 5 << 20, "the table of 'center'", &error), HDST_E_MEMORY);
    cr_assert_str_eq(error.message, "device memory: the table of 'center' needs 5.0 MiB, 3.0 MiB of 3.0 MiB are left");
    cr_assert(strstr(error.hint, "--device-memory"));
}

// Without the least, whatever is in use: 2.5 of what it needs, or what is known to come later.
Test(budget, its_error_names_a_limit_near_the_least)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", UINT64_C(64) << 20);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, UINT64_C(60) << 20));
    hdst__budget_error(&budget, 8 << 20, "rows", &error);
    cr_assert(strstr(error.hint, "--memory 90M would do"), "%s", error.hint);          // 60 in use, 20, 8 for shares of 64, 2
    hdst__budget_error_of_all(&budget, 8 << 20, 4 << 20, 0, "rows", &error);
    cr_assert(strstr(error.message, "rows needs 8.0 MiB, 4.0 MiB of 64.0 MiB are left"), "%s", error.message);
    cr_assert(strstr(error.hint, "--memory 83M would do"), "%s", error.hint);          // 60, 8, 4, an eighth of these, 2
    hdst__budget_error_of_all(&budget, 8 << 20, 4 << 20, 16 << 20, "rows", &error);
    cr_assert(strstr(error.hint, "--memory 101M would do"), "%s", error.hint);         // 16 more may come into use
    hdst__budget_release(&budget, HDST__OWNER_OTHER, UINT64_C(28) << 20);
    hdst__budget_error_of_all(&budget, 40 << 20, 0, UINT64_C(1) << 40, "rows", &error);
    cr_assert(strstr(error.hint, "--memory 182M would do"), "%s", error.hint);         // of 160 three quarters would be in use; an eighth, 2
    hdst__budget_error_of_all(&budget, UINT64_MAX - 1, 4 << 20, 0, "rows", &error);
    cr_assert(!strstr(error.hint, "would do"), "%s", error.hint);
}

static void *refuse(size_t bytes, void *user)
{
    (void)bytes, (void)user;
    return NULL;
}

static void *refuse_more(void *pointer, size_t bytes, void *user)
{
    (void)pointer;
    return refuse(bytes, user);
}

static void release(void *pointer, void *user) { (void)pointer, (void)user; }

enum { HEAD = 16 };     // of a block: it counts too

Test(budget, memory_counts_until_it_is_given_back)
{
    hdst__budget budget;
    hdst_error error = HDST_ERROR_INIT;
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    const hdst__allocator counting = hdst__budget_allocator(&budget, NULL);
    void *memory = hdst__budget_alloc(&budget, HDST__OWNER_OTHER, 600 - HEAD, "a table", &error);
    cr_assert(memory && hdst__budget_left(&budget) == 400);
    cr_assert_null(hdst__budget_alloc(&budget, HDST__OWNER_OTHER, 401, "a table", &error));
    cr_assert(error.code == HDST_E_MEMORY && strstr(error.message, "a table needs 401 B") && strstr(error.hint, "--memory"));
    memory = hdst__budget_realloc(&budget, HDST__OWNER_OTHER, memory, 700 - HEAD, "a table", &error);
    cr_assert(memory && hdst__budget_left(&budget) == 300);
    cr_assert_null(hdst__budget_realloc(&budget, HDST__OWNER_OTHER, memory, 1001 - HEAD, "a table", &error));
    cr_assert_eq(hdst__budget_left(&budget), 300);
    hdst__free(&counting, memory);
    hdst__free(&counting, NULL);
    cr_assert_eq(hdst__budget_left(&budget), 1000);
}

Test(budget, what_the_hook_refuses_does_not_count)
{
    hdst__budget budget;
    hdst_error error = HDST_ERROR_INIT;
    const hdst__allocator none = {refuse, refuse_more, release, NULL, NULL};
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    const hdst__allocator counting = hdst__budget_allocator(&budget, &none);
    cr_assert_null(hdst__budget_alloc(&budget, HDST__OWNER_OTHER, 400, "a table", &error));
    cr_assert(error.code == HDST_E_MEMORY && strstr(error.message, "out of memory"));
    cr_assert_null(hdst__alloc(&counting, 1));
    cr_assert_null(hdst__alloc_zero(&counting, 1 << 20));
    cr_assert_eq(hdst__budget_left(&budget), 1000);
    cr_assert_eq(budget.small, 0);
}

// Whoever asks: what is large counts, what is small counts together, and the sum is what was promised.
Test(budget, no_block_of_its_allocator_escapes_it)
{
    enum { LIMIT = 4 << 20, MOST = LIMIT / 10 * 11 + (2 << 20), SMALL = 1000, LARGE = HDST__BUDGET_LARGE };
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", LIMIT);
    const hdst__allocator counting = hdst__budget_allocator(&budget, NULL);
    static void *block[MOST / SMALL];
    size_t count = 0, bytes = 0;
    while ((block[count] = hdst__alloc(&counting, LARGE))) count++, bytes += LARGE + HEAD;
    cr_assert(bytes <= LIMIT && bytes + LARGE + HEAD > LIMIT);
    while ((block[count] = hdst__alloc_zero(&counting, SMALL))) count++, bytes += SMALL + HEAD;
    cr_assert(bytes > LIMIT + (1 << 20) && bytes <= MOST, "%zu of %d", bytes, MOST);
    cr_assert_null(hdst__realloc(&counting, block[count - 1], LARGE));
    cr_assert(budget.refused >= 3);
    while (count--) hdst__free(&counting, block[count]);
    cr_assert_eq(budget.used + budget.small, 0);
    cr_assert_eq(hdst__budget_left(&budget), LIMIT);
}

// Both know of all blocks of a share; what it refuses is told as the budget's, whose limit is what can be raised.
Test(budget, a_share_is_a_limit_within_a_budget)
{
    hdst__budget budget, share[2];
    hdst__budget_init(&budget, "host memory", "--memory", 1 << 20);
    const hdst__allocator all = hdst__budget_allocator(&budget, NULL);
    hdst__allocator of_share[2];
    for (int i = 0; i < 2; i++) {
        hdst__budget_init_share(&share[i], &budget, 400 << 10);
        of_share[i] = hdst__budget_allocator(&share[i], &all);
    }
    const uint64_t refused = budget.refused;
    void *large = hdst__alloc(&of_share[0], 300 << 10), *small = hdst__alloc(&of_share[0], 50 << 10);
    cr_assert(large && small && budget.refused == refused);
    cr_assert_null(hdst__alloc(&of_share[0], 60 << 10));
    cr_assert_eq(budget.refused, refused + 1);
    hdst_error error = HDST_ERROR_INIT;
    hdst__error_memory(&error, "rows");
    hdst__budget_explain(&budget, refused, &error);
    cr_assert(strstr(error.message, "host memory: rows needs 60.0 KiB, 50.0 KiB of 1.0 MiB are left"), "%s", error.message);
    cr_assert(budget.used >= 300 << 10 && hdst__budget_left(&share[0]) < 50 << 10);
    void *other = hdst__alloc(&of_share[1], 390 << 10);
    cr_assert(other, "what one has does not count for the other");
    hdst__free(&of_share[0], large);
    hdst__free(&of_share[0], small);
    hdst__free(&of_share[1], other);
    cr_assert(budget.used == 0 && share[0].used == 0 && share[0].small == 0 && share[1].used == 0);
}

Test(budget, a_small_block_that_grows_large_changes_sides)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 4 << 20);
    const hdst__allocator counting = hdst__budget_allocator(&budget, NULL);
    char *memory = hdst__alloc(&counting, 10);
    memcpy(memory, "012345678", 10);
    cr_assert(budget.small == 10 + HEAD && budget.used == 0);
    memory = hdst__realloc(&counting, memory, HDST__BUDGET_LARGE);
    cr_assert(budget.small == 0 && budget.used == HDST__BUDGET_LARGE + HEAD);
    memory = hdst__realloc(&counting, memory, 20);
    cr_assert_str_eq(memory, "012345678");
    cr_assert(budget.small == 0 && budget.used == 20 + HEAD);
    hdst__free(&counting, memory);
    cr_assert_eq(budget.used, 0);
}

// In the other order than above: what is small and past its allowance takes from what is left for large blocks.
Test(budget, small_blocks_past_their_allowance_leave_less)
{
    enum { LIMIT = 4 << 20, SMALL = 1000, PAST = 1 << 20 };
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", LIMIT);
    const hdst__allocator counting = hdst__budget_allocator(&budget, NULL);
    static void *block[LIMIT / SMALL];
    size_t count = 0;
    while (budget.small < budget.allowance) cr_assert((block[count++] = hdst__alloc(&counting, SMALL)));
    cr_assert_geq(hdst__budget_left(&budget), LIMIT - SMALL - HEAD);
    while (budget.small < budget.allowance + PAST) cr_assert((block[count++] = hdst__alloc(&counting, SMALL)));
    const uint64_t left = LIMIT - (budget.small - budget.allowance);
    cr_assert_leq(left, LIMIT - PAST);
    cr_assert_eq(hdst__budget_left(&budget), left);
    cr_assert_not(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, left + 1));
    cr_assert(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, left));
    cr_assert_null(hdst__alloc(&counting, 1), "and nothing more");
    hdst__budget_release(&budget, HDST__OWNER_OTHER, left);
    while (count--) hdst__free(&counting, block[count]);
    cr_assert_eq(budget.used + budget.small, 0);
}

Test(budget, blocks_near_2_to_64_are_refused)
{
    hdst__budget budget;
    hdst_error error = HDST_ERROR_INIT;
    hdst__budget_init(&budget, "host memory", "--memory", 1 << 20);
    const hdst__allocator counting = hdst__budget_allocator(&budget, NULL);
    char *some = hdst__alloc(&counting, 10);
    for (uint64_t below = 1; below < 40; below++) {         // a head in front would wrap
        cr_assert_null(hdst__alloc(&counting, SIZE_MAX - below));
        cr_assert_null(hdst__alloc_zero(&counting, SIZE_MAX - below));
        cr_assert_null(hdst__realloc(&counting, some, SIZE_MAX - below));
        cr_assert_null(hdst__budget_alloc(&budget, HDST__OWNER_OTHER, UINT64_MAX - below, "a table", &error));
        cr_assert_null(hdst__budget_realloc(&budget, HDST__OWNER_OTHER, some, UINT64_MAX - below, "a table", &error));
    }
    hdst__free(&counting, some);
    cr_assert_eq(budget.used + budget.small, 0);
}

// --- A hook that tells what it is asked ---

typedef struct told {
    unsigned moves, releases;
    bool refuses;
} told;

static void *give(size_t bytes, void *user) { return ((told *)user)->refuses ? NULL : malloc(bytes); }

static void *move(void *pointer, size_t bytes, void *user)
{
    told *t = user;
    t->moves++;
    return t->refuses ? NULL : realloc(pointer, bytes);
}

static void take_back(void *pointer, void *user)
{
    ((told *)user)->releases++;
    free(pointer);
}

Test(budget, a_block_that_the_hook_does_not_move_counts_as_before)
{
    told t = {0};
    hdst__budget budget;
    hdst_error error = HDST_ERROR_INIT;
    const hdst__allocator hook = {give, move, take_back, &t, NULL};
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    const hdst__allocator counting = hdst__budget_allocator(&budget, &hook);
    void *memory = hdst__budget_alloc(&budget, HDST__OWNER_OTHER, 100 - HEAD, "a table", &error);
    t.refuses = true;
    cr_assert_null(hdst__budget_realloc(&budget, HDST__OWNER_OTHER, memory, 600 - HEAD, "a table", &error));
    cr_assert_eq(t.moves, 1);
    cr_assert_eq(hdst__budget_left(&budget), 900);
    hdst__free(&counting, memory);
    cr_assert_eq(t.releases, 1);
    cr_assert_eq(hdst__budget_left(&budget), 1000);
}

// Somebody may still use any of them: what a device that was given up reads and writes stays where it is.
Test(budget, what_is_kept_neither_moves_nor_goes)
{
    told t = {0};
    hdst__budget budget;
    const hdst__allocator hook = {give, move, take_back, &t, NULL};
    hdst__budget_init(&budget, "host memory", "--memory", 1 << 20);
    const hdst__allocator counting = hdst__budget_allocator(&budget, &hook);
    char *memory = hdst__alloc(&counting, 10);
    memcpy(memory, "012345678", 10);
    hdst__budget_keep(&budget);
    char *grown = hdst__realloc(&counting, memory, 20), *less = hdst__realloc(&counting, memory, 5);
    cr_assert(grown && grown != memory && less && less != memory);
    cr_assert_str_eq(grown, "012345678");
    cr_assert_eq(memcmp(less, "01234", 5), 0);
    hdst__free(&counting, memory);
    cr_assert_str_eq(memory, "012345678");
    cr_assert(t.moves == 0 && t.releases == 0);
    free(memory - HEAD);
    free(grown - HEAD);
    free(less - HEAD);
}

// Where an error only says that memory is out, and the budget is the reason, it says so and names one that would do.
Test(budget, an_error_is_explained_by_what_the_budget_refused)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 1 << 20);
    hdst_error error = HDST_ERROR_INIT;
    hdst__error_memory(&error, "a plan");
    hdst__budget_explain(&budget, 0, &error);
    cr_assert_str_eq(error.message, "out of memory: a plan", "it refused nothing");
    cr_assert_not(hdst__budget_reserve(&budget, HDST__OWNER_OTHER, 5 << 20));
    hdst__error_set(&error, HDST_E_MEMORY, "the device has no memory for a plan");
    hdst__budget_explain(&budget, 0, &error);
    cr_assert_str_eq(error.message, "the device has no memory for a plan", "another reason");
    hdst__error_memory(&error, "a plan");
    hdst__budget_explain(&budget, 1, &error);
    cr_assert_str_eq(error.message, "out of memory: a plan", "it refused something before, and nothing since");
    hdst__budget_explain(&budget, 0, &error);
    cr_assert_str_eq(error.message, "host memory: a plan needs 5.0 MiB, 1.0 MiB of 1.0 MiB are left");
    cr_assert(strstr(error.hint, "--memory"), "%s", error.hint);
}

// What was asked for is more than what was left, though by the time that somebody says so the memory was given back.
Test(budget, an_error_is_explained_by_what_was_left_then)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 4 << 20);
    const hdst__allocator all = hdst__budget_allocator(&budget, NULL);
    void *most = hdst__alloc(&all, (4 << 20) - (200 << 10)), *small[64];
    size_t count = 0;
    cr_assert(most);
    cr_assert_null(hdst__alloc(&all, 256 << 10));
    hdst__free(&all, most);
    hdst_error error = HDST_ERROR_INIT;
    hdst__error_memory(&error, "a piece");
    hdst__budget_explain(&budget, 0, &error);
    cr_assert_str_eq(error.message, "host memory: a piece needs 256 KiB, 200 KiB of 4.0 MiB are left");
    cr_assert(strstr(error.hint, "--memory 7M would do"), "%s", error.hint);
    most = hdst__alloc(&all, (4 << 20) - (30 << 10));       // and where what is small has no more room
    cr_assert(most);
    while ((small[count] = hdst__alloc(&all, 100 << 10))) cr_assert_lt(++count, 64);
    hdst__free(&all, most);
    while (count) hdst__free(&all, small[--count]);
    hdst__error_memory(&error, "a text");
    hdst__budget_explain(&budget, 0, &error);
    cr_assert(strstr(error.message, "host memory: a text needs 100 KiB, ") && strstr(error.message, " KiB of 4.0 MiB are left"), "%s", error.message);
}

Test(budget, a_limit_of_the_address_space_counts)
{
    const uint64_t more = UINT64_C(1) << 30, before = hdst__host_memory_limit();
    unsigned long long pages = 0;
    struct rlimit space;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%llu", &pages) == 1);
    fclose(file);
    cr_assert_eq(getrlimit(RLIMIT_AS, &space), 0);
    space.rlim_cur = pages * (uint64_t)sysconf(_SC_PAGE_SIZE) + more;       // a sanitizer's shadow is in use already
    cr_assert_eq(setrlimit(RLIMIT_AS, &space), 0);      // this process is the test's own
    cr_assert_leq(hdst__host_memory_limit(), more, "what is in use already is not left");
    cr_assert_gt(hdst__host_memory_limit(), (before < more ? before : more) / 2);
}

// Seen where the tests run in a cgroup with a limit.
Test(budget, a_limit_of_the_cgroup_counts)
{
    char text[4096] = "";
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (file) cr_assert_lt(fread(text, 1, sizeof text - 1, file), sizeof text - 1);
    if (file) fclose(file);
    cr_assert_leq(hdst__host_memory_limit(), hdst__cgroup_memory_limit(text, "/sys/fs/cgroup"));
}

// Of records that may as well be in a file three quarters at most are in memory, counting those that are there.
Test(budget, output_that_may_go_to_a_file_leaves_a_quarter)
{
    enum { RECORD = 16, ALL = (8 << 20) / RECORD, PLACES_OF_A_HEAD = 4 };
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 8 << 20);
    const hdst__allocator all = hdst__budget_allocator(&budget, NULL);
    hdst__output output;
    hdst_error error = HDST_ERROR_INIT;
    hdst__output_init(&output, &all, &budget, RECORD);
    output.leaves_room = true;
    cr_assert_eq(hdst__output_reserve(&output, ALL / 4 * 3 + PLACES_OF_A_HEAD, &error), HDST_E_MEMORY);
    cr_assert_str_eq(error.message, "host memory: output records, and room beside them, needs 6.0 MiB, 8.0 MiB of 8.0 MiB are left");
    cr_assert_eq(hdst__output_reserve(&output, ALL / 2, &error), HDST_OK);
    cr_assert_eq(hdst__output_reserve(&output, ALL / 4 * 3 + PLACES_OF_A_HEAD, &error), HDST_E_MEMORY);
    cr_assert_eq(hdst__output_reserve(&output, ALL / 4 * 3 - PLACES_OF_A_HEAD, &error), HDST_OK);
    cr_assert_geq(hdst__budget_left(&budget), 2 << 20);
    output.leaves_room = false;
    cr_assert_eq(hdst__output_reserve(&output, ALL - PLACES_OF_A_HEAD, &error), HDST_OK, "what must be in memory takes all of it");
    hdst__output_destroy(&output);
    cr_assert_eq(budget.used, 0);
}

// --- Owners ---

static uint64_t of_owner(const hdst__budget *budget, hdst__owner owner)
{
    uint64_t owned[HDST__OWNERS];
    hdst__budget_used(budget, owned);
    return owned[owner];
}

Test(budget, a_block_keeps_its_owner_through_whomever_it_grows_and_goes)
{
    hdst__budget budget;
    uint64_t owned[HDST__OWNERS];
    hdst__budget_init(&budget, "host memory", "--memory", 64 << 20);
    const hdst__allocator other = hdst__budget_allocator(&budget, NULL), *sorts = hdst__budget_owned(&budget, HDST__OWNER_SORTS);
    const hdst__allocator *values = hdst__budget_owned(&budget, HDST__OWNER_VALUES);
    char *small = hdst__alloc(sorts, 1000), *large = hdst__budget_alloc(&budget, HDST__OWNER_OUTPUT, 1 << 20, "records", NULL);
    cr_assert_eq(of_owner(&budget, HDST__OWNER_SORTS), 1000 + HEAD);
    cr_assert_eq(of_owner(&budget, HDST__OWNER_OUTPUT), (1 << 20) + HEAD);
    small = hdst__realloc(values, small, 300 << 10);                // changes sides, too
    cr_assert_eq(of_owner(&budget, HDST__OWNER_SORTS), (300 << 10) + HEAD);
    cr_assert_eq(of_owner(&budget, HDST__OWNER_VALUES), 0);
    large = hdst__realloc(&other, large, 2 << 20);
    cr_assert_eq(of_owner(&budget, HDST__OWNER_OUTPUT), (2 << 20) + HEAD);
    large = hdst__budget_realloc(&budget, HDST__OWNER_VALUES, large, 1 << 20, "records", NULL);
    cr_assert_eq(hdst__budget_used(&budget, owned), (300 << 10) + (1 << 20) + 2 * HEAD);
    cr_assert_eq(hdst__budget_used(&budget, owned), budget.used + budget.small);
    cr_assert_geq(hdst__budget_peak(&budget), (300 << 10) + (2 << 20) + 2 * HEAD);
    hdst__free(values, large);
    hdst__free(&other, small);
    cr_assert_eq(hdst__budget_used(&budget, owned), 0);
    for (int i = 0; i < HDST__OWNERS; i++) cr_assert_eq(owned[i], 0);
    hdst__budget_mark(&budget);
    cr_assert_eq(hdst__budget_peak_since_mark(&budget), 0);
    cr_assert_geq(hdst__budget_peak(&budget), 2 << 20);
    hdst__budget_reset_peak(&budget);
    cr_assert_eq(hdst__budget_peak(&budget), 0);
}

// What a thread's share takes is its owner's in the budget too.
Test(budget, a_shares_blocks_belong_to_the_owner_of_its_allocator)
{
    hdst__budget budget, share;
    hdst__budget_init(&budget, "host memory", "--memory", 64 << 20);
    hdst__budget_allocator(&budget, NULL);
    hdst__budget_init_share(&share, &budget, 8 << 20);
    const hdst__allocator allocator = hdst__budget_allocator(&share, hdst__budget_owned(&budget, HDST__OWNER_BY_KEY));
    void *block = hdst__alloc(&allocator, 1 << 20);
    cr_assert_eq(of_owner(&budget, HDST__OWNER_BY_KEY), (1 << 20) + 2 * HEAD);
    hdst__free(&allocator, block);
    cr_assert_eq(of_owner(&budget, HDST__OWNER_BY_KEY), 0);
    cr_assert_eq(of_owner(&share, HDST__OWNER_OTHER), 0);
}
