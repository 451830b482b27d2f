#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Computes the polynomials of this folder's functions: for each name the coefficients of the polynomial of least relative error on an interval (Remez's exchange
# algorithm; Cheney, Introduction to Approximation Theory, 2nd ed. 1982, chapter 3), rounded to float or double, and the error that is left. Needs mpmath.
# Usage: coefficients.py [NAME...]
import sys

import mpmath as mp

mp.mp.dps = 50


def lead(x, f, limit):
    """f(x), or its limit where it has a removable pole at 0."""
    return limit if x == 0 else f(x)


def extrema(error, low, high, wanted):
    """The places of alternating extrema of an error curve, from a fine grid of Chebyshev spacing, then golden section."""
    steps = 40 * wanted
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / steps) for i in range(steps + 1)]
    values = [error(x) for x in grid]
    peaks = []
    for i, (x, v) in enumerate(zip(grid, values)):
        left, right = values[i - 1] if i else -v, values[i + 1] if i < steps else -v
        sign = 1 if v > 0 else -1
        if v != 0 and sign * v >= sign * left and sign * v >= sign * right:
            if peaks and (peaks[-1][1] > 0) == (v > 0):
                if abs(v) > abs(peaks[-1][1]):
                    peaks[-1] = (x, v)
            else:
                peaks.append((x, v))
    while len(peaks) > wanted:
        peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
    return peaks


def remez(f, weight, low, high, powers):
    """Coefficients c with sum c[i] x^powers[i] nearest to f, the error times weight; and the largest error."""
    low, high = mp.mpf(low), mp.mpf(high)
    n = len(powers)
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * (n + 1))) for i in range(n + 1)]
    points = [x if abs(x) > (high - low) / 200 or low >= 0 else x + (high - low) / 100 for x in points]     # weights may vanish at 0
    for _ in range(30):
        rows, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for i, x in enumerate(points):
            for j, power in enumerate(powers):
                rows[i, j] = x ** power * weight(x)
            rows[i, n] = (-1) ** i
            right[i] = f(x) * weight(x)
        solved = mp.lu_solve(rows, right)
        coefficients = [solved[j] for j in range(n)]

        def error(x):
            return (sum(c * x ** p for c, p in zip(coefficients, powers)) - f(x)) * weight(x)
        peaks = extrema(error, low, high, n + 1)
        if len(peaks) < n + 1:
            break
        largest, least = max(abs(v) for _, v in peaks), min(abs(v) for _, v in peaks)
        points = [x for x, _ in peaks]
        if largest < least * mp.mpf('1.01'):
            break
    return coefficients, max(abs(v) for _, v in peaks)


def rounded(value, bits):
    if value == 0:
        return mp.mpf(0)
    with mp.workprec(bits):
        return +value


def hexadecimal(value, is_float):
    """As C writes it: a decimal text that gives the same bits."""
    for digits in range(1, 18):
        text = mp.nstr(value, digits, strip_zeros=True)
        if rounded(mp.mpf(text), 24 if is_float else 53) == value:
            break
    text = text if '.' in text or 'e' in text else text + '.0'
    return text + 'f' if is_float else text


def show(name, f, weight, low, high, powers, is_float):
    coefficients, error = remez(f, weight, low, high, powers)
    print(f'{name}: {mp.nstr(low, 6)} .. {mp.nstr(high, 6)}, error 2^{mp.nstr(mp.log(error, 2), 5)}')
    for power, c in zip(powers, coefficients):
        print(f'    x^{power}: {hexadecimal(rounded(c, 24 if is_float else 53), is_float)}')


def parts(value, *bits):
    """A number as a sum of numbers of so many bits."""
    out = []
    for b in bits:
        out.append(rounded(value, b))
        value = value - out[-1]
    return out


HALF_LN2 = mp.log(2) / 2 * mp.mpf('1.002')
ROOT = mp.sqrt(2)


def exp_tail(x):        # (e^x - 1 - x) / x^2
    return lead(x, lambda x: (mp.expm1(x) - x) / x ** 2, mp.mpf(1) / 2)


def exp2_tail(x):       # (2^x - 1) / x
    return lead(x, lambda x: mp.expm1(x * mp.log(2)) / x, mp.log(2))


def log_tail(x):        # (log(1 + x) - x + x^2 / 2) / x^3
    return (mp.log1p(x) - x + x * x / 2) / x ** 3 if abs(x) > mp.mpf('1e-12') else mp.mpf(1) / 3 - x / 4


def atanh_tail(x):      # (2 atanh(s) - 2 s) / s^3, of x = s^2
    s = mp.sqrt(x)
    return (2 * mp.atanh(s) - 2 * s) / s ** 3 if x > mp.mpf('1e-16') else mp.mpf(2) / 3 + x * 2 / 5


def even(f, series):    # a function of x = s^2, by its value at s; near 0 by its first terms
    def g(x):
        return f(mp.sqrt(x)) if x > mp.mpf('1e-16') else series[0] + series[1] * x
    return g


def erfcx(x):           # e^(x^2) erfc(x)
    return mp.exp(x * x) * mp.erfc(x)


def erfc_ratio(t, k):   # (1 + 2 x) e^(x^2) erfc(x), of t = (x - k) / (x + k)
    x = k * (1 + t) / (1 - t)
    return (1 + 2 * x) * erfcx(x)


ALL = {}


def define(name, f, weight, low, high, powers):
    """The powers for float, then for double; none: another polynomial serves that type."""
    for is_float, p in zip((True, False), powers):
        if not p:
            continue
        ALL[f'{name}_{"float" if is_float else "double"}'] = (f, weight, low, high, p, is_float)


define('exp', exp_tail, lambda x: x * x / mp.exp(x), -HALF_LN2, HALF_LN2, (range(6), range(11)))
define('exp2', exp2_tail, lambda x: 1, -mp.mpf('0.501'), mp.mpf('0.501'), (range(6), range(12)))
define('log', log_tail, lambda x: abs(x ** 3 / mp.log1p(x)) if x else 0, 1 / ROOT - 1, ROOT - 1, (range(8), range(0)))
define('log_ratio', atanh_tail, lambda x: x / 2, 0, ((ROOT - 1) / (ROOT + 1)) ** 2 * mp.mpf('1.001'), (range(0), range(7)))

define('sin', even(lambda s: (mp.sin(s) - s) / s ** 3, (-mp.mpf(1) / 6, mp.mpf(1) / 120)),
       lambda x: x / mp.sinc(mp.sqrt(x)), 0, mp.mpf('0.618'), (range(3), range(6)))
define('cos', even(lambda s: (mp.cos(s) - 1 + s * s / 2) / s ** 4, (mp.mpf(1) / 24, -mp.mpf(1) / 720)),
       lambda x: x * x / mp.cos(mp.sqrt(x)), 0, mp.mpf('0.618'), (range(3), range(6)))
define('tan', even(lambda s: (mp.tan(s) - s) / s ** 3, (mp.mpf(1) / 3, mp.mpf(2) / 15)), lambda x: x, 0, mp.mpf('0.618'), (range(7), range(16)))
define('atan', even(lambda s: (mp.atan(s) - s) / s ** 3, (-mp.mpf(1) / 3, mp.mpf(1) / 5)),
       lambda x: x * mp.sqrt(x) / mp.atan(mp.sqrt(x)) if x else 0, 0, 1, (range(9), range(21)))
define('asin', even(lambda s: (mp.asin(s) - s) / s ** 3, (mp.mpf(1) / 6, mp.mpf(3) / 40)),
       lambda x: x * mp.sqrt(x) / mp.asin(mp.sqrt(x)) if x else 0, 0, mp.mpf('0.25'), (range(5), range(13)))
define('tanh', even(lambda s: (mp.tanh(s) - s) / s ** 3, (-mp.mpf(1) / 3, mp.mpf(2) / 15)), lambda x: x, 0, mp.mpf('0.3601'), (range(5), range(0)))
define('log_ratio_wide', lambda x: (atanh_tail(x) - mp.mpf(2) / 3) / x if x > mp.mpf('1e-12') else mp.mpf(2) / 5, lambda x: x * x, 0,
    mp.mpf('0.0401'), (range(3), range(0)))
define('log_ratio_tail', lambda x: (atanh_tail(x) - mp.mpf(2) / 3) / x if x > mp.mpf('1e-12') else mp.mpf(2) / 5, lambda x: x * x, 0,
    mp.mpf('0.0295'), (range(0), range(8)))
define('erf', even(lambda s: mp.erf(s) / s - 1, (2 / mp.sqrt(mp.pi) - 1, -2 / (3 * mp.sqrt(mp.pi)))), lambda x: 1, 0, 1, (range(7), range(13)))
define('erf_tail', lambda x: -mp.log(mp.erfc(x)), lambda x: mp.erfc(x), mp.mpf('0.99'), mp.mpf('4.01'), (range(9), range(0)))
define('erfc', lambda t: erfc_ratio(t, 2), lambda t: 1, -1, mp.mpf('0.68'), (range(11), range(0)))
define('erfc_wide', lambda t: erfc_ratio(t, 4), lambda t: 1, -1, mp.mpf('0.75'), (range(0), range(24)))


def main():
    for name in sys.argv[1:] or ALL:
        show(name, *ALL[name])
    if not sys.argv[1:]:
        constants = (('ln 2', mp.log(2), (15, 24), (42, 53)), ('1 / ln 2', 1 / mp.log(2), (24, 24), (53, 53)),
                     ('1 / ln 10', 1 / mp.log(10), (24, 24), (53, 53)), ('log10 2', mp.log10(2), (15, 24), (42, 53)),
                     ('pi / 2, to subtract', mp.pi / 2, (23, 24, 24), (53, 53, 53)), ('pi / 2', mp.pi / 2, (24, 24), (53, 53)),
                     ('2 pi / 2^24', 2 * mp.pi / 2 ** 24, (24, 24), (53, 53)), ('2 pi / 2^64', 2 * mp.pi / mp.mpf(2) ** 64, (24, 24), (53, 53)),
                     ('2 / 3', mp.mpf(2) / 3, (24, 24), (53, 53)))
        for name, value, *both in constants:
            for bits in both:
                print(f'{name}:', *[hexadecimal(p, 24 in bits) for p in parts(value, *bits)])


if __name__ == '__main__':
    main()
