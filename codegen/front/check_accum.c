// SPDX-License-Identifier: Apache-2.0
// Accumulators: write-only, with one law for each leaf, so that partial results can be combined in any order.
#include "codegen/front/check.h"

#include <string.h>

// Checks the accumulator that a path begins with. check_expr cannot do this: it refuses accumulators, which cannot be read.
static ast_expr *root(hdst__checker *c, ast_expr *e, bool indexed)
{
    ast_decl *decl = hdst__check_find(c, e->name);
    if (!decl || decl->kind != AST_PARAM || decl->qualifier != AST_ACCUM) {
        if (!decl) return hdst__check_expr(c, e);           // says that it is unknown
        hdst__diag_error(c->diags, e->span, "declare it so in the parameter list: accum T name", "'%s' is not an accumulator", e->name);
        return hdst__check_poisoned(e);
    }
    e->decl = decl;
    e->type = decl->type;
    if (decl->is_table && !indexed) {
        hdst__diag_error(c->diags, e->span, hdst__arena_printf(c->arena, "pick a row: %s[i]", e->name), "'%s' is a table of accumulators", e->name);
        return hdst__check_poisoned(e);
    }
    return e;
}

static ast_expr *row(hdst__checker *c, ast_expr *e)
{
    e->left = root(c, e->left, true);
    e->type = e->left->type;
    e->right = hdst__check_value(c, e->right);
    const hdst__type *index = e->right->type;
    if (hdst__check_is_poison(index) || hdst__check_is_poison(e->type)) return hdst__check_poisoned(e);
    if (index->kind > HDST__U64) {
        hdst__diag_error(c->diags, e->right->span, NULL, "an index must be an integer, not %s", hdst__check_type_name(c, index));
        return hdst__check_poisoned(e);
    }
    e->right = hdst__check_to_kind(c, e->right, hdst__check_promote(index->kind));
    return e;
}

static ast_expr *step(hdst__checker *c, ast_expr *e)
{
    if (e->kind == AST_NAME) return root(c, e, false);
    if (e->kind == AST_INDEX && e->left->kind == AST_NAME) {
        const ast_decl *decl = hdst__check_find(c, e->left->name);
        if (decl && decl->kind == AST_PARAM && decl->qualifier == AST_ACCUM && decl->is_table) return row(c, e);
    }
    if (e->kind != AST_INDEX && e->kind != AST_MEMBER) {
        hdst__diag_error(c->diags, e->span, NULL, "this is not an accumulator");
        return hdst__check_poisoned(e);
    }
    e->left = step(c, e->left);
    return hdst__check_path_step(c, e);
}

ast_expr *hdst__check_accum_path(hdst__checker *c, ast_expr *path)
{
    path = step(c, path);
    if (hdst__check_is_poison(path->type) || hdst__check_is_arithmetic(path->type)) return path;
    hdst__diag_error(c->diags, path->span, path->type->kind == HDST__RECORD ? "accumulate its fields one by one" : "accumulate its elements one by one",
                     "only numbers accumulate, not %s", hdst__check_type_name(c, path->type));
    return hdst__check_poisoned(path);
}

// "line.from.x" as hdst__leaf.path
static const char *leaf_path(hdst__checker *c, const ast_expr *e)
{
    if (e->kind == AST_INDEX) return leaf_path(c, e->left);
    if (e->kind != AST_MEMBER) return "";
    const char *outer = leaf_path(c, e->left);
    return *outer ? hdst__arena_printf(c->arena, "%s.%s", outer, e->name) : e->name;
}

void hdst__check_accum_law(hdst__checker *c, const ast_expr *path, const char *law, hdst__span span)
{
    const char *leaf = leaf_path(c, path);
    const char *name = hdst__check_root(path)->name;
    if (*leaf) name = hdst__arena_printf(c->arena, "%s.%s", name, leaf);
    check_law *mine = HDST__NEW(c->arena, check_law);
    *mine = (check_law){law, span};
    const check_law *first = hdst__name_map_add(&c->laws, c->arena, name, mine);
    if (!first || !strcmp(first->law, law)) return;
    uint32_t line, column;
    hdst__span_position(c->diags, first->span, &line, &column);
    hdst__diag_error(c->diags, span, hdst__arena_printf(c->arena, "it is accumulated with %s in line %u; use two fields", first->law, line),
                     "'%s' cannot be accumulated with %s too", name, law);
}
