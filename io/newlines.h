// SPDX-License-Identifier: Apache-2.0
// Where bytes have line ends: \n, and nothing else.
#ifndef HDST_IO_NEWLINES_H
#define HDST_IO_NEWLINES_H

#include <stdint.h>

uint64_t hdst__newlines_count(const char *bytes, uint64_t count);
// Behind the newline number `number`, which counts from 1; `count` + 1: there are not so many.
uint64_t hdst__newlines_find(const char *bytes, uint64_t count, uint64_t number);

#endif
