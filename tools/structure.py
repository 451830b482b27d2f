#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how the library is put together: rooms, who includes and calls whom, circles of files, lengths of files, functions and lines.

usage: structure.py [SOURCE-ROOT] [--build BUILD] [--list]

Includes are read from the sources. Calls come from the objects of the built library (nm: a name that one object leaves undefined and another
defines), so they hold what headers hide; calls through tables of functions are not among them, which is what such tables are for. Without a build
there are no figures about calls. tests/package/arrows.py is the test that stands on this file; the arrows themselves are ARROWS below.
"""
import argparse
import collections
import pathlib
import re
import statistics
import subprocess
import sys

# Who may use whom directly, a room a line. A room is a folder that has sources; it may always use itself. base is free to all.
ARROWS = {
    'base': [],
    'record': [],
    'accum': ['record'],
    'partition': ['accum', 'record'],
    'io': ['accum', 'record'],
    'codegen/math': [],
    'codegen/ir': ['accum', 'record'],
    'codegen/pass': ['codegen/ir', 'accum', 'record'],
    'codegen/front': ['codegen/math', 'codegen/ir', 'accum', 'record'],
    'codegen/lower': ['codegen/front', 'codegen/pass', 'codegen/ir', 'accum', 'record'],
    'codegen/opencl/templates': [],
    'codegen/opencl': ['codegen/opencl/templates', 'codegen/pass', 'codegen/ir', 'accum', 'record'],
    'codegen/interp': ['codegen/pass', 'codegen/ir', 'accum', 'record'],
    'engine/common': ['accum', 'record'],
    'engine/device': ['engine/common', 'partition', 'codegen', 'accum', 'record'],
    'engine/memory': ['engine/device', 'engine/common', 'partition', 'codegen', 'io', 'accum', 'record'],
    'engine': ['engine/memory', 'engine/device', 'engine/common', 'partition', 'codegen', 'io', 'accum', 'record'],
    'engine/stage': ['engine', 'engine/memory', 'engine/device', 'engine/common', 'partition', 'codegen', 'io', 'accum', 'record'],
    'shuffle': ['engine', 'partition', 'accum', 'record'],
    'shuffle/sort': ['engine', 'partition', 'accum', 'record'],
    'shuffle/aggregate': ['shuffle', 'shuffle/sort', 'engine', 'partition', 'accum', 'record'],
    'shuffle/group': ['shuffle', 'shuffle/sort', 'shuffle/aggregate', 'engine', 'partition', 'accum', 'record'],
    'shuffle/join': ['shuffle', 'shuffle/sort', 'shuffle/group', 'engine', 'partition', 'accum', 'record'],
    'plan': ['shuffle', 'engine', 'partition', 'codegen', 'io', 'accum', 'record'],
    'hdst': ['plan', 'shuffle', 'engine', 'partition', 'codegen', 'io', 'accum', 'record'],
}
OPEN_HEADERS = {'hdst/error.h', 'hdst/api.h'}       # status codes and export marks: any file may include them
# Headers that stand above a room which may include them all the same, for their declarations alone. plan: the public functions that make datasets are
# defined beside their operators, and a definition includes its declaration; the objects that they take are public types.
DECLARED_ABOVE = {'plan': {'hdst/hdst.h'}}
LIBRARY = ('base', 'record', 'accum', 'codegen', 'io', 'partition', 'engine', 'shuffle', 'plan', 'hdst')
USERS = ('tools', 'bindings', 'examples', 'tutorial', 'bench', 'tests')
SOURCES = {'.c', '.h', '.cl', '.hk'}
LINES = SOURCES | {'.py', '.sh', '.md', '.yaml', '.build', '.ini', '.cpp'}
WIDEST, LONGEST_FUNCTION, LONGEST_FILE = 160, 75, 600


class Tree:
    """A checkout: its files and their texts, read once."""

    def __init__(self, root, build=None):
        self.root, self.build = pathlib.Path(root), build and pathlib.Path(build)
        self.texts = {}
        for top in [*LIBRARY, *USERS, 'docs']:
            for path in sorted((self.root / top).rglob('*')):
                if path.suffix in LINES and path.is_file() and '__pycache__' not in path.parts:
                    self.texts[str(path.relative_to(self.root))] = path.read_text(errors='replace')
        for path in sorted(self.root.iterdir()):
            if path.is_file() and (path.suffix in LINES or path.name == 'Makefile'):
                self.texts[path.name] = path.read_text(errors='replace')

    def library(self, suffixes=('.c', '.h')):
        return [name for name in self.texts if name.split('/')[0] in LIBRARY and '/' in name and pathlib.Path(name).suffix in suffixes]


def room_of(name):
    return name.rpartition('/')[0] or '.'


def may_use(user, used):
    """Whether a file of one room may stand on a file of another. An arrow to a folder is one to the rooms in it, but for the room's own folder."""
    if user == used or used == 'base':
        return True
    return any(used == to or (used.startswith(to + '/') and not user.startswith(to + '/')) for to in ARROWS.get(user, []))


def circle_of_arrows():
    """Rooms that could reach themselves by the arrows; there must be none."""
    edges = {room: [to for to in ARROWS if to != room and may_use(room, to)] for room in ARROWS}
    return [circle for circle in circles(edges) if len(circle) > 1]


def circles(edges):
    """Strongly connected components (Tarjan's algorithm, with a stack of its own) of a graph {node: nodes}."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in edges:
        if start in number:
            continue
        work = [(start, iter(edges.get(start, ())))]
        number[start] = low[start] = len(number)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in number:
                    number[to] = low[to] = len(number)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(edges.get(to, ()))))
                    break
                if to in on_stack:
                    low[node] = min(low[node], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    found.append(sorted(stack[at:]))
                    on_stack -= set(stack[at:])
                    del stack[at:]
    return found


def includes_of(tree, names):
    return [(name, header) for name in names for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', tree.texts[name], re.M)]


def includes(tree):
    """(user, header) of all includes in the library, by a path from the root."""
    return includes_of(tree, tree.library(SOURCES))


def source_of(member, names):
    """The source of an object file: meson writes '_' for '/'. A generated source is called by the folder that generates it."""
    if member in names:
        return names[member]
    made = re.match(r'meson-generated_\.\._(.+)\.c\.o$', member)
    if not made:
        return None
    for folder in sorted(ARROWS, key=len, reverse=True):
        if made.group(1).startswith(folder.replace('/', '_') + '_'):
            return f'{folder}/{made.group(1)[len(folder) + 1:]}.c'
    return None


def calls(tree):
    """(user, used) -> names, for every name that one source of the library leaves undefined and another defines."""
    names = {name.replace('/', '_') + '.o': name for name in tree.library(('.c',))}
    objects = [path for path in sorted(tree.build.glob('libhdst.so*.p/*.o')) if source_of(path.name, names)]
    if not objects:
        sys.exit(f'{tree.build}: no objects of the library')
    listing = subprocess.run(['nm', '-A', *objects], check=True, capture_output=True, text=True).stdout
    defined, wanted = {}, []
    for line in listing.splitlines():
        path, rest = line.split(':', 1)
        kind, symbol = rest.split()[-2:]
        source = source_of(pathlib.Path(path).name, names)
        if kind == 'U':
            wanted.append((source, symbol))
        elif kind in 'TDRBVW':
            defined[symbol] = source
    found = collections.defaultdict(list)
    for source, symbol in wanted:
        if symbol in defined and defined[symbol] != source:
            found[source, defined[symbol]].append(symbol)
    return dict(found)


def against(pairs):
    """Those of (user, used) that no arrow allows."""
    return sorted({(a, b) for a, b in pairs if '/' in b and b not in OPEN_HEADERS | DECLARED_ABOVE.get(room_of(a), set())
                   and not may_use(room_of(a), room_of(b))})


def file_circles(pairs):
    """Circles of sources that call one another, longest first."""
    edges = collections.defaultdict(set)
    for a, b in pairs:
        edges[a].add(b)
    return sorted((circle for circle in circles(dict(edges)) if len(circle) > 1), key=lambda c: (-len(c), c))


def functions(text):
    """(name, lines, first line) of every function that begins and ends in the first column, as the style asks for."""
    found, lines, head = [], text.split('\n'), None
    for i, line in enumerate(lines):
        if re.match(r'[A-Za-z_].*\(', line) and not re.match(r'(typedef|struct|enum|union|#)\b.*[;{]\s*$', line):
            head = head if head is not None and i and lines[i - 1].strip() and not lines[i - 1].rstrip().endswith((';', '}')) else i
        if head is not None and (line == '{' or (i == head and line.endswith('{'))):
            begin = head
            end = next((j for j in range(i, len(lines)) if lines[j].startswith('}')), i)
            name = re.search(r'(\w+)\s*\(', lines[begin])
            found.append((name.group(1) if name else '?', end - begin + 1, begin + 1))
            head = None
        elif head is not None and (line.endswith((';', '}')) or not line.strip()):
            if line.endswith('}') and '{' in line and i == head:
                found.append((re.search(r'(\w+)\s*\(', line).group(1), 1, head + 1))
            head = None
    return found


def comment_lines(text):
    """Lines that are comment and nothing else, lines with code, and those of them that end in a comment."""
    comments = code = both = 0
    inside = False
    for line in text.split('\n'):
        bare = line.strip()
        if inside or bare.startswith(('//', '/*')):
            comments += 1
            inside = '*/' not in bare if inside or bare.startswith('/*') else False
        elif bare:
            code += 1
            both += bool(re.search(r'\s(//|/\*)', bare))
    return comments, code, both


def wide_lines(text):
    """A row of a Markdown table, and a message that a test expects ("expect: 5:11: ..."), cannot be broken and do not count."""
    whole = re.compile(r'\s*(\||(//|#) expect: )')
    return [i + 1 for i, line in enumerate(text.split('\n')) if len(line) > WIDEST and not whole.match(line)]


def same_names(tree):
    """Names that two files of the library share."""
    where = collections.defaultdict(list)
    for name in tree.library(SOURCES):
        where[name.rsplit('/', 1)[1]].append(name)
    return {base: names for base, names in where.items() if len(names) > 1}


def print_rooms(tree):
    counts = collections.Counter(room_of(name) for name in tree.library(SOURCES))
    print('room                          files  functions  lines')
    for room in sorted(counts):
        inside = [name for name in tree.library(SOURCES) if room_of(name) == room]
        total = sum(len(functions(tree.texts[name])) for name in inside if name.endswith(('.c', '.h')))
        print(f'  {room:28}{counts[room]:5}  {total:9}{sum(tree.texts[name].count(chr(10)) for name in inside):7}')
    shared = same_names(tree)
    print(f'names that two files share: {len(shared)}', *(f'  {" ".join(names)}' for names in shared.values()), sep='\n')


def print_arrows(tree, show):
    found = includes(tree)
    bad = against(found)
    print(f'includes between files of the library: {len(found)}; against the arrows: {len(bad)}')
    if show:
        print(*(f'  {a} includes {b}' for a, b in bad), sep='\n')
    if not tree.build:
        return
    called = calls(tree)
    bad = against(called)
    print(f'calls between files of the library: {len(called)} pairs; against the arrows: {len(bad)}')
    if show:
        print(*(f'  {a} calls {b}: {" ".join(called[a, b])}' for a, b in bad), sep='\n')
    print('circles of files (by calls):')
    for circle in file_circles(called):
        rooms = sorted({room_of(name) for name in circle})
        print(f'  {len(circle):3} files {"ACROSS" if len(rooms) > 1 else "in"} {", ".join(rooms)}' + (': ' + ' '.join(circle) if show else ''))


def quantiles(values):
    values = sorted(values)
    return f'median {statistics.median(values):g}, nine in ten up to {values[len(values) * 9 // 10]}, longest {values[-1]}'


def print_lengths(tree, show):
    sources = tree.library(('.c', '.h'))
    lengths = {name: tree.texts[name].count('\n') for name in sources}
    found = [(size, name, function) for name in sources for function, size, _ in functions(tree.texts[name])]
    long_files = sorted((size, name) for name, size in lengths.items() if size > LONGEST_FILE)
    long_functions = sorted((f for f in found if f[0] > LONGEST_FUNCTION), reverse=True)
    comments, code, both = (sum(column) for column in zip(*(comment_lines(tree.texts[name]) for name in sources)))
    print(f'files of the library (.c, .h): {len(sources)}; lines: {quantiles(lengths.values())}; over {LONGEST_FILE}: {len(long_files)}')
    short = sum(size < 20 for size, _, _ in found)
    print(f'functions: {len(found)}; lines: {quantiles([f[0] for f in found])}; under 20: {100 * short / len(found):.1f} %;',
          f'over {LONGEST_FUNCTION}: {len(long_functions)}')
    print(f'comment lines: {comments} to {code} of code, {100 * comments / (comments + code):.1f} %; lines of code that end in a comment: {both}')
    wide = {name: len(wide_lines(text)) for name, text in tree.texts.items() if wide_lines(text)}
    library = sum(count for name, count in wide.items() if name in tree.library(SOURCES))
    prose = sum(count for name, count in wide.items() if name.endswith('.md'))
    print(f'lines over {WIDEST} columns: {sum(wide.values())}; in the library {library}, in Markdown {prose}')
    if show:
        for size, name in long_files:
            print(f'  {size:5} lines: {name}')
        for size, name, function in long_functions:
            print(f'  {size:5} lines: {function} in {name}')
        for name, count in sorted(wide.items(), key=lambda item: -item[1]):
            print(f'  {count:5} wide: {name}')


def main():
    words = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    words.add_argument('root', nargs='?', default='.')
    words.add_argument('--build', help='build folder of this checkout (default: ROOT/build, if there is one)')
    words.add_argument('--list', action='store_true', help='name what is against the rules, and the files of each circle')
    options = words.parse_args()
    build = options.build or (f'{options.root}/build' if pathlib.Path(options.root, 'build').is_dir() else None)
    tree = Tree(options.root, build)
    print_rooms(tree)
    print_arrows(tree, options.list)
    print_lengths(tree, options.list)


if __name__ == '__main__':
    main()
