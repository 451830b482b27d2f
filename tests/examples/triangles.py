# SPDX-License-Identifier: Apache-2.0
"""The triangles program against sets in Python, and published counts. usage: triangles.py EXECUTABLE SOURCE"""
import collections
import math

from graphs import DEVICES, expect_result, find_devices, graphs, saved, write_edges
from run import check, expect_error, main, published, result, run


def neighbours(edges):
    near = collections.defaultdict(set)
    for a, b in edges:
        if a != b:
            near[a].add(b)
            near[b].add(a)
    return near


def triangles_of_each(edges):
    """{vertex: triangles that it is a part of}: pairs of its neighbours that are neighbours."""
    near = neighbours(edges)
    return {v: sum(b in near[a] for a in near[v] for b in near[v] if a < b) for v in {v for edge in edges for v in edge}}


def right_result(edges):
    near = neighbours(edges)
    wedges = sum(len(n) * (len(n) - 1) // 2 for n in near.values())
    of_each = triangles_of_each(edges)
    return {"nodes": len(of_each), "edges": len(edges), "distinct_edges": sum(map(len, near.values())) // 2, "triangles": sum(of_each.values()) // 3,
            "wedges": wedges}


def complete(count):
    return [(a, b) for a in range(count) for b in range(count) if a != b]


def graphs_of_many_shapes_have_the_triangles_that_sets_have():
    close = [(a % 60, a * a % 60) for a in range(1500)] + [(a % 45, a * 7 % 60) for a in range(900)]
    for name, edges in [*((name, edges) for name, edges in graphs(9) if name in ("star", "loops", "random 3000")), ("complete", complete(20)),
                        ("close", close)]:
        write_edges("graph.txt", edges)
        right = right_result(edges)
        expect_result(right, "--input", "graph.txt")
        got = result("--input", "graph.txt", "--device", "interp")["result"]["transitivity"]
        check(math.isclose(got, 3 * right["triangles"] / right["wedges"] if right["wedges"] else 0), f"{name}: {got}")
        of_each = saved("--input", "graph.txt", "--device", DEVICES[-1], "--memory", "24MiB")
        check(of_each == {v: str(n) for v, n in triangles_of_each(edges).items()}, name)


def a_graph_without_edges_has_none():
    write_edges("none.txt", [])
    expect_result({"nodes": 3, "edges": 0, "triangles": 0, "transitivity": 0}, "--input", "none.txt", "--vertices", "3")
    check(saved("--input", "none.txt", "--vertices", "3", "--device", "interp") == {0: "0", 1: "0", 2: "0"}, "each of none")


def text_is_four_numbers():
    write_edges("graph.txt", [(0, 1), (1, 2), (2, 0), (2, 3)])
    code, out, err = run("--input", "graph.txt", "--device", "interp", "--quiet")
    check((code, out) == (0, b"4 4 1 0.6\n"), f"{code} {out} {err}")


def a_graph_without_vertices_is_told():
    write_edges("none.txt", [])
    for more in ([], ["--vertices", "0"]):
        for device in DEVICES:
            expect_error(2, ["the graph has no vertices", "--vertices N"], "--input", "none.txt", "--device", device, *more)
    write_edges("loop.txt", [(0, 0)])
    check(result("--input", "loop.txt", "--device", "interp")["result"]["nodes"] == 1, "a vertex that leads to itself is one")


def misuse_is_told():
    write_edges("graph.txt", [(0, 1)])
    expect_error(2, ["--vertices 1", "vertex 1"], "--input", "graph.txt", "--vertices", "1")
    write_edges("weights.txt", [(0, 1, 0.5)])
    expect_error(6, ["weights.txt:2", "record 'edge' takes 2"], "--input", "weights.txt")


def published_graphs_have_their_counts():
    """Counts of SNAP's pages (https://snap.stanford.edu/data)."""
    for name, nodes, count, more in (("wiki-Vote", 7115, 608389, []), ("soc-Epinions1", 75879, 1624481, []), ("CA-GrQc", 5242, 48260, ["--sizes-first"])):
        path = published("graphs", name + ".txt.gz")
        if path:
            got = result("--input", path, "--device", DEVICES[-1], *more)["result"]
            check((got["nodes"], got["triangles"]) == (nodes, count), f"{name}: {got}")


def lagraph_matrices_have_their_counts():
    """Those that LAGraph's test of triangle counts expects."""
    for name, count in (("karate", 45), ("A", 11), ("jagmesh7", 2016), ("bcsstk13", 342300), ("LFAT5", 0), ("tree-example", 0),
                        ("ldbc-wcc-example", 5), ("ldbc-cdlp-undirected-example", 6)):
        path = published("oracle", "lagraph", name + ".mtx")
        if path:
            with open(path) as matrix:
                more = [] if "pattern" in matrix.readline() else ["--weighted"]
            got = result("--input", path, "--device", "interp", *more)["result"]
            check(got["triangles"] == count, f"{name}: {got}")


main(find_devices, graphs_of_many_shapes_have_the_triangles_that_sets_have, a_graph_without_edges_has_none, a_graph_without_vertices_is_told,
     text_is_four_numbers, misuse_is_told, published_graphs_have_their_counts, lagraph_matrices_have_their_counts)
