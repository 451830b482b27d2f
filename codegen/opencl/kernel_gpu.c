// SPDX-License-Identifier: Apache-2.0
// The form for GPUs: one lane per record with a grid-stride loop; broadcasts and interleaved tables in local memory where they fit.
#include "codegen/opencl/kernel_parts.h"
#include "codegen/pass/row_form.h"
#include "base/pieces.h"

#include <inttypes.h>

enum {
    PRIVATE_WORDS = 16, LANE_SUM_WORDS = 8, PAIR_SUM_WORDS = 32, MAX_COPIES = 16, LOCAL_ALIGN = 16, MANY_NODES = 600, MOST_NODES = 200, FEW_NODES = 120, FEW_ADDS = 3,
    WIDE_BYTES = 512, WIDE_GROUP = 128,     // of a record read; its loops keep a lane busy, and more work-groups share a small input
    OWN_TABLE_BYTES = 2 << 20,              // of a work-group's table in device memory: there are hundreds
    TILE_BYTES = 16 << 10,                  // of local memory
    SHARED_TABLE_BYTES = 16 << 20, MOST_SHARED = 8,     // of all tables that work-groups share: they stay in the second-level cache
};

// --- Slots: 32-bit words of local memory ---

typedef struct small_search {
    uint32_t param, leaf;
    bool all_small;
} small_search;

// 2^23 additions of less than 2^8 fit 32 bits, so a count needs no carry.
static bool find_large(ir_stmt *stmt, void *user)
{
    small_search *seek = user;
    if (stmt->kind == IR_ACCUM && stmt->param == seek->param && stmt->leaf == seek->leaf)
        seek->all_small &= stmt->value->op == IR_CONST && hdst__kind_is_integer(stmt->value->kind) && stmt->value->bits < 256;
    return seek->all_small;
}

uint32_t hdst__slots_per_word(const hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const bool narrow = hdst__scalar_size(cell->kind) <= 4;
    if (cell->tier != HDST__TIER_PLAIN) return 2;
    if (cell->op == HDST__WORD_MAX) return narrow ? 1 : 0;
    if (cell->op != HDST__WORD_ADD) return narrow ? 1 : 2;
    small_search seek = {plan->accum->param, leaf, true};
    ir_block body = p->func->body;
    hdst__ir_visit_stmts(&body, find_large, &seek);
    return seek.all_small ? 1 : 2;
}

static void plan_slots(hdst__printer *p, hdst__accum_plan *plan)
{
    const size_t leaves = p->func->params[plan->accum->param].record->leaf_count;
    plan->slot = HDST__NEW_ARRAY(p->arena, uint32_t, leaves);
    plan->slots = 0;
    for (uint32_t l = 0; l < leaves; l++) {
        plan->slot[l] = plan->slots;
        plan->slots += (uint32_t)(plan->accum->cell[l].elements * plan->accum->cell[l].strip_words) * hdst__slots_per_word(p, plan, l);
    }
}

// --- What goes to local memory ---


static uint64_t rows_of(const hdst__printer *p, const hdst__accum_plan *plan)
{
    const uint64_t rows = plan->accum->is_table && p->options->rows ? p->options->rows[plan->accum->param] : 1;
    return rows ? rows : 1;
}

// Bytes of one copy of all tables that are in local memory or merge through it.
static uint64_t copy_bytes(const hdst__printer *p)
{
    uint64_t slots = 0;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const uint64_t rows = rows_of(p, &p->plan[a]) + p->plan[a].accum->is_table;     // and one, see add_local_arg
        if (p->plan[a].slots == 0) continue;
        if (rows > UINT32_MAX) return UINT64_MAX;
        slots += rows * p->plan[a].slots;
    }
    return slots * 4;
}

static void drop_tables(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->plan[a].place == HDST__PLACE_LOCAL) {
            p->plan[a].place = p->plan[a].accum->strip_row_words ? HDST__PLACE_GROUP : HDST__PLACE_DEVICE;
            p->plan[a].slots = 0;
        }
}

static bool has_pairs(const hdst__printer *p, const hdst__accum_plan *plan)
{
    for (size_t l = 0; l < p->func->params[plan->accum->param].record->leaf_count; l++)
        if (plan->pair_sum[l]) return true;
    return false;
}

static void plan_tables(hdst__printer *p)
{
    const uint64_t most = p->options->facts.local_bytes;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        p->plan[a].place = p->options->no_blocks ? HDST__PLACE_DEVICE
            : hdst__accum_is_private(p->func, p->plan[a].accum, has_pairs(p, &p->plan[a]) ? PAIR_SUM_WORDS : PRIVATE_WORDS) ? HDST__PLACE_PRIVATE : HDST__PLACE_LOCAL;
        if (p->plan[a].place != HDST__PLACE_DEVICE) plan_slots(p, &p->plan[a]);
    }
    if (copy_bytes(p) > most * 3 / 4) drop_tables(p);
    // Half of local memory is enough for the copies: more of it would leave fewer work-groups on a processor.
    p->copies = MAX_COPIES;
    while (p->copies > 1 && copy_bytes(p) * p->copies > most / 2) p->copies /= 2;
}

static bool all_aligned(const ir_param *param)
{
    bool aligned = param->record->align >= 4 && param->record->size % 4 == 0;
    for (size_t l = 0; l < param->record->leaf_count; l++) aligned &= hdst__leaf_is_aligned(param->record, &param->record->leaves[l]);
    return aligned;
}

// Of a table with few rows a lane has an element of each in local memory while it goes through the records: what it reads back from device memory comes late.
static void plan_tile(hdst__printer *p, uint32_t group)
{
    for (size_t a = 0; a < p->tables->accum_count && !p->tile; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        uint32_t words = 0;
        for (size_t l = 0; l < p->func->params[plan->accum->param].record->leaf_count; l++)
            if (plan->accum->cell[l].strip_words > words) words = plan->accum->cell[l].strip_words;
        if (plan->place != HDST__PLACE_GROUP || !plan->accum->is_table || !words || rows_of(p, plan) > TILE_BYTES / (sizeof(int64_t) * words * group)) continue;
        p->tile = plan;
        p->tile_words = words;
        p->spread_bytes += (rows_of(p, plan) + 1) * words * group * sizeof(int64_t) + LOCAL_ALIGN;
    }
}

// Loops over the elements of accumulators in device memory are for the work-group, if what they need of a record has room in local memory.
static void plan_spread(hdst__printer *p, ir_func *func, uint32_t group)
{
    bool *wide = HDST__NEW_ARRAY(p->arena, bool, func->param_count);
    uint64_t words = 0;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        wide[p->plan[a].accum->param] = p->plan[a].place == HDST__PLACE_GROUP;
        words += rows_of(p, &p->plan[a]) * p->plan[a].accum->strip_row_words;
    }
    const ir_func *before = hdst__ir_copy_func(p->arena, func);
    ir_func *loops = hdst__pass_spread(func, wide);
    p->spread = loops ? hdst__spread_create(p->arena, loops) : NULL;
    if (p->spread && hdst__spread_bytes(p->spread) * group + copy_bytes(p) * p->copies > p->options->facts.local_bytes / 2) {
        p->spread = NULL;
        *func = *before;
    }
    p->spread_bytes = p->spread ? hdst__spread_bytes(p->spread) * group : 0;
    if (p->spread) plan_tile(p, group);
    if (p->spread && words * sizeof(int64_t) <= OWN_TABLE_BYTES) return;
    const uint64_t fit = words ? SHARED_TABLE_BYTES / (words * sizeof(int64_t)) : 1;
    p->group_tables = fit < 1 ? 1 : fit < MOST_SHARED ? (uint32_t)fit : MOST_SHARED;
}

static bool may_be_compact(const hdst__accum_plan *plan) { return plan->place == HDST__PLACE_GROUP && hdst__accum_may_be_compact(plan->accum); }

// Tables in device memory whose float sums need no more than a word each. A wide cell has ten times as many, and is read and written for each row. Few rows have several
// tables instead, for all lanes would meet there.
static void plan_compact(hdst__printer *p, const ir_func *single, hdst__gpu_shape *shape)
{
    if (!p->options->compact_bits || p->spread || p->func->emits) return;
    const bool parted = p->tables->accum_count == 1 && may_be_compact(&p->plan[0]) && hdst__plan_parted(p, single, shape);
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        hdst__accum_plan *plan = &p->plan[a];
        const bool many = rows_of(p, plan) * sizeof(int64_t) > p->options->facts.local_bytes * 3 / 4;
        if (!may_be_compact(plan) || !(many || parted)) continue;
        hdst__accum_make_compact((hdst__accum *)plan->accum);      // of this kernel's own tables
        plan->place = HDST__PLACE_WORDS;
        for (size_t l = 0; l < plan->accum->leaf_count; l++)
            if (plan->accum->cell[l].digits >= p->spare_words && plan->accum->cell[l].digits) p->spare_words = plan->accum->cell[l].digits + 1;
    }
}

static void plan_broadcasts(hdst__printer *p)
{
    const uint64_t tables = copy_bytes(p) * p->copies + p->spread_bytes, most = p->options->facts.local_bytes;
    uint64_t room = tables < most ? (most - tables) / 2 : 0;
    for (size_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_BROADCAST_TABLE || !param->is_table || !all_aligned(param) || !p->options->rows || p->options->rows[i] > room) continue;
        const uint64_t bytes = p->options->rows[i] * param->record->size + LOCAL_ALIGN;
        if (bytes > room) continue;
        p->local_broadcast[i] = true;
        room -= bytes;
    }
}

// One buffer of local memory for all: broadcasts, then tables. A table has a row more than asked, as one without rows still takes what failed records add.
static bool add_local_arg(hdst__printer *p, uint32_t group)
{
    uint64_t *per_row = HDST__NEW_ARRAY(p->arena, uint64_t, p->func->param_count), constant = 0;
    for (size_t i = 0; i < p->func->param_count; i++) {
        if (!p->local_broadcast[i]) continue;
        per_row[i] = p->func->params[i].record->size;
        constant += LOCAL_ALIGN;
    }
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const uint64_t bytes = (uint64_t)p->plan[a].slots * p->copies * 4;
        if (p->plan[a].accum->is_table) per_row[p->plan[a].accum->param] = bytes;
        constant += bytes;
    }
    if (p->tile) {
        per_row[p->tile->accum->param] = (uint64_t)group * p->tile_words * sizeof(int64_t);
        constant += per_row[p->tile->accum->param] + LOCAL_ALIGN;
    }
    if (constant == 0) return false;
    hdst__kernel_add_arg(p, HDST__ARG_LOCAL, 0, "__local ulong2 *restrict local_memory");
    p->args[p->arg_count - 1].local_constant = constant;
    p->args[p->arg_count - 1].local_per_row = per_row;
    return true;
}

// --- Text ---

static void print_broadcast_copies(hdst__printer *p)
{
    const char *offset = "";
    for (size_t i = 0; i < p->func->param_count; i++) {
        if (!p->local_broadcast[i]) continue;
        const char *name = p->param_name[i];
        const uint64_t size = p->func->params[i].record->size;
        hdst__write_line(&p->out, "__local uchar *%sAt = (__local uchar *)(local_memory%s);", name, offset);
        hdst__write_line(&p->out, "for (ulong w = lane; w < %sRows * %" PRIu64 "; w += LANES)", name, size / 4);
        hdst__write_line(&p->out, "    ((__local uint *)%sAt)[w] = ((__global const uint *)%sData)[w];", name, name);
        offset = hdst__arena_printf(p->arena, "%s + (%sRows * %" PRIu64 " + 15) / 16", offset, name, size);
    }
    if (p->tile) {
        hdst__write_line(&p->out, "const uint tile_rows = (uint)max(%sRows, 1UL) * %" PRIu32 ";", p->tile->name, p->tile_words);
        hdst__write_line(&p->out, "__local long *tile = (__local long *)(local_memory%s);", offset);
        offset = hdst__arena_printf(p->arena, "%s + (tile_rows * LANES + 1) / 2", offset);
    }
    if (copy_bytes(p)) hdst__write_line(&p->out, "__local uint *local_tables = (__local uint *)(local_memory%s);", offset);
}

static void print_setup(hdst__printer *p)
{
    if (p->way == HDST__OUTPUT_COUNTED) hdst__write_line(&p->out, "__local uint sums[LANES];\nif (places[0] > room) return;");
    hdst__print_spread_memory(p);
    hdst__print_input_bases(p);
    print_broadcast_copies(p);
    hdst__print_table_bases(p);
    hdst__print_lane_sums(p);
    hdst__print_pair_starts(p);
    hdst__print_group_reset(p);
    for (size_t i = 0; i < p->arg_count; i++)
        if (p->args[i].kind == HDST__ARG_LOCAL) hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static void print_chunk(hdst__printer *p)
{
    if (p->tables->accum_count == 0) {
        hdst__write_line(&p->out, "for (; base < count; base += get_num_groups(0) * SPAN) {");
        return;
    }
    hdst__write_line(&p->out, "// The tables are added to the device's before a word could overflow.");
    hdst__write_line(&p->out, "ulong rounds = max(min(flush / SPAN, flush / %d / (SPAN / LANES)), 1UL);", 1 << HDST__LANE_BITS);
    hdst__write_line(&p->out, "for (; base < count && rounds; base += get_num_groups(0) * SPAN, rounds--) {");
}

static void print_record(hdst__printer *p, const ir_func *func, const char *head)
{
    hdst__printer_use(p, func);
    hdst__write_line(&p->out, "%s", head);
    p->out.indent++;
    hdst__print_function(p);
    p->out.indent--;
}

// Whole spans go through the form for several records; the last one of a slice, and the records of a lane of which one failed, one by one: which it was is told there.
static const char *records_text(hdst__printer *p, const ir_func *single, const ir_func *spans, const char *place)
{
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    if (spans->lane_records <= 1) {
        hdst__write_line(&p->out, "const ulong i = base + lane;\n%s", place);
        print_record(p, spans, "if (i < count) {");
    } else {
        hdst__write_line(&p->out, "bool whole = count - base >= SPAN;");
        hdst__write_line(&p->out, "if (whole) {");
        print_record(p, spans, "    const ulong i = base + lane;");
        hdst__write_line(&p->out, "}");
        hdst__write_line(&p->out, "if (!whole) {");
        hdst__write_line(&p->out, "    const ulong end = min(count, base + SPAN);");
        p->out.indent++;
        p->plain_loops = true;
        print_record(p, single, "for (ulong i = base + lane; i < end; i += LANES) {");
        p->plain_loops = false;
        hdst__write_line(&p->out, "}");
        p->out.indent--;
    }
    hdst__write_line(&p->out, "}");
    hdst__print_spread(p);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

// --- Shape ---

typedef struct body_shape {
    size_t nodes, adds;
    bool shares;            // has a uniform loop, whose broadcasts several records may share
    bool varies;            // has a loop that records leave apart
} body_shape;

static bool look(ir_stmt *stmt, void *user)
{
    body_shape *body = user;
    const ir_expr *expr[] = {stmt->value, stmt->cond, stmt->index, stmt->index2};
    for (size_t i = 0; i < sizeof expr / sizeof *expr; i++)
        if (expr[i]) body->nodes += hdst__ir_expr_size(expr[i]);
    if (stmt->kind == IR_ACCUM) {
        body->nodes += 10;
        body->adds++;
    }
    if (stmt->kind == IR_FOR || stmt->kind == IR_LOOP) *(hdst__ir_loop_varies(stmt) ? &body->varies : &body->shares) = true;
    return true;
}

static bool see_element(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    if (e->op == IR_ELEM && e->a->op != IR_CONST && ((const ir_func *)user)->vars[e->var].varying) return false;
    return true;
}

static bool see_set_element(ir_stmt *s, void *user)
{
    return s->kind != IR_SET_ELEM || s->index->op == IR_CONST || !((const ir_func *)user)->vars[s->var].varying;
}

// Of a record's own, and not as single variables, which they are where all indices are constant.
static bool has_arrays(const ir_func *func)
{
    ir_block body = func->body;
    return !hdst__ir_visit_exprs(&body, see_element, (void *)func) || !hdst__ir_visit_stmts(&body, see_set_element, (void *)func);
}

// Several records keep enough loads under way, and share what a uniform loop reads; registers set the limit. Eight where records only add to tables and there is little else
// to do (least squares over 100M records: 1.16, 0.80, 0.68 ms with 2, 4, 8 of them), four for maps and short loops, two where there is more (a step of logistic regression over 210M
// records: 5.2 and 3.8 ms with 1, 2 of them); one where a body is very long, or long with a loop, or keeps arrays, or where records go separate ways.
static uint32_t records_of(const ir_func *func, uint32_t wanted)
{
    body_shape body = {0};
    ir_block block = func->body;
    hdst__ir_visit_stmts(&block, look, &body);
    if (func->emits) return 1;          // its place follows from the lanes before it
    if (wanted) return wanted < HDST__LANE_RECORDS ? wanted : HDST__LANE_RECORDS;
    if (body.varies || has_arrays(func) || body.nodes > MANY_NODES) return 1;
    if (body.nodes > MOST_NODES) return body.shares ? 1 : 2;
    if (body.nodes > FEW_NODES) return body.shares || body.adds > FEW_ADDS ? 2 : 4;
    return body.shares || !body.adds ? 4 : 8;
}

static bool is_wide(const ir_func *func) { return hdst__bytes_read(func) >= WIDE_BYTES; }

static hdst__gpu_shape choose_shape(const ir_func *func, const hdst__kernel_options *options)
{
    hdst__gpu_shape shape = options->shape;
    if (!shape.group) shape.group = is_wide(func) ? WIDE_GROUP : HDST__GPU_GROUP;
    if (!shape.records && is_wide(func)) shape.records = 1;
    while (shape.group > 1 && options->facts.max_group && shape.group > options->facts.max_group) shape.group /= 2;
    shape.records = records_of(func, shape.records);
    return shape;
}

// A sum in registers meets the wide cell of the device table, which all lanes share, as rarely as can be: a lane's word has room for more bits, and merges
// into two words of the group's table.
static bool may_be_lane_sum(const hdst__accum *accum, const ir_func *func, size_t leaf)
{
    const hdst__cell *cell = &accum->cell[leaf];
    return cell->of_floats && cell->tier == HDST__TIER_ONE && hdst__accum_is_private(func, accum, LANE_SUM_WORDS);
}

// So do sums of doubles, as two running sums, which are the group's two words when it merges.
static bool may_be_pair_sum(const hdst__accum *accum, const ir_func *func, size_t leaf, bool fast_sums)
{
    const hdst__cell *cell = &accum->cell[leaf];
    const bool doubles = cell->kind == HDST__F64 && !cell->of_floats, fits = cell->tier == HDST__TIER_ONE || cell->tier == HDST__TIER_TWO;
    return doubles && fits && !fast_sums && hdst__accum_is_private(func, accum, PAIR_SUM_WORDS);
}

static const hdst__tables *widen(hdst__arena *arena, const ir_func *func, const hdst__tables *tables, bool fast_sums)
{
    hdst__tier *tiers = HDST__NEW_ARRAY(arena, hdst__tier, tables->scale_count + 1);
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        for (size_t l = 0; l < func->params[accum->param].record->leaf_count; l++)
            if (accum->cell[l].scale >= 0) tiers[accum->cell[l].scale] = may_be_lane_sum(accum, func, l) || may_be_pair_sum(accum, func, l, fast_sums) ? HDST__TIER_TWO
                : accum->cell[l].tier;
    }
    return hdst__tables_make(arena, func, tiers);
}

static void plan_lane_sums(hdst__printer *p, const hdst__tables *narrow)
{
    for (size_t a = 0; a < narrow->accum_count; a++) {
        const size_t leaves = p->func->params[narrow->accum[a].param].record->leaf_count;
        p->plan[a].lane_sum = HDST__NEW_ARRAY(p->arena, bool, leaves);
        p->plan[a].pair_sum = HDST__NEW_ARRAY(p->arena, bool, leaves);
        for (size_t l = 0; l < leaves; l++) {
            p->plan[a].lane_sum[l] = may_be_lane_sum(&narrow->accum[a], p->func, l);
            p->plan[a].pair_sum[l] = may_be_pair_sum(&narrow->accum[a], p->func, l, p->options->fast_sums);
            ((hdst__cell *)&p->tables->accum[a].cell[l])->fast = p->plan[a].lane_sum[l] && p->options->fast_sums;      // of this kernel's own tables
        }
    }
}

// --- Output of which the data says how much ---

static void print_count_setup(hdst__printer *p)
{
    hdst__print_input_bases(p);
    print_broadcast_copies(p);
    for (size_t i = 0; i < p->arg_count; i++)
        if (p->args[i].kind == HDST__ARG_LOCAL) hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static const char *print_count(hdst__printer *p, const ir_func *count, void (*print)(hdst__printer *p))
{
    if (!count) return "";
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    hdst__print_count_of(p, count, print);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

// A lane's place: those of the lanes before it follow from what each emits.
static const char *place_text(hdst__printer *p, const char *count_record)
{
    if (p->way == HDST__OUTPUT_DENSE) return "";
    return hdst__arena_printf(p->arena, "ulong place = 0;\nif (i < count) {\n%s}\nplace = places[1 + base / LANES] + before_lane(sums, lane, (uint)place);\n",
                              count_record);
}

// The body record by record.
static ir_func *single_body(hdst__arena *arena, const ir_func *func)
{
    ir_func *single = hdst__ir_copy_func(arena, func);
    hdst__pass_lanes(single);           // registers, and elements in the order in which they lie
    if (is_wide(func)) hdst__pass_row_jam(single);      // what is read of a wide record is read for several turns of the loop around
    hdst__pass_uniform(single);
    if (func->emits) hdst__pass_place(single);
    return single;
}

// The body for whole spans, the same when a lane takes one record. NULL, with a diagnostic, on an internal error.
static ir_func *span_body(ir_func *single, uint32_t records, hdst__diags *diags)
{
    ir_func *spans = single->emits ? single : hdst__ir_copy_func(single->arena, single);
    if (!single->emits) hdst__pass_together(spans, records);
    const char *wrong = hdst__ir_verify(spans);
    if (!wrong) return spans;
    hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: records of a lane of '%s': %s", single->name, wrong);
    return NULL;
}

static bool has_tables(const hdst__printer *p, hdst__place place)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->plan[a].place == place) return true;
    return false;
}

const hdst__kernel *hdst__kernel_make_gpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags)
{
    hdst__gpu_shape shape = choose_shape(func, options);
    ir_func *single = single_body(arena, func), *count;
    const hdst__tables *narrow = hdst__tables_make(arena, func, options->tiers);
    hdst__printer *p = hdst__printer_create(arena, func, options, options->no_blocks ? narrow : widen(arena, func, narrow, options->fast_sums));
    if (!options->no_blocks) plan_lane_sums(p, narrow);
    plan_tables(p);
    plan_spread(p, single, shape.group);
    if (p->spread) shape.records = 1;
    plan_compact(p, single, &shape);
    ir_func *spans = span_body(single, shape.records, diags);
    if (!spans) return NULL;
    const uint64_t bytes = hdst__private_bytes(p, spans);
    if (!hdst__private_fits(p, func, bytes, HDST__GPU_PRIVATE_LIMIT, diags)) return NULL;
    plan_broadcasts(p);
    hdst__plan_words(p);
    hdst__emit_plan(p);
    hdst__kernel_add_common_args(p);
    const bool local = add_local_arg(p, shape.group);
    if (!hdst__emit_count_form(p, p->func, diags, &count)) return NULL;
    hdst__printer_use(p, single);       // its constants, for the file's scope
    const char *count_record = print_count(p, count, hdst__print_function);
    const bool merges = has_tables(p, HDST__PLACE_GROUP);
    const char *setup = hdst__print_section(p, print_setup);
    hdst__hole holes[] = {
        {"title", func->name},
        {"group", hdst__arena_printf(arena, "%" PRIu32, shape.group)},
        {"span", hdst__arena_printf(arena, "%" PRIu32, shape.group * shape.records)},
        {"file_scope", hdst__print_section(p, hdst__print_file_scope)},
        {"setup", setup},
        {"chunk", hdst__print_section(p, print_chunk)},
        {"emit_scope", count ? hdst__template_text("emit_gpu.cl") : ""},
        {"count_setup", print_count(p, count, print_count_setup)},
        {"count_record", count_record},
        {"records", records_text(p, single, spans, place_text(p, count_record))},
        {"flush", hdst__print_section(p, hdst__print_group_flush)},
        {"merge_setup", merges ? hdst__print_section(p, hdst__print_merge_bases) : ""},
        {"merge", merges ? hdst__print_section(p, hdst__print_merge) : ""},
        {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL},       // HDST__FINISH_HOLES
        {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL},     // HDST__PARTED_HOLES
    };
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){.func = func, .local_size = shape.group, .shape = shape, .private_bytes = bytes, .merges = merges, .group_tables = p->group_tables, .spare_words = p->spare_words,
                            .tables_in_local = has_tables(p, HDST__PLACE_LOCAL)};
    kernel->why = hdst__arena_printf(arena, "form: %" PRIu32 " record%s per lane%s, %" PRIu32 " copies of tables\n%s%s", shape.records, shape.records > 1 ? "s" : "",
                                     local ? "" : ", no local memory", p->copies, hdst__emit_why(p), hdst__tables_why(p));
    if (p->parted) kernel->why = hdst__arena_printf(arena, "%s%s\n", kernel->why, hdst__parted_why(p));
    const size_t finish = p->tables->accum_count ? HDST__FINISH_HOLES : 0, count_of_holes = sizeof holes / sizeof *holes - HDST__FINISH_HOLES - HDST__PARTED_HOLES;
    if (finish) hdst__finish_texts(p, kernel, holes + count_of_holes);
    const size_t parted = p->parted ? HDST__PARTED_HOLES : 0;
    if (parted) hdst__parted_texts(p, single, spans, shape.records, setup, holes + count_of_holes + finish);
    hdst__kernel_finish(p, kernel, "kernel_gpu.cl", holes, count_of_holes + finish + parted);
    return kernel;
}
