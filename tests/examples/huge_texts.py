#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keys of many megabytes that differ in their last byte, counted within a budget that does not hold them, and a line of many gigabytes, which is told.

usage: huge_texts.py EXAMPLES KEY-MEGABYTES LINE-GIGABYTES         EXAMPLES: the folder of the programs; `make long` has large ones
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

NO_DEVICE = 4


def run(program, *options):
    """(exit code, standard output, standard error); None: no such device."""
    done = subprocess.run([os.path.join(sys.argv[1], program), *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return None if done.returncode == NO_DEVICE else (done.returncode, done.stdout, done.stderr)


def large_keys(folder, device, megabytes):
    """Four different words, of which three are as long as a word gets."""
    path, long = os.path.join(folder, "keys"), b"k" * (megabytes * 1000000)
    with open(path, "wb") as file:
        file.write(long + b" " + long[:-1] + b"z\nshort " + long + b"\n" + long[:-1] + b" short\n")
    output = os.path.join(folder, "counts")
    done = run("word-count", "--input", path, "--device", device, "--memory", f"{megabytes * 5 // 2 + 16}M", "--json", "--top", "1", "--output", output)
    if done is None:
        return print(f"{device}: no such device")
    assert done[0] == 0, done[2]
    result = json.loads(done[1])["result"]
    assert (result["words"], result["distinct"]) == (6, 4), (result["words"], result["distinct"])
    with open(output, "rb") as file:
        counts = [tuple(line.rstrip(b"\n").split(b"\t")) for line in file]
    assert counts == [(long[:-1], b"1"), (long, b"2"), (long[:-1] + b"z", b"1"), (b"short", b"2")], [(len(word), count) for word, count in counts]
    return None


def long_line(folder, device, gigabytes):
    """The file has no bytes on the disk: all of its line is zero. What is read of it is nowhere kept."""
    path, bytes_of_line = os.path.join(folder, "line"), gigabytes << 30
    with open(path, "wb") as file:
        file.write(b"first\n")
        file.truncate(bytes_of_line + 6)
    done = run("grep", "--pattern", "x", "--input", path, "--device", device, "--memory", "256M")
    if done is None:
        return print(f"{device}: no such device")
    assert done[0] == 6 and re.search(rf":2: line 2 of '.*' has {bytes_of_line} bytes, a line at most 4294967295\nhint: a line ends in ", done[2]), done
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    assert peak < 1024, f"{peak} MiB of memory"
    os.unlink(path)
    return None


def main():
    megabytes, gigabytes = int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        for device in ["interp", "cpu"]:
            if gigabytes:
                long_line(folder, device, gigabytes)        # first: what processes took at most is counted from the start
        for device in ["interp", "cpu"]:
            large_keys(folder, device, megabytes)


main()
