# SPDX-License-Identifier: Apache-2.0
"""What the tests of programs over graphs share: graphs made here, published ones, and plain algorithms to compare with."""
import gzip
import random

from run import check, have_cpu, published, result, run

DEVICES = ["interp"]


def find_devices():
    write_edges("two.txt", [(0, 1)])
    if have_cpu("--input", "two.txt"):
        DEVICES.append("cpu")


def write_edges(path, edges):
    with (gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w")) as file:
        file.write("# a graph\n" + "".join("\t".join(map(str, edge)) + "\n" for edge in edges))


def ring(first, count):
    """A ring with its vertices in random order, so that small numbers are far from each other."""
    order = list(range(first, first + count))
    random.shuffle(order)
    return [(order[i], order[(i + 1) % count]) for i in range(count)]


def graphs(seed):
    """Edges of several shapes, with self loops, parallel edges and numbers that no vertex has."""
    random.seed(seed)
    yield "ring", ring(10, 700)
    yield "path", [(i, i + 1) for i in range(300)]
    yield "star", [(500, i) for i in range(400)]
    yield "loops", [(3, 3), (9, 9), (9, 9)]
    yield "none", []
    for edges in (200, 600, 3000):
        yield f"random {edges}", [(random.randrange(1000) * 2, random.randrange(1000) * 2) for _ in range(edges)]
    yield "many", [edge for part in range(20) for edge in ring(part * 30, 1 + part)]


def components(edges, vertices=()):
    """{vertex: the smallest of its component}, by union and find."""
    parent = {v: v for edge in edges for v in edge[:2]}
    parent.update((v, v) for v in vertices)

    def find(v):
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for a, b, *_ in edges:
        a, b = find(a), find(b)
        parent[max(a, b)] = min(a, b)
    return {v: find(v) for v in parent}


def saved(*arguments):
    """{vertex: what stands behind it} of the file that --output writes."""
    code, _, err = run(*arguments, "--quiet", "--output", "out.txt")
    check(code == 0, f"{arguments}: code {code}: {err}")
    with open("out.txt") as file:
        return {int(line.split()[0]): line.split()[1] for line in file}


def published_output(*path):
    """The same of a published file; None where there is none."""
    name = published(*path)
    if not name:
        return None
    with open(name) as file:
        return {int(line.split()[0]): line.split()[1] for line in file}


def expect_result(right, *arguments):
    """The members of `right`, on each device."""
    for device in DEVICES:
        got = result(*arguments, "--device", device)["result"]
        check({name: got.get(name) for name in right} == right, f"{arguments} on {device}: {got}")
