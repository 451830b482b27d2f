// SPDX-License-Identifier: Apache-2.0
// What an expert writes in C for one step of logistic regression by Newton's method: ten predictors and a class in
// double, an array each; the log likelihood, its gradient, the information matrix and the rows whose class is found.
// Threads; exp and log1p of the C library's vector functions; float sums in double, regrouped.
//
// Shape: a block of rows goes through the mathematics with arrays in the first cache; then the sums, products of the
// rows z and of the same weighted, are a small matrix product: four by four sums stay in registers while the block
// goes by.
// usage: expert_logistic [--records N], driven by bench/run.py
#include "bench/models.h"

#include <math.h>

enum { D = LOGISTIC_PREDICTORS, ROWS = 12, BLOCK = 128, WIDTH = 8, TILE = 4 };       // rows of z: the constant, D predictors, and one of zeros

typedef double vector __attribute__((vector_size(WIDTH * sizeof(double))));

typedef struct totals {
    double product[ROWS][ROWS];     // [i][j], j <= i: of the weighted row i and row j; row 11: the gradient
    double log_likelihood;
    uint64_t right;
} totals;

typedef struct problem {
    uint64_t records;
    double *x[D + 1];               // the predictors, the class
    double mean[D], factor[D], b[D + 1];
    totals *part;
    totals sum;
} problem;

typedef struct block {
    double z[ROWS][BLOCK] __attribute__((aligned(64)));
    double weighted[ROWS][BLOCK] __attribute__((aligned(64)));     // the last row: what the model leaves of the class
} block;

// Predictor c of the block, scaled, and what it adds to eta. Not inlined: a compiler turned the loops over columns and rows round, and gathered.
static __attribute__((noinline)) void scale(const problem *p, uint32_t c, const double *restrict x, uint32_t records, double *restrict z, double *restrict eta)
{
    const double mean = p->mean[c], factor = p->factor[c], b = p->b[c + 1];
    for (uint32_t r = 0; r < records; r++) {
        z[r] = (x[r] - mean) * factor;
        eta[r] += b * z[r];
    }
}

static void mathematics(const problem *p, uint64_t first, uint32_t records, block *b, totals *to)
{
    double eta[BLOCK], e[BLOCK], weight[BLOCK], sum = 0;
    const double *y = p->x[D] + first;
    uint64_t right = 0;
    for (uint32_t r = 0; r < records; r++) eta[r] = p->b[0];
    for (uint32_t c = 0; c < D; c++) scale(p, c, p->x[c] + first, records, b->z[c + 1], eta);
    for (uint32_t r = 0; r < records; r++) e[r] = exp(-fabs(eta[r]));
    for (uint32_t r = 0; r < records; r++) {
        const double q = 1 / (1 + e[r]);
        b->weighted[ROWS - 1][r] = y[r] - (eta[r] >= 0 ? q : e[r] * q);
        weight[r] = e[r] * q * q;
        const double against = y[r] > 0.5 ? fmin(eta[r], 0) : fmin(-eta[r], 0);
        sum += against - log1p(e[r]);
        right += (eta[r] > 0) == (y[r] > 0.5);
    }
    for (uint32_t i = 0; i <= D; i++)
        for (uint32_t r = 0; r < records; r++) b->weighted[i][r] = weight[r] * b->z[i][r];
    to->log_likelihood += sum;
    to->right += right;
}

// The products of rows [i, i + 4) with rows [j, j + 4); on the diagonal only those at or below it, and the gradient.
static inline __attribute__((always_inline)) void tile(const block *b, uint32_t records, totals *to, const int i, const int j)
{
    vector sum[TILE][TILE] = {0};
    for (uint32_t r = 0; r < records; r += WIDTH)
        for (int m = 0; m < TILE; m++)
            for (int n = 0; n < TILE; n++)
                if (j + n <= D && (i + m == ROWS - 1 || j + n <= i + m))
                    sum[m][n] += *(const vector *)&b->weighted[i + m][r] * *(const vector *)&b->z[j + n][r];
    for (int m = 0; m < TILE; m++)
        for (int n = 0; n < TILE; n++)
            for (int l = 0; l < WIDTH; l++) to->product[i + m][j + n] += sum[m][n][l];
}

// A rest of a vector is filled up with rows of zeros.
static void products(block *b, uint32_t records, totals *to)
{
    const uint32_t whole = (records + WIDTH - 1) / WIDTH * WIDTH;
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t r = records; r < whole; r++) b->weighted[i][r] = b->z[i][r] = 0;
    tile(b, whole, to, 0, 0);
    tile(b, whole, to, 4, 0);
    tile(b, whole, to, 4, 4);
    tile(b, whole, to, 8, 0);
    tile(b, whole, to, 8, 4);
    tile(b, whole, to, 8, 8);
}

static void work(unsigned thread, unsigned threads, void *state)
{
    const problem *p = state;
    totals *to = &p->part[thread];
    memset(to, 0, sizeof *to);
    block b;
    memset(&b, 0, sizeof b);
    const uint64_t blocks = (p->records + BLOCK - 1) / BLOCK;
    for (uint64_t n = blocks * thread / threads; n < blocks * (thread + 1) / threads; n++) {
        const uint64_t first = n * BLOCK;
        const uint32_t records = p->records - first < BLOCK ? (uint32_t)(p->records - first) : BLOCK;
        for (uint32_t r = 0; r < BLOCK; r++) b.z[0][r] = 1;
        mathematics(p, first, records, &b, to);
        products(&b, records, to);
    }
}

static void run(void *state)
{
    problem *p = state;
    bench_parallel(work, p);
    memset(&p->sum, 0, sizeof p->sum);
    for (unsigned t = 0; t < bench_threads(); t++) {
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++) p->sum.product[i][j] += p->part[t].product[i][j];
        p->sum.log_likelihood += p->part[t].log_likelihood;
        p->sum.right += p->part[t].right;
    }
}

// Of the information matrix, whose lower half the example keeps row by row: the first number, number 30 and the last.
static size_t check(void *state, double *values, size_t limit)
{
    const totals *s = &((const problem *)state)->sum;
    const double all[] = {s->log_likelihood, (double)s->right, s->product[ROWS - 1][0], s->product[ROWS - 1][D],
                          s->product[0][0],  s->product[7][2], s->product[D][D]};
    for (size_t i = 0; i < 7 && i < limit; i++) values[i] = all[i];
    return limit < 7 ? limit : 7;
}

static void make_rows(unsigned thread, unsigned threads, void *state)
{
    problem *p = state;
    for (uint64_t i = p->records * thread / threads; i < p->records * (thread + 1) / threads; i++) {
        for (uint32_t c = 0; c < D; c++) p->x[c][i] = bench_predictor(i, c);
        p->x[D][i] = bench_class(i);
    }
}

int main(int argc, char **argv)
{
    problem *p = bench_allocate(sizeof *p);
    p->records = bench_option(argc, argv, "--records", 2000000);
    if (!p->records) {
        fprintf(stderr, "expert_logistic: needs at least one record\n");
        return 2;
    }
    for (int c = 0; c <= D; c++) p->x[c] = bench_allocate(p->records * sizeof(double));
    p->part = bench_allocate(bench_threads() * sizeof(totals));
    bench_parallel(make_rows, p);
    for (uint32_t c = 0; c < D; c++) {
        p->mean[c] = bench_mean(c);
        p->factor[c] = bench_factor(c);
    }
    for (uint32_t i = 0; i <= D; i++) p->b[i] = bench_coefficient(i);
    const bench_case cases[] = {{"step", run, check, p}};
    return bench_serve(cases, 1, p->records);
}
