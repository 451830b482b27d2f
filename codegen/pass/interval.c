// SPDX-License-Identifier: Apache-2.0
// Intervals of integers (codegen/pass/interval.h).
#include "codegen/pass/interval.h"

typedef hdst__range range;

static __int128 least_of(__int128 a, __int128 b) { return a < b ? a : b; }
static __int128 most_of(__int128 a, __int128 b) { return a > b ? a : b; }

range hdst__range_of_kind(hdst__kind kind)
{
    if (kind == HDST__BOOL) return (range){0, 1};
    if (!hdst__kind_is_integer(kind)) return (range){INT64_MIN, INT64_MAX};
    const unsigned bits = 8 * (unsigned)hdst__scalar_size(kind);
    if (!hdst__kind_is_signed(kind)) return (range){0, ((__int128)1 << bits) - 1};
    return (range){-((__int128)1 << (bits - 1)), ((__int128)1 << (bits - 1)) - 1};
}

range hdst__range_of_bits(hdst__kind kind, uint64_t bits)
{
    const __int128 value = hdst__kind_is_signed(kind) ? (__int128)(int64_t)bits : (__int128)bits;
    return (range){value, value};
}

range hdst__range_join(range a, range b)
{
    if (hdst__range_is_empty(a)) return b;
    if (hdst__range_is_empty(b)) return a;
    return (range){least_of(a.low, b.low), most_of(a.high, b.high)};
}

range hdst__range_meet(range a, range b)
{
    return (range){most_of(a.low, b.low), least_of(a.high, b.high)};
}

range hdst__range_fit(hdst__kind kind, range r)
{
    const range whole = hdst__range_of_kind(kind);
    return r.low >= whole.low && r.high <= whole.high ? r : whole;
}

// --- One operand ---

range hdst__range_unary(ir_op op, hdst__kind kind, range a)
{
    const range whole = hdst__range_of_kind(kind);
    if (hdst__range_is_empty(a)) return a;
    switch (op) {
    case IR_NEG: return hdst__range_fit(kind, (range){-a.high, -a.low});
    case IR_BITNOT: return hdst__kind_is_signed(kind) ? (range){-a.high - 1, -a.low - 1} : (range){whole.high - a.high, whole.high - a.low};
    case IR_ABS:                // that of the least number is itself
        if (a.low >= 0) return a;
        return hdst__range_fit(kind, (range){a.high < 0 ? -a.high : 0, most_of(-a.low, a.high)});
    default: return whole;
    }
}

// --- Two operands ---

static range multiplied(hdst__kind kind, range a, range b)
{
    const __int128 x[] = {a.low, a.high}, y[] = {b.low, b.high};
    range r = hdst__range_empty();
    for (int i = 0; i < 4; i++) {
        __int128 product;
        if (__builtin_mul_overflow(x[i / 2], y[i % 2], &product)) return hdst__range_of_kind(kind);
        r = hdst__range_join(r, (range){product, product});
    }
    return hdst__range_fit(kind, r);
}

// By a number that is not negative; by 0 gives 0.
static range divided(hdst__kind kind, range a, range b)
{
    if (b.low < 0) return hdst__range_of_kind(kind);
    const __int128 divisor = most_of(b.low, 1);
    return (range){a.low < 0 ? a.low / divisor : b.low ? a.low / b.high : 0, a.high < 0 ? (b.low ? a.high / b.high : 0) : a.high / divisor};
}

// Has the sign of a and is smaller than b; by 0 gives 0.
static range remainder_of(range a, range b)
{
    const __int128 most = most_of(most_of(b.high, -b.low) - 1, 0);
    return (range){a.low < 0 ? most_of(a.low, -most) : 0, a.high < 0 ? 0 : least_of(a.high, most)};
}

static range masked(hdst__kind kind, range a, range b)
{
    if (a.low < 0 && b.low < 0) return hdst__range_of_kind(kind);
    return (range){0, a.low < 0 ? b.high : b.low < 0 ? a.high : least_of(a.high, b.high)};
}

static range bits_of_both(hdst__kind kind, range a, range b)
{
    if (a.low < 0 || b.low < 0) return hdst__range_of_kind(kind);
    __int128 all = 0;
    while (all < most_of(a.high, b.high)) all = 2 * all + 1;
    return (range){0, all};
}

static range shifted_left(hdst__kind kind, range a, range count)
{
    if (count.low != count.high) return hdst__range_of_kind(kind);
    const int by = (int)count.low & (8 * (int)hdst__scalar_size(kind) - 1);
    return hdst__range_fit(kind, (range){a.low * ((__int128)1 << by), a.high * ((__int128)1 << by)});     // below 2^64 * 2^63
}

static range shifted_right(hdst__kind kind, range a, range count)
{
    if (count.low != count.high) return (range){least_of(a.low, 0), most_of(a.high, 0)};
    const int by = (int)count.low & (8 * (int)hdst__scalar_size(kind) - 1);
    return (range){a.low >> by, a.high >> by};
}

range hdst__range_binary(ir_op op, hdst__kind kind, range a, range b)
{
    if (hdst__range_is_empty(a) || hdst__range_is_empty(b)) return hdst__range_empty();
    switch (op) {
    case IR_ADD: return hdst__range_fit(kind, (range){a.low + b.low, a.high + b.high});
    case IR_SUB: return hdst__range_fit(kind, (range){a.low - b.high, a.high - b.low});
    case IR_MUL: return multiplied(kind, a, b);
    case IR_DIV: return divided(kind, a, b);
    case IR_REM: return remainder_of(a, b);
    case IR_AND: return masked(kind, a, b);
    case IR_OR: case IR_XOR: return bits_of_both(kind, a, b);
    case IR_SHL: return shifted_left(kind, a, b);
    case IR_SHR: return shifted_right(kind, a, b);
    case IR_MIN: return (range){least_of(a.low, b.low), least_of(a.high, b.high)};
    case IR_MAX: return (range){most_of(a.low, b.low), most_of(a.high, b.high)};
    default: return hdst__range_of_kind(kind);
    }
}
