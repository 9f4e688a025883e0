#!/usr/bin/env python3
"""Modelled time of whole attention calls, beside the published times of AITER's kernels.

    bench/run_attention.py [--build build] [--chip MI325X] [--quantize] [--json]

Three calls of 12 heads, 192/128: a prompt over a long context, a late chunk of a long prompt, a
prompt alone. Ours are modelled (`wavesmith bench --modelled`): from the first workgroup's start to
the last store of the merge, without gaps between launches, at the nominal and at the sustained
clock. AITER's are measured on an MI325X, kernel only, without quantisation
(github.com/ROCm/aiter, pull request 4645). A ratio of a modelled and a measured time says where to
look, not who is faster. With --quantize FP8 includes the quantisation of bf16 inputs.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CALLS = {  # lengths, causal, AITER's BF16 and FP8 in ms
    "4096 x 65536": (["--lens", "4096:65536"], 4.385, 3.539),
    "4096 x 65536 causal": (["--lens", "4096:65536", "--causal"], 4.193, 4.660),
    "4096 x 4096 causal": (["--lens", "4096:4096", "--causal"], 0.172, 0.347),
}


def modelled(options, call: list[str], dtype: str) -> dict:
    command = [options.build / "bin" / "wavesmith", "bench", "--modelled", "--json"]
    command += ["--chip", options.chip, "--dtype", dtype, "--head-dim", "192x128"]
    command += ["--heads", "12", *call]
    if dtype == "fp8" and options.quantize:
        command += ["--quantize", "dynamic"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)["modelled"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--chip", default="MI325X")
    parser.add_argument("--quantize", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    results = []
    if not options.json:
        print(f"modelled, {options.chip}, 12 heads, 192/128")
        print(
            f"{'call':<20} {'dtype':<5} {'ms':>6} {'sustained':>9} {'MFMA':>5} {'loop':>5}"
            f"  {'bound by':<8} {'AITER':>6} {'/ sustained':>11} {'BF16 / FP8':>10}"
        )
    for name, (call, *published) in CALLS.items():
        bf16 = None
        for dtype, measured in zip(("bf16", "fp8"), published, strict=True):
            time = modelled(options, call, dtype)
            ms, sustained = (
                time[key] / 1e3 for key in ("microseconds", "sustained_microseconds")
            )
            loop = time["loops"][0]["mfma_occupancy"] if time["loops"] else 0
            bf16 = bf16 or ms
            results.append(
                {
                    "call": name,
                    "dtype": dtype,
                    "modelled_ms": ms,
                    "modelled_sustained_ms": sustained,
                    "mfma_utilisation": time["mfma_utilisation"],
                    "main_loop_mfma": loop,
                    "bound_by": time["bound_by"],
                    "published_ms": measured,
                    "published_over_sustained": measured / sustained,
                    "bf16_over_this": bf16 / ms,
                }
            )
            if not options.json:
                print(
                    f"{name:<20} {dtype:<5} {ms:>6.3f} {sustained:>9.3f}"
                    f" {time['mfma_utilisation']:>5.0%} {loop:>5.1%}  {time['bound_by']:<8}"
                    f" {measured:>6.3f} {measured / sustained:>11.2f} {bf16 / ms:>10.2f}",
                    flush=True,
                )
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
