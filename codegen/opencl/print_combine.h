// SPDX-License-Identifier: Apache-2.0
// CPU: records with equal keys become one before they leave a core (accum/combining.h, templates/combine_cpu.cl). The last records that a strip has written
// are looked for in its core's table; those that stay move up.
#ifndef HDST_CODEGEN_OPENCL_PRINT_COMBINE_H
#define HDST_CODEGEN_OPENCL_PRINT_COMBINE_H

#include "codegen/opencl/printer.h"

// Whether the kernel does so: what it writes may be made fewer, no record can fail once some have been, and each is as the tables want it.
bool hdst__combines(const hdst__printer *p);
// Whether a function that gives one record of each is to write as if data said how many, since some leave the output.
bool hdst__combines_dense(const hdst__printer *p);
bool hdst__combining_suits(const hdst__printer *p);     // the function and its records, wherever tables are
bool hdst__combine_asks_ahead(const hdst__printer *p);  // for input, while records go to their rows
uint64_t hdst__combined_row_bytes(const hdst__combining *combining);
void hdst__write_combine_macros(const hdst__printer *p, hdst__writer *out);     // what the template leaves open; nothing where the kernel does not
void hdst__print_combine_begin(hdst__printer *p);       // a strip takes a table; `place` is where its output begins
void hdst__print_combine(hdst__printer *p);             // behind a record that was written
void hdst__print_combine_end(hdst__printer *p);         // the last ones; the table is left

#endif
