// SPDX-License-Identifier: Apache-2.0
// Which processors may be used, and near which memory they are.
#define _GNU_SOURCE     // sched_setaffinity
#include "base/processors.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void put_node(const char *root, int node, const char *list)
{
    char path[300];
    snprintf(path, sizeof path, "%s/node%d", root, node);
    cr_assert_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/node%d/cpulist", root, node);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file, "%s\n", list);
    fclose(file);
}

static hdst__processors with_nodes(const char *const *lists, int count, int allowed)
{
    char root[] = "/tmp/hdst-test-nodes-XXXXXX", command[300];
    cr_assert_not_null(mkdtemp(root));
    for (int i = 0; i < count; i++)
        if (lists[i]) put_node(root, i, lists[i]);
    hdst__processors p = {0};
    for (int c = 0; c < allowed; c++) CPU_SET(c, &p.allowed);
    hdst__processors_find_nodes(&p, root);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
    return p;
}

Test(processors, affinity_bounds_their_number)
{
    hdst__processors before, after;
    hdst__processors_find(&before);
    cr_assert_geq(before.count, 1);
    cr_assert_leq(before.count, (uint32_t)CPU_COUNT(&before.allowed));
    size_t last = 0;
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &before.allowed)) last = c;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);        // this process is the test's own
    hdst__processors_find(&after);
    cr_assert_eq(after.count, 1);
    cr_assert(CPU_EQUAL(&after.allowed, &one));
}

Test(processors, nodes_hold_what_is_allowed_of_them)
{
    // Node 1 is missing, node 2 has memory only, node 3 has processors beyond those that are allowed, node 4 has none of those.
    const char *const lists[] = {"0-2,8", NULL, "", "3-5,7-9", "20-21"};
    const hdst__processors p = with_nodes(lists, 5, 10);
    cr_assert_eq(p.nodes, 2);
    cr_assert_eq(CPU_COUNT(&p.node[0]), 4);
    cr_assert(CPU_ISSET(8, &p.node[0]) && CPU_ISSET(2, &p.node[0]));
    cr_assert_eq(CPU_COUNT(&p.node[1]), 6);
    cr_assert(CPU_ISSET(5, &p.node[1]) && !CPU_ISSET(6, &p.node[1]));
}

// What cannot be read says nothing of further processors; those before it are there.
Test(processors, lists_with_mistakes)
{
    const char *const lists[] = {"0-1,x,5", "7-3", "2-,4", "3,999999999999-99999999999999", ",6", "5,8-8,", "-2"};
    const hdst__processors p = with_nodes(lists, 7, 10);
    cr_assert_eq(p.nodes, 4);
    cr_assert(CPU_COUNT(&p.node[0]) == 2 && CPU_ISSET(0, &p.node[0]) && CPU_ISSET(1, &p.node[0]));
    cr_assert(CPU_COUNT(&p.node[1]) == 1 && CPU_ISSET(4, &p.node[1]));
    cr_assert(CPU_COUNT(&p.node[2]) == 1 && CPU_ISSET(3, &p.node[2]));
    cr_assert(CPU_COUNT(&p.node[3]) == 2 && CPU_ISSET(5, &p.node[3]) && CPU_ISSET(8, &p.node[3]));
}

Test(processors, threads_are_spread_over_nodes_as_their_processors_are)
{
    const char *const lists[] = {"0-3", "4-11"};
    const hdst__processors p = with_nodes(lists, 2, 12);
    int near_first = 0;
    for (uint32_t i = 0; i < 6; i++) {
        const cpu_set_t *node = hdst__processors_of_thread(&p, i, 6);
        cr_assert(node == &p.node[0] || node == &p.node[1]);
        near_first += node == &p.node[0];
    }
    cr_assert_eq(near_first, 2);
    cr_assert_eq(hdst__processors_of_thread(&p, 13, 24), &p.node[0], "more threads than processors: all in turn, and again");
}

Test(processors, on_one_node_threads_go_anywhere)
{
    const char *const lists[] = {"0-3"};
    const hdst__processors p = with_nodes(lists, 1, 4);
    cr_assert_null(hdst__processors_of_thread(&p, 1, 4));
}
