/*
form: one lane per record, no local memory, 16 copies of tables
private memory: 0 bytes per work-item
build options: -cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt
*/
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define VECTOR_LOOP(WIDTH, INTERLEAVE)
#define SCALAR_LOOP
// scale
// Form for GPUs: one lane per record, work-groups stride over the slice.
// A constant, not get_local_size(0): with that as the step of a loop behind a barrier PoCL 3.1 drops the loop when only one lane enters it.
#define LANES 256
#define p_x(i, e) (*(__global const float *)(p_at + (i) * 8 + 0))
#define result_y(i, e) (*(__global float *)(result_at + (i) * 4 + 0))

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scale_HASH(ulong first, ulong skip, ulong count, __global const uchar *restrict p_data0, __global uchar *restrict result_at)
{
    const uint lane = get_local_id(0);
    __global const uchar *p_at = p_data0 + skip * 8;
    ulong base = get_group_id(0) * (ulong)256;
    do {
        for (; base < count; base += get_global_size(0)) {
            const ulong i = base + lane;
            if (i < count) {
                // scale.hk:5
                result_y(i, 0) = fma(p_x(i, 0), 2.0f, 1.0f);
            }
        }
    } while (base < count);
}
