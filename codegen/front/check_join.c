// SPDX-License-Identifier: Apache-2.0
// Functions over records of two datasets. A join runs over pairs: records of two fields, which are its parameters, and for each optional one whether there is a
// record; has(o) becomes a field of it. A group of two streams runs over the records of both, of which each holds one side, with its key in front, one behind
// another: those of the left one, then those of the right one. The checker makes these records.
//
// join pay(user u, optional order o) -> bill                          runs over {user left; order right; bool has_right;}
// group pay(key uint32_t id, stream user u, stream order o) -> bill   runs over {uint32_t key; bool is_right; user left; order right;}
#include "codegen/front/check.h"

static void add_field(hdst__field *fields, hdst__record *pair, const char *name, const hdst__type *type)
{
    fields[pair->field_count++] = (hdst__field){.name = name, .type = type};
}

static void add_join_fields(const ast_function *f, hdst__field *fields, hdst__record *pair)
{
    static const char *const sides[] = {"left", "right"}, *const has[] = {"has_left", "has_right"};
    for (size_t i = 0; i < 2; i++) add_field(fields, pair, sides[i], f->params[i]->type);
    for (size_t i = 0; i < 2; i++)
        if (f->params[i]->qualifier == AST_OPTIONAL) add_field(fields, pair, has[i], hdst__type_scalar(HDST__BOOL));
}

static void add_group_fields(const ast_function *f, hdst__field *fields, hdst__record *both)
{
    const ast_decl *key = NULL, *streams[2] = {NULL, NULL};
    for (size_t i = 0; i < f->param_count; i++) {
        const ast_decl *p = f->params[i];
        if (p->qualifier == AST_KEY) key = p;
        else if (p->qualifier == AST_STREAM) streams[streams[0] != NULL] = p;
    }
    add_field(fields, both, "key", key->type);
    add_field(fields, both, "is_right", hdst__type_scalar(HDST__BOOL));
    add_field(fields, both, "left", streams[0]->type->element);
    add_field(fields, both, "right", streams[1]->type->element);
}

void hdst__check_pair(hdst__checker *c, ast_function *f)
{
    hdst__record *pair = HDST__NEW(c->arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(c->arena, hdst__field, 4);
    const char *why = NULL;
    *pair = (hdst__record){.name = hdst__arena_printf(c->arena, "%s of %s", f->kind == AST_JOIN ? "pair" : "records", f->name), .fields = fields};
    (f->kind == AST_JOIN ? add_join_fields : add_group_fields)(f, fields, pair);
    if (!hdst__record_finish(c->arena, pair, &why)) {
        hdst__diag_error(c->diags, f->span, "take records of fewer fields", "two records of '%s' as one: %s", f->name, why);
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
