@head@
// @title@
// Form for CPU devices: one work-item is one strip of records. Blocks of records first, then what is left one by one.
@prelude@
@file_scope@
@block_define@

// Where strip number `strip` starts: a multiple of @strip_step@ records from the segment's first one, so that blocks are whole and a strip shares no cache line
// with its neighbour.
inline ulong strip_start(ulong skip, ulong count, ulong strip, ulong strips)
{
    if (strip == strips) return count;
    const ulong start = (skip + count / strips * strip + count % strips * strip / strips) / @strip_step@ * @strip_step@;
    const long past = (long)(start - skip);     // signed: Oclgrind does not know the saturating subtraction that clang makes of an unsigned choice
    return past > 0 ? (ulong)past : 0;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void @name@(@args@)
{
    const ulong strip = get_global_id(0), strips = get_global_size(0);
    const ulong start = strip_start(skip, count, strip, strips), end = strip_start(skip, count, strip + 1, strips);
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
