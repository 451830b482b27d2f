// SPDX-License-Identifier: Apache-2.0
// Joins. A join runs over pairs: records of two fields, which are its parameters, and for each optional one whether there is a record. The checker makes
// that record, and has(o) becomes a field of it.
//
// join pay(user u, optional order o) -> bill          runs over {user left; order right; bool has_right;}
#include "codegen/front/check.h"

static void add_field(hdst__field *fields, hdst__record *pair, const char *name, const hdst__type *type)
{
    fields[pair->field_count++] = (hdst__field){.name = name, .type = type};
}

void hdst__check_join_pair(hdst__checker *c, ast_function *f)
{
    static const char *const sides[] = {"left", "right"}, *const has[] = {"has_left", "has_right"};
    hdst__record *pair = HDST__NEW(c->arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(c->arena, hdst__field, 4);
    const char *why = NULL;
    *pair = (hdst__record){.name = hdst__arena_printf(c->arena, "pair of %s", f->name), .fields = fields};
    for (size_t i = 0; i < 2; i++) add_field(fields, pair, sides[i], f->params[i]->type);
    for (size_t i = 0; i < 2; i++)
        if (f->params[i]->qualifier == AST_OPTIONAL) add_field(fields, pair, has[i], hdst__type_scalar(HDST__BOOL));
    if (!hdst__record_finish(c->arena, pair, &why)) {
        hdst__diag_error(c->diags, f->span, "join records of fewer fields", "two records of '%s' as one: %s", f->name, why);
        return;
    }
    f->pair = HDST__NEW(c->arena, ast_decl);
    *f->pair = (ast_decl){.kind = AST_PARAM, .name = "pair", .span = f->span, .type = hdst__type_record(c->arena, pair)};
}

void hdst__check_has_partner(hdst__checker *c, ast_expr *call, const ast_decl *side)
{
    const ast_function *f = c->function;
    ast_expr *pair = HDST__NEW(c->arena, ast_expr);
    *pair = (ast_expr){.kind = AST_NAME, .span = call->span, .name = f->pair->name, .decl = f->pair, .type = f->pair->type};
    const hdst__field *field = hdst__record_field(f->pair->type->record, side == f->params[0] ? "has_left" : "has_right");
    *call = (ast_expr){.kind = AST_MEMBER, .span = call->span, .name = field->name, .name_span = call->span, .left = pair, .field = field, .type = field->type};
}
