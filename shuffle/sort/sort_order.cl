//# KEY uint | ulong
//# SRC 0 | 1 | 2
//# PAIRS 0 | 1
//# LAST 0 | 1
//# SIZE 12ul
//# key_of(row) (*(__global const KEY *)(row))
//# VALUE uint
//# value_of(key) ((VALUE)(key))
//# OUT16 uint16
#pragma once
// What the kernels of a sort read and write. SRC says where a key comes from: 0: from the records as they lie; 1:
// from the records in the order of an index; 2: from keys that the pass before wrote. PAIRS: an index moves with each
// key. LAST: the word's last pass, behind which nobody needs the keys.
#if SRC == 0
#define IN_PARAMS __global const uchar *restrict rows
#define KEY_AT(i) key_of(rows + (ulong)(i) * SIZE)
#define INDEX_AT(i) ((uint)(i))
#elif SRC == 1
#define IN_PARAMS __global const uchar *restrict rows, __global const uint *restrict index_in
#define KEY_AT(i) key_of(rows + (ulong)index_in[i] * SIZE)
#define INDEX_AT(i) index_in[i]
#elif PAIRS
#define IN_PARAMS __global const KEY *restrict keys_in, __global const uint *restrict index_in
#define KEY_AT(i) keys_in[i]
#define INDEX_AT(i) index_in[i]
#else
#define IN_PARAMS __global const KEY *restrict keys_in
#define KEY_AT(i) keys_in[i]
#endif
#if !PAIRS && LAST
#define OUT VALUE
#define OUT_OF(key) value_of(key)
#define OUT_PARAMS __global OUT *restrict out
#elif !PAIRS
#define OUT KEY
#define OUT_OF(key) (key)
#define OUT_PARAMS __global OUT *restrict out
#elif !LAST
#define OUT KEY
#define OUT_OF(key) (key)
#define OUT_PARAMS __global OUT *restrict out, __global uint *restrict index_out
#else
#define OUT_PARAMS __global uint *restrict index_out
#endif
#define DIGIT(key) ((uint)((key) >> shift) & 255u)
