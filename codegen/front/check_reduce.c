// SPDX-License-Identifier: Apache-2.0
// How freely a reduce may be regrouped. A body that is a single `return`, with a.f OP b.f for every leaf and OP one of
// + min max & | ^, is field-wise: its law is known, so it runs as an accumulation, exact and in any order. Every other reduce is
// taken as it is declared.
#include "codegen/front/builtins.h"
#include "codegen/front/check.h"
#include "accum/accumulate_op.h"

#include <inttypes.h>
#include <string.h>

typedef struct walk {
    hdst__checker *c;
    const ast_function *f;
    const char *why;        // the first reason against; NULL while field-wise
    struct { const char *leaf; hdst__accumulate_op op; } *laws;     // of the leaves so far: the elements of an array accumulate alike
    size_t law_count, law_capacity;
} walk;

// ".from.x[2]" as ".from.x"
static const char *without_indices(walk *w, const char *path)
{
    char *leaf = hdst__arena_strdup(w->c->arena, path), *to = leaf;
    bool inside = false;
    for (; *path; path++) {
        inside = inside || *path == '[';
        if (!inside) *to++ = *path;
        inside = inside && *path != ']';
    }
    *to = 0;
    return leaf;
}

static bool agrees(walk *w, const char *path, hdst__accumulate_op op)
{
    const char *leaf = without_indices(w, path);
    if (w->law_count && !strcmp(w->laws[w->law_count - 1].leaf, leaf)) return w->laws[w->law_count - 1].op == op;
    for (size_t i = 0; i < w->law_count; i++)
        if (!strcmp(w->laws[i].leaf, leaf)) return w->laws[i].op == op;
    w->laws = hdst__arena_grow(w->c->arena, w->laws, &w->law_capacity, w->law_count + 1, sizeof *w->laws);
    w->laws[w->law_count].leaf = leaf;
    w->laws[w->law_count++].op = op;
    return true;
}

// "a.from.x[2]" without its first name, when it begins with the parameter; else NULL.
static const char *path_of(walk *w, const ast_expr *e, const ast_decl *parameter)
{
    while (e->kind == AST_CONVERT && e->implied) e = e->left;
    if (e->kind == AST_NAME) return e->decl == parameter ? "" : NULL;
    if (e->kind != AST_MEMBER && e->kind != AST_INDEX) return NULL;
    const char *left = path_of(w, e->left, parameter);
    if (!left) return NULL;
    if (e->kind == AST_MEMBER) return hdst__arena_printf(w->c->arena, "%s.%s", left, e->name);
    if (e->right->kind != AST_NUMBER) return NULL;
    return hdst__arena_printf(w->c->arena, "%s[%" PRIu64 "]", left, e->right->number.bits);
}

static bool is_pair(walk *w, const ast_expr *x, const ast_expr *y, const char *path)
{
    for (int swapped = 0; swapped < 2; swapped++) {
        const char *a = path_of(w, x, w->f->params[swapped]), *b = path_of(w, y, w->f->params[!swapped]);
        if (a && b && !strcmp(a, path) && !strcmp(b, path)) return true;
    }
    return false;
}

// The operation as an accumulation of values of `kind`; false: there is none.
static bool operation(walk *w, const ast_expr *e, hdst__kind kind, const char *path, hdst__accumulate_op *op)
{
    while (e->kind == AST_CONVERT && e->implied) e = e->left;
    if (e->kind == AST_CALL && (e->builtin == HDST__BI_MIN || e->builtin == HDST__BI_MAX)) {
        *op = e->builtin == HDST__BI_MIN ? HDST__MIN : HDST__MAX;
        return is_pair(w, e->args[0], e->args[1], path);
    }
    if (e->kind != AST_BINARY || !is_pair(w, e->left, e->right, path)) return false;
    switch (e->op) {
    case AST_ADD: *op = HDST__SUM; return kind != HDST__BOOL;
    case AST_AND: *op = HDST__AND; return true;
    case AST_OR: *op = HDST__OR; return true;
    case AST_XOR: *op = HDST__XOR; return true;
    case AST_LOGAND: *op = HDST__AND; return kind == HDST__BOOL;       // of numbers it is not that of their bits
    case AST_LOGOR: *op = HDST__OR; return kind == HDST__BOOL;
    default: return false;
    }
}

static uint64_t law_identity(hdst__accumulate_op op, hdst__kind kind)
{
    static const uint64_t lowest[] = {[HDST__I8] = (uint64_t)INT8_MIN, [HDST__I16] = (uint64_t)INT16_MIN, [HDST__I32] = (uint64_t)INT32_MIN,
        [HDST__I64] = (uint64_t)INT64_MIN,
        [HDST__F32] = 0xff800000, [HDST__F64] = 0xfff0000000000000u};
    static const uint64_t highest[] = {[HDST__BOOL] = 1, [HDST__I8] = INT8_MAX, [HDST__I16] = INT16_MAX, [HDST__I32] = INT32_MAX,
        [HDST__I64] = INT64_MAX, [HDST__U8] = UINT8_MAX,
        [HDST__U16] = UINT16_MAX, [HDST__U32] = UINT32_MAX, [HDST__U64] = UINT64_MAX, [HDST__F32] = 0x7f800000, [HDST__F64] = 0x7ff0000000000000u};
    switch (op) {
    case HDST__MIN: return highest[kind];
    case HDST__MAX: return lowest[kind];
    case HDST__AND: return hdst__kind_is_signed(kind) ? UINT64_MAX : highest[kind];
    default: return 0;
    }
}

static void against(walk *w, const char *why) { if (!w->why) w->why = why; }

// identity: the value declared for this leaf; NULL: zero, or nothing is declared (w->f->identity is NULL)
static void scalar(walk *w, const ast_expr *e, const ast_expr *identity, hdst__kind kind, const char *path)
{
    hdst__accumulate_op op;
    uint64_t declared = 0;
    const char *name = *path == '.' ? path + 1 : *path ? path : "the result";
    if (!e) against(w, hdst__arena_printf(w->c->arena, "%s is not given", name));
    else if (!operation(w, e, kind, path, &op))
        against(w, hdst__arena_printf(w->c->arena, "%s is not a%s OP b%s with OP one of + min max & | ^", name, path, path));
    else if (!agrees(w, path, op)) against(w, hdst__arena_printf(w->c->arena, "%s is combined in another way than the elements before it", name));
    else if (!w->f->identity) return;
    else if (identity && !hdst__check_constant(w->c, identity, &declared, true)) against(w, "its identity is not constant");
    else if (declared != law_identity(op, kind)) against(w, hdst__arena_printf(w->c->arena, "the identity of %s is not that of its operation", name));
}

static const ast_expr *find_init(const ast_expr *list, const hdst__field *field, uint64_t index)
{
    if (!list || list->kind != AST_COMPOUND) return NULL;
    for (size_t i = 0; i < list->arg_count; i++)
        if (field ? list->inits[i].target == field : list->inits[i].index == index) return list->args[i];
    return NULL;
}

static void leaves(walk *w, const ast_expr *e, const ast_expr *identity, const hdst__type *type, const char *path)
{
    if (hdst__kind_is_scalar(type->kind)) {
        scalar(w, e, identity, type->kind, path);
    } else if (e && e->kind != AST_COMPOUND) {
        against(w, hdst__arena_printf(w->c->arena, "%s is not built from its parts", *path ? path + 1 : "the result"));
    } else if (type->kind == HDST__RECORD) {
        for (size_t i = 0; i < type->record->field_count && !w->why; i++) {
            const hdst__field *field = &type->record->fields[i];
            leaves(w, find_init(e, field, 0), find_init(identity, field, 0), field->type, hdst__arena_printf(w->c->arena, "%s.%s", path, field->name));
        }
    } else if (type->kind == HDST__ARRAY) {
        if (!e || e->arg_count < type->count) against(w, hdst__arena_printf(w->c->arena, "not every element of %s is given", path + 1));
        for (size_t i = 0; i < type->count && !w->why; i++)
            leaves(w, find_init(e, NULL, i), find_init(identity, NULL, i), type->element, hdst__arena_printf(w->c->arena, "%s[%zu]", path, i));
    }
}

static const char *field_wise(hdst__checker *c, const ast_function *f)
{
    walk w = {.c = c, .f = f};
    if (f->body->body_count != 1 || f->body->body[0]->kind != AST_RETURN) return "its body is more than one return";
    leaves(&w, f->body->body[0]->value, f->identity, f->result, "");
    return w.why;
}

void hdst__check_reduce_class(hdst__checker *c, ast_function *f)
{
    const char *why = field_wise(c, f);
    if (!why) {
        f->reduce_class = AST_FIELD_WISE;
        return;
    }
    if (f->associative && f->commutative) {
        f->reduce_class = AST_ASSOCIATIVE_COMMUTATIVE;
        f->class_reason = hdst__arena_printf(c->arena, "not field-wise: %s", why);
    } else if (f->associative) {
        f->reduce_class = AST_ASSOCIATIVE;
        f->class_reason = hdst__arena_printf(c->arena, "combined in the order of the input, as it is not declared commutative; not field-wise: %s", why);
    } else {
        f->reduce_class = AST_ORDERED;
        f->class_reason = hdst__arena_printf(c->arena, "applied in the order of the input, as it is not declared associative; not field-wise: %s", why);
    }
}
