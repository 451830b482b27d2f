// SPDX-License-Identifier: Apache-2.0
// The table of representations (accum/representation.h).
#include "accum/representation.h"

const hdst__representation *const hdst__representations[] = {
    &hdst__integers, &hdst__minmax_keys, &hdst__fixed_point, &hdst__levels, &hdst__overflow_table, &hdst__superaccumulator,
};
const size_t hdst__representation_count = sizeof hdst__representations / sizeof *hdst__representations;
