# SPDX-License-Identifier: Apache-2.0
"""The functions that again.py calls on records of a random type: their kernel text, and what they and the orders of operators come to, in Python."""
from fractions import Fraction
import struct

from again_records import FLOATS, INFINITE, INTEGERS, QUIET, SIZE, Record, float_of, is_nan
from text_values import hash_of

WORD = 2 ** 64 - 1


class Fail(Exception):
    """A record fails in a function."""


def wrapped(value, kind):
    bits = 8 * SIZE[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "i" and value >> (bits - 1) else value


# --- Laws of accumulations ---

def rounded(total, kind):
    """A Fraction to the bits of the nearest float, ties to even; +0 for zero."""
    if total == 0:
        return 0
    digits, least, most = (24, -149, 128) if kind == "float" else (53, -1074, 1024)
    size = abs(total)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent = max(exponent - digits - 1, least)
    while size / Fraction(2) ** exponent >= 2 ** digits:
        exponent += 1
    scaled = size / Fraction(2) ** exponent
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)
    if whole == 2 ** digits:
        whole, exponent = whole // 2, exponent + 1
    sign = (total < 0) << (8 * SIZE[kind] - 1)
    if whole.bit_length() + exponent > most:
        return INFINITE[kind] | sign
    biased = exponent - least + 1 if whole >> (digits - 1) else 0
    return (biased << (digits - 1) | whole & ((1 << digits - 1) - 1)) | sign


def exact_sum(kind, values):
    plus = minus = nan = False
    counts = {}
    for v in values:
        counts[v] = counts.get(v, 0) + 1
    total = Fraction(0)
    for v, times in counts.items():
        if is_nan(v, kind):
            nan = True
        elif v & (2 ** (8 * SIZE[kind] - 1) - 1) == INFINITE[kind]:
            plus, minus = plus or not v >> (8 * SIZE[kind] - 1), minus or bool(v >> (8 * SIZE[kind] - 1))
        else:
            total += Fraction(float_of(v, kind)) * times
    if nan or (plus and minus):
        return QUIET[kind]
    return INFINITE[kind] if plus else INFINITE[kind] | 1 << (8 * SIZE[kind] - 1) if minus else rounded(total, kind)


def order_of(bits, kind):
    """A number that goes as floats do: -NaN, -inf ... -0, +0 ... inf, NaN."""
    top = 1 << (8 * SIZE[kind] - 1)
    return bits ^ (2 * top - 1) if bits & top else bits | top


def extreme(kind, values, pick):
    if kind not in FLOATS:
        return pick(values)
    return QUIET[kind] if any(is_nan(v, kind) for v in values) else pick(values, key=lambda v: order_of(v, kind))


def smallest(kind):
    return INFINITE[kind] | 1 << (8 * SIZE[kind] - 1) if kind in FLOATS else 0 if kind[0] in "ub" else -(1 << (8 * SIZE[kind] - 1))


def largest(kind):
    return INFINITE[kind] if kind in FLOATS else 1 if kind == "bool" else (1 << (8 * SIZE[kind] - (kind[0] == "i"))) - 1


class Law:
    """sum, min, max, or, and, xor: what it makes of the values of one leaf, none of them too."""
    TEXT = {"sum": ("{a} + {b}", "{a} += {b};"), "min": ("min({a}, {b})", "acc_min({a}, {b});"), "max": ("max({a}, {b})", "acc_max({a}, {b});"),
            "or": ("{a} | {b}", "{a} |= {b};"), "and": ("{a} & {b}", "{a} &= {b};"), "xor": ("{a} ^ {b}", "{a} ^= {b};")}

    @staticmethod
    def of(name, kind, values):
        if name == "sum":
            return exact_sum(kind, values) if kind in FLOATS else wrapped(sum(values), kind)
        if name in ("min", "max"):
            if not values:
                return largest(kind) if name == "min" else smallest(kind)
            return extreme(kind, values, min if name == "min" else max)
        result = wrapped(-1, kind) if name == "and" and kind != "bool" else int(name == "and")
        for v in values:
            result = result | v if name == "or" else result & v if name == "and" else result ^ v
        return result

    @staticmethod
    def choices(kind):
        return ["sum", "sum", "min", "max"] if kind in FLOATS else ["min", "max", "or", "and"] if kind == "bool" else ["sum", "min", "max", "or", "and", "xor"]


# --- Keys ---

def mix(h):
    h = ((h ^ h >> 30) * 0xbf58476d1ce4e5b9) & WORD
    h = ((h ^ h >> 27) * 0x94d049bb133111eb) & WORD
    return h ^ h >> 31


def mix_32(h):
    h = ((h ^ h >> 16) * 0x7feb352d) & 0xffffffff
    h = ((h ^ h >> 15) * 0x846ca68b) & 0xffffffff
    return h ^ h >> 16


class Key:
    """Fields of a record that are a key: `text` names them for operators, `kind` is the key's type in kernels, `made` the expression that makes it of r."""

    def __init__(self, number, record, fields):
        self.record, self.fields = record, fields
        self.text = ",~".join(fields)
        self.leaves = [i for f in fields for i in record.keys[f][2]]
        self.own = Record(f"key{number}", [(f"k{i}", *record.keys[f][:2]) for i, f in enumerate(fields)])
        self.alone = len(fields) == 1 and not record.keys[fields[0]][1]
        self.kind = record.keys[fields[0]][0] if self.alone else self.own.name
        self.has_text = any(record.leaves[i].kind == "text" for i in self.leaves)
        self.number = number

    def declaration(self):
        return "" if self.alone else self.own.declaration()

    def made(self):
        """Statements that make `k` of `r`."""
        if self.alone:
            return f"{self.kind} k = r.{self.fields[0]}; "
        parts = "".join(f"k.{mine.path} = r.{self.record.leaves[i].path}; " for mine, i in zip(self.own.leaves, self.leaves))
        return f"{self.own.name} k; {parts}"

    def of(self, row):
        return tuple(row[i] for i in self.leaves)

    def order(self, key):
        """That of results by key; of keys with texts nobody is told."""
        words = self.own.packing.pack(*key)
        words += bytes(-len(words) % 8)
        words = struct.unpack(f"<{len(words) // 8}Q", words)
        if self.own.size <= 4:
            return mix_32(words[0]), words
        h = 0
        if self.own.size <= 8:
            return mix(words[0]) >> 32, words
        for w in words:
            h = mix(((h ^ w) + 0x9e3779b97f4a7c15) & WORD)
        return h >> 32, words

    def grouped(self, rows):
        """[(key, rows in their order)], in the order of results; of texts in any."""
        groups = {}
        for row in rows:
            groups.setdefault(self.of(row), []).append(row)
        return list(groups.items()) if self.has_text else sorted(groups.items(), key=lambda g: self.order(g[0]))


# --- The module of a record ---

DIGEST = Record("digest", [("chain", "uint64_t", ()), ("first", "uint32_t", ()), ("last", "uint32_t", ()), ("count", "uint32_t", ())])
PAIR = Record("pair", [("l", "uint32_t", ()), ("r", "uint32_t", ())])
PAIR_TEXT = Record("pair_text", [("l", "uint32_t", ()), ("t", "text", ()), ("r", "uint32_t", ())])
FRONT = Record("front", [("at", "uint32_t", ()), ("far", "uint32_t", ())])
COUNTED = Record("counted", [("word", "text", ()), ("n", "uint64_t", ())])


class Module:
    """A random record (again_records.py) and all that can be done with it. What a function does with a row is a method of the same name."""

    def __init__(self, dice, record, nested, number):
        self.record, self.number = record, number
        self.id = record.place(number)
        self.keys = self.random_keys(dice)
        self.values = self.random_values(dice)
        self.pair = PAIR_TEXT if record.texts else PAIR
        self.changes = self.random_changes(dice)
        self.zipped = Record("zipped", [("at", "uint64_t", ())] + [(f"f{i}", k, d) for i, (_, k, d) in enumerate(record.fields)])
        self.window = Record("window", [("count", "uint32_t", ()), ("at", "uint32_t", ()), ("row", record, (3,))])
        self.moved = Record("moved", [("at", "uint32_t", ())] + record.fields) if "at" not in record.field_leaves else None
        self.looked = [i for i, leaf in enumerate(record.leaves) if leaf.kind in INTEGERS or leaf.kind in ("bool", "text")]
        self.text = "".join(r.declaration() for r in [*nested, record, DIGEST, PAIR, PAIR_TEXT, FRONT, COUNTED, self.zipped, self.window])
        self.text += self.plain() + self.loops() + "".join(map(self.by_key, self.keys))

    def random_keys(self, dice):
        fields, keys = list(self.record.keys), []
        for i in range(4):
            count = min(len(fields), dice.choice([1, 1, 2, 3]))
            keys.append(Key(i, self.record, dice.sample([f for f in fields if f != self.number or dice.random() < 0.3] or fields, 1)
                            if count == 1 else dice.sample(fields, count)))
        return keys

    def random_values(self, dice):
        """(leaf, law): what reductions make, behind the number of records."""
        numbers = [i for i, leaf in enumerate(self.record.leaves) if leaf.kind != "text"]
        return [(i, dice.choice(Law.choices(self.record.leaves[i].kind))) for i in dice.sample(numbers, min(len(numbers), dice.randrange(1, 6)))]

    def random_changes(self, dice):
        """(leaf, what becomes of it)."""
        changes = []
        for i, leaf in enumerate(self.record.leaves):
            if i != self.id and dice.random() < 0.6:
                changes.append((i, "times" if leaf.kind in INTEGERS else "not" if leaf.kind == "bool" else dice.choice(["cut", "upper"]) if leaf.kind == "text"
                                else dice.choice(["minus", "size", "same"])))
        return changes

    # Text.

    def plain(self):
        T, n = self.record.name, self.number
        told = {"times": "q.{p} = r.{p} * 3 + 1;", "not": "q.{p} = !r.{p};", "cut": "q.{p} = r.{p}[1:14];", "upper": "q.{p} = upper(r.{p});",
                "minus": "q.{p} = -r.{p};", "size": "q.{p} = fabs(r.{p});", "same": "q.{p} = r.{p};"}
        changed = " ".join(told[how].format(p=self.record.leaves[i].path) for i, how in self.changes)
        text = f"""map same({T} r) -> {T} {{ return r; }}
map changed({T} r) -> {T} {{ {T} q = r; {changed} return q; }}
filter most_of({T} r) {{ return r.{n} % 8u != 3u; }}
filter none_of({T} r) {{ return r.{n} > 4294967290u; }}
flat_map spread({T} r) -> {T} {{ if (r.{n} % 3u == 1u) return; emit(r); if (r.{n} % 5u == 0u) emit(r); }}
map part_of({T} r) -> uint32_t {{ return r.{n} % 7u; }}
associative reduce affine({T} a, {T} b) identity {{ .{n} = 0u }} {{ {T} q = b; q.{n} = a.{n} + b.{n}; return q; }}
associative reduce affine_({T} a, {T} b) {{ {T} q = b; q.{n} = a.{n} + b.{n}; return q; }}
"""
        shown = self.record.leaves[self.record.texts[0]].path if self.record.texts else None
        for name, first, second in [("inner", "", ""), ("left", "", "optional "), ("right", "optional ", ""), ("full", "optional ", "optional ")]:
            l, r = f"has(a) ? a.{n} : 4294967295u" if first else f"a.{n}", f"has(b) ? b.{n} : 4294967295u" if second else f"b.{n}"
            t = "" if not shown else f", .t = has(a) ? a.{shown} : b.{shown}" if first else f", .t = a.{shown}"
            text += f"join {name}({first}{T} a, {second}{T} b) -> {self.pair.name} {{ return ({self.pair.name}){{ .l = {l}, .r = {r}{t} }}; }}\n"
        laws = [("n", "uint64_t", "sum", "1ul")] + [(f"v{j}", self.record.leaves[i].kind, law, f"r.{self.record.leaves[i].path}")
                                                    for j, (i, law) in enumerate(self.values)]
        members = [(name, kind, ()) for name, kind, _, _ in laws]
        self.totals = Record("totals", members)
        self.dense = Record("dense", [("key", "uint32_t", ())] + members)
        text += self.totals.declaration() + self.dense.declaration()
        text += "reduce joined(totals a, totals b) { return (totals){ " + ", ".join(
            f".{name} = " + Law.TEXT[law][0].format(a=f"a.{name}", b=f"b.{name}") for name, _, law, _ in laws) + " }; }\n"
        made = ", ".join(f".{name} = {value}" for name, _, _, value in laws)
        text += f"map totalled({T} r) -> totals {{ return (totals){{ {made} }}; }}\n"
        text += f"map dense_of({T} r, broadcast uint32_t count) -> dense {{ return (dense){{ .key = r.{n} % count, {made} }}; }}\n"
        added = " ".join(Law.TEXT[law][1].format(a=f"t[at].{name}", b=value) for name, _, law, value in laws)
        text += f"map gathered({T} r, accum totals t[]) {{ uint64_t at = r.{n} % len(t); {added} }}\n"
        text += f"map gathered_too({T} r, accum totals t[]) -> {T} {{ uint64_t at = r.{n} % len(t); {added} {T} q = r; q.{n} = r.{n} + 1u; return q; }}\n"
        for i in self.looked:
            leaf = self.record.leaves[i]
            text += f"struct seen{i} {{ {leaf.kind} key; uint64_t n; }};\n"
            text += f"map seeing{i}({T} r) -> seen{i} {{ return (seen{i}){{ .key = r.{leaf.path}, .n = 1ul }}; }}\n"
            text += (f"flat_map looked{i}({T} r, lookup uint64_t t[{leaf.kind}]) -> {T} {{ if (has(t, r.{leaf.path})) {{ if (t[r.{leaf.path}] % 2ul == 1ul) "
                     f"emit(r); }} else {{ {T} q = r; q.{n} = (uint32_t)len(t); emit(q); }} }}\n")
        text += "reduce more(uint64_t a, uint64_t b) { return a + b; }\n"
        return text

    def loops(self):
        T, n = self.record.name, self.number
        text = f"""map watched({T} r, broadcast uint32_t turn, accum uint32_t left, accum uint32_t turns) -> {T}
{{
    {T} q = r;
    q.{n} = r.{n} / 2u + turn % 2u;
    if (q.{n} > 3u) left += 1u;
    acc_max(turns, turn + 1u);
    return q;
}}
map settled({T} r, lookup {T} s[], broadcast uint32_t turn, accum uint32_t left, accum uint32_t turns) -> {T}
{{
    {T} q = s[r.{n} % len(s)];
    q.{n} = (q.{n} * 5u + r.{n} + turn) % 1000003u;
    if (q.{n} % 16u > turn) left += 1u;
    acc_max(turns, turn + 1u);
    return q;
}}
map begun({T} r) -> front {{ return (front){{ .at = r.{n} % 50u, .far = 0u }}; }}
flat_map reached(front t, lookup {T} s[]) -> front
{{
    for (uint32_t k = 0u; k < t.at % 4u; k++) {{
        uint32_t to = (uint32_t)((t.at * 7u + k * 5u + t.far) % len(s));
        if (s[to].{n} % 32u > t.far) emit(to, t.far + 1u);
    }}
}}
map keyed_front(front t) -> (key uint32_t at, uint32_t far) {{ return (t.at, t.far); }}
reduce nearer(uint32_t a, uint32_t b) {{ return min(a, b); }}
"""
        if self.moved and not self.record.texts:
            copies = " ".join(f"m.{leaf.path} = s[t.at].{leaf.path};" for leaf in self.record.leaves)
            text += self.moved.declaration()
            text += f"map moving(front t, lookup {T} s[]) -> moved {{ moved m; m.at = t.at; {copies} m.{n} = t.far * 3u; return m; }}\n"
        return text

    def by_key(self, key):
        T, n, i, K = self.record.name, self.number, key.number, key.kind
        hashed = " + ".join([f"(uint64_t)e.{n}"] + [f"hash(e.{self.record.leaves[t].path})" for t in self.record.texts[:2]])
        loop = lambda stream, more: (f"for ({T} e : {stream}) {{ if (g.count == 0u) g.first = e.{n}; g.last = e.{n}; "
                                     f"g.chain = g.chain * 31ul + {hashed}{more}; g.count++; }}")
        kv = f"kv{i}"
        text = key.declaration()
        text += f"group told{i}(key {K} k, stream {T} v) -> digest {{ digest g = (digest){{ .count = 0u }}; {loop('v', '')} return g; }}\n"
        text += f"group some{i}(key {K} k, stream {T} v) -> {T} {{ for ({T} e : v) if (e.{n} % 3u == 0u) emit(e); }}\n"
        text += (f"group both{i}(key {K} k, stream {T} v, stream {T} w) -> digest {{ digest g = (digest){{ .count = 0u }}; "
                 f"{loop('v', '')} {loop('w', ' + 7ul')} return g; }}\n")
        key.reduced = Record(kv, [("key", K if key.alone else key.own, ())] + self.totals.fields)
        key.counted = Record(f"kn{i}", [("key", K if key.alone else key.own, ()), ("n", "uint64_t", ())])
        text += key.reduced.declaration() + key.counted.declaration()
        assigned = "v.n = 1ul; " + " ".join(f"v.v{j} = r.{self.record.leaves[at].path};" for j, (at, _) in enumerate(self.values))
        text += f"map keyed{i}({T} r) -> {kv} {{ {kv} v; {key.made()}v.key = k; {assigned} return v; }}\n"
        return text

    # What they come to.

    def same(self, rows):
        return [self.record.canonical(r) for r in rows]

    def changed(self, rows):
        found = []
        for row in self.same(rows):
            q = list(row)
            for i, how in self.changes:
                kind, v = self.record.leaves[i].kind, row[i]
                if how == "times":
                    q[i] = wrapped(v * 3 + 1, kind)
                elif how == "not":
                    q[i] = 1 - v
                elif how == "cut":
                    q[i] = v[1:14]
                elif how == "upper":
                    q[i] = v.upper()
                elif how == "minus" and not is_nan(v, kind):
                    q[i] = v ^ 1 << (8 * SIZE[kind] - 1)
                elif how == "size" and not is_nan(v, kind):
                    q[i] = v & (1 << (8 * SIZE[kind] - 1)) - 1
            found.append(tuple(q))
        return found

    def most_of(self, rows):
        return [r for r in rows if r[self.id] % 8 != 3]

    def none_of(self, rows):
        return [r for r in rows if r[self.id] > 4294967290]

    def spread(self, rows):
        return [r for r in self.same(rows) if r[self.id] % 3 != 1 for _ in range(1 + (r[self.id] % 5 == 0))]

    def with_id(self, row, value):
        return row[:self.id] + (value & 0xffffffff,) + row[self.id + 1:]

    def total(self, rows):
        rows = self.same(rows)
        return (len(rows), *(Law.of(law, self.record.leaves[i].kind, [r[i] for r in rows]) for i, law in self.values))

    def table(self, rows, count):
        parts = [[] for _ in range(count)]
        for r in rows:
            parts[r[self.id] % count].append(r)
        return [self.total(p) for p in parts]

    def digest(self, left, right=()):
        chain, ids = 0, []
        for rows, more in ((left, 0), (right, 7)):
            for r in rows:
                chain = (chain * 31 + r[self.id] + sum(hash_of(r[t]) for t in self.record.texts[:2]) + more) & WORD
                ids.append(r[self.id])
        return chain, ids[0], ids[-1], len(ids)

    def paired(self, a, b):
        l, r = (a[self.id] if a else 0xffffffff), (b[self.id] if b else 0xffffffff)
        return (l, (a or b)[self.record.texts[0]], r) if self.record.texts else (l, r)

    def watched(self, rows, turn):
        found = [self.with_id(r, r[self.id] // 2 + turn % 2) for r in self.same(rows)]
        return found, sum(r[self.id] > 3 for r in found), turn + 1 if found else 0

    def settled(self, rows, state, turn):
        state = self.same(state)
        found = []
        for r in rows:
            q = state[r[self.id] % len(state)]
            found.append(self.with_id(q, (q[self.id] * 5 + r[self.id] + turn & 0xffffffff) % 1000003))
        return found, sum(r[self.id] % 16 > turn for r in found), turn + 1 if found else 0

    def begun(self, rows):
        return [(r[self.id] % 50, 0) for r in rows]

    def reached(self, front, state):
        found = []
        for at, far in front:
            for k in range(at % 4):
                if not state:
                    raise Fail
                to = (at * 7 + k * 5 + far & 0xffffffff) % len(state)
                if state[to][self.id] % 32 > far:
                    found.append((to, far + 1))
        return found

    def moving(self, front, state):
        found = []
        for at, far in front:
            if at >= len(state):
                raise Fail
            found.append((at, *self.record.canonical(self.with_id(state[at], far * 3))))
        return found
