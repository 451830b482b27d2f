uint rank[TILE_ROWS];
for (uint r = 0; r < TILE_ROWS; r++)
    if (pair_of[r].x != NOBODY) rank[r] = atomic_inc((volatile __local uint *)(rows_of + PART(pair_of[r].x)));
barrier(CLK_LOCAL_MEM_FENCE);
const uint mine = lane < PARTS ? rows_of[lane] : 0;
if (lane < PARTS) start[lane] = mine;
barrier(CLK_LOCAL_MEM_FENCE);
for (uint step = 1; step < PARTS; step *= 2) {
    const uint before = lane < PARTS && lane >= step ? start[lane - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < PARTS) start[lane] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
}
const uint all_rows = start[PARTS - 1];
barrier(CLK_LOCAL_MEM_FENCE);
if (lane < PARTS) {
    start[lane] -= mine;
    to[lane] = next[lane] - start[lane];
    next[lane] += mine;
    rows_of[lane] = 0;
}
barrier(CLK_LOCAL_MEM_FENCE);
for (uint r = 0; r < TILE_ROWS; r++)
    if (pair_of[r].x != NOBODY) sorted[start[PART(pair_of[r].x)] + rank[r]] = pair_of[r];
barrier(CLK_LOCAL_MEM_FENCE);
for (uint j = lane; j < all_rows; j += LANES) {
    const pair_t pair = sorted[j];
    out[to[PART(pair.x)] + j] = pair;
}
barrier(CLK_LOCAL_MEM_FENCE);
