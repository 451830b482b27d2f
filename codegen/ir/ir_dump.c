// SPDX-License-Identifier: Apache-2.0
// IR as text, for people and for tests: `hdst kernel show --ir`. The text says all but places in the source: tests/support/ir_text.c reads it back.
//
//     func assign
//       input point p {f32 x[2]} reads x
//       broadcast center c[] {f32 x[2]}
//       accum total t[] {f32 x[2], u32 n}
//       var u32 best varying
//       check 0 table index c
//     {
//       best = 0u
//       for j = 0u to u32(length(c)) {
//         if lt(d, best_d) {
//           best_d = d
//         }
//       }
//       accum t[best].x[0] += p.x[0]
//     }
#include "codegen/ir/sum_loop.h"

#include "codegen/ir/text_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct dumper {
    const ir_func *func;
    hdst__buffer *out;
    int depth;
} dumper;

static const char *const op_names[] = {
    [IR_CONST] = "const", [IR_VAR] = "var", [IR_ELEM] = "elem", [IR_FIELD] = "field", [IR_BROADCAST] = "broadcast", [IR_LENGTH] = "length",
    [IR_RECORD_INDEX] = "record_index", [IR_NEG] = "neg", [IR_BITNOT] = "bitnot", [IR_NOT] = "not", [IR_ABS] = "abs", [IR_SQRT] = "sqrt",
    [IR_CANONICAL] = "canonical", [IR_ISNAN] = "isnan", [IR_CTZ] = "ctz", [IR_ADD] = "add", [IR_SUB] = "sub", [IR_MUL] = "mul",
        [IR_DIV] = "div", [IR_REM] = "rem", [IR_AND] = "and",
    [IR_OR] = "or", [IR_XOR] = "xor", [IR_SHL] = "shl", [IR_SHR] = "shr", [IR_MIN] = "min", [IR_MAX] = "max", [IR_LT] = "lt", [IR_LE] = "le",
    [IR_GT] = "gt", [IR_GE] = "ge", [IR_EQ] = "eq", [IR_NE] = "ne", [IR_FMA] = "fma", [IR_SELECT] = "select", [IR_CONVERT] = "convert",
    [IR_BITCAST] = "bitcast", [IR_TEXT_LENGTH] = "text_length", [IR_TEXT_BYTE] = "text_byte", [IR_TEXT_WORD] = "text_word",
    [IR_TEXT_BITS] = "text_bits",
    [IR_TEXT_SLICE] = "text_slice", [IR_TEXT_TOKENS] = "text_tokens",
    [IR_TEXT_VIEW] = "text_view", [IR_GROUP_VALUE] = "group_value",
    [IR_FIXED] = "fixed", [IR_FITS] = "fits", [IR_KEY_MIN] = "key_min", [IR_KEY_MAX] = "key_max",
};

static const char *const stmt_names[] = {
    [IR_SET] = "set", [IR_SET_ELEM] = "set_elem", [IR_IF] = "if", [IR_FOR] = "for", [IR_LOOP] = "loop", [IR_BREAK] = "break",
    [IR_CONTINUE] = "continue", [IR_RETURN] = "return", [IR_ACCUM] = "accum", [IR_STORE] = "store", [IR_EMIT] = "emit",
    [IR_PREFETCH] = "prefetch",
    [IR_CHECK] = "check", [IR_RECORDS] = "records", [IR_REDUCE] = "reduce", [IR_ACCUM_WORDS] = "words", [IR_ACCUM_SUPERACCUMULATOR] = "superaccumulator",
    [IR_ACCUM_BLOCK] = "block",
};

static const char *const place_names[] = {
    [IR_PLACE_GLOBAL] = "global", [IR_PLACE_FIXED_POINT] = "fixed point", [IR_PLACE_REGISTERS] = "registers",
        [IR_PLACE_RUN] = "run", [IR_PLACE_STRIP] = "strip", [IR_PLACE_LOCAL] = "local",
    [IR_PLACE_GROUP] = "group",
};

static const char *const way_names[] = {
    [IR_WAY_WORD] = "word", [IR_WAY_SUPERACCUMULATOR] = "superaccumulator", [IR_WAY_TESTED] = "tested", [IR_WAY_CALLED] = "called",
        [IR_WAY_JOINT] = "joint", [IR_WAY_LEVELS] = "levels", [IR_WAY_PAIR] = "pair", [IR_WAY_OWNED] = "owned",
};

static const char *const kind_names[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "text"};

const char *hdst__ir_op_name(ir_op op) { return op <= IR_KEY_MAX ? op_names[op] : "?"; }
const char *hdst__ir_stmt_name(ir_stmt_kind kind) { return kind <= IR_ACCUM_SUPERACCUMULATOR ? stmt_names[kind] : "?"; }

const char *hdst__ir_place_name(ir_place place) { return place < IR_PLACES ? place_names[place] : "?"; }
const char *hdst__ir_way_name(ir_way way) { return way < IR_WAYS ? way_names[way] : "?"; }

static const char *kind_name(hdst__kind kind) { return (int)kind < HDST__SCALAR_KINDS ? kind_names[kind] : "?"; }

// --- Expressions ---

// Digits that give the number back; a NaN that is not the usual one with its bits.
static void dump_float(hdst__buffer *out, hdst__kind kind, uint64_t bits)
{
    double value;
    uint32_t low = (uint32_t)bits;
    float single;
    memcpy(&value, &bits, sizeof value);
    memcpy(&single, &low, sizeof single);
    if (kind == HDST__F32 ? isnan(single) : isnan(value)) {
        hdst__buffer_printf(out, kind == HDST__F32 ? "nanf" : "nand");
        if (bits != (kind == HDST__F32 ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8000000000000))) hdst__buffer_printf(out, ":0x%" PRIx64, bits);
    } else if (kind == HDST__F32) {
        hdst__buffer_printf(out, "%.9gf", (double)single);
    } else {
        hdst__buffer_printf(out, "%.17gd", value);
    }
}

static void dump_text(hdst__buffer *out, const hdst__text_value *text)
{
    hdst__buffer_puts(out, "\"");
    for (uint32_t i = 0; text && i < text->length; i++) {
        const unsigned char byte = hdst__text_byte(text, i);
        const bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
        hdst__buffer_printf(out, plain ? "%c" : "\\x%02x", byte);
    }
    hdst__buffer_puts(out, "\"");
}

static void dump_const(hdst__buffer *out, hdst__kind kind, uint64_t bits)
{
    if (kind == HDST__BOOL) hdst__buffer_puts(out, bits ? "true" : "false");
    else if (kind == HDST__TEXT) dump_text(out, (const hdst__text_value *)(uintptr_t)bits);
    else if (hdst__kind_is_float(kind)) dump_float(out, kind, bits);
    else if (kind == HDST__I32) hdst__buffer_printf(out, "%" PRId64, (int64_t)bits);
    else if (kind == HDST__U32) hdst__buffer_printf(out, "%" PRIu64 "u", bits);
    else if (kind == HDST__U64) hdst__buffer_printf(out, "%" PRIu64 "ul", bits);
    else if (kind == HDST__I64) hdst__buffer_printf(out, "%" PRId64 "l", (int64_t)bits);
    else hdst__buffer_printf(out, "%" PRId64 "%s", (int64_t)bits, kind_name(kind));     // i8, i16, u8, u16
}

static void dump_expr(dumper *d, const ir_expr *e);

static void dump_index(dumper *d, const ir_expr *index)
{
    if (!index) return;
    hdst__buffer_puts(d->out, "[");
    dump_expr(d, index);
    hdst__buffer_puts(d->out, "]");
}

static const ir_param *param_of(const dumper *d, uint32_t param) { return param < d->func->param_count ? &d->func->params[param] : NULL; }

static void dump_leaf(dumper *d, uint32_t param, const ir_expr *row, uint32_t leaf, const ir_expr *element)
{
    const ir_param *p = param_of(d, param);
    hdst__buffer_puts(d->out, p ? p->name : "?");
    dump_index(d, row);
    bool known = p && leaf < p->record->leaf_count;
    hdst__buffer_printf(d->out, ".%s", known ? p->record->leaves[leaf].path : "?");
    dump_index(d, element);
}

static void dump_call(dumper *d, const char *name, const ir_expr *e)
{
    hdst__buffer_printf(d->out, "%s(", name);
    const ir_expr *operands[] = {e->a, e->b, e->c};
    for (int i = 0; i < 3 && operands[i]; i++) {
        if (i) hdst__buffer_puts(d->out, ", ");
        dump_expr(d, operands[i]);
    }
    hdst__buffer_puts(d->out, ")");
}

static void dump_expr(dumper *d, const ir_expr *e)
{
    switch (e->op) {
    case IR_CONST: dump_const(d->out, e->kind, e->bits); break;
    case IR_VAR: case IR_ELEM:
        hdst__buffer_puts(d->out, e->var < d->func->var_count ? d->func->vars[e->var].name : "?");
        if (e->op == IR_ELEM) dump_index(d, e->a);
        break;
    case IR_FIELD:
        dump_leaf(d, e->param, NULL, e->leaf, e->a);
        if (d->func->lane_records > 1) hdst__buffer_printf(d->out, "@%" PRIu32, e->record);
        break;
    case IR_BROADCAST: dump_leaf(d, e->param, e->a, e->leaf, e->b); break;
    case IR_LENGTH: hdst__buffer_printf(d->out, "length(%s)", param_of(d, e->param) ? param_of(d, e->param)->name : "?"); break;
    case IR_TEXT_VIEW: dump_call(d, e->bits == HDST__TEXT_LOWER ? "lower" : e->bits == HDST__TEXT_UPPER ? "upper" : "as_it_is", e); break;
    case IR_CONVERT: dump_call(d, kind_name(e->kind), e); break;
    case IR_BITCAST: hdst__buffer_puts(d->out, e->bits == IR_ANY_NAN ? "loose_" : "as_"); dump_call(d, kind_name(e->kind), e); break;
    case IR_FIXED: case IR_FITS:        // of the cell that comes first
        hdst__buffer_printf(d->out, "%s%s(", hdst__ir_op_name(e->op), e->bits ? "1" : "");
        dump_leaf(d, e->param, NULL, e->leaf, NULL);
        hdst__buffer_puts(d->out, ", ");
        dump_expr(d, e->a);
        hdst__buffer_puts(d->out, ")");
        break;
    default: dump_call(d, hdst__ir_op_name(e->op), e);
    }
}

// --- Statements ---

static void line(dumper *d, const char *text)
{
    for (int i = 0; i < d->depth; i++) hdst__buffer_puts(d->out, "  ");
    hdst__buffer_puts(d->out, text);
}

static void dump_block(dumper *d, const ir_block *block);

static void dump_body(dumper *d, const ir_block *block)
{
    hdst__buffer_puts(d->out, " {\n");
    d->depth++;
    dump_block(d, block);
    d->depth--;
    line(d, "}");
}

static const char *acc_text(hdst__accumulate_op acc)
{
    static const char *const texts[] = {[HDST__SUM] = " += ", [HDST__MIN] = " min= ", [HDST__MAX] = " max= ", [HDST__AND] = " &= ",
                                        [HDST__OR] = " |= ", [HDST__XOR] = " ^= "};
    return texts[acc];
}

static const char *var_name(const dumper *d, uint32_t var) { return var < d->func->var_count ? d->func->vars[var].name : "?"; }

static void dump_if(dumper *d, const ir_stmt *s)
{
    line(d, "if ");
    dump_expr(d, s->cond);
    dump_body(d, &s->then);
    if (!s->otherwise.count) return;
    hdst__buffer_puts(d->out, " else");
    dump_body(d, &s->otherwise);
}

static void dump_for(dumper *d, const ir_stmt *s)
{
    line(d, "for ");
    hdst__buffer_printf(d->out, "%s = ", var_name(d, s->var));
    dump_expr(d, s->lo);
    hdst__buffer_puts(d->out, " to ");
    dump_expr(d, s->hi);
    if (s->step != 1) hdst__buffer_printf(d->out, " step %" PRIu64, s->step);
    if (s->unroll > 1) hdst__buffer_printf(d->out, " jammed %u", s->unroll);
    if (s->unroll_hint) hdst__buffer_printf(d->out, " unroll %" PRIu32, s->unroll_hint);
    if (s->vectorize) hdst__buffer_puts(d->out, s->masked ? " vectorize masked" : " vectorize");
    if (s->tile) hdst__buffer_printf(d->out, " tile %" PRIu32 " by %" PRIu32, s->tile->records, s->tile->units);
    if (s->tile && s->tile->across) hdst__buffer_printf(d->out, " across %" PRIu32, s->tile->across);
    if (s->product)
        hdst__buffer_printf(d->out, " product %" PRIu32 " by %" PRIu32 " across %" PRIu32 " steps %" PRIu32, s->product->factors, s->product->elements,
                            s->product->across, s->product->steps);
    if (s->product && s->product->beside) hdst__buffer_puts(d->out, " beside");
    dump_body(d, &s->body);
}

static void dump_loop(dumper *d, const ir_stmt *s)
{
    line(d, "loop");
    if (s->head.count) {
        hdst__buffer_puts(d->out, " head");
        dump_body(d, &s->head);
    }
    hdst__buffer_puts(d->out, " while ");
    if (s->cond) dump_expr(d, s->cond);
    else hdst__buffer_puts(d->out, "true");
    if (s->hi) hdst__buffer_puts(d->out, " most ");
    if (s->hi) dump_expr(d, s->hi);
    dump_body(d, &s->body);
    if (!s->after.count) return;
    hdst__buffer_puts(d->out, " step");
    dump_body(d, &s->after);
}

static void dump_target(dumper *d, const char *word, const ir_stmt *s, const char *assign)
{
    line(d, word);
    dump_leaf(d, s->param, s->kind == IR_STORE ? NULL : s->index, s->leaf, s->kind == IR_STORE ? s->index : s->index2);
    hdst__buffer_puts(d->out, assign);
    dump_expr(d, s->value);
}

static void dump_words(dumper *d, const ir_stmt *s)
{
    char word[32];
    snprintf(word, sizeof word, " word %" PRIu32 " takes ", s->word);
    dump_target(d, "words ", s, word);
}

// Most checks are `index < limit`, which says what the message will say; others name the two.
static void dump_check(dumper *d, const ir_stmt *s)
{
    line(d, "check ");
    hdst__buffer_printf(d->out, "%" PRIu32 ": ", s->check);
    dump_expr(d, s->cond);
    if (!s->index || (s->cond->op == IR_LT && hdst__ir_expr_equal(s->cond->a, s->index) && hdst__ir_expr_equal(s->cond->b, s->index2))) return;
    hdst__buffer_puts(d->out, " of ");
    dump_expr(d, s->index);
    hdst__buffer_puts(d->out, ", ");
    dump_expr(d, s->index2);
}

static void dump_stmt(dumper *d, const ir_stmt *s)
{
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: case IR_REDUCE:
        line(d, s->kind == IR_REDUCE ? "reduce " : "");
        hdst__buffer_puts(d->out, var_name(d, s->var));
        if (s->kind == IR_SET_ELEM) dump_index(d, s->index);
        hdst__buffer_puts(d->out, s->kind == IR_REDUCE ? acc_text(s->acc) : " = ");
        dump_expr(d, s->value);
        break;
    case IR_IF: dump_if(d, s); break;
    case IR_FOR: dump_for(d, s); break;
    case IR_LOOP: dump_loop(d, s); break;
    case IR_ACCUM:
        dump_target(d, "accum ", s, acc_text(s->acc));
        if (s->home == IR_HOME_REGISTER) hdst__buffer_printf(d->out, " in register %" PRIu32, s->home_register);
        if (s->home == IR_HOME_TILE) hdst__buffer_puts(d->out, " in tile");
        if (s->joint) hdst__buffer_printf(d->out, " joint %" PRIu32, s->joint);
        break;
    case IR_STORE:
        dump_target(d, "store ", s, " = ");
        if (!s->cond) break;
        hdst__buffer_puts(d->out, " where ");
        dump_expr(d, s->cond);
        break;
    case IR_ACCUM_WORDS: dump_words(d, s); break;
    case IR_ACCUM_SUPERACCUMULATOR: dump_target(d, "superaccumulator ", s, " += "); break;
    case IR_ACCUM_BLOCK:
        dump_target(d, "block ", s, " += ");
        if (d->func->sum_loop_count) hdst__buffer_printf(d->out, " by loop %" PRIu32, s->sum_loop);
        if (s->joint) hdst__buffer_printf(d->out, " joint %" PRIu32, s->joint);
        break;
    case IR_EMIT:
        line(d, "emit");
        if (s->value) hdst__buffer_puts(d->out, " ");
        if (s->value) dump_expr(d, s->value);
        if (s->cond) hdst__buffer_puts(d->out, " if ");
        if (s->cond) dump_expr(d, s->cond);
        break;
    case IR_PREFETCH:
        line(d, "prefetch ");
        hdst__buffer_puts(d->out, d->func->params[s->param].name);
        dump_index(d, s->index);
        break;
    case IR_CHECK: dump_check(d, s); break;
    case IR_RECORDS:
        line(d, s->vectorize ? "records vectorize" : "records");
        if (s->vectorize && s->lanes) hdst__buffer_printf(d->out, " %" PRIu32 " by %" PRIu32, s->lanes, s->interleave);
        if (!s->vectorize && s->scalar_why) hdst__buffer_printf(d->out, " (%s)", s->scalar_why);
        if (s->joint) hdst__buffer_printf(d->out, " beside joint %" PRIu32, s->joint);
        dump_body(d, &s->body);
        break;
    default: line(d, hdst__ir_stmt_name(s->kind));
    }
    hdst__buffer_puts(d->out, "\n");
}

static void dump_block(dumper *d, const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) dump_stmt(d, block->items[i]);
}

// --- Functions ---

// The leaves of its rows, and how an accumulator's add: {f32 x[2], f64 d of float, u32 n max}
static void dump_leaves(const ir_param *p, hdst__buffer *out)
{
    static const char *const laws[] = {[HDST__SUM] = "", [HDST__MIN] = " min", [HDST__MAX] = " max",
        [HDST__AND] = " and", [HDST__OR] = " or", [HDST__XOR] = " xor"};
    for (size_t i = 0; i < p->record->leaf_count; i++) {
        const hdst__leaf *leaf = &p->record->leaves[i];
        hdst__buffer_printf(out, "%s%s %s", i ? ", " : " {", kind_name(leaf->kind), leaf->path);
        if (leaf->dims) hdst__buffer_printf(out, "[%" PRIu64 "]", leaf->elements);
        if (p->leaf_from_float && p->leaf_from_float[i]) hdst__buffer_puts(out, " of float");
        if (p->leaf_op) hdst__buffer_puts(out, laws[p->leaf_op[i]]);
    }
    hdst__buffer_puts(out, "}");
}

static void dump_params(const ir_func *func, hdst__buffer *out)
{
    static const char *const words[] = {"input", "broadcast", "accum", "output"};
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *p = &func->params[i];
        const char *word = p->is_hashed ? "hashed" : p->is_lookup ? "lookup" : words[p->kind];
        hdst__buffer_printf(out, "  %s %s %s%s", word, p->record->name ? p->record->name : "?", p->name, p->is_table ? "[]" : "");
        dump_leaves(p, out);
        if (p->leaf_used) {
            hdst__buffer_puts(out, " reads");
            for (size_t leaf = 0; leaf < p->record->leaf_count; leaf++)
                if (p->leaf_used[leaf]) hdst__buffer_printf(out, " %s", p->record->leaves[leaf].path);
        }
        hdst__buffer_puts(out, "\n");
    }
}

// place t local 5 slots: x joint 0 by 2, n word 4 by 1; of a broadcast: place c local
static void dump_placement(const ir_param *p, hdst__buffer *out)
{
    const bool is_accum = p->kind == IR_ACCUM_TABLE;
    if (!is_accum && p->placement->place == IR_PLACE_GLOBAL) return;
    hdst__buffer_printf(out, "  place %s %s", p->name, hdst__ir_place_name(p->placement->place));
    if (p->placement->slots) hdst__buffer_printf(out, " %" PRIu32 " slots", p->placement->slots);
    if (p->placement->narrow) hdst__buffer_puts(out, " narrow");
    if (p->placement->writes_rows) hdst__buffer_puts(out, " writes rows");
    for (size_t l = 0; is_accum && l < p->record->leaf_count; l++) {
        const ir_leaf_placement *leaf = &p->placement->leaf[l];
        hdst__buffer_printf(out, "%s%s %s", l ? ", " : ": ", p->record->leaves[l].path, hdst__ir_way_name(leaf->way));
        if (p->placement->slots) hdst__buffer_printf(out, " %" PRIu32 " by %" PRIu32, leaf->slot, leaf->slot_words);
        if (leaf->levels[0]) hdst__buffer_puts(out, " blocks of floats");
        if (leaf->levels[1]) hdst__buffer_puts(out, " blocks of doubles");
        if (leaf->fast) hdst__buffer_puts(out, " fast");
        if (leaf->values || leaf->sum || leaf->value) hdst__buffer_printf(out,
            " values %" PRIu32 " of %" PRIu32 " sum %" PRIu32, leaf->value, leaf->values, leaf->sum);
    }
    hdst__buffer_puts(out, "\n");
}

// tables copies 16 shared 8 turns 2 overflow 10 first level tile t of 2
static void dump_tables(const ir_func *func, hdst__buffer *out)
{
    const ir_tables *t = func->tables;
    const struct { const char *what; uint32_t value; } numbers[] = {{"copies", t->copies}, {"shared", t->shared},
        {"turns", t->turns > 1 ? t->turns : 0}, {"overflow", t->overflow_words}, {"lane adds", t->lane_adds}};
    hdst__buffer_puts(out, "  tables");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value) hdst__buffer_printf(out, " %s %" PRIu32, numbers[i].what, numbers[i].value);
    if (t->lane_room) hdst__buffer_puts(out, " lane room");
    if (t->first_level) hdst__buffer_puts(out, " first level");
    if (t->apart) hdst__buffer_puts(out, " apart");
    if (t->has_tile) hdst__buffer_printf(out, " tile %s of %" PRIu32, func->params[t->tile].name, t->tile_words);
    hdst__buffer_puts(out, "\n");
    const ir_tuples *u = &t->tuples;
    if (t->has_tuples)
        hdst__buffer_printf(out,
            "  tuples rows %" PRIu32 " keys %" PRIu32 " low %" PRIu32 " parts %" PRIu32 " values %" PRIu32 " sums %" PRIu32 "\n",
            u->tile_rows, u->key_bits, u->low_bits,
                            u->partitions_high, u->values, u->sums);
}

static void dump_output(ir_output output, hdst__buffer *out)
{
    if (output.way == IR_OUTPUT_BOUNDED) hdst__buffer_printf(out, "  emits bounded %" PRIu64 "\n", output.bound);
    if (output.way == IR_OUTPUT_COUNTED) hdst__buffer_printf(out, "  emits counted%s spare %" PRIu64 "\n", output.at_most ? " at most" : "", output.spare);
}

static void dump_places(const ir_func *func, hdst__buffer *out)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].placement) dump_placement(&func->params[i], out);
    if (func->tables) dump_tables(func, out);
    if (func->shape) hdst__buffer_printf(out, "  shape group %" PRIu32 " records %" PRIu32, func->shape->group, func->shape->records);
    if (func->shape && func->shape->span) hdst__buffer_printf(out, " span %" PRIu32, func->shape->span);
    if (func->shape) hdst__buffer_puts(out, "\n");
    if (func->together) hdst__buffer_puts(out, "  together\n");
    dump_output(hdst__ir_output(func), out);
}

static void dump_vars(const ir_func *func, hdst__buffer *out)
{
    for (size_t i = 0; i < func->var_count; i++) {
        const ir_var *v = &func->vars[i];
        hdst__buffer_printf(out, "  var %s %s", kind_name(v->kind), v->name);
        if (v->elements) hdst__buffer_printf(out, "[%" PRIu64 "]", v->elements);
        for (uint64_t e = 0; v->init && e < v->elements; e++) {
            hdst__buffer_puts(out, e ? ", " : " const {");
            dump_const(out, v->kind, v->init[e]);
        }
        hdst__buffer_printf(out, "%s%s%s", v->init ? "}" : "", v->varying ? " varying" : "", v->per_record ? " per record" : "");
        hdst__buffer_puts(out, v->in_tile ? " in tile\n" : "\n");
    }
}

static void dump_checks(const ir_func *func, hdst__buffer *out)
{
    static const char *const words[IR_CHECK_KINDS] = {"index", "table index", "division", "emit", "key", "unsigned key", "length", "number",
        "lookup", "text lookup"};
    for (size_t i = 0; i < func->check_count; i++)
        hdst__buffer_printf(out, "  check %zu %s %s\n", i, words[func->checks[i].kind], func->checks[i].what ? func->checks[i].what : "");
}

// sum loop 1 f32 by 16 one two three double (input f32 a, block f32 b, f32 c) fma(a, b, c)
static void dump_sum_loop(const ir_func *func, uint32_t number, hdst__buffer *out)
{
    const ir_sum_loop *loop = &func->sum_loops[number];
    hdst__buffer_printf(out, "  sum loop %" PRIu32 " %s by %" PRIu32, number, kind_name(loop->kind), loop->lanes);
    for (int w = 0; w < IR_SUM_WAYS; w++)
        if (loop->ways & 1u << w) hdst__buffer_printf(out, " %s", hdst__sum_way_name((ir_sum_way)w));
    for (uint32_t i = 0; i < loop->operand_count; i++) {
        const ir_var *var = &loop->operand[i];
        const char *where = loop->in_input[i] ? "input " : var->per_record ? "block " : "";
        hdst__buffer_printf(out, "%s%s%s %s", i ? ", " : " (", where, kind_name(var->kind), var->name);
    }
    hdst__buffer_puts(out, ") ");
    const ir_func scope = hdst__sum_loop_scope(func, loop);
    dump_expr(&(dumper){&scope, out, 0}, loop->addend);
    hdst__buffer_puts(out, "\n");
}

void hdst__ir_dump(const ir_func *func, hdst__buffer *out)
{
    hdst__buffer_printf(out, "func %s\n", func->name);
    if (func->block) hdst__buffer_printf(out, "  block %" PRIu32 "\n", func->block);
    if (func->rows) hdst__buffer_puts(out, "  rows\n");
    dump_params(func, out);
    dump_places(func, out);
    dump_vars(func, out);
    dump_checks(func, out);
    for (uint32_t i = 0; i < func->sum_loop_count; i++) dump_sum_loop(func, i, out);
    dumper d = {func, out, 1};
    hdst__buffer_puts(out, "{\n");
    dump_block(&d, &func->body);
    hdst__buffer_puts(out, "}\n");
}
