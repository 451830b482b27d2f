#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the program of a seed smaller as long as its forms differ among one another (from the function as lowered, in the interpreter).

usage: reduce.py TEST-PROGRAM SEED        (build/tests/differential/test_differential_interpreter, or ..._opencl)

Lines and balanced blocks go first, then operands. Types of records stay, for the data have them.
"""
import os
import re
import subprocess
import sys
import tempfile


def run(program, seed, path):
    env = dict(os.environ, HDST_DIFF_PROGRAMS='1', HDST_DIFF_KERNELS='1', HDST_DIFF_SEED=str(seed))
    if path:
        env['HDST_DIFF_TEXT'] = path
    try:
        return subprocess.run([program], env=env, capture_output=True, text=True, timeout=60).stderr
    except subprocess.TimeoutExpired:
        return ''


def differs(program, seed, text, path, want):
    with open(path, 'w') as file:
        file.write(text)
    output = run(program, seed, path)
    found = re.search(r'^--- seed \d+ \((.*?)\): (.*)', output, re.M)
    return 'no program' not in output and found and found.group(1) == want[0] and ('error' in found.group(2)) == want[1]


def block_end(lines, i):
    depth = 0
    for k in range(i, len(lines)):
        depth += lines[k].count('{') - lines[k].count('}')
        if depth <= 0:
            return k
    return len(lines) - 1


def smaller_lines(lines):
    for i in range(len(lines) - 1, -1, -1):
        end = block_end(lines, i)
        yield lines[:i] + lines[end + 1:]
        if end > i:
            yield lines[:i] + lines[i + 1:end] + lines[end + 1:]
            yield lines[:i] + ['{'] + lines[i + 1:]


def smaller_terms(lines):
    for i, line in enumerate(lines):
        for m in re.finditer(r'\([^()]*\)', line):
            for new in ('0', '1', '(1)', m.group(0)[1:-1]):
                if len(new) < len(m.group(0)):
                    yield lines[:i] + [line[:m.start()] + new + line[m.end():]] + lines[i + 1:]
        for m in re.finditer(r'[\w.\[\]()]+ (?:[-+*/%&|^<>]|<<|>>|<=|>=|==|!=|&&|\|\|) | (?:[-+*/%&|^<>]|<<|>>|<=|>=|==|!=|&&|\|\|) [\w.\[\]()]+', line):
            yield lines[:i] + [line[:m.start()] + line[m.end():]] + lines[i + 1:]
        for m in re.finditer(r'\b\w+\([^()]*\)|\w+(?:\[[^\[\]]*\]|\.\w+)+', line):
            yield lines[:i] + [line[:m.start()] + '1' + line[m.end():]] + lines[i + 1:]
        for m in re.finditer(r' \? [^?:]* : ', line):
            yield lines[:i] + [line[:m.start()] + ' + ' + line[m.end():]] + lines[i + 1:]


def main():
    program, seed = sys.argv[1], int(sys.argv[2])
    output = run(program, seed, None)
    found = re.search(r'^--- seed \d+ \((.*?)\): (.*)\n((?:.*\n)*?)(?=\d+ (?:programs|kernels) from)', output, re.M)
    if not found:
        sys.exit('reduce.py: it does not differ')
    want = (found.group(1), 'error' in found.group(2))
    lines = found.group(3).rstrip('\n').split('\n')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'program.hk')
        if not differs(program, seed, '\n'.join(lines) + '\n', path, want):
            sys.exit('reduce.py: the forms agree with the function as lowered; it is that one that differs from the C')
        again = True
        while again:
            again = False
            for candidates in (smaller_lines, smaller_terms):
                progress = True
                while progress:
                    progress = False
                    for candidate in candidates(lines):
                        if differs(program, seed, '\n'.join(candidate) + '\n', path, want):
                            lines, progress, again = candidate, True, True
                            break
    print('\n'.join(lines))


main()
