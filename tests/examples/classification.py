# SPDX-License-Identifier: Apache-2.0
"""The classification program against distances computed here, and equal on every device. usage: classification.py EXECUTABLE SOURCE"""
import math
import random

from run import FEATURES, IRIS, check, expect_error, float32, have_cpu, main, read_labels, result, run, write_npy

PUBLISHED = [5.006, 3.428, 1.462, 0.246, 5.9016, 2.7484, 4.3935, 1.4339, 6.85, 3.0737, 5.7421, 2.0711]     # KMeans of iris in three clusters
DEVICES = ["interp"]


def find_devices():
    write_npy("iris-centers.npy", 3, 4, PUBLISHED)
    if have_cpu("--input", IRIS, *FEATURES, "--centers", "iris-centers.npy"):
        DEVICES.append("cpu")


def labels_of(path):
    with open(path, "rb") as file:
        return read_labels(file.read())


def iris_falls_into_the_published_clusters():
    for device in DEVICES:
        for layout in ("aos", "soa", "aosoa", "aop"):
            got = result("--input", IRIS, *FEATURES, "--centers", "iris-centers.npy", "--device", device, "--layout", layout)
            check(got["result"] == {"sizes": [50, 62, 38]}, f"{device}, {layout}: {got['result']}")
            check(got["workload"] == "classification" and got["records"] == 150, f"{device}: {got}")


def every_point_has_its_nearest_center():
    """Small whole numbers: distances are exact, of equally near centers the first counts."""
    draw = random.Random(7)
    n, d, k = 20000, 3, 17
    points = [draw.randrange(64) for _ in range(n * d)]
    centers = [draw.randrange(64) for _ in range(k * d)]
    write_npy("points.npy", n, d, points)
    write_npy("centers.npy", k, d, centers)
    rows = [centers[j * d:j * d + d] for j in range(k)]
    near = [min(range(k), key=lambda j, i=i: sum((a - b) ** 2 for a, b in zip(points[i * d:i * d + d], rows[j]))) for i in range(n)]
    sizes = [near.count(j) for j in range(k)]
    for device in DEVICES:
        arguments = ["--input", "points.npy", "--centers", "centers.npy", "--device", device]
        check(result(*arguments)["result"]["sizes"] == sizes, f"{device}: sizes")
        got = result(*arguments, "--output", "labels.npy", "--memory", "1M")["result"]["sizes"]
        check(got == sizes, f"{device}: sizes beside labels {got}")
        check(labels_of("labels.npy") == near, f"{device}: labels")


def movie(number, reviews):
    return f"{number}: " + ",".join(f"{user}_{rating}" for user, rating in reviews) + "\n"


def similar(reviews, centers):
    """The first center of the largest cosine, -1: all are 0. Products are whole numbers; what is divided and compared is so in double, as in the kernel."""
    best, best_cosine = -1, 0.0
    for k, center in enumerate(centers):
        product = sum(rating * of for user, rating in reviews for other, of in center if user == other)
        length = math.sqrt(sum(rating * rating for _, rating in center))
        if product > 0 and product / length > best_cosine:
            best, best_cosine = k, product / length
    return best


def lines_of_reviews_are_classified():
    draw = random.Random(19)
    some = lambda users, most: [(draw.randrange(users), draw.randrange(1, 6)) for _ in range(int(most * draw.random() ** 2))]
    centers = [some(300, 90) for _ in range(7)] + [[]] + [[(5, 3), (7, -1)]]
    movies = [some(draw.choice((300, 3000)), 40) for _ in range(4000)]
    with open("centers.txt", "w") as file:
        file.write("\n" + "\n".join(movie(k, center) for k, center in enumerate(centers)))
    with open("movies.txt", "w") as file:
        file.write("".join(movie(i, reviews) + ("\r\n" if i % 5 == 0 else "") for i, reviews in enumerate(movies)))
    near = [similar(reviews, centers) for reviews in movies]
    right = {"sizes": [near.count(k) for k in range(len(centers))], "without": near.count(-1)}
    for device in DEVICES:
        arguments = ["--lines", "--input", "movies.txt", "--centers", "centers.txt", "--device", device]
        check(result(*arguments)["result"] == right, f"{device}: classes of lines")
        check(result(*arguments, "--output", "labels.npy", "--memory", "16M")["result"] == right, f"{device}: classes beside labels")
        check(labels_of("labels.npy") == near, f"{device}: labels of lines")
        expect_error(7, ['"" is no integer'], "--lines", "--input", "centers.txt", "--centers", IRIS, "--device", device)
    with open("blank.txt", "w") as file:
        file.write("\n\n")
    expect_error(2, ["0 centers"], "--lines", "--input", "movies.txt", "--centers", "blank.txt", "--device", "interp")
    with open("blank.txt", "w") as file:
        file.write("1:\n2:\n")
    expect_error(2, ["no ratings"], "--lines", "--input", "movies.txt", "--centers", "blank.txt", "--device", "interp")
    expect_error(6, ["no-such"], "--lines", "--input", "movies.txt", "--centers", "no-such.txt", "--device", "interp")


def a_class_may_be_empty():
    write_npy("line.npy", 4, 1, [0.0, 1.0, 10.0, 11.0])
    write_npy("line-centers.npy", 3, 1, [0.5, 1000.0, 10.5])
    for device in DEVICES:
        check(result("--input", "line.npy", "--centers", "line-centers.npy", "--device", device)["result"]["sizes"] == [2, 0, 2], f"{device}: sizes")


def the_table_and_labels_share_out_the_streams():
    write_npy("line.npy", 4, 1, [0.0, 1.0, 10.0, 11.0])
    write_npy("line-centers.npy", 2, 1, [0.5, 10.5])
    code, out, err = run("--input", "line.npy", "--centers", "line-centers.npy", "--device", "interp", "--quiet")
    check(code == 0 and out.decode().split() == ["class", "points", "0", "2", "1", "2"] and err == "", f"table {out} {err}")
    code, out, err = run("--input", "line.npy", "--centers", "line-centers.npy", "--device", "interp", "--quiet", "--output", "-")
    check(code == 0 and read_labels(out) == [0, 0, 1, 1] and "points" in err, f"labels on standard output: {err}")
    code, out, err = run("--input", "line.npy", "--centers", "line-centers.npy", "--device", "interp", "--explain")
    check(code == 0 and "classify" in err and "classify" not in out.decode(), f"--explain: {err}")


def points_without_a_nearest_center_are_named():
    values = [float(i) for i in range(200)]
    values[123], values[150], values[151] = float("nan"), float("inf"), float32(1e30)
    write_npy("bad.npy", 200, 1, values)
    write_npy("line-centers.npy", 2, 1, [0.5, 10.5])
    for device in DEVICES:
        expect_error(7, ["3 points", "record 123"], "--input", "bad.npy", "--centers", "line-centers.npy", "--device", device)
        expect_error(7, ["3 points", "record 123"], "--input", "bad.npy", "--centers", "line-centers.npy", "--device", device, "--output", "none.npy")


def misuse_is_refused():
    write_npy("line.npy", 4, 1, [0.0, 1.0, 10.0, 11.0])
    write_npy("nan.npy", 2, 1, [0.5, float("nan")])
    expect_error(2, ["--centers"], "--input", "line.npy")
    expect_error(2, ["--input"], "--centers", "line.npy")
    expect_error(2, ["rows of 4", "centers of 1"], "--input", "line.npy", "--centers", "iris-centers.npy")
    expect_error(7, ["center 1", "not finite"], "--input", "line.npy", "--centers", "nan.npy")
    expect_error(6, ["missing.npy"], "--input", "line.npy", "--centers", "missing.npy")
    expect_error(2, ["standard output"], "--input", "line.npy", "--centers", "line.npy", "--json", "--output", "-")


main(find_devices, iris_falls_into_the_published_clusters, every_point_has_its_nearest_center, lines_of_reviews_are_classified, a_class_may_be_empty,
     the_table_and_labels_share_out_the_streams, points_without_a_nearest_center_are_named, misuse_is_refused)
