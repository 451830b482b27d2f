# SPDX-License-Identifier: Apache-2.0
"""The matrix-vector program against known eigenvalues and steps computed here, and equal on every device. usage: matrix_vector.py EXECUTABLE SOURCE"""
import array
import math
import random

from run import check, expect_error, float32, have_cpu, main, read_npy, result, run, write_npy

DEVICES = ["interp"]
D = 20      # rows of the matrices that all devices multiply: a kernel for each number of rows would take its time to build


def find_devices():
    write_npy("one.npy", 1, 1, [2.0])
    write_npy("tridiagonal.npy", D, D, [2.0 if i == j else 1.0 if abs(i - j) == 1 else 0.0 for i in range(D) for j in range(D)])
    if have_cpu("--input", "tridiagonal.npy"):
        DEVICES.append("cpu")


def read_vector(path):
    header, data = read_npy(path)
    values = array.array("f", data)
    check(header["descr"] == "<f4" and header["shape"] == (len(values),), f"header {header}")
    return list(values)


def steps(matrix, count):
    """The same steps in double: norms differ by the roundings of float32 only."""
    d = len(matrix)
    x = [1 / math.sqrt(d)] * d
    for _ in range(count):
        y = [math.fsum(a * b for a, b in zip(row, x)) for row in matrix]
        norm = math.sqrt(math.fsum(e * e for e in y))
        x = [e / norm for e in y]
    return norm, x


def the_steps_are_those_of_the_definition():
    draw = random.Random(3)
    for d in (1, 7, D, 100):
        matrix = [[float32(draw.uniform(-1, 2)) for _ in range(d)] for _ in range(d)]
        write_npy("random.npy", d, d, [a for row in matrix for a in row])
        for count in (1, 5):
            norm, x = steps(matrix, count)
            seen = None
            for device in DEVICES if d == D else DEVICES[:1]:
                got = result("--input", "random.npy", "--iterations", count, "--device", device, "--output", "x.npy")["result"]
                vector = read_vector("x.npy")
                check(sorted(got) == ["iterations", "norm"] and got["iterations"] == count, f"{device}: {got}")
                check(math.isclose(got["norm"], norm, rel_tol=2e-6), f"{device}, {d} rows, {count} steps: norm {got['norm']}, not {norm}")
                check(len(vector) == d and max(abs(a - b) for a, b in zip(vector, x)) < 2e-6, f"{device}, {d} rows, {count} steps: vector")
                seen = seen or (got, vector)
                check(seen == (got, vector), f"{device}: other bits than the interpreter's")


def an_eigenvalue_is_found():
    """The matrix with 2 on the diagonal and 1 beside it has the eigenvalues 2 + 2 cos(k pi / (n + 1)), with sines as eigenvectors."""
    largest = 2 + 2 * math.cos(math.pi / (D + 1))
    for device in DEVICES:
        for layout in ("aos", "soa"):
            got = result("--input", "tridiagonal.npy", "--iterations", 400, "--device", device, "--layout", layout, "--output", "x.npy")["result"]
            check(math.isclose(got["norm"], largest, rel_tol=1e-6) and got["iterations"] == 400, f"{device}, {layout}: {got}")
            vector = read_vector("x.npy")
            sines = [math.sin((i + 1) * math.pi / (D + 1)) for i in range(D)]
            length = math.sqrt(sum(s * s for s in sines))
            check(max(abs(a - s / length) for a, s in zip(vector, sines)) < 1e-6, f"{device}, {layout}: eigenvector {vector}")


def a_tolerance_ends_it():
    write_npy("diagonal.npy", 2, 2, [4.0, 0.0, 0.0, 1.0])
    got = result("--input", "diagonal.npy", "--tolerance", 1e-3, "--device", "interp")["result"]
    # The second coordinate is about 4^-i after i steps; it moves by 3 * 4^-i in step i.
    check(got["iterations"] == 6 and abs(got["norm"] - 4) < 1e-4, f"{got}")


def the_line_goes_to_standard_output():
    code, out, err = run("--input", "one.npy", "--iterations", 3, "--device", "interp", "--quiet")
    check(code == 0 and out == b"norm 2 after 3 iterations with a matrix of 1 rows\n" and err == "", f"{out} {err}")
    code, out, err = run("--input", "one.npy", "--device", "interp", "--explain")
    check(code == 0 and err.count("stage multiply") == 1, f"--explain: {err}")


def what_cannot_be_multiplied_is_refused():
    write_npy("flat.npy", 2, 3, [1.0] * 6)
    write_npy("zero.npy", 2, 2, [0.0] * 4)
    write_npy("nan.npy", 2, 2, [1.0, 2.0, 3.0, float("nan")])
    expect_error(2, ["2 rows", "3 columns", "square"], "--input", "flat.npy")
    expect_error(2, ["--input"])
    expect_error(2, ["--iterations"], "--input", "one.npy", "--iterations", 0)
    expect_error(7, ["step 1", "zero"], "--input", "zero.npy", "--device", "interp")
    expect_error(7, ["step 1", "not finite"], "--input", "nan.npy", "--device", "interp")


main(find_devices, the_steps_are_those_of_the_definition, an_eigenvalue_is_found, a_tolerance_ends_it, the_line_goes_to_standard_output,
     what_cannot_be_multiplied_is_refused)
