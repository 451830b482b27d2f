//# LANES 256u
#pragma once
// What aggregate_slice_text.c prints around slice_gpu.cl, as an example: records of a text, their key, and a number of 64 bits that is added up. Not built in;
// by it the other compiles.
#include "base/head.cl"
#define RECORD_BYTES 24ul
// A copy of the stretch of the host's memory that long texts refer to.
#define TEXTS __global const uchar *restrict texts, ulong text_bytes, ulong text_host
#define TEXTS_OF texts, text_bytes, text_host
ulong hash_of_key(__global const uchar *record, TEXTS);
bool same_key(__global const uchar *a, __global const uchar *b, TEXTS);
void add_values(volatile __global uchar *row, __global const uchar *record);
