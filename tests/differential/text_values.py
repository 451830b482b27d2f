# SPDX-License-Identifier: Apache-2.0
"""What expressions over texts come to, as docs/kernel-language.md states it, in plain Python: the answers that programs of text_functions.py are compared
with. Texts are `bytes`, numbers are Python's and wrapped to 64 bits where the language wraps."""
import re
import struct
import sys
from fractions import Fraction

if hasattr(sys, "set_int_max_str_digits"):      # numbers in texts have any length
    sys.set_int_max_str_digits(0)

BITS = 2 ** 64 - 1
BLANKS = b"\t\n\v\f\r "


class Fail(Exception):
    """A check fails the record; the argument is a word of the message."""


def i64(v):
    v &= BITS
    return v - 2 ** 64 if v >> 63 else v


def i32(v):
    v &= 2 ** 32 - 1
    return v - 2 ** 32 if v >> 31 else v


def saturated(d):
    """(int64_t)d."""
    return 0 if d != d else 2 ** 63 - 1 if d >= 2.0 ** 63 else -2 ** 63 if d < -2.0 ** 63 else int(d)


def cut(t, a, b):
    bound = lambda v: 0 if v < 0 else min(v, 2 ** 32 - 1)
    b = min(bound(b), len(t))
    return t[min(bound(a), b):b]


def at(t, i):
    if not 0 <= i < len(t):
        raise Fail("out of range")
    return t[i]


def words(t):
    return re.findall(rb"[A-Za-z0-9_\x80-\xff]+", t)


def spaces(t):
    return re.findall(rb"[^\t-\r ]+", t)


def between(t, chars):
    return [w for w in (re.split(b"[" + re.escape(chars) + b"]", t) if chars else [t]) if w]


def hash_of(t):
    h = len(t)
    for i in range(0, len(t), 8):
        h = ((h ^ int.from_bytes(t[i:i + 8], "little")) + 0x9e3779b97f4a7c15) & BITS
        h = ((h ^ h >> 30) * 0xbf58476d1ce4e5b9) & BITS
        h = ((h ^ h >> 27) * 0x94d049bb133111eb) & BITS
        h ^= h >> 31
    return h


# --- Numbers in texts ---

def integer(t):
    """None: it is none."""
    t = t.strip(BLANKS)
    value = int(t) if re.fullmatch(rb"[+-]?[0-9]+", t) else None
    return value if value is not None and -2 ** 63 <= value < 2 ** 63 else None


def parse_int(t, *otherwise):
    value = integer(t)
    if value is not None:
        return value
    if not otherwise:
        raise Fail("no integer")
    return otherwise[0]


def nearest(value, digits, least):
    """The bits of a positive Fraction rounded to `digits` binary digits, ties to even, as (mantissa, exponent); `least` is the exponent of denormals."""
    exponent = max(value.numerator.bit_length() - value.denominator.bit_length() - digits - 1, least)
    while value / Fraction(2) ** exponent >= 2 ** digits:
        exponent += 1
    scaled = value / Fraction(2) ** exponent
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * rest
    if twice > scaled.denominator or (twice == scaled.denominator and whole & 1):
        whole += 1
    return (whole, exponent) if whole < 2 ** digits else (whole >> 1, exponent + 1)


def number_bits(t, digits, least, exponent_bits):
    """Of the float (24, -149, 8) or double (53, -1074, 11) that the text is; None: it is no number."""
    t, top = t.strip(BLANKS).lower(), exponent_bits + digits - 1
    infinite = (2 ** exponent_bits - 1) << (digits - 1)
    sign, t = (1 if t[:1] == b"-" else 0) << top, t[1:] if t[:1] in (b"-", b"+") else t
    if t == b"nan":
        return infinite | 1 << (digits - 2)
    if t in (b"inf", b"infinity"):
        return sign | infinite
    match = re.fullmatch(rb"([0-9]*)(?:\.([0-9]*))?(?:e([+-]?[0-9]+))?", t)
    if not match or not (match[1] or match[2]):
        return None
    mantissa = int(match[1] + (match[2] or b""))
    power = int(match[3] or b"0") - len(match[2] or b"")
    size = len(str(mantissa)) + power
    if mantissa == 0 or size < -400:
        return sign
    if size > 400:
        return sign | infinite
    whole, exponent = nearest(mantissa * Fraction(10) ** power, digits, least)
    if whole >> (digits - 1) == 0:
        return sign | whole
    biased = exponent - least + 1
    return sign | (infinite if biased >= 2 ** exponent_bits - 1 else biased << (digits - 1) | whole & (2 ** (digits - 1) - 1))


def parse_double(t, *otherwise):
    bits = number_bits(t, 53, -1074, 11)
    if bits is None and not otherwise:
        raise Fail("no number")
    return i64(struct.unpack("<Q", struct.pack("<d", otherwise[0]))[0] if bits is None else bits)


def parse_float(t, *otherwise):
    bits = number_bits(t, 24, -149, 8)
    if bits is None and not otherwise:
        raise Fail("no number")
    return struct.unpack("<I", struct.pack("<f", otherwise[0]))[0] if bits is None else bits


# --- Texts made byte by byte ---

class Local:
    """`uint8_t b[size]`."""

    def __init__(self, size):
        self.bytes = bytearray(size)

    def put(self, i, byte):
        if not 0 <= i < len(self.bytes):
            raise Fail("out of range")
        self.bytes[i] = byte & 255

    def text(self, n):
        if not 0 <= n <= len(self.bytes):
            raise Fail("a text of")
        return bytes(self.bytes[:n])
