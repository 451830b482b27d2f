// Adds @what@ of the records of a block, rounded at each addition: four vectors side by side, then the strip's totals of the lanes, in double.
__attribute__((noinline)) void fast_add_@real@_@shape@(double8 *total, @params@, uint records)
{
    @reals@ sum[4] = {0, 0, 0, 0};
    uint r = 0;
    for (; r + 4 * @lanes@ <= records; ) {
        sum[0] += @vector@, r += @lanes@;
        sum[1] += @vector@, r += @lanes@;
        sum[2] += @vector@, r += @lanes@;
        sum[3] += @vector@, r += @lanes@;
    }
    for (; r < records; r += @lanes@) sum[0] += @vector@;
    const @reals@ all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    *total += @to_total@;
}
