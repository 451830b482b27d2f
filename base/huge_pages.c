// SPDX-License-Identifier: Apache-2.0
// Large pages for memory that is touched at random (base/huge_pages.h).
#include "base/huge_pages.h"

#include "base/costs_host.h"

#include <sys/mman.h>

void hdst__ask_for_huge_pages(void *memory, uint64_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uint64_t huge = HDST__HOST_HUGE_PAGE_BYTES, before = (huge - (uintptr_t)memory % huge) % huge;
    if (bytes >= HDST__HOST_HUGE_LEAST_BYTES && bytes - before >= huge) (void)madvise((char *)memory + before, (bytes - before) / huge * huge, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}
