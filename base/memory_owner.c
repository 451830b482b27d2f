// SPDX-License-Identifier: Apache-2.0
// What memory is for (base/memory_owner.h).
#include "base/memory_owner.h"

const char *hdst__owner_name(hdst__owner owner)
{
    static const char *const names[HDST__OWNERS] = {
        [HDST__OWNER_OTHER] = "other", [HDST__OWNER_SEGMENTS] = "segments", [HDST__OWNER_CACHES] = "cached datasets", [HDST__OWNER_VALUES] = "values",
        [HDST__OWNER_ACCUMULATORS] = "accumulators", [HDST__OWNER_OUTPUT] = "output", [HDST__OWNER_BY_KEY] = "reductions by key",
        [HDST__OWNER_SORTS] = "sorts and groups", [HDST__OWNER_READERS] = "readers", [HDST__OWNER_COMPILER] = "the compiler",
    };
    return (unsigned)owner < HDST__OWNERS ? names[owner] : "?";
}
