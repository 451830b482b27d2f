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

// --- text(b, n) ---
//
// What the function writes has, behind the fields of its record, a length and the bytes for each text (ir_param.given). So kernels know nothing of it
// but numbers and arrays, and a text's bytes are where its record is, until the engine takes the record from there (engine/stage/built_texts.h).
//
// emit(text(b, n), 1), b of 32 bytes:
//     check le(n, 32); store word = ""; store text_length = add(n, 1); for e < 32 { store text_bytes[e] = b[e] }; store n = 1; emit

// Behind the leaves of the record: those of its text number `text`.
enum { LENGTH, BYTES, OWN_LEAVES };

static uint32_t own_leaf(const hdst__record *given, uint32_t leaf, uint32_t which)
{
    uint32_t texts = 0;
    for (uint32_t i = 0; i < leaf; i++) texts += given->leaves[i].kind == HDST__TEXT;
    return (uint32_t)given->leaf_count + OWN_LEAVES * texts + which;
}

const hdst__record *hdst__lower_built_record(hdst__arena *arena, const hdst__record *given, uint64_t bytes)
{
    size_t texts = 0;
    for (size_t i = 0; i < given->leaf_count; i++) texts += given->leaves[i].kind == HDST__TEXT;
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, given->field_count + OWN_LEAVES * texts), *at = fields + given->field_count;
    for (size_t i = 0; i < given->field_count; i++) fields[i] = given->fields[i];
    for (size_t i = 0; i < texts; i++) {
        *at++ = (hdst__field){.name = "text_length", .type = hdst__type_scalar(HDST__U32)};
        *at++ = (hdst__field){.name = "text_bytes", .type = hdst__type_array(arena, hdst__type_scalar(HDST__U8), bytes)};
    }
    hdst__record *record = HDST__NEW(arena, hdst__record);
    *record = (hdst__record){.name = given->name, .fields = fields, .field_count = given->field_count + OWN_LEAVES * texts, .pack = given->pack};
    const char *why = NULL;
    return hdst__record_finish(arena, record, &why) ? record : NULL;
}

static void store(lowerer *l, const lower_place *to, uint32_t which, ir_expr *index, ir_expr *value)
{
    ir_stmt *s = hdst__ir_stmt(l->func, IR_STORE, value->span);
    s->param = to->first;
    s->leaf = own_leaf(l->func->params[to->first].given, to->leaf, which);
    s->index = index;
    s->value = value;
    hdst__lower_push(l, s);
}

void hdst__lower_not_built(lowerer *l, const lower_place *to) { store(l, to, LENGTH, NULL, hdst__ir_const(l->func, HDST__U32, 0)); }

static void store_bytes(lowerer *l, const lower_place *to, const lower_place *array)
{
    const uint32_t e = hdst__ir_add_var(l->func, "e", HDST__U32, 0);
    ir_stmt *loop = hdst__ir_for(l->func, e, hdst__ir_const(l->func, HDST__U32, 0), hdst__ir_const(l->func, HDST__U32, array->type->count), 1);
    ir_block *outer = l->block;
    l->block = &loop->body;
    store(l, to, BYTES, hdst__ir_var(l->func, e), hdst__lower_load_leaf(l, array, 0, hdst__ir_var(l->func, e)));
    l->block = outer;
    hdst__lower_push(l, loop);
}

void hdst__lower_built_text(lowerer *l, const lower_place *to, const ast_expr *call)
{
    const lower_place array = hdst__lower_place(l, call->args[0]);
    ir_expr *length = hdst__lower_simple(l, "length", hdst__lower_convert(l, HDST__U64, hdst__lower_value(l, call->args[1])));
    ir_expr *limit = hdst__ir_const(l->func, HDST__U64, array.type->count);
    ir_expr *fits = hdst__ir_binary(l->func, IR_LE, HDST__BOOL, hdst__ir_copy(l->func, length), limit);
    hdst__lower_push_check(l, IR_CHECK_LENGTH, call->args[1]->span, call->args[0]->name ? call->args[0]->name : "the array", fits,
                           hdst__ir_copy(l->func, length), hdst__ir_copy(l->func, limit));
    ir_expr *cut = hdst__lower_convert(l, HDST__U32, hdst__ir_binary(l->func, IR_MIN, HDST__U64, length, hdst__ir_copy(l->func, limit)));
    ir_stmt *text = hdst__ir_stmt(l->func, IR_STORE, call->span);
    text->param = to->first;
    text->leaf = to->leaf;
    text->value = hdst__ir_const(l->func, HDST__TEXT, 0);
    hdst__lower_push(l, text);
    store(l, to, LENGTH, NULL, hdst__ir_binary(l->func, IR_ADD, HDST__U32, cut, hdst__ir_const(l->func, HDST__U32, 1)));
    store_bytes(l, to, &array);
}
