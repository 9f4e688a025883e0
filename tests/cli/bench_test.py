"""wavesmith bench: modelled times of whole plans from samples."""

import unittest

from cli import HAVE_COMPILER, CliTest

CALL = ["bench", "--modelled", "--chip", "MI308X", "--head-dim", "64x64", "--heads", "2"]


class Bench(CliTest):
    def test_bad_input(self):
        call = [*CALL, "--dtype", "bf16", "--lens", "8:8"]
        without = [word for word in call if word != "--modelled"]
        self.refused(without, "--modelled", "not supported yet")
        chips = [word if word != "MI308X" else "MI999" for word in call]
        self.refused(chips, "--chip", "MI999", "MI355X")
        self.refused([*call, "--target", "gfx950"], "--chip", "MI308X", "MI355X")
        self.refused([*call, "--target", ""], "--target")
        self.refused([*call, "--seed", "x"], "--seed")
        self.refused([*call, "--trace", "none/t.json"], "none/t.json", "folder")
        self.refused(call[:-2], "lengths")

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_long_calls_run_in_part(self):
        call = [*CALL, "--dtype", "fp8", "--lens", "2000:9000,300:300", "--causal"]
        report = self.json("bench", *call)
        attention, combine = report["modelled"]["kernels"]
        self.assertEqual(attention["workgroups"], report["workgroups"])
        self.assertLess(attention["executed"], attention["workgroups"])
        self.assertEqual(combine["executed"], combine["workgroups"])
        self.assertEqual(
            report["modelled"]["cycles"], attention["cycles"] + combine["cycles"]
        )
        self.assertEqual(report["target"], "gfx942")
        code, text, _ = self.wavesmith(*call)
        self.assertEqual(code, 0)
        self.assertIn("modelled:", text)
        self.assertIn(attention["name"], text)
        # What quantises the inputs is part of the call.
        longer = self.json("bench", *call, "--quantize", "dynamic")
        self.assertGreater(longer["modelled"]["cycles"], report["modelled"]["cycles"])
        self.assertGreater(len(longer["modelled"]["kernels"]), 2)

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_nothing_to_do(self):
        report = self.json("bench", *CALL, "--dtype", "bf16", "--lens", "0:5")
        self.assertIsNone(report["modelled"])


if __name__ == "__main__":
    unittest.main()
