// SPDX-License-Identifier: Apache-2.0
// Texts: bytes, slices, lengths, constants.
#include "codegen/ir/text_value.h"
#include "codegen/lower/lower_state.h"

bool hdst__lower_is_of_text(const lowerer *l, const ast_expr *index)
{
    const ast_expr *left = index->left;
    const lower_binding *binding = left->kind == AST_NAME ? hdst__lower_find(l, left->decl) : NULL;
    return left->type->kind == HDST__TEXT && !(binding && binding->is_table);
}

static ir_expr *length_of(lowerer *l, ir_expr *text) { return hdst__ir_unary(l->func, IR_TEXT_LENGTH, HDST__U32, text); }

ir_expr *hdst__lower_text_length(lowerer *l, const ast_expr *text) { return hdst__lower_convert(l, HDST__U64, length_of(l, hdst__lower_value(l, text))); }

// A bound of a slice as u32: what is below 0 is 0, and no text has more bytes than the greatest.
static ir_expr *bound(lowerer *l, const ast_expr *at)
{
    ir_expr *value = hdst__lower_value(l, at);
    if (value->kind == HDST__U32) return value;
    value = hdst__lower_simple(l, "bound", value);
    ir_expr *wide = hdst__lower_convert(l, HDST__U64, hdst__ir_copy(l->func, value));
    ir_expr *cut = hdst__lower_convert(l, HDST__U32, hdst__ir_binary(l->func, IR_MIN, HDST__U64, wide, hdst__ir_const(l->func, HDST__U64, UINT32_MAX)));
    if (!hdst__kind_is_signed(value->kind)) return cut;
    ir_expr *below = hdst__ir_binary(l->func, IR_LT, HDST__BOOL, value, hdst__ir_const(l->func, value->kind, 0));
    return hdst__ir_select(l->func, below, hdst__ir_const(l->func, HDST__U32, 0), cut);
}

ir_expr *hdst__lower_text_index(lowerer *l, const ast_expr *e)
{
    ir_expr *text = hdst__lower_simple(l, "of", hdst__lower_value(l, e->left));
    if (e->third) {
        ir_expr *from = bound(l, e->right), *slice = hdst__ir_binary(l->func, IR_TEXT_SLICE, HDST__TEXT, text, from);
        slice->c = bound(l, e->third);
        return slice;
    }
    ir_expr *limit = hdst__lower_convert(l, HDST__U64, length_of(l, hdst__ir_copy(l->func, text)));
    ir_expr *index = hdst__lower_checked_index(l, IR_CHECK_INDEX, e, e->left->name ? e->left->name : "text", limit);
    return hdst__ir_binary(l->func, IR_TEXT_BYTE, HDST__U8, text, hdst__lower_convert(l, HDST__U32, index));
}

ir_expr *hdst__lower_text_constant(lowerer *l, const ast_expr *string)
{
    hdst__text_value *text = HDST__NEW(l->arena, hdst__text_value);
    *text = (hdst__text_value){string->name, (uint32_t)string->length, HDST__TEXT_AS_IT_IS};
    return hdst__ir_const(l->func, HDST__TEXT, string->length ? (uint64_t)(uintptr_t)text : 0);
}

// What a user reads is about the call that stands in his function.
void hdst__lower_check_number(lowerer *l, const ast_expr *call)
{
    ir_expr *text = hdst__lower_value(l, call->args[0]), *fault = hdst__lower_simple(l, "fault", hdst__lower_value(l, call->args[1]));
    ir_expr *good = hdst__ir_binary(l->func, IR_EQ, HDST__BOOL, fault, hdst__ir_const(l->func, fault->kind, 0));
    hdst__lower_push_check(l, IR_CHECK_NUMBER, l->called ? l->called->args[0]->span : call->span, l->called ? l->called->name : "", good, text,
                           hdst__lower_convert(l, HDST__U64, hdst__ir_copy(l->func, fault)));
}
