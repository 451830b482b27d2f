#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The expert programs of bench/ against the definitions of a KMeans step, of a matrix-vector product and of sums over pairs, in plain Python: a yardstick that
computes something else measures nothing.
usage: test_experts.py PROGRAM...      (found by their names; those that are not tested here are passed over)"""
import struct
import subprocess
import sys

MASK = 2**64 - 1
PROGRAM = {path.rsplit("/", 1)[-1]: path for path in sys.argv[1:]}


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def splitmix(counter):
    z = (counter + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def coordinate(record, column, columns):
    """As bench_coordinate in bench/bench.h says: the upper 24 bits, scaled to [0, 1000)."""
    return float32((splitmix(record * columns + column) >> 40) * float32(1000 / 16777216))


def pair(record):
    """As bench_pair_value says: the upper 16 bits, scaled to [-1, 1)."""
    return [(splitmix(2 * record + which) >> 48) / 32768 - 1 for which in range(2)]


def step(records, clusters, columns, distance):
    """Sums of the first and last coordinate and the number of points of center 3 (0 where there are fewer), and the inertia."""
    centers = [[coordinate(2**40 + j, c, columns) for c in range(columns)] for j in range(clusters)]
    watched = 3 if clusters > 3 else 0
    first = last = inertia = 0.0
    count = 0
    for i in range(records):
        point = [coordinate(i, c, columns) for c in range(columns)]
        distances = [sum(distance(p, q) for p, q in zip(point, center)) for center in centers]
        nearest = min(range(clusters), key=distances.__getitem__)
        inertia += distances[nearest]
        if nearest == watched:
            first, last, count = first + point[0], last + point[-1], count + 1
    return [first, last, count, inertia]


def product(records, columns):
    """The first and the last element of y = A x, and the sum of all."""
    vector = [coordinate(2**40, c, columns) for c in range(columns)]
    y = [sum(coordinate(i, c, columns) * vector[c] for c in range(columns)) for i in range(records)]
    return [y[0], y[-1], sum(y)]


def ask(program, records, clusters, case, columns=None):
    orders = f"run {case}\ncheck {case}\n"
    size = ["--columns", str(columns)] if columns else []
    done = subprocess.run([program, "--records", str(records), "--clusters", str(clusters), *size], input=orders, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.splitlines()[2].split()[1:]]


def report(program, what, got, want):
    good = len(got) == len(want) and all(abs(a - b) <= 1e-5 * abs(b) + 1e-4 for a, b in zip(got, want))
    print("ok  " if good else "FAIL", program.rsplit("/", 1)[-1], what, got, want)
    return good


def wide_records():
    good = True
    for records, clusters, columns in [(40, 3, 5), (1100, 10, 16), (24, 4, 39)]:
        want = step(records, clusters, columns, lambda p, q: (p - q) ** 2)
        good &= report(PROGRAM["expert_kmeans_wide"], (records, clusters, columns), ask(PROGRAM["expert_kmeans_wide"], records, clusters, "step", columns), want)
        good &= report(PROGRAM["expert_matvec"], (records, columns), ask(PROGRAM["expert_matvec"], records, clusters, "product", columns), product(records, columns))
    return good


def line(records):
    pairs = [pair(i) for i in range(records)]
    return [sum(x for x, _ in pairs), sum(y for _, y in pairs), records]


def chain(records):
    """Pairs within the circle, turned, bent: sums and number."""
    sums = [0.0, 0.0, 0]
    for x, y in map(pair, range(records)):
        if x * x + y * y < 1:
            u, v = 0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y
            sums = [sums[0] + u / (1 + v * v), sums[1] + v * (1 - u * u), sums[2] + 1]
    return sums


def sums_of_pairs():
    good = True
    for records in (37, 4096, 9001):
        for case, want in (("linreg", line(records)), ("chain", chain(records))):
            good &= report(PROGRAM["expert_sums"], (case, records), ask(PROGRAM["expert_sums"], records, 1, case), want)
    return good


def main():
    failed = not (wide_records() & sums_of_pairs())
    problems = [(PROGRAM["expert_kmeans"], 2, lambda p, q: (p - q) ** 2), (PROGRAM["expert_kmeans_l1"], 5, lambda p, q: abs(p - q))]
    for program, columns, distance in problems:
        # below one vector; exactly a stretch; stretches for two threads with a tail; one center
        for records, clusters in [(37, 50), (4096, 7), (9001, 50), (4100, 1)]:
            want = step(records, clusters, columns, distance)
            for case, numbers in [("plain", 3), ("inertia", 4)]:
                got = ask(program, records, clusters, case)
                good = len(got) == numbers and got[2] == want[2] and all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(got, want))
                print("ok  " if good else "FAIL", program.rsplit("/", 1)[-1], case, records, clusters, got, want[:numbers])
                failed = failed or not good
    sys.exit(failed)


if __name__ == "__main__":
    main()
