// SPDX-License-Identifier: Apache-2.0
#include "engine/budget.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

Test(budget, memory_counts_until_it_is_given_back)
{
    hdst__budget budget;
    hdst_error error = HDST_ERROR_INIT;
    const hdst__allocator none = {refuse, refuse_more, release, NULL};
    hdst__budget_init(&budget, "host memory", "--memory", 1000);
    void *memory = hdst__budget_alloc(&budget, NULL, 600, "a table", &error);
    cr_assert(memory && hdst__budget_left(&budget) == 400);
    cr_assert_null(hdst__budget_alloc(&budget, NULL, 401, "a table", &error));
    cr_assert(error.code == HDST_E_MEMORY && strstr(error.message, "a table needs 401 B") && strstr(error.hint, "--memory"));
    cr_assert_null(hdst__budget_alloc(&budget, &none, 400, "a table", &error));
    cr_assert(error.code == HDST_E_MEMORY && hdst__budget_left(&budget) == 400);
    hdst__budget_free(&budget, NULL, memory, 600);
    hdst__budget_free(&budget, NULL, NULL, 600);
    cr_assert_eq(hdst__budget_left(&budget), 1000);
}
