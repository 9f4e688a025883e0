"""wavesmith build: objects and manifest, all or nothing; inspect reads what build wrote."""

import hashlib
import json
import os
import resource
import signal
import subprocess
import unittest

import schema
from cli import BINARY, ENVIRONMENT, HAVE_COMPILER, CliTest


class Build(CliTest):
    ARGS = ("build", "--targets", "gfx942", "--head-dims", "64x64", "--split-kv", "no", "-o", "out")

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_build_and_inspect(self):
        built = self.json("build", *self.ARGS)
        self.assertEqual({k["provider"] for k in built["kernels"]}, {"jit"})
        manifest = json.loads((self.dir / "out" / "manifest.json").read_text())
        self.assertEqual(schema.problems(manifest, schema.load("manifest")), [])
        self.assertEqual(len(manifest["kernels"]), 2)
        for kernel in manifest["kernels"]:
            path = self.dir / "out" / kernel["file"]
            data = path.read_bytes()
            self.assertEqual(hashlib.sha256(data).hexdigest(), kernel["sha256"])
            seen = self.json("inspect", "inspect", path)
            self.assertEqual(seen["note"]["spec"], kernel["spec"])
            self.assertEqual(seen["note"]["spec_key"], kernel["spec_key"])
            self.assertEqual(seen["note"]["build_key"], kernel["build_key"])
            (code,) = seen["kernels"]
            self.assertEqual(code["name"], kernel["name"])
            self.assertEqual(code["scratch_bytes"] + code["vgpr_spills"] + code["sgpr_spills"], 0)
            self.assertLessEqual(code["vgprs"], 256)
            self.assertEqual(code["unknown_instructions"], 0)
            self.assertGreater(code["instruction_mix"]["mfma"], 0)
        # Nothing but what the manifest lists.
        self.assertEqual(
            sorted(os.listdir(self.dir / "out")),
            sorted([k["file"] for k in manifest["kernels"]] + ["manifest.json"]),
        )
        # Again, from the cache, the same bytes.
        again = self.json("build", *self.ARGS)
        self.assertEqual({k["provider"] for k in again["kernels"]}, {"bundle"})
        elsewhere = self.json("build", *self.ARGS[:-1], "elsewhere")
        self.assertEqual({k["provider"] for k in elsewhere["kernels"]}, {"disk"})
        self.assertEqual(
            [k["sha256"] for k in again["kernels"]], [k["sha256"] for k in built["kernels"]]
        )

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_row_kernels(self):
        args = ("--targets", "gfx942,gfx950", "--kernels", "combine_splits", "-o", "out")
        built = self.json("build", "build", *args)
        manifest = json.loads((self.dir / "out" / "manifest.json").read_text())
        self.assertEqual(schema.problems(manifest, schema.load("manifest")), [])
        # Targets, value dims, with lse and without, to bf16 and f16.
        self.assertEqual(len(built["kernels"]), 24)
        for kernel in manifest["kernels"]:
            seen = self.json("inspect", "inspect", self.dir / "out" / kernel["file"])
            self.assertEqual(seen["note"]["spec"], kernel["spec"])
            (code,) = seen["kernels"]
            self.assertEqual(code["name"], kernel["name"])
            self.assertEqual(code["scratch_bytes"] + code["vgpr_spills"] + code["lds_bytes"], 0)
            self.assertEqual(code["unknown_instructions"], 0)

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_variants(self):
        args = (*self.ARGS, "--causal", "yes")
        built = self.json("build", *args, "--lse", "no", "--scores", "window+sink,none")
        words = sorted(k["spec"].partition("lse=")[2] for k in built["kernels"])
        self.assertEqual(
            words,
            ["0 split=0 schedule=default", "0 split=0 window=1 sink=1 schedule=default"],
        )

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_dtypes(self):
        args = (*self.ARGS[:-1], "f16", "--causal", "yes", "--dtypes")
        specs = {
            dtypes: sorted(
                k["spec"].split()[3] + (" f16out" if "f16out=1" in k["spec"] else "")
                for k in self.json("build", *args, dtypes)["kernels"]
            )
            for dtypes in ("fp8", "bf16,fp8", "f16,fp8", "bf16,f16,fp8")
        }
        to_f16 = "dtype=fp8 f16out"
        self.assertEqual(specs["fp8"], ["dtype=fp8"])
        self.assertEqual(specs["bf16,fp8"], ["dtype=bf16", "dtype=fp8"])
        self.assertEqual(specs["f16,fp8"], ["dtype=f16", to_f16])
        self.assertEqual(specs["bf16,f16,fp8"], ["dtype=bf16", "dtype=f16", "dtype=fp8", to_f16])

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_damaged_object(self):
        self.json("build", *self.ARGS, "--causal", "no")
        (path,) = (self.dir / "out").glob("*.co")
        data = path.read_bytes()
        for size in (len(data) - 1, len(data) // 2, 100, 16):
            path.write_bytes(data[:size])
            self.refused(["inspect", str(path)], path.name)

    @unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
    def test_failing_write(self):
        # The second object does not fit: the first waits for the next try, nothing half-written
        # stays, and an older bundle in the directory is as it was.
        both = self.json("build", *self.ARGS)["kernels"]
        self.assertLess(both[0]["bytes"], both[1]["bytes"])
        self.json("build", *self.ARGS[:-1], "old", "--causal", "no")
        before = {p.name: p.read_bytes() for p in (self.dir / "old").iterdir()}

        def bound():
            size = both[1]["bytes"] - 1
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        for directory in ("old", "new"):
            process = subprocess.run(
                [BINARY, *self.ARGS[:-1], directory, "--jobs", "1"],
                capture_output=True,
                text=True,
                cwd=self.dir,
                env=self.env,
                preexec_fn=bound,
            )
            self.assertEqual(process.returncode, ENVIRONMENT, process.stderr)
            self.assertIn("File too large", process.stderr)
        self.assertEqual(before, {p.name: p.read_bytes() for p in (self.dir / "old").iterdir()})
        self.assertEqual(
            sorted(p.name for p in (self.dir / "new").iterdir()),
            ["manifest.partial.json", both[0]["file"]],
        )
        done = self.json("build", *self.ARGS[:-1], "new", WAVESMITH_CACHE_DIR="off")
        self.assertEqual([k["provider"] for k in done["kernels"]], ["bundle", "jit"])

    def test_output_is_a_file(self):
        (self.dir / "out").write_text("x")
        self.refused(self.ARGS, "--output", "not a directory")
        self.assertEqual((self.dir / "out").read_text(), "x")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_output_is_read_only(self):
        (self.dir / "out").mkdir(mode=0o500)
        self.refused(self.ARGS, "out", code=ENVIRONMENT)

    def test_no_compiler(self):
        self.refused(
            self.ARGS,
            "compiler",
            "/nowhere/c.so",
            code=ENVIRONMENT,
            WAVESMITH_COMPILER_LIBRARY="/nowhere/c.so",
        )
        self.assertFalse((self.dir / "out").exists())

    def test_jit_forbidden(self):
        self.refused(self.ARGS, "forbid", code=ENVIRONMENT, WAVESMITH_JIT="forbid")
        self.assertFalse((self.dir / "out").exists())

    def test_bad_variable(self):
        self.refused(self.ARGS, "WAVESMITH_JIT", "perhaps", WAVESMITH_JIT="perhaps")


if __name__ == "__main__":
    unittest.main()
