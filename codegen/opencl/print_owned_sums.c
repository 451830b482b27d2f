// SPDX-License-Identifier: Apache-2.0
// GPU form: sums of doubles that work-items own. A work-item has one of them, or several, in registers as two running sums each (accum/levels_lane_double.cl)
// and goes through the records of its work-group; where there are more work-items than sums, records are shared out among those of one sum. All do the same
// with other places, which stand in arrays at file scope: so the text is short, however many sums there are.
#include "codegen/opencl/print_owned_sums.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/pass/owned_sums.h"
#include "base/costs_gpu.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_LEAVES = 256, LANE_ADDS = 1 << 10 };        // additions to a running sum before it goes to words

typedef struct leaf {
    const hdst__accum_plan *plan;
    uint32_t leaf;
} leaf;

struct hdst__owned_sums {
    const ir_func *sums;
    uint32_t *place;            // by variable: of its value, among those of a record
    uint32_t values, stride;    // of a record; so far apart
    uint32_t count, each;       // sums; of a work-item
    const char *memory, *left, *right, *slot, *cell, *of;
};

hdst__owned_sums *hdst__owned_sums_create(hdst__printer *p, const ir_func *sums)
{
    hdst__arena *arena = p->arena;
    hdst__owned_sums *own = HDST__NEW(arena, hdst__owned_sums);
    const uint32_t group = sums->shape->group;
    *own = (hdst__owned_sums){.sums = sums, .count = (uint32_t)sums->body.count};
    own->each = (own->count - 1) / group + 1;
    own->place = HDST__NEW_ARRAY(arena, uint32_t, sums->var_count + 1);
    for (uint32_t v = 0; v < sums->var_count; v++)
        if (hdst__ir_block_reads(&sums->body, v)) own->place[v] = own->values++;
    own->stride = hdst__owned_stride(sums);
    own->memory = hdst__name_take(p->names, "owned values");
    own->left = hdst__name_take(p->names, "owned left");
    own->right = hdst__name_take(p->names, "owned right");
    own->slot = hdst__name_take(p->names, "owned slot");
    own->cell = hdst__name_take(p->names, "owned cell");
    own->of = hdst__name_take(p->names, "owned leaf");
    return own;
}

bool hdst__owned_carries(const hdst__printer *p, uint32_t var)
{
    return p->owned && p->func != p->owned->sums && var < p->owned->sums->var_count && hdst__ir_block_reads(&p->owned->sums->body, var);
}

// --- Places ---

static size_t find_leaves(const hdst__printer *p, leaf *leaves)
{
    size_t count = 0;
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (uint32_t l = 0; l < p->tables->accum[a].leaf_count && count < MOST_LEAVES; l++)
            if (hdst__owned_adds_to(p->owned->sums, p->tables->accum[a].param, l)) leaves[count++] = (leaf){&p->plan[a], l};
    return count;
}

static uint64_t element_of(const ir_stmt *s) { return s->index2 ? s->index2->bits : 0; }

static uint64_t left_of(const hdst__printer *p, const ir_stmt *s) { return p->owned->place[s->value->op == IR_MUL ? s->value->a->var : s->value->var]; }

// Of one that is no product it is a one, which lies behind all values.
static uint64_t right_of(const hdst__printer *p, const ir_stmt *s)
{
    return s->value->op == IR_MUL ? p->owned->place[s->value->b->var] : p->owned->values;
}

static uint64_t slot_of(const hdst__printer *p, const ir_stmt *s)
{
    const hdst__accum_plan *plan = hdst__find_plan(p, s->param);
    return hdst__placement(p, plan)->leaf[s->leaf].slot + element_of(s) * 2 * plan->accum->cell[s->leaf].private_words;
}

static uint64_t cell_of(const hdst__printer *p, const ir_stmt *s)
{
    const hdst__cell *cell = hdst__find_cell(p, s->param, s->leaf);
    return cell->device_first + element_of(s) * cell->device_words;
}

static uint64_t number_of(const hdst__printer *p, const ir_stmt *s)
{
    leaf leaves[MOST_LEAVES];
    const size_t count = find_leaves(p, leaves);
    for (size_t i = 0; i < count; i++)
        if (leaves[i].plan->accum->param == s->param && leaves[i].leaf == s->leaf) return i;
    return 0;
}

static void print_array(hdst__printer *p, const char *name, uint64_t (*of)(const hdst__printer *p, const ir_stmt *s))
{
    hdst__write(&p->out, "__constant uint %s[%" PRIu32 "] = {", name, p->owned->count);
    for (uint32_t n = 0; n < p->owned->count; n++)
        hdst__write(&p->out, "%s%" PRIu64, n == 0 ? "" : n % 24 ? ", " : ",\n    ", of(p, p->owned->sums->body.items[n]));
    hdst__write_line(&p->out, "};");
}

void hdst__print_owned_places(hdst__printer *p)
{
    const hdst__owned_sums *own = p->owned;
    if (!own) return;
    hdst__write_line(&p->out, "// Of sums that work-items own: the two values of a record whose product they take, their words in local memory and");
    hdst__write_line(&p->out, "// on the device, and of which accumulator they are.");
    print_array(p, own->left, left_of);
    print_array(p, own->right, right_of);
    print_array(p, own->slot, slot_of);
    print_array(p, own->cell, cell_of);
    print_array(p, own->of, number_of);
}

// --- Records ---

void hdst__print_owned_memory(hdst__printer *p)
{
    if (!p->owned) return;
    p->uses_double = true;
    hdst__write_line(&p->out, "__local double %s[LANES * %" PRIu32 "];", p->owned->memory, p->owned->stride);
}

void hdst__print_owned_keep(hdst__printer *p)
{
    for (uint32_t v = 0; p->owned && v < p->owned->sums->var_count; v++)
        if (hdst__owned_carries(p, v))
            hdst__write_line(&p->out, "%s[lane * %" PRIu32 " + %" PRIu32 "] = %s;", p->owned->memory, p->owned->stride, p->owned->place[v], p->var_name[v]);
}

// --- Sums ---

// What depends on the accumulator, as a choice by the number of its leaf.
static const char *choice(hdst__printer *p, uint32_t sum, const char *(*of)(hdst__printer *p, const leaf *leaf))
{
    leaf leaves[MOST_LEAVES];
    const size_t count = find_leaves(p, leaves);
    const char *text = of(p, &leaves[count - 1]);
    for (size_t i = count - 1; i-- > 0;)
        if (strcmp(of(p, &leaves[i]), text)) text = hdst__arena_printf(p->arena, "owned_of%" PRIu32 " == %zu ? %s : %s", sum, i, of(p, &leaves[i]), text);
    return text;
}

static const char *scale_of(hdst__printer *p, const leaf *l)
{
    return hdst__arena_printf(p->arena, "%sScale", hdst__scale_name(p, l->plan->accum->param, l->leaf));
}
static const char *words_of(hdst__printer *p, const leaf *l) { return hdst__arena_printf(p->arena, "%sLocal", l->plan->name); }
static const char *cells_of(hdst__printer *p, const leaf *l) { return hdst__arena_printf(p->arena, "%sTotal", l->plan->name); }

static void print_start(hdst__printer *p, uint32_t n)
{
    const hdst__owned_sums *own = p->owned;
    const char *at = hdst__arena_printf(p->arena, "owned_at%" PRIu32, n);
    const char *first = n ? hdst__arena_printf(p->arena, "%" PRIu32 " * LANES + lane", n) : "lane % owners";
    hdst__write_line(&p->out, "const uint %s = min(%s, %" PRIu32 "u);", at, first, own->count - 1);
    hdst__write_line(&p->out, "const uint owned_left%" PRIu32 " = %s[%s], owned_right%" PRIu32 " = %s[%s], owned_of%" PRIu32 " = %s[%s];", n, own->left, at, n,
        own->right, at, n, own->of, at);
    hdst__write_line(&p->out, "const int owned_scale%" PRIu32 " = %s;", n, choice(p, n, scale_of));
    hdst__write_line(&p->out, "volatile __local uint *owned_words%" PRIu32 " = (%s) + %s[%s] * COPIES + copy;", n, choice(p, n, words_of), own->slot, at);
    hdst__write_line(&p->out, "double owned_sum%" PRIu32 "[2];", n);
    hdst__write_line(&p->out, "pair_start(owned_sum%" PRIu32 ", owned_scale%" PRIu32 ");", n, n);
}

void hdst__print_owned_starts(hdst__printer *p)
{
    if (!p->owned) return;
    const uint32_t count = p->owned->count, group = p->owned->sums->shape->group;
    const uint32_t parts = count < group ? group / count : 1;
    hdst__write_line(&p->out, "// Each work-item owns sums, and takes each record, or one of so many parts of them.");
    hdst__write_line(&p->out, "enum { owners = %" PRIu32 ", owned_parts = %" PRIu32 ", owned_adds = (LANES - 1) / owned_parts + 1 };",
        count < group ? count : group, parts);
    hdst__write_line(&p->out, "const uint owned_part = lane / owners;");
    hdst__write_line(&p->out, "uint owned_turns = 0;      // additions to each sum since it went to words");
    for (uint32_t n = 0; n < p->owned->each; n++) print_start(p, n);
    if (p->owned->stride > p->owned->values)
        hdst__write_line(&p->out, "%s[lane * %" PRIu32 " + %" PRIu32 "] = 1.0;", p->owned->memory, p->owned->stride, p->owned->values);
}

void hdst__print_owned_takes(hdst__printer *p)
{
    if (!p->owned) return;
    p->uses_local = true;
    for (uint32_t n = 0; n < p->owned->each; n++)
        hdst__write_line(&p->out, "pair_take(owned_sum%" PRIu32 ", owned_scale%" PRIu32 ", owned_words%" PRIu32 ");", n, n, n);
    hdst__write_line(&p->out, "owned_turns = 0;");
}

static const char *addend_name(hdst__printer *p, uint32_t n, uint32_t record)
{
    return hdst__arena_printf(p->arena, "addend%" PRIu32 "_%" PRIu32, n, record);
}

static void print_addend(hdst__printer *p, uint32_t n, uint32_t record)
{
    const char *values = hdst__arena_printf(p->arena, record ? "values[%" PRIu32 " * owned_parts * %" PRIu32 " + " : "values[", record, p->owned->stride);
    hdst__write_line(&p->out, "const double %s = %sowned_left%" PRIu32 "] * %sowned_right%" PRIu32 "];", addend_name(p, n, record), values, n, values, n);
}

static void print_exception(hdst__printer *p, uint32_t n, uint32_t record)
{
    const char *addend = addend_name(p, n, record);
    hdst__write_line(&p->out, "if (!pair_holds(%s, owned_scale%" PRIu32 "))", addend, n);
    hdst__write_line(&p->out, "    exception_pair(owned_words%" PRIu32 ", (%s) + %s[owned_at%" PRIu32 "], %s, double_power(owned_scale%" PRIu32 "));", n,
        choice(p, n, cells_of), p->owned->cell, n, addend, n);
}

// The last round of sums has fewer than there are work-items: those behind the last one add nothing.
static const char *owns_text(hdst__printer *p, uint32_t n)
{
    const uint32_t end = (n + 1) * p->owned->sums->shape->group;
    return n && end > p->owned->count ? hdst__arena_printf(p->arena, "if (%" PRIu32 " * LANES + lane < %" PRIu32 ") {", n, p->owned->count) : "{";
}

// `records` at once, `owned_parts` from one another, whose additions to a sum share a test.
static void print_records(hdst__printer *p, uint32_t records)
{
    const hdst__owned_sums *own = p->owned;
    hdst__write_line(&p->out, "__local const double *values = %s + at * %" PRIu32 ";", own->memory, own->stride);
    for (uint32_t n = 0; n < own->each; n++) {
        hdst__write_line(&p->out, "%s", owns_text(p, n));
        p->out.indent++;
        for (uint32_t r = 0; r < records; r++) print_addend(p, n, r);
        hdst__write_line(&p->out, "bool quick = true;");
        for (uint32_t r = 0; r < records; r++)
            hdst__write_line(&p->out, "quick &= pair_add(owned_sum%" PRIu32 ", %s, owned_scale%" PRIu32 ");", n, addend_name(p, n, r), n);
        hdst__write_line(&p->out, "if (!quick) {");
        p->out.indent++;
        for (uint32_t r = 0; r < records; r++) print_exception(p, n, r);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

static void print_loop(hdst__printer *p, uint32_t records)
{
    hdst__write_line(&p->out, "for (; at + %" PRIu32 " * owned_parts < owned_there; at += %" PRIu32 " * owned_parts) {", records - 1, records);
    p->out.indent++;
    print_records(p, records);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_owned_sums(hdst__printer *p)
{
    const hdst__owned_sums *own = p->owned;
    if (!own) return;
    hdst__write_line(&p->out, "// The records that the lanes have ended, sum by sum.");
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    hdst__write_line(&p->out, "if (owned_turns > %d - owned_adds) {", LANE_ADDS);
    p->out.indent++;
    hdst__print_owned_takes(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    hdst__write_line(&p->out, "owned_turns += owned_adds;");
    hdst__write_line(&p->out, "const uint owned_there = owned_part < owned_parts ? (uint)min(count - base, (ulong)SPAN) : 0;");
    hdst__write_line(&p->out, "uint at = owned_part;");
    print_loop(p, HDST__GPU_OWNED_RECORDS);
    print_loop(p, 1);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}
