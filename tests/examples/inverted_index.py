# SPDX-License-Identifier: Apache-2.0
"""The inverted-index program against Python's regular expressions and sets. usage: inverted_index.py EXECUTABLE SOURCE"""
import gzip
import random
import re

from run import check, expect_error, have_cpu, main, result, run, unpack_published

DEVICES = ["interp"]
WORD, SPACE = re.compile(rb"[A-Za-z0-9_\x80-\xff]+"), re.compile(rb"[^\t-\r ]+")


def find_devices():
    with open("one.txt", "wb") as file:
        file.write(b"one\n")
    if have_cpu("--input", "one.txt"):
        DEVICES.append("cpu")


def text_of(lines, seed):
    """Words of 1 to 60 letters, some frequent and often twice on a line, with marks, blanks and bytes that are not ASCII."""
    random.seed(seed)
    letters = b"abcdefgXYZ0_\xc3\xa4"
    known = [bytes(random.choice(letters) for _ in range(1 + int(60 * random.random() ** 4))) for _ in range(900)]
    marks = (b" ", b", ", b"\t", b"--", b"\r", b".  ")
    row = lambda: b"".join(known[int(900 * random.random() ** 4)] + random.choice(marks) for _ in range(random.randrange(20)))
    return b"\n".join(row() for _ in range(lines))


def postings_of(texts, pattern, lower):
    found = set()
    for number, text in enumerate(texts):
        for line, content in enumerate((text.lower() if lower else text).split(b"\n"), 1):
            found.update((word, number, line) for word in pattern.findall(content))
    return sorted(found)


def expected_bytes(postings, names):
    return b"".join(b"%s\t%s\t%d\n" % (word, names[number].encode(), line) for word, number, line in postings)


def lines_of_words_are_found():
    names = ["second.txt", "first.gz", "none.txt"]
    texts = [text_of(3000, 1), text_of(1500, 2), b""]
    for name, text in zip(names, texts):
        with (gzip.open if name.endswith(".gz") else open)(name, "wb") as file:
            file.write(text)
    files = [argument for name in names for argument in ("--input", name)]
    for pattern, name in ((WORD, "word"), (SPACE, "space")):
        for lower in (False, True):
            postings = postings_of(texts, pattern, lower)
            right = {"terms": len({word for word, _, _ in postings}), "postings": len(postings)}
            for device in DEVICES:
                arguments = [*files, "--pattern", name, "--device", device, *(["--lower"] if lower else [])]
                check(result(*arguments)["result"] == right, f"{arguments}")
                code, _, err = run(*arguments, "--quiet", "--memory", "24MiB", "--output", "index.tsv")
                with open("index.tsv", "rb") as file:
                    check(code == 0 and file.read() == expected_bytes(postings, names), f"{arguments} --output: {err}")


# As many as their numbers alone would fill most of the memory: they lie within the budget, beside the words.
def many_different_words_in_little_memory():
    text = b"\n".join(b"w%d v%d w%d" % (i, i * 7919 % 200000, i // 2) for i in range(200000))
    with open("many.txt", "wb") as file:
        file.write(text)
    postings = postings_of([text], WORD, False)
    for device in DEVICES[-1:]:
        code, _, err = run("--input", "many.txt", "--device", device, "--quiet", "--memory", "64MiB", "--output", "many.tsv")
        with open("many.tsv", "rb") as file:
            check(code == 0 and file.read() == expected_bytes(postings, ["many.txt"]), f"many words on {device}: {err}")
        code, _, err = run("--input", "many.txt", "--device", device, "--quiet", "--memory", "32MiB")
        check(code and "memory" in err, f"32 MiB have no room for the table of 400000 words on {device}: {code} {err}")


def files_without_words_have_none():
    for text in (b"", b"\n\n", b" .,;\n--"):
        with open("marks.txt", "wb") as file:
            file.write(text)
        for device in DEVICES:
            check(result("--input", "marks.txt", "--device", device)["result"] == {"terms": 0, "postings": 0}, f"{text} on {device}")


def misuse_is_told():
    expect_error(2, ["--columns"], "--input", "one.txt", "--columns", "0")
    expect_error(2, ["--pattern"], "--input", "one.txt", "--pattern", "letters")
    expect_error(6, ["no-such"], "--input", "no-such.txt")


def a_book_has_the_postings_that_python_finds():
    if not unpack_published("big.txt", "text", "norvig-big.txt.gz"):
        return
    with open("big.txt", "rb") as file:
        postings = postings_of([file.read()], WORD, True)
    for device in DEVICES[-1:]:
        got = result("--input", "big.txt", "--lower", "--device", device)["result"]
        check(got == {"terms": 32198, "postings": len(postings)}, f"{got}")


main(find_devices, lines_of_words_are_found, many_different_words_in_little_memory,
     files_without_words_have_none, misuse_is_told, a_book_has_the_postings_that_python_finds)
