"""Small float formats for numpy, which knows none of them. Rounds to nearest even, saturates."""

import numpy as np


def to_bf16(x):
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(codes):
    return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def table(exponent, mantissa, bias, last=None):
    """Values of all codes without the sign bit, up to the code `last`; the rest is NaN."""
    codes = np.arange(1 << (exponent + mantissa))
    e, m = codes >> mantissa, codes & ((1 << mantissa) - 1)
    normal = (1 + m / (1 << mantissa)) * 2.0 ** (e - bias)
    values = np.where(e == 0, m / (1 << mantissa) * 2.0 ** (1 - bias), normal)
    return np.where(codes <= (codes[-1] if last is None else last), values, np.nan)


# Name as Triton has it: values of the codes with a clear sign bit.
FORMATS = {
    "fp8e4nv": table(4, 3, 7, 0x7E),
    "fp8e5": table(5, 2, 15, 0x7B),
    "fp8e4b8": table(4, 3, 8),
    "fp8e5b16": table(5, 2, 16),
    "e2m1": table(2, 1, 1),
}


def to_small(x, name):
    values = FORMATS[name]
    finite = values[~np.isnan(values)]
    x = np.asarray(x, np.float64)
    size = np.minimum(np.abs(x), finite[-1])
    low = np.searchsorted(finite, size, side="right") - 1
    high = np.minimum(low + 1, len(finite) - 1)
    below, above = size - finite[low], finite[high] - size
    up = (above < below) | ((above == below) & (low % 2 == 1) & (high != low))
    codes = np.where(up, high, low)
    # The formats with one zero use its negative code for NaN.
    sign = np.signbit(x) & ((codes != 0) | (not name.endswith(("b8", "b16"))))
    return (codes | np.where(sign, len(values), 0)).astype(np.uint8)


def from_small(codes, name):
    values = FORMATS[name]
    size = values[codes & (len(values) - 1)]
    return np.where(codes & len(values), -size, size)


def encode(x, dtype):
    """Values as device bytes of a Triton type."""
    if dtype == "bf16":
        return to_bf16(x)
    if dtype in FORMATS:
        return to_small(x, dtype)
    return np.asarray(x).astype(NUMPY[dtype])


def decode(codes, dtype):
    if dtype == "bf16":
        return from_bf16(codes)
    if dtype in FORMATS:
        return from_small(codes, dtype)
    return codes if codes.dtype.kind in "iu" else codes.astype(np.float64)


NUMPY = {
    "fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": np.uint16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8,
    **{name: np.uint8 for name in FORMATS},
}  # fmt: skip
