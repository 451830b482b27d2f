// A pass of a radix sort by 8 bits, least significant digit first, on a GPU: a work-group counts the digits of neighbouring tiles; a prefix sum makes places of the counts; the same
// work-group moves the tiles, one after another. In a tile each key learns its rank among those with its digit: a row of 32 lanes at a time, by a mask of the lanes that have the
// digit. Keys are put in order in local memory first, so that they leave in runs. (Merrill, Grimshaw, "High performance and scalable radix sorting", 2011; the ranks by masks:
// Adinets, Merrill, "Onesweep", 2022.)
#define LANES 256u                  // one for each digit
#define WARPS (LANES / 32u)
#define ROWS (16u * 4u / (uint)sizeof(KEY))     // keys of a lane
#define TILE (LANES * ROWS)
#if defined(__NV_CL_C_VERSION)
#define TOGETHER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define TOGETHER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

inline ulong tile_start(ulong n, ulong group, ulong groups)
{
    const ulong tiles = (n + TILE - 1) / TILE;
    return tiles / groups * group + tiles % groups * group / groups;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sort_count(ulong n, ulong shift, IN_PARAMS, __global uint *restrict counters, __global ulong *restrict masks)
{
    __local uint count[256];
    __local uint bits[4];           // low and high words of any, all
    const uint lane = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
    const ulong last = tile_start(n, group + 1, groups);
    KEY any = 0, all = ~(KEY)0;
    count[lane] = 0;
    if (lane < 4) bits[lane] = lane < 2 ? 0 : ~0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong tile = tile_start(n, group, groups); tile < last; tile++) {
        const ulong first = tile * TILE + lane;
        KEY key[ROWS];
        for (uint r = 0; r < ROWS; r++)
            if (first + r * LANES < n) key[r] = KEY_AT(first + r * LANES);
        for (uint r = 0; r < ROWS; r++) {
            if (first + r * LANES >= n) continue;
            any |= key[r];
            all &= key[r];
            atomic_inc((volatile __local uint *)(count + DIGIT(key[r])));
        }
    }
    atomic_or((volatile __local uint *)bits, (uint)any);
    atomic_or((volatile __local uint *)bits + 1, (uint)((ulong)any >> 32));
    atomic_and((volatile __local uint *)bits + 2, (uint)all);
    atomic_and((volatile __local uint *)bits + 3, (uint)((ulong)all >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    counters[lane * groups + group] = count[lane];
    if (lane < 2) masks[2 * group + lane] = bits[2 * lane] | (ulong)bits[2 * lane + 1] << 32;
}

// The lanes of this one's row of 32 whose key has the same digit, as a mask. `set` is of the row, for each digit a word, all zero before and after; lanes that are not `there`
// have no key.
inline uint same_digit(__local uint *set, uint digit, uint bit, bool there)
{
    if (there) atomic_or((volatile __local uint *)(set + digit), bit);
    TOGETHER();
    const uint same = there ? set[digit] : 0;
    TOGETHER();
    if ((same & (bit - 1)) == 0 && there) set[digit] = 0;
    return same;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sort_move(ulong n, ulong shift, IN_PARAMS, __global const uint *restrict counters, OUT_PARAMS)
{
    __local uint set[WARPS * 256], count[WARPS * 256], scan[256], base[256];
    __local KEY moved[TILE];
    const uint lane = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
    const uint row = lane / 32 * 256, bit = 1u << lane % 32;
    const ulong last = tile_start(n, group + 1, groups);
    uint place = counters[lane * groups + group];       // of the next key with digit `lane`
    for (uint w = 0; w < WARPS; w++) set[w * 256 + lane] = 0;
    for (ulong tile = tile_start(n, group, groups); tile < last; tile++) {
        const ulong start = tile * TILE, mine = start + lane / 32 * (32 * ROWS) + lane % 32;
        const uint here = n - start < TILE ? (uint)(n - start) : TILE;
        KEY key[ROWS];
        uint rank[ROWS];
#if PAIRS
        uint index[ROWS];
#endif
        for (uint w = 0; w < WARPS; w++) count[w * 256 + lane] = 0;
        for (uint r = 0; r < ROWS; r++) key[r] = mine + r * 32 < n ? KEY_AT(mine + r * 32) : 0;
#if PAIRS
        for (uint r = 0; r < ROWS; r++) index[r] = mine + r * 32 < n ? INDEX_AT(mine + r * 32) : 0;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = 0; r < ROWS; r++) {
            const bool there = mine + r * 32 < n;
            const uint digit = DIGIT(key[r]);
            const uint same = same_digit(set + row, digit, bit, there);
            rank[r] = count[row + digit] + popcount(same & (bit - 1));
            TOGETHER();
            if ((same & (bit - 1)) == 0 && there) count[row + digit] += popcount(same);
            TOGETHER();
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0;
        for (uint w = 0; w < WARPS; w++) {
            const uint of_row = count[w * 256 + lane];
            count[w * 256 + lane] = sum;
            sum += of_row;
        }
        scan[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint s = 1; s < 256; s *= 2) {
            const uint before = lane >= s ? scan[lane - s] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            scan[lane] += before;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const uint in_tile = scan[lane] - sum;
        for (uint w = 0; w < WARPS; w++) count[w * 256 + lane] += in_tile;
        base[lane] = place - in_tile;
        place += sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = 0; r < ROWS; r++) {
            rank[r] += count[row + DIGIT(key[r])];
            if (mine + r * 32 < n) moved[rank[r]] = key[r];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint to[ROWS];
        for (uint r = 0; r < ROWS; r++) {
            const uint j = r * LANES + lane;
            const KEY k = moved[j];
            to[r] = base[DIGIT(k)] + j;
#ifdef OUT
            if (j < here) out[to[r]] = OUT_OF(k);
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#if PAIRS
        for (uint r = 0; r < ROWS; r++)
            if (mine + r * 32 < n) moved[rank[r]] = index[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = 0; r < ROWS; r++)
            if (r * LANES + lane < here) index_out[to[r]] = (uint)moved[r * LANES + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
}
