#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows that --on-error skip leaves out are no records to the examples: what they say of a table with such rows is what they say of it without.

usage: left_out.py EXAMPLES        the folder with the programs"""
import json
import pathlib
import subprocess
import sys
import tempfile

GOOD = [[x, 3 * x + x % 7] for x in range(1, 40)]
BAD = [["none", 5], [8], [9, 10, 11], ["2024-02-29", 1], ["", 4]]
SQUARE, NOT = [[2, 1], [1, 3]], [["x", 1]]
PROGRAMS = {        # the table, and the options
    "histogram": ("points", ["--bins", "4"]), "sort": ("points", []), "classification": ("points", ["--centers", "centers.csv"]),
    "bloom-filter": ("points", ["--lookup", "points.csv"]), "genetic": ("points", ["--clusters", "2", "--generations", "2", "--seed", "1"]),
    "matrix-vector": ("matrix", ["--iterations", "5"]),
}


def write(path, rows):
    path.write_text("x,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))


def said(program, folder, options):
    """What the program says but for its times and how it came to it."""
    done = subprocess.run([program, "--device", "interp", "--json", "--on-error", "skip", *options], cwd=folder, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{program} {options}: code {done.returncode}: {done.stderr.decode()}")
    got = json.loads(done.stdout)
    return got["records"], got["result"]


def main():
    fine = True
    with tempfile.TemporaryDirectory() as name:
        folder, clean, dirty = (pathlib.Path(name) / part for part in ("", "clean", "dirty"))
        for place, points, matrix in ((clean, GOOD, SQUARE),
                                      (dirty, [row for i, row in enumerate(GOOD) for row in [row] + BAD[i:i + 1]], SQUARE[:1] + NOT + SQUARE[1:])):
            place.mkdir()
            write(place / "points.csv", points)
            write(place / "matrix.csv", matrix)
            write(place / "centers.csv", [[3, 3], [30, 90]])
        for program, (table, options) in PROGRAMS.items():
            path = str(pathlib.Path(sys.argv[1]).resolve() / program)
            whole, left = (said(path, place, ["--input", table + ".csv", *options]) for place in (clean, dirty))
            if whole != left or whole[0] != len(GOOD if table == "points" else SQUARE):
                fine = False
                print(f"{program}: {left}, not {whole}")
    sys.exit(not fine)


main()
