# SPDX-License-Identifier: Apache-2.0
"""Pipelines of numbers for again.py: weights by quotients, sums of products that share them as factors, loops in one another over arrays, in one function that
gives records, sums and extremes at once; records that fail, and are left out where the context says so; texts beside the numbers and as keys; several results
that run at once. Their arithmetic is Python's: floats of 32 bits by way of doubles, sums by math.fsum."""
import ctypes
import math
import os
import struct

from again_functions import Key, Law
from again_plans import Node, Source
from again_records import Record, float_of, random_rows

RECORD = 11
SIZES = [0, 1, 2, 15, 16, 17, 63, 65, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 700, 1023, 1025, 1500]
EVERY = [3, 100, 255, 256, 1000, 1400]          # one record in so many fails


# --- Arithmetic of floats ---

def f32(x):
    return ctypes.c_float(x).value


def odd(s, rest):
    """The sum s + rest, of which s is the nearest double: what rounds to a float as the exact one does."""
    if rest and not struct.unpack("<q", struct.pack("<d", s))[0] & 1:
        return math.nextafter(s, math.inf if rest > 0 else -math.inf)
    return s


def fma(a, b, c):
    p = a * b                                   # exact: 48 bits
    s = p + c
    if not math.isfinite(s):
        return f32(s)
    t = s - p
    return f32(odd(s, (p - (s - t)) + (c - t)))


def quotient(a, b):
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return f32(a / b)


def least_of(a, b):
    if a != a or b != b:
        return math.nan
    return a if a < b or (a == b and math.copysign(1, a) < 0) else b


def bits(x, kind="float"):
    if x != x:
        return 0x7fc00000 if kind == "float" else 0x7ff8 << 48
    return struct.unpack("<I" if kind == "float" else "<Q", struct.pack("<f" if kind == "float" else "<d", x))[0]


def total(values, kind="float"):
    """The bits of the exact sum, rounded once."""
    if not all(map(math.isfinite, values)):
        return bits(sum(v for v in values if not math.isfinite(v)), kind)
    s = math.fsum(values) + 0.0
    return bits(s if kind == "double" else f32(odd(s, math.fsum([*values, -s]))), kind)


# --- The module ---

class Numbers:
    """Stands where other cases have a Module, for their sources: `record`, `number`."""

    def __init__(self, dice):
        self.number = "id"
        self.D, self.K = dice.choice([1, 2, 3, 4, 5, 8, 9]), dice.choice([1, 2, 3, 4, 8, 9])
        self.A, self.B = dice.choice([1, 3, 4, 6]), dice.choice([2, 3, 8])
        self.table, self.share, self.norm = dice.random() < 0.4, dice.randrange(4), dice.randrange(2)
        self.fails, self.every, self.late = dice.choice([0, 1, 2]), dice.choice(EVERY), dice.random() < 0.5
        self.triangle = dice.random() < 0.5
        self.double, self.with_text = dice.random() < 0.3, dice.random() < 0.5
        fields = [("id", "uint32_t", ()), ("x", "float", (self.D,)), ("m", "float", (self.A, self.B)), ("k", "int32_t", ()), ("y", "float", ())]
        if self.with_text:
            fields += [("t", "text", ())]
        dice.shuffle(fields)
        self.record = Record("sample", fields)
        real = "double" if self.double else "float"
        D, K = self.D, self.K
        self.centres = Record("centres", [("c", "float", (K, D)), ("s", "float", (K,))])
        self.sums = Record("sums", [("x", real, (D,) if self.table else (K, D)), ("w", "float", () if self.table else (K,)), ("n", "uint64_t", ())])
        self.whole = Record("whole", [("cost", "double", ()), ("least", "float", ()), ("most", "float", ()), ("n", "uint32_t", ())])
        key = [("t", "text", ())] if self.with_text else []
        self.degrees = Record("degrees", [("id", "uint32_t", ()), ("u", "float", (K,)), ("h", "float", (self.A,)), *key])
        self.piece = Record("piece", [("id", "uint32_t", ()), ("j", "uint32_t", ()), ("q", "float", ())])
        kind = "text" if self.with_text else "int32_t"
        self.keyed = Record("keyed_weight", [("key", kind, ()), ("w", "float", ()), ("v", "double", ()), ("n", "uint64_t", ())])
        self.by_key = Key(0, self.keyed, ["key"])
        self.text = self.written()

    def failing(self, name):
        return f"s.id % {self.every}u == {self.every - 1}u ? {name}"

    def written(self):
        D, K, A, B = self.D, self.K, self.A, self.B
        share = ["a == least ? 1 : least / a", "least / a", "1 / (a + 0.5f)", "s.y / a"][self.share]
        check = ["float z = s.y;", f"float z = s.x[{self.failing(f'{D}u : 0u')}];", f"float z = (float)(7u / ({self.failing('0u : 3u')}));"][self.fails]
        cell, weight = ("t[j].x[i]", "t[j].w") if self.table else ("t.x[j][i]", "t.w[j]")
        count = "t[j].n += 1ul;" if self.table else "if (j == 0u) t.n += 1ul;"
        norm = "u[j] * part" if self.norm else "u[j] / all"
        nest = f"for (uint32_t i = {'a' if self.triangle else '0'}; i < {B}u; i++) h += s.m[a][i] * s.x[i % {D}u];"
        text = "".join(r.declaration() for r in (self.record, self.centres, self.sums, self.whole, self.degrees, self.piece, self.keyed))
        return text + f"""struct wn {{ float w; double v; uint64_t n; }};
float distance(sample s, centres b, uint32_t j)
{{
    float d = 0;
    for (uint32_t i = 0; i < {D}u; i++) {{ float e = s.x[i] - b.c[j][i]; d += e * e; }}
    return d;
}}
map weigh(sample s, broadcast centres b, accum sums t{'[]' if self.table else ''}, accum whole o) -> degrees
{{
    {'' if self.late else check}
    float d[{K}];
    float u[{K}];
    float least = INFINITY;
    for (uint32_t j = 0; j < {K}u; j++) {{ d[j] = distance(s, b, j); least = min(least, d[j]); }}
    {check if self.late else ''}
    float all = 0;
    for (uint32_t j = 0; j < {K}u; j++) {{ float a = d[j]; u[j] = {share}; all += u[j]; }}
    float part = 1 / all;
    float cost = z;
    for (uint32_t j = 0; j < {K}u; j++) {{
        float v = {norm};
        float w = v * v;
        for (uint32_t i = 0; i < {D}u; i++) {cell} += w * s.x[i];
        {weight} += w;
        {count}
        cost += w * d[j];
        u[j] = v;
    }}
    o.cost += cost;
    acc_min(o.least, least);
    acc_max(o.most, least);
    o.n += 1u;
    degrees g;
    g.id = s.id;
    for (uint32_t j = 0; j < {K}u; j++) g.u[j] = u[j];
    for (uint32_t a = 0; a < {A}u; a++) {{
        float h = 0;
        {nest}
        g.h[a] = h / (1 + abs(h));
    }}
    {'g.t = s.t;' if self.with_text else ''}
    return g;
}}
map shaky(sample s) -> sample {{ sample q = s; {check} q.y = z; return q; }}
filter small(sample s) {{ return s.k % 4 != 1; }}
flat_map pieces(sample s, broadcast centres b) -> piece
{{
    for (uint32_t j = 0; j < {K}u; j++) {{
        float q = (s.x[j % {D}u] - b.c[j][0]) / b.s[j];
        if (q > 0.5f) emit(s.id, j, q);
    }}
}}
map keyed(sample s) -> keyed_weight {{ return (keyed_weight){{ .key = s.{'t' if self.with_text else 'k'}, .w = s.y / 3, .v = s.x[0], .n = 1ul }}; }}
reduce joined(wn a, wn b) {{ return (wn){{ .w = a.w + b.w, .v = a.v + b.v, .n = a.n + b.n }}; }}
"""

    # What they come to.

    def rows_of(self, row):
        """The record's numbers as floats."""
        at = self.record.field_leaves
        x = [float_of(row[i], "float") for i in at["x"]]
        m = [float_of(row[i], "float") for i in at["m"]]
        return x, m, float_of(row[at["y"][0]], "float")

    def is_failing(self, row):
        return self.fails and row[self.record.place("id")] % self.every == self.every - 1

    def z(self, x, y):
        return [y, x[0], 2.0][self.fails]

    def shaky(self, rows):
        found, at = [], self.record.place("y")
        for row in map(self.record.canonical, rows):
            if not self.is_failing(row):
                x, _, y = self.rows_of(row)
                found.append(row[:at] + (bits(self.z(x, y)),) + row[at + 1:])
        return found

    def small(self, rows):
        k = self.record.place("k")
        return [r for r in rows if math.fmod(r[k], 4) != 1]

    def shares(self, x, y, centres):
        D, K = self.D, self.K
        d, least = [], math.inf
        for j in range(K):
            a = 0.0
            for i in range(D):
                e = f32(x[i] - centres[j * D + i])
                a = fma(e, e, a)
            d.append(a)
            least = least_of(least, a)
        u, whole = [], 0.0
        for a in d:
            v = (1.0 if a == least else quotient(least, a)) if self.share == 0 else quotient(least, a) if self.share == 1 else \
                quotient(1.0, f32(a + 0.5)) if self.share == 2 else quotient(y, a)
            u.append(v)
            whole = f32(whole + v)
        part = quotient(1.0, whole)
        return d, least, [f32(v * part) if self.norm else quotient(v, whole) for v in u]

    def nested(self, x, m):
        found = []
        for a in range(self.A):
            h = 0.0
            for i in range(a if self.triangle else 0, self.B):
                h = fma(m[a * self.B + i], x[i % self.D], h)
            found.append(bits(quotient(h, f32(1 + abs(h)))))
        return found

    def weigh(self, rows, centres):
        """Records, rows of sums, numbers of all."""
        D, K = self.D, self.K
        out, sums, weights, costs, leasts = [], [[[] for _ in range(D)] for _ in range(K)], [[] for _ in range(K)], [], []
        for row in rows:
            if self.is_failing(row):
                continue
            x, m, y = self.rows_of(row)
            d, least, u = self.shares(x, y, centres)
            cost = self.z(x, y)
            for j in range(K):
                w = f32(u[j] * u[j])
                for i in range(D):
                    sums[j][i].append(f32(w * x[i]))
                weights[j].append(w)
                cost = fma(w, d[j], cost)
            costs.append(cost)
            leasts.append(bits(least))
            out.append((row[self.record.place("id")], *map(bits, u), *self.nested(x, m), *([row[self.record.place("t")]] if self.with_text else [])))
        real = "double" if self.double else "float"
        cells = [[total(c, real) for c in of] for of in sums]
        weights = [total(w) for w in weights]
        table = [(*c, w, len(out)) for c, w in zip(cells, weights)] if self.table else [(*(c for of in cells for c in of), *weights, len(out))]
        return out, table, [(total(costs, "double"), Law.of("min", "float", leasts), Law.of("max", "float", leasts), len(out))]

    def pieces(self, rows, centres):
        found = []
        for row in rows:
            x, _, _ = self.rows_of(row)
            for j in range(self.K):
                q = quotient(f32(x[j % self.D] - centres[j * self.D]), centres[self.K * self.D + j])
                if q > 0.5:
                    found.append((row[self.record.place("id")], j, bits(q)))
        return found

    def reduced(self, rows):
        at, groups = self.record.place("t" if self.with_text else "k"), {}
        for row in rows:
            x, _, y = self.rows_of(row)
            groups.setdefault((row[at],), []).append((quotient(y, 3.0), x[0]))
        order = list(groups) if self.with_text else sorted(groups, key=self.by_key.order)
        return [k + (total([w for w, _ in groups[k]]), total([v for _, v in groups[k]], "double"), len(groups[k])) for k in order]


# --- A case ---

class Result:
    """`tables`: (name or "-", record, what it holds), the first one of which a run tells."""

    def __init__(self, number, tables, may_fail, skipped=None):
        self.number, self.tables, self.may_fail, self.skipped = number, tables, may_fail, skipped


class Pipelines:
    def __init__(self, case):
        self.case, self.dice, self.module, self.skip, self.kept = case, case.dice, case.module, case.skips, {}
        self.version = 0

    def new_rows(self, count):
        rows = random_rows(self.dice, self.module.record, count, "id")
        if self.dice.random() < 0.6:            # numbers of which sums are not all NaN
            floats = [i for i, leaf in enumerate(self.module.record.leaves) if leaf.kind == "float"]
            scale, odd_ones = self.dice.choice([1, 1, 1e-3, 1e4]), self.dice.choice([0, 0, 0.002, 0.05])
            tame = lambda i, v: bits(f32(self.dice.gauss(0, scale))) if i in floats and self.dice.random() >= odd_ones else v
            rows = [tuple(tame(i, v) for i, v in enumerate(row)) for row in rows]
        return rows

    def source(self):
        kind = self.dice.choice(["memory", "memory", "value", "callback", "uncounted"] + ([] if self.module.with_text else ["raw"]))
        rows = self.new_rows(min(self.case.most, self.dice.choice(SIZES) if self.dice.random() < 0.95 else 3000))
        self.case.tell(f"numbers {self.module.D} {self.module.K}, {kind} {len(rows)}{' skip' if self.skip else ''};")
        return Source(self.case, kind, rows)

    def set_centres(self, value):
        K, D = self.module.K, self.module.D
        numbers = [f32(self.dice.choice([self.dice.gauss(0, 1), 0.0, self.dice.gauss(0, 100), -0.0])) for _ in range(K * D + K)]
        if self.dice.random() < 0.1:
            numbers[self.dice.randrange(len(numbers))] = self.dice.choice([math.nan, math.inf, 1e-40])
        path = f"{self.case.folder}/centres"
        with open(path, "wb") as file:
            file.write(self.module.centres.packed([tuple(map(bits, numbers))]))
        if self.case.ask("set", value, self.module.centres.size, path) == "set 0":
            self.centres = list(map(f32, numbers))
        elif not self.case.memory:
            self.case.wrong("centres have no room")

    def once(self, name, make):
        """What `make` gives of the data as they are now."""
        if self.kept.get(name, (None,))[0] != self.version:
            self.kept[name] = self.version, make()
        return self.kept[name][1]

    def do(self, command, node, *words):
        number = self.case.new("dataset")
        self.case.do(command, number, node, *words)
        return number

    def spec(self, function, table):
        spec = self.case.new("spec")
        self.case.do("spec", spec, function)
        self.case.do("bind_value", spec, "b", self.value)
        if table:
            self.case.do("bind_accum", spec, "t", self.module.K)
        return spec

    def result(self, node, tables, may_fail, skipped=None):
        number, (name, record, _) = self.case.new("result"), tables[0]
        self.case.do("result", number, node, record.size, name, *record.text_offsets)
        self.results.append(Result(number, tables, may_fail, skipped))

    def build(self):
        module, dice, self.results = self.module, self.dice, []
        self.origin = self.source()
        self.value = self.case.value("centres", None)
        self.case.do("value", self.value, "centres")
        self.set_centres(self.value)
        node, rows, shaken, self.filtered = self.origin.node.number, self.origin.node.rows, False, False
        if dice.random() < 0.4:
            node, before, shaken = self.do("map", node, "shaky"), rows, bool(module.fails)
            rows = lambda: module.shaky(before())
        if dice.random() < 0.4:
            node, all_rows, self.filtered = self.do("filter", node, "small"), rows, True
            rows = lambda: module.small(all_rows())
        self.case.tell("weigh, shaky" if shaken else "weigh")
        self.passing = self.origin.node.rows if shaken else rows
        left_out = lambda: sum(map(module.is_failing, self.passing()))
        if dice.random() < 0.25:
            node = self.do("cache", node)
            self.case.caches.append(node)
            left_out = None
        weighed = lambda: self.once("weigh", lambda: module.weigh(rows(), self.centres))
        made = self.do("spec_map", node, self.spec("weigh", module.table))
        self.result(made, [("-", module.degrees, lambda: weighed()[0]), ("t", module.sums, lambda: weighed()[1]), ("o", module.whole, lambda: weighed()[2])],
                    bool(module.fails), left_out)
        if dice.random() < 0.7:
            self.result(self.do("spec_flat_map", node, self.spec("pieces", False)),
                        [("-", module.piece, lambda: self.once("pieces", lambda: module.pieces(rows(), self.centres)))], shaken)
        if dice.random() < 0.7:
            self.result(self.do("reduce_by_key", self.do("map", node, "keyed"), "joined"),
                        [("-", module.keyed, lambda: self.once("keyed", lambda: module.reduced(rows())))], shaken)
        if dice.random() < 0.4:
            order = lambda: sorted(weighed()[0], key=lambda r: -r[0])
            self.result(self.do("sort", made, "id~desc"), [("-", module.degrees, order)], bool(module.fails))

    # Runs.

    def failing(self, result):
        """The first record that ends this result's run, or None."""
        rows = self.passing() if result.may_fail and not self.skip else []
        return next((i for i, r in enumerate(rows) if self.module.is_failing(r)), None)

    def look(self, result, answer, extra):
        """At what a run answers: its records, or why there are none."""
        first = self.failing(result)
        fails = None if first is None else RECORD
        self.case.note(extra, answer)
        if not answer.startswith("ok "):
            self.case.judge(answer, fails, extra)
            words = answer.split(" ", 4)
            if fails and words[1] == str(RECORD) and not self.filtered and words[3] != str(first):
                self.case.wrong(f"record {words[3]} is said to fail first, not {first}")
            return
        for name, record, rows in result.tables:
            if name != "-":
                answer = self.case.ask("also", result.number, name, record.size, f"{self.case.folder}/out")
                if not answer.startswith("ok "):
                    self.case.judge(answer, None, extra)
                    continue
            ordered = record is not self.module.keyed or not self.module.with_text
            self.case.compare(Node(0, record, rows, ordered), [] if fails else rows(), int(answer.split()[1]), fails, extra, result.number)
        skipped = int(answer.split()[3])
        if result.skipped and self.skip and skipped != result.skipped():
            self.case.wrong(f"{skipped} records are skipped, not {result.skipped()}")

    def run(self):
        dice, extra, way = self.dice, [], self.dice.random()
        if way < 0.1:
            extra = ["cancel", int(10 ** dice.uniform(1.5, 5))]
        elif way < 0.25:
            extra = [dice.choice(["fail", "fail", "late"]), int(10 ** dice.uniform(0, 3.5))]
        self.case.runs += 1
        if len(self.results) > 1 and dice.random() < 0.3:
            self.together()
            return
        result = dice.choice(self.results)
        self.look(result, self.case.ask("run", result.number, f"{self.case.folder}/out", *extra), extra)

    def together(self):
        """Some of the results, each in a job; one of these may be cancelled."""
        dice = self.dice
        chosen = dice.sample(self.results, dice.randrange(2, len(self.results) + 1))
        cancels = dice.randrange(len(chosen)) if dice.random() < 0.3 else -1
        paths = [f"{self.case.folder}/out{i}" for i in range(len(chosen))]
        words = [w for result, path in zip(chosen, paths) for w in (result.number, path)]
        answers = [self.case.ask("together", cancels, int(10 ** dice.uniform(1, 5)), *words)] + [self.case.driver.more() for _ in chosen[1:]]
        for i, (result, answer, path) in enumerate(zip(chosen, answers, paths)):
            os.replace(path, f"{self.case.folder}/out") if os.path.exists(path) else None
            self.look(result, answer, ["cancel"] if i == cancels else ["together"])

    def change(self):
        self.version += 1
        if self.dice.random() < 0.5:
            self.set_centres(self.value)
        elif self.origin.change():
            self.case.empty_caches()

    def go(self):
        self.build()
        for _ in range(self.dice.choice([2, 3, 4])):
            self.run()
            if self.case.errors:
                break
            if self.dice.random() < 0.6:
                self.change()
