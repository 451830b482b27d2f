// SPDX-License-Identifier: Apache-2.0
// Every operator of the table has what the planner calls: a function can be lowered and described, a node can run, says what is known of it, and gives back
// what it holds.
#include "plan/operator.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *what_lacks(const hdst__operator *op)
{
    if (!op->name || !*op->name) return "a name";
    if (!op->describe && !op->line && op != &hdst__op_reduce_to_rows /* described by its dataset's operator */) return "a text";
    if (op->lower) return op->run || op->build ? "one way of running: a function has no node of its own" : op->describe ? NULL : "a text as a function";
    if (!op->run || !op->known) return "a way to run";
    if (op->end && !op->own_bytes) return "a struct of its own to end";
    if (op->drop && (!op->release || !op->build || !op->explain)) return "an end, a beginning, or words about how it ran, though it holds records";
    if (!op->drop && op->explain) return "records to explain";
    return !op->consumer == !op->wants_whole ? NULL : "both calls of a consumer";
}

static size_t count_operators(void)
{
    size_t count = 0;
    while (hdst__operators[count]) count++;
    return count;
}

Test(operator_table, every_operator_is_whole)
{
    for (size_t i = 0; hdst__operators[i]; i++)
        cr_expect_null(what_lacks(hdst__operators[i]), "operator %zu, %s, lacks %s", i, hdst__operators[i]->name, what_lacks(hdst__operators[i]));
    cr_expect_geq(count_operators(), 24);
}

Test(operator_table, names_are_told_apart)
{
    for (size_t i = 0; hdst__operators[i]; i++)
        for (size_t k = 0; k < i; k++) cr_expect_str_neq(hdst__operators[i]->name, hdst__operators[k]->name);
}

// What is wrong is noticed.
Test(operator_table, what_is_missing_is_told)
{
    hdst__operator broken = hdst__op_sort;
    cr_assert_null(what_lacks(&broken));
    broken.release = NULL;
    cr_expect_str_eq(what_lacks(&broken), "an end, a beginning, or words about how it ran, though it holds records");
    broken = hdst__op_map;
    broken.run = hdst__op_sort.run;
    cr_expect_not_null(what_lacks(&broken));
    broken = hdst__op_read;
    broken.known = NULL;
    cr_expect_str_eq(what_lacks(&broken), "a way to run");
    broken = hdst__op_cache;
    broken.own_bytes = 0;
    cr_expect_str_eq(what_lacks(&broken), "a struct of its own to end");
    broken = hdst__op_distinct;
    broken.consumer = NULL;
    cr_expect_str_eq(what_lacks(&broken), "both calls of a consumer");
}
