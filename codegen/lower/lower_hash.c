// SPDX-License-Identifier: Apache-2.0
// hash(x): 64 bits of a number, a record or an array, the same in all back ends. The numbers of the value, field by field and
// element by element, are zero-extended to 32 bits (64 for types of 8 bytes); two successive numbers of 32 bits make a word,
// the first one in its low half. Starting from 0, each word is mixed in by the step
// of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 16).
//
// Before: h = hash(p)        After: h = 0
//                                   h = (h ^ word) + 0x9e3779b97f4a7c15                  for each word of p
//                                   h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9
//                                   h = (h ^ h >> 27) * 0x94d049bb133111eb
//                                   h = h ^ h >> 31
#include "record/key_hash.h"
#include "codegen/lower/lower_state.h"

typedef struct hashing {
    lowerer *l;
    uint32_t hash;              // the variable
    ir_expr *half;              // 32 bits (as u64) that wait for a partner; NULL: none
} hashing;

static ir_expr *number(hashing *h, uint64_t bits) { return hdst__ir_const(h->l->func, HDST__U64, bits); }

static ir_expr *combined(hashing *h, ir_op op, ir_expr *a, ir_expr *b) { return hdst__ir_binary(h->l->func, op, HDST__U64, a, b); }

static void set(hashing *h, ir_expr *value) { hdst__lower_push(h->l, hdst__ir_set(h->l->func, h->hash, value)); }

static ir_expr *so_far(hashing *h) { return hdst__ir_var(h->l->func, h->hash); }

static ir_expr *folded(hashing *h, uint64_t shift)
{
    ir_expr *shifted = hdst__ir_binary(h->l->func, IR_SHR, HDST__U64, so_far(h), hdst__ir_const(h->l->func, HDST__U32, shift));
    return combined(h, IR_XOR, so_far(h), shifted);
}

static void mix(hashing *h, ir_expr *word)
{
    set(h, combined(h, IR_ADD, combined(h, IR_XOR, so_far(h), word), number(h, HDST__KEY_STEP)));
    set(h, combined(h, IR_MUL, folded(h, 30), number(h, HDST__KEY_FIRST)));
    set(h, combined(h, IR_MUL, folded(h, 27), number(h, HDST__KEY_SECOND)));
    set(h, folded(h, 31));
    h->l->statements++;
}

// The bits of a number as u64, with zeroes in front.
static ir_expr *bits_of(hashing *h, ir_expr *e)
{
    static const hdst__kind unsigned_of[] = {[1] = HDST__U8, [2] = HDST__U16, [4] = HDST__U32, [8] = HDST__U64};
    const hdst__kind bits = unsigned_of[hdst__scalar_size(e->kind)];
    if (hdst__kind_is_float(e->kind)) e = hdst__ir_unary(h->l->func, IR_BITCAST, bits, e);
    else if (e->kind != HDST__BOOL) e = hdst__lower_convert(h->l, bits, e);
    return hdst__lower_convert(h->l, HDST__U64, e);
}

static ir_expr *pair(hashing *h, ir_expr *low, ir_expr *high)
{
    return combined(h, IR_OR, low, hdst__ir_binary(h->l->func, IR_SHL, HDST__U64, high, hdst__ir_const(h->l->func, HDST__U32, 32)));
}

static void add_half(hashing *h)        // the one that found no partner
{
    if (h->half) mix(h, h->half);
    h->half = NULL;
}

static void add_number(hashing *h, ir_expr *e)
{
    ir_expr *bits = bits_of(h, e);
    if (hdst__scalar_size(e->kind) == 8) {
        add_half(h);
        mix(h, bits);
    } else if (h->half) {
        mix(h, pair(h, h->half, bits));
        h->half = NULL;
    } else {
        h->half = bits;
    }
}

static ir_expr *element(hashing *h, const lower_place *place, uint32_t leaf, ir_expr *index) { return hdst__lower_load_leaf(h->l, place, leaf, index); }

// Mixes in elements first ... count - 1 of a leaf, by a loop over words.
static void add_elements(hashing *h, const lower_place *place, uint32_t leaf, uint64_t first, uint64_t count)
{
    lowerer *l = h->l;
    const uint64_t step = hdst__scalar_size(hdst__lower_leaf_kind(place->type, leaf)) == 8 ? 1 : 2;
    const uint64_t end = first + (count - first) / step * step;
    const uint32_t i = hdst__ir_add_var(l->func, "e", HDST__U32, 0);
    ir_stmt *loop = hdst__ir_for(l->func, i, hdst__ir_const(l->func, HDST__U32, first), hdst__ir_const(l->func, HDST__U32, end), step);
    ir_block *outer = l->block;
    l->block = &loop->body;
    ir_expr *word = bits_of(h, element(h, place, leaf, hdst__ir_var(l->func, i)));
    if (step == 2) {
        ir_expr *next = hdst__ir_binary(l->func, IR_ADD, HDST__U32, hdst__ir_var(l->func, i), hdst__ir_const(l->func, HDST__U32, 1));
        word = pair(h, word, bits_of(h, element(h, place, leaf, next)));
    }
    mix(h, word);
    l->block = outer;
    hdst__lower_push(l, loop);
    if (end < count) add_number(h, element(h, place, leaf, hdst__ir_const(l->func, HDST__U32, end)));
}

static void add_leaf(hashing *h, const lower_place *place, uint32_t leaf)
{
    const uint64_t count = hdst__lower_leaf_elements(place->type, leaf);
    if (count == 1) {
        add_number(h, element(h, place, leaf, NULL));
        return;
    }
    const bool wide = hdst__scalar_size(hdst__lower_leaf_kind(place->type, leaf)) == 8;
    if (wide) add_half(h);
    const uint64_t first = h->half ? 1 : 0;     // the first one completes a word that is begun
    if (first) add_number(h, element(h, place, leaf, hdst__ir_const(h->l->func, HDST__U32, 0)));
    if (first < count) add_elements(h, place, leaf, first, count);
}

ir_expr *hdst__lower_hash(lowerer *l, const ast_expr *call)
{
    hashing h = {.l = l, .hash = IR_NO_VAR};
    const ast_expr *of = call->args[0];
    const bool is_number = hdst__kind_is_scalar(of->type->kind);
    ir_expr *value = is_number ? hdst__lower_value(l, of) : NULL;
    const lower_place place = is_number ? (lower_place){0} : hdst__lower_evaluate_indices(l, hdst__lower_place(l, of));
    h.hash = hdst__ir_add_var(l->func, "hash", HDST__U64, 0);
    set(&h, number(&h, 0));
    if (is_number) add_number(&h, value);
    else for (uint32_t i = 0; i < hdst__lower_leaf_count(of->type) && l->statements < HDST__LOWER_LIMIT; i++) add_leaf(&h, &place, i);
    add_half(&h);
    return hdst__ir_var(l->func, h.hash);
}
