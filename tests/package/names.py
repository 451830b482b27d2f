#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation names what there is: every public name in docs/, docs/design/, README.md and the tutorial is in
a public header (hdst/hdst.h, hdst/error.h ...), or is listed as planned in docs/design/README.md; a file of docs/design says in its head which
of its names are planned. Names of the library's inside are looked for in its sources.

usage: names.py SOURCE-ROOT
"""
import pathlib
import re
import sys

NAME = re.compile(r'\bhdst_[a-z0-9_]*[a-z0-9]\b|\bHDST_[A-Z0-9_]*[A-Z0-9]\b')
FOLDERS = ('base', 'record', 'accum', 'codegen', 'io', 'shuffle', 'engine', 'plan', 'hdst', 'tools', 'tests', 'bench', 'examples')
HEAD_LINES = 6


def names_of(path):
    return set(NAME.findall(path.read_text(errors='replace')))


def planned_in(text):
    """The names behind "Not there yet:" up to the end of the paragraph or comment."""
    found = re.search(r'Not there yet:(.*?)(?:\n\s*\n|\n(?!\s*//)[#a-z]|$)', text, re.S)
    return set(NAME.findall(found.group(1))) if found else set()


def main(root):
    headers = ('hdst.h', 'error.h', 'api.h', 'arrange.h', 'graph.h', 'joins.h', 'loop.h', 'table.h', 'scan.h', 'text.h')
    public = set().union(*(names_of(root / 'hdst' / name) for name in headers))
    inside = set()
    for folder in FOLDERS:
        for path in (root / folder).rglob('*'):
            if path.suffix in {'.c', '.h', '.py', '.sh', '.build'}:
                inside |= names_of(path)
    inside |= names_of(root / 'Makefile')
    design = root / 'docs/design'
    planned = planned_in((design / 'README.md').read_text())
    wrong = [f'docs/design/README.md: {name} is listed as planned, and exists' for name in sorted(planned & public)]
    if 'Not there yet:' not in (design / 'README.md').read_text():
        wrong.append('docs/design/README.md: no list of planned names ("Not there yet: ...")')
    pages = [root / 'README.md', *(root / 'docs').rglob('*.md'), *(root / 'tutorial').glob('*')]
    designs = [path for ending in ('c', 'hk', 'yaml') for path in design.rglob(f'*.{ending}')]
    for path in sorted(pages + designs):
        if not path.is_file():
            continue
        where, names = path.relative_to(root), names_of(path)
        shows_programs = design in path.parents or where.parts[0] in ('tutorial', 'README.md')
        for name in sorted(names - public - planned):
            if shows_programs and name.startswith('hdst_') or name not in inside:
                wrong.append(f'{where}: there is no {name}')
        if design in path.parents and path.name != 'README.md':
            head = planned_in('\n'.join(path.read_text().splitlines()[:HEAD_LINES]))
            wrong += [f'{where}: its head does not say that {name} is not there yet' for name in sorted(names & planned - head)]
            wrong += [f'{where}: its head says that {name} is not there yet' for name in sorted(head - planned)]
    for line in wrong:
        print('FAIL:', line)
    print(f'{len(public)} public names, {len(planned)} planned')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1])))
