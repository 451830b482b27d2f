// SPDX-License-Identifier: Apache-2.0
// From a checked module to something that runs: stages, passes in order, kernels.
#ifndef HDST_CODEGEN_OPENCL_KERNEL_H
#define HDST_CODEGEN_OPENCL_KERNEL_H

#include "codegen/front/ast.h"
#include "codegen/ir/ir.h"
#include "record/layout.h"
#include "accum/tables.h"
#include "record/target.h"

// --- Front end (parse.c, check_*.c, module.c) ---

// How `import "x.yaml"` and `import "x.hk"` are read. Returns false when there is no such file. The text is copied.
typedef bool (*hdst__import_reader)(const char *name, const char *importing_file, char **text, size_t *length, const hdst__allocator *allocator, void *user);

typedef struct hdst__front_options {
    const hdst__param_value *params;
    size_t param_count;
    hdst__import_reader read_import;    // NULL: from the file system, relative to the importing file
    void *import_user;
    hdst__record *const *records;       // known without an import: schemas made in C or given on the command line
    size_t record_count;
    bool assume_params;                 // `hdst kernel check` without --param: an unset param counts as 4, with a note
} hdst__front_options;

// Lexes, parses and checks. Never NULL; errors are in diags (made in the same arena by the caller). Sources are registered there.
ast_module *hdst__module_compile(hdst__diags *diags, const char *name, const char *text, size_t length, const hdst__front_options *options);
ast_function *hdst__module_function(const ast_module *module, const char *name);    // NULL when absent
hdst__record *hdst__module_record(const ast_module *module, const char *name);

// --- Middle (lower.c, fuse.c, pass_*.c) ---

// One function in IR, as written; helpers are put in place. NULL for what cannot run (yet), or with an error in the
// module's diags when it is too large. A recognised field-wise reduce becomes a body that accumulates into a one-row
// accum parameter called "result"; another reduce has two inputs a, b and an output.
ir_func *hdst__lower(hdst__arena *arena, const ast_module *module, const ast_function *function);

// Where a leaf of a group's key lies in the records of its stream: at element `element` of leaf `leaf`, and on.
typedef struct hdst__key_leaf {
    uint32_t leaf;
    uint64_t element;
} hdst__key_leaf;

// A group in IR is a map over the runs of records with equal keys: its input is {first, count}, both uint64_t; a
// table with the stream's name (the first broadcast) holds the records of all runs, one after another; what comes
// after are its own broadcasts and the output. `key` has a place for each leaf of the key, in their order; NULL: the
// field that has the name of the key parameter. NULL (with nothing in the diags) when there is none; of other
// functions as hdst__lower, which asks for groups so.
ir_func *hdst__lower_group(hdst__arena *arena, const ast_module *module, const ast_function *function, const hdst__key_leaf *key);
const hdst__record *hdst__group_run_record(hdst__arena *arena);     // {first, count}
ir_expr *hdst__group_run_leaf(ir_func *func, uint32_t leaf);        // of such a record, the function's first parameter: a uint64_t
// A reduce by key over such runs, from left to right: `reduce` as lowered, two inputs and an output; leaf i of its
// record is leaf value[i] of `keyed`, whose other leaves are the key. Its parameters: {first, count}, the table
// "records" of `keyed`, the output of `keyed`, one for each run.
ir_func *hdst__operator_group_reduce(hdst__arena *arena, const ir_func *reduce, const hdst__record *keyed, const uint32_t *value);

// The parameters of a map alone, as `hdst__lower` orders them, for code that is given apart.
ir_func *hdst__lower_signature(hdst__arena *arena, const ast_module *module, const ast_function *function);

// Fuses a chain (filter, map, flat_map ... last) over one input into one function: the output of each is the input of the next. One function alone is copied;
// filters alone give their input records. What follows a flat_map stands once for each emit: NULL when that makes more than HDST__FUSE_LIMIT statements.
ir_func *hdst__fuse(hdst__arena *arena, ir_func *const *functions, size_t count);
enum {
    HDST__FUSE_LIMIT = 10000,
    HDST__EMIT_BOUND = 4,       // CPU: room can be left for so many output records of each record; a function that may emit more has its records counted first
};

// Passes, each in pass_<name>.c with its purpose, a before and an after. The order is hdst__passes_scalar, then for CPU devices hdst__passes_cpu.
void hdst__pass_exits(ir_func *func);               // early returns become structure
void hdst__pass_fold(ir_func *func);                // constants, algebra that is exact, dead branches; folds with the interpreter's own arithmetic
void hdst__pass_fma(ir_func *func);                 // x*y + z within one expression, leftmost product first
void hdst__pass_checks(ir_func *func);              // drops checks that cannot fail
void hdst__pass_loop_checks(ir_func *func);         // checks that are the same in every turn, before the loop
void hdst__pass_unchecked(ir_func *func);           // drops them all, on request; of a function as lowered
uint32_t hdst__pass_skip(ir_func *func);            // records that fail take no part; returns the new accumulator that counts them
void hdst__pass_skip_fold(ir_func *func, const hdst__record *counted, bool next_is_counted);   // a reduce: see hdst__passes_skip_fold
void hdst__pass_contract(ir_func *func);            // local arrays that are filled, then read, become expressions
void hdst__pass_overwritten(ir_func *func);         // what local arrays are filled with before a loop fills all of them goes
void hdst__pass_unroll(ir_func *func);              // short constant loops disappear
void hdst__pass_unroll_arrays(ir_func *func);       // so do longer ones that alone keep arrays from becoming variables
void hdst__pass_arrays(ir_func *func);              // local arrays that only constants index become variables
void hdst__pass_forward(ir_func *func);             // constants take the place of variables that were set to them
void hdst__pass_nans(ir_func *func);                // stores give one NaN
void hdst__pass_unread(ir_func *func);              // dead variables and stores; marks the leaves that are read
void hdst__pass_uniform(ir_func *func);             // marks varying variables and expressions
void hdst__pass_if_convert(ir_func *func);          // branches of plain assignments become selects
void hdst__pass_dense(ir_func *func);               // an emit that every record meets once is no emit
void hdst__pass_settle(ir_func *func);              // block form: the work of a function that emits is done before its records are stored one by one
void hdst__pass_place(ir_func *func);               // only records that come out are stored
void hdst__pass_predicate(ir_func *func);           // block form: conditional additions become additions of the identity, conditional emits say their condition
void hdst__pass_block(ir_func *func, uint32_t block);   // interchange: records innermost, uniform loops outside
void hdst__pass_jam(ir_func *func);                 // uniform loops around one record loop: unroll and jam
void hdst__pass_lanes(ir_func *func);               // dot and sum: lanes side by side, for forms that handle one record at a time
ir_func *hdst__pass_spread(ir_func *func, const bool *wide);   // GPU form: loops over the elements of wide accumulators (by param), which the lanes of a work-group share; NULL: none
void hdst__pass_together(ir_func *func, uint32_t records);  // GPU form: a lane takes several records, which share what is uniform
void hdst__pass_accumulate(ir_func *func, const hdst__tables *tables);  // block form: exact sums as vector conversion, test, scatter

// Everything that is right for every target; after it the interpreter and the GPU printer can read the function. Verified after each pass in debug builds;
// returns NULL, or what the verifier said (an internal error).
const char *hdst__passes_scalar(ir_func *func);
// Of a function that went through hdst__passes_scalar: the same, but a record that fails a check takes no part and is
// counted in the one-row accumulator *skipped (uint64_t), which is the last one. Parameters keep their order; an
// output moves one further.
const char *hdst__passes_skip(ir_func *func, uint32_t *skipped);
// Of a reduce of two records that went through hdst__passes_scalar: a second record that fails a check leaves the
// first as it is. The first and the output become `counted`, on the levels of a fold above the lowest
// (next_is_counted) the second too: hdst__skip_fold_record of the reduce's record. Its last leaf is the number of
// records taken beside the one that a run begins with: 0 there, which a fold sees to.
const char *hdst__passes_skip_fold(ir_func *func, const hdst__record *counted, bool next_is_counted);
// The record with a leaf of uint64_t added, which lies behind the others: they have the same places in the C struct. NULL, with *why, when it is too large.
const hdst__record *hdst__skip_fold_record(hdst__arena *arena, const hdst__record *record, const char **why);
// Turns a function that emits (scalar passes done) into one that only counts what it would emit.
const char *hdst__passes_count(ir_func *func);
const char *hdst__passes_block(ir_func *func, const hdst__tables *tables);
const char *hdst__passes_row(ir_func *func, const hdst__tables *tables);
// The form that suits the function and the input's layout: block form, or row form for wide records (func->block is 0 then).
const char *hdst__passes_cpu(ir_func *func, const hdst__tables *tables, const hdst__storage *input);

// --- Kernels (kernel.c, print_*.c, templates/) ---

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
    HDST__ARG_STRIP_TABLES,     // buffer of long: work-items (CPU) times strip words; GPU: `group_tables` times, zero before the first launch
    HDST__ARG_SCALES,           // buffer of int: one scale s per float-sum leaf
    HDST__ARG_SPARES,           // buffer of long: spare cells of compact tables, see hdst__kernel_spare_words
    HDST__ARG_PARTS,            // buffer of uint, hdst__kernel_part_words of them
    HDST__ARG_PAIRS,            // buffer: `pair_bytes` for each record of the slice
    HDST__ARG_FLUSH,            // ulong: records after which a strip must flush
    HDST__ARG_OUTPUT,           // buffer: records as C structs, see hdst__output_way
    HDST__ARG_ROOM,             // ulong: records that fit the output
    HDST__ARG_PLACES,           // buffer of ulong, hdst__kernel_places of them
    HDST__ARG_ERROR,            // buffer of one ulong: all ones, or record << 16 | check of the failing record with the smallest index
    HDST__ARG_FINISHED,         // buffer: rows of accumulator number `index` of the tables as C structs (of finish_name only)
    HDST__ARG_LOCAL,            // local memory: constant + sum over params of rows * per_row[param] bytes
} hdst__arg_kind;

// Where output records go.
typedef enum hdst__output_way {
    HDST__OUTPUT_DENSE,         // one of each record, at the record's place in the slice; also when there is none
    HDST__OUTPUT_BOUNDED,       // CPU: a strip writes its records one after another from {strip's first record} * emit_bound. PLACES: the first place and
                                // the number of records of each strip
    HDST__OUTPUT_COUNTED,       // without a gap, in input order. Kernels count_name, then scan_name (of one work-group; NULL: none), then name, with the same
                                // arguments. PLACES[0]: the number of records; where that is above ROOM the last kernel does nothing. CPU: PLACES[1] is
                                // where the output begins, then where it ends; all ones where it did not fit, and then nothing fits that follows it.
                                // OUTPUT has hdst__kernel_spare records behind ROOM, of which nobody reads anything
} hdst__output_way;

typedef struct hdst__arg {
    hdst__arg_kind kind;
    uint32_t index;
    uint64_t local_constant;
    const uint64_t *local_per_row;
} hdst__arg;

// How a GPU form is cut. What is 0 is chosen by rule (kernel_gpu.c); whoever measures may ask for something else. No choice changes a result.
typedef struct hdst__gpu_shape {
    uint32_t group;                     // work-items of a work-group; a power of two
    uint32_t records;                   // that a lane takes at once
    uint32_t unroll;                    // turns of an innermost loop
} hdst__gpu_shape;

typedef struct hdst__kernel_options {
    hdst__target_facts facts;
    const hdst__storage *input;         // layout, block (offsets only matter for AoS and AoSoA, whose capacity does not enter them)
    const uint64_t *rows;               // by param: rows of broadcasts and accums, as planning advice (where tables go); not baked in
    const hdst__tier *tiers;            // see hdst__tables_make
    hdst__gpu_shape shape;              // GPU
    bool front;                         // CPU: large tables may have front words (accum/tables.h)
    uint32_t compact_bits;              // GPU: tables with many rows may be compact (accum/tables.h), and an addend there has so many bits at most; 0: they may not
    bool may_part;                      // GPU: with many records for a compact table, which have room as pairs (hdst__kernel.part_name)
    bool fast_sums;                     // float sums may be plain: rounded at each addition, in any order. Which became so, the cells of the kernel's tables say
    bool no_blocks;                     // for measurement: strips and work-groups have no tables, each addend goes straight to the device's
} hdst__kernel_options;

enum { HDST__PART_KERNELS = 12 };

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
    bool strips_twice;                  // CPU: a strip has two tables, which records take in turn: hdst__tables_turns_words
    bool merges;                        // GPU: merge_name runs behind each launch, over as many work-items, with the same arguments. A launch takes at most FLUSH
                                        // records then, if that is not 0
    const char *merge_name;
    const char *finish_name;            // GPU: turns the device table into C structs, in work-groups of local_size, as many as one likes; NULL: no accumulators
    const hdst__arg *finish_args;       // its own arguments. What a row has between its fields is left as it is
    size_t finish_arg_count;
    const char *spare_name;             // with spare cells: runs behind finish_name, with its arguments, as many work-items as one likes, and empties the cells; NULL: none
    uint32_t spare_words;               // of a spare cell
    // GPU, tables with many rows: these kernels, in this order and with the same arguments and work-items, take the
    // slice's records but the last COUNT % part_tile; those are left to `name`, as a slice of their own. The words of
    // the table are written, and not added to, if FIRST is 0: nobody needs to clear it.
    const char *part_name[HDST__PART_KERNELS];
    uint32_t part_count;                // 0: `name` takes all records
    uint32_t part_tile, pair_bytes, parts_high, parts_low;
    uint32_t group_tables;              // with `merges`: tables of STRIP_TABLES; 0: one for each work-group
    bool tables_in_local;               // GPU: strip tables in local memory (else adds go straight to the device table)
    hdst__output_way output_way;
    uint64_t emit_bound;                // BOUNDED: records that one record may emit
    uint64_t spare_records;             // COUNTED, CPU: records that a work-item may write behind ROOM
    const char *count_name, *scan_name; // COUNTED
    uint64_t private_bytes;             // estimate of private memory of a work-item
    uint32_t fast_sums;                 // cells that are summed plainly (hdst__cell.fast); 0: every sum is exact
    const char *why;                    // form, table place, tiers with reasons, one per line, for `hdst kernel show` and explain
} hdst__kernel;

// Prints `func` (scalar passes done; it is copied) for a target. Returns NULL with diags set when the target cannot run it (private memory, no double).
const hdst__kernel *hdst__kernel_make(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);

// Words of PLACES for a launch with so many work-items over so many records.
uint64_t hdst__kernel_places(const hdst__kernel *kernel, uint64_t items, uint64_t records);
// Records that OUTPUT must have behind ROOM.
uint64_t hdst__kernel_spare(const hdst__kernel *kernel, uint64_t items);

// Words of SPARES for `cells` spare cells, a power of two. All are zero before the first launch but [0], which is
// cells - 1. [1] is not 0 when more were needed: then what the tables hold is worth nothing, and so are the spare
// cells.
uint64_t hdst__kernel_spare_words(const hdst__kernel *kernel, uint64_t cells);

// Words of PARTS with so many work-groups.
uint64_t hdst__kernel_part_words(const hdst__kernel *kernel, uint64_t groups);

// A reduce that is declared associative: folds each run of 64 records in order into one output record; run again on the outputs until one is left.
// Arguments: FIRST, SKIP, COUNT, INPUT (leaves as usual), OUTPUT, ERROR if it has checks. `func` has two inputs and an output. Global size: at
// least count / 64, rounded up.
const hdst__kernel *hdst__kernel_make_fold(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);
enum { HDST__FOLD_RECORDS = 64 };

// OpenCL C of the user's own for a map, given as text with a __kernel called `name`. Its parameters, in this order:
//     ulong first, ulong skip, ulong count, __global const T *in,
//     for each broadcast: __global const B *rows [, ulong row_count when it is a table],
//     __global U *out
// It makes out[i] from in[skip + i], for i < count, with any number of work-items in groups of `local_size`; first +
// i is the record's index in the whole input. The
// records are declared in front of the text, as C structs. `func` is a signature. Returns NULL with diags set when there is text in a record.
const hdst__kernel *hdst__kernel_separate(hdst__arena *arena, const ir_func *func, const char *name, const char *text, uint32_t local_size,
                                          const hdst__target_facts *facts, hdst__diags *diags);
enum { HDST__SEPARATE_GROUP = 256 };        // work-items of a group when the user names no number

#endif
