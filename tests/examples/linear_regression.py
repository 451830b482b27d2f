# SPDX-License-Identifier: Apache-2.0
"""The linear-regression program against NIST's certified values and sums in fractions. usage: linear_regression.py EXECUTABLE SOURCE"""
import math
import os
import re
import struct
from fractions import Fraction

from run import IRIS, check, expect_error, have_cpu, main, published, read_npy, result, run, write_csv

DEVICES = ["interp"]


def find_devices():
    if have_cpu("--input", IRIS, "--columns", "0-2", "--target", 3):
        DEVICES.append("cpu")


def solve(rows):
    """The exact solution of a square system [A | b]."""
    n = len(rows)
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [row[n] for row in rows]


def exact_fit(terms, targets, intercept=True):
    """Least squares in fractions: coefficients and r2."""
    terms = [([Fraction(1)] if intercept else []) + [Fraction(x) for x in row] for row in terms]
    y = [Fraction(v) for v in targets]
    m = len(terms[0])
    system = [[sum(t[i] * t[j] for t in terms) for j in range(m)] + [sum(t[i] * v for t, v in zip(terms, y))] for i in range(m)]
    b = solve(system)
    mean = sum(y) / len(y) if intercept else 0
    rest = sum((v - sum(c * x for c, x in zip(b, t))) ** 2 for t, v in zip(terms, y))
    return b, 1 - rest / sum((v - mean) ** 2 for v in y)


def digits(got, right):
    """Decimal digits that agree, 16 at most."""
    if got == right:
        return 16
    error = abs(Fraction(got) - Fraction(right)) / (abs(Fraction(right)) if right else 1)
    return -math.log10(error)


def expect_digits(least, words, got, coefficients, r2=None):
    check(len(got["coefficients"]) == len(coefficients), f"{words}: {got}")
    reached = min(digits(g, c) for g, c in zip(got["coefficients"], coefficients))
    print(f"{words}: {reached:.1f} digits, R2 {got['r2']}")
    check(reached >= least, f"{words}: {reached:.2f} digits of {coefficients}: {got['coefficients']}")
    if r2 is not None:
        check(digits(got["r2"], r2) >= min(least, 12), f"{words}: R2 {got['r2']}, not {float(r2)}")


def same_on_all_devices(words, *arguments):
    runs = [result(*arguments, "--device", device)["result"] for device in DEVICES]
    check(all(r == runs[0] for r in runs), f"{words}: devices differ: {runs}")
    return runs[0]


def read_iris():
    with open(IRIS) as file:
        return [[float(x) for x in line.split(",")[:4]] for line in file.read().split()[1:]]


def iris_is_fitted_as_in_fractions_with_equal_bits():
    rows = read_iris()
    right = exact_fit([row[:3] for row in rows], [row[3] for row in rows])
    got = same_on_all_devices("iris", "--input", IRIS, "--columns", "0-3", "--target", "petal_width")
    expect_digits(15, "iris", got, *right)
    for layout in ("aos", "aosoa", "aop"):
        again = result("--input", IRIS, "--columns", "0-2", "--target", 3, "--layout", layout, "--device", "interp")["result"]
        check(again == got, f"{layout}, target beside the columns: {again}, not {got}")


def near_dependent_powers_are_fitted_to_all_digits():
    """Wampler's problem (JASA 65, 1970), made here: the fifth degree over 0 ... 20, with coefficients 1 and large remainders."""
    noise = [((i * 7919) % 41 - 20) * 10000 for i in range(21)]
    rows = [[x, sum(x ** k for k in range(6)) + noise[x]] for x in range(21)]
    write_csv("powers.csv", ["x", "y"], rows)
    right = exact_fit([[x ** k for k in range(1, 6)] for x, _ in rows], [y for _, y in rows])
    got = same_on_all_devices("powers", "--input", "powers.csv", "--target", "y", "--degree", 5)
    expect_digits(14, "powers", got, *right)


def a_line_through_the_origin_needs_no_intercept():
    write_csv("origin.csv", ["y", "x"], [[3, 4], [4, 5], [4, 6]])
    right = exact_fit([[4], [5], [6]], [3, 4, 4], intercept=False)
    got = result("--input", "origin.csv", "--target", "y", "--no-intercept", "--device", "interp")["result"]
    expect_digits(15, "origin", got, *right)


def fitted_values_are_written():
    write_csv("line.csv", ["x", "y"], [[x, 3 * x - 7] for x in range(50)])
    got = result("--input", "line.csv", "--target", "y", "--device", "interp", "--output", "fit.npy")["result"]
    check(got == {"coefficients": [-7, 3], "r2": 1}, f"{got}")
    header, data = read_npy("fit.npy")
    check(header["descr"] == "<f8" and struct.unpack("<50d", data) == tuple(3.0 * x - 7 for x in range(50)), "fit.npy")
    code, out, _ = run("--input", "line.csv", "--target", "y", "--device", "interp", "--quiet")
    check(code == 0 and out.decode().split() == ["-7", "intercept", "3", "x", "R2", "1", "over", "50", "rows"], f"{out}")


def misuse_is_told():
    write_csv("bad.csv", ["a", "b", "c", "d"], [[1, 2, 5, 1], [2, 4, 5, 1], [3, 6, 5, 2], [4, 8, 5, "inf"]])
    expect_error(2, ["--target"], "--input", "bad.csv")
    expect_error(2, ["'e'"], "--input", "bad.csv", "--target", "e")
    expect_error(2, ["no column '7'"], "--input", "bad.csv", "--target", "a", "--columns", "7")
    expect_error(2, ["no column is left"], "--input", "bad.csv", "--target", "a", "--columns", "0")
    expect_error(2, ["predictor 'b'"], "--input", "bad.csv", "--target", "c", "--columns", "0-1", "--device", "interp")
    expect_error(2, ["predictor 'c'"], "--input", "bad.csv", "--target", "a", "--columns", "c", "--device", "interp")
    expect_error(2, ["4 rows for 7"], "--input", "bad.csv", "--target", "a", "--columns", "b,c", "--degree", 3, "--device", "interp")
    expect_error(7, ["record 3"], "--input", "bad.csv", "--target", "d", "--columns", "a", "--device", "interp")
    expect_error(2, ["96 terms"], "--input", "bad.csv", "--target", "d", "--degree", 32, "--device", "interp")


def read_nist(path):
    """Certified coefficients and R2, and the rows (y first) as written."""
    with open(path) as file:
        lines = file.read().splitlines()
    coefficients = [Fraction(m.group(1)) for m in (re.match(r"\s+B\d+\s+(\S+)", line) for line in lines[29:60]) if m]
    r2 = next(Fraction(line.split()[1]) for line in lines[29:60] if line.split()[:1] == ["R-Squared"])
    return coefficients, r2, [line.split() for line in lines[60:] if line.strip()]


# The digits to reach: as many as the certified values have, where the numbers of the file are doubles; otherwise what the data's rounding to double leaves.
NIST = [("Norris", 1, 12), ("Pontius", 2, 12), ("NoInt1", 1, 12), ("NoInt2", 1, 12), ("Longley", 1, 12),
        ("Wampler1", 5, 14), ("Wampler2", 5, 12), ("Wampler3", 5, 14), ("Wampler4", 5, 14), ("Wampler5", 5, 14)]


def nist_certified_values_are_reached():
    folder = published("regression", "nist")
    if not folder:
        return
    for name, degree, least in NIST:
        coefficients, r2, rows = read_nist(os.path.join(folder, name + ".dat"))
        header = ["y"] + [f"x{i}" for i in range(1, len(rows[0]))]
        write_csv(name + ".csv", header, rows)
        arguments = ["--input", name + ".csv", "--target", "y", "--degree", degree, "--device", "interp"]
        got = result(*arguments, *(["--no-intercept"] if name.startswith("NoInt") else []))["result"]
        expect_digits(least, name, got, coefficients, r2)


def the_power_plant_is_fitted_as_published():
    path = published("regression", "ccpp.csv")
    if not path:
        return
    with open(path) as file:
        rows = [line.split(",") for line in file.read().split()[1:]]
    write_csv("plant.csv", ["AT", "V", "AP", "RH", "PE"], rows)
    got = result("--input", "plant.csv", "--target", "PE", "--device", "interp")["result"]
    numbers = [[float(v) for v in row] for row in rows]
    expect_digits(14, "plant", got, *exact_fit([row[:4] for row in numbers], [row[4] for row in numbers]))
    coefficients = [454.60927446, -1.97751311, -0.23391642, 0.06208294, -0.15805410]       # the intercept is right to 9 digits: in fractions it ends in 432
    check(digits(got["coefficients"][0], coefficients[0]) > 9, f"plant: {got}")
    check(max(abs(a - b) for a, b in zip(got["coefficients"][1:], coefficients[1:])) <= 0.5000001e-8, f"plant: {got}")
    check(abs(got["r2"] - 0.92869609) <= 0.5000001e-8, f"plant: {got}")


def rows_that_do_not_parse_are_left_out():
    good = [[x, 3 * x + x % 7] for x in range(1, 60)]
    bad = [["none", 5], [7, ""], [8], [9, 10, 11], ['"4"x', 5], ["2024-02-29", 1]]
    dirty = [row for i, row in enumerate(good) for row in ([row, bad[i % 6]] if i % 5 == 0 else [row])]
    write_csv("clean.csv", "x,y", good)
    write_csv("dirty.csv", "x,y", dirty)
    expect_error(6, ["dirty.csv:"], "--input", "dirty.csv", "--target", "y")
    for device in DEVICES:
        clean, left = (result("--input", name, "--target", "y", "--device", device, "--on-error", "skip") for name in ("clean.csv", "dirty.csv"))
        check(clean["result"] == left["result"] and left.get("records") == len(good), f"{device}: {clean} and {left}")


main(find_devices, rows_that_do_not_parse_are_left_out,
     iris_is_fitted_as_in_fractions_with_equal_bits, near_dependent_powers_are_fitted_to_all_digits, a_line_through_the_origin_needs_no_intercept,
     fitted_values_are_written, misuse_is_told, nist_certified_values_are_reached, the_power_plant_is_fitted_as_published)
