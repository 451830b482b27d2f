// What compilers of OpenCL C differ in: GPUs. LOOK: a word that others change, as a first guess.
#pragma once

#define VECTOR_LOOP(WIDTH, INTERLEAVE)
#define MASKED_LOOP(WIDTH, INTERLEAVE)
#define SCALAR_LOOP
#define ALIGNED
#define LOOK(word) (*(word))
#define LOOK_LOCAL(word) (*(word))
#define TRUNC_FLOAT trunc
#define TRUNC_DOUBLE trunc
#define PREFETCH_ROW(AT)
#define PREFETCH(FIRST, SIZE)
#define PREFETCH_BYTES(FIRST, BYTES) ;
#define TEXT_VECTORS 0
#define READS_BYTES 1
#define WIDEST_VECTORS
