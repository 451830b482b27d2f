#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`make bench`: hdst beside hand-written C, measured in turn in one sitting.

All programs of a comparison hold their data and wait; each round runs every one of them once, so that a change of the machine meets all alike.
The figure is the median of the rounds, the spread their smallest and largest; the ratio is to the expert program of
the same comparison. "cpu ns" is the processor
time of all threads together, which a busy machine disturbs less.
The sides' results are compared too: a fast wrong answer is an error.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import texts
import workloads


class Comparison(typing.NamedTuple):
    """A side is (label, program, arguments, case, limit of the ratio to the first side or None)."""
    title: str
    expert: tuple
    sides: list
    tolerance: float = 1e-3     # of the results: the experts add floats, hdst's sums are exact
    roof: bool = False          # the first side is what the machine can do at most: results are compared with those of the second


# A program takes the first of options that are given twice: these come before the general ones.
WIDE = ["--records", "60000", "--clusters", "10", "--columns", "784"]

LAYOUTS = ("soa", "aos", "aosoa", "aop")


def layouts(program, arguments, limit):
    """hdst's sides in all layouts; the limit is of SoA, the others may take half as much again."""
    return [(f"hdst {layout}", program, [*arguments, "--layout", layout], "step", limit * (1 if layout == "soa" else 1.5)) for layout in LAYOUTS]


# Members of Comparison; those of whole workloads are in workloads.py.
COMPARISONS = [
    ("KMeans step, {records} x 2 float, k={clusters}, squared distance, inertia",
     ("expert C", "expert_kmeans", [], "inertia", None),
     [("expert C, no inertia", "expert_kmeans", [], "plain", None),
      *layouts("bench_kmeans", ["--problem", "l2"], 1.3),
      ("hdst soa, k a param", "bench_kmeans", ["--problem", "k"], "step", 1.3)]),
    ("KMeans step, {records} x 5 float, k={clusters}, L1 distance, inertia",
     ("expert C", "expert_kmeans_l1", [], "inertia", None),
     [("expert C, no inertia", "expert_kmeans_l1", [], "plain", None),
      *layouts("bench_kmeans", ["--problem", "l1"], 1.4)]),
    ("least squares: sums of x, y, xx, xy over {records} pairs of float (16-bit values), exact",
     ("expert C, float sums", "expert_sums", [], "linreg", None),
     [*layouts("bench_sums", ["--problem", "linreg"], 2.0),
      ("hdst soa, fast sums", "bench_sums", ["--problem", "linreg", "--sums", "fast"], "step", 1.5)]),
    ("the same, values with all 24 bits",
     ("expert C, float sums", "expert_sums", ["--digits", "24"], "linreg", None),
     [("hdst soa", "bench_sums", ["--problem", "linreg", "--digits", "24"], "step", 3.0)]),
    ("filter, map, map, sums over {records} pairs of float, exact",
     ("expert C, fused by hand", "expert_sums", [], "chain", None),
     [*layouts("bench_sums", ["--problem", "chain"], 2.5),
      ("hdst soa, fast sums", "bench_sums", ["--problem", "chain", "--sums", "fast"], "step", 2.0)]),
    ("Mandelbrot loop, {records} points, at most 256 turns",
     ("expert C", "expert_mandelbrot", [], "step", None),
     [("hdst SoA", "bench_control", ["--problem", "mandelbrot", "--layout", "soa"], "step", 1.5),
      ("hdst AoS", "bench_control", ["--problem", "mandelbrot", "--layout", "aos"], "step", 1.7)]),
    ("records of four kinds, {records}, a division or a square root in two",
     ("expert C", "expert_branchy", [], "step", None),
     [("hdst SoA", "bench_control", ["--problem", "branchy", "--layout", "soa"], "step", 1.5),
      ("hdst AoS", "bench_control", ["--problem", "branchy", "--layout", "aos"], "step", 2.5)]),
    ("KMeans step, 60000 x 784 float, k=10, squared distance, inertia, row-major",
     ("expert C", "expert_kmeans_wide", WIDE, "step", None),
     [("hdst, dot", "bench_kmeans", ["--problem", "wide", "--layout", "aos", *WIDE], "step", 2.0),
      ("hdst, loop in order", "bench_kmeans", ["--problem", "l2", "--layout", "aos", *WIDE], "step", 3.0)]),
    ("matrix times vector, 20000 x 784 float, row-major",
     ("expert C", "expert_matvec", ["--records", "20000"], "product", None),
     [("hdst", "bench_matvec", ["--records", "20000"], "product", 1.15)]),
    *[(title, ("expert C", "expert_emit", [], case, None),
       [("hdst SoA", "bench_emit", ["--layout", "soa"], case, limit), ("hdst AoS", "bench_emit", ["--layout", "aos"], case, limit)])
      for title, case, limit in [
          ("filter with output, {records} x 2 float, half are kept", "half", 1.5),
          ("filter with output, {records} x 2 float, a tenth is kept", "tenth", 1.5),
          ("flat_map, {records} x 2 uint32: an edge and its reverse", "both", 1.5),
          ("flat_map, {records} x 2 uint32: none to three records", "steps", 1.5)]],
    *[(f"{{records}} {name} through a loop of 61 turns", ("expert C", "expert_widths", [], case, None), [("hdst SoA", "bench_widths", [], case, 1.3)])
      for case, name in [("bytes", "uint8"), ("halves", "int16"), ("wholes", "int64"), ("reals", "float64")]],
    # Not beside an expert: what the checks that cannot be proved away cost.
    *[(f"checks inside kernels, {{records}} records: {case}", ("without checks", "bench_checks", ["--unchecked", "1"], case, None),
       [("hdst", "bench_checks", [], case, None)])
      for case in ["histogram", "gather", "divide", "score"]],
    ("checks inside kernels, KMeans step", ("without checks", "bench_kmeans", ["--problem", "l2", "--layout", "soa", "--unchecked", "1"], "step", None),
     [("hdst", "bench_kmeans", ["--problem", "l2", "--layout", "soa"], "step", None)]),
]
# title, program, arguments, and the case if it is not "step": kernels whose compile time is shown.
KERNELS = [
    ("kmeans_l2.hk", "bench_kmeans", ["--problem", "l2"]),
    ("kmeans_l2.hk, aos", "bench_kmeans", ["--problem", "l2", "--layout", "aos"]),
    ("kmeans_k.hk", "bench_kmeans", ["--problem", "k"]),
    ("kmeans_l1.hk", "bench_kmeans", ["--problem", "l1"]),
    ("linreg.hk", "bench_sums", ["--problem", "linreg"]),
    ("chain.hk", "bench_sums", ["--problem", "chain"]),
    *[(f"{name}.hk", "bench_models", ["--problem", problem])
      for name, problem in [("fuzzy-cmeans", "fuzzy"), ("logistic-regression", "logistic"), ("neural-net", "neural")]],
    ("math.hk, Black-Scholes", "bench_math", ["--case", "price"], "price"),
    ("monte-carlo.hk", "bench_monte_carlo", [], "paths"),
    ("matrix-vector.hk", "bench_matvec", ["--problem", "iterate", "--columns", "4096"], "iterate"),
]
COLD_LIMIT = 2.0            # seconds
OTHER_BUILD = "  the other build"
HERE = os.path.dirname(os.path.abspath(__file__))      # the kernels lie beside this file


class Program:
    """One benchmark program, waiting for orders."""

    def __init__(self, path, arguments, environment=None):
        self.path = path
        self.process = subprocess.Popen([path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{path} did not get ready (exit code {self.process.wait()})")

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline().split()
        if not answer:
            raise RuntimeError(f"{self.path} ended at '{line}' (exit code {self.process.wait()})")
        return [float(word) for word in answer[1:]]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def find(build, program):
    path = os.path.join(build, "bench", program)
    return path if os.access(path, os.X_OK) else None


def results_agree(ours, expert, tolerance):
    return len(ours) >= 2 and len(expert) >= 2 and all(abs(a - b) <= tolerance * max(abs(a), abs(b)) for a, b in zip(ours, expert))


def sides_of(comparison, options):
    """The sides with the path of their program: hdst's own also from the other build, if one was named."""
    for label, program, arguments, case, limit in [comparison.expert, *comparison.sides]:
        yield label, find(options.build, program), program, arguments, case, limit
        if options.beside and program.startswith("bench_"):
            yield OTHER_BUILD, find(options.beside, program), program, arguments, case, None


def measure(comparison, options):
    """Runs one comparison; returns its rows."""
    programs, rows = {}, []
    for label, path, program, arguments, case, limit in sides_of(comparison, options):
        row = {"side": label, "limit": limit, "ns": [], "cpu": [], "present": path is not None}
        rows.append(row)
        if path:
            key = (path, *arguments)
            if key not in programs:
                kernels = ["--kernels", HERE] if program.startswith("bench_") else []
                programs[key] = Program(path, [*arguments, *kernels, "--records", str(options.records), "--clusters", str(options.clusters)])
            row["program"], row["case"] = programs[key], case
    present = [row for row in rows if row["present"]]
    for row in present:
        row["program"].ask("run " + row["case"])                    # warm: pages, caches, compiled kernels
        row["check"] = row["program"].ask("check " + row["case"])
    for _ in range(options.rounds):
        for row in present:
            wall, processor = row["program"].ask("run " + row["case"])
            row["ns"].append(wall)
            row["cpu"].append(processor)
    for program in programs.values():
        program.close()
    judge(comparison, rows)
    return {"title": comparison.title.format(records=options.records, clusters=options.clusters), "rows": rows}


def judge(comparison, rows):
    """Adds medians, ratios and whether the results agree to the rows of a comparison."""
    right = rows[1 if comparison.roof else 0]
    for row in [row for row in rows if row["present"]]:
        row["median"] = statistics.median(row["ns"])
        row["ratio"] = row["median"] / rows[0]["median"]
        row["cpu_median"] = statistics.median(row["cpu"])
        row["cpu_ratio"] = row["cpu_median"] / rows[0]["cpu_median"]
        row["agrees"] = comparison.roof and row is rows[0] or results_agree(row["check"], right["check"], comparison.tolerance)
        del row["program"]
    for row, other in zip(rows, rows[1:]):
        if other["side"] == OTHER_BUILD and row["present"] and other["present"]:
            other["beside"] = {figure: statistics.median(a / b for a, b in zip(row[figure], other[figure])) for figure in ("ns", "cpu")}


def print_comparison(comparison):
    """Returns whether every side agrees and keeps its limit."""
    good = True
    print(f"\n{comparison['title']}")
    print(f"  {'':24}{'ns/record':>10}{'spread':>18}{'ratio':>8}{'cpu ns':>10}{'cpu ratio':>10}")
    for row in comparison["rows"]:
        if not row["present"]:
            print(f"  {row['side']:24}{'not built':>10}")
            continue
        notes = []
        if row["limit"]:
            within = row["ratio"] <= row["limit"]
            good = good and within
            notes.append(f"{'within' if within else 'ABOVE'} {row['limit']:.3g}")
        if not row["agrees"]:
            good = False
            notes.append(f"DIFFERENT RESULT {row['check']}")
        if "beside" in row:
            notes.append(f"this build takes {row['beside']['ns']:.3f} of it, {row['beside']['cpu']:.3f} by processor time")
        spread = f"{min(row['ns']):.3f} .. {max(row['ns']):.3f}"
        print(f"  {row['side']:24}{row['median']:10.3f}{spread:>18}{row['ratio']:8.2f}{row['cpu_median']:10.3f}{row['cpu_ratio']:10.2f}  {', '.join(notes)}")
    return good


def points_csv(path):
    """1,000 made-up points in 5 groups."""
    state = 1
    with open(path, "w", encoding="ascii") as file:
        for i in range(1000):
            row = []
            for _ in range(2):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                row.append((i % 5) * 10 + (state >> 40) / 2**24)
            file.write(f"{row[0]:.6f},{row[1]:.6f}\n")


def wall_ms(command, environment):
    start = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return (time.perf_counter() - start) * 1e3


def start_up(options):
    """From process start to result on 1,000 points with a filled cache, beside a bare OpenCL program."""
    kmeans = os.path.join(options.build, "examples", "kmeans")
    with tempfile.TemporaryDirectory() as folder:
        points = os.path.join(folder, "points.csv")
        points_csv(points)
        example = [kmeans, "--input", points, "--clusters", "5", "--iterations", "5", "--tolerance", "0", "--init", "first", "--quiet",
                   "--output", os.path.join(folder, "labels.npy")]
        commands = []
        if find(options.build, "bare_opencl"):
            commands.append(("bare OpenCL program", [find(options.build, "bare_opencl"), os.path.join(folder, "binary")]))
        if os.access(kmeans, os.X_OK):
            commands += [("hdst --device cpu", [*example, "--device", "cpu"]), ("hdst --device interp", [*example, "--device", "interp"])]
        environment = dict(os.environ, HDST_CACHE_DIR=os.path.join(folder, "cache"))
        times = {label: [] for label, _ in commands}
        for label, command in commands:
            wall_ms(command, environment)                           # fills the caches
        for _ in range(options.rounds):
            for label, command in commands:
                times[label].append(wall_ms(command, environment))
    return {"title": "process start to result, 1,000 points, 5 iterations, caches filled",
            "rows": [{"side": label, "ms": ms, "median": statistics.median(ms)} for label, ms in times.items()]}


def print_start_up(result):
    print(f"\n{result['title']}")
    print(f"  {'':24}{'ms':>10}{'spread':>18}")
    for row in result["rows"]:
        spread = f"{min(row['ms']):.1f} .. {max(row['ms']):.1f}"
        print(f"  {row['side']:24}{row['median']:10.1f}{spread:>18}")


def first_run(path, arguments, case, environment):
    """Seconds of processor time that the first run takes beyond the second."""
    records = 4096
    program = Program(path, [*arguments, "--kernels", HERE, "--records", str(records)], environment)
    times = [program.ask("run " + case)[1] * records * 1e-9 for _ in range(2)]
    program.close()
    return times[0] - times[1]


def compile_times(options):
    """What a kernel costs before its first launch: never seen before, and from the cache on disk."""
    rows = []
    builds = [("", options.build)] + ([(", other build", options.beside)] if options.beside else [])
    for (title, name, arguments, *cases), (words, build) in [(kernel, build) for kernel in KERNELS for build in builds]:
        case = cases[0] if cases else "step"
        path = find(build, name)
        if not path:
            continue
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, HDST_CACHE_DIR=os.path.join(folder, "hdst"), POCL_CACHE_DIR=os.path.join(folder, "pocl"))
            os.mkdir(environment["POCL_CACHE_DIR"])
            cold, warm = (first_run(path, arguments, case, environment) for _ in range(2))
        rows.append({"side": title + words, "cold": cold, "warm": warm})
    return {"title": "compile time, seconds of processor time", "rows": rows}


def print_compile_times(result):
    print(f"\n{result['title']}")
    print(f"  {'':40}{'cold':>10}{'cached':>10}")
    for row in result["rows"]:
        print(f"  {row['side']:40}{row['cold']:10.2f}{row['warm']:10.2f}  {'within' if row['cold'] <= COLD_LIMIT else 'ABOVE'} {COLD_LIMIT}")
    return all(row["cold"] <= COLD_LIMIT for row in result["rows"])


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--beside", metavar="BUILD",
                        help="another build's folder, such as that of an older version: hdst's sides are measured with both, in turn")
    parser.add_argument("--match", metavar="TEXT", help="only the comparisons whose title has TEXT")
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--clusters", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=["steps", "workloads", "start", "compile", "texts"],
        help="the steps, the workloads, the start-up times, the compile times or the reading of text alone")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE")
    return parser.parse_args()


def main():
    options = parse_options()
    results, good = {"steps": [], "workloads": [], "start": None, "compile": None, "texts": None}, True
    try:
        for part, comparisons in (("steps", COMPARISONS), ("workloads", workloads.WORKLOADS)):
            for comparison in comparisons if options.only in (None, part) else []:
                if options.match and options.match not in comparison[0]:
                    continue
                results[part].append(measure(Comparison(*comparison), options))
                good = print_comparison(results[part][-1]) and good
        if options.only in (None, "compile"):
            results["compile"] = compile_times(options)
            good = print_compile_times(results["compile"]) and good
        if options.only in (None, "start"):
            results["start"] = start_up(options)
            print_start_up(results["start"])
        if options.only in (None, "texts"):
            results["texts"] = texts.texts(options)
            good = texts.print_texts(results["texts"]) and good
    except (RuntimeError, OSError, ValueError) as error:
        sys.exit(f"bench: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"bench: {' '.join(error.cmd)}: exit code {error.returncode}\n{error.stderr.decode(errors='replace')}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
