// SPDX-License-Identifier: Apache-2.0
// GPU form: additions that stand together. Each float addend is put in fixed point and added at once, as 0 if it does not fit for sure; one test for all of them says
// whether that happened. Only then is one after the other looked at: what fits after all is added, and the rest goes to the device's wide cell. So there is
// no branch between the additions.
#include "codegen/print.h"

#include <inttypes.h>

enum { MOST_SUMS = 32 };

static const char *type_of(const hdst__printer *p, const ir_stmt *stmt) { return hdst__sums_floats(p, stmt->param, stmt->leaf) ? "float" : "double"; }

static bool is_lane_sum(const hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    return plan->lane_sum && plan->lane_sum[stmt->leaf];
}

// Its addends go to one word.
static bool is_quick(const hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    if (is_lane_sum(p, stmt)) return true;
    return plan->accum->cell[stmt->leaf].tier == HDST__TIER_ONE && plan->place != HDST__PLACE_DEVICE;
}

static void print_sum(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf), *type = type_of(p, stmt);
    p->part[HDST__PART_EXACT] = true;
    if (type[0] == 'd' || hdst__find_cell(p, stmt->param, stmt->leaf)->kind == HDST__F64) p->part[HDST__PART_EXACT_DOUBLE] = p->uses_double = true;
    hdst__write_line(&p->out, "const %s addend%zu = %s;", type, n, hdst__addend_text(p, stmt->param, stmt->leaf, stmt->value));
    hdst__write_line(&p->out, "bool fits%zu;", n);
    hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "likely_%s%s(addend%zu, %s_up, %s_%s, &fits%zu)", is_lane_sum(p, stmt) ? "lane_" : "", type, n, scale, scale,
                                                        type[0] == 'd' ? "down" : "least", n));
    hdst__write_line(&p->out, "%s fits%zu;", n ? "quick &=" : "bool quick =", n);
}

// Out of line and into local memory, so that it takes no registers.
static void print_settle_lane(hdst__printer *p, const ir_stmt *stmt, size_t n, bool is_float)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, stmt->param);
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf);
    const uint64_t slots = 2 * plan->accum->cell[stmt->leaf].strip_words, element = stmt->index2 ? stmt->index2->bits : 0;
    p->part[HDST__PART_LOCAL] = p->part[is_float ? HDST__PART_SETTLE : HDST__PART_SETTLE_DOUBLE] = true;
    hdst__write_line(&p->out, "settle_lane_%s(%s_local + %" PRIu64 " * COPIES + copy, %s, addend%zu, %s_up * 0x1p-%df, %s_down * 0x1p%df);", is_float ? "float" : "double",
                     plan->name, plan->slot[stmt->leaf] + element * slots, hdst__device_place(p, stmt), n, scale, HDST__LANE_BITS, scale, HDST__LANE_BITS);
}

static void print_settle(hdst__printer *p, const ir_stmt *stmt, size_t n)
{
    const char *scale = hdst__scale_name(p, stmt->param, stmt->leaf), *type = type_of(p, stmt), *place = hdst__device_place(p, stmt);
    const bool is_float = hdst__find_cell(p, stmt->param, stmt->leaf)->kind == HDST__F32;
    hdst__write_line(&p->out, "if (!fits%zu) {", n);
    p->out.indent++;
    if (is_lane_sum(p, stmt)) print_settle_lane(p, stmt, n, is_float);
    else if (type[0] == 'd') hdst__write_line(&p->out, "wide_add_double(%s, addend%zu);", place, n);
    else hdst__print_add_word(p, stmt, 0, hdst__arena_printf(p->arena, "settle_float%s(%s, addend%zu, %s_up, %s_down)", is_float ? "" : "_as_double", place, n, scale, scale));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_sums(hdst__printer *p, ir_stmt *const *sum, size_t count)
{
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    for (size_t n = 0; n < count; n++) print_sum(p, sum[n], n);
    hdst__write_line(&p->out, "if (!quick) {");
    p->out.indent++;
    for (size_t n = 0; n < count; n++) print_settle(p, sum[n], n);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

size_t hdst__print_accum_run(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    ir_stmt *sum[MOST_SUMS];
    size_t sums = 0, n = 0;
    for (; n < count && stmts[n]->kind == IR_ACCUM && sums < MOST_SUMS; n++) {
        if (n) hdst__print_place(p, stmts[n]);
        if (is_quick(p, stmts[n])) sum[sums++] = stmts[n];
        else hdst__print_accum(p, stmts[n]);
    }
    if (sums) print_sums(p, sum, sums);
    return n;
}
