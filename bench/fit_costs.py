#!/usr/bin/env python3
"""Fits what the planner believes about time (runtime/dispatch/WorkCosts.cpp) to modelled runs.

    bench/fit_costs.py [--build build] [--target gfx942]

For each target, type and head dims: calls whose row blocks, cut or not, fill the chip once with equal
units, with few keys and with many. The slope over the keys is what a key costs, the rest is what a
unit's start and end cost. Prints the rows of the table of WorkCosts.cpp, in clocks, and beside them
what a partial's store and the reducer take, which that file has as shares of the memory's time.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHIPS = {"gfx942": ("MI325X", 304), "gfx950": ("MI355X", 256)}
DIMS = ("192x128", "128x128", "64x64", "256x256")
BLOCK = 256  # rows of a unit
FEW, MANY = 512, 2048  # keys of a unit
HEADS = 8


def kernels(options, target, *call):
    """Modelled clocks of the call's kernels: attention, and the reducer if there is one."""
    command = [options.build / "bin" / "wavesmith", "bench", "--modelled", "--json"]
    command += ["--chip", CHIPS[target][0], *map(str, call)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return [kernel["cycles"] for kernel in json.loads(done.stdout)["modelled"]["kernels"]]


def line(few, many):
    """Slope and intercept through the two measured lengths."""
    slope = (many - few) / (MANY - FEW)
    return slope, few - FEW * slope


def fit(options, target, dtype, dims):
    units = CHIPS[target][1]

    def call(keys, pieces, *more):
        # As many heads as XCDs: each reads its keys from one L2, as full chips do.
        queries = units // HEADS // pieces * BLOCK
        shape = ("--heads", HEADS, "--q-len", queries, "--kv-len", keys * pieces)
        call = ("--dtype", dtype, "--head-dim", dims, *shape, "--splits", pieces, *more)
        return kernels(options, target, *call)

    few = call(FEW, 1)[0]
    key, unit = line(few, call(MANY, 1)[0])
    capped, _ = line(call(FEW, 1, "--soft-cap", 30)[0], call(MANY, 1, "--soft-cap", 30)[0])
    partial, reducer = call(FEW, 2)
    print(
        f'{{"{target}", DType::{dtype.upper()}, {dims.replace("x", ", ")}, {key:.1f}, '
        f"{max(capped - key, 0):.1f}, {unit:.0f}}},"
        f"  // a partial {partial - few} more; the reducer {reducer} for {units} slots",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--target", choices=CHIPS)
    options = parser.parse_args()
    for target in [options.target] if options.target else CHIPS:
        for dtype in ("bf16", "fp8"):
            for dims in DIMS:
                fit(options, target, dtype, dims)


if __name__ == "__main__":
    main()
