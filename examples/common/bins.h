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

// Where bin k begins: low + k * width, the product rounded, then the sum (as NumPy has it).
double bins_edge(const bins *b, uint64_t k);

// What was counted: one number per bin and column, then three rows of what lies below, above, and is no number.
typedef struct bins_counts {
    const bins *of;
    const uint64_t *n;          // of->count + 3 rows
    uint32_t columns;
} bins_counts;

// Counts the records of `rows`, called row in the module, by bins: those of the range that was chosen, else of the
// range that the rows are found to have (which reads them twice: a cache is of use). The module has histogram.hk in
// it. The caller destroys *result in any case; *counts are of it.
hdst_status bins_count(program_run *run, bins *b, hdst_dataset *rows, hdst_module *module, uint32_t columns, hdst_result **result, bins_counts *counts,
                       hdst_error *error);

// "bins": [[low edge, count of each column ...] ...], "below", "above", "nan": a number per column
void bins_write_json(json *j, const bins_counts *c);
void bins_write_text(FILE *out, const bins_counts *c);

#endif
