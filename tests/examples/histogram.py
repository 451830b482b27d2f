# SPDX-License-Identifier: Apache-2.0
"""The histogram program against counts made here, by the edges that NumPy's histogram has. usage: histogram.py EXECUTABLE SOURCE"""
import array
import bisect
import math
import random
import struct

from run import IRIS, check, expect_error, have_cpu, main, read_npy, result, run

DEVICES = ["interp"]
ARGUMENTS = ["--input", IRIS, "--columns", "0-3"]


def find_devices():
    if have_cpu(*ARGUMENTS):
        DEVICES.append("cpu")


def write_npy(path, descr, rows, columns, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def edges_of(low, high, bins):
    """As numpy.linspace makes them."""
    width = (high - low) / bins
    return [k * width + low for k in range(bins)]


def expected(columns, bins, low=None, high=None):
    """What --json shows for these columns of numbers."""
    finite = [x for column in columns for x in column if math.isfinite(x)]
    low, high = min(finite) if low is None else low, max(finite) if high is None else high
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = edges_of(low, high, bins)
    counts = [[0] * len(columns) for _ in range(bins)]
    below, above, nan = ([0] * len(columns) for _ in range(3))
    for c, column in enumerate(columns):
        for x in column:
            if math.isnan(x):
                nan[c] += 1
            elif x < low:
                below[c] += 1
            elif x > high:
                above[c] += 1
            else:
                counts[bisect.bisect_right(edges, x) - 1][c] += 1
    return {"bins": [[edge, *row] for edge, row in zip(edges, counts)], "below": below, "above": above, "nan": nan}


def same_on_all_devices(right, *arguments):
    for device in DEVICES:
        got = result(*arguments, "--device", device)["result"]
        check(got == right, f"{device} {arguments}: {got}, not {right}")


def iris_columns(*which):
    with open(IRIS) as file:
        rows = [line.split(",") for line in file.read().split()[1:]]
    return [[float(row[c]) for row in rows] for c in which]


def iris_is_counted():
    same_on_all_devices(expected(iris_columns(0, 1, 2, 3), 10), *ARGUMENTS)
    same_on_all_devices(expected(iris_columns(2), 7, 1.5, 5.25), "--input", IRIS, "--columns", 2, "--bins", 7, "--range", "1.5,5.25")
    for layout in ("aos", "aosoa", "aop"):
        got = result(*ARGUMENTS, "--layout", layout, "--device", "interp")["result"]
        check(got == expected(iris_columns(0, 1, 2, 3), 10), f"{layout}: {got}")


def numbers_at_the_edges_and_beyond_are_counted_right():
    """Each edge of narrow bins, its neighbours among the doubles, and what is no place in them."""
    for low, high, bins in ((0.1, 0.7, 6), (-1e9, 1e9, 1000), (1.0, 1.0 + 300 * 2.0 ** -52, 50), (-3.5, 1e-3, 77)):
        numbers = [math.nan, math.inf, -math.inf, -0.0, low, high, math.nextafter(low, -math.inf), math.nextafter(high, math.inf), 1e308, -1e308, 5e-324]
        for edge in edges_of(low, high, bins):
            numbers += [edge, math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf)]
        write_npy("edges.npy", "<f8", len(numbers), 1, array.array("d", numbers).tobytes())
        same_on_all_devices(expected([numbers], bins, low, high), "--input", "edges.npy", "--bins", bins, f"--range={low!r},{high!r}")
    write_npy("same.npy", "<f8", 3, 1, struct.pack("<3d", 7, 7, math.nan))
    same_on_all_devices(expected([[7, 7, math.nan]], 10), "--input", "same.npy")


def bytes_are_counted_by_value():
    random.seed(5)
    rows = 40000
    data = bytes(min(255, int(random.expovariate(1 / (20 + 30 * (i % 3))))) for i in range(3 * rows))
    write_npy("image.npy", "|u1", rows, 3, data)
    columns = [data[c::3] for c in range(3)]
    right = {"bins": [[v, *(column.count(v) for column in columns)] for v in range(256)], "below": [0] * 3, "above": [0] * 3, "nan": [0] * 3}
    same_on_all_devices(right, "--input", "image.npy")
    same_on_all_devices(right, "--input", "image.npy", "--bins", 256)
    for layout in ("soa", "aosoa", "aop"):
        got = result("--input", "image.npy", "--layout", layout, "--device", DEVICES[-1])["result"]
        check(got == right, f"{layout}: bytes differ")
    same_on_all_devices(expected(columns, 8, 0, 256), "--input", "image.npy", "--bins", 8)
    same_on_all_devices(expected([columns[1]], 20, 10.0, 50.0), "--input", "image.npy", "--columns", 1, "--bins", 20, "--range", "10,50")


def counts_are_written():
    code, out, err = run("--input", IRIS, "--columns", "0", "--device", "interp", "--output", "counts.npy", "--bins", 4, "--quiet")
    right = [row[1] for row in expected(iris_columns(0), 4)["bins"]]
    header, data = read_npy("counts.npy")
    check(code == 0 and header["descr"] == "<u8" and list(struct.unpack("<4Q", data)) == right, f"counts.npy: {data} {err}")
    check([line.split()[1] for line in out.decode().splitlines()] == list(map(str, right)), f"{out}")


def misuse_is_told():
    expect_error(2, ["--bins", "1 to"], *ARGUMENTS, "--bins", 0)
    expect_error(2, ["does not rise"], *ARGUMENTS, "--range", "5,5")
    expect_error(2, ["does not rise"], *ARGUMENTS, "--range", "5,1")
    expect_error(2, ["LOW,HIGH"], *ARGUMENTS, "--range", "5")
    expect_error(2, ["LOW,HIGH"], *ARGUMENTS, "--range", "0,inf")
    expect_error(2, ["LOW,HIGH"], *ARGUMENTS, "--range", "0,1,2")
    expect_error(2, ["too wide"], *ARGUMENTS, "--range=-1e308,1e308")
    expect_error(2, ["tell apart"], *ARGUMENTS, "--range", "1e16,10000000000000050")
    expect_error(2, ["in all"], *ARGUMENTS, "--bins", 1 << 24)
    expect_error(2, ["'colour'"], "--input", IRIS, "--columns", "colour")
    with open("nan.csv", "w") as file:
        file.write("x\nnan\ninf\n")
    expect_error(7, ["finite"], "--input", "nan.csv", "--device", "interp")
    write_npy("empty.npy", "<f8", 0, 2, b"")
    expect_error(2, ["no rows"], "--input", "empty.npy", "--device", "interp")


main(find_devices, iris_is_counted, numbers_at_the_edges_and_beyond_are_counted_right, bytes_are_counted_by_value, counts_are_written, misuse_is_told)
