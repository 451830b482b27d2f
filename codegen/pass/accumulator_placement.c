// SPDX-License-Identifier: Apache-2.0
// Where the words of accumulators are while a form runs, and how addends get there, for both device classes. A sum of
// few words of a whole dataset is in registers, a table in a privatised copy near by, and what has no room there goes
// to the device's accumulators.
//
// Before:       accum total t[] {f32 x, u32 n}
// After, CPU:   accum total t[] {f32 x, u32 n}   place t strip: x tested, n word
// After, GPU:   accum total t[] {f32 x, u32 n}   place t local 3 slots: x joint 0 by 2, n word 2 by 1
#include "codegen/pass/accumulator_placement.h"

#include "codegen/pass/arranged_rows.h"
#include "codegen/pass/owned_sums.h"
#include "codegen/pass/row_form.h"
#include "accum/addends.h"
#include "accum/first_level.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/pass/passes.h"
#include "base/costs_cpu.h"
#include "base/costs_gpu.h"

static uint64_t place_rows(const hdst__accum *accum, const uint64_t *rows)
{
    const uint64_t count = accum->is_table && rows ? rows[accum->param] : 1;
    return count ? count : 1;
}

static ir_placement *placement_of(const ir_func *func, const hdst__accum *accum) { return func->params[accum->param].placement; }

bool hdst__placed_anywhere(const ir_func *func, ir_place place)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE && func->params[i].placement && func->params[i].placement->place == place) return true;
    return false;
}

static void place_nothing(ir_func *func, const hdst__tables *tables)
{
    func->tables = HDST__NEW(func->arena, ir_tables);
    for (size_t a = 0; a < tables->accum_count; a++) {
        ir_placement *placement = HDST__NEW(func->arena, ir_placement);
        placement->leaf = HDST__NEW_ARRAY(func->arena, ir_leaf_placement, tables->accum[a].leaf_count + 1);
        func->params[tables->accum[a].param].placement = placement;
    }
}

// --- Registers: one row, few words, elements all named by constants ---

typedef struct element_search {
    uint32_t param;
    bool varies;
} element_search;

static bool find_varying_element(ir_stmt *stmt, void *user)
{
    element_search *seek = user;
    const bool adds = stmt->kind == IR_ACCUM || stmt->kind == IR_ACCUM_WORDS;
    seek->varies |= adds && stmt->param == seek->param && stmt->index2 && stmt->index2->op != IR_CONST;
    return !seek->varies;
}

static bool fits_registers(const ir_func *func, const hdst__accum *accum, uint64_t most_words)
{
    if (accum->is_table || accum->private_row_words > most_words) return false;
    element_search seek = {accum->param, false};
    hdst__ir_visit_stmts((ir_block *)&func->body, find_varying_element, &seek);
    return !seek.varies;
}

// --- CPU ---

static ir_place place_on_cpu(const ir_func *form, const ir_func *scalar, const hdst__accum *accum, const hdst__place_limits *limits)
{
    if (limits->no_blocks) return IR_PLACE_GLOBAL;
    if (fits_registers(scalar, accum, HDST__CPU_REGISTER_WORDS) && fits_registers(form, accum, HDST__CPU_REGISTER_WORDS)) return IR_PLACE_REGISTERS;
    const bool in_runs = accum->is_table && accum->private_row_words && accum->private_row_words <= HDST__RUN_WORDS;
    return in_runs && hdst__rows_are_arranged(scalar, accum->param) ? IR_PLACE_RUN : IR_PLACE_STRIP;
}

static ir_way way_on_cpu(const hdst__cell *cell, ir_place place)
{
    if (cell->precision == HDST__CLASS_PLAIN) return IR_WAY_WORD;
    return cell->precision == HDST__CLASS_SUPERACCUMULATOR || place == IR_PLACE_GLOBAL ? IR_WAY_SUPERACCUMULATOR : IR_WAY_TESTED;
}

static bool has_block_sums(const ir_func *form, const hdst__tables *tables)
{
    for (size_t a = 0; a < tables->accum_count; a++)
        for (size_t l = 0; l < tables->accum[a].leaf_count; l++) {
            const ir_leaf_placement *leaf = &placement_of(form, &tables->accum[a])->leaf[l];
            if (leaf->levels[0] || leaf->levels[1]) return true;
        }
    return false;
}

// Block form: levels, and what blocks leave over, go to the superaccumulators directly. Where runs end at rows, these would be most of the work.
static bool has_first_level(const ir_func *form, const hdst__tables *tables, const hdst__place_limits *limits)
{
    if (!limits->first_level || limits->no_blocks || !tables->scale_count || !limits->rows) return false;
    if (form->block && (!hdst__placed_anywhere(form, IR_PLACE_RUN) || has_block_sums(form, tables))) return false;
    return hdst__tables_device_words(tables, limits->rows) >= HDST__CPU_FIRST_LEVEL_PAGES * HDST__PAGE_WORDS;
}

// A word of 64 bits has nothing that one of 32 has not where the row's kind is no wider; of a complement the upper bits are ones.
static bool is_narrow(const hdst__accum *accum, const hdst__place_limits *limits)
{
    if (!limits->rows || accum->leaf_count != 1 || accum->private_row_words != 1 || place_rows(accum, limits->rows) < HDST__CPU_NARROW_ROWS) return false;
    const hdst__cell *cell = accum->cell;
    return cell->precision == HDST__CLASS_PLAIN && cell->acc != HDST__AND && hdst__scalar_size(cell->kind) <= sizeof(uint32_t);
}

// Records that do hardly more than count wait for the one before them if both count the same: what was stored is
// loaded at once. In two tables each waits for the last but one.
static bool takes_turns(const ir_func *scalar, const ir_func *form, const hdst__tables *tables, const hdst__place_limits *limits)
{
    static const uint64_t one[] = {1};
    if (!limits->may_turn || limits->no_blocks || !tables->accum_count || tables->first_level || !hdst__row_only_scatters(scalar)) return false;
    uint64_t words = 0;
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        if (accum->is_table && !limits->rows) return false;
        words += hdst__accum_rows(accum, accum->is_table ? limits->rows : one) * accum->private_row_words;
        for (size_t l = 0; l < accum->leaf_count; l++)
            if (accum->cell[l].op != HDST__WORD_ADD) return false;
    }
    return words <= HDST__CPU_TWO_TABLES_WORDS && hdst__placed_anywhere(form, IR_PLACE_STRIP);
}

typedef struct level_search {
    const ir_func *form;
    const hdst__tables *tables;
    bool fast;
} level_search;

static bool find_block_sum(ir_stmt *s, void *user)
{
    const level_search *seek = user;
    if (s->kind != IR_ACCUM_BLOCK) return true;
    seek->form->params[s->param].placement->leaf[s->leaf].levels[s->value->kind == HDST__F64] = true;
    if (seek->fast) ((hdst__cell *)hdst__tables_accum(seek->tables, s->param)->cell)[s->leaf].fast = true;      // of this kernel's own tables
    return true;
}

// Runs whose ends are known have all that a row takes, but for those that other strips have records of.
static void write_rows(ir_func *form, hdst__tables *tables, const hdst__place_limits *limits)
{
    hdst__accum *accum = tables->accum_count == 1 ? (hdst__accum *)tables->accum : NULL;
    if (!limits->writes_rows || !accum || !placement_of(form, accum)->starts || hdst__accum_has_superaccumulators(accum)) return;
    if (!hdst__rows_have_totals(form, accum) || form->block > HDST__ROW_BLOCK) return;
    form->tables->overflow_words = hdst__accum_overflow_words(accum);
    hdst__accum_make_fixed_point(accum);
    placement_of(form, accum)->writes_rows = accum->writes_rows = true;
}

void hdst__pass_accumulator_placement_cpu(ir_func *form, const ir_func *scalar, hdst__tables *tables, const hdst__place_limits *limits)
{
    place_nothing(form, tables);
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        ir_placement *placement = placement_of(form, accum);
        placement->place = place_on_cpu(form, scalar, accum, limits);
        placement->runs = placement->place == IR_PLACE_RUN;
        placement->starts = placement->runs ? form->params[accum->param].rows_from : 0;
        for (size_t l = 0; l < accum->leaf_count; l++) placement->leaf[l].way = way_on_cpu(&accum->cell[l], placement->place);
    }
    level_search seek = {form, tables, limits->fast_sums};
    hdst__ir_visit_stmts(&form->body, find_block_sum, &seek);
    for (size_t a = 0; a < tables->accum_count; a++)
        for (size_t l = 0; l < tables->accum[a].leaf_count; l++)
            placement_of(form, &tables->accum[a])->leaf[l].fast = tables->accum[a].cell[l].fast;        // those of row sums too
    write_rows(form, tables, limits);
    form->tables->first_level = tables->first_level = !hdst__tables_write_rows(tables) && has_first_level(form, tables, limits);
    form->tables->turns = takes_turns(scalar, form, tables, limits) ? 2 : 1;
    for (size_t a = 0; a < tables->accum_count; a++) {
        ir_placement *placement = placement_of(form, &tables->accum[a]);
        placement->narrow = placement->place == IR_PLACE_STRIP && form->tables->turns == 1 && !tables->first_level && is_narrow(&tables->accum[a], limits);
    }
}

void hdst__place_tail(ir_func *tail, const ir_func *block, const hdst__tables *tables)
{
    place_nothing(tail, tables);
    tail->tables = block->tables;
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        const ir_placement *from = placement_of(block, accum);
        ir_placement *to = placement_of(tail, accum);
        to->place = from->place;
        to->runs = from->runs;
        to->starts = from->starts;
        to->writes_rows = from->writes_rows;
        to->narrow = from->narrow;
        for (size_t l = 0; l < accum->leaf_count; l++) {
            const hdst__cell *cell = &accum->cell[l];
            to->leaf[l] = from->leaf[l];
            if (from->leaf[l].way == IR_WAY_TESTED && from->place == IR_PLACE_STRIP &&
                cell->precision == HDST__CLASS_ONE_WORD && cell->kind == HDST__F32) to->leaf[l].way = IR_WAY_CALLED;
        }
    }
}

// --- GPU: registers ---

// A sum in registers meets the superaccumulator, which all lanes share, as rarely as can be: a lane's word has room
// for more bits, and merges into two words of the group's table.
static bool may_be_lane_sum(const ir_func *func, const hdst__accum *accum, size_t leaf)
{
    const hdst__cell *cell = &accum->cell[leaf];
    return cell->of_floats && cell->precision == HDST__CLASS_ONE_WORD && fits_registers(func, accum, HDST__GPU_LANE_SUM_WORDS);
}

// Words of a row whose sums of doubles take two each.
static uint64_t words_as_pairs(const hdst__accum *accum)
{
    uint64_t words = 0;
    for (size_t l = 0; l < accum->leaf_count; l++) {
        const hdst__cell *cell = &accum->cell[l];
        words += cell->elements * (cell->precision == HDST__CLASS_ONE_WORD && !cell->of_floats ? 2 : cell->private_words);
    }
    return words;
}

// So do sums of doubles, as two running sums, which are the group's two words when it merges. They must have room in
// that width: elsewhere than in registers nobody keeps running sums.
static bool may_be_pair_sum(const ir_func *func, const hdst__accum *accum, size_t leaf, bool fast_sums)
{
    const hdst__cell *cell = &accum->cell[leaf];
    const bool doubles = cell->kind == HDST__F64 && !cell->of_floats, fits = cell->precision == HDST__CLASS_ONE_WORD
        || cell->precision == HDST__CLASS_TWO_WORDS;
    return doubles && fits && !fast_sums && words_as_pairs(accum) <= HDST__GPU_PAIR_SUM_WORDS && fits_registers(func, accum, HDST__GPU_PAIR_SUM_WORDS);
}

static const hdst__tables *with_lane_sums(const ir_func *func, const ir_func *owned, const hdst__tables *narrow, const hdst__place_limits *limits)
{
    hdst__precision_class *classes = HDST__NEW_ARRAY(func->arena, hdst__precision_class, narrow->scale_count + 1);
    for (size_t a = 0; a < narrow->accum_count; a++) {
        const hdst__accum *accum = &narrow->accum[a];
        for (size_t l = 0; l < accum->leaf_count; l++) {
            const hdst__cell *cell = &accum->cell[l];
            if (cell->scale < 0) continue;
            ir_leaf_placement *leaf = &placement_of(func, accum)->leaf[l];
            if (hdst__owned_adds_to(owned, accum->param, (uint32_t)l)) leaf->way = IR_WAY_OWNED;
            else if (may_be_lane_sum(func, accum, l)) leaf->way = IR_WAY_LEVELS;
            else if (may_be_pair_sum(func, accum, l, limits->fast_sums)) leaf->way = IR_WAY_PAIR;
            classes[cell->scale] = leaf->way ? HDST__CLASS_TWO_WORDS : cell->precision;
        }
    }
    const hdst__tables *tables = hdst__ir_accum_tables(func->arena, func, classes);
    for (size_t a = 0; a < tables->accum_count; a++)
        for (size_t l = 0; l < tables->accum[a].leaf_count; l++) {
            ir_leaf_placement *leaf = &placement_of(func, &tables->accum[a])->leaf[l];
            leaf->fast = limits->fast_sums && leaf->way == IR_WAY_LEVELS;
            ((hdst__cell *)tables->accum[a].cell)[l].fast = leaf->fast;      // of this kernel's own tables
        }
    return tables;
}

// --- GPU: local memory, in words of 32 bits ---

typedef struct small_search {
    uint32_t param, leaf;
    bool all_small;
} small_search;

// FLUSH_ADDS additions of less than 2^8 fit 32 bits, so a count needs no carry.
enum { SMALL_ADDEND = 1 << 8 };

static bool find_large(ir_stmt *stmt, void *user)
{
    small_search *seek = user;
    if (stmt->kind == IR_ACCUM && stmt->param == seek->param && stmt->leaf == seek->leaf)
        seek->all_small &= stmt->value->op == IR_CONST && hdst__kind_is_integer(stmt->value->kind) && stmt->value->bits < SMALL_ADDEND;
    return seek->all_small;
}

static uint32_t slot_words(const ir_func *func, const hdst__accum *accum, uint32_t leaf)
{
    const hdst__cell *cell = &accum->cell[leaf];
    const bool narrow = hdst__scalar_size(cell->kind) <= 4;
    if (cell->private_words == 0) return 0;
    if (cell->precision != HDST__CLASS_PLAIN) return 2;
    if (cell->op == HDST__WORD_MAX) return narrow ? 1 : 0;
    if (cell->op != HDST__WORD_ADD) return narrow ? 1 : 2;
    small_search seek = {accum->param, leaf, true};
    hdst__ir_visit_stmts((ir_block *)&func->body, find_large, &seek);
    return seek.all_small ? 1 : 2;
}

uint64_t hdst__place_key_bytes(const ir_func *func, const hdst__tables *tables)
{
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        if (accum->is_table) continue;
        for (uint32_t l = 0; l < accum->leaf_count; l++)
            if (accum->cell[l].op == HDST__WORD_MAX && accum->cell[l].private_words && slot_words(func, accum, l) == 0)
                return func->shape->group * sizeof(uint64_t);
    }
    return 0;
}

static void place_slots(const ir_func *func, const hdst__accum *accum)
{
    ir_placement *placement = placement_of(func, accum);
    for (uint32_t l = 0; l < accum->leaf_count; l++) {
        placement->leaf[l].slot = placement->slots;
        placement->leaf[l].slot_words = slot_words(func, accum, l);
        placement->slots += (uint32_t)(accum->cell[l].elements * accum->cell[l].private_words) * placement->leaf[l].slot_words;
    }
}

uint64_t hdst__place_copy_bytes(const ir_func *func, const hdst__tables *tables, const uint64_t *rows)
{
    uint64_t slots = 0;
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        const ir_placement *placement = placement_of(func, accum);
        const uint64_t count = place_rows(accum, rows) + accum->is_table;        // a table without rows still takes what failed records add
        if (placement->slots == 0) continue;
        if (count > UINT32_MAX) return UINT64_MAX;
        slots += count * placement->slots;
    }
    return slots * 4;
}

// `those`: by param; NULL: all.
static void leave_local(const ir_func *func, const hdst__tables *tables, const bool *those)
{
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        ir_placement *placement = placement_of(func, accum);
        if (placement->place != IR_PLACE_LOCAL || (those && !those[accum->param])) continue;
        placement->place = accum->private_row_words ? IR_PLACE_GROUP : IR_PLACE_GLOBAL;
        placement->slots = 0;
        for (size_t l = 0; l < accum->leaf_count; l++) placement->leaf[l].slot = placement->leaf[l].slot_words = 0;
    }
}

static bool has_way(const ir_placement *placement, const hdst__accum *accum, ir_way way)
{
    for (size_t l = 0; l < accum->leaf_count; l++)
        if (placement->leaf[l].way == way) return true;
    return false;
}

static uint32_t copies_of(const ir_func *func, const hdst__tables *tables, const hdst__place_limits *limits, uint32_t most)
{
    // Half of local memory is enough for the copies: more of it would leave fewer work-groups on a processor.
    while (most > 1 && hdst__place_copy_bytes(func, tables, limits->rows) * most > limits->local_bytes / 2) most /= 2;
    return most;
}

static bool find_addition_to(ir_stmt *s, void *user) { return s->kind != IR_ACCUM || !((const bool *)user)[s->param]; }

// Wide rows of which local memory has no copies, where lanes wait for each other: a work-group that makes the loops over their elements has none to wait for.
static void leave_to_loops(const ir_func *func, const hdst__tables *tables)
{
    bool *wide = HDST__NEW_ARRAY(func->arena, bool, func->param_count + 1), *one = HDST__NEW_ARRAY(func->arena, bool, func->param_count + 1);
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        for (size_t l = 0; l < accum->leaf_count; l++)
            wide[accum->param] |= placement_of(func, accum)->place == IR_PLACE_LOCAL && accum->cell[l].elements >= HDST__GPU_COOPERATIVE_TURNS;
    }
    const ir_func *loops = hdst__pass_cooperative_loops(hdst__ir_copy_func(func->arena, func), wide);
    for (size_t i = 0; loops && i < func->param_count; i++) {
        one[i] = true;
        wide[i] = wide[i] && !hdst__ir_visit_stmts((ir_block *)&loops->body, find_addition_to, one);
        one[i] = false;
    }
    if (loops) leave_local(func, tables, wide);
}

static void place_near(ir_func *func, const ir_func *owned, const hdst__tables *tables, const hdst__place_limits *limits)
{
    const uint64_t most = limits->local_bytes;
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        ir_placement *placement = placement_of(func, accum);
        const uint64_t most_words = has_way(placement, accum, IR_WAY_PAIR) ? HDST__GPU_PAIR_SUM_WORDS : HDST__GPU_REGISTER_WORDS;
        placement->place = limits->no_blocks ? IR_PLACE_GLOBAL : fits_registers(func, accum, most_words) ? IR_PLACE_REGISTERS : IR_PLACE_LOCAL;
        if (placement->place != IR_PLACE_GLOBAL) place_slots(func, accum);
    }
    if (hdst__place_copy_bytes(func, tables, limits->rows) > most * 3 / 4) leave_local(func, tables, NULL);
    const uint32_t copies = owned ? HDST__GPU_OWNED_COPIES : HDST__GPU_TABLE_COPIES;
    if (!owned && copies_of(func, tables, limits, copies) <= HDST__GPU_FEW_COPIES) leave_to_loops(func, tables);
    func->tables->copies = copies_of(func, tables, limits, copies);
}

static ir_way way_on_gpu(const hdst__cell *cell, ir_place place)
{
    if (cell->precision == HDST__CLASS_PLAIN) return IR_WAY_WORD;
    if (cell->precision == HDST__CLASS_SUPERACCUMULATOR || place == IR_PLACE_GLOBAL) return IR_WAY_SUPERACCUMULATOR;
    return cell->precision == HDST__CLASS_ONE_WORD || !cell->of_floats ? IR_WAY_JOINT : IR_WAY_TESTED;
}

const hdst__tables *hdst__pass_accumulator_placement_gpu(ir_func *func, const ir_func *owned, const hdst__tables *tables, const hdst__place_limits *limits)
{
    place_nothing(func, tables);
    for (size_t i = 0; i < func->param_count; i++)      // broadcast_placement.c settles them once the rest has its place
        if (func->params[i].kind == IR_BROADCAST_TABLE) func->params[i].placement = HDST__NEW(func->arena, ir_placement);
    if (!limits->no_blocks) tables = with_lane_sums(func, owned, tables, limits);
    place_near(func, owned, tables, limits);
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        ir_placement *placement = placement_of(func, accum);
        for (size_t l = 0; l < accum->leaf_count; l++)
            if (placement->leaf[l].way == IR_WAY_WORD) placement->leaf[l].way = way_on_gpu(&accum->cell[l], placement->place);
    }
    return tables;
}

// --- GPU: loops of the work-group ---

// Of a table with few rows a lane has an element of each in local memory while it goes through the records: what it reads back from device memory comes late.
static void place_tile(ir_tables *form, const ir_func *func, const hdst__tables *tables, const hdst__place_limits *limits, uint64_t room)
{
    for (size_t a = 0; a < tables->accum_count && !form->has_tile; a++) {
        const hdst__accum *accum = &tables->accum[a];
        uint32_t words = 0;
        for (size_t l = 0; l < accum->leaf_count; l++)
            if (accum->cell[l].private_words > words) words = accum->cell[l].private_words;
        if (placement_of(func, accum)->place != IR_PLACE_GROUP || !accum->is_table || !words) continue;
        const uint64_t row = sizeof(int64_t) * words * func->shape->group, rows = place_rows(accum, limits->rows);
        if (rows > HDST__GPU_TILE_BYTES / row || (rows + 1) * row + HDST__LOCAL_ALIGN > room) continue;
        form->has_tile = true;
        form->tile = accum->param;
        form->tile_words = words;
    }
}

// Records whose values wait in local memory for the work-group's loops; two more are the largest and the smallest of them.
static uint64_t carried_records(const ir_func *func) { return (func->shape->span ? func->shape->span : func->shape->group) + 2; }

uint64_t hdst__place_loop_bytes(const ir_func *loops, const hdst__tables *tables, const hdst__place_limits *limits)
{
    if (!loops) return 0;
    if (loops->tables->apart) return hdst__product_bytes(loops);
    const uint64_t carried = hdst__place_carried_bytes(loops) * carried_records(loops);
    if (!loops->tables->has_tile) return carried;
    const uint64_t rows = place_rows(hdst__tables_accum(tables, loops->tables->tile), limits->rows) + 1;
    return carried + rows * loops->tables->tile_words * loops->shape->group * sizeof(int64_t) + HDST__LOCAL_ALIGN;
}

static uint32_t shared_tables(uint64_t words)
{
    const uint64_t fit = HDST__GPU_SHARED_TABLE_BYTES / (words * sizeof(int64_t));
    return fit < 1 ? 1 : fit < HDST__GPU_SHARED_TABLES ? (uint32_t)fit : HDST__GPU_SHARED_TABLES;
}

// Of a function with tiles, whose memory is counted already, more of what is left.
static uint64_t room_for_carried(const ir_func *func, const hdst__place_limits *limits)
{
    return func->shape->span ? limits->local_bytes * 3 / 4 : limits->local_bytes / 2;
}

static bool has_register(const ir_func *loops, uint32_t param, uint32_t leaf)
{
    bool any = false;
    for (size_t i = 0; i < loops->body.count; i++) {
        const ir_stmt *s = loops->body.items[i];
        while (s->body.items[0]->kind == IR_FOR) s = s->body.items[0];
        for (size_t n = 0; n < s->body.count; n++) {
            const ir_stmt *add = s->body.items[n];
            if (add->kind != IR_ACCUM || add->param != param || add->leaf != leaf) continue;
            if (add->home != IR_HOME_REGISTER) return false;
            any = true;
        }
    }
    return any;
}

// Sums of floats in registers of the loops are plain ones, if that was asked for; what leaves a register is exact from there on. `loops` NULL: there are none.
static void place_fast_sums(const ir_func *func, const ir_func *loops, const hdst__tables *tables)
{
    for (size_t a = 0; a < tables->accum_count; a++)
        for (uint32_t l = 0; l < tables->accum[a].leaf_count; l++) {
            hdst__cell *cell = (hdst__cell *)&tables->accum[a].cell[l];       // of this kernel's own tables
            ir_leaf_placement *leaf = &placement_of(func, &tables->accum[a])->leaf[l];
            if (leaf->way != IR_WAY_JOINT || cell->kind != HDST__F32 || cell->precision != HDST__CLASS_ONE_WORD) continue;
            leaf->fast = cell->fast = loops && has_register(loops, tables->accum[a].param, l);
        }
}

static void place_in_loops(ir_func *func, ir_func *loops, const hdst__tables *tables, const hdst__place_limits *limits)
{
    const uint64_t taken = hdst__place_carried_bytes(loops) * carried_records(func) + hdst__place_copy_bytes(func, tables, limits->rows) * func->tables->copies;
    place_tile(func->tables, func, tables, limits, limits->local_bytes - (taken < limits->local_bytes ? taken : limits->local_bytes));
    loops->together = true;
    hdst__place_homes(loops, tables);
    if (limits->fast_sums) place_fast_sums(func, loops, tables);
}

// NULL: none, or what they carry has no room; the function is as it was then. `own`: a table of all accumulators is small enough that there may be many.
static ir_func *loops_with_room(ir_func *func, const hdst__tables *tables, const hdst__place_limits *limits, const bool *wide, bool own, bool distributes)
{
    const ir_func *before = hdst__ir_copy_func(func->arena, func);
    if (distributes) hdst__pass_loop_distribution(func, wide);
    ir_func *loops = hdst__pass_cooperative_loops(func, wide);
    const uint64_t copies = hdst__place_copy_bytes(func, tables, limits->rows) * func->tables->copies;
    if (loops) place_in_loops(func, loops, tables, limits);
    const uint64_t room = room_for_carried(func, limits);
    if (loops && own && copies <= room && hdst__pass_product_tiles(loops, func, tables, &limits->product)) return loops;
    if (loops && hdst__place_carried_bytes(loops) * carried_records(func) + copies <= room) return loops;
    *func = *before;
    func->tables->has_tile = false;
    if (limits->fast_sums) place_fast_sums(func, NULL, tables);
    return NULL;
}

ir_func *hdst__pass_accumulator_placement_loops(ir_func *func, const hdst__tables *tables, const hdst__place_limits *limits)
{
    bool *wide = HDST__NEW_ARRAY(func->arena, bool, func->param_count);
    uint64_t words = 0;
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__accum *accum = &tables->accum[a];
        wide[accum->param] = placement_of(func, accum)->place == IR_PLACE_GROUP;
        words += place_rows(accum, limits->rows) * accum->private_row_words;
    }
    const bool own = words * sizeof(int64_t) <= HDST__GPU_OWN_TABLE_BYTES;
    ir_func *loops = loops_with_room(func, tables, limits, wide, own, true);
    if (!loops) loops = loops_with_room(func, tables, limits, wide, own, false);
    if (loops) func->shape->records = 1;
    // Of many records one sum goes to a table: few tables that stay in the cache are quicker than many that are to be merged.
    const bool few = loops && hdst__place_leaves_sums(loops);
    if (words && (few || !(loops && own)) && hdst__placed_anywhere(func, IR_PLACE_GROUP)) func->tables->shared = shared_tables(words);
    return loops;
}

// --- GPU: many rows ---

static bool may_be_fixed_point(const ir_func *func, const hdst__accum *accum)
{
    return placement_of(func, accum)->place == IR_PLACE_GROUP && hdst__accum_may_be_fixed_point(accum);
}

// An arranged input's: a lane adds up neighbours, so fewer atomic operations meet at the rows of frequent keys.
static bool runs_of_rows(const ir_func *func, const hdst__accum *accum)
{
    return accum->is_table && accum->private_row_words <= HDST__RUN_WORDS && hdst__rows_are_arranged(func, accum->param);
}

// A superaccumulator has ten times as many words as fixed point, and is read and written for each row. Few rows have
// several tables instead, for all lanes would meet there.
void hdst__pass_accumulator_placement_fixed_point(ir_func *func, const ir_func *loops, hdst__tables *tables,
    const hdst__place_limits *limits)
{
    if (!limits->fixed_point_bits || loops || func->emits) return;
    const bool in_runs = tables->accum_count && runs_of_rows(func, &tables->accum[0]);
    const bool by_tuples = !in_runs && tables->accum_count == 1 && may_be_fixed_point(func, &tables->accum[0]) &&
        hdst__place_tuples(func, &tables->accum[0], limits);
    for (size_t a = 0; a < tables->accum_count; a++) {
        hdst__accum *accum = (hdst__accum *)&tables->accum[a];
        const bool many = place_rows(accum, limits->rows) * sizeof(int64_t) > limits->local_bytes * 3 / 4;
        if (!may_be_fixed_point(func, accum) || !(many || by_tuples)) continue;
        hdst__accum_make_fixed_point(accum);
        placement_of(func, accum)->place = IR_PLACE_FIXED_POINT;
        placement_of(func, accum)->runs = runs_of_rows(func, accum);
        func->tables->neighbours |= placement_of(func, accum)->runs;
        const uint32_t words = hdst__accum_overflow_words(accum);
        if (words > 1 && words > func->tables->overflow_words) func->tables->overflow_words = words;      // 1: no float sum
    }
    if (!hdst__placed_anywhere(func, IR_PLACE_GROUP)) func->tables->shared = 0;
}
