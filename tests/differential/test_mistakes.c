// SPDX-License-Identifier: Apache-2.0
// Random programs with one mistake at a known line: the checker must say so there, and nowhere else; and with declarations that are right: it must say nothing.
//
// HDST_DIFF_MISTAKES: how many programs (1,000 unless given); HDST_DIFF_SEED: the first seed (1).
#include "harness.h"
#include "mistakes.h"

#include "codegen/front/front.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static const ast_module *compile(hdst__arena *arena, hdst__diags *diags, const diff_program *program, const char *text)
{
    const hdst__front_options options = {.read_import = diff_read_import, .import_user = (void *)program};
    hdst__diags_init(diags, arena);
    return hdst__module_compile(diags, "program.hk", text, strlen(text), &options);
}

static const char *messages(hdst__arena *arena, const hdst__diags *diags)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__diags_render(diags, &text);
    const char *copy = hdst__arena_strdup(arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return copy;
}

// NULL when errors are on the line and on no other, and the first says what it must.
static const char *look(const hdst__diags *diags, int line, const char *says)
{
    bool found = false;
    for (size_t i = 0; i < diags->count; i++) {
        uint32_t at, column;
        if (diags->items[i].severity != HDST__ERROR) continue;
        hdst__span_position(diags, diags->items[i].span, &at, &column);
        if ((int)at != line) return "an error on another line";
        if (!found && says && !strstr(diags->items[i].message, says)) return "the message lacks a word";
        found = true;
    }
    return found ? NULL : "no error";
}

static bool try_mistake(hdst__arena *arena, const diff_program *program, const diff_mistake *mistake)
{
    int line;
    const char *text = diff_insert(arena, program, mistake->text, mistake->is_statement, &line);
    if (!text) return true;
    hdst__diags diags;
    compile(arena, &diags, program, text);
    const char *wrong = look(&diags, line, mistake->says);
    if (wrong)
        fprintf(stderr,
                "--- seed %" PRIu64 ": %s for '%s' (%s)\n"
                "%s",
                program->seed, wrong, mistake->text, mistake->says ? mistake->says : "", messages(arena, &diags));
    return !wrong;
}

static bool try_typed(hdst__arena *arena, const diff_program *program, const char *declaration)
{
    int line;
    hdst__diags diags;
    compile(arena, &diags, program, diff_insert(arena, program, declaration, false, &line));
    if (diags.errors) fprintf(stderr, "--- seed %" PRIu64 ": errors for '%s'\n%s", program->seed, declaration, messages(arena, &diags));
    return !diags.errors;
}

// Every program has a few of them, so that each comes in many programs.
enum { EACH = 4 };

static int run_program(uint64_t seed)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    const diff_program *program = diff_generate(&arena, seed, &(diff_options){.plain_names = true});
    int wrong = 0;
    for (uint64_t i = 0; i < EACH; i++) wrong += !try_mistake(&arena, program, diff_mistake_at((int)((seed * EACH + i) % (uint64_t)diff_mistake_count())));
    wrong += !try_typed(&arena, program, diff_typed_at((int)(seed % (uint64_t)diff_typed_count())));
    hdst__arena_destroy(&arena);
    return wrong;
}

Test(differential, a_mistake_in_a_random_program_is_found_in_its_line)
{
    const uint64_t count = setting("HDST_DIFF_MISTAKES", 1000), first = setting("HDST_DIFF_SEED", 1);
    int wrong = 0;
    for (uint64_t i = 0; i < count && wrong < 40; i++) wrong += run_program(first + i);
    fprintf(stderr, "%" PRIu64 " programs with mistakes from seed %" PRIu64 "\n", count, first);
    cr_expect_eq(wrong, 0, "%d mistakes are not seen for what they are", wrong);
}
