#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes a C file with the OpenCL C of a folder's .cl files in pieces (base/pieces.h), as C arrays. Comments stay:
# they are part of the kernels people read.
#
# A .cl file compiles by itself (tests/package/opencl_alone.py), behind a dialect (base/dialect_*.cl). Above its
# `#pragma once` stands what is for readers and compilers alone, its macros:
#
#     //# KEY uint | ulong        who takes the file writes `#define KEY ...` in front; with uint and with ulong it compiles
#     //: SETUP i++;              who takes the file has the word replaced: compilers see no macro, and people the text
#
# `#include "x.cl"` says which files it needs: pieces are taken by name, so the line goes. What the text becomes:
#
#   piece     a function, a type, an enum, a #define, an #if with what it holds, a kernel; with the comment in front of
#             it. The first comment of a file is a piece without a name, which goes with any of the file's
#   frame     a file with the macro KERNEL stays whole: kernels that are filled in with printed text
#             (hdst__frame_write). An indented #include, within a function, is written out
#   pattern   a file that others include behind #defines of its `//:` macros: it is written out for each of them, with
#             the macros expanded, #ifs on them decided, and names pasted together (base/join.cl)
#   family    a macro that pastes names (##), by which functions are defined: its uses are written out
#
# No word of a piece is spelled as what users name, or as what is made from that (codegen/opencl/identifiers.h), and
# macros put their arguments in parentheses: else nothing is written.
# Usage: embed_pieces.py OUTPUT DEPFILE TABLE FILE...
import os
import re
import sys

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def c_bytes(data):
    values = list(data) + [0]
    return ",\n".join("    " + ", ".join(str(v) for v in values[i:i + 24]) for i in range(0, len(values), 24))


# --- What kernels rely on ---

OF_THE_PROGRAM = re.compile(r"[A-Za-z]\w*_([A-Z][a-z][A-Za-z0-9]*|[0-9a-f]{8}\w*)?")
MACRO = re.compile(r"#define (\w+)\(([^)]*)\)(.*)")


def code_of(text):
    return re.sub(r"//[^\n]*", "", text)


def check_words(name, text):
    for word in IDENTIFIER.findall(code_of(text)):
        if OF_THE_PROGRAM.fullmatch(word):
            sys.exit(f"{name}: '{word}' is spelled as names of the program are (codegen/opencl/identifiers.h)")


def check_macro(name, group):
    """Families apart, whose arguments are types and numbers."""
    match = MACRO.match(code_of(" ".join(group)))
    if not match or "..." in match.group(2):
        return
    for param in filter(None, (p.strip() for p in match.group(2).split(","))):
        for use in re.finditer(rf"\b{param}\b", match.group(3)):
            before, after = match.group(3)[:use.start()].rstrip(), match.group(3)[use.end():].lstrip()
            if before[-1:] not in ("(", "[", ",") or after[:1] not in (")", "]", ","):
                sys.exit(f"{name}: macro {match.group(1)} does not put '{param}' in parentheses")


# --- Families ---

class Family:
    def __init__(self, head, body):
        self.params = [p.strip() for p in head.split(",")]
        self.body = body

    def expand(self, arguments):
        values = dict(zip(self.params, arguments))
        text = "\n".join(IDENTIFIER.sub(lambda m: values.get(m.group(), m.group()), line) for line in self.body)
        return re.sub(r"\s*##\s*", "", text).split("\n")


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return parts + [text[start:].strip()]


def logical_lines(text):
    """Lines, with those that a backslash continues in one list."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        group = [lines[at]]
        while group[-1].endswith("\\"):
            at += 1
            group.append(lines[at])
        at += 1
        yield [line[:-1].rstrip() if line.endswith("\\") else line for line in group]


def family_of(group, families):
    """The name of the family that the lines define; a macro that uses one defines one too."""
    match = re.match(r"#define (\w+)\(([^)]*)\)\s*(.*)", group[0])
    if not match:
        return None
    body = ([match.group(3)] if match.group(3) else []) + [line[4:] for line in group[1:]]
    if not any("##" in line or use_of(line, families) for line in body):
        return None
    families[match.group(1)] = Family(match.group(2), body)
    return match.group(1)


def use_of(line, families):
    match = re.match(r"(\w+)\((.*)\)$", line)
    return (families[match.group(1)], split_arguments(match.group(2))) if match and match.group(1) in families else None


def written_out(line, families):
    use = use_of(line, families)
    if not use:
        return [line]
    return [inner for outer in use[0].expand(use[1]) for inner in written_out(outer, families)]


# --- Patterns ---

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JOINS = "base/join.cl"


def closing(text, at):
    """Behind the parenthesis that closes the one at `at`."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return end + 1
    sys.exit(f"no parenthesis closes: {text[at:at + 60]}")


def expand(text, macros):
    """As the preprocessor does: words of the text become what they are defined as, again and again. `macros`: {name: (params or None, body)}."""
    out, at = "", 0
    for match in IDENTIFIER.finditer(text):
        if match.start() < at or match.group() not in macros:
            continue
        params, body = macros[match.group()]
        end = match.end()
        if params is not None:
            if text[end:end + 1] != "(":
                continue
            end = closing(text, end)
            # ## takes its operands as they stand; all else takes them expanded.
            given = [(a, expand(a, macros)) for a in split_arguments(text[match.end() + 1:end - 1])]
            values = dict(zip(params, given))
            body = re.sub(r"(\w+)\s*##\s*(\w+)", lambda m: "".join(values.get(w, (w,))[0] for w in m.groups()), body)
            body = IDENTIFIER.sub(lambda m: values[m.group()][1] if m.group() in values else m.group(), body)
        inner = {name: macro for name, macro in macros.items() if name != match.group()}
        out += text[at:match.start()] + expand(body, inner)
        at = end
    return out + text[at:]


READ = set()


def read(path):
    READ.add(path)
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def macros_of_head(text):
    """Of files included within functions too."""
    below = [macro for path in re.findall(r'^ +#include "([^"]+)"', text, re.M) for macro in macros_of_head(read(path))]
    return list(dict.fromkeys(re.findall(r"^//: (\w+)", text, re.M) + below))


def without_head(text):
    """Without what is for readers of the file: above `#pragma once`, or up to the last macro."""
    return re.split(r"^//[:#] .*\n", text.split("#pragma once\n")[-1], flags=re.M)[-1]


def with_sections(text):
    """What is included within functions stands there."""
    def section(match):
        return "".join(match.group(1) + line + "\n" if line else "\n" for line in without_head(read(match.group(2))).rstrip("\n").split("\n"))
    return re.sub(r'^( +)#include "([^"]+)"\n', section, text, flags=re.M)


def includes_of(text):
    return re.findall(r'^#include "([^"]+)"', text, re.M)


class Patterns:
    """Reads a file as a preprocessor would that knows only the macros of patterns."""

    def __init__(self):
        self.macros = {}

    def define(self, line):
        match = re.match(r"#define (\w+)(?:\(([^)]*)\))? ?(.*)", line)
        params = [p.strip() for p in match.group(2).split(",")] if match.group(2) is not None else None
        self.macros[match.group(1)] = (params, re.sub(r"\s*//.*", "", match.group(3)))

    def is_own(self, line, wanted):
        """A #define for a pattern, or of what a pattern pastes."""
        match = re.match(r"#define (\w+)(.*)", line)
        return match and (match.group(1) in wanted or any(w in self.macros for w in IDENTIFIER.findall(match.group(2))))

    def written(self, text, wanted, inside):
        """`wanted`: macros of the heads of the patterns that are included."""
        lines, chosen = [], []          # of the open #ifs of pattern macros: whether their lines count; None: an #if that stays
        for line in text.split("\n"):
            if line.startswith("#if") and (not line.startswith("#if ") or line[4:].lstrip("!") not in self.macros):
                chosen.append(None)
            elif line.startswith("#if"):
                value = self.macros[line[4:].lstrip("!")][1] not in ("", "0")
                chosen.append(value != line.startswith("#if !"))
                continue
            elif line.startswith("#else") and chosen[-1] is not None:
                chosen[-1] = not chosen[-1]
                continue
            elif line.startswith("#endif") and chosen.pop() is not None:
                continue
            if False in chosen:
                continue
            included = re.match(r'#include "([^"]+)"', line)
            undefined = re.match(r"#undef (\w+)", line)
            if included and (included.group(1) == JOINS or set(macros_of_head(read(included.group(1)))) & set(self.macros)):
                below = read(included.group(1))
                lines += self.written(without_head(below), wanted | self.heads(below), True)
            elif included:
                continue
            elif self.is_own(line, wanted) or (inside and "##" in line and line.startswith("#define")):
                self.define(line)
            elif undefined and undefined.group(1) in self.macros:
                del self.macros[undefined.group(1)]
            else:
                lines.append(expand(line, self.macros) if self.macros else line)
        return lines

    @staticmethod
    def heads(text):
        """What is defined for the patterns that `text` includes, those in theirs among them."""
        found, defined = set(), set(re.findall(r"^#define (\w+)", text, re.M))
        for path in includes_of(text):
            below = read(path)
            found |= set(macros_of_head(below)) & defined
            if set(macros_of_head(below)) & defined or path == JOINS:
                found |= Patterns.heads(below)
        return found


# --- Pieces ---

def without_attributes(text):
    while "__attribute__" in text:
        at = text.index("__attribute__")
        text = text[:at] + text[closing(text, text.index("(", at)):]
    return text


def names_of(text):
    text = "\n".join(line for line in text.split("\n") if not line.startswith("//"))
    if text.startswith("#pragma"):
        return []
    if text.startswith("#"):
        return list(dict.fromkeys(re.findall(r"^#define (\w+)", text, re.M) + re.findall(r"^(?:inline|INLINED) [^(]*?(\w+)\(", text, re.M)))
    if text.startswith("enum"):
        return re.findall(r"[{,] *(\w+)", text)
    if text.startswith("typedef struct {"):
        return [re.search(r"^} (\w+);", text, re.M).group(1)]
    if text.startswith("typedef"):
        return [re.match(r"typedef (?:struct )?\w+ (\w+)" if "{" not in text else r"typedef struct (\w+)", text).group(1)]
    return [re.search(r"(\w+)\(", without_attributes(text)).group(1)]


def pieces_of(name, text, families):
    """[(names, text)]; no names: the file's comment."""
    comment, current, pieces, first, depth = [], [], [], True, 0
    for group in logical_lines(text):
        if depth == 0 and family_of(group, families):
            comment = []
            continue
        if group[0].startswith("#define"):
            group = [" ".join(line.strip() for line in group)]
        check_macro(name, group)
        for line in (inner for outer in group for inner in written_out(outer, families)):
            if not line:
                continue
            if line.startswith("//") and not current:
                comment.append(line)
                continue
            if first and comment:
                pieces.append(([], "\n".join(comment) + "\n"))
                comment = []
            first = False
            in_function = bool(current) and not current[0].startswith("#")
            current.append(line)
            if not in_function:
                depth += bool(re.match(r"#if", line)) - line.startswith("#endif")
            code = code_of(line).rstrip()
            ends = line.startswith("}") if len(current) > 1 else code.endswith(("}", ";")) or line.startswith("#")
            whole = depth == 0 and (ends or line.startswith("#endif") and not in_function)
            if whole:
                body = "\n".join(comment + current) + "\n"
                pieces.append((names_of("\n".join(current)), body))
                comment, current = [], []
        if first and comment and group == [""]:
            pieces.append(([], "\n".join(comment) + "\n"))
            comment, first = [], False
    assert not current, (name, current)
    return pieces


def learn_families(text, families):
    """Those of the files that it includes."""
    for path in includes_of(text):
        below = read(path)
        learn_families(below, families)
        for group in logical_lines(below):
            family_of(group, families)


def main():
    output, depfile, table, files = sys.argv[1], sys.argv[2], sys.argv[3], [os.path.relpath(f, ROOT) for f in sys.argv[4:] if f.endswith(".cl")]
    texts = {path: read(path) for path in files}
    rows = []
    with open(output, "w", encoding="utf-8") as out:
        out.write(f'// Made by base/embed_pieces.py; do not edit.\n#include "base/pieces.h"\n\nextern const hdst__pieces {table};\n\n')
        for path, text in texts.items():
            name, macros = os.path.basename(path), macros_of_head(text)
            if "#pragma once\n" not in text:
                sys.exit(f"{path}: has no #pragma once, so it is for others to include")
            written = "\n".join(Patterns().written(with_sections(without_head(text)), Patterns.heads(text), False))
            families = {}
            learn_families(text, families)
            frame = "KERNEL" in macros
            for names, piece in [([], written)] if frame else pieces_of(name, written, families):
                check_words(name, piece)
                out.write(f"static const char text_{len(rows)}[] = {{\n{c_bytes(piece.encode())}\n}};\n\n")
                rows.append(f'    {{"{name}", "{" ".join(names)}", text_{len(rows)}, "{" ".join(macros) if frame else ""}"}},')
        out.write("static const hdst__piece all[] = {\n" + "\n".join(rows) + "\n};\n")
        out.write(f"const hdst__pieces {table} = {{all, sizeof all / sizeof *all}};\n")
    with open(depfile, "w", encoding="utf-8") as out:
        out.write(f"{output}: {' '.join(os.path.join(ROOT, path) for path in sorted(READ))}\n")


if __name__ == "__main__":
    main()
