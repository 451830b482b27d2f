#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes templates.c: the text of each template as a C array, and three tables: the kernels' skeletons {name, text}, programs of the engine's own {name, text}, and the pieces of
# the prelude's files, so that a kernel gets those that it names (prelude.c). Comments stay: they are part of the kernels people read.
#
# A piece is a function, a type, an enum or a #define with the comment in front of it; the first comment of a file is a piece without a name, which goes with any of the file's.
# A macro that pastes names (##) makes a family of functions: its uses are written out here, function by function, so that kernels hold no such macro.
#
# No word of a template is spelled as what users name, or as what is made from that (codegen/opencl/identifiers.h), and macros put their arguments in parentheses: else nothing is written.
# Usage: embed.py OUTPUT FILE...
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
    return re.sub(r"@\w+@", "hole", re.sub(r"//[^\n]*", "", text))


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


# --- Pieces ---

def names_of(text):
    line = next(line for line in text.split("\n") if not line.startswith("//"))
    if line.startswith("#define"):
        return [re.match(r"#define (\w+)", line).group(1)]
    if line.startswith("enum"):
        return re.findall(r"(\w+) =", line)
    if line.startswith("typedef"):
        return [re.match(r"typedef \w+ (\w+)", line).group(1)]
    return [re.search(r"(\w+)\(", re.sub(r"__attribute__\(\(.*?\)\)", "", line)).group(1)]


def pieces_of(name, text, families):
    """[(names, text)]; no names: the file's comment."""
    comment, current, pieces, first = [], [], [], True
    for group in logical_lines(text):
        if family_of(group, families):
            comment = []
            continue
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
            current.append(line)
            whole = line == "}" or (len(current) == 1 and (line.endswith("}") or line.endswith(";") or line.startswith("#")))
            if whole:
                body = "\n".join(comment + current) + "\n"
                pieces.append((names_of("\n".join(current)), body))
                comment, current = [], []
        if first and comment and group == [""]:
            pieces.append(([], "\n".join(comment) + "\n"))
            comment, first = [], False
    assert not current, current
    return pieces


def main():
    output, files = sys.argv[1], [f for f in sys.argv[2:] if f.endswith('.cl')]
    texts = {}
    for path in files:
        with open(path, encoding="utf-8") as template:
            texts[os.path.basename(path)] = template.read()
    skeletons = [name for name in texts if re.split("[_.]", name)[0] in ("kernel", "count", "emit", "group", "merge", "finish", "part", "levels", "fast") or name in ("head.cl", "vector_loop.cl", "minmax_values.cl", "rounding.cl")]
    families, rows, number = {}, {"template": [], "program_text": [], "piece": []}, 0
    with open(output, "w", encoding="utf-8") as out:
        out.write('// Made by base/embed_pieces.py; do not edit.\n#include "base/pieces.h"\n\n')
        for name, text in texts.items():
            of_engine = name.startswith(("sort_", "hash_"))
            pieces = [([], text)] if name in skeletons or of_engine else pieces_of(name, text, families)
            for group in logical_lines(text) if name in skeletons or of_engine else ():
                check_macro(name, group)
            for names, piece in pieces:
                check_words(name, piece)
                out.write(f"static const char text_{number}[] = {{\n{c_bytes(piece.encode())}\n}};\n\n")
                if of_engine:
                    rows["program_text"].append(f'    {{"{name}", text_{number}}},')
                elif name in skeletons:
                    rows["template"].append(f'    {{"{name}", text_{number}, {"true" if name.startswith("kernel_") else "false"}}},')
                else:
                    rows["piece"].append(f'    {{"{name}", "{" ".join(names)}", text_{number}}},')
                number += 1
        for table, lines in rows.items():
            text = "\n".join(lines)
            out.write(f"const hdst__{table} hdst__{table}s[] = {{\n{text}\n}};\n")
            out.write(f"const size_t hdst__{table}_count = sizeof hdst__{table}s / sizeof *hdst__{table}s;\n")


if __name__ == "__main__":
    main()
