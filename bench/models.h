// SPDX-License-Identifier: Apache-2.0
// What both sides of the comparisons about models share: the data of logistic regression, of the neural net and of
// fuzzy c-means, and the models at the step that is measured.
#ifndef HDST_BENCH_MODELS_H
#define HDST_BENCH_MODELS_H

#include "bench/bench.h"

enum { FUZZY_COLUMNS = 4, LOGISTIC_PREDICTORS = 10, NET_COLUMNS = 784, NET_HIDDEN = 30, NET_CLASSES = 10 };

// Uniform in [-1, 1), all 53 digits.
static inline double bench_signed(uint64_t counter) { return (double)(bench_random(counter) >> 10) * 0x1p-53 - 1; }

// Predictor `column` of row `record`, and its class, 0 or 1, which the predictors make more or less likely.
static inline double bench_predictor(uint64_t record, uint32_t column) { return bench_signed(record * LOGISTIC_PREDICTORS + column); }

static inline double bench_class(uint64_t record)
{
    double sum = bench_signed((1ull << 43) + record);
    for (uint32_t c = 0; c < LOGISTIC_PREDICTORS; c++) sum += (c % 2 ? -0.25 : 0.25) * bench_predictor(record, c);
    return sum > 0;
}

// The scaling of predictor `column`, coefficient `i` (0: the intercept) of the model.
static inline double bench_mean(uint32_t column) { return 0.01 * (column + 1); }
static inline double bench_factor(uint32_t column) { return 1.7 + 0.01 * column; }
static inline double bench_coefficient(uint32_t i) { return 0.3 * bench_signed((1ull << 44) + i); }

// Pixel `column` of image `record` in [0, 1); of five one is not black, as among the digits of MNIST. Its class.
static inline float bench_pixel_of(uint64_t record, uint32_t column)
{
    const uint64_t r = bench_random((1ull << 45) + record * NET_COLUMNS + column);
    return r % 5 ? 0 : (float)(r >> 40) * 0x1p-24f;
}
static inline uint32_t bench_class_of(uint64_t record) { return (uint32_t)(bench_random((1ull << 46) + record) % NET_CLASSES); }

// Weight `i` of the net, in the order of its struct: w1[hidden][columns], b1, w2[classes][hidden], b2.
enum {
    NET_W1 = 0,
    NET_B1 = NET_HIDDEN * NET_COLUMNS,
    NET_W2 = NET_B1 + NET_HIDDEN,
    NET_B2 = NET_W2 + NET_CLASSES * NET_HIDDEN,
    NET_WEIGHTS = NET_B2 + NET_CLASSES
};
static inline float bench_weight(uint64_t i) { return (i < NET_B1 ? 0.08f : 0.3f) * (float)bench_signed((1ull << 47) + i); }

#endif
