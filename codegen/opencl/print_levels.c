// SPDX-License-Identifier: Apache-2.0
// CPU form: sums of a whole dataset, a block at a time (accum/levels.cl). Each element of a leaf has its own levels, in private memory while a strip runs.
#include "codegen/opencl/print.h"
#include "base/pieces.h"

#include <inttypes.h>
#include <string.h>

// `element`: text, in range.
static const char *state_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element, bool is_double)
{
    return hdst__arena_printf(p->arena, "%s%sLevels[%s]", hdst__scale_name(p, plan->accum->param, leaf), is_double ? "Double" : "Float", element);
}

const char *hdst__levels_place(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const char *first = hdst__arena_printf(p->arena, "%sTotal + %" PRIu64, plan->name, (uint64_t)cell->device_first);
    return cell->elements == 1 ? first : hdst__arena_printf(p->arena, "%s + (ulong)(%s) * %" PRIu64, first, element, (uint64_t)cell->device_words);
}

// The cell in the device table, and what kind of digits it has.
static const char *cell_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element)
{
    const char *kind = plan->accum->cell[leaf].kind == HDST__F32 ? "FLOAT" : "DOUBLE";
    return hdst__arena_printf(p->arena, "%s, %s_LAST, %s_LOWEST", hdst__levels_place(p, plan, leaf, element), kind, kind);
}

// --- What is added: operands that lie side by side over the block ---

// The operands, and what becomes of them; false: they must be put side by side first.
static bool shape_of(hdst__printer *p, const ir_expr *value, hdst__level_shape *shape, const char **args)
{
    const bool product = value->op == IR_MUL;
    hdst__block_operand a = hdst__block_operand_of(p, product ? value->a : value), b = product ? hdst__block_operand_of(p, value->b) : a;
    if (!a.text || !b.text) return false;
    if (b.global && !a.global) {
        const hdst__block_operand swap = a;
        a = b;
        b = swap;
    }
    *args = product && strcmp(a.text, b.text) ? hdst__arena_printf(p->arena, "%s, %s", a.text, b.text) : a.text;
    if (!product) *shape = a.global ? HDST__LEVELS_G : HDST__LEVELS_P;
    else if (!strcmp(a.text, b.text)) *shape = a.global ? HDST__LEVELS_G2 : HDST__LEVELS_P2;
    else *shape = b.global ? HDST__LEVELS_GG : a.global ? HDST__LEVELS_GP : HDST__LEVELS_PP;
    return true;
}

static const char *const shape_name[HDST__LEVEL_SHAPES] = {"p", "g", "pp", "gp", "gg", "p2", "g2"};

static void print_call(hdst__printer *p, const ir_stmt *stmt, hdst__level_shape shape, const char *args)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    const bool is_double = stmt->value->kind == HDST__F64;
    const char *element = hdst__index_text(p, stmt->index2, HDST__WHOLE);
    p->part[HDST__PART_EXACT] = p->part[is_double ? HDST__PART_LEVELS_DOUBLE : HDST__PART_LEVELS] = true;
    if (is_double || p->options->facts.has_double) p->uses_double = true;
    p->level_shape[is_double][shape] = true;
    hdst__write_line(&p->out, "levels_add_%s_%s(&%s, %s, BLOCK, %s);", is_double ? "double" : "float", shape_name[shape],
                     state_text(p, plan, stmt->leaf, element, is_double), args, cell_text(p, plan, stmt->leaf, element));
}

static void print_addition(hdst__printer *p, const ir_stmt *stmt)
{
    hdst__level_shape shape;
    const char *args;
    if (shape_of(p, stmt->value, &shape, &args)) {
        print_call(p, stmt, shape, args);
        return;
    }
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "%s addends[BLOCK] ALIGNED;", hdst__cl_name(stmt->value->kind));
    hdst__write_line(&p->out, "VECTOR_LOOP(%d, 1)", stmt->value->kind == HDST__F64 ? 8 : 16);
    p->in_records = true;
    const char *record = p->record;
    p->record = "i + r";
    hdst__write_line(&p->out, "for (int r = 0; r < BLOCK; r++) addends[r] = %s;", hdst__expr_text(p, stmt->value, HDST__WHOLE));
    p->record = record;
    p->in_records = false;
    print_call(p, stmt, HDST__LEVELS_P, "addends");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

size_t hdst__print_accum_blocks(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    if (hdst__sums_are_fast(p)) return hdst__print_fast_run(p, stmts, count);
    print_addition(p, stmts[0]);
    return 1;
}

// --- Every sum that has levels ---

void hdst__levels_each(hdst__printer *p, hdst__print_level_sum print)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const uint32_t leaves = (uint32_t)p->func->params[plan->accum->param].record->leaf_count;
        for (uint32_t l = 0; l < leaves; l++)
            for (int is_double = 0; is_double < 2; is_double++)
                if (hdst__placement(p, plan)->leaf[l].levels[is_double]) print(p, plan, l, is_double);
    }
}

bool hdst__levels_of(const hdst__printer *p, bool is_double)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const uint32_t leaves = (uint32_t)p->func->params[plan->accum->param].record->leaf_count;
        for (uint32_t l = 0; l < leaves; l++)
            if (hdst__placement(p, plan)->leaf[l].levels[is_double]) return true;
    }
    return false;
}

// The line for each element of a leaf; where there are several, in a loop over e.
static void print_each(hdst__printer *p, const hdst__cell *cell, const char *line)
{
    if (cell->elements > 1) hdst__write_line(&p->out, "for (uint e = 0; e < %" PRIu64 "; e++)", cell->elements);
    hdst__write_line(&p->out, cell->elements > 1 ? "    %s" : "%s", line);
}

static const char *element_text(const hdst__cell *cell) { return cell->elements > 1 ? "e" : "0"; }

static void print_start(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double)
{
    const char *type = is_double ? "double" : "float", *scale = hdst__scale_name(p, plan->accum->param, leaf);
    const hdst__cell *cell = &plan->accum->cell[leaf];
    hdst__write_line(&p->out, "%s_levels %s%sLevels[%" PRIu64 "];", type, scale, is_double ? "Double" : "Float", cell->elements);
    print_each(p, cell, hdst__arena_printf(p->arena, "levels_start_%s(&%s, flush);", type, state_text(p, plan, leaf, element_text(cell), is_double)));
}

static void print_end(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    print_each(p, cell, hdst__arena_printf(p->arena, "levels_publish_%s(&%s, %s);", is_double ? "double" : "float", state_text(p, plan, leaf, element_text(cell), is_double),
                                                cell_text(p, plan, leaf, element_text(cell))));
}

void hdst__print_levels_start(hdst__printer *p)
{
    if (hdst__sums_are_fast(p)) hdst__print_fast_start(p);
    else hdst__levels_each(p, print_start);
}

void hdst__print_levels_end(hdst__printer *p)
{
    if (hdst__sums_are_fast(p)) hdst__print_fast_end(p);
    else hdst__levels_each(p, print_end);
}

// --- The prelude ---

// What differs between float and double: see the top of levels.cl. With STEP and TOP a block of 512 records keeps each level within its binade: the lanes make
// 32 (64) additions, and 2^5 * 2^TOP = 2^(MANTISSA - 1), 2^5 * 2^-1 = 2^(MANTISSA - 1 - STEP).
static const hdst__hole float_holes[] = {
    {"real", "float"}, {"reals", "float16"}, {"int", "int"}, {"ints", "int16"}, {"bits", "uint"}, {"bitss", "uint16"}, {"lanes", "16"}, {"mantissa", "23"},
    {"bias", "127"}, {"step", "18"}, {"top", "17"}, {"lowest", "-149"}, {"greatest", "103"}, {"outside", "0xff800000"}, {"magnitude", "0x7fffffff"},
    {"any_bit", "inline bool any_bit_float(uint16 v)\n"
                "{\n"
                "    const uint8 a = v.lo | v.hi;\n"
                "    const uint4 b = a.lo | a.hi;\n"
                "    const uint2 c = b.lo | b.hi;\n"
                "    return (c.x | c.y) != 0;\n"
                "}"},
};
static const hdst__hole double_holes[] = {
    {"real", "double"}, {"reals", "double8"}, {"int", "long"}, {"ints", "long8"}, {"bits", "ulong"}, {"bitss", "ulong8"}, {"lanes", "8"}, {"mantissa", "52"},
    {"bias", "1023"}, {"step", "46"}, {"top", "45"}, {"lowest", "-1074"}, {"greatest", "970"}, {"outside", "0xfff0000000000000"}, {"magnitude", "0x7fffffffffffffff"},
    {"any_bit", "inline bool any_bit_double(ulong8 v)\n"
                "{\n"
                "    const ulong4 a = v.lo | v.hi;\n"
                "    const ulong2 b = a.lo | a.hi;\n"
                "    return (b.x | b.y) != 0;\n"
                "}"},
};

#define P "*(const @real@_vector *)(a + r)"
#define G "*(__global const @real@_vector *)(a + r)"
#define P_B "*(const @real@_vector *)(b + r)"
#define G_B "*(__global const @real@_vector *)(b + r)"

// By shape: parameters, arguments, the addends of a vector of records and of one record, the same for people.
static const struct { const char *params, *args, *vector, *scalar, *what; } shapes[HDST__LEVEL_SHAPES] = {
    [HDST__LEVELS_P] = {"const @real@ *a", "a", P, "a[r]", "the values"},
    [HDST__LEVELS_G] = {"__global const @real@ *a", "a", G, "a[r]", "the values"},
    [HDST__LEVELS_PP] = {"const @real@ *a, const @real@ *b", "a, b", P " * " P_B, "a[r] * b[r]", "products"},
    [HDST__LEVELS_GP] = {"__global const @real@ *a, const @real@ *b", "a, b", G " * " P_B, "a[r] * b[r]", "products"},
    [HDST__LEVELS_GG] = {"__global const @real@ *a, __global const @real@ *b", "a, b", G " * " G_B, "a[r] * b[r]", "products"},
    [HDST__LEVELS_P2] = {"const @real@ *a", "a", P " * " P, "a[r] * a[r]", "squares"},
    [HDST__LEVELS_G2] = {"__global const @real@ *a", "a", G " * " G, "a[r] * a[r]", "squares"},
};

static const char broad_state[] =
    "double8 broad[2];        // sums in double, where `count` is BROAD\n"
    "long8 broad_units[2];    // of each lane, in units of 2^(low - 23), without what the sums hold\n"
    "int low;                // the exponent of the least addend that they take\n"
    "int odd;                // grows with blocks that do not fit; above 64 no sum is broad";

static const char quick_state[] =
    "uint odd, pause;        // blocks in a row that the quick way did not take, and for how many nobody tries it";

static const char *expanded(hdst__arena *arena, const char *text, const hdst__hole *holes, size_t count)
{
    hdst__writer out = {.arena = arena};
    hdst__template_expand(&out, text, holes, count);
    return hdst__writer_text(&out);
}

enum { MOST_HOLES = 24 };

// Floats go to sums in double where a third level would be needed, if the device has doubles.
static bool has_broad(const hdst__printer *p, bool is_double) { return !is_double && p->options->facts.has_double; }

// What differs between float and double, with the text for broad sums.
static size_t holes_of(hdst__printer *p, bool is_double, hdst__hole holes[MOST_HOLES])
{
    size_t count = 0;
    for (; count < sizeof float_holes / sizeof *float_holes; count++) holes[count] = is_double ? double_holes[count] : float_holes[count];
    holes[count++] = (hdst__hole){"narrow_start", is_double ? "s->odd = s->pause = 0;" : ""};
    const char *broad = has_broad(p, is_double) ? hdst__template_text("levels_broad.cl") : expanded(p->arena, hdst__template_text("levels_narrow.cl"), holes, count);
    holes[count++] = (hdst__hole){"broad", broad};
    holes[count++] = (hdst__hole){"own_state", is_double ? quick_state : has_broad(p, is_double) ? broad_state : ""};
    return count;
}

static void write_shape(hdst__printer *p, hdst__writer *text, hdst__level_shape s, bool is_double, const hdst__hole *holes, size_t count)
{
    const char *broad_try = has_broad(p, is_double) ? hdst__arena_printf(p->arena, "s->count == BROAD && broad_try_float_%s(s, %s, records)", shape_name[s], shapes[s].args) : "false";
    const char *quick_try = is_double ? hdst__arena_printf(p->arena, "s->count == 2 && quick_try_double_%s(s, %s, records)", shape_name[s], shapes[s].args) : "false";
    const hdst__hole own[] = {{"shape", shape_name[s]}, {"params", shapes[s].params}, {"args", shapes[s].args}, {"vector", shapes[s].vector},
                              {"scalar", shapes[s].scalar}, {"what", shapes[s].what}, {"broad_try", broad_try}, {"quick_try", quick_try}};
    const char *file[] = {"levels_of.cl", is_double ? "levels_quick_of.cl" : "levels_broad_of.cl"};
    for (int i = is_double || has_broad(p, is_double); i >= 0; i--)
        hdst__template_expand(text, expanded(p->arena, hdst__template_text(file[i]), own, sizeof own / sizeof *own), holes, count);
}

const char *hdst__levels_text(hdst__printer *p, bool is_double)
{
    if (hdst__sums_are_fast(p)) return hdst__fast_text(p, is_double);
    hdst__hole holes[MOST_HOLES];
    const size_t count = holes_of(p, is_double, holes);
    hdst__writer text = {.arena = p->arena};
    if (!is_double || !p->part[HDST__PART_LEVELS]) hdst__write_line(&text, "#define LEVELS_BLOCK 512");
    hdst__template_expand(&text, hdst__template_text("levels.cl"), holes, count);
    p->level_shape[is_double][HDST__LEVELS_P] = true;
    for (hdst__level_shape s = 0; s < HDST__LEVEL_SHAPES; s++)
        if (p->level_shape[is_double][s]) write_shape(p, &text, s, is_double, holes, count);
    return hdst__writer_text(&text);
}
