// SPDX-License-Identifier: Apache-2.0
// Functions of shapes that the compiler has forms of its own for, which choices among all statements would hardly
// ever make: their records fit them, and what is random is what stands in them.
#include "gen_theme.h"

#include <inttypes.h>

enum { MOST_SUMS = 1000 /* of a layer: the reference adds up each by big integers */, ACCUM_FIRST = 1 };

uint64_t theme_one_of(gen *g, const uint64_t *numbers, int count) { return numbers[gen_below(g, count)]; }

static diff_kind scalar_kind(gen *g)
{
    const diff_kind kind = gen_kind(g);
    return kind == K_BOOL ? K_U32 : kind;
}

gen_value theme_value(const char *hk, const char *c, diff_kind kind) { return (gen_value){.hk = hk, .c = c, .level = LEVEL_LEAF, .kind = kind}; }

// --- Records ---

// The array that the theme is about, among others: as it is in a neural net's samples or KMeans' points.
static const gen_record *input_with_array(gen *g)
{
    static const uint64_t lengths[] = {32, 33, 36, 40, 47, 49, 50, 61, 64, 71};
    gen_wish wish[5];
    const bool vectors = gen_chance(g, g->program->theme == DIFF_LAYER ? 15 : 50);         // everything lies at multiples of four floats
    int count = gen_below(g, 3);
    for (int i = 0; i < count; i++) wish[i] = vectors ? (gen_wish){K_F32, 4, 0} : (gen_wish){scalar_kind(g), gen_chance(g, 20) ? 3 : 0, 0};
    g->array = gen_below(g, count + 1);
    wish[count++] = wish[g->array];
    g->length = theme_one_of(g, lengths, sizeof lengths / sizeof *lengths);
    if (vectors) g->length = g->length / 16 * 16;
    wish[g->array] = (gen_wish){g->program->theme == DIFF_NEAREST && !vectors && gen_chance(g, 15) ? K_F64 : K_F32, g->length, 0};
    return gen_wished_record(g, "item", wish, count);
}

static const gen_record *input_of_numbers(gen *g)
{
    static const diff_kind keys[] = {K_U32, K_U32, K_U16, K_U8, K_I32, K_U64};
    const bool keyed = g->program->theme == DIFF_BY_KEY, alike = !keyed && gen_chance(g, 60);       // a product of two kinds is one of converted numbers
    const diff_kind real = gen_chance(g, 70) || g->options.no_double ? K_F32 : K_F64;
    gen_wish wish[5];
    int count = 0;
    if (keyed) wish[count++] = (gen_wish){keys[gen_below(g, 6)], 0, 0};
    for (int more = (keyed ? 1 : 2) + gen_below(g, 3); more > 0; more--)
        wish[count++] = (gen_wish){alike                                       ? real
                                   : keyed || gen_chance(g, 15)                ? scalar_kind(g)
                                   : gen_chance(g, 70) || g->options.no_double ? K_F32
                                                                               : K_F64,
                                   keyed || gen_chance(g, 80) ? 0 : 2 + (uint64_t)gen_below(g, 11), 0};
    return gen_wished_record(g, "item", wish, count);
}

const gen_record *gen_theme_input(gen *g)
{
    switch (g->program->theme) {
    case DIFF_LAYER: case DIFF_NEAREST: return input_with_array(g);
    case DIFF_WEIGHTS: return gen_weights_input(g);
    case DIFF_NEST: return gen_nest_input(g);
    default: return input_of_numbers(g);
    }
}

// --- Parameters ---

diff_param *theme_param(gen *g, bool accum, const char *plain, uint64_t rows, const gen_record *row)
{
    const int i = g->program->param_count++;
    diff_param *p = &g->program->params[i];
    p->kind = accum ? DIFF_ACCUM : DIFF_BROADCAST;
    p->is_table = rows > 0;
    p->rows = rows ? rows : 1;
    p->name = gen_user_name(g, plain);
    g->row[i] = row;
    g->program->row_name[i] = row->hk;
    for (int l = 0; l < DIFF_LEAVES; l++) p->law[l] = L_SUM;
    return p;
}

static void layer_params(gen *g)
{
    static const uint64_t units[] = {3, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20};     // loops of up to eight turns are unrolled
    g->units = theme_one_of(g, units, sizeof units / sizeof *units);
    if (g->units * g->length > MOST_SUMS) g->units = MOST_SUMS / g->length;
    const bool flat = gen_chance(g, 30);
    const uint64_t local = g->units >= 16 ? g->units : 16 + (uint64_t)gen_below(g, 10), rows = 1 + (uint64_t)gen_below(g, 3);
    const gen_wish net[] = {{K_F32, g->units, g->length}, {K_F32, g->units, 0}};
    const gen_wish sums[] = {{K_F32, flat ? g->units * g->length : g->units, flat ? 0 : g->length},
                             {gen_chance(g, 80) || g->options.no_double ? K_F32 : K_F64, g->units, 0},
                             {K_F32, rows, local}};
    theme_param(g, true, "t", 0, gen_wished_record(g, "row1", sums, gen_chance(g, 60) ? 3 : 2));
    if (gen_chance(g, 80)) theme_param(g, false, "b", gen_chance(g, 25) ? 1 + (uint64_t)gen_below(g, 3) : 0, gen_wished_record(g, "row2", net, 2));
}

static void nearest_params(gen *g)
{
    static const uint64_t rows[] = {1, 2, 5, 7, 9, 16, 16, 40};
    const diff_kind kind = g->in->field[g->array].kind;
    g->units = theme_one_of(g, rows, sizeof rows / sizeof *rows);
    const gen_wish sums[] = {{gen_chance(g, 80) || g->options.no_double ? K_F32 : K_F64, g->length, 0},
                             {K_U32, 0, 0},
                             {scalar_kind(g), 0, 0}},
                   centre[] = {{kind, g->length, 0}, {kind, 4, 0}};
    theme_param(g, true, "t", g->units, gen_wished_record(g, "row1", sums, 1 + gen_below(g, 3)));
    theme_param(g, false, "b", g->units, gen_wished_record(g, "row2", centre, 1 + gen_below(g, 2)));
}

static diff_law any_law(gen *g, diff_kind kind)
{
    static const diff_law laws[] = {L_SUM, L_MIN, L_MAX, L_AND, L_OR, L_XOR};
    return gen_chance(g, 60) ? L_SUM : laws[gen_below(g, gen_is_float(kind) ? 3 : 6)];
}

// Tables with so many rows that they have no room in local memory, of whatever size that is.
static void by_key_params(gen *g)
{
    static const uint64_t rows[] = {20, 100, 400, 700, 1000, 1000, 1000, 2000, 5000}, many[] = {1500, 2000, 3000, 5000};
    static const diff_kind kinds[] = {K_F32, K_F32, K_F32, K_U32, K_I32, K_I64, K_I64, K_F64, K_I64, K_I64};
    gen_wish wish[4];
    const bool wide = gen_chance(g, 50);            // integers of 64 bits: so many rows, of so few fields, that they go by way of tuples
    const int fields = wide ? 1 + gen_below(g, 2) : gen_chance(g, 12) ? 4 : 1 + gen_below(g, 3);
    const bool counts = !wide && gen_chance(g, 20);      // whole numbers alone
    for (int i = 0; i < fields; i++)
        wish[i] = (gen_wish){wide                   ? i == 0              ? K_I64
                                                      : gen_chance(g, 50) ? K_F32
                                                                          : K_U32
                             : counts               ? K_U32
                             : g->options.no_double ? K_F32
                                                    : kinds[gen_below(g, 10)],
                             0, 0};
    g->units = wide ? theme_one_of(g, many, 4) : theme_one_of(g, rows, fields > 2 ? 7 : 9);
    diff_param *p = theme_param(g, true, "t", g->units, gen_wished_record(g, "row1", wish, fields));
    for (int i = 0; i < fields; i++) p->law[i] = wide || counts || wish[i].kind == K_F64 || wish[i].kind == K_I64 ? L_SUM : any_law(g, wish[i].kind);
}

static void totals_params(gen *g)
{
    for (int params = 1 + gen_below(g, 2), i = 0; i < params; i++) {
        gen_wish wish[5];
        const int fields = 1 + gen_below(g, 5);
        const bool doubles = gen_chance(g, 30);
        for (int k = 0; k < fields; k++)
            wish[k] = (gen_wish){(doubles || gen_chance(g, 25)) && !g->options.no_double ? K_F64
                                 : gen_chance(g, 85)                                     ? K_F32
                                                                                         : scalar_kind(g),
                                 gen_chance(g, 60) ? 0 : 2 + (uint64_t)gen_below(g, 18), 0};
        theme_param(g, true, gen_print(g, "t%d", i), gen_chance(g, 10) ? 2 : 0, gen_wished_record(g, gen_print(g, "row%d", i + 1), wish, fields));
    }
}

void gen_theme_params(gen *g)
{
    static void (*const make[DIFF_THEMES])(gen *) = {NULL, layer_params, nearest_params, by_key_params, totals_params, gen_weights_params, gen_nest_params};
    make[g->program->theme](g);
}

// --- Text ---

// A counted loop, which ends whatever the data are.
theme_loop theme_open(gen *g, uint64_t turns)
{
    const theme_loop l = {gen_user_name(g, "i"), gen_name(g, "i"), gen_scope(g)};
    gen_open(g, gen_print(g, "for (uint32_t %s = 0; %s < %" PRIu64 "; %s++) ", l.hk, l.hk, turns, l.hk),
             gen_print(g, "for (uint32_t %s = 0; %s < %" PRIu64 "; %s++) ", l.c, l.c, turns, l.c));
    gen_declare(g, (gen_symbol){.hk = l.hk, .c = l.c, .kind = K_U32, .table = -1, .below = turns});
    return l;
}

// The same backwards.
theme_loop theme_open_backwards(gen *g, uint64_t turns)
{
    const theme_loop l = {gen_user_name(g, "i"), gen_name(g, "i"), gen_scope(g)};
    const int by = 1 + gen_below(g, 3);
    const char *text = gen_chance(g, 50) ? "for (int32_t %s = %" PRIu64 "; %s >= 0; %s -= %d) " : "for (int32_t %s = %" PRIu64 "; %s > -1; %s -= %d) ";
    gen_open(g, gen_print(g, text, l.hk, turns - 1, l.hk, l.hk, by), gen_print(g, text, l.c, turns - 1, l.c, l.c, by));
    gen_declare(g, (gen_symbol){.hk = l.hk, .c = l.c, .kind = K_I32, .table = -1, .below = turns});
    return l;
}

void theme_close(gen *g, theme_loop l)
{
    gen_close(g);
    gen_leave(g, l.scope);
}

gen_value theme_declare(gen *g, diff_kind kind, gen_value v)
{
    const char *hk = gen_user_name(g, "d"), *c = gen_name(g, "v");
    gen_hk(g, "%s %s = %s;", gen_c_type(kind), hk, gen_argument(v));
    gen_c(g, "const %s %s = %s;", gen_c_type(kind), c, gen_converted(g, v, kind));
    gen_declare(g, (gen_symbol){.hk = hk, .c = c, .kind = kind, .table = -1});
    return theme_value(hk, c, kind);
}

gen_symbol theme_array(gen *g, uint64_t count)
{
    const gen_symbol s = {.hk = gen_user_name(g, "v"), .c = gen_name(g, "v"), .kind = K_F32, .count = count, .table = -1};
    gen_hk(g, "float %s[%" PRIu64 "];", s.hk, count);
    gen_c(g, "float %s[%" PRIu64 "] = {0};", s.c, count);
    return s;
}

void theme_set(gen *g, const gen_symbol *array, theme_loop at, gen_value v)
{
    gen_hk(g, "%s[%s] = %s;", array->hk, at.hk, gen_argument(v));
    gen_c(g, "%s[%s] = %s;", array->c, at.c, gen_converted(g, v, K_F32));
}

// Element `at` of the record's array.
static gen_value element(gen *g, theme_loop at)
{
    const gen_field *f = &g->in->field[g->array];
    return theme_value(gen_print(g, "%s.%s[%s]", g->left, f->hk, at.hk), gen_print(g, "(*in).%s[%s]", f->c, at.c), f->kind);
}

static gen_value any_real(gen *g)
{
    const gen_value v = gen_chance(g, 70) ? gen_mix(g) : gen_expr(g, 2);
    return gen_is_float(v.kind) ? v : gen_cast(g, v, K_F32);
}

// `a * b`, in either order; or b by itself.
static gen_value scaled(gen *g, gen_value a, gen_value b)
{
    if (gen_chance(g, 10)) return b;
    return gen_chance(g, 50) ? gen_product(g, a, b) : gen_product(g, b, a);
}

// --- A layer ---

static int broadcast_of(const gen *g)
{
    for (int i = ACCUM_FIRST; i < g->program->param_count; i++)
        if (g->program->params[i].kind == DIFF_BROADCAST) return i;
    return 0;
}

// The dot of the record's array with row `unit` of the net, and what follows from it.
static gen_value unit_value(gen *g, theme_loop unit)
{
    const int net = broadcast_of(g);
    const gen_field *w = &g->row[net]->field[0], *x = &g->in->field[g->array];
    const char *row = g->program->params[net].is_table ? gen_print(g, "%s[0]", g->program->params[net].name) : g->program->params[net].name;
    const char *a = gen_print(g, "%s.%s[%s]", row, w->hk, unit.hk), *b = gen_print(g, "%s.%s", g->left, x->hk);
    const bool swap = gen_chance(g, 50);
    const char *c = gen_print(g,
                              swap ? "dot_f32((*in).%s, b%d[0].%s[%s], %" PRIu64 ")"
                                   : "dot_f32(b%2$d[0].%3$s[%4$s], (*in).%1$s, %5$" PRIu64 ")",
                              x->c, net, w->c, unit.c, g->length);
    const gen_value dot = theme_value(gen_print(g, "dot(%s, %s)", swap ? b : a, swap ? a : b), gen_temporary(g, K_F32, c), K_F32);
    return gen_chance(g, 60) ? gen_product(g, dot, theme_value("0.125f", "0.125f", K_F32)) : dot;
}

// To field `number` of the sums, at row `unit` and element `at` of it.
static void add_at(gen *g, int number, theme_loop unit, theme_loop at, uint64_t elements, gen_value v)
{
    const gen_field *f = &g->row[ACCUM_FIRST]->field[number];
    const char *name = g->program->params[ACCUM_FIRST].name;
    const char *hk = f->count2 ? gen_print(g, "%s.%s[%s][%s]", name, f->hk, unit.hk, at.hk)
                               : gen_print(g, "%s.%s[%s * %" PRIu64 " + %s]", name, f->hk, unit.hk, elements, at.hk);
    gen_accumulate_value(g, (gen_cell){ACCUM_FIRST, f->leaf, f->kind, hk, "0", gen_print(g, "%s * %" PRIu64 " + %s", unit.c, elements, at.c)}, v);
}

// What goes back of a unit: a factor, which all of the record's array takes.
static void add_unit(gen *g, theme_loop unit, gen_value from)
{
    const gen_field *bias = &g->row[ACCUM_FIRST]->field[1];
    const gen_value delta = theme_declare(g, K_F32, gen_chance(g, 70) ? from : any_real(g));
    if (gen_chance(g, 70)) {
        const char *hk = gen_print(g, "%s.%s[%s]", g->program->params[ACCUM_FIRST].name, bias->hk, unit.hk);
        gen_accumulate_value(g, (gen_cell){ACCUM_FIRST, bias->leaf, bias->kind, hk, "0", unit.c}, delta);
    }
    const theme_loop at = theme_open(g, g->length);
    add_at(g, 0, unit, at, g->length, scaled(g, delta, element(g, at)));
    theme_close(g, at);
}

// Sums of a factor times a local array.
static void add_local(gen *g, const gen_symbol *made)
{
    if (g->row[ACCUM_FIRST]->field_count < 3) return;
    const gen_field *f = &g->row[ACCUM_FIRST]->field[2];
    gen_symbol local = *made;
    if (local.count != f->count2) {
        local = theme_array(g, f->count2);
        const theme_loop at = theme_open(g, f->count2);
        theme_set(g, &local, at, gen_product(g, element(g, at), theme_declare(g, K_F32, any_real(g))));
        theme_close(g, at);
    }
    const theme_loop unit = theme_open(g, f->count);
    const gen_value delta = theme_declare(g, K_F32, any_real(g));
    const theme_loop at = theme_open(g, f->count2);
    add_at(g, 2, unit, at, f->count2, scaled(g, delta, theme_value(gen_print(g, "%s[%s]", local.hk, at.hk), gen_print(g, "%s[%s]", local.c, at.c), K_F32)));
    theme_close(g, at);
    theme_close(g, unit);
}

static void layer(gen *g)
{
    const bool net = broadcast_of(g);
    const gen_symbol hidden = theme_array(g, g->units);
    const bool apart = gen_chance(g, 60);           // all units first
    theme_loop unit = theme_open(g, g->units);
    const gen_value v = net ? unit_value(g, unit) : any_real(g);
    theme_set(g, &hidden, unit, v);
    const gen_value made = theme_value(gen_print(g, "%s[%s]", hidden.hk, unit.hk), gen_print(g, "%s[%s]", hidden.c, unit.c), K_F32);
    if (!apart) add_unit(g, unit, made);
    theme_close(g, unit);
    gen_declare(g, hidden);
    if (apart) {
        unit = theme_open(g, g->units);
        add_unit(g, unit, theme_value(gen_print(g, "%s[%s]", hidden.hk, unit.hk), gen_print(g, "%s[%s]", hidden.c, unit.c), K_F32));
        theme_close(g, unit);
    }
    add_local(g, &hidden);
}

// --- A nearest row ---

static gen_value distance(gen *g, theme_loop row)
{
    const int table = broadcast_of(g);
    const gen_field *f = &g->row[table]->field[0], *x = &g->in->field[g->array];
    const char *name = g->program->params[table].name, *dot = gen_print(g, "dot(%s[%s].%s, %s.%s)", name, row.hk, f->hk, g->left, x->hk);
    const char *c = gen_print(g, "dot_%s(b%d[%s].%s, (*in).%s, %" PRIu64 ")", gen_suffix(x->kind), table, row.c, f->c, x->c, g->length);
    if (gen_chance(g, 60)) return theme_value(dot, gen_temporary(g, x->kind, c), x->kind);
    const char *sum = gen_user_name(g, "s"), *c_sum = gen_name(g, "v"), *type = gen_c_type(x->kind);
    gen_hk(g, "%s %s = 0;", type, sum);
    gen_c(g, "%s %s = 0;", type, c_sum);
    const theme_loop at = theme_open(g, g->length);
    const gen_value mine = element(g, at);
    gen_hk(g, "%s += abs(%s - %s[%s].%s[%s]);", sum, mine.hk, name, row.hk, f->hk, at.hk);
    gen_c(g, "%s += fabs%s(%s - b%d[%s].%s[%s]);", c_sum, x->kind == K_F32 ? "f" : "", mine.c, table, row.c, f->c, at.c);
    theme_close(g, at);
    return theme_value(sum, c_sum, x->kind);
}

static gen_symbol nearest_row(gen *g)
{
    const diff_kind kind = g->in->field[g->array].kind;
    const gen_symbol best = {.hk = gen_user_name(g, "best"), .c = gen_name(g, "v"), .kind = K_U32, .table = -1,
                             .below = g->units},
                     least = {.hk = gen_user_name(g, "best_d"), .c = gen_name(g, "v"), .kind = kind, .table = -1};
    gen_hk(g, "uint32_t %s = 0;", best.hk);
    gen_c(g, "uint32_t %s = 0;", best.c);
    gen_hk(g, "%s %s = INFINITY;", gen_c_type(kind), least.hk);
    gen_c(g, "%s %s = INFINITY;", gen_c_type(kind), least.c);
    const theme_loop row = theme_open(g, g->units);
    const gen_value d = theme_declare(g, kind, distance(g, row));
    gen_hk(g, "if (%s < %s) { %s = %s; %s = %s; }", d.hk, least.hk, least.hk, d.hk, best.hk, row.hk);
    gen_c(g, "if (%s < %s) { %s = %s; %s = %s; }", d.c, least.c, least.c, d.c, best.c, row.c);
    theme_close(g, row);
    gen_declare(g, best);
    gen_declare(g, least);
    return best;
}

// The record's array, perhaps times a factor, to a row of the sums.
static void add_array(gen *g, const char *row, const char *c_row, const gen_value *factor)
{
    const gen_field *f = &g->row[ACCUM_FIRST]->field[0];
    const char *name = g->program->params[ACCUM_FIRST].name;
    const theme_loop at = theme_open(g, g->length);
    const gen_value x = element(g, at);
    gen_accumulate_value(
        g,
        (gen_cell){ACCUM_FIRST, f->leaf, f->kind, gen_print(g, "%s[%s].%s[%s]", name, row, f->hk, at.hk), c_row, at.c},
        factor ? scaled(g, *factor, x) : x);
    theme_close(g, at);
}

// All rows get something of each record, as in fuzzy clusters.
static void add_to_all(gen *g)
{
    const gen_symbol weight = theme_array(g, g->units);
    theme_loop row = theme_open(g, g->units);
    theme_set(g, &weight, row, any_real(g));
    theme_close(g, row);
    row = theme_open(g, g->units);
    const gen_value mine = theme_value(gen_print(g, "%s[%s]", weight.hk, row.hk), gen_print(g, "%s[%s]", weight.c, row.c), K_F32);
    add_array(g, row.hk, row.c, &mine);
    theme_close(g, row);
}

static void nearest(gen *g)
{
    if (gen_chance(g, 15)) {
        add_to_all(g);
        return;
    }
    const gen_symbol best = nearest_row(g);
    const gen_record *row = g->row[ACCUM_FIRST];
    const gen_value factor = gen_chance(g, 40) ? theme_declare(g, K_F32, any_real(g)) : (gen_value){0};
    add_array(g, best.hk, best.c, factor.hk ? &factor : NULL);
    for (int i = 1; i < row->field_count; i++) {
        const gen_field *f = &row->field[i];
        const char *hk = gen_print(g, "%s[%s].%s", g->program->params[ACCUM_FIRST].name, best.hk, f->hk);
        gen_accumulate_value(g, (gen_cell){ACCUM_FIRST, f->leaf, f->kind, hk, best.c, "0"}, i == 1 ? theme_value("1", "1", K_I32) : gen_expr(g, 2));
    }
}

// --- By key ---

// The row of a record: a remainder, some bits of a hash, or what a comparison of floats keeps in range, which no compiler can know.
static gen_value key(gen *g)
{
    const gen_field *f = &g->in->field[0];
    const gen_value k = theme_value(gen_print(g, "%s.%s", g->left, f->hk), gen_print(g, "(*in).%s", f->c), f->kind);
    const int which = gen_below(g, 3);
    if (which == 0) {
        const char *most = gen_print(g, "%" PRIu64 ".0f", g->units - 1);
        return theme_value(gen_print(g, "(uint32_t)min(fabs((float)%s), %s)", k.hk, most),
                        gen_temporary(g, K_U32, gen_print(g, "sat_u32(min_f32(fabsf((float)%s), %s))", k.c, most)),
                        K_U32);
    }
    if (which == 1)
        return theme_value(gen_print(g, "(uint32_t)(hash(%s) %% %" PRIu64 "ul)", k.hk, g->units),
                        gen_temporary(g, K_U32,
                                      gen_print(g, "(uint32_t)(hash_of((%s%s)%s) %% %" PRIu64 "ul)",
                                                gen_is_signed(f->kind) ? "u" : "", gen_c_type(f->kind), k.c, g->units)),
                        K_U32);
    const char *name = g->program->params[ACCUM_FIRST].name;
    return theme_value(gen_print(g, "(uint32_t)%s %% (uint32_t)len(%s)", k.hk, name),
                    gen_temporary(g, K_U32, gen_print(g, "(uint32_t)%s %% (uint32_t)ctx->rows[%d]", k.c, ACCUM_FIRST)),
                    K_U32);
}

// What is added to a row: mostly a field of the record, or a count. To integers of 64 bits often narrower ones, which pairs carry as they are.
static gen_value addend(gen *g, diff_kind to)
{
    static const diff_kind narrow[] = {K_I8, K_I16, K_I32, K_I32, K_U32};
    if (to == K_I64 && gen_chance(g, 70)) return gen_cast(g, addend(g, K_I32), narrow[gen_below(g, 5)]);
    const gen_field *f = &g->in->field[gen_below(g, g->in->field_count)];
    if (gen_chance(g, 20)) return theme_value("1", "1", K_I32);
    if (gen_chance(g, 25) || f->count) return gen_chance(g, 60) ? gen_mix(g) : gen_expr(g, 2);
    return theme_value(gen_print(g, "%s.%s", g->left, f->hk), gen_print(g, "(*in).%s", f->c), f->kind);
}

static void by_key(gen *g)
{
    const bool named = gen_chance(g, 85), some = gen_chance(g, 20);
    const gen_value row = named ? theme_declare(g, K_U32, key(g)) : key(g);
    if (some) {
        const gen_value cond = gen_condition(g, 2);
        gen_open(g, gen_print(g, "if (%s) ", gen_argument(cond)), gen_print(g, "if (%s) ", gen_converted(g, cond, K_BOOL)));
    }
    const gen_record *r = g->row[ACCUM_FIRST];
    const bool counts = g->program->params[ACCUM_FIRST].law[0] == L_SUM && gen_chance(g, 30);
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        const char *hk = gen_print(g, "%s[%s].%s", g->program->params[ACCUM_FIRST].name, row.hk, f->hk);
        if (gen_chance(g, 95))
            gen_accumulate_value(g, (gen_cell){ACCUM_FIRST, f->leaf, f->kind, hk, row.c, "0"},
                                 counts && !gen_is_float(f->kind) ? theme_value("1", "1", K_I32) : addend(g, f->kind));
    }
    if (some) gen_close(g);
}

// --- Totals ---

// A field, a product of two, a square, or a local value.
static gen_value term(gen *g)
{
    gen_symbol in = {.hk = g->left, .c = "(*in)", .record = g->in, .table = -1};
    const gen_value a = gen_inside(g, &in);
    const int which = gen_below(g, 10);
    if (which < 2) return a;
    if (which < 3) return gen_product(g, a, a);
    if (which < 8) return gen_product(g, a, gen_inside(g, &in));
    return any_real(g);
}

static void add_element(gen *g, int param, const gen_field *f, const char *hk_index, const char *index, gen_value v)
{
    const diff_param *p = &g->program->params[param];
    const char *field = gen_print(g, "%s%s.%s", p->name, p->is_table ? "[1]" : "", f->hk);
    gen_accumulate_value(g,
                         (gen_cell){param, f->leaf, f->kind, f->count ? gen_print(g, "%s[%s]", field, hk_index) : field,
                                    p->is_table ? "1" : "0", f->count ? index : "0"},
                         v);
}

// In one loop to all arrays that are as long, now and then to two elements of one.
static void add_elements(gen *g, int param, const gen_field *first)
{
    const gen_record *r = g->row[param];
    const theme_loop at = gen_chance(g, 25) ? theme_open_backwards(g, first->count) : theme_open(g, first->count);
    const gen_value near = theme_declare(g, gen_is_float(first->kind) ? first->kind : K_F32, any_real(g));
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        if (f->count < first->count) continue;
        add_element(g, param, f, at.hk, at.c, gen_chance(g, 50) ? near : term(g));
        if (gen_chance(g, 40)) add_element(g, param, f, gen_print(g, "%s / 2 * 2", at.hk), gen_print(g, "%s / 2 * 2", at.c), term(g));
        else if (f->count > first->count) add_element(g, param, f, gen_print(g, "%s + 1", at.hk), gen_print(g, "%s + 1", at.c), near);
    }
    theme_close(g, at);
}

static void add_total(gen *g, int param, const gen_field *f)
{
    if (f->count && gen_chance(g, 60)) {
        add_elements(g, param, f);
        return;
    }
    const char *e = gen_print(g, "%d", f->count ? gen_below(g, (int)f->count) : 0);
    add_element(g, param, f, e, e, term(g));
}

static void totals(gen *g)
{
    const gen_value near = theme_declare(g, g->in->field[0].kind == K_F64 ? K_F64 : K_F32, any_real(g));
    (void)near;         // for the terms that are local values
    for (int rounds = 1 + gen_below(g, 2); rounds > 0; rounds--)
        for (int i = ACCUM_FIRST; i < g->program->param_count; i++)
            for (int k = 0; k < g->row[i]->field_count; k++) add_total(g, i, &g->row[i]->field[k]);
}

void gen_theme_body(gen *g)
{
    static void (*const write[DIFF_THEMES])(gen *) = {NULL, layer, nearest, by_key, totals, gen_weights, gen_nest};
    const bool faults = g->faults;
    g->faults = false;
    write[g->program->theme](g);
    g->faults = faults;
}
