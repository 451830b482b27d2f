@head@
// @title@
// Folds each run of @run@ records in order into one: work-item n makes record n of the output.
@prelude@
@file_scope@

__kernel
void @name@(@args@)
{
    const ulong n = get_global_id(0), start = n * @run@;
    if (start >= count) return;
    const ulong end = count - start < @run@ ? count : start + @run@;
    @setup@
    ulong i = start;
    @load@
    for (i = start + 1; i < end; i++) {
        @body@
    }
    @store@
}
