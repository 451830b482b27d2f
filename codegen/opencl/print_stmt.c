// SPDX-License-Identifier: Apache-2.0
// Statements of the IR as OpenCL C. Where a variable is declared: print_homes.c.
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_combine.h"
#include "codegen/opencl/print_combine_gpu.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_homes.h"
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_run_totals.h"
#include "codegen/opencl/print_tiles.h"

#include <inttypes.h>
#include <string.h>

static void print_block(hdst__printer *p, const ir_block *block);

// --- Declarations ---

static const char *zero_text(const ir_var *var)
{
    return var->kind == HDST__BOOL ? "false" : var->kind == HDST__TEXT ? "{0}" : "0";
}

// Varying variables live in the body of a record loop only, so each such loop declares its own.
static bool is_local_to_records(const hdst__printer *p, uint32_t v)
{
    const ir_var *var = &p->func->vars[v];
    return p->func->block && var->varying && !var->per_record && !var->elements;
}

static void declare_array(hdst__printer *p, uint32_t v)
{
    const ir_var *var = &p->func->vars[v];
    if (var->init) return;      // at file scope
    if (var->in_tile) {
        hdst__print_tile_of_record(p, v);
        return;
    }
    hdst__write_line(&p->out, "%s %s[%" PRIu64 "]%s;", hdst__cl_name(var->kind), p->var_name[v], var->elements, var->per_record ? "[BLOCK] ALIGNED" : "");
}

// A counted loop's variable that is used in such loops only: each declares it.
static bool belongs_to_loops(const hdst__printer *p, uint32_t v)
{
    return p->homes->in_own_loops[v] && p->homes->in_own_loops[v] == p->homes->references[v];
}

static bool is_kept(const hdst__printer *p, uint32_t v) { return p->form->keeps && p->form->keeps(p, v); }
static bool is_carried(const hdst__printer *p, uint32_t v) { return p->form->carries && p->form->carries(p, v); }

// What must live as long as the function: values per record, arrays, and what no inner block can hold.
static void declare_at_top(hdst__printer *p)
{
    for (uint32_t v = 0; v < p->func->var_count; v++) {
        const ir_var *var = &p->func->vars[v];
        if (var->per_record || var->elements || is_carried(p, v) || hdst__tiles_part(p, p->homes->home[v])) p->homes->home[v] = NULL;
        if (hdst__tiles_own(p, v) || p->homes->home[v] || p->homes->declared[v] || p->homes->references[v] == 0) continue;
        if (is_kept(p, v) || belongs_to_loops(p, v) || is_local_to_records(p, v)) continue;
        p->homes->declared[v] = true;
        if (var->elements) declare_array(p, v);
        else if (var->per_record) hdst__write_line(&p->out, "%s %s[BLOCK] ALIGNED;", hdst__cl_name(hdst__kind_over_block(var->kind)), p->array_name[v]);
        else hdst__write_line(&p->out, "%s %s = %s;", hdst__cl_name(var->kind), p->var_name[v], zero_text(var));
    }
}

// What to put in front of the statement that sets v: its type when it is declared there.
static const char *declaration(hdst__printer *p, uint32_t v)
{
    const ir_var *var = &p->func->vars[v];
    if (p->homes->declared[v] || p->homes->home[v] != p->homes->here) return "";
    p->homes->declared[v] = true;
    return hdst__arena_printf(p->arena, "%s ", hdst__cl_name(var->kind));
}

// --- Simple statements ---

static void print_set(hdst__printer *p, const ir_stmt *stmt)
{
    const char *value = hdst__expr_text(p, stmt->value, HDST__WHOLE);
    const char *type = declaration(p, stmt->var);
    hdst__write_line(&p->out, "%s%s = %s;", type, p->var_name[stmt->var], value);
}

static void print_set_elem(hdst__printer *p, const ir_stmt *stmt)
{
    const ir_var *var = &p->func->vars[stmt->var];
    const char *before = var->in_rows ? "[r]" : "", *behind = var->per_record && !var->in_rows ? "[r]" : "";
    const char *element = hdst__index_text(p, stmt->index, HDST__WHOLE), *value = hdst__expr_text(p, stmt->value, HDST__WHOLE);
    hdst__write_line(&p->out, "%s%s[%s]%s = %s;", p->var_name[stmt->var], before, element, behind, value);
}

static void print_reduce(hdst__printer *p, const ir_stmt *stmt)
{
    const char *var = p->var_name[stmt->var], *value = hdst__expr_text(p, stmt->value, HDST__WHOLE);
    if (stmt->acc == HDST__MAX) hdst__write_line(&p->out, "%s = max(%s, %s);", var, var, value);
    else hdst__write_line(&p->out, "%s %s= %s;", var, stmt->acc == HDST__SUM ? "+" : stmt->acc == HDST__OR ? "|" : "^", value);
}

// A block only notes that something failed; its records one by one tell which and where. There `failed` is the number
// of the first check that fails, plus one. The note is a number, not a bool: of bools LLVM makes a masked load of
// constant bytes, whose page nothing maps as long as nothing fails, and the processor then takes a thousand cycles
// for each such load (20 ns a record on a Zen 4).
static void print_check(hdst__printer *p, const ir_stmt *stmt)
{
    const char *condition = hdst__expr_text(p, stmt->cond, HDST__WHOLE);
    if (p->in_block || p->func->lane_records > 1) hdst__write_line(&p->out, "failed |= !(%s);", condition);
    else hdst__write_line(&p->out, "failed = (failed != 0) | (%s) ? failed : %" PRIu32 ";", condition, stmt->check + 1);
}

static void print_emit(hdst__printer *p, const ir_stmt *stmt)
{
    if (p->own_record) {
        hdst__print_gpu_combine(p, stmt);
        return;
    }
    if (stmt->value && stmt->cond) hdst__write_line(&p->out, "if (%s)", hdst__expr_text(p, stmt->cond, HDST__WHOLE));
    if (stmt->value) hdst__write_line(&p->out, "%splace += %s;", stmt->cond ? "    " : "", hdst__expr_text(p, stmt->value, HDST__WHOLE));
    else if (stmt->cond) hdst__write_line(&p->out, "place += %s;", hdst__expr_text(p, stmt->cond, HDST__WHOLE));
    else hdst__write_line(&p->out, "place++;");
    if (hdst__combines(p) && !p->func->counts) hdst__print_combine(p);
}

static void print_prefetch(hdst__printer *p, const ir_stmt *stmt)
{
    const uint64_t size = p->func->params[stmt->param].record->size;
    const char *at = hdst__arena_printf(p->arena, "%sAt + (ulong)(%s) * %" PRIu64, p->param_name[stmt->param],
                                        hdst__index_text(p, stmt->index, HDST__WHOLE), size);
    hdst__write_line(&p->out, "PREFETCH_BYTES(%s, %" PRIu64 ")", at, size);
    if (64 % size) hdst__write_line(&p->out, "PREFETCH_BYTES(%s + %" PRIu64 ", 1)", at, size - 1);      // it may begin anywhere in a line of the cache
}

static void print_break(hdst__printer *p, const ir_stmt *stmt)
{
    hdst__write_line(&p->out, stmt->kind == IR_BREAK ? "break;" : "continue;");
}

// --- Control ---

static void print_nested(hdst__printer *p, const ir_block *block)
{
    p->out.indent++;
    print_block(p, block);
    p->out.indent--;
}

static void print_if(hdst__printer *p, const ir_stmt *stmt)
{
    hdst__write_line(&p->out, "if (%s) {", hdst__expr_text(p, stmt->cond, HDST__WHOLE));
    print_nested(p, &stmt->then);
    if (stmt->otherwise.count) {
        hdst__write_line(&p->out, "} else {");
        print_nested(p, &stmt->otherwise);
    }
    hdst__write_line(&p->out, "}");
}

static const char *pragma_of(hdst__printer *p, const ir_stmt *stmt);

static void print_for(hdst__printer *p, const ir_stmt *stmt)
{
    if (p->form->begin_loop) p->form->begin_loop(p, stmt);
    if (stmt->scalar_why) hdst__write_line(&p->out, "// not vectorised: %s", stmt->scalar_why);
    if (stmt->vectorize) hdst__write_line(&p->out, "%s", pragma_of(p, stmt));
    const char *name = p->var_name[stmt->var], *kind = hdst__cl_name(p->func->vars[stmt->var].kind);
    const char *lo = hdst__expr_text(p, stmt->lo, HDST__WHOLE), *hi = hdst__expr_text(p, stmt->hi, HDST__OPERAND);
    const char *type = belongs_to_loops(p, stmt->var) ? hdst__arena_printf(p->arena, "%s ", kind) : "";
    const char *step = hdst__arena_printf(p->arena, stmt->step == 1 ? "%s++" : "%s += %" PRIu64, name, stmt->step);
    hdst__write_line(&p->out, "for (%s%s = %s; %s < %s; %s) {", type, name, lo, name, hi, step);
    const bool outer = p->in_row;
    p->in_row |= stmt->vectorize || stmt->scalar_why;
    print_nested(p, &stmt->body);
    p->in_row = outer;
    hdst__write_line(&p->out, "}");
    if (p->form->end_loop) p->form->end_loop(p, stmt);
}

// `continue` goes to the step, so the step is the third clause of a loop when it is one assignment; else the round begins
// with it, from the second one on.
static void print_loop(hdst__printer *p, const ir_stmt *stmt)
{
    const bool simple = stmt->after.count == 0 || (stmt->after.count == 1 && stmt->after.items[0]->kind == IR_SET);
    const char *step = "";
    if (simple && stmt->after.count)
        step = hdst__arena_printf(p->arena, "%s = %s", p->var_name[stmt->after.items[0]->var], hdst__expr_text(p, stmt->after.items[0]->value, HDST__WHOLE));
    const char *later = simple ? "" : hdst__name_take(p->form_names, "later");
    const char *rest = simple ? "" : hdst__arena_printf(p->arena, "%s = true", later);
    if (!simple) hdst__write_line(&p->out, "bool %s = false;", later);
    // Turns are counted where record loops are inside: a loop without a counter of its own gets its head merged with
    // theirs, and none is vectorised.
    if (p->in_block && !p->in_records && simple && !stmt->after.count) {
        const char *turn = hdst__name_take(p->form_names, "turn");
        hdst__write_line(&p->out, "for (ulong %s = 0; %s != ~0UL; %s++) {", turn, turn, turn);
    } else {
        hdst__write_line(&p->out, "for (;; %s%s) {", step, rest);
    }
    p->out.indent++;
    if (!simple) {
        hdst__write_line(&p->out, "if (%s) {", later);
        print_nested(p, &stmt->after);
        hdst__write_line(&p->out, "}");
    }
    print_block(p, &stmt->head);
    if (stmt->cond) hdst__write_line(&p->out, "if (!(%s)) break;", hdst__expr_text(p, stmt->cond, HDST__WHOLE));
    print_block(p, &stmt->body);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- Record loops ---

// The scalars with a value per record are locals of the loop's body, read from their arrays before and written back after.
static bool is_value_per_record(const hdst__printer *p, const uint8_t *access, uint32_t v)
{
    return access[v] && p->func->vars[v].per_record && !p->func->vars[v].elements;
}

static const char *pragma_of(hdst__printer *p, const ir_stmt *stmt)
{
    if (!stmt->vectorize) return "SCALAR_LOOP";
    return hdst__arena_printf(p->arena, "%s_LOOP(%" PRIu32 ", %" PRIu32 ")", stmt->masked ? "MASKED" : "VECTOR", stmt->lanes, stmt->interleave);
}

// Declares what the body's first assignments do not: values from before the loop, and what is set in a branch first.
static void declare_in_records(hdst__printer *p, const ir_stmt *stmt, const uint8_t *access)
{
    for (uint32_t v = 0; v < p->func->var_count; v++) {
        const char *type = hdst__cl_name(p->func->vars[v].kind);
        const bool local = is_local_to_records(p, v), used = is_value_per_record(p, access, v);
        const bool elsewhere = p->homes->home[v] != &stmt->body;
        if (used && access[v] & IR_READ_FIRST) hdst__write_line(&p->out, "%s %s = %s[r];", type, p->var_name[v], p->array_name[v]);
        else if (used && elsewhere) hdst__write_line(&p->out, "%s %s;", type, p->var_name[v]);
        else if (local && p->homes->references[v] && !p->homes->home[v] && !belongs_to_loops(p, v))
            hdst__write_line(&p->out, "%s %s = %s;", type, p->var_name[v], zero_text(&p->func->vars[v]));
        p->homes->declared[v] = !(used || local) || (used && (access[v] & IR_READ_FIRST || elsewhere));
    }
}

static void print_records_body(hdst__printer *p, const ir_stmt *stmt)
{
    const uint8_t *access = hdst__find_homes_in_records(p, (ir_block *)&stmt->body);
    declare_in_records(p, stmt, access);
    p->in_records = true;
    p->record = "i + r";
    print_block(p, &stmt->body);
    p->in_records = false;
    for (uint32_t v = 0; v < p->func->var_count; v++)
        if (is_value_per_record(p, access, v) && access[v] & IR_WRITTEN) hdst__write_line(&p->out, "%s[r] = %s;", p->array_name[v], p->var_name[v]);
}

// The array that says which records come out, where the loop does nothing but store and emit; NULL: it does more, or all come out.
static const char *what_comes_out(const hdst__printer *p, const ir_stmt *records)
{
    const ir_stmt *emit = records->body.items[records->body.count - 1];
    if (emit->kind != IR_EMIT || !emit->cond || emit->cond->op != IR_VAR || !p->func->vars[emit->cond->var].per_record) return NULL;
    for (size_t i = 0; i + 1 < records->body.count; i++)
        if (records->body.items[i]->kind != IR_STORE) return NULL;
    return p->array_name[emit->cond->var];
}

// Filters often let nothing through: then a few vector operations stand for a turn of each record.
static bool print_skip(hdst__printer *p, const ir_stmt *stmt)
{
    const char *out = stmt->body.count ? what_comes_out(p, stmt) : NULL;
    if (!out) return false;
    hdst__write_line(&p->out, "uint any = 0;");
    hdst__write_line(&p->out, "VECTOR_LOOP(16, 1)");
    hdst__write_line(&p->out, "for (int r = 0; r < BLOCK; r++) any |= %s[r];", out);
    hdst__write_line(&p->out, "if (any) {");
    p->out.indent++;
    return true;
}

static void print_records(hdst__printer *p, const ir_stmt *stmt)
{
    const bool skips = print_skip(p, stmt), totals = hdst__begin_run_totals(p, stmt);
    if (stmt->scalar_why) hdst__write_line(&p->out, "// not vectorised: %s", stmt->scalar_why);
    hdst__write_line(&p->out, "%s", pragma_of(p, stmt));
    hdst__write_line(&p->out, "for (int r = 0; r < BLOCK; r++) {");
    p->out.indent++;
    hdst__homes *outer = p->homes;
    print_records_body(p, stmt);
    p->homes = outer;
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    if (totals) hdst__end_run_totals(p, stmt);
    p->out.indent -= skips;
    if (skips) hdst__write_line(&p->out, "}");
}

// --- Blocks ---

static void print_nothing(hdst__printer *p, const ir_stmt *stmt)
{
    (void)p, (void)stmt;        // gone after the scalar passes
}

// One statement. IR_ACCUM_BLOCK is of forms that have it (hdst__form).
static void (*const print_one[HDST__STMT_KINDS])(hdst__printer *p, const ir_stmt *stmt) = {
    [IR_SET] = print_set, [IR_SET_ELEM] = print_set_elem, [IR_REDUCE] = print_reduce, [IR_CHECK] = print_check,
    [IR_IF] = print_if, [IR_FOR] = print_for, [IR_LOOP] = print_loop, [IR_RECORDS] = print_records,
    [IR_BREAK] = print_break, [IR_CONTINUE] = print_break, [IR_RETURN] = print_nothing,
    [IR_STORE] = hdst__print_store, [IR_EMIT] = print_emit, [IR_PREFETCH] = print_prefetch,
    [IR_ACCUM] = hdst__print_accum, [IR_ACCUM_WORDS] = hdst__print_accum_words, [IR_ACCUM_SUPERACCUMULATOR] = hdst__print_accum_wide,
};

static size_t print_stmts(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const ir_stmt_kind kind = stmts[0]->kind;
    if (kind != IR_RECORDS) hdst__print_source_line(p, stmts[0]);
    const size_t together = p->form->run[kind] ? p->form->run[kind](p, stmts, count) : 0;
    if (!together) print_one[kind](p, stmts[0]);
    return together ? together : 1;
}

static void print_block(hdst__printer *p, const ir_block *block)
{
    const ir_block *outer = p->homes->here;
    p->homes->here = block;
    for (size_t at = 0; at < block->count;) at += print_stmts(p, &block->items[at], block->count - at);
    p->homes->here = outer;
}

static void print_part(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    hdst__write_line(&p->out, "if (active) {");
    p->out.indent++;
    for (size_t at = 0; at < count;) at += print_stmts(p, stmts + at, count - at);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// All lanes of the work-group come to a tile; what stands between tiles is for those that have a record.
static void print_parts(hdst__printer *p, const ir_block *block)
{
    const ir_block *outer = p->homes->here;
    p->homes->here = block;
    for (size_t at = 0; at < block->count; at++) {
        ir_stmt *s = block->items[at];
        size_t end = at;
        while (end < block->count && !hdst__has_tile(block->items[end])) end++;
        if (end > at) {
            print_part(p, block->items + at, end - at);
            at = end - 1;
        } else if (s->tile) {
            hdst__print_tile(p, s);
        } else {
            hdst__print_tile_steps(p, s);
            p->out.indent++;
            print_parts(p, &s->body);
            p->out.indent--;
            hdst__write_line(&p->out, "}");
        }
    }
    p->homes->here = outer;
}

static void print_failures(hdst__printer *p)
{
    if (p->form->failed) {
        p->form->failed(p);
        return;
    }
    if (p->func->lane_records > 1) {
        hdst__write_line(&p->out, "whole = !failed;");
        return;
    }
    if (!p->in_block) {
        hdst__write_line(&p->out, "if (failed) report_failure(error, first + i, failed - 1);");
        return;
    }
    // What the block added counts for nothing now: the result of a launch that fails is thrown away.
    hdst__write_line(&p->out, "if (failed) {");
    hdst__write_line(&p->out, "    stop = i + BLOCK;    // its records one by one, to tell which");
    if (p->func->emits) hdst__write_line(&p->out, "    place = block_place;");
    hdst__write_line(&p->out, "    break;");
    hdst__write_line(&p->out, "}");
}

void hdst__print_statements(hdst__printer *p, ir_block *body, const bool *known)
{
    hdst__find_homes(p, body);
    for (size_t v = 0; v < p->func->var_count; v++) p->homes->declared[v] = known[v];
    declare_at_top(p);
    print_block(p, body);
}

void hdst__print_function(hdst__printer *p)
{
    ir_block body = p->func->body;
    hdst__find_homes(p, &body);
    p->last_line = 0;
    p->record = "i";
    if (p->form->begin_record) p->form->begin_record(p);
    declare_at_top(p);
    if (p->has_checks) hdst__write_line(&p->out, "uint failed = 0;%s", p->in_block && p->func->emits ? "\nconst ulong block_place = place;" : "");
    if (p->tiles) print_parts(p, &p->func->body);
    else print_block(p, &body);
    if (p->has_checks) print_failures(p);
    if (p->form->end_record) p->form->end_record(p);
}

void hdst__print_function_in(hdst__printer *p, const ir_func *func, const char *head)
{
    hdst__printer_use(p, func);
    hdst__write_line(&p->out, "%s", head);
    p->out.indent++;
    hdst__print_function(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}
