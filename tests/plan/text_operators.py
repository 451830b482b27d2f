#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators over records with texts, beside Python: groups, the largest, parts, what is distinct, folds, and partials whose bytes meet in other contexts;
in the interpreter, on a CPU, in the form of a GPU, on several devices; with plenty of memory and little.

usage: text_operators.py DRIVER FORM...        FORM: DEVICE[:MEMORY-IN-MEGABYTES][:streamed]"""
import random
import re
import subprocess
import sys
import tempfile

NO_DEVICE = 77
PARTS, TOP = 5, 7
NO_WORD = b"no word at all in this line"


def make_lines(seed):
    """Few different first words, some of which are long and alike; texts that begin alike; bytes of any value, empty lines."""
    dice = random.Random(seed)
    words = [bytes(dice.choices(b"abAB_\xc3\xa4z09", k=k)) for k in (1, 2, 3, 7, 8, 9, 11, 12, 13, 14, 20, 40, 300)]
    words += [words[11][:-1] + b"y", words[11][:-1] + b"z", b"w" * 8, b"w" * 9, b"w" * 16, b"w" * 17]
    marks = [b" ", b",", b"\0", b"\xff.", b"  ", b"\r", b"\t;"]
    lines = []
    for _ in range(dice.randrange(9000, 9900)):
        line = dice.choice([b"", b"", b" ", b"\0\0"])
        for _ in range(dice.choice([0, 1, 1, 2, 3, 9])):
            line += dice.choice(words) + dice.choice(marks)
        lines.append(line.replace(b"\n", b""))
    lines[dice.randrange(len(lines))] = b"zz " * 3000 + b"y" * 80000
    return lines


def items_of(lines):
    """(key, line, size, text)"""
    found = [re.search(rb"[A-Za-z0-9_\x80-\xff]+", line) for line in lines]
    return [(m.group().lower() if m else NO_WORD, i + 1, len(line), line) for i, (m, line) in enumerate(zip(found, lines))]


def by_key(items, key):
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def summary(key, group):
    return key, len(group), group[0][1], group[-1][1], max(group, key=lambda i: len(i[3]))[3], min(i[3] for i in group)


def part_of(item):
    return (len(item[0]) * 7 + (item[0][0] if item[0] else 0)) % PARTS


def top(items, field, count=TOP):
    return sorted(items, key=lambda i: i[field], reverse=True)[:count]      # stable


def sums(items):
    return [(k, len(g), sum(i[2] for i in g)) for k, g in by_key(items, lambda i: i[0]).items()]


def fold(items, function):
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


def loud(a, b):
    c = b if len(b[0]) >= len(a[0]) else a
    return c[:3] + (c[3].upper(),)


def built_word(word):
    """As built_words of the driver makes a key of it: the letters in lower case and a bar; what is long is cut."""
    return word[:50].lower() if len(word) > 40 else bytes(c | 32 for c in word if chr(c).isascii() and chr(c).isalpha()) + b"|"


def built(item):
    """As `built` of the driver: each third as it is, or with a key or a text that was put together byte by byte."""
    key, line, size, text = item
    if line % 3 == 0:
        return item
    if line % 3 == 1:
        return key[:14][::-1].rjust(24, b"\0"), line, size, text
    return key.upper(), line, size, str(size).encode()[::-1] if size else b""


def answers(lines):
    """For each operator its records; a set where their order is that of a hash. (Parts: by what is in them.)"""
    items = items_of(lines)
    words = by_key([(w.lower(),) for line in lines for w in re.findall(rb"[A-Za-z0-9_\x80-\xff]+", line)], lambda w: w[0])
    with_ab = [i for i in items if b"ab" in i[3]]
    groups = by_key(items, lambda i: i[0])
    pairs = {(i[0], i[2] // 2) for i in items}
    loudest = fold(items, loud)
    right = {
        "items": items, "by_word": {summary(k, g) for k, g in groups.items()},
        "by_size": {(k, min(i[0].upper() for i in g)) for k, g in by_key(items, lambda i: i[2]).items()},
        "top_text": top(items, 3), "top_key": top(items, 0), "top_size": top(items, 2), "top_all": top(items, 3, len(items)),
        "top_filtered": top(with_ab, 0), "least_text": [min(items, key=lambda i: i[3])], "most_text": [max(items, key=lambda i: i[3])],
        "least_size": [min(items, key=lambda i: i[2])], "top_lines": [(i[1], i[3]) for i in top(items, 3)],
        "partition": sorted(items, key=part_of), "part_sums": set(sums(items)), "part_groups": {summary(k, g) for k, g in groups.items()},
        "sums": set(sums(items)), "keys": {(k,) for k in groups}, "pairs": pairs, "words": {(w, len(g)) for w, g in words.items()},
        "sorted": sorted(sorted(items, key=lambda i: (i[2], i[3])), key=lambda i: i[0], reverse=True),
        "slices": items[20:50] + items[3:12], "twice": top(items, 3) + with_ab, "indexed": [(n, i[0], i[1], i[3]) for n, i in enumerate(with_ab)],
        "sample": items, "longer": [fold(items, lambda a, b: b if len(b[3]) > len(a[3]) else a)], "loud": [loudest],
        "last_word": [fold(items, lambda a, b: (b[0] if len(b[0]) > 3 else a[0], b[1], a[2] + 1, b[3]))],
    }
    built_items = [built(i) for i in items]
    built_words = by_key([(built_word(w),) for line in lines for w in re.findall(rb"[A-Za-z0-9_\x80-\xff]+", line)], lambda w: w[0])
    right["built"], right["built_sorted"] = built_items, sorted(built_items, key=lambda i: i[:2])
    right["built_filtered"] = [i for i in built_items if b"ab" in i[3]]
    right["built_words"] = {(w, len(g)) for w, g in built_words.items()}
    for name in ("sums", "keys", "built_words", "pairs", "top_text", "top_size", "longer", "loud"):
        right["partial_" + name] = right[name]
    right["partial_least"] = right["least_text"]
    parts = [[i for i in items if part_of(i) == p] for p in range(PARTS)]
    counts = {"partition": [len(p) for p in parts]}
    counts["part_sums"] = [len({i[0] for i in p}) for p in parts]
    return right, counts


def value_of(field):
    return bytes.fromhex(field[1:]) if field.startswith("x") else int(field)


def compare(name, found, right, counts):
    """What is wrong; None: nothing."""
    parts = None
    if found and found[-1].startswith("parts "):
        parts = [int(n) for n in found.pop()[6:].split()]
    rows = [tuple(value_of(f) for f in line.split(" ")) for line in found]
    if len(rows) != len(right):
        return f"{name}: {len(rows)} records, not {len(right)}"
    for i, row in enumerate(rows):
        if row not in right if isinstance(right, set) else row != right[i]:
            return f"{name}: record {i} is {str(row)[:300]}, not {'any of those' if isinstance(right, set) else str(right[i])[:300]}"
    if isinstance(right, set) and len(set(rows)) != len(rows):
        return f"{name}: a record comes twice"
    if parts != counts.get(name):
        return f"{name}: parts of {parts}, not {counts.get(name)}"
    return None


def blocks_of(output, names):
    blocks, name = [], None
    for line in output.split("\n"):
        if line in names:
            blocks.append((line, []))
        elif line and blocks:
            blocks[-1][1].append(line)
        elif line:
            raise SystemExit(line)
    return blocks


def run_form(driver, form, path, right, counts):
    device, *others = form.split(":")
    memory = next((int(o) for o in others if o.isdigit()), 0) << 20
    names = [o for o in others if o in right] or list(right)
    how = "streamed" if "streamed" in others else "cached"
    done = subprocess.run([driver, device, str(memory), how, path] + names, capture_output=True)
    output = done.stdout.decode()
    if done.returncode == NO_DEVICE:
        print(f"{form}: skipped: {output}")
        return True
    if done.returncode:
        print(f"{form}: ends with {done.returncode}: {output[-3000:]}{done.stderr.decode()[-3000:]}")
        return False
    blocks = blocks_of(output, right)
    wrong = [w for w in (compare(name, found, right[name], counts) for name, found in blocks) if w]
    wanted = sum(3 if n.startswith("partial_") else 1 for n in names)
    if len(blocks) != wanted:
        wrong.append(f"{len(blocks)} results, not {wanted}")
    for w in wrong:
        print(f"{form}: {w}")
    return not wrong


def main():
    driver, forms = sys.argv[1], sys.argv[2:]
    fine = True
    for seed, form in enumerate(forms, 1):
        lines = make_lines(seed)
        right, counts = answers(lines)
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"".join(line + b"\n" for line in lines))
            file.flush()
            fine &= run_form(driver, form, file.name, right, counts)
    sys.exit(not fine)


main()
