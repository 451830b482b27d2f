// What compilers of OpenCL C differ in: CPU devices, whose compiler is clang. LOOK: a word that others change, as a
// first guess. PoCL's trunc is a function over the bits, its compiler's one
// instruction.
#pragma once

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define VECTOR_LOOP(WIDTH, INTERLEAVE) PRAGMA(clang loop vectorize_width(WIDTH) interleave_count(INTERLEAVE))
// The turns that fill no vector are one too, with lanes off, where the processor reads and writes such vectors.
#if __AVX512BW__ && __AVX512VL__
#define MASKED_LOOP(WIDTH, INTERLEAVE) PRAGMA(clang loop vectorize_width(WIDTH) interleave_count(INTERLEAVE) vectorize_predicate(enable))
#else
#define MASKED_LOOP VECTOR_LOOP
#endif
#define ALIGNED __attribute__((aligned(64)))    // arrays over the block: a vector of one must not lie in two cache lines
#define SCALAR_LOOP PRAGMA(clang loop vectorize(disable))
#define LOOK(word) (*(word))
#define LOOK_LOCAL(word) (*(word))
// A function that is not put in place: its vectors are as wide as a kernel's, for which clang knows no reason otherwise.
#define WIDEST_VECTORS __attribute__((min_vector_width(512)))
#define TRUNC_FLOAT __builtin_truncf
#define TRUNC_DOUBLE __builtin_trunc
#define TEXT_VECTORS (__AVX512BW__ && __AVX512VL__)
#define READS_BYTES 0
#define PREFETCH_ROW(AT) __builtin_prefetch((const void *)(ulong)(AT), 1)
#define PREFETCH(FIRST, SIZE) for (int r = 0; r < BLOCK; r += 64 / (SIZE)) __builtin_prefetch((FIRST) + r);
#define PREFETCH_BYTES(FIRST, BYTES) for (int b = 0; b < (BYTES); b += 64) __builtin_prefetch((FIRST) + b);
