// SPDX-License-Identifier: Apache-2.0
// What kernel_form.c, kernel_cpu.c, kernel_gpu.c and kernel_fold.c share.
#ifndef HDST_CODEGEN_OPENCL_KERNEL_FORM_H
#define HDST_CODEGEN_OPENCL_KERNEL_FORM_H

#include "base/pieces.h"
#include "codegen/opencl/printer.h"

enum { HDST__CPU_PRIVATE_LIMIT = 4 << 20, HDST__GPU_PRIVATE_LIMIT = 64 << 10, HDST__GPU_GROUP = 256, HDST__LANE_RECORDS = 8 };

hdst__printer *hdst__printer_create(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, const hdst__tables *tables);
void hdst__printer_use(hdst__printer *p, const ir_func *func);     // this form from now on: names of its variables
const char *hdst__print_section(hdst__printer *p, void (*print)(hdst__printer *p));    // what it prints, as text
void hdst__print_file_scope(hdst__printer *p);                     // macros of inputs, broadcasts, outputs; constant arrays

void hdst__kernel_add_arg(hdst__printer *p, hdst__arg_kind kind, uint32_t index, const char *format, ...) __attribute__((format(printf, 4, 5)));
void hdst__kernel_add_common_args(hdst__printer *p);               // in the order of hdst__arg_kind
void hdst__kernel_add_input_args(hdst__printer *p, uint32_t param);

// After printing: false, with a diagnostic, when the device lacks something that was used.
bool hdst__device_can(const hdst__printer *p, hdst__diags *diags);
uint64_t hdst__private_bytes(hdst__printer *p, const ir_func *func);
// False, with a diagnostic, when a work-item needs more private memory than the limit.
bool hdst__private_fits(hdst__printer *p, const ir_func *func, uint64_t bytes, uint64_t limit, hdst__diags *diags);
// Fills the frame; the kernel's name is the function's with a hash of everything that shaped it.
void hdst__kernel_finish(hdst__printer *p, hdst__kernel *kernel, const char *frame, hdst__filling *fillings, size_t count);

// kernel_emit.c: where the output of a function that emits goes.
enum { HDST__COUNTS_AT = 3 };      // COUNTED, CPU: PLACES has the total, where the output begins and ends, where it began, and the counts of the strips
void hdst__emit_plan(hdst__printer *p);                            // before the arguments are added
bool hdst__emit_count_form(hdst__printer *p, const ir_func *func, hdst__diags *diags, ir_func **count);   // COUNTED: what only counts; false with a diagnostic
void hdst__print_count_of(hdst__printer *p, const ir_func *count, void (*print)(hdst__printer *p));        // prints it in place of the whole function
void hdst__kernel_name_counts(hdst__printer *p, hdst__kernel *kernel);
const char *hdst__emit_why(const hdst__printer *p);

const char *hdst__tables_why(hdst__printer *p);

// print_finish.c: the fillings of finish_gpu.cl and finish_spare.cl, and the kernel's list of its arguments.
enum { HDST__FINISH_FILLINGS = 5 };
void hdst__finish_texts(hdst__printer *p, hdst__kernel *kernel, hdst__filling fillings[HDST__FINISH_FILLINGS]);

// print_tuples.c: kernels for a table to which additions go by way of tuples (ir_tuples).
enum { HDST__PARTED_FILLINGS = 9 };
void hdst__parted_texts(hdst__printer *p, const ir_func *single, const ir_func *spans, uint32_t records, const char *setup,
                        hdst__filling fillings[HDST__PARTED_FILLINGS]);
// Nothing where there are none.
void hdst__parted_write(const hdst__printer *p, hdst__writer *out, const hdst__filling *fillings, size_t count);
void hdst__parted_finish(hdst__printer *p, hdst__kernel *kernel);          // names, sizes
const char *hdst__parted_why(const hdst__printer *p);

const hdst__kernel *hdst__kernel_make_cpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);
const hdst__kernel *hdst__kernel_make_gpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags);

#endif
