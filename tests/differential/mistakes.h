// SPDX-License-Identifier: Apache-2.0
// Random programs with one mistake put in at a known line, and with functions that are right but cannot run yet.
#ifndef HDST_TESTS_DIFFERENTIAL_MISTAKES_H
#define HDST_TESTS_DIFFERENTIAL_MISTAKES_H

#include "generate.h"

typedef struct diff_mistake {
    const char *text;               // one line: a statement at the beginning of the function, or a declaration at the end of the file
    bool is_statement;
    const char *says;               // must be in the first message about that line; NULL: anything
} diff_mistake;

int diff_mistake_count(void);
const diff_mistake *diff_mistake_at(int i);
int diff_typed_count(void);
const char *diff_typed_at(int i);   // a declaration that is well typed

// The program's text with a line put in; *line is its number, from 1. NULL when a statement has no place (reduces).
const char *diff_insert(hdst__arena *arena, const diff_program *program, const char *text, bool is_statement, int *line);

#endif
