# SPDX-License-Identifier: Apache-2.0
"""Records of random shape for again.py: their types as kernel text and as bytes, and random rows of them. A row is a tuple of its leaves (scalar fields,
counted through nested records and arrays) in the order of memory: integers; floats by their bits; texts as bytes."""
import itertools
import struct

SIZE = {"bool": 1, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "float": 4, "double": 8,
        "text": 16}
CODE = {"bool": "B", "int8_t": "b", "uint8_t": "B", "int16_t": "h", "uint16_t": "H", "int32_t": "i", "uint32_t": "I", "int64_t": "q", "uint64_t": "Q",
        "float": "I", "double": "Q", "text": "16s"}
INTEGERS = [t for t in SIZE if t.endswith("_t")]
FLOATS = ["float", "double"]
QUIET = {"float": 0x7fc00000, "double": 0x7ff8000000000000}
INFINITE = {"float": 0x7f800000, "double": 0x7ff0000000000000}
SPECIAL = {"float": [0, 0x80000000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345, 0x7f800000, 0xff800000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000,
                     0xbf800000, 0x7f7fffff, 0xff7fffff],
           "double": [0, 1 << 63, 0x7ff8 << 48, 0xfff8 << 48, (0x7ff0 << 48) + 1, (0xfff0 << 48) + 12345, 0x7ff0 << 48, 0xfff0 << 48, 1, (1 << 63) + 1,
                      (1 << 52) - 1, 1 << 52, 0x3ff0 << 48, 0xbff0 << 48, (0x7ff0 << 48) - 1, (0xfff0 << 48) - 1]}
# What generated texts, OpenCL and C++ call things.
NAMES = """
row rows lane strip first count skip table slot hash value error index in out a b v w e r g k i j n x record records group stream emit_count low high
get_global_id barrier half4 convert_float atomic_add event template virtual class ulong uint half float4 global local constant kernel private
read_only size_t_ next end begin length offset text_ line source lookup broadcast optional map filter join select any all min_ sum0 value_sum0 v_at
INFINITY_ _ a__b main new this key_ word bits start rest address
""".split() + ["x" * 63]


def is_nan(bits, kind):
    return bits & (2 ** (8 * SIZE[kind] - 1) - 1) > INFINITE[kind]


def float_of(bits, kind):
    return struct.unpack("<f" if kind == "float" else "<d", struct.pack("<" + CODE[kind], bits))[0]


class Leaf:
    def __init__(self, path, kind, offset):
        self.path, self.kind, self.offset = path, kind, offset


class Record:
    """fields: (name, kind or Record, dimensions)."""

    def __init__(self, name, fields):
        self.name, self.fields, self.leaves = name, fields, []
        at, self.align = 0, 1
        self.field_leaves = {}          # name -> numbers of its leaves
        self.keys = {}                  # name, also one within a record ("from.x") -> what may be a key: kind, dimensions, leaves
        for field, kind, dims in fields:
            size, align = (kind.size, kind.align) if isinstance(kind, Record) else (SIZE[kind], 8 if kind == "text" else SIZE[kind])
            at = (at + align - 1) // align * align
            self.align = max(self.align, align)
            begin = len(self.leaves)
            for index in itertools.product(*map(range, dims)):
                path = field + "".join(f"[{i}]" for i in index)
                if isinstance(kind, Record):
                    self.leaves += [Leaf(f"{path}.{leaf.path}", leaf.kind, at + leaf.offset) for leaf in kind.leaves]
                else:
                    self.leaves.append(Leaf(path, kind, at))
                at += size
            self.field_leaves[field] = list(range(begin, len(self.leaves)))
            if not isinstance(kind, Record):
                self.keys[field] = (kind, dims, self.field_leaves[field])
            elif not dims:
                for inner, (k, d, leaves) in kind.keys.items():
                    self.keys[f"{field}.{inner}"] = (k, d, [begin + i for i in leaves])
        self.size = (at + self.align - 1) // self.align * self.align
        self.texts = [i for i, leaf in enumerate(self.leaves) if leaf.kind == "text"]
        self.text_offsets = [self.leaves[i].offset for i in self.texts]
        code, at = "<", 0
        for leaf in self.leaves:
            code += f"{leaf.offset - at}x{CODE[leaf.kind]}" if leaf.offset > at else CODE[leaf.kind]
            at = leaf.offset + SIZE[leaf.kind]
        self.packing = struct.Struct(code + f"{self.size - at}x" * (self.size > at))

    def declaration(self):
        members = " ".join(f"{kind.name if isinstance(kind, Record) else kind} {field}{''.join(f'[{d}]' for d in dims)};" for field, kind, dims in self.fields)
        return f"struct {self.name} {{ {members} }};\n"

    def place(self, field):
        """Of a field that is one leaf."""
        return self.field_leaves[field][0]

    def packed(self, rows):
        """As run_again.c reads them."""
        if not self.texts:
            return b"".join(self.packing.pack(*row) for row in rows)
        head = b"".join(self.packing.pack(*(b"" if i in self.texts else v for i, v in enumerate(row))) for row in rows)
        tail = b"".join(struct.pack("<I", len(row[i])) + row[i] for row in rows for i in self.texts)
        return struct.pack("<Q", len(rows)) + head + tail

    def unpacked(self, data, count):
        """As run_again.c writes them: without the number in front."""
        rows = list(self.packing.iter_unpack(data[:count * self.size]))
        if not self.texts:
            return rows
        at, found = count * self.size, []
        for row in rows:
            row = list(row)
            for i in self.texts:
                length, = struct.unpack_from("<I", data, at)
                row[i] = data[at + 4:at + 4 + length]
                at += 4 + length
            found.append(tuple(row))
        return found

    def canonical(self, row):
        """As a function gives it: all NaNs are one."""
        return tuple(QUIET[leaf.kind] if leaf.kind in QUIET and is_nan(v, leaf.kind) else v for v, leaf in zip(row, self.leaves))


# --- Random types ---

def names(dice, count):
    return dice.sample(NAMES, count)


def random_fields(dice, count, nested, with_texts):
    fields = []
    for name in names(dice, count):
        dims = tuple(dice.choice([1, 2, 3, 5]) for _ in range(dice.choice([0, 0, 0, 0, 1, 1, 2])))
        if nested and dice.random() < 0.2:
            fields.append((name, dice.choice(nested), dims[:1]))
        elif with_texts and dice.random() < 0.3:
            fields.append((name, "text", () if dice.random() < 0.8 else (2,)))
        else:
            fields.append((name, dice.choice(INTEGERS + FLOATS + ["bool", "float", "double", "uint32_t"]), dims))
    return fields


def random_record(dice):
    """The record, those that it is made of, and the name of its number."""
    with_texts = dice.random() < 0.4
    nested = []
    for i in range(dice.choice([0, 0, 1, 2])):
        nested.append(Record(f"part{i}", random_fields(dice, dice.randrange(1, 4), nested, with_texts and dice.random() < 0.3)))
    fields = random_fields(dice, dice.choice([1, 2, 3, 4, 6]), nested, with_texts)
    if sum(len(Record("t", [f]).leaves) for f in fields) > 30:
        fields = fields[:1]
    used = {f[0] for f in fields}
    number = dice.choice([n for n in ["id", "number_", "count", "index", "row", "v"] if n not in used])
    fields.insert(dice.randrange(len(fields) + 1), (number, "uint32_t", ()))
    return Record(dice.choice(["item", "row", "record", "v", "tuple", "cell"]), fields), nested, number


# --- Random rows ---

ALPHABETS = [b"ab", b"abAB ", bytes(range(256)), b"\x00a", b"\xc3\xa4z-9", b"aaaaab", b"\xff\xfe\x00"]
LENGTHS = [0, 1, 2, 7, 8, 9, 11, 12, 13, 16, 40, 64, 65, 200]


def random_texts(dice, count):
    alphabet, way = dice.choice(ALPHABETS), dice.randrange(5)
    draw = lambda: bytes(dice.choices(alphabet, k=dice.choice(LENGTHS)))
    if way == 0:
        few = [draw() for _ in range(dice.choice([1, 2, 10]))]
        return [dice.choice(few) for _ in range(count)]
    if way == 1:                        # a long common start
        front = bytes(dice.choices(alphabet, k=dice.choice([8, 12, 40])))
        return [front + bytes(dice.choices(alphabet, k=dice.randrange(3))) for _ in range(count)]
    if way == 2:
        return [bytes(dice.choices(alphabet, k=dice.randrange(4))) for _ in range(count)]
    found = [draw() for _ in range(count)]
    if found and way == 3:
        found[dice.randrange(count)] = bytes(dice.choices(alphabet, k=dice.choice([4095, 5000, 70000])))
    return found


def random_floats(dice, kind, count):
    way, special = dice.randrange(6), SPECIAL[kind]
    pack = lambda x: struct.unpack("<" + CODE[kind], struct.pack("<f" if kind == "float" else "<d", x))[0]
    if way == 0:
        few = special[:dice.randrange(1, len(special) + 1)]
        return [dice.choice(few) for _ in range(count)]
    if way == 1:
        return [pack(float(dice.randrange(-2, 3))) for _ in range(count)]
    if way == 2:
        scale = 10.0 ** dice.randrange(-4, 5)
        return [pack(dice.gauss(0, 1) * scale) for _ in range(count)]
    if way == 3:                        # denormals and their neighbours
        top = 1 << (24 if kind == "float" else 53)
        return [dice.randrange(top) | dice.randrange(2) << (8 * SIZE[kind] - 1) for _ in range(count)]
    if way == 4:                        # near the end of the range
        top = INFINITE[kind]
        return [(top - dice.randrange(1, 1 << 20)) | dice.randrange(2) << (8 * SIZE[kind] - 1) for _ in range(count)]
    found = [dice.getrandbits(8 * SIZE[kind]) for _ in range(count)]
    return [b if dice.random() < 0.01 or not is_nan(b, kind) else 0 for b in found]


def random_integers(dice, kind, count):
    bits, way = 8 * SIZE[kind], dice.randrange(7)
    low = -(1 << bits - 1) if kind[0] == "i" else 0
    top = low + (1 << bits) - 1
    if way == 0:
        return [dice.randrange(100)] * count
    if way == 1:
        return [dice.randrange(2) for _ in range(count)]
    if way == 2:
        return [dice.randrange(min(100, top)) for _ in range(count)]
    if way == 3:
        return [dice.choice([low, low + 1, 0, 1, top]) for _ in range(count)]
    if way == 4:
        return [i % (top + 1) for i in (range(count) if dice.random() < 0.5 else range(count, 0, -1))]
    if way == 5:                        # one key has half of all
        return [7 if dice.random() < 0.5 else dice.randrange(low, top + 1) for _ in range(count)]
    return [dice.randrange(low, top + 1) for _ in range(count)]


def random_column(dice, kind, count):
    if kind == "bool":
        odds = dice.choice([0, 0.01, 0.5, 1])
        return [int(dice.random() < odds) for _ in range(count)]
    return random_texts(dice, count) if kind == "text" else random_floats(dice, kind, count) if kind in FLOATS else random_integers(dice, kind, count)


def random_rows(dice, record, count, number):
    columns = [random_column(dice, leaf.kind, count) for leaf in record.leaves]
    columns[record.place(number)] = range(count)
    if count > 20 and dice.random() < 0.2:              # what a sample of the first records does not show
        begin, size = dice.randrange(count * 3 // 4, count), max(1, count // 100)
        for i, leaf in enumerate(record.leaves):
            if i != record.place(number):
                part = random_column(dice, leaf.kind, min(size, count - begin))
                columns[i] = list(columns[i])
                columns[i][begin:begin + len(part)] = part
    return list(zip(*columns))
