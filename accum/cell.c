// SPDX-License-Identifier: Apache-2.0
// How a cell is made (accum/cell.h).
#include "accum/cell.h"

#include "accum/superaccumulator.h"

hdst__cell hdst__cell_make(hdst__kind kind, hdst__accumulate_op acc, hdst__tier tier)
{
    hdst__cell cell = {.kind = kind, .acc = acc, .op = hdst__word_op_of(acc), .tier = HDST__TIER_PLAIN,
                       .device_words = 1, .strip_words = 1, .elements = 1, .scale = -1};
    if (acc != HDST__SUM || !hdst__kind_is_float(kind)) return cell;
    cell.tier = tier;
    cell.digits = hdst__wide_digits(kind);
    cell.device_words = cell.digits + 1;
    cell.strip_words = tier == HDST__TIER_ONE ? 1 : tier == HDST__TIER_TWO ? 2 : 0;
    return cell;
}
