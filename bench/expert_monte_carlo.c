// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for the value of a European call from random paths (examples/monte-carlo): Philox
// 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011), a normal draw by Box and Muller, what the option pays at the end,
// sums of it and of its square about a center, all in double. The polynomials are those of codegen/math/ for what the
// draw needs: logarithms of (0, 1], exponentials of moderate numbers. A loop without branches, which the compiler
// turns into vectors (words of 32 bits lie in lanes of 64, as their products need), then the sums of a block in eight
// lanes.
// usage: expert_monte_carlo [--records N] [--seed N], driven by bench/run.py. Case: paths.
#include "bench/bench.h"

#include <math.h>

enum { BLOCK = 512 };

typedef double lanes __attribute__((vector_size(64)));

typedef struct problem {
    uint64_t records, seed;
    double part[64][2], sum[2];
} problem;

static inline double of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// of (0, 1]
static inline double own_log(double x)
{
    const uint64_t bits = bits_of(x) - 0x3fe6a09e667f3bcd;
    const double n = (double)((int64_t)bits >> 52), f = of_bits((bits & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    const double half_square = 0.5 * f * f, s = f / (2 + f), z = s * s;
    const double tail = z * (0.6666666666666735 + z * (0.39999999999411057 + z * (0.28571428743275484 + z * (0.22222198474461463 + z * (0.18183569824243068 +
        z * (0.15313901012279138 + z * 0.14797530537282982))))));
    return n * 0.6931471805598903 + (f + (n * 5.497923018708371e-14 + (s * (half_square + tail) - half_square)));
}

// of -700 .. 700
static inline double own_exp(double x)
{
    const double moved = x * 1.4426950408889634 + 6755399441055744.0, n = moved - 6755399441055744.0;
    const double r = (x - n * 0.6931471805598903) - n * 5.497923018708371e-14;
    const double tail = 0.5 + r * (0.16666666666666682 + r * (0.04166666666666608 + r * (0.008333333333316787 + r * (0.0013888888889119128 +
        r * (0.00019841269897011247 + r * (2.48015869222671e-5 + r * (2.755723422221309e-6 + r * (2.7557583914930277e-7 +
        r * (2.5112263857976277e-8 + r * 2.0826415825438254e-9)))))))));
    return (1 + (r + r * r * tail)) * of_bits((bits_of(moved) + 1023) << 52);
}

// The cosine of a part of a turn, in units of 2^-64
static inline double cosine_of_turn(uint64_t turn)
{
    const uint64_t quarter = (turn + 0x2000000000000000) >> 62;
    const double r = (double)(int64_t)(turn - (quarter << 62)) * 3.4061215800865545e-19, z = r * r;
    const double sine = r + r * z * (-0.1666666666666663 + z * (0.008333333333322014 + z * (-0.00019841269829502044 + z * (2.7557313589950153e-6 +
        z * (-2.505074268205262e-8 + z * 1.5895926957134838e-10)))));
    const double main = 1 - 0.5 * z, lost = (1 - main) - 0.5 * z;
    const double cosine = main + (z * z * (0.041666666666666595 + z * (-0.0013888888888872908 + z * (2.4801587288755955e-5 + z * (-2.7557314150897144e-7 +
        z * (2.0875696885309013e-9 + z * -1.1358326866626268e-11))))) + lost);
    return of_bits(bits_of(quarter & 1 ? sine : cosine) ^ (quarter + 1) >> 1 << 63);
}

static inline double normal(uint64_t index, uint64_t stream)
{
    const uint64_t mask = 0xffffffff;
    uint64_t a = index & mask, b = index >> 32, c = 0, d = 0;
    for (uint64_t round = 0; round < 10; round++) {
        const uint64_t low = (stream + round * 0x9e3779b9) & mask, high = ((stream >> 32) + round * 0xbb67ae85) & mask;
        const uint64_t first = a * 0xd2511f53, second = c * 0xcd9e8d57;
        a = second >> 32 ^ b ^ low;
        b = second & mask;
        c = first >> 32 ^ d ^ high;
        d = first & mask;
    }
    const double radius = ((double)(int64_t)((b << 32 | a) >> 11) + 1) * 0x1p-53;
    return sqrt(-2 * own_log(radius)) * cosine_of_turn(d << 32 | c);
}

// What the option pays on each of the paths begin .. begin + BLOCK - 1
static void pay(uint64_t begin, uint64_t seed, double *restrict value)
{
    const double spot = 100, strike = 100, rate = 0.05, volatility = 0.2, years = 1;
    const double drift = (rate - 0.5 * volatility * volatility) * years, spread = volatility * sqrt(years), discount = exp(-rate * years);
    for (uint64_t i = 0; i < BLOCK; i++) {
        const double gain = spot * own_exp(drift + spread * normal(begin + i, seed)) - strike;
        value[i] = discount * (gain > 0 ? gain : 0);
    }
}

static inline double total(lanes v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }

static void add(const double *value, uint64_t n, double center, double *sum)
{
    lanes payments = {0}, squares = {0};
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const lanes v = *(const lanes *)(value + i), away = v - center;
        payments += v;
        squares += away * away;
    }
    sum[0] += total(payments);
    sum[1] += total(squares);
    for (; i < n; i++) {
        sum[0] += value[i];
        sum[1] += (value[i] - center) * (value[i] - center);
    }
}

static void share(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    double *sum = p->part[thread];
    sum[0] = sum[1] = 0;
    _Alignas(64) double value[BLOCK];
    const uint64_t blocks = (p->records + BLOCK - 1) / BLOCK;
    for (uint64_t b = blocks * thread / threads; b < blocks * (thread + 1) / threads; b++) {
        const uint64_t left = p->records - b * BLOCK;
        pay(b * BLOCK, p->seed, value);
        add(value, left < BLOCK ? left : BLOCK, 100 - 100 * exp(-0.05), sum);
    }
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(share, p);
    p->sum[0] = p->sum[1] = 0;
    for (unsigned t = 0; t < bench_threads(); t++)
        for (int i = 0; i < 2; i++) p->sum[i] += p->part[t][i];
}

// The sums of what the paths pay and of the squares.
static size_t check(void *state, double *values, size_t limit)
{
    for (size_t i = 0; i < 2 && i < limit; i++) values[i] = ((const problem *)state)->sum[i];
    return limit < 2 ? limit : 2;
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 20000000);
    p->seed = bench_option(argc, argv, "--seed", 7);
    const bench_case cases[] = {{"paths", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
