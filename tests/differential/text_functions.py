# SPDX-License-Identifier: Apache-2.0
"""Random functions over texts, each written down twice by the same choices: as kernel text and as Python, which finds the answers (text_values.py has what the
operations mean). Slices with bounds that are nowhere, comparisons, views, constants, conditions, loops over tokens, bytes and occurrences, helpers, numbers in
texts, texts made byte by byte; some have checks that fail."""
import random

import text_values

PATTERNS = [b"", b"a", b"ab", b"aab", b"B", b"zz", b"abcabcabcabca", b"a b", b",", b"__", b"0x1", b"\0", b"\xff\xfe", b"12", b"-1.5", b"nan", b"A_\xc3\xa4",
            b"abababababababababababababababababababababababababababababababababab", b"\r", b'"', b"\\", b"12345678901234567890123"]
SEPARATORS = [b",", b" ", b"ab", b",; ", b"_", b"xyz,.", b"", b"\0", b"\xff\x80", b"AB", b"0123456789", b"\r\t"]
BOUNDS = ["below", "0", "1", "3", "7", "8", "11", "12", "13", "63", "64", "65", "4000", "5000000000", "4294967295"]
INDICES = ["0", "1", "7", "8", "12", "63", "64", "below", "127"]
BELOW = "    const int64_t below = -7;      // a constant of a whole file that is negative is seen by the checker, which refuses it as a bound"
PRELUDE = "struct got { int64_t n; text t; text u; };\n"


def c_string(t):
    """A constant of these bytes."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in t) + '"'


def is_name(kernel):
    return kernel.replace(".", "").replace("_", "a").isalnum()


class Function:
    """Grows `kernel` and `python` side by side. `texts` and `numbers` are what is in sight: (kernel, python, may be assigned)."""

    def __init__(self, seed, name, kind="flat_map", texts=(("line", "line"),), numbers=(), parameter="text line", helpers=True, fails=True,
                 lookups=None, small=False):
        """lookups: of "sum_", "place_" and "rows_" (text_plans.py) the tables that the function has, as dicts."""
        self.dice = random.Random(seed)
        self.name, self.kind, self.parameter = name, kind, parameter
        self.lookups = lookups or {}
        self.may_fail = fails and self.dice.random() < 0.5
        self.kernel, self.python, self.names, self.left, self.helpers = [], [], 0, self.dice.choice([1, 2, 3, 4] if small else [3, 6, 6, 9, 14]), []
        self.helper_kernel, self.helper_python = [], []
        self.texts = [(k, p, False) for k, p in texts]
        self.numbers = [(k, p, False) for k, p in numbers]
        self.words = []                 # the tokens of the loops around
        if helpers:
            for _ in range(self.dice.choice([0, 0, 0, 1, 2])):
                self.helper()
        if kind == "flat_map":
            self.block(1, 0)
            if not any("emit" in line for line in self.kernel):
                self.emit(1)
        else:
            for _ in range(self.dice.randint(0, 3)):
                self.statement(1, 0)
            self.result(1)

    def line(self, depth, kernel, python=None):
        self.kernel.append("    " * depth + kernel)
        if python is not None:
            self.python.append("    " * depth + python)

    def new_name(self, start):
        self.names += 1
        return f"{start}{self.names}_"

    # --- Expressions: (kernel, python) ---

    def text(self, depth=0):
        dice = self.dice
        way = dice.randrange(9 if depth < 2 else 3)
        if way < 2:
            return dice.choice(self.texts)[:2]
        if way == 2:
            constant = dice.choice(PATTERNS)
            return c_string(constant), repr(constant)
        helpers = [h for h in self.helpers if h[1] == "text"]
        if way == 8 and helpers:
            return self.call_of(dice.choice(helpers), depth)
        of, py = self.text(depth + 1)
        if way < 6:
            return self.slice(of, py, depth)
        if way == 6:
            name = dice.choice(["lower", "upper"])
            return f"{name}({of})", f"({py}).{name}()"
        condition, other = self.condition(depth + 1), self.text(depth + 1)
        return f"({condition[0]} ? {of} : {other[0]})", f"({py} if {condition[1]} else {other[1]})"

    def call_of(self, helper, depth):
        arguments = [self.text(depth + 1) if kind == "text" else self.number(depth + 1) for kind in helper[2]]
        return f"{helper[0]}({', '.join(a[0] for a in arguments)})", f"{helper[0]}({', '.join(a[1] for a in arguments)})"

    def slice(self, of, py, depth):
        bounds = [self.bound(of, py, depth) for _ in range(2)]
        of = of if is_name(of) or of.endswith((")", "]")) else f"({of})"
        return f"{of}[{bounds[0][0]}:{bounds[1][0]}]", f"cut({py}, {bounds[0][1]}, {bounds[1][1]})"

    def bound(self, of, py, depth):
        way = self.dice.randrange(6) if is_name(of) else 5      # what is looked for in an expression is computed again: kernels grow
        number = self.dice.choice(BOUNDS)
        if way == 0:
            return f"len({of}) - (uint64_t){number}", f"((len({py}) - {number}) % 2 ** 64)"
        if way == 1:
            pattern = self.dice.choice(PATTERNS)
            return f"find({of}, {c_string(pattern)})", f"({py}).find({pattern!r})"
        if way == 2 and depth < 2:
            return self.number(depth + 2)
        return number, number

    def condition(self, depth=0):
        dice = self.dice
        a, b = self.text(depth + 1), self.text(depth + 1)
        way = dice.randrange(9 if depth < 2 else 6)
        if way == 0:
            operator = dice.choice(["==", "!=", "<", "<=", ">", ">="])
            return f"({a[0]} {operator} {b[0]})", f"({a[1]} {operator} {b[1]})"
        if way == 1:
            return f"starts_with({a[0]}, {b[0]})", f"({a[1]}).startswith({b[1]})"
        if way == 2:
            return f"ends_with({a[0]}, {b[0]})", f"({a[1]}).endswith({b[1]})"
        if way == 3:
            return f"(find({a[0]}, {b[0]}) >= 0)", f"({b[1]} in {a[1]})"
        if way == 6:
            x, y = self.condition(depth + 1), self.condition(depth + 1)
            return dice.choice([(f"({x[0]} && {y[0]})", f"({x[1]} and {y[1]})"), (f"({x[0]} || {y[0]})", f"({x[1]} or {y[1]})")])
        if way == 7:
            x = self.condition(depth + 1)
            return f"!{x[0]}", f"(not {x[1]})"
        if way == 8:
            x, y, operator = self.number(depth + 1), self.number(depth + 1), dice.choice(["==", "!=", "<", ">="])
            return f"({x[0]} {operator} {y[0]})", f"({x[1]} {operator} {y[1]})"
        number = dice.choice(["0", "1", "8", "12", "64"])
        return f"(len({a[0]}) > {number}u)", f"(len({a[1]}) > {number})"

    def number(self, depth=0):
        """An int64_t."""
        dice = self.dice
        way = dice.randrange(12 if depth < 2 else 2)
        if way == 0 and self.numbers:
            return dice.choice(self.numbers)[:2]
        if way == 1:
            number = dice.choice(["0", "1", "below", "12", "255", "9223372036854775807"])
            return f"(int64_t){number}", number
        a = self.text(depth + 1)
        if way in (2, 3):
            return f"(int64_t)len({a[0]})", f"len({a[1]})"
        if way == 4:
            b = self.text(depth + 1)
            return f"find({a[0]}, {b[0]})", f"({a[1]}).find({b[1]})"
        if way == 5:
            x, y, operator = self.number(depth + 1), self.number(depth + 1), dice.choice("+-*^&|")
            return f"({x[0]} {operator} {y[0]})", f"i64({x[1]} {operator} {y[1]})"
        if way == 6:
            return self.byte_of(*a)
        if way == 7:
            return f"(int64_t)hash({a[0]})", f"i64(hash_of({a[1]}))"
        if way in (8, 9):
            return self.parsed(*a)
        helpers = [h for h in self.helpers if h[1] == "int64_t"]
        if way == 10 and helpers:
            return self.call_of(dice.choice(helpers), depth)
        condition = self.condition(depth + 1)
        other = self.number(depth + 1)
        return f"({condition[0]} ? {other[0]} : (int64_t)-1)", f"({other[1]} if {condition[1]} else -1)"

    def byte_of(self, of, py):
        if not is_name(of):
            of, py = self.dice.choice(self.texts)[:2]
        index = self.dice.choice(INDICES)
        if self.may_fail and self.dice.random() < 0.4:
            return f"(int64_t){of}[(int64_t){index}]", f"at({py}, {index})"
        index = index.replace("below", "2")
        return f"(len({of}) > {index}u ? (int64_t){of}[{index}] : (int64_t)-1)", f"({py}[{index}] if len({py}) > {index} else -1)"

    def parsed(self, of, py):
        name, otherwise = self.dice.choice(["parse_int", "parse_double", "parse_float"]), self.dice.choice(["0", "-1", "7"])
        second = "" if self.may_fail and self.dice.random() < 0.3 else f", {otherwise}"
        kernel = {"parse_int": "{}", "parse_double": "as_long({})", "parse_float": "(int64_t)as_uint({})"}[name]
        return kernel.format(f"{name}({of}{second})"), f"{name}({py}{second})"

    # --- Statements ---

    def result(self, depth):
        """What ends a map or a filter."""
        if self.kind == "filter":
            condition = self.condition()
            self.line(depth, f"return {condition[0]};", f"return {condition[1]}")
        elif self.dice.random() < 0.3:
            self.built(depth, 0)
        else:
            self.emit(depth)

    def emit(self, depth, built=None):
        number, t, u = self.number(), built or self.text(), self.text()
        if built and self.dice.random() < 0.3:
            t, u = u, t
        if self.kind == "map":
            self.line(depth, f"return (got){{ .n = {number[0]}, .t = {t[0]}, .u = {u[0]} }};", f"return ({number[1]}, {t[1]}, {u[1]})")
        elif self.dice.random() < 0.5:
            self.line(depth, f"emit((got){{ .n = {number[0]}, .t = {t[0]}, .u = {u[0]} }});", f"out.append(({number[1]}, {t[1]}, {u[1]}))")
        else:
            self.line(depth, f"emit({number[0]}, {t[0]}, {u[0]});", f"out.append(({number[1]}, {t[1]}, {u[1]}))")

    def block(self, depth, loops):
        texts, numbers = len(self.texts), len(self.numbers)
        for _ in range(self.dice.randint(1, 3)):
            self.statement(depth, loops)
        self.python.append("    " * depth + "pass")
        del self.texts[texts:], self.numbers[numbers:]

    def statement(self, depth, loops):
        self.left -= 1
        if self.lookups and self.left > 0 and self.dice.random() < 0.4:
            getattr(self, self.dice.choice(sorted(self.lookups)) + "looked_up")(depth)
            return
        way = self.dice.randrange(15) if self.left > 0 and depth < 5 else 0
        if way < 2 and self.kind == "flat_map":
            self.emit(depth)
        elif way < 4:
            text, name = self.text(), self.new_name("t")
            self.line(depth, f"text {name} = {text[0]};", f"{name} = {text[1]}")
            self.texts.append((name, name, True))
        elif way == 4:
            number, name = self.number(), self.new_name("n")
            self.line(depth, f"int64_t {name} = {number[0]};", f"{name} = {number[1]}")
            self.numbers.append((name, name, True))
        elif way < 7:
            self.assignment(depth)
        elif way == 7:
            self.bytes_loop(depth)
        elif way == 8 and self.kind == "flat_map":
            self.built(depth, loops)
        elif way == 9 and loops < 2:
            self.occurrences(depth)
        elif way < 12 or loops == 2:
            self.branch(depth, loops)
        else:
            self.token_loop(depth, loops)

    def assignment(self, depth):
        texts, numbers = [t for t in self.texts if t[2]], [n for n in self.numbers if n[2]]
        if texts and (not numbers or self.dice.random() < 0.5):
            text, name = self.text(), self.dice.choice(texts)[0]
            self.line(depth, f"{name} = {text[0]};", f"{name} = {text[1]}")
        elif numbers:
            number, name, operator = self.number(), self.dice.choice(numbers)[0], self.dice.choice("+-^|")
            self.line(depth, f"{name} {operator}= {number[0]};", f"{name} = i64({name} {operator} {number[1]})")

    def branch(self, depth, loops):
        condition = self.condition()
        self.line(depth, f"if ({condition[0]}) {{", f"if {condition[1]}:")
        self.block(depth + 1, loops)
        if self.dice.random() < 0.4:
            self.line(depth, "} else {", "else:")
            self.block(depth + 1, loops)
        if loops and self.dice.random() < 0.25:
            word = self.dice.choice(["break", "continue"])
            self.line(depth + 1, word + ";", word)
        elif self.kind == "flat_map" and self.dice.random() < 0.1:
            self.line(depth + 1, "return;", "return")
        self.line(depth, "}")

    def token_loop(self, depth, loops):
        """Of the whole text, of a short piece, or of the word of the loop around: so that no program takes the square of its input."""
        if not loops:
            kernel, python = self.texts[0][:2]
        elif self.words and self.dice.random() < 0.5:
            kernel = python = self.words[-1]
        else:
            of = self.text(1)
            kernel, python = f"({of[0]})[0:9]", f"cut({of[1]}, 0, 9)"
        if self.dice.random() < 0.3:
            case = self.dice.choice(["lower", "upper"])
            kernel, python = f"{case}({kernel})", f"({python}).{case}()"
        name = self.new_name("w")
        way, chars = self.dice.randrange(3), self.dice.choice(SEPARATORS)
        token_class = ["WORD", "SPACE", f"chars({c_string(chars)})"][way]
        in_python = [f"words({python})", f"spaces({python})", f"between({python}, {chars!r})"][way]
        self.line(depth, f"for (text {name} : tokens({kernel}, {token_class})) {{", f"for {name} in {in_python}:")
        texts = len(self.texts)
        self.texts.append((name, name, False))
        self.words.append(name)
        self.block(depth + 1, loops + 1)
        self.words.pop()
        del self.texts[texts:]
        self.line(depth, "}")

    def bytes_loop(self, depth):
        """A number that is made of the bytes of the start of a text."""
        of, index, name = self.text(), self.new_name("i"), self.new_name("n")
        text, end = self.new_name("t"), self.dice.choice([5, 20, 70])
        self.line(depth, f"const text {text} = ({of[0]})[0:{end}];", f"{text} = cut({of[1]}, 0, {end})")
        self.line(depth, f"int64_t {name} = 0;", f"{name} = 0")
        self.line(depth, f"for (uint64_t {index} = 0; {index} < len({text}); {index}++) {{", f"for {index} in range(len({text})):")
        way = self.dice.randrange(4)
        if way == 0:
            self.line(depth + 1, f"{name} = {name} * 31 + {text}[{index}];", f"{name} = i64({name} * 31 + {text}[{index}])")
        elif way == 1:
            self.line(depth + 1, f"if ({text}[{index}] >= 'a' && {text}[{index}] <= 'z') {name}++;", f"{name} += 97 <= {text}[{index}] <= 122")
        elif way == 2:
            self.line(depth + 1, f"if ({text}[{index}] == ' ') break;", f"if {text}[{index}] == 32: break")
            self.line(depth + 1, f"{name} ^= (int64_t){text}[{index}] << ({index} & 31);", f"{name} ^= {text}[{index}] << ({index} & 31)")
        else:
            self.line(depth + 1, f"if ({text}[{index}:{index} + 2] == {text}[{index} + 2:{index} + 4]) {{ {name} += 3; continue; }}",
                      f"if cut({text}, {index}, {index} + 2) == cut({text}, {index} + 2, {index} + 4):\n{'    ' * (depth + 2)}{name} += 3; continue")
            self.line(depth + 1, f"{name}--;", f"{name} -= 1")
        self.line(depth, "}")
        self.texts.append((text, text, False))
        self.numbers.append((name, name, True))

    def occurrences(self, depth):
        """Goes from one place of a pattern to the next."""
        of, rest, turns = self.text(), self.new_name("t"), self.new_name("n")
        pattern, most = self.dice.choice([p for p in PATTERNS if 0 < len(p) < 4]), self.dice.choice([1, 5, 30])
        self.line(depth, f"text {rest} = {of[0]};", f"{rest} = {of[1]}")
        self.line(depth, f"int64_t {turns} = 0;", f"{turns} = 0")
        self.line(depth, f"while ({turns} < {most} && find({rest}, {c_string(pattern)}) >= 0) {{", f"while {turns} < {most} and {pattern!r} in {rest}:")
        self.line(depth + 1, f"{rest} = {rest}[find({rest}, {c_string(pattern)}) + 1:len({rest})];", f"{rest} = {rest}[{rest}.find({pattern!r}) + 1:]")
        self.line(depth + 1, f"{turns}++;", f"{turns} += 1")
        self.line(depth, "}")
        self.texts.append((rest, rest, True))
        self.numbers.append((turns, turns, True))

    def built(self, depth, loops):
        """A text made byte by byte, of one or two others."""
        b, n, size = self.new_name("b"), self.new_name("n"), self.dice.choice([1, 8, 12, 13, 16, 40, 200])
        self.line(depth, f"uint8_t {b}[{size}];", f"{b} = Local({size})")
        self.line(depth, f"int64_t {n} = 0;", f"{n} = 0")
        fits = not self.may_fail or self.dice.random() < 0.5
        for _ in range(self.dice.randint(1, 2)):
            self.copied(depth, b, n, size, fits)
        length = (n, n)
        if self.may_fail and self.dice.random() < 0.2:
            length = self.dice.choice([(f"{n} - 2", f"{n} - 2"), (f"{size + 1}", f"{size + 1}"), (f"{n} + 1", f"{n} + 1")])
        self.emit(depth, (f"text({b}, {length[0]})", f"{b}.text({length[1]})"))
        if self.kind == "flat_map" and self.dice.random() < 0.3:
            self.line(depth, f"{b}[0] = 'Z';", f"{b}.put(0, 90)")
            self.emit(depth, (f"text({b}, {size})", f"{b}.text({size})"))

    def copied(self, depth, b, n, size, fits):
        of, text, index, end = self.text(1), self.new_name("t"), self.new_name("i"), self.dice.choice([4, 12, 13, 50])
        way = self.dice.randrange(3)
        put = [(f"{text}[{index}]", f"{text}[{index}]"), (f"{text}[{index}] | 32", f"{text}[{index}] | 32"),
               (f"{text}[len({text}) - 1 - {index}]", f"{text}[len({text}) - 1 - {index}]")][way]
        self.line(depth, f"const text {text} = ({of[0]})[0:{end}];", f"{text} = cut({of[1]}, 0, {end})")
        self.line(depth, f"for (uint64_t {index} = 0; {index} < len({text}); {index}++) {{", f"for {index} in range(len({text})):")
        room = f"{n} < {size}"
        if self.dice.random() < 0.4:
            self.line(depth + 1, f"if ({text}[{index}] == 'a') continue;", f"if {text}[{index}] == 97: continue")
        if fits:
            self.line(depth + 1, f"if ({room}) {{", f"if {room}:")
        self.line(depth + 2, f"{b}[{n}] = {put[0]};", None)
        self.python.append("    " * (depth + 2 if fits else depth + 1) + f"{b}.put({n}, {put[1]})")
        self.line(depth + 2, f"{n}++;", None)
        self.python.append("    " * (depth + 2 if fits else depth + 1) + f"{n} += 1")
        self.line(depth, "    }" if fits else "    ;")
        self.line(depth, "}")

    # --- Tables ---

    def named(self, depth, pair, kind):
        name = self.new_name("k")
        self.line(depth, f"const {kind} {name} = {pair[0]};", f"{name} = {pair[1]}")
        return name

    def found(self, depth, table, key, python_key):
        """What a table has, a number where it has none."""
        name, otherwise = self.new_name("n"), self.dice.choice(["-5", f"(int64_t)len({table})"])
        in_python = otherwise if otherwise == "-5" else f"len({table})"
        if self.dice.random() < 0.5:
            self.line(depth, f"int64_t {name} = {otherwise};", f"{name} = {in_python}")
            self.line(depth, f"if (has({table}, {key})) {name} = {table}[{key}];", f"if {python_key} in {table}: {name} = {table}[{python_key}]")
        else:
            self.line(depth, f"int64_t {name} = has({table}, {key}) ? {table}[{key}] : {otherwise};",
                      f"{name} = {table}.get({python_key}, {in_python})")
        self.numbers.append((name, name, True))

    def sum_looked_up(self, depth):
        key = self.named(depth, self.text(), "text")
        self.found(depth, "sum_", key, key)

    def place_looked_up(self, depth):
        a, b = self.named(depth, self.number(1), "int64_t"), self.named(depth, self.number(1), "int64_t")
        self.found(depth, "place_", f"((int32_t){a}, (uint8_t){b})", f"(i32({a}), {b} & 255)")

    def rows_looked_up(self, depth):
        """All rows of a key; their order may be that of a hash."""
        key, name, row = self.named(depth, self.number(1), "int64_t"), self.new_name("n"), self.new_name("e")
        kernel, python = f"rows_[(uint32_t)({key} & 63)]", f"rows_.get({key} & 63, [])"
        self.line(depth, f"int64_t {name} = (int64_t)len({kernel});", f"{name} = len({python})")
        self.line(depth, f"for (int64_t {row} : {kernel}) {{", f"for {row} in {python}:")
        if self.dice.random() < 0.4:
            self.line(depth + 1, f"if ({row} % 2 == 0) continue;", f"if {row} % 2 == 0: continue")
        self.line(depth + 1, f"{name} {self.dice.choice(['+=', '^='])} {row} * 3;", None)
        operator = self.kernel[-1].split()[1][0]
        self.python.append("    " * (depth + 1) + f"{name} = i64({name} {operator} i64({row} * 3))")
        self.line(depth, "}")
        self.numbers.append((name, name, True))

    # --- Helpers ---

    def helper(self):
        """A function of texts, called by those behind it and by this one."""
        dice, kind = self.dice, self.dice.choice(["text", "int64_t"])
        outer = self.kernel, self.python, self.texts, self.numbers
        self.kernel, self.python = [], []
        self.texts, self.numbers = [("a_", "a_", False), ("c_", "c_", False)], [("k_", "k_", False)]
        early, late = (self.text(), self.text()) if kind == "text" else (self.number(1), self.number())
        if dice.random() < 0.5:
            self.line(1, "for (text w_ : tokens(a_[0:30], WORD)) {", "for w_ in words(cut(a_, 0, 30)):")
            self.texts.append(("w_", "w_", False))
            condition = self.condition(1)
            found = ("w_", "w_") if kind == "text" else ("(int64_t)len(w_)", "len(w_)")
            self.line(2, f"if ({condition[0]}) return {found[0]};", f"if {condition[1]}: return {found[1]}")
            self.line(1, "}")
        else:
            condition = self.condition(1)
            self.line(1, f"if ({condition[0]}) return {early[0]};", f"if {condition[1]}: return {early[1]}")
        self.line(1, f"return {late[0]};", f"return {late[1]}")
        name = f"{self.name}_h{len(self.helpers)}"
        self.helper_kernel += [f"{kind} {name}(text a_, text c_, int64_t k_)", "{", BELOW] + self.kernel + ["}"]
        self.helper_python += [f"def {name}(a_, c_, k_):"] + self.python
        self.kernel, self.python, self.texts, self.numbers = outer
        self.helpers.append((name, kind, ("text", "text", "int64_t")))

    # --- Whole ---

    def kernel_text(self):
        result = "" if self.kind == "filter" else " -> got"
        return "\n".join(self.helper_kernel + [f"{self.kind} {self.name}({self.parameter}){result}", "{", BELOW] + self.kernel + ["}"]) + "\n"

    def compiled(self):
        """A Python function of (record) that gives the records, raises Fail, or (filter) tells whether it stays."""
        space = {name: getattr(text_values, name) for name in dir(text_values)}
        space.update(self.lookups)
        parameter = self.parameter.split(",")[0].split()[-1]
        body = self.python or ["    pass"]
        exec("\n".join(["below = -7"] + self.helper_python + [f"def run({parameter}, out):"] + body), space)
        if self.kind == "filter":
            return lambda record: [record] if space["run"](record, None) else []
        if self.kind == "map":
            return lambda record: [space["run"](record, None)]

        def flat(record):
            out = []
            space["run"](record, out)
            return out
        return flat
