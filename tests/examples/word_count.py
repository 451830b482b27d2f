# SPDX-License-Identifier: Apache-2.0
"""The word-count program against Python's regular expressions and published counts. usage: word_count.py EXECUTABLE SOURCE"""
import collections
import gzip
import os
import random
import re
import subprocess

from run import PROGRAM, check, expect_error, have_cpu, main, result, run, unpack_published

DEVICES = ["interp"]
WORD, SPACE = re.compile(rb"[A-Za-z0-9_\x80-\xff]+"), re.compile(rb"[^\t-\r ]+")


def find_devices():
    with open("one.txt", "wb") as file:
        file.write(b"one\n")
    if have_cpu("--input", "one.txt"):
        DEVICES.append("cpu")


def text_of(lines, seed):
    """Words of 1 to 60 letters, some frequent, with marks, blanks, bytes that are not ASCII, empty lines and no line end at the end."""
    random.seed(seed)
    letters = b"abcdefgXYZ0_\xc3\xa4"
    known = [bytes(random.choice(letters) for _ in range(1 + int(60 * random.random() ** 4))) for _ in range(3000)]
    marks = (b" ", b", ", b"\t", b"--", b"\r", b".  ")
    row = lambda: b"".join(known[int(3000 * random.random() ** 3)] + random.choice(marks) for _ in range(random.randrange(14)))
    return b"\n".join(row() for _ in range(lines))


def counts_of(text, pattern, lower):
    return collections.Counter(pattern.findall(text.lower() if lower else text))


def shown(counts, top):
    first = sorted(counts.items(), key=lambda word: (-word[1], word[0]))[:top]
    return {"words": sum(counts.values()), "distinct": len(counts), "top": [{"word": w.decode("utf-8", "replace"), "count": n} for w, n in first]}


def words_are_counted():
    text = text_of(20000, 5)
    with open("text.txt", "wb") as file:
        file.write(text)
    with gzip.open("text.gz", "wb") as file:
        file.write(text)
    for pattern, name in ((WORD, "word"), (SPACE, "space")):
        for lower in (False, True):
            counts = counts_of(text, pattern, lower)
            for device in DEVICES:
                arguments = ["--pattern", name, "--top", 5, "--device", device, *(["--lower"] if lower else [])]
                check(result("--input", "text.txt", *arguments)["result"] == shown(counts, 5), f"{arguments}")
                code, _, err = run("--input", "text.gz", *arguments, "--quiet", "--memory", "16MiB", "--output", "all.tsv")
                with open("all.tsv", "rb") as file:
                    lines = file.read().split(b"\n")
                right = [word + b"\t%d" % counts[word] for word in sorted(counts)]
                check(code == 0 and lines[-1] == b"" and lines[:-1] == right, f"{arguments} --output: {err}")


def one_line_is_counted():
    """A file of one line without an end, of more words than a slice has room for, and with little memory of far more; a word of a megabyte; lines beside it."""
    random.seed(11)
    words = [b"w%d" % int(40000 * random.random() ** 3) for _ in range(400000)]
    words[170000] = b"long" * 250000
    line = b" ".join(words)
    for text in (line, b"some more words\n\n" + line + b"\nw1 w2\n"):
        with open("line.txt", "wb") as file:
            file.write(text)
        counts = counts_of(text, WORD, False)
        for device in DEVICES:
            for memory in ([], ["--memory", "48MiB"]):
                got = result("--input", "line.txt", "--device", device, "--top", 5, *memory)["result"]
                check(got == shown(counts, 5), f"{device} {memory}: {got['words']} words, {got['distinct']} different ones")


def is_sanitized():
    """Sanitizers take memory of their own, and keep what is freed."""
    with open(PROGRAM, "rb") as file:
        return re.search(rb"__[at]san_init", file.read()) is not None


def memory_while_writing(words, budget):
    """How many bytes the process has of its own, not of files, once it writes its words: it waits, since the pipe holds few of them.

    By the interpreter: a driver that compiles kernels takes memory for that. What is freed goes back to the system.
    """
    with open("different.txt", "wb") as file:
        for first in range(0, words, 16):
            file.write(b" ".join(b"%016x" % (i * 0x9E3779B97F4A7C15 % 2**64) for i in range(first, first + 16)) + b"\n")
    arguments = ["--input", "different.txt", "--device", "interp", "--memory", str(budget), "--output", "-", "--quiet"]
    returning = {**os.environ, "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    with subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=returning) as writer:
        lines = [writer.stdout.readline()]
        with open(f"/proc/{writer.pid}/status", encoding="ascii") as file:
            own = int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1)) << 10
        lines += writer.stdout.readlines()
    in_order = all(a < b for a, b in zip(lines, lines[1:]))
    check(writer.returncode == 0 and len(lines) == words and in_order, f"{words} words: code {writer.returncode}, {len(lines)} lines, in order: {in_order}")
    return own


def words_are_written_within_the_budget():
    """A list of them would take more than the budget alone."""
    if is_sanitized():
        print("SKIP: how much memory a program under a sanitizer takes says nothing")
        return
    budget = 8 << 20
    few, many = memory_while_writing(20000, budget), memory_while_writing(budget // 32 * 5, budget)
    check(many - few < budget, f"{few} bytes with few words, {many} with many")


def files_without_words_are_none():
    for name, text in (("empty.txt", b""), ("newline.txt", b"\n"), ("marks.txt", b" .,;\n--")):
        with open(name, "wb") as file:
            file.write(text)
        for device in DEVICES:
            check(result("--input", name, "--device", device)["result"] == {"words": 0, "distinct": 0, "top": []}, f"{name} on {device}")


def misuse_is_told():
    expect_error(2, ["--columns"], "--input", "one.txt", "--columns", "0")
    expect_error(2, ["--pattern"], "--input", "one.txt", "--pattern", "letters")
    expect_error(2, ["--input"], "--lower")
    expect_error(6, ["no-such"], "--input", "no-such.txt")
    with open("text.gz", "rb") as whole, open("cut.gz", "wb") as part:
        part.write(whole.read()[:-100])
    expect_error(6, ["cut.gz"], "--input", "cut.gz", "--device", "interp")


def a_book_has_the_published_words():
    if not unpack_published("big.txt", "text", "norvig-big.txt.gz"):
        return
    for device in DEVICES:
        got = result("--input", "big.txt", "--lower", "--top", 6, "--device", device)["result"]
        top = [("the", 79809), ("of", 40024), ("and", 38312), ("to", 28765), ("in", 22023), ("a", 21124)]
        check(got == {"words": 1115585, "distinct": 32198, "top": [{"word": w, "count": n} for w, n in top]}, f"{got}")


main(find_devices, words_are_counted, one_line_is_counted, words_are_written_within_the_budget, files_without_words_are_none, misuse_is_told,
     a_book_has_the_published_words)
