"""wavesmith bench: modelled times of whole plans from samples."""

import unittest

from cli import ENVIRONMENT, HAVE_COMPILER, CliTest

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

    def test_what_cannot_be_recorded(self):
        call = [*CALL, "--record", "t.db", "--dtype"]
        self.refused([*call, "fp8", "--lens", "8:8"], "--record", "--quantize")
        for dtype in (["f16"], ["fp8", "--quantize", "unit", "--input", "f16"]):
            self.refused([*call, *dtype, "--lens", "8:8"], "--record", "bf16")
        self.refused([*call, "bf16", "--lens", "8:8,8:8"], "--record", "one sequence")
        self.refused([*call, "bf16", "--lens", "8:8", "--splits", "2"], "--record", "--splits")
        self.refused([*call, "bf16", "--lens", "8:8", "--sink"], "--record", "sink")
        self.refused([*call, "bf16", "--lens", "8:7"], "--record", "kv_len")
        quantized = [*call, "fp8", "--quantize", "dynamic", "--rotate", "1"]
        self.refused([*quantized, "--lens", "8:8"], "--record", "--rotate")
        self.assertFalse((self.dir / "t.db").exists())
        # Before anything is compiled or run.
        cache = self.dir / "untouched"
        lost = [*CALL, "--record", "none/t.db", "--dtype", "bf16", "--lens", "8:8"]
        self.refused(lost, "none/t.db", code=ENVIRONMENT, WAVESMITH_CACHE_DIR=str(cache))
        self.assertFalse(cache.exists())

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_what_is_recorded_decides(self):
        times = {}
        for length in (64, 2048):
            call = [*CALL, "--causal", "--q-len", length, "--kv-len", length, "--record", "t.db"]
            for dtype in (["bf16"], ["fp8", "--quantize", "dynamic"]):
                report = self.json("bench", *call, "--dtype", *dtype)
                self.assertEqual(report["recorded"], "t.db")
                times[dtype[0], length] = report["modelled"]["microseconds"]
        faster = [n for n in (64, 2048) if times["fp8", n] < times["bf16", n]]
        ask = ["explain", "--target", "gfx942", "--head-dim", "64x64", "--heads", "2", "--causal"]
        ask += ["--scales", "dynamic", "--chip", "MI308X", "--tuning", "t.db", "--q-len"]
        self.assertNotIn(64, faster, "a call of 64 tokens is mostly launches")
        # Whatever the model says of the longer one, the decision follows it.
        for length, path in ((1500, "bf16"), (2048, "fp8" if faster == [2048] else "bf16")):
            report = self.json("explain", *ask, length)
            self.assertEqual(report["path"], path)
            if path == "bf16":
                self.assertEqual(report["rule"], "short-prompt")
                self.assertIn("modelled on MI308X, 2 heads", report["reason"])
        # Not of another chip, and not when it is switched off.
        other = [word if word != "MI308X" else "MI325X" for word in ask]
        self.assertEqual(self.json("explain", *other, 1500)["path"], "fp8")
        off = [word if word != "t.db" else "off" for word in ask]
        self.assertEqual(self.json("explain", *off, 1500, WAVESMITH_TUNING="t.db")["path"], "fp8")
        (self.dir / "damaged.db").write_text("damaged" * 1000)
        bad = [word if word != "t.db" else "damaged.db" for word in ask]
        self.refused([*bad, "1500"], "damaged.db", "not a database")

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_nothing_to_do(self):
        report = self.json("bench", *CALL, "--dtype", "bf16", "--lens", "0:5")
        self.assertIsNone(report["modelled"])


if __name__ == "__main__":
    unittest.main()
