//# COMBINED_ROW_WORDS 2
//# COMBINED_BYTES 8
//# COMBINED_KEY_WORDS 0 | 1
//# COMBINED_HASH key_hash_4(*(__global const uint *)one)
//# COMBINED_KEY 0
//# COMBINED_VALUES 1
//# COMBINED_SUMS const ulong unit = scale[0]
//# COMBINE_WORDS word[0][i] = unit * *(__global const uint *)(one + 4)
//# COMBINED_FIXED 1
//# COMBINED_AHEAD 16
#pragma once
#include "codegen/opencl/templates/combine_tables_cpu.cl"

// Sums of records with equal keys, in rows of words as tables of a reduction by key have them (shuffle/aggregate/aggregation_layout.h): a tag, the key's
// hash and a bit that says that the row has one; the key, where it has more than 4 bytes; a word for each sum, floats in fixed point. So what the rows of all
// cores come to is exact, whichever records they took.
#define COMBINED_USED (1UL << 32)
#define COMBINED_CELLS (1 + COMBINED_KEY_WORDS)

// As record/key_hash.h has them.
inline uint key_hash_4(uint x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
inline uint key_hash_8(ulong x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebUL;
    return (uint)((x ^ x >> 31) >> 32);
}

inline bool combined_row_is(__global const ulong *row, uint hash, ulong key)
{
    const bool same = COMBINED_KEY_WORDS ? row[1] == key : true;
    return same && row[0] == (COMBINED_USED | hash);
}

// The same as all bits or none, by arithmetic: of a comparison LLVM makes a branch. Tags are below 2^33.
inline ulong combined_mask(__global const ulong *row, uint hash, ulong key)
{
    const ulong other = COMBINED_KEY_WORDS ? row[1] ^ key : 0, differs = (row[0] ^ (COMBINED_USED | hash)) | (uint)other | other >> 32;
    return (ulong)((long)(differs - 1) >> 63);
}

// The row of a key that is not at its home, made where there is none; 0: it has no place. Few are: out of line.
__attribute__((noinline)) __global ulong *combined_row(__global ulong *head, __global ulong *own, ulong bits, uint hash, ulong key)
{
    const ulong home = hash >> (32 - bits), mask = (1UL << bits) - 1;
    for (uint probe = 0; probe < COMBINED_PROBES; probe++) {
        __global ulong *row = own + COMBINED_ROW_WORDS * (home + probe & mask);
        if (combined_row_is(row, hash, key)) return row;
        if (row[0]) continue;
        if (head[2] >= 1UL << bits >> 1) return 0;
        row[0] = COMBINED_USED | hash;
        if (COMBINED_KEY_WORDS) row[1] = key;
        head[2]++;
        return row;
    }
    return 0;
}

// Rows with a sum that more could overflow move on, to as many places in front of the table, and begin anew.
inline void combined_move_full(__global ulong *head, __global ulong *rows, __global ulong *own, ulong bits)
{
    head[COMBINED_ADDED] = 0;
    for (ulong at = 0; at < 1UL << bits; at++, own += COMBINED_ROW_WORDS) {
        bool full = false;
        for (uint v = 0; v < COMBINED_VALUES; v++)
            full |= (COMBINED_FIXED >> v & 1) && abs((long)own[COMBINED_CELLS + v]) >= head[COMBINED_FULL];
        if (!full) continue;
        if (head[COMBINED_MOVED] == 1UL << bits) {
            head[COMBINED_CLOSED] = 1;
            return;
        }
        __global ulong *to = rows + COMBINED_ROW_WORDS * head[COMBINED_MOVED]++;
        for (uint w = 0; w < COMBINED_CELLS + COMBINED_VALUES; w++) to[w] = own[w];
        for (uint v = 0; v < COMBINED_VALUES; v++) own[COMBINED_CELLS + v] = 0;
    }
}

// Hashes, keys and words of `count` records from `record` on. Not 0: some have an addend that is no number of its scale.
WIDEST_VECTORS inline uint combined_words(__global const ulong *head, __global const uchar *record, uint count, uint *hash, ulong *key,
                                          ulong (*word)[COMBINED_BATCH], uchar *odd)
{
    __global const ulong *scale = head + COMBINED_SCALES;
    uint any = 0;
    COMBINED_SUMS;
    VECTOR_LOOP(16, 1)
    for (uint i = 0; i < count; i++) {          // all of a record at once: loads without gaps
        __global const uchar *one = record + (ulong)i * COMBINED_BYTES;
        bool fits = true;
        hash[i] = COMBINED_HASH;
        if (COMBINED_KEY_WORDS) key[i] = COMBINED_KEY;
        COMBINE_WORDS;
        odd[i] = !fits;
        any |= !fits;
    }
    return any;
}

inline void combined_copy_bytes(__global uchar *to, __global const uchar *record)
{
    for (uint b = 0; b < COMBINED_BYTES; b += 4) *(__global uint *)(to + b) = *(__global const uint *)(record + b);
}

// Adds the words of records whose keys are where they are at home; nothing, without a branch, to rows of other keys. The others go to `left`: how many.
// Meanwhile the core reads nothing else, so what follows of the input is asked for, COMBINED_AHEAD bytes for each record (0: nothing): memory then is at
// work all the time, and never has more to do at once than it can take.
inline uint combined_add_at_home(__global ulong *own, ulong bits, uint count, const uint *hash, const ulong *key, ulong (*word)[COMBINED_BATCH],
                                 const uchar *odd, const bool look, uchar *left, __global const uchar *ahead)
{
    const uint shift = 32 - bits;
    ulong missed = 0;
    SCALAR_LOOP
    for (uint i = 0; i < count; i++, ahead += COMBINED_AHEAD) {
        if (COMBINED_AHEAD) PREFETCH_BYTES(ahead, 1)
        __global ulong *row = own + COMBINED_ROW_WORDS * (ulong)(hash[i] >> shift);
        const ulong mask = combined_mask(row, hash[i], COMBINED_KEY_WORDS ? key[i] : 0) & (look ? (ulong)odd[i] - 1 : ~0UL);
        for (uint v = 0; v < COMBINED_VALUES; v++) row[COMBINED_CELLS + v] += word[v][i] & mask;
        left[missed] = i;
        missed += 1 + mask;
    }
    return (uint)missed;
}

// Of `count` records from `record` on, COMBINED_BATCH at most: those that have a place in the table leave the output, the others go to `stays`. Returns how
// many of these there are.
WIDEST_VECTORS inline uint combine_batch(__global ulong *head, __global ulong *own, __global uchar *record, uint count, __global uchar *stays,
                                         __global const uchar *ahead)
{
    uint hash[COMBINED_BATCH], kept = 0;
    ulong key[COMBINED_KEY_WORDS ? COMBINED_BATCH : 1], word[COMBINED_VALUES][COMBINED_BATCH];
    uchar odd[COMBINED_BATCH], left[COMBINED_BATCH];
    const ulong bits = head[1], rows = head[2];
    const uint any = count == COMBINED_BATCH ? combined_words(head, record, COMBINED_BATCH, hash, key, word, odd)
                                             : combined_words(head, record, count, hash, key, word, odd);
    const uint missed = any ? combined_add_at_home(own, bits, count, hash, key, word, odd, true, left, ahead)
                            : combined_add_at_home(own, bits, count, hash, key, word, odd, false, left, ahead);
    for (uint m = 0; m < missed; m++) {
        const uint i = left[m];
        __global ulong *row = any && odd[i] ? 0 : combined_row(head, own, bits, hash[i], COMBINED_KEY_WORDS ? key[i] : 0);
        if (row) {
            for (uint v = 0; v < COMBINED_VALUES; v++) row[COMBINED_CELLS + v] += word[v][i];
            continue;
        }
        combined_copy_bytes(stays + (ulong)kept * COMBINED_BYTES, record + (ulong)i * COMBINED_BYTES);
        kept++;
    }
    head[3] += count;
    head[4] += count - kept - (head[2] - rows);
    head[COMBINED_ADDED] += count;
    return kept;
}

// Records `from` ... `to` of the output: returns where those end that did not leave it. `ahead`: input that is to be asked for meanwhile.
WIDEST_VECTORS inline ulong combine_rows(__global ulong *head, __global ulong *rows, __global uchar *output, ulong from, ulong to,
                                         __global const uchar *ahead)
{
    const ulong bits = head[1];
    __global ulong *own = rows + ((ulong)COMBINED_ROW_WORDS << bits);
    if (head[COMBINED_CLOSED]) return to;           // within a strip: a full row had no place to go to
    for (ulong at = from; at < to; at += COMBINED_BATCH)
        from += combine_batch(head, own, output + at * COMBINED_BYTES, (uint)min(to - at, (ulong)COMBINED_BATCH), output + from * COMBINED_BYTES,
                              ahead);
    if (head[COMBINED_ADDED] >= head[COMBINED_LOOK_AFTER]) combined_move_full(head, rows, own, bits);
    return from;
}
