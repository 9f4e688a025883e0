#!/usr/bin/env python3
"""What FP8 costs in accuracy: runs bench-accuracy over distributions, lengths and seeds.

    bench/run_accuracy.py synthetic   --out FILE [--build build] [--target gfx942] [--quick]
    bench/run_accuracy.py needle      --out FILE [--build build] [--target gfx942] [--quick]
    bench/run_accuracy.py transformer --out FILE [--build build] [--target gfx942] [--quick]
                                      --package DIRECTORY
    bench/run_accuracy.py report FILE... [--figures docs]

The first three append a line of JSON for each seed and method to FILE; `report` prints tables with
95 % bootstrap intervals over seeds and draws the figures. Build with -DWAVESMITH_BENCH=ON.
`transformer` wants numpy and the files of the PyPI package antiberty 0.1.3, which carries weights:

    pip download --no-deps antiberty==0.1.3 && unzip -d DIRECTORY antiberty-0.1.3-*.whl

and `report --figures` wants matplotlib.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "accuracy"))

DISTRIBUTIONS = ("normal", "heavy-tail", "outlier-channels", "drift")
# Long prompts cost most of the time, so they have fewer seeds and rows.
SHORT = ("128,256,512,1024,2048,4096", "1-8", "48")
LONG = ("16384,65536", "1-3", "24")
NEEDLE_DIMS = ("--head-dim", "128x128", "--heads", "1", "--rows", "8")


def call(options, *arguments: str):
    command = [str(ROOT / options.build / "bin" / "bench-accuracy"), "--target", options.target]
    command += arguments
    print(" ".join(command), file=sys.stderr, flush=True)
    with open(options.out, "a") as out:
        if subprocess.run(command, stdout=out).returncode != 0:
            sys.exit(f"failed: {' '.join(command)}")


def synthetic(options):
    plans = [("128,1024", "1-2", "24")] if options.quick else [SHORT, LONG]
    for keys, seeds, rows in plans:
        for distribution in DISTRIBUTIONS:
            line = ("--distribution", distribution, "--keys", keys, "--seeds", seeds)
            call(options, *line, "--rows", rows)


def needle(options):
    lengths = ("4096", "65536") if options.quick else ("4096", "65536", "1048576")
    for keys in lengths:
        for depth in ("0.1", "0.5", "0.9"):
            seeds = "1-2" if keys == "1048576" or options.quick else "1-4"
            line = ("--distribution", "needle", "--depth", depth, "--keys", keys)
            call(options, *line, "--seeds", seeds, *NEEDLE_DIMS)


def transformer(options):
    import transformer as model

    model.run(
        executable=str(ROOT / options.build / "bin" / "bench-accuracy"),
        target=options.target,
        package=Path(options.package),
        out=Path(options.out),
        seeds=2 if options.quick else 8,
    )


def report(options):
    import report as tables

    tables.report([Path(name) for name in options.files], options.figures)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in (
        ("synthetic", synthetic),
        ("needle", needle),
        ("transformer", transformer),
    ):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--build", default="build")
        command.add_argument("--target", default="gfx942")
        command.add_argument("--out", required=True)
        command.add_argument("--quick", action="store_true", help="a smoke test of seconds")
        if name == "transformer":
            command.add_argument("--package", required=True)
    command = commands.add_parser("report")
    command.set_defaults(function=report)
    command.add_argument("files", nargs="+")
    command.add_argument("--figures", type=Path, help="directory for SVG files")
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
