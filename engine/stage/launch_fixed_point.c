// SPDX-License-Identifier: Apache-2.0
// Plans whose device table is in fixed point (accum/tables.h): a word for each float sum, and overflow cells for the few that need more.
#include "engine/stage/launch_fixed_point.h"
#include "base/costs_gpu.h"

#include "accum/addends.h"
#include "accum/overflow_table.h"

uint32_t hdst__plan_fixed_point_bits(const hdst__launch_plan *plan, uint64_t records)
{
    uint64_t additions;
    if (!plan->tables || plan->output_param) return 0;
    for (uint32_t i = 0; i < plan->tables->scale_count; i++)
        if (plan->too_often[i]) return 0;
    if (plan->adds == UINT64_MAX || __builtin_mul_overflow(records, plan->adds, &additions)) return 0;
    return hdst__fixed_point_bits(additions);
}

// The word is narrower by the number of the additions, and with it what fits.
static bool choose_scale(hdst__launch_plan *plan, const hdst__cell *cell)
{
    const hdst__addends *seen = &plan->addends[cell->scale];
    const int32_t bits = (int32_t)plan->fixed_point_bits, s = hdst__addends_scale(seen, cell->kind, bits);
    plan->scale[cell->scale] = s;
    return hdst__addends_precision(seen, cell->kind, s, bits) == HDST__CLASS_ONE_WORD;
}

bool hdst__plan_fixed_point_scales(hdst__launch_plan *plan)
{
    bool fit = true;
    for (size_t a = 0; a < plan->tables->accum_count; a++) {
        const hdst__accum *accum = &plan->tables->accum[a];
        for (size_t leaf = 0; accum->fixed_point && leaf < accum->leaf_count; leaf++)
            if (accum->cell[leaf].digits) fit &= choose_scale(plan, &accum->cell[leaf]);
    }
    return fit;
}

bool hdst__plan_has_one_op(const hdst__launch_plan *plan, hdst__word_op *op)
{
    bool one = plan->tables && !plan->tables->first_level && plan->kernel;
    for (size_t a = 0; one && a < plan->tables->accum_count; a++) {
        const hdst__accum *accum = &plan->tables->accum[a];
        if (a == 0) *op = accum->cell[0].op;
        for (size_t leaf = 0; one && leaf < accum->leaf_count; leaf++) {
            const hdst__cell *cell = &accum->cell[leaf];
            one = !cell->fast && cell->op == *op && (!cell->digits || accum->fixed_point);
        }
    }
    return one;
}

// --- By way of pairs ---

static uint64_t words_of(const hdst__launch_plan *plan)
{
    const hdst__accum *accum = &plan->tables->accum[0];
    uint64_t row = 0, words;
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) row += accum->cell[leaf].elements;
    return __builtin_mul_overflow(hdst__accum_rows(accum, plan->rows), row, &words) ? UINT64_MAX : words;
}

// Rows that a sample of records meets again and again get so many of all records that additions in device memory would wait for each other.
static bool has_hot_rows(const hdst__launch_plan *plan)
{
    const hdst__rows_seen *seen = plan->rows_seen;
    size_t pairs = 0;
    for (size_t i = 0; i < seen->count; i++)
        for (size_t j = 0; j < i; j++) pairs += seen->row[i] == seen->row[j];
    return pairs >= HDST__GPU_HEAVY_PAIRS;          // of a table with hundreds of thousands of rows: by chance there is hardly one
}

// Records whose tuples have room beside the table, its rows and its overflow cells, if they take half of what is left.
static uint64_t records_with_room(const hdst__launch_plan *plan, uint64_t words, uint64_t tuple_bytes)
{
    const uint64_t left = hdst__budget_left(&plan->device->budget), alloc = plan->device->info->max_alloc_bytes,
        table = left / 16 < words ? left : 2 * words * sizeof(int64_t);
    const uint64_t spare = left / HDST__GPU_OVERFLOW_SHARE < HDST__GPU_OVERFLOW_BYTES ? left / HDST__GPU_OVERFLOW_SHARE : HDST__GPU_OVERFLOW_BYTES;
    const uint64_t room = left > table + spare ? (left - table - spare) / 2 : 0;
    return (room < alloc ? room : alloc) / tuple_bytes;
}

// Additions in device memory are quick while the table stays in the second-level cache, if they do not meet at few rows.
bool hdst__plan_may_part(const hdst__launch_plan *plan, uint64_t most_records)
{
    if (!plan->tables || plan->tables->accum_count != 1) return false;
    const uint64_t segment = most_records ? most_records : plan->piece->capacity, words = words_of(plan),
                   fit = records_with_room(plan, words, HDST__GPU_TUPLE_BYTES);
    const uint64_t whole = segment < plan->reader.records ? segment : plan->reader.records, slice = whole < fit ? whole : fit;
    if (plan->device->options->tuples_always) return true;
    return slice >= HDST__GPU_LEAST_TUPLES && slice >= words / 2 && (words <= HDST__GPU_FEW_WORDS || words > HDST__GPU_CACHED_WORDS || has_hot_rows(plan));
}

void hdst__plan_tuple_slices(hdst__launch_plan *plan)
{
    if (!plan->kernel || !plan->kernel->tuple_kernel_count) return;
    uint64_t most = records_with_room(plan, plan->device_words, plan->kernel->tuple_bytes) / 64 * 64;
    if (most > HDST__GPU_MOST_TUPLES) most = HDST__GPU_MOST_TUPLES;
    if (most < 64) most = 64;
    if (plan->slice_most > most) plan->slice_most = most;
    plan->slice_least = plan->slice_most;
}

static bool goes_by_tuples(const hdst__launch_plan *plan) { return plan->kernel && plan->kernel->tuple_kernel_count; }

hdst_status hdst__plan_fit_tuples(hdst__launch_plan *plan, hdst_error *error)
{
    if (!goes_by_tuples(plan)) return HDST_OK;
    hdst__device *device = plan->device;
    const uint64_t most = plan->reader.records < plan->slice_most ? plan->reader.records : plan->slice_most, bytes = most * plan->kernel->tuple_bytes + 64;
    if (plan->tuples && plan->tuples->bytes >= bytes) return HDST_OK;
    device->ops->release(device, plan->tuples);
    plan->tuples = NULL;
    return device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, bytes, "tuples of a row and an addend", &plan->tuples, error);
}

static hdst_status take_tuples(hdst__launch_plan *plan, hdst_error *error)
{
    hdst__device *device = plan->device;
    const uint64_t groups = plan->items / plan->kernel->local_size;
    const hdst_status status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS,
                                                  hdst__kernel_part_words(plan->kernel, groups) * sizeof(uint32_t), "the parts of a table",
                                                  &plan->partitions, error);
    return status == HDST_OK ? hdst__plan_fit_tuples(plan, error) : status;
}

// --- Memory ---

static uint64_t choose_cells(const hdst__launch_plan *plan)
{
    const uint64_t asked = plan->device->options->overflow_cells, bytes = (plan->kernel->overflow_cell_words + 1) * sizeof(int64_t),
        left = hdst__budget_left(&plan->device->budget) / HDST__GPU_OVERFLOW_SHARE;
    const uint64_t most = (left < HDST__GPU_OVERFLOW_BYTES ? left : HDST__GPU_OVERFLOW_BYTES) / bytes,
                   wanted = asked ? asked : hdst__plan_writes_rows(plan) ? hdst__plan_rows_cells(plan) : plan->device_words * HDST__GPU_OVERFLOW_CELLS_PER_WORD;
    uint64_t cells = asked ? 1 : HDST__GPU_LEAST_OVERFLOW_CELLS;
    while (cells * 2 <= most && cells < wanted) cells *= 2;
    return cells;
}

hdst_status hdst__plan_fixed_point_take(hdst__launch_plan *plan, hdst_error *error)
{
    if (goes_by_tuples(plan)) {
        hdst_status status = take_tuples(plan, error);
        if (status != HDST_OK) return status;
    }
    if (!plan->kernel || !plan->kernel->overflow_cell_words) return HDST_OK;
    plan->overflow_cells = choose_cells(plan);
    const uint64_t words = hdst__overflow_words(plan->overflow_cells, plan->kernel->overflow_cell_words);
    return plan->device->ops->alloc(plan->device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, words * sizeof(int64_t),
                                    "overflow cells of accumulators", &plan->overflow, error);
}

// A run that used no cell leaves them all empty.
hdst_status hdst__plan_fixed_point_clear(hdst__launch_plan *plan, hdst_error *error)
{
    if (!plan->overflow || plan->overflow_is_clean) return HDST_OK;
    hdst__device *device = plan->device;
    plan->overflow_head[HDST__OVERFLOW_LAST_PLACE] = plan->overflow_cells - 1;
    plan->overflow_head[HDST__OVERFLOW_STATE] = 0;
    if (plan->overflow_is_empty) return device->ops->write(device, plan->overflow, 0, plan->overflow_head, sizeof plan->overflow_head, false, error);
    hdst_status status = device->ops->fill(device, plan->overflow, hdst__overflow_words(plan->overflow_cells, plan->kernel->overflow_cell_words), 0, error);
    if (status != HDST_OK) return status;
    return device->ops->write(device, plan->overflow, 0, plan->overflow_head, sizeof plan->overflow_head, false, error);
}

hdst_status hdst__plan_fixed_point_check(hdst__launch_plan *plan, bool is_here, hdst_error *error)
{
    uint64_t *state = &plan->overflow_state;
    if (!plan->overflow) return HDST_OK;
    const hdst_status status = is_here ? HDST_OK
        : plan->device->ops->read(plan->device, plan->overflow, HDST__OVERFLOW_STATE * sizeof *state, state, sizeof *state, true, error);
    plan->overflow_is_full = status == HDST_OK && hdst__overflow_is_full(*state);
    plan->overflow_is_clean = status == HDST_OK && *state == 0;
    plan->overflow_is_empty = status == HDST_OK && !plan->overflow_is_full && hdst__plan_writes_rows(plan);
    return status;
}

// --- What comes to the host ---

static const char what[] = "overflow cells of accumulators";

void hdst__plan_fixed_point_forget(hdst__launch_plan *plan)
{
    hdst__free(hdst__budget_owned(&plan->device->runtime->memory, HDST__OWNER_ACCUMULATORS), plan->used_overflow);
    plan->used_overflow = NULL;
}

static hdst_status read_words(hdst__launch_plan *plan, uint64_t words, int64_t **to, hdst_error *error)
{
    *to = hdst__budget_alloc(&plan->device->runtime->memory, HDST__OWNER_ACCUMULATORS, words * sizeof **to, what, error);
    return *to ? plan->device->ops->read(plan->device, plan->overflow, 0, *to, words * sizeof **to, true, error) : HDST_E_MEMORY;
}

// Mostly nobody has a cell, and they need not come.
hdst_status hdst__plan_fixed_point_read(hdst__launch_plan *plan, hdst_error *error)
{
    hdst__plan_fixed_point_forget(plan);
    if (!plan->overflow || !plan->words_come_back || plan->overflow_is_full || plan->overflow_is_clean) return HDST_OK;
    return read_words(plan, hdst__overflow_words(plan->overflow_cells, plan->kernel->overflow_cell_words), &plan->used_overflow, error);
}

// --- Rows that kernels write ---

bool hdst__plan_writes_rows(const hdst__launch_plan *plan) { return plan->kernel && plan->tables && hdst__tables_write_rows(plan->tables); }

static bool choose_words(const hdst__launch_plan *plan, int32_t *scale, uint32_t *words)
{
    const hdst__accum *accum = &plan->tables->accum[0];
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) {
        const hdst__cell *cell = &accum->cell[leaf];
        if (cell->scale < 0) continue;
        const hdst__kind kind = cell->of_floats ? HDST__F32 : cell->kind;
        words[cell->scale] = hdst__row_words(&plan->addends[cell->scale], kind, &scale[cell->scale]);
        if (plan->too_often[cell->scale] || !words[cell->scale]) return false;
    }
    return true;
}

bool hdst__plan_rows_scales(hdst__launch_plan *plan)
{
    if (!plan->tables || plan->tables->accum_count != 1) return false;
    const uint32_t count = plan->tables->scale_count;
    int32_t *scale = HDST__NEW_ARRAY(&plan->arena, int32_t, count + 1);
    uint32_t *words = HDST__NEW_ARRAY(&plan->arena, uint32_t, count + 1);
    if (!choose_words(plan, scale, words)) return false;
    for (uint32_t i = 0; i < count; i++) {
        plan->scale[i] = scale[i];
        plan->precision[i] = words[i] == 1 ? HDST__CLASS_ONE_WORD : HDST__CLASS_TWO_WORDS;
    }
    return true;
}

enum { CELLS_PER_PIECE = 2, LEAST_CELLS = 4096, ROWS_PER_CELL = 256 };

// Each strip or tile shares its first row and its last one with others; so does each slice of a CPU device, whose last records make no whole block.
uint64_t hdst__plan_rows_cells(const hdst__launch_plan *plan)
{
    const hdst__accum *accum = &plan->tables->accum[0];
    const uint64_t rows = plan->rows[accum->param], slices = plan->reader.records / (plan->slice_most ? plan->slice_most : 1) + 1;
    const uint64_t tile = plan->kernel->rows_tile, pieces = tile ? plan->reader.records / tile + slices : slices * plan->items;
    uint64_t elements = 0;
    for (size_t leaf = 0; leaf < accum->leaf_count; leaf++) elements += accum->cell[leaf].elements;
    return (pieces * CELLS_PER_PIECE + rows / ROWS_PER_CELL + LEAST_CELLS) * elements;
}

hdst_status hdst__plan_rows_clear(hdst__launch_plan *plan, hdst_error *error)
{
    if (!hdst__plan_writes_rows(plan) || !plan->finished) return HDST_OK;
    const uint32_t param = plan->tables->accum[0].param;
    const uint64_t bytes = plan->rows[param] * plan->func->params[param].record->size;
    hdst__memory *rows = plan->finished[0];
    return rows && bytes ? plan->device->ops->fill(plan->device, rows, (bytes + 7) / 8, 0, error) : HDST_OK;
}
