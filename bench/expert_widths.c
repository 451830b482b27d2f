// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for widths.hk: four vectors of 64 bytes side by side through the table, in GCC's vector types; the results are added up.
// usage: expert_widths [--records N], driven by bench/run.py
#include "bench/widths.h"

typedef uint8_t vbyte __attribute__((vector_size(64)));
typedef int16_t vhalf __attribute__((vector_size(64)));
typedef int64_t vwhole __attribute__((vector_size(64)));
typedef double vreal __attribute__((vector_size(64)));

enum { SIDE_BY_SIDE = 4, VECTOR_BYTES = 64 };

typedef struct problem {
    uint64_t records;
    uint8_t *bytes;
    int16_t *halves;
    int64_t *wholes;
    double *reals;
    width_steps steps[WIDTHS_STEPS];
    uint64_t part[64], sum;
} problem;

// One step on a vector or on one number.
#define STEP_byte(v, s) (((v) ^ (s).b) + ((v) & (s).b) * 2)
#define STEP_half(v, s) ((v) * (s).h + 3)
#define STEP_whole(v, s) (((v) << 1) ^ ((v) + (s).l))
#define STEP_real(v, s) ((v) * 0.5 + (s).z)

static inline uint64_t bits_of_byte(uint8_t v) { return v; }
static inline uint64_t bits_of_half(int16_t v) { return (uint16_t)v; }
static inline uint64_t bits_of_whole(int64_t v) { return (uint64_t)v; }

static inline uint64_t bits_of_real(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

#define WORK(name, array, number)                                                                                                       \
    static void work_##name(unsigned thread, unsigned threads, void *state)                                                             \
    {                                                                                                                                   \
        problem *p = state;                                                                                                             \
        const uint64_t lanes = VECTOR_BYTES / sizeof(number), group = lanes * SIDE_BY_SIDE, groups = p->records / group;                \
        const uint64_t end = thread + 1 == threads ? p->records : groups * (thread + 1) / threads * group;                              \
        uint64_t i = groups * thread / threads * group, sum = 0;                                                                        \
        for (; i + group <= end; i += group) {                                                                                          \
            v##name v0, v1, v2, v3;                                                                                                     \
            number out[VECTOR_BYTES * SIDE_BY_SIDE / sizeof(number)] __attribute__((aligned(64)));                                      \
            memcpy(&v0, p->array + i, sizeof v0), memcpy(&v1, p->array + i + lanes, sizeof v1);                                         \
            memcpy(&v2, p->array + i + 2 * lanes, sizeof v2), memcpy(&v3, p->array + i + 3 * lanes, sizeof v3);                         \
            for (int j = 0; j < WIDTHS_STEPS; j++) {                                                                                    \
                const width_steps s = p->steps[j];                                                                                      \
                v0 = STEP_##name(v0, s), v1 = STEP_##name(v1, s), v2 = STEP_##name(v2, s), v3 = STEP_##name(v3, s);                     \
            }                                                                                                                           \
            memcpy(out, &v0, sizeof v0), memcpy(out + lanes, &v1, sizeof v1), memcpy(out + 2 * lanes, &v2, sizeof v2), memcpy(out + 3 * lanes, &v3, sizeof v3);\
            for (uint64_t k = 0; k < sizeof out / sizeof *out; k++) sum += bits_of_##name(out[k]);                                      \
        }                                                                                                                               \
        for (; i < end; i++) {                                                                                                          \
            number v = p->array[i];                                                                                                     \
            for (int j = 0; j < WIDTHS_STEPS; j++) v = (number)STEP_##name(v, p->steps[j]);                                             \
            sum += bits_of_##name(v);                                                                                                   \
        }                                                                                                                               \
        p->part[thread] = sum;                                                                                                          \
    }                                                                                                                                   \
    static void run_##name(void *state)                                                                                                 \
    {                                                                                                                                   \
        problem *p = state;                                                                                                             \
        bench_parallel(work_##name, p);                                                                                                 \
        p->sum = 0;                                                                                                                     \
        for (unsigned t = 0; t < bench_threads(); t++) p->sum += p->part[t];                                                            \
    }

WORK(byte, bytes, uint8_t)
WORK(half, halves, int16_t)
WORK(whole, wholes, int64_t)
WORK(real, reals, double)

static size_t check(void *state, double *values, size_t limit)
{
    const problem *p = state;
    if (limit < 2) return 0;
    values[0] = (double)(p->sum >> 32);
    values[1] = (double)(p->sum & 0xffffffff);
    return 2;
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->bytes = bench_allocate(p->records);
    p->halves = bench_allocate(p->records * sizeof(int16_t));
    p->wholes = bench_allocate(p->records * sizeof(int64_t));
    p->reals = bench_allocate(p->records * sizeof(double));
    for (uint64_t i = 0; i < p->records; i++) {
        p->bytes[i] = width_byte(i);
        p->halves[i] = width_half(i);
        p->wholes[i] = width_whole(i);
        p->reals[i] = width_real(i);
    }
    for (uint64_t j = 0; j < WIDTHS_STEPS; j++) p->steps[j] = width_steps_of(j);
    const bench_case cases[] = {{"bytes", run_byte, check, p}, {"halves", run_half, check, p}, {"wholes", run_whole, check, p}, {"reals", run_real, check, p}};
    return bench_serve(cases, 4, p->records);
}
