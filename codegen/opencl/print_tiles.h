// SPDX-License-Identifier: Apache-2.0
// GPU form: the loops with a tile, which a work-group makes for all its records (codegen/pass/row_tiles.h). One thread to a printer.
#ifndef HDST_CODEGEN_OPENCL_PRINT_TILES_H
#define HDST_CODEGEN_OPENCL_PRINT_TILES_H

#include "codegen/opencl/printer.h"
#include "codegen/pass/row_tiles.h"

struct hdst__tiles *hdst__tiles_create(hdst__arena *arena, const ir_func *func);       // of a function that has some
void hdst__print_tile_memory(hdst__printer *p);                 // local memory of the work-group, at the top of the kernel; nothing where there are no tiles
void hdst__print_tile_of_record(hdst__printer *p, uint32_t var);        // the lane's record's part of it
void hdst__print_tile(hdst__printer *p, const ir_stmt *loop);   // all lanes come here
void hdst__print_tile_steps(hdst__printer *p, const ir_stmt *loop);     // the head of a loop around tiles
bool hdst__tiles_own(const hdst__printer *p, uint32_t var);     // only tiles name it: they declare it themselves
bool hdst__tiles_part(const hdst__printer *p, const ir_block *block);   // is printed part by part, around tiles: it declares nothing
const char *hdst__tiles_why(hdst__printer *p);                  // a line for people; "" where there are none

#endif
