"""Triton as its users run it: its own HIP driver compiles, loads and launches over the front.

PyTorch is not installed. What Triton imports of it, a device and a stream, is a stub below; memory
comes from the front itself, called through ctypes.
"""

import clients

clients.enter()

import ctypes  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
import sysconfig  # noqa: E402
import types  # noqa: E402
import unittest  # noqa: E402

if not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
    clients.skip("Triton compiles its driver, which needs Python.h (python3-dev)")
if not any(map(shutil.which, ("cc", "gcc", "clang"))):
    clients.skip("Triton compiles its driver, which needs a C compiler")

os.environ["TRITON_CACHE_DIR"] = str(clients.SCRATCH / "triton-cache")

# WAVESMITH_EMULATOR, which the front reads, chooses the chip.
TARGET = "gfx950" if "chip=MI355X" in os.environ.get("WAVESMITH_EMULATOR", "") else "gfx942"


class StubStream:
    cuda_stream = 0


def stub_torch():
    torch = types.ModuleType("torch")
    torch.version = types.SimpleNamespace(hip="7.0", cuda=None)
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: True,
        current_device=lambda: 0,
        set_device=lambda device: None,
        current_stream=lambda device=None: StubStream,
        get_device_capability=lambda device=None: (9, 4),
    )
    sys.modules["torch"] = torch


stub_torch()
import numpy as np  # noqa: E402
import triton  # noqa: E402
import triton_sources as src  # noqa: E402
from numerics import NUMPY  # noqa: E402

TYPES = {"fp32": "float32", "fp16": "float16", "i32": "int32"}
HIP = ctypes.CDLL(clients.HIP)
HIP.wavesmithEmulatorLastFault.restype = ctypes.c_char_p
HIP.wavesmithEmulatorLastError.restype = ctypes.c_char_p


def call(name, *args):
    status = getattr(HIP, name)(*args)
    if status:
        raise AssertionError(f"{name}: {status} {HIP.wavesmithEmulatorLastError().decode()}")


class Tensor:
    """What Triton wants of a tensor: an address and a type."""

    def __init__(self, dtype, shape, values=None):
        self.array = np.empty(shape, NUMPY[dtype])
        self.dtype = getattr(triton.language, TYPES[dtype])
        self.address = ctypes.c_void_p()
        self.size = ctypes.c_size_t(self.array.nbytes)
        call("hipMalloc", ctypes.byref(self.address), self.size)
        if values is not None:
            self.array[...] = values
            call("hipMemcpy", self.address, ctypes.c_void_p(self.array.ctypes.data), self.size, 1)

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        call("hipMemcpy", ctypes.c_void_p(self.array.ctypes.data), self.address, self.size, 2)
        return self.array.astype(np.float64)

    def __del__(self):
        HIP.hipFree(self.address)


sys.modules["torch"].Tensor = Tensor


class TritonLaunch(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)

    def tearDown(self):
        call("hipDeviceSynchronize")
        self.assertEqual(HIP.wavesmithEmulatorLastFault(), b"")

    def test_target(self):
        target = triton.runtime.driver.active.get_current_target()
        self.assertEqual((target.backend, target.arch, target.warp_size), ("hip", TARGET, 64))

    def test_vector_add(self):
        n = 3000
        a = Tensor("fp32", n, self.rng.standard_normal(n))
        b = Tensor("fp32", n, self.rng.standard_normal(n))
        out = Tensor("fp32", n)
        for _ in range(2):  # the second one takes the launcher's fast path
            src.vector_add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](a, b, out, n, BLOCK=1024)
        np.testing.assert_array_equal(out.numpy(), (a.array + b.array).astype(np.float64))

    def test_softmax(self):
        rows, n = 5, 777
        x = Tensor("fp32", (rows, n), 3 * self.rng.standard_normal((rows, n)))
        out = Tensor("fp16", (rows, n))
        src.softmax[(rows,)](x, out, n, n, BLOCK=1024, num_warps=8)
        e = np.exp(x.array.astype(np.float64))
        y = e / e.sum(1, keepdims=True)
        # One rounding to half; the least subnormal is 2^-24.
        np.testing.assert_allclose(out.numpy(), y, rtol=1.01 * 2.0**-11, atol=2.0**-24)

    def test_gemm(self):
        m, n, k = 70, 64, 96
        a = Tensor("fp16", (m, k), self.rng.standard_normal((m, k)))
        b = Tensor("fp16", (k, n), self.rng.standard_normal((k, n)))
        c = Tensor("fp32", (m, n))
        src.gemm[(3, 2)](a, b, c, m, n, k, k, 1, n, 1, n, BM=32, BN=32, BK=32)
        left, right = a.array.astype(np.float64), b.array.astype(np.float64)
        bound = k * 2.0**-24 * (np.abs(left) @ np.abs(right))
        self.assertTrue(np.all(np.abs(c.numpy() - left @ right) <= bound))

    def test_too_much_lds(self):
        big = Tensor("fp16", (256, 512), 1)
        out = Tensor("fp32", (256, 256))
        with self.assertRaises(triton.runtime.errors.OutOfResources):
            src.gemm[(1, 1)](
                big, big, out, 256, 256, 512, 512, 1, 1, 512, 256, BM=256, BN=256, BK=256
            )


if __name__ == "__main__":
    unittest.main()
