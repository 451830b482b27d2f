# SPDX-License-Identifier: Apache-2.0
"""Reading text: from process start to the means of four columns of numbers, beside DuckDB and Polars where Python has them.

hdst's side is the KMeans example with one cluster, whose center is the mean; and linear regression, which reads all of it as
doubles and computes more. The other two sum columns. Wall time and processor time of whole processes, in turn.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROWS, COLUMNS = 5_000_000, 4
TOLERANCE = 1e-3        # of means that are float, beside double

DUCKDB = """
import duckdb
names = [f"column{i}" for i in range(%d)]
connection = duckdb.connect()
connection.execute("set threads = %d")
print(*connection.execute("select " + ", ".join(f"avg({n})" for n in names) + " from read_csv('%s')").fetchall()[0])
"""
POLARS = """
import polars
print(*polars.scan_csv("%s", has_header=False).select(polars.all().mean()).collect().row(0))
"""


def write_numbers(path, rows):
    """Six digits behind the point, about 12 characters a number; the same numbers each time."""
    state, mask = 1, 2**64 - 1
    with open(path, "w", encoding="ascii") as file:
        for first in range(0, rows, 10000):
            lines = []
            for _ in range(first, min(first + 10000, rows)):
                row = []
                for column in range(COLUMNS):
                    state = (state * 6364136223846793005 + 1442695040888963407) & mask
                    row.append(f"{((state >> 11) / 2**53 - 0.25 * column) * 99999:.6f}")
                lines.append(",".join(row))
            file.write("\n".join(lines) + "\n")


def has_module(name):
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def timed(command, environment):
    """Wall time, processor time and output of a process."""
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=text)
    return wall, usage.ru_utime + usage.ru_stime, text


def kmeans_means(text):
    return json.loads(text)["result"]["centers"][0]


def printed_means(text):
    return [float(word) for word in text.split()]


def sides(build, path):
    """Label, command, and how its output is read; None: it is no list of means."""
    examples = os.path.join(build, "examples")
    common = ["--input", path, "--device", "cpu", "--json"]
    yield "hdst kmeans", [os.path.join(examples, "kmeans"), *common, "--clusters", "1", "--iterations", "1", "--init", "first"], kmeans_means
    yield "hdst linear-regression", [os.path.join(examples, "linear-regression"), *common, "--target", str(COLUMNS - 1)], None
    if has_module("duckdb"):
        yield "DuckDB", [sys.executable, "-c", DUCKDB % (COLUMNS, len(os.sched_getaffinity(0)), path)], printed_means
    if has_module("polars"):
        yield "Polars", [sys.executable, "-c", POLARS % path], printed_means


def texts(options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "numbers.csv")
        write_numbers(path, min(options.records, ROWS))
        environment = dict(os.environ, HDST_CACHE_DIR=os.path.join(folder, "cache"))
        rows = [{"side": label, "command": command, "means": means, "wall": [], "cpu": []} for label, command, means in sides(options.build, path)]
        for row in rows:
            text = timed(row["command"], environment)[2]            # fills the caches
            row["means"] = row["means"](text) if row["means"] else None
        for _ in range(options.rounds):
            for row in rows:
                wall, cpu, _ = timed(row["command"], environment)
                row["wall"].append(wall)
                row["cpu"].append(cpu)
        megabytes = os.path.getsize(path) / 1e6
    for row in rows:
        del row["command"]
    return {"title": f"text of {megabytes:.0f} MB, {COLUMNS} numbers a row, from process start to result", "rows": rows}


def agree(ours, others):
    return all(abs(a - b) <= TOLERANCE * 99999 for a, b in zip(ours, others))


def print_texts(result):
    print(f"\n{result['title']}")
    print(f"  {'':24}{'s':>10}{'spread':>18}{'cpu s':>10}{'hdst to it':>12}{'cpu':>8}")
    good, first = True, result["rows"][0]
    wall, cpu = statistics.median(first["wall"]), statistics.median(first["cpu"])
    for row in result["rows"]:
        spread = f"{min(row['wall']):.2f} .. {max(row['wall']):.2f}"
        median = statistics.median(row["wall"]), statistics.median(row["cpu"])
        same = row["means"] is None or agree(first["means"], row["means"])
        good = good and same
        figures = f"{median[0]:10.2f}{spread:>18}{median[1]:10.2f}{wall / median[0]:12.2f}{cpu / median[1]:8.2f}"
        print(f"  {row['side']:24}{figures}{'' if same else '  DIFFERENT RESULT'}")
    return good
