// SPDX-License-Identifier: Apache-2.0
// Which functions have their work-groups look through texts together: those that search once, in a text of the input, for each record, and keep
// nothing of the search but the place.
#include "codegen/pass/search_pieces.h"

#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static const struct { const char *what, *function; bool pieces; } cases[] = {
    {"a filter", "filter f(entry e) { return find(e.line, \"some\") >= 0; }", true},
    {"one byte", "filter f(entry e) { return find(e.line, \"s\") >= 0; }", true},
    {"letters in another case", "filter f(entry e) { return find(lower(e.line), \"some\") > 3; }", true},
    {"a pattern that is bound", "filter f(entry e, broadcast text what) { return find(e.line, what) >= 0; }", true},
    {"a count", "map f(entry e, accum uint64_t n) { if (find(e.line, \"some\") >= 0) n += e.n; }", true},
    {"the place", "flat_map f(entry e) -> (int64_t at, uint64_t n) { int64_t at = find(e.other, \"some\"); if (at >= 0) emit(at, len(e.line)); }", true},
    {"rows of a table", "map f(entry e, accum uint64_t n[]) { if (find(e.line, \"some\") >= 0) n[e.n % 4] += 1; }", false},
    {"two searches", "filter f(entry e) { return find(e.line, \"some\") >= 0 || find(e.line, \"other\") >= 0; }", false},
    {"a part of a text", "filter f(entry e) { return find(e.line[3:9], \"some\") >= 0; }", false},
    {"one of two texts", "filter f(entry e) { return find(e.n > 3 ? e.line : e.other, \"some\") >= 0; }", false},
    {"another text of the record", "filter f(entry e) { return find(e.line, e.other) >= 0; }", false},
    {"a search on a condition", "filter f(entry e) { if (e.n > 3) return find(e.line, \"some\") >= 0; return false; }", false},
    {"what comes before it", "map f(entry e, accum uint64_t n) { n += e.n; if (find(e.line, \"some\") >= 0) n += 1; }", true},
    {"tokens", "flat_map f(entry e) -> (text w, uint64_t n) { if (find(e.line, \"some\") >= 0) for (text w : tokens(e.line, WORD)) emit(w, 1); }", false},
    {"no search", "filter f(entry e) { return starts_with(e.line, \"some\"); }", false},
};

Test(search_pieces, are_for_functions_that_search_once)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        hdst__diags diags;
        hdst__front_options options = {0};
        snprintf(text, sizeof text, "struct entry { text line; text other; uint32_t n; };\n%s\n", cases[i].function);
        hdst__diags_init(&diags, &arena);
        const ast_module *module = hdst__module_compile(&diags, "search.hk", text, strlen(text), &options);
        cr_assert_eq(diags.errors, 0, "%s", cases[i].function);
        ir_func *func = hdst__lower(&arena, module, module->functions[0]);
        cr_assert_null(hdst__passes_scalar(func), "%s", cases[i].what);
        hdst__pass_search_pieces(func);
        cr_expect_eq(func->search != NULL, cases[i].pieces, "%s: %d", cases[i].what, func->search != NULL);
        cr_expect_null(hdst__ir_verify(func), "%s", cases[i].what);
        if (func->search) cr_expect_null(hdst__ir_verify(func->search), "%s", cases[i].what);
    }
    hdst__arena_destroy(&arena);
}
