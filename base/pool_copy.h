// SPDX-License-Identifier: Apache-2.0
// Copies of many bytes by all threads: one alone does not fill the memory's roof.
#ifndef HDST_BASE_POOL_COPY_H
#define HDST_BASE_POOL_COPY_H

#include "base/thread_pool.h"

// As memcpy. NULL, or what is too little to be worth sharing: the calling thread alone. From any thread.
void hdst__pool_copy(hdst__thread_pool *pool, void *to, const void *from, uint64_t bytes);

#endif
