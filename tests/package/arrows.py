#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house keeps its shape: includes and calls between the library's rooms follow the arrows of tools/structure.py, private headers stay in
their folder, programs for users include the public headers alone, no two files of the library share a name, and lengths of lines, functions and
files are what CONTRIBUTING.md says.

usage: arrows.py SOURCE-ROOT BUILD-ROOT [--shrink]

What is not so yet stands in tests/package/arrows.txt, a line each with its reason, and that list only shrinks: what is not in it fails, and a
line of it whose fault is gone fails as well. Who removes a fault removes its line (--shrink does it, and lowers what is smaller now). Calls are
read from the objects in BUILD-ROOT, which must be up to date.
"""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tools'))
sys.dont_write_bytecode = True
import structure  # noqa: E402  (found by the line above)

FOR_USERS = ('bindings', 'examples', 'tutorial')
PUBLIC = {'hdst/hdst.h', 'hdst/error.h'}


def faults_of_includes(tree):
    found = structure.includes(tree)
    for user, header in structure.against(found):
        yield f'include {user} {header}', 1
    for user, header in found + outside_includes(tree):
        folder = structure.room_of(header) + '/'
        if header.endswith('_private.h') and not user.startswith(folder):
            yield f'private {user} {header}', 1
        if user.split('/')[0] in FOR_USERS and header.split('/')[0] in structure.LIBRARY and header not in PUBLIC:
            yield f'inner {user} {header}', 1


def outside_includes(tree):
    """The includes of tools and of programs for users; tests may look inside."""
    names = [name for name in tree.texts if name.split('/')[0] in ('tools', *FOR_USERS)]
    return structure.includes_of(tree, [name for name in names if name.endswith(('.c', '.h'))])


def faults_of_calls(tree):
    called = structure.calls(tree)
    for user, used in structure.against(called):
        yield f'call {user} {used}', 1
    largest = collections.Counter()
    for circle in structure.file_circles(called):
        for room in {structure.room_of(name) for name in circle}:
            largest[room] = max(largest[room], len(circle))
    for room, size in largest.items():
        yield f'circle {room}', size


def faults_of_size(tree):
    wide = collections.Counter()
    for name, text in tree.texts.items():
        wide[structure.room_of(name)] += len(structure.wide_lines(text))
        if name.endswith(('.c', '.h')):
            for function, size, _ in structure.functions(text):
                if size > structure.LONGEST_FUNCTION:
                    yield f'function {name} {function}', size
        if name.endswith(('.c', '.h')) and text.count('\n') > structure.LONGEST_FILE:
            yield f'file {name}', text.count('\n')
    yield from ((f'wide {folder}', count) for folder, count in wide.items() if count)


def faults(tree):
    """{fault: how many or how long}"""
    found = dict([*faults_of_includes(tree), *faults_of_calls(tree), *faults_of_size(tree)])
    for base, names in structure.same_names(tree).items():
        found[f'name {base}'] = len(names)
    for circle in structure.circle_of_arrows():
        found[f'arrows {" ".join(circle)}'] = len(circle)
    for room in {structure.room_of(name) for name in tree.library(structure.SOURCES)} - set(structure.ARROWS):
        found[f'room {room}'] = 1
    return found


def read_list(path):
    """{fault: (limit, reason)}; a line is `FAULT [= LIMIT]  # reason`."""
    listed = {}
    for line in path.read_text().splitlines():
        rule, _, reason = line.partition('#')
        fault, _, limit = rule.strip().partition(' = ')
        if fault:
            listed[fault.strip()] = (int(limit or 1), reason.strip())
    return listed


def compare(found, listed):
    for fault, size in sorted(found.items()):
        limit = listed.get(fault, (0, ''))[0]
        if size > limit:
            yield f'{fault}: {size}, and the list allows {limit}' if limit else f'{fault}: {size}' if size > 1 else fault
    for fault, (limit, reason) in sorted(listed.items()):
        if fault not in found:
            yield f'{fault}: is gone; its line in tests/package/arrows.txt goes too'
        elif not reason:
            yield f'{fault}: its line in tests/package/arrows.txt has no reason'


def shrink(path, found):
    """Rewrites the list without what is gone, with limits as they are now; nothing is added."""
    kept = []
    for line in path.read_text().splitlines():
        rule, mark, reason = line.partition('#')
        fault = rule.strip().partition(' = ')[0].strip()
        if not fault:
            kept.append(line)
        elif fault in found:
            limit = min(found[fault], read_list(path)[fault][0])
            kept.append(f'{fault}{f" = {limit}" if limit > 1 else ""}  {mark}{reason}')
    path.write_text('\n'.join(kept) + '\n')


def main():
    root, build = sys.argv[1:3]
    tree = structure.Tree(root, build)
    path = tree.root / 'tests/package/arrows.txt'
    found = faults(tree)
    if '--shrink' in sys.argv:
        shrink(path, found)
    wrong = list(compare(found, read_list(path)))
    print('\n'.join(wrong) or f'{len(tree.library())} files are as they should be, but for {len(found)} faults that are listed')
    sys.exit(bool(wrong) or len(tree.library()) < 3)


main()
