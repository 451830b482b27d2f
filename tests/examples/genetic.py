# SPDX-License-Identifier: Apache-2.0
"""Results and errors of the genetic program. usage: genetic.py EXECUTABLE SOURCE"""
from run import FEATURES, IRIS, check, expect_error, float32, have_cpu, main, read_labels, result, run, write_npy

PUBLISHED = {2: 152.34795, 3: 78.851441426146, 4: 57.22847, 5: 46.44618}      # the least sums of squares of iris
DEVICES = ["interp"]


def find_devices():
    if have_cpu():
        DEVICES.append("cpu")


def iris_rows():
    with open(IRIS) as file:
        return [[float32(float(x)) for x in line.split(",")[:4]] for line in file.read().split()[1:]]


def distances(rows, centers):
    return [[sum((x - float32(y)) ** 2 for x, y in zip(row, center)) for center in centers] for row in rows]


def evolution_comes_near_the_published_optimum_with_equal_bits():
    rows = iris_rows()
    for clusters, best in PUBLISHED.items():
        seen = None
        for device in DEVICES:
            got = result("--input", IRIS, *FEATURES, "--clusters", clusters, "--population", 256, "--device", device)["result"]
            check(best * (1 - 1e-6) < got["inertia"] <= best * 1.01, f"{clusters} clusters, {device}: inertia {got['inertia']}, published {best}")
            check(len(got["centers"]) == clusters and all(len(c) == 4 for c in got["centers"]), f"centers {got['centers']}")
            exact = sum(min(row) for row in distances(rows, got["centers"]))
            check(abs(got["inertia"] - exact) < 1e-5 * exact, f"inertia {got['inertia']}, but its centers have {exact}")
            seen = seen or got
            check(got == seen, f"{device}: other bits than the first run: {got} and {seen}")


def the_best_is_never_lost():
    inertia = [result("--input", IRIS, *FEATURES, "--clusters", 4, "--generations", n, "--device", "interp")["result"] for n in (0, 1, 5, 20, 80)]
    check(all(a["inertia"] >= b["inertia"] for a, b in zip(inertia, inertia[1:])), f"{inertia}")
    check([r["generations"] for r in inertia] == [0, 1, 5, 20, 80], f"{inertia}")
    check(inertia[0]["inertia"] > 1.01 * inertia[-1]["inertia"], "evolution did not lower the sum")


def the_seed_decides_and_layouts_do_not():
    few = ["--input", IRIS, *FEATURES, "--clusters", 3, "--generations", 3, "--population", 9, "--device", "interp"]
    first = result(*few, "--seed", 1)["result"]
    check(first == result(*few, "--seed", 1, "--layout", "aosoa")["result"], "another layout, other centers")
    check(first != result(*few, "--seed", 2)["result"], "another seed, the same centers")


def every_point_is_labelled_with_its_nearest_center():
    got = result("--input", IRIS, *FEATURES, "--clusters", 3, "--generations", 9, "--device", DEVICES[-1], "--output", "labels.npy")["result"]
    with open("labels.npy", "rb") as file:
        labels = read_labels(file.read())
    table = distances(iris_rows(), got["centers"])
    check(len(labels) == 150 and all(row[label] <= min(row) * (1 + 1e-5) for row, label in zip(table, labels)), f"labels {labels}")


def misuse_is_told():
    some = ["--input", IRIS, *FEATURES, "--device", "interp"]
    expect_error(2, ["151 clusters of 150 points"], *some, "--clusters", 151)
    expect_error(2, ["--population"], *some, "--population", 1)
    expect_error(2, ["--input"], "--clusters", 3)
    expect_error(2, ["--cluster"], *some, "--clustres", 3)
    expect_error(6, ["nothing.csv"], "--input", "nothing.csv")
    write_npy("bad.npy", 4, 2, [0, 1, 2, 3, float("nan"), 5, 6, 7])
    expect_error(7, ["the first is record 2"], "--input", "bad.npy", "--clusters", 2, "--device", "interp", "--json")


def a_table_is_for_people():
    code, out, err = run("--input", IRIS, *FEATURES, "--clusters", 2, "--device", "interp", "--generations", 2, "--explain", "--quiet")
    check(code == 0 and b"after 2 generations over 150 points" in out and "measure" in err, f"{code} {out} {err}")


main(find_devices, evolution_comes_near_the_published_optimum_with_equal_bits, the_best_is_never_lost, the_seed_decides_and_layouts_do_not,
     every_point_is_labelled_with_its_nearest_center, misuse_is_told, a_table_is_for_people)
