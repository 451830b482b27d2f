# SPDX-License-Identifier: Apache-2.0
"""The join program against dictionaries of Python, and DuckDB where it is installed. usage: join.py EXECUTABLE SOURCE"""
import math
import random

from run import check, expect_error, have_cpu, main, result, run, write_csv

TABLES = ["--customers", "customer.csv", "--orders", "orders.csv", "--lineitems", "lineitem.csv"]
SEGMENTS = ["BUILDING", "AUTOMOBILE", "A SEGMENT OF A LONG NAME", ""]
DEVICES = ["interp"]
QUERY = """
    SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
    FROM 'customer.csv', 'orders.csv', 'lineitem.csv'
    WHERE c_mktsegment = '{segment}' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < '{date}' AND l_shipdate > '{date}'
    GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT {top}"""


def day(draw):
    return f"199{draw.randrange(4, 7)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"


def tables(customers, orders, seed):
    """Columns in another order than the program's, with others between; orders without customers, items without orders, customers without any."""
    draw = random.Random(seed)
    people = [(i * 7, draw.choice(SEGMENTS)) for i in range(customers)]
    placed = [(i * 4 + 1, draw.randrange(customers + 5) * 7, day(draw), draw.randrange(3)) for i in range(orders)]
    items = [(draw.randrange(orders + 9) * 4 + 1, draw.randrange(100, 10000) / 100, draw.randrange(11) / 100, day(draw)) for _ in range(orders * 4)]
    draw.shuffle(placed)
    write_csv("customer.csv", "c_name,c_mktsegment,c_custkey", [(f"name {key}", segment or '""', key) for key, segment in people])
    write_csv("orders.csv", "o_orderkey,o_custkey,o_comment,o_orderdate,o_shippriority",
              [(key, of, f'"a comment, {key}"', date, priority) for key, of, date, priority in placed])
    write_csv("lineitem.csv", "l_shipdate,l_orderkey,l_extendedprice,l_discount", [(date, of, price, off) for of, price, off, date in items])
    return people, placed, items


def expected(data, segment, date, top):
    people, placed, items = data
    wanted = {key for key, of in people if of == segment}
    open_orders = {key: (on, priority) for key, of, on, priority in placed if of in wanted and on < date}
    addends = {}
    for of, price, off, shipped in items:
        if of in open_orders and shipped > date:
            addends.setdefault(of, []).append(price * (1 - off))
    rows = [(key, math.fsum(each), *open_orders[key]) for key, each in addends.items()]
    return sorted(rows, key=lambda r: (-r[1], r[2], r[0]))[:top]


def asked(segment, date, top, device, *more):
    answer = result(*TABLES, "--segment", segment, "--date", date, "--top", top, "--device", device, *more)["result"]
    return [(o["orderkey"], o["revenue"], o["orderdate"], o["shippriority"]) for o in answer.get("orders", [])]


def find_devices():
    tables(5, 5, 1)
    if have_cpu(*TABLES):
        DEVICES.append("cpu")


def orders_are_those_that_python_finds():
    for customers, orders, budget in ((1, 3, None), (200, 3000, None), (2000, 20000, "24MiB")):
        data = tables(customers, orders, orders)
        for segment, date, top in (("BUILDING", "1995-03-15", 10), (SEGMENTS[2], "1995-06-01", 10**6), ("NONE", "1995-03-15", 10)):
            for device in DEVICES[-1:] if budget else DEVICES:
                got = asked(segment, date, top, device, *(["--memory", budget] if budget else []))
                check(got == expected(data, segment, date, top), f"{customers} customers, '{segment}' before {date}, top {top} on {device}: {got[:3]}")


def what_is_printed_and_written():
    data = tables(200, 3000, 7)
    rows = expected(data, "BUILDING", "1995-03-15", 10)
    code, out, err = run(*TABLES, "--device", "interp", "--output", "best.csv")
    check(code == 0 and out.decode() == "".join(f"{key} {revenue:.4f} {date} {priority}\n" for key, revenue, date, priority in rows), f"{out}, {err}")
    with open("best.csv") as file:
        lines = file.read().splitlines()
    check(lines[0] == "orderkey,date,priority,revenue" and [line.split(",")[0] for line in lines[1:]] == [str(r[0]) for r in rows], f"{lines}")


def duckdb_finds_the_same():
    try:
        import duckdb
    except ImportError:
        print("SKIP: duckdb is not installed")
        return
    tables(2000, 20000, 3)
    for row, other in zip(asked("BUILDING", "1995-03-15", 10, DEVICES[-1]), duckdb.sql(QUERY.format(segment="BUILDING", date="1995-03-15", top=10)).fetchall()):
        check(row[0] == other[0] and abs(row[1] - other[1]) <= 1e-9 * row[1] and row[2] == str(other[2]) and row[3] == other[3], f"{row}, DuckDB {other}")


def misuse_is_told():
    tables(5, 5, 1)
    expect_error(2, ["a table is missing", "--lineitems"], *TABLES[:4])
    expect_error(2, ["--date '15.3.1995' is no date", "1995-03-15"], *TABLES, "--date", "15.3.1995")
    expect_error(2, ["--input"], *TABLES, "--input", "orders.csv")
    expect_error(6, ["no-such"], *TABLES[:5], "no-such.csv")
    expect_error(2, ["o_orderkey"], "--customers", "customer.csv", "--orders", "lineitem.csv", "--lineitems", "lineitem.csv")


main(find_devices, orders_are_those_that_python_finds, what_is_printed_and_written, duckdb_finds_the_same, misuse_is_told)
