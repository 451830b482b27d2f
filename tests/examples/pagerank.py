# SPDX-License-Identifier: Apache-2.0
"""The pagerank program against a computation of its own, and published ranks. usage: pagerank.py EXECUTABLE SOURCE"""
import math

from graphs import DEVICES, find_devices, graphs, published_output, saved, write_edges
from run import check, expect_error, fail, main, published, result, run


def ranks(edges, iterations, vertices=(), damping=0.85):
    """{vertex: rank}; all sums are exact, as math.fsum has them. Edges that are there twice count twice."""
    degree = {v: 0 for edge in edges for v in edge}
    degree.update((v, 0) for v in vertices if v not in degree)
    for a, _ in edges:
        degree[a] += 1
    rank = dict.fromkeys(degree, 1 / len(degree))
    for _ in range(iterations):
        lost = math.fsum(rank[v] for v in degree if not degree[v])
        received = {v: [] for v in degree}
        for a, b in edges:
            received[b].append(rank[a] / degree[a])
        rest = (1 - damping) / len(degree) + damping * (lost / len(degree))
        rank = {v: rest + damping * math.fsum(received[v]) for v in degree}
    return rank


def expect_ranks(right, error, *arguments):
    got = saved(*arguments)
    check(got.keys() == right.keys(), f"{arguments}: other vertices")
    worst = max((abs(float(got[v]) - float(right[v])) / float(right[v]), v) for v in right if v in got)
    check(worst[0] <= error, f"{arguments}: vertex {worst[1]} has {got[worst[1]]}, not {right[worst[1]]}")


def graphs_of_many_shapes_have_their_ranks():
    for name, edges in graphs(4):
        if not edges:
            continue
        write_edges("graph.txt", edges)
        right = ranks(edges, 5)
        for device in DEVICES:
            expect_ranks(right, 1e-13, "--input", "graph.txt", "--iterations", 5, "--device", device)
        expect_ranks(right, 1e-5, "--input", "graph.txt", "--iterations", 5, "--precision", "float", "--device", DEVICES[-1])


def devices_give_the_same_bits():
    edges = list(graphs(5))[7][1]
    write_edges("graph.txt", edges)
    for precision in ("double", "float"):
        given = [saved("--input", "graph.txt", "--precision", precision, "--device", device) for device in DEVICES]
        check(all(other == given[0] for other in given), f"{precision}: devices differ")


def vertices_without_edges_are_ranked():
    edges = [(0, 1), (1, 2), (2, 0), (2, 5)]
    write_edges("graph.txt", edges)
    expect_ranks(ranks(edges, 9, range(8)), 1e-13, "--input", "graph.txt", "--iterations", 9, "--vertices", 8)
    write_edges("none.txt", [])
    expect_ranks(dict.fromkeys(range(4), 0.25), 1e-13, "--input", "none.txt", "--vertices", 4)


def results_say_what_was_found():
    edges = [(0, 3), (1, 3), (2, 3), (3, 0), (5, 0)]
    write_edges("graph.txt", edges)
    right = ranks(edges, 200)
    for device in DEVICES:
        got = result("--input", "graph.txt", "--top", 2, "--device", device)["result"]
        check((got["nodes"], got["edges"]) == (5, 5), f"{got}")
        check(abs(got["sum"] - 1) < 1e-12 and got["change"] <= 1e-9 and 50 < got["iterations"] < 200, f"{got}")
        check([t["vertex"] for t in got["top"]] == sorted(right, key=right.get)[:-3:-1], f"{got}")
    code, out, err = run("--input", "graph.txt", "--iterations", 3, "--tolerance", 1e-9, "--top", 1)
    check(code == 0 and b"5 vertices, 5 edges, 3 iterations" in out, f"{code} {out}")
    check("limit of 3 turns" in err and "'change'" in err, err)
    check(result("--input", "graph.txt", "--iterations", 3)["result"]["iterations"] == 3, "as many iterations as asked")
    flat = result("--input", "graph.txt", "--damping", 0)["result"]
    check(all(abs(t["rank"] - 0.2) < 1e-15 for t in flat["top"]), f"{flat}")


def misuse_is_told():
    write_edges("graph.txt", [(0, 1)])
    write_edges("none.txt", [])
    expect_error(2, ["no vertices"], "--input", "none.txt")
    expect_error(2, ["--damping"], "--input", "graph.txt", "--damping", 1)
    expect_error(2, ["--precision"], "--input", "graph.txt", "--precision", "half")
    expect_error(2, ["--iterations"], "--input", "graph.txt", "--iterations", 0)
    write_edges("weights.txt", [(0, 1, 0.5)])
    expect_error(6, ["weights.txt:2", "record 'edge' takes 2"], "--input", "weights.txt")


def published_graphs_have_their_largest_ranks():
    for name, top in (("wiki-Vote", [(4037, 0.0046, 5e-5)]), ("soc-Epinions1", [(18, 0.00453503, 1e-8), (737, 0.00315040, 1e-8)])):
        path = published("graphs", name + ".txt.gz")
        for device in DEVICES if path else []:
            got = result("--input", path, "--top", len(top), "--device", device)["result"]
            for (vertex, rank, error), found in zip(top, got["top"]):
                check(found["vertex"] == vertex and abs(found["rank"] - rank) <= error, f"{name} on {device}: {found}")
            check(abs(got["sum"] - 1) < 1e-12, f"{name}: {got['sum']}")


def graphalytics_graphs_have_their_ranks():
    """After two iterations; those of dir-output do not change any more, though 14 are said to be enough."""
    for folder, name, right, iterations, error in (("pr", "dir-input", "dir-output", 14, 2e-6), ("pr", "dir-input", "dir-output", 60, 1e-12),
                                                   ("example", "example-directed-input", "example-directed-PR", 2, 1e-9),
                                                   ("example", "example-undirected-input", "example-undirected-PR", 2, 1e-9)):
        path, expected = published("oracle", "graphalytics", folder, name), published_output("oracle", "graphalytics", folder, right)
        for device in DEVICES if path and expected else []:
            expect_ranks(expected, error, "--input", path, "--adjacency", "--iterations", iterations, "--device", device)


def lagraph_matrices_have_their_ranks():
    for name, file, more in (("karate", "karate", []), ("west0067", "west0067", ["--weighted"]),
                             ("ldbc-directed-example", "ldbc_directed_example", ["--weighted"])):
        path, right = published("oracle", "lagraph", name + ".mtx"), published("oracle", "lagraph", file + "_rank.txt")
        if not path or not right:
            continue
        with open(right) as lines:
            expected = [float(line) for line in lines]
        got = saved("--input", path, "--vertices", len(expected), "--device", DEVICES[-1], *more)
        if len(got) != len(expected):
            fail(f"{name}: {len(got)} vertices, not {len(expected)}")
        for i, rank in enumerate(expected):
            check(abs(float(got.get(i, "nan")) - rank) < 1e-4, f"{name}: vertex {i} has {got.get(i)}, not {rank}")


main(find_devices, graphs_of_many_shapes_have_their_ranks, devices_give_the_same_bits, vertices_without_edges_are_ranked, results_say_what_was_found,
     misuse_is_told, published_graphs_have_their_largest_ranks, graphalytics_graphs_have_their_ranks, lagraph_matrices_have_their_ranks)
