# SPDX-License-Identifier: Apache-2.0
"""The bfs program against a queue in Python, and published depths. usage: bfs.py EXECUTABLE SOURCE"""
import collections
import gzip

from graphs import DEVICES, expect_result, find_devices, graphs, published_output, saved, write_edges
from run import check, expect_error, main, published, result

FAR = 9223372036854775807


def depths(edges, start, both):
    """{vertex: edges from start}"""
    ends = collections.defaultdict(list)
    for a, b in edges:
        ends[a].append(b)
        if both:
            ends[b].append(a)
    found = {v: FAR for edge in edges for v in edge}
    found[start] = 0
    queue = collections.deque([start])
    while queue:
        v = queue.popleft()
        for w in ends[v]:
            if found[w] == FAR:
                found[w] = found[v] + 1
                queue.append(w)
    return found


def touched(edges, depth, both):
    """Each vertex that is reached looks at its edges once."""
    return sum((depth[a] != FAR) + (both and depth[b] != FAR) for a, b in edges)


def graphs_of_many_shapes_have_the_depths_of_a_queue():
    for name, edges in graphs(5):
        if not edges or name == "ring":      # of which the turns are many
            continue
        write_edges("graph.txt", edges)
        start = edges[len(edges) // 2][0]
        for both in (False, True):
            right = depths(edges, start, both)
            more = ["--source", start, *(["--undirected"] if both else [])]
            reached = [depth for depth in right.values() if depth != FAR]
            expect_result({"nodes": len(right), "edges": len(edges), "reached": len(reached), "depth": max(reached), "iterations": max(reached) + 1,
                           "edges_touched": touched(edges, right, both)}, "--input", "graph.txt", *more)
            got = saved("--input", "graph.txt", "--device", DEVICES[-1], "--memory", "24MiB", *more)
            check(got == {v: str(depth) for v, depth in right.items()}, f"{name} {more}")


def a_vertex_without_edges_reaches_itself():
    write_edges("graph.txt", [(0, 1)])
    expect_result({"nodes": 6, "reached": 1, "depth": 0}, "--input", "graph.txt", "--vertices", "6", "--source", "5")


def a_turn_tells_what_it_touched():
    write_edges("graph.txt", [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (5, 0)])
    got = result("--input", "graph.txt")
    check([(turn.get("work"), turn["edges_touched"]) for turn in got["turns"]] == [(1, 2), (2, 2), (1, 1), (1, 0)], f"{got}")
    check(all(turn["seconds"] > 0 and turn["records"] > 0 for turn in got["turns"]), f"{got}")


def misuse_is_told():
    write_edges("graph.txt", [(0, 2)])
    expect_error(2, ["no vertex 1"], "--input", "graph.txt", "--source", "1")
    expect_error(2, ["no vertex 9"], "--input", "graph.txt", "--source", "9")
    write_edges("none.txt", [])
    expect_error(2, ["no vertex 0"], "--input", "none.txt")
    expect_error(2, ["--source"], "--input", "graph.txt", "--source", "-1")


def graphalytics_graphs_have_their_depths():
    for name, start, more in (("example-directed", 1, []), ("example-undirected", 2, ["--undirected"])):
        right = published_output("oracle", "graphalytics", "example", name + "-BFS")
        if right:
            got = saved("--input", published("oracle", "graphalytics", "example", name + ".e"), "--weighted", "--source", start, *more)
            check(got == right, f"{name}: {got}")


def a_graph_of_votes_is_as_deep_as_a_queue_finds():
    path = published("graphs", "wiki-Vote.txt.gz")
    if not path:
        return
    with gzip.open(path, "rt") as file:
        edges = [tuple(map(int, line.split())) for line in file if not line.startswith("#")]
    right = [depth for depth in depths(edges, 30, True).values() if depth != FAR]
    check(len(right) == 7066, f"{len(right)} reached")     # the largest component, as SNAP has it
    expect_result({"nodes": 7115, "reached": 7066, "depth": max(right)}, "--input", path, "--source", 30, "--undirected")


main(find_devices, graphs_of_many_shapes_have_the_depths_of_a_queue, a_vertex_without_edges_reaches_itself, a_turn_tells_what_it_touched, misuse_is_told,
     graphalytics_graphs_have_their_depths, a_graph_of_votes_is_as_deep_as_a_queue_finds)
