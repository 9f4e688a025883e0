"""One Triton kernel or several over shared buffers: compiled without a GPU, run by `exec`."""

import json
import os
import subprocess

import numpy as np
import triton
from clients import BINARY
from numerics import NUMPY, decode, encode
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# The default order and what differs most from it.
ORDERS = (
    "default", "vmem-early", "lds-late", "vmem-early,run-to-barrier", "preemptive,poison",
)  # fmt: skip


def compile_kernel(target, fn, signature, constants, options, aligned, small):
    names = fn.arg_names
    attributes = [["tt.divisibility", 16]]
    pointer = attributes + ([["tt.pointer_range", 32]] if small else [])
    source = ASTSource(
        fn=fn,
        signature={name: signature.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs={
            (i,): pointer if signature[name].startswith("*") else attributes
            for i, name in enumerate(names)
            if name in aligned
        },
    )
    return triton.compile(source, target=GPUTarget("hip", target, 64), options=options)


class Trial:
    def __init__(self, target, folder, small):
        """small: promise that buffers are below 2 GiB, and get buffer instructions for it."""
        self.target, self.folder, self.small = target, folder, small
        self.types, self.buffers, self.launches, self.shapes = {}, {}, [], {}

    def input(self, name, values, dtype, out=False):
        """Device bytes of the values; returns what the kernel will see of them."""
        codes = np.ascontiguousarray(encode(values, dtype))
        self.types[name], self.shapes[name] = dtype, codes.shape
        (self.folder / f"{name}.in").write_bytes(codes.tobytes())
        self.buffers[name] = {"raw": f"{name}.in"}
        if out:
            self.buffers[name]["out"] = f"{name}.out"
        return decode(codes, dtype)

    def output(self, name, shape, dtype):
        """Uninitialised memory, so whoever reads it first is at fault."""
        self.types[name], self.shapes[name] = dtype, shape
        size = int(np.prod(shape)) * np.dtype(NUMPY[dtype]).itemsize
        self.buffers[name] = {"bytes": size, "out": f"{name}.out"}

    def launch(self, fn, grid, args, constants, **options):
        """args: a buffer's name, an integer or a float for each parameter, in their order."""
        names = [name for name in fn.arg_names if name not in constants]
        assert len(names) == len(args), (names, args)
        signature, aligned, passed = {}, set(), []
        for name, value in zip(names, args, strict=True):
            if isinstance(value, str):
                signature[name] = "*" + self.types[value]
                aligned.add(name)
                passed.append({"buffer": value})
            elif isinstance(value, float):
                signature[name] = "fp32"
                passed.append({"f32": value})
            else:
                signature[name] = "i32"
                passed.append({"i32": value})
                if value % 16 == 0:
                    aligned.add(name)
        # Triton appends the addresses of its scratch memory, which these kernels do not use.
        passed += [{"buffer": None}, {"buffer": None}]
        kernel = compile_kernel(self.target, fn, signature, constants, options, aligned, self.small)
        path = self.folder / f"{len(self.launches)}.co"
        path.write_bytes(kernel.asm["hsaco"])
        self.launches.append({
            "object": path.name,
            "kernel": kernel.metadata.name,
            "grid": [*grid, 1, 1][:3],
            "block": [64 * kernel.metadata.num_warps, 1, 1],
            # Triton's LDS is all dynamic.
            "dynamic_lds": kernel.metadata.shared,
            "args": passed,
        })  # fmt: skip

    def run_one(self, launch, order):
        (self.folder / "launch.json").write_text(json.dumps(launch))
        env = {k: v for k, v in os.environ.items() if not k.startswith("WAVESMITH_")}
        command = [BINARY, "exec", "launch.json", "--json", "--order", order, "--seed", "11"]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, env=env, timeout=600
        )
        if done.returncode:
            report = json.loads(done.stdout) if done.stdout else {}
            faults = report.get("faults", [report.get("error", done.stderr)])
            raise AssertionError("\n".join([order, *map(str, faults[:3])]))
        report = json.loads(done.stdout)
        assert report["ok"] and not report["faults"], report["faults"]
        assert set(report["checks"].values()) == {0}, report["checks"]

    def run(self, order="default"):
        """The outputs by name. A fault is an error that quotes it."""
        buffers = {name: dict(buffer) for name, buffer in self.buffers.items()}
        for launch in self.launches:
            self.run_one({**launch, "buffers": buffers}, order)
            # A launch file has one object: the next one starts from what this one left.
            for name, buffer in self.buffers.items():
                if "out" in buffer:
                    buffers[name] = {"raw": buffer["out"], "out": buffer["out"]}
        outputs = {}
        for name, buffer in self.buffers.items():
            if "out" in buffer:
                codes = np.fromfile(self.folder / buffer["out"], NUMPY[self.types[name]])
                outputs[name] = decode(codes.reshape(self.shapes[name]), self.types[name])
        return outputs
