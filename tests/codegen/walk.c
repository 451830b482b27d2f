// SPDX-License-Identifier: Apache-2.0
// Prints what becomes of a kernel: the IR as lowered, and after each pass for CPU devices that changed it. Used by walk.py.
// usage: walk FILE
#include "tests/support/ir_text.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/front/ast.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 16 };

typedef struct walk {
    hdst__arena *arena;
    const char *last;           // the text before
} walk;

static const char *body_of(const char *text) { return strstr(text, "\n{\n") + 1; }

// The statements, or the declarations when they alone changed; at first both.
static void show(const ir_func *func, const char *pass, void *user)
{
    walk *w = user;
    const char *text = ir_text_of(w->arena, func), *body = body_of(text);
    if (w->last && !strcmp(text, w->last)) return;
    printf("== %s\n", pass);
    if (w->last && !strcmp(body, body_of(w->last))) printf("%.*s", (int)(body - text), text);
    else printf("%s", w->last ? body : text);
    w->last = text;
}

static const char *passes(ir_func *func)
{
    const char *wrong = hdst__passes_scalar(func);
    return wrong ? wrong : hdst__passes_block(func, hdst__ir_accum_tables(func->arena, func, NULL));
}

int main(int argc, char **argv)
{
    static char text[LARGEST_FILE];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) return 1;
    hdst__diags diags;
    hdst__diags_init(&diags, &arena);
    const hdst__front_options options = {0};
    const ast_module *module = hdst__module_compile(&diags, argv[1], text, length, &options);
    if (diags.errors || module->function_count != 1) return 3;
    ir_func *func = hdst__lower(&arena, module, module->functions[0]);
    walk w = {.arena = &arena};
    show(func, "lowering", &w);
    func->after_pass = show;
    func->after_pass_user = &w;
    const char *wrong = passes(func);
    if (wrong) fprintf(stderr, "%s\n", wrong);
    hdst__arena_destroy(&arena);
    return wrong != NULL;
}
