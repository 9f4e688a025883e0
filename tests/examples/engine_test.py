"""The example engine: what it serves is right by its own check, and it builds where its reader will."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WAVESMITH_BUILD", ROOT / "build"))
ENGINE = os.environ.get("WAVESMITH_ENGINE", str(BUILD / "bin" / "wavesmith-engine"))
CMAKE = os.environ.get("WAVESMITH_CMAKE", "cmake")
CXX = os.environ.get("WAVESMITH_CXX", "c++")
EVERYTHING_LONG_IS_FP8 = """{"schema": "wavesmith-policy-1", "name": "long", "rules": [
  {"name": "short", "when": {"q_len": {"below": 200}}, "path": "bf16", "reason": "few queries"},
  {"name": "else", "path": "fp8", "reason": "many queries"}]}"""


class EngineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="wavesmith-engine-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)

    def setUp(self):
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("WAVESMITH_")}
        self.env["WAVESMITH_CACHE_DIR"] = str(self.dir / "cache")
        self.env["WAVESMITH_DEVICE"] = "emulator"

    def run_engine(self, *args, engine=ENGINE, code=0, **env):
        done = subprocess.run(
            [engine, *args], env={**self.env, **env}, capture_output=True, text=True, timeout=300
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code else done.stdout

    def test_the_quick_queue(self):
        out = self.run_engine("--quick", "--check")
        self.assertIn("modelled for the chip, not measured", out)
        self.assertRegex(out, r"28 rows compared with float64, 0 wrong")
        # The second prompt of 500 tokens meets the graph of the first.
        steps = re.findall(r"^step \d+: (\d) prompts?, (\d) segments, \d+ kernels, graph (\w+), ([\d.]+) us", out, re.M)
        self.assertEqual([s[:3] for s in steps], [("2", "0", "captured"), ("1", "0", "captured"),
                                                  ("1", "0", "replayed"), ("1", "2", "captured"),
                                                  ("2", "3", "captured")])
        self.assertTrue(all(float(s[3]) > 0 for s in steps))
        self.assertEqual(steps[1][3], steps[2][3], "the same work takes the same modelled time")
        self.assertEqual(len(re.findall(r"^  #\d +\d+ tokens over +\d+  bf16  short-prompt: ", out, re.M)), 7)

    def test_a_mixed_batch_with_fp8_context(self):
        policy = self.dir / "long.json"
        policy.write_text(EVERYTHING_LONG_IS_FP8)
        out = self.run_engine("--prompts", "500,150,230", "--chunk", "300", "--segment", "130", "--heads", "2",
                              "--layers", "2", "--rotate", "7", "--policy", str(policy), "--check")
        self.assertRegex(out, r"rows compared with float64, 0 wrong")
        self.assertRegex(out, r"#0 +200 tokens over +300  fp8   else: many queries")
        self.assertRegex(out, r"#1 +100 tokens over +0  bf16  short: few queries")

    def test_wrong_arguments(self):
        self.assertIn("0 is no number from 1", self.run_engine("--heads", "0", code=2))
        self.assertIn("there is no option --what", self.run_engine("--what", code=2))
        self.assertIn("wants a value", self.run_engine("--chunk", code=2))
        # What the library refuses ends the program with the library's sentence.
        self.assertIn("kv_heads", self.run_engine("--heads", "3", "--kv-heads", "2", code=1))
        self.assertIn("no-such", self.run_engine("--policy", "no-such", code=1))

    def test_it_builds_against_an_installed_library(self):
        prefix, build = self.dir / "prefix", self.dir / "build"
        for command in (
            [CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "capi"],
            [CMAKE, "-S", ROOT / "examples/engine", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
             f"-DCMAKE_CXX_COMPILER={CXX}"],
            [CMAKE, "--build", build],
        ):
            done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        out = self.run_engine("--prompts", "40", "--check", engine=build / "wavesmith-engine",
                              WAVESMITH_EMULATOR_LIBRARY=str(BUILD / "lib/libwavesmith-hip-emulator.so"),
                              WAVESMITH_COMPILER_LIBRARY=str(BUILD / "lib/libwavesmith-compiler.so"))
        self.assertRegex(out, r"4 rows compared with float64, 0 wrong")

    def test_an_installed_tree_compiles(self):
        """Its compiler library finds LLVM where the build found it."""
        prefix = self.dir / "prefix"
        run = [prefix / "bin/wavesmith", "run", "--target", "gfx942", "--dtype", "bf16", "--head-dim", "64x64",
               "--heads", "1", "--lens", "5:9", "--device", "emulator", "--verify"]
        for command in ([CMAKE, "--install", BUILD, "--prefix", prefix], run):
            done = subprocess.run(command, env={**self.env, "WAVESMITH_CACHE_DIR": "off"},
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("verified", done.stdout)


if __name__ == "__main__":
    unittest.main()
