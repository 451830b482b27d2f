// SPDX-License-Identifier: Apache-2.0
// How a cell is made (accum/cell.h).
#include "accum/cell.h"

#include "accum/superaccumulator.h"

hdst__cell hdst__cell_make(hdst__kind kind, hdst__accumulate_op acc, hdst__precision_class precision)
{
    hdst__cell cell = {.kind = kind, .acc = acc, .op = hdst__word_op_of(acc), .precision = HDST__CLASS_PLAIN,
                       .device_words = 1, .private_words = 1, .elements = 1, .scale = -1};
    if (acc != HDST__SUM || !hdst__kind_is_float(kind)) return cell;
    cell.precision = precision;
    cell.digits = hdst__superaccumulator_digits(kind);
    cell.device_words = cell.digits + 1;
    cell.private_words = precision == HDST__CLASS_ONE_WORD ? 1 : precision == HDST__CLASS_TWO_WORDS ? 2 : 0;
    return cell;
}
