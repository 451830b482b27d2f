// SPDX-License-Identifier: Apache-2.0
// What stays the same while a loop runs, by its text.
#ifndef HDST_CODEGEN_LOWER_STEADY_H
#define HDST_CODEGEN_LOWER_STEADY_H

#include "codegen/front/ast.h"

// Whether something in the statement assigns to the variable, or to a part of it.
bool hdst__lower_assigns(const ast_stmt *stmt, const ast_decl *decl);

bool hdst__is_key_rows(const ast_expr *e);      // t[k] of a table with any number of rows of a key
// Whether two of them are of the same table, and their keys, if they are made of names and fields, are the same as long as no name is assigned to.
bool hdst__same_key_rows(const ast_expr *a, const ast_expr *b);
// Calls `see` with each t[k] of the loop whose key is the same in all turns: made of names and fields, so finding its rows has no effect and cannot fail.
void hdst__steady_key_rows(const ast_stmt *loop, void (*see)(void *user, const ast_expr *rows), void *user);

#endif
