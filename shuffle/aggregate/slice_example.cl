//# LANES 256u
#pragma once
// What aggregate_slice_text.c prints around slice_gpu.cl, as an example: records of a text, their key, and a number of 64 bits that is added up. Not built in;
// by it the other compiles.
#include "base/head.cl"
#define RECORD_BYTES 24ul
#define HOT_ROWS 1024u
#define HOT_WORDS 2048u
#define LONGEST 4096u
// Copies of the stretches of the host's memory that long texts refer to, and the bytes of keys that stay.
#define TEXTS __global const uchar *restrict texts, ulong text_bytes, ulong text_host, __global const uchar *restrict own_texts, ulong own_bytes, \
    ulong own_host, __global uchar *heap
#define TEXTS_OF texts, text_bytes, text_host, own_texts, own_bytes, own_host, heap
ulong hash_of_key(__global const uchar *record, TEXTS);
bool same_key(__global const uchar *a, __global const uchar *b, TEXTS);
bool can_stay(__global const uchar *record, TEXTS);
ulong heap_bytes(__global const uchar *record);
void stay(__global uchar *row, __global uchar *to, ulong at, TEXTS);
void add_values(volatile __global uchar *row, __global const uchar *record);
void start_hot(__local uint *hot);
void add_to_hot(volatile __local uint *hot, __global const uchar *record);
void end_hot(volatile __global uchar *row, __local const uint *hot);
