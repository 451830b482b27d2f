// SPDX-License-Identifier: Apache-2.0
// A compiler's arena leaves by its jump when the call is cancelled, between two allocations or where somebody looks,
// and when it has grown to what a compiler may take.
#include "base/arena.h"
#include "base/error_object.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct take {
    hdst__arena arena;
    hdst__cancel cancel;
    int steps;              // that were done
    size_t bytes;           // of a step
    int ask_at;             // the step that cancels; 0: none
    bool look;              // instead of allocating
} take;

static hdst_status run(take *t, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__cancel_begin(&t->cancel);
    hdst__arena_init(&t->arena, NULL, &out_of_memory);
    hdst__arena_compiles(&t->arena, &t->cancel);
    if (setjmp(out_of_memory)) {
        const hdst_status status = hdst__arena_error(&t->arena, "a thing", error);
        hdst__arena_destroy(&t->arena);
        return status;
    }
    for (t->steps = 1; t->steps <= 1000; t->steps++) {
        if (t->steps == t->ask_at) hdst__cancel_ask(&t->cancel);
        if (t->look) hdst__arena_look(&t->arena);
        else hdst__arena_alloc(&t->arena, t->bytes);
    }
    hdst__arena_compiled(&t->arena);
    hdst__cancel_ask(&t->cancel);
    hdst__arena_alloc(&t->arena, t->bytes);     // what follows is not the compiler's
    hdst__arena_destroy(&t->arena);
    return HDST_OK;
}

Test(arena, without_a_request_and_below_the_limit_all_is_done)
{
    hdst_error error = HDST_ERROR_INIT;
    static take t = {.bytes = 100};
    cr_expect_eq(run(&t, &error), HDST_OK, "%s", error.message);
    cr_expect_eq(t.steps, 1001);
}

Test(arena, cancelling_ends_at_the_next_allocation_or_look)
{
    hdst_error error = HDST_ERROR_INIT;
    static take allocates = {.bytes = 100, .ask_at = 7}, looks = {.look = true, .ask_at = 9};
    cr_expect_eq(run(&allocates, &error), HDST_E_CANCELLED);
    cr_expect_str_eq(error.message, "cancelled");
    cr_expect_eq(allocates.steps, 7);
    cr_expect_eq(run(&looks, &error), HDST_E_CANCELLED);
    cr_expect_eq(looks.steps, 9);
}

Test(arena, more_than_a_compiler_may_take_is_an_error_of_the_kernel)
{
    hdst_error error = HDST_ERROR_INIT;
    static take t = {.bytes = 1 << 20};
    cr_expect_eq(run(&t, &error), HDST_E_KERNEL);
    cr_expect_eq(t.steps, 513);
    cr_expect_not_null(strstr(error.message, "512 MiB"), "%s", error.message);
    cr_expect(*error.cause && *error.hint);
}
