//# LANES 256u
#pragma once
// What aggregate_kernels.c prints around these files, as an example: records of a uint, their key, and a float, whose
// sum is wanted. Not built in; by it the others compile.
#include "shuffle/aggregate/hash_key.cl"
#include "accum/integer_words_local.cl"
#include "accum/overflow_table.cl"
#define TUPLE uint4
#define SIZE 8ul
#define ROW_BYTES 8ul         // of a row that hash_total writes: a record, or what becomes its state
#define SRC __global const uchar *restrict b0
#define SRC_ARGS b0
#define SCALES __global const int *restrict scale_list, ulong addend_bits
#define SCALES_OF scales_of(scale_list, (uint)addend_bits)
typedef struct {
    float limit;
    uint bits;
    int s0;
    float up0, down0;
} scales_t;
typedef struct {
    uint exceptions;       // a bit for each sum whose addend does not fit
    long w0;
} words_t;
TUPLE tuple_at(SRC, ulong i);
MIXED mixed_of(TUPLE tuple);
scales_t scales_of(__global const int *restrict list, uint bits);
words_t words_of(TUPLE tuple, scales_t scales);
// To a row of a table, whose words lie `stride` apart, and from there; to the words of a heavy hitter, and from there.
void add_cells(volatile __local uint *cells, uint at, uint stride, words_t words);
words_t cells_at(volatile __local uint *cells, uint at, uint stride);
void add_words(volatile __global ulong *to, words_t words);
words_t words_at(__global const ulong *at);
// Whether a row's tuples had other keys, of more than 8 bytes, with the same mixed key.
#define COMES_BEFORE(cells, at_a, a, at_b, b, top) ((a) < (b))      // tags of a table's rows, in the order of their keys
#define KEYS_DIFFER(words) false
void write_row(__global uchar *row, MIXED m, words_t words, scales_t scales);
void write_state(__global const uchar *row, __global ulong *to, uint addend_bits);
// Addends that do not fit, sums of which some did not, such a sum to its row.
void add_exceptions(volatile __global long *overflow, ulong place, TUPLE tuple, uint exceptions);
void finish_exceptions(volatile __global long *overflow, __global ulong *rows_of_overflow, ulong place, ulong row, words_t words, scales_t scales);
void put_sum(__global uchar *row, ulong sum, __global const long *cell);
