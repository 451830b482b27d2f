//# LANES 256
#pragma once
// How many turns the loops of the lanes up to each have, from its own; returns that of all. All lanes come here. (Hillis and Steele, as above.)
inline ulong turns_until(__local ulong *until, uint lane, ulong own)
{
    barrier(CLK_LOCAL_MEM_FENCE);       // those of the call before were read
    until[lane] = own;
    for (uint step = 1; step < LANES; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong other = lane >= step ? until[lane - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        until[lane] += other;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return until[LANES - 1];
}
// The lane whose loop has turn `at` of all: so many have ended before it.
inline uint lane_of_turn(__local const ulong *until, ulong at)
{
    uint ended = 0;
    for (uint step = LANES / 2; step > 0; step /= 2)
        if (until[ended + step - 1] <= at) ended += step;
    return ended;
}
