# SPDX-License-Identifier: Apache-2.0
"""Results and errors of the neural-net program. usage: neural_net.py EXECUTABLE SOURCE"""
import math
import os
import random
import struct
import subprocess
import sys

from run import IRIS, SOURCE, check, expect_error, have_cpu, main, published, read_labels, result, run, write_npy

IRIS_RUN = ["--input", IRIS, "--target", "species", "--hidden", 5]
DEVICES = ["interp"]
CONVERT = os.path.join(SOURCE, "examples", "neural-net", "idx_to_npy.py")


def find_devices():
    if have_cpu(*IRIS_RUN, "--epochs", 0):
        DEVICES.append("cpu")


class Draws:
    """SplitMix64, as its authors publish it."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = z = (self.state + 0x9e3779b97f4a7c15) & mask
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
        return z ^ z >> 31

    def shuffle(self, order, count):
        for i in range(count, 1, -1):
            j = self.next() % i
            order[i - 1], order[j] = order[j], order[i - 1]

    def weights(self, inputs, outputs):
        bound = math.sqrt(6 / (inputs + outputs))
        return [[(2 * (self.next() >> 11) * 2.0 ** -53 - 1) * bound for _ in range(inputs)] for _ in range(outputs)]


def look(net, x):
    """What the hidden units say, and the probability of each class."""
    hidden = [math.tanh(b + sum(w * v for w, v in zip(row, x))) for row, b in zip(net[0], net[1])]
    power = [math.exp(b + sum(w * v for w, v in zip(row, hidden))) for row, b in zip(net[2], net[3])]
    return hidden, [p / sum(power) for p in power]


def gradient(net, x, y):
    hidden, chance = look(net, x)
    out = [p - (c == y) for c, p in enumerate(chance)]
    back = [sum(o * row[h] for o, row in zip(out, net[2])) * (1 - v * v) for h, v in enumerate(hidden)]
    return [[b * v for v in x] for b in back], back, [[o * v for v in hidden] for o in out], out


def flat(net):
    return [w for layer in net for row in layer for w in (row if isinstance(row, list) else [row])]


def train_in_python(rows, hidden, epochs, batch, rate, momentum, held_out, seed):
    """Accuracy and loss over the held out rows, in double precision."""
    low, high = [min(c) for c in zip(*rows)][:-1], [max(c) for c in zip(*rows)][:-1]
    samples = [([(v - a) / (b - a) for v, a, b in zip(row, low, high)], int(row[-1])) for row in rows]
    classes, draws, order = max(y for _, y in samples) + 1, Draws(seed), list(range(len(rows)))
    draws.shuffle(order, len(order))
    net = [draws.weights(len(low), hidden), [0.0] * hidden, draws.weights(hidden, classes), [0.0] * classes]
    shapes, trained = net, len(rows) - held_out
    weights, speed = flat(net), [0.0] * len(flat(net))

    def shaped():
        rest = iter(weights)
        return [[[next(rest) for _ in row] if isinstance(row, list) else next(rest) for row in layer] for layer in shapes]

    for _ in range(epochs):
        draws.shuffle(order, trained)
        for first in range(0, trained - batch + 1, batch):
            parts = [flat(gradient(shaped(), *samples[i])) for i in order[first:first + batch]]
            for i, slopes in enumerate(zip(*parts)):
                speed[i] = momentum * speed[i] - rate * sum(slopes) / batch
                weights[i] += speed[i]
    chances = [(look(shaped(), samples[i][0])[1], samples[i][1]) for i in order[trained:]]
    return sum(p[y] == max(p) for p, y in chances) / held_out, sum(-math.log(p[y]) for p, y in chances) / held_out


def iris_rows():
    with open(IRIS) as file:
        return [[float(x) for x in line.split(",")] for line in file.read().split()[1:]]


def training_is_that_of_plain_python_with_equal_bits_on_devices():
    accuracy, loss = train_in_python(iris_rows(), 5, 6, 16, 0.2, 0.8, 40, 11)
    seen = None
    for device in DEVICES:
        for layout in ["aos", "soa"]:
            got = result(*IRIS_RUN, "--epochs", 6, "--batch", 16, "--rate", 0.2, "--momentum", 0.8, "--holdout", 40,
                         "--seed", 11, "--device", device, "--layout", layout)["result"]
            check(got["epochs"] == 6 and abs(got["accuracy"] - accuracy) < 1e-9, f"{device}: {got}, Python says {accuracy}")
            check(abs(got["loss"] - loss) < 1e-4 * loss, f"{device}: loss {got['loss']}, Python says {loss}")    # the net is float32
            seen = seen or got
            check(got == seen, f"{device}, {layout}: other bits than the first run: {got} and {seen}")


def a_hidden_layer_learns_what_no_line_divides():
    """Exclusive or (Minsky and Papert, Perceptrons, 1969)."""
    random.seed(3)
    points = [(random.random(), random.random()) for _ in range(400)]
    write_npy("xor.npy", 400, 3, [v for x, y in points for v in (x, (x < 0.5) != (y < 0.5), y)])
    some = ["--input", "xor.npy", "--target", 1, "--epochs", 200, "--holdout", 0, "--rate", 0.3, "--device", DEVICES[-1]]
    got = result(*some, "--hidden", 8, "--output", "answers.npy")["result"]
    check(got["accuracy"] > 0.95, f"accuracy {got}")
    with open("answers.npy", "rb") as file:
        answers = read_labels(file.read())
    right = sum(a == ((x < 0.5) != (y < 0.5)) for a, (x, y) in zip(answers, points))
    check(len(answers) == 400 and right == round(400 * got["accuracy"]), f"{right} answers of the file are right, {got}")
    check(result(*some, "--hidden", 1)["result"]["accuracy"] < 0.9, "one hidden unit is a line")


def handwritten_digits_are_read():
    """30 hidden units, 8,000 images of the MNIST test set, at least 92 % of the other 2,000."""
    paths = [published("images", f"t10k-{name}-ubyte.gz") for name in ("images-idx3", "labels-idx1")]
    if None in paths:
        return
    subprocess.run([sys.executable, CONVERT, *paths, "digits.npy"], check=True)
    got = result("--input", "digits.npy", "--target", 784, "--hidden", 30, "--epochs", 5, "--holdout", 2000, "--device", DEVICES[-1])
    check(got["records"] == 10000 and got["result"]["accuracy"] >= 0.92, f"{got['result']}")
    print("accuracy", got["result"]["accuracy"])


def write_idx(path, shape, values):
    with open(path, "wb") as file:
        file.write(bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(values))


def idx_files_are_converted():
    """Eight images of 2 x 3 pixels, whose class is whether the first pixel is bright."""
    write_idx("images", (8, 2, 3), [v for i in range(8) for v in (255 * (i % 2), i, 2, 3, 4, 250)])
    write_idx("labels", (8,), [i % 2 for i in range(8)])
    done = subprocess.run([sys.executable, CONVERT, "images", "labels", "images.npy"], check=False)
    got = result("--input", "images.npy", "--target", 6, "--holdout", 0, "--device", "interp")
    check(done.returncode == 0 and got["records"] == 8 and got["result"]["accuracy"] == 1, f"{got}")
    write_idx("labels", (7,), [0] * 7)
    for first, second in (("images", "labels"), ("labels", "labels")):
        done = subprocess.run([sys.executable, CONVERT, first, second, "none.npy"], check=False, capture_output=True)
        check(done.returncode == 1 and not os.path.exists("none.npy"), f"{done}")


def misuse_is_told():
    expect_error(2, ["--target"], "--input", IRIS)
    expect_error(2, ["no column 'specie'"], "--input", IRIS, "--target", "specie")
    expect_error(2, ["150 records held out of 150"], *IRIS_RUN, "--holdout", 150)
    write_npy("bad.npy", 3, 2, [1, 0, float("inf"), 1, 2, 1])
    expect_error(7, ["the first is record 1"], "--input", "bad.npy", "--target", 1, "--device", "interp")
    write_npy("many.npy", 2, 2, [1, 0, 2, 4000000])
    expect_error(2, ["class 4000000", "--target"], "--input", "many.npy", "--target", 1, "--device", "interp")
    code, _, err = run("--input", "many.npy", "--target", 0, "--columns", "1", "--epochs", 1, "--device", "interp", "--explain")
    check(code == 0 and "train" in err, f"{code}: {err}")


main(find_devices, training_is_that_of_plain_python_with_equal_bits_on_devices, a_hidden_layer_learns_what_no_line_divides, handwritten_digits_are_read,
     idx_files_are_converted, misuse_is_told)
