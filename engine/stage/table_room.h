// SPDX-License-Identifier: Apache-2.0
// Whether the memory budget has room for a stage's tables of accumulators, before there is a plan: for who could do without them.
#ifndef HDST_ENGINE_STAGE_TABLE_ROOM_H
#define HDST_ENGINE_STAGE_TABLE_ROOM_H

#include "codegen/ir/ir.h"
#include "engine/engine.h"

// All tables of `func` with so many rows each, of each device that may share the run: the device's, the strips', what comes back; and the rows. False: they
// would take so much of what the budget has left that strips become few, or so much of a device's memory that little is left for the input, or more than a
// buffer may have. Of devices with memory of their own that is so where words in fixed point have no room; where they do and the sums do not fit them, the
// run ends for want of memory.
bool hdst__stage_table_fits(hdst__engine *engine, hdst__arena *arena, const ir_func *func, uint64_t rows);
// In how many passes over ranges of its rows a function's tables, which had no room, are made, as far as one can tell: so that a device's table of a pass
// and what comes back of it take so much of a device's memory and of what the budget has left at most. `rows`: by parameter. 1: they are so small that it is
// not their rows that have no room.
uint32_t hdst__stage_table_passes(hdst__engine *engine, hdst__arena *arena, const ir_func *func, const uint64_t *rows);

#endif
