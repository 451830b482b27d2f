// SPDX-License-Identifier: Apache-2.0
// The state that all printers of OpenCL C share, and what a form of a kernel does its own way. A printer turns the
// statements of an ir_func into text and decides nothing about them; a form (kernel_cpu.c, kernel_gpu.c, kernel_fold.c)
// puts that text, the declarations and the flush of the tables into the holes of a template.
//
// Layers, each of which uses those before it: names (identifiers.h, this file) - constants and cells of accumulators -
// expressions - inputs, outputs and additions - statements - sections of a kernel (print_tables.h, print_finish.h,
// print_tuples.h ...) - forms. What a lower layer needs of a higher one stands in hdst__form.
//
// All texts and structs live in the printer's arena. One thread to a printer.
#ifndef HDST_CODEGEN_OPENCL_PRINTER_H
#define HDST_CODEGEN_OPENCL_PRINTER_H

#include "codegen/opencl/kernel.h"
#include "codegen/opencl/identifiers.h"
#include "base/writer.h"

typedef struct hdst__printer hdst__printer;

// --- What a form does its own way. NULL: nothing ---

// Statements of one kind that stand together, the first of `count` that follow one another. How many were printed; 0:
// the first one is to be printed as any of its kind.
typedef size_t (*hdst__print_run)(hdst__printer *p, ir_stmt *const *stmts, size_t count);

enum { HDST__STMT_KINDS = IR_ACCUM_SUPERACCUMULATOR + 1 };

typedef struct hdst__form {
    // What stands for an IR_FIELD or IR_BROADCAST where the macro of its leaf does not; NULL: the macro does.
    const char *(*read)(hdst__printer *p, const ir_expr *e);
    hdst__print_run run[HDST__STMT_KINDS];
    void (*begin_record)(hdst__printer *p);                         // in front of the statements of a function
    void (*end_record)(hdst__printer *p);                           // behind them
    void (*failed)(hdst__printer *p);                               // where it says in `failed` whether a check did not hold; NULL: which is told
    void (*begin_loop)(hdst__printer *p, const ir_stmt *loop);      // around an IR_FOR
    void (*end_loop)(hdst__printer *p, const ir_stmt *loop);
    bool (*keeps)(const hdst__printer *p, uint32_t var);            // it is declared around the records
    bool (*carries)(const hdst__printer *p, uint32_t var);          // end_record reads it: it lives as long as the function
    // The word that an addition whose home is not its accumulator's place goes to (ir_stmt.home).
    const char *(*home)(hdst__printer *p, const ir_stmt *stmt, uint32_t word);
    // The addresses of two doubles that the addition goes to meanwhile (twofold_add), in place of words; NULL: none.
    const char *(*twofold)(hdst__printer *p, const ir_stmt *stmt);
    // The statement that makes an addition which needs no test; NULL: it needs one.
    const char *(*plain)(hdst__printer *p, const ir_stmt *stmt);
} hdst__form;

// --- The state ---

typedef struct hdst__accum_plan {
    const hdst__accum *accum;
    const char *name;           // identifier of the parameter
} hdst__accum_plan;

typedef struct hdst__constant_array {   // at file scope, shared by the forms
    const char *name;
    const ir_var *var;
} hdst__constant_array;

struct hdst__printer {
    hdst__arena *arena;
    const hdst__kernel_options *options;
    const hdst__tables *tables;
    bool gpu;
    const hdst__form *form;
    const ir_func *func;                // the form of the function that is printed now
    const ir_func *block_form;          // CPU form: that of whole blocks, if its sums have loops
    hdst__writer out;
    // Names
    hdst__names *names;                 // of the whole text
    hdst__names *form_names;            // of `func`
    uint32_t numbered_names;            // print_fast.c's, numbered through the kernel
    const char **param_name;
    const char ***leaf_name;            // by param and leaf: the macro that reads (or writes) it, the name of its scale
    const char **var_name;              // of `func`, by variable: the value
    const char **array_name;            // per_record: one value per record of the block
    hdst__accum_plan *plan;             // by accumulator of `tables`
    hdst__constant_array *constants;
    size_t constant_count, constant_capacity;
    // Where the printer stands
    bool in_block;                      // block form
    bool in_row;                        // inside a loop over the elements of a row: they are read where they lie
    bool in_records;                    // inside IR_RECORDS: `r` is the record of the block
    uint32_t lanes;                     // inside a loop over vectors of records: expressions are vectors of so many; else 0
    bool run_totals;                    // CPU: inside a record loop of print_run_totals.h
    bool alone;                         // CPU: what is printed adds to words that nobody else adds to meanwhile
    bool own_record;                    // GPU: output records are made in the lane's own memory (print_combine_gpu.h)
    bool plain_loops;                   // GPU: what is printed now runs rarely, so nothing is loaded ahead
    const char *record;                 // the slice index of the current record: "i" or "i + r"
    uint32_t last_source, last_line;    // the position that the last comment named
    // What the text needs
    bool uses_double, rounds;           // rounds: has a float division or square root
    bool uses_local;                    // GPU: accumulators of the work-group lie in local memory
    bool has_checks;
    uint32_t first_read_input;          // inputs before it are not in memory (a fold's running value)
    ir_output output;                   // where records go
    // Arguments of the kernel, and their text
    hdst__arg *args;
    size_t arg_count, arg_capacity;
    hdst__writer arg_text;
    struct hdst__text_copies *text_copies;      // texts apart: print_text_copies.h; NULL: texts are where spans say
    // Of single printers; NULL where the form has none
    struct hdst__homes *homes;                  // print_homes.h
    struct hdst__unpacking *unpacking;          // CPU: print_unpack.h
    const struct hdst__row_sums *row_sums;      // CPU, row form: print_row_sums.h
    uint32_t *word_count;                       // GPU: print_words.h
    struct hdst__vectors *vectors;              // GPU: print_vectors.h
    struct hdst__cooperative *cooperative;      // GPU: print_cooperative.h
    struct hdst__owned_sums *owned;             // GPU: print_owned_sums.h
    struct hdst__tiles *tiles;                  // GPU: print_tiles.h
    const struct hdst__flat_loop *flat;         // GPU: print_flat_loop.h
};

hdst__printer *hdst__printer_create(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options,
    const hdst__tables *tables, const hdst__form *form);
void hdst__printer_use(hdst__printer *p, const ir_func *func);      // this one from now on: names of its variables

// What `func` says of the names above is put aside, and comes back.
typedef struct hdst__printer_scope {
    const ir_func *func;
    const char **var_name, **array_name;
    hdst__names *form_names;
} hdst__printer_scope;
hdst__printer_scope hdst__printer_scope_of(const hdst__printer *p);
void hdst__printer_return(hdst__printer *p, hdst__printer_scope scope);

// CPU form: each record has one of the output, and those of a strip stand one after another, since some leave it again (print_combine.h).
static inline bool hdst__writes_dense_strips(const hdst__printer *p)
{
    return p->output.way == IR_OUTPUT_BOUNDED && !p->func->emits && !p->func->counts;
}

const char *hdst__print_section(hdst__printer *p, void (*print)(hdst__printer *p));         // what it prints, as text
void hdst__print_source_line(hdst__printer *p, const ir_stmt *stmt);    // a comment, if that is another line than before

const char *hdst__leaf_name(hdst__printer *p, uint32_t param, uint32_t leaf);      // the macro that reads it
bool hdst__leaf_is_used(const ir_param *param, size_t leaf);

#endif
