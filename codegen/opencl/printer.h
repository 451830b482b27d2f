// SPDX-License-Identifier: Apache-2.0
// What the printers of OpenCL C share. A printer turns the statements of an ir_func into text and decides nothing about them; kernel_cpu.c and kernel_gpu.c put
// that text, the declarations and the flush of the tables into the holes of a template.
#ifndef HDST_CODEGEN_OPENCL_PRINTER_H
#define HDST_CODEGEN_OPENCL_PRINTER_H

#include "codegen/opencl/kernel.h"
#include "codegen/opencl/identifiers.h"
#include "base/writer.h"

typedef struct hdst__accum_plan {
    const hdst__accum *accum;
    const char *name;           // identifier of the parameter
} hdst__accum_plan;

typedef struct hdst__spread hdst__spread;      // print_cooperative.c

typedef struct hdst__row_sums hdst__row_sums;  // print_row_sums.c

typedef enum hdst__sink {
    HDST__SINK_TABLE,
    HDST__SINK_COUNT, HDST__SINK_PAIRS, HDST__SINK_NOTHING,     // of the kernels of print_tuples.c: a part's counter, a pair, nowhere
} hdst__sink;

typedef struct hdst__vector_read {          // print_vectors.c: values that were loaded together
    const ir_expr *of;          // the field or broadcast
    const char *name;
    uint32_t lane;              // the loop's variable that chooses among them
    bool of_records;            // else: the record does
} hdst__vector_read;
enum { HDST__VECTOR_READS = 8 };

typedef struct hdst__constant_array {   // at file scope, shared by the forms
    const char *name;
    const ir_var *var;
} hdst__constant_array;

// Where variables are declared (print_homes.c), in a function or in the body of a record loop; by variable.
typedef struct hdst__homes {
    bool *declared;
    uint32_t *references;               // uses
    uint32_t *in_own_loops;             // those in counted loops over the variable
    const ir_block **home;              // the block that declares it; NULL: the top
} hdst__homes;

typedef struct hdst__printer {
    hdst__arena *arena;
    const ir_func *func;                // the form that is printed now
    const hdst__kernel_options *options;
    const hdst__tables *tables;
    hdst__names *names;                 // of the whole text
    hdst__names *form_names;            // of the form that is printed now
    hdst__writer out;
    bool uses_local;                    // GPU: accumulators of the work-group lie in local memory
    uint32_t fast_names;                // taken by print_fast.c
    bool prefetches;                    // AoSoA: asks for what lies ahead, where memory is what counts
    bool gpu;
    bool uses_double, rounds;           // rounds: has a float division or square root
    // Variables of `func`
    const char **var_name;              // the value
    const char **array_name;            // per_record: one value per record of the block
    hdst__homes homes;
    struct hdst__home_search *home_search;      // of print_homes.c
    hdst__constant_array *constants;
    size_t constant_count, constant_capacity;
    // Where the printer stands
    bool in_block;                      // block form
    bool in_row;                        // inside a loop over the elements of a row: they are read where they lie
    bool in_records;                    // inside IR_RECORDS: `r` is the record of the block
    uint32_t last_source, last_line;    // the position that the last comment named
    const char *record;                 // the slice index of the current record: "i" or "i + r"
    bool has_checks;
    hdst__output_way way;
    uint64_t emit_bound;                // BOUNDED
    uint64_t spare_records;             // COUNTED, CPU: behind the output's room, for each strip
    const char *more;                   // COUNTED: kernels beside the main one, a template
    // Inputs and broadcasts, by param
    const char **param_name;
    const char ***leaf_name;            // by param and leaf: the macro that reads (or writes) it, the name of its scale
    uint32_t first_read_input;          // inputs before it are not in memory (a fold's running value)
    bool **unpacked;                    // block form, by param and leaf: copied into an array over the block; NULL: none
    bool **from_word;                   // AoS on CPUs, by param and leaf: vector loops take it from the word that the struct is, through NAME_Part
    bool **has_part;                    // NAME_Part is needed
    uint32_t *word_count;               // GPU, by param: 32-bit words of the vectors that a record is loaded in (print_words.c); 0: leaf by leaf
    bool lane_room;                     // GPU: additions of one record may fill a lane's word before the group merges, so each take asks
    uint32_t lane_run;                  // GPU: additions to one lane's sum that stand together, at most; 0: none yet
    bool plain_loops;                   // GPU: what is printed now runs rarely, so its loops are not unrolled
    bool *local_broadcast;              // GPU: rows were copied into local memory
    hdst__accum_plan *plan;             // by accumulator of `tables`
    hdst__sink sink;                    // where IR_ACCUM goes now
    hdst__row_sums *row_sums;           // CPU, row form: sums over a block of records; NULL: none
    hdst__spread *spread;               // GPU: loops that a work-group makes together; NULL: none
    hdst__vector_read vector[HDST__VECTOR_READS];
    size_t vector_count;
    bool *by_fours;                     // GPU, by variable: it counts a loop from a multiple of four in such steps
    bool *in_loop;                      // of the work-group's loops, by variable: it counts a loop around what is printed
    // Arguments of the kernel, and their text
    hdst__arg *args;
    size_t arg_count, arg_capacity;
    hdst__writer arg_text;
} hdst__printer;

// print_expr.c
// What an expression's text stands in: it comes in parentheses where it would fall apart there, so nobody who asks for it puts any around it.
typedef enum hdst__precedence {
    HDST__WHOLE,                // between brackets, parentheses or commas, behind an assignment: nothing is beside it. Macros of templates and printers put their arguments in parentheses
    HDST__OPERAND,              // beside an operator between two operands
    HDST__PRIMARY,              // behind a cast or another prefix
} hdst__precedence;
const char *hdst__canonical_text(hdst__printer *p, hdst__kind kind, const char *value);      // IR_CANONICAL of a float
const char *hdst__expr_text(hdst__printer *p, const ir_expr *expr, hdst__precedence where);
const char *hdst__index_text(hdst__printer *p, const ir_expr *index, hdst__precedence where);  // a row or an element; NULL is 0
const char *hdst__record_text(hdst__printer *p, uint32_t record);        // the slice index of a record of the lane (or block)
const char *hdst__constant_text(hdst__arena *arena, hdst__kind kind, uint64_t bits);
const char *hdst__cl_name(hdst__kind kind);                             // of a value: "bool", "uint", "float" ...

// print_input.c
const char *hdst__leaf_name(hdst__printer *p, uint32_t param, uint32_t leaf);      // the macro that reads it
void hdst__print_inputs(hdst__printer *p);              // macros
void hdst__print_input_bases(hdst__printer *p);         // pointers to the slice's first record: start of the kernel
void hdst__print_broadcasts(hdst__printer *p);
const char *hdst__element_offset(hdst__arena *arena, const hdst__leaf *leaf);       // bytes from element 0 to element (e) in the C struct, as text: " + (e) * 4"
bool hdst__leaf_is_used(const ir_param *param, size_t leaf);
void hdst__print_store(hdst__printer *p, const ir_stmt *stmt);
size_t hdst__print_vector_stores(hdst__printer *p, ir_stmt *const *stmts, size_t count);
void hdst__print_output_macros(hdst__printer *p);
void hdst__print_block_output(hdst__printer *p);        // CPU form: pointers to where the block's output begins
// print_words.c: GPU form, records of few aligned words (AoS) are loaded as vectors
void hdst__plan_words(hdst__printer *p);
void hdst__print_words(hdst__printer *p);               // loads; start of the body
const char *hdst__word_text(hdst__printer *p, const ir_expr *field);   // the field out of the vectors; NULL: not there
typedef struct hdst__block_operand {
    const char *text;                   // a pointer to the value of the block's first record; NULL: they do not lie side by side
    bool global;
} hdst__block_operand;
hdst__block_operand hdst__block_operand_of(hdst__printer *p, const ir_expr *e);

// print_unpack.c: how the block form reads a block's records
void hdst__plan_unpack(hdst__printer *p, ir_func *func);       // func: in block form
uint64_t hdst__unpack_bytes(const hdst__printer *p, uint32_t block);
void hdst__print_unpack(hdst__printer *p);                      // start of a block: pointers, arrays
const char *hdst__block_field_text(hdst__printer *p, const ir_expr *field);

// print_accum.c: additions
void hdst__print_accum(hdst__printer *p, const ir_stmt *stmt);          // IR_ACCUM
void hdst__print_word_into(hdst__printer *p, const hdst__cell *cell, const char *place, const char *value);       // by the cell's operation, to a word that is nobody else's
void hdst__print_add_word(hdst__printer *p, const ir_stmt *stmt, uint32_t word, const char *value);     // to where the parameter's words are kept
const char *hdst__cell_word_text(hdst__printer *p, const hdst__cell *cell, const ir_expr *value);    // an addend of a cell that is no float sum, as a 64-bit word
const char *hdst__device_place(hdst__printer *p, const ir_stmt *stmt);  // the cell in the device table
// Additions to a lane's sums between two merges, for which its words have room; once all of them are printed.
uint32_t hdst__lane_adds(const hdst__printer *p);
size_t hdst__print_accum_run(hdst__printer *p, ir_stmt *const *stmts, size_t count);        // print_accum_run.c: IR_ACCUMs that stand together; how many it printed
size_t hdst__print_accum_words(hdst__printer *p, ir_stmt *const *stmts, size_t count);      // a run of IR_ACCUM_WORDS of one row; how many it printed
void hdst__print_accum_wide(hdst__printer *p, const ir_stmt *stmt);
// Where the accumulator is in the form that is printed now (codegen/ir/placement.h).
const ir_placement *hdst__placement(const hdst__printer *p, const hdst__accum_plan *plan);
const ir_leaf_placement *hdst__leaf_placement(const hdst__printer *p, uint32_t param, uint32_t leaf);
bool hdst__sums_are_fast(const hdst__printer *p);       // some sums of the form are rounded at each addition: all that may
const hdst__accum_plan *hdst__find_plan(const hdst__printer *p, uint32_t param);
const hdst__cell *hdst__find_cell(const hdst__printer *p, uint32_t param, uint32_t leaf);
bool hdst__sums_floats(const hdst__printer *p, uint32_t param, uint32_t leaf);     // addends are floats, or floats made double: float arithmetic does
const char *hdst__scale_name(hdst__printer *p, uint32_t param, uint32_t leaf);     // NAME_Up and NAME_Down are 2^s and 2^-s, NAME_Scale is s
const char *hdst__addend_text(hdst__printer *p, uint32_t param, uint32_t leaf, const ir_expr *value);      // in the type of the arithmetic
const char *hdst__fixed_text(hdst__printer *p, const char *function, uint32_t param, uint32_t leaf, const char *addend);
const char *hdst__key_text(hdst__printer *p, hdst__accumulate_op acc, const ir_expr *value);

size_t hdst__print_pair(hdst__printer *p, const ir_stmt *stmt);         // print_tuples.c: IR_ACCUM, with another sink than the table

// print_levels.c: sums over a block in the floats' own arithmetic
size_t hdst__print_accum_blocks(hdst__printer *p, ir_stmt *const *stmts, size_t count);    // IR_ACCUM_BLOCK, one or more; returns how many
void hdst__print_levels_start(hdst__printer *p);        // start of the kernel
void hdst__print_levels_end(hdst__printer *p);
bool hdst__is_pair_sum(const hdst__printer *p, const ir_stmt *stmt);
void hdst__print_pair_sums(hdst__printer *p, ir_stmt *const *stmts, size_t count);
void hdst__print_pair_starts(hdst__printer *p);         // GPU: start of the kernel
void hdst__print_pair_takes(hdst__printer *p);          // GPU: where the group merges
void hdst__print_lane_sums(hdst__printer *p);           // GPU: the lane's running sums; start of the kernel
void hdst__print_lane_takes(hdst__printer *p);          // they go to its words
typedef void (*hdst__print_level_sum)(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, bool is_double);
void hdst__levels_each(hdst__printer *p, hdst__print_level_sum print);  // every leaf that has such sums
bool hdst__levels_of(const hdst__printer *p, bool is_double);           // whether there are any
const char *hdst__levels_place(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf, const char *element);     // the cell in the device table; `element`: text, in range

// print_fast.c: the same where sums may be rounded at each addition
size_t hdst__print_fast_run(hdst__printer *p, ir_stmt *const *stmts, size_t count);
void hdst__print_fast_start(hdst__printer *p);
void hdst__print_fast_flush(hdst__printer *p);          // end of a block
void hdst__print_fast_end(hdst__printer *p);

// print_tables.c: where tables stand, how they are emptied
void hdst__print_table_bases(hdst__printer *p);         // pointers into the device table and the strip's table, scales; start of the kernel
void hdst__print_strip_reset(hdst__printer *p);         // CPU
void hdst__print_strip_turn(hdst__printer *p);          // CPU, strips_twice: which table the record takes
void hdst__print_strip_flush(hdst__printer *p);
void hdst__print_group_reset(hdst__printer *p);         // GPU
void hdst__print_group_flush(hdst__printer *p);
void hdst__print_merge_bases(hdst__printer *p);         // GPU: the kernel that merges the tables of work-groups; pointers
void hdst__print_merge(hdst__printer *p);
void hdst__print_finish_bases(hdst__printer *p);        // GPU: the kernel that makes C structs; pointers (print_finish.c)

// print_cooperative.c: GPU form, loops that a work-group makes together
hdst__spread *hdst__spread_create(hdst__arena *arena, ir_func *func);   // of what hdst__pass_cooperative_loops took out
bool hdst__spread_carries(const hdst__printer *p, uint32_t var);        // the form that is printed now leaves the variable there
void hdst__print_spread_memory(hdst__printer *p);       // declares it; start of the kernel
void hdst__print_spread_keep(hdst__printer *p);         // end of a lane's record
void hdst__print_spread(hdst__printer *p);              // the loops
const char *hdst__spread_home(hdst__printer *p, const ir_stmt *stmt, uint32_t word);       // the word that stands for one meanwhile, where stmt->home is not its accumulator's place

bool hdst__spread_is_shared(const hdst__printer *p, const ir_expr *expr);   // all records have the same: it follows from the loops alone
// print_vectors.c: GPU form, values side by side
const char *hdst__vector_text(hdst__printer *p, const ir_expr *expr);   // what stands for a field or broadcast that was loaded with its neighbours; NULL: nothing
bool hdst__print_lane_vectors(hdst__printer *p, const ir_stmt *loop);   // opens a block with the loads in front of a loop over lanes; false: there are none
void hdst__end_lane_vectors(hdst__printer *p);                          // behind the loop
void hdst__print_record_vectors(hdst__printer *p, ir_block *body);      // of four records, for a body of the work-group's loops

// print_stmt.c
void hdst__print_homes(hdst__printer *p, ir_block *body);               // into p->homes, by_fours
const uint8_t *hdst__print_homes_in_records(hdst__printer *p, ir_block *body);      // the same of a record loop; what it does with each variable (hdst__ir_accesses)
void hdst__print_part(hdst__printer *p, ir_block *body, const bool *known);     // statements by themselves; variables that are known are declared already
void hdst__print_place(hdst__printer *p, const ir_stmt *stmt);          // a comment that names the line it comes from, if that is another one than before
void hdst__print_function(hdst__printer *p);            // declarations and the body, for one record or one block

bool hdst__row_sums_keep(const hdst__printer *p, uint32_t var);         // print_row_sums.c: an array that is declared around the records of a block

// kernel_emit.c: the form that is printed stores records that may not come out, and behind a strip's last one is the next strip's.
bool hdst__emit_is_guarded(const hdst__printer *p);

#endif
