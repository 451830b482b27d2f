uint rank[TILE_ROWS];
for (uint r = 0; r < TILE_ROWS; r++)
    if (tuple_of[r].x != NOBODY) rank[r] = atomic_inc((volatile __local uint *)(rows_of + PARTITION(tuple_of[r].x)));
barrier(CLK_LOCAL_MEM_FENCE);
const uint mine = lane < PARTITIONS ? rows_of[lane] : 0;
if (lane < PARTITIONS) start[lane] = mine;
barrier(CLK_LOCAL_MEM_FENCE);
for (uint step = 1; step < PARTITIONS; step *= 2) {
    const uint before = lane < PARTITIONS && lane >= step ? start[lane - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < PARTITIONS) start[lane] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
}
const uint all_rows = start[PARTITIONS - 1];
barrier(CLK_LOCAL_MEM_FENCE);
if (lane < PARTITIONS) {
    start[lane] -= mine;
    to[lane] = next[lane] - start[lane];
    next[lane] += mine;
    rows_of[lane] = 0;
}
barrier(CLK_LOCAL_MEM_FENCE);
for (uint r = 0; r < TILE_ROWS; r++)
    if (tuple_of[r].x != NOBODY) sorted[start[PARTITION(tuple_of[r].x)] + rank[r]] = tuple_of[r];
barrier(CLK_LOCAL_MEM_FENCE);
for (uint j = lane; j < all_rows; j += LANES) {
    const tuple_t tuple = sorted[j];
    out[to[PARTITION(tuple.x)] + j] = tuple;
}
barrier(CLK_LOCAL_MEM_FENCE);
