"""wavesmith exec: a launch file end to end, faults, and every way to write it wrong."""

import json
import pathlib
import struct
import unittest

from cli import DATA, FAILED, HAVE_LLVM, CliTest

SOURCE = (DATA / "scale.s").read_text()
LANES = 128  # two workgroups


def npy(values):
    """A float32 array as numpy would save it."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(head))
        + head.encode()
        + struct.pack(f"<{len(values)}f", *values)
    )


@unittest.skipUnless(HAVE_LLVM, "llvm-mc and ld.lld are not installed")
class Exec(CliTest):
    def setUp(self):
        super().setUp()
        self.assemble(SOURCE)
        self.values = [0.5 * i for i in range(LANES)]
        (self.dir / "in.bin").write_bytes(struct.pack(f"<{LANES}f", *self.values))
        (self.dir / "in.npy").write_bytes(npy(self.values))
        self.launch = {
            "object": "k.co",
            "kernel": "scale",
            "grid": [2, 1, 1],
            "block": [64, 1, 1],
            "buffers": {
                "in": {"raw": "in.bin"},
                "out": {"bytes": 4 * LANES, "fill": "nan32", "out": "out.bin"},
            },
            "args": [
                {"offset": 0, "buffer": "in"},
                {"offset": 8, "buffer": "out"},
                {"offset": 16, "f32": 3.0},
            ],
        }

    def put(self, document=None):
        text = document if isinstance(document, str) else json.dumps(document or self.launch)
        (self.dir / "launch.json").write_text(text)

    def output(self, count=LANES):
        return list(struct.unpack(f"<{count}f", (self.dir / "out.bin").read_bytes()))

    def run_launch(self, *args, code=0):
        self.put()
        return self.json("exec", "exec", "launch.json", *args, code=code)

    def test_result(self):
        report = self.run_launch()
        self.assertEqual(self.output(), [3 * v for v in self.values])
        self.assertEqual(set(report["checks"].values()), {0})
        self.assertEqual(report["launches"][0]["workgroups"], 2)
        self.assertEqual(report["launches"][0]["instructions"], 2 * 11)
        self.assertEqual([pathlib.Path(p).name for p in report["outputs"]], ["out.bin"])
        self.assertIsNone(report["coverage"])

    def test_every_order(self):
        for order in ("vmem-early", "vmem-late,lds-late", "run-to-barrier", "preemptive,poison"):
            self.run_launch("--order", order, "--seed", "7")
            self.assertEqual(self.output(), [3 * v for v in self.values])

    def test_npy(self):
        self.launch["buffers"]["in"] = {"npy": "in.npy"}
        self.run_launch()
        self.assertEqual(self.output(), [3 * v for v in self.values])

    def test_arguments_in_order(self):
        for argument in self.launch["args"]:
            del argument["offset"]
        self.run_launch()
        self.assertEqual(self.output(), [3 * v for v in self.values])

    def test_byte_offset(self):
        self.launch["args"][0]["byte_offset"] = 4 * 64
        self.launch["grid"] = [1, 1, 1]
        self.run_launch()
        self.assertEqual(self.output()[:64], [3 * v for v in self.values[64:]])

    def test_launches(self):
        one = {k: self.launch.pop(k) for k in ("kernel", "grid", "block", "args")}
        two = json.loads(json.dumps(one))
        two["args"][0]["buffer"] = "out"
        self.launch["launches"] = [one, two]
        report = self.run_launch()
        self.assertEqual(len(report["launches"]), 2)
        self.assertEqual(self.output(), [9 * v for v in self.values])

    def test_coverage(self):
        rows = self.run_launch("--coverage")["coverage"]
        executed = [row for row in rows if row["count"]]
        self.assertEqual(len(executed), 11)
        self.assertEqual({row["count"] for row in executed}, {2})
        self.assertEqual(executed[-1]["text"], "s_endpgm")

    def fault(self, check, *words, args=()):
        report = self.run_launch(*args, code=FAILED)
        self.assertGreater(report["checks"][check], 0)
        self.assertTrue(report["faults"])
        for word in ("scale", *words):
            self.assertIn(word, report["faults"][0])
        code, out, _ = self.wavesmith("exec", "launch.json", *args)
        self.assertEqual(code, FAILED)
        self.assertIn(report["faults"][0], out)

    def test_missing_wait(self):
        self.assemble(SOURCE.replace("  s_waitcnt vmcnt(0)\n", ""))
        self.fault("waits", "v_mul_f32")

    def test_out_of_bounds(self):
        self.launch["grid"] = [3, 1, 1]
        self.fault("memory", "global_load_dword")

    def test_uninitialised(self):
        self.launch["buffers"]["in"] = {"bytes": 4 * LANES}
        self.fault("uninitialised")

    def test_checks_off(self):
        self.assemble(SOURCE.replace("  s_waitcnt vmcnt(0)\n", ""))
        report = self.run_launch("--checks", "none", "--order", "vmem-early")
        self.assertEqual(set(report["checks"].values()), {None})
        self.assertEqual(self.output(), [3 * v for v in self.values])

    def test_some_checks(self):
        report = self.run_launch("--checks", "memory,waits")
        on = {name for name, count in report["checks"].items() if count is not None}
        self.assertEqual(on, {"memory", "waits"})

    def wrong(self, *words):
        self.put()
        self.refused(["exec", "launch.json"], *words)
        self.assertFalse((self.dir / "out.bin").exists(), "a refused launch wrote a file")

    def test_unreadable(self):
        self.refused(["exec", "nothing.json"], "nothing.json")
        self.refused(["exec", "."], ".")

    def test_malformed(self):
        for text in ("", "{", "[]", "3", '{"object": }', '{"object": "k.co"} trailing', "\x00\xff"):
            self.put(text)
            self.refused(["exec", "launch.json"], "launch.json")
        self.put("[" * 100000)
        self.refused(["exec", "launch.json"], "launch.json")

    def test_foreign_bytes_do_not_reach_the_terminal(self):
        (self.dir / "launch.json").write_bytes(b'{"object": "k\xff\x1b[31m.co"}')
        err = self.refused(["exec", "launch.json"], "launch.json")
        self.assertTrue(err.strip().isprintable(), err)
        self.put('{"object": "k\\u001b[31m.co"}')
        err = self.refused(["exec", "launch.json"], "k\\x1b[31m.co")
        self.assertTrue(err.strip().isprintable(), err)

    def test_missing_fields(self):
        for name in ("object", "kernel", "grid", "block"):
            value = self.launch.pop(name)
            self.wrong(name)
            self.launch[name] = value

    def test_unknown_field(self):
        self.launch["grdi"] = [1, 1, 1]
        self.wrong("grdi")

    def test_unknown_field_of_a_buffer(self):
        self.launch["buffers"]["in"]["fil"] = "zero"
        self.wrong("fil")

    def test_grid(self):
        for grid in ([0, 1, 1], [1, 1], [1, 1, 1, 1], [-1, 1, 1], ["1", 1, 1], 7, [1.5, 1, 1]):
            self.launch["grid"] = grid
            self.wrong("grid")

    def test_block(self):
        self.launch["block"] = [65, 1, 1]  # over the kernel's max_flat_workgroup_size
        self.wrong("64")

    def test_unknown_kernel(self):
        self.launch["kernel"] = "scael"
        self.wrong("scael", "scale")

    def test_unknown_buffer(self):
        self.launch["args"][0]["buffer"] = "inn"
        self.wrong("inn")

    def test_unreadable_buffer(self):
        self.launch["buffers"]["in"] = {"raw": "none.bin"}
        self.wrong("none.bin")

    def test_bad_npy(self):
        for data in (b"", b"\x93NUMPY", npy(self.values)[:200], b"x" * 600):
            (self.dir / "bad.npy").write_bytes(data)
            self.launch["buffers"]["in"] = {"npy": "bad.npy"}
            self.wrong("bad.npy")

    def test_bad_fill(self):
        for fill in ("one", "0x", "0x100", "nan", 7):
            self.launch["buffers"]["out"]["fill"] = fill
            self.wrong("fill")

    def test_bad_size(self):
        for size in (0, -4, "many", 1.5, 1 << 60):
            self.launch["buffers"]["out"]["bytes"] = size
            self.wrong("bytes")

    def test_bad_argument(self):
        bad = (
            {"offset": 24, "i32": 1},  # past the argument block
            {"offset": -4, "i32": 1},
            {"offset": 0, "i128": 1},
            {"offset": 16},
            {"offset": 16, "i32": 1 << 40},
            {"offset": 16, "u8": -1},
            {"offset": 16, "f32": "x"},
            {"offset": 16, "i32": 1, "f32": 2.0},
            "i32",
        )
        good = self.launch["args"]
        for argument in bad:
            self.launch["args"] = [*good[:2], argument]
            self.wrong("arg")

    def test_bad_object(self):
        data = (self.dir / "k.co").read_bytes()
        for broken in (b"", b"text", data[: len(data) // 2]):
            (self.dir / "k.co").write_bytes(broken)
            self.wrong("k.co")
        (self.dir / "k.co").unlink()
        self.wrong("k.co")

    def test_flags(self):
        self.put()
        for flags, word in (
            (["--order", "odd"], "odd"),
            (["--checks", "memory,none2"], "none2"),
            (["--seed", "x"], "--seed"),
            (["--chip", "MI1"], "MI1"),
            (["--trace", "no/t"], "no/t"),
        ):
            self.refused(["exec", "launch.json", *flags], word)
        self.assertFalse((self.dir / "out.bin").exists())

    def test_modelled(self):
        self.put()
        modelled = {}
        for chip in ("MI300X", "MI308X"):
            args = ("exec", "launch.json", "--model-cycles", "--chip", chip)
            (launch,) = self.json("exec", *args)["launches"]
            modelled[chip] = launch["modelled"]
            self.assertEqual(launch["modelled"]["chip"], chip)
            self.assertGreater(launch["modelled"]["cycles"], 0)
            self.assertGreater(launch["modelled"]["microseconds"], 0)
            # The same launch gives the same time.
            (again,) = self.json("exec", *args)["launches"]
            self.assertEqual(again["modelled"], launch["modelled"])
        code, out, _ = self.wavesmith("exec", "launch.json", "--model-cycles")
        self.assertEqual(code, 0)
        self.assertIn("modelled", out)
        (plain,) = self.json("exec", "exec", "launch.json")["launches"]
        self.assertIsNone(plain["modelled"])

    def test_output_not_writable(self):
        self.launch["buffers"]["out"]["out"] = "no/such/dir/out.bin"
        self.put()
        code, _, err = self.wavesmith("exec", "launch.json")
        self.assertNotEqual(code, 0)
        self.assertIn("no/such/dir", err)


if __name__ == "__main__":
    unittest.main()
