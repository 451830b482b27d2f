# SPDX-License-Identifier: Apache-2.0
"""The black-scholes program against published prices and the formula in Python. usage: black_scholes.py EXECUTABLE SOURCE"""
import csv
import math
import random

from run import check, expect_error, have_cpu, main, published, result, run, write_csv

LAYOUTS = ["aos", "soa", "aosoa", "aop"]
COLUMNS = "spot,strike,rate,dividend,volatility,years"
DEVICES = ["interp"]


def read_prices(path):
    with open(path) as file:
        return [(float(row["call"]), float(row["put"])) for row in csv.DictReader(file)]


def formula(spot, strike, rate, dividend, volatility, years):
    def below(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))

    d1 = (math.log(spot / strike) + (rate - dividend + volatility ** 2 / 2) * years) / (volatility * math.sqrt(years))
    d2 = d1 - volatility * math.sqrt(years)
    held, paid = spot * math.exp(-dividend * years), strike * math.exp(-rate * years)
    return held * below(d1) - paid * below(d2), paid * below(-d2) - held * below(-d1)


def draw_options(count):
    random.seed(3)
    ranges = ((5, 200), (5, 200), (-0.02, 0.2), (0, 0.1), (0.05, 0.9), (0.02, 10))
    return [tuple(random.uniform(*ends) for ends in ranges) for _ in range(count)]


def find_devices():
    write_csv("one.csv", COLUMNS, [(42.0, 40.0, 0.1, 0.0, 0.2, 0.5)])
    if have_cpu("--input", "one.csv"):
        DEVICES.append("cpu")


def the_textbooks_option_has_the_textbooks_prices():
    # Hull, "Options, Futures, and Other Derivatives", example of the chapter on the Black-Scholes-Merton model: 4.76 and 0.81.
    for device in DEVICES:
        got = result("--input", "one.csv", "--device", device)["result"]
        check(sorted(got) == ["options", "sum_call", "sum_put"] and got["options"] == 1, f"{got}")
        check(round(got["sum_call"], 2) == 4.76 and round(got["sum_put"], 2) == 0.81, f"{device}: {got}")


def prices_follow_the_formula_with_equal_bits_on_every_device_in_every_layout():
    rows = draw_options(2000)
    write_csv("options.csv", COLUMNS, rows)
    expected = [formula(*row) for row in rows]
    seen = None
    for device in DEVICES:
        for layout in LAYOUTS if device == "interp" else ["soa", "aos"]:
            words = f"{device}, {layout}"
            got = result("--input", "options.csv", "--device", device, "--layout", layout, "--output", "prices.csv")
            prices = read_prices("prices.csv")
            check(got["workload"] == "black-scholes" and got["records"] == got["result"]["options"] == len(prices) == 2000, words)
            far = max(abs(a - b) for p, q in zip(prices, expected) for a, b in zip(p, q))
            check(far < 1e-11, f"{words}: off by {far}")       # of prices up to 200, whose last place is 3e-14
            check(got["result"]["sum_call"] == math.fsum(p[0] for p in prices), f"{words}: sum_call is not the rounded sum of the prices")
            check(got["result"]["sum_put"] == math.fsum(p[1] for p in prices), f"{words}: sum_put is not the rounded sum of the prices")
            seen = seen or (got["result"], prices)
            check((got["result"], prices) == seen, f"{words}: other bits than the first run")


def quotes_take_the_rest_from_the_command_line():
    rows = [(spot, strike, years) for spot, strike, _, _, _, years in draw_options(300)]
    write_csv("quotes.csv", "years,spot,strike", [(row[2], row[0], row[1]) for row in rows])       # columns are found by their names
    for device in DEVICES:
        result("--input", "quotes.csv", "--device", device, "--rate", 0.05, "--dividend", 0.01, "--volatility", 0.4, "--output", "prices.csv")
        far = max(abs(a - b) for p, row in zip(read_prices("prices.csv"), rows) for a, b in zip(p, formula(row[0], row[1], 0.05, 0.01, 0.4, row[2])))
        check(far < 1e-11, f"{device}: off by {far}")


def without_chance_an_option_is_worth_its_exercise():
    rows = [(90.0, 100.0, 0.05, 0.0, 0.3, 0.0), (110.0, 100.0, 0.05, 0.0, 0.3, 0.0), (100.0, 100.0, 0.05, 0.0, 0.0, 0.0), (100.0, 100.0, 0.5, 0.0, 0.0, 2.0)]
    write_csv("sure.csv", COLUMNS, rows)
    result("--input", "sure.csv", "--device", "interp", "--output", "prices.csv")
    expected = [(0, 10), (10, 0), (0, 0), (100 - 100 / math.e, 0)]
    got = read_prices("prices.csv")
    check(all(math.isclose(a, b, abs_tol=1e-12) for p, q in zip(got, expected) for a, b in zip(p, q)), f"{got}")


def parsecs_options_have_parsecs_prices():
    path = published("finance", "parsec-options-500.txt")
    if not path:
        return
    with open(path) as file:
        lines = [line.strip().strip("{},") for line in file if line.startswith("{")]
    with open("parsec.csv", "w") as file:
        file.write("\n".join(lines) + "\n")
    for device in DEVICES:
        result("--input", "parsec.csv", "--columns", "0-5", "--device", device, "--output", "prices.csv")
        prices = read_prices("prices.csv")
        check(len(prices) == len(lines) == 500, f"{len(prices)} prices")
        far = 0
        for line, (call, put) in zip(lines, prices):
            fields = line.split(",")
            far = max(far, abs((call if '"C"' in fields[6] else put) - float(fields[8])))
        check(far < 1.6e-5, f"{device}: off by {far}")


def options_without_a_price_are_told():
    good = (42.0, 40.0, 0.1, 0.0, 0.2, 0.5)
    for field, value in [(0, 0.0), (0, -1.0), (1, 0.0), (2, math.nan), (3, math.inf), (4, -0.2), (5, -1.0), (5, math.inf)]:
        bad = [good, good, good[:field] + (value,) + good[field + 1:], good]
        write_csv("bad.csv", COLUMNS, bad)
        for device in ["interp"] if field else DEVICES:
            said = "black-scholes: 1 option has no price; the first is record 2 (counted from 0)"
            expect_error(7, [said], "--input", "bad.csv", "--device", device, "--json")


def misuse_is_told():
    expect_error(2, ["no --input given"])
    expect_error(2, ["--volatility: out of range: -1"], "--input", "one.csv", "--volatility", -1)
    expect_error(2, ["--json and --output - both want standard output"], "--input", "one.csv", "--json", "--output", "-")
    expect_error(6, ["'option'"], "--input", "one.csv", "--columns", "0-3", "--device", "interp")
    code, out, _ = run("--input", "one.csv", "--device", "interp", "--output", "-", "--quiet")
    check(code == 0 and out.startswith(b"\x93NUMPY"), "prices on standard output")


main(find_devices, the_textbooks_option_has_the_textbooks_prices, prices_follow_the_formula_with_equal_bits_on_every_device_in_every_layout,
     quotes_take_the_rest_from_the_command_line, without_chance_an_option_is_worth_its_exercise, parsecs_options_have_parsecs_prices,
     options_without_a_price_are_told, misuse_is_told)
