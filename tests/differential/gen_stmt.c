// SPDX-License-Identifier: Apache-2.0
// Random statements. Every loop ends: counted ones have small limits, others count beside their condition.
#include "gen.h"

#include <inttypes.h>

enum { DEPTH = 3 };             // of expressions

int gen_scope(gen *g) { return g->symbol_count; }

void gen_leave(gen *g, int scope) { g->symbol_count = scope; }

static void declare(gen *g, gen_symbol s)
{
    if (g->symbol_count < (int)(sizeof g->symbol / sizeof *g->symbol)) g->symbol[g->symbol_count++] = s;
}

static void open_block(gen *g, const char *hk, const char *c)
{
    gen_hk(g, "%s{", hk);
    gen_c(g, "%s{", c);
    g->indent++;
}

static void close_block(gen *g)
{
    g->indent--;
    gen_hk(g, "}");
    gen_c(g, "}");
}

// --- Declarations ---

static void declare_scalar(gen *g)
{
    const diff_kind kind = gen_kind(g);
    const char *name = gen_name(g, "v");
    if (gen_chance(g, 15)) {
        gen_hk(g, "%s %s;", gen_c_type(kind), name);
        gen_c(g, "%s %s = 0;", gen_c_type(kind), name);
    } else {
        const gen_value v = gen_is_float(kind) && gen_chance(g, 40) ? gen_mix(g) : gen_expr(g, DEPTH);
        gen_hk(g, "%s %s = %s;", gen_c_type(kind), name, gen_argument(v));
        gen_c(g, "%s %s = %s;", gen_c_type(kind), name, gen_converted(g, v, kind));
    }
    declare(g, (gen_symbol){.hk = name, .c = name, .kind = kind, .table = -1, .writable = true});
}

void gen_variable(gen *g) { declare_scalar(g); }

static void declare_array(gen *g)
{
    const diff_kind kind = gen_chance(g, 50) ? K_F32 : gen_kind(g);
    const char *name = gen_name(g, "v"), *hk = "", *c = "";
    const uint64_t count = 1 + (uint64_t)gen_below(g, 5), given = gen_chance(g, 40) ? 0 : 1 + (uint64_t)gen_below(g, (int)count);
    for (uint64_t i = 0; i < given; i++) {
        const gen_value v = gen_expr(g, 1);
        hk = gen_print(g, "%s%s%s", hk, i ? ", " : "", gen_argument(v));
        c = gen_print(g, "%s%s, ", c, gen_converted(g, v, kind));
    }
    if (given) gen_hk(g, "%s %s[%" PRIu64 "] = { %s };", gen_c_type(kind), name, count, hk);
    else gen_hk(g, "%s %s[%" PRIu64 "];", gen_c_type(kind), name, count);
    gen_c(g, "%s %s[%" PRIu64 "] = { %s };", gen_c_type(kind), name, count, given ? c : "0");
    declare(g, (gen_symbol){.hk = name, .c = name, .kind = kind, .count = count, .table = -1, .writable = true});
}

// A local record: a copy of a broadcast row or of the input, or zero.
static void declare_record(gen *g)
{
    const char *name = gen_name(g, "v"), *index;
    const gen_record *record = g->in;
    int table = -1;
    if (g->in_helper) return;
    for (int i = 1; i < g->program->param_count && !g->no_params; i++)
        if (g->program->params[i].kind == DIFF_BROADCAST && g->program->params[i].is_table && g->row[i]) table = i;
    if (table >= 0 && gen_chance(g, 50)) {
        record = g->row[table];
        const char *row = gen_index(g, 2, 0, g->program->params[table].name, gen_print(g, "ctx->rows[%d]", table), &index);
        gen_hk(g, "%s %s = %s[%s];", record->hk, name, g->program->params[table].name, row);
        gen_c(g, "struct %s %s = %s[%s];", record->c, name, g->program->params[table].name, index);
    } else if (gen_chance(g, 50)) {
        gen_hk(g, "%s %s = a;", record->hk, name);
        gen_c(g, "struct %s %s = (*in);", record->c, name);
    } else {
        gen_hk(g, "%s%s %s;", gen_chance(g, 30) ? "struct " : "", record->hk, name);
        gen_c(g, "struct %s %s = {0};", record->c, name);
    }
    declare(g, (gen_symbol){.hk = name, .c = name, .record = record, .table = -1, .writable = true});
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

// --- Accumulators ---

const char *gen_pattern(gen *g, const char *c, diff_kind kind)
{
    if (kind == K_F32 || kind == K_F64) return gen_print(g, "bits_%s(%s)", gen_suffix(kind), c);
    return gen_print(g, "%s%s", gen_is_signed(kind) ? "(uint64_t)(int64_t)" : "(uint64_t)", c);
}

static void accumulate_at(gen *g, int param, const char *hk, const char *row, const gen_field *field, const char *name)
{
    diff_param *p = &g->program->params[param];
    const char *element = "0";
    if (name) hk = gen_print(g, "%s.%s", hk, name);
    if (field->count) {
        const char *index = gen_index(g, 2, field->count, NULL, NULL, &element);
        hk = gen_print(g, "%s[%s]", hk, index);
    }
    if (field->count2) {
        const char *column, *index = gen_index(g, 2, field->count2, NULL, NULL, &column);
        hk = gen_print(g, "%s[%s]", hk, index);
        element = gen_print(g, "%s * %" PRIu64 " + %s", element, field->count2, column);
    }
    const diff_law law = p->law[field->leaf];
    const bool faults = g->faults;
    g->faults = false;
    const gen_value v = gen_is_float(field->kind) && gen_chance(g, 40) ? gen_mix(g) : gen_expr(g, DEPTH);
    g->faults = faults;
    p->accumulated[field->leaf] = true;
    const char *value = gen_name(g, "t"), *type = gen_c_type(field->kind);
    gen_c(g, "%s %s = %s;", type, value, gen_converted(g, v, field->kind));
    static const char *const ops[] = {"+=", NULL, NULL, "&=", "|=", "^="};
    if (law == L_MIN || law == L_MAX) {
        gen_hk(g, "acc_%s(%s, %s);", law == L_MIN ? "min" : "max", hk, gen_argument(v));
    } else if (law == L_SUM && gen_chance(g, 20)) {
        gen_hk(g, "%s -= %s;", hk, gen_argument(v));
        gen_c(g, "%s = (%s)-%s;", value, type, value);
    } else {
        gen_hk(g, "%s %s %s;", hk, ops[law], gen_argument(v));
    }
    gen_c(g, "ctx->accumulate(ctx, %d, %s, %d, %s, %s);", param, row, field->leaf, element, gen_pattern(g, value, field->kind));
}

static void accumulate(gen *g)
{
    int accums[DIFF_PARAMS], count = 0;
    for (int i = 1; i < g->program->param_count; i++)
        if (g->program->params[i].kind == DIFF_ACCUM) accums[count++] = i;
    if (count == 0 || g->no_params) return;
    const int param = accums[gen_below(g, count)];
    const diff_param *p = &g->program->params[param];
    const char *hk = p->name, *row = "0";
    if (p->is_table) {
        const char *index = gen_index(g, 2, 0, p->name, gen_print(g, "ctx->rows[%d]", param), &row);
        hk = gen_print(g, "%s[%s]", hk, index);
    }
    if (g->row[param]) {
        const gen_field *f = &g->row[param]->field[gen_below(g, g->row[param]->field_count)];
        accumulate_at(g, param, hk, row, f, f->name);
    } else {
        accumulate_at(g, param, hk, row, &(gen_field){.kind = g->scalar[param]}, NULL);
    }
}

static bool is_summed(const gen *g, int param, const gen_field *f) { return g->program->params[param].law[f->leaf] == L_SUM && f->kind != K_BOOL && !f->count2; }

static void add_to(gen *g, int param, const char *hk, const char *row, const gen_field *field, const char *element)
{
    const gen_value v = gen_is_float(field->kind) ? gen_mix(g) : gen_expr(g, 1);
    const char *value = gen_name(g, "t");
    gen_hk(g, "%s += %s;", hk, gen_argument(v));
    gen_c(g, "%s %s = %s;", gen_c_type(field->kind), value, gen_converted(g, v, field->kind));
    gen_c(g, "ctx->accumulate(ctx, %d, %s, %d, %s, %s);", param, row, field->leaf, element, gen_pattern(g, value, field->kind));
    g->program->params[param].accumulated[field->leaf] = true;
}

// Additions to the fields of one row, one after another, as KMeans does. Returns false when there is no such row.
bool gen_accumulate_row(gen *g)
{
    int param = 0;
    for (int i = 1; i < g->program->param_count && !g->no_params; i++)
        for (int k = 0; g->program->params[i].kind == DIFF_ACCUM && g->row[i] && k < g->row[i]->field_count; k++)
            if (is_summed(g, i, &g->row[i]->field[k])) param = i;
    if (!param) return false;
    const diff_param *p = &g->program->params[param];
    const char *hk = p->name, *row = "0";
    const bool faults = g->faults;
    g->faults = false;
    if (p->is_table) {
        const char *name = gen_name(g, "n");
        gen_hk(g, "uint32_t %s = (uint32_t)(%s);", name, gen_index(g, 2, 0, p->name, gen_print(g, "ctx->rows[%d]", param), &row));
        hk = gen_print(g, "%s[%s]", hk, name);
    }
    for (int k = 0; k < g->row[param]->field_count; k++) {
        const gen_field *f = &g->row[param]->field[k];
        for (uint64_t e = 0; is_summed(g, param, f) && e < (f->count > 3 ? 3 : f->count ? f->count : 1); e++) {
            const char *element = gen_print(g, "%" PRIu64, e);
            add_to(g, param, f->count ? gen_print(g, "%s.%s[%s]", hk, f->name, element) : gen_print(g, "%s.%s", hk, f->name), row, f, element);
        }
    }
    g->faults = faults;
    return true;
}

// A loop that adds to every element of an accumulator's array of floats, as gradients do. Returns false when there is none.
bool gen_accumulate_elements(gen *g)
{
    int param = 0;
    const gen_field *field = NULL;
    for (int i = 1; i < g->program->param_count && !g->no_params; i++)
        for (int k = 0; g->program->params[i].kind == DIFF_ACCUM && g->row[i] && k < g->row[i]->field_count; k++) {
            const gen_field *f = &g->row[i]->field[k];
            if (f->count > 8 && gen_is_float(f->kind) && g->program->params[i].law[f->leaf] == L_SUM) param = i, field = f;
        }
    if (!field) return false;
    const diff_param *p = &g->program->params[param];
    const char *hk = p->name, *row = "0", *i = gen_name(g, "i");
    if (p->is_table) hk = gen_print(g, "%s[%s]", hk, gen_index(g, 2, 0, p->name, gen_print(g, "ctx->rows[%d]", param), &row));
    const int scope = gen_scope(g);
    const char *head = gen_print(g, "for (uint32_t %s = 0; %s < %" PRIu64 "; %s++) ", i, i, field->count, i);
    open_block(g, head, head);
    declare(g, (gen_symbol){.hk = i, .c = i, .kind = K_U32, .table = -1, .below = field->count});
    const bool faults = g->faults;
    g->faults = false;
    const gen_value v = gen_chance(g, 60) ? gen_mix(g) : gen_expr(g, DEPTH);
    g->faults = faults;
    g->program->params[param].accumulated[field->leaf] = true;
    const char *value = gen_name(g, "t");
    gen_hk(g, "%s.%s[%s] += %s;", hk, field->name, i, gen_argument(v));
    gen_c(g, "%s %s = %s;", gen_c_type(field->kind), value, gen_converted(g, v, field->kind));
    gen_c(g, "ctx->accumulate(ctx, %d, %s, %d, %s, %s);", param, row, field->leaf, i, gen_pattern(g, value, field->kind));
    close_block(g);
    gen_leave(g, scope);
    return true;
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
    open_block(g, gen_print(g, "if (%s) ", gen_argument(cond)), gen_print(g, "if (%s) ", gen_converted(g, cond, K_BOOL)));
    inner(g, 1 + gen_below(g, 3), depth - 1);
    close_block(g);
    if (!gen_chance(g, 40)) return;
    open_block(g, "else ", "else ");
    inner(g, 1 + gen_below(g, 2), depth - 1);
    close_block(g);
}

static void loop_body(gen *g, int depth, const char *label)
{
    const char *outer_label = g->continue_label;
    const int switches = g->switches;
    g->continue_label = label;
    g->switches = 0;
    g->loops++;
    inner(g, 1 + gen_below(g, 3), depth - 1);
    g->loops--;
    g->switches = switches;
    g->continue_label = outer_label;
}

// for (T i = lo; i < hi; i += step), with a limit that is a constant or computed; sometimes downwards
static void for_statement(gen *g, int depth)
{
    static const diff_kind kinds[] = {K_U32, K_U32, K_I32, K_U64, K_I64, K_U8, K_I16};
    const diff_kind kind = kinds[gen_below(g, 7)];
    const char *i = gen_name(g, "i"), *type = gen_c_type(kind);
    const bool elements = !g->loops && gen_chance(g, 25);          // of arrays: more turns than are unrolled
    const int lo = elements ? 0 : gen_below(g, 3), hi = elements ? 9 + gen_below(g, 32) : lo + gen_below(g, 6), step = elements || gen_chance(g, 70) ? 1 : 1 + gen_below(g, 3);
    int scope = gen_scope(g);
    if (!elements && gen_chance(g, 15) && gen_is_signed(kind)) {
        open_block(g, gen_print(g, "for (%s %s = %d; %s >= %d; %s--) ", type, i, hi, i, lo, i),
                   gen_print(g, "for (%s %s = %d; %s >= %d; %s--) ", type, i, hi, i, lo, i));
        declare(g, (gen_symbol){.hk = i, .c = i, .kind = kind, .table = -1, .below = (uint64_t)hi + 1});
    } else if (!elements && gen_chance(g, 40)) {    // a limit that differs from record to record
        const gen_value v = gen_integer(g, 1);
        const char *limit = gen_name(g, "v");
        gen_hk(g, "uint32_t %s = (uint32_t)(%s) %% 6u;", limit, gen_argument(v));
        gen_c(g, "uint32_t %s = (uint32_t)%s %% 6u;", limit, v.c);
        declare(g, (gen_symbol){.hk = limit, .c = limit, .kind = K_U32, .table = -1});
        open_block(g, gen_print(g, "for (uint32_t %s = %d; %s < %s; %s%s) ", i, lo, i, limit, i, step == 1 ? "++" : gen_print(g, " += %d", step)),
                   gen_print(g, "for (uint32_t %s = %d; %s < %s; %s += %d) ", i, lo, i, limit, i, step));
        declare(g, (gen_symbol){.hk = i, .c = i, .kind = K_U32, .table = -1, .below = 6});
    } else {
        open_block(g,
                   gen_print(g, "for (%s %s = %d; %s %s %d; %s%s) ", type, i, lo, i, step == 1 && gen_chance(g, 20) ? "!=" : "<", hi, i,
                             step == 1 ? "++" : gen_print(g, " += %d", step)),
                   gen_print(g, "for (%s %s = %d; %s < %d; %s += %d) ", type, i, lo, i, hi, i, step));
        declare(g, (gen_symbol){.hk = i, .c = i, .kind = kind, .table = -1, .below = hi ? (uint64_t)hi : 1});
    }
    loop_body(g, depth, NULL);
    close_block(g);
    gen_leave(g, scope);
}

static int broadcast_table(gen *g)
{
    int tables[DIFF_PARAMS], count = 0;
    for (int i = 1; i < g->program->param_count; i++)
        if (g->program->params[i].kind == DIFF_BROADCAST && g->program->params[i].is_table) tables[count++] = i;
    return count && !g->no_params ? tables[gen_below(g, count)] : -1;
}

// A loop over the rows of a broadcast: uniform, what the block form puts outside. Often as the search for a nearest row.
static void for_rows(gen *g, int depth, int table)
{
    const diff_kind kinds[] = {K_U32, K_U64, K_I32}, kind = kinds[gen_below(g, 3)];
    const char *j = gen_name(g, "j"), *type = gen_c_type(kind), *name = g->program->params[table].name;
    const int scope = gen_scope(g);
    const bool search = gen_chance(g, 60);
    const char *best = gen_name(g, "v"), *least = gen_name(g, "v");
    if (search) {
        gen_hk(g, "uint32_t %s;", best);
        gen_c(g, "uint32_t %s = 0;", best);
        gen_hk(g, "float %s = INFINITY;", least);
        gen_c(g, "float %s = INFINITY;", least);
        declare(g, (gen_symbol){.hk = best, .c = best, .kind = K_U32, .table = -1, .below_rows = name});
        declare(g, (gen_symbol){.hk = least, .c = least, .kind = K_F32, .table = -1, .writable = true});
    }
    const int inside = gen_scope(g);
    open_block(g, gen_print(g, "for (%s %s = 0; %s < len(%s); %s++) ", type, j, j, name, j),
               gen_print(g, "for (%s %s = 0; (uint64_t)%s < ctx->rows[%d]; %s++) ", type, j, j, table, j));
    declare(g, (gen_symbol){.hk = j, .c = j, .kind = kind, .table = -1, .below_rows = name});
    if (gen_chance(g, 50)) loop_body(g, depth, NULL);
    if (search) {
        const gen_value v = gen_mix(g);
        const char *d = gen_name(g, "v");
        gen_hk(g, "float %s = %s;", d, gen_argument(v));
        gen_c(g, "float %s = %s;", d, gen_converted(g, v, K_F32));
        gen_hk(g, "if (%s < %s) { %s = %s; %s = %s; }", d, least, least, d, best, j);
        gen_c(g, "if (%s < %s) { %s = %s; %s = (uint32_t)%s; }", d, least, least, d, best, j);
    }
    close_block(g);
    gen_leave(g, inside);
    if (!search) gen_leave(g, scope);
}

static void while_statement(gen *g, int depth)
{
    const char *n = gen_name(g, "n");
    const int most = 1 + gen_below(g, 5);
    gen_hk(g, "uint32_t %s = 0;", n);
    gen_c(g, "uint32_t %s = 0;", n);
    gen_c(g, "for (;;) {");
    g->indent++;
    gen_c(g, "if (!(%s < %d)) break;", n, most);
    const gen_value cond = gen_condition(g, 2);
    gen_c(g, "if (!%s) break;", gen_converted(g, cond, K_BOOL));
    g->indent--;
    gen_hk(g, "while (%s < %d && (%s)) {", n, most, gen_argument(cond));
    g->indent++;
    gen_hk(g, "%s++;", n);
    gen_c(g, "%s++;", n);
    loop_body(g, depth, NULL);
    close_block(g);
}

static void do_statement(gen *g, int depth)
{
    const char *n = gen_name(g, "n"), *label = gen_name(g, "next");
    gen_hk(g, "uint32_t %s = 0;", n);
    gen_c(g, "uint32_t %s = 0;", n);
    gen_hk(g, "do {");
    gen_c(g, "for (;;) {");
    g->indent++;
    gen_hk(g, "%s++;", n);
    gen_c(g, "%s++;", n);
    gen_c(g, "{");
    loop_body(g, depth, label);
    gen_c(g, "}");
    gen_c(g, "%s: __attribute__((unused));", label);
    gen_c(g, "if (!(%s < %d)) break;", n, 3);
    const gen_value cond = gen_condition(g, 1);
    gen_c(g, "if (!%s) break;", gen_converted(g, cond, K_BOOL));
    g->indent--;
    gen_hk(g, "} while (%s < %d && (%s));", n, 3, gen_argument(cond));
    gen_c(g, "}");
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
        open_block(g, "", "");
        g->switches++;
        inner(g, 1 + gen_below(g, 2), depth - 1);
        g->switches--;
        close_block(g);
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
    open_block(g, gen_print(g, "if (%s) ", gen_argument(cond)), gen_print(g, "if (%s) ", gen_converted(g, cond, K_BOOL)));
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
    close_block(g);
}

// --- Return ---

static void return_record(gen *g)
{
    gen_c(g, "{");
    gen_c(g, "struct %s r_ = {0};", g->out->c);
    const char *list = gen_braces(g, g->out, "r_");
    gen_hk(g, "return (%s)%s;", g->out->hk, list);
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
        gen_hk(g, "emit(a);");
        gen_c(g, "r_ = *in;");
    } else {
        list = gen_braces(g, g->out, "r_");
        gen_hk(g, "emit((%s)%s);", g->out->hk, list);
    }
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
    else if (which < 52) assign(g);
    else if (which < 67) {
        if (gen_chance(g, 30) && gen_accumulate_row(g)) return;
        if (g->loops || !gen_chance(g, 40) || !gen_accumulate_elements(g)) accumulate(g);
    }
    else if (depth <= 0) assign(g);
    else if (which < 76) if_statement(g, depth);
    else if (which < 80 && broadcast_table(g) >= 0) for_rows(g, depth, broadcast_table(g));
    else if (which < 86) for_statement(g, depth);
    else if (which < 89) while_statement(g, depth);
    else if (which < 91) do_statement(g, depth);
    else if (which < 94) switch_statement(g, depth);
    else jump(g, depth);
}

void gen_block(gen *g, int statements, int depth)
{
    for (int i = 0; i < statements; i++) statement(g, depth);
}
