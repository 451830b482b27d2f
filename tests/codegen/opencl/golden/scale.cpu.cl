/*
form: blocks of 128 records, 0 bytes kept for each
private memory: 0 bytes per work-item
build options: -cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt
*/
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define VECTOR_LOOP(WIDTH, INTERLEAVE) PRAGMA(clang loop vectorize_width(WIDTH) interleave_count(INTERLEAVE))
// scale
// Form for CPU devices: one work-item is one strip of records. Blocks of records first, then what is left one by one.
// Floats: minimum and maximum know NaN and the order of zeroes: of two numbers that differ both choices are the same
// one; of zeroes, and where one is NaN, each choice is another operand, and together their bits are -0 (+0 for a
// maximum) and NaN. Conversions to integers truncate and saturate, NaN gives 0. Selects, no branches, so that loops
// vectorise.
inline uint bits_of_float(float v) { return v != v ? 0x7fc00000u : as_uint(v); }
#define p_x_(i, e) (*(__global const float *)(p_At + (i) * 8 + 0))
#define p_x_Part(i) as_float((uint)(*(__global const ulong *)(p_At + (i) * 8)))
#define result_y_(at, i, e) (*(__global float *)((at) + (i) * 4 + 0))
#define BLOCK 128

// Where strip number `strip` starts: a multiple of 128 records from the segment's first one, so that blocks are whole and a strip shares no cache line
// with its neighbour; of few records a multiple of 128, so that all strips have some.
inline ulong strip_start(ulong skip, ulong count, ulong strip, ulong strips)
{
    if (strip == strips) return count;
    const ulong step = count < strips * 128 ? 128 : 128;
    const ulong start = (skip + count / strips * strip + count % strips * strip / strips) / step * step;
    const long past = (long)(start - skip);     // signed: Oclgrind does not know the saturating subtraction that clang makes of an unsigned choice
    return past > 0 ? (ulong)past : 0;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scale_HASH(ulong first, ulong skip, ulong count, __global const uchar *restrict p_Data0, __global uchar *restrict result_At)
{
    const ulong strip = get_global_id(0), strips = get_global_size(0);
    const ulong start = strip_start(skip, count, strip, strips), end = strip_start(skip, count, strip + 1, strips);
    __global const uchar *p_At = p_Data0 + skip * 8;
    ulong i = start;
    while (i < end) {
        ulong stop = end;
        for (; i + BLOCK <= stop; i += BLOCK) {
            __global uchar *const result_BlockAt = result_At + i * 4;
            VECTOR_LOOP(16, 1)
            for (int r = 0; r < BLOCK; r++) {
                // scale.hk:5
                result_y_(result_BlockAt, r, 0) = as_float(bits_of_float(fma(p_x_Part(i + r), 2.0f, 1.0f)));
            }
        }
        for (; i < stop; i++) {
            // scale.hk:5
            result_y_(result_At, i, 0) = as_float(bits_of_float(fma(p_x_(i, 0), 2.0f, 1.0f)));
        }
    }
}
