//# LANES 256
#pragma once

// Sums over a work-group of LANES, of what the lanes have and of what those before a lane have. All lanes come here.
// (Hillis and Steele, "Data parallel algorithms", 1986.)
inline uint sum_of_lanes(__local uint *sums, uint lane, uint own)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[lane] = own;
    for (uint step = LANES / 2; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step) sums[lane] += sums[lane + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[0];
}
// Of a work-group of `lanes`.
inline uint sum_before_lane_of(uint lanes, __local uint *sums, uint lane, uint own)
{
    uint sum = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[lane] = sum;
    for (uint step = 1; step < lanes; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint other = lane >= step ? sums[lane - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += other;
        sums[lane] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - own;
}
inline uint sum_before_lane(__local uint *sums, uint lane, uint own) { return sum_before_lane_of(LANES, sums, lane, own); }
