#!/usr/bin/env python3
"""What the C interface costs the host: launch, repeated plan, disk hit in a fresh process; and what a
launch of Triton's costs, in the same run.

    bench/run_capi.py [--build build] [--processes N] [--json]

Needs a build with -DWAVESMITH_BENCH=ON. HIP is a library that does nothing, so launch is the time on
top of HIP's. Pinned to one core; medians, and the best beside them, which a busy machine disturbs
less. Triton comes from PyPI into a virtual environment under the build directory and launches over the
same library (bench/peers/triton_launch.py); where that fails, our figures stand alone and the report says
why. "disk" is the first plan of each of N fresh processes, its kernel in the disk cache.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from run_compile import Unavailable, triton_python

ROOT = Path(__file__).resolve().parent.parent


def run_pinned(command: list[str]) -> str:
    core = min(os.sched_getaffinity(0))
    return subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    ).stdout


def calls(binary: Path) -> dict[str, dict[str, float]]:
    output = run_pinned(
        [str(binary), "--benchmark_repetitions=9", "--benchmark_min_time=0.05", "--benchmark_format=json"]
    )
    times: dict[str, list[float]] = {}
    for row in json.loads(output)["benchmarks"]:
        if row.get("error_occurred"):
            raise SystemExit(f"{row['name']}: {row['error_message']}")
        if row["run_type"] == "iteration":
            times.setdefault(row["run_name"], []).append(row["cpu_time"])
    return {name: {"median_ns": statistics.median(all_), "best_ns": min(all_)} for name, all_ in times.items()}


def disk_hits(binary: Path, processes: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as cache:
        os.chmod(cache, 0o700)
        first = json.loads(run_pinned([str(binary), "--first", cache]))
        if first["compiles"] == 0:
            raise SystemExit("the first process compiled nothing: is the cache of another run in the way?")
        rows = [json.loads(run_pinned([str(binary), "--first", cache])) for _ in range(processes)]
    if any(row["compiles"] or not row["disk_hits"] for row in rows):
        raise SystemExit(f"not all were hits: {rows}")
    return {
        "wall_us": statistics.median(row["plan_us"] for row in rows),
        "cpu_us": statistics.median(row["plan_cpu_us"] for row in rows),
        "best_us": min(row["plan_us"] for row in rows),
    }


def triton_launches(build: Path, venv: Path) -> dict:
    """Triton's figures, or the reason why there are none."""
    core = min(os.sched_getaffinity(0))
    try:
        python = triton_python(venv)
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "libamdhip64.so"  # Triton takes no other name
            library.symlink_to((build / "lib/libwavesmith_null_hip.so").resolve())
            done = subprocess.run(
                [str(python), str(ROOT / "bench/peers/triton_launch.py")],
                capture_output=True,
                text=True,
                timeout=600,
                env={**os.environ, "TRITON_LIBHIP_PATH": str(library)},
                preexec_fn=lambda: os.sched_setaffinity(0, {core}),
            )
    except (OSError, subprocess.TimeoutExpired, Unavailable) as error:
        return {"unavailable": str(error)}
    if done.returncode != 0:
        return {"unavailable": " ".join(done.stderr.strip().splitlines()[-1:])}
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--venv", type=Path, help="with Triton; default: BUILD/triton-venv")
    parser.add_argument("--processes", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    binary = arguments.build / "bin" / "bench-capi"
    if not binary.exists():
        print(f"no {binary}: configure with -DWAVESMITH_BENCH=ON and build bench-capi", file=sys.stderr)
        return 2
    report = {
        "calls": calls(binary),
        "triton": triton_launches(arguments.build, arguments.venv or arguments.build / "triton-venv"),
        "disk": disk_hits(binary, arguments.processes),
    }
    if arguments.json:
        print(json.dumps(report, indent=2))
        return 0
    for name, row in report["calls"].items():
        print(f"{name:32} {row['median_ns']:10.0f} ns   best {row['best_ns']:8.0f} ns")
    triton = report["triton"]
    if "unavailable" in triton:
        print(f"no figures of Triton: {triton['unavailable']}")
    else:
        ours = report["calls"]["Launch/attention/splits:1"]["median_ns"]
        for name in ("jit", "compiled"):
            row = triton[name]
            print(
                f"{'Triton ' + triton['triton'] + ' ' + name:32} {row['median_ns']:10.0f} ns"
                f"   best {row['best_ns']:8.0f} ns   {row['median_ns'] / ours:.0f} times ours"
            )
    disk = report["disk"]
    print(
        f"{'first plan, disk hit':32} {disk['wall_us']:10.0f} us   best {disk['best_us']:8.0f} us"
        f"   processor {disk['cpu_us']:.0f} us"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
