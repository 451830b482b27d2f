#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each level of a reduction saves, by the counters of a run: how many records, pairs or cells enter and leave
it, for workloads that reduce in different ways.

usage: levels.py [--build FOLDER] [--records N] [--device DEVICE] [--hpr LEVEL...]

Each workload runs once for each level named (`--hpr none block device node`; only `node`, which is all,
unless given) over the same made-up records. Results must be the same
at all of them: exit code 1 where they are not. `of 1000` says how many of a thousand that enter the first level leave this one."""
import argparse
import array
import json
import os
import random
import struct
import subprocess
import sys
import tempfile


def write_npy(path, numbers, columns):
    rows = len(numbers) // columns
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers.tobytes())


def make_input(path, records):
    """A number, a rating, one of 2000 items (some of them much more often than others), and bytes of a request."""
    draw = random.Random(5)
    numbers = array.array("f")
    for _ in range(records):
        numbers.extend((draw.random() * 100, draw.randint(1, 5), int(2000 * draw.random() ** 3), draw.randint(0, 4095)))
    write_npy(path, numbers, 4)


def workloads(path, records):
    table = ["--input", path]
    return [
        ("histogram", table + ["--columns", "0"]),
        ("hist-ratings", table + ["--columns", "1"]),
        ("hist-movies", table + ["--columns", "2,1"]),
        ("log-statistics", table + ["--key", "2", "--value", "3"]),
        ("bloom-filter", table + ["--columns", "2,3", "--bits", "100000"]),
        ("kmeans", table + ["--columns", "0,1", "--clusters", "8", "--iterations", "5"]),
        ("monte-carlo", ["--paths", str(records)]),
    ]


def run(build, name, arguments, device, level):
    command = [os.path.join(build, "examples", name), *arguments, "--device", device, "--hpr", level, "--seed", "5", "--json", "--quiet"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"levels: {name} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(here, "..", "build"))
    parser.add_argument("--records", type=int, default=1000000)
    parser.add_argument("--device", default="all")
    parser.add_argument("--hpr", nargs="+", default=["node"])
    options = parser.parse_args()
    different = 0
    print(f"{'workload':16}{'hpr':8}{'level':8}{'in':>12}{'out':>12}{'of 1000':>10}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.npy")
        make_input(path, options.records)
        for name, arguments in workloads(path, options.records):
            first = None
            for level in options.hpr:
                answer = run(options.build, name, arguments, options.device, level)
                first = first or answer["result"]
                same = answer["result"] == first
                different += not same
                entered = answer["levels"][0]["in"] if answer["levels"] else 0
                for at in answer["levels"]:
                    share = 1000 * at["out"] / entered if entered else 0
                    print(f"{name:16}{level:8}{at['name']:8}{at['in']:12}{at['out']:12}{share:10.3f}{'' if same else '  ANOTHER RESULT'}", flush=True)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
