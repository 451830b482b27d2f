#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The expert programs about models (fuzzy c-means, logistic regression, a neural net) against their definitions in plain
Python, at sizes that are and are not multiples of a vector's.

usage: test_models.py EXPERT_FUZZY EXPERT_LOGISTIC EXPERT_NEURAL"""
import math
import subprocess
import sys

from test_experts import coordinate, float32, splitmix

COLUMNS, PREDICTORS, PIXELS, HIDDEN, CLASSES = 4, 10, 784, 30, 10


def signed(counter):
    """As bench_signed in bench/models.h says."""
    return (splitmix(counter) >> 10) * 2.0**-53 - 1


def fuzzy(records, clusters):
    """The objective, the weight and the sum of the first column of cluster 0, the sum of the last column of the last cluster."""
    centers = [[coordinate(2**40 + j, c, COLUMNS) for c in range(COLUMNS)] for j in range(clusters)]
    objective = 0.0
    weight, first, last = 0.0, 0.0, 0.0
    for i in range(records):
        point = [coordinate(i, c, COLUMNS) for c in range(COLUMNS)]
        distances = [sum((p - q) ** 2 for p, q in zip(point, center)) for center in centers]
        degrees = [1 / sum(d / other for other in distances) for d in distances]
        objective += sum(u * u * d for u, d in zip(degrees, distances))
        weight += degrees[0] ** 2
        first += degrees[0] ** 2 * point[0]
        last += degrees[-1] ** 2 * point[-1]
    return [objective, weight, first, last]


def logistic(records):
    """Log likelihood, rows whose class is found, the first and last number of the gradient, three of the information matrix."""
    b = [0.3 * signed(2**44 + i) for i in range(PREDICTORS + 1)]
    sums = [0.0] * 7
    for i in range(records):
        x = [signed(i * PREDICTORS + c) for c in range(PREDICTORS)]
        y = signed(2**43 + i) + sum((-0.25 if c % 2 else 0.25) * x[c] for c in range(PREDICTORS)) > 0
        z = [1.0] + [(x[c] - 0.01 * (c + 1)) * (1.7 + 0.01 * c) for c in range(PREDICTORS)]
        eta = sum(p * q for p, q in zip(b, z))
        p = 1 / (1 + math.exp(-eta))
        w = p * (1 - p)
        addends = [math.log(p if y else 1 - p), (eta > 0) == y, (y - p) * z[0], (y - p) * z[-1], w * z[0] * z[0], w * z[7] * z[2], w * z[-1] * z[-1]]
        sums = [s + a for s, a in zip(sums, addends)]
    return sums


def pixel(record, column):
    r = splitmix(2**45 + record * PIXELS + column)
    return 0.0 if r % 5 else (r >> 40) * 2.0**-24


def neural(records):
    """Derivatives of the cross entropy: weight 100 and the last weight of the first layer, its first constant, the first
    weight of the second layer, its last constant."""
    w1_size = HIDDEN * PIXELS
    size = w1_size + HIDDEN + CLASSES * HIDDEN + CLASSES
    w = [float32((float32(0.08) if i < w1_size else float32(0.3)) * signed(2**47 + i)) for i in range(size)]
    b1, w2, b2 = w1_size, w1_size + HIDDEN, w1_size + HIDDEN + CLASSES * HIDDEN
    sums = [0.0] * 5
    for i in range(records):
        x = [pixel(i, c) for c in range(PIXELS)]
        y = splitmix(2**46 + i) % CLASSES
        hidden = [math.tanh(w[b1 + h] + sum(p * q for p, q in zip(w[h * PIXELS : (h + 1) * PIXELS], x))) for h in range(HIDDEN)]
        scores = [w[b2 + c] + sum(p * q for p, q in zip(w[w2 + c * HIDDEN : w2 + (c + 1) * HIDDEN], hidden)) for c in range(CLASSES)]
        total = sum(math.exp(s) for s in scores)
        delta = [math.exp(s) / total - (c == y) for c, s in enumerate(scores)]
        back = [sum(delta[c] * w[w2 + c * HIDDEN + h] for c in range(CLASSES)) * (1 - hidden[h] ** 2) for h in range(HIDDEN)]
        addends = [back[0] * x[100], back[-1] * x[-1], back[0], delta[0] * hidden[0], delta[-1]]
        sums = [s + a for s, a in zip(sums, addends)]
    return sums


def check(program, options, want):
    done = subprocess.run([program, *map(str, options)], input="run step\ncheck step\n", capture_output=True, text=True, check=True)
    got = [float(word) for word in done.stdout.splitlines()[2].split()[1:]]
    good = len(got) == len(want) and all(abs(a - b) <= 1e-4 * abs(b) + 1e-5 for a, b in zip(got, want))
    print("ok  " if good else "FAIL", program.rsplit("/", 1)[-1], *options, got, want)
    return good


def main():
    good = True
    for records, clusters in [(37, 8), (4096, 3), (9001, 8), (4100, 1)]:
        good &= check(sys.argv[1], ["--records", records, "--clusters", clusters], fuzzy(records, clusters))
    for records in [5, 128, 3001]:
        good &= check(sys.argv[2], ["--records", records], logistic(records))
    for records in [3, 50, 131]:
        good &= check(sys.argv[3], ["--records", records], neural(records))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
