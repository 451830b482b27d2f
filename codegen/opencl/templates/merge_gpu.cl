
// Behind the records: what the tables of the work-groups hold goes to the device's table, and they are empty again. Several lanes may have parts of a cell's tables.
__kernel __attribute__((reqd_work_group_size(@group@, 1, 1)))
void @name@_merge(@args@)
{
    @merge_setup@
    @merge@
}
