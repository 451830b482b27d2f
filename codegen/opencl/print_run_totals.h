// SPDX-License-Identifier: Apache-2.0
// CPU, block form: additions to rows in order where it is known where each row's records begin (ir_placement.starts).
#ifndef HDST_CODEGEN_OPENCL_PRINT_RUN_TOTALS_H
#define HDST_CODEGEN_OPENCL_PRINT_RUN_TOTALS_H

#include "codegen/opencl/printer.h"

const hdst__accum_plan *hdst__plan_with_starts(const hdst__printer *p);        // NULL: there is none
void hdst__print_run_starts(hdst__printer *p, const hdst__accum_plan *plan);   // at the start of a strip

// Around the record loop `records`. False: it does something else than add to such rows, and is printed as any.
bool hdst__begin_run_totals(hdst__printer *p, const ir_stmt *records);
void hdst__print_run_total(hdst__printer *p, const ir_stmt *stmt);      // an addition within
void hdst__end_run_totals(hdst__printer *p, const ir_stmt *records);

#endif
