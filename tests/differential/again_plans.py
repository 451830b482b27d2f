# SPDX-License-Identifier: Apache-2.0
"""A random pipeline for again.py: sources, operators, loops and results, as commands of run_again.c and as what they come to. A node's rows are found anew
whenever they are asked for, from what the sources and values hold at that moment."""
from again_functions import DIGEST, FRONT, Fail, Key, Law, order_of
from again_records import FLOATS, INTEGERS, Record, is_nan, random_rows

MOST_PAIRS = 60000


class TooMany(Exception):
    """More rows than this generator wants to wait for."""


class Empty(Exception):
    """No record where one is needed: the run ends with HDST_E_USAGE."""


class Node:
    def __init__(self, number, record, rows, ordered=True):
        self.number, self.record, self.rows, self.ordered = number, record, rows, ordered


def once_a_run(case, rows):
    """Of loops, whose values another look at them would change."""
    kept = {}

    def found():
        if case.runs not in kept:
            kept.clear()
            kept[case.runs] = rows()
        return kept[case.runs]
    return found


class Source:
    """Rows that change between runs. kind: memory, callback, uncounted, value, raw."""

    def __init__(self, case, kind, rows):
        self.case, self.kind, self.rows = case, kind, rows
        self.number = case.new("source")
        self.path, record = f"{case.folder}/s{self.number}", case.module.record
        self.put(rows)
        texts = " ".join(map(str, record.text_offsets))
        node = case.new("dataset")
        if kind == "value":
            self.value = case.value(record.name, rows)
            case.do("value", self.value, record.name)
            self.set(rows)
            case.do("read_value", node, self.value)
            self.node = Node(node, record, lambda: case.values[self.value])
            return
        if kind == "raw":
            case.do("raw", self.number, self.path)
        else:
            case.do(kind, self.number, record.size, self.path, case.dice.randrange(2), texts)
        case.do("read", node, self.number, record.name)
        self.node = Node(node, record, lambda: self.rows)

    def put(self, rows):
        with open(self.path, "wb") as file:
            file.write(self.case.module.record.packed(rows))

    def set(self, rows):
        record = self.case.module.record
        status = int(self.case.ask("set", self.value, record.size, self.path, *record.text_offsets).split()[1])
        if status == 0:
            self.case.values[self.value] = rows
        elif status != 8 or not self.case.memory:
            self.case.wrong(f"hdst_value_set gives {status}")

    def change(self):
        case, count = self.case, len(self.rows if self.kind != "value" else self.case.values[self.value])
        if self.kind == "raw":
            return False
        if self.kind == "value":
            count = case.dice.choice([0, 1, 2, case.size(), count, count // 2, 2 * count])
        rows = random_rows(case.dice, case.module.record, min(count, case.most), case.module.number)
        if rows and case.dice.random() < 0.3:           # a few alone
            old = self.rows if self.kind != "value" else case.values[self.value]
            keep = case.dice.randrange(len(rows))
            rows = old[:keep] + rows[len(old[:keep]):]
        self.put(rows)
        if self.kind == "value":
            self.set(rows)
        else:
            self.rows = rows
            case.do("change", self.number, self.path, *case.module.record.text_offsets)
        return True


class All(Key):
    """All leaves of a record as one key."""

    def __init__(self, record):
        self.own, self.leaves, self.has_text = record, list(range(len(record.leaves))), bool(record.texts)


class Plans:
    """Operators: each takes a node of the module's record and gives another one."""

    def __init__(self, case):
        self.case, self.dice = case, case.dice

    @property
    def module(self):
        return self.case.module

    def unary(self, command, node, arguments, rows, record=None, ordered=None):
        number = self.case.new("dataset")
        self.case.do(command, number, node.number, *arguments)
        self.case.tell(command, *arguments)
        return Node(number, record or node.record, lambda: rows(node.rows()), node.ordered if ordered is None else ordered)

    def stage(self, node):
        way = self.dice.choice(["none", "same", "changed", "changed", "most_of", "spread", "none_of" if self.dice.random() < 0.1 else "same"])
        if way == "none":
            return node
        command = {"most_of": "filter", "none_of": "filter", "spread": "flat_map"}.get(way, "map")
        return self.unary(command, node, [way], getattr(self.module, way))

    def prepare(self, node):
        if self.dice.random() < 0.3:
            node = self.unary("layout", node, [self.dice.randrange(4)], lambda rows: rows)
        if self.dice.random() < 0.25:
            node = self.kept(node, "cache", [], lambda rows: rows)
        return node

    def kept(self, node, command, arguments, rows):
        """A cache sees no changes until it is emptied, which the case does whenever a source changes."""
        kept = self.unary(command, node, arguments, rows)
        self.case.caches.append(kept.number)
        return kept

    # Orders.

    def comparable(self, leaf):
        kind = self.module.record.leaves[leaf].kind
        return (lambda v: order_of(v, kind)) if kind in FLOATS else lambda v: v

    def sort(self, node):
        record, keys, words = self.module.record, [], []
        for field, kind, dims in self.dice.sample(record.fields, min(len(record.fields), self.dice.randrange(1, 4))):
            leaves, word = record.field_leaves[field], field
            if len(leaves) > 1 and (isinstance(kind, Record) or self.dice.random() < 0.5):
                leaf = self.dice.choice(leaves)
                leaves, word = [leaf], record.leaves[leaf].path
            elif isinstance(kind, Record):
                word = record.leaves[leaves[0]].path
            down = self.dice.random() < 0.4
            keys.append(([(i, self.comparable(i)) for i in leaves], down))
            words.append(word + ("~desc" if down else ""))

        def rows(rows):
            for leaves, down in reversed(keys):
                rows = sorted(rows, key=lambda r: tuple(order(r[i]) for i, order in leaves), reverse=down)
            return rows
        node = self.unary("sort", node, [",~".join(words)], rows)
        return self.slice(node) if self.dice.random() < 0.25 else node

    def slice(self, node):
        first, count = self.dice.choice([0, 0, 5, 1000]), self.dice.choice([0, 1, 10, 500, 100000])
        return self.unary("slice", node, [first, count], lambda rows: rows[first:first + count])

    def top(self, node):
        leaf = self.dice.choice(range(len(self.module.record.leaves)))
        kind, path = self.module.record.leaves[leaf].kind, self.module.record.leaves[leaf].path
        way, count = self.dice.choice(["top", "top", "max_by", "min_by"]), self.dice.choice([1, 2, 10, 1000, 70000])
        nan = lambda r: kind in FLOATS and is_nan(r[leaf], kind)
        if kind in FLOATS:                              # -0 and +0 are equal
            value = lambda r: order_of(r[leaf] if r[leaf] << 1 & (1 << (32 if kind == "float" else 64)) - 1 else 0, kind)
        else:
            value = lambda r: r[leaf]

        def rows(rows):
            if way != "top" and not rows:
                raise Empty
            numbers = sorted((r for r in rows if not nan(r)), key=value, reverse=way != "min_by")
            return (numbers + [r for r in rows if nan(r)])[:count if way == "top" else 1]
        return self.unary(way, node, ([count] if way == "top" else []) + [path], rows)

    # By key.

    def key(self):
        return self.dice.choice(self.module.keys)

    def group(self, node):
        key = self.key()
        if self.dice.random() < 0.65:
            return self.unary("group", node, [key.text, f"told{key.number}"], lambda rows: [self.module.digest(g) for _, g in key.grouped(rows)], DIGEST,
                              not key.has_text)
        some = lambda rows: self.module.same([r for _, g in key.grouped(rows) for r in g if r[self.module.id] % 3 == 0])
        return self.unary("group", node, [key.text, f"some{key.number}"], some, None, not key.has_text)

    def by_key(self, node):
        key, module = self.key(), self.module
        keyed = self.unary("map", node, [f"keyed{key.number}"], lambda rows: rows)
        if self.dice.random() < 0.3:
            found = self.unary("count_by_key", keyed, [f"kn{key.number}"], lambda rows: [k + (len(g),) for k, g in key.grouped(module.same(rows))], key.counted,
                               not key.has_text)
        else:
            found = self.unary("reduce_by_key", keyed, ["joined"], lambda rows: [k + module.total(g) for k, g in key.grouped(module.same(rows))], key.reduced,
                               not key.has_text)
        if self.dice.random() < 0.4:
            found = self.unary("container", found, [self.dice.choice([2, 3, 4])], lambda rows: rows)
        return found

    def distinct(self, node):
        record = self.module.record
        key = All(record)
        return self.unary("distinct", node, [], lambda rows: [g[0] for _, g in key.grouped(rows)], None, not record.texts)

    def partition(self, node):
        return self.unary("partition", node, ["part_of", 7], lambda rows: sorted(rows, key=lambda r: r[self.module.id] % 7))

    def reduce(self, node):
        totals = self.unary("map", node, ["totalled"], lambda rows: rows)

        return self.unary("reduce", totals, ["joined"], lambda rows: [self.module.total(rows)], self.module.totals)

    def dense(self, node):
        count = self.dice.choice([1, 2, 7, 100, 3000])
        spec, value = self.case.new("spec"), self.case.number_value(count)
        self.case.do("spec", spec, "dense_of")
        self.case.do("bind_value", spec, "count", value)
        made = self.unary("spec_map", node, [spec], lambda rows: rows)
        return self.unary("reduce_dense", made, ["joined", count], lambda rows: self.module.table(rows, count), self.module.totals)

    def looked(self, node):
        """A lookup by a key of what another dataset counts."""
        module, leaf = self.module, self.dice.choice(self.module.looked)
        seen = Record(f"seen{leaf}", [("key", module.record.leaves[leaf].kind, ()), ("n", "uint64_t", ())])
        counted = self.unary("map", self.case.other(), [f"seeing{leaf}"], lambda rows: rows)

        def counts(rows):
            found = {}
            for r in rows:
                found[r[leaf]] = found.get(r[leaf], 0) + 1
            return list(found.items())
        counted = self.unary("reduce_by_key", counted, ["more"], counts, seen, False)
        spec = self.case.new("spec")
        self.case.do("spec", spec, f"looked{leaf}")
        self.case.do("bind_lookup", spec, "t", counted.number, "key")

        def rows(rows):
            table, found = dict(counted.rows()), []
            for r in module.same(rows):
                if r[leaf] not in table:
                    found.append(module.with_id(r, len(table)))
                elif table[r[leaf]] % 2:
                    found.append(r)
            return found
        return self.unary("spec_flat_map", node, [spec], rows)

    def join(self, node):
        other, key, module = self.case.other(), self.key(), self.module
        if self.dice.random() < 0.1:
            other = node
        left, right = (node, other) if self.dice.random() < 0.6 else (other, node)
        how = self.dice.choice(["inner", "inner", "left", "right", "full", "semi_join", "anti_join", "co_group", "cross"])
        number = self.case.new("dataset")
        self.case.tell(how, key.text, "" if left is node else "swapped")
        ordered = not key.has_text
        if how in ("semi_join", "anti_join"):
            self.case.do(how, number, left.number, key.text, right.number, key.text)

            def some():
                have = {key.of(r) for r in right.rows()}
                return [r for k, g in key.grouped(left.rows()) if (k in have) == (how == "semi_join") for r in g]
            return Node(number, node.record, some, ordered)
        if how == "cross":
            self.case.do(how, number, left.number, right.number, "inner")

            def crossed():
                a, b = left.rows(), right.rows()
                if len(a) * len(b) > MOST_PAIRS:
                    raise TooMany
                return [module.paired(x, y) for x in a for y in b]
            return Node(number, module.pair, crossed)
        if how == "co_group":
            self.case.do(how, number, left.number, key.text, right.number, key.text, f"both{key.number}")
            return Node(number, DIGEST, lambda: [module.digest(a, b) for _, a, b in self.sides(key, left, right)], ordered)
        self.case.do("join", number, left.number, key.text, right.number, key.text, how)

        def pairs():
            found = []
            for _, a, b in self.sides(key, left, right):
                if len(found) + len(a) * len(b) > MOST_PAIRS:
                    raise TooMany
                if a and b:
                    found += [module.paired(x, y) for x in a for y in b]
                elif a and how in ("left", "full"):
                    found += [module.paired(x, None) for x in a]
                elif b and how in ("right", "full"):
                    found += [module.paired(None, y) for y in b]
            return found
        return Node(number, module.pair, pairs, ordered)

    def sides(self, key, left, right):
        rows = [(r, 0) for r in left.rows()] + [(r, 1) for r in right.rows()]
        groups = {}
        for r, side in rows:
            groups.setdefault(key.of(r), ([], []))[side].append(r)
        found = [(k, a, b) for k, (a, b) in groups.items()]
        return found if key.has_text else sorted(found, key=lambda g: key.order(g[0]))

    # In the order of the dataset.

    def zip(self, node):
        return self.unary("zip_with_index", node, ["zipped"], lambda rows: [(i, *r) for i, r in enumerate(rows)], self.module.zipped)

    def within(self, texts=True):
        """A leaf, or none."""
        leaf = self.dice.randrange(len(self.module.record.leaves))
        if self.dice.random() < 0.5 or (not texts and leaf in self.module.record.texts):
            return "-", []
        return self.module.record.leaves[leaf].path, [leaf]

    def window(self, node):
        path, leaves = self.within()
        before = self.dice.randrange(3)
        nothing = tuple(b"" if leaf.kind == "text" else 0 for leaf in self.module.record.leaves)

        def rows(rows):
            found, begin = [], 0
            end_of = [0] * len(rows)
            for i in range(len(rows) - 1, -1, -1):
                end_of[i] = end_of[i + 1] if i + 1 < len(rows) and all(rows[i][k] == rows[i + 1][k] for k in leaves) else i + 1
            for i, r in enumerate(rows):
                if i and any(r[k] != rows[i - 1][k] for k in leaves):
                    begin = i
                first, end = max(begin, i - before), min(end_of[i], i + 3 - before)
                part = rows[first:end] + [nothing] * (3 - (end - first))
                found.append((end - first, i - first, *(v for p in part for v in p)))
            return found
        return self.unary("window", node, ["window", before, 2 - before, path], rows, self.module.window)

    def scan(self, node):
        record = self.module.record
        numbers = [i for i, leaf in enumerate(record.leaves) if leaf.kind not in ("text", "bool")]
        exclusive, (path, within) = self.dice.randrange(2), self.within(False)
        numbers = [i for i in numbers if i not in within] or [i for i in numbers if within.clear() is None]
        path = path if within else "-"
        chosen = self.dice.sample(numbers, min(len(numbers), 2))

        def rows(rows):
            found, seen, last = [], None, None
            if len(rows) > 3000:
                raise TooMany
            for r in rows:
                now = [r[k] for k in within]
                if seen is None or now != last:
                    seen = {i: [] for i in chosen}
                last, q = now, list(r)
                for i in chosen:
                    if not exclusive:
                        seen[i].append(r[i])
                    q[i] = Law.of("sum", record.leaves[i].kind, seen[i])
                    if exclusive:
                        seen[i].append(r[i])
                    elif len(seen[i]) > 200 and record.leaves[i].kind in FLOATS and len(rows) > 600:
                        raise TooMany
                found.append(tuple(q))
            return found
        return self.unary("scan", node, [",~".join(record.leaves[i].path for i in chosen), path, exclusive], rows)

    def union(self, node):
        other = self.case.other()
        number = self.case.new("dataset")
        self.case.do("union", number, node.number, other.number)
        self.case.tell("union")
        return Node(number, node.record, lambda: node.rows() + other.rows())

    def arrange(self, node):
        record = self.module.record
        leaf = self.dice.choice([leaves[0] for kind, dims, leaves in record.keys.values() if kind in INTEGERS and not dims])
        return self.kept(node, "arrange", [record.leaves[leaf].path], lambda rows: sorted(rows, key=lambda r: r[leaf]))

    def scan_function(self, node):
        exclusive, (path, within) = self.dice.randrange(2), self.within()
        nothing = tuple(b"" if leaf.kind == "text" else 0 for leaf in self.module.record.leaves)

        def rows(rows):
            found, before, last = [], None, None
            for r, raw in zip(self.module.same(rows), rows):
                now = [raw[k] for k in within]
                if before is None or now != last:
                    before = None
                after = r if before is None else self.module.with_id(r, before[self.module.id] + r[self.module.id])
                found.append((before or nothing) if exclusive else after)
                before, last = after, now
            return found
        return self.unary("scan_function", node, ["affine" if exclusive else "affine_", path, exclusive], rows)

    # Those whose rows are the module's records again, and all.
    SAME = ["sort", "sort", "slice", "partition", "distinct", "union", "scan", "scan_function", "looked", "arrange"]
    OTHER = ["sort", "top", "group", "group", "by_key", "by_key", "by_key", "distinct", "partition", "reduce", "dense", "looked", "join", "join", "join", "zip",
             "window", "scan", "scan_function", "union", "arrange", "slice"]

    def pipeline(self, node):
        parted = False                  # reductions by key would keep the parts, and refuse keys that lie in two of them
        for _ in range(self.dice.choice([0, 0, 0, 1, 2])):
            way = self.dice.choice([o for o in self.SAME if o != "distinct" or not parted])
            parted = parted or way == "partition"
            node = getattr(self, way)(self.stage(node))
            if not node.ordered:
                return node
        return getattr(self, self.dice.choice([o for o in self.OTHER if o not in ("distinct", "by_key") or not parted]))(self.stage(self.prepare(node)))

    # Loops.

    def loop(self, node):
        """State of the module's records; every second one looks its rows up."""
        case, dice, module = self.case, self.dice, self.module
        state, turn = case.value(module.record.name, None), case.number_value(0)
        case.do("value", state, module.record.name)
        looks, limit, until = dice.random() < 0.5, dice.choice([0, 1, 2, 3, 7]) or 1, dice.random() < 0.5
        spec, reads = case.new("spec"), case.new("dataset")
        function = "settled" if looks else "watched"
        case.do("spec", spec, function)
        case.do("bind_value", spec, "turn", turn)
        if looks:
            case.do("bind_value", spec, "s", state)
        case.do("read_value", reads, state)
        inner = Node(reads, module.record, lambda: case.values[state])
        case.tell("{", function)
        if dice.random() < 0.5:
            for _ in range(dice.choice([1, 1, 2])):
                other = getattr(self, dice.choice(["sort", "slice", "partition", "union"] if not looks else ["sort", "partition"]))(self.stage(inner))
                inner = other if other.ordered else inner
            if dice.random() < 0.5:
                inner = self.unary("slice", inner, [0, 3000], lambda rows: rows[:3000])
        records = node if looks and dice.random() < 0.5 else inner
        made = case.new("dataset")
        case.do("spec_map", made, records.number, spec)
        case.tell("}", limit, until)
        # A broadcast of a turn is an accumulator of the one before.
        case.do("loop", (number := case.new("dataset")), node.number, state, limit, "left" if until else "-", 3 if until else 0, f"{made}:-:{state}",
                f"{made}:turns:{turn}")

        def rows():
            values = case.values
            values[state] = node.rows()
            for _ in range(limit):
                now, source = values[turn][0][0], records.rows()
                if looks and source and not values[state]:
                    raise Fail
                found, left, turns = module.settled(source, values[state], now) if looks else module.watched(source, now)
                values[state], values[turn] = found, [(turns,)]
                if len(found) > case.most * 4:
                    raise TooMany
                if until and left <= 3:
                    break
            return values[state]
        case.looped.append((state, turn))
        return Node(number, module.record, once_a_run(case, rows))

    def delta(self, node):
        case, dice, module = self.case, self.dice, self.module
        if not module.moved or module.record.texts:
            return self.loop(node)
        state, work, limit = case.value(module.record.name, None), case.value("front", None), dice.choice([1, 2, 3, 6])
        case.do("value", state, module.record.name)
        case.do("value", work, "front")
        first = self.unary("map", self.slice(case.other()), ["begun"], module.begun, FRONT)
        reads, found, moves = case.new("dataset"), case.new("dataset"), case.new("dataset")
        case.do("read_value", reads, work)
        spec = case.new("spec")
        case.do("spec", spec, "reached")
        case.do("bind_value", spec, "s", state)
        case.do("spec_flat_map", found, reads, spec)
        reduced = dice.random() < 0.6
        if reduced:
            by, keyed, found = found, case.new("dataset"), case.new("dataset")
            case.do("map", keyed, by, "keyed_front")
            case.do("reduce_by_key", found, keyed, "nearer")
        put = case.new("spec")
        case.do("spec", put, "moving")
        case.do("bind_value", put, "s", state)
        case.do("spec_map", moves, found, put)
        steps = [f"{moves}:-:{state}", f"{found}:-:{work}"]
        swapped = dice.random() < 0.3
        if swapped:
            steps.reverse()
        number = case.new("dataset")
        case.tell("delta", limit, "reduced" if reduced else "", "swapped" if swapped else "")
        case.do("delta", number, node.number, state, first.number, work, limit, "-", 0, *steps)
        key = Key(98, FRONT, ["at"])

        def next_work():
            reached = module.reached(case.values[work], case.values[state])
            if len(reached) > 20000:
                raise TooMany
            return [(k[0], min(r[1] for r in g)) for k, g in key.grouped(reached)] if reduced else reached

        def move():
            rows = list(case.values[state])
            for at, *row in module.moving(next_work(), rows):
                rows[at] = tuple(row)
            case.values[state] = rows

        def rows():
            case.values[state], case.values[work] = list(node.rows()), first.rows()
            for _ in range(limit):
                if not case.values[work]:
                    break
                if swapped:
                    case.values[work] = next_work()
                    move()
                else:
                    move()
                    case.values[work] = next_work()
            return case.values[state]
        case.looped.append((state, None))
        return Node(number, module.record, once_a_run(case, rows))
