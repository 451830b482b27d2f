# SPDX-License-Identifier: Apache-2.0
"""The hist-ratings program against counts made here and published ones. usage: hist_ratings.py EXECUTABLE SOURCE"""
import collections
import random

from run import check, expect_error, have_cpu, main, published, result, run, unpack_published, write_csv

DEVICES = ["interp"]


def find_devices():
    write_csv("one.csv", ["rating"], [[5]])
    if have_cpu("--input", "one.csv"):
        DEVICES.append("cpu")


def same_on_all_devices(right, *arguments):
    for device in DEVICES:
        got = result(*arguments, "--device", device)["result"]
        check(got == {"bins": right}, f"{device} {arguments}: {str(got)[:500]}, not {str(right)[:500]}")


def ratings_are_counted():
    random.seed(2)
    rows = [[i, random.choice([0.5, 1, 1.5, 2, 3, 3, 3.5, 4, 5, 5, 5, -1, 1e300, 0.1]), "text"] for i in range(5000)]
    write_csv("ratings.csv", ["user", "rating", "words"], rows)
    right = [[value, n] for value, n in sorted(collections.Counter(row[1] for row in rows).items())]
    same_on_all_devices(right, "--input", "ratings.csv")
    same_on_all_devices(right, "--input", "ratings.csv", "--columns", 1)
    for layout in ("aos", "aosoa", "aop"):
        got = result("--input", "ratings.csv", "--layout", layout, "--device", DEVICES[-1])["result"]
        check(got == {"bins": right}, f"{layout} differs")
    users = [[i, 1] for i in range(5000)]
    same_on_all_devices(users, "--input", "ratings.csv", "--columns", "user")


def odd_numbers_have_their_place():
    """Zeros are one value, NaN stands last; without a column of that name the last one is the rating."""
    write_csv("odd.csv", ["a", "stars"], [[9, "-0"], [9, "nan"], [9, "0"], [9, "inf"], [9, "nan"], [9, "-inf"]])
    same_on_all_devices([["-Infinity", 1], [0, 2], ["Infinity", 1], ["NaN", 2]], "--input", "odd.csv")
    code, out, _ = run("--input", "odd.csv", "--device", "interp", "--quiet", "--output", "counts.csv")
    check(code == 0 and [line.split() for line in out.decode().splitlines()] == [["-inf", "1"], ["0", "2"], ["inf", "1"], ["nan", "2"]], f"{out}")
    with open("counts.csv") as file:
        check(file.read().split() == ["value,n", "-inf,1", "0,2", "inf,1", "nan,2"], "counts.csv")


def lines_of_reviews_are_counted():
    random.seed(12)
    movies = [[(random.randrange(10 ** 7), random.choice((1, 2, 3, 3, 4, 5, 5, 0.5, -1, 1e300, 0.1))) for _ in range(int(300 * random.random() ** 4))]
              for _ in range(3000)]
    with open("reviews.txt", "w") as file:
        for number, reviews in enumerate(movies):
            file.write(f"{number}:" + random.choice((" ", "")) + ",".join(f"{user}_{rating}" for user, rating in reviews))
            file.write(random.choice(("\n", "\r\n", "\n\n")))
    right = [[value, n] for value, n in sorted(collections.Counter(rating for reviews in movies for _, rating in reviews).items())]
    same_on_all_devices(right, "--lines", "--input", "reviews.txt")
    same_on_all_devices(right, "--lines", "--input", "reviews.txt", "--memory", "16MiB")


def broken_lines_are_told():
    for line, words in (("7 1_2", ['"" is no integer', "record 2"]), ("x: 1_2", ['"x" is no integer']), ("7: 1_2,3", ['"" is no integer']),
                        ("7: 1_two", ['"two" is no number']), ("7: a_2", ['"a" is no integer'])):
        with open("broken.txt", "w") as file:
            file.write(f"1: 1_5\n\n{line}\n2: 3_4\n")
        for device in DEVICES:
            expect_error(7, words, "--lines", "--input", "broken.txt", "--device", device)
            got = result("--lines", "--input", "broken.txt", "--device", device, "--on-error", "skip")["result"]
            check(got == {"bins": [[4, 1], [5, 1]]}, f"{device}, {line}: {got}")


def misuse_is_told():
    expect_error(2, ["--columns"], "--lines", "--input", "reviews.txt", "--columns", "0")
    write_csv("empty.csv", ["rating"], [])
    expect_error(2, ["no rows"], "--input", "empty.csv", "--columns", "rating", "--device", "interp")
    expect_error(2, ["3 columns"], "--input", "ratings.csv", "--columns", "0-2", "--device", "interp")
    expect_error(2, ["'stars'"], "--input", "ratings.csv", "--columns", "stars", "--device", "interp")
    expect_error(6, ["not a number"], "--input", "ratings.csv", "--columns", "words", "--device", "interp")


def goodbooks_are_counted_as_published():
    if not unpack_published("goodbooks.csv", "ratings", "goodbooks10k-v1-ratings.csv.gz"):
        return
    same_on_all_devices([[1, 19575], [2, 63231], [3, 248623], [4, 357366], [5, 292961]], "--input", "goodbooks.csv")


def goodbooks_as_lines_are_counted_as_published():
    if not published("ratings", "goodbooks10k-v1-ratings.csv.gz"):
        return
    books = collections.defaultdict(list)
    with open("goodbooks.csv") as file:
        for book, user, rating in (line.strip().split(",") for line in list(file)[1:]):
            books[book].append(f"{user}_{rating}")
    with open("goodbooks.txt", "w") as file:
        for book, reviews in books.items():
            file.write(f"{book}: {','.join(reviews)}\n")
    same_on_all_devices([[1, 19575], [2, 63231], [3, 248623], [4, 357366], [5, 292961]], "--lines", "--input", "goodbooks.txt")


main(find_devices, ratings_are_counted, odd_numbers_have_their_place, lines_of_reviews_are_counted, broken_lines_are_told, misuse_is_told,
     goodbooks_are_counted_as_published, goodbooks_as_lines_are_counted_as_published)
