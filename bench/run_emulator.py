#!/usr/bin/env python3
"""How fast the emulator executes a BF16 attention kernel of 1000 queries and 1300 keys, 12 heads.

    bench/run_emulator.py [--build build] [--repeat N] [--threads 1,2] [--json]

Needs a build with the compiler (or WAVESMITH_COMPILER_LIBRARY). Useful arithmetic (2 * queries *
keys * (192 + 128) a head) over the emulator's own seconds, which leave out compiling and checking
the result. For each number of threads T the process is pinned to the first T cores it may use. The
modes take turns, and the best of N runs counts: others on the machine only make it slower. The load
average before and after is printed; a figure from a busy machine is a lower bound.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADS, QUERIES, KEYS, DIMS = 12, 1000, 1300, 192 + 128
GFLOP = 2e-9 * HEADS * QUERIES * KEYS * DIMS
CALL = [
    *("run", "--target", "gfx942", "--dtype", "bf16", "--head-dim", "192x128", "--json"),
    *("--heads", str(HEADS), "--q-len", str(QUERIES), "--kv-len", str(KEYS), "--splits", "1"),
]
MODES = {  # name: checks, further settings
    "checks off": ("none", ""),
    "all checks": ("all", ""),
    "checks off, mfma=cdna3": ("none", "mfma=cdna3"),
    "all checks, mfma=cdna3": ("all", "mfma=cdna3"),
    "all checks, cycle model": ("all", "model=on"),
}


def run_once(binary: Path, mode: str, threads: int) -> float | None:
    """GFLOP/s, or None where this build does not know the mode."""
    checks, more = MODES[mode]
    settings = ",".join(filter(None, [f"threads={threads}", more]))
    cores = sorted(os.sched_getaffinity(0))[:threads]
    done = subprocess.run(
        [binary, *CALL, "--checks", checks],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"WAVESMITH_EMULATOR": settings, "WAVESMITH_DEVICE": "emulator"},
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    if done.returncode == 0:
        return GFLOP / json.loads(done.stdout)["emulated"]["seconds"]
    if "no such setting" in done.stderr:
        return None
    sys.exit(f"{' '.join(CALL)}: {done.stderr.strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", default="")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    available = len(os.sched_getaffinity(0))
    counts = [int(n) for n in arguments.threads.split(",") if n] or sorted({1, available})
    if max(counts) > available:
        sys.exit(f"--threads {arguments.threads}: this process may use {available} cores")
    binary = arguments.build / "bin" / "wavesmith"
    if not binary.exists():
        sys.exit(f"{binary}: not there; build it or give --build")
    load = [os.getloadavg()[0]]
    best: dict[str, dict[int, float]] = {mode: {} for mode in MODES}
    for _ in range(arguments.repeat):
        for mode, found in best.items():
            for threads in counts:
                rate = run_once(binary, mode, threads)
                if rate is not None:
                    found[threads] = max(found.get(threads, 0), rate)
    load.append(os.getloadavg()[0])
    known = {mode: found for mode, found in best.items() if found}
    if arguments.json:
        print(json.dumps({"unit": "GFLOP/s", "load": load, "best": known}))
        return
    print(f"GFLOP/s, best of {arguments.repeat}; load {load[0]:.1f} before, {load[1]:.1f} after")
    print(f"{'':26}" + "".join(f"{n:>4} thread{'s' if n > 1 else ' '}" for n in counts) + "  a core")
    for mode, found in known.items():
        rates = "".join(f"{found[n]:12.1f}" for n in counts)
        print(f"{mode:26}{rates}{found[counts[-1]] / counts[-1]:8.1f}")


if __name__ == "__main__":
    main()
