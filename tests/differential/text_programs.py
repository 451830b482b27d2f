# SPDX-License-Identifier: Apache-2.0
"""Random programs over texts: each is written down twice by the same choices, as kernel text and as Python, which finds the answers. Slices with bounds that
are nowhere, comparisons, views, constants, conditions, loops over tokens in loops; over lines of hostile bytes and lengths; in the interpreter, on a CPU,
on both at once, with plenty of memory and little.

usage: text_programs.py LIBRARY FIRST-SEED COUNT"""
import ctypes
import os
import random
import re
import sys
import tempfile

from team_sums import Error, Wrong, load

PATTERNS = ["", "a", "ab", "aab", "B", "zz", "abcabcabcabca", "a b", ",", "__", "0x1"]
SEPARATORS = [",", " ", "ab", ",; ", "_", "xyz,.", ""]
BOUNDS = ["below", "0", "1", "3", "7", "8", "11", "12", "13", "63", "64", "65", "4000", "5000000000", "4294967295"]
ALPHABETS = [b"ab", b"abAB ", b"abcxyz ,;_", bytes(range(256)).replace(b"\n", b""), b"\x00a ", b"\xc3\xa4z-9", b"aaaaab"]
LENGTHS = [0, 1, 2, 7, 8, 9, 11, 12, 13, 20, 40, 63, 64, 65, 100, 127, 128, 129, 200]

HELPERS = '''
import re
def cut(t, a, b):
    bound = lambda v: 0 if v < 0 else min(v, 2 ** 32 - 1)
    b = min(bound(b), len(t))
    return t[min(bound(a), b):b]
def words(t): return re.findall(rb"[A-Za-z0-9_\\x80-\\xff]+", t)
def spaces(t): return re.findall(rb"[^\\t-\\r ]+", t)
def between(t, chars): return [w for w in (re.split(b"[" + re.escape(chars) + b"]", t) if chars else [t]) if w]
'''


class Program:
    """Grows `kernel` and `python` side by side."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.kernel, self.python, self.names, self.texts, self.left = [], [], 0, ["line"], 26
        self.block(1, 0)
        if not any("emit" in line for line in self.kernel):
            self.emit(1)

    def line(self, depth, kernel, python=None):
        self.kernel.append("    " * depth + kernel)
        if python is not None:
            self.python.append("    " * depth + python)

    def new_name(self):
        self.names += 1
        return f"t{self.names}"

    # --- Expressions: (kernel, python) ---

    def text(self, depth=0):
        dice = self.dice
        way = dice.randrange(8 if depth < 3 else 3)
        if way < 2:
            name = dice.choice(self.texts)
            return name, name
        if way == 2:
            constant = dice.choice(PATTERNS)
            return f'"{constant}"', f'b"{constant}"'
        of, py = self.text(depth + 1)
        if way < 6:
            return self.slice(of, py)
        if way == 6:
            name = dice.choice(["lower", "upper"])
            return f"{name}({of})", f"({py}).{name}()"
        condition, other = self.condition(depth + 1), self.text(depth + 1)
        return f"({condition[0]} ? {of} : {other[0]})", f"({py} if {condition[1]} else {other[1]})"

    def slice(self, of, py):
        bounds = [self.bound(of, py) for _ in range(2)]
        of = of if of.isidentifier() or of.endswith((")", "]")) else f"({of})"
        return f"{of}[{bounds[0][0]}:{bounds[1][0]}]", f"cut({py}, {bounds[0][1]}, {bounds[1][1]})"

    def bound(self, of, py):
        way = self.dice.randrange(4)
        number = self.dice.choice(BOUNDS)
        if way == 0 and of.isidentifier():
            return f"len({of}) - (uint64_t){number}", f"((len({py}) - {number}) % 2 ** 64)"
        if way == 1 and of.isidentifier():
            pattern = self.dice.choice(PATTERNS)
            return f'find({of}, "{pattern}")', f'({py}).find(b"{pattern}")'
        return number, number

    def condition(self, depth=0):
        dice = self.dice
        a, b = self.text(depth + 1), self.text(depth + 1)
        way = dice.randrange(5)
        if way == 0:
            operator = dice.choice(["==", "!=", "<", "<=", ">", ">="])
            return f"({a[0]} {operator} {b[0]})", f"({a[1]} {operator} {b[1]})"
        if way == 1:
            return f"starts_with({a[0]}, {b[0]})", f"({a[1]}).startswith({b[1]})"
        if way == 2:
            return f"ends_with({a[0]}, {b[0]})", f"({a[1]}).endswith({b[1]})"
        if way == 3:
            return f"(find({a[0]}, {b[0]}) >= 0)", f"({b[1]} in {a[1]})"
        number = dice.choice(["0", "1", "8", "12", "64"])
        return f"(len({a[0]}) > {number}u)", f"(len({a[1]}) > {number})"

    def number(self):
        a, b = self.text(1), self.text(1)
        way = self.dice.randrange(3)
        if way == 0:
            return f"(int64_t)len({a[0]})", f"len({a[1]})"
        if way == 1:
            return f"find({a[0]}, {b[0]})", f"({a[1]}).find({b[1]})"
        condition = self.condition(1)
        return f"({condition[0]} ? 1 : 0)", f"int({condition[1]})"

    # --- Statements ---

    def emit(self, depth):
        number, text = self.number(), self.text()
        self.line(depth, f"emit((got){{ .n = {number[0]}, .t = {text[0]} }});", f"out.append(({number[1]}, {text[1]}))")

    def block(self, depth, loops):
        known = len(self.texts)
        for _ in range(self.dice.randint(1, 4)):
            self.statement(depth, loops)
        self.python.append("    " * depth + "pass")
        del self.texts[known:]

    def statement(self, depth, loops):
        self.left -= 1
        way = self.dice.randrange(8) if self.left > 0 and depth < 5 else 0
        if way < 2:
            self.emit(depth)
        elif way == 2:
            text, name = self.text(), self.new_name()
            self.line(depth, f"text {name} = {text[0]};", f"{name} = {text[1]}")
            self.texts.append(name)
        elif way == 3 and len(self.texts) > 1:
            text, name = self.text(), self.dice.choice(self.texts[1:])
            if not name.startswith("w"):
                self.line(depth, f"{name} = {text[0]};", f"{name} = {text[1]}")
        elif way == 4:
            self.byte(depth)
        elif way == 5 or loops == 2:
            self.branch(depth, loops)
        else:
            self.loop(depth, loops)

    def byte(self, depth):
        name, index = self.dice.choice(self.texts), self.dice.choice(["0", "1", "7", "8", "12", "63", "64"])
        self.line(depth, f"if (len({name}) > {index}u) emit((got){{ .n = {name}[{index}], .t = {name} }});",
                  f"if len({name}) > {index}: out.append(({name}[{index}], {name}))")

    def branch(self, depth, loops):
        condition = self.condition()
        self.line(depth, f"if ({condition[0]}) {{", f"if {condition[1]}:")
        self.block(depth + 1, loops)
        if self.dice.random() < 0.5:
            self.line(depth, "} else {", "else:")
            self.block(depth + 1, loops)
        if loops and self.dice.random() < 0.2:
            word = self.dice.choice(["break", "continue"])
            self.line(depth + 1, word + ";", word)
        self.line(depth, "}")

    def loop(self, depth, loops):
        """Of the line, of a short piece, or of the word of the loop around: so that no program takes the square of its input."""
        of = self.texts[-1] if loops and self.texts[-1].startswith("w") else "line" if not loops else None
        kernel, python = (of, of) if of else (f"{self.texts[-1]}[0:9]", f"cut({self.texts[-1]}, 0, 9)")
        name = "w" + self.new_name()
        way, chars = self.dice.randrange(3), self.dice.choice(SEPARATORS)
        token_class = ["WORD", "SPACE", f'chars("{chars}")'][way]
        in_python = [f"words({python})", f"spaces({python})", f'between({python}, b"{chars}")'][way]
        self.line(depth, f"for (text {name} : tokens({kernel}, {token_class})) {{", f"for {name} in {in_python}:")
        self.texts.append(name)
        self.block(depth + 1, loops + 1)
        self.texts.pop()
        self.line(depth, "}")

    def kernel_text(self):
        return "struct got { int64_t n; text t; };\nflat_map run(text line) -> got\n{\n    const int64_t below = -7;\n" + "\n".join(self.kernel) + "\n}\n"

    def answers(self, lines):
        space = {}
        exec(HELPERS + "below = -7\ndef run(line, out):\n" + "\n".join(self.python) + "\n", space)
        out = []
        for line in lines:
            space["run"](line, out)
        return out


def make_lines(dice):
    alphabet = dice.choice(ALPHABETS)
    lengths = [dice.choice(LENGTHS) if dice.random() < 0.9 else dice.randrange(300) for _ in range(dice.choice([0, 1, 5, 90, 400]))]
    if lengths and dice.random() < 0.2:
        lengths[dice.randrange(len(lengths))] = dice.choice([4095, 4096, 20000])
    return [bytes(dice.choices(alphabet, k=length)) for length in lengths]


class Got(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int64), ("length", ctypes.c_uint32), ("start", ctypes.c_char * 4), ("address", ctypes.c_uint64)]

    def pair(self):
        at = ctypes.addressof(self) + Got.start.offset if self.length <= 12 else self.address
        return self.n, ctypes.string_at(at, self.length)


class Options(ctypes.Structure):
    """The first fields of hdst_context_options; behind them zeroes."""
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("memory", ctypes.c_uint64), ("others", ctypes.c_char * 488)]


def option_bytes(library):
    """The size that the library takes: it refuses others."""
    for size in range(24, 512, 8):
        context = ctypes.c_void_p(library.hdst_context_create(ctypes.byref(Options(size))))
        fine = library.hdst_context_status(context, None) == 0
        library.hdst_context_destroy(context)
        if fine:
            return size
    raise SystemExit("no size of hdst_context_options is taken")


def run(library, size, path, kernel, device, memory):
    call = lambda name, *arguments: ctypes.c_void_p(getattr(library, "hdst_" + name)(*arguments))
    error, count = Error(), ctypes.c_uint64()
    context = call("context_create", ctypes.byref(Options(size, device.encode(), memory)))
    module = call("module_parse", context, b"texts.hk", kernel.encode(), None)
    if library.hdst_module_status(module, None):
        raise Wrong(ctypes.string_at(library.hdst_module_diagnostics(module)).decode())
    lines = call("source_open_lines", context, path.encode())
    result = call("result_create", call("flat_map_function", call("read", lines, module, b"text"), module, b"run"))
    if library.hdst_run(result, ctypes.byref(error)):
        raise Wrong(f"{error.message.decode()} {error.cause.decode()} {error.hint.decode()}")
    at = library.hdst_result_rows(result, None, ctypes.byref(count))
    found = [row.pair() for row in (Got * count.value).from_address(at)] if count.value else []
    library.hdst_context_destroy(context)
    return found


def attempt(library, size, seed, devices):
    program, dice = Program(seed), random.Random(seed + (1 << 40))
    for _ in range(2):
        lines = make_lines(dice)
        right = program.answers(lines)
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"".join(line + b"\n" for line in lines))
            file.flush()
            for device in devices:
                memory = dice.choice([0, 0, 64 << 20])
                found = run(library, size, file.name, program.kernel_text(), device, memory)
                if found != right:
                    at = next((i for i, (a, b) in enumerate(zip(found, right)) if a != b), min(len(found), len(right)))
                    raise Wrong(f"on {device}: {len(found)} records, not {len(right)}; record {at} is {found[at:at + 1]}, not {right[at:at + 1]}")


def main():
    library = load(sys.argv[1])
    for name in ("source_open_lines", "context_create"):
        getattr(library, "hdst_" + name).restype = ctypes.c_void_p
    first, count = int(sys.argv[2]), int(sys.argv[3])
    os.environ["HDST_SHARE_BYTES"] = "1"
    size = option_bytes(library)
    devices = ["interp", "cpu", "0,1"]
    context = ctypes.c_void_p(library.hdst_context_create(ctypes.byref(Options(size, b"cpu"))))
    if library.hdst_device_chosen(context, ctypes.create_string_buffer(4096), None):
        devices = ["interp"]
        print("no CPU device: the interpreter alone")
    library.hdst_context_destroy(context)
    bad = 0
    for seed in range(first, first + count):
        try:
            attempt(library, size, seed, devices)
        except Wrong as wrong:
            bad += 1
            print(f"seed {seed}: {wrong}\n{Program(seed).kernel_text()}", flush=True)
    print(f"{bad} of {count} programs are wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
