#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define VECTOR_LOOP(WIDTH, INTERLEAVE) PRAGMA(clang loop vectorize_width(WIDTH) interleave_count(INTERLEAVE))
#define ALIGNED __attribute__((aligned(64)))    // arrays over the block: a vector of one must not lie in two cache lines
#define SCALAR_LOOP PRAGMA(clang loop vectorize(disable))
