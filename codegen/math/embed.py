#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes math_sources.c: the kernel files of this folder as C arrays, and which function stands in which of them.
# Usage: embed.py OUTPUT FILE.hk...
import os
import re
import sys

FUNCTION = re.compile(r"^[a-z0-9_]+ ([a-z0-9_]+)\(", re.MULTILINE)


def c_bytes(data):
    values = list(data) + [0]
    return ",\n".join("    " + ", ".join(str(v) for v in values[i:i + 24]) for i in range(0, len(values), 24))


def main():
    output, files = sys.argv[1], [f for f in sys.argv[2:] if f.endswith('.hk')]
    with open(output, "w") as out:
        out.write('// Made by codegen/math/embed.py; do not edit.\n#include "codegen/front/math.h"\n\n')
        functions, rows = [], []
        for number, path in enumerate(files):
            with open(path, "rb") as source:
                text = source.read()
            out.write(f"static const char text_{number}[] = {{\n{c_bytes(text)}\n}};\n\n")
            rows.append(f'    {{"hdst:{os.path.basename(path)}", text_{number}, {len(text)}}},')
            functions += [f'    {{"{name}", {number}}},' for name in FUNCTION.findall(text.decode())]
        out.write("const hdst__math_file hdst__math_files[] = {\n" + "\n".join(rows) + "\n};\n")
        out.write("const size_t hdst__math_file_count = sizeof hdst__math_files / sizeof *hdst__math_files;\n\n")
        out.write("const hdst__math_function hdst__math_functions[] = {\n" + "\n".join(functions) + "\n};\n")
        out.write("const size_t hdst__math_function_count = sizeof hdst__math_functions / sizeof *hdst__math_functions;\n")


main()
