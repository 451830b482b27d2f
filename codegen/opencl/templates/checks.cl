#pragma once
// A check that failed: the failing record with the smallest index wins. record << 16 | check; all ones when nothing failed.
inline void report_failure(volatile __global ulong *error, ulong record, uint check)
{
    ulong mine = record << 16 | check, old = LOOK(error);
    while (mine < old) {
        ulong seen = atom_cmpxchg(error, old, mine);
        if (seen == old) return;
        old = seen;
    }
}

