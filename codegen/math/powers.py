#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes powers.hk: the powers of ten by which texts become numbers, the 128 leading bits of each, as parse.hk wants them: rounded up where a quotient by
# 10^-q can be a tie between two doubles, else cut.
# Usage: powers.py > powers.hk
LEAST, MOST = -342, 308

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Made by powers.py. The first 128 bits of 10^q, from 10^%d to 10^%d, cut; from 10^-27 to 10^-1 rounded up.
"""


def leading_bits(q):
    """10^q and 5^q have the same."""
    five = 5 ** abs(q)
    if q >= 0:
        length = five.bit_length()
        return five << 128 - length if length <= 128 else five >> length - 128
    length = (five - 1).bit_length()
    bits = 2 ** (length + 127) // five + (q >= -27)
    assert 2 ** 127 <= bits < 2 ** 128
    return bits


def table(name, words):
    rows = [", ".join(f"0x{w:016x}" for w in words[i:i + 7]) for i in range(0, len(words), 7)]
    return f"\nconst uint64_t {name}[{len(words)}] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def main():
    powers = [leading_bits(q) for q in range(LEAST, MOST + 1)]
    print(HEAD % (LEAST, MOST), end="")
    print(table("powers_high", [p >> 64 for p in powers]), end="")
    print(table("powers_low", [p & 2 ** 64 - 1 for p in powers]), end="")
    for part in ("high", "low"):
        print(f"\nuint64_t power_{part}(int64_t q) {{ return powers_{part}[q + {-LEAST}]; }}", end="")
    print()


main()
