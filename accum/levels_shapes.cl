// Included behind levels.cl: sums of what lies side by side over a block, in private memory (p) or as the input has it (g): values, products of two, squares.
//: REAL float | double

#define SHAPE p
#define PARAMS const REAL *a
#define ARGS a
#define VECTOR *(const LOADED *)(a + r)
#define SCALAR a[r]
#define WHAT the values
#include "accum/levels_of.cl"

#define SHAPE g
#define PARAMS __global const REAL *a
#define ARGS a
#define VECTOR *(__global const LOADED *)(a + r)
#define SCALAR a[r]
#define WHAT the values
#include "accum/levels_of.cl"

#define SHAPE pp
#define PARAMS const REAL *a, const REAL *b
#define ARGS a, b
#define VECTOR *(const LOADED *)(a + r) * *(const LOADED *)(b + r)
#define SCALAR a[r] * b[r]
#define WHAT products
#include "accum/levels_of.cl"

#define SHAPE gp
#define PARAMS __global const REAL *a, const REAL *b
#define ARGS a, b
#define VECTOR *(__global const LOADED *)(a + r) * *(const LOADED *)(b + r)
#define SCALAR a[r] * b[r]
#define WHAT products
#include "accum/levels_of.cl"

#define SHAPE gg
#define PARAMS __global const REAL *a, __global const REAL *b
#define ARGS a, b
#define VECTOR *(__global const LOADED *)(a + r) * *(__global const LOADED *)(b + r)
#define SCALAR a[r] * b[r]
#define WHAT products
#include "accum/levels_of.cl"

#define SHAPE p2
#define PARAMS const REAL *a
#define ARGS a
#define VECTOR *(const LOADED *)(a + r) * *(const LOADED *)(a + r)
#define SCALAR a[r] * a[r]
#define WHAT squares
#include "accum/levels_of.cl"

#define SHAPE g2
#define PARAMS __global const REAL *a
#define ARGS a
#define VECTOR *(__global const LOADED *)(a + r) * *(__global const LOADED *)(a + r)
#define SCALAR a[r] * a[r]
#define WHAT squares
#include "accum/levels_of.cl"
