// SPDX-License-Identifier: Apache-2.0
// GPU form: products of records' rows with rows of broadcasts, a tile of records by rows at a time (row_tiles.c). Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_ROW_TILES_H
#define HDST_CODEGEN_PASS_ROW_TILES_H

#include "codegen/ir/ir.h"

// What the tiles are cut for. A tile's loop goes over lanes of dot or sum (HDST__LANES), which are the work-items of `group` side by side.
typedef struct hdst__row_tiles {
    uint32_t group;             // work-items of a work-group; 0: by rule
    uint32_t most_group;        // that the device takes; 0: any number
    uint64_t local_bytes;       // of local memory that tiles may have
    uint32_t records, span;     // of a lane, of a work-group, where a loop has more than a few turns
    bool tables;                // records add to tables in device memory, so that a work-group is to have many of them
    bool small;                 // few sums in registers: of a driver whose compiler takes long for many
    const uint64_t *rows;       // by param: rows of broadcasts, as advice; NULL: not known
} hdst__row_tiles;

// Takes dots and sums out of the loops of `func` (scalar passes done) that need nothing but the record, broadcasts and the loop's counter.
// False: there are none, and func is as it was. Else func->shape is set.
bool hdst__pass_row_tiles(ir_func *func, const hdst__row_tiles *limits);

// Local memory of a work-group that the tiles of `func` take, in bytes; 0: it has none.
uint64_t hdst__row_tile_bytes(const ir_func *func);
// Elements from one record's array in local memory to the next one's: odd, so that the lanes of a warp meet different banks.
uint64_t hdst__row_tile_stride(const ir_var *var);
// Of sums written as loops, from one step's values in local memory to the next one's: so that lanes that put them there meet different banks.
uint64_t hdst__row_tile_step_stride(uint64_t values);
// Records that the lanes of a work-group have at once in a tile.
uint32_t hdst__row_tile_records(const ir_func *func, const ir_tile *tile);
bool hdst__has_tile(ir_stmt *stmt);         // it is one, or is a loop around one

#endif
