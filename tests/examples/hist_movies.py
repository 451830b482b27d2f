# SPDX-License-Identifier: Apache-2.0
"""The hist-movies program against averages in fractions. usage: hist_movies.py EXECUTABLE SOURCE"""
import bisect
import collections
import random
from fractions import Fraction

from run import check, expect_error, have_cpu, main, result, run, unpack_published, write_csv

DEVICES = ["interp"]


def find_devices():
    write_csv("one.csv", ["item", "rating"], [[1, 5]])
    if have_cpu("--input", "one.csv", "--range", "0,10"):
        DEVICES.append("cpu")


def averages_of(pairs):
    """Sums rounded once, then divided; {item: (average, number)}."""
    ratings = collections.defaultdict(list)
    for item, rating in pairs:
        ratings[item].append(rating)
    return {item: (float(sum(map(Fraction, of))) / len(of), len(of)) for item, of in ratings.items()}


def expected(averages, bins, low=None, high=None):
    values = [average for average, _ in averages.values()]
    low, high = min(values) if low is None else low, max(values) if high is None else high
    width = (high - low) / bins
    edges = [k * width + low for k in range(bins)]
    inside = [bisect.bisect_right(edges, x) - 1 for x in values if low <= x <= high]
    return {"bins": [[edge, inside.count(k)] for k, edge in enumerate(edges)], "below": [sum(x < low for x in values)],
            "above": [sum(x > high for x in values)], "nan": [0], "items": len(values)}


def same_on_all_devices(right, *arguments):
    for device in DEVICES:
        got = result(*arguments, "--device", device)["result"]
        check(got == right, f"{device} {arguments}: {got}, not {right}")


def rows_of(path):
    """item, average, number of each line that --output wrote."""
    with open(path) as file:
        return [(int(i), float(a), int(n)) for i, a, n in (line.split(",") for line in file.read().split()[1:])]


def averages_are_right_to_the_last_bit():
    random.seed(4)
    items = [random.choice((i, i * 1000003 - 2 ** 40)) for i in range(700)]
    pairs = [(random.choice(items[:1 + int(700 * random.random() ** 3)]), random.choice((0.1, 0.5, 1, 2.7, 3, 4.9, 1e-9, 1e6))) for _ in range(30000)]
    write_csv("ratings.csv", ["item", "when", "rating"], [[item, "may", rating] for item, rating in pairs])
    averages = averages_of(pairs)
    same_on_all_devices(expected(averages, 10), "--input", "ratings.csv", "--columns", "item,rating")
    same_on_all_devices(expected(averages, 37, 1.0, 5e5), "--input", "ratings.csv", "--bins", 37, "--range", "1,5e5")
    for device in DEVICES:
        for layout in ("aos", "soa", "aosoa", "aop"):
            code, _, err = run("--input", "ratings.csv", "--device", device, "--layout", layout, "--output", "averages.csv")
            check(code == 0, f"{device}, {layout}: code {code}: {err}")
            check(rows_of("averages.csv") == sorted((i, a, n) for i, (a, n) in averages.items()), f"{device}, {layout}: other averages")


def lines_of_reviews_are_averaged():
    random.seed(14)
    pairs, lines = [], []
    for number in random.sample(range(-1000, 10 ** 9), 2000) + [5, 6, 5]:
        reviews = [(random.randrange(10 ** 7), random.choice((1, 2, 3, 4, 5, 0.1, 4.7, 1e-9))) for _ in range(int(200 * random.random() ** 4))]
        pairs += [(number, rating) for _, rating in reviews]
        lines.append(f"{number}: " + ",".join(f"{user}_{rating}" for user, rating in reviews) + "\n")
    with open("reviews.txt", "w") as file:
        file.write("".join(lines))
    averages = averages_of(pairs)
    same_on_all_devices(expected(averages, 8, 1.0, 5.0), "--lines", "--input", "reviews.txt", "--bins", 8, "--range", "1,5")
    for device in DEVICES:
        code, _, err = run("--lines", "--input", "reviews.txt", "--device", device, "--output", "averages.csv")
        check(code == 0, f"{device}: code {code}: {err}")
        check(rows_of("averages.csv") == sorted((i, a, n) for i, (a, n) in averages.items()), f"{device}: other averages")
    with open("broken.txt", "w") as file:
        file.write("1: 1_5\n2.5: 1_3\n")
    for device in DEVICES:
        expect_error(7, ['"2.5" is no integer', "record 1"], "--lines", "--input", "broken.txt", "--device", device)


def odd_ratings_count_as_they_are():
    write_csv("odd.csv", ["item", "rating"], [[1, 3], [2, "nan"], [2, 1], [3, "inf"], [4, "-inf"], [4, "inf"], [5, 4]])
    right = {"bins": [[3, 1], [3.5, 1]], "below": [0], "above": [1], "nan": [2], "items": 5}
    same_on_all_devices(right, "--input", "odd.csv", "--bins", 2)


def misuse_is_told():
    expect_error(2, ["1 columns"], "--input", "one.csv", "--columns", "1", "--device", "interp")
    expect_error(2, ["does not rise"], "--input", "one.csv", "--range", "2,1")
    expect_error(2, ["--bins"], "--input", "one.csv", "--bins", 0)
    expect_error(2, ["'film'"], "--input", "one.csv", "--columns", "film,rating")
    write_csv("narrow.csv", ["rating"], [[1], [2]])
    expect_error(2, ["1 column,"], "--input", "narrow.csv", "--device", "interp")
    write_csv("half.csv", ["item", "rating"], [[1.5, 2]])
    expect_error(6, ["1.5"], "--input", "half.csv", "--device", "interp")
    write_csv("empty.csv", ["item", "rating"], [])
    expect_error(2, ["no rows"], "--input", "empty.csv", "--columns", "item,rating", "--device", "interp")


def goodbooks_have_the_averages_of_their_ratings():
    if not unpack_published("goodbooks.csv", "ratings", "goodbooks10k-v1-ratings.csv.gz"):
        return
    sums, numbers = collections.Counter(), collections.Counter()
    with open("goodbooks.csv") as file:
        next(file)
        for line in file:
            book, _, rating = line.split(",")
            sums[int(book)] += int(rating)
            numbers[int(book)] += 1
    averages = {book: (sums[book] / numbers[book], numbers[book]) for book in sums}
    check(len(averages) == 10000, f"{len(averages)} books")
    same_on_all_devices(expected(averages, 8, 1.0, 5.0), "--input", "goodbooks.csv", "--range", "1,5", "--bins", 8)
    code, _, err = run("--input", "goodbooks.csv", "--device", DEVICES[-1], "--output", "averages.csv")
    check(code == 0, f"code {code}: {err}")
    check(rows_of("averages.csv") == sorted((i, a, n) for i, (a, n) in averages.items()), "other averages of books")


main(find_devices, averages_are_right_to_the_last_bit, lines_of_reviews_are_averaged, odd_ratings_count_as_they_are, misuse_is_told,
     goodbooks_have_the_averages_of_their_ratings)
