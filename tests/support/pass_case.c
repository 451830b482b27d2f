// SPDX-License-Identifier: Apache-2.0
// One pass on IR as text (tests/support/pass_case.h).
#include "tests/support/pass_case.h"

#include "tests/support/program_run.h"
#include "accum/tables.h"

#include <criterion/criterion.h>
#include <string.h>

enum { SEEDS = 3 };

static hdst__arena arena;
static jmp_buf out_of_memory;

void pass_set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }

void pass_tear_down(void) { hdst__arena_destroy(&arena); }

ir_func *pass_read(const char *head, const char *body)
{
    const char *wrong = NULL;
    const char *text = hdst__arena_printf(&arena, "func f\n%s{\n%s}\n", head, body);
    ir_func *func = ir_text_read(&arena, text, &wrong);
    cr_assert_not_null(func, "%s\n%s", wrong, text);
    wrong = hdst__ir_verify(func);
    cr_assert_null(wrong, "%s\n%s", wrong, text);
    return func;
}

static size_t head_length(const char *text) { return (size_t)(strstr(text, "\n{\n") + 3 - text); }

const char *pass_body(const ir_func *func)
{
    const char *text = ir_text_of(&arena, func);
    text += head_length(text);
    return hdst__arena_strndup(&arena, text, strlen(text) - strlen("}\n"));
}

const char *pass_head(const ir_func *func)
{
    const char *text = ir_text_of(&arena, func), *first = strchr(text, '\n') + 1;
    return hdst__arena_strndup(&arena, first, head_length(text) - strlen("{\n") - (size_t)(first - text));
}

static void expect_same_bits(const ir_func *before, const ir_func *after, hdst__precision_class precision)
{
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        const program_result a = program_run(&arena, before, seed), b = program_run_precision(&arena, after, seed, precision);
        cr_expect(program_same(&a, &b), "computes something else, seed %u:\n%s\nbefore:\n%s", seed, pass_body(after), pass_body(before));
    }
}

ir_func *pass_after(const pass_case *c, const char *before)
{
    ir_func *func = pass_read(c->head, before);
    const ir_func *original = hdst__ir_copy_func(&arena, func);
    const hdst__precision_class precision = c->precision ? c->precision : HDST__CLASS_SUPERACCUMULATOR;
    if (c->run_tables) c->run_tables(func, program_tables(&arena, func, precision));
    else c->run(func);
    const char *wrong = hdst__ir_verify(func);
    cr_assert_null(wrong, "%s\n%s", wrong, ir_text_of(&arena, func));
    const bool is_whole = !c->is_half && (!original->block || c->runs_in_block);
    if (is_whole && func->lane_records <= 1 && !c->changes_bits) expect_same_bits(original, func, precision);
    return func;
}

void pass_expect(const pass_case *c, const char *before, const char *after, const char *file, int line)
{
    const char *found = pass_body(pass_after(c, before));
    cr_expect_str_eq(found, after, "%s:%d: expected\n%sfound\n%s", file, line, after, found);
}
