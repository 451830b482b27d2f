// `levels` is a constant where this is called.
inline __attribute__((always_inline)) bool levels_try_@real@_@shape@(@real@_levels *s, @params@, uint records, const uint levels)
{
    const @reals@ one = s->one;
    @reals@ sum0 = s->sum[0], sum1 = s->sum[1], sum2 = s->sum[2];
    @bitss@ moved = 0, lost = 0;
    for (uint r = 0; r < records; r += @lanes@) {
        const @reals@ v0 = @vector@, now0 = sum0 + v0;
        moved |= as_@bitss@(now0) ^ as_@bitss@(sum0);
        if (levels == 1) {
            lost |= as_@bitss@(now0 - sum0) ^ as_@bitss@(v0);
        } else {
            const @reals@ v1 = LESS_@real@(v0, LESS_@real@(now0, sum0)), now1 = sum1 + v1;
            if (levels == 2) {
                lost |= as_@bitss@(now1 - sum1) ^ as_@bitss@(v1);
            } else {
                const @reals@ v2 = LESS_@real@(v1, LESS_@real@(now1, sum1)), now2 = sum2 + v2;
                lost |= as_@bitss@(now2 - sum2) ^ as_@bitss@(v2);
                sum2 = now2;
            }
            sum1 = now1;
        }
        sum0 = now0;
    }
    if (any_bit_@real@((moved & (@bits@)@outside@) | (lost & (@bits@)@magnitude@))) return false;
    s->sum[0] = sum0;
    s->sum[1] = sum1;
    s->sum[2] = sum2;
    s->turns += records / @lanes@;
    return true;
}
bool levels_take_@real@_@shape@(@real@_levels *s, @params@, uint records)
{
    if (@quick_try@) return true;
    switch (s->count) {
    case 1: return levels_try_@real@_@shape@(s, @args@, records, 1);
    case 2: return levels_try_@real@_@shape@(s, @args@, records, 2);
    case 3: return levels_try_@real@_@shape@(s, @args@, records, 3);
    default: return @broad_try@;
    }
}
// Adds @what@ of the records of a block: at most LEVELS_BLOCK, a multiple of @lanes@.
__attribute__((noinline)) void levels_add_@real@_@shape@(@real@_levels *s, @params@, uint records, volatile __global long *cell, uint last, int lowest)
{
    if (s->turns + records / @lanes@ > LEVELS_BLOCK / @lanes@) levels_empty_@real@(s);
    if (s->emptied >= 256) levels_publish_@real@(s, cell, last, lowest);      // >: settling empties them too
    if (levels_take_@real@_@shape@(s, @args@, records)) return;
    @real@ values[LEVELS_BLOCK];
    for (uint r = 0; r < records; r++) values[r] = @scalar@;
    levels_settle_@real@(s, values, records, cell, last, lowest);
}
