// SPDX-License-Identifier: Apache-2.0
// emit(...): one more output record of a flat_map, or of a group. It stands alone, as a statement; its arguments are the fields, or the record. A group
// that has one gives any number of records, and then returns none.
#include "codegen/front/check.h"

static ast_expr *misplaced(hdst__checker *c, ast_expr *call)
{
    const bool in_map = c->function && c->function->kind == AST_MAP;
    hdst__diag_error(c->diags, call->span,
                     in_map ? "return the record; for any number of records write flat_map"
                            : c->function && c->function->kind == AST_HELPER ? "return the record, and emit it in the flat_map" : NULL,
                     in_map ? "a map gives one record for each record" : "only a flat_map or a group emits records");
    hdst__check_arguments(c, call);
    return hdst__check_poisoned(call);
}

ast_expr *hdst__check_emit(hdst__checker *c, ast_expr *call)
{
    ast_function *f = c->function;
    if (!f || (f->kind != AST_FLAT_MAP && f->kind != AST_GROUP)) return misplaced(c, call);
    f->emits = true;
    call->type = hdst__type_scalar(HDST__VOID);
    const hdst__type *result = f->result;
    if (hdst__check_is_poison(result)) {
        hdst__check_arguments(c, call);
        return hdst__check_poisoned(call);
    }
    if (result->kind == HDST__RECORD && (call->arg_count != 1 || f->result_is_tuple)) {
        if (hdst__check_is_poison(hdst__check_tuple(c, call, result)->type)) return call;
        call->type = hdst__type_scalar(HDST__VOID);
        return call;
    }
    if (!hdst__check_argument_count(c, call, 1, 1)) {
        hdst__check_arguments(c, call);
        return hdst__check_poisoned(call);
    }
    call->args[0] = hdst__check_initializer(c, call->args[0], result, "what is emitted");
    return call;
}

void hdst__check_emits(hdst__checker *c, const ast_function *f)
{
    if (f->kind != AST_GROUP || hdst__check_is_poison(f->result)) return;
    if (f->emits && c->record_return.length)
        hdst__diag_error(c->diags, c->record_return, "emit(...) here, too", "'%s' emits its records, so it returns none", f->name);
    if (!f->emits && c->bare_return.length)
        hdst__diag_error(c->diags, c->bare_return, NULL, "'%s' must return %s", f->name, hdst__check_type_name(c, f->result));
}
