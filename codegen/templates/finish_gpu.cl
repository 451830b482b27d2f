@finish_parts@
// A value that does not lie at a multiple of its size.
inline void put_bytes(__global uchar *at, ulong bits, uint size)
{
    for (uint b = 0; b < size; b++) at[b] = (uchar)(bits >> 8 * b);
}
// When all records were seen: the accumulators as C structs.
__kernel __attribute__((reqd_work_group_size(@group@, 1, 1)))
void @name@_finish(@finish_args@)
{
    @finish_setup@
    @finish@
}
