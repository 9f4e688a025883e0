"""Kernels that Triton compiled for both targets, on the emulator with all checks, in several
orders: the results are numpy's in float64, and no check may find anything.

    triton_kernels_test.py [--sample] [UNITTEST ARGUMENTS]
                                               (through ctest, or with clients.py's variables)
"""

import clients

clients.enter()

import math  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402

sys.path.insert(0, str(clients.ROOT / "bench/peers"))
import numpy as np  # noqa: E402
import triton  # noqa: E402
import triton_attention  # noqa: E402  sets a cache directory for Triton
import triton_sources as src  # noqa: E402
from numerics import from_bf16, from_small, to_bf16, to_small  # noqa: E402
from trial import ORDERS, Trial  # noqa: E402

EIGHT = {"gfx942": ("fp8e4b8", "fp8e5b16"), "gfx950": ("fp8e4nv", "fp8e5")}
F32 = 2.0**-24  # half a unit in the last place of 1
OUT = {"fp32": F32, "fp16": 2.0**-11, "bf16": 2.0**-8, "fp64": 2.0**-53}


class TritonKernels(unittest.TestCase):
    target = None
    small = False

    def setUp(self):
        if self.target is None:
            self.skipTest("the targets' classes run this")
        self.rng = np.random.default_rng(3)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="wavesmith-triton-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.trial = Trial(self.target, folder, self.small)

    def check(self, expected, orders=None):
        """expected: for each output its values and the absolute error allowed (0: equal)."""
        for order in orders or ORDERS:
            outputs = self.trial.run(order)
            for name, (values, bound) in expected.items():
                got = outputs[name]
                wrong = ~(np.abs(got - values) <= bound) & ~(np.isnan(got) & np.isnan(values))
                if np.any(wrong):
                    at = tuple(int(i) for i in np.argwhere(wrong)[0])
                    self.fail(
                        f"{order}: {name}{list(at)} is {got[at]}, want {np.asarray(values)[at]}; "
                        f"{np.sum(wrong)} of {got.size} wrong"
                    )

    def normal(self, *shape):
        return self.rng.standard_normal(shape)

    # Streams

    def add(self, dtype):
        n = 1000
        a = self.trial.input("a", self.normal(n), dtype)
        b = self.trial.input("b", self.normal(n), dtype)
        self.trial.output("out", (n,), dtype)
        # The rest of the last block is not in memory and so must not be touched; nor is it stored.
        self.trial.launch(src.vector_add, [2], ["a", "b", "out", n], {"BLOCK": 512}, num_warps=4)
        self.check({"out": (a + b, OUT[dtype] * np.abs(a + b) + 2.0**-25)})

    def test_add_float32(self):
        self.add("fp32")

    def test_add_float16(self):
        self.add("fp16")

    def test_add_bfloat16(self):
        self.add("bf16")

    def test_add_float64(self):
        self.add("fp64")

    def test_softmax(self):
        rows, n = 3, 777
        x = self.trial.input("x", 3 * self.normal(rows, n), "fp32")
        self.trial.output("out", (rows, n), "fp16")
        self.trial.launch(src.softmax, [rows], ["x", "out", n, n], {"BLOCK": 1024}, num_warps=4)
        e = np.exp(x - x.max(1, keepdims=True))
        y = e / e.sum(1, keepdims=True)
        # Rounding to half dominates; the least subnormal is 2^-24.
        self.check({"out": (y, OUT["fp16"] * y * 1.01 + 2.0**-25 * 1.01)})

    def test_layer_norm(self):
        rows, n = 3, 700
        x = self.trial.input("x", 2 * self.normal(rows, n) + 1, "bf16")
        w = self.trial.input("w", self.normal(n), "fp32")
        b = self.trial.input("b", self.normal(n), "fp32")
        self.trial.output("out", (rows, n), "bf16")
        self.trial.output("mean", (rows,), "fp32")
        self.trial.output("rstd", (rows,), "fp32")
        self.trial.launch(
            src.layer_norm, [rows], ["x", "w", "b", "out", "mean", "rstd", n, n, 1e-5],
            {"BLOCK": 512}, num_warps=8,
        )  # fmt: skip
        mean = x.mean(1)
        rstd = 1 / np.sqrt(x.var(1) + 1e-5)
        y = (x - mean[:, None]) * rstd[:, None] * w + b
        # Sums of 700 float32 in a tree of depth 10; the result is rounded to bfloat16.
        size = np.abs(x).sum(1) / n
        self.check({
            "mean": (mean, 12 * F32 * size),
            "rstd": (rstd, 40 * F32 * rstd),
            "out": (y, OUT["bf16"] * np.abs(y) * 1.01 + 64 * F32 * (np.abs(w * 5) + np.abs(b))),
        })  # fmt: skip

    def test_reductions(self):
        rows, n = 16, 256
        x = self.trial.input("x", self.normal(rows, n), "fp32")
        for name, shape, dtype in (
            ("sum", rows, "fp32"), ("max", rows, "fp32"), ("arg", rows, "i32"),
            ("low", rows, "i32"), ("scan", (rows, n), "fp32"), ("columns", n, "fp32"),
        ):  # fmt: skip
            self.trial.output(name, shape if isinstance(shape, tuple) else (shape,), dtype)
        self.trial.launch(
            src.reductions, [1], ["x", "sum", "max", "arg", "low", "scan", "columns"],
            {"ROWS": rows, "BLOCK": n}, num_warps=4,
        )  # fmt: skip
        size = np.abs(x).sum(1)
        self.check({
            "sum": (x.sum(1), 10 * F32 * size),
            "max": (x.max(1), 0),
            "arg": (x.argmax(1), 0),
            "low": (np.trunc((x * 1000).astype(np.float32)).min(1), 0),
            "scan": (np.cumsum(x, 1), 20 * F32 * size[:, None]),
            "columns": (x.sum(0), 6 * F32 * np.abs(x).sum(0)),
        })  # fmt: skip

    def test_order(self):
        n, bins = 256, 64
        x = self.trial.input("x", self.rng.integers(0, 10000, n), "i32")
        self.trial.output("sorted", (n,), "i32")
        self.trial.output("counts", (bins,), "i32")
        self.trial.launch(
            src.order, [1], ["x", "sorted", "counts"], {"BLOCK": n, "BINS": bins}, num_warps=4
        )
        counts = np.bincount(x % bins, minlength=bins)
        self.check({"sorted": (np.sort(x), 0), "counts": (counts, 0)})

    def atomics(self, half):
        n, bins = 500, 32
        # Multiples of 1/8: every sum is exact, in any order.
        x = self.trial.input("x", self.rng.integers(-16, 17, n) / 8, "fp32")
        at = self.trial.input("index", self.rng.integers(0, bins, n), "i32")
        for name, shape, dtype, start in (
            ("total", 1, "fp32", 0), ("bins", bins, "i32", 0), ("half", bins, half, 0),
            ("top", bins, "i32", 0), ("low", bins, "i32", 10**6),
            ("wide", bins, "fp64", 0), ("lock", 1, "i32", 0),
        ):  # fmt: skip
            self.trial.input(name, np.full(shape, start), dtype, out=True)
        names = "x index total bins half top low wide lock".split()
        self.trial.launch(src.atomics, [4], [*names, n], {"BLOCK": 128}, num_warps=2)
        count = np.bincount(at, minlength=bins)
        sums = np.bincount(at, x, minlength=bins)
        top, low = np.zeros(bins), np.full(bins, 10**6)
        np.maximum.at(top, at, np.abs(x) * 1000)
        np.minimum.at(low, at, np.abs(x) * 1000)
        self.check({
            "total": (np.array([x.sum()]), 0), "bins": (count, 0), "half": (sums, 0),
            "wide": (sums, 0), "top": (top, 0), "low": (low, 0), "lock": (np.array([0]), 0),
        })  # fmt: skip

    def test_atomics_float32(self):
        self.atomics("fp32")

    def test_atomics_float16(self):
        self.atomics("fp16")

    def test_atomics_bfloat16(self):
        self.atomics("bf16")

    def through_others(self, kernel, counters):
        n, block, blocks = 1000, 256, 4
        # Multiples of 1/8: every sum is exact, in any order.
        x = self.trial.input("x", self.rng.integers(-16, 17, n) / 8, "fp32")
        self.trial.output("part", (blocks,), "fp32")
        self.trial.input("count", np.zeros(counters), "i32")
        self.trial.output("out", (1,), "fp32")
        self.trial.launch(
            kernel, [blocks], ["x", "part", "count", "out", n],
            {"BLOCK": block, "BLOCKS": blocks}, num_warps=2,
        )  # fmt: skip
        self.check({"out": (np.array([x.sum()]), 0)})

    def test_last_block(self):
        self.through_others(src.last_block, 1)

    def test_hand_over(self):
        self.through_others(src.hand_over, 4)

    def test_a_fault_names_its_line(self):
        n = 1000
        for name, size in (("a", n), ("b", n), ("out", n - 1)):
            self.trial.input(name, self.normal(size), "fp32", out=True)
        self.trial.launch(src.vector_add, [2], ["a", "b", "out", n], {"BLOCK": 512}, num_warps=4)
        with self.assertRaisesRegex(AssertionError, r"memory: vector_add.*triton_sources\.py:\d+"):
            self.trial.run()

    # Arithmetic

    def test_float_math(self):
        n = 300
        x = self.trial.input("x", 4 * self.normal(n), "fp32")
        y = self.trial.input("y", self.normal(n) + 3, "fp32")
        self.trial.output("out", (13, n), "fp32")
        self.trial.launch(src.float_math, [3], ["x", "y", "out", n], {"BLOCK": 128}, num_warps=2)
        a = np.abs(x)
        want = np.stack([
            np.exp(x), np.log(a), np.sqrt(a), 1 / np.sqrt(a), np.sin(x), np.cos(x), x / y,
            np.vectorize(math.erf)(x), np.floor(x) + np.ceil(y), x * y + x, 1 / (1 + np.exp(-x)),
            np.clip(x, -0.5, 0.5), x / y,
        ])  # fmt: skip
        # In units of F32 of the value: what the library promises; exp scales its input by log2(e)
        # in float32, so its error grows with |x|.
        ulps = np.array([40, 4, 1, 4, 0, 0, 1, 8, 1, 1, 40, 0, 1])[:, None]
        bound = ulps * F32 * np.abs(want) + 8 * F32
        bound[[2, 6, 8, 9, 12]] = F32 * np.abs(want[[2, 6, 8, 9, 12]])
        bound[11] = 0
        self.check({"out": (want, bound)})

    def test_integer_math(self):
        n = 300
        x = self.trial.input("x", self.rng.integers(-(2**31), 2**31, n), "i32").astype(object)
        y = self.trial.input("y", self.rng.integers(1, 5000, n), "i32").astype(object)
        self.trial.output("out", (10, n), "i64")
        self.trial.launch(src.integer_math, [3], ["x", "y", "out", n], {"BLOCK": 128}, num_warps=2)

        def wrap(values, bits):
            half = 1 << (bits - 1)
            return np.array([((int(v) + half) % (2 * half)) - half for v in values])

        def divide(p, q):  # towards zero, as C does
            return np.array(
                [abs(u) // v * (1 if u >= 0 else -1) for u, v in zip(p, q, strict=True)]
            )

        wide = wrap(x * 0x123456789 + y, 64).astype(object)
        xu = x % 2**32
        want = np.stack([
            divide(x, y), x - divide(x, y) * y, divide(wide, y), wide - divide(wide, y) * y,
            wrap(xu * y >> 32, 32), [w >> (v & 31) for w, v in zip(wide, y, strict=True)],
            [(u ^ v) | (u & ~v) for u, v in zip(x, y, strict=True)],
            [int(np.float32(int(w))) for w in wide],
            wrap(np.minimum(x, y), 16), wrap(xu % 1000, 8),
        ]).astype(np.int64)  # fmt: skip
        self.check({"out": (want, 0)})

    def test_conversions(self):
        n = 500
        x = np.concatenate([self.normal(300) * 2.0 ** self.rng.integers(-12, 6, 300),
                            np.zeros(8), -np.zeros(8), self.normal(184) * 50])  # fmt: skip
        x = self.trial.input("x", x, "fp32")
        e4, e5 = EIGHT[self.target]
        for name, dtype in (
            ("half", "fp16"), ("brain", "bf16"), ("eight", e4), ("five", e5), ("whole", "i8"),
            ("back", "fp32"),
        ):  # fmt: skip
            self.trial.output(name, (n,), dtype)
        names = "x half brain eight five whole back".split()
        self.trial.launch(src.convert, [4], [*names, n], {"BLOCK": 128}, num_warps=2)
        eight = from_small(to_small(x, e4), e4)
        self.check({
            "half": (x.astype(np.float16).astype(float), 0),
            "brain": (from_bf16(to_bf16(x)), 0),
            "eight": (eight, 0), "back": (eight, 0),
            "five": (from_small(to_small(x, e5), e5), 0),
            "whole": (np.trunc(x).astype(np.int64).astype(np.int8), 0),
        })  # fmt: skip

    # Matrix products

    def gemm(self, dtype, out="fp32", transposed=False, **options):
        m, n, k, bk = 72, 56, 200, 64
        values = self.rng.integers(-20, 21, (m, k)) if dtype == "i8" else self.normal(m, k)
        a = self.trial.input("a", values, dtype)
        values = self.rng.integers(-20, 21, (k, n)) if dtype == "i8" else self.normal(k, n)
        b = self.trial.input("b", values.T if transposed else values, dtype)
        b = b.T if transposed else b
        self.trial.output("c", (m, n), out)
        strides = [k, 1, 1, k] if transposed else [k, 1, n, 1]
        self.trial.launch(
            src.gemm, [2, 1], ["a", "b", "c", m, n, k, *strides, n],
            {"BM": 64, "BN": 64, "BK": bk}, num_warps=4, **options,
        )  # fmt: skip
        c = a.astype(np.float64) @ b.astype(np.float64)
        # One rounding of float32 for each of 200 steps at most, and one of the result.
        bound = 200 * F32 * (np.abs(a) @ np.abs(b)) + OUT.get(out, 0) * np.abs(c)
        self.check({"c": (c, 0 if dtype == "i8" else bound)})

    def test_gemm_bfloat16(self):
        self.gemm("bf16", "bf16", num_stages=2, matrix_instr_nonkdim=16)

    def test_gemm_bfloat16_transposed(self):
        self.gemm("bf16", transposed=True, num_stages=1, matrix_instr_nonkdim=32)

    def test_gemm_float16(self):
        self.gemm("fp16", "fp16", num_stages=2, matrix_instr_nonkdim=32)

    def test_gemm_float16_three_stages(self):
        self.gemm("fp16", num_stages=3, matrix_instr_nonkdim=16)

    def test_gemm_fp8(self):
        self.gemm(EIGHT[self.target][0], num_stages=2, matrix_instr_nonkdim=32)

    def test_gemm_fp8_transposed(self):
        self.gemm(EIGHT[self.target][0], transposed=True, num_stages=2, matrix_instr_nonkdim=16)

    def test_gemm_bf8(self):
        self.gemm(EIGHT[self.target][1], num_stages=2, matrix_instr_nonkdim=16)

    def test_gemm_int8(self):
        self.gemm("i8", "i32", num_stages=2)

    def test_gemm_float32(self):
        self.gemm("fp32", num_stages=2)

    def large_gemm(self, dtype, knob, **options):
        """A tile as it is used for speed, with one of Triton's own variants of the loop."""
        m, n, k = 256, 256, 384
        a = self.trial.input("a", self.normal(m, k), dtype)
        b = self.trial.input("b", self.normal(n, k), dtype).T
        self.trial.output("c", (m, n), "fp32")
        with triton.knobs.amd.scope():
            setattr(triton.knobs.amd, knob, True)
            self.trial.launch(
                src.gemm, [1, 1], ["a", "b", "c", m, n, k, k, 1, 1, k, n],
                {"BM": 256, "BN": 256, "BK": 64}, num_warps=8, num_stages=2, **options,
            )  # fmt: skip
        bound = k * F32 * (np.abs(a) @ np.abs(b))
        self.check({"c": (a @ b, bound)}, ORDERS[:1] + ORDERS[1:][-2:])

    def test_gemm_pingpong(self):
        self.large_gemm("bf16", "use_block_pingpong", matrix_instr_nonkdim=16)

    def test_gemm_async_copy(self):
        self.large_gemm("fp16", "use_async_copy", matrix_instr_nonkdim=32)

    def test_gemm_in_thread_transpose(self):
        self.large_gemm(EIGHT[self.target][0], "use_in_thread_transpose")

    # Attention

    def attention_bounds(self, weight, v, fp8):
        """Each weight is rounded to the type of v, relatively by at most half its last place; the
        sum of float32 and the rounding of the result add little."""
        step = 2.0**-4 if fp8 else 2.0**-8
        out = weight @ v
        # FP8 flushes what is below its least normal number to steps of 2^-10 of the largest.
        floor = 2.0**-10 * np.abs(v).sum(0) if fp8 else 0
        return out, step * (weight @ np.abs(v)) + OUT["bf16"] * np.abs(out) + 1e-4 + floor

    def attention(self, dtype, mask):
        name = f"{self.target}/{dtype}/{mask}"
        block_m, block_n, warps, stages = triton_attention.VARIANTS[name]
        element = EIGHT[self.target][0] if dtype == "fp8" else "bf16"
        sq, sk, heads = block_m + 20, 150, 1
        if mask == "causal":
            sk = sq + 30
        q = self.trial.input("q", self.normal(sq, 192), element)
        k = self.trial.input("k", self.normal(sk, 192), element)
        v = self.trial.input("v", self.normal(sk, 128), element)
        self.trial.output("out", (sq, 128), "bf16")
        self.trial.output("lse", (sq,), "fp32")
        scale = 192**-0.5
        strides = [192, 192 * sq, 192, 192 * sk, 128, 128 * sk, 128, 128 * sq]
        self.trial.launch(
            triton_attention.attention, [2, heads],
            ["q", "k", "v", "out", "lse", *strides, sq, sk, float(scale * np.log2(np.e))],
            {"CAUSAL": mask == "causal", "BM": block_m, "BN": block_n, "D0": 128, "D1": 64,
             "DV": 128},
            num_warps=warps, num_stages=stages, matrix_instr_nonkdim=32,
        )  # fmt: skip
        s = (q @ k.T) * scale
        if mask == "causal":
            s = np.where(np.arange(sk) <= np.arange(sq)[:, None] + sk - sq, s, -np.inf)
        lse = np.logaddexp.reduce(s, 1)
        out, bound = self.attention_bounds(np.exp(s - lse[:, None]), v, dtype == "fp8")
        lse_bound = 1e-5 * np.maximum(1, np.abs(lse))
        self.check({"out": (out, bound), "lse": (lse, lse_bound)}, ORDERS[:1] + ORDERS[1:][-2:])

    def test_attention_bf16(self):
        self.attention("bf16", "full")

    def test_attention_bf16_causal(self):
        self.attention("bf16", "causal")

    def test_attention_fp8(self):
        self.attention("fp8", "full")

    def test_attention_fp8_causal(self):
        self.attention("fp8", "causal")

    def test_attention_split(self):
        m, d, sk, chunk, splits = 32, 64, 230, 64, 4
        q = self.trial.input("q", self.normal(m, d), "fp16")
        k = self.trial.input("k", self.normal(sk, d), "fp16")
        v = self.trial.input("v", self.normal(sk, d), "fp16")
        self.trial.output("part", (splits, m, d), "fp32")
        self.trial.output("lse", (splits, m), "fp32")
        self.trial.output("out", (m, d), "bf16")
        self.trial.launch(
            src.split_attention, [splits],
            ["q", "k", "v", "part", "lse", sk, float(d**-0.5 * np.log2(np.e))],
            {"BM": m, "BN": 32, "D": d, "CHUNK": chunk}, num_warps=2, num_stages=2,
        )  # fmt: skip
        self.trial.launch(
            src.combine, [m], ["part", "lse", "out"], {"BM": m, "D": d, "SPLITS": splits},
            num_warps=1,
        )  # fmt: skip
        s = (q @ k.T) * d**-0.5
        weight = np.exp(s - np.logaddexp.reduce(s, 1)[:, None])
        out, bound = self.attention_bounds(weight, v, False)
        self.check({"out": (out, bound)})


class Gfx942(TritonKernels):
    target = "gfx942"


class Gfx950(TritonKernels):
    target = "gfx950"

    def scaled_gemm(self, form, element):
        m, n, k = 32, 32, 256
        packed = form == "e2m1"
        a = self.normal(m, k)
        b = self.normal(n, k)
        operands = []
        for name, values in (("a", a), ("b", b)):
            codes = to_small(values, element)
            operands.append(from_small(codes, element))
            if packed:
                codes = codes[:, ::2] | codes[:, 1::2] << 4
                self.trial.input(name, codes, "u8")
            else:
                self.trial.input(name, operands[-1], element)
        scales = []
        for name, rows in (("sa", m), ("sb", n)):
            exponents = self.trial.input(name, self.rng.integers(120, 134, (rows, k // 32)), "u8")
            scales.append(np.repeat(2.0 ** (exponents.astype(float) - 127), 32, 1))
        self.trial.output("c", (m, n), "fp32")
        self.trial.launch(
            src.scaled_gemm, [1], ["a", "sa", "b", "sb", "c", k],
            {"BM": m, "BN": n, "BK": 128, "FORMAT": form}, num_warps=4, num_stages=1,
        )  # fmt: skip
        left, right = (x * s for x, s in zip(operands, scales, strict=True))
        bound = k * F32 * (np.abs(left) @ np.abs(right).T)
        self.check({"c": (left @ right.T, bound)})

    def test_scaled_gemm_fp8(self):
        self.scaled_gemm("e4m3", "fp8e4nv")

    def test_scaled_gemm_bf8(self):
        self.scaled_gemm("e5m2", "fp8e5")

    def test_scaled_gemm_fp4(self):
        self.scaled_gemm("e2m1", "e2m1")


class Gfx942Buffers(Gfx942):
    """As compiled at run time for tensors below 2 GiB: with buffer instructions."""

    small = True


class Gfx950Buffers(Gfx950):
    small = True


del TritonKernels  # unittest would run it too


# One of each kind, in two orders: what every run of the tests looks at.
SAMPLE = (
    "Gfx942.test_softmax", "Gfx942.test_atomics_float32", "Gfx942Buffers.test_gemm_bfloat16",
    "Gfx942.test_attention_fp8_causal", "Gfx942Buffers.test_attention_split",
    "Gfx942.test_last_block", "Gfx950.test_hand_over", "Gfx950.test_a_fault_names_its_line",
    "Gfx950.test_reductions", "Gfx950Buffers.test_conversions", "Gfx950.test_gemm_fp8",
    "Gfx950.test_scaled_gemm_fp4", "Gfx950Buffers.test_attention_bf16_causal",
)  # fmt: skip

if __name__ == "__main__":
    if "--sample" in sys.argv:
        sys.argv.remove("--sample")
        sys.argv += SAMPLE
        ORDERS = (ORDERS[0], ORDERS[-1])
    shutil.rmtree(triton_attention.CACHE)
    os.environ["TRITON_CACHE_DIR"] = str(clients.SCRATCH / "triton-cache")
    unittest.main()
