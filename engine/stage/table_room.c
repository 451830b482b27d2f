// SPDX-License-Identifier: Apache-2.0
// Whether the memory budget has room for a stage's tables of accumulators (engine/stage/table_room.h).
#include "engine/stage/table_room.h"

#include "base/costs_host.h"
#include "codegen/ir/accum_tables.h"

typedef struct table_words {
    uint64_t cells, strip;          // of 8 bytes: exact cells, a strip's
    uint64_t row_bytes;             // of all rows as C structs
} table_words;

static table_words count_words(hdst__arena *arena, const ir_func *func, const uint64_t *rows)
{
    table_words words = {.row_bytes = 0};
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].kind == IR_ACCUM_TABLE) words.row_bytes += rows[i] * func->params[i].record->size;
    const hdst__tables *tables = hdst__ir_accum_tables(arena, func, NULL);
    words.cells = hdst__tables_device_words(tables, rows);
    words.strip = hdst__tables_private_words(tables, rows);
    return words;
}

static table_words count_equal_rows(hdst__arena *arena, const ir_func *func, uint64_t rows)
{
    uint64_t *counts = HDST__NEW_ARRAY(arena, uint64_t, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) counts[i] = rows;
    return count_words(arena, func, counts);
}

static uint64_t device_memory(hdst__engine *engine, const hdst__device_info *device)
{
    const uint64_t wanted = hdst__engine_settings(engine)->device_memory;
    return wanted ? wanted : hdst__device_usual_memory(device);
}

static bool has_own_memory(hdst__engine *engine, const hdst__device_info *device)
{
    return device->class_ == HDST__DEVICE_GPU || hdst__engine_settings(engine)->gpu_form_on_cpu;
}

// A table there, and a copy of its words and the rows here. In fixed point each sum has a word, and what comes back as much again; whether addends fit such
// words is not known yet.
static bool fits_apart(hdst__engine *engine, const hdst__device_info *device, const table_words *words)
{
    const double table = 2.0 * (double)words->strip * sizeof(int64_t), rows = (double)words->row_bytes;
    return table <= (double)device->max_alloc_bytes && table + rows <= HDST__HOST_TABLE_SHARE * (double)device_memory(engine, device) &&
        hdst__engine_workers(engine) * table + rows <= HDST__HOST_TABLE_SHARE * (double)hdst__budget_left(hdst__engine_memory(engine));
}

bool hdst__stage_table_fits(hdst__engine *engine, hdst__arena *arena, const ir_func *func, uint64_t rows)
{
    const hdst__device_info *device;
    hdst_error ignored;
    if (hdst__engine_device(engine, &device, &ignored) != HDST_OK) return true;
    if (has_own_memory(engine, device)) {
        const table_words words = count_equal_rows(arena, func, rows);
        return fits_apart(engine, device, &words);
    }
    const bool strips = device->class_ == HDST__DEVICE_CPU;
    const table_words words = count_equal_rows(arena, func, rows);
    const uint64_t table = (words.cells + (strips ? 2 * words.strip : 0)) * sizeof(int64_t);
    const uint64_t one = strips ? 2 * table + device->compute_units * words.strip * sizeof(int64_t) : table,
        all = hdst__engine_workers(engine) * one + words.row_bytes;
    if (strips && (double)one > HDST__HOST_TABLE_SHARE * (double)device_memory(engine, device)) return false;
    return table <= device->max_alloc_bytes && (double)all <= HDST__HOST_TABLE_SHARE * (double)hdst__budget_left(hdst__engine_memory(engine));
}

enum { SMALL_SHARE = 16 };              // of the room: tables that take less are not what had none

uint32_t hdst__stage_table_passes(hdst__engine *engine, hdst__arena *arena, const ir_func *func, const uint64_t *rows)
{
    const hdst__device_info *device;
    hdst_error ignored;
    if (hdst__engine_device(engine, &device, &ignored) != HDST_OK) return 1;
    const table_words words = count_words(arena, func, rows);
    const bool apart = has_own_memory(engine, device);
    const double table = (double)(apart ? words.strip : words.cells) * sizeof(int64_t), pass = 2 * table + (apart ? (double)words.row_bytes : 0),
                 host = HDST__HOST_TABLE_SHARE * (double)hdst__budget_left(hdst__engine_memory(engine)) / hdst__engine_workers(engine);
    double room = HDST__HOST_TABLE_SHARE * (double)device_memory(engine, device);
    if (room > (double)device->max_alloc_bytes) room = (double)device->max_alloc_bytes;
    if (room > host) room = host;
    if (pass * SMALL_SHARE < room) return 1;
    return pass < room ? 2 : pass / room > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)(pass / room) + 1;
}
