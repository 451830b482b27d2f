#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A reader finds things: every source file is named in the README.md of its folder, and the READMEs name nothing that is not there; a file that the
documentation or a comment names is there, and so is the heading that a link leads to; every file of C says what it is
for; every pass says in its header what goes in and what comes out,
and has a test on IR text.

usage: house.py SOURCE-ROOT
"""
import fnmatch
import os
import pathlib
import re
import sys

SOURCES = {'.c', '.h', '.cl', '.py', '.sh', '.hk', '.yaml'}
TOPS = ('base', 'record', 'accum', 'codegen', 'io', 'partition', 'engine', 'shuffle', 'plan', 'hdst', 'tools', 'examples', 'bindings', 'bench', 'tests', 'docs')
NAMED = re.compile(r'(?<![\w./*<>-])[\w*][\w./*-]*\.(?:c|h|cl|md)(?![\w(/])')       # a file, with its folders or without
MADE = {'math_sources.c', 'kernel_templates.c', 'name_words.h', 'fuzz_NAME.c'}     # by scripts, in the build folder, or one for many
OF_USERS = {'point.h'}      # in examples of the documentation
wrong = []


def names_in(line):
    """The files of a row's first column: `type`, `check_*`, `lex.c/.h`; `a`, `b` (`c.h`)."""
    column = re.sub(r'[`(),]', ' ', line.split('|')[1]).replace('/.', ' .')
    return [word for word in column.split() if not word.startswith('.')]


def readme_of(folder):
    """The names in the tables of files of its README; a name is of a file, of its stem, or a pattern. None: it has no such table."""
    names, in_table = None, False
    for line in (folder / 'README.md').read_text().splitlines():
        if re.match(r'\| *file *\|', line):
            in_table, names = True, names or []
        elif not line.startswith('|'):
            in_table = False
        elif in_table and not re.match(r'\|[ -]*-', line):
            names += names_in(line)
    return names


def stem(name):
    return name.rstrip('/').split('.')[0] if not name.startswith('.') else name


def check_folder(folder):
    names = readme_of(folder)
    if names is None:
        return False
    entries = [e.name for e in folder.iterdir()]
    for entry in sorted(entries):
        if pathlib.Path(entry).suffix in SOURCES and not any(fnmatch.fnmatch(stem(entry), stem(name)) for name in names):
            wrong.append(f'{folder}/README.md does not name {entry}')
    for name in names:
        if '/' in name.rstrip('/'):
            found = any(folder.glob(name.rstrip('/')))
        else:
            found = any(fnmatch.fnmatch(stem(entry), stem(name)) for entry in entries)
        if not found:
            wrong.append(f'{folder}/README.md names {name}, which is not there')
    return True


def prose_of(path):
    """What people read in a file: all of a text, the comments of a source."""
    text = path.read_text(errors='replace').replace('.c/.h', '.c')
    return text if path.suffix == '.md' else '\n'.join(re.findall(r'(?<!:)//.*|/\*.*?\*/', text))


def is_there(root, path, name):
    """A name with folders counts from the root, or from any folder that the file itself lies in."""
    above = [folder for folder in path.parents if folder == root or root in folder.parents]
    return any(next(folder.glob(name), None) for folder in above)


def check_names_of_files(root):
    texts = [path for top in TOPS for path in (root / top).rglob('*') if path.suffix in {'.c', '.h', '.cl', '.md'} and 'mutation' not in path.parts]
    known = {path.name for path in root.glob('*')} | {path.name for top in TOPS for path in (root / top).rglob('*')} | MADE | OF_USERS
    for path in [*texts, root / 'README.md', root / 'CONTRIBUTING.md']:
        for name in sorted(set(NAMED.findall(prose_of(path)))):
            if 'NAME' not in name and not (is_there(root, path, name) if '/' in name else '*' in name or name in known):
                wrong.append(f'{path} speaks of {name}, which is not there')


def anchors_of(path):
    """Headings as links spell them."""
    return {re.sub(r'[^\w -]', '', head.lower()).replace(' ', '-') for head in re.findall(r'^#+ (.*)', path.read_text(), re.M)}


def check_links(root):
    for path in [*(path for top in TOPS for path in (root / top).rglob('*.md')), root / 'README.md', root / 'CONTRIBUTING.md']:
        for link in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'`[^`\n]*`', '', path.read_text())):
            name, _, anchor = link.partition('#')
            to = path.parent / name if name else path
            if not link.startswith('http') and not (to.exists() and (not anchor or anchor in anchors_of(to))):
                wrong.append(f'{path} has a link to {link}, which is not there')


def folders_with_readme(root):
    for where, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(('build', '.')) and f != '__pycache__']
        if 'README.md' in files and pathlib.Path(where) != root:
            yield pathlib.Path(where)


def check_passes(root):
    tests = ''.join(path.read_text() for path in (root / 'tests/codegen/pass').glob('test_*.c'))
    passes = sorted(p for p in (root / 'codegen/pass').glob('*.c') if p.name != 'passes.c' and re.search(r'^\w.*\bhdst__pass_\w+\(', p.read_text(), re.M))
    for path in passes:
        head = path.read_text().split('\n#include')[0]
        if not re.search(r'\bBefore\b', head) or not re.search(r'\bAfter\b', head):
            wrong.append(f'{path}: the header comment has no before and after')
    for name in sorted(set(re.findall(r'\bhdst__pass_\w+', ''.join(p.read_text() for p in (root / 'codegen').rglob('*.h'))))):
        if name not in tests:
            wrong.append(f'{name}: no test in tests/codegen/pass names it')
    if len(passes) < 30:
        wrong.append(f'only {len(passes)} passes')


def check_heads(root):
    """Golden files are what hdst writes."""
    for folder in TOPS:
        for path in sorted((root / folder).rglob('*.[ch]')):
            lines = path.read_text().split('\n', 2)
            is_ours = 'golden' not in path.parts and not any(part.startswith('build') for part in path.relative_to(root).parts)
            if is_ours and (lines[0] != '// SPDX-License-Identifier: Apache-2.0' or not lines[1].startswith('//')):
                wrong.append(f'{path} does not begin with its licence and what it is for')


def main():
    root = pathlib.Path(sys.argv[1])
    folders = [folder for folder in folders_with_readme(root) if check_folder(folder)]
    check_heads(root)
    check_passes(root)
    check_names_of_files(root)
    check_links(root)
    print('\n'.join(wrong) or f'{len(folders)} folders and all passes are as they say')
    sys.exit(bool(wrong) or len(folders) < 10)


main()
