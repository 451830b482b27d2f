@head@
// @title@
// Form for GPUs: one lane per record, work-groups stride over the slice.
@prelude@
// A constant, not get_local_size(0): with that as the step of a loop behind a barrier PoCL 3.1 drops the loop when only one lane enters it.
#define LANES @group@
@file_scope@
@emit_scope@

__kernel __attribute__((reqd_work_group_size(@group@, 1, 1)))
void @name@(@args@)
{
    const uint lane = get_local_id(0);
    @setup@
    ulong base = get_group_id(0) * (ulong)@group@;
    do {
        @chunk@
            const ulong i = base + lane;
            @place@
            if (i < count) {
                @record@
            }
        }
        @flush@
    } while (base < count);
}
