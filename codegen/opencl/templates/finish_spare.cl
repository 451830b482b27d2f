
// Behind @name@_finish: rows that have spare cells, again. The word and the cell make up the sum; the cells are nobody's afterwards.
__kernel __attribute__((reqd_work_group_size(@group@, 1, 1)))
void @name@_spare(@finish_args@)
{
    @finish_setup@
    const ulong size = (ulong)spares[0] + 1;
    for (ulong at = get_global_id(0); at < size; at += get_global_size(0)) {
        const ulong owner = (ulong)spares[2 + at];
        if (owner == 0) continue;
        __global long *cell = spares + 2 + size + at * SPARE_WORDS;
        const ulong place = owner - 1;
        @spare@
        for (uint w = 0; w < SPARE_WORDS; w++) cell[w] = 0;
        spares[2 + at] = 0;
    }
}
