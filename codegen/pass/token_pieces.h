// SPDX-License-Identifier: Apache-2.0
// GPU form: texts of unequal length go to lanes in pieces. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_TOKEN_PIECES_H
#define HDST_CODEGEN_PASS_TOKEN_PIECES_H

#include "codegen/ir/ir.h"

// Sets func->token_pieces where that is so. Behind pass_output_way; forms are copied from the function afterwards.
void hdst__pass_token_pieces(ir_func *func);
// Whether lanes may: all that the function emits comes of single tokens.
bool hdst__takes_token_pieces(const ir_func *func);
// The input's text whose tokens the function takes, an IR_FIELD; NULL: it takes none, or those of several, or of another text.
const ir_expr *hdst__token_pieces_text(const ir_func *func);

#endif
