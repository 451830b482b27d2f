// SPDX-License-Identifier: Apache-2.0
// Bins of equal width over a range of numbers, for histograms: --bins, --range, and how they are shown. Kernels that count go by the same edges (histogram.hk).
#ifndef EXAMPLES_BINS_H
#define EXAMPLES_BINS_H

#include "json.h"
#include "program.h"

enum { BINS_MOST = 1 << 24 };

typedef struct bins {
    double low, high, width;    // as struct range of histogram.hk, which is bound to them
    uint64_t count;
    bool chosen;                // the user gave low and high
} bins;

// --range LOW,HIGH; text NULL: not given. HDST_E_USAGE unless both are finite and low < high.
hdst_status bins_read_range(bins *b, const char *text, hdst_error *error);

// Sets the range, that of the data unless it was chosen, and the width. Data of one value get half a unit on each side. HDST_E_USAGE: the range is beyond what
// double can subtract, or has too few doubles for so many bins.
hdst_status bins_settle(bins *b, double low, double high, hdst_error *error);

// Where bin k begins: low + k * width, the product rounded, then the sum (as NumPy has it).
double bins_edge(const bins *b, uint64_t k);

// What was counted: one number per bin and column, then three rows of what lies below, above, and is no number.
typedef struct bins_counts {
    const bins *of;
    const uint64_t *n;          // of->count + 3 rows
    uint32_t columns;
} bins_counts;

// "bins": [[low edge, count of each column ...] ...], "below", "above", "nan": a number per column
void bins_write_json(json *j, const bins_counts *c);
void bins_write_text(FILE *out, const bins_counts *c);

#endif
