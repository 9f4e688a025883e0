#!/usr/bin/env python3
"""Error of FP8 attention on bf16 inputs, by head dim, inputs, length and rotation.

    bench/run_accuracy.py [--build build] [--target gfx942] [--rows N] [--keys N] [--heads N]
                          [--curve N,N,...] [--seed N] [--json]

Each figure is one `wavesmith run --dtype fp8 --quantize dynamic --verify` on the emulator: `total` is the
relative RMS of the output against float64 on the bf16 inputs, `kernel` the same against float64 on the
codes, so without what quantisation costs. A run that is not verified is an error.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIMS = ("192x128", "128x128", "64x64")
DISTRIBUTIONS = ("normal", "heavy-tail", "outlier-channels", "needle")
ROTATION = 7


class Bench:
    def __init__(self, options):
        self.options = options

    def command(self, dim: str, distribution: str, keys: int, rotated: bool) -> list[str]:
        o = self.options
        return [
            str(ROOT / o.build / "bin" / "wavesmith"),
            *("run", "--target", o.target, "--dtype", "fp8", "--quantize", "dynamic"),
            *("--head-dim", dim, "--heads", str(o.heads)),
            *("--q-len", str(o.rows), "--kv-len", str(keys)),
            *("--distribution", distribution, "--seed", str(o.seed), "--checks", "none"),
            *(("--rotate", str(ROTATION)) if rotated else ()),
            *("--verify", "--json"),
        ]

    def errors(self, dim: str, distribution: str, keys: int, rotated: bool) -> dict:
        command = self.command(dim, distribution, keys, rotated)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}{done.stdout[-2000:]}")
        report = json.loads(done.stdout)
        return {
            "head_dim": dim,
            "distribution": distribution,
            "keys": keys,
            "rotated": rotated,
            "total": report["quantization"]["errors_unquantised"]["out_rel_rms"],
            "kernel": report["errors"]["out_rel_rms"],
        }

    def run(self) -> list[dict]:
        o = self.options
        cases = [(dim, name, o.keys) for dim in DIMS for name in DISTRIBUTIONS]
        cases += [(DIMS[0], name, keys) for name in DISTRIBUTIONS for keys in o.curve]
        # A case may be in the table and in the curve.
        return [
            self.errors(*case, rotated) for case in dict.fromkeys(cases) for rotated in (False, True)
        ]


def cell(results: list[dict], dim: str, name: str, keys: int) -> str:
    rows = [
        r for r in results if (r["head_dim"], r["distribution"], r["keys"]) == (dim, name, keys)
    ]
    plain, rotated = sorted(rows, key=lambda r: r["rotated"])
    return f"{plain['total']:.3f} / {rotated['total']:.3f} ({plain['kernel']:.3f})"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def describe(options, results: list[dict]) -> str:
    by_dim = table(
        [f"{options.keys} keys", *DIMS],
        [
            [f"`{name}`", *(cell(results, dim, name, options.keys) for dim in DIMS)]
            for name in DISTRIBUTIONS
        ],
    )
    curve = table(
        [f"{DIMS[0]}, keys", *(str(keys) for keys in options.curve)],
        [
            [f"`{name}`", *(cell(results, DIMS[0], name, keys) for keys in options.curve)]
            for name in DISTRIBUTIONS
        ],
    )
    return f"plain / rotated (the kernel's own, plain)\n\n{by_dim}\n\n{curve}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default="build")
    parser.add_argument("--target", default="gfx942")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--keys", type=int, default=4096)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument(
        "--curve",
        type=lambda text: [int(word) for word in text.split(",")],
        default=[1024, 4096, 16384, 65536],
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = Bench(options).run()
    print(json.dumps(results, indent=2) if options.json else describe(options, results))


if __name__ == "__main__":
    main()
