@finish_parts@
// When all records were seen: the accumulators as C structs.
__kernel __attribute__((reqd_work_group_size(@group@, 1, 1)))
void @name@_finish(@finish_args@)
{
    @finish_setup@
    @finish@
}
