// Adds @what@ of the records of a block, rounded at each addition: four vectors side by side, then all lanes, then the strip's total.
__attribute__((noinline)) void fast_add_@real@_@shape@(double *total, @params@, uint records)
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
    *total += (double)sum_of_@real@(all);
}
