#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The expert programs about control flow against their definitions in plain Python, at sizes with and without a rest of a vector.
usage: test_control.py EXPERT_BRANCHY EXPERT_MANDELBROT"""
import math
import struct
import subprocess
import sys

from test_experts import coordinate, float32, splitmix


def kind(record):
    """As bench_kind: the upper two bits of splitmix64's output."""
    return splitmix(2**41 + record) >> 62


def result(x, y, which):
    if which == 0:
        return x / float32(y + 1)
    if which == 1:
        return math.sqrt(float32(x * x + float32(y * y)))
    if which == 2:
        t = float32(x - y)
        return float32(float32(t * 0.25 + 0.5) * t + 0.125) * t + 1
    return y * 1.5 if x < y else x * 0.75 - y


def bits_of_all(records):
    results = [result(coordinate(i, 0, 2), coordinate(i, 1, 2), kind(i)) for i in range(records)]
    return sum(struct.unpack("I", struct.pack("f", r))[0] for r in results)


def turns_of_all(records):
    height = (records + 1023) // 1024
    turns = 0
    for i in range(records):
        c = complex(-2.5 + 3.5 * (i % 1024) / 1024, -1.25 + 2.5 * (i // 1024) / height)
        z = 0j
        for _ in range(256):
            if z.real * z.real + z.imag * z.imag > 4:
                break
            z = z * z + c
            turns += 1
    return turns


def check(program, records, want, tolerance):
    done = subprocess.run([program, "--records", str(records)], input="run step\ncheck step\n", capture_output=True, text=True, check=True)
    got = float(done.stdout.splitlines()[2].split()[-1])
    good = abs(got - want) <= tolerance * want
    print("ok  " if good else "FAIL", program.rsplit("/", 1)[-1], records, got, want)
    return good


def main():
    good = True
    for records in [1, 31, 64, 5000]:
        good &= check(sys.argv[1], records, bits_of_all(records), 1e-9)
        good &= check(sys.argv[2], records, turns_of_all(records), 2e-3)        # floats leave the circle a little earlier or later
    good &= check(sys.argv[2], 40 * 1024 + 3, turns_of_all(40 * 1024 + 3), 2e-3)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
