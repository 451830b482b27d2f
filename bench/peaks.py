#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The most memory that operators take, beside the budget that they are given, over inputs several times as large, as a table in Markdown.

`tests/hdst/budget_matrix` runs them over a callback's records and checks their answers. "Hook": the most bytes at the allocator's hook; "process":
how much anonymous memory the process had more than before, as the system counts, once compiler and driver have warmed up.
The exit status is 1 where a peak is above the budget by more than a tenth and 2 MiB, or an answer is wrong.
"""
import argparse
import os
import re
import subprocess
import sys
import time

JOBS = ['kmeans', 'sort', 'by key, few', 'by key, many', 'group, many keys', 'distinct', 'cache', 'dense, few rows', 'dense, many rows',
        'dense, a row for each']
LINE = re.compile(r'^(\S+) +(.+?) +(\d+) MiB +([\d.]+) MiB \(process ([\d.]+) MiB\) +(.*)$')


def measure(program, device, job, budget, factor):
    """Peaks in MiB, seconds; None and the program's words where it failed."""
    environment = dict(os.environ, BUDGET_MATRIX_ONLY=job)
    begin = time.monotonic()
    run = subprocess.run([program, '--rss', device, str(factor), str(budget)], env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    for line in run.stdout.splitlines():
        match = LINE.match(line)
        if match and match[2] == job and match[6] == 'right':
            return (float(match[4]), float(match[5]), seconds), run.stdout
    return None, run.stdout + run.stderr


def cells(program, device, job, budget, factor):
    """What stands in the table, and whether the promise was kept."""
    peaks, words = measure(program, device, job, budget, factor)
    if not peaks:
        print(words, file=sys.stderr)
        return 'failed', False
    most = budget * 1.1 + 2
    return f'{peaks[0]:.1f} / {peaks[1]:.1f}', max(peaks[:2]) <= most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', help='build folder')
    parser.add_argument('--device', default='cpu', help='cpu, interp or gpu-form')
    parser.add_argument('--factor', type=float, default=3, help='bytes of input for each byte of the budget')
    parser.add_argument('--budgets', default='64,256', help='MiB, comma-separated')
    parser.add_argument('--jobs', help='names of jobs, semicolon-separated')
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(',')]
    program = os.path.join(options.build, 'tests', 'hdst', 'budget_matrix')
    kept = True
    print('| hook / process, MiB | ' + ' | '.join(f'{budget} MiB' for budget in budgets) + ' |')
    print('|---' * (1 + len(budgets)) + '|')
    for job in options.jobs.split(';') if options.jobs else JOBS:
        row = [job]
        for budget in budgets:
            cell, good = cells(program, options.device, job, budget, options.factor)
            kept &= good
            row.append(cell + ('' if good else ' **over**'))
        print('| ' + ' | '.join(row) + ' |', flush=True)
    return 0 if kept else 1


if __name__ == '__main__':
    sys.exit(main())
