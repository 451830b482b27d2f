# SPDX-License-Identifier: Apache-2.0
"""Results of the kmeans program against independent answers, and equal bits everywhere. usage: kmeans_results.py EXECUTABLE SOURCE"""
import math
import os
import xml.dom.minidom

from run import FEATURES, IRIS, SOURCE, check, float32, have_cpu, main, read_labels, result, run, write_npy

LAYOUTS = ["aos", "soa", "aosoa", "aop"]
CPU = []


def find_devices():
    if have_cpu():
        CPU.append("cpu")


def iris_rows():
    with open(IRIS) as file:
        return [[float(x) for x in line.split(",")[:4]] for line in file.read().split()[1:]]


def iris_reaches_the_published_answer_on_every_device_in_every_layout():
    rows = iris_rows()
    write_npy("start.npy", 3, 4, rows[0] + rows[50] + rows[100])
    seen = None
    for device in ["interp"] + CPU:
        for layout in LAYOUTS:
            words = f"{device}, {layout}"
            got = result("--input", IRIS, *FEATURES, "--clusters", 3, "--init", "start.npy", "--tolerance", 0, "--device", device, "--layout", layout)["result"]
            check(abs(got["inertia"] - 78.851441426146) < 1e-4, f"{words}: inertia {got['inertia']}")     # distances are float32
            check(got["sizes"] == [50, 62, 38], f"{words}: sizes {got['sizes']}")
            published = [[5.006, 3.428, 1.462, 0.246], [5.9016, 2.7484, 4.3935, 1.4339], [6.85, 3.0737, 5.7421, 2.0711]]
            far = max(abs(a - b) for p, q in zip(got["centers"], published) for a, b in zip(p, q))
            check(far < 1e-4, f"{words}: centers {got['centers']}")
            seen = seen or got
            check(got == seen, f"{words}: other bits than the first run: {got} and {seen}")


def columns_may_be_named():
    by_index = result("--input", IRIS, "--columns", "2,3", "--clusters", 3, "--device", "interp")["result"]
    by_name = result("--input", IRIS, "--columns", "petal_length,petal_width", "--clusters", 3, "--device", "interp")["result"]
    check(by_index == by_name and len(by_name["centers"][0]) == 2, f"{by_name}")


def several_inputs_are_one():
    rows = iris_rows()
    write_npy("all.npy", 150, 4, [x for row in rows for x in row])
    write_npy("a.npy", 70, 4, [x for row in rows[:70] for x in row])
    write_npy("b.npy", 80, 4, [x for row in rows[70:] for x in row])
    whole = result("--input", "all.npy", "--clusters", 3, "--device", "interp")
    parts = result("--input", "a.npy", "--input", "b.npy", "--clusters", 3, "--device", "interp")
    check(whole["result"] == parts["result"] and parts["records"] == 150, "two inputs differ from one")


def the_json_object_has_the_contracts_parts():
    got = result("--input", IRIS, *FEATURES, "--clusters", 3, "--device", "interp")
    want = ["workload", "records", "records_skipped", "fast_sums", "seconds", "devices", "bytes", "levels", "turns", "result"]
    check(sorted(got) == sorted(want), f"keys {sorted(got)}")
    check(got["workload"] == "kmeans" and got["records"] == 150 and got["records_skipped"] == 0, "workload or records")
    check(got["fast_sums"] == 0, "sums are exact unless fast ones are asked for")
    check(sorted(got["seconds"]) == ["compile", "read", "run", "total"], f"seconds {got['seconds']}")
    check(got["seconds"]["total"] >= got["seconds"]["run"] > 0, f"seconds {got['seconds']}")
    check(sorted(got["devices"][0]) == ["busy_seconds", "name", "records", "slices"], f"devices {got['devices']}")
    check(sorted(got["bytes"]) == ["device_peak", "from_device", "host_peak", "to_device"], f"bytes {got['bytes']}")
    check(got["bytes"]["host_peak"] >= got["bytes"]["device_peak"] >= 150 * 4 * 4, f"the interpreter's memory is the host's: {got['bytes']}")
    check(all(sorted(level) == ["in", "name", "out"] for level in got["levels"]) and got["levels"][0]["name"] == "block", f"levels {got['levels']}")
    check(sorted(got["result"]) == ["centers", "inertia", "iterations", "sizes"], f"result {sorted(got['result'])}")
    passes = got["result"]["iterations"] + 1       # the last one measures, unless nothing moved
    check(len(got["turns"]) == got["result"]["iterations"] and got["turns"][-1]["moved"] <= 1e-4 < got["turns"][-2]["moved"], f"turns {got['turns']}")
    check(all(turn["records"] == 150 + 3 and turn["seconds"] > 0 for turn in got["turns"]), f"points and centers of each turn: {got['turns']}")
    own = passes - 1       # the centers that moved are records, too
    check(got["devices"][0]["records"] - 3 * own in (150 * passes, 150 * (passes - 1)), f"records of the device {got['devices']}")


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def every_point_is_labelled_with_its_nearest_center():
    rows = iris_rows()
    for device in ["interp"] + CPU:
        got = result("--input", IRIS, *FEATURES, "--clusters", 4, "--seed", 5, "--device", device, "--output", "labels.npy")["result"]
        with open("labels.npy", "rb") as file:
            labels = read_labels(file.read())
        check(len(labels) == 150, f"{len(labels)} labels")
        check([labels.count(j) for j in range(4)] == got["sizes"], "labels do not count up to the sizes")
        for row, label in zip(rows, labels):
            best = min(distance(row, center) for center in got["centers"])
            check(distance(row, got["centers"][label]) <= best * (1 + 1e-5), f"{row} is not nearest to center {label}")
        total = sum(distance(row, got["centers"][label]) for row, label in zip(rows, labels))
        check(math.isclose(total, got["inertia"], rel_tol=1e-5), f"inertia {got['inertia']}, by the labels {total}")


def labels_go_to_standard_output_by_a_dash():
    code, out, err = run("--input", IRIS, *FEATURES, "--clusters", 3, "--device", "interp", "--output", "-")
    check(code == 0 and len(read_labels(out)) == 150, "labels on standard output")
    check("cluster" in err and "inertia" in err, f"the table is not on standard error: {err}")


def the_table_has_a_row_for_every_cluster():
    code, out, _ = run("--input", IRIS, *FEATURES, "--clusters", 3, "--init", "first", "--device", "interp", "--quiet")
    lines = out.decode().splitlines()
    check(code == 0 and len(lines) == 5, f"table {lines}")
    check(lines[0].split() == ["cluster", "points", "sepal_length", "sepal_width", "petal_length", "petal_width"], lines[0])
    check(sum(int(line.split()[1]) for line in lines[1:4]) == 150, "sizes in the table")


def quiet_leaves_standard_error_empty():
    _, _, err = run("--input", IRIS, *FEATURES, "--clusters", 3, "--device", "interp", "--quiet")
    check(err == "", f"--quiet: {err}")


def explain_is_on_standard_error():
    code, out, err = run("--input", IRIS, *FEATURES, "--clusters", 3, "--device", "interp", "--explain")
    check(code == 0 and "assign" in err and "assign" not in out.decode(), f"--explain: {err}")


def the_same_seed_gives_the_same_result():
    for init in ("kmeans++", "random"):
        start = ["--input", IRIS, *FEATURES, "--clusters", 5, "--init", init, "--iterations", 0, "--device", "interp"]
        runs = [result(*start, "--seed", seed)["result"] for seed in (1, 1, 2)]
        check(runs[0] == runs[1], f"{init}: seed 1 twice")
        check(runs[0]["centers"] != runs[2]["centers"], f"{init}: seeds 1 and 2 drew the same")


def first_centers_are_points_of_the_input():
    rows = [[float32(x) for x in row] for row in iris_rows()]
    for init in ("kmeans++", "random", "first"):
        got = result("--input", IRIS, *FEATURES, "--clusters", 5, "--init", init, "--iterations", 0, "--device", "interp")["result"]
        check(all([float32(x) for x in center] in rows for center in got["centers"]), f"{init}: {got['centers']}")
        check(got["iterations"] == 0 and sum(got["sizes"]) == 150, f"{init}: {got}")
    check([[float32(x) for x in c] for c in got["centers"]] == rows[:5], "--init first does not take the first points")


def an_empty_cluster_keeps_its_center():
    write_npy("line.npy", 4, 1, [0.0, 1.0, 10.0, 11.0])
    write_npy("line-start.npy", 3, 1, [0.0, 10.0, 1000.0])
    got = result("--input", "line.npy", "--clusters", 3, "--init", "line-start.npy", "--device", "interp")["result"]
    check(got == {"centers": [[0.5], [10.5], [1000]], "sizes": [2, 2, 0], "inertia": 1, "iterations": 2}, f"{got}")


def as_many_clusters_as_points_cost_nothing():
    write_npy("line.npy", 4, 1, [0.0, 1.0, 10.0, 11.0])
    got = result("--input", "line.npy", "--clusters", 4, "--device", "interp")["result"]
    check(got["inertia"] == 0 and got["sizes"] == [1, 1, 1, 1], f"{got}")


def many_clusters_find_their_pairs():
    """Every point of a lattice twice, centers at the first of each: two points each, no distance, nothing moves."""
    for device, k in [("interp", 5000)] + [(device, 100000) for device in CPU]:
        lattice = [c for i in range(k) for c in (i % 317, i // 317)]
        write_npy("pairs.npy", 2 * k, 2, lattice * 2)
        got = result("--input", "pairs.npy", "--clusters", k, "--init", "first", "--iterations", 1, "--device", device)["result"]
        check(got["inertia"] == 0 and got["sizes"] == [2] * k, f"{device}: {k} clusters, inertia {got['inertia']}")
        check([c for center in got["centers"] for c in center] == lattice, f"{device}: centers moved")


def a_small_budget_changes_no_bit():
    points = [float32((i * 2654435761 % 65536) / 256) for i in range(40000)]
    write_npy("random.npy", 20000, 2, points)
    for device in ["interp"] + CPU:
        arguments = ["--input", "random.npy", "--clusters", 5, "--iterations", 8, "--device", device]
        free = result(*arguments)["result"]
        tight = result(*arguments, "--memory", "150K" if device == "interp" else "1M")["result"]       # the points are 160,000 bytes
        check(free == tight, f"{device}: {tight} and {free}")


def many_columns_give_the_right_centers():
    """784 small whole numbers a row: one step from the first ten rows is computed here exactly."""
    n, d, k = 200, 784, 10
    state, rows = 12345, []
    for _ in range(n):
        row = []
        for _ in range(d):
            state = (state * 1103515245 + 12345) % 2 ** 31
            row.append(state >> 16 & 15)
        rows.append(row)
    nearest = [min(range(k), key=lambda j, row=row: distance(row, rows[j])) for row in rows]
    sizes = [nearest.count(j) for j in range(k)]
    means = [[float32(sum(row[i] for row, near in zip(rows, nearest) if near == j) / sizes[j]) for i in range(d)] for j in range(k)]
    write_npy("wide.npy", n, d, [x for row in rows for x in row])
    seen = None
    for device in ["interp"] + CPU:
        got = result("--input", "wide.npy", "--clusters", k, "--init", "first", "--iterations", 1, "--device", device)["result"]
        check([[float32(x) for x in center] for center in got["centers"]] == means, f"{device}: wrong centers")
        seen = seen or got
        check(got == seen, f"{device}: other bits than the interpreter's")


def pictures_are_well_formed():
    coast = os.path.join(SOURCE, "examples", "kmeans", "data", "coast.csv")
    code, out, err = run("--input", coast, "--clusters", 6, "--svg", "coast.svg", "--device", "interp")
    check(code == 0, err)
    document = xml.dom.minidom.parse("coast.svg")
    check(document.documentElement.tagName == "svg", "the picture is no SVG")
    numbers = [t.firstChild.data for t in document.getElementsByTagName("text") if t.getAttribute("class") == "c"]
    check(numbers == ["0", "1", "2", "3", "4", "5"], f"centers in the picture: {numbers}")
    check(100000 > os.path.getsize("coast.svg") > 20000, f"{os.path.getsize('coast.svg')} bytes")
    code, _, err = run("--input", IRIS, *FEATURES, "--clusters", 3, "--svg", "iris.svg", "--device", "interp")
    with open("iris.svg") as file:
        text = file.read()
    check(code == 0 and "2 of 4 columns shown" in text and ">sepal_width<" in text, "the picture of four columns")


main(find_devices, iris_reaches_the_published_answer_on_every_device_in_every_layout, columns_may_be_named, several_inputs_are_one,
     the_json_object_has_the_contracts_parts, every_point_is_labelled_with_its_nearest_center, labels_go_to_standard_output_by_a_dash,
     the_table_has_a_row_for_every_cluster, quiet_leaves_standard_error_empty, explain_is_on_standard_error, the_same_seed_gives_the_same_result,
     first_centers_are_points_of_the_input, an_empty_cluster_keeps_its_center, as_many_clusters_as_points_cost_nothing, many_clusters_find_their_pairs,
     a_small_budget_changes_no_bit, many_columns_give_the_right_centers, pictures_are_well_formed)
