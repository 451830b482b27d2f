// SPDX-License-Identifier: Apache-2.0
// GPU form: the loops that a work-group makes together (cooperative_loops.c). Each lane has elements of its own and
// goes through the records of the group, several at a time so that their loads are under way together; what a record
// brings along (a row, a factor) was left in local memory by its lane. Where all records add to one cell, the sum
// stays in a register meanwhile.
#include "codegen/opencl/print_cooperative.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_group_sums.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_vectors.h"
#include "codegen/pass/accumulator_placement.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

struct hdst__cooperative {
    ir_func *func;              // its body: the loops
    bool *in_loop;              // by variable: it counts a loop around what is printed
    uint32_t *carried;          // variables that come from the lane's record
    const char **memory;        // their arrays in local memory
    hdst__group_sizes *sizes;   // of their elements
    bool tile_doubles;          // what is printed now adds to doubles in the tile, without tests
    uint32_t outermost;         // the counter of the loops that are printed of which each lane has values of its own
    size_t count;
};

// --- What is carried ---

hdst__cooperative *hdst__cooperative_create(hdst__arena *arena, ir_func *func)
{
    hdst__cooperative *loops = HDST__NEW(arena, hdst__cooperative);
    loops->func = func;
    loops->carried = HDST__NEW_ARRAY(arena, uint32_t, func->var_count + 1);
    for (uint32_t v = 0; v < func->var_count; v++)
        if (hdst__place_is_carried(func, v)) loops->carried[loops->count++] = v;
    loops->memory = HDST__NEW_ARRAY(arena, const char *, loops->count + 1);
    return loops;
}

bool hdst__cooperative_carries(const hdst__printer *p, uint32_t var)
{
    for (size_t i = 0; p->cooperative && p->func != p->cooperative->func && i < p->cooperative->count; i++)
        if (p->cooperative->carried[i] == var) return true;
    return false;
}

static const char *kept_name(const ir_var *var) { return hdst__cl_name(hdst__kind_over_block(var->kind)); }

// Whether another kernel makes the loops, and records leave what they bring along in device memory.
static bool is_apart(const hdst__printer *p) { return p->cooperative->func->tables->apart; }

static uint64_t elements_of(const ir_var *var) { return var->elements ? var->elements : 1; }

static void name_memory(hdst__printer *p)
{
    for (size_t i = 0; i < p->cooperative->count; i++) {
        const ir_var *var = &p->cooperative->func->vars[p->cooperative->carried[i]];
        p->cooperative->memory[i] = hdst__name_take(p->names, hdst__arena_printf(p->arena, "%s of lanes", var->name && var->name[0] ? var->name : "tmp"));
    }
}

uint32_t hdst__cooperative_bytes(const hdst__printer *p) { return (uint32_t)hdst__place_carried_bytes(p->cooperative->func); }

// One variable of all records behind another, the widest first, so that each lies at a multiple of its size.
static void print_factors(hdst__printer *p)
{
    uint64_t offset = 0;
    for (uint64_t size = sizeof(uint64_t); size; size /= 2)
        for (size_t i = 0; i < p->cooperative->count; i++) {
            const ir_var *var = &p->cooperative->func->vars[p->cooperative->carried[i]];
            if (hdst__scalar_size(var->kind) != size) continue;
            const char *type = kept_name(var);
            hdst__write_line(&p->out, "__global %s *%s = (__global %s *)(factors + count * %" PRIu64 ");", type, p->cooperative->memory[i], type, offset);
            offset += size * elements_of(var);
        }
}

static void print_sizes_memory(hdst__printer *p)
{
    for (size_t i = 0; i < p->cooperative->count; i++)
        if (hdst__group_sizes_of(p->cooperative->sizes, p->cooperative->carried[i]))
            hdst__print_group_sizes_memory(p, p->cooperative->sizes, p->cooperative->carried[i]);
}

void hdst__print_cooperative_memory(hdst__printer *p)
{
    if (!p->cooperative) return;
    p->cooperative->sizes = hdst__group_sizes_create(p, p->cooperative->func);
    name_memory(p);
    if (is_apart(p)) {
        print_factors(p);
        return;
    }
    for (size_t i = 0; i < p->cooperative->count; i++) {
        const ir_var *var = &p->cooperative->func->vars[p->cooperative->carried[i]];
        hdst__write_line(&p->out, "__local %s %s[%" PRIu64 " * %s];", kept_name(var), p->cooperative->memory[i], elements_of(var),
            p->cooperative->func->shape->span ? "SPAN" : "LANES");
    }
    print_sizes_memory(p);
}

void hdst__print_factor_memory(hdst__printer *p)
{
    print_factors(p);
    print_sizes_memory(p);
}

void hdst__print_cooperative_keep(hdst__printer *p)
{
    if (p->tiles && p->cooperative && p->cooperative->count) hdst__write_line(&p->out, "if (active) {");
    for (size_t i = 0; p->cooperative && !p->func->counts && i < p->cooperative->count; i++) {
        const uint32_t v = p->cooperative->carried[i];
        const ir_var *var = &p->func->vars[v];
        const char *to = p->cooperative->memory[i], *from = p->var_name[v];
        const char *at = is_apart(p) ? "(base + lane)" : "lane";
        if (!var->elements) hdst__write_line(&p->out, "%s[%s] = %s;", to, at, from);
        else hdst__write_line(&p->out, "for (uint e = 0; e < %" PRIu64 "; e++) %s[%s * %" PRIu64 " + e] = %s[e];", var->elements, to, at,
            var->elements, from);
    }
    if (p->tiles && p->cooperative && p->cooperative->count) hdst__write_line(&p->out, "}");
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
static uint32_t *variables_of(ir_func *func, const hdst__cooperative *loops, const ir_block *body, uint32_t record)
{
    const uint32_t count = (uint32_t)loops->func->var_count;
    uint32_t *to = HDST__NEW_ARRAY(func->arena, uint32_t, count + 1);
    for (uint32_t v = 0; v < count; v++) {
        const bool own = record && (hdst__place_is_carried(loops->func, v) || hdst__ir_block_writes(body, v));
        const ir_var *var = &func->vars[v];
        to[v] = own ? hdst__ir_add_var(func, var->name, var->kind, var->elements) : v;
    }
    return to;
}

static void print_carried(hdst__printer *p, const uint32_t *to, uint32_t record)
{
    const char *first = is_apart(p) ? "base + at" : "at", *space = is_apart(p) ? "__global" : "__local";
    for (size_t i = 0; i < p->cooperative->count; i++) {
        const ir_var *var = &p->cooperative->func->vars[p->cooperative->carried[i]];
        const char *name = p->var_name[to[p->cooperative->carried[i]]], *from = p->cooperative->memory[i];
        const char *at = record ? hdst__arena_printf(p->arena, "%s + %" PRIu32, first, record) : first;
        if (var->elements)
            hdst__write_line(&p->out, "%s const %s *%s = %s + (%s) * %" PRIu64 ";", space, kept_name(var), name, from, at, var->elements);
        else hdst__write_line(&p->out, "const %s %s = %s[%s]%s;", hdst__cl_name(var->kind), name, from, at, var->kind == HDST__BOOL ? " != 0" : "");
    }
}

// Assignments of all records, then their additions, so that these stand together.
static void print_records(hdst__printer *p, const ir_block *body, uint32_t records)
{
    ir_func *func = hdst__ir_copy_func(p->arena, p->cooperative->func);
    ir_block sets = {0}, adds = {0};
    uint32_t *to[HDST__GPU_COOPERATIVE_TILE_RECORDS];
    for (uint32_t r = 0; r < records; r++) {
        to[r] = variables_of(func, p->cooperative, body, r);
        ir_block copy = hdst__ir_copy_block(func, body);
        renaming renames = {to[r], r};
        hdst__ir_visit_stmts(&copy, rename_stmt, &renames);
        for (size_t i = 0; i < copy.count; i++) hdst__ir_push(func, copy.items[i]->kind == IR_SET ? &sets : &adds, copy.items[i]);
    }
    const size_t of_record = adds.count / records;
    for (size_t i = 0; i < adds.count; i++) hdst__ir_push(func, &sets, adds.items[i]);
    const hdst__printer_scope outer = hdst__printer_scope_of(p);
    hdst__printer_use(p, func);
    bool *known = HDST__NEW_ARRAY(p->arena, bool, func->var_count + 1);
    for (uint32_t r = 0; r < records; r++) {
        print_carried(p, to[r], r);
        for (uint32_t v = 0; v < p->cooperative->func->var_count; v++)
            if (p->cooperative->in_loop[v] || hdst__place_is_carried(p->cooperative->func, v)) known[to[r][v]] = true;
    }
    hdst__print_statements(p, &sets, known);
    for (uint32_t r = 0; r < records; r++) hdst__print_sizes_seen(p, p->cooperative->sizes, adds.items + r * of_record);
    hdst__printer_return(p, outer);
}

// --- Homes ---

static bool is_shared(const hdst__printer *p, const ir_expr *expr) { return hdst__place_is_shared(p->cooperative->func, p->cooperative->in_loop, expr); }

const char *hdst__cooperative_twofold(hdst__printer *p, const ir_stmt *stmt)
{
    return p->cooperative ? hdst__group_sum_tested(p, p->cooperative->sizes, stmt) : NULL;
}

static const char *tile_add_text(hdst__printer *p, const ir_stmt *stmt)
{
    const char *row = stmt->index ? hdst__index_text(p, stmt->index, HDST__WHOLE) : "0";
    return hdst__arena_printf(p->arena, "tile_add(&tile_sums[(uint)(%s) * LANES + lane], %s, tile_beside, &tile_exact, &tile_largest);", row,
        hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
}

const char *hdst__cooperative_plain(hdst__printer *p, const ir_stmt *stmt)
{
    if (p->cooperative && p->cooperative->tile_doubles && stmt->home == IR_HOME_TILE) return tile_add_text(p, stmt);
    return p->cooperative ? hdst__group_sum_plain(p, p->cooperative->sizes, stmt) : NULL;
}

// --- Rows that differ, few of them: an element of each in local memory ---

static const ir_stmt *in_tile(const ir_block *body)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->home == IR_HOME_TILE) return body->items[i];
    return NULL;
}

static size_t additions_of(const ir_block *body)
{
    size_t count = 0;
    for (size_t i = 0; i < body->count; i++) count += body->items[i]->kind == IR_ACCUM;
    return count;
}

// Sums of floats of one word may be doubles meanwhile, which hold what the words hold and a few bits below (tile_add).
static bool sums_in_doubles(const hdst__printer *p, const ir_block *body)
{
    const ir_stmt *s = in_tile(body);
    const ir_shape *shape = p->func->shape;
    if (!s || !s->joint || additions_of(body) > 1 || p->func->tables->tile_words > 1 || !p->options->facts.has_double) return false;
    const hdst__cell *cell = hdst__find_cell(p, s->param, s->leaf);
    const bool one_word = cell->kind == HDST__F32 && cell->precision == HDST__CLASS_ONE_WORD;
    const bool joint = hdst__leaf_placement(p, s->param, s->leaf)->way == IR_WAY_JOINT;
    return one_word && joint && (shape->span ? shape->span : shape->group) <= HDST__GPU_COOPERATIVE_TILE_SPAN;
}

static void begin_tile(hdst__printer *p, const ir_block *body)
{
    const bool doubles = p->cooperative->tile_doubles;
    const ir_stmt *s = in_tile(body);
    if (doubles) {
        hdst__write_line(&p->out, "__local double *tile_sums = (__local double *)tile;");
        hdst__write_line(&p->out, "const double tile_beside = 0x1.8p48 * %sDown;", hdst__scale_name(p, s->param, s->leaf));
        hdst__write_line(&p->out, "bool tile_exact = true;\nuint tile_largest = 0;");
    }
    if (s) hdst__write_line(&p->out, "for (uint w = 0; w < tile_rows; w++) tile%s[w * LANES + lane] = 0;", doubles ? "_sums" : "");
}

static const char *tile_text(hdst__printer *p, const ir_stmt *stmt, uint32_t word)
{
    const uint32_t words = p->func->tables->tile_words;
    const char *row = stmt->index ? hdst__index_text(p, stmt->index, HDST__WHOLE) : "0";
    if (words == 1) return hdst__arena_printf(p->arena, "tile[(uint)(%s) * LANES + lane]", row);
    return hdst__arena_printf(p->arena, "tile[((uint)(%s) * %" PRIu32 " + %" PRIu32 ") * LANES + lane]", row, words, word);
}

const char *hdst__cooperative_home(hdst__printer *p, const ir_stmt *stmt, uint32_t word)
{
    return stmt->home == IR_HOME_TILE ? tile_text(p, stmt, word) : hdst__group_sum_name(p, stmt->home_register + word);
}

static const char *element_text(hdst__printer *p, const ir_stmt *s, uint32_t words)
{
    const char *index = s->index2 ? hdst__expr_text(p, s->index2, HDST__WHOLE) : NULL;
    return index ? hdst__arena_printf(p->arena, "(ulong)(%s) * %" PRIu32 " + ", index, words) : "";
}

// A sum goes to a word of the work-group's table, by an addition that gives nothing back: it is on its way at once, where a load in front of a store would be
// waited for, row by row. Where other work-groups have the same table, what is no sum must not be lost either.
static void print_table_word(hdst__printer *p, const hdst__cell *cell, const char *to, const char *from)
{
    static const char *const function[] = {"device_add", "device_max", "device_or", "device_xor"};
    if (cell->op == HDST__WORD_ADD || p->func->tables->shared) hdst__write_line(&p->out, "%s(&%s, %s);", function[cell->op], to, from);
    else hdst__print_word_into(p, cell, to, from);
}

// Whole units go to the table's word, what is left, of bits that no addend of the word's own has, to the superaccumulator.
static void end_tile_sums(hdst__printer *p, const ir_stmt *s)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, s->param);
    const hdst__cell *cell = &plan->accum->cell[s->leaf];
    const char *scale = hdst__scale_name(p, s->param, s->leaf);
    hdst__write_line(&p->out, "for (uint row = 0; row < tile_rows; row++) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const double units = tile_sums[row * LANES + lane] * %sUp;\nconst long whole = (long)units;", scale);
    print_table_word(p, cell, hdst__arena_printf(p->arena, "%sOwn[row * %" PRIu64 " + %s%" PRIu64 "]", plan->name, plan->accum->private_row_words,
        element_text(p, s, cell->private_words), (uint64_t)cell->private_first), "whole");
    hdst__write_line(&p->out, "if (units != whole) superaccumulator_add_fixed(%sTotal + row * (ulong)%" PRIu64 " + %s%" PRIu64 ", FLOAT_LAST, FLOAT_LOWEST, "
        "(long)((units - whole) * 0x1p4), %sScale + 4);", plan->name, (uint64_t)plan->accum->device_row_words, element_text(p, s, cell->device_words),
        (uint64_t)cell->device_first, scale);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void end_tile(hdst__printer *p, const ir_block *body)
{
    const ir_stmt *s = in_tile(body);
    if (!s) return;
    const hdst__accum_plan *plan = hdst__find_plan(p, s->param);
    const hdst__cell *cell = &plan->accum->cell[s->leaf];
    const uint32_t words = p->func->tables->tile_words;
    hdst__write_line(&p->out, "for (uint row = 0; row < tile_rows / %" PRIu32 "; row++) {", words);
    p->out.indent++;
    for (uint32_t w = 0; w < cell->private_words; w++) {
        const char *from = hdst__arena_printf(p->arena, "tile[(row * %" PRIu32 " + %" PRIu32 ") * LANES + lane]", words, w);
        const char *element = element_text(p, s, cell->private_words);
        const char *to = hdst__arena_printf(p->arena, "%sOwn[row * %" PRIu64 " + %s%" PRIu64 "]", plan->name, plan->accum->private_row_words,
            element, cell->private_first + w);
        print_table_word(p, cell, to, from);
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- A nest ---

// A small counter would wrap where a lane goes on by as many elements as there are lanes.
static const char *counter_type(hdst__kind kind) { return hdst__scalar_size(kind) < 4 ? "int" : hdst__cl_name(kind); }

// From record `at` on, so many at once while they are there.
static void print_record_loops(hdst__printer *p, ir_block *body, uint32_t records)
{
    hdst__write_line(&p->out, "for (; at + %" PRIu32 " <= there; at += %" PRIu32 ") {", records, records);
    p->out.indent++;
    hdst__begin_record_vectors(p, body, records, is_shared);
    print_records(p, body, records);
    hdst__end_record_vectors(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}\nfor (; at < there; at++) {");
    p->out.indent++;
    print_records(p, body, 1);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// As they are, or made again in words, each addition with a test.
static void settle_tile_sums(hdst__printer *p, ir_block *body)
{
    const ir_stmt *s = in_tile(body);
    const char *down = hdst__arena_printf(p->arena, "%sDown", hdst__scale_name(p, s->param, s->leaf));
    p->uses_double = true;
    p->cooperative->tile_doubles = false;
    hdst__write_line(&p->out, "if (tile_exact && as_float(tile_largest >> 1) < %s * 0x1p40f) {", down);
    p->out.indent++;
    end_tile_sums(p, s);
    p->out.indent--;
    hdst__write_line(&p->out, "} else {");
    p->out.indent++;
    begin_tile(p, body);
    hdst__write_line(&p->out, "at = 0;");
    print_record_loops(p, body, HDST__GPU_COOPERATIVE_RECORDS);
    end_tile(p, body);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// The group's records, for the elements where the loops stand.
static void print_group_records(hdst__printer *p, ir_block *body, uint32_t records)
{
    p->cooperative->tile_doubles = sums_in_doubles(p, body);
    begin_tile(p, body);
    hdst__write_line(&p->out, "uint at = 0;");
    print_record_loops(p, body, records);
    if (p->cooperative->tile_doubles) settle_tile_sums(p, body);
    else end_tile(p, body);
}

static void make_again(hdst__printer *p, ir_block *turn)
{
    hdst__begin_tested_group_sums(p, p->cooperative->sizes, turn);
    hdst__write_line(&p->out, "for (uint at = 0; at < there; at++) {");
    p->out.indent++;
    print_records(p, turn, 1);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// One turn of loop `jam` (NULL: of the only loop) once more: made again, each addition with a test. A plain sum is what it is, and is only settled.
static void print_again(hdst__printer *p, const ir_stmt *jam, ir_block *turn, uint32_t turns)
{
    hdst__write_line(&p->out, "for (uint again = 0; rare >> again; again++) {");
    p->out.indent++;
    if (turns > 1) hdst__write_line(&p->out, "if (!(rare >> again & 1)) continue;");
    if (jam) {
        const char *type = counter_type(p->func->vars[jam->var].kind), *name = p->var_name[jam->var];
        hdst__write_line(&p->out, "const %s turn = %s + (%s)again;", type, name, type);
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        hdst__write_line(&p->out, "const %s %s = turn;", type, name);
    }
    if (hdst__group_sums_fast(p, turn)) hdst__take_fast_group_sums(p, turn, turns);
    else make_again(p, turn);
    hdst__end_group_sums(p, p->cooperative->sizes, turn);
    if (jam) {
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// `turns` of loop `jam`, whose sums are those of `body`; jam NULL: those of one loop by itself.
static void print_innermost(hdst__printer *p, ir_block *body, ir_stmt *jam, uint32_t turns, uint32_t records)
{
    ir_block *turn = jam ? &jam->body : body;
    hdst__begin_group_sums(p, p->cooperative->sizes, body, turn, p->cooperative->outermost, jam ? jam->var : IR_NO_VAR);
    print_group_records(p, body, records);
    if (hdst__end_group_sums(p, p->cooperative->sizes, body)) print_again(p, jam, turn, turns);
}

// Words of the registers that one turn of the innermost loop takes; 0: it does more than add to them.
static uint32_t words_of_turn(const hdst__printer *p, const ir_block *body)
{
    uint32_t words = 0;
    for (size_t i = 0; i < body->count; i++) {
        if (body->items[i]->kind != IR_ACCUM || body->items[i]->home != IR_HOME_REGISTER) return 0;
        const uint32_t end = body->items[i]->home_register + hdst__find_cell(p, body->items[i]->param, body->items[i]->leaf)->private_words;
        if (end > words) words = end;
    }
    return words;
}

// Turns of an inner loop whose sums are in registers at once, so that what they read of a record is read once (unroll and jam).
static uint32_t jammed_turns(const hdst__printer *p, const ir_stmt *s)
{
    const uint32_t words = words_of_turn(p, &s->body);
    const bool fast = hdst__group_sums_fast(p, &s->body);
    const uint64_t most = fast ? HDST__GPU_COOPERATIVE_FAST_JAMMED : HDST__GPU_COOPERATIVE_JAMMED;
    uint64_t turns = s->hi->op == IR_CONST ? s->hi->bits : 0;
    if (turns > most) turns = most;
    while (words && turns * words > (fast ? most : IR_HOME_REGISTERS)) turns--;
    return words ? (uint32_t)turns : 0;
}

static ir_block jammed(hdst__printer *p, const ir_stmt *s, uint32_t turns)
{
    ir_func *func = p->cooperative->func;
    const hdst__kind kind = s->hi->kind;
    ir_block all = {0};
    for (uint32_t k = 0; k < turns; k++) {
        ir_block turn = hdst__ir_copy_block(func, &s->body);
        if (k) hdst__ir_substitute(func, &turn, s->var, hdst__ir_binary(func, IR_ADD, kind, hdst__ir_var(func, s->var), hdst__ir_const(func, kind, k)));
        for (size_t i = 0; i < turn.count; i++) {
            turn.items[i]->home_register += k * words_of_turn(p, &s->body);
            hdst__ir_push(func, &all, turn.items[i]);
        }
    }
    return all;
}

static uint32_t tile_records(const hdst__printer *p)
{
    return p->options->input->layout == HDST__AOS ? HDST__GPU_COOPERATIVE_TILE_RECORDS : HDST__GPU_COOPERATIVE_TILE_COLUMN_RECORDS;
}

static void print_loops(hdst__printer *p, ir_stmt *s, bool outermost)
{
    const char *name = p->var_name[s->var], *type = counter_type(p->func->vars[s->var].kind), *hi = hdst__expr_text(p, s->hi, HDST__OPERAND);
    const bool nested = s->body.items[0]->kind == IR_FOR;
    const uint32_t turns = outermost || nested ? 0 : jammed_turns(p, s);
    if (outermost) p->cooperative->outermost = s->var;
    p->cooperative->in_loop[s->var] = true;
    hdst__print_source_line(p, s);
    if (turns > 1) {
        ir_block all = jammed(p, s, turns);
        hdst__write_line(&p->out, "%s %s = 0;", type, name);
        hdst__write_line(&p->out, "for (; %s + %" PRIu32 " <= %s; %s += %" PRIu32 ") {", name, turns, hi, name, turns);
        p->out.indent++;
        const bool few = turns > HDST__GPU_COOPERATIVE_JAMMED && p->options->input->layout == HDST__AOS;
        print_innermost(p, &all, s, turns, few ? HDST__GPU_COOPERATIVE_FEW_RECORDS : HDST__GPU_COOPERATIVE_RECORDS);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
        if (s->hi->bits % turns == 0) return;
        hdst__write_line(&p->out, "for (; %s < %s; %s++) {", name, hi, name);
    } else {
        hdst__write_line(&p->out, "for (%s %s = %s; %s < %s; %s += %s) {", type, name, outermost ? "lane" : "0", name, hi, name, outermost ? "LANES" : "1");
    }
    p->out.indent++;
    if (nested) print_loops(p, s->body.items[0], false);
    else print_innermost(p, &s->body, NULL, 1, in_tile(&s->body) ? tile_records(p) : HDST__GPU_COOPERATIVE_RECORDS);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_sizes(hdst__printer *p)
{
    bool any = false;
    for (size_t i = 0; i < p->cooperative->count; i++) {
        if (!hdst__group_sizes_of(p->cooperative->sizes, p->cooperative->carried[i])) continue;
        const uint64_t elements = elements_of(&p->cooperative->func->vars[p->cooperative->carried[i]]);
        const char *from = p->cooperative->memory[i];
        if (is_apart(p)) from = hdst__arena_printf(p->arena, "(%s + base * %" PRIu64 ")", from, elements);
        hdst__print_group_sizes(p, p->cooperative->sizes, p->cooperative->carried[i], from);
        any = true;
    }
    if (any) hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

// Where the loops are printed: by the names of their function.
static hdst__printer_scope enter(hdst__printer *p)
{
    const hdst__printer_scope outer = hdst__printer_scope_of(p);
    hdst__printer_use(p, p->cooperative->func);
    p->cooperative->in_loop = HDST__NEW_ARRAY(p->arena, bool, p->func->var_count + 1);
    p->record = "base + at";
    return outer;
}

static void leave(hdst__printer *p, hdst__printer_scope outer, const char *record)
{
    hdst__printer_return(p, outer);
    p->record = record;
}

// Those that are no products.
static void print_nests(hdst__printer *p)
{
    const ir_block *body = &p->cooperative->func->body;
    bool any = false;
    for (size_t i = 0; i < body->count; i++) {
        if (body->items[i]->product) continue;
        if (any) hdst__write_line(&p->out, "barrier(CLK_GLOBAL_MEM_FENCE);");
        any = true;
        print_loops(p, body->items[i], true);
    }
}

void hdst__print_cooperative_loops(hdst__printer *p)
{
    if (!p->cooperative || is_apart(p)) return;
    const char *record = p->record;
    hdst__write_line(&p->out, "// The records that the lanes have ended, element by element: each lane has its own.");
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    hdst__write_line(&p->out, "const uint there = (uint)min(count - base, (ulong)%s);", p->func->shape->span ? "SPAN" : "LANES");
    print_sizes(p);
    const hdst__printer_scope outer = enter(p);
    print_nests(p);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
    leave(p, outer, record);
}

// --- In a kernel of their own: print_products.h ---

void hdst__print_cooperative_rest(hdst__printer *p)
{
    const char *record = p->record;
    print_sizes(p);
    const hdst__printer_scope outer = enter(p);
    print_nests(p);
    leave(p, outer, record);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
}

void hdst__print_cooperative_carried(hdst__printer *p)
{
    uint32_t *own = HDST__NEW_ARRAY(p->arena, uint32_t, p->func->var_count + 1);
    for (uint32_t v = 0; v < p->func->var_count; v++) own[v] = v;
    print_carried(p, own, 0);
}

void hdst__cooperative_in_nest(hdst__printer *p, ir_stmt *nest, void (*print)(hdst__printer *p, ir_stmt *nest))
{
    const char *record = p->record;
    const hdst__printer_scope outer = enter(p);
    p->cooperative->in_loop[nest->var] = true;
    if (nest->body.items[0]->kind == IR_FOR) p->cooperative->in_loop[nest->body.items[0]->var] = true;
    print(p, nest);
    leave(p, outer, record);
}

const ir_func *hdst__cooperative_func(const hdst__printer *p) { return p->cooperative ? p->cooperative->func : NULL; }

void hdst__print_cooperative_again(hdst__printer *p, ir_block *turn, const char *taken)
{
    if (taken) hdst__write_line(&p->out, "const float %s = %s;", hdst__group_sum_name(p, turn->items[0]->home_register), taken);
    else make_again(p, turn);
    hdst__end_group_sums(p, p->cooperative->sizes, turn);
}
