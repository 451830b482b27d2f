// Two levels of doubles hold all that lies within 32 binades below their top, which one addition to the addends' bits tells: then the upper bits of the exponents are
// zeros. What does not (zeros, for one) is tested addition by addition, and while that goes on nobody looks here.
bool quick_try_double_@shape@(double_levels *s, @params@, uint records)
{
    if (s->pause) {
        s->pause--;
        return false;
    }
    const long8 down = (long)((ulong)-(1023 + s->unit + @top@ - 32) << 52);
    const double8 one = s->one;
    double8 sum0 = s->sum[0], sum1 = s->sum[1];
    long8 odd = 0;
    for (uint r = 0; r < records; r += 8) {
        const double8 v = @vector@, now = sum0 + v;
        odd |= as_long8(v) + down;
        sum1 += LESS_double(v, now - sum0);
        sum0 = now;
    }
    if (any_bit_double(as_ulong8(odd) & 0x7e00000000000000UL)) {
        s->pause = s->odd;
        s->odd = min(2 * s->odd + 1, 63u);
        return false;
    }
    s->odd = 0;
    s->sum[0] = sum0;
    s->sum[1] = sum1;
    s->turns += records / 8;
    return true;
}
