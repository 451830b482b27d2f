// SPDX-License-Identifier: Apache-2.0
// Random loops. Their bounds and conditions are any expressions. Some end whatever the data are; others end for most
// data only: counters that wrap before they reach their bound, conditions over what the body changes. The C
// translation counts their turns, and data that take too many are no data for the program (reference.c).
#include "gen.h"

#include <inttypes.h>

// Turns behind which a loop with a break of its own ends: few, or so many that a counter of 8 bits wraps.
enum { FEW_TURNS = 12, WRAPPING_TURNS = 300 };

static gen_value value(const char *hk, const char *c, int level, diff_kind kind) { return (gen_value){.hk = hk, .c = c, .level = level, .kind = kind}; }

static bool may_be_endless(const gen *g) { return !g->program->may_fail && g->program->shape != DIFF_FOLD; }

static void body(gen *g, int depth, const char *label)
{
    const char *outer_label = g->continue_label;
    const int switches = g->switches, scope = gen_scope(g);
    g->continue_label = label;
    g->switches = 0;
    g->loops++;
    gen_block(g, 1 + gen_below(g, 3), depth - 1);
    g->loops--;
    g->switches = switches;
    g->continue_label = outer_label;
    gen_leave(g, scope);
}

// --- Conditions ---

static gen_value counter_of(const gen *g) { return value(g->counter.hk, g->counter.c, LEVEL_LEAF, g->counter.kind); }

static gen_value compare(gen *g, gen_value a, const char *op, gen_value b)
{
    const int level = op[0] == '=' || op[0] == '!' ? LEVEL_EQUAL : LEVEL_LESS;
    const char *hk = gen_print(g, "%s %s %s", gen_wrapped(g, a, level), op, gen_wrapped(g, b, level + 1));
    return value(hk, gen_temporary(g, K_BOOL, gen_print(g, "%s %s %s", a.c, op, b.c)), level, K_BOOL);
}

// The counter below (or, going down, above) something that is at most `limit`.
static gen_value relation(gen *g, int depth, uint64_t limit)
{
    const gen_value i = counter_of(g), b = gen_chance(g, 60) ? gen_bounded_of(g, i.kind, 1, limit + 1) : gen_bounded(g, depth, limit + 1);
    if (g->counts_down) return gen_chance(g, 60) ? compare(g, i, ">", b) : compare(g, b, "<", i);
    switch (gen_below(g, 8)) {
    case 0: return compare(g, b, ">", i);
    case 1: {
        const gen_value not = compare(g, i, ">=", b);
        return value(gen_print(g, "!%s", gen_wrapped(g, not, LEVEL_UNARY + 1)), gen_temporary(g, K_BOOL, gen_print(g, "!%s", not.c)), LEVEL_UNARY, K_BOOL);
    }
    default: return compare(g, i, "<", b);
    }
}

// Beyond what a narrow counter reaches, now and then by one only. In a loop with a break alone: others that can be
// seen never to end have no meaning, and C compilers take what leads to them for something that is never run.
static gen_value far_bound(gen *g)
{
    static const char *const far[] = {"128", "200", "256", "300", "1000", "32768", "40000", "65536", "70000", "2147483648", "4294967296"};
    const char *text = far[gen_below(g, sizeof far / sizeof *far)];
    const gen_value b = value(text, text, LEVEL_LEAF, strlen(text) == 10 ? K_I64 : K_I32);
    if (gen_chance(g, 50)) return b;
    const gen_value low = gen_bounded_of(g, b.kind, 1, 64);
    const char *hk = gen_print(g, "%s - %s", text, gen_wrapped(g, low, LEVEL_ADD + 1));
    const diff_kind kind = gen_common(b.kind, low.kind);
    return value(hk, gen_typed(g, kind, gen_print(g, "%s - %s", text, low.c)), LEVEL_ADD, kind);
}

static gen_value any_relation(gen *g, int depth, uint64_t limit)
{
    static const char *const ops[] = {"<", "<=", ">", ">=", "!=", "=="};
    (void)limit;
    const gen_value i = counter_of(g), b = g->breaks && gen_chance(g, 40) ? far_bound(g)
                                           : gen_chance(g, 60) ? gen_bounded(g, depth, 1 + (uint64_t)gen_below(g, 300))
                                                               : gen_expr(g, depth);
    const int which = gen_chance(g, 60) ? gen_below(g, 2) : gen_below(g, 6);
    return gen_chance(g, 80) ? compare(g, i, ops[which], b) : compare(g, b, ops[which], i);
}

// `a && b` as C has it: b is worked out where a holds.
static gen_value both(gen *g, const gen_maker *a, const gen_maker *b)
{
    const gen_value x = a->make(g, a->depth, a->limit);
    const char *name = gen_name(g, "t");
    gen_c(g, "bool %s = %s;", name, gen_converted(g, x, K_BOOL));
    gen_c(g, "if (%s) {", name);
    g->indent++;
    const gen_value y = b->make(g, b->depth, b->limit);
    gen_c(g, "%s = %s;", name, gen_converted(g, y, K_BOOL));
    g->indent--;
    gen_c(g, "}");
    return value(gen_print(g, "%s && %s", gen_wrapped(g, x, LEVEL_LOGAND), gen_wrapped(g, y, LEVEL_LOGAND + 1)), name, LEVEL_LOGAND, K_BOOL);
}

static gen_value any_condition(gen *g, int depth, uint64_t limit)
{
    (void)limit;
    return gen_condition(g, depth);
}

// Holds only where `rel` does.
static gen_value condition(gen *g, const gen_maker *rel)
{
    const gen_maker other = {any_condition, 2, 0};
    switch (gen_below(g, 12)) {
    case 0: return both(g, rel, &other);
    case 1: return both(g, &other, rel);
    case 2: {
        const gen_value a = rel->make(g, rel->depth, rel->limit), b = gen_comparison(g, 2);
        const char *hk = gen_print(g, "%s & %s", gen_wrapped(g, a, LEVEL_AND), gen_wrapped(g, b, LEVEL_AND + 1));
        return value(hk, gen_typed(g, K_I32, gen_print(g, "%s & %s", a.c, b.c)), LEVEL_AND, K_I32);
    }
    case 3: return gen_ternary(g, 1, rel);
    default: return rel->make(g, rel->depth, rel->limit);
    }
}

// --- for ---

// The C of `for (...; condition; step) {`, up to the body; kernel text of the condition.
static const char *open_for(gen *g, const char *step, const gen_maker *rel)
{
    const char *again = gen_name(g, "t");
    gen_c(g, "for (bool %s = false;; %s = true) {", again, again);
    g->indent++;
    gen_c(g, "if (%s) { %s }", again, step);
    const gen_value cond = condition(g, rel);
    gen_c(g, "if (!(%s)) break;", gen_converted(g, cond, K_BOOL));
    gen_c(g, "diff_turn(ctx);");
    g->indent--;
    return cond.hk;
}

// Ends: it counts by a constant to an expression that stays below a limit.
static void counted_for(gen *g, int depth)
{
    static const diff_kind kinds[] = {K_U32, K_U32, K_I32, K_U64, K_I64, K_U8, K_I16, K_I8, K_U16};
    const gen_symbol outer = g->counter;
    const bool outer_down = g->counts_down;
    const diff_kind kind = kinds[gen_below(g, 9)];
    const char *i = gen_name(g, "i"), *user = gen_user_name(g, "i"), *type = gen_c_type(kind);
    const int limit = !g->loops && gen_chance(g, 20) ? 9 + gen_below(g, 32) : 1 + gen_below(g, 7), step = gen_chance(g, 70) ? 1 : 1 + gen_below(g, 3);
    const bool down = gen_chance(g, 15);
    const int scope = gen_scope(g);
    const gen_value start = down ? gen_bounded(g, 1, (uint64_t)limit) : gen_bounded(g, gen_chance(g, 70) ? 0 : 2, gen_chance(g, 50) ? 1 : 3);
    gen_c(g, "{");
    gen_c(g, "%s %s = %s;", type, i, gen_converted(g, start, kind));
    gen_declare(g, (gen_symbol){.hk = user, .c = i, .kind = kind, .table = -1});
    g->counter = g->symbol[g->symbol_count - 1];
    g->counts_down = down;
    const char *cond = open_for(g, gen_print(g, down ? "%s = (%s)(%s - 1);" : "%s = (%s)(%s + %d);", i, type, i, step),
                                &(gen_maker){relation, 2, (uint64_t)limit});
    gen_hk(g, "for (%s %s = %s; %s; %s%s) {", type, user, gen_argument(start), cond, user, down ? "--" : step == 1 ? "++" : gen_print(g, " += %d", step));
    g->indent++;
    g->symbol[g->symbol_count - 1].below = (uint64_t)limit;
    body(g, depth, NULL);
    gen_close(g);
    gen_c(g, "}");
    gen_leave(g, scope);
    g->counter = outer;
    g->counts_down = outer_down;
}

// A constant number of turns: what is unrolled when it is small, and runs over the elements of arrays when not.
static void constant_for(gen *g, int depth)
{
    static const diff_kind kinds[] = {K_U32, K_U32, K_I32, K_U64, K_I64, K_U8, K_I16};
    const diff_kind kind = kinds[gen_below(g, 7)];
    const char *i = gen_name(g, "i"), *user = gen_user_name(g, "i"), *type = gen_c_type(kind);
    const bool elements = !g->loops && gen_chance(g, 50);          // of arrays: more turns than are unrolled
    const int lo = elements ? 0 : gen_below(g, 3), hi = elements ? 9 + gen_below(g, 32) : lo + gen_below(g, 6),
              step = elements || gen_chance(g, 70) ? 1 : 1 + gen_below(g, 3);
    const int scope = gen_scope(g);
    gen_open(g,
             gen_print(g, "for (%s %s = %d; %s %s %d; %s%s) ", type, user, lo, user, step == 1 && gen_chance(g, 20) ? "!=" : "<", hi, user,
                       step == 1 ? "++" : gen_print(g, " += %d", step)),
             gen_print(g, "for (%s %s = %d; %s < %d; %s += %d) ", type, i, lo, i, hi, i, step));
    gen_c(g, "diff_turn(ctx);");
    gen_declare(g, (gen_symbol){.hk = user, .c = i, .kind = kind, .table = -1, .below = hi ? (uint64_t)hi : 1});
    body(g, depth, NULL);
    gen_close(g);
    gen_leave(g, scope);
}

// --- Loops that may be endless ---

typedef struct step {
    const char *hk, *c;
} step;

// Also past the ends of its type.
static step any_step(gen *g, const char *user, const char *i, diff_kind kind)
{
    const char *type = gen_c_type(kind);
    const int by = gen_chance(g, 50) ? 1 + gen_below(g, 3) : 1 + gen_below(g, 100);
    switch (gen_below(g, gen_is_float(kind) ? 3 : 8)) {
    case 0: return (step){gen_print(g, "%s += %d", user, by), gen_print(g, "%s = (%s)(%s + %d);", i, type, i, by)};
    case 1: return (step){gen_print(g, "%s -= %d", user, by), gen_print(g, "%s = (%s)(%s - %d);", i, type, i, by)};
    case 2: return (step){gen_print(g, "%s--", user), gen_print(g, "%s = (%s)(%s - 1);", i, type, i)};
    case 3: return (step){gen_print(g, "%s >>= 1", user), gen_print(g, "%s = (%s)SHR(%s, 1);", i, type, i)};
    default: return (step){gen_print(g, gen_chance(g, 50) ? "%s++" : "++%s", user), gen_print(g, "%s = (%s)(%s + 1);", i, type, i)};
    }
}

static diff_kind narrow_kind(gen *g)
{
    static const diff_kind kinds[] = {K_U8, K_U8, K_I8, K_U16, K_I16, K_I32, K_U32, K_I64, K_F32};
    return kinds[gen_below(g, 9)];
}

// Somewhere, or not far from an end of its type.
static gen_value any_start(gen *g, diff_kind kind)
{
    static const char *const ends[] = {"0",     "127",        "-128",        "255",        "32767", "-32768",
                                       "65535", "2147483647", "-2147483647", "4294967295", "0",     "250",
                                       "120",   "-2",         "100",         "65530"};
    if (gen_is_float(kind) || gen_chance(g, 40)) return gen_chance(g, 50) ? gen_bounded(g, 2, 200) : gen_integer(g, 2);
    const char *end = ends[gen_below(g, 16)];
    const bool wide = strlen(end) == 10 && end[0] == '4';
    return value(end, end, end[0] == '-' ? LEVEL_UNARY : LEVEL_LEAF, wide ? K_I64 : K_I32);
}

// `if (n == N) break;` with a count of its own; where the loop begins.
static void break_behind(gen *g, const char *user, const char *n, int turns)
{
    gen_hk(g, "%s++;", user);
    gen_c(g, "%s++;", n);
    gen_hk(g, gen_chance(g, 50) ? "if (%s == %d) break;" : "if (%s >= %d) break;", user, turns);
    gen_c(g, "if (%s >= %d) break;", n, turns);
}

typedef enum kind_of_loop { FOR_LOOP, WHILE_LOOP, DO_LOOP } kind_of_loop;

static void endless_body(gen *g, int depth, const char *label, const char *breaks_user, const char *breaks, int turns)
{
    g->indent++;
    if (breaks) break_behind(g, breaks_user, breaks, turns);
    if (turns < WRAPPING_TURNS) body(g, depth, label);
    else body(g, 1, label);
    g->indent--;
}

static void endless_loop(gen *g, int depth)
{
    const kind_of_loop form = (kind_of_loop)gen_below(g, 3);
    const gen_symbol outer = g->counter;
    const diff_kind kind = narrow_kind(g);
    const char *i = gen_name(g, "i"), *user = gen_user_name(g, "i"), *type = gen_c_type(kind), *breaks = NULL, *breaks_user = NULL, *label = NULL;
    const int scope = gen_scope(g), turns = !g->loops && gen_chance(g, 20) ? WRAPPING_TURNS + gen_below(g, 60) : 2 + gen_below(g, FEW_TURNS);
    if (gen_chance(g, 65)) {
        breaks = gen_name(g, "n");
        breaks_user = gen_user_name(g, "n");
        gen_hk(g, "uint32_t %s = 0;", breaks_user);
        gen_c(g, "uint32_t %s = 0;", breaks);
    }
    const gen_value start = any_start(g, kind);
    const char *first = gen_temporary(g, kind, gen_converted(g, start, kind));
    gen_c(g, "{");
    gen_c(g, "%s %s = %s;", type, i, first);
    if (form != FOR_LOOP) gen_hk(g, "%s %s = %s;", type, user, gen_argument(start));
    gen_declare(g, (gen_symbol){.hk = user, .c = i, .kind = kind, .table = -1, .writable = gen_chance(g, 15)});
    g->counter = g->symbol[g->symbol_count - 1];
    const bool outer_breaks = g->breaks;
    g->breaks = breaks != NULL;
    const step s = any_step(g, user, i, kind);
    const gen_maker rel = {any_relation, 2, 0};
    if (form == DO_LOOP) {
        label = gen_name(g, "next");
        gen_hk(g, "do {");
        gen_c(g, "for (;;) {");
        g->indent++;
        gen_c(g, "diff_turn(ctx);");
        gen_hk(g, "%s;", s.hk);
        gen_c(g, "%s", s.c);
        gen_c(g, "{");
        endless_body(g, depth, label, breaks_user, breaks, turns);
        gen_c(g, "}");
        gen_c(g, "%s: __attribute__((unused));", label);
        const gen_value cond = condition(g, &rel);
        gen_c(g, "if (!(%s)) break;", gen_converted(g, cond, K_BOOL));
        g->indent--;
        gen_hk(g, "} while (%s);", gen_argument(cond));
        gen_c(g, "}");
    } else {
        const char *cond = open_for(g, form == FOR_LOOP ? s.c : "", &rel);
        if (form == FOR_LOOP) gen_hk(g, "for (%s %s = %s; %s; %s) {", type, user, gen_argument(start), cond, s.hk);
        else gen_hk(g, "while (%s) {", cond);
        if (form == WHILE_LOOP) gen_hk(g, "    %s;", s.hk);
        if (form == WHILE_LOOP) gen_c(g, "    %s", s.c);
        endless_body(g, depth, NULL, breaks_user, breaks, turns);
        gen_hk(g, "}");
        gen_c(g, "}");
    }
    gen_c(g, "}");
    gen_leave(g, scope);
    g->counter = outer;
    g->breaks = outer_breaks;
}

// --- while, do: beside a count ---

static void while_statement(gen *g, int depth)
{
    const char *n = gen_name(g, "n"), *user = gen_user_name(g, "n");
    const int most = 1 + gen_below(g, 5);
    gen_hk(g, "uint32_t %s = 0;", user);
    gen_c(g, "uint32_t %s = 0;", n);
    gen_c(g, "for (;;) {");
    g->indent++;
    gen_c(g, "if (!(%s < %d)) break;", n, most);
    const gen_value cond = gen_condition(g, 3);
    gen_c(g, "if (!%s) break;", gen_converted(g, cond, K_BOOL));
    gen_c(g, "diff_turn(ctx);");
    g->indent--;
    gen_hk(g, "while (%s < %d && %s) {", user, most, gen_wrapped(g, cond, LEVEL_LOGAND + 1));
    g->indent++;
    gen_hk(g, "%s++;", user);
    gen_c(g, "%s++;", n);
    body(g, depth, NULL);
    gen_close(g);
}

static void do_statement(gen *g, int depth)
{
    const char *n = gen_name(g, "n"), *user = gen_user_name(g, "n"), *label = gen_name(g, "next");
    gen_hk(g, "uint32_t %s = 0;", user);
    gen_c(g, "uint32_t %s = 0;", n);
    gen_hk(g, "do {");
    gen_c(g, "for (;;) {");
    g->indent++;
    gen_hk(g, "%s++;", user);
    gen_c(g, "%s++;", n);
    gen_c(g, "diff_turn(ctx);");
    gen_c(g, "{");
    body(g, depth, label);
    gen_c(g, "}");
    gen_c(g, "%s: __attribute__((unused));", label);
    gen_c(g, "if (!(%s < %d)) break;", n, 3);
    const gen_value cond = gen_condition(g, 2);
    gen_c(g, "if (!%s) break;", gen_converted(g, cond, K_BOOL));
    g->indent--;
    gen_hk(g, "} while (%s < %d && %s);", user, 3, gen_wrapped(g, cond, LEVEL_LOGAND + 1));
    gen_c(g, "}");
}

void gen_loop(gen *g, int depth)
{
    const int which = gen_below(g, 100);
    if (which < 30 && may_be_endless(g)) endless_loop(g, depth);
    else if (which < 55) counted_for(g, depth);
    else if (which < 75) constant_for(g, depth);
    else if (which < 90) while_statement(g, depth);
    else do_statement(g, depth);
}

// --- The rows of a broadcast ---

int gen_broadcast_table(gen *g)
{
    int tables[DIFF_PARAMS], count = 0;
    for (int i = 1; i < g->program->param_count; i++)
        if (g->program->params[i].kind == DIFF_BROADCAST && g->program->params[i].is_table) tables[count++] = i;
    return count && !g->no_params ? tables[gen_below(g, count)] : -1;
}

// Uniform, what the block form puts outside. Often as the search for a nearest row.
void gen_for_rows(gen *g, int depth, int table)
{
    const diff_kind kinds[] = {K_U32, K_U64, K_I32, K_U8}, kind = kinds[gen_below(g, 4)];
    const char *j = gen_name(g, "j"), *user = gen_user_name(g, "j"), *type = gen_c_type(kind), *name = g->program->params[table].name;
    const int scope = gen_scope(g);
    const uint64_t rows = g->program->params[table].rows;
    const bool search = gen_chance(g, 60);
    const char *best = gen_name(g, "v"), *least = gen_name(g, "v"), *best_user = gen_user_name(g, "best"), *least_user = gen_user_name(g, "best_d");
    if (search) {
        gen_hk(g, "uint32_t %s;", best_user);
        gen_c(g, "uint32_t %s = 0;", best);
        gen_hk(g, "float %s = INFINITY;", least_user);
        gen_c(g, "float %s = INFINITY;", least);
        gen_declare(g, (gen_symbol){.hk = best_user, .c = best, .kind = K_U32, .table = -1, .below = rows, .below_rows = name, .sets_row = true});
        gen_declare(g, (gen_symbol){.hk = least_user, .c = least, .kind = K_F32, .table = -1, .writable = true});
    }
    const int inside = gen_scope(g);
    gen_open(g, gen_print(g, "for (%s %s = 0; %s < len(%s); %s++) ", type, user, user, name, user),
             gen_print(g, "for (%s %s = 0; (uint64_t)%s < ctx->rows[%d]; %s++) ", type, j, j, table, j));
    gen_c(g, "diff_turn(ctx);");
    gen_declare(g, (gen_symbol){.hk = user, .c = j, .kind = kind, .table = -1, .below = rows, .below_rows = name});
    if (gen_chance(g, 50)) body(g, depth, NULL);
    if (search) {
        const gen_value v = gen_mix(g);
        const char *d = gen_name(g, "v"), *d_user = gen_user_name(g, "d");
        gen_hk(g, "float %s = %s;", d_user, gen_argument(v));
        gen_c(g, "float %s = %s;", d, gen_converted(g, v, K_F32));
        gen_hk(g, "if (%s < %s) { %s = %s; %s = %s; }", d_user, least_user, least_user, d_user, best_user, user);
        gen_c(g, "if (%s < %s) { %s = %s; %s = (uint32_t)%s; }", d, least, least, d, best, j);
    }
    gen_close(g);
    gen_leave(g, inside);
    if (!search) gen_leave(g, scope);
}
