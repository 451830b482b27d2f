# SPDX-License-Identifier: Apache-2.0
"""The logistic-regression program against closed forms, derivatives and published coefficients. usage: logistic_regression.py EXECUTABLE SOURCE"""
import csv
import gzip
import math
import struct

from run import IRIS, check, expect_error, have_cpu, main, published, result, run, write_csv

DEVICES = ["interp"]


def find_devices():
    write_csv("two.csv", ["x", "y"], [[0, 0], [0, 1], [1, 1], [1, 0]])
    if have_cpu("--input", "two.csv", "--target", "y"):
        DEVICES.append("cpu")


def probabilities(coefficients, rows):
    return [1 / (1 + math.exp(-coefficients[0] - sum(b * x for b, x in zip(coefficients[1:], row)))) for row in rows]


def log_likelihood(p, y):
    return math.fsum(math.log(q if v else 1 - q) for q, v in zip(p, y))


def the_odds_of_a_table_are_its_closed_form():
    """Of 30 rows with x = 2, 24 are of class 1; of 20 with x = 7, 5: odds 4 and 1/3."""
    rows = [[2, i < 24] for i in range(30)] + [[7, i < 5] for i in range(20)]
    write_csv("table.csv", ["y", "x"], [[int(y), x] for x, y in rows])
    slope = (math.log(1 / 3) - math.log(4)) / 5
    right = [math.log(4) - 2 * slope, slope]
    for device in DEVICES:
        got = result("--input", "table.csv", "--target", "y", "--device", device, "--output", "p.npy")["result"]
        check(all(math.isclose(a, b, rel_tol=1e-13) for a, b in zip(got["coefficients"], right)), f"{device}: {got}, not {right}")
        likelihood = 24 * math.log(0.8) + 6 * math.log(0.2) + 5 * math.log(0.25) + 15 * math.log(0.75)
        check(math.isclose(got["log_likelihood"], likelihood, rel_tol=1e-13), f"{device}: {got}, log likelihood {likelihood}")
        check(got["accuracy"] == (24 + 15) / 50 and 2 <= got["iterations"] <= 8, f"{device}: {got}")
        with open("p.npy", "rb") as file:
            data = file.read()
        p = struct.unpack("<50d", data[-400:])
        check(b"'<f8'" in data[:128] and all(math.isclose(q, 0.8 if i < 30 else 0.25, rel_tol=1e-13) for i, q in enumerate(p)), f"{device}: probabilities {p}")


def derivatives_vanish_with_equal_bits_everywhere():
    """The likelihood is concave: it has its one maximum where all derivatives are zero."""
    with open(IRIS) as file:
        flowers = [[float(x) for x in line.split(",")[:4]] for line in file.read().split()[1:]][50:]
    y = [i >= 50 for i in range(100)]       # versicolor and virginica
    write_csv("flowers.csv", ["a", "b", "class", "c", "d"], [[*row[:2], int(v), *row[2:]] for row, v in zip(flowers, y)])
    runs = [result("--input", "flowers.csv", "--target", "class", "--device", device)["result"] for device in DEVICES]
    runs += [result("--input", "flowers.csv", "--target", 2, "--columns", "0-1,c,d", "--device", "interp", "--layout", layout)["result"]
             for layout in ("aos", "aosoa", "aop")]
    check(all(r == runs[0] for r in runs), f"other bits: {runs}")
    got = runs[0]
    p = probabilities(got["coefficients"], flowers)
    for column in [[1.0] * 100] + list(map(list, zip(*flowers))):
        slope = math.fsum((v - q) * x for v, q, x in zip(y, p, column))
        check(abs(slope) < 1e-10 * math.fsum(map(abs, column)), f"derivative {slope}")
    check(math.isclose(got["log_likelihood"], log_likelihood(p, y), rel_tol=1e-12), f"{got}: {log_likelihood(p, y)}")
    check(got["accuracy"] == sum((q > 0.5) == v for q, v in zip(p, y)) / 100, f"{got}")


def steps_that_go_too_far_are_halved():
    """The derivatives vanish all the same; turns tell of each model by how much a coefficient changed, and where one was worse than that before."""
    rows = [[0, 1]] * 24 + [[0.5, 1]] * 30 + [[-0.2, 0], [5, 0], [58, 0]]
    write_csv("steep.csv", ["x", "y"], rows)
    for device in DEVICES:
        whole = result("--input", "steep.csv", "--target", "y", "--device", device)
        got, changed = whole["result"], [turn["changed"] for turn in whole["turns"]]
        p = probabilities(got["coefficients"], [[x] for x, _ in rows])
        for column in ([1.0] * len(rows), [x for x, _ in rows]):
            slope = math.fsum((v - q) * x for (_, v), q, x in zip(rows, p, column))
            check(abs(slope) < 1e-10 * math.fsum(map(abs, column)), f"{device}: derivative {slope}")
        check(len(changed) == got["iterations"] + 1 and changed[-1] <= 1e-8 < changed[-2], f"{device}: {got['iterations']} steps, {changed}")
        check([i for i, change in enumerate(changed) if change == "Infinity"] == [0, 5, 6], f"{device}: no two steps too far: {changed}")
    cut = result("--input", "steep.csv", "--target", "y", "--device", "interp", "--iterations", 6)
    check(cut["result"]["iterations"] == 6 and len(cut["turns"]) == 7, f"{cut}")


def a_column_with_a_large_offset_changes_the_intercept_only():
    values = [[x % 17, (x * x) % 17 < x % 23] for x in range(60)]
    write_csv("near.csv", ["x", "y"], [[x, int(y)] for x, y in values])
    write_csv("far.csv", ["x", "y"], [[x + 1000000, int(y)] for x, y in values])
    near, far = (result("--input", name, "--target", "y", "--device", "interp")["result"] for name in ("near.csv", "far.csv"))
    check(math.isclose(near["coefficients"][1], far["coefficients"][1], rel_tol=1e-9), f"{near}, {far}")
    check(math.isclose(near["coefficients"][0], far["coefficients"][0] + 1000000 * far["coefficients"][1], rel_tol=1e-6), f"{near}, {far}")
    check(math.isclose(near["log_likelihood"], far["log_likelihood"], rel_tol=1e-12), f"{near}, {far}")


def classes_without_an_error_have_no_maximum():
    write_csv("apart.csv", ["x", "y"], [[x, int(x >= 10)] for x in range(20)])
    code, _, err = run("--input", "apart.csv", "--target", "y", "--device", "interp")
    check(code == 0 and "still changed" in err, f"{code}: {err}")
    expect_error(2, ["separated"], "--input", "apart.csv", "--target", "y", "--device", "interp", "--iterations", 1000)
    none = result("--input", "apart.csv", "--target", "y", "--device", "interp", "--iterations", 0)["result"]
    check(none["coefficients"] == [0, 0] and none["iterations"] == 0 and math.isclose(none["log_likelihood"], -20 * math.log(2), rel_tol=1e-14), f"{none}")


def the_table_names_the_predictors():
    code, out, _ = run("--input", "table.csv", "--target", "y", "--device", "interp", "--quiet")
    words = out.decode().split()
    check(code == 0 and words[1] == "intercept" and words[3] == "x" and "50 rows" in out.decode(), f"{out}")


def misuse_is_told():
    write_csv("bad.csv", ["a", "b", "c", "y"], [[1, 2, 5, 1], [2, 4, 5, 0], [3, 6, 5, 0], [4, 8, 5, 1], ["nan", 1, 2, 1], [1, 2, 5, 2]])
    write_csv("good.csv", ["a", "b", "c", "y"], [[1, 2, 5, 1], [2, 4, 5, 0], [3, 6, 5, 0], [4, 8, 5, 1], [5, 10, 5, 0]])
    expect_error(2, ["--target"], "--input", "good.csv")
    expect_error(2, ["no column 'z'"], "--input", "good.csv", "--target", "z")
    expect_error(2, ["predictor 'c'"], "--input", "good.csv", "--target", "y", "--device", "interp")
    expect_error(2, ["predictor 'b'"], "--input", "good.csv", "--target", "y", "--columns", "a,b", "--device", "interp")
    expect_error(7, ["record 4", "2 rows"], "--input", "bad.csv", "--target", "y", "--columns", "a", "--device", "interp")
    expect_error(7, ["record 5"], "--input", "bad.csv", "--target", "y", "--columns", "b", "--device", "interp")


def read_rows(name, opener):
    path = published("regression", name)
    if not path:
        return []
    with opener(path, "rt") as file:
        return list(csv.DictReader(file))


def expect_published(words, path, published, half_units):
    for device in DEVICES:
        got = result("--input", path, "--target", "y", "--device", device)["result"]
        print(words, device, got)
        for a, b, most in zip(got["coefficients"], published, half_units):
            check(abs(a - b) <= most * 1.0001, f"{words}, {device}: {got}")


def the_o_rings_have_the_published_coefficients():
    rows = read_rows("orings.csv", open)
    if rows:
        write_csv("rings.csv", ["t", "y"], [[row["Temperature"], int(int(row["Total"]) > 0)] for row in rows])
        expect_published("O-rings", "rings.csv", [15.042902, -0.232163], [0.5e-6, 0.5e-6])


def card_defaults_have_the_published_coefficients():
    rows = read_rows("Default.csv.gz", gzip.open)
    if rows:
        write_csv("cards.csv", ["balance", "y"], [[row["balance"], int(row["default"] == "Yes")] for row in rows])
        expect_published("cards", "cards.csv", [-10.651331, 0.005498917], [0.5e-6, 0.5e-9])


main(find_devices,
     the_odds_of_a_table_are_its_closed_form,
     derivatives_vanish_with_equal_bits_everywhere,
     steps_that_go_too_far_are_halved,
     a_column_with_a_large_offset_changes_the_intercept_only,
     classes_without_an_error_have_no_maximum,
     the_table_names_the_predictors,
     misuse_is_told,
     the_o_rings_have_the_published_coefficients,
     card_defaults_have_the_published_coefficients)
