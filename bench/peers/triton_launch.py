#!/usr/bin/env python3
"""What a launch of a kernel that Triton has compiled and cached costs the host.

    TRITON_LIBHIP_PATH=.../libamdhip64.so triton_launch.py [--repetitions N] [--launches N]

The peer of Launch/attention in bench/capi (bench/run_capi.py runs both over the same HIP library, which
does nothing). The kernel has the arguments of an attention call and no work. Needs Triton from PyPI, a C
compiler and Python's headers, because Triton compiles its driver; not PyTorch: what Triton imports of it
is a stub, which answers faster than PyTorch would. Prints one JSON object, nanoseconds of processor time:

    jit       kernel[grid](...), as models call it
    compiled  compiled[grid](...), the launcher alone
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import types

CACHE = tempfile.TemporaryDirectory(prefix="triton-cache-")
os.environ["TRITON_CACHE_DIR"] = CACHE.name


class Stream:
    cuda_stream = 0x10


class Tensor:
    def __init__(self, dtype, address):
        self.dtype, self.address = dtype, address

    def data_ptr(self):
        return self.address


torch = types.ModuleType("torch")
torch.Tensor = Tensor
torch.version = types.SimpleNamespace(hip="7.0", cuda=None)
torch.cuda = types.SimpleNamespace(
    is_available=lambda: True,
    current_device=lambda: 0,
    set_device=lambda device: None,
    current_stream=lambda device=None: Stream,
    get_device_capability=lambda device=None: (9, 4),
)
sys.modules["torch"] = torch

# Triton reads the cache directory, and looks for PyTorch, when it is imported.
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def like_attention(
    Q, K, V, Out, Lse, sqm, sqh, skn, skh, svn, svh, som, soh, Sq, Sk, scale_log2,
):  # fmt: skip
    if tl.program_id(0) < 0:
        tl.store(Lse, scale_log2)


def nanoseconds(launch, launches: int, repetitions: int) -> dict[str, float]:
    times = []
    for _ in range(repetitions):
        start = time.process_time_ns()
        for _ in range(launches):
            launch()
        times.append((time.process_time_ns() - start) / launches)
    return {"median_ns": statistics.median(times), "best_ns": min(times)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--launches", type=int, default=2000)
    arguments = parser.parse_args()
    half = [Tensor(tl.bfloat16, 0x10000 * i) for i in range(1, 5)]
    values = (*half, Tensor(tl.float32, 0x90000), 2304, 192, 2304, 192, 1536, 128, 1536, 128)
    values += (4096, 4097, 0.104)
    compiled = like_attention[(100,)](*values)

    def jit():
        like_attention[(100,)](*values)

    def launcher():
        compiled[(100, 1, 1)](*values)

    report = {"triton": triton.__version__}
    for name, launch in (("jit", jit), ("compiled", launcher)):
        launch()
        report[name] = nanoseconds(launch, arguments.launches, arguments.repetitions)
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
