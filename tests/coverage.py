#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of the compiler that tests ran, by file and group, from gcov's counts.

Of the random programs of tests/differential, which `make coverage` runs, it tells how much of the compiler they look into: 90 % of checker, passes and
printers is what they can reach and are to reach. The rest is out of their reach and the affair of other suites: messages about mistakes of kinds that
the random ones lack (tests/codegen), groups and schemas, IR as text, devices without doubles or correct roundings, kernels given apart. That a line ran
does not say that it is right.

usage: coverage.py [--missed] [--least PERCENT] BUILD-FOLDER

The build folder was configured with -Db_coverage=true and tests ran from it (`make coverage` does both). --missed names the lines that never ran.
--least fails when one of the groups checker, passes, printers stays below.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

GROUPS = {      # by the beginning of the path within codegen/; the first that fits
    'checker': ('front/check', 'front/module.c', 'ir/eval.c'),
    'lowering': ('lower/lower', 'lower/fuse'),
    'passes': ('pass/',),
    'code given apart': ('opencl/external_kernel',),
    'printers': ('opencl/print', 'opencl/kernel'),
    'interpreter': ('interp/',),
    'front': ('front/lex', 'front/parse'),
    'ir as text': ('ir/ir_dump',),
    'ir': ('ir/ir_',),
}
REQUIRED = ('checker', 'passes', 'printers')


def counts_of(build):
    """{source: {line: executions}} of codegen/, summed over all objects."""
    lines = {}
    data = [str(path.resolve()) for path in pathlib.Path(build).rglob('codegen_*.c.gcda')]
    if not data:
        sys.exit(f'coverage.py: nothing ran in {build}')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['gcov', '--json-format', *data], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for report in pathlib.Path(folder).glob('*.gcov.json.gz'):
            for source in json.load(gzip.open(report))['files']:
                path = pathlib.PurePath(source['file'])
                if path.suffix != '.c' or 'codegen' not in path.parts:
                    continue
                counts = lines.setdefault('/'.join(path.parts[path.parts.index('codegen') + 1:]), {})
                for line in source['lines']:
                    counts[line['line_number']] = counts.get(line['line_number'], 0) + line['count']
    return lines


def group_of(name):
    return next((group for group, starts in GROUPS.items() if name.startswith(starts)), None)


def ranges(numbers):
    """[3, 4, 5, 9] as '3-5 9'"""
    text, start = [], None
    for i, n in enumerate(numbers):
        start = n if start is None else start
        if i + 1 == len(numbers) or numbers[i + 1] != n + 1:
            text.append(f'{start}-{n}' if n > start else str(n))
            start = None
    return ' '.join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build')
    parser.add_argument('--missed', action='store_true', help='name the lines that never ran')
    parser.add_argument('--least', type=float, help='percent that checker, passes and printers must reach')
    options = parser.parse_args()
    lines = counts_of(options.build)
    low = []
    for group in GROUPS:
        files = sorted(name for name in lines if group_of(name) == group)
        ran = sum(sum(1 for c in lines[name].values() if c) for name in files)
        total = sum(len(lines[name]) for name in files)
        percent = 100 * ran / total if total else 0
        if group in REQUIRED and options.least and percent < options.least:
            low.append(group)
        print(f'{group:16} {percent:5.1f} %  {ran} of {total} lines')
        for name in files:
            missed = sorted(n for n, c in lines[name].items() if not c)
            print(f'    {name:34} {100 - 100 * len(missed) / len(lines[name]):5.1f} %  {ranges(missed) if options.missed else ""}')
    if low:
        sys.exit(f'coverage.py: less than {options.least:g} % of {", ".join(low)}')


main()
