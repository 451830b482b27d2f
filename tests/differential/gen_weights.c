// SPDX-License-Identifier: Apache-2.0
// Functions as fuzzy c-means has them: how near a record is to each of a few rows, quotients of that, and sums of many products that have one of these weights
// as a factor. Distances, quotients and sums are each in one of several forms; records may fail before, between and behind them.
#include "gen_theme.h"

#include <inttypes.h>

enum { SUMS = 1, ROWS = 2 };            // parameters: what is added to, what records are compared with; then numbers of all records

static const char *element_of(gen *g, const char *path, const gen_field *f, const char *row, const char *at)
{
    return f->count2 ? gen_print(g, "%s[%s][%s]", path, row, at) : gen_print(g, "%s[%s]", path, at);
}

const gen_record *gen_weights_input(gen *g)
{
    static const uint64_t lengths[] = {1, 2, 3, 4, 4, 5, 8, 9, 16, 17};
    static const diff_kind keys[] = {K_U32, K_U32, K_I32, K_U64, K_U8};
    g->length = theme_one_of(g, lengths, 10);
    gen_wish wish[5] = {{keys[gen_below(g, 5)], 0, 0}, {g->options.no_double || gen_chance(g, 85) ? K_F32 : K_F64, g->length, 0}};
    int count = 2;
    if (gen_chance(g, 60)) wish[count++] = (gen_wish){K_F32, 0, 0};
    if (gen_chance(g, 40)) wish[count++] = (gen_wish){gen_chance(g, 70) ? K_F32 : K_I16, g->length, 0};
    if (gen_chance(g, 30)) {            // not at the front
        const gen_wish first = wish[0];
        wish[0] = wish[1], wish[1] = first;
    }
    g->array = wish[0].count ? 0 : 1;
    return gen_wished_record(g, "item", wish, count);
}

void gen_weights_params(gen *g)
{
    static const uint64_t units[] = {1, 2, 3, 4, 4, 7, 8, 8, 9, 16};
    const diff_kind kind = g->in->field[g->array].kind, sum = g->options.no_double || gen_chance(g, 80) ? K_F32 : K_F64;
    g->units = theme_one_of(g, units, 10);
    const bool table = gen_chance(g, 30), rows = gen_chance(g, 40);         // or one record with all of them
    const uint64_t n = g->units, length = g->length;
    const gen_wish sums[] = {{sum, table ? length : n, table ? 0 : length}, {K_F32, table ? 0 : n, 0}, {K_U32, table ? 0 : n, 0},
                             {gen_chance(g, 60) ? K_F32 : sum, table ? length : n, table ? 0 : length}};
    const gen_wish centre[] = {{kind, rows ? length : n, rows ? 0 : length}, {K_F32, rows ? 0 : n, 0}};
    const gen_wish all[] = {{g->options.no_double || gen_chance(g, 40) ? K_F32 : K_F64, 0, 0}, {kind, 0, 0}, {kind, 0, 0}, {K_U64, 0, 0}};
    theme_param(g, true, "t", table ? n : 0, gen_wished_record(g, "row1", sums, 2 + gen_below(g, 3)));
    theme_param(g, false, "b", rows ? n : 0, gen_wished_record(g, "row2", centre, 2));
    if (!gen_chance(g, 70)) return;
    diff_param *p = theme_param(g, true, "o", 0, gen_wished_record(g, "row3", all, 4));
    p->law[1] = L_MIN;
    p->law[2] = L_MAX;
}

// --- What stands for what ---

static diff_kind kind_of(const gen *g) { return g->in->field[g->array].kind; }

static gen_value mine(gen *g, const gen_field *f, const char *hk_at, const char *c_at)
{
    return theme_value(gen_print(g, "%s.%s[%s]", g->left, f->hk, hk_at), gen_print(g, "(*in).%s[%s]", f->c, c_at), f->kind);
}

static gen_value centre(gen *g, theme_loop row, theme_loop at)
{
    const gen_field *f = &g->row[ROWS]->field[0];
    const diff_param *p = &g->program->params[ROWS];
    if (p->is_table)
        return theme_value(gen_print(g, "%s[%s].%s[%s]", p->name, row.hk, f->hk, at.hk), gen_print(g, "b%d[%s].%s[%s]", ROWS, row.c, f->c, at.c), f->kind);
    return theme_value(gen_print(g, "%s.%s[%s][%s]", p->name, f->hk, row.hk, at.hk), gen_print(g, "b%d[0].%s[%s][%s]", ROWS, f->c, row.c, at.c), f->kind);
}

static gen_value element(gen *g, const gen_symbol *array, theme_loop at)
{
    return theme_value(gen_print(g, "%s[%s]", array->hk, at.hk), gen_print(g, "%s[%s]", array->c, at.c), array->kind);
}

static gen_value scalar(gen *g, diff_kind kind, const char *start)
{
    const gen_value v = theme_value(gen_user_name(g, "a"), gen_name(g, "v"), kind);
    gen_hk(g, "%s %s = %s;", gen_c_type(kind), v.hk, start);
    gen_c(g, "%s %s = %s;", gen_c_type(kind), v.c, start);
    return v;
}

static gen_symbol array_of(gen *g, diff_kind kind, uint64_t count)
{
    const gen_symbol s = {.hk = gen_user_name(g, "v"), .c = gen_name(g, "v"), .kind = kind, .count = count, .table = -1};
    gen_hk(g, "%s %s[%" PRIu64 "];", gen_c_type(kind), s.hk, count);
    gen_c(g, "%s %s[%" PRIu64 "] = {0};", gen_c_type(kind), s.c, count);
    return s;
}

static void set(gen *g, const gen_symbol *array, theme_loop at, gen_value v)
{
    gen_hk(g, "%s[%s] = %s;", array->hk, at.hk, gen_argument(v));
    gen_c(g, "%s[%s] = %s;", array->c, at.c, gen_converted(g, v, array->kind));
}

// --- A record that fails, one of a few or of thousands ---

static void may_fail(gen *g)
{
    if (!g->program->may_fail || !gen_chance(g, 50)) return;
    static const uint64_t every[] = {2, 20, 300, 2000};
    const gen_field *f = &g->in->field[g->array == 0];
    const uint64_t n = theme_one_of(g, every, 4);
    const char *hash = gen_print(g, "hash(%s.%s) %% %" PRIu64 "ul", g->left, f->hk, n);
    const char *c = gen_print(g, "hash_of((%s%s)(*in).%s) %% %" PRIu64 "ul", gen_is_signed(f->kind) ? "u" : "", gen_c_type(f->kind), f->c, n);
    const char *name = gen_user_name(g, "q"), *c_name = gen_name(g, "v");
    if (gen_chance(g, 50)) {
        gen_hk(g, "uint64_t %s = 1000ul / (%s);", name, hash);
        gen_c(g, "const uint64_t %s = div_u64(ctx, 1000ul, %s);", c_name, c);
    } else {
        const gen_field *x = &g->in->field[g->array];
        gen_hk(g, "uint64_t %s = (uint64_t)(%s.%s[%s == 0ul ? %" PRIu64 "u : 0u]);", name, g->left, x->hk, hash, g->length);
        gen_c(g, "const uint64_t %s = sat_u64((*in).%s[diff_index(ctx, %s == 0ul ? %" PRIu64 "u : 0u, %" PRIu64 ")]);", c_name, x->c, c, g->length, g->length);
    }
    gen_declare(g, (gen_symbol){.hk = name, .c = c_name, .kind = K_U64, .table = -1});
}

// --- Distances ---

static gen_value distance(gen *g, theme_loop row, int form)
{
    const diff_kind kind = kind_of(g);
    const char *f = kind == K_F32 ? "f" : "";
    const gen_value d = scalar(g, kind, form == 3 ? "0.25" : "0");
    const theme_loop at = theme_open(g, g->length);
    const gen_value x = mine(g, &g->in->field[g->array], at.hk, at.c), c = centre(g, row, at);
    const char *e = gen_user_name(g, "e"), *c_e = gen_name(g, "v"), *type = gen_c_type(kind);
    gen_hk(g, "%s %s = %s %c %s;", type, e, x.hk, form == 2 ? '*' : '-', c.hk);
    gen_c(g, "const %s %s = %s %c %s;", type, c_e, x.c, form == 2 ? '*' : '-', c.c);
    if (form == 1) {
        gen_hk(g, "%s += abs(%s);", d.hk, e);
        gen_c(g, "%s = %s + fabs%s(%s);", d.c, d.c, f, c_e);
    } else if (form == 2) {
        gen_hk(g, "%s += %s;", d.hk, e);
        gen_c(g, "%s = %s + %s;", d.c, d.c, c_e);
    } else {
        gen_hk(g, "%s += %s * %s;", d.hk, e, e);
        gen_c(g, "%s = fma%s(%s, %s, %s);", d.c, f, c_e, c_e, d.c);
    }
    theme_close(g, at);
    return d;
}

// --- Weights ---

typedef struct weights {
    gen_symbol d, s;
    gen_value least, all;
    bool divides;                   // `all` is to divide by; else it has been divided by, once for all rows
} weights;

static gen_value quotient(gen *g, gen_value a, gen_value b)
{
    const diff_kind kind = gen_common(a.kind, b.kind);
    return (gen_value){.hk = gen_print(g, "%s / %s", gen_wrapped(g, a, LEVEL_MUL), gen_wrapped(g, b, LEVEL_MUL + 1)),
                       .c = gen_typed(g, kind, gen_print(g, "%s / %s", a.c, b.c)), .level = LEVEL_MUL, .kind = kind};
}

// Each against all others: a loop in the loop.
static gen_value against_all(gen *g, const weights *w, theme_loop row)
{
    const diff_kind kind = w->d.kind;
    const gen_value sum = scalar(g, kind, "0");
    const theme_loop other = theme_open(g, g->units);
    const gen_value r = theme_declare(g, kind, quotient(g, element(g, &w->d, row), element(g, &w->d, other)));
    if (gen_chance(g, 50)) {
        gen_hk(g, "%s += %s * %s;", sum.hk, r.hk, r.hk);
        gen_c(g, "%s = fma%s(%s, %s, %s);", sum.c, kind == K_F32 ? "f" : "", r.c, r.c, sum.c);
    } else {
        gen_hk(g, "%s += %s;", sum.hk, r.hk);
        gen_c(g, "%s = %s + %s;", sum.c, sum.c, r.c);
    }
    theme_close(g, other);
    return quotient(g, theme_value("1", "1", K_I32), sum);
}

// How much of the record belongs to a row.
static gen_value share(gen *g, const weights *w, theme_loop row, int form)
{
    const gen_value d = element(g, &w->d, row);
    const char *f = d.kind == K_F32 ? "f" : "";
    switch (form) {
    case 0: {
        const char *name = gen_name(g, "t"), *type = gen_c_type(d.kind);
        gen_c(g, "%s %s; if (%s == %s) %s = 1; else %s = %s / %s;", type, name, d.c, w->least.c, name, name, w->least.c, d.c);
        const char *hk = gen_print(g, "%s == %s ? 1 : %s / %s", d.hk, w->least.hk, w->least.hk, d.hk);
        return (gen_value){.hk = hk, .c = name, .level = LEVEL_TERNARY, .kind = d.kind};
    }
    case 1: return quotient(g, w->least, d);
    case 2: {
        const char *sum = gen_typed(g, d.kind, gen_print(g, "%s + 0.5f", d.c));
        const gen_value below = {.hk = gen_print(g, "%s + 0.5f", d.hk), .c = sum, .level = LEVEL_ADD, .kind = d.kind};
        return quotient(g, theme_value("1", "1", K_I32), below);
    }
    case 3: {
        const gen_value q = quotient(g, w->least, d);
        return theme_value(gen_print(g, "sqrt(%s)", gen_argument(q)), gen_temporary(g, d.kind, gen_print(g, "sqrt%s(%s)", f, q.c)), d.kind);
    }
    default: return against_all(g, w, row);
    }
}

static void make_distances(gen *g, weights *w)
{
    const diff_kind kind = kind_of(g);
    const int form = gen_below(g, 4);
    const char *low = gen_chance(g, 70) ? "min" : "max";
    w->d = array_of(g, kind, g->units);
    w->least = scalar(g, kind, "INFINITY");
    const theme_loop row = theme_open(g, g->units);
    set(g, &w->d, row, distance(g, row, form));
    gen_hk(g, "%s = %s(%s, %s[%s]);", w->least.hk, low, w->least.hk, w->d.hk, row.hk);
    gen_c(g, "%s = %s_%s(%s, %s[%s]);", w->least.c, low, gen_suffix(kind), w->least.c, w->d.c, row.c);
    theme_close(g, row);
}

static void make_shares(gen *g, weights *w)
{
    const int form = gen_below(g, 5);
    w->divides = gen_chance(g, 30);
    w->s = array_of(g, w->d.kind, g->units);
    w->all = scalar(g, w->d.kind, "0");
    const theme_loop row = theme_open(g, g->units);
    set(g, &w->s, row, share(g, w, row, form));
    gen_hk(g, "%s += %s[%s];", w->all.hk, w->s.hk, row.hk);
    gen_c(g, "%s = %s + %s[%s];", w->all.c, w->all.c, w->s.c, row.c);
    theme_close(g, row);
    if (!w->divides) w->all = theme_declare(g, w->d.kind, quotient(g, theme_value("1", "1", K_I32), w->all));
}

// --- Sums ---

static gen_cell cell_of(gen *g, int number, theme_loop row, const theme_loop *at)
{
    const diff_param *p = &g->program->params[SUMS];
    const gen_field *f = &g->row[SUMS]->field[number];
    if (p->is_table) {
        const char *hk = gen_print(g, "%s[%s].%s", p->name, row.hk, f->hk);
        return (gen_cell){SUMS, f->leaf, f->kind, at ? gen_print(g, "%s[%s]", hk, at->hk) : hk, row.c, at ? at->c : "0"};
    }
    const char *hk = gen_print(g, "%s.%s", p->name, f->hk);
    hk = at ? element_of(g, hk, f, row.hk, at->hk) : gen_print(g, "%s[%s]", hk, row.hk);
    return (gen_cell){SUMS, f->leaf, f->kind, hk, "0", at ? gen_print(g, "%s * %" PRIu64 " + %s", row.c, g->length, at->c) : row.c};
}

static void add_products(gen *g, int number, theme_loop row, gen_value factor)
{
    const gen_field *x = &g->in->field[g->array];
    for (int i = 0; number && i < g->in->field_count; i++)
        if (g->in->field[i].count) x = &g->in->field[i];
    const theme_loop at = theme_open(g, g->length);
    gen_value v = mine(g, x, at.hk, at.c);
    if (gen_chance(g, 20)) v = theme_declare(g, gen_common(v.kind, K_F32), gen_product(g, v, factor));         // two products, one more rounding
    for (int times = gen_chance(g, 8) ? 2 : 1; times > 0; times--)
        gen_accumulate_value(g, cell_of(g, number, row, &at), gen_chance(g, 50) ? gen_product(g, factor, v) : gen_product(g, v, factor));
    theme_close(g, at);
}

static void add_weight(gen *g, const weights *w, theme_loop row, gen_value cost)
{
    const gen_record *r = g->row[SUMS];
    const diff_kind kind = w->s.kind;
    const gen_value s = element(g, &w->s, row);
    gen_value u = theme_declare(g, kind, w->divides ? quotient(g, s, w->all) : gen_product(g, s, w->all));
    if (gen_chance(g, 50)) u = theme_declare(g, gen_chance(g, 80) ? kind : K_F32, gen_product(g, u, u));
    const bool some = gen_chance(g, 20);
    if (some) gen_open(g, gen_print(g, "if (%s > 0.0625f) ", u.hk), gen_print(g, "if (%s > 0.0625f) ", u.c));
    add_products(g, 0, row, u);
    if (r->field_count > 3) add_products(g, 3, row, u);
    gen_accumulate_value(g, cell_of(g, 1, row, NULL), u);
    if (r->field_count > 2) gen_accumulate_value(g, cell_of(g, 2, row, NULL), theme_value("1", "1", K_I32));
    const gen_value d = element(g, &w->d, row);
    const char *x = gen_converted(g, u, kind);
    gen_hk(g, "%s += %s * %s;", cost.hk, u.hk, d.hk);
    gen_c(g, "%s = fma%s(%s, %s, %s);", cost.c, kind == K_F32 ? "f" : "", x, d.c, cost.c);
    if (some) gen_close(g);
}

static void add_to_all(gen *g, const weights *w, gen_value cost)
{
    const int param = ROWS + 1;
    if (g->program->param_count <= param) return;
    const gen_value v[] = {cost, w->least, w->all, theme_value("1", "1", K_I32)};
    for (int i = 0; i < 4; i++) {
        const gen_field *f = &g->row[param]->field[i];
        gen_accumulate_value(g, (gen_cell){param, f->leaf, f->kind, gen_print(g, "%s.%s", g->program->params[param].name, f->hk), "0", "0"}, v[i]);
    }
}

void gen_weights(gen *g)
{
    weights w;
    may_fail(g);
    make_distances(g, &w);
    may_fail(g);
    make_shares(g, &w);
    const gen_value cost = scalar(g, w.d.kind, "0");
    const theme_loop row = theme_open(g, g->units);
    add_weight(g, &w, row, cost);
    theme_close(g, row);
    may_fail(g);
    add_to_all(g, &w, cost);
    gen_declare(g, w.d);                // what the function gives may be of them
    gen_declare(g, w.s);
    gen_declare(g, (gen_symbol){.hk = cost.hk, .c = cost.c, .kind = cost.kind, .table = -1});
}
