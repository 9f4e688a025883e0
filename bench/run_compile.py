#!/usr/bin/env python3
"""Cold compile time of one specialisation: ours, Triton's and the ratio, from the same run.

    bench/run_compile.py [--build build] [--repeat N] [--shape gfx942/bf16/causal] [--json]

Needs a build with -DWAVESMITH_BENCH=ON. Triton comes from PyPI into a virtual environment under the
build directory, made on demand; where that fails, our figures stand alone and the report says why.
Both run pinned to one core. "first" is the first compile of a fresh process, which also pays for
starting the compiler (imports are left out); "median" is over all repetitions, caches cleared;
"cpu" is the median of processor seconds, which a busy machine disturbs less. The compilers take
turns, so that a machine that slows down slows both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXIT_FAILED, EXIT_BAD_INPUT = 1, 2


class Unavailable(Exception):
    """A side cannot run here; the text says why."""


def run_pinned(command: list[str], timeout: float) -> str:
    core = min(os.sched_getaffinity(0))
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Unavailable(f"{command[0]} exited with {done.returncode}: {' '.join(last)}")
    return done.stdout


def measure_ours(binary: Path, shape: str, repeat: int) -> dict:
    output = run_pinned(
        [
            str(binary),
            f"--benchmark_filter=^ColdCompile/{shape}/",
            f"--benchmark_repetitions={repeat}",
            "--benchmark_format=json",
        ],
        timeout=600,
    )
    rows = json.loads(output)["benchmarks"] if output.strip() else []
    for row in rows:
        if row.get("error_occurred"):
            raise Unavailable(row["error_message"])
    rows = [row for row in rows if row["run_type"] == "iteration"]
    if not rows:
        raise Unavailable(f"this build compiles no {shape}")
    return {
        "compile_seconds": [row["real_time"] / 1000 for row in rows],
        "cpu_seconds": [row["cpu_time"] / 1000 for row in rows],
    }


def triton_python(venv: Path) -> Path:
    """The interpreter of a virtual environment that has Triton."""
    python = venv / "bin" / "python"
    stamp = venv / "has-triton"
    if stamp.exists():
        return python
    print(f"installing Triton into {venv} ...", file=sys.stderr)
    steps = [
        [sys.executable, "-m", "venv", str(venv)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "triton"],
        [str(python), "-c", "import triton"],
    ]
    for step in steps:
        try:
            done = subprocess.run(step, capture_output=True, text=True, timeout=900)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"Triton cannot be installed: {error}") from error
        if done.returncode != 0:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise Unavailable(f"Triton cannot be installed: {' '.join(reason)}")
    stamp.touch()
    return python


def measure_triton(python: Path, shape: str, repeat: int) -> dict:
    script = ROOT / "bench" / "peers" / "triton_attention.py"
    output = run_pinned(
        [str(python), str(script), "--variant", shape, "--repeat", str(repeat)], timeout=1200
    )
    return json.loads(output.strip().splitlines()[-1])


def summary(processes: list[dict]) -> dict:
    def median(key: str) -> float:
        return statistics.median(time for row in processes for time in row[key])

    return {
        "first": statistics.median(row["compile_seconds"][0] for row in processes),
        "median": median("compile_seconds"),
        "cpu": median("cpu_seconds"),
    }


def measure(args: argparse.Namespace) -> dict:
    binary = args.build / "bin" / "bench-compile"
    result: dict = {"shape": args.shape, "wavesmith": None, "triton": None, "ratio": None}
    try:
        python = triton_python(args.venv or args.build / "triton-venv")
    except Unavailable as error:
        python, result["triton_unavailable"] = None, str(error)
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(measure_ours(binary, args.shape, args.repeat))
        if python:
            try:
                theirs.append(measure_triton(python, args.shape, args.repeat))
                result["triton_version"] = theirs[-1]["triton"]
            except Unavailable as error:
                python, result["triton_unavailable"] = None, str(error)
    result["wavesmith"] = summary(ours)
    if theirs:
        result["triton"] = summary(theirs)
        result["ratio"] = {
            key: seconds / result["triton"][key] for key, seconds in result["wavesmith"].items()
        }
    return result


def report(result: dict) -> None:
    print(f"cold compile of attention {result['shape']}, head dims 192/128, one core, seconds")
    titles = ("first", "median", "cpu")
    print(f"{'':20}" + "".join(f"{title:>10}" for title in titles))
    names = {
        "wavesmith": "wavesmith",
        "triton": f"Triton {result.get('triton_version', '')}",
        "ratio": "ratio",
    }
    for side, name in names.items():
        if result[side]:
            print(f"{name:20}" + "".join(f"{result[side][title]:10.3f}" for title in titles))
    if not result["ratio"]:
        print(f"no ratio: {result['triton_unavailable']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--venv", type=Path, help="default: BUILD/triton-venv")
    parser.add_argument("--shape", default="gfx942/bf16/causal", help="target/dtype/causal|full")
    parser.add_argument("--repeat", type=int, default=3, help="compiles of a process")
    parser.add_argument("--rounds", type=int, default=2, help="processes of each side")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.repeat < 1 or args.rounds < 1:
        parser.error("--repeat and --rounds must be at least 1")
    binary = args.build / "bin" / "bench-compile"
    if not binary.exists():
        print(f"{binary} is missing: configure with -DWAVESMITH_BENCH=ON", file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        result = measure(args)
    except Unavailable as error:
        print(error, file=sys.stderr)
        return EXIT_FAILED
    print(json.dumps(result)) if args.json else report(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
