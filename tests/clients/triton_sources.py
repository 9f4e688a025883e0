"""The Triton kernels of the client tests. Plain ones, as their users write them."""

import triton
import triton.language as tl


@triton.jit
def vector_add(A, B, Out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    tl.store(Out + i, tl.load(A + i, mask=ok) + tl.load(B + i, mask=ok), mask=ok)


@triton.jit
def softmax(X, Out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(X + row * stride + i, mask=i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    y = e / tl.sum(e, 0)
    tl.store(Out + row * stride + i, y.to(Out.dtype.element_ty), mask=i < n)


@triton.jit
def layer_norm(X, W, B, Out, Mean, Rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(X + row * stride + i, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / n
    square = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride + i, mask=i < n, other=0.0).to(tl.float32)
        x = tl.where(i < n, x - mean, 0.0)
        square += x * x
    rstd = 1 / tl.sqrt(tl.sum(square, 0) / n + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride + i, mask=i < n, other=0.0).to(tl.float32)
        w = tl.load(W + i, mask=i < n)
        b = tl.load(B + i, mask=i < n)
        y = (x - mean) * rstd * w + b
        tl.store(Out + row * stride + i, y.to(Out.dtype.element_ty), mask=i < n)


@triton.jit
def reductions(X, Sum, Max, Arg, Low, Scan, Columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.arange(0, ROWS)
    i = tl.arange(0, BLOCK)
    x = tl.load(X + r[:, None] * BLOCK + i[None, :])
    tl.store(Sum + r, tl.sum(x, 1))
    tl.store(Max + r, tl.max(x, 1))
    tl.store(Arg + r, tl.argmax(x, 1))
    tl.store(Low + r, tl.min((x * 1000).to(tl.int32), 1))
    tl.store(Scan + r[:, None] * BLOCK + i[None, :], tl.cumsum(x, 1))
    tl.store(Columns + i, tl.sum(x, 0))


@triton.jit
def order(X, Sorted, Counts, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(X + i)
    tl.store(Sorted + i, tl.sort(x))
    tl.store(Counts + tl.arange(0, BINS), tl.histogram(x % BINS, BINS))


@triton.jit
def atomics(X, Index, Total, Bins, Half, Top, Low, Wide, Lock, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    x = tl.load(X + i, mask=ok, other=0.0)
    at = tl.load(Index + i, mask=ok, other=0)
    tl.atomic_add(Bins + at, 1, mask=ok)
    tl.atomic_add(Half + at, x.to(Half.dtype.element_ty), mask=ok)
    tl.atomic_add(Wide + at, x.to(tl.float64), mask=ok)
    # Not negative: Triton 3.9.0 folds lanes of one address with the unsigned maximum.
    whole = (tl.abs(x) * 1000).to(tl.int32)
    tl.atomic_max(Top + at, whole, mask=ok)
    tl.atomic_min(Low + at, whole, mask=ok)
    mine = tl.sum(x, 0)
    # A spin lock around a plain read and write: the textbook split reduction.
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    tl.store(Total, tl.load(Total) + mine)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def last_block(X, Part, Count, Out, n, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    """Who counts itself last adds up what the others left."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(Part + pid, tl.sum(tl.load(X + i, mask=i < n, other=0.0), 0))
    tl.debug_barrier()
    if tl.atomic_add(Count, 1) == BLOCKS - 1:
        tl.store(Out, tl.sum(tl.load(Part + tl.arange(0, BLOCKS)), 0))


@triton.jit
def hand_over(X, Part, Flag, Out, n, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    """The first program waits for those after it, which raise flags: stream-K's way."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(X + i, mask=i < n, other=0.0), 0)
    if pid != 0:
        tl.store(Part + pid, total, cache_modifier=".wt")
        tl.debug_barrier()
        tl.store(Flag + pid, 1, cache_modifier=".wt")
    else:
        for k in range(1, BLOCKS):
            while tl.load(Flag + k, cache_modifier=".cv", volatile=True) != 1:
                pass
            total += tl.load(Part + k, cache_modifier=".cv")
        tl.store(Out, total)


@triton.jit
def float_math(X, Y, Out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    x = tl.load(X + i, mask=ok, other=1.0)
    y = tl.load(Y + i, mask=ok, other=1.0)
    a = tl.abs(x)
    tl.store(Out + i, tl.exp(x), mask=ok)
    tl.store(Out + n + i, tl.log(a), mask=ok)
    tl.store(Out + 2 * n + i, tl.sqrt_rn(a), mask=ok)
    tl.store(Out + 3 * n + i, tl.rsqrt(a), mask=ok)
    tl.store(Out + 4 * n + i, tl.sin(x), mask=ok)
    tl.store(Out + 5 * n + i, tl.cos(x), mask=ok)
    tl.store(Out + 6 * n + i, tl.div_rn(x, y), mask=ok)
    tl.store(Out + 7 * n + i, tl.erf(x), mask=ok)
    tl.store(Out + 8 * n + i, tl.floor(x) + tl.ceil(y), mask=ok)
    tl.store(Out + 9 * n + i, tl.fma(x, y, x), mask=ok)
    tl.store(Out + 10 * n + i, tl.sigmoid(x), mask=ok)
    tl.store(Out + 11 * n + i, tl.clamp(x, -0.5, 0.5), mask=ok)
    tl.store(Out + 12 * n + i, (x.to(tl.float64) / y.to(tl.float64)).to(tl.float32), mask=ok)


@triton.jit
def integer_math(X, Y, Out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    x = tl.load(X + i, mask=ok, other=1)
    y = tl.load(Y + i, mask=ok, other=1)
    wide = x.to(tl.int64) * 0x123456789 + y
    tl.store(Out + i, x // y, mask=ok)
    tl.store(Out + n + i, x % y, mask=ok)
    tl.store(Out + 2 * n + i, wide // y, mask=ok)
    tl.store(Out + 3 * n + i, wide % y, mask=ok)
    tl.store(Out + 4 * n + i, tl.umulhi(x, y), mask=ok)
    tl.store(Out + 5 * n + i, wide >> (y & 31), mask=ok)
    tl.store(Out + 6 * n + i, (x ^ y) | (x & ~y), mask=ok)
    tl.store(Out + 7 * n + i, wide.to(tl.float32).to(tl.int64), mask=ok)
    tl.store(Out + 8 * n + i, tl.minimum(x, y).to(tl.int16), mask=ok)
    tl.store(Out + 9 * n + i, (x.to(tl.uint32) % 1000).to(tl.int8), mask=ok)


@triton.jit
def convert(X, Half, Brain, Eight, Five, Whole, Back, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    x = tl.load(X + i, mask=ok, other=0.0)
    tl.store(Half + i, x.to(tl.float16), mask=ok)
    tl.store(Brain + i, x.to(tl.bfloat16), mask=ok)
    eight = x.to(Eight.dtype.element_ty)
    tl.store(Eight + i, eight, mask=ok)
    tl.store(Five + i, x.to(Five.dtype.element_ty), mask=ok)
    tl.store(Whole + i, x.to(tl.int8), mask=ok)
    tl.store(Back + i, eight.to(tl.float32), mask=ok)


@triton.jit
def gemm(
    A, B, C, M, N, K, sam, sak, sbk, sbn, scm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    if A.dtype.element_ty == tl.int8:
        acc = tl.zeros([BM, BN], tl.int32)
    else:
        acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        at = start + k
        a = tl.load(
            A + m[:, None] * sam + at[None, :] * sak,
            mask=(m[:, None] < M) & (at[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            B + at[:, None] * sbk + n[None, :] * sbn,
            mask=(at[:, None] < K) & (n[None, :] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc, out_dtype=acc.dtype, input_precision="ieee")
    ok = (m[:, None] < M) & (n[None, :] < N)
    tl.store(C + m[:, None] * scm + n[None, :], acc.to(C.dtype.element_ty), mask=ok)


@triton.jit
def scaled_gemm(
    A, SA, B, SB, C, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FORMAT: tl.constexpr,
):  # fmt: skip
    PACK: tl.constexpr = 2 if FORMAT == "e2m1" else 1
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start // PACK + tl.arange(0, BK // PACK)
        s = start // 32 + tl.arange(0, BK // 32)
        a = tl.load(A + m[:, None] * (K // PACK) + k[None, :])
        b = tl.load(B + n[None, :] * (K // PACK) + k[:, None])
        sa = tl.load(SA + m[:, None] * (K // 32) + s[None, :])
        sb = tl.load(SB + n[:, None] * (K // 32) + s[None, :])
        acc = tl.dot_scaled(a, sa, FORMAT, b, sb, FORMAT, acc)
    tl.store(C + m[:, None] * BN + n[None, :], acc)


@triton.jit
def split_attention(
    Q, K, V, Part, Lse, Sk, scale_log2,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One chunk of the keys a program: normalised partials and their log-sums."""
    split = tl.program_id(0)
    m = tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(Q + m[:, None] * D + d[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(split * CHUNK, min((split + 1) * CHUNK, Sk), BN):
        n = start + tl.arange(0, BN)
        k = tl.load(K + n[None, :] * D + d[:, None], mask=n[None, :] < Sk, other=0.0)
        v = tl.load(V + n[:, None] * D + d[None, :], mask=n[:, None] < Sk, other=0.0)
        s = tl.where(n[None, :] < Sk, tl.dot(q, k) * scale_log2, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        total = total * alpha + tl.sum(p, 1)
        top = new
    out = Part + split * BM * D + m[:, None] * D + d[None, :]
    tl.store(out, acc / total[:, None])
    tl.store(Lse + split * BM + m, top + tl.log2(total))


@triton.jit
def combine(Part, Lse, Out, BM: tl.constexpr, D: tl.constexpr, SPLITS: tl.constexpr):
    row = tl.program_id(0)
    s = tl.arange(0, SPLITS)
    d = tl.arange(0, D)
    lse = tl.load(Lse + s * BM + row)
    w = tl.exp2(lse - tl.max(lse, 0))
    part = tl.load(Part + s[:, None] * BM * D + row * D + d[None, :])
    out = tl.sum(part * w[:, None], 0) / tl.sum(w, 0)
    tl.store(Out + row * D + d, out.to(Out.dtype.element_ty))
