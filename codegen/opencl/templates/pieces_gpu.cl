//# LANES 256
#pragma once
#include "codegen/opencl/templates/text.cl"
#include "codegen/opencl/templates/emit_gpu.cl"

// Texts in pieces, of which a lane takes the tokens that begin there (codegen/pass/token_pieces.c): a long text is as many lanes' work as it has pieces.
#define PIECE_BYTES 128u

// The first byte from `at` on that is of no token which goes on from the byte before; behind `limit` it does not matter which. HOW as ir_token_bytes has it.
inline uint behind_token(hdst_text t, uint at, uint limit, ulong ranges, uint how)
{
    const hdst_text seen = how & 1 ? text_view(t, 1) : t;
    uint base = at - 1, others = 0;
    for (bool first = true; base < limit; base += 8, first = false) {
        others = (uint)bits_of_word(text_word(seen, base), ranges) ^ (how & 2 ? 0 : 255);
        if (first && others & 1) return at;
        if (others) return min(base + (uint)popcount(~others & (others - 1)), t.length);
    }
    return t.length;
}

// The part of a text that has the tokens which begin in its bytes from `from` on, before the next piece.
INLINED hdst_text text_piece(hdst_text t, uint from, ulong ranges, uint how)
{
    if (t.length <= PIECE_BYTES) return t;
    const uint to = t.length - from > PIECE_BYTES ? from + PIECE_BYTES : t.length;
    const uint first = from ? behind_token(t, from, to, ranges, how) : 0;
    return first >= to ? text_slice(t, 0, 0) : text_slice(t, first, to < t.length ? behind_token(t, to, t.length, ranges, how) : to);
}

// The numbers of the first pieces of a tile's texts, by lane, and behind them how many there are in all, which is what comes back. All lanes come here.
inline uint place_pieces_of(__local uint *starts, __local uint *sums, uint lane, uint pieces)
{
    const uint before = before_lane(sums, lane, pieces);
    starts[lane] = before;
    if (lane == LANES - 1) starts[LANES] = before + pieces;
    barrier(CLK_LOCAL_MEM_FENCE);
    return starts[LANES];
}

inline uint place_pieces(__local uint *starts, __local uint *sums, uint lane, uint length)
{
    return place_pieces_of(starts, sums, lane, length / PIECE_BYTES + (length % PIECE_BYTES != 0));
}

// Whose piece it is: the last record of the tile that begins at it or before.
inline uint record_of_piece(__local const uint *starts, uint piece)
{
    uint record = 0;
    for (uint step = 1024; step; step /= 2)
        if (record + step < LANES && starts[record + step] <= piece) record += step;
    return record;
}
