# SPDX-License-Identifier: Apache-2.0
"""The fuzzy-cmeans program against the published objective of iris and steps computed here, and equal on every device.

usage: fuzzy_cmeans.py EXECUTABLE SOURCE
"""
import array
import math

from run import FEATURES, IRIS, check, expect_error, have_cpu, main, read_npy, result, run, write_npy

DEVICES = ["interp"]
OBJECTIVE = 60.5057     # of iris in three clusters with m = 2


def iris_rows():
    with open(IRIS) as file:
        return [[float(x) for x in line.split(",")[:4]] for line in file.read().split()[1:]]


ROWS = iris_rows()
START = [ROWS[0], ROWS[50], ROWS[100]]


def find_devices():
    write_npy("start.npy", 3, 4, [x for row in START for x in row])
    if have_cpu("--input", IRIS, *FEATURES, "--clusters", 3):
        DEVICES.append("cpu")


def read_degrees(path):
    header, data = read_npy(path)
    n, k = header["shape"]
    values = array.array("f", data)
    check(header["descr"] == "<f4" and not header["fortran_order"] and len(values) == n * k, f"header {header}")
    return [list(values[i * k:i * k + k]) for i in range(n)]


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def degrees_of(row, centers, m):
    """As the textbook has it: 1 / sum over l of (d[j] / d[l]) ^ (1 / (m - 1)); a point on a center is that cluster's alone."""
    d = [distance(row, center) for center in centers]
    if 0 in d:
        return [float(e == 0) / d.count(0) for e in d]
    return [1 / sum((a / b) ** (1 / (m - 1)) for b in d) for a in d]


def measure(rows, centers, m):
    """Objective and next centers."""
    weights = [[u ** m for u in degrees_of(row, centers, m)] for row in rows]
    objective = math.fsum(w * distance(row, center) for row, ws in zip(rows, weights) for w, center in zip(ws, centers))
    total = [math.fsum(ws[j] for ws in weights) for j in range(len(centers))]
    moved = [[math.fsum(ws[j] * row[i] for row, ws in zip(rows, weights)) / total[j] for i in range(len(rows[0]))] for j in range(len(centers))]
    return objective, moved


def far(a, b):
    return max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))


def iris_reaches_the_published_objective():
    seen = None
    for device in DEVICES:
        for layout in ("soa",) if device == "cpu" else ("aos", "soa", "aosoa", "aop"):     # a kernel for each layout would take its time to build
            got = result("--input", IRIS, *FEATURES, "--clusters", 3, "--device", device, "--layout", layout)
            check(got["workload"] == "fuzzy-cmeans" and sorted(got["result"]) == ["centers", "iterations", "objective"], f"{got}")
            check(abs(got["result"]["objective"] - OBJECTIVE) < 5e-5, f"{device}, {layout}: objective {got['result']['objective']}")
            seen = seen or got["result"]
            check(got["result"] == seen, f"{device}, {layout}: other bits than the first run")
    _, still = measure(ROWS, seen["centers"], 2)
    check(far(still, seen["centers"]) < 2e-4, "the next step would move the centers further than the tolerance")


def steps_are_those_of_the_definition():
    for m, count in ((2, 1), (2, 4), (3, 2), (1.5, 2)):
        centers = START
        for _ in range(count):
            _, centers = measure(ROWS, centers, m)
        objective, _ = measure(ROWS, centers, m)
        seen = None
        for device in DEVICES if m != 1.5 else DEVICES[:1]:
            words = f"{device}, m {m}, {count} steps"
            got = result("--input", IRIS, *FEATURES, "--clusters", 3, "--init", "start.npy", "--iterations", count,
                         "--fuzzifier", m, "--device", device)["result"]
            check(got["iterations"] == count and math.isclose(got["objective"], objective, rel_tol=2e-6),
                  f"{words}: objective {got['objective']}, not {objective}")
            check(far(got["centers"], centers) < 2e-5, f"{words}: centers {got['centers']}, not {centers}")
            seen = seen or got
            check(got == seen, f"{words}: other bits than the interpreter's")


def degrees_are_written():
    seen = None
    for device in DEVICES:
        got = result("--input", IRIS, *FEATURES, "--clusters", 3, "--device", device, "--output", "degrees.npy")["result"]
        degrees = read_degrees("degrees.npy")
        check(len(degrees) == 150, f"{len(degrees)} rows")
        check(far(degrees, [degrees_of(row, got["centers"], 2) for row in ROWS]) < 1e-5, f"{device}: degrees")
        check(all(abs(sum(row) - 1) < 1e-6 for row in degrees), f"{device}: the degrees of a point are not 1 together")
        seen = seen or degrees
        check(degrees == seen, f"{device}: other bits than the interpreter's")


def many_points_have_equal_bits_in_any_memory():
    write_npy("many.npy", 20000, 4, [(i * 2654435761 % 65536) / 8192 for i in range(80000)])
    seen = None
    for device in DEVICES:
        for memory in ("1G", "2M"):
            got = result("--input", "many.npy", "--clusters", 3, "--init", "start.npy", "--iterations", 2, "--device", device, "--memory", memory)["result"]
            seen = seen or got
            check(got == seen, f"{device}, {memory}: other bits than the first run")


def a_point_on_a_center_is_its_own():
    write_npy("line.npy", 4, 1, [0.0, 1.0, 10.0, 11.0])
    write_npy("line-start.npy", 2, 1, [0.0, 10.0])
    got = result("--input", "line.npy", "--clusters", 2, "--init", "line-start.npy", "--iterations", 0,
                 "--device", "interp", "--output", "line-degrees.npy")["result"]
    degrees = read_degrees("line-degrees.npy")
    check(degrees[0] == [1, 0] and degrees[2] == [0, 1], f"{degrees}")
    # u of 1 is 81/82 and 1/82 with distances 1 and 81; of 11 it is 1/122 and 121/122 with 121 and 1
    check(math.isclose(got["objective"], 81 / 82 + 121 / 122, rel_tol=1e-6) and got["iterations"] == 0, f"{got}")
    write_npy("same.npy", 3, 1, [5.0, 5.0, 5.0])
    got = result("--input", "same.npy", "--clusters", 2, "--device", "interp")["result"]
    check(got["objective"] == 0 and got["centers"] == [[5], [5]], f"{got}")


def the_table_has_a_row_for_every_cluster():
    code, out, err = run("--input", IRIS, *FEATURES, "--clusters", 3, "--device", "interp", "--quiet")
    lines = out.decode().splitlines()
    check(code == 0 and len(lines) == 5 and lines[4].startswith("objective 60.505") and err == "", f"{lines} {err}")
    code, out, err = run("--input", IRIS, *FEATURES, "--clusters", 3, "--device", "interp", "--explain", "--output", "-")
    check(code == 0 and err.count("stage belong") == 1 and out[:6] == b"\x93NUMPY", f"--explain: {err}")


def what_cannot_be_clustered_is_refused():
    write_npy("line.npy", 4, 1, [0.0, 1.0, 10.0, 11.0])
    write_npy("bad.npy", 4, 1, [0.0, 1.0, float("nan"), 11.0])
    write_npy("wide.npy", 4, 1, [0.0, 1.0, 1e30, 11.0])
    write_npy("line-start.npy", 2, 1, [0.0, 10.0])
    expect_error(2, ["5 clusters of 4 points"], "--input", "line.npy", "--clusters", 5)
    expect_error(2, ["--fuzzifier", "above 1"], "--input", "line.npy", "--clusters", 2, "--fuzzifier", 1)
    expect_error(2, ["3 rows of 4"], "--input", "line.npy", "--clusters", 2, "--init", "start.npy")
    expect_error(7, ["1 point is", "record 2"], "--input", "bad.npy", "--clusters", 2, "--device", "interp")
    expect_error(7, ["1 point is", "record 2"], "--input", "bad.npy", "--clusters", 2, "--init", "line-start.npy", "--device", "interp")
    expect_error(7, ["1 point is", "record 2"], "--input", "wide.npy", "--clusters", 2, "--init", "line-start.npy", "--device", "interp")


main(find_devices, iris_reaches_the_published_objective, steps_are_those_of_the_definition, degrees_are_written,
     many_points_have_equal_bits_in_any_memory, a_point_on_a_center_is_its_own, the_table_has_a_row_for_every_cluster, what_cannot_be_clustered_is_refused)
