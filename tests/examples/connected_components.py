# SPDX-License-Identifier: Apache-2.0
"""The connected-components program against union and find, and published counts. usage: connected_components.py EXECUTABLE SOURCE"""
import collections

from graphs import DEVICES, components, expect_result, find_devices, graphs, published_output, ring, saved, write_edges
from run import check, expect_error, main, published, result, run


def summary(labels):
    sizes = collections.Counter(labels.values())
    return {"nodes": len(labels), "components": len(sizes), "largest": max(sizes.values(), default=0)}


def as_texts(labels):
    return {v: str(label) for v, label in labels.items()}


def graphs_of_many_shapes_have_the_components_of_union_and_find():
    for name, edges in graphs(3):
        if not edges:
            continue        # an error (a_graph_without_vertices_is_told)
        write_edges("graph.txt", edges)
        labels = components(edges)
        expect_result({**summary(labels), "edges": len(edges)}, "--input", "graph.txt")
        for device in DEVICES:
            check(saved("--input", "graph.txt", "--device", device, "--memory", "24MiB") == as_texts(labels), f"{name} on {device}")


def vertices_without_edges_are_components():
    edges = [(1, 2), (2, 7), (5, 5)]
    write_edges("graph.txt", edges)
    with open("vertices.txt", "w") as file:
        file.write("2\n9\n0\n9\n30\n")
    expect_result(summary(components(edges, (2, 9, 0, 30))), "--input", "graph.txt", "--vertices", "vertices.txt")
    expect_result(summary(components(edges, range(12))), "--input", "graph.txt", "--vertices", "12")
    write_edges("none.txt", [])
    expect_result({"nodes": 4, "components": 4, "largest": 1, "edges": 0}, "--input", "none.txt", "--vertices", "4")


def several_files_are_one_graph():
    write_edges("one.txt.gz", [(0, 1), (4, 5)])
    write_edges("two.txt", [(1, 4), (8, 9)])
    expect_result({"nodes": 6, "components": 2, "largest": 4, "edges": 4}, "--input", "one.txt.gz", "--input", "two.txt")


def text_is_three_numbers():
    write_edges("graph.txt", [(0, 1), (4, 5), (5, 6)])
    code, out, _ = run("--input", "graph.txt", "--quiet")
    check((code, out) == (0, b"5 2 3\n"), f"{code} {out}")


def turns_of(edges):
    """How many turns there are and edges that these go through, twice each: all, then those between two trees, whose ends are the trees' roots."""
    root = {v: v for edge in edges for v in edge}
    turns = gone = 0
    while edges:
        turns += 1
        gone += 2 * len(edges)
        parent = {v: min([root[v]] + [min(edge) for edge in edges if max(edge) == v]) for v in root}
        for v in sorted(parent):
            parent[v] = parent[parent[v]]           # a smaller vertex, which is at its root
        root = parent
        edges = [(root[a], root[b]) for a, b in edges if root[a] != root[b]]
    return {"iterations": turns, "edges_touched": gone}


def turns_go_through_the_edges_between_trees_alone():
    everyone = [(a, b) for a in range(60) for b in range(a)]
    one_turn = {"iterations": 1, "edges_touched": 2 * len(everyone)}
    check(turns_of(everyone) == one_turn, "the computation to compare with")
    for edges in (everyone, everyone + [(70, 71), (72, 71)], ring(0, 400)):
        write_edges("graph.txt", edges)
        expect_result(turns_of(edges), "--input", "graph.txt")


def long_ways_up_a_tree_are_gone():
    """Each vertex of a line hangs from the one before it: ways of 3000 steps, in turns of a few."""
    write_edges("graph.txt", [(i + 1, i) for i in range(3000)])
    expect_result({"nodes": 3001, "components": 1, "largest": 3001, "iterations": 1}, "--input", "graph.txt")


def a_graph_without_vertices_is_told():
    write_edges("none.txt", [])
    for more in ([], ["--vertices", "0"]):
        for device in DEVICES:
            expect_error(2, ["the graph has no vertices", "--vertices N"], "--input", "none.txt", "--device", device, *more)
    write_edges("loop.txt", [(0, 0)])
    check(result("--input", "loop.txt", "--device", "interp")["result"]["nodes"] == 1, "a vertex that leads to itself is one")


def misuse_is_told():
    write_edges("weights.txt", [(0, 1, 0.5)])
    expect_error(6, ["weights.txt:2", "record 'edge' takes 2"], "--input", "weights.txt")
    for rows, line in (([(0, 1), (1, 2, 3)], "3 fields, line 2 has 2"), ([(0, 1, 2), (1, 2)], "2 fields, line 2 has 3")):
        write_edges("uneven.txt", rows)
        expect_error(6, ["uneven.txt:3", line], "--input", "uneven.txt")
    write_edges("negative.txt", [(0, 1), (-1, 2)])
    expect_error(6, ["negative.txt:3:1", "numbered from 0"], "--input", "negative.txt")
    write_edges("large.txt", [(0, 4294967295)])
    expect_error(2, ["4294967295", "number the vertices anew"], "--input", "large.txt")
    write_edges("graph.txt", [(0, 7)])
    expect_error(2, ["--vertices 7", "vertex 7"], "--input", "graph.txt", "--vertices", "7")
    expect_error(2, ["--columns"], "--input", "graph.txt", "--columns", "0")
    expect_error(6, ["sizes"], "--input", "graph.txt", "--sizes-first")
    with open("bad.txt", "w") as file:
        file.write("3\n-2\n")
    expect_error(6, ["-2", "no vertex"], "--input", "graph.txt", "--vertices", "bad.txt")


def published_graphs_have_their_counts():
    for name, nodes, count, largest, more in (("wiki-Vote", 7115, 24, 7066, []), ("soc-Epinions1", 75879, 2, 75877, []),
                                              ("p2p-Gnutella31", 62586, 12, 62561, []), ("CA-GrQc", 5242, 355, 4158, ["--sizes-first"]),
                                              ("debian12-main-amd64-deps", 57842, 304, 56746, [])):
        path = published("graphs", name + ".txt.gz")
        if path:
            expect_result({"nodes": nodes, "components": count, "largest": largest}, "--input", path, *more)


def graphalytics_graphs_have_their_components():
    for folder, name, more in (("wcc", "dir", ["--adjacency"]), ("wcc", "undir", ["--adjacency"]), ("example", "example-directed", []),
                               ("example", "example-undirected", [])):
        right = published_output("oracle", "graphalytics", folder, f"{name}-output" if more else f"{name}-WCC")
        if not right:
            continue
        path = published("oracle", "graphalytics", folder, f"{name}-input" if more else f"{name}.e")
        check(saved("--input", path, "--device", DEVICES[-1], *(more or ["--weighted"])) == right, f"{folder}/{name}")


def lagraph_matrices_have_their_components():
    counts = published("oracle", "lagraph", "ncomponents.txt")
    if not counts:
        return
    with open(counts) as file:
        for line in file:
            count, name = line.split()
            path = published("oracle", "lagraph", name)
            with open(path) as matrix:
                first = matrix.readline()
                rows = next(row for row in matrix if not row.startswith("%")).split()[0]
            more = [] if "pattern" in first else ["--weighted"]
            expect_result({"components": int(count), "nodes": int(rows)}, "--input", path, "--vertices", rows, *more)


main(find_devices, graphs_of_many_shapes_have_the_components_of_union_and_find, vertices_without_edges_are_components, several_files_are_one_graph,
     text_is_three_numbers, turns_go_through_the_edges_between_trees_alone, long_ways_up_a_tree_are_gone, a_graph_without_vertices_is_told, misuse_is_told,
     published_graphs_have_their_counts, graphalytics_graphs_have_their_components, lagraph_matrices_have_their_components)
