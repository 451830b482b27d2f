# SPDX-License-Identifier: Apache-2.0
"""Random pipelines over texts: a source of lines or of rows, random functions (text_functions.py), operators whose keys and records hold texts, and what comes
out, found in plain Python. Records between operators are (n, t, u), as `struct got`; they are in a known order, or in that of a hash."""
import random

import text_values
from text_functions import PRELUDE, Function
from text_values import Fail, i32, i64

ALPHABETS = [b"ab", b"abAB ", b"abcxyz ,;_", bytes(range(256)).replace(b"\n", b""), b"\x00a ", b"\xc3\xa4z-9", b"aaaaab", b"\r ab"]
LENGTHS = [0, 1, 2, 7, 8, 9, 11, 12, 13, 20, 40, 63, 64, 65, 100, 127, 128, 129, 200]
NUMBERS = [b"12", b"-7.5e3", b"nan", b"-NaN", b"inf", b"-Infinity", b"1e400", b"-1e-400", b"0x1", b"+5", b"9223372036854775807", b"-9223372036854775808",
           b"9223372036854775808", b"00012", b".", b"1e", b"1e+", b".5", b"2.", b"-.5E-3", b"  12  ", b"12\r", b"4.9e-324", b"2.4703282292062327e-324",
           b"1.17549435e-38", b"3.4028235677973366e38", b"7.038531e-26", b"9007199254740993", b"1" * 400, b"0." + b"0" * 330 + b"17", b"1 2", b"--1", b"\v7\f",
           b"16777217", b"0.1", b"-0", b"1e9999999999999999999", b"0e9999999999999999999", b"infinit", b"1_0"]

# Operators' own functions: `got` in, `got` out, so that all can follow one another.
OPERATORS = """
map keyed(got g) -> (key text t, int64_t n) { return (g.t, g.n); }
map keyed_twice(got g) -> (key text t, key text u, int64_t n, int64_t least, int64_t most) { return (g.t, g.u, g.n, g.n, g.n); }
map keyed_mixed(got g) -> (key uint8_t b, key text u, int64_t n) { return ((uint8_t)g.n, g.u, 1); }
struct texts { text u; int64_t n; };
map keyed_texts(got g) -> (key text t, text u, int64_t n) { return (g.t, g.u, g.n); }
reduce add(int64_t a, int64_t b) { return a + b; }
struct sums { int64_t n, least, most; };
reduce join_sums(sums a, sums b) { return (sums){ .n = a.n + b.n, .least = min(a.least, b.least), .most = max(a.most, b.most) }; }
associative commutative reduce greatest(texts a, texts b) { if (a.u < b.u || (a.u == b.u && a.n < b.n)) return b; return a; }
struct counted { text t; uint64_t n; };
struct summed { text t; int64_t n; };
struct twice { text t, u; int64_t n, least, most; };
struct mixed { uint8_t b; text u; int64_t n; };
struct best { text t; text u; int64_t n; };
map of_counted(counted c) -> got { return (got){ .n = (int64_t)c.n, .t = c.t, .u = c.t[1:4] }; }
map of_summed(summed c) -> got { return (got){ .n = c.n, .t = c.t, .u = upper(c.t) }; }
map of_twice(twice c) -> got { return (got){ .n = c.n ^ c.least ^ (c.most << 1), .t = c.t, .u = c.u }; }
map of_mixed(mixed c) -> got { return (got){ .n = c.n * 256 + c.b, .t = c.u, .u = "m" }; }
map of_best(best c) -> got { return (got){ .n = c.n, .t = c.t, .u = c.u }; }
map part_of(got g) -> uint32_t { return (uint32_t)(hash(g.t) % 5); }
group longest(key text t, stream got v) -> got
{
    got best = (got){ .t = t };
    for (got e : v) {
        best.n += e.n;
        if (len(e.u) > len(best.u) || (len(e.u) == len(best.u) && e.u < best.u)) best.u = e.u;
    }
    return best;
}
group first_and_last(key text t, stream got v) -> got
{
    got found = (got){ .t = t };
    int64_t i = 0;
    for (got e : v) {
        if (i == 0) found.t = e.u;
        found.u = e.u;
        found.n = found.n * 3 + e.n;
        i++;
    }
    return found;
}
group spread(key text u, stream got v) -> got
{
    for (got e : v) {
        if (e.n % 3 == 0) continue;
        for (text w : tokens(e.t[0:20], WORD)) emit(e.n, w, u);
    }
}
group initials(key text t, stream got v) -> got
{
    uint8_t b[14];
    int64_t i = 0, n = 0;
    for (got e : v) {
        n += e.n;
        if (i < 14 && len(e.u) > 0) { b[i] = e.u[len(e.u) - 1]; i++; }
    }
    return (got){ .n = n, .t = text(b, i), .u = t };
}
struct place { int32_t a; uint8_t b; };
map keyed_place(got g) -> (key int32_t a, key uint8_t b, int64_t n) { return ((int32_t)g.n, (uint8_t)len(g.t), g.n); }
struct stretch { uint32_t k; int64_t n; };
map keyed_stretch(got g) -> stretch { return (stretch){ .k = (uint32_t)(len(g.t) % 50), .n = g.n }; }
join glued(got a, got b) -> got
{
    uint8_t c[20];
    text front = a.u[0:9], back = upper(b.t[0:11]);
    for (uint64_t i = 0; i < len(front); i++) c[i] = front[i];
    for (uint64_t i = 0; i < len(back); i++) c[len(front) + i] = back[i];
    return (got){ .n = a.n, .t = text(c, len(front) + len(back)), .u = b.u };
}
join pair(got a, optional got b) -> got { return (got){ .n = has(b) ? a.n + b.n : (int64_t)-1, .t = a.t, .u = has(b) ? b.u : "none" }; }
join both(got a, got b) -> got { return (got){ .n = a.n ^ b.n, .t = b.t, .u = a.u }; }
flat_map looked_up(got g, lookup int64_t sum[text]) -> got { if (has(sum, g.u)) emit(sum[g.u], g.t, g.u); else emit((int64_t)len(sum), g.u, g.t); }
"""


def c_rest(a, b):
    """a % b as C has it."""
    return a - b * int(abs(a) // b) * (1 if a >= 0 else -1)


class Plan:
    """A program: `kernel`, `script` (commands of run_plans.c, without the context's), and `answer`: ("rows", rows, in order) or ("error", record, word); of
    records that are left out there are `skipped`."""

    def __init__(self, seed, folder, small=False):
        """small: functions of few statements, for forms of kernels whose compilation takes long. Those of odd seeds are in any case."""
        self.small = small or seed % 2 == 1
        self.dice, self.seed, self.folder = random.Random(seed * 2 + 1), seed, folder
        self.kernel, self.script, self.names = PRELUDE, [], 0
        self.skipped, self.error = 0, None
        self.parted = False             # by a text: other keys' records lie in several parts, which reductions by key refuse
        self.skip = self.dice.random() < 0.5
        records = self.source()
        self.rows, self.ordered = self.first(records), True
        for _ in range(self.dice.choice([0, 1, 1, 2, 2, 3])):
            self.operator()
        self.kernel += OPERATORS
        self.script.append(f"show {self.name} n t u")

    def add(self, command, *arguments):
        self.names += 1
        self.script.append(f"{command} d{self.names} {' '.join(map(str, arguments))}")
        self.name = f"d{self.names}"

    # --- Sources ---

    def bytes_of(self, alphabet):
        dice = self.dice
        if dice.random() < 0.3:
            return b" ".join(dice.choice(NUMBERS) for _ in range(dice.choice([1, 1, 2, 5])))
        length = dice.choice(LENGTHS) if dice.random() < 0.9 else dice.randrange(300)
        return bytes(dice.choices(alphabet, k=length))

    def texts(self):
        dice = self.dice
        alphabet = dice.choice(ALPHABETS)
        texts = [self.bytes_of(alphabet) for _ in range(dice.choice([0, 1, 5, 60, 130, 300]))]
        if texts and dice.random() < 0.2:
            texts[dice.randrange(len(texts))] = bytes(dice.choices(alphabet, k=dice.choice([1000, 2047, 4096, 4097])))
        if dice.random() < 0.4:         # many equal ones
            texts = [dice.choice(texts[:7]) for _ in texts]
        return texts

    def source(self):
        way = self.dice.randrange(4)
        if way == 0:
            return self.rows_source()
        texts = self.texts()
        ending = b"\n" if self.dice.random() < 0.7 or not texts or not texts[-1] else b""
        path = f"{self.folder}/{self.seed}.txt"
        data = b"\n".join(texts) + (ending if texts else b"")
        with open(path, "wb") as file:
            file.write(data)
        if way == 1:
            self.kernel += "struct line { text text; uint32_t source; uint64_t offset, line; };\n"
            self.add("lines", path, "line")
            self.input = dict(parameter="line l", texts=(("l.text", "l[0]"),), numbers=(("(int64_t)l.offset", "l[1]"), ("(int64_t)l.line", "l[2]")))
            starts = [sum(len(t) + 1 for t in texts[:i]) for i in range(len(texts))]
            return [(t, starts[i], i + 1) for i, t in enumerate(texts)]
        self.add("lines", path, "text")
        self.input = dict(parameter="text line")
        return texts

    def rows_source(self):
        """Separated text in which every text stands in quotes."""
        self.kernel += "struct row { text a; int64_t m; text b; double d; };\n"
        texts = self.texts()
        rows = [(t, self.dice.choice([0, -1, 7, 2 ** 40, i]), self.dice.choice(texts)[:40], self.dice.choice([0.5, -2.0, 1e300])) for i, t in enumerate(texts)]
        path = f"{self.folder}/{self.seed}.csv"
        quoted = lambda t: b'"' + t.replace(b'"', b'""') + b'"'
        with open(path, "wb") as file:
            file.write(b"a,m,b,d\n" + b"".join(b"%s,%d,%s,%r\n" % (quoted(a), m, quoted(b), d) for a, m, b, d in rows))
        self.add("csv", path, "row")
        self.input = dict(parameter="row r", texts=(("r.a", "r[0]"), ("r.b", "r[2]")), numbers=(("r.m", "r[1]"), ("(int64_t)r.d", "saturated(r[3])")))
        return rows

    # --- Functions ---

    def function(self, name, kind, bound=False, **arguments):
        # Small ones for those that run in the GPU form, whose kernels a CPU's compiler takes many times as long for.
        function = Function(self.seed * 8 + self.names, name, kind, small=self.small, **arguments)
        self.kernel += function.kernel_text()
        self.add(kind, self.name, "bound" if bound else name)
        return function.compiled()

    def first(self, records):
        run, rows = self.function("run", self.dice.choice(["flat_map", "flat_map", "map"]), **self.input), []
        for i, record in enumerate(records):
            try:
                rows += run(record)
            except Fail as fail:
                self.skipped += 1
                if self.error is None:
                    self.error = (i, str(fail))
        return rows

    def again(self, kind):
        name, before = f"then{self.names}", self.name
        tables = self.tables() if self.dice.random() < 0.7 else []
        if tables:
            self.script += [f"spec {name}"] + [bind for _, _, bind, _ in tables]
        self.name = before
        run = self.function(name, kind, bound=bool(tables), parameter=", ".join(["got g"] + [parameter for _, parameter, _, _ in tables]),
                            texts=(("g.t", "g[1]"), ("g.u", "g[2]")), numbers=(("g.n", "g[0]"),), helpers=False, fails=False,
                            lookups={table: rows for table, _, _, rows in tables})
        self.rows = [made for row in self.rows for made in run(row)]

    def tables(self):
        """Made of the records here: (name, parameter, binding, rows)."""
        before, made, dice = self.name, [], self.dice
        if dice.random() < 0.5:
            self.add("map", before, "keyed")
            self.add("reduce_by_key", self.name, "add")
            made.append(("sum_", "lookup int64_t sum_[text]", f"bind sum_ {self.name} {dice.choice(['t', '-'])}", self.sums(lambda r: r[1])))
        if dice.random() < 0.5 and not self.parted:
            self.add("map", before, "keyed_place")
            self.add("reduce_by_key", self.name, "add")
            rows = self.sums(lambda r: (i32(r[0]), len(r[1]) & 255))
            made.append(("place_", "lookup int64_t place_[place]", f"bind place_ {self.name} {dice.choice(['a,b', '-'])}", rows))
        if dice.random() < 0.5:
            self.add("map", before, "keyed_stretch")
            self.add("arrange", self.name, "k")
            rows = {}
            for r in self.rows:
                rows.setdefault(len(r[1]) % 50, []).append(r[0])
            made.append(("rows_", "lookup int64_t rows_[uint32_t][]", f"bind rows_ {self.name} {dice.choice(['k', '-'])}", rows))
        return made

    def sums(self, key):
        sums = {}
        for r in self.rows:
            sums[key(r)] = i64(sums.get(key(r), 0) + r[0])
        return sums

    # --- Operators ---

    def operator(self):
        ways = ["filter", "filter", "flat_map", "flat_map", "flat_map", "map", "map",
                "sort", "distinct", "count", "sums", "twice", "mixed", "best", "longest", "spread", "join", "both", "glued",
                "semi", "union", "cache", "lookup", "partition"]
        if self.ordered:
            ways += ["top", "first_and_last", "initials", "slice", "least", "stable"]
        way = self.dice.choice(ways)
        if len(self.rows) > 20000 and way in ("flat_map", "join", "both", "glued", "union", "spread"):
            way = "filter"
        getattr(self, "do_" + way)()

    def do_filter(self): self.again("filter")
    def do_flat_map(self): self.again("flat_map")
    def do_map(self): self.again("map")

    def do_sort(self):
        down = [self.dice.random() < 0.5 for _ in range(3)]
        order = [(field, at, desc) for (field, at), desc in zip(self.dice.sample([("n", 0), ("t", 1), ("u", 2)], 3), down)]
        self.sort_by(order)

    def do_stable(self):
        self.sort_by([self.dice.choice([("t", 1, False), ("u", 2, True), ("n", 0, True)])])

    def sort_by(self, order):
        """By keys that tell all records apart, or of records in a known order."""
        if len(order) == 1 or self.dice.random() < 0.5:
            self.script.append(f"cache c{self.names} {self.name}")
            self.name = f"c{self.names}"
        for _, at, desc in reversed(order):
            self.rows.sort(key=lambda r: r[at], reverse=desc)
        self.add("sort", self.name, ",".join(field + ("_desc" if desc else "") for field, _, desc in order))
        self.ordered = True

    def do_top(self):
        count, (field, at) = self.dice.choice([0, 1, 5, 100]), self.dice.choice([("n", 0), ("t", 1), ("u", 2)])
        self.add("top", self.name, count, field)
        self.rows = sorted(self.rows, key=lambda r: r[at], reverse=True)[:count]

    def do_least(self):
        if self.rows:
            field, at, way = *self.dice.choice([("n", 0), ("t", 1), ("u", 2)]), self.dice.choice([min, max])
            self.add(way.__name__ + "_by", self.name, field)
            best = way(r[at] for r in self.rows)
            self.rows = [next(r for r in self.rows if r[at] == best)]

    def do_slice(self):
        first, count = self.dice.choice([0, 1, 60, 64, 65]), self.dice.choice([0, 1, 64, 1000000])
        self.add("slice", self.name, first, count)
        self.rows = self.rows[first:first + count]
        if self.error and not self.skip:        # what lies behind the slice is not computed
            self.error = (None, "")

    def do_cache(self): self.add("cache", self.name)

    def do_union(self):
        self.add("union", self.name, self.name)
        self.rows = self.rows + self.rows

    def do_distinct(self):
        self.add("distinct", self.name)
        self.rows, self.ordered = list(set(self.rows)), False

    def do_partition(self):
        self.add("partition", self.name, "part_of", 5)
        self.rows.sort(key=lambda r: text_values.hash_of(r[1]) % 5)
        self.parted = True

    def by_key(self, key, value, combine, front, reduce, back, make):
        found = {}
        for row in self.rows:
            k, v = key(row), value(row)
            found[k] = combine(found[k], v) if k in found else v
        self.add("map", self.name, front)
        if reduce == "count":
            self.add("count_by_key", self.name, "counted")
        else:
            containers = [""] + [str(c) for c in (2, 3, 4)] if reduce != "greatest" else [""]
            self.add("reduce_by_key", self.name, reduce, self.dice.choice(containers))
        self.add("map", self.name, back)
        self.rows, self.ordered = [make(k, v) for k, v in found.items()], False

    def do_count(self):
        self.by_key(lambda r: r[1], lambda r: 1, lambda a, b: a + b, "keyed", "count", "of_counted", lambda k, v: (v, k, k[1:4]))

    def do_sums(self):
        self.by_key(lambda r: r[1], lambda r: r[0], lambda a, b: i64(a + b), "keyed", "add", "of_summed", lambda k, v: (v, k, k.upper()))

    def do_twice(self):
        self.by_key(lambda r: r[1:], lambda r: (r[0], r[0], r[0]), lambda a, b: (i64(a[0] + b[0]), min(a[1], b[1]), max(a[2], b[2])), "keyed_twice",
                    "join_sums", "of_twice", lambda k, v: (v[0] ^ v[1] ^ i64(v[2] << 1), *k))

    def do_mixed(self):
        self.by_key(lambda r: (r[0] & 255, r[2]), lambda r: 1, lambda a, b: a + b, "keyed_mixed", "add", "of_mixed",
                    lambda k, v: (v * 256 + k[0], k[1], b"m"))

    def do_best(self):
        self.by_key(lambda r: r[1], lambda r: (r[2], r[0]), max, "keyed_texts", "greatest", "of_best", lambda k, v: (v[1], k, v[0]))

    def groups(self, at):
        found = {}
        for row in self.rows:
            found.setdefault(row[at], []).append(row)
        return found

    def do_longest(self):
        self.add("group", self.name, self.dice.choice(["t", "-"]), "longest")
        least = lambda rows: min([b""] + [r[2] for r in rows], key=lambda u: (-len(u), u))
        self.rows, self.ordered = [(i64(sum(r[0] for r in rows)), t, least(rows)) for t, rows in self.groups(1).items()], False

    def do_first_and_last(self):
        self.add("group", self.name, "t", "first_and_last")
        made = []
        for rows in self.groups(1).values():
            n = 0
            for r in rows:
                n = i64(n * 3 + r[0])
            made.append((n, rows[0][2], rows[-1][2]))
        self.rows, self.ordered = made, False

    def do_initials(self):
        self.add("group", self.name, "t", "initials")
        last = lambda rows: bytes([r[2][-1] for r in rows if r[2]][:14])
        self.rows, self.ordered = [(i64(sum(r[0] for r in rows)), last(rows), t) for t, rows in self.groups(1).items()], False

    def do_spread(self):
        self.add("group", self.name, "u", "spread")
        self.rows = [(r[0], w, u) for u, rows in self.groups(2).items() for r in rows if c_rest(r[0], 3) for w in text_values.words(r[1][:20])]
        self.ordered = False

    def joined(self):
        """The other side: the same records, one of each `t` and `u`, so that pairs are not too many."""
        before = self.name
        self.add("distinct", before)
        other = self.name
        self.name = before
        return other, list(set(self.rows))

    def do_join(self):
        other, rows = self.joined()
        groups = {}
        for r in rows:
            groups.setdefault(r[1], []).append(r)
        if sum(len(groups.get(r[2], [])) for r in self.rows) > 100000:
            return
        self.add("join", self.name, "u", other, "t", "pair")
        self.rows = [made for a in self.rows for made in ([(i64(a[0] + b[0]), a[1], b[2]) for b in groups.get(a[2], [])] or [(-1, a[1], b"none")])]
        self.ordered = False

    def do_both(self):
        other, rows = self.joined()
        groups = {}
        for r in rows:
            groups.setdefault((r[2], r[0]), []).append(r)
        self.add("join", self.name, "t,n", other, "u,n", "both")
        self.rows, self.ordered = [(a[0] ^ b[0], b[1], a[2]) for a in self.rows for b in groups.get((a[1], a[0]), [])], False

    def do_glued(self):
        """Texts that a join function makes; pairs of equal numbers and texts, so that they are not too many."""
        other, rows = self.joined()
        groups = {}
        for r in rows:
            groups.setdefault((r[0], r[1]), []).append(r)
        self.add("join", self.name, "n,u", other, "n,t", "glued")
        self.rows = [(a[0], a[2][:9] + b[1][:11].upper(), b[2]) for a in self.rows for b in groups.get((a[0], a[2]), [])]
        self.ordered = False

    def do_semi(self):
        other, rows = self.joined()
        keys, kind = {r[2] for r in rows}, self.dice.choice(["semi_join", "anti_join"])
        self.add(kind, self.name, "t", other, "u")
        self.rows, self.ordered = [r for r in self.rows if (r[1] in keys) == (kind == "semi_join")], False

    def do_lookup(self):
        sums, before = self.sums(lambda r: r[1]), self.name
        self.add("map", before, "keyed")
        self.add("reduce_by_key", self.name, "add")
        self.script += ["spec looked_up", f"bind sum {self.name} {self.dice.choice(['t', '-'])}"]
        self.name = before
        self.add("flat_map", self.name, "bound")
        self.rows = [(sums[u], t, u) if u in sums else (len(sums), u, t) for _, t, u in self.rows]

    # --- What must come out ---

    def answer(self):
        if self.error and not self.skip:
            return ("error", *self.error)
        return ("rows", self.rows, self.ordered)
