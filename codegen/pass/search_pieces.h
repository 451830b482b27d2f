// SPDX-License-Identifier: Apache-2.0
// GPU form: texts of unequal length are looked through in pieces. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_SEARCH_PIECES_H
#define HDST_CODEGEN_PASS_SEARCH_PIECES_H

#include "codegen/ir/ir.h"

enum { HDST__SEARCH_PIECE_BYTES = 256 };        // in which a match may begin that a lane looks for; SEARCH_BYTES of search_gpu.cl

// Takes the one search of a function apart from it where that can be: sets func->search. Before forms are copied from the function.
void hdst__pass_search_pieces(ir_func *func);

#endif
