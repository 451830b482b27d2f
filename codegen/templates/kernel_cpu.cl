@head@
// @title@
// Form for CPU devices: one work-item is one strip of records. Blocks of records first, then what is left one by one.
@prelude@
@file_scope@
@block_define@

// Where strip number `strip` starts: multiples of 64 records, so that vectors are aligned and a strip shares no cache line with its neighbour.
inline ulong strip_start(ulong count, ulong strip, ulong strips)
{
    if (strip == strips) return count;
    return (count / strips * strip + count % strips * strip / strips) & ~63UL;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void @name@(@args@)
{
    const ulong strip = get_global_id(0), strips = get_global_size(0);
    const ulong start = strip_start(count, strip, strips), end = strip_start(count, strip + 1, strips);
    @setup@
    ulong i = start;
    while (i < end) {
        @chunk@
        @block_loop@
        @record_loop@
        @flush@
    }
    @finish@
}
