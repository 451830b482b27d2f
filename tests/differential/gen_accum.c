// SPDX-License-Identifier: Apache-2.0
// Random accumulations: into numbers, fields of rows, arrays of nested records; row by row as KMeans does, element by element as gradients do.
#include "gen.h"

#include <inttypes.h>

enum { DEPTH = 3 };             // of expressions

const char *gen_pattern(gen *g, const char *c, diff_kind kind)
{
    if (kind == K_F32 || kind == K_F64) return gen_print(g, "bits_%s(%s)", gen_suffix(kind), c);
    return gen_print(g, "%s%s", gen_is_signed(kind) ? "(uint64_t)(int64_t)" : "(uint64_t)", c);
}

typedef struct cell_path {      // of a number in a row of an accumulator
    const char *hk, *element;   // element: C text, its number among those of its leaf
    diff_kind kind;
    int leaf;
} cell_path;

// Puts an index of each dimension behind the path.
static void pick_elements(gen *g, cell_path *path, const gen_field *f)
{
    const uint64_t dims[2] = {f->count, f->count2};
    for (int d = 0; d < 2; d++) {
        if (!dims[d]) continue;
        const char *at, *index = gen_index(g, 2, dims[d], NULL, NULL, &at);
        path->hk = gen_print(g, "%s[%s]", path->hk, index);
        path->element = strcmp(path->element, "0") ? gen_print(g, "(%s) * %" PRIu64 " + %s", path->element, dims[d], at) : at;
    }
}

// Walks from a row down to a number.
static cell_path walk(gen *g, int param, const char *hk)
{
    cell_path path = {hk, "0", g->scalar[param], 0};
    for (const gen_record *r = g->row[param]; r;) {
        const gen_field *f = &r->field[gen_below(g, r->field_count)];
        path.hk = gen_print(g, "%s.%s", path.hk, f->hk);
        path.kind = f->kind;
        path.leaf += f->leaf;
        pick_elements(g, &path, f);
        r = f->record;
    }
    return path;
}

void gen_accumulate_value(gen *g, gen_cell cell, gen_value v)
{
    diff_param *p = &g->program->params[cell.param];
    const diff_law law = p->law[cell.leaf];
    p->accumulated[cell.leaf] = true;
    const char *value = gen_name(g, "t"), *type = gen_c_type(cell.kind);
    gen_c(g, "%s %s = %s;", type, value, gen_converted(g, v, cell.kind));
    static const char *const ops[] = {"+=", NULL, NULL, "&=", "|=", "^="};
    if (law == L_MIN || law == L_MAX) {
        gen_hk(g, "acc_%s(%s, %s);", law == L_MIN ? "min" : "max", cell.hk, gen_argument(v));
    } else if (law == L_SUM && gen_chance(g, 20)) {
        gen_hk(g, "%s -= %s;", cell.hk, gen_argument(v));
        gen_c(g, "%s = (%s)-%s;", value, type, value);
    } else {
        gen_hk(g, "%s %s %s;", cell.hk, ops[law], gen_argument(v));
    }
    gen_c(g, "ctx->accumulate(ctx, %d, %s, %d, %s, %s);", cell.param, cell.row, cell.leaf, cell.element, gen_pattern(g, value, cell.kind));
}

static void accumulate_at(gen *g, int param, const char *row, cell_path path)
{
    const bool faults = g->faults;
    g->faults = false;
    const gen_value v = gen_is_float(path.kind) && gen_chance(g, 40) ? gen_mix(g) : gen_expr(g, DEPTH);
    g->faults = faults;
    gen_accumulate_value(g, (gen_cell){param, path.leaf, path.kind, path.hk, row, path.element}, v);
}

// The row that is added to, or the accumulator itself.
static const char *pick_row(gen *g, int param, const char **row)
{
    const diff_param *p = &g->program->params[param];
    *row = "0";
    return p->is_table ? gen_print(g, "%s[%s]", p->name, gen_index(g, 2, p->rows, p->name, gen_print(g, "ctx->rows[%d]", param), row)) : p->name;
}

void gen_accumulate(gen *g)
{
    int accums[DIFF_PARAMS], count = 0;
    for (int i = 1; i < g->program->param_count; i++)
        if (g->program->params[i].kind == DIFF_ACCUM) accums[count++] = i;
    if (count == 0 || g->no_params) return;
    const int param = accums[gen_below(g, count)];
    const char *row, *hk = pick_row(g, param, &row);
    accumulate_at(g, param, row, walk(g, param, hk));
}

static bool is_summed(const gen *g, int param, const gen_field *f)
{
    return g->program->params[param].law[f->leaf] == L_SUM && f->kind != K_BOOL && !f->record && !f->count2;
}

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
        const char *name = gen_user_name(g, "n");
        gen_hk(g, "uint32_t %s = (uint32_t)(%s);", name, gen_index(g, 2, p->rows, p->name, gen_print(g, "ctx->rows[%d]", param), &row));
        hk = gen_print(g, "%s[%s]", hk, name);
    }
    for (int k = 0; k < g->row[param]->field_count; k++) {
        const gen_field *f = &g->row[param]->field[k];
        for (uint64_t e = 0; is_summed(g, param, f) && e < (f->count > 3 ? 3 : f->count ? f->count : 1); e++) {
            const char *element = gen_print(g, "%" PRIu64, e);
            add_to(g, param, f->count ? gen_print(g, "%s.%s[%s]", hk, f->hk, element) : gen_print(g, "%s.%s", hk, f->hk), row, f, element);
        }
    }
    g->faults = faults;
    return true;
}

// A number in the table whose row is named by the variable that was declared last, or by one that stands further up.
static gen_value of_row(gen *g, int scope)
{
    const char *name = g->symbol[scope - 1].below_rows;
    for (int i = 0; name && i < g->symbol_count; i++) {
        const gen_symbol s = g->symbol[i];
        if (s.table >= 0 && !strcmp(s.hk, name)) return gen_inside(g, &s);
    }
    return gen_mix(g);
}

// A loop that adds to every element of an accumulator's array of floats, as gradients do. Returns false when there is none.
bool gen_accumulate_elements(gen *g)
{
    int param = 0;
    const gen_field *field = NULL;
    for (int i = 1; i < g->program->param_count && !g->no_params; i++)
        for (int k = 0; g->program->params[i].kind == DIFF_ACCUM && g->row[i] && k < g->row[i]->field_count; k++) {
            const gen_field *f = &g->row[i]->field[k];
            if (f->count > 8 && !f->record && !f->count2 && gen_is_float(f->kind) && g->program->params[i].law[f->leaf] == L_SUM) param = i, field = f;
        }
    if (!field) return false;
    const char *row, *hk = pick_row(g, param, &row), *i = gen_name(g, "i"), *user = gen_user_name(g, "i");
    const bool shared = gen_chance(g, 35) && gen_declare_row(g);
    const int scope = gen_scope(g);
    gen_open(g, gen_print(g, "for (uint32_t %s = 0; %s < %" PRIu64 "; %s++) ", user, user, field->count, user),
             gen_print(g, "for (uint32_t %s = 0; %s < %" PRIu64 "; %s++) ", i, i, field->count, i));
    gen_c(g, "diff_turn(ctx);");
    gen_declare(g, (gen_symbol){.hk = user, .c = i, .kind = K_U32, .table = -1, .below = field->count});
    const bool faults = g->faults;
    g->faults = false;
    const gen_value v = shared ? of_row(g, scope) : gen_chance(g, 60) ? gen_mix(g) : gen_expr(g, DEPTH);
    g->faults = faults;
    g->program->params[param].accumulated[field->leaf] = true;
    const char *value = gen_name(g, "t");
    gen_hk(g, "%s.%s[%s] += %s;", hk, field->hk, user, gen_argument(v));
    gen_c(g, "%s %s = %s;", gen_c_type(field->kind), value, gen_converted(g, v, field->kind));
    gen_c(g, "ctx->accumulate(ctx, %d, %s, %d, %s, %s);", param, row, field->leaf, i, gen_pattern(g, value, field->kind));
    gen_close(g);
    gen_leave(g, scope);
    return true;
}
