// SPDX-License-Identifier: Apache-2.0
// The few vector operations of the expert programs: AVX-512, AVX2 with FMA, or arrays of 8 that a compiler can vectorise. Chosen when built (-march=native).
#ifndef HDST_BENCH_SIMD_H
#define HDST_BENCH_SIMD_H

#include <math.h>
#include <stdint.h>

#define BENCH_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define BENCH_SIMD "AVX-512"
enum { LANES = 16 };
typedef __m512 vfloat;
typedef __m512i vint;
BENCH_INLINE vfloat v_load(const float *p) { return _mm512_loadu_ps(p); }
BENCH_INLINE vfloat v_all(float x) { return _mm512_set1_ps(x); }
BENCH_INLINE vint v_all_int(int32_t x) { return _mm512_set1_epi32(x); }
BENCH_INLINE vfloat v_add(vfloat a, vfloat b) { return _mm512_add_ps(a, b); }
BENCH_INLINE vint v_add_int(vint a, vint b) { return _mm512_add_epi32(a, b); }
BENCH_INLINE vfloat v_sub(vfloat a, vfloat b) { return _mm512_sub_ps(a, b); }
BENCH_INLINE vfloat v_mul(vfloat a, vfloat b) { return _mm512_mul_ps(a, b); }
BENCH_INLINE vfloat v_fma(vfloat a, vfloat b, vfloat c) { return _mm512_fmadd_ps(a, b, c); }
BENCH_INLINE vfloat v_abs(vfloat a) { return _mm512_abs_ps(a); }
BENCH_INLINE void v_store_int(int32_t *p, vint a) { _mm512_storeu_si512(p, a); }
// Where d < best: best = d, index = j.
BENCH_INLINE void v_take_less(vfloat *best, vint *index, vfloat d, vint j)
{
    *index = _mm512_mask_mov_epi32(*index, _mm512_cmp_ps_mask(d, *best, _CMP_LT_OQ), j);
    *best = _mm512_min_ps(d, *best);
}
BENCH_INLINE double v_sum(vfloat a) { return (double)_mm512_reduce_add_ps(a); }

typedef __mmask16 vmask;
BENCH_INLINE vmask v_everyone(void) { return 0xffff; }
BENCH_INLINE vmask v_less_equal_of(vmask m, vfloat a, vfloat b) { return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_LE_OQ); }    // of those in m
BENCH_INLINE vmask v_equal_int(vint a, vint b) { return _mm512_cmpeq_epi32_mask(a, b); }
BENCH_INLINE vmask v_or(vmask a, vmask b) { return (vmask)(a | b); }
BENCH_INLINE int v_any(vmask m) { return m != 0; }
BENCH_INLINE vint v_count(vint n, vmask m) { return _mm512_mask_add_epi32(n, m, n, _mm512_set1_epi32(1)); }      // one more for those in m
BENCH_INLINE vfloat v_choose(vmask m, vfloat yes, vfloat no) { return _mm512_mask_mov_ps(no, m, yes); }
BENCH_INLINE vfloat v_div(vfloat a, vfloat b) { return _mm512_div_ps(a, b); }
BENCH_INLINE vfloat v_sqrt(vfloat a) { return _mm512_sqrt_ps(a); }
BENCH_INLINE vint v_load_int(const void *p) { return _mm512_loadu_si512(p); }
BENCH_INLINE vint v_bits(vfloat a) { return _mm512_castps_si512(a); }

#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define BENCH_SIMD "AVX2"
enum { LANES = 8 };
typedef __m256 vfloat;
typedef __m256i vint;
BENCH_INLINE vfloat v_load(const float *p) { return _mm256_loadu_ps(p); }
BENCH_INLINE vfloat v_all(float x) { return _mm256_set1_ps(x); }
BENCH_INLINE vint v_all_int(int32_t x) { return _mm256_set1_epi32(x); }
BENCH_INLINE vfloat v_add(vfloat a, vfloat b) { return _mm256_add_ps(a, b); }
BENCH_INLINE vint v_add_int(vint a, vint b) { return _mm256_add_epi32(a, b); }
BENCH_INLINE vfloat v_sub(vfloat a, vfloat b) { return _mm256_sub_ps(a, b); }
BENCH_INLINE vfloat v_mul(vfloat a, vfloat b) { return _mm256_mul_ps(a, b); }
BENCH_INLINE vfloat v_fma(vfloat a, vfloat b, vfloat c) { return _mm256_fmadd_ps(a, b, c); }
BENCH_INLINE vfloat v_abs(vfloat a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.f), a); }
BENCH_INLINE void v_store_int(int32_t *p, vint a) { _mm256_storeu_si256((__m256i *)p, a); }
BENCH_INLINE void v_take_less(vfloat *best, vint *index, vfloat d, vint j)
{
    __m256 less = _mm256_cmp_ps(d, *best, _CMP_LT_OQ);
    *index = _mm256_blendv_epi8(*index, j, _mm256_castps_si256(less));
    *best = _mm256_min_ps(d, *best);
}
BENCH_INLINE double v_sum(vfloat a)
{
    float lane[8];
    _mm256_storeu_ps(lane, a);
    return (double)(((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7])));
}

typedef __m256i vmask;
BENCH_INLINE vmask v_everyone(void) { return _mm256_set1_epi32(-1); }
BENCH_INLINE vmask v_less_equal_of(vmask m, vfloat a, vfloat b) { return _mm256_and_si256(m, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ))); }
BENCH_INLINE vmask v_equal_int(vint a, vint b) { return _mm256_cmpeq_epi32(a, b); }
BENCH_INLINE vmask v_or(vmask a, vmask b) { return _mm256_or_si256(a, b); }
BENCH_INLINE int v_any(vmask m) { return !_mm256_testz_si256(m, m); }
BENCH_INLINE vint v_count(vint n, vmask m) { return _mm256_sub_epi32(n, m); }
BENCH_INLINE vfloat v_choose(vmask m, vfloat yes, vfloat no) { return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(m)); }
BENCH_INLINE vfloat v_div(vfloat a, vfloat b) { return _mm256_div_ps(a, b); }
BENCH_INLINE vfloat v_sqrt(vfloat a) { return _mm256_sqrt_ps(a); }
BENCH_INLINE vint v_load_int(const void *p) { return _mm256_loadu_si256(p); }
BENCH_INLINE vint v_bits(vfloat a) { return _mm256_castps_si256(a); }

#else
#define BENCH_SIMD "portable C"
enum { LANES = 8 };
typedef struct { float v[LANES]; } vfloat;
typedef struct { int32_t v[LANES]; } vint;
#define BENCH_EACH(T, expression)                                       \
    T r;                                                                \
    for (int i = 0; i < LANES; i++) r.v[i] = (expression);              \
    return r
BENCH_INLINE vfloat v_load(const float *p) { BENCH_EACH(vfloat, p[i]); }
BENCH_INLINE vfloat v_all(float x) { BENCH_EACH(vfloat, x); }
BENCH_INLINE vint v_all_int(int32_t x) { BENCH_EACH(vint, x); }
BENCH_INLINE vfloat v_add(vfloat a, vfloat b) { BENCH_EACH(vfloat, a.v[i] + b.v[i]); }
BENCH_INLINE vint v_add_int(vint a, vint b) { BENCH_EACH(vint, a.v[i] + b.v[i]); }
BENCH_INLINE vfloat v_sub(vfloat a, vfloat b) { BENCH_EACH(vfloat, a.v[i] - b.v[i]); }
BENCH_INLINE vfloat v_mul(vfloat a, vfloat b) { BENCH_EACH(vfloat, a.v[i] * b.v[i]); }
BENCH_INLINE vfloat v_fma(vfloat a, vfloat b, vfloat c) { BENCH_EACH(vfloat, a.v[i] * b.v[i] + c.v[i]); }
BENCH_INLINE vfloat v_abs(vfloat a) { BENCH_EACH(vfloat, fabsf(a.v[i])); }
BENCH_INLINE void v_store_int(int32_t *p, vint a)
{
    for (int i = 0; i < LANES; i++) p[i] = a.v[i];
}
BENCH_INLINE void v_take_less(vfloat *best, vint *index, vfloat d, vint j)
{
    for (int i = 0; i < LANES; i++) {
        index->v[i] = d.v[i] < best->v[i] ? j.v[i] : index->v[i];
        best->v[i] = d.v[i] < best->v[i] ? d.v[i] : best->v[i];
    }
}
BENCH_INLINE double v_sum(vfloat a)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++) sum += (double)a.v[i];
    return sum;
}
typedef vint vmask;         // 0 or -1
BENCH_INLINE vmask v_everyone(void) { BENCH_EACH(vmask, -1 + 0 * i); }
BENCH_INLINE vmask v_less_equal_of(vmask m, vfloat a, vfloat b) { BENCH_EACH(vmask, a.v[i] <= b.v[i] ? m.v[i] : 0); }
BENCH_INLINE vmask v_equal_int(vint a, vint b) { BENCH_EACH(vmask, -(a.v[i] == b.v[i])); }
BENCH_INLINE vmask v_or(vmask a, vmask b) { BENCH_EACH(vmask, a.v[i] | b.v[i]); }
BENCH_INLINE int v_any(vmask m)
{
    int32_t some = 0;
    for (int i = 0; i < LANES; i++) some |= m.v[i];
    return some != 0;
}
BENCH_INLINE vint v_count(vint n, vmask m) { BENCH_EACH(vint, n.v[i] - m.v[i]); }
BENCH_INLINE vfloat v_choose(vmask m, vfloat yes, vfloat no) { BENCH_EACH(vfloat, m.v[i] ? yes.v[i] : no.v[i]); }
BENCH_INLINE vfloat v_div(vfloat a, vfloat b) { BENCH_EACH(vfloat, a.v[i] / b.v[i]); }
BENCH_INLINE vfloat v_sqrt(vfloat a) { BENCH_EACH(vfloat, sqrtf(a.v[i])); }
BENCH_INLINE vint v_load_int(const void *p)
{
    vint r;
    __builtin_memcpy(&r, p, sizeof r);
    return r;
}
BENCH_INLINE vint v_bits(vfloat a)
{
    vint r;
    __builtin_memcpy(&r, &a, sizeof r);
    return r;
}
#endif

// A row of a table of sums: four or eight floats that are added at once (the compiler's vectors map to SSE and AVX, or to what there is).
typedef float row4 __attribute__((vector_size(16)));
typedef float row8 __attribute__((vector_size(32)));

#endif
