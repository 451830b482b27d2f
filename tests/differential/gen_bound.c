// SPDX-License-Identifier: Apache-2.0
// Integers that stay below a limit whatever the data are, with any operator outermost: bounds of loops, indices. And wild indices, for programs that may fail.
#include "gen.h"

#include <inttypes.h>

enum {
    MOST_INDICES = 20,          // in one another: the language has a limit too
    // Of a program: one in some thousands would be longer than the megabyte that a kernel file may be, for indices in
    // indices multiply.
    MOST_EXPRESSIONS = 10000
};

bool gen_is_long(const gen *g) { return g->expressions > MOST_EXPRESSIONS; }

static bool is_full(const gen *g) { return g->indices > MOST_INDICES || gen_is_long(g); }

static gen_value value(const char *hk, const char *c, int level, diff_kind kind) { return (gen_value){.hk = hk, .c = c, .level = level, .kind = kind}; }

// The greatest power of two that is not above.
static uint64_t power_below(uint64_t limit)
{
    uint64_t power = 1;
    while (power * 2 <= limit) power *= 2;
    return power;
}

// Of the kind that is wanted, if one is: then no conversion stands around the operators.
static gen_value constant(gen *g, uint64_t v)
{
    static const char *const suffixes[K_COUNT] = {[K_I32] = "", [K_U32] = "u", [K_I64] = "l", [K_U64] = "ul"};
    if (g->wanted != K_BOOL) {
        const char *text = gen_print(g, "%" PRIu64 "%s", v, suffixes[g->wanted]);
        return value(text, text, LEVEL_LEAF, g->wanted);
    }
    const char *text = gen_print(g, gen_chance(g, 40) ? "%" PRIu64 "u" : "%" PRIu64, v);
    return value(text, text, LEVEL_LEAF, text[strlen(text) - 1] == 'u' ? K_U32 : K_I32);
}

// `a op b` of integers, whose type C derives.
static gen_value binary(gen *g, gen_value a, const char *op, gen_value b, int level)
{
    const char *hk = gen_print(g, "%s %s %s", gen_wrapped(g, a, level), op, gen_wrapped(g, b, level + 1));
    const diff_kind kind = gen_common(a.kind, b.kind);
    return value(hk, gen_typed(g, kind, gen_print(g, "%s %s %s", a.c, op, b.c)), level, kind);
}

static gen_value any_number(gen *g, int depth) { return is_full(g) ? gen_literal(g) : gen_integer(g, depth); }

static gen_value number(gen *g, int depth)
{
    const diff_kind wanted = g->wanted;
    g->wanted = K_BOOL;
    gen_value v = any_number(g, depth);
    if (wanted != K_BOOL && v.kind != wanted) v = gen_cast(g, v, wanted);
    g->wanted = wanted;
    return v;
}

static gen_value unsigned_number(gen *g, int depth)
{
    if (g->wanted == K_U32 || g->wanted == K_U64) return number(g, depth);
    const gen_value v = number(g, depth);
    return gen_cast(g, v, gen_chance(g, 70) ? K_U32 : K_U64);
}

static gen_value remainder_of(gen *g, int depth, uint64_t limit)
{
    const gen_value a = unsigned_number(g, depth), u = value(gen_print(g, "%" PRIu64 "u", limit), gen_print(g, "%" PRIu64 "u", limit), LEVEL_LEAF, K_U32);
    return binary(g, a, "%", g->wanted == K_U64 ? constant(g, limit) : u, LEVEL_MUL);
}

static gen_value masked(gen *g, int depth, uint64_t limit)
{
    const gen_value mask = constant(g, power_below(limit) - 1);
    if (!gen_chance(g, 30)) return binary(g, number(g, depth), "&", mask, LEVEL_AND);
    return binary(g, mask, "&", number(g, depth), LEVEL_AND);
}

static gen_value joined_bits(gen *g, int depth, uint64_t limit)
{
    const uint64_t power = power_below(limit);
    const gen_value a = gen_bounded(g, depth - 1, power), b = gen_bounded(g, depth - 1, power);
    return gen_chance(g, 50) ? binary(g, a, "|", b, LEVEL_OR) : binary(g, a, "^", b, LEVEL_XOR);
}

static gen_value added(gen *g, int depth, uint64_t limit)
{
    const uint64_t most = (uint64_t)gen_below(g, (int)limit);          // of the first
    if (gen_chance(g, 30)) return binary(g, constant(g, limit - 1), "-", gen_bounded(g, depth - 1, limit), LEVEL_ADD);
    const gen_value a = gen_bounded(g, depth - 1, most + 1), b = gen_bounded(g, depth - 1, limit - most);
    return binary(g, a, "+", b, LEVEL_ADD);
}

static gen_value multiplied(gen *g, int depth, uint64_t limit)
{
    const uint64_t factor = 1 + (uint64_t)gen_below(g, 3);
    const gen_value a = gen_bounded(g, depth - 1, (limit - 1) / factor + 1);
    return gen_chance(g, 50) ? binary(g, a, "*", constant(g, factor), LEVEL_MUL) : binary(g, constant(g, factor), "*", a, LEVEL_MUL);
}

static gen_value shifted(gen *g, int depth, uint64_t limit)
{
    const uint64_t power = power_below(limit);
    const bool from_top = power > 1 && gen_chance(g, 50);
    const gen_value a = from_top ? gen_cast(g, number(g, depth - 1), K_U32) : gen_bounded(g, depth - 1, limit);
    const gen_value b = from_top ? constant(g, 32 - (uint64_t)__builtin_ctzll(power)) : number(g, depth - 1);
    const char *hk = gen_print(g, "%s >> %s", gen_wrapped(g, a, LEVEL_SHIFT), gen_wrapped(g, b, LEVEL_SHIFT + 1));
    const diff_kind kind = gen_promote(a.kind);
    return value(hk, gen_typed(g, kind, gen_print(g, "SHR(%s, %s)", a.c, b.c)), LEVEL_SHIFT, kind);
}

static gen_value smaller(gen *g, int depth, uint64_t limit)         // min, max, abs
{
    const bool lower = gen_chance(g, 50);
    const gen_value a = gen_bounded(g, depth - 1, limit), b = lower ? unsigned_number(g, depth - 1) : gen_bounded(g, depth - 1, limit);
    const diff_kind kind = gen_common(a.kind, b.kind);
    const char *name = lower ? "min" : "max";
    return value(gen_print(g, "%s(%s, %s)", name, gen_argument(a), gen_argument(b)),
                 gen_temporary(g, kind, gen_print(g, "%s_%s(%s, %s)", name, gen_suffix(kind), a.c, b.c)), LEVEL_LEAF,
                 kind);
}

static gen_value unary(gen *g, int depth, uint64_t limit)
{
    static const diff_kind kinds[] = {K_I8, K_I16, K_I32, K_I64, K_U8, K_U16, K_U32, K_U64};
    const gen_value a = gen_bounded(g, depth - 1, limit);
    if (g->wanted == K_BOOL && gen_chance(g, 60)) return gen_cast(g, a, kinds[gen_below(g, 8)]);
    const diff_kind kind = gen_promote(a.kind);
    const gen_value minus = value(gen_print(g, "-%s", gen_wrapped(g, a, LEVEL_UNARY + 1)), gen_typed(g, kind, gen_print(g, "-%s", a.c)), LEVEL_UNARY, kind);
    return value(gen_print(g, "-%s", gen_wrapped(g, minus, LEVEL_UNARY + 1)), gen_typed(g, kind, gen_print(g, "-%s", minus.c)), LEVEL_UNARY, kind);
}

static gen_value truth(gen *g, int depth) { return gen_chance(g, 60) ? gen_comparison(g, depth) : gen_logic(g, depth); }

static const gen_symbol *bounded_symbol(gen *g, uint64_t limit)
{
    for (int tries = 0; tries < 8 && g->symbol_count; tries++) {
        const gen_symbol *s = &g->symbol[gen_below(g, g->symbol_count)];
        if (s->below && s->below <= limit) return s;
    }
    return NULL;
}

gen_value gen_bounded(gen *g, int depth, uint64_t limit)
{
    const gen_symbol *s;
    const int which = gen_below(g, 100);
    g->expressions++;
    if (depth <= 0 || which < 12) {
        if (gen_chance(g, 50) && (s = bounded_symbol(g, limit))) return value(s->hk, s->c, LEVEL_LEAF, s->kind);
        if (gen_chance(g, 50)) return masked(g, 0, limit);
        return constant(g, (uint64_t)gen_below(g, (int)limit));
    }
    if (which < 26) return remainder_of(g, depth - 1, limit);
    if (which < 40) return masked(g, depth - 1, limit);
    if (which < 56) return joined_bits(g, depth, limit);
    if (which < 64) return added(g, depth, limit);
    if (which < 68) return multiplied(g, depth, limit);
    if (which < 77) return shifted(g, depth, limit);
    if (which < 84) return smaller(g, depth, limit);
    if (which < 89) return unary(g, depth, limit);
    if (which < 94 && limit > 1) return truth(g, depth - 1);
    return gen_ternary(g, depth - 1, &(gen_maker){gen_bounded, depth - 1, limit});
}

gen_value gen_bounded_of(gen *g, diff_kind kind, int depth, uint64_t limit)
{
    const diff_kind outer = g->wanted, promoted = gen_promote(kind);
    g->wanted = gen_is_float(kind) ? K_BOOL : promoted;
    const gen_value v = gen_bounded(g, depth, limit);
    g->wanted = outer;
    return v;
}

// --- Indices ---

static const char *row_variable(gen *g, const char *table, const char **c)
{
    for (int i = g->symbol_count - 1; i >= 0; i--) {
        const gen_symbol *s = &g->symbol[i];
        if (!s->below_rows || strcmp(s->below_rows, table)) continue;
        if (gen_chance(g, 20)) continue;
        *c = s->c;
        return s->hk;
    }
    return NULL;
}

static const char *checked(gen *g, const char *c, const char *limit)
{
    const char *name = gen_name(g, "t");
    gen_c(g, "const uint64_t %s = diff_index(ctx, (uint64_t)%s, %s);", name, c, limit);
    return name;
}

// Of a table: by its length, which is the program's to say, or by the rows that it is given.
static const char *row_index(gen *g, int depth, uint64_t rows, const char *table, const char *c_rows, const char **c)
{
    gen_value v;
    if (gen_chance(g, 45)) {
        v = gen_bounded(g, depth, rows);
        if (v.kind == K_BOOL) v = gen_cast(g, v, K_U32);
        *c = checked(g, v.c, c_rows);
        return v.hk;
    }
    v = gen_cast(g, number(g, depth - 1), K_U64);
    const gen_value length = value(gen_print(g, "len(%s)", table), c_rows, LEVEL_LEAF, K_U64);
    v = binary(g, v, "%", length, LEVEL_MUL);
    *c = checked(g, v.c, c_rows);
    return v.hk;
}

static const char *any_index(gen *g, int depth, uint64_t limit, const char *table, const char *c_rows, const char **c)
{
    const char *limit_text = table ? c_rows : gen_print(g, "%" PRIu64, limit), *hk;
    const gen_symbol *s;
    if (!table && gen_chance(g, 30)) return *c = gen_print(g, "%d", gen_below(g, (int)limit));
    if (!table && gen_chance(g, 50) && (s = bounded_symbol(g, limit)) && s->kind != K_BOOL) {
        hk = s->hk;
        *c = checked(g, s->c, limit_text);
        return hk;
    }
    if (table && gen_chance(g, 75) && (hk = row_variable(g, table, c))) {
        *c = checked(g, *c, limit_text);
        return hk;
    }
    gen_value v;
    if (g->faults && !is_full(g) && gen_chance(g, 40) && gen_wild_integer(g, &v)) {        // may be negative, may be too large
        const diff_kind kind = gen_promote(v.kind);
        *c = checked(g, gen_typed(g, kind, gen_print(g, "rem_%s(ctx, %s, 8)", gen_suffix(kind), v.c)), limit_text);
        return gen_print(g, "%s %% 8", gen_wrapped(g, v, LEVEL_MUL));
    }
    if (table) return row_index(g, depth, limit, table, c_rows, c);
    v = gen_bounded_of(g, gen_chance(g, 40) ? K_U32 : K_F32 /* any */, is_full(g) ? 0 : depth, limit);
    if (v.kind == K_BOOL) v = gen_cast(g, v, K_U32);
    *c = checked(g, v.c, limit_text);
    return v.hk;
}

const char *gen_index(gen *g, int depth, uint64_t limit, const char *table, const char *c_rows, const char **c)
{
    const diff_kind wanted = g->wanted;
    g->wanted = K_BOOL;
    g->indices++;
    const char *text = any_index(g, depth, limit, table, c_rows, c);
    g->indices--;
    g->wanted = wanted;
    return text;
}
