// SPDX-License-Identifier: Apache-2.0
// Any bytes as a kernel file: it is checked or refused, without a crash or a hang; and of what was accepted the
// checker kept its promises (codegen/front/ast.h), so that it can be lowered to IR that is well formed.
#include "codegen/front/check.h"
#include "codegen/ir/ir.h"
#include "codegen/lower/lower.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

// One schema can be imported; nothing is read from disk.
static bool read_import(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    static const char schema[] = "params: [D]\nrecords:\n  point:\n    fields:\n      - {name: x, type: float32, count: D}\n      - {name: id, type: uint32}\n";
    (void)importing, (void)user;
    if (strcmp(name, "point.yaml")) return false;
    *text = hdst__strdup(allocator, schema);
    *length = sizeof schema - 1;
    return *text != NULL;
}

static bool is_promoted(hdst__kind kind) { return kind >= HDST__I32 && kind <= HDST__F64 && kind != HDST__U8 && kind != HDST__U16; }

static void require_operator(const ast_expr *e)
{
    hdst__kind left = e->left->type->kind, right = e->right->type->kind;
    if (left == HDST__TEXT) return;
    if (e->op == AST_LOGAND || e->op == AST_LOGOR) require(left == HDST__BOOL && right == HDST__BOOL && e->type->kind == HDST__BOOL);
    else if (e->op == AST_SHL || e->op == AST_SHR) require(is_promoted(left) && right == HDST__U32 && e->type->kind == left);
    else require(is_promoted(left) && left == right && e->type->kind == (e->op >= AST_LT ? HDST__BOOL : left));
}

static void require_typed(ast_expr *e, void *user)
{
    (void)user;
    require(e->type && !hdst__check_is_poison(e->type));
    switch (e->kind) {
    case AST_BINARY: require_operator(e); break;
    case AST_MEMBER: require(e->field != NULL); break;
    case AST_TERNARY: require(e->left->type->kind == HDST__BOOL && hdst__type_equal(e->right->type, e->third->type)); break;
    case AST_NAME: require(e->decl || e->type->kind == HDST__TEXT); break;
    case AST_CALL:
        for (size_t i = 0; e->callee && i < e->arg_count; i++) require(hdst__type_equal(e->args[i]->type, e->callee->params[i]->type));
        break;
    default: break;
    }
}

static void require_checked(const ast_module *module)
{
    for (size_t i = 0; i < module->function_count; i++) {
        const ast_function *f = module->functions[i];
        require(f->result && !hdst__check_is_poison(f->result));
        if (f->body) hdst__check_visit(f->body, require_typed, NULL);
        require(f->kind != AST_REDUCE || f->reduce_class == AST_FIELD_WISE || f->class_reason);
    }
    for (size_t i = 0; i < module->record_count; i++) require(module->records[i]->leaf_count > 0);
}

static void lower(hdst__arena *arena, const ast_module *module)
{
    for (size_t i = 0; i < module->function_count; i++) {
        const ast_function *f = module->functions[i];
        if (f->kind == AST_HELPER || f->unsupported) continue;
        const ir_func *func = f->body ? hdst__lower(arena, module, f) : hdst__lower_signature(arena, module, f);    // a map may be declared only
        // Too large: an error. The key of a group may be no field by its name: the program says which it is.
        require(func ? hdst__ir_verify(func) == NULL : module->diags->errors > 0 || f->kind == AST_GROUP);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&arena);
        return 0;
    }
    hdst__diags diags;
    hdst__diags_init(&diags, &arena);
    const hdst__param_value params[] = {{.name = "D", .bits = 3}};
    hdst__front_options options = {.params = params, .param_count = size % 3 == 0, .read_import = read_import, .assume_params = size % 2 == 0};
    ast_module *module = hdst__module_compile(&diags, "fuzz.hk", (const char *)data, size, &options);
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__diags_render(&diags, &text);
    hdst__buffer_destroy(&text);
    if (!diags.errors) {
        require_checked(module);
        lower(&arena, module);
    }
    hdst__arena_destroy(&arena);
    return 0;
}
