// SPDX-License-Identifier: Apache-2.0
// Reads the text that hdst__ir_dump writes (`hdst kernel show --ir`), so that a pass can be tested on IR alone
// (tests/support/ir_text.h).
#include "tests/support/ir_text.h"

#include "tests/support/ir_text_words.h"
#include "codegen/ir/sum_loop.h"

#include <math.h>

// --- Constants ---

static uint64_t float_bits(hdst__kind k, double value)
{
    uint64_t bits = 0;
    const float single = (float)value;
    if (k == HDST__F32) memcpy(&bits, &single, sizeof single);
    else memcpy(&bits, &value, sizeof value);
    return bits;
}

static bool not_a_number(reader *r, hdst__kind *k, uint64_t *bits)
{
    if (accept(r, "nanf")) *k = HDST__F32, *bits = UINT64_C(0x7fc00000);
    else if (accept(r, "nand")) *k = HDST__F64, *bits = UINT64_C(0x7ff8000000000000);
    else return false;
    if (strncmp(r->at, ":0x", 3)) return true;
    char *end;
    *bits = strtoull(r->at + 1, &end, 16);
    r->at = end;
    return true;
}

static hdst__kind suffix(reader *r)
{
    static const struct {
        const char *text;
        hdst__kind kind;
    } suffixes[] = {{"ul", HDST__U64}, {"u8", HDST__U8}, {"u16", HDST__U16}, {"i8", HDST__I8}, {"i16", HDST__I16}, {"u", HDST__U32}, {"l", HDST__I64}};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (*r->at != ' ' && accept(r, suffixes[i].text)) return suffixes[i].kind;
    return HDST__I32;
}

// Whether a constant stands here.
static bool constant(reader *r, hdst__kind *k, uint64_t *bits)
{
    blank(r);
    if (accept(r, "true") || accept(r, "false")) {
        *k = HDST__BOOL;
        *bits = r->at[-2] == 'u';
        return true;
    }
    if (not_a_number(r, k, bits)) return true;
    const bool endless = accept(r, "inff") || accept(r, "-inff") || accept(r, "infd") || accept(r, "-infd");
    if (endless) {
        *k = r->at[-1] == 'f' ? HDST__F32 : HDST__F64;
        *bits = float_bits(*k, r->at[-5] == '-' ? -INFINITY : INFINITY);
        return true;
    }
    if (!isdigit((unsigned char)r->at[*r->at == '-'])) return false;
    char *end, *integer_end;
    const double real = strtod(r->at, &end);
    const bool is_float = *end == 'f' || *end == 'd';
    *bits = *r->at == '-' ? (uint64_t)strtoll(r->at, &integer_end, 10) : strtoull(r->at, &integer_end, 10);
    r->at = is_float ? end + 1 : integer_end;
    *k = is_float ? (*end == 'f' ? HDST__F32 : HDST__F64) : suffix(r);
    if (is_float) *bits = float_bits(*k, real);
    return true;
}

// --- Expressions ---

static ir_expr *expression(reader *r);

static ir_expr *index_in_brackets(reader *r)        // NULL when there are none
{
    if (*r->at != '[') return NULL;
    r->at++;
    ir_expr *e = expression(r);
    expect(r, "]");
    return e;
}

static int find_var(const reader *r, const char *text)
{
    for (size_t i = 0; i < r->func->var_count; i++)
        if (!strcmp(r->func->vars[i].name, text)) return (int)i;
    return -1;
}

static uint32_t var(reader *r, const char *text)
{
    const int found = find_var(r, text);
    if (found < 0) fail(r, hdst__arena_printf(r->arena, "no variable '%s'", text));
    return (uint32_t)found;
}

// .path[element] behind a parameter and its row
static uint32_t leaf(reader *r, uint32_t of, ir_expr **element)
{
    expect(r, ".");
    const int found = hdst__record_leaf(r->func->params[of].record, name(r, true));
    if (found < 0) fail(r, "no such leaf before");
    *element = index_in_brackets(r);
    return (uint32_t)found;
}

static ir_expr *varying_of_operands(ir_expr *e)
{
    e->varying |= (e->a && e->a->varying) || (e->b && e->b->varying) || (e->c && e->c->varying);
    return e;
}

static ir_expr *new_expr(reader *r, ir_op op, hdst__kind k)
{
    ir_expr *e = hdst__ir_const(r->func, k, 0);
    e->op = op;
    e->span = nowhere;
    return e;
}

static ir_expr *read_leaf(reader *r, const char *text, ir_expr *row)
{
    const uint32_t of = param(r, text);
    ir_expr *element;
    const uint32_t l = leaf(r, of, &element);
    const bool is_input = r->func->params[of].kind == IR_INPUT;
    ir_expr *e = new_expr(r, is_input ? IR_FIELD : IR_BROADCAST, r->func->params[of].record->leaves[l].kind);
    e->param = of;
    e->leaf = l;
    e->a = is_input ? element : row;
    e->b = is_input ? NULL : element;
    e->varying = is_input;
    return varying_of_operands(e);
}

static hdst__kind result_kind(ir_op op, const ir_expr *a, const ir_expr *b)
{
    if (op == IR_ISNAN || (op >= IR_LT && op <= IR_NE)) return HDST__BOOL;
    if (op == IR_RECORD_INDEX || op == IR_KEY_MIN || op == IR_KEY_MAX) return HDST__U64;
    return op == IR_SELECT && b ? b->kind : a ? a->kind : HDST__BOOL;
}

static void operands(reader *r, ir_expr *e)
{
    ir_expr **to[] = {&e->a, &e->b, &e->c};
    for (int i = 0; i < 3 && !accept(r, ")"); i++) {
        if (i) expect(r, ",");
        *to[i] = expression(r);
        if (i == 2) expect(r, ")");
    }
    varying_of_operands(e);
}

// fixed(t.x, v), fixed1(t.x, v), fits(t.x, v)
static ir_expr *cell_call(reader *r, const char *text)
{
    ir_expr *e = new_expr(r, !strcmp(text, "fits") ? IR_FITS : IR_FIXED, !strcmp(text, "fits") ? HDST__BOOL : HDST__I64), *element;
    e->bits = !strcmp(text, "fixed1");
    e->param = param(r, name(r, false));
    e->leaf = leaf(r, e->param, &element);
    expect(r, ",");
    e->a = expression(r);
    expect(r, ")");
    return varying_of_operands(e);
}

static ir_expr *call(reader *r, const char *text)       // its "(" is read
{
    if (!strcmp(text, "fits") || !strcmp(text, "fixed") || !strcmp(text, "fixed1")) return cell_call(r, text);
    const bool loose = !strncmp(text, "loose_", 6), cast = (loose && kind_of(text + 6) >= 0) || (!strncmp(text, "as_", 3) && kind_of(text + 3) >= 0);
    const int to = kind_of(cast ? text + (loose ? 6 : 3) : text);
    if (!strcmp(text, "length")) {
        ir_expr *e = new_expr(r, IR_LENGTH, HDST__U64);
        e->param = param(r, name(r, false));
        expect(r, ")");
        return e;
    }
    ir_expr *e = new_expr(r, cast ? IR_BITCAST : to >= 0 ? IR_CONVERT : op_of(r, text), HDST__BOOL);
    operands(r, e);
    if (cast && loose) e->bits = IR_ANY_NAN;
    e->kind = to >= 0 ? (hdst__kind)to : result_kind(e->op, e->a, e->b);
    e->varying |= e->op == IR_RECORD_INDEX;
    return e;
}

static ir_expr *expression(reader *r)
{
    hdst__kind k;
    uint64_t bits;
    if (constant(r, &k, &bits)) return hdst__ir_const(r->func, k, bits);
    const char *text = name(r, false);
    if (*r->at == '(') {
        r->at++;
        return call(r, text);
    }
    if (*r->at == '.') return read_leaf(r, text, NULL);
    ir_expr *index = index_in_brackets(r);
    if (*r->at == '.') return read_leaf(r, text, index);
    ir_expr *e = hdst__ir_var(r->func, var(r, text));
    e->op = index ? IR_ELEM : IR_VAR;
    e->a = index;
    return varying_of_operands(e);
}

// --- Statements ---

static void statements(reader *r, ir_block *block);

static void nested(reader *r, ir_block *block)
{
    expect(r, "{");
    end_line(r);
    statements(r, block);
    expect(r, "}");
}

static hdst__accumulate_op law(reader *r)
{
    static const char *const texts[] = {[HDST__SUM] = "+=", [HDST__MIN] = "min=", [HDST__MAX] = "max=",
        [HDST__AND] = "&=", [HDST__OR] = "|=", [HDST__XOR] = "^="};
    for (int i = 0; i <= HDST__XOR; i++)
        if (accept(r, texts[i])) return (hdst__accumulate_op)i;
    fail(r, "an operator is missing");
}

static void target(reader *r, ir_stmt *s)           // t[row].leaf[element]
{
    s->param = param(r, name(r, false));
    s->index = index_in_brackets(r);
    s->leaf = leaf(r, s->param, &s->index2);
}

static void read_if(reader *r, ir_stmt *s)
{
    s->cond = expression(r);
    nested(r, &s->then);
    if (accept(r, "else")) nested(r, &s->otherwise);
}

static void read_for(reader *r, ir_stmt *s)
{
    s->var = var(r, name(r, false));
    expect(r, "=");
    s->lo = expression(r);
    expect(r, "to");
    s->hi = expression(r);
    s->step = accept(r, "step") ? whole(r) : 1;
    if (accept(r, "jammed")) s->unroll = (uint32_t)whole(r);
    if (accept(r, "unroll")) s->unroll_hint = (uint32_t)whole(r);
    s->vectorize = accept(r, "vectorize");
    s->masked = s->vectorize && accept(r, "masked");
    if (accept(r, "tile")) s->tile = ir_text_tile(r);
    if (accept(r, "product")) s->product = ir_text_product(r);
    nested(r, &s->body);
}

static void read_loop(reader *r, ir_stmt *s)
{
    if (accept(r, "head")) nested(r, &s->head);
    expect(r, "while");
    if (accept(r, "true {")) r->at--;
    else if (accept(r, "true most")) s->hi = expression(r);
    else s->cond = expression(r);
    if (s->cond && accept(r, "most")) s->hi = expression(r);
    nested(r, &s->body);
    if (accept(r, "step")) nested(r, &s->after);
}

static void read_store(reader *r, ir_stmt *s)
{
    target(r, s);
    s->index = s->index2;
    s->index2 = NULL;
    expect(r, "=");
    s->value = expression(r);
    if (accept(r, "where")) s->cond = expression(r);
}

static void read_prefetch(reader *r, ir_stmt *s)
{
    s->param = param(r, name(r, false));
    s->index = index_in_brackets(r);
}

static void read_words(reader *r, ir_stmt *s)
{
    target(r, s);
    expect(r, "word");
    s->word = (uint32_t)whole(r);
    expect(r, "takes");
    s->value = expression(r);
}

static void read_check(reader *r, ir_stmt *s)
{
    s->check = (uint32_t)whole(r);
    expect(r, ":");
    s->cond = expression(r);
    if (accept(r, "of")) {
        s->index = expression(r);
        expect(r, ",");
        s->index2 = expression(r);
    } else if (!r->func->block && s->cond->op == IR_LT && s->check < r->func->check_count && r->func->checks[s->check].kind != IR_CHECK_DIVISION) {
        s->index = hdst__ir_copy(r->func, s->cond->a);
        s->index2 = hdst__ir_copy(r->func, s->cond->b);
    }
}

static void read_records(reader *r, ir_stmt *s)
{
    s->vectorize = accept(r, "vectorize");
    blank(r);
    if (s->vectorize && isdigit((unsigned char)*r->at)) {
        s->lanes = (uint32_t)whole(r);
        expect(r, "by");
        s->interleave = (uint32_t)whole(r);
    }
    if (accept(r, "(")) {
        const char *end = strstr(r->at, ") {\n");
        if (!end) fail(r, "a reason has no end");
        s->scalar_why = hdst__arena_strndup(r->arena, r->at, (size_t)(end - r->at));
        r->at = end + 1;
    }
    if (accept(r, "beside joint")) s->joint = (uint32_t)whole(r);
    nested(r, &s->body);
}

static void read_sum(reader *r, ir_stmt *s)
{
    target(r, s);
    s->acc = law(r);
    s->value = expression(r);
}

static void read_accum(reader *r, ir_stmt *s)
{
    read_sum(r, s);
    if (accept(r, "by loop")) s->sum_loop = (uint32_t)whole(r);
    if (accept(r, "in register")) s->home = IR_HOME_REGISTER, s->home_register = (uint32_t)whole(r);
    else if (accept(r, "in tile")) s->home = IR_HOME_TILE;
    if (accept(r, "joint")) s->joint = (uint32_t)whole(r);
}

static void read_reduce(reader *r, ir_stmt *s)
{
    s->var = var(r, name(r, false));
    s->acc = law(r);
    s->value = expression(r);
}

static void read_emit(reader *r, ir_stmt *s)
{
    blank(r);
    if (*r->at != '\n' && strncmp(r->at, "if ", 3)) s->value = expression(r);
    if (accept(r, "if")) s->cond = expression(r);
    s->check = UINT32_MAX;
    r->func->emits = true;
}

static void read_nothing(reader *r, ir_stmt *s) { (void)r, (void)s; }

static const struct {
    const char *word;
    ir_stmt_kind kind;
    void (*read)(reader *, ir_stmt *);
} forms[] = {
    {"if", IR_IF, read_if}, {"for", IR_FOR, read_for}, {"loop", IR_LOOP, read_loop},
    {"prefetch", IR_PREFETCH, read_prefetch}, {"break", IR_BREAK, read_nothing}, {"continue", IR_CONTINUE, read_nothing},
    {"return", IR_RETURN, read_nothing}, {"accum", IR_ACCUM, read_accum}, {"store", IR_STORE, read_store},
    {"emit", IR_EMIT, read_emit}, {"check", IR_CHECK, read_check}, {"records", IR_RECORDS, read_records},
    {"reduce", IR_REDUCE, read_reduce}, {"words", IR_ACCUM_WORDS, read_words}, {"superaccumulator", IR_ACCUM_SUPERACCUMULATOR, read_sum},
    {"block", IR_ACCUM_BLOCK, read_accum},
};

static ir_stmt *assignment(reader *r)
{
    ir_stmt *s = hdst__ir_stmt(r->func, IR_SET, nowhere);
    s->var = var(r, name(r, false));
    s->index = index_in_brackets(r);
    if (s->index) s->kind = IR_SET_ELEM;
    expect(r, "=");
    s->value = expression(r);
    return s;
}

static ir_stmt *statement(reader *r)
{
    const size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    if (r->at[length] == '[' || !strncmp(r->at + length, " = ", 3)) return assignment(r);       // a variable may be called `emit`
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!accept(r, forms[i].word)) continue;
        ir_stmt *s = hdst__ir_stmt(r->func, forms[i].kind, nowhere);
        forms[i].read(r, s);
        return s;
    }
    fail(r, "no such statement");
}

static void statements(reader *r, ir_block *block)
{
    for (blank(r); *r->at != '}'; end_line(r)) hdst__ir_push(r->func, block, statement(r));
}

// --- What stands before the body ---

enum { MOST_LEAVES = 64, MOST_SUM_LOOPS = 16 };

static bool is_scalar_name(const char *text)
{
    for (int k = 0; k < HDST__TEXT; k++)
        if (!strcmp(text, hdst__scalar_c_name((hdst__kind)k))) return true;
    return false;
}

// {f32 x[2], f64 d of float, u32 n max}
static const hdst__record *read_record(reader *r, const char *called, hdst__accumulate_op *laws, bool *from_float)
{
    static const char *const words[] = {"", "min", "max", "and", "or", "xor"};
    hdst__record *record = HDST__NEW(r->arena, hdst__record);
    hdst__field fields[MOST_LEAVES];
    size_t count = 0;
    expect(r, "{");
    do {
        if (count == MOST_LEAVES) fail(r, "too many leaves");
        const hdst__type *type = hdst__type_scalar(kind(r));
        fields[count] = (hdst__field){.name = name(r, true)};
        if (accept(r, "[")) {
            type = hdst__type_array(r->arena, type, whole(r));
            expect(r, "]");
        }
        fields[count].type = type;
        from_float[count] = accept(r, "of float");
        for (int l = 1; l <= HDST__XOR; l++)
            if (accept(r, words[l])) laws[count] = (hdst__accumulate_op)l;
        count++;
    } while (accept(r, ","));
    expect(r, "}");
    *record = (hdst__record){.name = called, .fields = fields, .field_count = count, .is_scalar = is_scalar_name(called)};
    const char *why;
    if (!hdst__record_finish(r->arena, record, &why)) fail(r, why);
    return record;
}

static bool *read_used(reader *r, const hdst__record *record)
{
    bool *used = HDST__NEW_ARRAY(r->arena, bool, record->leaf_count);
    for (blank(r); *r->at != '\n'; blank(r)) {
        const int found = hdst__record_leaf(record, name(r, true));
        if (found < 0) fail(r, "no such leaf before");
        used[found] = true;
    }
    return used;
}

static ir_param *read_param(reader *r, ir_param_kind k)
{
    const char *record_name = name(r, false);
    ir_param p = {.kind = k, .name = name(r, false)};
    p.bind = p.name;
    p.is_table = accept(r, "[]");
    hdst__accumulate_op *laws = HDST__NEW_ARRAY(r->arena, hdst__accumulate_op, MOST_LEAVES);
    bool *from_float = HDST__NEW_ARRAY(r->arena, bool, MOST_LEAVES);
    p.record = read_record(r, record_name, laws, from_float);
    if (k == IR_ACCUM_TABLE) p.leaf_op = laws, p.leaf_from_float = from_float;
    if (accept(r, "reads")) p.leaf_used = read_used(r, p.record);
    return &r->func->params[hdst__ir_add_param(r->func, p)];
}

static const uint64_t *read_init(reader *r, hdst__kind k, uint64_t elements)
{
    uint64_t *init = HDST__NEW_ARRAY(r->arena, uint64_t, elements);
    expect(r, "{");
    for (uint64_t i = 0; i < elements; i++) {
        hdst__kind found;
        if (i) expect(r, ",");
        if (!constant(r, &found, &init[i]) || found != k) fail(r, "a constant of another type");
    }
    expect(r, "}");
    return init;
}

static void read_var(reader *r)
{
    ir_var v = {.kind = kind(r)};
    v.name = name(r, false);
    if (accept(r, "[")) {
        v.elements = whole(r);
        expect(r, "]");
    }
    if (accept(r, "const")) v.init = read_init(r, v.kind, v.elements);
    v.varying = accept(r, "varying");
    v.per_record = accept(r, "per record");
    v.in_tile = accept(r, "in tile");
    HDST__PUSH(r->arena, r->func->vars, r->func->var_count, r->func->var_capacity, v);      // its name is its own already
}

static void read_operands(reader *r, ir_sum_loop *loop)
{
    expect(r, "(");
    do {
        const uint32_t i = loop->operand_count++;
        if (i == HDST__SUM_OPERANDS) fail(r, "too many operands");
        loop->in_input[i] = accept(r, "input");
        const bool each = loop->in_input[i] || accept(r, "block");
        const hdst__kind k = kind(r);
        loop->operand[i] = (ir_var){.kind = k, .name = name(r, false), .varying = each, .per_record = each};
    } while (accept(r, ","));
    expect(r, ")");
}

static void read_sum_loop(reader *r)
{
    ir_func *func = r->func;
    if (whole(r) != func->sum_loop_count || func->sum_loop_count == MOST_SUM_LOOPS) fail(r, "loops are numbered in order");
    if (!func->sum_loops) func->sum_loops = HDST__NEW_ARRAY(r->arena, ir_sum_loop, MOST_SUM_LOOPS);
    ir_sum_loop *loop = &func->sum_loops[func->sum_loop_count++];
    *loop = (ir_sum_loop){.kind = kind(r), .operand = HDST__NEW_ARRAY(r->arena, ir_var, HDST__SUM_OPERANDS),
                          .in_input = HDST__NEW_ARRAY(r->arena, bool, HDST__SUM_OPERANDS)};
    expect(r, "by");
    loop->lanes = (uint32_t)whole(r);
    for (int w = 0; w < IR_SUM_WAYS; w++) loop->ways |= (uint32_t)accept(r, hdst__sum_way_name((ir_sum_way)w)) << w;
    read_operands(r, loop);
    ir_func scope = hdst__sum_loop_scope(func, loop);
    r->func = &scope;
    loop->addend = expression(r);
    r->func = func;
}

static void read_check_kind(reader *r)
{
    static const char *const words[IR_CHECK_KINDS] = {"index", "table index", "division", "emit", "key", "unsigned key", "length", "number",
        "lookup", "text lookup"};
    if (whole(r) != r->func->check_count) fail(r, "checks are numbered in order");
    for (int k = 0; k < IR_CHECK_KINDS; k++) {
        if (!accept(r, words[k])) continue;
        blank(r);
        hdst__ir_add_check(r->func, (ir_check){.kind = (ir_check_kind)k, .span = nowhere, .what = *r->at == '\n' ? NULL : name(r, true)});
        return;
    }
    fail(r, "no such kind of check");
}

static void read_hashed(ir_param *param) { param->is_lookup = param->is_hashed = true; }

static void read_func(reader *r)
{
    static const char *const words[] = {"input", "broadcast", "accum", "output"};
    expect(r, "func");
    r->func->name = name(r, false);
    end_line(r);
    while (!accept(r, "{")) {
        int k = 0;
        while (k < 4 && !accept(r, words[k])) k++;
        if (k < 4) read_param(r, (ir_param_kind)k);
        else if (accept(r, "lookup")) read_param(r, IR_BROADCAST_TABLE)->is_lookup = true;
        else if (accept(r, "hashed")) read_hashed(read_param(r, IR_BROADCAST_TABLE));
        else if (accept(r, "block")) r->func->block = (uint32_t)whole(r);
        else if (accept(r, "rows")) r->func->rows = true;
        else if (accept(r, "place")) ir_text_placement(r);
        else if (accept(r, "tables")) ir_text_tables(r);
        else if (accept(r, "tuples")) ir_text_tuples(r);
        else if (accept(r, "shape")) ir_text_shape(r);
        else if (accept(r, "together")) r->func->together = true;
        else if (accept(r, "emits")) ir_text_output(r);
        else if (accept(r, "var")) read_var(r);
        else if (accept(r, "check")) read_check_kind(r);
        else if (accept(r, "sum loop")) read_sum_loop(r);
        else fail(r, "no such declaration");
        end_line(r);
    }
    end_line(r);
    statements(r, &r->func->body);
    expect(r, "}");
    end_line(r);
}

ir_func *ir_text_read(hdst__arena *arena, const char *text, const char **wrong)
{
    reader r = {.arena = arena, .func = HDST__NEW(arena, ir_func), .at = text, .line = 1, .wrong = wrong};
    r.func->arena = arena;
    if (setjmp(r.stop)) return NULL;
    read_func(&r);
    return r.func;
}

const char *ir_text_of(hdst__arena *arena, const ir_func *func)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(func, &text);
    const char *copy = hdst__arena_strdup(arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return copy;
}
