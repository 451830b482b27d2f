// SPDX-License-Identifier: Apache-2.0
// GPU form: sums of doubles of a whole dataset stay in a lane's registers, as two running sums each (accum/levels_lane_double.cl),
// and go to the words of the group's table when it merges. A few additions share a test, behind which the addends
// that the sums do not hold for sure go through local memory or to the superaccumulator.
#include "codegen/opencl/print_accum_pair.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_expr.h"

#include <inttypes.h>

typedef struct pair {
    const hdst__accum_plan *plan;
    uint32_t leaf;
    uint64_t element;
} pair;

static pair pair_of(const hdst__printer *p, const ir_stmt *stmt)
{
    return (pair){hdst__find_plan(p, stmt->param), stmt->leaf, stmt->index2 ? stmt->index2->bits : 0};
}

bool hdst__is_pair_sum(const hdst__printer *p, const ir_stmt *stmt)
{
    return hdst__leaf_placement(p, stmt->param, stmt->leaf)->way == IR_WAY_PAIR;
}

static const char *scale_of(hdst__printer *p, const pair *s) { return hdst__scale_name(p, s->plan->accum->param, s->leaf); }
static const char *name_of(hdst__printer *p, const pair *s) { return hdst__arena_printf(p->arena, "%sPair%" PRIu64, scale_of(p, s), s->element); }

// The first of the slots of its words.
static const char *words_of(hdst__printer *p, const pair *s)
{
    const hdst__cell *cell = &s->plan->accum->cell[s->leaf];
    const uint64_t slot = hdst__placement(p, s->plan)->leaf[s->leaf].slot + s->element * 2 * cell->private_words;
    return hdst__arena_printf(p->arena, "%sLocal + %" PRIu64 " * COPIES + copy", s->plan->name, slot);
}

static void print_start(hdst__printer *p, const pair *s)
{
    hdst__write_line(&p->out, "double %s[2];", name_of(p, s));
    hdst__write_line(&p->out, "pair_start(%s, %sScale);", name_of(p, s), scale_of(p, s));
}

static void print_take(hdst__printer *p, const pair *s)
{
    hdst__write_line(&p->out, "pair_take(%s, %sScale, %s);", name_of(p, s), scale_of(p, s), words_of(p, s));
}

static void for_each(hdst__printer *p, void (*print)(hdst__printer *p, const pair *s))
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const uint32_t leaves = (uint32_t)p->func->params[plan->accum->param].record->leaf_count;
        for (uint32_t l = 0; l < leaves; l++)
            for (uint64_t e = 0; hdst__placement(p, plan)->leaf[l].way == IR_WAY_PAIR && e < plan->accum->cell[l].elements; e++) {
                p->uses_local = p->uses_double = true;
                print(p, &(pair){plan, l, e});
            }
    }
}

void hdst__print_pair_starts(hdst__printer *p) { for_each(p, print_start); }
void hdst__print_pair_takes(hdst__printer *p) { for_each(p, print_take); }

static void print_exceptions(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        const pair s = pair_of(p, stmts[n]);
        const char *scale = scale_of(p, &s);
        hdst__write_line(&p->out, "if (!pair_holds(addend%zu, %sScale) && !pair_keeps(%s, addend%zu, %sScale))", n, scale, name_of(p, &s), n, scale);
        hdst__write_line(&p->out, "    exception_pair(%s, %s, addend%zu, %sUp);", words_of(p, &s), hdst__device_place(p, stmts[n]), n, scale);
    }
}

void hdst__print_pair_sums(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "bool quick = true;");
    for (size_t n = 0; n < count; n++) {
        const pair s = pair_of(p, stmts[n]);
        hdst__write_line(&p->out, "const double addend%zu = %s;", n, hdst__addend_text(p, stmts[n]->param, stmts[n]->leaf, stmts[n]->value));
        hdst__write_line(&p->out, "quick &= pair_add(%s, addend%zu, %sScale);", name_of(p, &s), n, scale_of(p, &s));
    }
    hdst__write_line(&p->out, "if (!quick) {");
    p->out.indent++;
    print_exceptions(p, stmts, count);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}
