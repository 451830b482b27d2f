#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes templates.c: the text of each template as a C array, and one table {name, text}. Comments stay: they are part of the kernels people read.
# Usage: embed.py OUTPUT FILE...
import os
import sys


def c_bytes(data):
    values = list(data) + [0]
    return ",\n".join("    " + ", ".join(str(v) for v in values[i:i + 24]) for i in range(0, len(values), 24))


def row(number, name):
    return f'    {{"{name}", text_{number}, {"true" if name.startswith("kernel_") else "false"}}},'


def main():
    output, files = sys.argv[1], [f for f in sys.argv[2:] if f.endswith('.cl')]
    with open(output, "w") as out:
        out.write('// Made by codegen/templates/embed.py; do not edit.\n#include "codegen/templates.h"\n\n')
        for number, path in enumerate(files):
            with open(path, "rb") as template:
                out.write(f"static const char text_{number}[] = {{\n{c_bytes(template.read())}\n}};\n\n")
        rows = "\n".join(row(number, os.path.basename(path)) for number, path in enumerate(files))
        out.write(f"const hdst__template hdst__templates[] = {{\n{rows}\n}};\n")
        out.write("const size_t hdst__template_count = sizeof hdst__templates / sizeof *hdst__templates;\n")


main()
