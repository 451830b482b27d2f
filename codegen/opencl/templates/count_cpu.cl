
// The first of two runs: how many records each strip emits.
@count_block_define@
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void @name@_count(@args@)
{
    const ulong strip = get_global_id(0), strips = get_global_size(0);
    const ulong end = strip_start(skip, count, strip + 1, strips);
    @count_setup@
    ulong i = strip_start(skip, count, strip, strips), place = 0;
    while (i < end) {
        @count_chunk@
        @count_block_loop@
        @count_record_loop@
    }
    places[3 + strip] = place;
    if (strip == 0) places[2] = places[1];
}
