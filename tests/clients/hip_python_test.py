"""AMD's Python bindings of HIP over the front: a program that never heard of Wavesmith."""

import clients

clients.enter()

import ctypes  # noqa: E402
import json  # noqa: E402
import struct  # noqa: E402
import subprocess  # noqa: E402
import unittest  # noqa: E402

import numpy as np  # noqa: E402
from hip import hip  # noqa: E402
from numerics import from_bf16, to_bf16  # noqa: E402

Error = hip.hipError_t
LENGTH, HEADS, QK, V = 300, 2, 192, 128
ROWS, THREADS = 256, 512  # of a work unit: runtime/spec/AttentionAbi.h


def call(function, *args):
    """The results of a HIP call that must succeed, as one value."""
    status, *results = function(*args)
    if status != Error.hipSuccess:
        raise AssertionError(f"{function.__name__}: {status!r}")
    return results[0] if len(results) == 1 else tuple(results)


def build(target):
    """One of our code objects, and its kernel's name."""
    folder = clients.SCRATCH / f"objects-{target}"
    command = [clients.BINARY, "build", "--targets", target, "--head-dims", f"{QK}x{V}"]
    command += ["--causal", "yes", "--split-kv", "no", "-o", folder]
    subprocess.run(command, check=True, capture_output=True)
    (entry,) = json.loads((folder / "manifest.json").read_text())["kernels"]
    return (folder / entry["file"]).read_bytes(), entry["name"]


class Device(unittest.TestCase):
    def test_device(self):
        self.assertEqual(call(hip.hipGetDeviceCount), 1)
        props = call(hip.hipGetDeviceProperties, 0)
        self.assertIn("MI325X", props.name)
        self.assertTrue(props.gcnArchName.startswith("gfx942"), props.gcnArchName)
        self.assertEqual(props.multiProcessorCount, 304)
        self.assertEqual(props.sharedMemPerBlock, 64 << 10)
        self.assertEqual(props.warpSize, 64)
        self.assertEqual(props.maxThreadsPerBlock, 1024)
        self.assertGreaterEqual(props.totalGlobalMem, 256 << 30)
        attribute = hip.hipDeviceAttribute_t.hipDeviceAttributeMultiprocessorCount
        self.assertEqual(call(hip.hipDeviceGetAttribute, attribute, 0), 304)

    def test_copies(self):
        data = np.arange(1000, dtype=np.int32)
        back = np.zeros_like(data)
        memory = call(hip.hipMalloc, data.nbytes)
        kind = hip.hipMemcpyKind
        call(hip.hipMemcpy, memory, data, data.nbytes, kind.hipMemcpyHostToDevice)
        call(hip.hipMemcpy, back, memory, data.nbytes, kind.hipMemcpyDeviceToHost)
        np.testing.assert_array_equal(back, data)
        other = call(hip.hipMalloc, data.nbytes)
        stream = call(hip.hipStreamCreate)
        to_device, to_host = kind.hipMemcpyDeviceToDevice, kind.hipMemcpyDeviceToHost
        call(hip.hipMemcpyAsync, other, memory, data.nbytes, to_device, stream)
        call(hip.hipMemsetAsync, memory, 0xFF, data.nbytes, stream)
        call(hip.hipMemcpyAsync, back, memory, data.nbytes, to_host, stream)
        call(hip.hipStreamSynchronize, stream)
        self.assertTrue(np.all(back == -1))
        call(hip.hipMemcpy, back, other, data.nbytes, to_host)
        np.testing.assert_array_equal(back, data)
        call(hip.hipStreamDestroy, stream)
        call(hip.hipFree, other)
        call(hip.hipFree, memory)


class Kernel(unittest.TestCase):
    """Causal attention of one sequence by our kernel, launched as its ABI says."""

    @classmethod
    def setUpClass(cls):
        cls.object, cls.kernel = build("gfx942")

    def setUp(self):
        rng = np.random.default_rng(5)
        self.live = []
        self.module = call(hip.hipModuleLoadData, self.object)
        self.addCleanup(lambda: call(hip.hipModuleUnload, self.module))
        self.function = call(hip.hipModuleGetFunction, self.module, self.kernel.encode())
        q, k, v = (to_bf16(rng.standard_normal((LENGTH, HEADS, d))) for d in (QK, QK, V))
        self.out_bytes, self.lse_bytes = LENGTH * HEADS * V * 2, LENGTH * HEADS * 4
        units = b"".join(
            struct.pack("<16i", 0, 0, LENGTH, LENGTH, q0, 0, min(q0 + ROWS, LENGTH), head, head, -1,
                        *[0] * 6)
            for head in range(HEADS) for q0 in range(0, LENGTH, ROWS)
        )  # fmt: skip
        self.grid = len(units) // 64
        self.out = self.device(self.out_bytes)
        self.lse = self.device(self.lse_bytes)
        pointers = [*map(self.upload, (q, k, v)), self.out, self.lse, 0, 0, self.upload(units)]
        self.arguments = ctypes.create_string_buffer(struct.pack(
            "<11Q9qfI", *map(int, pointers), 0, 0, 0,
            2 * HEADS * QK, 2 * QK, 2 * HEADS * QK, 2 * QK, 2 * HEADS * V, 2 * V,
            2 * HEADS * V, 2 * V, 4 * LENGTH, QK**-0.5 * np.log2(np.e), 0,
        ))  # fmt: skip
        q, k, v = (from_bf16(x).transpose(1, 0, 2) for x in (q, k, v))
        s = q @ k.transpose(0, 2, 1) * QK**-0.5
        s = np.where(np.tri(LENGTH, dtype=bool), s, -np.inf)
        self.expected_lse = np.logaddexp.reduce(s, 2)
        weights = np.exp(s - self.expected_lse[..., None])
        self.expected = (weights @ v).transpose(1, 0, 2)

    def device(self, size):
        memory = call(hip.hipMalloc, size)
        self.addCleanup(lambda: call(hip.hipFree, memory))
        return memory

    def upload(self, data):
        data = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        memory = self.device(data.nbytes)
        kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
        call(hip.hipMemcpy, memory, np.ascontiguousarray(data), data.nbytes, kind)
        return memory

    def launch(self, stream):
        """The argument block as a whole: HIP_LAUNCH_PARAM_BUFFER_POINTER and its size."""
        size = ctypes.c_size_t(len(self.arguments) - 1)
        self.live.append(size)
        extra = (ctypes.c_void_p * 5)(
            1, ctypes.addressof(self.arguments), 2, ctypes.addressof(size), 3
        )
        self.live.append(extra)
        return hip.hipModuleLaunchKernel(
            self.function, self.grid, 1, 1, THREADS, 1, 1, 0, stream, None, ctypes.addressof(extra)
        )

    def check(self):
        kind = hip.hipMemcpyKind.hipMemcpyDeviceToHost
        out = np.empty((LENGTH, HEADS, V), np.uint16)
        lse = np.empty((HEADS, LENGTH), np.float32)
        call(hip.hipMemcpy, out, self.out, out.nbytes, kind)
        call(hip.hipMemcpy, lse, self.lse, lse.nbytes, kind)
        error = from_bf16(out) - self.expected
        self.assertLess(np.sqrt(np.mean(error**2) / np.mean(self.expected**2)), 3e-3)
        np.testing.assert_allclose(lse, self.expected_lse, rtol=1e-5, atol=1e-5)

    def test_launch(self):
        call(self.launch, None)
        call(hip.hipDeviceSynchronize)
        self.check()

    def test_events(self):
        stream = call(hip.hipStreamCreate)
        start, stop = call(hip.hipEventCreate), call(hip.hipEventCreate)
        call(hip.hipEventRecord, start, stream)
        call(self.launch, stream)
        call(hip.hipEventRecord, stop, stream)
        call(hip.hipEventSynchronize, stop)
        self.assertGreater(call(hip.hipEventElapsedTime, start, stop), 0)
        self.check()
        for event in (start, stop):
            call(hip.hipEventDestroy, event)
        call(hip.hipStreamDestroy, stream)

    def test_graph(self):
        stream = call(hip.hipStreamCreate)
        mode = hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
        call(hip.hipStreamBeginCapture, stream, mode)
        call(hip.hipMemsetAsync, self.out, 0xFF, self.out_bytes, stream)
        call(self.launch, stream)
        status = call(hip.hipStreamIsCapturing, stream)
        self.assertEqual(int(status), 1)  # active
        graph = call(hip.hipStreamEndCapture, stream)
        executable = call(hip.hipGraphInstantiateWithFlags, graph, 0)
        for _ in range(2):
            call(hip.hipMemset, self.out, 0, self.out_bytes)
            call(hip.hipMemset, self.lse, 0, self.lse_bytes)
            call(hip.hipGraphLaunch, executable, stream)
            call(hip.hipStreamSynchronize, stream)
            self.check()
        call(hip.hipGraphExecDestroy, executable)
        call(hip.hipGraphDestroy, graph)
        call(hip.hipStreamDestroy, stream)


class Errors(unittest.TestCase):
    def expect(self, error, results):
        self.assertEqual(results[0], getattr(Error, error))

    def test_memory(self):
        self.expect("hipErrorOutOfMemory", hip.hipMalloc(1 << 50))
        data = np.zeros(64, np.uint8)
        memory = call(hip.hipMalloc, 64)
        kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
        self.expect("hipErrorInvalidValue", hip.hipMemcpy(None, data, 64, kind))
        self.expect("hipErrorInvalidValue", hip.hipMemcpy(memory, None, 64, kind))
        call(hip.hipFree, memory)
        self.expect("hipErrorInvalidValue", hip.hipFree(0x1234))
        self.expect("hipErrorInvalidDevice", hip.hipSetDevice(7))
        name = call(hip.hipGetErrorName, Error.hipErrorOutOfMemory)
        self.assertEqual(str(name), "hipErrorOutOfMemory")

    def test_modules(self):
        self.expect("hipErrorInvalidImage", hip.hipModuleLoadData(bytes(4096)))
        code = bytearray(build("gfx942")[0])
        module = call(hip.hipModuleLoadData, bytes(code))
        self.expect("hipErrorNotFound", hip.hipModuleGetFunction(module, b"nothing"))
        call(hip.hipModuleUnload, module)
        flags = struct.unpack_from("<I", code, 48)[0]
        struct.pack_into("<I", code, 48, flags & ~0xFF | 0x4F)  # EF_AMDGPU_MACH of gfx950
        self.expect("hipErrorNoBinaryForGpu", hip.hipModuleLoadData(bytes(code)))

    def test_capture(self):
        stream = call(hip.hipStreamCreate)
        memory = call(hip.hipMalloc, 64)
        mode = hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
        call(hip.hipStreamBeginCapture, stream, mode)
        self.expect("hipErrorIllegalState", hip.hipStreamBeginCapture(stream, mode))
        self.expect("hipErrorStreamCaptureUnsupported", hip.hipStreamSynchronize(stream))
        # What broke the capture also ends it.
        self.expect("hipErrorStreamCaptureInvalidated", hip.hipStreamEndCapture(stream))
        self.expect("hipErrorIllegalState", hip.hipStreamEndCapture(stream))
        call(hip.hipMemsetAsync, memory, 0, 64, stream)
        call(hip.hipStreamSynchronize, stream)
        call(hip.hipFree, memory)
        call(hip.hipStreamDestroy, stream)

    def test_events(self):
        start, stop = call(hip.hipEventCreate), call(hip.hipEventCreate)
        self.expect("hipErrorInvalidHandle", hip.hipEventElapsedTime(start, stop))
        for event in (start, stop):
            call(hip.hipEventDestroy, event)


if __name__ == "__main__":
    unittest.main()
