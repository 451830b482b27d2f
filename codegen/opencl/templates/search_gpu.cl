//# LANES 256
#pragma once
#include "codegen/opencl/templates/pieces_gpu.cl"

// Texts that a work-group looks through together: a lane takes a piece in which a match may begin, and the least place where one does is the text's.
#define SEARCH_BYTES 256u
#define NOT_FOUND 0xffffffffu

// Whether some text of a tile is longer than a piece. Three words take turns, so that a barrier for each tile is enough: who is in the tile behind writes the
// next one, and what is cleared is of the tile before. All lanes come here, with words that were zero.
inline bool any_longer(__local uint *longer, uint *turn, uint lane, uint length)
{
    const uint now = *turn, next = now == 2 ? 0 : now + 1;
    if (length > SEARCH_BYTES) longer[now] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) longer[next == 2 ? 0 : next + 1] = 0;
    *turn = next;
    return longer[now] != 0;
}

// How many pieces a tile has, of which a lane takes those from its number on, LANES apart. An empty text has one too, in which an empty match begins.
inline uint place_search(__local uint *starts, __local uint *sums, uint lane, bool has, uint length)
{
    return place_pieces_of(starts, sums, lane, has ? max(length / SEARCH_BYTES + (length % SEARCH_BYTES != 0), 1u) : 0);
}
