# SPDX-License-Identifier: Apache-2.0
"""The comparisons of whole workloads beside hand-written twins, for run.py (`--only workloads`). Each entry is
(title, expert, hdst's sides) as run.py says, and
as many more members of its Comparison as it needs. Sizes stand in the entries; run.py's general ones come after them and change nothing."""

OPTIONS = ["--records", "20000000"]
PATHS = ["--records", "10000000"]
SORTED = ["--records", "100000000"]
PIXELS = ["--records", "33000000"]

NUMERIC = [
    ("Black-Scholes, 20M options of 3 float: call and put",
     ("C, same polynomials", "expert_black_scholes", OPTIONS, "price", None),
     [("C, libmvec, fast math", "expert_math", OPTIONS, "price", None),
      ("hdst", "bench_math", ["--case", "price", *OPTIONS], "price", 1.3)], 1e-5),
    ("Monte Carlo, 10M paths in double: what a European call pays, and its square",
     ("C", "expert_monte_carlo", PATHS, "paths", None),
     [("hdst", "bench_monte_carlo", PATHS, "paths", 1.25)], 1e-12),
    # A step of the small matrix takes 0.1 ms: what a run costs beside its kernel is seen.
    *[(f"iterated matrix-vector product, a step of a matrix of {size} x {size} float",
       ("C", "expert_matvec", ["--records", size, "--columns", size], "iterate", None),
       [("hdst", "bench_matvec", ["--problem", "iterate", "--records", size, "--columns", size], "iterate", limit)], 1e-5)
      for size, limit in [("1000", None), ("8192", 1.25)]],
    ("sort of 100M uint32",
     ("C, radix sort", "expert_sort", SORTED, "sort", None),
     [("hdst", "bench_sort", SORTED, "sort", 1.2)], 0),
    ("the 10 pairs (uint32, float) with the largest values of 100M",
     ("C, blocks beside the worst so far", "expert_pick", SORTED, "top", None),
     [(f"hdst {layout}", "bench_pick", [*SORTED, "--layout", layout], "top", None) for layout in ("aos", "soa")], 0),
    *[(f"groups: a function over all of 20M pairs (uint32, float) of each of {keys} keys, in their order",
       ("C, partition by hash", "expert_group", [*OPTIONS, "--keys", keys], "group", None),
       [("hdst", "bench_group", [*OPTIONS, "--keys", keys], "group", None)], 1e-6)
      for keys in ["1000", "1000000"]],
    # Two tables for each strip, as in C: a common value makes an addition wait for the last but one.
    *[(f"histogram of 33M pixels of three bytes, 3 x 256 counts{words}",
       ("C, two tables", "expert_histogram", [*PIXELS, "--skewed", skewed], "count", None),
       [(f"hdst {layout}", "bench_histogram", [*PIXELS, "--skewed", skewed, "--layout", layout], "count", 1.2) for layout in ("aos", "soa")], 0)
      for words, skewed in [("", "0"), (", three of four bytes are 7", "1")]],
    # Triad moves 24 bytes, the sums read 8: a ratio of 0.417 is 0.8 of the memory's rate.
    *[(f"linear regression, 20M pairs of float of {digits} bits: sums of x, y, xx, xy",
       ("triad, 24 bytes", "expert_sums", [*OPTIONS, "--digits", digits], "triad", None),
       [("C, float sums", "expert_sums", [*OPTIONS, "--digits", digits], "linreg", None),
        ("hdst, exact sums", "bench_sums", ["--problem", "linreg", "--digits", digits, *OPTIONS], "step", exact),
        ("hdst, fast sums", "bench_sums", ["--problem", "linreg", "--digits", digits, "--sums", "fast", *OPTIONS], "step", None)], 1e-5, True)
      for digits, exact in [("16", 0.417), ("24", 0.55)]],
]


# Exact sums beside sums in double: of few keys, of as many as fit no cache, of one or two records each.
BY_KEY = [
    (f"sums of 20M pairs (uint32, float) by {keys} keys, any 32-bit numbers",
     ("C, sums in double", "expert_by_key", [*OPTIONS, "--keys", keys], "hashed", None),
     [("hdst, exact sums", "bench_by_key", ["--hashed", "--layout", "soa", *OPTIONS, "--keys", keys], "step", 1.3)], 1e-6)
    for keys in ["1000", "1000000", "10000000"]] + [
    (f"sums of 20M by {keys} keys, key and value computed from 4 fields",
     ("C, fused by hand", "expert_by_key", ["--map", *OPTIONS, "--keys", keys], "mapped", None),
     [("hdst, exact sums", "bench_by_key", ["--map", "--layout", "soa", *OPTIONS, "--keys", keys], "step", 1.3)], 1e-6)
    for keys in ["1000", "1000000"]]


def model(title, problem, arguments, exact, fast):
    """A step of a model, with the limits of the ratios of exact and of fast sums. An addition costs C one
    instruction, an exact sum seven to ten: with tens of sums for each
    record the exact sides cannot come near; the limits of those say what they must not fall behind."""
    side = ["--problem", problem, *arguments]
    return (title, ("C, float sums", f"expert_{problem}", arguments, "step", None),
            [("hdst, exact sums", "bench_models", side, "step", exact), ("hdst, fast sums", "bench_models", [*side, "--sums", "fast"], "step", fast)])


MODELS = [
    model("fuzzy c-means, a step of 4M points of 4 float, 8 clusters, fuzzifier 2: 41 sums", "fuzzy", ["--records", "4000000", "--clusters", "8"], 5.0, 1.5),
    model("logistic regression, a step of 2M rows of 10 double: 78 sums and a count", "logistic", ["--records", "2000000"], 2.1, 1.25),
    model("neural net, the gradient of 8000 rows of 784 float, 30 hidden units, 10 classes: 23860 sums", "neural", ["--records", "8000"], None, None),
    model("neural net, a mini-batch of 50", "neural", ["--records", "50"], None, None),
]

WORKLOADS = NUMERIC + BY_KEY + MODELS
