#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every .cl file compiles by itself, for CPU devices and for GPUs, without a warning: behind a dialect (base/dialect_*.cl), with the macros that its head
names, and those that the files it includes name (base/embed_pieces.py tells how heads are written).

A file without `#pragma once` is for others to include: it is compiled where they do, and one that nobody includes fails.

usage: opencl_alone.py SOURCE-ROOT [COMPILER]
"""
import concurrent.futures
import itertools
import pathlib
import re
import shutil
import subprocess
import sys

COMPILERS = ('clang', 'clang-15', 'clang-16', 'clang-14', 'clang-13')     # PoCL has one of them
# For each target, its dialects: those that kernels get there (codegen/opencl/prelude.c).
TARGETS = {
    'cpu': (['-target', 'x86_64', '-march=x86-64-v3'], ['base/dialect_clang.cl', 'base/dialect_portable.cl']),
    'gpu': (['-target', 'nvptx64', '-Xclang',
             '-cl-ext=+cl_khr_fp64,+cl_khr_int64_base_atomics', '-D__NV_CL_C_VERSION=120', '-Dasm=__asm__'], ['base/dialect_plain.cl']),
}
CPU_ALONE = r'_cpu\.cl$|^levels_|^(first_level|row_sums|fast.*|dialect_clang)\.cl$'       # written for clang; all else is for every compiler
FLAGS = ['-x', 'cl', '-cl-std=CL1.2', '-Xclang', '-finclude-default-header', '-Xclang', '-fdeclare-opencl-builtins', '-Werror', '-fsyntax-only', '-']
MOST_CHOICES = 64


def includes_of(text):
    return re.findall(r'^ *#include "([^"]+)"', text, re.M)


def macros_of(root, path, seen):
    """{macro: [values]} of the file and those that it includes; its own come first."""
    if path in seen:
        return {}
    seen.add(path)
    text, macros = (root / path).read_text(), {}
    defined = set(re.findall(r'^#define (\w+)', text, re.M))
    for name, values in re.findall(r'^//[:#] (\w+(?:\(\w*\))?) ?(.*)$', text, re.M):
        macros[name] = [value.strip() for value in values.split(' | ')]
    for below in includes_of(text):
        for name, values in macros_of(root, below, seen).items():
            if name.split('(')[0] not in defined:
                macros.setdefault(name, values)
    return macros


def choices_of(macros):
    """Every combination of the macros' values, as lines in front of the file."""
    names = list(macros)
    for values in itertools.product(*macros.values()):
        yield ''.join(f'#define {name} {value}\n' for name, value in zip(names, values))


def sources_of(root, path):
    macros = macros_of(root, path, set())
    choices = list(choices_of(macros))
    if len(choices) > MOST_CHOICES:
        sys.exit(f'{path}: {len(choices)} combinations of its macros')
    for target, (flags, dialects) in TARGETS.items():
        if target != 'cpu' and re.search(CPU_ALONE, path.rsplit('/', 1)[-1]):
            continue
        if 'dialect' in path:
            dialects = [path]
        # All choices in the first dialect, the first one in the others.
        for dialect, choice in [(dialects[0], choice) for choice in choices] + [(dialect, choices[0]) for dialect in dialects[1:]]:
            extensions = '#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#include "base/head.cl"\n'
            yield path, target, flags, f'{extensions}#include "{dialect}"\n{choice}#include "{path}"\n'


def compile_one(compiler, root, source):
    path, target, flags, text = source
    done = subprocess.run([compiler, *flags, '-I', str(root), *FLAGS], input=text, capture_output=True, text=True)
    if done.returncode == 0 and not done.stderr:
        return None
    return f'{path} does not compile for a {target}, behind\n{text}{done.stderr}'


def main():
    root = pathlib.Path(sys.argv[1])
    compiler = sys.argv[2] if len(sys.argv) > 2 else next(filter(None, map(shutil.which, COMPILERS)), None)
    if not compiler:
        sys.exit('no clang is there, which comes with PoCL')
    folders = ('base', 'record', 'accum', 'codegen', 'engine', 'shuffle')
    files = sorted(str(path.relative_to(root)) for folder in folders for path in (root / folder).rglob('*.cl'))
    texts = {path: (root / path).read_text() for path in files}
    included = {below for text in texts.values() for below in includes_of(text)}
    wrong = [f'{path}: no file includes it, and it has no #pragma once' for path in files if '#pragma once\n' not in texts[path] and path not in included]
    sources = [source for path in files if '#pragma once\n' in texts[path] for source in sources_of(root, path)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong += filter(None, pool.map(lambda source: compile_one(compiler, root, source), sources))
    if len(files) < 40:
        wrong.append(f'only {len(files)} .cl files')
    if wrong:
        sys.exit('\n'.join(wrong))
    print(f'{len(files)} files, {len(sources)} programs')


main()
