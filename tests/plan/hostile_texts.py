#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Word count, grep, tokens and lines of hostile texts beside Python: NUL bytes, bytes that are not UTF-8, lines of hundreds of kilobytes, empty lines, \\r\\n,
no line end at the end, nothing at all; in the interpreter, on a CPU, in the form of a GPU, on a CPU and in the interpreter at once.

usage: hostile_texts.py DRIVER TEXTS FORM...        DRIVER: text_operators; FORM: DEVICE[:MEMORY-IN-MEGABYTES]"""
import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

NO_DEVICE = 77
NAMES = ["lines", "some_lines", "pieces", "line_words", "squeezed"]
WORD, BLANK = re.compile(rb"[A-Za-z0-9_\x80-\xff]+"), re.compile(rb"[^\t-\r ]+")
ALPHABETS = [b"ab", b"ab \n", b"ab\n\n\n", b"aAbB_09 ,\n", bytes(range(256)), b"\0\n", b"\0ab \n", b"\r\n", b"a\r\nb",
             b"\xff\xfe\xc3\x28\xe2\x82a b\n", b"\n", b" \t\v\f\rab\n",
             "äöü€𝄞 ab\n".encode(), b"abc" * 20 + b" \n"]
LENGTHS = [0, 1, 2, 7, 8, 9, 12, 13, 63, 64, 65, 127, 128, 129, 500, 4095, 4096, 4097, 9000]


def make_text(dice):
    """(bytes, whether lines end with \\r\\n)"""
    alphabet, length = dice.choice(ALPHABETS), dice.choice(LENGTHS)
    text = bytes(dice.choices(alphabet, k=length))
    way = dice.randrange(8)
    if way == 0:            # a long line somewhere, of one token or of many
        text += dice.choice([b"a" * dice.choice([65536, 100001, 300000]), b"ab " * 2000, b" " * 70000, b"\0" * 65537, b"a" * 40000 + b"\xff" * 40000])
        text += bytes(dice.choices(alphabet, k=dice.choice([0, 1, 40])))
    elif way == 1:
        text = text.replace(b"\n", b"\r\n")
    elif way == 2:          # the same few words over and over, long ones that begin alike
        words = [b"w" * k + tail for k in (1, 11, 12, 13, 40) for tail in (b"", b"a", b"b\xff")]
        text += b" ".join(dice.choices(words, k=400)) + b"\n"
    if dice.random() < 0.4:
        text += b"\n"
    return text, dice.random() < 0.3


def lines_of(text, strips):
    """Bytewise, without splitlines, which knows more ends of lines. A last line that no \\n ends keeps its \\r (docs/io.md)."""
    *lines, rest = text.split(b"\n")
    lines = [line[:-1] if strips and line.endswith(b"\r") else line for line in lines]
    return lines + [rest] if rest else lines


def has_ab(line):
    return b"ab" in line or (line.startswith(b"b") and line.endswith(b"a"))


def squeezed(line):
    """Its first 64 bytes without blanks in front and behind one another."""
    return re.sub(rb"  +", b" ", line.lstrip(b" "))[:64]


def answers(lines):
    words = collections.Counter(w for line in lines for w in WORD.findall(line))
    return {
        "lines": [(i, line) for i, line in enumerate(lines, 1)],
        "some_lines": [(i, line) for i, line in enumerate(lines, 1) if has_ab(line)],
        "pieces": [(i, w[1:70].upper()) for i, line in enumerate(lines, 1) for w in BLANK.findall(line) if len(w) > 2],
        "line_words": sorted(words.items()),
        "squeezed": [(i, squeezed(line)) for i, line in enumerate(lines, 1) if len(squeezed(line)) > 1],
    }


def value_of(field):
    return bytes.fromhex(field[1:]) if field.startswith("x") else int(field)


def results_of(output):
    """By file and operator the records."""
    results, at, path = {}, None, None
    for line in output.split("\n"):
        if line.startswith("file "):
            path, at = line[5:], None
        elif line in NAMES:
            at = results.setdefault((path, line), [])
        elif line:
            if at is None:
                raise SystemExit(f"{path}: {line[:2000]}")
            at.append(tuple(value_of(field) for field in line.split(" ")))
    return results


def run_form(driver, form, listing, right):
    device, _, memory = form.partition(":")
    done = subprocess.run([driver, device, str(int(memory or 0) << 20), "streamed", "@" + listing] + NAMES, capture_output=True)
    output = done.stdout.decode()
    if done.returncode == NO_DEVICE:
        print(f"{form}: skipped: {output}")
        return True
    if done.returncode:
        print(f"{form}: ends with {done.returncode}: {output[-1500:]}{done.stderr.decode()[-1500:]}")
        return False
    results, wrong = results_of(output), 0
    for (path, name), rows in right.items():
        found = results.get((path, name))
        if name == "line_words" and found is not None:
            found = sorted(found)
        if found != rows:
            wrong += 1
            at = next((i for i, (a, b) in enumerate(zip(found or [], rows)) if a != b), min(len(found or []), len(rows)))
            print(f"{form}: {path}: {name}: {len(found or [])} records, not {len(rows)}; number {at}: {str((found or [])[at:at + 1])[:200]}, not "
                  f"{str(rows[at:at + 1])[:200]}; the text begins {pathlib.Path(path).read_bytes()[:100]}")
    return not wrong


def main():
    driver, count, forms = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        right, paths = {}, []
        for seed in range(count):
            text, strips = make_text(random.Random(seed))
            path = f"{folder}/{seed}" + (".cr" if strips else "")
            pathlib.Path(path).write_bytes(text)
            paths.append(path)
            for name, rows in answers(lines_of(text, strips)).items():
                right[path, name] = rows
        listing = folder + "/list"
        pathlib.Path(listing).write_text("".join(path + "\n" for path in paths))
        fine = [run_form(driver, form, listing, right) for form in forms]
    sys.exit(not all(fine))


main()
