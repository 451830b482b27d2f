bool broad_try_float_@shape@(float_levels *s, @params@, uint records)
{
    const uint lowest = (uint)(127 + s->low) << 24;
    const double8 one = s->one;
    double8 sum0 = s->broad[0], sum1 = s->broad[1];
    uint16 most = 0;
    for (uint r = 0; r < records; r += 16) {
        const float16 v = @vector@;
        most = max(most, (as_uint16(v) << 1) - lowest);     // zeros and what is smaller wrap round
        sum0 += convert_double8(v.lo);
        sum1 = PLUS_BROAD(sum1, convert_double8(v.hi));
    }
    if (any_bit_float(as_uint16(most >= (uint)BROAD_BINADES << 24))) return false;
    s->broad[0] = sum0;
    s->broad[1] = sum1;
    s->turns += records / 16;
    return true;
}
