// SPDX-License-Identifier: Apache-2.0
// GPU form: sums that stay in a lane's registers while it goes through the records of its work-group (print_cooperative.c). Exact sums of floats are two
// doubles meanwhile (twofold_add in accum/fixed_point_double.cl). Where the sizes of all addends follow from those of a few operands, no addition is
// tested: the operands' largest and smallest sizes say behind the records whether all addends fitted, and a sum for which they do not is made again.
#ifndef HDST_CODEGEN_OPENCL_PRINT_GROUP_SUMS_H
#define HDST_CODEGEN_OPENCL_PRINT_GROUP_SUMS_H

#include "codegen/opencl/printer.h"

typedef struct hdst__group_sizes hdst__group_sizes;

// `loops`: its body is the loops of a work-group, with homes.
hdst__group_sizes *hdst__group_sizes_create(hdst__printer *p, const ir_func *loops);

// --- Sizes of what records bring along ---

bool hdst__group_sizes_of(const hdst__group_sizes *sizes, uint32_t var);                             // some bound asks for those of a variable
void hdst__print_group_sizes_memory(hdst__printer *p, hdst__group_sizes *sizes, uint32_t var);       // local memory for them
// Finds them for the group's records; `from`: the variable's array in local memory.
void hdst__print_group_sizes(hdst__printer *p, hdst__group_sizes *sizes, uint32_t var, const char *from);

// --- Sums ---

bool hdst__group_sums_fast(const hdst__printer *p, const ir_block *turn);       // all that the turn adds to are plain floats
// In front of the records: the sums of `body` in registers. `turn`: the part of it that is one turn of loop `jam` (IR_NO_VAR: all of it);
// `outermost`: the counter of which each lane has values of its own.
void hdst__begin_group_sums(hdst__printer *p, hdst__group_sizes *sizes, const ir_block *body, const ir_block *turn, uint32_t outermost, uint32_t jam);
// Behind the additions of one record: what of them bounds the sizes.
void hdst__print_sizes_seen(hdst__printer *p, hdst__group_sizes *sizes, ir_stmt *const *additions);
// Behind the records: the sums go to the table. True: `rare` has a bit for each turn whose sums are to be made again, with tests.
bool hdst__end_group_sums(hdst__printer *p, hdst__group_sizes *sizes, const ir_block *body);
// A sum in two doubles, which no longer changes, goes to the words of its accumulator.
void hdst__print_twofold_words(hdst__printer *p, const ir_stmt *place, const char *sum, const char *low);
// For that, of plain floats: those of turn `again`, one of so many that were made at once, by the names that one turn has.
void hdst__take_fast_group_sums(hdst__printer *p, const ir_block *turn, uint32_t turns);
// Of others: from here on additions are tested.
void hdst__begin_tested_group_sums(hdst__printer *p, hdst__group_sizes *sizes, const ir_block *body);

// --- Additions ---

const char *hdst__group_sum_name(hdst__printer *p, uint32_t number);        // of a register
// The two doubles of it, as arguments of twofold_add, where the addition is to be tested; NULL: it is not.
const char *hdst__group_sum_tested(hdst__printer *p, const hdst__group_sizes *sizes, const ir_stmt *stmt);
// The statement that makes the addition, where it needs no test; NULL: it does.
const char *hdst__group_sum_plain(hdst__printer *p, const hdst__group_sizes *sizes, const ir_stmt *stmt);

#endif
