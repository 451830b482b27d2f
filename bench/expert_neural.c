// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for the gradient of a batch of a net with one hidden layer: 784 float columns row by
// row, 30 hidden units with tanh, softmax over 10 classes, the cross entropy.
//
// Shape: two matrix products over the batch, whose sums stay in registers: forward four samples by six units, with
// vectors along the columns; backward six units by four vectors of columns, while the samples go by. What lies
// between is a few hundred numbers a sample. A thread has its share of the samples, with a gradient of its own.
// usage: expert_neural [--records N], driven by bench/run.py
#include "bench/models.h"

#include <math.h>

enum {
    D = NET_COLUMNS,
    H = NET_HIDDEN,
    C = NET_CLASSES,
    WIDTH = 16,
    SAMPLES = 4,
    UNITS = 6,
    SPAN = 4,
    BLOCK = 64
}; // samples that go through both products while they are in a cache
_Static_assert(D % WIDTH == 0 && H % UNITS == 0 && BLOCK % SAMPLES == 0, "tiles are whole");

typedef float vector __attribute__((vector_size(WIDTH * sizeof(float))));
typedef vector vector_at __attribute__((aligned(sizeof(float))));

typedef struct problem {
    uint64_t records;
    float *x;               // records rows of D
    uint32_t *y;
    float *weights;         // as bench_weight has them
    float *part;            // NET_WEIGHTS for each thread
} problem;

typedef struct block {
    float hidden[BLOCK][H], delta[BLOCK][H];
} block;

static inline vector load(const float *p) { return *(const vector_at *)p; }

static inline float sum_of(vector v)
{
    float sum = 0;
    for (int l = 0; l < WIDTH; l++) sum += v[l];
    return sum;
}

// `samples` is a constant where this is called.
static inline __attribute__((always_inline)) void forward(const problem *p, const float *x, float (*hidden)[H], const uint32_t samples)
{
    for (int h = 0; h < H; h += UNITS) {
        vector sum[SAMPLES][UNITS] = {0};
        for (int i = 0; i < D; i += WIDTH)
            for (int u = 0; u < UNITS; u++) {
                const vector w = load(p->weights + (h + u) * D + i);
                for (uint32_t s = 0; s < samples; s++) sum[s][u] += w * load(x + s * D + i);
            }
        for (uint32_t s = 0; s < samples; s++)
            for (int u = 0; u < UNITS; u++) hidden[s][h + u] = sum_of(sum[s][u]) + p->weights[NET_B1 + h + u];
    }
}

// From the hidden units to what their inputs should have been: the gradients of the second layer, and delta.
static void between(const problem *p, uint64_t first, uint32_t samples, block *b, float *gradient)
{
    const float *w2 = p->weights + NET_W2, *b2 = p->weights + NET_B2;
    float *g2 = gradient + NET_W2;
    for (uint32_t s = 0; s < samples; s++)
        for (int h = 0; h < H; h++) b->hidden[s][h] = tanhf(b->hidden[s][h]);
    for (uint32_t s = 0; s < samples; s++) {
        float score[C], top = -INFINITY, total = 0, back[H] = {0};
        for (int c = 0; c < C; c++) {
            score[c] = b2[c];
            for (int h = 0; h < H; h++) score[c] += w2[c * H + h] * b->hidden[s][h];
            top = fmaxf(top, score[c]);
        }
        for (int c = 0; c < C; c++) total += score[c] = expf(score[c] - top);
        for (int c = 0; c < C; c++) {
            const float delta = score[c] / total - (p->y[first + s] == (uint32_t)c);
            gradient[NET_B2 + c] += delta;
            for (int h = 0; h < H; h++) {
                g2[c * H + h] += delta * b->hidden[s][h];
                back[h] += delta * w2[c * H + h];
            }
        }
        for (int h = 0; h < H; h++) {
            b->delta[s][h] = back[h] * (1 - b->hidden[s][h] * b->hidden[s][h]);
            gradient[NET_B1 + h] += b->delta[s][h];
        }
    }
}

// `span` vectors of columns from i on; a constant where this is called.
static inline __attribute__((always_inline)) void backward(const float *x, uint32_t samples, const block *b, float *gradient, int i, const int span)
{
    for (int h = 0; h < H; h += UNITS) {
        vector sum[UNITS][SPAN];
        for (int u = 0; u < UNITS; u++)
            for (int v = 0; v < span; v++) sum[u][v] = load(gradient + (h + u) * D + i + v * WIDTH);
        for (uint32_t s = 0; s < samples; s++)
            for (int u = 0; u < UNITS; u++)
                for (int v = 0; v < span; v++) sum[u][v] += b->delta[s][h + u] * load(x + s * D + i + v * WIDTH);
        for (int u = 0; u < UNITS; u++)
            for (int v = 0; v < span; v++) *(vector_at *)(gradient + (h + u) * D + i + v * WIDTH) = sum[u][v];
    }
}

static void work(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    float *gradient = p->part + (size_t)thread * NET_WEIGHTS;
    memset(gradient, 0, NET_WEIGHTS * sizeof *gradient);
    block b;
    const uint64_t first = p->records * thread / threads, end = p->records * (thread + 1) / threads;
    for (uint64_t at = first; at < end; at += BLOCK) {
        const uint32_t samples = end - at < BLOCK ? (uint32_t)(end - at) : BLOCK, whole = samples - samples % SAMPLES;
        const float *x = p->x + at * D;
        for (uint32_t s = 0; s < whole; s += SAMPLES) forward(p, x + (size_t)s * D, b.hidden + s, SAMPLES);
        for (uint32_t s = whole; s < samples; s++) forward(p, x + (size_t)s * D, b.hidden + s, 1);
        between(p, at, samples, &b, gradient);
        int i = 0;
        for (; i + SPAN * WIDTH <= D; i += SPAN * WIDTH) backward(x, samples, &b, gradient, i, SPAN);
        for (; i < D; i += WIDTH) backward(x, samples, &b, gradient, i, 1);
    }
}

// The threads' gradients are added to the first one's.
static void run(void *state)
{
    problem *p = state;
    bench_parallel(work, p);
    for (unsigned t = 1; t < bench_threads(); t++)
        for (size_t i = 0; i < NET_WEIGHTS; i++) p->part[i] += p->part[(size_t)t * NET_WEIGHTS + i];
}

static size_t check(void *state, double *values, size_t limit)
{
    const float *g = ((const problem *)state)->part;
    const double all[] = {(double)g[100], (double)g[NET_B1 - 1], (double)g[NET_B1], (double)g[NET_W2], (double)g[NET_WEIGHTS - 1]};
    for (size_t i = 0; i < 5 && i < limit; i++) values[i] = all[i];
    return limit < 5 ? limit : 5;
}

static void make_samples(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t r = p->records * thread / threads; r < p->records * (thread + 1) / threads; r++) {
        for (uint32_t c = 0; c < D; c++) p->x[r * D + c] = bench_pixel_of(r, c);
        p->y[r] = bench_class_of(r);
    }
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 8000);
    if (!p->records) {
        fprintf(stderr, "expert_neural: needs at least one record\n");
        return 2;
    }
    p->x = bench_allocate(p->records * D * sizeof(float));
    p->y = bench_allocate(p->records * sizeof *p->y);
    p->weights = bench_allocate(NET_WEIGHTS * sizeof(float));
    p->part = bench_allocate((size_t)bench_threads() * NET_WEIGHTS * sizeof(float));
    bench_parallel(make_samples, p);
    for (uint64_t i = 0; i < NET_WEIGHTS; i++) p->weights[i] = bench_weight(i);
    const bench_case cases[] = {{"step", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
