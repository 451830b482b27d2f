// Included by levels.cl for floats, on devices that have doubles.
//: REAL float
// Floats whose bits lie over more than two levels: where all of them are within 25 binades, sums in double lose
// nothing until 32 addends have gone to a lane. Addends are 2^low <= |v| < 2^(low + 25), multiples of 2^(low - 23),
// and so below 2^48 of those units. One test of the addend's own bits tells, which takes fewer instructions than a
// third level.
enum { DOUBLE_PATH = 4, DOUBLE_PATH_BINADES = 25, MOST_EXCEPTIONS = 64 };
inline bool on_double_path_float(const float_levels *s) { return s->count == DOUBLE_PATH; }
inline void double_path_start_float(float_levels *s) { s->exceptions = 0; }
inline bool double_path_holds_float(const float_levels *s, int first) { return first >= s->low && first < s->low + DOUBLE_PATH_BINADES; }
inline void double_path_empty_float(float_levels *s)
{
    const double up = as_double((ulong)(1023 + 23 - s->low) << 52);
    for (uint h = 0; h < 2; h++) {
        s->double_path_units[h] += convert_long8(s->in_double[h] * up);
        s->in_double[h] = 0;
    }
    s->exceptions -= s->exceptions > 0 && s->exceptions <= MOST_EXCEPTIONS;
}
inline void double_path_publish_float(float_levels *s, volatile __global long *cell, uint last, int lowest)
{
    long units[16], high = 0, low = 0;
    vstore8(s->double_path_units[0], 0, units);
    vstore8(s->double_path_units[1], 1, units);
    for (uint n = 0; n < 16; n++) {
        high += units[n] >> 32;
        low += units[n] & 0xffffffffL;
    }
    superaccumulator_add_fixed(cell, last, lowest, high, 23 - 32 - s->low);
    superaccumulator_add_fixed(cell, last, lowest, low, 23 - s->low);
    s->double_path_units[0] = s->double_path_units[1] = 0;
}
void levels_to_cell_float(volatile __global long *cell, uint last, int lowest, float v);
// A block that is not within these binades, or has zeros: its exceptions go to the cell. False: there are too many
// of them, or such blocks come too often; nothing was added.
inline bool double_path_exceptions_float(float_levels *s, const float *values, uint records, volatile __global long *cell, uint last, int lowest)
{
    if (!on_double_path_float(s)) return false;
    const uint least = (uint)(127 + s->low) << 24;
    double8 sum0 = s->in_double[0], sum1 = s->in_double[1];
    uint outside = 0, at[LEVELS_BLOCK / 8];
    s->exceptions += 8;
    for (uint r = 0; r < records; r += 16) {
        const uint16 v = as_uint16(*(const packed_float16 *)(values + r)),
            exceptions = as_uint16((v << 1) - least >= (uint)DOUBLE_PATH_BINADES << 24), not_zero = exceptions & v << 1;
        const float16 held = as_float16(v & ~exceptions);
        sum0 += convert_double8(held.lo);
        sum1 += convert_double8(held.hi);
        for (uint n = r; any_bit_float(not_zero) && n < r + 16; n++) {
            const uint magnitude = as_uint(values[n]) << 1;
            if (magnitude == 0 || magnitude - least < (uint)DOUBLE_PATH_BINADES << 24) continue;
            if (outside == records / 8) return false;
            at[outside++] = n;
        }
    }
    if (s->exceptions > MOST_EXCEPTIONS) return false;
    for (uint n = 0; n < outside; n++) levels_to_cell_float(cell, last, lowest, values[at[n]]);
    s->in_double[0] = sum0;
    s->in_double[1] = sum1;
    s->turns += records / 16;
    return true;
}
// Products have their small ones far out: most of the room is left below.
inline bool double_path_choose_float(float_levels *s, int first, int least)
{
    const int spare = DOUBLE_PATH_BINADES - 1 - (first - least), low = least - spare * 3 / 4;
    if (s->exceptions > MOST_EXCEPTIONS || spare < 4 || low < -126 || low > 96) return false;
    s->count = DOUBLE_PATH;
    s->low = low;
    for (uint h = 0; h < 2; h++) {
        s->in_double[h] = 0;
        s->double_path_units[h] = 0;
    }
    return true;
}
