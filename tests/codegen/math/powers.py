#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The powers of ten by which texts become numbers: each row is 10^q, cut or rounded up by less than one in its last bit.
# Usage: powers.py FOLDER
import fractions
import re
import sys


def main():
    with open(f"{sys.argv[1]}/codegen/math/powers.hk", encoding="ascii") as file:
        words = [int(w, 16) for w in re.findall(r"0x[0-9a-f]{16}", file.read())]
    assert len(words) == 2 * 651, len(words)
    for at, q in enumerate(range(-342, 309)):
        row = words[at] << 64 | words[651 + at]
        assert row >> 127 == 1, q
        power = fractions.Fraction(10) ** q
        exponent = (217706 * q >> 16) + 63 - 127 - 63        # as parse.hk counts: 10^q is row * 2^exponent
        error = power / fractions.Fraction(2) ** exponent - row
        assert -1 <= error <= 0 if -27 <= q < 0 else 0 <= error < 1, (q, float(error))


main()
