# SPDX-License-Identifier: Apache-2.0
"""The kmeans program's errors: exit code, message, nothing on standard output. usage: kmeans_misuse.py EXECUTABLE SOURCE"""
import os
import subprocess

from run import FEATURES, IRIS, PROGRAM, SOURCE, check, expect_error, main, run, write_npy

IRIS_RUN = ["--input", IRIS, *FEATURES, "--device", "interp"]


def wrong_options_are_told():
    expect_error(2, ["no --input given", "--input data.csv"])
    expect_error(2, ["unknown option '--clsters'", "did you mean '--clusters'?"], *IRIS_RUN, "--clsters", 3)
    expect_error(2, ["--clusters: out of range: 0"], *IRIS_RUN, "--clusters", 0)
    expect_error(2, ["no value for '--trace'"], *IRIS_RUN, "--trace")
    expect_error(2, ["unexpected argument"], IRIS)
    expect_error(2, ["both want standard output"], *IRIS_RUN, "--json", "--output", "-")
    expect_error(2, ["--init: neither a method nor a file: 'kmean++'", "kmeans++, random, first"], *IRIS_RUN, "--init", "kmean++")
    expect_error(2, ["--svg needs two columns"], "--input", IRIS, "--columns", "0", "--svg", "a.svg")


def more_clusters_than_points_are_told():
    expect_error(2, ["151 clusters of 150 points", "at least as many points"], *IRIS_RUN, "--clusters", 151)


def devices_that_are_not_there_are_told():
    expect_error(2, ["'gpuu' does not name a device"], "--input", IRIS, *FEATURES, "--device", "gpuu")
    expect_error(4, ["99"], "--input", IRIS, *FEATURES, "--device", "99")
    no_drivers = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent", "OPENCL_VENDOR_PATH": "/nonexistent"}
    expect_error(4, [], "--input", IRIS, *FEATURES, "--device", "cpu", env=no_drivers)
    code, out, err = run("--input", IRIS, *FEATURES, "--clusters", 3, env=no_drivers)
    check(code == 0 and b"inertia" in out and "interpreter" in err, f"without a driver: code {code}: {err}")


def files_that_cannot_be_read_are_told():
    expect_error(6, ["missing.csv", "No such file"], "--input", "missing.csv")
    expect_error(6, ["missing.npy", "No such file"], *IRIS_RUN, "--init", "missing.npy")
    with open("short.csv", "w") as file:
        file.write("x,y\n1,2\n3\n5,6\n")
    expect_error(6, ["short.csv:3"], "--input", "short.csv", "--clusters", 2, "--device", "interp")
    with open("word.csv", "w") as file:
        file.write("x,y\n1,2\n3,four\n5,6\n")
    expect_error(6, ["word.csv:3", "four"], "--input", "word.csv", "--clusters", 2, "--device", "interp")
    with open("empty.csv", "w") as file:
        pass
    expect_error(6, ["empty.csv"], "--input", "empty.csv", "--device", "interp")
    with open("broken.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00")
    expect_error(6, ["broken.npy"], "--input", "broken.npy", "--device", "interp")


def wrong_columns_are_told():
    expect_error(2, ["there is no column 'sepal_lenght'", "did you mean 'sepal_length'?"], "--input", IRIS, "--columns", "sepal_lenght,petal_width")
    expect_error(2, ["there is no column '7'", "0 to 4"], "--input", IRIS, "--columns", "0,7")


def points_that_are_not_finite_are_told_with_their_record():
    for bad in ("nan", "inf"):
        rows = [[float(i), float(i % 7)] for i in range(1000)]
        rows[613][1] = float(bad)
        write_npy("bad.npy", 1000, 2, [x for row in rows for x in row])
        for init in ("first", "kmeans++", "random"):
            expect_error(7, ["613"], "--input", "bad.npy", "--clusters", 3, "--init", init, "--device", "interp")


def wrong_centers_are_told():
    write_npy("two.npy", 2, 4, [0.0] * 8)
    expect_error(2, ["two.npy", "2 rows of 4 numbers; 3 centers of 4 are needed"], *IRIS_RUN, "--clusters", 3, "--init", "two.npy")
    write_npy("nan.npy", 3, 4, [0.0] * 7 + [float("nan")] + [1.0] * 4)
    expect_error(7, ["center 1 of 'nan.npy' is not finite"], *IRIS_RUN, "--clusters", 3, "--init", "nan.npy")


def results_that_cannot_be_written_are_told():
    expect_error(6, ["/nonexistent/labels.npy"], *IRIS_RUN, "--clusters", 3, "--output", "/nonexistent/labels.npy")
    expect_error(6, ["/nonexistent/a.svg"], *IRIS_RUN, "--clusters", 3, "--svg", "/nonexistent/a.svg", "--json")
    for more in ([], ["--json"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, *IRIS_RUN, "--clusters", "3", *more], stdout=full, stderr=subprocess.PIPE, check=False)
        check(done.returncode == 6 and b"cannot write to standard output" in done.stderr, f"a full disk, {more}: code {done.returncode}: {done.stderr}")


def a_kernel_that_is_not_there_is_told():
    os.mkdir("nothing")
    expect_error(6, ["kmeans.hk", "HDST_EXAMPLES_DIR"], *IRIS_RUN, env={**os.environ, "HDST_EXAMPLES_DIR": "nothing"})


def a_kernel_with_an_error_is_told_with_its_place():
    os.makedirs("mine/kmeans")
    with open(os.path.join(SOURCE, "examples", "kmeans", "kmeans.hk")) as file:
        text = file.read()
    with open("mine/kmeans/kmeans.hk", "w") as file:
        file.write(text.replace("t[best].n += 1;", "t[best].m += 1;"))
    with open("mine/kmeans/point.yaml", "w") as file:
        file.write("params: [D]\nrecord: point\nfields: [{name: x, type: float32, count: D}]\n")
    line = text[:text.index("t[best].n += 1;")].count("\n") + 1
    expect_error(3, [f"kmeans.hk:{line}:", "'m'"], *IRIS_RUN, env={**os.environ, "HDST_EXAMPLES_DIR": "mine"})


main(wrong_options_are_told, more_clusters_than_points_are_told, devices_that_are_not_there_are_told, files_that_cannot_be_read_are_told,
     wrong_columns_are_told, points_that_are_not_finite_are_told_with_their_record, wrong_centers_are_told,
     results_that_cannot_be_written_are_told, a_kernel_that_is_not_there_is_told, a_kernel_with_an_error_is_told_with_its_place)
