// SPDX-License-Identifier: Apache-2.0
// How a cell is made (accum/cell.h).
#include "accum/cell.h"

#include "accum/superaccumulator.h"

static hdst__word_op word_op(hdst__accumulate_op acc)
{
    switch (acc) {
    case HDST__SUM: return HDST__WORD_ADD;
    case HDST__MIN: case HDST__MAX: return HDST__WORD_MAX;
    case HDST__AND: case HDST__OR: return HDST__WORD_OR;
    case HDST__XOR: break;
    }
    return HDST__WORD_XOR;
}

hdst__cell hdst__cell_make(hdst__kind kind, hdst__accumulate_op acc, hdst__tier tier)
{
    hdst__cell cell = {.kind = kind, .acc = acc, .op = word_op(acc), .tier = HDST__TIER_PLAIN, .device_words = 1, .strip_words = 1, .elements = 1, .scale = -1};
    if (acc != HDST__SUM || !hdst__kind_is_float(kind)) return cell;
    cell.tier = tier;
    cell.digits = hdst__wide_digits(kind);
    cell.device_words = cell.digits + 1;
    cell.strip_words = tier == HDST__TIER_ONE ? 1 : tier == HDST__TIER_TWO ? 2 : 0;
    return cell;
}
