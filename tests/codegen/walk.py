#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the walk of docs/code-generation.md, one kernel through all passes, with what the passes do; --write brings the page up to date.

usage: walk.py [--write] WALK-PROGRAM PAGE

The kernel is the first block of C behind the heading HEADING. Each step stands in a block that begins with ```ir after PASS. The words between are people's:
a step that is new gets a heading and waits for them.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HEADING = '## One kernel through all passes\n'
BLOCK = re.compile(r'```ir after (\S+)\n(.*?)```\n', re.S)


def steps_of(program, kernel):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'walk.hk'
        path.write_text(kernel)
        out = subprocess.run([program, str(path)], check=True, capture_output=True, text=True).stdout
    return [tuple(step.split('\n', 1)) for step in out.split('== ')[1:]]


def updated(section, steps):
    """The section with every step's block in its place; blocks of steps that are no more go."""
    at = 0
    for name, text in steps:
        block = f'```ir after {name}\n{text}```\n'
        found = next((m for m in BLOCK.finditer(section, at) if m[1] == name), None)
        if found:
            between = BLOCK.sub('', section[at:found.start()])
            section = section[:at] + between + block + section[found.end():]
            at += len(between) + len(block)
        else:
            new = f'\n### {name}\n\n{block}'
            section = section[:at] + new + section[at:]
            at += len(new)
    return section[:at] + BLOCK.sub('', section[at:])


def main():
    write = '--write' in sys.argv
    program, page = [a for a in sys.argv[1:] if a != '--write']
    path = pathlib.Path(page)
    text = path.read_text()
    before, heading, section = text.partition(HEADING)
    if not heading:
        sys.exit(f'{page}: no "{HEADING.strip()}"')
    kernel = re.search(r'```c\n(.*?)```\n', section, re.S)
    steps = steps_of(program, kernel[1])
    if write:
        path.write_text(before + heading + section[:kernel.end()] + updated(section[kernel.end():], steps))
        return
    found = BLOCK.findall(section)
    for have, want in zip(found + [('nothing', '')], steps + [('nothing', '')]):
        if have != want:
            sys.exit(f'{page}: after {have[0]} the page says\n{have[1]}the passes say, after {want[0]},\n{want[1]}'
                     'tests/refresh-goldens brings the page up to date; read what changed')
    if len(steps) < 10:
        sys.exit(f'only {len(steps)} steps')
    print(f'{len(steps)} steps as in the page')


main()
