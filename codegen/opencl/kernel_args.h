// SPDX-License-Identifier: Apache-2.0
// The arguments of a printed kernel: what the engine binds, in order.
#ifndef HDST_CODEGEN_OPENCL_KERNEL_ARGS_H
#define HDST_CODEGEN_OPENCL_KERNEL_ARGS_H

#include "codegen/ir/ir.h"

// One argument of a kernel, in order. The engine walks this list; nothing about the order is fixed.
typedef enum hdst__arg_kind {
    HDST__ARG_FIRST,            // ulong: index of the slice's first record in the whole input
    HDST__ARG_SKIP,             // ulong: records before the slice in its segment
    HDST__ARG_COUNT,            // ulong: records of the slice
    HDST__ARG_INPUT,            // buffer: number `index` of the input's buffers
    HDST__ARG_INPUT_OFFSET,     // ulong: bytes to element 0, record 0 of leaf `index` in its buffer (SoA, AoP)
    HDST__ARG_INPUT_STRIDE,     // ulong: bytes between elements of leaf `index` (SoA, AoP)
    HDST__ARG_BROADCAST,        // buffer: rows of parameter `index` as C structs
    HDST__ARG_ROWS,             // ulong: rows of parameter `index` (broadcast or accum)
    HDST__ARG_DEVICE_TABLE,     // buffer of long: all accumulators one after another
    HDST__ARG_PRIVATE_TABLES,     // buffer of long: work-items (CPU) times strip words; GPU: `group_tables` times, zero before the first launch
    HDST__ARG_FACTORS,          // buffer: hdst__kernel.factor_bytes for each record of the slice
    HDST__ARG_SCALES,           // buffer of int: one scale s per float-sum leaf
    HDST__ARG_OVERFLOW,           // buffer of long: the overflow table (accum/overflow_table.h)
    HDST__ARG_PARTITIONS,            // buffer of uint, hdst__kernel_part_words of them
    HDST__ARG_TUPLES,            // buffer: `tuple_bytes` for each record of the slice
    HDST__ARG_FLUSH,            // ulong: records after which a strip must flush
    HDST__ARG_BATCH,            // ulong. 1: the launch is all of a run, by one work-item, of batch_records and FLUSH records at most; first-level words
                                // were not cleared (accum/first_level.h). Else 0
    HDST__ARG_OUTPUT,           // buffer: records as C structs, where ir_output_way says
    HDST__ARG_ROOM,             // ulong: records that fit the output
    HDST__ARG_PLACES,           // buffer of ulong, hdst__kernel_places of them
    HDST__ARG_COMBINED,         // buffer of ulong: tables in which records become fewer (combined_tables.h)
    HDST__ARG_COMBINED_TABLES,  // ulong: how many; 0: none, the buffer is not looked at. GPU: the turn of the slice, from 1
    HDST__ARG_COMBINED_BITS,    // ulong: logarithm of the rows of one at most
    HDST__ARG_ERROR,            // buffer of one ulong: all ones, or record << 16 | check of the failing record with the smallest index
    HDST__ARG_TEXTS,            // buffer: a copy of the stretch of the host's memory that the slice's long texts lie in
    HDST__ARG_TEXT_BYTES,       // ulong: its bytes
    HDST__ARG_TEXT_HOST,        // ulong: its address on the host
    HDST__ARG_TEXT_CONSTANTS,   // buffer: hdst__kernel.text_constants, and behind them those of values
    HDST__ARG_TEXT_CONSTANTS_HOST,      // ulong: their address on the host
    HDST__ARG_CLEARS,           // ulong: 0: the device table stays as it is (of finish_name only, where finish_clears)
    HDST__ARG_FIRST_ROW,        // ulong: row of the table that the first row made is (of finish_name only, of one accumulator that is a table)
    HDST__ARG_FINISHED,         // buffer: rows of accumulator number `index` of the tables as C structs (of finish_name, and of kernels that write them)
    HDST__ARG_LOCAL,            // local memory: constant + sum over params of rows * per_row[param] bytes
} hdst__arg_kind;

// What is behind the ways of output (ir_output_way, codegen/ir/ir.h), with the same arguments for all kernels:
// BOUNDED  PLACES: the first place and the number of records of each strip.
// COUNTED  kernels count_name, then scan_name (of one work-group; NULL: none), then name. PLACES[0]: the number of
//          records; where that is above ROOM the last kernel does nothing. CPU: PLACES[1] is where the output begins,
//          then where it ends; all ones where it did not fit, and then nothing fits that follows it. OUTPUT has
//          hdst__kernel_spare_records behind ROOM, of which nobody reads anything.
//          GPU, combine_name: in place of all three. What has no place in COMBINED, one table of 2^COMBINED_BITS rows, zero at first, goes to OUTPUT in any
//          order; PLACES[0], 0 before, is how much that is. If it is more than ROOM the slice is not through: once OUTPUT is taken and PLACES[0] is 0 again
//          another turn goes on. PLACES[1], 0 before the first turn: how many records were made. gather_name, with arguments of its own:
//          rows SKIP to SKIP + COUNT of COMBINED become records of OUTPUT, PLACES[0] of them.

typedef struct hdst__arg {
    hdst__arg_kind kind;
    uint32_t index;
    uint64_t local_constant;
    const uint64_t *local_per_row;
} hdst__arg;

enum { HDST__GATHER_ARGS = 5 };
extern const hdst__arg hdst__gather_args[HDST__GATHER_ARGS];    // of gather_name (print_combine_gpu.c)

#endif
