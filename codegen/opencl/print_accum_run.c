// SPDX-License-Identifier: Apache-2.0
// GPU form: additions that share a test (ir_stmt.joint). Each float addend is put in fixed point and added at once, as 0 if it does
// not fit for sure; one test for all of them says whether that happened. Only then is one after the other looked at:
// what fits after all is added, and the rest goes to the device's superaccumulator. So there is no branch between the
// additions. Sums of a whole dataset stay floats, in levels (accum/levels_lane.cl), with the same kind of test.
#include "codegen/opencl/print_accum_run.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_accum_pair.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_expr.h"

#include "accum/fixed_point.h"

#include <inttypes.h>
#include <string.h>

static const char *type_of(const hdst__printer *p, const ir_stmt *stmt) { return hdst__sums_floats(p, stmt->param, stmt->leaf) ? "float" : "double"; }

static bool is_lane_sum(const hdst__printer *p, const ir_stmt *stmt)
{
    return hdst__leaf_placement(p, stmt->param, stmt->leaf)->way == IR_WAY_LEVELS;
}

// Its addends go to two words.
static bool is_double_word(const hdst__printer *p, const ir_stmt *stmt)
{
    return hdst__find_cell(p, stmt->param, stmt->leaf)->precision == HDST__CLASS_TWO_WORDS && type_of(p, stmt)[0] == 'd';
}

static void print_double_word(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    p->uses_double = true;
    hdst__write_line(&p->out, "const double addend%zu = %s;", n, hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
    hdst__write_line(&p->out, "long high%zu, low%zu;", n, n);
    hdst__write_line(&p->out, "const bool fits%zu = split_double(addend%zu, %sUp, &high%zu, &low%zu);", n, n,
        hdst__scale_name(p, stmt->param, stmt->leaf), n, n);
    hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "high%zu", n));
    hdst__print_add_word(p, stmt, 1, hdst__arena_printf(p->arena, "low%zu", n));
    hdst__write_line(&p->out, "quick &= fits%zu;", n);
}

// Of addends to words of a table in fixed point, which no number of them that there may be makes overflow.
static const char *limit_text(hdst__printer *p, const char *type)
{
    return hdst__arena_printf(p->arena, "0x1p%" PRIu32 "%s", p->options->fixed_point_bits, type[0] == 'f' ? "f" : "");
}

static const char *twofold_of(hdst__printer *p, const ir_stmt *stmt) { return p->form->twofold ? p->form->twofold(p, stmt) : NULL; }

// What makes the addition without a test, where it needs none.
static const char *plain_of(hdst__printer *p, const ir_stmt *stmt) { return p->form->plain ? p->form->plain(p, stmt) : NULL; }

static void print_twofold(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    const char *down = hdst__arena_printf(p->arena, "%sDown", hdst__scale_name(p, stmt->param, stmt->leaf));
    p->uses_double = true;
    hdst__write_line(&p->out, "const float addend%zu = %s;", n, hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
    hdst__write_line(&p->out, "bool fits%zu;", n);
    hdst__write_line(&p->out, "twofold_add(%s, addend%zu, %s * 0x1p40f, %s * 0x1p-17f, &fits%zu);", twofold_of(p, stmt), n, down, down, n);
    hdst__write_line(&p->out, "quick &= fits%zu;", n);
}

static void print_sum(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    if (plain_of(p, stmt)) {
        hdst__write_line(&p->out, "%s", plain_of(p, stmt));
        return;
    }
    if (twofold_of(p, stmt)) {
        print_twofold(p, stmt, n);
        return;
    }
    if (is_double_word(p, stmt)) {
        print_double_word(p, stmt, n);
        return;
    }
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf), *type = type_of(p, stmt);
    if (type[0] == 'd' || hdst__find_cell(p, stmt->param, stmt->leaf)->kind == HDST__F64) p->uses_double = true;
    hdst__write_line(&p->out, "const %s addend%zu = %s;", type, n, hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
    hdst__write_line(&p->out, "bool fits%zu;", n);
    const bool words = hdst__placement(p, hdst__find_plan(p, stmt->param))->place == IR_PLACE_FIXED_POINT;
    const char *below = words ? "below_" : "", *limit = words ? hdst__arena_printf(p->arena, "%s, ", limit_text(p, type)) : "";
    hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "likely_%s%s(addend%zu, %sUp, %s%s, %s&fits%zu)", below, type, n, scale,
        scale, type[0] == 'd' ? "Down" : "Least", limit, n));
    hdst__write_line(&p->out, "quick &= fits%zu;", n);
}

// Out of line and into local memory, so that it takes no registers.
static void print_exception_value(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element, const char *value)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const char *scale = hdst__scale_name(p, plan->accum->param, leaf);
    const bool is_float = cell->kind == HDST__F32;
    p->uses_local = true;
    if (!is_float) p->uses_double = true;
    const uint64_t slot = hdst__placement(p, plan)->leaf[leaf].slot + element * 2 * cell->private_words;
    const char *local = hdst__arena_printf(p->arena, "%sLocal + %" PRIu64 " * COPIES + copy", plan->name, slot);
    hdst__write_line(&p->out, "exception_lane_%s(%s, %sTotal + %" PRIu64 ", %s, %sUp * 0x1p-%df, %sDown * 0x1p%df);", is_float ? "float" : "double",
        local, plan->name, cell->device_first + element * cell->device_words, value, scale, HDST__LANE_BITS, scale, HDST__LANE_BITS);
}

// --- Sums in a lane's registers ---

static const char *lane_name(hdst__printer *p, uint32_t param, uint32_t leaf, uint64_t element)
{
    return hdst__arena_printf(p->arena, "%sSum%" PRIu64, hdst__scale_name(p, param, leaf), element);
}

static const char *lane_of(hdst__printer *p, const ir_stmt *stmt) { return lane_name(p, stmt->param, stmt->leaf, stmt->index2 ? stmt->index2->bits : 0); }

typedef void (*print_lane)(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element);

static bool for_each_lane(hdst__printer *p, print_lane print)
{
    bool any = false;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const uint32_t leaves = (uint32_t)p->func->params[plan->accum->param].record->leaf_count;
        for (uint32_t l = 0; l < leaves; l++)
            for (uint64_t e = 0; hdst__placement(p, plan)->leaf[l].way == IR_WAY_LEVELS && e < plan->accum->cell[l].elements; e++, any = true)
                print(p, plan, l, e);
    }
    return any;
}

static void print_lane_start(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element)
{
    const char *name = lane_name(p, plan->accum->param, leaf, element);
    if (hdst__sums_are_fast(p)) {
        hdst__write_line(&p->out, "float %s = 0;      // rounded at each addition", name);
        return;
    }
    hdst__write_line(&p->out, "float %s[3];", name);
    hdst__write_line(&p->out, "lane_start(%s, %sScale);", name, hdst__scale_name(p, plan->accum->param, leaf));
}

// The lanes' plain sums become one, in two steps, which one lane adds.
static void print_fast_take(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element)
{
    const char *name = lane_name(p, plan->accum->param, leaf, element);
    hdst__write_line(&p->out, "fast_lanes[lane] = %s;", name);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    hdst__write_line(&p->out, "if (lane < FAST_STEP) for (uint n = lane + FAST_STEP; n < LANES; n += FAST_STEP) fast_lanes[lane] += fast_lanes[n];");
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    hdst__write_line(&p->out, "if (lane == 0) {");
    p->out.indent++;
    hdst__write_line(&p->out, "float all = 0;");
    hdst__write_line(&p->out, "for (uint n = 0; n < min(FAST_STEP, LANES); n++) all += fast_lanes[n];");
    print_exception_value(p, plan, leaf, element, "all");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    hdst__write_line(&p->out, "%s = 0;", name);
}

static void print_lane_take(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, uint64_t element)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (hdst__sums_are_fast(p)) {
        print_fast_take(p, plan, leaf, element);
        return;
    }
    const char *own = hdst__arena_printf(p->arena, "%sOwn[%" PRIu64 "]", plan->name, cell->private_first + element * cell->private_words);
    const char *scale = hdst__scale_name(p, plan->accum->param, leaf), *kind = cell->kind == HDST__F32 ? "FLOAT" : "DOUBLE";
    const char *take = hdst__arena_printf(p->arena, "lane_take(%s, %sScale)", lane_name(p, plan->accum->param, leaf, element), scale);
    if (!p->func->tables->lane_room) hdst__write_line(&p->out, "%s += %s;", own, take);
    else hdst__write_line(&p->out, "%s = lane_room(%s + %s, %sTotal + %" PRIu64 ", %s_LAST, %s_LOWEST, %sScale + %d);", own, own, take,
        plan->name, cell->device_first + element * cell->device_words, kind, kind, scale, HDST__LANE_BITS);
}

void hdst__print_lane_sums(hdst__printer *p)
{
    if (!for_each_lane(p, print_lane_start)) return;
    if (hdst__sums_are_fast(p)) {
        hdst__write_line(&p->out, "enum { FAST_STEP = 16 };");
        hdst__write_line(&p->out, "__local float fast_lanes[LANES];");
        return;
    }
    hdst__write_line(&p->out, "uint turns = 0;      // additions to each sum since they went to the lane's words");
}

void hdst__print_lane_takes(hdst__printer *p)
{
    if (for_each_lane(p, print_lane_take) && !hdst__sums_are_fast(p)) hdst__write_line(&p->out, "turns = 0;");
}

// The additions of the run to one sum, at most; `first`: whether statement n is the first on its sum.
static size_t additions_to(hdst__printer *p, ir_stmt *const *sum, size_t count, size_t n, bool *first)
{
    size_t times = 0;
    *first = true;
    for (size_t i = 0; i < count; i++) {
        if (!is_lane_sum(p, sum[i]) || strcmp(lane_of(p, sum[i]), lane_of(p, sum[n]))) continue;
        times++;
        if (i < n) *first = false;
    }
    return times;
}

static void print_room(hdst__printer *p, size_t turns)
{
    hdst__write_line(&p->out, "if (turns > %zu) {", HDST__LANE_TURNS - turns);
    p->out.indent++;
    hdst__print_lane_takes(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "turns += %zu;", turns);
}

// What the sums were, for the case that an addend does not fit.
static void print_lane_olds(hdst__printer *p, ir_stmt *const *sum, size_t count, bool restore)
{
    for (size_t n = 0; n < count; n++) {
        bool first;
        if (!is_lane_sum(p, sum[n])) continue;
        additions_to(p, sum, count, n, &first);
        for (int l = 0; first && l < 3; l++)
            if (restore) hdst__write_line(&p->out, "%s[%d] = old%zu_%d;", lane_of(p, sum[n]), l, n, l);
            else hdst__write_line(&p->out, "const float old%zu_%d = %s[%d];", n, l, lane_of(p, sum[n]), l);
    }
}

static size_t most_turns(hdst__printer *p, ir_stmt *const *sum, size_t count)
{
    size_t most = 0;
    for (size_t n = 0; n < count; n++) {
        bool first;
        const size_t times = is_lane_sum(p, sum[n]) ? additions_to(p, sum, count, n, &first) : 0;
        if (times > most) most = times;
    }
    return most;
}

// What does not fit a word of the device's, which has a place in the overflow table then.
static void print_exception_word(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf), *type = type_of(p, stmt);
    const char *place = hdst__arena_printf(p->arena, "(ulong)((%s) - device_table)", hdst__device_place(p, stmt));
    const char *of = hdst__find_cell(p, stmt->param, stmt->leaf)->kind == HDST__F32 ? "" : "_as_double";
    if (type[0] == 'd') hdst__write_line(&p->out, "exception_word_double(overflow, %s, addend%zu);", place, n);
    else hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "exception_word_float%s(overflow, %s, addend%zu, %sUp, %sDown, %s)", of,
        place, n, scale, scale, limit_text(p, type)));
}

static void print_exception(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf), *type = type_of(p, stmt), *place = hdst__device_place(p, stmt);
    const char *of = hdst__find_cell(p, stmt->param, stmt->leaf)->kind == HDST__F32 ? "" : "_as_double";
    if (is_lane_sum(p, stmt)) {
        const char *addend = hdst__arena_printf(p->arena, "addend%zu", n);
        print_exception_value(p, hdst__find_plan(p, stmt->param), stmt->leaf, stmt->index2 ? stmt->index2->bits : 0, addend);
        return;
    }
    hdst__write_line(&p->out, "if (!fits%zu) {", n);
    p->out.indent++;
    if (twofold_of(p, stmt)) hdst__write_line(&p->out, "exception_twofold(%s, addend%zu);", place, n);
    else if (hdst__placement(p, hdst__find_plan(p, stmt->param))->place == IR_PLACE_FIXED_POINT) print_exception_word(p, stmt, n);
    else if (type[0] == 'd') hdst__write_line(&p->out, "superaccumulator_add_double(%s, addend%zu);", place, n);
    else hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "exception_float%s(%s, addend%zu, %sUp, %sDown)", of, place, n, scale, scale));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_lane_sum(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    if (hdst__find_cell(p, stmt->param, stmt->leaf)->kind == HDST__F64) p->uses_double = true;
    if (hdst__sums_are_fast(p)) {
        hdst__write_line(&p->out, "%s += %s;", lane_of(p, stmt), hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
        return;
    }
    hdst__write_line(&p->out, "const float addend%zu = %s;", n, hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
    hdst__write_line(&p->out, "lane_add(%s, addend%zu, &moved, &lost);", lane_of(p, stmt), n);
}

static void print_exceptions(hdst__printer *p, ir_stmt *const *sum, size_t count, bool lanes)
{
    hdst__write_line(&p->out, lanes ? "if (lane_failed(moved, lost)) {" : "if (!quick) {");
    p->out.indent++;
    if (lanes) print_lane_olds(p, sum, count, true);
    for (size_t n = 0; n < count; n++)
        if (is_lane_sum(p, sum[n]) == lanes && !plain_of(p, sum[n])) print_exception(p, sum[n], n);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_sums(hdst__printer *p, ir_stmt *const *sum, size_t count)
{
    const size_t turns = hdst__sums_are_fast(p) ? 0 : most_turns(p, sum, count);
    bool words = false;
    for (size_t n = 0; n < count; n++) words |= !is_lane_sum(p, sum[n]) && !plain_of(p, sum[n]);
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    if (turns) {
        print_room(p, turns);
        hdst__write_line(&p->out, "uint moved = 0, lost = 0;");
        print_lane_olds(p, sum, count, false);
    }
    if (words) hdst__write_line(&p->out, "bool quick = true;");
    for (size_t n = 0; n < count; n++) {
        if (is_lane_sum(p, sum[n])) print_lane_sum(p, sum[n], n);
        else print_sum(p, sum[n], n);
    }
    if (turns) print_exceptions(p, sum, count, true);
    if (words) print_exceptions(p, sum, count, false);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

size_t hdst__print_accum_run(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    size_t n = 0;
    for (; n < count && stmts[n]->kind == IR_ACCUM && stmts[n]->joint && stmts[n]->joint == stmts[0]->joint; n++)
        if (n) hdst__print_source_line(p, stmts[n]);
    if (n && hdst__is_pair_sum(p, stmts[0])) hdst__print_pair_sums(p, stmts, n);
    else if (n) print_sums(p, stmts, n);
    return n;
}
