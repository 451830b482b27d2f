@head@
// @title@
// Form for GPUs: one lane per record, work-groups stride over the slice.
@prelude@
@file_scope@

__kernel __attribute__((reqd_work_group_size(@group@, 1, 1)))
void @name@(@args@)
{
    const uint lane = get_local_id(0);
    @setup@
    ulong base = get_group_id(0) * (ulong)@group@;
    do {
        @chunk@
            const ulong i = base + lane;
            if (i < count) {
                @record@
            }
        }
        @flush@
    } while (base < count);
}
