// SPDX-License-Identifier: Apache-2.0
// A function in IR as an OpenCL kernel: what shapes it, what it needs, and where its output goes.
#ifndef HDST_CODEGEN_OPENCL_KERNEL_H
#define HDST_CODEGEN_OPENCL_KERNEL_H

#include "codegen/ir/fold_tree.h"
#include "codegen/ir/ir.h"
#include "codegen/opencl/kernel_args.h"
#include "record/layout.h"
#include "record/target.h"
#include "accum/combining.h"
#include "accum/tables.h"

// How a GPU form is cut. What is 0 is chosen by rule (codegen/pass/gpu_shape.c); whoever measures may ask for something else.
typedef ir_shape hdst__gpu_shape;

typedef struct hdst__kernel_options {
    hdst__target_facts facts;
    const hdst__storage *input;         // layout, block (offsets only matter for AoS and AoSoA, whose capacity does not enter them)
    const uint64_t *rows;               // by param: rows of broadcasts and accums, as planning advice (where tables go); not baked in
    const hdst__precision_class *classes;        // see hdst__tables_make
    hdst__gpu_shape shape;              // GPU
    bool first_level;                   // CPU: large tables may have first-level words (accum/tables.h)
    bool writes_rows;                   // the rows of the only table may be written as soon as they are complete (hdst__accum.writes_rows)
    uint32_t fixed_point_bits;          // GPU: tables with many rows may be in fixed point (accum/tables.h), and an addend there has so many bits
                                        // at most; 0: they may not
    bool may_take_tuples;                      // GPU: with many records for a table in fixed point, which have room as tuples (hdst__kernel.tuple_kernel_name)
    bool slices_anywhere;           // with it: slices come in any order, or not all of them; the table is clear, and each adds to it
    bool fast_sums;                     // float sums may be plain: rounded at each addition, in any order. Which became so, the cells of the
                                        // kernel's tables say
    const hdst__combining *combining;   // NULL, or records may be made fewer in tables of the cores, of the device (hdst__kernel.combines, .combine_name)
    bool texts_apart;                   // texts refer to memory that the device cannot reach: it has copies (HDST__ARG_TEXTS)
    bool counts_output;                 // CPU: never `at_most`
    bool passes_on;                     // output goes to who takes it in runs
    bool no_blocks;                     // strips and work-groups have no tables, each addend goes straight to the device's: for measurement, or as
                                        // strips' tables have no room
} hdst__kernel_options;

enum { HDST__TUPLE_KERNELS = 12 };

typedef struct hdst__kernel {
    const char *name;                   // of the __kernel function
    const char *source;                 // OpenCL C 1.2
    const char *build_options;
    const hdst__arg *args;
    size_t arg_count;
    const ir_func *func;                // in the form that was printed
    const hdst__tables *tables;
    uint32_t local_size;                // work-items of a group: 1 on CPUs
    hdst__gpu_shape shape;              // GPU: as it became
    bool one_group_per_strip;           // CPU: global size = number of strips, chosen by the engine
    bool splits_few;                    // CPU: records take so long that a strip is worth few of them (HDST__CPU_FEW_RECORDS)
    uint32_t batch_records;             // CPU: a run of at most so many records may be a batch (HDST__ARG_BATCH); 0: none may
    bool strips_twice;                  // CPU: a strip has two tables, which records take in turn: hdst__tables_turns_words
    bool merges;                        // GPU: merge_name runs behind each launch, over as many work-items, with the same arguments. A launch
                                        // takes at most FLUSH records then, if that is not 0
    // GPU, with `merges`: runs behind `name` and in front of merge_name, with the same arguments. These two have work-items of their own, a multiple of
    // product_items work-groups at best; STRIP_TABLES has a table for each product_items of these. NULL: none
    const char *products_name;
    uint32_t product_items, factor_bytes;
    const char *merge_name;
    const char *finish_name;            // GPU: turns the device table into C structs, in work-groups of local_size, as many as one likes; NULL: no accumulators
    const hdst__arg *finish_args;       // its own arguments. What a row has between its fields is left as it is
    size_t finish_arg_count;
    bool finish_clears;                 // and leaves the device table clear, where it is asked to
    const char *overflow_name;          // with overflow cells: runs behind finish_name, if there is one, with finish_args, as many work-items as one likes, and
                                        // empties the cells; NULL: none
    uint32_t overflow_cell_words;       // of an overflow cell
    uint32_t rows_tile;                 // GPU, where rows are written as they are complete: records of a work-group's tile
    // GPU, tables with many rows: these kernels, in this order and with the same arguments and work-items, take the
    // slice's records but the last COUNT % tuple_tile; those are left to `name`, as a slice of their own. The words of
    // the table are written, and not added to, if FIRST is 0: nobody needs to clear it.
    const char *tuple_kernel_name[HDST__TUPLE_KERNELS];
    uint32_t tuple_kernel_count;                // 0: `name` takes all records
    uint32_t tuple_tile, tuple_bytes, partitions_high, partitions_low;
    uint32_t group_tables;              // with `merges`: tables of STRIP_TABLES; 0: one for each work-group
    bool tables_in_local;               // GPU: privatised accumulators in local memory (else adds go straight to the device table)
    ir_output_way output_way;
    uint64_t emit_bound;                // BOUNDED: records that one record may emit
    bool at_most;                       // COUNTED, CPU: strips say where they wrote and how many records (hdst__kernel_runs_at)
    bool combines;                      // records with equal keys become one, or a row of words, in the tables of COMBINED
    const char *combine_name, *gather_name;     // COUNTED, GPU: NULL, or in place of count_name and so on, and what makes records of the table's rows
    bool token_pieces;                  // COUNTED, GPU: lanes take pieces of texts, and what combines goes on from what each work-item kept in PLACES
    uint64_t combined_row_bytes;        // with either: of a row there
    uint64_t spare_records;             // COUNTED, CPU: records that a work-item may write behind ROOM
    const char *count_name, *scan_name; // COUNTED
    const char *text_constants;         // texts apart: the function's own texts, one behind another. NULL: it works on no texts
    uint64_t text_constant_bytes;
    uint64_t private_bytes;             // estimate of private memory of a work-item
    uint32_t fast_sums;                 // cells that are summed plainly (hdst__cell.fast); 0: every sum is exact
    const char *why;                    // form, table place, precision classes with reasons, one per line, for `hdst kernel show` and explain
} hdst__kernel;

// Prints `func` (scalar passes done; it is copied) for a target. Returns NULL with diags set when the target cannot run it (private memory, no double).
const hdst__kernel *hdst__kernel_make(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);

// Words of PLACES for a launch with so many work-items over so many records. A launch that combines has fewer, by the device's compute units.
uint64_t hdst__kernel_places(const hdst__kernel *kernel, uint32_t compute_units, uint64_t items, uint64_t records);
// Of a kernel whose strips leave gaps: the first word that says where they wrote. From there on two words of each strip: its first record, how many.
uint64_t hdst__kernel_runs_at(const hdst__kernel *kernel, uint64_t items);
// CPU: into how many strips a slice of so many records is cut, of `items` that there may be on so many cores.
uint64_t hdst__kernel_strips(const hdst__kernel *kernel, uint64_t items, uint64_t cores, uint64_t records);
// GPU: how many of `items` work-items find some of so many records: groups that find none take the time of their start, and of adding zeros.
uint64_t hdst__kernel_items(const hdst__kernel *kernel, uint64_t items, uint64_t records);
// Work-groups of finish_name, one at least, that have something to do for tables of so many rows (by param).
uint64_t hdst__kernel_finish_groups(const hdst__kernel *kernel, const uint64_t *rows);
// Records that OUTPUT must have behind ROOM.
uint64_t hdst__kernel_spare(const hdst__kernel *kernel, uint64_t items);

// Words of PARTS with so many work-groups.
uint64_t hdst__kernel_part_words(const hdst__kernel *kernel, uint64_t groups);

// A reduce that is declared associative: folds each run of 64 records in order into one output record; run again on the outputs until one is left.
// Arguments: FIRST, SKIP, COUNT, INPUT (leaves as usual), OUTPUT, ERROR if it has checks. `func` has two inputs and an output. Global size: at
// least count / 64, rounded up.
const hdst__kernel *hdst__kernel_make_fold(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);

#endif
