// SPDX-License-Identifier: Apache-2.0
// Loops in one another over arrays: of the record (of one dimension and two), of the function and of the sums. Inner bounds may be an outer counter or come
// from the data, indices may be shifted, turned round or made of two counters, loops may be left early; what is read and written in them is anything in sight.
#include "gen_theme.h"

#include <inttypes.h>

enum { SUMS = 1, DEEPEST = 3 };

const gen_record *gen_nest_input(gen *g)
{
    static const uint64_t lengths[] = {2, 3, 4, 5, 7, 8, 9, 12, 16, 17};
    static const diff_kind kinds[] = {K_F32, K_F32, K_F32, K_F64, K_I32, K_U8, K_I16, K_U32};
    g->units = theme_one_of(g, lengths, 8);
    g->length = theme_one_of(g, lengths, 10);
    gen_wish wish[5];
    int count = 0;
    wish[count++] = (gen_wish){K_U32, 0, 0};
    wish[count++] = (gen_wish){gen_chance(g, 60) || g->options.no_double ? K_F32 : kinds[gen_below(g, 8)], g->length, 0};
    if (gen_chance(g, 70)) wish[count++] = (gen_wish){g->options.no_double ? K_F32 : kinds[gen_below(g, 8)], g->units, g->length};
    if (gen_chance(g, 50)) wish[count++] = (gen_wish){gen_chance(g, 70) ? K_F32 : K_I64, gen_chance(g, 50) ? g->units : 0, 0};
    g->array = 1;
    return gen_wished_record(g, "item", wish, count);
}

void gen_nest_params(gen *g)
{
    const uint64_t n = g->units, length = g->length, rows = gen_chance(g, 40) ? 1 + (uint64_t)gen_below(g, 5) : 0;
    const bool flat = gen_chance(g, 30);
    const gen_wish sums[] = {{g->options.no_double || gen_chance(g, 70) ? K_F32 : K_F64, flat ? n * length : n, flat ? 0 : length},
                             {gen_chance(g, 60) ? K_F32 : K_I64, length, 0},
                             {gen_chance(g, 50) ? K_F32 : K_U32, 0, 0}};
    const gen_wish net[] = {{K_F32, length, gen_chance(g, 50) ? n : 0}, {K_F32, n, 0}};
    theme_param(g, true, "t", rows, gen_wished_record(g, "row1", sums, 3));
    if (gen_chance(g, 60)) theme_param(g, false, "b", gen_chance(g, 40) ? 1 + (uint64_t)gen_below(g, 4) : 0, gen_wished_record(g, "row2", net, 2));
}

// --- Loops ---

typedef struct nest {
    theme_loop loop[DEEPEST];
    uint64_t turns[DEEPEST];
    int depth;
} nest;

// From an outer counter on, or below it; or below what the record says.
static theme_loop open_inner(gen *g, uint64_t turns, const theme_loop *outer, uint64_t outer_turns)
{
    const theme_loop l = {gen_user_name(g, "i"), gen_name(g, "i"), gen_scope(g)};
    const gen_field *f = &g->in->field[0];
    const char *hk, *c;
    if (outer && outer_turns <= turns && gen_chance(g, 60)) {
        const bool from = gen_chance(g, 50);
        hk = from ? gen_print(g, "for (uint32_t %s = %s; %s < %" PRIu64 "; %s++) ", l.hk, outer->hk, l.hk, turns, l.hk)
                  : gen_print(g, "for (uint32_t %s = 0; %s <= %s; %s++) ", l.hk, l.hk, outer->hk, l.hk);
        c = from ? gen_print(g, "for (uint32_t %s = %s; %s < %" PRIu64 "; %s++) ", l.c, outer->c, l.c, turns, l.c)
                 : gen_print(g, "for (uint32_t %s = 0; %s <= %s; %s++) ", l.c, l.c, outer->c, l.c);
    } else {
        hk = gen_print(g, "for (uint32_t %s = 0; %s < %s.%s %% %" PRIu64 "u; %s++) ", l.hk, l.hk, g->left, f->hk, turns + 1, l.hk);
        c = gen_print(g, "for (uint32_t %s = 0; %s < (*in).%s %% %" PRIu64 "u; %s++) ", l.c, l.c, f->c, turns + 1, l.c);
    }
    gen_open(g, hk, c);
    gen_declare(g, (gen_symbol){.hk = l.hk, .c = l.c, .kind = K_U32, .table = -1, .below = turns});
    return l;
}

static void open_one(gen *g, nest *n)
{
    const uint64_t turns = n->depth % 2 ? g->length : g->units;
    const theme_loop *outer = n->depth ? &n->loop[n->depth - 1] : NULL;
    n->turns[n->depth] = turns;
    n->loop[n->depth] = gen_chance(g, 25) && n->depth ? open_inner(g, turns, outer, n->turns[n->depth - 1])
                        : gen_chance(g, 15)           ? theme_open_backwards(g, turns)
                                                      : theme_open(g, turns);
    n->depth++;
}

static void close_one(gen *g, nest *n) { theme_close(g, n->loop[--n->depth]); }

// A counter of the nest, or something of it that stays below `limit`.
static theme_loop place_in(gen *g, const nest *n, uint64_t limit)
{
    for (int i = n->depth - 1; i >= 0; i--) {
        const theme_loop at = n->loop[i];
        if (n->turns[i] > limit || gen_chance(g, 25)) continue;
        if (gen_chance(g, 70)) return at;
        if (gen_chance(g, 50))
            return (theme_loop){gen_print(g, "%" PRIu64 " - %s", limit - 1, at.hk), gen_print(g, "%" PRIu64 " - %s", limit - 1, at.c), 0};
        return (theme_loop){gen_print(g, "(%s + 1) %% %" PRIu64, at.hk, limit), gen_print(g, "(%s + 1) %% %" PRIu64, at.c, limit), 0};
    }
    const theme_loop at = n->loop[0];
    return (theme_loop){gen_print(g, "(uint32_t)%s %% %" PRIu64, at.hk, limit), gen_print(g, "(uint32_t)%s %% %" PRIu64, at.c, limit), 0};
}

// --- What is done in them ---

static gen_value of_record(gen *g, const nest *n)
{
    const gen_field *f = &g->in->field[1 + gen_below(g, g->in->field_count - 1)];
    gen_value v = theme_value(gen_print(g, "%s.%s", g->left, f->hk), gen_print(g, "(*in).%s", f->c), f->kind);
    const uint64_t dims[] = {f->count, f->count2};
    for (int d = 0; d < 2 && dims[d]; d++) {
        const theme_loop at = place_in(g, n, dims[d]);
        v.hk = gen_print(g, "%s[%s]", v.hk, at.hk);
        v.c = gen_print(g, "%s[%s]", v.c, at.c);
    }
    return v;
}

static gen_value something(gen *g, const nest *n)
{
    const gen_value a = of_record(g, n);
    if (gen_chance(g, 20)) return a;
    if (gen_chance(g, 50)) return gen_product(g, a, of_record(g, n));
    return gen_chance(g, 60) ? gen_mix(g) : gen_expr(g, 2);
}

// `array[at] = v`, or more of what it was.
static void put(gen *g, const nest *n, const gen_symbol *array)
{
    const theme_loop at = place_in(g, n, array->count);
    const gen_value v = theme_declare(g, K_F32, something(g, n));
    if (gen_chance(g, 50)) {
        theme_set(g, array, at, v);
        return;
    }
    const gen_value x = theme_declare(g, K_F32, of_record(g, n));
    gen_hk(g, "%s[%s] += %s * %s;", array->hk, at.hk, v.hk, x.hk);
    gen_c(g, "%s[%s] = fmaf(%s, %s, %s[%s]);", array->c, at.c, v.c, x.c, array->c, at.c);
}

static void add(gen *g, const nest *n, int number)
{
    const diff_param *p = &g->program->params[SUMS];
    const gen_field *f = &g->row[SUMS]->field[number];
    const theme_loop a = place_in(g, n, g->units), b = place_in(g, n, g->length);
    const char *row = "0", *hk = p->name, *element = "0";
    if (p->is_table) {
        const theme_loop r = place_in(g, n, p->rows);
        row = r.c;
        hk = gen_print(g, "%s[%s]", hk, r.hk);
    }
    hk = gen_print(g, "%s.%s", hk, f->hk);
    if (number == 0) {
        hk = f->count2 ? gen_print(g, "%s[%s][%s]", hk, a.hk, b.hk) : gen_print(g, "%s[(%s) * %" PRIu64 " + %s]", hk, a.hk, g->length, b.hk);
        element = gen_print(g, "(uint64_t)(%s) * %" PRIu64 " + %s", a.c, g->length, b.c);
    } else if (number == 1) {
        hk = gen_print(g, "%s[%s]", hk, b.hk);
        element = b.c;
    }
    gen_accumulate_value(g, (gen_cell){SUMS, f->leaf, f->kind, hk, row, element}, something(g, n));
}

// A record that fails where the counters meet what it says.
static void may_fail(gen *g, const nest *n)
{
    if (!g->program->may_fail || !gen_chance(g, 40)) return;
    const gen_field *f = &g->in->field[0];
    const char *i = n->loop[n->depth - 1].hk, *c = n->loop[n->depth - 1].c, *name = gen_user_name(g, "q"), *c_name = gen_name(g, "v");
    const int every = gen_chance(g, 50) ? 400 : 40000;
    gen_hk(g, "uint64_t %s = 7ul %% (hash(%s.%s + (uint32_t)%s) %% %dul);", name, g->left, f->hk, i, every);
    gen_c(g, "const uint64_t %s = rem_u64(ctx, 7ul, hash_of((uint32_t)((*in).%s + (uint32_t)%s)) %% %dul);", c_name, f->c, c, every);
    gen_declare(g, (gen_symbol){.hk = name, .c = c_name, .kind = K_U64, .table = -1});
}

static void leave(gen *g, const nest *n)
{
    static const char *const how[] = {"break;", "continue;", "continue;"};
    const theme_loop last = n->loop[n->depth - 1];
    const char *word = how[gen_below(g, 3)];
    if (gen_chance(g, 50)) {
        const gen_value cond = gen_comparison(g, 1);
        gen_open(g, gen_print(g, "if (%s) ", gen_argument(cond)), gen_print(g, "if (%s) ", cond.c));
    } else {
        gen_open(g, gen_print(g, "if (%s %% 3 == 1) ", last.hk), gen_print(g, "if (%s %% 3 == 1) ", last.c));
    }
    gen_hk(g, "%s", word);
    gen_c(g, "%s", word);
    gen_close(g);
}

static void work(gen *g, const nest *n, const gen_symbol *arrays)
{
    may_fail(g, n);
    if (gen_chance(g, 15)) leave(g, n);
    for (int i = 1 + gen_below(g, 2); i > 0; i--) {
        if (gen_chance(g, 50)) put(g, n, &arrays[gen_below(g, 2)]);
        else add(g, n, gen_below(g, 3));
    }
}

static void nested(gen *g, nest *n, int depth, const gen_symbol *arrays)
{
    open_one(g, n);
    if (depth == 1 || gen_chance(g, 40)) work(g, n, arrays);
    if (depth > 1) nested(g, n, depth - 1, arrays);
    if (depth > 1 && gen_chance(g, 25)) nested(g, n, 1, arrays);
    if (depth > 1 && gen_chance(g, 40)) work(g, n, arrays);
    close_one(g, n);
}

void gen_nest(gen *g)
{
    gen_symbol arrays[] = {theme_array(g, g->units), theme_array(g, g->length)};
    for (int i = 0; i < 2; i++) gen_declare(g, arrays[i]);
    for (int times = 1 + gen_below(g, 3); times > 0; times--) {
        nest n = {.depth = 0};
        nested(g, &n, 2 + gen_chance(g, 30), arrays);
    }
}
