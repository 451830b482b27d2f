// SPDX-License-Identifier: Apache-2.0
// What cgroups allow, in folders made to look like theirs.
#include "base/cgroup.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

Test(cgroup, v2_takes_the_least_limit_of_memory_of_the_group_and_its_parents)
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

Test(cgroup, v1_reads_the_memory_controller_only)
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

Test(cgroup, v2_has_time_and_period_in_one_file_and_the_least_share_counts)
{
    char root[] = "/tmp/hdst-test-cgroup-XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    put(root, "user", "cpu.max", "300000 100000\n");
    put(root, "user/me", "cpu.max", "max 100000\n");
    cr_assert_eq(hdst__cgroup_processors("0::/user/me\n", root), 3);
    put(root, "user/me", "cpu.max", "30000 20000\n");
    cr_assert_eq(hdst__cgroup_processors("0::/user/me\n", root), 1.5);
    cr_assert(isinf(hdst__cgroup_processors("0::/other\n", root)));
    cr_assert(isinf(hdst__cgroup_processors("", root)));
    put(root, "user/more", "cpu.max", "400000 100000\n");
    cr_assert_eq(hdst__cgroup_processors("0::/user/more\n", root), 3, "what the group above it has is the limit");
    put(root, "user/odd", "cpu.max", "nonsense\n");
    cr_assert_eq(hdst__cgroup_processors("0::/user/odd\n", root), 3);
    remove_all(root);
}

Test(cgroup, v1_has_a_file_for_time_and_one_for_the_period)
{
    char root[] = "/tmp/hdst-test-cgroup-XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    put(root, "cpu/job", "cpu.cfs_quota_us", "250000\n");
    put(root, "cpu/job", "cpu.cfs_period_us", "100000\n");
    put(root, "cpu/free", "cpu.cfs_quota_us", "-1\n");
    put(root, "cpu/free", "cpu.cfs_period_us", "100000\n");
    cr_assert_eq(hdst__cgroup_processors("4:cpu,cpuacct:/job\n3:memory:/free\n", root), 2.5);
    cr_assert(isinf(hdst__cgroup_processors("4:cpuacct,cpu:/free\n", root)));
    cr_assert(isinf(hdst__cgroup_processors("3:memory:/job\n", root)));
    remove_all(root);
}
