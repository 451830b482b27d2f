# SPDX-License-Identifier: Apache-2.0
"""The log-statistics program against totals in fractions and published ones. usage: log_statistics.py EXECUTABLE SOURCE"""
import collections
import random
import re
from fractions import Fraction

from run import check, expect_error, have_cpu, main, result, run, unpack_published

DEVICES = ["interp"]


def write_table(path, separator, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(separator.join(map(str, row)) + "\n")


def find_devices():
    write_table("one.csv", ",", [["status", "bytes"], [200, 5]])
    if have_cpu("--input", "one.csv", "--key", "status", "--value", "bytes"):
        DEVICES.append("cpu")


def totals_of(pairs):
    """(key, count, sum rounded once) for each key."""
    values = collections.defaultdict(list)
    for key, value in pairs:
        values[key].append(Fraction(value))
    return [(key, len(of), float(sum(of))) for key, of in values.items()]


def shown(totals, top, by=1):
    first = sorted(totals, key=lambda total: (-total[by], total[0]))[:top]
    return {"keys": len(totals), "top": [{"key": key, "count": count, "sum": value} for key, count, value in first]}


def same_on_all_devices(right, *arguments):
    for device in DEVICES:
        got = result(*arguments, "--device", device)["result"]
        check(got == right, f"{device} {arguments}: {str(got)[:600]}, not {str(right)[:600]}")


def totals_are_right_to_the_last_bit():
    random.seed(9)
    keys = [random.choice((i, -i, i * 10 ** 15)) for i in range(3000)]
    pairs = [(keys[int(3000 * random.random() ** 4)], random.choice((0.1, -0.1, 1e16, -1e16, 3, 1e-20, random.gauss(0, 1e5)))) for _ in range(40000)]
    write_table("log.csv", ",", [["host", "key", "name", "value"]] + [["a b", key, "x", value] for key, value in pairs])
    totals = totals_of(pairs)
    arguments = ["--input", "log.csv", "--key", "key", "--value", "value"]
    same_on_all_devices(shown(totals, 10), *arguments)
    same_on_all_devices(shown(totals, 100000), *arguments, "--top", 100000)
    same_on_all_devices(shown(totals, 25, by=2), *arguments, "--top", 25, "--by", "sum")
    same_on_all_devices(shown(totals, 3), "--input", "log.csv", "--key", 1, "--value", 3, "--top", 3)
    for layout in ("aos", "aosoa", "aop"):
        got = result(*arguments, "--layout", layout, "--device", DEVICES[-1])["result"]
        check(got == shown(totals, 10), f"{layout} differs")
    code, out, _ = run(*arguments, "--device", "interp", "--top", 1, "--quiet", "--output", "totals.csv")
    with open("totals.csv") as file:
        lines = [line.split(",") for line in file.read().split()]
    check(lines[0] == ["key", "count", "sum"] and [(int(k), int(c), float(s)) for k, c, s in lines[1:]] == sorted(totals), "totals.csv")
    key, count, value = sorted(totals, key=lambda total: (-total[1], total[0]))[0]
    words = out.decode().split()
    check(code == 0 and words[:3] == ["key", "count", "sum"] and (int(words[3]), int(words[4]), float(words[5])) == (key, count, value), f"{out}")


def few_equal_and_different_keys_are_totalled():
    write_table("different.csv", ",", [["k", "v"]] + [[i * 7919 % 100003, i] for i in range(100003)])
    same_on_all_devices({"keys": 100003, "top": [{"key": k, "count": 1, "sum": v} for k, v in ((0, 0), (1, pow(7919, -1, 100003)))]},
                        "--input", "different.csv", "--key", "k", "--value", "v", "--top", 2)
    write_table("same.csv", ",", [["k", "v"]] + [[7, i] for i in range(1000)])
    same_on_all_devices({"keys": 1, "top": [{"key": 7, "count": 1000, "sum": 499500}]}, "--input", "same.csv", "--key", "k", "--value", "v")
    same_on_all_devices({"keys": 1, "top": [{"key": 200, "count": 1, "sum": 5}]}, "--input", "one.csv", "--key", "status", "--value", "bytes")


# A line of a log: fields between blanks, in quotes (with escapes) or brackets.
FIELD = re.compile(r'"(?:\\.|[^"\\])*"|\[[^]]*\]|[^ ]+')


def raw_lines():
    """Pairs of status and bytes as the expression above finds them, and the lines."""
    random.seed(21)
    requests = ("GET / HTTP/1.1", "", " ", r"POST /a\"b\" c", r"back\\", "-", "[x", "200 5", r"\"")
    lines = []
    for _ in range(30000):
        size = random.choice(("-", "0", str(random.randrange(10 ** 9)), f"{random.random() * 1e6:.3f}"))
        lines.append(f'10.0.{random.randrange(99)}.1 - {random.choice(("-", "ada"))} [17/May/2015:10:05:03 +0000] "{random.choice(requests)}" '
                     f'{random.choice((200, 200, 304, 404, 500))} {size} "{random.choice(requests)}" "Agent/5.0 (X; 404 7)"')
    found = [FIELD.findall(line) for line in lines]
    return [(int(of[5]), 0 if of[6] == "-" else float(of[6])) for of in found], lines


def raw_lines_are_totalled():
    pairs, lines = raw_lines()
    with open("raw.txt", "w") as file:
        file.write("\n".join(lines[:100]) + "\n\n   \n" + "\r\n".join(lines[100:]))
    arguments = ["--lines", "--input", "raw.txt"]
    same_on_all_devices(shown(totals_of(pairs), 10), *arguments, "--key", "status", "--value", "bytes")
    same_on_all_devices(shown(totals_of(pairs), 3, by=2), *arguments, "--key", 5, "--value", 6, "--top", 3, "--by", "sum")
    same_on_all_devices(shown(totals_of([(key, key) for key, _ in pairs]), 10), *arguments, "--key", "status", "--value", "status")
    expect_error(2, ["'colour'", "host"], *arguments, "--key", "colour", "--value", "bytes")
    expect_error(2, ["'-1'"], *arguments, "--key", "status", "--value", "-1")
    expect_error(2, ["--columns"], *arguments, "--key", "status", "--value", "bytes", "--columns", "0")
    for device in DEVICES:
        expect_error(7, ['"10.0.', "is no integer in record 0"], *arguments, "--key", "host", "--value", "bytes", "--device", device)
        expect_error(7, ['"" is no integer in record 0'], *arguments, "--key", "9", "--value", "bytes", "--device", device)
    with open("nothing.txt", "w") as file:
        file.write("")
    expect_error(2, ["no rows"], "--lines", "--input", "nothing.txt", "--key", "status", "--value", "bytes", "--device", "interp")


def lines_that_are_no_log_may_be_left_out():
    pairs, lines = raw_lines()
    with open("mixed.txt", "w") as file:
        for i, line in enumerate(lines):
            file.write(line + "\n" + ("# a note\n" if i % 7 == 0 else ""))
    for device in DEVICES:
        got = result("--lines", "--input", "mixed.txt", "--key", "status", "--value", "bytes", "--on-error", "skip", "--device", device)["result"]
        check(got == shown(totals_of(pairs), 10), f"{device}: {got}")


def misuse_is_told():
    expect_error(2, ["--key"], "--input", "one.csv", "--value", "bytes")
    expect_error(2, ["--value"], "--input", "one.csv", "--key", "status")
    expect_error(2, ["--key", "'colour'"], "--input", "one.csv", "--key", "colour", "--value", "bytes")
    expect_error(2, ["--value", "'colour'"], "--input", "one.csv", "--key", "status", "--value", "colour")
    expect_error(2, ["one column"], "--input", "one.csv", "--key", "status", "--value", 0)
    expect_error(2, ["--columns"], "--input", "one.csv", "--key", "status", "--value", "bytes", "--columns", "0-1")
    expect_error(2, ["--top"], "--input", "one.csv", "--key", "status", "--value", "bytes", "--top", 0)
    expect_error(6, ["not a number"], "--input", "log.csv", "--key", "name", "--value", "value", "--device", "interp")
    write_table("empty.csv", ",", [["k", "v"]])
    expect_error(2, ["no rows"], "--input", "empty.csv", "--key", "k", "--value", "v", "--device", "interp")


def a_days_log_has_the_published_totals():
    if not unpack_published("nasa.tsv", "logs", "nasa_19950801.tsv.gz"):
        return
    for device in DEVICES:
        got = result("--input", "nasa.tsv", "--key", "response", "--value", "bytes", "--device", device)["result"]
        check([(t["key"], t["count"]) for t in got["top"]] == [(200, 27972), (304, 2421), (302, 355), (404, 221)], f"{device}: {got}")
        check(got["keys"] == 4 and sum(t["sum"] for t in got["top"]) == 482000467, f"{device}: {got}")


def raw_lines_have_the_published_totals():
    if not unpack_published("apache.txt", "logs", "elastic-apache_logs.txt.gz"):
        return
    for device in DEVICES:
        got = result("--lines", "--input", "apache.txt", "--key", "status", "--value", "bytes", "--device", device)["result"]
        counts = {200: 9126, 304: 445, 404: 213, 301: 164, 206: 45, 500: 3, 416: 2, 403: 2}
        check({t["key"]: t["count"] for t in got["top"]} == counts and got["keys"] == 8, f"{device}: {got}")


main(find_devices, totals_are_right_to_the_last_bit, few_equal_and_different_keys_are_totalled, raw_lines_are_totalled, lines_that_are_no_log_may_be_left_out,
     misuse_is_told, a_days_log_has_the_published_totals, raw_lines_have_the_published_totals)
