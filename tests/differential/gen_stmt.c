// SPDX-License-Identifier: Apache-2.0
// Random statements. Every loop ends: counted ones have small limits, others count beside their condition.
#include "gen.h"

#include <inttypes.h>

enum { DEPTH = 3 };             // of expressions

int gen_scope(gen *g) { return g->symbol_count; }

void gen_leave(gen *g, int scope) { g->symbol_count = scope; }

void gen_declare(gen *g, gen_symbol s)
{
    if (g->symbol_count < (int)(sizeof g->symbol / sizeof *g->symbol)) g->symbol[g->symbol_count++] = s;
}

void gen_open(gen *g, const char *hk, const char *c)
{
    gen_hk(g, "%s{", hk);
    gen_c(g, "%s{", c);
    g->indent++;
}

void gen_close(gen *g)
{
    g->indent--;
    gen_hk(g, "}");
    gen_c(g, "}");
}

// --- Declarations ---

static void declare_scalar(gen *g)
{
    const diff_kind kind = gen_kind(g);
    const char *name = gen_name(g, "v"), *user = gen_user_name(g, "v");
    if (gen_chance(g, 15)) {
        gen_hk(g, "%s %s;", gen_c_type(kind), user);
        gen_c(g, "%s %s = 0;", gen_c_type(kind), name);
    } else {
        const gen_value v = gen_is_float(kind) && gen_chance(g, 40) ? gen_mix(g) : gen_expr(g, DEPTH);
        gen_hk(g, "%s %s = %s;", gen_c_type(kind), user, gen_argument(v));
        gen_c(g, "%s %s = %s;", gen_c_type(kind), name, gen_converted(g, v, kind));
    }
    gen_declare(g, (gen_symbol){.hk = user, .c = name, .kind = kind, .table = -1, .writable = true});
}

void gen_variable(gen *g) { declare_scalar(g); }

static void declare_array(gen *g)
{
    const diff_kind kind = gen_chance(g, 50) ? K_F32 : gen_kind(g);
    const char *name = gen_name(g, "v"), *user = gen_user_name(g, "v"), *hk = "", *c = "";
    const uint64_t count = 1 + (uint64_t)gen_below(g, 5), given = gen_chance(g, 40) ? 0 : 1 + (uint64_t)gen_below(g, (int)count);
    for (uint64_t i = 0; i < given; i++) {
        const gen_value v = gen_expr(g, 1);
        hk = gen_print(g, "%s%s%s", hk, i ? ", " : "", gen_argument(v));
        c = gen_print(g, "%s%s, ", c, gen_converted(g, v, kind));
    }
    if (given) gen_hk(g, "%s %s[%" PRIu64 "] = { %s };", gen_c_type(kind), user, count, hk);
    else gen_hk(g, "%s %s[%" PRIu64 "];", gen_c_type(kind), user, count);
    gen_c(g, "%s %s[%" PRIu64 "] = { %s };", gen_c_type(kind), name, count, given ? c : "0");
    gen_declare(g, (gen_symbol){.hk = user, .c = name, .kind = kind, .count = count, .table = -1, .writable = true});
}

// A local record: a copy of a broadcast row or of the input, or zero.
static void declare_record(gen *g)
{
    const char *name = gen_name(g, "v"), *user = gen_user_name(g, "v"), *index;
    const gen_record *record = g->in;
    int table = -1;
    if (g->in_helper) return;
    for (int i = 1; i < g->program->param_count && !g->no_params; i++)
        if (g->program->params[i].kind == DIFF_BROADCAST && g->program->params[i].is_table && g->row[i]) table = i;
    if (table >= 0 && gen_chance(g, 50)) {
        record = g->row[table];
        const char *row = gen_index(g, 2, g->program->params[table].rows, g->program->params[table].name, gen_print(g, "ctx->rows[%d]", table), &index);
        gen_hk(g, "%s %s = %s[%s];", record->hk, user, g->program->params[table].name, row);
        gen_c(g, "struct %s %s = b%d[%s];", record->c, name, table, index);
    } else if (gen_chance(g, 50)) {
        gen_hk(g, "%s %s = %s;", record->hk, user, g->left);
        gen_c(g, "struct %s %s = (*in);", record->c, name);
    } else {
        gen_hk(g, "%s%s %s;", gen_chance(g, 30) ? "struct " : "", record->hk, user);
        gen_c(g, "struct %s %s = {0};", record->c, name);
    }
    gen_declare(g, (gen_symbol){.hk = user, .c = name, .record = record, .table = -1, .writable = true});
}

// The number of a row of a broadcast, kept in a variable, which some loop or branch may set anew.
static void declare_row(gen *g, int table)
{
    const diff_kind kinds[] = {K_U32, K_U32, K_U64, K_I32, K_U8, K_I64}, kind = kinds[gen_below(g, 6)];
    const diff_param *p = &g->program->params[table];
    const char *name = gen_name(g, "v"), *user = gen_user_name(g, "v");
    const gen_value v = gen_bounded(g, 2, p->rows);
    gen_hk(g, "%s %s = %s;", gen_c_type(kind), user, gen_argument(v));
    gen_c(g, "%s %s = %s;", gen_c_type(kind), name, gen_converted(g, v, kind));
    gen_declare(g, (gen_symbol){.hk = user, .c = name, .kind = kind, .table = -1, .below = p->rows, .below_rows = p->name, .sets_row = true});
}

bool gen_declare_row(gen *g)
{
    const int table = gen_broadcast_table(g);
    if (table >= 0) declare_row(g, table);
    return table >= 0;
}

static bool set_row(gen *g)
{
    for (int i = g->symbol_count - 1; i >= 0; i--) {
        const gen_symbol s = g->symbol[i];
        if (!s.sets_row || gen_chance(g, 30)) continue;
        const gen_value v = gen_bounded(g, 2, s.below);
        gen_hk(g, "%s = %s;", s.hk, gen_argument(v));
        gen_c(g, "%s = %s;", s.c, gen_converted(g, v, s.kind));
        return true;
    }
    return false;
}

// --- Assignments ---

static bool compound_float(gen *g, gen_value place, gen_value v, int op, const char **c)
{
    const diff_kind kind = gen_common(place.kind, v.kind);
    if (!gen_is_float(kind)) return false;
    const char *fma = kind == K_F32 ? "fmaf" : "fma", *type = gen_c_type(kind);
    if (op < 2 && v.x && v.kind == kind) *c = gen_print(g, "%s(%s%s, %s, (%s)%s)", fma, op ? "-" : "", v.x, v.y, type, place.c);
    else *c = gen_print(g, "%s %c %s", place.c, "+-*/"[op], v.c);
    return true;
}

static void compound(gen *g, gen_value place)
{
    static const char *const ops[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
    gen_value v = gen_is_float(place.kind) && gen_chance(g, 40) ? gen_mix(g) : gen_expr(g, DEPTH - 1);
    const bool floating = gen_is_float(gen_common(place.kind, v.kind));
    int op = gen_below(g, floating ? 4 : 10);
    if (!floating && op == 3) op = 5;               // integer division by what may be zero: expressions have it
    if (op == 4) op = 6;
    const char *c;
    const diff_kind kind = gen_common(place.kind, v.kind);
    gen_hk(g, "%s %s= %s;", place.hk, ops[op], gen_argument(v));
    if (compound_float(g, place, v, op, &c)) {
        const char *name = gen_name(g, "t");
        gen_c(g, "const %s %s = %s;", gen_c_type(kind), name, c);
        gen_c(g, "%s = %s;", place.c, gen_converted(g, (gen_value){.c = name, .kind = kind}, place.kind));
    } else if (op >= 8) {
        gen_c(g, "%s = (%s)%s(%s, %s)%s;", place.c, place.kind == K_BOOL ? "bool" : gen_c_type(place.kind), op == 8 ? "SHL" : "SHR", place.c, v.c,
              place.kind == K_BOOL ? " != 0" : "");
    } else {
        gen_c(g, "%s = (%s)((%s %s %s)%s);", place.c, gen_c_type(place.kind), place.c, ops[op], v.c, place.kind == K_BOOL ? " != 0" : "");
    }
}

static void assign(gen *g)
{
    if (gen_chance(g, 12) && set_row(g)) return;
    const bool faults = g->faults, value_first = gen_chance(g, 50);
    gen_value place;
    // Only one side of an assignment may fail: which of the two is looked at first is not for this test to say.
    g->faults = faults && !value_first;
    const bool found = gen_place(g, true, &place);
    g->faults = faults && value_first;
    if (found) {
        const int which = gen_below(g, 10);
        if (which == 0) {
            gen_hk(g, "%s%s;", place.hk, gen_chance(g, 50) ? "++" : " += 1");
            gen_c(g, "%s = (%s)((%s + 1)%s);", place.c, gen_c_type(place.kind), place.c, place.kind == K_BOOL ? " != 0" : "");
        } else if (which < 5) {
            compound(g, place);
        } else {
            const gen_value v = gen_expr(g, DEPTH);
            gen_hk(g, "%s = %s;", place.hk, gen_argument(v));
            gen_c(g, "%s = %s;", place.c, gen_converted(g, v, place.kind));
        }
    }
    g->faults = faults;
}

// --- Control ---

static void inner(gen *g, int statements, int depth)
{
    const int scope = gen_scope(g);
    gen_block(g, statements, depth);
    gen_leave(g, scope);
}

static void if_statement(gen *g, int depth)
{
    const gen_value cond = gen_condition(g, DEPTH);
    gen_open(g, gen_print(g, "if (%s) ", gen_argument(cond)), gen_print(g, "if (%s) ", gen_converted(g, cond, K_BOOL)));
    inner(g, 1 + gen_below(g, 3), depth - 1);
    gen_close(g);
    if (!gen_chance(g, 40)) return;
    gen_open(g, "else ", "else ");
    inner(g, 1 + gen_below(g, 2), depth - 1);
    gen_close(g);
}

static void switch_statement(gen *g, int depth)
{
    const gen_value v = gen_integer(g, 2);
    const int cases = 1 + gen_below(g, 3), with_default = gen_chance(g, 60) ? gen_below(g, cases + 1) : -1;
    gen_hk(g, "switch ((%s) & 3) {", gen_argument(v));
    gen_c(g, "switch (%s & 3) {", v.c);
    for (int i = 0; i <= cases; i++) {
        if (i == with_default) {
            gen_hk(g, "default:");
            gen_c(g, "default:");
        } else if (i < cases) {
            gen_hk(g, "case %d:", i);
            gen_c(g, "case %d:", i);
        } else {
            break;
        }
        gen_open(g, "", "");
        g->switches++;
        inner(g, 1 + gen_below(g, 2), depth - 1);
        g->switches--;
        gen_close(g);
        if (!gen_chance(g, 75)) continue;           // falls through
        gen_hk(g, "break;");
        gen_c(g, "break;");
    }
    gen_hk(g, "}");
    gen_c(g, "}");
}

static void jump(gen *g, int depth)
{
    const bool leaves_function = gen_chance(g, 25) && depth < 3;
    if (!g->loops && !leaves_function) {
        assign(g);
        return;
    }
    const gen_value cond = gen_condition(g, 2);
    gen_open(g, gen_print(g, "if (%s) ", gen_argument(cond)), gen_print(g, "if (%s) ", gen_converted(g, cond, K_BOOL)));
    if (leaves_function) {
        gen_return(g);
    } else if (gen_chance(g, 50) && !g->switches) {
        gen_hk(g, "break;");
        gen_c(g, "break;");
    } else {
        gen_hk(g, "continue;");
        if (g->continue_label) gen_c(g, "goto %s;", g->continue_label);
        else gen_c(g, "continue;");
    }
    gen_close(g);
}

// --- Return ---

static void give(gen *g)
{
    const char *which = g->out == g->in ? "in" : "out";
    gen_c(g, "diff_give(&r_, p%" PRIu64 ".%s, p%" PRIu64 ".%s_leaves);", g->program->seed, which, g->program->seed, which);
}

static void return_record(gen *g)
{
    gen_c(g, "{");
    gen_c(g, "struct %s r_ = {0};", g->out->c);
    const char *list = gen_braces(g, g->out, "r_");
    gen_hk(g, "return (%s)%s;", g->out->hk, list);
    give(g);
    gen_c(g, "*out = r_;");
    gen_c(g, "return;");
    gen_c(g, "}");
}

void gen_emit(gen *g)
{
    gen_c(g, "{");
    gen_c(g, "struct %s r_ = {0};", g->out->c);
    const char *list = gen_chance(g, 50) ? gen_numbers(g, g->out, "r_") : NULL;
    if (list) {
        gen_hk(g, "emit(%s);", list);
    } else if (g->out == g->in && gen_chance(g, 30)) {
        gen_hk(g, "emit(%s);", g->left);
        gen_c(g, "r_ = *in;");
    } else {
        list = gen_braces(g, g->out, "r_");
        gen_hk(g, "emit((%s)%s);", g->out->hk, list);
    }
    give(g);
    gen_c(g, "%s(ctx, &r_);", g->emit_to);
    gen_c(g, "}");
}

void gen_return(gen *g)
{
    if (g->returns == RETURN_RECORD) {
        return_record(g);
        return;
    }
    if (g->returns == RETURN_NOTHING || g->returns == RETURN_EMITS) {
        gen_hk(g, "return;");
        gen_c(g, "return;");
        return;
    }
    const gen_value v = gen_expr(g, DEPTH);
    gen_hk(g, "return %s;", gen_argument(v));
    if (g->returns == RETURN_VALUE) {
        gen_c(g, "return %s;", gen_converted(g, v, g->result));
    } else {
        gen_c(g, "ctx->kept = %s;", gen_converted(g, v, K_BOOL));
        gen_c(g, "return;");
    }
}

// --- Blocks ---

static void statement(gen *g, int depth)
{
    const int which = gen_below(g, 100);
    if (g->returns == RETURN_EMITS && gen_chance(g, 12)) gen_emit(g);
    else if (which < 20) declare_scalar(g);
    else if (which < 25) declare_array(g);
    else if (which < 29) declare_record(g);
    else if (which < 32 && gen_declare_row(g)) return;
    else if (which < 52) assign(g);
    else if (which < 67) {
        if (gen_chance(g, 30) && gen_accumulate_row(g)) return;
        if (g->loops > 1 || !gen_chance(g, 40) || !gen_accumulate_elements(g)) gen_accumulate(g);
    }
    else if (depth <= 0) assign(g);
    else if (which < 76) if_statement(g, depth);
    else if (which < 80 && gen_broadcast_table(g) >= 0) gen_for_rows(g, depth, gen_broadcast_table(g));
    else if (which < 91) gen_loop(g, depth);
    else if (which < 94) switch_statement(g, depth);
    else jump(g, depth);
}

void gen_block(gen *g, int statements, int depth)
{
    for (int i = 0; i < statements; i++) statement(g, depth);
}
