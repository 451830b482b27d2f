#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The expert programs of bench/ against the definitions of a KMeans step, of a matrix-vector product, of sums over pairs and of the prices of options, in plain
Python: a yardstick that computes something else measures nothing.
usage: test_experts.py PROGRAM...      (found by their names; those that are not tested here are passed over)"""
import math
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


def ask(program, records, clusters, case, columns=None, runs=1, more=()):
    orders = f"run {case}\n" * runs + f"check {case}\n"
    size = ["--columns", str(columns)] if columns else []
    command = [program, "--records", str(records), "--clusters", str(clusters), *size, *more]
    done = subprocess.run(command, input=orders, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.splitlines()[-1].split()[1:]]


def report(program, what, got, want):
    good = len(got) == len(want) and all(abs(a - b) <= 1e-5 * abs(b) + 1e-4 for a, b in zip(got, want))
    print("ok  " if good else "FAIL", program.rsplit("/", 1)[-1], what, got, want)
    return good


def wide_records():
    good = True
    for records, clusters, columns in [(40, 3, 5), (1100, 10, 16), (24, 4, 39)]:
        want = step(records, clusters, columns, lambda p, q: (p - q) ** 2)
        program = PROGRAM["expert_kmeans_wide"]
        good &= report(program, (records, clusters, columns), ask(program, records, clusters, "step", columns), want)
        program = PROGRAM["expert_matvec"]
        got = ask(program, records, clusters, "product", columns)
        good &= report(program, (records, columns), got, product(records, columns))
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


def power_step(records):
    """x = A x / |A x| twice, from the vector of the product: |A x| and the first and the last coordinate of x."""
    x = [coordinate(2**40, c, records) for c in range(records)]
    for _ in range(2):
        y = [sum(coordinate(i, c, records) * x[c] for c in range(records)) for i in range(records)]
        norm = math.sqrt(sum(v * v for v in y))
        x = [v / norm for v in y]
    return [norm, x[0], x[-1]]


def below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def prices(records, rate=0.02, volatility=0.3):
    """All calls, all puts, the calls with weights 0, 1, 2, by the formula of Black and Scholes with the error function."""
    sums = [0.0, 0.0, 0.0]
    for i in range(records):
        r = splitmix(2**42 + i)
        spot, strike, years = 5 + 25 * (r & 65535) / 65536, 1 + 99 * (r >> 16 & 65535) / 65536, 0.25 + 9.75 * (r >> 32 & 65535) / 65536
        d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * math.sqrt(years))
        d2, worth = d1 - volatility * math.sqrt(years), strike * math.exp(-rate * years)
        call, put = spot * below(d1) - worth * below(d2), worth * below(-d2) - spot * below(-d1)
        sums = [sums[0] + call, sums[1] + put, sums[2] + call * (i % 3)]
    return sums


def philox(index, key):
    """Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011), figure 3 and section 3.3: the counter's lower words hold the index."""
    words, k0, k1 = [index & 0xFFFFFFFF, index >> 32, 0, 0], key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        first, second = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [second >> 32 ^ words[1] ^ k0, second & 0xFFFFFFFF, first >> 32 ^ words[3] ^ k1, first & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return words


def random_paths(records, seed):
    """What a call of 100 on a share of 100 pays, discounted (interest 0.05, volatility 0.2, a year), and the squares of the
    distances from 100 - 100 e^-0.05."""
    sums, discount = [0.0, 0.0], math.exp(-0.05)
    for i in range(records):
        a, b, c, d = philox(i, seed)
        normal = math.sqrt(-2 * math.log(((b << 32 | a) // 2**11 + 1) / 2**53)) * math.cos(2 * math.pi * ((d << 32 | c) / 2**64))
        value = discount * max(100 * math.exp(0.03 + 0.2 * normal) - 100, 0)
        sums = [sums[0] + value, sums[1] + (value - (100 - 100 * discount)) ** 2]
    return sums


def options():
    good = report(PROGRAM["expert_matvec"], "iterate", ask(PROGRAM["expert_matvec"], 65, 1, "iterate", 65, runs=2), power_step(65))
    for records in (37, 4099):
        # the distribution's polynomial is within 7.5e-8; sums of prices with few digits differ more where all are small
        for program in ("expert_black_scholes", "expert_math"):
            good &= report(PROGRAM[program], records, ask(PROGRAM[program], records, 1, "price"), prices(records))
        for seed in (7, 2**40 + 3):
            got = ask(PROGRAM["expert_monte_carlo"], records, 1, "paths", more=["--seed", str(seed)])
            good &= report(PROGRAM["expert_monte_carlo"], (records, seed), got, random_paths(records, seed))
    return good


def numbers_in_order(records):
    """All numbers, all numbers by their places, and that they are in order."""
    numbers = sorted(splitmix(i) >> 32 for i in range(records))
    return [float(sum(numbers)), float(sum(i * number for i, number in enumerate(numbers))), 1.0]


def sorts():
    good = True
    for records in (1, 37, 4099):
        good &= report(PROGRAM["expert_sort"], records, ask(PROGRAM["expert_sort"], records, 1, "sort"), numbers_in_order(records))
    return good


def group_sums(records, keys, spread):
    """Number of keys, sum of all, and sum with weights key % 7: as bench_add_group says."""
    sums = {}
    for i in range(records):
        key = (splitmix(2 * i) >> 32) * keys >> 32
        key = (key + 12345) * 2891336453 & 0xFFFFFFFF if spread else key
        sums[key] = sums.get(key, 0) + (splitmix(2 * i + 1) >> 40) / 2**24
    return [len(sums), sum(sums.values()), sum(value * (key % 7) for key, value in sums.items())]


def by_key():
    good, program = True, PROGRAM["expert_by_key"]
    for records, keys in [(3000, 50), (5001, 60000)]:       # a table for each thread; parts
        got = ask(program, records, 1, "hashed", runs=2, more=["--keys", str(keys)])
        good &= report(program, ("hashed", records, keys), got, group_sums(records, keys, True))
        got, want = ask(program, records, 1, "dense", more=["--keys", str(keys)]), group_sums(records, keys, False)
        good &= report(program, ("dense", records, keys), got, [keys, *want[1:]])
    return good


def main():
    failed = not (wide_records() & sums_of_pairs() & options() & sorts() & by_key())
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
