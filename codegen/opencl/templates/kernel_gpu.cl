@head@
// @title@
// Form for GPUs: a lane takes a record at a time, or several; work-groups stride over the slice.
@prelude@
// A constant, not get_local_size(0): with that as the step of a loop behind a barrier PoCL 3.1 drops the loop when only one lane enters it.
#define LANES @group@
// Records that a work-group takes at once. Those of a lane lie LANES apart, so that neighbours read neighbours.
#define SPAN @span@
// Lanes of a warp that parted in a rare branch would go on apart for good, each part at the price of the whole. No memory is clobbered: nothing is ordered by it.
#if defined(__NV_CL_C_VERSION) && LANES >= 32
#define TOGETHER() asm volatile("bar.warp.sync 0xffffffff;")
#else
#define TOGETHER()
#endif
@file_scope@
@emit_scope@

__kernel __attribute__((reqd_work_group_size(@group@, 1, 1)))
void @name@(@args@)
{
    const uint lane = get_local_id(0);
    @setup@
    ulong base = get_group_id(0) * (ulong)SPAN;
    do {
        @chunk@
            TOGETHER();
            @records@
        }
        @flush@
    } while (base < count);
}
