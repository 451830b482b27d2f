// SPDX-License-Identifier: Apache-2.0
// Which functions give their lanes pieces of texts: those of which a turn of the loop over tokens needs nothing but its token.
#include "codegen/pass/token_pieces.h"

#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define TOKENS "for (text w : tokens(e.line, WORD)) "

static const struct { const char *what, *body; bool pieces; } cases[] = {
    {"every token", TOKENS "emit(w, 1);", true},
    {"fields in capitals", "for (text w : tokens(upper(e.line), SPACE)) emit(w, 1);", true},
    {"some, with numbers of the record", TOKENS "if (len(w) > 3 && w[0] != 'a') emit(w, len(e.line) + e.n + record_index());", true},
    {"most, and the rest of a turn", TOKENS "{ if (len(w) > 3) continue; emit(w, 1); }", true},
    {"two records a turn", TOKENS "{ emit(w, 1); emit(w[0:1], len(w)); }", true},
    {"separators of the program's", "for (text w : tokens(e.line, chars(\",;\"))) emit(w, 1);", false},
    {"numbers of tokens", "uint64_t n = 0; " TOKENS "{ n += 1; emit(w, n); }", false},
    {"the token before", "text last = e.line; " TOKENS "{ emit(last, 1); last = w; }", false},
    {"up to a token", TOKENS "{ emit(w, 1); if (len(w) == 2) break; }", false},
    {"up to a token, then out", TOKENS "{ emit(w, 1); if (len(w) == 2) return; }", false},
    {"records from in front of the loop", "emit(e.line, 1); " TOKENS "emit(w, 1);", false},
    {"records from behind the loop", TOKENS "emit(w, 1); emit(e.line, 1);", false},
    {"two loops", TOKENS "emit(w, 1); for (text v : tokens(e.other, SPACE)) emit(v, 1);", false},
    {"loops in loops", "for (text v : tokens(e.line, SPACE)) for (text w : tokens(v, WORD)) emit(w, 1);", false},
    {"part of a text", "for (text w : tokens(e.line[1:9], SPACE)) emit(w, 1);", false},
    {"one of two texts", "for (text w : tokens(e.n > 3 ? e.line : e.other, SPACE)) emit(w, 1);", false},
    {"a check", TOKENS "emit(w, len(e.line) / len(w[2:4]));", false},
    {"one record", "emit(e.line, 1);", false},
};

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(token_pieces, .init = set_up, .fini = tear_down);

static ir_func *function_of(const char *body)
{
    static char text[1024];
    hdst__diags diags;
    hdst__front_options options = {0};
    snprintf(text, sizeof text, "struct entry { text line; text other; uint32_t n; };\nflat_map f(entry e) -> (text word, uint64_t n) { %s }\n", body);
    hdst__diags_init(&diags, &arena);
    const ast_module *module = hdst__module_compile(&diags, "pieces.hk", text, strlen(text), &options);
    cr_assert_eq(diags.errors, 0, "%s", body);
    ir_func *func = hdst__lower(&arena, module, module->functions[0]);
    cr_assert_null(hdst__passes_scalar(func), "%s", body);
    return func;
}

Test(token_pieces, are_for_functions_whose_turns_need_nothing_of_each_other)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir_func *func = function_of(cases[i].body);
        hdst__pass_output_way(func, false);
        hdst__pass_token_pieces(func);
        cr_expect_eq(func->token_pieces, cases[i].pieces, "%s: %d", cases[i].what, func->token_pieces);
    }
}

Test(token_pieces, are_of_the_text_of_the_input)
{
    const ir_func *func = function_of("for (text w : tokens(lower(e.other), WORD)) emit(w, 1);");
    const ir_expr *text = hdst__token_pieces_text(func);
    cr_assert(text && text->op == IR_FIELD);
    cr_expect_str_eq(func->params[text->param].record->leaves[text->leaf].path, "other");
}
