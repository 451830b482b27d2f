// SPDX-License-Identifier: Apache-2.0
// Numeric constants by C's rules: their type and their bits.
#ifndef HDST_CODEGEN_FRONT_LEX_NUMBER_H
#define HDST_CODEGEN_FRONT_LEX_NUMBER_H

#include "record/type.h"

typedef struct hdst__number {
    hdst__kind kind;
    uint64_t bits;      // as AST_NUMBER
} hdst__number;

// NULL, or what is wrong with it; *number is valid in either case.
const char *hdst__number_parse(const char *text, hdst__number *number);

int hdst__digit_value(char c);      // of a hexadecimal digit; of others more than any base has

#endif
