// What compilers of OpenCL C differ in: nothing but OpenCL C 1.2, and nothing that a race detector takes for a race.
#pragma once

#define VECTOR_LOOP(WIDTH, INTERLEAVE)
#define MASKED_LOOP(WIDTH, INTERLEAVE)
#define SCALAR_LOOP
#define ALIGNED
#define LOOK(word) atom_add(word, 0)
#define LOOK_LOCAL(word) atomic_or(word, 0)
#define TRUNC_FLOAT trunc
#define TRUNC_DOUBLE trunc
#define PREFETCH_ROW(AT)
#define PREFETCH(FIRST, SIZE)
#define PREFETCH_BYTES(FIRST, BYTES) ;
#define TEXT_VECTORS 0
#define READS_BYTES 1
#define WIDEST_VECTORS
