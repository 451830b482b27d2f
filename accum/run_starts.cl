// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows whose records stand one behind the other, those of row n from starts[n] up to starts[n + 1]: the row of record `record`, of `rows`.
inline ulong run_at(__global const ulong *starts, ulong rows, ulong record)
{
    ulong low = 0, high = rows;
    while (high - low > 1) {
        const ulong middle = low + (high - low) / 2;
        if (starts[middle] <= record) low = middle;
        else high = middle;
    }
    return low;
}
