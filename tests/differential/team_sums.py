# SPDX-License-Identifier: Apache-2.0
"""Random sums on several devices: records of random types, names and layouts, with denormals, infinities and NaNs, through a filter or a flat_map into
accumulators, a table of them and a reduction by key, on devices, policies and speeds that a seed draws. The answers are found here, by whole numbers of any
length, rounded once.

usage: team_sums.py LIBRARY FIRST-SEED COUNT        exit code 77: no CPU device that can be divided"""
import ctypes
import math
import os
import random
import struct
import sys

OK, SKIPPED = 0, 77
C = {"float": ctypes.c_float, "double": ctypes.c_double, "int32_t": ctypes.c_int32, "uint8_t": ctypes.c_uint8, "int64_t": ctypes.c_int64,
     "uint16_t": ctypes.c_uint16, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64}
BITS = {"int32_t": 31, "uint8_t": 8, "int64_t": 62, "uint16_t": 16}
# Words of C++, of OpenCL C and its built-ins, and the longest: all are names in the kernel language.
NAMES = ["virtual", "template", "namespace", "friend", "mutable", "convert_float", "get_global_id", "atomic_add", "barrier", "half4", "event", "image2d",
         "strip", "lane", "first", "count", "row", "table", "error", "skip", "out", "v_at", "x" * 63, "_", "a__b", "INFINITY_", "M_PI_", "select", "dot3",
         "fmax2"]
SIZES = [0, 1, 2, 63, 64, 65, 127, 4095, 4096, 4097, 20000, 50001]
ROWS = 11


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("retriable", ctypes.c_bool), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32), ("record", ctypes.c_uint64),
                ("file", ctypes.c_char * 256), ("message", ctypes.c_char * 512), ("cause", ctypes.c_char * 1024), ("hint", ctypes.c_char * 512)]


class Wrong(Exception):
    pass


def load(path):
    library = ctypes.CDLL(path)
    pointers = ["context_create", "module_parse", "source_from_memory", "read", "with_layout", "cache", "filter_function", "flat_map_function",
                "map_spec_create", "map", "map_function", "reduce_by_key", "result_create", "result_rows", "module_diagnostics"]
    for name in pointers:
        getattr(library, "hdst_" + name).restype = ctypes.c_void_p
    return library


# --- Exact sums ---

def whole(kind, value):
    """The value in units of 2**-1074, exactly."""
    if kind not in ("float", "double"):
        return value << 1074
    numerator, denominator = value.as_integer_ratio()
    return (numerator << 1074) // denominator


def rounded(kind, units):
    """The nearest float or double, ties to even; overflow is infinite."""
    digits, least, infinite = (24, 1074 - 149, 1 << (1074 + 128)) if kind == "float" else (53, 0, 1 << (1074 + 1024))
    size = abs(units)
    shift = max(size.bit_length() - digits, least)
    kept, rest = size >> shift, size & ((1 << shift) - 1)
    half = 1 << (shift - 1) if shift else 1
    if shift and (rest > half or (rest == half and kept & 1)):
        kept += 1
    size = kept << shift
    if size >= infinite:
        return math.inf if units > 0 else -math.inf
    return math.ldexp(kept, shift - 1074) * (1 if units >= 0 else -1)


def exact_sum(kind, values):
    if any(v != v for v in values) or (math.inf in values and -math.inf in values):
        return math.nan
    if math.inf in values or -math.inf in values:
        return math.inf if math.inf in values else -math.inf
    return rounded(kind, sum(whole(kind, v) for v in values))


def same(kind, found, right):
    return (found != found and right != right) or (found == right and (right != 0 or math.copysign(1, found) == math.copysign(1, right)))


# --- A trial ---

class Trial:
    def __init__(self, library, seed):
        self.hdst, self.dice, self.seed = library, random.Random(seed), seed
        dice = self.dice
        kinds = [dice.choice(["float", "double", "float", "int32_t", "uint8_t", "int64_t"]) for _ in range(dice.randint(1, 4))]
        names = dice.sample(NAMES, len(kinds) + 3)
        self.fields = list(zip(names, kinds))
        self.record, self.total, self.key = names[-3], names[-2], names[-1]
        self.tame = dice.random() < 0.6
        self.count = dice.choice(SIZES)
        self.layout, self.cached = dice.randint(0, 3), dice.random() < 0.4
        self.front = dice.choice(["", "filter", "flat_map"])

    def number(self, kind):
        dice = self.dice
        if kind not in ("float", "double"):
            return dice.getrandbits(BITS[kind]) * (1 if kind.startswith("u") or dice.random() < 0.5 else -1)
        value = math.ldexp(dice.randint(-(1 << 23), 1 << 23), dice.randint(-30, 10) if self.tame else dice.randint(-180, 90))
        if not self.tame and dice.random() < 0.0003:
            value = dice.choice([math.nan, math.inf, -math.inf, 5e-324, -0.0, 1e-40, 3e38])
        return struct.unpack("f", struct.pack("f", value))[0] if kind == "float" else value

    def text(self):
        fields = "".join(f" {kind} {name};" for name, kind in self.fields)
        sums = "".join(f" {kind if kind in ('float', 'double') else 'int64_t'} {name};" for name, kind in self.fields)
        adds = "".join(f" {{}}.{name} += p.{name};" for name, _ in self.fields)
        moves = "".join(f", .{name} = p.{name}" for name, _ in self.fields)
        adders = ", ".join(f".{name} = a.{name} + b.{name}" for name, _ in self.fields)
        keys = f"(key uint16_t {self.key}, " + ", ".join(f"{k if k in ('float', 'double') else 'int64_t'} {n}" for n, k in self.fields) + ")"
        return (f"struct {self.record} {{ uint16_t {self.key};{fields} }};\n"
                f"struct {self.total} {{{sums} uint64_t n_; uint16_t least; }};\nstruct only {{{sums} }};\n"
                f"map gather({self.record} p, accum {self.total} t[], accum {self.total} all) {{"
                f"{adds.format(*['t[p.' + self.key + ' % 11]'] * len(self.fields))}"
                f" t[p.{self.key} % 11].n_ += 1; acc_min(t[p.{self.key} % 11].least, p.{self.key});{adds.format(*['all'] * len(self.fields))} all.n_ += 1;"
                f" acc_min(all.least, p.{self.key}); }}\n"
                f"filter some({self.record} p) {{ return p.{self.key} % 3 != 1; }}\n"
                f"flat_map few({self.record} p) -> {self.record} {{ for (uint32_t k = 0; k < p.{self.key} % 4u; k++) emit(p); }}\n"
                f"map keyed({self.record} p) -> {keys} {{ return ({'p.' + self.key}, {', '.join('p.' + n for n, _ in self.fields)}); }}\n"
                f"reduce add(only a, only b) {{ return (only){{ {adders} }}; }}\n")

    def environment(self):
        dice, environment = self.dice, {}
        parts = dice.choice([2, 2, 3, 5])
        devices = dice.sample(range(parts + 1), dice.randint(2, parts + 1))
        environment["HDST_CPU_PARTS"], environment["HDST_DEVICES"] = str(parts), ",".join(map(str, devices))
        environment["HDST_POLICY"] = dice.choice(["auto", "static", "dynamic"])
        environment["HDST_SLOW_DEVICE"] = dice.choice(["", f"{dice.choice(devices)}:{dice.randint(2, 30)}"])
        return environment

    def rows_of(self, record):
        key = record[0]
        return {"": 1, "filter": int(key % 3 != 1), "flat_map": key % 4}[self.front]

    def call(self, name, *arguments):
        return ctypes.c_void_p(getattr(self.hdst, "hdst_" + name)(*arguments))

    def run(self, result):
        error = Error()
        if self.hdst.hdst_run(result, ctypes.byref(error)):
            raise Wrong(f"{error.message.decode()} {error.cause.decode()} {error.hint.decode()}")

    def rows(self, result, table, struct_type):
        count = ctypes.c_uint64()
        at = self.hdst.hdst_result_rows(result, table, ctypes.byref(count))
        return (struct_type * count.value).from_address(at) if at else []

    def compare(self, found, records, what):
        for name, kind in self.fields:
            values = [r[1][name] for r in records for _ in range(self.rows_of(r))]
            floating = kind in ("float", "double")
            right = exact_sum(kind, values) if floating else (sum(values) + (1 << 63)) % (1 << 64) - (1 << 63)
            if not same(kind, float(getattr(found, name)) if floating else getattr(found, name), right):
                raise Wrong(f"{what}: {kind} {name} is {getattr(found, name)!r}, not {right!r}")
        count = sum(self.rows_of(r) for r in records)
        if hasattr(found, "n_") and found.n_ != count:
            raise Wrong(f"{what}: {found.n_} records, not {count}")
        least = min([r[0] for r in records if self.rows_of(r)], default=None)
        if hasattr(found, "least") and least is not None and found.least != least:
            raise Wrong(f"{what}: the least key is {found.least}, not {least}")

    def make(self, context, records):
        module = self.call("module_parse", context, b"trial.hk", self.text().encode(), None)
        if self.hdst.hdst_module_status(module, None):
            raise Wrong(ctypes.string_at(self.hdst.hdst_module_diagnostics(module)).decode())
        size = ctypes.c_uint64(ctypes.sizeof(records._type_))
        source = self.call("source_from_memory", context, records, ctypes.c_uint64(self.count), size)
        data = self.call("read", source, module, self.record.encode())
        data = self.call("with_layout", data, self.layout)
        if self.cached:
            data = self.call("cache", data)
        if self.front:
            data = self.call(self.front + "_function", data, module, b"some" if self.front == "filter" else b"few")
        spec = self.call("map_spec_create", module, b"gather")
        self.hdst.hdst_bind_accum(spec, b"t", ctypes.c_uint64(ROWS))
        sums = self.call("result_create", self.call("map", data, spec))
        by_key = self.call("result_create", self.call("reduce_by_key", self.call("map_function", data, module, b"keyed"), module, b"add"))
        return sums, by_key

    def attempt(self):
        made = [(self.dice.randint(0, 40), {name: self.number(kind) for name, kind in self.fields}) for _ in range(self.count)]
        record_type = type("R", (ctypes.Structure,), {"_fields_": [(self.key, C["uint16_t"])] + [(n, C[k]) for n, k in self.fields]})
        held = [(n, C[k] if k in ("float", "double") else C["int64_t"]) for n, k in self.fields]
        total_type = type("T", (ctypes.Structure,), {"_fields_": held + [("n_", C["uint64_t"]), ("least", C["uint16_t"])]})
        keyed_type = type("K", (ctypes.Structure,), {"_fields_": [(self.key, C["uint16_t"])] + held})
        records = (record_type * max(self.count, 1))(*[record_type(k, *fields.values()) for k, fields in made])
        os.environ.update(self.environment())
        context = ctypes.c_void_p(self.hdst.hdst_context_create(None))
        sums, by_key = self.make(context, records)
        for _ in range(2):                          # the second time with what the first one learnt
            self.run(sums)
            self.compare(self.rows(sums, b"all", total_type)[0], made, "all")
            for row, found in enumerate(self.rows(sums, b"t", total_type)):
                self.compare(found, [r for r in made if r[0] % ROWS == row], f"row {row}")
            self.run(by_key)
            found = self.rows(by_key, None, keyed_type)
            if sorted(getattr(f, self.key) for f in found) != sorted({r[0] for r in made if self.rows_of(r)}):
                raise Wrong("other keys")
            for f in found:
                self.compare(f, [r for r in made if r[0] == getattr(f, self.key)], f"key {getattr(f, self.key)}")
        self.hdst.hdst_context_destroy(context)


def have_parts(library):
    os.environ.update({"HDST_CPU_PARTS": "2", "HDST_DEVICES": "0,1,2"})
    context, count = ctypes.c_void_p(library.hdst_context_create(None)), ctypes.c_uint32()
    library.hdst_device_count(context, ctypes.byref(count), None)
    library.hdst_context_destroy(context)
    return count.value >= 3


def main():
    library = load(sys.argv[1])
    first, count = int(sys.argv[2]), int(sys.argv[3])
    os.environ["HDST_SHARE_BYTES"] = "0"
    os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "6")
    if not have_parts(library):
        print("SKIP: no CPU device that can be divided")
        sys.exit(SKIPPED)
    bad = 0
    for seed in range(first, first + count):
        trial = Trial(library, seed)
        try:
            trial.attempt()
        except Wrong as wrong:
            bad += 1
            print(f"seed {seed}: {trial.count} records, layout {trial.layout}, {trial.front}, cached {trial.cached}, on {os.environ['HDST_DEVICES']} of"
                  f" {os.environ['HDST_CPU_PARTS']} parts, {os.environ['HDST_POLICY']}, slow {os.environ['HDST_SLOW_DEVICE']}: {wrong}\n{trial.text()}",
                  flush=True)
    print(f"{bad} of {count} trials are wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
