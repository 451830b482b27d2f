// SPDX-License-Identifier: Apache-2.0
// GPU form: loops whose turns the lanes of a work-group share (codegen/pass/loop_flattening.c). One thread to a printer.
#ifndef HDST_CODEGEN_OPENCL_PRINT_FLAT_LOOP_H
#define HDST_CODEGEN_OPENCL_PRINT_FLAT_LOOP_H

#include "codegen/opencl/printer.h"

void hdst__print_flat_memory(hdst__printer *p);         // local memory of the work-group, at the top of a kernel; nothing without p->flat
void hdst__print_flat_records(hdst__printer *p);        // of LANES records from `base` on; all lanes come here
void hdst__print_flat_counts(hdst__printer *p);         // the same, which only adds to `place`: to no lane's in particular
const char *hdst__flat_why(const hdst__printer *p);     // a line for people; "" without p->flat

// Of the form (hdst__form). They do nothing for other functions than the parts of p->flat.
void hdst__flat_begin_record(hdst__printer *p);
void hdst__flat_end_record(hdst__printer *p);
bool hdst__flat_carries(const hdst__printer *p, uint32_t var);

#endif
