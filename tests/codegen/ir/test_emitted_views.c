// SPDX-License-Identifier: Apache-2.0
// Whether texts of an output may be looked at in another case than their bytes have: of a function as it is lowered, and after the scalar passes.
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <string.h>

static const char functions[] =
    "flat_map words(text t) -> text { for (text w : tokens(t, WORD)) emit(w); }\n"
    "flat_map folded(text t) -> text { for (text w : tokens(t, SPACE)) emit(lower(w)); }\n"
    "map loud(text t) -> text { return upper(t[1:len(t)]); }\n"
    "map shouted(text t) -> text { return len(t) > 9 ? upper(\"a text of the program's own\") : t; }\n"
    "map length(text t) -> uint64_t { return len(upper(t)); }\n";

static void expect(const char *name, bool wanted)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__diags diags;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    const ast_module *module = hdst__module_compile(&diags, "views.hk", functions, strlen(functions), &(hdst__front_options){0});
    cr_assert_eq(diags.errors, 0, "%s", diags.count ? diags.items[0].message : "");
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_not_null(func, "%s", name);
    cr_expect(hdst__ir_gives_views(func) == wanted, "%s", name);
    const char *wrong = hdst__passes_scalar(func);
    cr_assert_null(wrong, "%s", wrong);
    cr_expect(hdst__ir_gives_views(func) == wanted, "%s, after the passes", name);
    hdst__arena_destroy(&arena);
}

Test(emitted_views, texts_in_another_case_are_told)
{
    expect("folded", true);
    expect("loud", true);
    expect("shouted", true);
}

Test(emitted_views, classes_of_bytes_and_lengths_give_none)
{
    expect("words", false);
    expect("length", false);
}
