// SPDX-License-Identifier: Apache-2.0
// Work of the library itself on several threads.
#ifndef HDST_BASE_THREADS_H
#define HDST_BASE_THREADS_H

#include <stdint.h>

enum { HDST__MOST_THREADS = 64 };

// Calls run(user, i) for each i < count, at most HDST__MOST_THREADS, at the same time; number 0 and those that get no
// thread of their own on the calling one. Returns when all are done.
void hdst__in_threads(uint32_t count, void (*run)(void *user, uint32_t i), void *user);

#endif
