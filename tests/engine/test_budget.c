// SPDX-License-Identifier: Apache-2.0
#include "engine/budget.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

Test(budget, gives_up_to_the_limit_and_no_byte_more)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    cr_assert(hdst__budget_reserve(&budget, 600));
    cr_assert_not(hdst__budget_reserve(&budget, 401));
    cr_assert_eq(hdst__budget_left(&budget), 400);
    cr_assert(hdst__budget_reserve(&budget, 400));
    cr_assert_not(hdst__budget_reserve(&budget, 1));
    hdst__budget_release(&budget, 1000);
    cr_assert_eq(hdst__budget_left(&budget), 1000);
    cr_assert_eq(budget.peak, 1000);
}

Test(budget, a_request_near_2_to_64_does_not_wrap)
{
    hdst__budget budget;
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    cr_assert(hdst__budget_reserve(&budget, 10));
    cr_assert_not(hdst__budget_reserve(&budget, UINT64_MAX - 5));
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

static void put(const char *root, const char *folder, const char *file, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    for (char *slash = path + strlen(root) + 1; slash; slash = strchr(slash + 1, '/')) {
        char keep = *slash;
        if (keep == '/') *slash = 0;
        mkdir(path, 0700);
        if (keep == '/') *slash = keep;
    }
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, file);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    fclose(out);
}

static void remove_all(const char *root)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
}

Test(budget, cgroup_v2_takes_the_least_limit_of_the_group_and_its_parents)
{
    char root[] = "/tmp/hdst-test-cgroup-XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    put(root, "user", "memory.max", "5000000\n");
    put(root, "user/me", "memory.max", "max\n");
    cr_assert_eq(hdst__cgroup_memory_limit("0::/user/me\n", root), 5000000);
    put(root, "user/me", "memory.max", "4000000\n");
    cr_assert_eq(hdst__cgroup_memory_limit("0::/user/me\n", root), 4000000);
    cr_assert_eq(hdst__cgroup_memory_limit("0::/other\n", root), UINT64_MAX);
    remove_all(root);
}

Test(budget, cgroup_v1_reads_the_memory_controller_only)
{
    char root[] = "/tmp/hdst-test-cgroup-XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    put(root, "memory/job", "memory.limit_in_bytes", "7000000\n");
    put(root, "memory/none", "memory.limit_in_bytes", "9223372036854771712\n");
    cr_assert_eq(hdst__cgroup_memory_limit("4:cpu,cpuacct:/job\n3:memory:/job\n", root), 7000000);
    cr_assert_eq(hdst__cgroup_memory_limit("4:cpu,cpuacct:/job\n", root), UINT64_MAX);
    cr_assert_eq(hdst__cgroup_memory_limit("3:memory:/none\n", root), UINT64_MAX);
    remove_all(root);
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
    void *memory = hdst__budget_alloc(&budget, 600 - HEAD, "a table", &error);
    cr_assert(memory && hdst__budget_left(&budget) == 400);
    cr_assert_null(hdst__budget_alloc(&budget, 401, "a table", &error));
    cr_assert(error.code == HDST_E_MEMORY && strstr(error.message, "a table needs 401 B") && strstr(error.hint, "--memory"));
    memory = hdst__budget_realloc(&budget, memory, 700 - HEAD, "a table", &error);
    cr_assert(memory && hdst__budget_left(&budget) == 300);
    cr_assert_null(hdst__budget_realloc(&budget, memory, 1001 - HEAD, "a table", &error));
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
    cr_assert_null(hdst__budget_alloc(&budget, 400, "a table", &error));
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
