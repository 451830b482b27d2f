# SPDX-License-Identifier: Apache-2.0
"""The sssp program against Dijkstra's algorithm in Python, and published distances. usage: sssp.py EXECUTABLE SOURCE"""
import heapq
import math
import random

from graphs import DEVICES, expect_result, find_devices, graphs, published_output, saved, write_edges
from run import check, expect_error, main, published


def distances(edges, start, both):
    """{vertex: the least sum from start}. Sums are added up from the begin of a way, as the program's are, so they have the same bits."""
    ends = {v: [] for a, b, _ in edges for v in (a, b)}
    for a, b, weight in edges:
        ends[a].append((b, weight))
        if both:
            ends[b].append((a, weight))
    found = dict.fromkeys(ends, math.inf)
    found[start] = 0.0
    heap = [(0.0, start)]
    while heap:
        distance, v = heapq.heappop(heap)
        for w, weight in ends[v] if distance == found[v] else ():
            if distance + weight < found[w]:
                found[w] = distance + weight
                heapq.heappush(heap, (found[w], w))
    return found


def expect_distances(edges, start, both, name):
    right = distances(edges, start, both)
    more = ["--source", start, *(["--undirected"] if both else [])]
    reached = [distance for distance in right.values() if distance < math.inf]
    expect_result({"nodes": len(right), "edges": len(edges), "reached": len(reached), "distance": max(reached)}, "--input", "graph.txt", *more)
    got = saved("--input", "graph.txt", "--device", DEVICES[-1], "--memory", "24MiB", *more)
    check({v: float(distance) for v, distance in got.items()} == right, f"{name} {more}")


def graphs_of_many_shapes_have_the_distances_of_dijkstra():
    for name, edges in graphs(8):
        if not edges or name in ("ring", "path"):       # of which the turns are many
            continue
        weights = [random.choice((0.0, 1.0, random.random(), 1e-9, 1e9 * random.random())) for _ in edges]
        edges = [(*edge, weight) for edge, weight in zip(edges, weights)]
        write_edges("graph.txt", edges)
        for both in (False, True):
            expect_distances(edges, edges[len(edges) // 2][0], both, name)


def longer_ways_may_be_shorter():
    edges = [(0, 5, 10), (0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 5, 1), (5, 6, 0)]
    write_edges("graph.txt", edges)
    expect_distances(edges, 0, False, "a long way")
    expect_result({"iterations": 7, "edges_touched": 8}, "--input", "graph.txt")     # of 5 and 6 twice: over the edge of 10, and the long way


def misuse_is_told():
    write_edges("negative.txt", [(0, 1, 1), (1, 2, -0.5), (2, 3, "nan")])
    expect_error(7, ["edge 1", "negative"], "--input", "negative.txt")
    write_edges("plain.txt", [(0, 1)])
    expect_error(6, ["plain.txt", "no weights"], "--input", "plain.txt")
    write_edges("graph.txt", [(0, 2, 1)])
    expect_error(2, ["no vertex 1"], "--input", "graph.txt", "--source", "1")


def graphalytics_graphs_have_their_distances():
    for name, start, more in (("example-directed", 1, []), ("example-undirected", 2, ["--undirected"])):
        right = published_output("oracle", "graphalytics", "example", name + "-SSSP")
        if not right:
            continue
        got = saved("--input", published("oracle", "graphalytics", "example", name + ".e"), "--source", start, *more)
        check(got.keys() == right.keys(), f"{name}: {got}")
        for v, distance in right.items():
            check(float(got[v]) == float(distance) or math.isclose(float(got[v]), float(distance), rel_tol=1e-15), f"{name}: {v}: {got[v]}, not {distance}")


main(find_devices, graphs_of_many_shapes_have_the_distances_of_dijkstra, longer_ways_may_be_shorter, misuse_is_told,
     graphalytics_graphs_have_their_distances)
