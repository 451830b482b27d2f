// SPDX-License-Identifier: Apache-2.0
// What filters ask of the texts of their records: told where it is so, and never where it is not.
#include "codegen/front/front.h"
#include "codegen/ir/needed_text.h"
#include "codegen/lower/lower.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char head[] = "struct row { uint32_t n; text t; text u[2]; };\n"
                           "struct pair { text a; text b; };\n"
                           "text same(text t) { return t; }\n"
                           "filter f(row r, broadcast text p, broadcast pair q, broadcast text many[]) ";

static hdst__arena arena;
static jmp_buf out_of_memory;

static bool needs(const char *body, hdst__needed_text *needed)
{
    char text[2000];
    hdst__diags diags;
    hdst_error error = HDST_ERROR_INIT;
    snprintf(text, sizeof text, "%s%s\n", head, body);
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    const ast_module *module = hdst__module_compile(&diags, "f.hk", text, strlen(text), NULL);
    cr_assert_eq(hdst__diags_to_error(&diags, HDST_E_KERNEL, &error), HDST_OK, "%s: %s", body, error.message);
    const ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "f"));
    cr_assert(func);
    return hdst__ir_needed_text(func, needed);
}

// A constant.
static void expect_text(const char *body, uint32_t leaf, const char *wanted, bool small_letters)
{
    hdst__needed_text got;
    cr_assert(needs(body, &got), "%s", body);
    cr_assert(got.leaf == leaf && got.small_letters == small_letters && got.text, "%s", body);
    cr_assert(got.text->length == strlen(wanted) && !memcmp(got.text->at, wanted, got.text->length), "%s", body);
    hdst__arena_destroy(&arena);
}

static void expect_param(const char *body, uint32_t param, uint32_t leaf)
{
    hdst__needed_text got;
    cr_assert(needs(body, &got), "%s", body);
    cr_assert(got.leaf == 1 && !got.text && got.param == param && got.param_leaf == leaf, "%s", body);
    hdst__arena_destroy(&arena);
}

static void expect_nothing(const char *body)
{
    hdst__needed_text got;
    cr_assert_not(needs(body, &got), "%s", body);
    hdst__arena_destroy(&arena);
}

Test(needed_text, is_that_of_a_call)
{
    expect_text("{ return find(r.t, \"abc\") >= 0; }", 1, "abc", false);
    expect_text("{ return find(r.t, \"abc\") > -1; }", 1, "abc", false);
    expect_text("{ return find(r.t, \"abc\") != -1; }", 1, "abc", false);
    expect_text("{ return starts_with(r.t, \"ab\"); }", 1, "ab", false);
    expect_text("{ return ends_with(same(r.t), \"ab\"); }", 1, "ab", false);
    expect_text("{ return r.t == \"whole line\"; }", 1, "whole line", false);
    expect_text("{ return find(lower(r.t), \"abc\") >= 0; }", 1, "abc", true);
    expect_param("{ return find(r.t, p) >= 0; }", 1, 0);
    expect_param("{ text what = q.b; return find(same(r.t), what) >= 0; }", 2, 1);
}

Test(needed_text, among_other_conditions)
{
    expect_text("{ return r.n > 3 && find(r.t, \"abc\") >= 0; }", 1, "abc", false);
    expect_text("{ return find(r.t, \"abc\") >= 0 && find(r.t, p) >= 0; }", 1, "abc", false);
    expect_text("{ bool there = find(r.t, \"abc\") >= 0; return there && (r.n == 1 || r.n == 7); }", 1, "abc", false);
    expect_text("{ bool keep = false; if (find(r.t, \"abc\") >= 0) { keep = r.u[r.n] == \"x\"; } return keep; }", 1, "abc", false);
    expect_text("{ return find(r.t, \"abc\") >= 0 ? r.n > 3 : false; }", 1, "abc", false);
    expect_text("{ return find(r.t, \"abc\") >= 0 && (find(r.t, \"x\") >= 0 || r.n == 3); }", 1, "abc", false);
}

Test(needed_text, is_not_there_where_others_pass)
{
    expect_nothing("{ return find(r.t, \"abc\") < 0; }");
    expect_nothing("{ return find(r.t, \"abc\") == -1; }");
    expect_nothing("{ return find(r.t, \"abc\") != 0; }");
    expect_nothing("{ return find(r.t, \"abc\") > -2; }");
    expect_nothing("{ return !(find(r.t, \"abc\") >= 0); }");
    expect_nothing("{ return find(r.t, \"abc\") >= 0 || r.n == 3; }");
    expect_nothing("{ return find(r.t, \"abc\") >= 0 ? r.n > 3 : r.n == 2; }");
    expect_nothing("{ bool keep = r.n == 9; if (find(r.t, \"abc\") >= 0) { keep = true; } return keep; }");
    expect_nothing("{ return find(r.t, \"\") >= 0; }");
    expect_nothing("{ return r.n > 3; }");
}

Test(needed_text, is_not_there_where_it_depends_on_the_record)
{
    expect_nothing("{ return find(p, r.t) >= 0; }");
    expect_nothing("{ return find(r.t, r.u[0]) >= 0; }");
    expect_nothing("{ return find(r.u[0], \"abc\") >= 0; }");
    expect_nothing("{ return find(r.t[2:9], \"abc\") >= 0; }");
    expect_nothing("{ return find(upper(r.t), \"ABC\") >= 0; }");
    expect_nothing("{ return find(r.t, lower(p)) >= 0; }");
    expect_nothing("{ text what = p; if (r.n == 3) { what = \"abc\"; } return find(r.t, what) >= 0; }");
    expect_nothing("{ text in = r.t; if (r.n == 3) { in = p; } return find(in, \"abc\") >= 0; }");
}

// A record without the text fails a check, or is one of those that are accumulated.
Test(needed_text, is_not_there_where_others_are_seen)
{
    expect_nothing("{ uint32_t first = r.t[r.n]; return find(r.t, \"abc\") >= 0 && first == 65; }");
    expect_nothing("{ return 100 / r.n > 3 && find(r.t, \"abc\") >= 0; }");
    expect_nothing("{ return find(r.t, many[r.n]) >= 0; }");
    expect_text("{ return find(r.t, \"abc\") >= 0 && r.t[3] == 65; }", 1, "abc", false);
}
