// SPDX-License-Identifier: Apache-2.0
// Functions of operators for which the user writes no code (codegen/lower/operator_functions.h).
#include "codegen/lower/operator_functions.h"

ir_func *hdst__operator_new_func(hdst__arena *arena, const char *name, const hdst__record *input)
{
    ir_func *func = HDST__NEW(arena, ir_func);
    *func = (ir_func){.arena = arena, .name = name};
    hdst__ir_add_param(func, (ir_param){.kind = IR_INPUT, .name = "record", .bind = "record", .record = input});
    return func;
}

const hdst__record *hdst__number_record(hdst__arena *arena, hdst__kind kind)
{
    hdst__record *record = HDST__NEW(arena, hdst__record);
    hdst__field *field = HDST__NEW(arena, hdst__field);
    const char *why = NULL;
    *field = (hdst__field){.name = "value", .type = hdst__type_scalar(kind)};
    *record = (hdst__record){.name = hdst__scalar_c_name(kind), .fields = field, .field_count = 1, .is_scalar = true};
    hdst__record_finish(arena, record, &why);       // one number: cannot fail
    return record;
}

static uint32_t add_output(ir_func *func, const hdst__record *record)
{
    return hdst__ir_add_param(func, (ir_param){.kind = IR_OUTPUT, .name = "result", .bind = "result", .record = record});
}

static ir_expr *leaf_expr(ir_func *func, ir_op op, uint32_t param, uint32_t leaf, hdst__kind kind)
{
    ir_expr *e = hdst__ir_const(func, kind, 0);
    e->op = op;
    e->param = param;
    e->leaf = leaf;
    return e;
}

static ir_expr *u64(ir_func *func, uint64_t bits) { return hdst__ir_const(func, HDST__U64, bits); }

static void store(ir_func *func, ir_block *block, uint32_t output, uint32_t leaf, ir_expr *index, ir_expr *value)
{
    ir_stmt *s = hdst__ir_stmt(func, IR_STORE, (hdst__span){0});
    s->param = output;
    s->leaf = leaf;
    s->index = index;
    s->value = value;
    hdst__ir_push(func, block, s);
}

// All elements of an output leaf; `value_of` gives one's value, by a number (NULL: it is the only one).
static void store_leaf(ir_func *func, uint32_t output, uint32_t to, ir_expr *(*value_of)(ir_func *func, const void *user, ir_expr *e), const void *user)
{
    const uint64_t elements = func->params[output].record->leaves[to].elements;
    if (elements == 1) {
        store(func, &func->body, output, to, NULL, value_of(func, user, NULL));
        return;
    }
    uint32_t e = hdst__ir_add_var(func, "e", HDST__U32, 0);
    ir_stmt *loop = hdst__ir_for(func, e, hdst__ir_const(func, HDST__U32, 0), hdst__ir_const(func, HDST__U32, elements), 1);
    store(func, &loop->body, output, to, hdst__ir_var(func, e), value_of(func, user, hdst__ir_var(func, e)));
    hdst__ir_push(func, &func->body, loop);
}

typedef struct part { uint32_t leaf; uint64_t element; } part;      // of the input: from this element on

static ir_expr *part_value(ir_func *func, const void *user, ir_expr *e)
{
    const part *from = user;
    const hdst__leaf *leaf = &func->params[0].record->leaves[from->leaf];
    ir_expr *value = leaf_expr(func, IR_FIELD, 0, from->leaf, leaf->kind), *first = hdst__ir_const(func, HDST__U32, from->element);
    if (leaf->elements > 1) value->a = !e ? first : from->element ? hdst__ir_binary(func, IR_ADD, HDST__U32, e, first) : e;
    return value;
}

// Output leaf `to` = input leaf `from`, all elements.
static void copy_leaf(ir_func *func, uint32_t output, uint32_t to, uint32_t from) { store_leaf(func, output, to, part_value, &(part){from, 0}); }

static uint32_t add_broadcast(ir_func *func, const char *name)
{
    const hdst__record *record = hdst__number_record(func->arena, HDST__U64);
    return hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = name, .bind = name, .record = record});
}

ir_func *hdst__operator_range(hdst__arena *arena, const hdst__record *nothing, const hdst__record *to)
{
    ir_func *func = hdst__operator_new_func(arena, "range", nothing);
    const uint32_t begin = add_broadcast(func, "begin"), output = add_output(func, to);
    ir_expr *number =
        hdst__ir_binary(func, IR_ADD, HDST__U64, leaf_expr(func, IR_RECORD_INDEX, 0, 0, HDST__U64), leaf_expr(func, IR_BROADCAST, begin, 0, HDST__U64));
    store(func, &func->body, output, 0, NULL, hdst__ir_convert(func, HDST__I64, number));
    return func;
}

ir_func *hdst__operator_zip(hdst__arena *arena, const hdst__record *from, const hdst__record *to)
{
    ir_func *func = hdst__operator_new_func(arena, "zip_with_index", from);
    uint32_t output = add_output(func, to);
    store(func, &func->body, output, 0, NULL, leaf_expr(func, IR_RECORD_INDEX, 0, 0, HDST__U64));
    for (uint32_t i = 0; i < from->leaf_count; i++) copy_leaf(func, output, i + 1, i);
    return func;
}

ir_func *hdst__operator_field(hdst__arena *arena, const hdst__record *from, const hdst__record *to, uint32_t leaf)
{
    ir_func *func = hdst__operator_new_func(arena, "field", from);
    copy_leaf(func, add_output(func, to), 0, leaf);
    return func;
}

ir_func *hdst__operator_ones(hdst__arena *arena, const hdst__record *from, const hdst__record *to, bool (*is_key)(const hdst__record *record, uint32_t leaf))
{
    ir_func *func = hdst__operator_new_func(arena, "count_by_key", from);
    uint32_t output = add_output(func, to), next = 0;
    for (uint32_t i = 0; i < from->leaf_count; i++)
        if (is_key(from, i)) copy_leaf(func, output, next++, i);
    store(func, &func->body, output, next, NULL, u64(func, 1));
    return func;
}

static ir_expr *zero_value(ir_func *func, const void *user, ir_expr *e)
{
    (void)e;
    return hdst__ir_const(func, *(const hdst__kind *)user, 0);
}

ir_func *hdst__operator_one_side(hdst__arena *arena, const hdst__record *from, const hdst__record *to, const hdst__one_side *side)
{
    ir_func *func = hdst__operator_new_func(arena, "one_side", from);
    const uint32_t output = add_output(func, to);
    for (uint32_t i = 0; i < side->key_count; i++) store_leaf(func, output, i, part_value, &(part){side->key_leaf[i], side->key_element[i]});
    store(func, &func->body, output, side->key_count, NULL, hdst__ir_const(func, HDST__BOOL, side->is_right));
    for (uint32_t i = side->key_count + 1; i < to->leaf_count; i++)
        if (i < side->first || i - side->first >= from->leaf_count) store_leaf(func, output, i, zero_value, &to->leaves[i].kind);
    for (uint32_t i = 0; i < from->leaf_count; i++) copy_leaf(func, output, side->first + i, i);
    return func;
}

// A table that accumulates; every leaf with the operation of `ops` (NULL: sums).
static uint32_t add_accum(ir_func *func, const char *name, const hdst__record *record, bool is_table, const ir_param *like)
{
    ir_param param = {.kind = IR_ACCUM_TABLE, .name = name, .bind = name, .record = record, .is_table = is_table};
    param.leaf_op = HDST__NEW_ARRAY(func->arena, hdst__accumulate_op, record->leaf_count);
    param.leaf_from_float = HDST__NEW_ARRAY(func->arena, bool, record->leaf_count);
    for (size_t i = 0; like && i < record->leaf_count; i++) {
        param.leaf_op[i] = like->leaf_op[i];
        param.leaf_from_float[i] = like->leaf_from_float[i];
    }
    return hdst__ir_add_param(func, param);
}

static ir_func *add_ones(hdst__arena *arena, const char *name, const hdst__record *record)
{
    ir_func *func = hdst__operator_new_func(arena, name, record);
    ir_stmt *add = hdst__ir_stmt(func, IR_ACCUM, (hdst__span){0});
    add->param = add_accum(func, "count", hdst__number_record(arena, HDST__U64), false, NULL);
    add->acc = HDST__SUM;
    add->value = u64(func, 1);
    hdst__ir_push(func, &func->body, add);
    return func;
}

ir_func *hdst__operator_count(hdst__arena *arena, const hdst__record *record) { return add_ones(arena, "count", record); }
ir_func *hdst__operator_tally(hdst__arena *arena, const hdst__record *keyed) { return add_ones(arena, "tally", keyed); }

// --- Samples ---

enum { PHILOX_ROUNDS = 10 };
static const uint64_t philox_multiplier[2] = {0xD2511F53, 0xCD9E8D57}, philox_weyl[2] = {0x9E3779B9, 0xBB67AE85};

static uint32_t set(ir_func *func, const char *name, hdst__kind kind, ir_expr *value)
{
    uint32_t var = hdst__ir_add_var(func, name, kind, 0);
    hdst__ir_push(func, &func->body, hdst__ir_set(func, var, value));
    return var;
}

static ir_expr *low_word(ir_func *func, ir_expr *e) { return hdst__ir_convert(func, HDST__U32, e); }

static ir_expr *high_word(ir_func *func, ir_expr *e)
{
    return hdst__ir_convert(func, HDST__U32, hdst__ir_binary(func, IR_SHR, HDST__U64, e, hdst__ir_const(func, HDST__U32, 32)));
}

static ir_expr *xor3(ir_func *func, ir_expr *a, uint32_t b, ir_expr *key)
{
    return hdst__ir_binary(func, IR_XOR, HDST__U32, hdst__ir_binary(func, IR_XOR, HDST__U32, a, hdst__ir_var(func, b)), key);
}

// One round of Philox: two 32 x 32 bit products are swapped and mixed with the other words and the key.
static void philox_round(ir_func *func, uint32_t word[4], const uint32_t key[2], uint32_t round)
{
    uint32_t product[2];
    ir_expr *k[2];
    for (uint32_t i = 0; i < 2; i++) {
        ir_expr *wide = hdst__ir_convert(func, HDST__U64, hdst__ir_var(func, word[2 * i]));
        product[i] = set(func, "product", HDST__U64, hdst__ir_binary(func, IR_MUL, HDST__U64, wide, u64(func, philox_multiplier[i])));
        ir_expr *weyl = hdst__ir_const(func, HDST__U32, (uint32_t)(philox_weyl[i] * round));
        k[i] = hdst__ir_binary(func, IR_ADD, HDST__U32, hdst__ir_var(func, key[i]), weyl);
    }
    uint32_t next[4];
    next[0] = set(func, "word", HDST__U32, xor3(func, high_word(func, hdst__ir_var(func, product[1])), word[1], k[0]));
    next[1] = set(func, "word", HDST__U32, low_word(func, hdst__ir_var(func, product[1])));
    next[2] = set(func, "word", HDST__U32, xor3(func, high_word(func, hdst__ir_var(func, product[0])), word[3], k[1]));
    next[3] = set(func, "word", HDST__U32, low_word(func, hdst__ir_var(func, product[0])));
    for (uint32_t i = 0; i < 4; i++) word[i] = next[i];
}

ir_func *hdst__operator_sample(hdst__arena *arena, const hdst__record *record)
{
    ir_func *func = hdst__operator_new_func(arena, "sample", record);
    uint32_t seed_param = add_broadcast(func, "seed"), limit_param = add_broadcast(func, "limit");
    uint32_t index = set(func, "index", HDST__U64, leaf_expr(func, IR_RECORD_INDEX, 0, 0, HDST__U64));
    uint32_t seed = set(func, "seed", HDST__U64, leaf_expr(func, IR_BROADCAST, seed_param, 0, HDST__U64));
    const uint32_t key[2] = {set(func, "key", HDST__U32, low_word(func, hdst__ir_var(func, seed))),
                             set(func, "key", HDST__U32, high_word(func, hdst__ir_var(func, seed)))};
    uint32_t zero = set(func, "zero", HDST__U32, hdst__ir_const(func, HDST__U32, 0));
    uint32_t word[4] = {set(func, "word", HDST__U32, low_word(func, hdst__ir_var(func, index))),
                        set(func, "word", HDST__U32, high_word(func, hdst__ir_var(func, index))), zero, zero};
    for (uint32_t round = 0; round < PHILOX_ROUNDS; round++) philox_round(func, word, key, round);
    ir_expr *upper =
        hdst__ir_binary(func, IR_SHL, HDST__U64, hdst__ir_convert(func, HDST__U64, hdst__ir_var(func, word[1])), hdst__ir_const(func, HDST__U32, 31));
    ir_expr *lower =
        hdst__ir_convert(func, HDST__U64, hdst__ir_binary(func, IR_SHR, HDST__U32, hdst__ir_var(func, word[0]), hdst__ir_const(func, HDST__U32, 1)));
    ir_expr *random = hdst__ir_binary(func, IR_OR, HDST__U64, upper, lower);
    ir_stmt *emit = hdst__ir_stmt(func, IR_EMIT, (hdst__span){0});
    emit->check = hdst__ir_add_check(func, (ir_check){.kind = IR_CHECK_EMIT, .what = "sample"});
    emit->cond = hdst__ir_binary(func, IR_LT, HDST__BOOL, random, leaf_expr(func, IR_BROADCAST, limit_param, 0, HDST__U64));
    hdst__ir_push(func, &func->body, emit);
    func->emits = true;
    return func;
}

// --- Reduces by a dense key ---

typedef struct dense {
    ir_func *func;
    uint32_t key_leaf, table;
    ir_expr *row;
} dense;

// The leaf of the keyed record that is leaf `leaf` of the reduce's values: the key is skipped.
static bool renumber_value(ir_expr **slot, void *user)
{
    const dense *d = user;
    ir_expr *e = *slot;
    if (e->op == IR_FIELD && e->leaf >= d->key_leaf) e->leaf++;
    return true;
}

// if (key >= limit) fail. The condition that it holds; *key: the variable.
static ir_expr *check_key(ir_func *func, uint32_t key_leaf, const ir_expr *limit, hdst__span span, const hdst__diags *diags, uint32_t *key)
{
    const hdst__leaf *leaf = &func->params[0].record->leaves[key_leaf];
    *key = set(func, "key", HDST__U64, hdst__ir_convert(func, HDST__U64, leaf_expr(func, IR_FIELD, 0, key_leaf, leaf->kind)));
    ir_expr *inside = hdst__ir_binary(func, IR_LT, HDST__BOOL, hdst__ir_var(func, *key), hdst__ir_copy(func, limit));
    ir_stmt *check = hdst__ir_stmt(func, IR_CHECK, span);
    check->check = hdst__ir_add_check(func, (ir_check){hdst__kind_is_signed(leaf->kind) ? IR_CHECK_KEY : IR_CHECK_UNSIGNED_KEY, span, leaf->path, diags});
    check->cond = inside;
    check->index = hdst__ir_var(func, *key);
    check->index2 = hdst__ir_copy(func, limit);
    hdst__ir_push(func, &func->body, check);
    return inside;
}

// if (key >= len(result)) fail; the row is 0 then.
static ir_expr *checked_row(dense *d, hdst__span span, const hdst__diags *diags)
{
    ir_func *func = d->func;
    uint32_t key;
    const ir_expr *inside = check_key(func, d->key_leaf, leaf_expr(func, IR_LENGTH, d->table, 0, HDST__U64), span, diags, &key);
    uint32_t row = set(func, "row", HDST__U64, hdst__ir_select(func, hdst__ir_copy(func, inside), hdst__ir_var(func, key), u64(func, 0)));
    return hdst__ir_var(func, row);
}

ir_func *hdst__operator_key_in_range(hdst__arena *arena, const hdst__record *keyed, uint32_t key, hdst__span span, const hdst__diags *diags)
{
    ir_func *func = hdst__operator_new_func(arena, "key_in_range", keyed);
    const uint32_t rows = add_broadcast(func, "rows"), output = add_output(func, keyed);
    uint32_t checked;
    func->diags = diags;
    check_key(func, key, leaf_expr(func, IR_BROADCAST, rows, 0, HDST__U64), span, diags, &checked);
    for (uint32_t i = 0; i < keyed->leaf_count; i++) copy_leaf(func, output, i, i);
    return func;
}

// What `reduce` adds to its only row goes to the row of the key. Its body is accumulations and nothing else.
static void add_to_row(dense *d, const ir_func *reduce)
{
    ir_block body = hdst__ir_copy_block(d->func, &reduce->body);
    hdst__ir_visit_exprs(&body, renumber_value, d);
    for (size_t i = 0; i < body.count; i++) {
        body.items[i]->param = d->table;
        body.items[i]->index = hdst__ir_copy(d->func, d->row);
        hdst__ir_push(d->func, &d->func->body, body.items[i]);
    }
}

ir_func *hdst__operator_dense(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, uint32_t key, hdst__span span, const hdst__diags *diags)
{
    dense d = {.func = hdst__operator_new_func(arena, reduce->name, keyed), .key_leaf = key};
    const ir_param *result = &reduce->params[1];
    d.func->diags = diags;
    d.table = add_accum(d.func, "result", result->record, true, result);
    d.row = checked_row(&d, span, diags);
    add_to_row(&d, reduce);
    return d.func;
}

ir_func *hdst__operator_arranged(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, uint32_t key)
{
    dense d = {.func = hdst__operator_new_func(arena, reduce->name, keyed), .key_leaf = key};
    const ir_param numbers = {.kind = IR_BROADCAST_TABLE, .name = "numbers", .bind = "numbers", .is_table = true, .is_lookup = true, .numbers_keys = true,
                              .record = hdst__number_record(arena, HDST__U32)};
    ir_expr *number = leaf_expr(d.func, IR_BROADCAST, hdst__ir_add_param(d.func, numbers), 0, HDST__U32);
    number->a = leaf_expr(d.func, IR_RECORD_INDEX, 0, 0, HDST__U64);
    d.table = add_accum(d.func, "result", reduce->params[1].record, true, &reduce->params[1]);
    d.row = hdst__ir_convert(d.func, HDST__U64, number);
    add_to_row(&d, reduce);
    return d.func;
}

// --- Records whose value is between two limits ---

static uint32_t add_limit(ir_func *func, const char *name, hdst__kind kind)
{
    const hdst__record *record = hdst__number_record(func->arena, kind);
    return hdst__ir_add_param(func, (ir_param){.kind = IR_BROADCAST_TABLE, .name = name, .bind = name, .record = record});
}

static hdst__kind threshold_kind(const hdst__leaf *leaf)
{
    return leaf->kind == HDST__BOOL ? HDST__U32 : leaf->kind == HDST__TEXT ? HDST__U64 : leaf->kind;
}

// (value >> by & mask) | (value & mask) << by
static ir_expr *swapped(ir_func *func, ir_expr *value, uint64_t by, uint64_t mask)
{
    const uint32_t var = set(func, "value", HDST__U64, value);
    ir_expr *high = hdst__ir_binary(func, IR_SHR, HDST__U64, hdst__ir_var(func, var), hdst__ir_const(func, HDST__U32, by));
    ir_expr *low = hdst__ir_binary(func, IR_AND, HDST__U64, hdst__ir_var(func, var), hdst__ir_const(func, HDST__U64, mask));
    return hdst__ir_binary(func, IR_OR, HDST__U64, hdst__ir_binary(func, IR_AND, HDST__U64, high, hdst__ir_const(func, HDST__U64, mask)),
                           hdst__ir_binary(func, IR_SHL, HDST__U64, low, hdst__ir_const(func, HDST__U32, by)));
}

// The first 8 bytes of a text as a number that grows with it: the first byte highest.
static ir_expr *text_number(ir_func *func, ir_expr *text)
{
    ir_expr *word = hdst__ir_binary(func, IR_TEXT_WORD, HDST__U64, text, hdst__ir_const(func, HDST__U32, 0));
    word = swapped(func, word, 8, UINT64_C(0x00ff00ff00ff00ff));
    word = swapped(func, word, 16, UINT64_C(0x0000ffff0000ffff));
    return swapped(func, word, 32, UINT64_C(0x00000000ffffffff));
}

// The value in the kind in which it is compared.
static ir_expr *compared(ir_func *func, uint32_t leaf, uint64_t element)
{
    const hdst__leaf *of = &func->params[0].record->leaves[leaf];
    ir_expr *value = leaf_expr(func, IR_FIELD, 0, leaf, of->kind);
    if (of->elements > 1) value->a = hdst__ir_const(func, HDST__U64, element);
    if (of->kind == HDST__TEXT) return text_number(func, value);
    return of->kind == HDST__BOOL ? hdst__ir_convert(func, HDST__U32, value) : value;
}

ir_func *hdst__operator_threshold(hdst__arena *arena, const hdst__record *record, uint32_t leaf, uint64_t element)
{
    const hdst__kind kind = threshold_kind(&record->leaves[leaf]);
    ir_func *func = hdst__operator_new_func(arena, "threshold", record);
    const uint32_t low = add_limit(func, "low", kind), high = add_limit(func, "high", kind), all = add_limit(func, "all", HDST__U32);
    const uint32_t value = set(func, "value", kind, compared(func, leaf, element));
    ir_expr *above = hdst__ir_binary(func, IR_GE, HDST__BOOL, hdst__ir_var(func, value), leaf_expr(func, IR_BROADCAST, low, 0, kind));
    ir_expr *below = hdst__ir_binary(func, IR_LE, HDST__BOOL, hdst__ir_var(func, value), leaf_expr(func, IR_BROADCAST, high, 0, kind));
    ir_expr *any = hdst__ir_binary(func, IR_NE, HDST__BOOL, leaf_expr(func, IR_BROADCAST, all, 0, HDST__U32), hdst__ir_const(func, HDST__U32, 0));
    ir_stmt *emit = hdst__ir_stmt(func, IR_EMIT, (hdst__span){0});
    emit->check = hdst__ir_add_check(func, (ir_check){.kind = IR_CHECK_EMIT, .what = "threshold"});
    emit->cond = hdst__ir_binary(func, IR_OR, HDST__BOOL, hdst__ir_binary(func, IR_AND, HDST__BOOL, above, below), any);
    hdst__ir_push(func, &func->body, emit);
    func->emits = true;
    return func;
}
