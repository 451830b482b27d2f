// SPDX-License-Identifier: Apache-2.0
// Diagnostics of source texts, as people read them.
#include "base/diag.h"

#include <criterion/criterion.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(diag, .init = set_up, .fini = tear_down);

Test(diag, what_is_about_a_whole_file_has_no_line)
{
    hdst__diags_add_source(&diags, "f.hk", "one\ntwo\n", 8);
    hdst__diag_error(&diags, (hdst__span){0, HDST__WHOLE_FILE, 0}, "hint", "wrong");
    hdst__buffer out;
    hdst__buffer_init(&out, NULL);
    hdst__diags_render(&diags, &out);
    cr_expect_str_eq(hdst__buffer_text(&out), "f.hk: error: wrong\n    hint: hint\n");
    hdst_error error = HDST_ERROR_INIT;
    char text[100];
    cr_expect_eq(hdst__diags_to_error(&diags, HDST_E_KERNEL, &error), HDST_E_KERNEL);
    hdst_error_format(&error, text, sizeof text);
    cr_expect_str_eq(text, "f.hk: wrong\nhint: hint");
    hdst__buffer_destroy(&out);
}

Test(diag, a_file_that_the_message_names_is_not_named_again)
{
    hdst_error error = HDST_ERROR_INIT;
    char text[100];
    hdst__error_set(&error, HDST_E_IO, "cannot open '%s'", "x.csv");
    hdst__error_at(&error, "x.csv", 0, 0);
    hdst_error_format(&error, text, sizeof text);
    cr_expect_str_eq(text, "cannot open 'x.csv'");
    hdst__error_set(&error, HDST_E_IO, "cannot open '%s'", "max.csv");        // another one
    hdst__error_at(&error, "x.csv", 0, 0);
    hdst_error_format(&error, text, sizeof text);
    cr_expect_str_eq(text, "x.csv: cannot open 'max.csv'");
}

Test(diag, renders_place_line_and_caret)
{
    uint32_t source = hdst__diags_add_source(&diags, "a.hk", "one\n\ttwo three\n", 15);
    hdst__diag_error(&diags, (hdst__span){source, 9, 5}, "try four", "unknown name '%s'", "three");
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__diags_render(&diags, &text);
    cr_assert_str_eq(hdst__buffer_text(&text), "a.hk:2:6: error: unknown name 'three'\n    \ttwo three\n    \t    ^~~~~\n    hint: try four\n");
    hdst__buffer_destroy(&text);
}

Test(diag, a_second_error_at_the_same_place_is_dropped)
{
    uint32_t source = hdst__diags_add_source(&diags, "a.hk", "x", 1);
    hdst__diag_error(&diags, (hdst__span){source, 0, 1}, NULL, "first");
    hdst__diag_error(&diags, (hdst__span){source, 0, 1}, NULL, "second");
    cr_assert_eq(diags.errors, 1);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__diags_to_error(&diags, HDST_E_KERNEL, &error), HDST_E_KERNEL);
    cr_assert_str_eq(error.message, "first");
    cr_assert_eq(error.line, 1);
}

Test(diag, an_error_behind_any_number_of_warnings_is_kept)
{
    uint32_t source = hdst__diags_add_source(&diags, "a.hk", "x", 1);
    for (int i = 0; i < 3 * HDST__DIAG_LIMIT; i++) hdst__diag_warning(&diags, (hdst__span){source, 0, 1}, NULL, "careful");
    cr_assert_eq(diags.count, HDST__DIAG_LIMIT);
    hdst__diag_error(&diags, (hdst__span){source, 0, 1}, "this way", "wrong");
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__diags_to_error(&diags, HDST_E_KERNEL, &error), HDST_E_KERNEL);
    cr_expect_str_eq(error.message, "wrong");
    cr_expect_eq(error.line, 1);
    for (uint32_t i = 1; i < 3 * HDST__DIAG_LIMIT; i++) hdst__diag_error(&diags, (hdst__span){source, i, 0}, NULL, "and more");
    cr_expect_eq(diags.count, 2 * HDST__DIAG_LIMIT);
    cr_expect_eq(diags.errors, 3 * HDST__DIAG_LIMIT);
}
