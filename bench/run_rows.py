#!/usr/bin/env python3
"""Modelled time of the kernels around attention, and their share of the chip's memory bandwidth.

    bench/run_rows.py [--build build] [--kernel NAME] [--tokens N] [--heads N] [--splits N]
                      [--rotation SEED] [--json]

Every kernel runs on the emulator, without checks, with the cycle model of an MI325X: figures are
modelled, none is measured. Bytes are those that the kernel must move, each once; the share is bytes
over modelled time over the chip's peak (6 TB/s).
"""

import argparse
import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEAK = 6.0e12


def spec_values(spec: str) -> dict:
    return dict(word.split("=", 1) for word in spec.split()[1:])


class Launch:
    """A launch file in the making: buffers, arguments in the kernel's order, bytes moved."""

    def __init__(self):
        self.buffers, self.args, self.moved, self.offset = {}, [], 0, 0

    def argument(self, value: dict, size: int):
        self.args.append({"offset": self.offset, **value})
        self.offset += size

    def tensor(self, name: str, size: int, strides: list[int], fill="0x3c"):
        self.buffers[name] = {"bytes": size, "fill": fill}
        self.argument({"buffer": name}, 8)
        for stride in strides:
            self.argument({"i64": stride}, 8)
        self.moved += size

    def scalar(self, value: int):
        self.argument({"i32": value}, 4)


def rows(launch: Launch, name: str, tokens: int, heads: int, dim: int, size: int):
    launch.tensor(name, tokens * heads * dim * size, [heads * dim * size, dim * size])


def logs(launch: Launch, name: str, tokens: int, heads: int):
    launch.tensor(name, tokens * heads * 4, [tokens * 4, 4])


def combine(options, values, rows_of_group: int, directory: Path):
    dim, block = int(values["head_dim_v"]), 256
    if options.tokens % block:
        sys.exit(f"--tokens {options.tokens}: combine_splits wants a multiple of {block}")
    blocks = options.tokens // block * options.heads
    slots = blocks * options.splits
    units = b"".join(
        struct.pack(
            "8i",
            unit // options.heads * block,
            block,
            unit % options.heads,
            unit * options.splits,
            options.splits,
            0,
            0,
            0,
        )
        for unit in range(blocks)
    )
    (directory / "units.bin").write_bytes(units)
    launch = Launch()
    launch.tensor("partial_out", slots * block * dim * 4, [block * dim * 4])
    launch.tensor("partial_lse", slots * block * 4, [block * 4])
    launch.tensor("units", len(units), [32])
    launch.buffers["units"] = {"raw": "units.bin"}
    rows(launch, "out", options.tokens, options.heads, dim, 2)
    logs(launch, "lse", options.tokens, options.heads)
    return launch, [blocks, block // rows_of_group, 1]


def merge(options, values, rows_of_group: int, _):
    dim, size = int(values["head_dim_v"]), 4 if values["element"] == "f32" else 2
    launch = Launch()
    for name in ("a", "b", "out"):
        rows(launch, name, options.tokens, options.heads, dim, size)
        logs(launch, "lse_" + name, options.tokens, options.heads)
    launch.scalar(options.tokens)
    launch.scalar(options.tokens)
    return launch, [-(-options.tokens // rows_of_group), options.heads, 1]


def quantise(options, values, rows_of_group: int, _):
    size = 4 if values["input"] == "f32" else 2
    launch = Launch()
    if "head_dim" in values:
        dim = int(values["head_dim"])
        rows(launch, "x", options.tokens, options.heads, dim, size)
    else:
        dim = 192
        rows(launch, "nope", options.tokens, options.heads, 128, size)
        rope = options.tokens * 64 * size
        launch.tensor("rope", rope, [64 * size, 0])
    if "output" in values:
        rows(launch, "y", options.tokens, options.heads, dim, 1)
        launch.tensor("descale", options.heads * 4, [4])
    launch.tensor("amax", options.heads * 4, [4], fill="zero" if "output" not in values else "0x3c")
    if "output" in values:
        launch.tensor("saturated", options.heads * 8, [8], fill="zero")
    launch.scalar(options.tokens)
    return launch, [-(-options.tokens // rows_of_group), options.heads, 1]


MAKERS = {
    "combine_splits": combine,
    "merge_states": merge,
    "quantize": quantise,
    "quantize_concat": quantise,
    "amax": quantise,
}


def run(binary: Path, arguments: list[str]) -> dict:
    done = subprocess.run([str(binary), *arguments, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit((done.stderr or done.stdout).strip() or f"{binary} failed")
    return json.loads(done.stdout)


def chosen(kernel: str, values: dict) -> bool:
    """The variants of the main job: head dims 192 and 128, bf16, with LSE."""
    wanted = {"head_dim_v": "128", "write_lse": "true", "head_dim": "192", "input": "bf16"}
    wanted["first_column"] = "0"
    # f16 moves as many bytes as bf16.
    return "f16" not in values.values() and all(
        values.get(name, value) == value for name, value in wanted.items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--kernel", choices=sorted(MAKERS), help="default: all")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--rotation", default="0", help="seed for quantisers; 0: none")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    binary = options.build / "bin" / "wavesmith"
    if not binary.exists():
        sys.exit(f"{binary}: not there; build it or give --build")
    names = [options.kernel] if options.kernel else list(MAKERS)
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        run(
            binary,
            ["build", "--targets", "gfx942", "--kernels", ",".join(names)]
            + ["--rotation", options.rotation, "-o", str(directory)],
        )
        for kernel in json.loads((directory / "manifest.json").read_text())["kernels"]:
            name, values = kernel["spec"].split()[0], spec_values(kernel["spec"])
            if not chosen(name, values):
                continue
            note = run(binary, ["inspect", str(directory / kernel["file"])])["note"]
            rows_of_group = int(re.search(r" rows=(\d+) ", note["abi"])[1])
            launch, grid = MAKERS[name](options, values, rows_of_group, directory)
            file = directory / "launch.json"
            file.write_text(
                json.dumps(
                    {
                        "object": kernel["file"],
                        "kernel": kernel["name"],
                        "grid": grid,
                        "block": [256, 1, 1],
                        "buffers": launch.buffers,
                        "args": launch.args,
                    }
                )
            )
            report = run(
                binary, ["exec", str(file), "--checks", "none", "--chip", "MI325X", "--model-cycles"]
            )
            modelled = report["launches"][0]["modelled"]
            share = launch.moved / (modelled["microseconds"] * 1e-6) / PEAK
            results.append(
                {
                    "spec": kernel["spec"],
                    "bytes": launch.moved,
                    "microseconds": modelled["microseconds"],
                    "bandwidth_share": share,
                    "bound_by": modelled["bound_by"],
                }
            )
    if options.json:
        print(json.dumps(results, indent=2))
        return 0
    print(f"modelled, MI325X, {options.tokens} tokens, {options.heads} heads")
    print(f"{'kernel':<72} {'MB':>8} {'us':>8} {'share':>6}  bound by")
    for row in results:
        print(
            f"{row['spec']:<72} {row['bytes'] / 1e6:>8.1f} {row['microseconds']:>8.2f} "
            f"{row['bandwidth_share']:>6.0%}  {row['bound_by']}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
