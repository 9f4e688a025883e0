#!/usr/bin/env python3
"""Compiles a plain FlashAttention forward kernel with Triton for AMD targets; needs no GPU.

The peer that our compile time is measured against (bench/run_compile.py), and a source of code
objects that others made. Needs Triton from PyPI.

    triton_attention.py [--variant gfx942/bf16/causal] [--repeat N] [--out DIR]

Prints one JSON object a variant: its name, the tile, and the wall and processor seconds of each
compile, the first of which also pays for starting the compiler. With --out the code objects are
kept.

Kernel arguments, in order: Q K V Out Lse (pointers), sqm sqh skn skh svn svh som soh (row and head
strides in elements), Sq Sk, scale_log2 (softmax scale times log2 e), then what Triton appends. Lse
is the natural-log LSE, [heads, Sq]. Grid: (ceil(Sq / block_m), heads).
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

CACHE = tempfile.mkdtemp(prefix="triton-cache-")
os.environ["TRITON_CACHE_DIR"] = CACHE

# Triton reads the cache directory when it is imported.
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402


@triton.jit
def tile_step(
    q0, q1, kb, vb, rm, c, d0, d1, dv, skn, svn, Sq, Sk, scale_log2, m, total, acc,
    MASKED: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    if MASKED:
        k0 = tl.load(kb + c[None, :] * skn + d0[:, None], mask=c[None, :] < Sk, other=0.0)
        k1 = tl.load(kb + c[None, :] * skn + d1[:, None], mask=c[None, :] < Sk, other=0.0)
        v = tl.load(vb + c[:, None] * svn + dv[None, :], mask=c[:, None] < Sk, other=0.0)
    else:
        k0 = tl.load(kb + c[None, :] * skn + d0[:, None])
        k1 = tl.load(kb + c[None, :] * skn + d1[:, None])
        v = tl.load(vb + c[:, None] * svn + dv[None, :])
    s = tl.dot(q1, k1, tl.dot(q0, k0)) * scale_log2
    if MASKED:
        seen = c[None, :] < Sk
        if CAUSAL:
            seen = seen & (c[None, :] <= rm[:, None] + Sk - Sq)
        s = tl.where(seen, s, -float("inf"))
    m_new = tl.maximum(m, tl.max(s, 1))
    p = tl.exp2(s - m_new[:, None])
    alpha = tl.exp2(m - m_new)
    acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
    return m_new, total * alpha + tl.sum(p, 1), acc


@triton.jit
def attention(
    Q, K, V, Out, Lse, sqm, sqh, skn, skh, svn, svh, som, soh, Sq, Sk, scale_log2,
    CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    D0: tl.constexpr, D1: tl.constexpr, DV: tl.constexpr,
):  # fmt: skip
    # The head dim of Q and K is D0 + D1: Triton's ranges are powers of two.
    pm = tl.program_id(0)
    h = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    d0 = tl.arange(0, D0)
    d1 = D0 + tl.arange(0, D1)
    dv = tl.arange(0, DV)
    rn = tl.arange(0, BN)
    qb = Q + h * sqh
    q0 = tl.load(qb + rm[:, None] * sqm + d0[None, :], mask=rm[:, None] < Sq, other=0.0)
    q1 = tl.load(qb + rm[:, None] * sqm + d1[None, :], mask=rm[:, None] < Sq, other=0.0)
    kb = K + h * skh
    vb = V + h * svh
    m = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, DV], tl.float32)
    end = Sk
    if CAUSAL:
        end = tl.minimum(Sk, Sk - Sq + (pm + 1) * BM)
    full = (end // BN) * BN
    if CAUSAL:
        full = tl.minimum(full, ((Sk - Sq + pm * BM + 1) // BN) * BN)
    for n in range(0, full, BN):
        m, total, acc = tile_step(
            q0, q1, kb, vb, rm, n + rn, d0, d1, dv, skn, svn, Sq, Sk, scale_log2, m, total, acc,
            False, CAUSAL,
        )  # fmt: skip
    for n in range(full, end, BN):
        m, total, acc = tile_step(
            q0, q1, kb, vb, rm, n + rn, d0, d1, dv, skn, svn, Sq, Sk, scale_log2, m, total, acc,
            True, CAUSAL,
        )  # fmt: skip
    acc = acc / total[:, None]
    out = Out + h * soh + rm[:, None] * som + dv[None, :]
    tl.store(out, acc.to(Out.dtype.element_ty), mask=rm[:, None] < Sq)
    tl.store(Lse + h * Sq + rm, (m + tl.log2(total)) * 0.6931471805599453, mask=rm < Sq)


# name: block_m, block_n, warps, stages. The first of a shape is the one that compares.
VARIANTS = {
    "gfx942/bf16/full": (128, 64, 4, 1),
    "gfx942/bf16/causal": (128, 64, 4, 1),
    "gfx942/fp8/full": (128, 64, 4, 2),
    "gfx942/fp8/causal": (128, 64, 4, 2),
    "gfx950/bf16/full": (256, 64, 8, 2),
    "gfx950/bf16/causal": (256, 64, 8, 2),
    "gfx950/fp8/full": (256, 64, 8, 2),
    "gfx950/fp8/causal": (256, 64, 8, 2),
}


def processor_seconds() -> float:
    return sum(os.times()[:4])  # user and system, children included


def compile_variant(name: str):
    arch, dtype, mask = name.split("/")
    block_m, block_n, warps, stages = VARIANTS[name]
    element = "bf16"
    if dtype == "fp8":
        element = "fp8e4b8" if arch == "gfx942" else "fp8e4nv"
    constants = {
        "CAUSAL": mask == "causal", "BM": block_m, "BN": block_n, "D0": 128, "D1": 64, "DV": 128,
    }  # fmt: skip
    strides = "sqm sqh skn skh svn svh som soh".split()
    signature = dict.fromkeys("QKV", "*" + element) | {"Out": "*bf16", "Lse": "*fp32"}
    signature |= dict.fromkeys(strides + ["Sq", "Sk"], "i32") | {"scale_log2": "fp32"}
    signature |= dict.fromkeys(constants, "constexpr")
    names = attention.arg_names
    aligned = {"Q", "K", "V", "Out", "Lse", *strides}
    source = ASTSource(
        fn=attention,
        signature=signature,
        constexprs={(names.index(n),): value for n, value in constants.items()},
        attrs={(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n in aligned},
    )
    options = {"num_warps": warps, "num_stages": stages, "matrix_instr_nonkdim": 32}
    start, cpu = time.perf_counter(), processor_seconds()
    kernel = triton.compile(source, target=GPUTarget("hip", arch, 64), options=options)
    return kernel, time.perf_counter() - start, processor_seconds() - cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="default: all")
    parser.add_argument("--repeat", type=int, default=3, help="compiles of each, cache cleared")
    parser.add_argument("--out", type=Path, help="keep the code objects there")
    args = parser.parse_args()
    for name in args.variant or VARIANTS:
        seconds, cpu_seconds = [], []
        for _ in range(args.repeat):
            shutil.rmtree(CACHE, ignore_errors=True)
            kernel, wall, cpu = compile_variant(name)
            seconds.append(round(wall, 4))
            cpu_seconds.append(round(cpu, 4))
        if args.out:
            args.out.mkdir(parents=True, exist_ok=True)
            path = args.out / (name.replace("/", "_") + ".co")
            path.write_bytes(kernel.asm["hsaco"])
        block_m, block_n, warps, _ = VARIANTS[name]
        row = {
            "variant": name, "kernel": "attention", "triton": triton.__version__,
            "block_m": block_m, "block_n": block_n, "threads": warps * 64,
            "lds_bytes": kernel.metadata.shared, "compile_seconds": seconds,
            "cpu_seconds": cpu_seconds,
        }  # fmt: skip
        print(json.dumps(row), flush=True)
    shutil.rmtree(CACHE, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
