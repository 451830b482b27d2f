// SPDX-License-Identifier: Apache-2.0
// Large pages for memory that is touched at random, where the system gives them: that costs far less. Only advice; whether it is taken does not matter.
#ifndef HDST_BASE_HUGE_PAGES_H
#define HDST_BASE_HUGE_PAGES_H

#include <stdint.h>

// The whole huge pages within; none where there are few bytes.
void hdst__ask_for_huge_pages(void *memory, uint64_t bytes);

#endif
