/*
form: 4 records per lane, no local memory, 16 copies of tables
private memory: 16 bytes per work-item
build options: -cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt
*/
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
// scale
// Form for GPUs: a lane takes a record at a time, or several; work-groups stride over the slice.
// Floats: minimum and maximum know NaN and the order of zeroes: of two numbers that differ both choices are the same
// one; of zeroes, and where one is NaN, each choice is another operand, and together their bits are -0 (+0 for a
// maximum) and NaN. Conversions to integers truncate and saturate, NaN gives 0. Selects, no branches, so that loops
// vectorise.
inline uint bits_of_float(float v) { return v != v ? 0x7fc00000u : as_uint(v); }
// A constant, not get_local_size(0): with that as the step of a loop behind a barrier PoCL 3.1 drops the loop when only one lane enters it.
#define LANES 256
// Records that a work-group takes at once. Those of a lane lie LANES apart, so that neighbours read neighbours.
#define SPAN 1024
// Lanes of a warp that parted in a rare branch would go on apart for good, each part at the price of the whole. No
// memory is clobbered: nothing is ordered by it.
#if defined(__NV_CL_C_VERSION) && LANES >= 32
#define TOGETHER() asm volatile("bar.warp.sync 0xffffffff;")
#else
#define TOGETHER()
#endif
// A condition that stands again and again between barriers. PoCL 3.1 would lead the way from one place to the next, and fail on what it made.
#if defined(__NV_CL_C_VERSION)
#define LOOKED_AT
#else
#define LOOKED_AT volatile
#endif
#define p_x_(i, e) (*(__global const float *)(p_At + (i) * 8 + 0))
#define result_y_(at, i, e) (*(__global float *)((at) + (i) * 4 + 0))

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scale_HASH(ulong first, ulong skip, ulong count, __global const uchar *restrict p_Data0, __global uchar *restrict result_At)
{
    const uint lane = get_local_id(0);
    __global const uchar *p_At = p_Data0 + skip * 8;
    ulong base = get_group_id(0) * (ulong)SPAN;
    do {
        for (; base < count; base += get_num_groups(0) * SPAN) {
            TOGETHER();
            bool whole = count - base >= SPAN;
            if (whole) {
                const ulong i = base + lane;
                // scale.hk:5
                float p_x_2_ = p_x_(i, 0);
                float p_x_2_2_ = p_x_(i + 1 * LANES, 0);
                float p_x_3_ = p_x_(i + 2 * LANES, 0);
                float p_x_4_ = p_x_(i + 3 * LANES, 0);
                result_y_(result_At, i, 0) = as_float(bits_of_float(fma(p_x_2_, 2.0f, 1.0f)));
                result_y_(result_At, i + 1 * LANES, 0) = as_float(bits_of_float(fma(p_x_2_2_, 2.0f, 1.0f)));
                result_y_(result_At, i + 2 * LANES, 0) = as_float(bits_of_float(fma(p_x_3_, 2.0f, 1.0f)));
                result_y_(result_At, i + 3 * LANES, 0) = as_float(bits_of_float(fma(p_x_4_, 2.0f, 1.0f)));
            }
            if (!whole) {
                const ulong end = min(count, base + SPAN);
                for (ulong i = base + lane; i < end; i += LANES) {
                    // scale.hk:5
                    result_y_(result_At, i, 0) = as_float(bits_of_float(fma(p_x_(i, 0), 2.0f, 1.0f)));
                }
            }
        }
    } while (base < count);
}
