# SPDX-License-Identifier: Apache-2.0
"""The monte-carlo program against the closed form and paths drawn in Python. usage: monte_carlo.py EXECUTABLE SOURCE"""
import math
import statistics

from run import check, expect_error, have_cpu, main, result, run

DEVICES = ["interp"]
MASK = 0xFFFFFFFF
OPTIONS = [{}, {"kind": "put"}, {"kind": "put", "spot": 42, "strike": 40, "rate": 0.1, "volatility": 0.2, "years": 0.5},
           {"spot": 80, "strike": 120, "rate": 0.03, "dividend": 0.02, "volatility": 0.5, "years": 3}]
USUAL = {"kind": "call", "spot": 100, "strike": 100, "rate": 0.05, "dividend": 0, "volatility": 0.2, "years": 1}


def words(option):
    return [word for name, value in option.items() for word in (f"--{name}", value)]


def closed_form(kind, spot, strike, rate, dividend, volatility, years):
    def below(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))

    sign = 1 if kind == "call" else -1
    d1 = (math.log(spot / strike) + (rate - dividend + volatility ** 2 / 2) * years) / (volatility * math.sqrt(years))
    d2 = d1 - volatility * math.sqrt(years)
    return sign * (spot * math.exp(-dividend * years) * below(sign * d1) - strike * math.exp(-rate * years) * below(sign * d2))


def philox(index, stream):
    """Philox 4x32 with ten rounds, as its authors define it: the four words."""
    c, k = [index & MASK, index >> 32, 0, 0], [stream & MASK, stream >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & MASK, p >> 32 ^ c[3] ^ k[1], p & MASK]
        k = [k[0] + 0x9E3779B9 & MASK, k[1] + 0xBB67AE85 & MASK]
    return c


def normal(index, stream):
    a, b, c, d = philox(index, stream)
    u = ((b << 32 | a) >> 11) + 1
    return math.sqrt(-2 * math.log(u * 2.0 ** -53)) * math.cos(2 * math.pi * (d * 2.0 ** -32 + c * 2.0 ** -64))


def payoff(path, seed, kind, spot, strike, rate, dividend, volatility, years):
    end = spot * math.exp((rate - dividend - volatility ** 2 / 2) * years + volatility * math.sqrt(years) * normal(path, seed))
    return math.exp(-rate * years) * max(end - strike if kind == "call" else strike - end, 0)


def find_devices():
    if have_cpu("--paths", 2):
        DEVICES.append("cpu")


def estimates_are_near_the_closed_form_with_equal_bits_on_every_device():
    check(abs(closed_form(**USUAL) - 10.4506) < 1e-4, "the closed form here is wrong")
    for option in OPTIONS:
        for seed in (0, 1, 12345678901234567890):
            got = [result(*words(option), "--paths", 100000, "--seed", seed, "--device", device) for device in DEVICES]
            check(all(g["result"] == got[0]["result"] for g in got), f"{option}, seed {seed}: bits differ between devices: {got}")
            check(got[0]["workload"] == "monte-carlo" and got[0]["records"] == 100000, f"{got[0]}")
            estimate, error = got[0]["result"]["estimate"], got[0]["result"]["standard_error"]
            right = closed_form(**{**USUAL, **option})
            check(abs(estimate - right) < 3 * error, f"{option}, seed {seed}: {estimate} +- {error}, closed form {right}")


def the_error_falls_with_the_root_of_the_paths():
    few, many = (result("--paths", paths, "--device", DEVICES[-1])["result"] for paths in (20000, 2000000))
    check(math.isclose(few["standard_error"] / many["standard_error"], 10, rel_tol=0.05), f"{few}, {many}")
    check(abs(many["estimate"] - closed_form(**USUAL)) < 3 * many["standard_error"], f"{many}")


def every_path_is_the_one_that_its_number_and_the_seed_draw():
    for device in DEVICES:
        for option in OPTIONS[1:3]:
            seed = 7 << 40 | 5
            got = result(*words(option), "--paths", 1500, "--seed", seed, "--device", device, "--output", "paths.csv")["result"]
            with open("paths.csv") as file:
                values = [float(line) for line in file.read().split()[1:]]
            right = [payoff(path, seed, **{**USUAL, **option}) for path in range(1500)]
            check(len(values) == 1500 and max(abs(a - b) for a, b in zip(values, right)) < 1e-12, f"{device}, {option}: other payoffs")
            check(got["estimate"] == math.fsum(values) / 1500, f"{device}: the estimate is not the mean of the payoffs")
            check(math.isclose(got["standard_error"], statistics.stdev(values) / math.sqrt(1500), rel_tol=1e-10), f"{device}: {got['standard_error']}")


def seeds_draw_different_paths():
    runs = [result("--paths", 1000, "--seed", seed, "--device", "interp")["result"] for seed in (1, 1, 2)]
    check(runs[0] == runs[1] and runs[0] != runs[2], f"{runs}")


def without_volatility_there_is_no_error():
    got = result("--paths", 1000, "--volatility", 0, "--device", "interp")["result"]
    check(math.isclose(got["estimate"], 100 - 100 * math.exp(-0.05), rel_tol=1e-13) and got["standard_error"] < 1e-14, f"{got}")


def misuse_is_told():
    expect_error(2, ["--paths: out of range: 1"], "--paths", 1)
    expect_error(2, ["--kind: not one of its words: 'swap'", "call|put"], "--kind", "swap")
    expect_error(2, ["this program reads no input"], "--input", "paths.npy")
    expect_error(2, ["payoffs are beyond the range of double"], "--spot", "1e300", "--paths", 10, "--device", "interp")
    code, out, err = run("--paths", 10, "--device", "interp", "--output", "-", "--quiet")
    check(code == 0 and out.startswith(b"\x93NUMPY") and "estimate" in err, f"payoffs on standard output: {err}")


main(find_devices, estimates_are_near_the_closed_form_with_equal_bits_on_every_device, the_error_falls_with_the_root_of_the_paths,
     every_path_is_the_one_that_its_number_and_the_seed_draw, seeds_draw_different_paths, without_volatility_there_is_no_error, misuse_is_told)
