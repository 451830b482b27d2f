// SPDX-License-Identifier: Apache-2.0
// GPU form: sums in a lane's registers while it goes through the records of its work-group, and bounds of their addends' sizes.
#include "codegen/opencl/print_group_sums.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/pass/accumulator_placement.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

typedef enum factor { NO_FACTOR, FACTOR_LEFT, FACTOR_RIGHT } factor;       // which operand of a product the records bring along

struct hdst__group_sizes {
    const ir_func *loops;
    bool *wanted;               // by variable: bounds ask for the sizes of its elements
    const char **memory;        // by variable: where they are
    uint32_t sums;              // of a turn, for the nest that is printed now, whose additions are not tested; 0: they are
    bool fast;                  // these are plain floats
    factor of[IR_HOME_REGISTERS];
};

// --- Which sums are kept how ---

static bool is_fast(const hdst__printer *p, const ir_stmt *s)
{
    return s->home == IR_HOME_REGISTER && hdst__leaf_placement(p, s->param, s->leaf)->fast;
}

// Sums of floats whose words would not hold all that is below them: two doubles hold it for the records of a work-group, without conversion.
static bool is_twofold(const hdst__printer *p, const ir_stmt *s)
{
    const hdst__cell *cell = hdst__find_cell(p, s->param, s->leaf);
    return s->home == IR_HOME_REGISTER && s->joint && cell->kind == HDST__F32 && cell->precision == HDST__CLASS_ONE_WORD &&
        hdst__leaf_placement(p, s->param, s->leaf)->way == IR_WAY_JOINT && p->options->facts.has_double && !is_fast(p, s);
}

// --- What bounds an addend ---

typedef struct reading {
    const ir_func *loops;
    uint32_t var;               // IR_NO_VAR: none
    bool counters;              // nothing but counters and constants
} reading;

static bool reads_not(ir_expr **slot, void *user)
{
    const reading *r = user;
    const ir_expr *e = *slot;
    if ((e->op == IR_VAR || e->op == IR_ELEM) && e->var == r->var) return false;
    if (!r->counters) return true;
    return e->op != IR_FIELD && e->op != IR_RECORD_INDEX && e->op != IR_ELEM && !(e->op == IR_VAR && hdst__place_is_carried(r->loops, e->var));
}

static bool is_free_of(const ir_func *loops, const ir_expr *e, uint32_t var, bool counters)
{
    reading r = {loops, var, counters};
    ir_expr *root = (ir_expr *)e;       // the visitor changes nothing
    return hdst__ir_visit_expr(&root, reads_not, &r);
}

// What records bring along, of an element that is the same for all lanes.
static bool is_factor(const ir_func *loops, const ir_expr *e, uint32_t outermost)
{
    if ((e->op != IR_VAR && e->op != IR_ELEM) || e->kind != HDST__F32 || !hdst__place_is_carried(loops, e->var)) return false;
    return e->op == IR_VAR || is_free_of(loops, e->a, outermost, true);
}

static bool is_bounded(const ir_func *loops, const ir_expr *addend, uint32_t outermost, uint32_t jam, factor *of)
{
    const bool product = addend->op == IR_MUL;
    *of = NO_FACTOR;
    if (addend->kind != HDST__F32) return false;
    if (product && is_factor(loops, addend->a, outermost) && is_free_of(loops, addend->b, jam, false)) *of = FACTOR_LEFT;
    else if (product && is_factor(loops, addend->b, outermost) && is_free_of(loops, addend->a, jam, false)) *of = FACTOR_RIGHT;
    return *of || is_free_of(loops, addend, jam, false);
}

static const ir_expr *factor_of(const ir_stmt *s, factor of) { return of == FACTOR_LEFT ? s->value->a : of == FACTOR_RIGHT ? s->value->b : NULL; }

static const ir_expr *element_of(const ir_stmt *s, factor of) { return of == FACTOR_LEFT ? s->value->b : of == FACTOR_RIGHT ? s->value->a : s->value; }

// The additions of a turn are all bounded, and each has a register of its own: how many they are. 0: no.
static uint32_t bounded_sums(const hdst__printer *p, const ir_func *loops, const ir_block *turn, uint32_t outermost, uint32_t jam, factor *of)
{
    if (turn->count > IR_HOME_REGISTERS) return 0;
    for (uint32_t i = 0; i < turn->count; i++) {
        const ir_stmt *s = turn->items[i];
        if (s->kind != IR_ACCUM || !is_twofold(p, s) || s->home_register != i || !is_bounded(loops, s->value, outermost, jam, &of[i])) return 0;
    }
    return (uint32_t)turn->count;
}

static uint32_t fast_sums(const hdst__printer *p, const ir_block *turn)
{
    for (uint32_t i = 0; i < turn->count; i++)
        if (turn->items[i]->kind != IR_ACCUM || !is_fast(p, turn->items[i]) || turn->items[i]->home_register != i) return 0;
    return (uint32_t)turn->count;
}

bool hdst__group_sums_fast(const hdst__printer *p, const ir_block *turn) { return fast_sums(p, turn) > 0; }

static void want_sizes(const hdst__printer *p, hdst__group_sizes *sizes, const ir_stmt *outermost)
{
    const ir_stmt *s = outermost;
    factor of[IR_HOME_REGISTERS];
    while (s->body.items[0]->kind == IR_FOR) s = s->body.items[0];
    const uint32_t sums = bounded_sums(p, sizes->loops, &s->body, outermost->var, s == outermost ? IR_NO_VAR : s->var, of);
    for (uint32_t i = 0; i < sums; i++)
        if (of[i]) sizes->wanted[factor_of(s->body.items[i], of[i])->var] = true;
}

hdst__group_sizes *hdst__group_sizes_create(hdst__printer *p, const ir_func *loops)
{
    hdst__group_sizes *sizes = HDST__NEW(p->arena, hdst__group_sizes);
    sizes->loops = loops;
    sizes->wanted = HDST__NEW_ARRAY(p->arena, bool, loops->var_count + 1);
    sizes->memory = HDST__NEW_ARRAY(p->arena, const char *, loops->var_count + 1);
    for (size_t i = 0; i < loops->body.count; i++)
        if (!loops->body.items[i]->product) want_sizes(p, sizes, loops->body.items[i]);
    return sizes;
}

// --- Sizes of what records bring along ---

bool hdst__group_sizes_of(const hdst__group_sizes *sizes, uint32_t var) { return sizes->wanted[var]; }

static uint64_t elements_of(const ir_var *var) { return var->elements ? var->elements : 1; }

void hdst__print_group_sizes_memory(hdst__printer *p, hdst__group_sizes *sizes, uint32_t var)
{
    const ir_var *v = &sizes->loops->vars[var];
    sizes->memory[var] = hdst__name_take(p->names, hdst__arena_printf(p->arena, "%s sizes", v->name && v->name[0] ? v->name : "tmp"));
    hdst__write_line(&p->out, "__local uint2 %s[%" PRIu64 "];", sizes->memory[var], elements_of(v));
}

void hdst__print_group_sizes(hdst__printer *p, hdst__group_sizes *sizes, uint32_t var, const char *from)
{
    const uint64_t elements = elements_of(&sizes->loops->vars[var]);
    hdst__write_line(&p->out, "for (uint e = lane; e < %" PRIu64 "; e += LANES) {", elements);
    p->out.indent++;
    hdst__write_line(&p->out, "uint2 sizes = NO_SIZES;");
    hdst__write_line(&p->out, "for (uint at = 0; at < there; at++) sizes = size_seen(sizes, %s[at * %" PRIu64 " + e]);", from, elements);
    hdst__write_line(&p->out, "%s[e] = sizes;", sizes->memory[var]);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- Sums ---

const char *hdst__group_sum_name(hdst__printer *p, uint32_t number) { return hdst__arena_printf(p->arena, "own_sum%" PRIu32, number); }

// The first statement of each leaf that has registers, in their order.
static const ir_stmt *next_in_registers(const ir_block *body, uint32_t number)
{
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->home == IR_HOME_REGISTER && body->items[i]->home_register == number) return body->items[i];
    return NULL;
}

static uint32_t words_of(const hdst__printer *p, const ir_stmt *s) { return hdst__find_cell(p, s->param, s->leaf)->private_words; }

static const char *anchor_text(hdst__printer *p, const ir_stmt *s)
{
    return hdst__arena_printf(p->arena, "0x1.8p52 * %sDown", hdst__scale_name(p, s->param, s->leaf));
}

void hdst__begin_tested_group_sums(hdst__printer *p, hdst__group_sizes *sizes, const ir_block *body)
{
    const ir_stmt *s;
    sizes->sums = 0;
    for (uint32_t k = 0; (s = next_in_registers(body, k));) {
        if (is_fast(p, s)) hdst__write_line(&p->out, "float own_sum%" PRIu32 " = 0;      // rounded at each addition", k++);
        else if (is_twofold(p, s)) {
            p->uses_double = true;
            hdst__write_line(&p->out, "double own_sum%" PRIu32 " = %s, own_low%" PRIu32 " = 0;", k, anchor_text(p, s), k);
            k++;
        } else for (uint32_t w = words_of(p, s); w; w--, k++) hdst__write_line(&p->out, "long %s = 0;", hdst__group_sum_name(p, k));
    }
}

void hdst__begin_group_sums(hdst__printer *p, hdst__group_sizes *sizes, const ir_block *body, const ir_block *turn, uint32_t outermost, uint32_t jam)
{
    hdst__begin_tested_group_sums(p, sizes, body);
    sizes->sums = bounded_sums(p, sizes->loops, turn, outermost, jam, sizes->of);
    for (uint32_t i = 0; i < sizes->sums; i++) hdst__write_line(&p->out, "uint2 sizes%" PRIu32 " = NO_SIZES;", i);
    sizes->fast = !sizes->sums && hdst__group_sums_fast(p, turn);
    if (sizes->fast) sizes->sums = fast_sums(p, turn);
}

void hdst__take_fast_group_sums(hdst__printer *p, const ir_block *turn, uint32_t turns)
{
    const uint32_t sums = fast_sums(p, turn);
    for (uint32_t i = 0; i < sums; i++) {
        const char *taken = hdst__group_sum_name(p, i);
        for (uint32_t k = 1; k < turns; k++)
            taken = hdst__arena_printf(p->arena, "again == %" PRIu32 " ? %s : %s", k, hdst__group_sum_name(p, k * sums + i), taken);
        hdst__write_line(&p->out, "const float taken%" PRIu32 " = %s;", i, taken);
    }
    for (uint32_t i = 0; i < sums; i++) hdst__write_line(&p->out, "const float %s = taken%" PRIu32 ";", hdst__group_sum_name(p, i), i);
}

void hdst__print_sizes_seen(hdst__printer *p, hdst__group_sizes *sizes, ir_stmt *const *additions)
{
    for (uint32_t i = 0; i < sizes->sums && !sizes->fast; i++)
        hdst__write_line(&p->out, "sizes%" PRIu32 " = size_seen(sizes%" PRIu32 ", %s);", i, i,
                         hdst__expr_text(p, element_of(additions[i], sizes->of[i]), HDST__WHOLE));
}

// Of a work-group, or of a stretch that goes to registers.
static const char *records_text(hdst__printer *p)
{
    if (p->func->tables->apart) return hdst__arena_printf(p->arena, "%d", HDST__GPU_PRODUCT_MOST_RECORDS);
    return p->func->shape->span ? "SPAN" : "LANES";
}

// Added exactly, but for what is below a word's unit where that is far less than the additions have rounded.
static void end_fast(hdst__printer *p, const ir_stmt *place, uint32_t k)
{
    const char *scale = hdst__scale_name(p, place->param, place->leaf), *sum = hdst__group_sum_name(p, k);
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    hdst__write_line(&p->out, "bool fits;");
    hdst__write_line(&p->out, "long word = rounded_float(%s, %sUp, %s, &fits);", sum, scale, records_text(p));
    hdst__write_line(&p->out, "if (!fits) word = exception_float(%s, %s, %sUp, %sDown);", hdst__device_place(p, place), sum, scale, scale);
    hdst__print_add_word(p, place, 0, "word");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_twofold_words(hdst__printer *p, const ir_stmt *place, const char *sum, const char *low)
{
    const char *scale = hdst__scale_name(p, place->param, place->leaf);
    hdst__print_add_word(p, place, 0, hdst__arena_printf(p->arena, "(long)((%s - %s) * %sUp)", sum, anchor_text(p, place), scale));
    hdst__write_line(&p->out, "if (%s != 0)", low);
    hdst__write_line(&p->out, "    superaccumulator_add_fixed(%s, FLOAT_LAST, FLOAT_LOWEST, (long)(%s * %sUp * 0x1p40), %sScale + 40);",
                     hdst__device_place(p, place), low, scale, scale);
}

static void end_twofold(hdst__printer *p, const ir_stmt *place, uint32_t k)
{
    hdst__print_twofold_words(p, place, hdst__group_sum_name(p, k), hdst__arena_printf(p->arena, "own_low%" PRIu32, k));
}

static const char *fits_text(hdst__printer *p, const hdst__group_sizes *sizes, const ir_stmt *s, uint32_t i)
{
    const ir_expr *of = factor_of(s, sizes->of[i]);
    const char *down = hdst__arena_printf(p->arena, "%sDown", hdst__scale_name(p, s->param, s->leaf)), *other = "SIZES_OF_ONE";
    if (of) other = hdst__arena_printf(p->arena, "%s[%s]", sizes->memory[of->var], of->op == IR_ELEM ? hdst__expr_text(p, of->a, HDST__WHOLE) : "0");
    return hdst__arena_printf(p->arena, "twofold_fits(sizes%" PRIu32 ", %s, %s * 0x1p40f, %s * 0x1p-17f)", i, other, down, down);
}

// Whether sum `k` of the body, the i-th of its turn, goes to the table as it is.
static const char *goes_text(hdst__printer *p, const hdst__group_sizes *sizes, const ir_stmt *s, uint32_t k, uint32_t i)
{
    if (!sizes->fast) return fits_text(p, sizes, s, i);
    hdst__write_line(&p->out, "bool fits%" PRIu32 ";", k);
    hdst__write_line(&p->out, "const long word%" PRIu32 " = rounded_float(%s, %sUp, %s, &fits%" PRIu32 ");", k, hdst__group_sum_name(p, k),
                     hdst__scale_name(p, s->param, s->leaf), records_text(p), k);
    return hdst__arena_printf(p->arena, "fits%" PRIu32, k);
}

static void end_turn(hdst__printer *p, const hdst__group_sizes *sizes, const ir_block *body, uint32_t first)
{
    const char *all = "";
    for (uint32_t i = 0; i < sizes->sums; i++)
        all = hdst__arena_printf(p->arena, "%s%s%s", all, i ? " && " : "", goes_text(p, sizes, body->items[first + i], first + i, i));
    hdst__write_line(&p->out, "if (%s) {", all);
    p->out.indent++;
    for (uint32_t k = first; k < first + sizes->sums; k++) {
        ir_stmt place = *body->items[k];
        place.home = IR_HOME_PLACE;
        if (sizes->fast) hdst__print_add_word(p, &place, 0, hdst__arena_printf(p->arena, "word%" PRIu32, k));
        else end_twofold(p, &place, k);
    }
    p->out.indent--;
    hdst__write_line(&p->out, "} else rare |= %#xu;", 1u << first / sizes->sums);
}

static void end_turns(hdst__printer *p, hdst__group_sizes *sizes, const ir_block *body)
{
    hdst__write_line(&p->out, "uint rare = 0;");
    for (uint32_t k = 0; k < body->count; k += sizes->sums) end_turn(p, sizes, body, k);
    sizes->sums = 0;
    sizes->fast = false;
}

bool hdst__end_group_sums(hdst__printer *p, hdst__group_sizes *sizes, const ir_block *body)
{
    const ir_stmt *s;
    if (sizes->sums) {
        end_turns(p, sizes, body);
        return true;
    }
    for (uint32_t k = 0; (s = next_in_registers(body, k));) {
        ir_stmt place = *s;
        place.home = IR_HOME_PLACE;
        if (is_fast(p, s)) end_fast(p, &place, k++);
        else if (is_twofold(p, s)) end_twofold(p, &place, k++);
        else for (uint32_t w = 0, words = words_of(p, s); w < words; w++, k++) hdst__print_add_word(p, &place, w, hdst__group_sum_name(p, k));
    }
    return false;
}

// --- Additions ---

const char *hdst__group_sum_tested(hdst__printer *p, const hdst__group_sizes *sizes, const ir_stmt *stmt)
{
    if ((sizes->sums && !sizes->fast) || !is_twofold(p, stmt)) return NULL;
    return hdst__arena_printf(p->arena, "&own_sum%" PRIu32 ", &own_low%" PRIu32, stmt->home_register, stmt->home_register);
}

const char *hdst__group_sum_plain(hdst__printer *p, const hdst__group_sizes *sizes, const ir_stmt *stmt)
{
    const char *sum = hdst__group_sum_name(p, stmt->home_register);
    const ir_expr *v = stmt->value;
    if (is_fast(p, stmt) && v->op == IR_MUL && v->kind == HDST__F32)
        return hdst__arena_printf(p->arena, "%s = fma(%s, %s, %s);", sum, hdst__expr_text(p, v->a, HDST__WHOLE), hdst__expr_text(p, v->b, HDST__WHOLE), sum);
    if (!is_fast(p, stmt) && (!sizes->sums || !is_twofold(p, stmt))) return NULL;
    const char *addend = hdst__addend_text(p, stmt->param, stmt->leaf, v);
    if (is_fast(p, stmt)) return hdst__arena_printf(p->arena, "%s += %s;", sum, addend);
    return hdst__arena_printf(p->arena, "twofold_put(&own_sum%" PRIu32 ", &own_low%" PRIu32 ", %s);", stmt->home_register, stmt->home_register, addend);
}
