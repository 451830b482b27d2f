// SPDX-License-Identifier: Apache-2.0
// GPU form: the loops that a work-group makes together (cooperative_loops.c). Each lane has elements of its own and goes through the records of the group, several at a time so that
// their loads are under way together; what a record brings along (a row, a factor) was left in local memory by its lane. Where all records add to one cell, the
// sum stays in a register meanwhile.
#include "codegen/opencl/kernel_parts.h"

#include <inttypes.h>

enum { RECORDS = 4 };

struct hdst__spread {
    ir_func *func;              // its body: the loops
    uint32_t *carried;          // variables that come from the lane's record
    const char **memory;        // their arrays in local memory
    size_t count;
    const char *sum[HDST__SPREAD_SUMS];     // of the nest that is printed: registers
    const ir_stmt *of[HDST__SPREAD_SUMS];
    size_t sums;
    const ir_stmt *tiled;       // an addition to the leaf that is in the tile now
};

// --- What is carried ---

static uint64_t bytes_of(const ir_var *var) { return hdst__scalar_size(var->kind) * (var->elements ? var->elements : 1); }

static bool is_carried(const ir_func *func, uint32_t v)
{
    return !func->vars[v].init && hdst__ir_block_reads(&func->body, v) && !hdst__ir_block_writes(&func->body, v);
}

hdst__spread *hdst__spread_create(hdst__arena *arena, ir_func *func)
{
    hdst__spread *spread = HDST__NEW(arena, hdst__spread);
    spread->func = func;
    spread->carried = HDST__NEW_ARRAY(arena, uint32_t, func->var_count + 1);
    for (uint32_t v = 0; v < func->var_count; v++)
        if (is_carried(func, v)) spread->carried[spread->count++] = v;
    spread->memory = HDST__NEW_ARRAY(arena, const char *, spread->count + 1);
    return spread;
}

uint64_t hdst__spread_bytes(const hdst__spread *spread)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < spread->count; i++) bytes += bytes_of(&spread->func->vars[spread->carried[i]]);
    return bytes;
}

bool hdst__spread_carries(const hdst__printer *p, uint32_t var)
{
    for (size_t i = 0; p->spread && p->func != p->spread->func && i < p->spread->count; i++)
        if (p->spread->carried[i] == var) return true;
    return false;
}

void hdst__print_spread_memory(hdst__printer *p)
{
    for (size_t i = 0; p->spread && i < p->spread->count; i++) {
        const ir_var *var = &p->spread->func->vars[p->spread->carried[i]];
        p->spread->memory[i] = hdst__name_take(p->names, hdst__arena_printf(p->arena, "%s of lanes", var->name && var->name[0] ? var->name : "tmp"));
        hdst__write_line(&p->out, "__local %s %s[%" PRIu64 " * LANES];", hdst__cl_name(hdst__kind_over_block(var->kind)), p->spread->memory[i], var->elements ? var->elements : 1);
    }
}

void hdst__print_spread_keep(hdst__printer *p)
{
    for (size_t i = 0; p->spread && i < p->spread->count; i++) {
        const uint32_t v = p->spread->carried[i];
        const ir_var *var = &p->func->vars[v];
        const char *to = p->spread->memory[i], *from = p->var_name[v];
        if (var->elements) hdst__write_line(&p->out, "for (uint e = 0; e < %" PRIu64 "; e++) %s[lane * %" PRIu64 " + e] = %s[e];", var->elements, to, var->elements, from);
        else hdst__write_line(&p->out, "%s[lane] = %s;", to, from);
    }
}

// --- Several records ---

typedef struct renaming {
    const uint32_t *to;         // by variable
    uint32_t record;
} renaming;

static bool rename_expr(ir_expr **slot, void *user)
{
    const renaming *r = user;
    ir_expr *e = *slot;
    if (e->op == IR_VAR || e->op == IR_ELEM) e->var = r->to[e->var];
    if (e->op == IR_FIELD || e->op == IR_RECORD_INDEX) e->record = r->record;
    return true;
}

static bool rename_stmt(ir_stmt *s, void *user)
{
    const renaming *r = user;
    if (s->kind == IR_SET) s->var = r->to[s->var];
    s->record = r->record;
    return hdst__ir_visit_own_exprs(s, rename_expr, user);
}

// The variables of one record's copy of the body: those carried and those set in it. `func` gets new ones for all records but the first.
static uint32_t *variables_of(ir_func *func, const hdst__spread *spread, const ir_block *body, uint32_t record)
{
    const uint32_t count = (uint32_t)spread->func->var_count;
    uint32_t *to = HDST__NEW_ARRAY(func->arena, uint32_t, count + 1);
    for (uint32_t v = 0; v < count; v++) {
        to[v] = v;
        if (record && (is_carried(spread->func, v) || hdst__ir_block_writes(body, v))) to[v] = hdst__ir_add_var(func, func->vars[v].name, func->vars[v].kind, func->vars[v].elements);
    }
    return to;
}

static void print_carried(hdst__printer *p, const uint32_t *to, uint32_t record)
{
    for (size_t i = 0; i < p->spread->count; i++) {
        const ir_var *var = &p->spread->func->vars[p->spread->carried[i]];
        const char *name = p->var_name[to[p->spread->carried[i]]], *from = p->spread->memory[i], *type = hdst__cl_name(var->kind);
        const char *at = record ? hdst__arena_printf(p->arena, "at + %" PRIu32, record) : "at";
        if (var->elements)
            hdst__write_line(&p->out, "__local const %s *%s = %s + (%s) * %" PRIu64 ";", hdst__cl_name(hdst__kind_over_block(var->kind)), name, from, at, var->elements);
        else hdst__write_line(&p->out, "const %s %s = %s[%s]%s;", type, name, from, at, var->kind == HDST__BOOL ? " != 0" : "");
    }
}

// Assignments of all records, then their additions, so that these stand together.
static void print_records(hdst__printer *p, const ir_block *body, uint32_t records)
{
    ir_func *func = hdst__ir_copy_func(p->arena, p->spread->func);
    ir_block sets = {0}, adds = {0};
    uint32_t *to[RECORDS];
    for (uint32_t r = 0; r < records; r++) {
        to[r] = variables_of(func, p->spread, body, r);
        ir_block copy = hdst__ir_copy_block(func, body);
        renaming renames = {to[r], r};
        hdst__ir_visit_stmts(&copy, rename_stmt, &renames);
        for (size_t i = 0; i < copy.count; i++) hdst__ir_push(func, copy.items[i]->kind == IR_SET ? &sets : &adds, copy.items[i]);
    }
    for (size_t i = 0; i < adds.count; i++) hdst__ir_push(func, &sets, adds.items[i]);
    const hdst__printer outer = *p;
    hdst__printer_use(p, func);
    bool *known = HDST__NEW_ARRAY(p->arena, bool, func->var_count + 1);
    for (uint32_t r = 0; r < records; r++) {
        print_carried(p, to[r], r);
        for (uint32_t v = 0; v < p->spread->func->var_count; v++)
            if (p->in_loop[v] || is_carried(p->spread->func, v)) known[to[r][v]] = true;
    }
    hdst__print_part(p, &sets, known);
    p->func = outer.func;
    p->var_name = outer.var_name;
    p->array_name = outer.array_name;
    p->form_names = outer.form_names;
}

// --- Sums in registers ---

static bool is_of_record(ir_expr **e, void *user)
{
    const hdst__printer *p = user;
    if ((*e)->op == IR_FIELD || (*e)->op == IR_RECORD_INDEX) return false;
    if ((*e)->op != IR_VAR && (*e)->op != IR_ELEM) return true;
    return !is_carried(p->spread->func, (*e)->var) && p->in_loop[(*e)->var];
}

bool hdst__spread_is_shared(const hdst__printer *p, const ir_expr *expr)
{
    ir_expr *root = (ir_expr *)expr;        // the visitor changes nothing
    return hdst__ir_visit_expr(&root, is_of_record, (void *)p);
}

// Every record adds to the same cell: its row and element follow from the loops alone.
static bool is_one_cell(const hdst__printer *p, const ir_stmt *s)
{
    return (!s->index || hdst__spread_is_shared(p, s->index)) && (!s->index2 || hdst__spread_is_shared(p, s->index2));
}

static bool same_word(const ir_stmt *a, const ir_stmt *b) { return a->param == b->param && a->leaf == b->leaf; }

static void begin_sums(hdst__printer *p, const ir_block *body)
{
    hdst__spread *spread = p->spread;
    spread->sums = 0;
    for (size_t i = 0; i < body->count; i++) {
        ir_stmt *s = body->items[i];
        if (s->kind != IR_ACCUM || !is_one_cell(p, s)) continue;
        const uint32_t words = hdst__find_cell(p, s->param, s->leaf)->strip_words;
        bool known = hdst__find_plan(p, s->param)->place != HDST__PLACE_GROUP || spread->sums + words > HDST__SPREAD_SUMS;
        for (size_t k = 0; k < spread->sums; k++) known |= same_word(spread->of[k], s);
        for (uint32_t w = 0; w < words && !known; w++) {
            spread->of[spread->sums] = s;
            spread->sum[spread->sums] = hdst__arena_printf(p->arena, "own_sum%zu", spread->sums);
            hdst__write_line(&p->out, "long %s = 0;", spread->sum[spread->sums++]);
        }
    }
}

const char *hdst__spread_sum(const hdst__printer *p, const ir_stmt *stmt, uint32_t word)
{
    for (size_t k = 0; p->spread && k < p->spread->sums; k++)
        if (same_word(p->spread->of[k], stmt)) return p->spread->sum[k + word];
    return NULL;
}

static void end_sums(hdst__printer *p)
{
    hdst__spread *spread = p->spread;
    const size_t count = spread->sums;
    spread->sums = 0;
    for (size_t k = 0; k < count;) {
        const ir_stmt *s = spread->of[k];
        for (uint32_t w = 0, words = hdst__find_cell(p, s->param, s->leaf)->strip_words; w < words; w++, k++) hdst__print_add_word(p, s, w, spread->sum[k]);
    }
}

// --- Rows that differ, few of them: an element of each in local memory ---

// Each lane has a column of its own, so nobody waits for anybody.
static void begin_tile(hdst__printer *p, const ir_block *body)
{
    p->spread->tiled = NULL;
    for (size_t i = 0; p->tile && i < body->count && !p->spread->tiled; i++) {
        const ir_stmt *s = body->items[i];
        const bool fits = s->kind == IR_ACCUM && s->param == p->tile->accum->param && hdst__find_cell(p, s->param, s->leaf)->strip_words;
        if (fits && !is_one_cell(p, s) && (!s->index2 || hdst__spread_is_shared(p, s->index2))) p->spread->tiled = s;
    }
    if (p->spread->tiled) hdst__write_line(&p->out, "for (uint w = 0; w < tile_rows; w++) tile[w * LANES + lane] = 0;");
}

const char *hdst__spread_tile(hdst__printer *p, const ir_stmt *stmt, uint32_t word)
{
    if (!p->in_spread || !p->spread->tiled || !same_word(p->spread->tiled, stmt)) return NULL;
    const char *row = stmt->index ? hdst__index_text(p, stmt->index, HDST__WHOLE) : "0";
    const char *at = p->tile_words > 1 ? hdst__arena_printf(p->arena, "((uint)(%s) * %" PRIu32 " + %" PRIu32 ")", row, p->tile_words, word) : hdst__arena_printf(p->arena, "(uint)(%s)", row);
    return hdst__arena_printf(p->arena, "tile[%s * LANES + lane]", at);
}

static void end_tile(hdst__printer *p)
{
    const ir_stmt *s = p->spread->tiled;
    if (!s) return;
    p->spread->tiled = NULL;
    const hdst__cell *cell = hdst__find_cell(p, s->param, s->leaf);
    hdst__write_line(&p->out, "for (uint row = 0; row < tile_rows / %" PRIu32 "; row++) {", p->tile_words);
    p->out.indent++;
    for (uint32_t w = 0; w < cell->strip_words; w++) {
        const char *from = hdst__arena_printf(p->arena, "tile[(row * %" PRIu32 " + %" PRIu32 ") * LANES + lane]", p->tile_words, w);
        const char *element = s->index2 ? hdst__arena_printf(p->arena, "(ulong)(%s) * %" PRIu32 " + ", hdst__expr_text(p, s->index2, HDST__WHOLE), cell->strip_words) : "";
        const char *to = hdst__arena_printf(p->arena, "%sOwn[row * %" PRIu64 " + %s%" PRIu64 "]", p->tile->name, p->tile->accum->strip_row_words, element, cell->strip_first + w);
        hdst__print_word_into(p, cell, to, from);
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- A nest ---

// A small counter would wrap where a lane goes on by as many elements as there are lanes.
static const char *counter_type(hdst__kind kind) { return hdst__scalar_size(kind) < 4 ? "int" : hdst__cl_name(kind); }

static void print_loops(hdst__printer *p, ir_stmt *s, bool outermost)
{
    const char *name = p->var_name[s->var], *type = counter_type(p->func->vars[s->var].kind);
    p->in_loop[s->var] = true;
    hdst__print_place(p, s);
    hdst__write_line(&p->out, "for (%s %s = %s; %s < %s; %s += %s) {", type, name, outermost ? "lane" : "0", name, hdst__expr_text(p, s->hi, HDST__OPERAND), name, outermost ? "LANES" : "1");
    p->out.indent++;
    if (s->body.items[0]->kind == IR_FOR) {
        print_loops(p, s->body.items[0], false);
    } else {
        begin_sums(p, &s->body);
        begin_tile(p, &s->body);
        hdst__write_line(&p->out, "uint at = 0;");
        hdst__write_line(&p->out, "for (; at + %d <= there; at += %d) {", RECORDS, RECORDS);
        p->out.indent++;
        hdst__print_record_vectors(p, &s->body);
        print_records(p, &s->body, RECORDS);
        p->vector_count = 0;
        p->out.indent--;
        hdst__write_line(&p->out, "}\nfor (; at < there; at++) {");
        p->out.indent++;
        print_records(p, &s->body, 1);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
        end_sums(p);
        end_tile(p);
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_spread(hdst__printer *p)
{
    if (!p->spread) return;
    const hdst__printer outer = *p;
    hdst__write_line(&p->out, "// The records that the lanes have ended, element by element: each lane has its own.");
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    hdst__write_line(&p->out, "const uint there = (uint)min(count - base, (ulong)LANES);");
    hdst__printer_use(p, p->spread->func);
    p->in_loop = HDST__NEW_ARRAY(p->arena, bool, p->func->var_count + 1);
    p->in_spread = true;
    p->record = "base + at";
    const ir_block *body = &p->spread->func->body;
    for (size_t i = 0; i < body->count; i++) {
        if (i) hdst__write_line(&p->out, "barrier(CLK_GLOBAL_MEM_FENCE);");
        print_loops(p, body->items[i], true);
    }
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    p->in_spread = false;
    p->func = outer.func;
    p->var_name = outer.var_name;
    p->array_name = outer.array_name;
    p->form_names = outer.form_names;
    p->record = outer.record;
}
