# SPDX-License-Identifier: Apache-2.0
"""The grep program against Python's `in` and GNU grep. usage: grep.py EXECUTABLE SOURCE"""
import gzip
import os
import random
import subprocess

from run import check, expect_error, have_cpu, main, result, run, unpack_published

DEVICES = ["interp"]


def find_devices():
    with open("one.txt", "wb") as file:
        file.write(b"one\n")
    if have_cpu("--input", "one.txt", "--pattern", "o"):
        DEVICES.append("cpu")


def text_of(lines, seed):
    """Letters of few kinds, so that patterns begin more often than they end; NUL bytes, CR, bytes that are not ASCII; no line end at the end."""
    random.seed(seed)
    row = lambda: bytes(random.choice(b"aabAB c\x00\r\xc3") for _ in range(int(120 * random.random() ** 3)))
    return b"\n".join(row() for _ in range(lines)) + b"\nat the end aab"


def lines_of(text):
    lines = text.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def lower(bytes_):
    return bytes_.lower()


def lines_that_have_a_text_are_found():
    text = text_of(12000, 3)
    with open("text.txt", "wb") as file:
        file.write(text)
    with gzip.open("text.gz", "wb") as file:
        file.write(text)
    for pattern in ("a", "aab", "abab", "bbbb", "\xc3".encode("latin-1").decode("utf-8", "surrogateescape"), "aabAB", "end aab", "no such text in there"):
        wanted = os.fsencode(pattern)
        for fold in (False, True):
            found = [line for line in lines_of(text) if (lower(wanted) in lower(line) if fold else wanted in line)]
            for device in DEVICES:
                arguments = ["--pattern", pattern, "--device", device, *(["--ignore-case"] if fold else [])]
                check(result("--input", "text.txt", *arguments)["result"] == {"lines": len(found)}, f"{arguments}")
                code, _, err = run("--input", "text.gz", *arguments, "--quiet", "--memory", "16MiB", "--output", "found.txt")
                with open("found.txt", "rb") as file:
                    check(code == 0 and file.read() == b"".join(line + b"\n" for line in found), f"{arguments} --output: {err}")


def gnu_grep(*arguments):
    return subprocess.run(["grep", "-a", *arguments], capture_output=True, env={**os.environ, "LC_ALL": "C"}).stdout


def lines_that_match_are_those_of_gnu_grep():
    text = text_of(6000, 4).replace(b"\x00", b"0")
    with open("text.txt", "wb") as file:
        file.write(text)
    for expression in ("^a.*b$", "(ab|ba)+c", "[[:upper:]]{3}", "^$", "0.?0"):
        for fold in ((), ("--ignore-case",)):
            grep = gnu_grep("-E", *(["-i"] if fold else []), expression, "text.txt")
            for device in DEVICES:
                code, _, err = run("--input", "text.txt", "--regex", expression, *fold, "--device", device, "--quiet", "--output", "found.txt")
                with open("found.txt", "rb") as file:
                    check(code == 0 and file.read() == grep, f"{expression}: {err}")


def texts_at_borders_are_found():
    cases = [(b"", "a", 0), (b"\n\n", "a", 0), (b"a", "a", 1), (b"xa\n", "a", 1), (b"ax\r\nxa\r\n", "a\r", 1), (b"a" * 10000000, "a" * 40, 1),
             (b"aaa\n" * 3, "aaaa", 0)]
    for text, pattern, lines in cases:
        with open("border.txt", "wb") as file:
            file.write(text)
        for device in DEVICES:
            check(result("--input", "border.txt", "--pattern", pattern, "--device", device)["result"] == {"lines": lines}, f"{pattern} on {device}")


def misuse_is_told():
    expect_error(2, ["--pattern"], "--input", "one.txt")
    expect_error(2, ["--regex"], "--input", "one.txt", "--pattern", "a", "--regex", "b")
    expect_error(2, ["--regex '(a'"], "--input", "one.txt", "--regex", "(a")
    expect_error(6, ["no-such"], "--input", "no-such.txt", "--pattern", "a")


def texts_that_are_damaged_and_long_lines():
    random_bytes = bytes(random.randrange(256) for _ in range(200000))
    packed = gzip.compress(random_bytes)
    with open("cut.gz", "wb") as file:
        file.write(packed[:len(packed) // 2])
    with open("damaged.gz", "wb") as file:
        file.write(packed[:len(packed) // 2] + bytes(byte ^ 0x5A for byte in packed[len(packed) // 2:]))
    with open("line.txt", "wb") as file:        # a hole, which takes no room
        file.write(b"first\n")
        file.truncate(300 << 20)
    with open("line.txt", "ab") as file:
        file.write(b"\nlast")
    for device in DEVICES:
        expect_error(6, ["cut.gz", "ends within its gzip data"], "--input", "cut.gz", "--pattern", "a", "--device", device)
        expect_error(6, ["damaged.gz"], "--input", "damaged.gz", "--pattern", "a", "--device", device)
        # However long a line is, the budget holds: what has no room lies in a temporary file.
        got = result("--input", "line.txt", "--pattern", "st", "--device", device, "--memory", "32M")
        check(got["result"] == {"lines": 2} and got["records"] == 3 and got["bytes"]["host_peak"] <= 32 << 20, f"{device}: {got}")


# As many as are counted while they are read, of lines of all lengths.
def long_texts_have_the_lines_that_gnu_grep_finds():
    with open("long.txt", "wb") as file:
        for i in range(60000):
            file.write(b"x" * (random.randrange(60) if i % 5000 else 300000) + (b"needle" if random.random() < 0.1 else b"") + b"\n")
        file.write(b"needle without an end")
    lines = int(gnu_grep("-c", "-F", "needle", "long.txt"))
    for device in DEVICES:
        got = result("--input", "long.txt", "--pattern", "needle", "--device", device, "--output", "found.txt")
        check(got["result"] == {"lines": lines} and got["records"] == 60001, device)
        with open("found.txt", "rb") as file:
            check(file.read() == gnu_grep("-F", "needle", "long.txt"), f"lines on {device}")


def a_book_has_the_lines_that_gnu_grep_finds():
    if not unpack_published("big.txt", "text", "norvig-big.txt.gz"):
        return
    for pattern in ("Sherlock", "the ", "Project Gutenberg"):
        lines = int(gnu_grep("-c", "-F", pattern, "big.txt"))
        for device in DEVICES:
            check(result("--input", "big.txt", "--pattern", pattern, "--device", device)["result"] == {"lines": lines}, pattern)


main(find_devices, lines_that_have_a_text_are_found, lines_that_match_are_those_of_gnu_grep, texts_at_borders_are_found, misuse_is_told,
     texts_that_are_damaged_and_long_lines, long_texts_have_the_lines_that_gnu_grep_finds,
     a_book_has_the_lines_that_gnu_grep_finds)
