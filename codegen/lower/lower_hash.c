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
#include "codegen/lower/frozen_slot.h"
#include "codegen/lower/lower_state.h"
#include "codegen/lower/steady.h"

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

// --- Rows of tables that are looked up by key: t[k], has(t, k), len(t) ---
//
// The table is a frozen hash table (record/frozen_hash.h), whose slots are records of two fields, key and value; another parameter has its displacements,
// right behind it.
//
// After: slot = ...                                    frozen_slot.h
//        check (there are keys && slots[slot].key == k)        of t[k]
//        slots[slot].value                               some row where the key is not there

// What is looked up: the key, in variables or constants.
typedef struct asked {
    lower_place place;          // of a record
    ir_expr *number;            // of a number or text
    uint32_t slot;
    ir_expr *found;
} asked;

static hdst__frozen_params params_of(const lower_binding *table) { return (hdst__frozen_params){table->place.first, table->place.first + 1}; }

lower_place hdst__lower_lookup_params(lowerer *l, const ast_decl *table)
{
    lower_place place = {.base = PLACE_BROADCAST, .type = hdst__type_record(l->arena, table->keyed), .name = table->name};
    place.first = hdst__frozen_add_params(l->func, table->name, table->keyed).slots;
    return place;
}

static lower_place row_of(const lower_binding *table, ir_expr *slot)
{
    lower_place row = table->place;
    row.row = slot;
    return row;
}

// --- The key ---

static asked evaluate(lowerer *l, const ast_expr *key, const ast_expr *of_text)
{
    if (of_text) {
        const lower_place place = hdst__lower_new_local(l, "key", key->type);
        hdst__lower_store(l, &place, hdst__lower_value(l, key));
        hdst__lower_bind(l, of_text->right->args[0]->decl, place, false);
        return (asked){.number = hdst__lower_load(l, &place)};
    }
    if (hdst__kind_is_scalar(key->type->kind)) return (asked){.number = hdst__lower_simple(l, "key", hdst__lower_value(l, key))};
    const asked a = {.place = hdst__lower_new_local(l, "key", key->type)};
    hdst__lower_into(l, &a.place, key);
    return a;
}

static size_t count_words(const hdst__type *key)
{
    size_t words = 0;
    for (uint32_t i = 0; i < hdst__lower_leaf_count(key); i++) words += hdst__lower_leaf_elements(key, i);
    return words;
}

static ir_expr *element_number(lowerer *l, const hdst__type *key, uint32_t leaf, uint64_t e)
{
    return hdst__lower_leaf_elements(key, leaf) > 1 ? hdst__ir_const(l->func, HDST__U32, e) : NULL;
}

static ir_expr *asked_leaf(lowerer *l, const asked *a, const hdst__type *key, uint32_t leaf, uint64_t e)
{
    if (a->number) return hdst__ir_copy(l->func, a->number);
    return hdst__lower_load_leaf(l, &a->place, leaf, element_number(l, key, leaf, e));
}

// A text is a word.
static size_t list_words(lowerer *l, const asked *a, const hdst__type *key, const ast_expr *of_text, ir_expr **words)
{
    size_t count = 0;
    if (of_text) {
        words[0] = hdst__lower_simple(l, "word", hdst__lower_value(l, of_text->left));
        return 1;
    }
    for (uint32_t i = 0; i < hdst__lower_leaf_count(key); i++)
        for (uint64_t e = 0; e < hdst__lower_leaf_elements(key, i); e++) words[count++] = hdst__frozen_word(l->func, asked_leaf(l, a, key, i, e));
    return count;
}

// The checker made calls for texts (check_lookup.c).
static ir_expr *same_text(lowerer *l, const lower_place *of_row, const ast_expr *of_text)
{
    hdst__lower_bind(l, of_text->right->args[1]->decl, *of_row, false);
    return hdst__lower_value(l, of_text->right);
}

static ir_expr *is_there(lowerer *l, const lower_binding *table, const asked *a, const hdst__type *key, const ast_expr *of_text)
{
    const hdst__frozen_params params = params_of(table);
    const lower_place row = row_of(table, hdst__ir_var(l->func, a->slot)), of_row = hdst__lower_field(&row, &table->decl->keyed->fields[0]);
    ir_expr *same = hdst__ir_binary(l->func, IR_NE, HDST__BOOL, hdst__frozen_keys(l->func, &params), hdst__ir_const(l->func, HDST__U64, 0));
    if (of_text) return hdst__ir_binary(l->func, IR_AND, HDST__BOOL, same, same_text(l, &of_row, of_text));
    for (uint32_t i = 0; i < hdst__lower_leaf_count(key); i++)
        for (uint64_t e = 0; e < hdst__lower_leaf_elements(key, i); e++) {
            ir_expr *there = hdst__lower_load_leaf(l, &of_row, i, element_number(l, key, i, e));
            ir_expr *equal = hdst__ir_binary(l->func, IR_EQ, HDST__BOOL, asked_leaf(l, a, key, i, e), there);
            same = hdst__ir_binary(l->func, IR_AND, HDST__BOOL, same, equal);
        }
    return same;
}

static asked look_up(lowerer *l, const lower_binding *table, const ast_expr *key, const ast_expr *of_text)
{
    asked a = evaluate(l, key, of_text);
    ir_expr **words = HDST__NEW_ARRAY(l->arena, ir_expr *, count_words(key->type));
    const size_t count = list_words(l, &a, key->type, of_text, words);
    const hdst__frozen_params params = params_of(table);
    a.slot = hdst__frozen_find(l->func, l->block, &params, words, count);
    a.found = hdst__lower_simple(l, "found", is_there(l, table, &a, key->type, of_text));
    return a;
}

// --- What is asked ---

// For the message: the first two numbers of the key.
static ir_expr *shown(lowerer *l, const asked *a, const hdst__type *key, uint64_t which)
{
    for (uint32_t i = 0; i < hdst__lower_leaf_count(key); i++) {
        const uint64_t elements = hdst__lower_leaf_elements(key, i);
        if (which < elements) return hdst__lower_convert(l, HDST__U64, asked_leaf(l, a, key, i, which));
        which -= elements;
    }
    return hdst__ir_const(l->func, HDST__U64, 0);
}

lower_place hdst__lower_lookup_row(lowerer *l, const ast_expr *e, const lower_binding *table)
{
    const hdst__type *key = table->decl->key;
    const bool is_text = key->kind == HDST__TEXT;
    const asked a = look_up(l, table, e->right, e->third);
    ir_expr *first = is_text ? hdst__ir_copy(l->func, a.number) : shown(l, &a, key, 0);
    hdst__lower_push_check(l, is_text ? IR_CHECK_LOOKUP_TEXT : IR_CHECK_LOOKUP, e->right->span, table->decl->name, a.found, first,
                           is_text ? hdst__ir_const(l->func, HDST__U64, 0) : shown(l, &a, key, 1));
    l->func->checks[l->func->check_count - 1].key = key;
    const lower_place row = row_of(table, hdst__ir_var(l->func, a.slot));
    return hdst__lower_field(&row, &table->decl->keyed->fields[1]);
}

ir_expr *hdst__lower_has_key(lowerer *l, const ast_expr *call)
{
    const lower_binding *table = hdst__lower_find(l, call->args[0]->decl);
    if (!table->decl->has_stretches) return look_up(l, table, call->args[1], call->third).found;
    const ast_expr rows = {.kind = AST_INDEX, .left = call->args[0], .right = call->args[1]};
    return hdst__ir_binary(l->func, IR_NE, HDST__BOOL, hdst__lower_key_rows_length(l, &rows), hdst__ir_const(l->func, HDST__U64, 0));
}

ir_expr *hdst__lower_lookup_length(lowerer *l, const lower_binding *table)
{
    const hdst__frozen_params params = params_of(table);
    return hdst__frozen_keys(l->func, &params);
}

// --- All rows of a key ---

lower_place hdst__lower_key_rows_params(lowerer *l, const ast_decl *table)
{
    lower_place place = {.base = PLACE_BROADCAST, .type = table->type, .name = table->name};
    place.first = hdst__key_rows_add_params(l->func, table->name, hdst__lower_row_record(l->arena, table->type));
    l->has_key_rows = true;
    return place;
}

static const lower_key_rows *find_known(const lowerer *l, const ast_expr *rows)
{
    for (size_t i = l->found_count; i-- > 0;)
        if (hdst__same_key_rows(l->found[i].rows, rows)) return &l->found[i];
    return NULL;
}

lower_key_rows hdst__lower_key_rows(lowerer *l, const ast_expr *rows)
{
    const lower_key_rows *known = find_known(l, rows);
    if (known) return *known;
    lower_key_rows r = {.table = hdst__lower_find(l, rows->left->decl), .rows = rows};
    ir_expr *key = hdst__lower_convert(l, HDST__U64, hdst__lower_value(l, rows->right));
    r.lie = hdst__key_rows_find(l->func, l->block, r.table->place.first, key);
    return r;
}

static void find_in_front(void *user, const ast_expr *rows)
{
    lowerer *l = user;
    if (find_known(l, rows)) return;
    const lower_key_rows found = hdst__lower_key_rows(l, rows);
    HDST__PUSH(l->arena, l->found, l->found_count, l->found_capacity, found);
}

void hdst__lower_find_key_rows(lowerer *l, const ast_stmt *loop)
{
    if (l->has_key_rows) hdst__steady_key_rows(loop, find_in_front, l);
}

ir_expr *hdst__lower_key_rows_length(lowerer *l, const ast_expr *rows)
{
    const lower_key_rows r = hdst__lower_key_rows(l, rows);
    return hdst__key_rows_count(l->func, &r.lie);
}

lower_place hdst__lower_row_of_key(lowerer *l, const ast_expr *e)
{
    const lower_key_rows r = hdst__lower_key_rows(l, e->left);
    const char *rows = hdst__arena_printf(l->arena, "%s[k]", r.table->decl->name);
    ir_expr *index = hdst__lower_simple(l, "index", hdst__lower_convert(l, HDST__U64, hdst__lower_value(l, e->right)));
    ir_expr *below = hdst__ir_binary(l->func, IR_LT, HDST__BOOL, index, hdst__key_rows_count(l->func, &r.lie));
    hdst__lower_push_check(l, IR_CHECK_TABLE_INDEX, e->right->span, rows, hdst__ir_copy(l->func, below), hdst__ir_copy(l->func, index),
                           hdst__key_rows_count(l->func, &r.lie));
    ir_expr *there = hdst__ir_binary(l->func, IR_ADD, HDST__U64, hdst__ir_var(l->func, r.lie.first), hdst__ir_copy(l->func, index));
    lower_place row = r.table->place;
    row.row = hdst__ir_select(l->func, below, there, hdst__ir_const(l->func, HDST__U64, 0));
    return row;
}
