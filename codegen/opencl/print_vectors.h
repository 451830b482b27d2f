// SPDX-License-Identifier: Apache-2.0
// GPU form: values that lie side by side are loaded together; what is printed in front of loops and behind them.
#ifndef HDST_CODEGEN_OPENCL_PRINT_VECTORS_H
#define HDST_CODEGEN_OPENCL_PRINT_VECTORS_H

#include "codegen/opencl/printer.h"

typedef struct hdst__vectors hdst__vectors;     // what was loaded around the place that is printed

hdst__vectors *hdst__vectors_create(hdst__arena *arena);
// What stands for a field or broadcast that was loaded with its neighbours; NULL: nothing.
const char *hdst__vector_text(hdst__printer *p, const ir_expr *expr);
// Around an IR_FOR: the loads in front of a loop over lanes, how often it is unrolled.
void hdst__begin_gpu_loop(hdst__printer *p, const ir_stmt *loop);
void hdst__end_gpu_loop(hdst__printer *p, const ir_stmt *loop);
// Of so many records, four and four, for a body of the work-group's loops. is_shared: all records have the same.
void hdst__begin_record_vectors(hdst__printer *p, ir_block *body, uint32_t records, bool (*is_shared)(const hdst__printer *p, const ir_expr *e));
void hdst__end_record_vectors(hdst__printer *p);

#endif
