# SPDX-License-Identifier: Apache-2.0
"""Files for again.py: lines and tables of texts, packed and not, that are replaced, cut, added to or gone between runs, and packed ones that are cut in the
middle, changed in a byte or followed by something else. A run may say that a file is not what it was, or is damaged; records that it gives are, of each file,
those of before or of afterwards, and never some of both."""
import gzip
import lzma
import os
import re
import shutil
import subprocess

from again_records import Record, random_column
from again_functions import WORD

IO, FORMAT = 9, 10
LINE = Record("line", [("text", "text", ()), ("offset", "uint64_t", ()), ("source", "uint32_t", ()), ("line", "uint64_t", ())])
CELLS = Record("cells", [("a", "int64_t", ()), ("t", "text", ()), ("b", "double", ()), ("c", "uint8_t", ())])
COUNT = Record("seen", [("word", "text", ()), ("n", "uint64_t", ())])
MODULE = "".join(r.declaration() for r in (LINE, CELLS, COUNT)) + """map same(line l) -> line { return l; }
filter long_ones(line l) { return len(l.text) > 3; }
filter found(line l) { return find(l.text, "ab") >= 0; }
flat_map words(line l) -> (key text word, uint64_t n) { for (text w : tokens(l.text, SPACE)) emit(w, 1ul); }
reduce more(uint64_t a, uint64_t b) { return a + b; }
map same_cells(cells c) -> cells { return c; }
"""
PACKERS = ["gz", "xz"] + (["zst"] if shutil.which("zstd") else [])


def packed(kind, data):
    if kind == "gz":
        return gzip.compress(data, 1)
    if kind == "xz":
        return lzma.compress(data, preset=0)
    return subprocess.run(["zstd", "-q", "-1", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def random_text(dice):
    way = dice.randrange(9)
    if way == 0:
        return b""
    if way == 1:
        return b"\n" * dice.randrange(1, 5000)
    if way == 2:
        return dice.randbytes(dice.randrange(1, 70000))
    if way == 3:
        return b"x" * dice.randrange(1, 2 << 20) + dice.choice([b"", b"\n", b"\r\n"])
    if way == 4:
        return b"\r\n".join(b"ab\0\xff\xc3" * dice.randrange(9) for _ in range(dice.randrange(1, 3000))) + dice.choice([b"", b"\r", b"\r\n", b"\n"])
    if way == 5:
        return b"a\n" * dice.randrange(1, 30000)
    if way == 6:
        return (b"l" * dice.choice([15, 16, 17, 4095, 4096, 4097, 65535, 65536, 1 << 18]) + b"\n") * dice.randrange(1, 12)
    words = [dice.randbytes(dice.randrange(1, 9)).replace(b"\n", b"") for _ in range(20)] + [b"ab", b" ", b"xaby"]
    return b"\n".join(b" ".join(dice.choices(words, k=dice.randrange(6))) for _ in range(dice.randrange(1, 20000))) + dice.choice([b"", b"\n"])


def lines_of(data, source):
    found, offset = [], 0
    parts = data.split(b"\n")
    if not parts[-1]:
        parts.pop()
    for number, part in enumerate(parts):
        found.append((part, offset, source, number + 1))
        offset += len(part) + 1
    return found


def cell(text):
    return b'"' + text.replace(b'"', b'""') + b'"'


def random_cells(dice):
    count = dice.choice([1, 2, 33, 700, 3000])
    rows = list(zip(*(random_column(dice, leaf.kind, count) for leaf in CELLS.leaves)))
    return b"a,t,b,c\n" + b"".join(b"%d,%s,%s,%d\n" % (a, cell(t), real(b), c) for a, t, b, c in rows), [CELLS.canonical(r) for r in rows]


def real(bits):
    from again_records import float_of
    value = float_of(bits, "double")
    return b"nan" if value != value else repr(value).encode()


class Packed:
    """What a file holds: its bytes, its text unless it is damaged (then `text` is None), and whether it may be right all the same."""

    def __init__(self, dice, make, kind):
        self.text, self.rows = make(dice)
        self.data, self.doubtful = self.text, False
        if not kind:
            return
        self.data = packed(kind, self.text)
        way = dice.random()
        if way < 0.12 and self.rows is None:            # two members
            more = random_text(dice)
            self.data, self.text = self.data + packed(dice.choice([kind]), more), self.text + more
        elif way < 0.24:
            self.data, self.text = self.data[:dice.randrange(len(self.data))], None
            if len(self.data) < 6:                      # nothing tells that it is packed
                self.doubtful, self.text = True, self.data
        elif way < 0.34:
            self.data += dice.choice([b"\x1f", b"garbage", b"\n", b"\x1f\x8b", b"(\xb5/\xfd", b"\xfd7zXZ\x00", dice.randbytes(40)])
            self.doubtful = True
        elif way < 0.44:
            at = dice.randrange(6, len(self.data))
            self.data = self.data[:at] + bytes([self.data[at] ^ 1 << dice.randrange(8)]) + self.data[at + 1:]
            self.doubtful = True


class Files:
    """A source of some files, and what their records are."""

    def __init__(self, case):
        self.case, self.dice = case, case.dice
        self.is_table = self.dice.random() < 0.35
        self.folder = f"{case.folder}/files"
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        count = self.dice.choice([1, 1, 2, 5])
        self.kinds = [self.dice.choice(["", "", *PACKERS]) for _ in range(count)]
        self.names = [f"{self.folder}/{i:02}{'.csv' if self.is_table else ''}{'.' + k if k else ''}" for i, k in enumerate(self.kinds)]
        self.now = [self.content(i) for i in range(count)]
        self.before = [[c] for c in self.now]           # whatever a file was since the source was opened
        for name, content in zip(self.names, self.now):
            self.write(name, content.data)
        case.tell("table" if self.is_table else "lines", " ".join(k or "plain" for k in self.kinds))
        self.open()

    def content(self, i):
        return Packed(self.dice, random_cells if self.is_table else lambda dice: (random_text(dice), None), self.kinds[i])

    def write(self, name, data):
        with open(name, "wb") as file:
            file.write(data)

    def open(self):
        case, self.source, self.node = self.case, self.case.new("source"), self.case.new("dataset")
        case.do("text" if self.is_table else "lines", self.source, self.folder)
        record = CELLS if self.is_table else LINE
        case.do("read", self.node, self.source, record.name)
        self.before = [[c] for c in self.now]
        self.way = "cells" if self.is_table else self.dice.choice(["same", "long_ones", "found", "words", "sort", "cache"])
        end, self.cached = self.node, None
        if self.way == "words":
            keyed, end = case.new("dataset"), case.new("dataset")
            case.do("flat_map", keyed, self.node, "words")
            case.do("reduce_by_key", end, keyed, "more")
            record = COUNT
        else:
            end = case.new("dataset")
            command = {"cells": "map", "same": "map", "sort": "sort", "cache": "cache"}.get(self.way, "filter")
            case.do(command, end, self.node, *{"cells": ["same_cells"], "sort": ["source,~line"], "cache": []}.get(self.way, [self.way]))
        case.tell(self.way)
        self.record, self.result = record, case.new("result")
        case.do("result", self.result, end, record.size, "-", *record.text_offsets)

    def change(self):
        dice, i = self.dice, self.dice.randrange(len(self.names))
        name, way = self.names[i], self.dice.choice(["replaced", "replaced", "written", "cut", "longer", "gone", "touched", "same size"])
        self.case.tell(way)
        old = self.now[i]
        if way == "gone":
            if os.path.exists(name):
                os.remove(name)
            self.before[i].append(None)
            self.now[i] = self.content(i)
            if dice.random() < 0.5:
                self.write(name, self.now[i].data)
                self.before[i].append(self.now[i])
            else:
                self.now[i] = None
            return
        if old is None or not os.path.exists(name):
            old = self.content(i)
        new = old
        if way in ("replaced", "written"):
            new = self.content(i)
        elif way in ("cut", "longer"):
            new = self.content(i)
            new.text, new.rows, new.doubtful = None, None, True
            new.data = old.data[:dice.randrange(len(old.data) + 1)] if way == "cut" else old.data + dice.choice([b"\n", b"more\n", b"1,2,3,4\n"])
            if not self.kinds[i] and not self.is_table:
                new.text, new.doubtful = new.data, False
        elif way == "same size" and not self.kinds[i] and not self.is_table:
            new = self.content(i)
            new.data = new.text = bytes(reversed(old.data))
        if way == "replaced" or dice.random() < 0.3:
            self.write(name + ".new~", new.data)
            os.rename(name + ".new~", name)
        else:
            self.write(name, new.data)
        self.now[i] = new
        self.before[i].append(new)

    # What comes out.

    def rows_of(self, content, source):
        if content.text is None or (self.is_table and content.rows is None):
            return None
        return content.rows if self.is_table else lines_of(content.text, source)

    def kept(self, rows):
        return [r for r in rows if (self.way not in ("long_ones", "found") or (len(r[0]) > 3 if self.way == "long_ones" else b"ab" in r[0]))]

    def split(self, rows):
        """Of each file, where that can be seen."""
        parts = [[] for _ in self.names]
        for r in rows:
            if r[2] >= len(parts):
                return None
            parts[r[2]].append(r)
        return parts

    def check(self, answer, data):
        case = self.case
        changed = any(len(b) > 1 for b in self.before)
        damaged = any(c is None or c.text is None or c.doubtful for b in self.before for c in b)
        if not answer.startswith("ok "):
            _, code, failed, _, words = answer.split(" ", 4)
            code = int(code)
            if code in (IO, FORMAT) and (changed or damaged):
                return
            case.judge(answer, None, case.extra)
            return
        found = self.record.unpacked(data, int(answer.split()[1]))
        if any(c is None or (c.text is None and c.doubtful) for b in self.before for c in b) and (self.is_table or self.way == "words"):
            return                      # which tables, and what words, they may be is not found out here
        sure = [[r for r in (self.rows_of(c, i) for c in b if c is not None) if r is not None] for i, b in enumerate(self.before)]
        if any(not s for s in sure):
            if not any(c is None or c.doubtful for b in self.before for c in b):
                case.wrong(f"{len(found)} records of damaged files {self.before}")
            return
        if self.is_table or self.way == "words":
            if not self.right_in_all(found, sure):
                case.wrong(f"run {case.runs}: {len(found)} records {str(found[:2])[:300]}; {[[len(r) for r in s] for s in sure]}")
            return
        parts = self.split(found)
        if parts is None:
            case.wrong("a file that there is not")
            return
        for i, part in enumerate(parts):
            wanted = [self.kept(rows) for rows in sure[i]]
            if part not in wanted and not any(c is not None and c.text is None and c.doubtful for c in self.before[i]):
                at = next((k for k, (a, b) in enumerate(zip(part, wanted[-1])) if a != b), min(len(part), len(wanted[-1])))
                case.wrong(f"run {case.runs} {case.extra}: file {i}: {len(part)} records, not {[len(w) for w in wanted]}; record {at} is "
                           f"{str(part[at:at + 1])[:300]}, not {str(wanted[-1][at:at + 1])[:300]}")

    def right_in_all(self, found, sure):
        choices = [[]]
        for s in sure:
            choices = [c + [rows] for c in choices for rows in s][:200]
        for choice in choices:
            rows = [r for part in choice for r in part]
            if self.way == "words":
                counts = {}
                for r in rows:
                    for w in re.findall(rb"[^\t-\r ]+", r[0]):
                        counts[w] = counts.get(w, 0) + 1
                if sorted(found) == sorted(counts.items()):
                    return True
            elif found == rows:
                return True
        return False

    def go(self):
        case, dice = self.case, self.dice
        for _ in range(dice.choice([2, 3, 5])):
            case.runs += 1
            case.extra = dice.choice([[], [], [], ["cancel", int(10 ** dice.uniform(1.5, 4.5))], ["fail", int(10 ** dice.uniform(0, 3))]])
            if any(len(b) > 1 for b in self.before) and dice.random() < 0.3:
                self.open()
                if any(c is None for c in self.now):
                    return              # an empty folder, or fewer files than are counted here
            answer = case.ask("run", self.result, f"{case.folder}/out", *case.extra)
            case.note(case.extra, answer)
            data = b""
            if answer.startswith("ok "):
                with open(f"{case.folder}/out", "rb") as file:
                    data = file.read()
            self.check(answer, data)
            if case.errors:
                return
            if dice.random() < 0.6:
                self.change()
