"""wavesmith inspect on an object that another assembler made, whole and cut short."""

import unittest

from cli import DATA, HAVE_LLVM, CliTest


@unittest.skipUnless(HAVE_LLVM, "llvm-mc and ld.lld are not installed")
class Inspect(CliTest):
    def setUp(self):
        super().setUp()
        self.object = self.assemble((DATA / "scale.s").read_text())

    def test_json(self):
        seen = self.json("inspect", "inspect", "k.co")
        self.assertEqual(seen["target"], "gfx942")
        self.assertIsNone(seen["note"])
        (kernel,) = seen["kernels"]
        self.assertEqual(kernel["name"], "scale")
        self.assertEqual((kernel["vgprs"], kernel["sgprs"], kernel["lds_bytes"]), (2, 16, 0))
        self.assertEqual([a["offset"] for a in kernel["arguments"]], [0, 8, 16])
        self.assertEqual(kernel["unknown_instructions"], 0)
        mix = kernel["instruction_mix"]
        self.assertEqual(sum(mix.values()), 11)
        self.assertEqual(mix["vector memory"], 2)
        self.assertEqual(mix["scalar memory"], 2)
        self.assertEqual(mix["wait and barrier"], 2)
        self.assertEqual(mix["valu"], 3)
        self.assertEqual([i["text"] for i in kernel["disassembly"]][-1], "s_endpgm")
        self.assertEqual(kernel["disassembly"][0]["pc"], 0)
        self.assertEqual(seen["comgr"]["differences"], [])

    def test_text(self):
        code, out, err = self.wavesmith("inspect", "k.co", "--kernel", "scale")
        self.assertEqual((code, err), (0, ""))
        for text in ("gfx942", "kernel scale", "global_load_dword v1, v0, s[4:5]", "factor"):
            self.assertIn(text, out)

    def test_unknown_kernel(self):
        self.refused(["inspect", "k.co", "--kernel", "other"], "other", "scale")

    def test_truncated(self):
        data = self.object.read_bytes()
        for size in [*range(0, len(data), 200), len(data) - 1]:
            self.object.write_bytes(data[:size])
            self.refused(["inspect", "k.co"], "k.co")

    def test_other_machine(self):
        data = bytearray(self.object.read_bytes())
        data[18:20] = (62).to_bytes(2, "little")  # e_machine: x86-64
        self.object.write_bytes(data)
        self.refused(["inspect", "k.co"], "k.co", "machine")

    def test_unknown_instruction(self):
        text = (DATA / "scale.s").read_text()
        self.assemble(text.replace("  s_endpgm\n", "  s_endpgm\n  .long 0xffffffff\n"))
        seen = self.json("inspect", "inspect", "k.co")
        self.assertEqual(seen["kernels"][0]["unknown_instructions"], 1)
        self.assertEqual(seen["kernels"][0]["disassembly"][-1]["text"], ".long 0xffffffff")


if __name__ == "__main__":
    unittest.main()
