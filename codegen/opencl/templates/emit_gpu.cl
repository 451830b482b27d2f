//# LANES 256
#pragma once
// What the lanes of a work-group before this one come to. All lanes come here. (Hillis and Steele, "Data parallel algorithms", 1986.)
inline uint before_lane(__local uint *sums, uint lane, uint own)
{
    uint sum = own;
    barrier(CLK_LOCAL_MEM_FENCE);       // the sums of the call before were read
    sums[lane] = sum;
    for (uint step = 1; step < LANES; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint other = lane >= step ? sums[lane - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += other;
        sums[lane] = sum;
    }
    return sum - own;
}
