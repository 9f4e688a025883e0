"""WAVESMITH_VERIFY and build --verify: only what the emulator passed is used, stored and shipped."""

import json
import os
import shutil
import stat
import unittest

from cli import BAD_INPUT, BINARY, ENVIRONMENT, FAILED, FINE, HAVE_COMPILER, CliTest

RUN = ("run", "--target", "gfx942", "--dtype", "bf16", "--head-dim", "64x64", "--heads", "1")
LENGTHS = ("--lens", "5:9")
VERIFY = {"WAVESMITH_VERIFY": "emulator"}
BUILD = ("build", "--targets", "gfx942", "--kernels", "combine_splits", "-o", "out")


class Settings(CliTest):
    def test_refused(self):
        self.refused([*RUN, *LENGTHS], "WAVESMITH_VERIFY", "perhaps", WAVESMITH_VERIFY="perhaps")


@unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
class Verify(CliTest):
    def verifier(self, script):
        """A program in the verifier's place."""
        path = self.dir / "verifier"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return {"WAVESMITH_VERIFY": "emulator", "WAVESMITH_VERIFIER": str(path)}

    def provider(self, *more, **env):
        return self.json("run", *RUN, *LENGTHS, *more, **env)["provider"]

    def entries(self):
        files = self.json("cache-list", "cache", "list")["files"]
        return [f for f in files if f["kind"] == "entry"]

    def test_only_verified_kernels_are_used(self):
        self.assertEqual(self.provider(), "jit")
        self.assertFalse(self.entries()[0]["verified"])
        self.assertEqual(self.provider(**VERIFY), "jit", "an entry without a record is a miss")
        self.assertTrue(self.entries()[0]["verified"])
        self.assertEqual(self.provider(**VERIFY), "disk")
        self.assertEqual(self.provider(), "disk")

    def test_what_fails_is_not_stored(self):
        wrong = self.verifier("cat > /dev/null; echo 'wavesmith-verify: row 7 is off' >&2; exit 1")
        code, out, err = self.wavesmith(*RUN, *LENGTHS, **wrong)
        self.assertEqual((code, out), (FAILED, ""))
        self.assertIn("failed its verification: row 7 is off", err)
        self.assertEqual(self.entries(), [])

    def test_verifiers_that_say_nothing(self):
        for script in ("exit 0", "kill -9 $$", "echo '{}'", "cat; exit 0", "exit 3"):
            with self.subTest(script):
                code, _, err = self.wavesmith(*RUN, *LENGTHS, **self.verifier(script))
                self.assertEqual(code, ENVIRONMENT, err)
                self.assertIn("was not verified", err)
                self.assertEqual(self.entries(), [])

    def test_a_record_of_another_object(self):
        record = json.dumps({"judge": "emulator", "object_sha256": "0" * 64, "cases": ["a"]})
        code, _, err = self.wavesmith(*RUN, *LENGTHS, **self.verifier(f"echo '{record}'"))
        self.assertEqual(code, ENVIRONMENT, err)

    def test_no_verifier(self):
        env = {"WAVESMITH_VERIFY": "emulator", "WAVESMITH_VERIFIER": "/nowhere/v"}
        code, _, err = self.wavesmith(*RUN, *LENGTHS, **env)
        self.assertEqual(code, ENVIRONMENT)
        self.assertIn("/nowhere/v", err)

    def test_build(self):
        self.json("build", *BUILD)
        self.json("bundle-verify", "bundle", "verify", "out", "--require-verified", code=FAILED)
        built = self.json("build", *BUILD, "--verify")
        self.assertTrue(all(k["verified"] for k in built["kernels"]))
        # Three value dims, with lse and without, to bf16 and f16.
        self.assertEqual((built["kept"], len(built["kernels"])), (0, 12))
        self.json("bundle-verify", "bundle", "verify", "out", "--require-verified")
        manifest = json.loads((self.dir / "out" / "manifest.json").read_text())
        for kernel in manifest["kernels"]:
            self.assertEqual(kernel["verification"]["object_sha256"], kernel["sha256"])
            self.assertEqual(len(kernel["verification"]["cases"]), 4)
        again = self.json("build", *BUILD, "--verify")
        self.assertEqual(again["kept"], 12)
        # A kernel that fails leaves the bundle as it was.
        before = sorted(os.listdir(self.dir / "out"))
        code, _, err = self.wavesmith(
            *BUILD[:-1], "new", "--verify", WAVESMITH_CACHE_DIR="off", **self.verifier("exit 1")
        )
        self.assertEqual(code, FAILED, err)
        self.assertFalse((self.dir / "new").exists())
        self.assertEqual(sorted(os.listdir(self.dir / "out")), before)

    def test_split_kernels_of_fp8(self):
        """One query over many keys: a single row, whose error has the bound of rows."""
        args = ("--targets", "gfx942", "--dtypes", "fp8", "--head-dims", "192x128")
        built = self.json(
            *("build", "build", *args, "--causal", "no", "--split-kv", "yes", "-o", "out"),
            "--verify",
        )
        self.assertEqual([k["verified"] for k in built["kernels"]], [True, True])

    def wrong_template(self, name, old, new):
        """Templates of which one computes something else: what a bug of the compiler looks like."""
        templates = self.dir / name
        shutil.rmtree(templates, ignore_errors=True)
        shutil.copytree(BINARY.parents[2] / "templates", templates)
        path = templates / f"{name}.mlir"
        text = path.read_text()
        self.assertEqual(text.count(old), 1, old)
        path.write_text(text.replace(old, new))
        return {"WAVESMITH_TEMPLATE_DIR": str(templates), "WAVESMITH_CACHE_DIR": "off"}

    def test_wrong_kernels_fail(self):
        limit = "%limit = arith.addi %query, %offset : i32\n  %visible = arith.cmpi"
        rows = ": !sums, !rows, !rows"
        coarse = "!tile.tile<[head_dim_v], bf16>"
        through_bf16 = (  # right for bf16 results, too coarse for f16
            f"%coarse = tile.convert %mean : !sums -> {coarse}\n"
            f"    %back = tile.convert %coarse : {coarse} -> !sums\n"
            "    %result = tile.convert %back : !sums"
        )
        wrong = (
            ("combine_splits", "%result = tile.convert %mean : !sums", through_bf16),
            ("combine_splits", "%row_lse = arith.addf %m, %log", "%row_lse = arith.subf %m, %log"),
            ("combine_splits", "%wn = arith.addf %wi, %w", "%wn = arith.maxnumf %wi, %w"),
            ("merge_states", "math.fma %wb, %xb, %pa", "math.fma %wa, %xb, %pa"),
            ("quantize", "arith.cmpf ogt, %size, %most", "arith.cmpf olt, %size, %most"),
            ("histogram", "arith.minsi %from_first, %last", "arith.maxsi %from_first, %last"),
            ("work_list", "arith.select %fits, %own, %c0", "arith.select %fits, %own, %own"),
            ("work_list", "arith.maxsi %from, %c0", "arith.maxsi %c0, %c0"),
            ("amax", "arith.cmpf olt, %size, %infinite", "arith.cmpf ogt, %size, %infinite"),
            ("attention", f"{limit} sle, %key, %limit", f"{limit} slt, %key, %limit"),
            ("attention", "%limit = arith.addi %query, %offset", "%limit = arith.addi %query, %len_kv"),
            ("attention", "with(%window_left : i32)", "with(%window_right : i32)"),
            ("attention", f" sink %logit\n        {rows}, f32, f32", f"\n        {rows}, f32"),
        )
        for name, old, new in wrong:
            with self.subTest(f"{name}: {old}"):
                env = self.wrong_template(name, old, new)
                dims = ("--head-dims", "64x64", "--causal", "yes", "--split-kv", "no")
                scored = any(word in old for word in ("window", "sink"))
                dims += ("--scores", "soft-cap+window+sink" if scored else "none")
                args = ("build", "--targets", "gfx942", "--kernels", name, *dims, "-o", "wrong")
                code, _, err = self.wavesmith(*args, "--verify", **env)
                self.assertEqual(code, FAILED, err)
                self.assertIn("failed its verification", err)
                shutil.rmtree(self.dir / "wrong", ignore_errors=True)


class Program(CliTest):
    """wavesmith-verify itself."""

    def verify(self, *args):
        return self.finish(self.start(*args, binary=BINARY.parent / "wavesmith-verify"))

    def test_bad_input(self):
        self.assertEqual(self.verify()[0], BAD_INPUT)
        self.assertEqual(self.verify("--help")[0], BAD_INPUT)
        code, out, err = self.verify("/nowhere/k.co")
        self.assertEqual((code, out), (BAD_INPUT, ""))
        self.assertIn("/nowhere/k.co", err)
        (self.dir / "k.co").write_bytes(b"x" * 1000)
        self.assertEqual(self.verify("k.co")[0], BAD_INPUT)

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_a_kernel(self):
        self.json("build", *BUILD)
        for path in (self.dir / "out").glob("*.co"):
            code, out, err = self.verify(path)
            self.assertEqual((code, err), (FINE, ""))
            self.assertEqual(json.loads(out)["judge"], "emulator")


if __name__ == "__main__":
    unittest.main()
