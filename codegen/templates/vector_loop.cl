#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define VECTOR_LOOP(WIDTH, INTERLEAVE) PRAGMA(clang loop vectorize_width(WIDTH) interleave_count(INTERLEAVE))
#define SCALAR_LOOP PRAGMA(clang loop vectorize(disable))
