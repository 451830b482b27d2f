// SPDX-License-Identifier: Apache-2.0
// Random expressions. `depth` bounds the nesting; a value's C text is always something that was computed before, so it may be repeated.
#include "gen.h"

#include <inttypes.h>

// --- Text ---

const char *gen_wrapped(gen *g, gen_value v, int level)      // kernel text of v as an operand that must bind at least as tightly as `level`
{
    return v.level < level || (v.level < LEVEL_LEAF && gen_chance(g, 10)) ? gen_print(g, "(%s)", v.hk) : v.hk;
}

const char *gen_argument(gen_value v) { return v.hk; }

// A temporary of a type that the generator is sure of: gcc must agree with it.
const char *gen_typed(gen *g, diff_kind kind, const char *text)
{
    const char *name = gen_name(g, "t");
    gen_c(g, "_Static_assert(__builtin_types_compatible_p(__typeof__(%s), %s), \"type\"); const %s %s = %s;", text, gen_c_type(kind), gen_c_type(kind), name,
          text);
    return name;
}

const char *gen_temporary(gen *g, diff_kind kind, const char *text)
{
    const char *name = gen_name(g, "t");
    gen_c(g, "const %s %s = %s;", gen_c_type(kind), name, text);
    return name;
}

const char *gen_converted(gen *g, gen_value v, diff_kind kind)
{
    if (v.kind == kind) return v.c;
    if (kind == K_BOOL) return gen_print(g, "(%s != 0)", v.c);
    if (gen_is_float(v.kind) && !gen_is_float(kind)) return gen_print(g, "sat_%s(%s)", gen_suffix(kind), v.c);
    return gen_print(g, "(%s)%s", gen_c_type(kind), v.c);
}

static gen_value value(const char *hk, const char *c, int level, diff_kind kind) { return (gen_value){.hk = hk, .c = c, .level = level, .kind = kind}; }

// --- Leaves ---

gen_value gen_literal(gen *g)
{
    static const uint64_t edges[] = {0, 1, 2, 3, 5, 7, 10, 31, 100, 127, 128, 255, 1000, 32767, 65535, 123456789, INT32_MAX};
    uint64_t v = edges[gen_below(g, sizeof edges / sizeof *edges)];
    const int which = gen_below(g, 10);
    const char *text;
    diff_kind kind = K_I32;
    if (which < 6) {
        text = gen_print(g, gen_chance(g, 20) ? "0x%" PRIx64 : "%" PRIu64, v);
    } else if (which == 6) {
        text = gen_print(g, "%" PRIu64 "u", v = gen_chance(g, 20) ? UINT32_MAX : v);
        kind = K_U32;
    } else if (which == 7) {
        text = gen_print(g, "%" PRIu64 "l", v = gen_chance(g, 20) ? INT64_MAX : v);
        kind = K_I64;
    } else if (which == 8) {
        text = gen_print(g, "%" PRIu64 "ul", v = gen_chance(g, 20) ? UINT64_MAX : v);
        kind = K_U64;
    } else {
        text = gen_chance(g, 50) ? "true" : "false";
        kind = K_BOOL;
    }
    return value(text, kind == K_BOOL ? gen_print(g, "(bool)%s", text) : text, LEVEL_LEAF, kind);
}

static gen_value float_literal(gen *g)
{
    static const char *const texts[] = {"0.0", "1.0", "0.5", "2.0", "3.25", "0.1", "1e-3", "1e10", "7.75e-12", "1e30", "1.17549435e-38", "100.0"};
    const char *text = texts[gen_below(g, sizeof texts / sizeof *texts)];
    if (gen_chance(g, 4)) return value("INFINITY", "INFINITY", LEVEL_LEAF, K_F32);
    if (gen_chance(g, 3)) return value("NAN", "NAN", LEVEL_LEAF, K_F32);
    if (g->options.no_double || gen_chance(g, 60)) return value(gen_print(g, "%sf", text), gen_print(g, "%sf", text), LEVEL_LEAF, K_F32);
    return value(text, text, LEVEL_LEAF, K_F64);
}

// Puts an index below `count` behind both texts.
static void pick(gen *g, const char **hk, const char **c, uint64_t count)
{
    const char *index, *element = gen_index(g, 1, count, NULL, NULL, &index);
    *hk = gen_print(g, "%s[%s]", *hk, element);
    *c = gen_print(g, "%s[%s]", *c, index);
}

// Walks from a symbol down to a scalar.
gen_value gen_inside(gen *g, const gen_symbol *s)
{
    const char *hk = s->hk, *c = s->c, *index;
    diff_kind kind = s->kind;
    uint64_t count = s->count, count2 = 0;
    if (s->table >= 0) {
        const char *row = gen_index(g, 1, g->program->params[s->table].rows, s->hk, gen_print(g, "ctx->rows[%d]", s->table), &index);
        hk = gen_print(g, "%s[%s]", hk, row);
        c = gen_print(g, "%s[%s]", c, index);
        count = 0;
    }
    for (const gen_record *r = s->record; r;) {
        const gen_field *f = &r->field[gen_below(g, r->field_count)];
        hk = gen_print(g, "%s.%s", hk, f->hk);
        c = gen_print(g, "%s.%s", c, f->c);
        kind = f->kind;
        count = f->count;
        count2 = f->count2;
        r = f->record;
        if (r && count) pick(g, &hk, &c, count);
        if (r && count2) pick(g, &hk, &c, count2);
        if (r) count = count2 = 0;
    }
    if (count) pick(g, &hk, &c, count);
    if (count2) pick(g, &hk, &c, count2);
    return value(hk, c, LEVEL_LEAF, kind);
}

bool gen_place(gen *g, bool writable, gen_value *place)
{
    int candidates[64], count = 0;
    for (int i = writable ? GEN_CONSTANTS : 0; i < g->symbol_count; i++)
        if (!writable || g->symbol[i].writable) candidates[count++] = i;
    if (count == 0) return false;
    // What was declared last is read more often, so that results depend on one another and reach the output.
    int chosen = candidates[count > 5 && gen_chance(g, 50) ? count - 1 - gen_below(g, 5) : gen_below(g, count)];
    if (chosen < GEN_CONSTANTS && gen_chance(g, 75)) chosen = candidates[gen_below(g, count)]; // constants: less often than what differs from record to record
    const gen_symbol s = g->symbol[chosen];
    *place = gen_inside(g, &s);
    return true;
}

static gen_value leaf(gen *g)
{
    gen_value place;
    const int which = gen_below(g, 100);
    if (which < 66 && gen_place(g, false, &place)) return place;
    if (which < (g->floating ? 70 : 80)) return gen_literal(g);
    if (which < 94) return float_literal(g);
    if (which < 96 && !g->in_helper && !g->no_index) return value("record_index()", "ctx->record", LEVEL_LEAF, K_U64);
    for (int i = 0; which < 98 && i < g->symbol_count; i++)
        if (g->symbol[i].table >= 0)
            return value(gen_print(g, "len(%s)", g->symbol[i].hk), gen_print(g, "ctx->rows[%d]", g->symbol[i].table), LEVEL_LEAF, K_U64);
    return value(g->four, "((uint32_t)4)", LEVEL_LEAF, K_U32);
}

// --- Operators ---

gen_value gen_cast(gen *g, gen_value v, diff_kind kind)
{
    const char *hk = gen_print(g, "(%s)%s", gen_c_type(kind), gen_wrapped(g, v, LEVEL_UNARY));
    return value(hk, gen_temporary(g, kind, gen_converted(g, v, kind)), LEVEL_UNARY, kind);
}

gen_value gen_integer(gen *g, int depth)
{
    static const diff_kind kinds[] = {K_I8, K_I16, K_I32, K_I64, K_U8, K_U16, K_U32, K_U64};
    const gen_value v = gen_expr(g, depth);
    return gen_is_float(v.kind) ? gen_cast(g, v, kinds[gen_below(g, 8)]) : v;
}

gen_value gen_product(gen *g, gen_value a, gen_value b)
{
    const diff_kind kind = gen_common(a.kind, b.kind);
    const char *hk = gen_print(g, "%s * %s", gen_wrapped(g, a, LEVEL_MUL), gen_wrapped(g, b, LEVEL_MUL + 1));
    const char *x = gen_temporary(g, kind, gen_converted(g, a, kind)), *y = gen_temporary(g, kind, gen_converted(g, b, kind));
    gen_value v = value(hk, gen_typed(g, kind, gen_print(g, "%s * %s", a.c, b.c)), LEVEL_MUL, kind);
    if (gen_is_float(kind)) v.x = x, v.y = y;
    return v;
}

// The rule of the language: x*y + z within one expression is one fma, the leftmost product first.
static const char *sum_text(gen *g, gen_value a, gen_value b, diff_kind kind, bool minus)
{
    const char *fma = kind == K_F32 ? "fmaf" : "fma", *type = gen_c_type(kind);
    if (gen_is_float(kind) && a.x && a.kind == kind) return gen_print(g, "%s(%s, %s, %s(%s)%s)", fma, a.x, a.y, minus ? "-" : "", type, b.c);
    if (gen_is_float(kind) && b.x && b.kind == kind) return gen_print(g, "%s(%s%s, %s, (%s)%s)", fma, minus ? "-" : "", b.x, b.y, type, a.c);
    return gen_print(g, "%s %c %s", a.c, minus ? '-' : '+', b.c);
}

static gen_value sum(gen *g, gen_value a, gen_value b, bool minus)
{
    const diff_kind kind = gen_common(a.kind, b.kind);
    const char *hk = gen_print(g, "%s %c %s", gen_wrapped(g, a, LEVEL_ADD), minus ? '-' : '+', gen_wrapped(g, b, LEVEL_ADD + 1));
    return value(hk, gen_typed(g, kind, sum_text(g, a, b, kind, minus)), LEVEL_ADD, kind);
}

static gen_value not_zero(gen *g, gen_value v)
{
    const char *hk = gen_print(g, "(%s | 1)", gen_wrapped(g, v, LEVEL_OR));
    const diff_kind kind = gen_promote(v.kind);
    return value(hk, gen_typed(g, kind, gen_print(g, "%s | 1", v.c)), LEVEL_LEAF, kind);
}

// An integer that is no constant: the compiler refuses to divide by a constant zero, and constant indices out of range.
bool gen_wild_integer(gen *g, gen_value *v)
{
    const int count = g->symbol_count - GEN_CONSTANTS;
    if (count <= 0) return false;
    *v = gen_inside(g, &g->symbol[GEN_CONSTANTS + gen_below(g, count)]);
    if (gen_is_float(v->kind)) *v = gen_cast(g, *v, K_I32);
    return true;
}

static gen_value integer_division(gen *g, gen_value a, gen_value b, bool remainder)
{
    const diff_kind kind = gen_common(a.kind, b.kind);
    const char *hk = gen_print(g, "%s %c %s", gen_wrapped(g, a, LEVEL_MUL), remainder ? '%' : '/', gen_wrapped(g, b, LEVEL_MUL + 1));
    return value(hk, gen_typed(g, kind, gen_print(g, "%s_%s(ctx, %s, %s)", remainder ? "rem" : "div", gen_suffix(kind), a.c, b.c)), LEVEL_MUL, kind);
}

static gen_value arithmetic(gen *g, int depth)
{
    const int which = gen_below(g, 10);
    const gen_value a = gen_expr(g, depth - 1);
    gen_value b;
    const bool wild = which >= 8 && g->faults && gen_chance(g, 50) && gen_wild_integer(g, &b);
    if (!wild) b = gen_expr(g, depth - 1);
    const diff_kind kind = gen_common(a.kind, b.kind);
    if (which < 4) return sum(g, a, b, false);
    if (which < 5) return sum(g, a, b, true);
    if (which < 8) return gen_product(g, a, b);
    if (!gen_is_float(kind)) return integer_division(g, a, wild ? b : not_zero(g, b), which == 9);
    const char *hk = gen_print(g, "%s / %s", gen_wrapped(g, a, LEVEL_MUL), gen_wrapped(g, b, LEVEL_MUL + 1));
    return value(hk, gen_typed(g, kind, gen_print(g, "%s / %s", a.c, b.c)), LEVEL_MUL, kind);
}

static gen_value bits(gen *g, int depth)
{
    static const struct { const char *op; int level; } ops[] = {{"&", LEVEL_AND}, {"|", LEVEL_OR}, {"^", LEVEL_XOR}};
    const int which = gen_below(g, 3);
    const gen_value a = gen_integer(g, depth - 1), b = gen_integer(g, depth - 1);
    const char *hk = gen_print(g, "%s %s %s", gen_wrapped(g, a, ops[which].level), ops[which].op, gen_wrapped(g, b, ops[which].level + 1));
    const diff_kind kind = gen_common(a.kind, b.kind);
    return value(hk, gen_typed(g, kind, gen_print(g, "%s %s %s", a.c, ops[which].op, b.c)), ops[which].level, kind);
}

static gen_value shift(gen *g, int depth)
{
    const bool left = gen_chance(g, 50);
    const gen_value a = gen_integer(g, depth - 1), b = gen_integer(g, depth - 1);
    const char *hk = gen_print(g, "%s %s %s", gen_wrapped(g, a, LEVEL_SHIFT), left ? "<<" : ">>", gen_wrapped(g, b, LEVEL_SHIFT + 1));
    const diff_kind kind = gen_promote(a.kind);
    return value(hk, gen_typed(g, kind, gen_print(g, "%s(%s, %s)", left ? "SHL" : "SHR", a.c, b.c)), LEVEL_SHIFT, kind);
}

gen_value gen_comparison(gen *g, int depth)
{
    static const char *const ops[] = {"<", "<=", ">", ">=", "==", "!="};
    const int which = gen_below(g, 6), level = which < 4 ? LEVEL_LESS : LEVEL_EQUAL;
    const gen_value a = gen_expr(g, depth - 1), b = gen_expr(g, depth - 1);
    const char *hk = gen_print(g, "%s %s %s", gen_wrapped(g, a, level), ops[which], gen_wrapped(g, b, level + 1));
    return value(hk, gen_temporary(g, K_BOOL, gen_print(g, "%s %s %s", a.c, ops[which], b.c)), level, K_BOOL);
}

// The right side is evaluated only when the left one does not decide: also what may fail in it.
gen_value gen_logic(gen *g, int depth)
{
    const bool both = gen_chance(g, 50);
    const gen_value a = gen_condition(g, depth - 1);
    const char *name = gen_name(g, "t");
    gen_c(g, "bool %s = %s;", name, gen_converted(g, a, K_BOOL));
    gen_c(g, "if (%s%s) {", both ? "" : "!", name);
    g->indent++;
    const gen_value b = gen_condition(g, depth - 1);
    gen_c(g, "%s = %s;", name, gen_converted(g, b, K_BOOL));
    g->indent--;
    gen_c(g, "}");
    const int level = both ? LEVEL_LOGAND : LEVEL_LOGOR;
    return value(gen_print(g, "%s %s %s", gen_wrapped(g, a, level), both ? "&&" : "||", gen_wrapped(g, b, level + 1)), name, level, K_BOOL);
}

// C text of a branch goes to the buffer before the type of the result is known, so the branches are written to buffers of their own.
static gen_value branch(gen *g, const gen_maker *maker, hdst__buffer *text)
{
    const hdst__buffer outer = g->c;
    hdst__buffer_init(&g->c, NULL);
    g->indent++;
    const gen_value v = maker->make(g, maker->depth, maker->limit);
    g->indent--;
    *text = g->c;
    g->c = outer;
    return v;
}

static void write_branch(gen *g, hdst__buffer *text, const char *name, gen_value v, diff_kind kind)
{
    hdst__buffer_puts(&g->c, hdst__buffer_text(text));
    hdst__buffer_destroy(text);
    g->indent++;
    gen_c(g, "%s = %s;", name, gen_converted(g, v, kind));
    g->indent--;
}

gen_value gen_ternary(gen *g, int depth, const gen_maker *maker)
{
    const gen_value cond = gen_condition(g, depth);
    const char *name = gen_name(g, "t");
    hdst__buffer yes_text, no_text;
    const gen_value yes = branch(g, maker, &yes_text), no = branch(g, maker, &no_text);
    const diff_kind kind = gen_common(yes.kind, no.kind);
    gen_c(g, "%s %s;", gen_c_type(kind), name);
    gen_c(g, "if (%s) {", gen_converted(g, cond, K_BOOL));
    write_branch(g, &yes_text, name, yes, kind);
    gen_c(g, "} else {");
    write_branch(g, &no_text, name, no, kind);
    gen_c(g, "}");
    const char *hk = gen_print(g, "%s ? %s : %s", gen_wrapped(g, cond, LEVEL_TERNARY + 1),
                               gen_wrapped(g, yes, LEVEL_TERNARY), gen_wrapped(g, no, LEVEL_TERNARY));
    return value(hk, name, LEVEL_TERNARY, kind);
}

static gen_value any(gen *g, int depth, uint64_t limit)
{
    (void)limit;
    return gen_expr(g, depth);
}

static gen_value unary(gen *g, int depth)
{
    const int which = gen_below(g, 4);
    if (which == 0) {
        const gen_value a = gen_condition(g, depth - 1);
        return value(gen_print(g, "!%s", gen_wrapped(g, a, LEVEL_UNARY + 1)), gen_temporary(g, K_BOOL, gen_print(g, "!%s", gen_converted(g, a, K_BOOL))),
                     LEVEL_UNARY, K_BOOL);
    }
    const gen_value a = which == 1 ? gen_integer(g, depth - 1) : gen_expr(g, depth - 1);
    const char op = which == 1 ? '~' : '-';
    const diff_kind kind = gen_promote(a.kind);
    return value(gen_print(g, "%c%s", op, gen_wrapped(g, a, LEVEL_UNARY + 1)), gen_typed(g, kind, gen_print(g, "%c%s", op, a.c)), LEVEL_UNARY, kind);
}

// --- Calls ---

static gen_value two_numbers(gen *g, int depth)
{
    const char *name = gen_chance(g, 50) ? "min" : "max";
    const gen_value a = gen_expr(g, depth - 1), b = gen_expr(g, depth - 1);
    const diff_kind kind = gen_common(a.kind, b.kind);
    return value(gen_print(g, "%s(%s, %s)", name, gen_argument(a), gen_argument(b)),
                 gen_temporary(g, kind, gen_print(g, "%s_%s(%s, %s)", name, gen_suffix(kind), a.c, b.c)), LEVEL_LEAF, kind);
}

static gen_value absolute(gen *g, int depth)
{
    const gen_value a = gen_expr(g, depth - 1);
    const diff_kind kind = gen_promote(a.kind);
    const char *c = kind == K_F32 ? "fabsf" : kind == K_F64 ? "fabs" : gen_print(g, "abs_%s", gen_suffix(kind));
    return value(gen_print(g, "abs(%s)", gen_argument(a)), gen_temporary(g, kind, gen_print(g, "%s(%s)", c, a.c)), LEVEL_LEAF, kind);
}

static gen_value float_operand(gen *g, int depth, diff_kind kind)
{
    const gen_value v = gen_expr(g, depth);
    return v.kind == kind ? v : gen_cast(g, v, kind);
}

static diff_kind float_kind(gen *g) { return g->options.no_double || gen_chance(g, 60) ? K_F32 : K_F64; }

static gen_value float_function(gen *g, int depth)
{
    const diff_kind kind = float_kind(g);
    const char *f = kind == K_F32 ? "f" : "";
    const gen_value a = float_operand(g, depth - 1, kind);
    switch (gen_below(g, 6)) {
    case 4: {
        const gen_value b = float_operand(g, depth - 1, kind);
        return value(gen_print(g, "copysign(%s, %s)", gen_argument(a), gen_argument(b)),
                     gen_temporary(g, kind, gen_print(g, "sign_of_%s(%s, %s)", gen_suffix(kind), a.c, b.c)), LEVEL_LEAF, kind);
    }
    case 0: return value(gen_print(g, "sqrt(%s)", gen_argument(a)), gen_temporary(g, kind, gen_print(g, "sqrt%s(%s)", f, a.c)), LEVEL_LEAF, kind);
    case 1: return value(gen_print(g, "fabs(%s)", gen_argument(a)), gen_temporary(g, kind, gen_print(g, "fabs%s(%s)", f, a.c)), LEVEL_LEAF, kind);
    case 2: return value(gen_print(g, "isnan(%s)", gen_argument(a)), gen_temporary(g, K_BOOL, gen_print(g, "isnan(%s)", a.c)), LEVEL_LEAF, K_BOOL);
    case 3: return value(gen_print(g, "isinf(%s)", gen_argument(a)), gen_temporary(g, K_BOOL, gen_print(g, "isinf(%s)", a.c)), LEVEL_LEAF, K_BOOL);
    default: break;
    }
    const gen_value b = float_operand(g, depth - 1, kind), c = float_operand(g, depth - 1, kind);
    return value(gen_print(g, "fma(%s, %s, %s)", gen_argument(a), gen_argument(b), gen_argument(c)),
                 gen_temporary(g, kind, gen_print(g, "fma%s(%s, %s, %s)", f, a.c, b.c, c.c)), LEVEL_LEAF, kind);
}

static gen_value bit_cast(gen *g, int depth)
{
    const diff_kind kind = float_kind(g);
    const bool single = kind == K_F32, is_signed = gen_chance(g, 50);
    const diff_kind integer = single ? (is_signed ? K_I32 : K_U32) : (is_signed ? K_I64 : K_U64);
    if (gen_chance(g, 60)) {
        const char *name = single ? (is_signed ? "as_int" : "as_uint") : (is_signed ? "as_long" : "as_ulong");
        const gen_value a = float_operand(g, depth - 1, kind);
        const char *c = gen_print(g, "(%s)bits_%s(%s)", gen_c_type(integer), gen_suffix(kind), a.c);
        return value(gen_print(g, "%s(%s)", name, gen_argument(a)), gen_temporary(g, integer, c), LEVEL_LEAF, integer);
    }
    const gen_value a = gen_cast(g, gen_expr(g, depth - 1), integer);
    const char *c = gen_print(g, "%s_of((%s)%s)", single ? "float" : "double", single ? "uint32_t" : "uint64_t", a.c);
    return value(gen_print(g, "%s(%s)", single ? "as_float" : "as_double", gen_argument(a)), gen_temporary(g, kind, c), LEVEL_LEAF, kind);
}

static gen_value hash_call(gen *g, int depth)
{
    const gen_value a = gen_expr(g, depth - 1);
    const char *sign = gen_is_signed(a.kind) ? "u" : "";
    const char *word = gen_is_float(a.kind) ? gen_print(g, "bits_%s(%s)", gen_suffix(a.kind), a.c) : gen_print(g, "(%s%s)%s", sign, gen_c_type(a.kind), a.c);
    return value(gen_print(g, "hash(%s)", gen_argument(a)), gen_temporary(g, K_U64, gen_print(g, "hash_of(%s)", word)), LEVEL_LEAF, K_U64);
}

static gen_value helper_call(gen *g, int depth)
{
    const gen_helper h = g->helper[gen_below(g, g->helper_count)];
    const gen_symbol *array = NULL;
    for (int i = 0; h.array && i < g->symbol_count; i++) {
        const gen_symbol *s = &g->symbol[i];
        if (s->count == h.array && s->kind == K_F32 && !s->record && s->table < 0) array = s;
    }
    if (h.array && !array) return leaf(g);
    const char *hk = gen_print(g, "%s(", h.hk), *c = gen_print(g, "%s(ctx", h.c);
    for (int i = 0; i < h.param_count; i++) {
        const gen_value v = gen_expr(g, depth - 1);
        hk = gen_print(g, "%s%s%s", hk, i ? ", " : "", gen_argument(v));
        c = gen_print(g, "%s, %s", c, gen_temporary(g, h.param[i], gen_converted(g, v, h.param[i])));
    }
    if (array) {
        hk = gen_print(g, "%s%s%s", hk, h.param_count ? ", " : "", array->hk);
        c = gen_print(g, "%s, %s", c, array->c);
    }
    return value(gen_print(g, "%s)", hk), gen_temporary(g, h.result, gen_print(g, "%s)", c)), LEVEL_LEAF, h.result);
}

// --- dot and sum ---

typedef struct array {
    const char *hk, *c;
    diff_kind kind;
    uint64_t count;
    const gen_symbol *symbol;
    const char *path, *c_path;      // within the symbol, or its row
} array;

// The arrays of numbers inside a symbol that can be named without an index, rows of tables with one (put_row).
static int arrays_in(gen *g, const gen_symbol *s, array *found)
{
    int count = 0;
    if (!s->record && s->table < 0 && s->count && s->kind != K_BOOL) found[count++] = (array){s->hk, s->c, s->kind, s->count, s, "", ""};
    for (int i = 0; s->record && i < s->record->field_count; i++) {
        const gen_field *f = &s->record->field[i];
        const char *path = gen_print(g, ".%s", f->hk), *c_path = gen_print(g, ".%s", f->c);
        if (!f->record && f->count && !f->count2 && f->kind != K_BOOL)
            found[count++] = (array){gen_print(g, "%s%s", s->hk, path), gen_print(g, "%s%s", s->c, c_path), f->kind, f->count, s, path, c_path};
    }
    return count;
}

// Of an array that is used, and of no other: working an index out may fail.
static array put_row(gen *g, array a)
{
    const gen_symbol s = *a.symbol;
    const char *index;
    if (s.table < 0) return a;
    const char *row = gen_index(g, 1, g->program->params[s.table].rows, s.hk, gen_print(g, "ctx->rows[%d]", s.table), &index);
    a.hk = gen_print(g, "%s[%s]%s", s.hk, row, a.path);
    a.c = gen_print(g, "%s[%s]%s", s.c, index, a.c_path);
    return a;
}

static bool has_array(const gen_symbol *s)
{
    for (int i = 0; s->record && i < s->record->field_count; i++)
        if (!s->record->field[i].record && s->record->field[i].count && !s->record->field[i].count2 && s->record->field[i].kind != K_BOOL) return true;
    return !s->record && s->table < 0 && s->count && s->kind != K_BOOL;
}

gen_value gen_over_array(gen *g)
{
    array found[16];
    int count = 0;
    for (int i = g->symbol_count - 1; i >= 0 && count <= 8; i--)
        if (has_array(&g->symbol[i]) && (i >= GEN_CONSTANTS || !count)) count += arrays_in(g, &g->symbol[i], found + count);
    if (!count) return leaf(g);
    const int first = gen_below(g, count);
    const array a = put_row(g, found[first]);
    const diff_kind kind = gen_promote(a.kind);
    const bool product = gen_chance(g, 50);
    int second = first;
    for (int i = 0; product && i < count; i++)
        if (found[i].kind == a.kind && found[i].count == a.count && gen_chance(g, 70)) second = i;
    const array b = second == first ? a : put_row(g, found[second]);
    const char *hk = product ? gen_print(g, "dot(%s, %s)", a.hk, b.hk) : gen_print(g, "sum(%s)", a.hk);
    const char *c = product ? gen_print(g, "dot_%s(%s, %s, %" PRIu64 ")", gen_suffix(a.kind), a.c, b.c, a.count)
                            : gen_print(g, "sum_%s(%s, %" PRIu64 ")", gen_suffix(a.kind), a.c, a.count);
    return value(hk, gen_temporary(g, kind, c), LEVEL_LEAF, kind);
}

// --- What roundings show in: sums of products of data ---

static gen_value datum(gen *g, diff_kind kind)
{
    const int count = g->symbol_count - GEN_CONSTANTS;
    const gen_value v = count > 0 ? gen_inside(g, &g->symbol[GEN_CONSTANTS + gen_below(g, count)]) : float_literal(g);
    return v.kind == kind || gen_chance(g, 10) ? v : gen_cast(g, v, kind);
}

gen_value gen_mix(gen *g)
{
    const diff_kind kind = float_kind(g);
    gen_value v = datum(g, kind);
    for (int terms = gen_below(g, 4); terms > 0; terms--) {
        gen_value term = datum(g, kind);
        if (gen_chance(g, 60)) {
            const gen_value factor = datum(g, kind);
            term = gen_product(g, term, factor);
        }
        const bool swap = !g->faults && gen_chance(g, 50);      // C evaluates `v` first: with faults it must stand first
        v = sum(g, swap ? term : v, swap ? v : term, gen_chance(g, 40));
    }
    return v;
}

// --- Choice ---

gen_value gen_condition(gen *g, int depth)
{
    const int which = gen_below(g, 10);
    if (depth > 0 && which < 6) return gen_comparison(g, depth);
    if (depth > 0 && which < 8) return gen_logic(g, depth);
    return gen_expr(g, depth);
}

gen_value gen_expr(gen *g, int depth)
{
    const int which = gen_below(g, 100);
    g->expressions++;
    if (depth <= 0 || which < 15 || gen_is_long(g)) return leaf(g);
    if (which < (g->floating ? 75 : 50)) return arithmetic(g, depth);
    if (which < 58) return bits(g, depth);
    if (which < 64) return shift(g, depth);
    if (which < 69) return gen_comparison(g, depth);
    if (which < 73) return gen_logic(g, depth);
    if (which < 78) return gen_ternary(g, depth - 1, &(gen_maker){any, depth - 1, 0});
    if (which < 84) return unary(g, depth);
    if (which < 88) return gen_cast(g, gen_expr(g, depth - 1), gen_kind(g));
    if (which < 91) return two_numbers(g, depth);
    if (which < 93) return absolute(g, depth);
    if (which < 95) return float_function(g, depth);
    if (which < 96) return bit_cast(g, depth);
    if (which < 97) return hash_call(g, depth);
    if (which < 98) return gen_over_array(g);
    return g->helper_count ? helper_call(g, depth) : leaf(g);
}
