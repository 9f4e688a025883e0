"""wavesmith bundle: lists, verifies and compares what build made; a process without a compiler runs
from it."""

import json
import os
import shutil
import time
import unittest

from cli import BAD_INPUT, BINARY, ENVIRONMENT, FAILED, FINE, HAVE_COMPILER, CliTest

RUN = ("run", "--target", "gfx942", "--dtype", "bf16", "--head-dim", "64x64", "--heads", "2")
LENGTHS = ("--lens", "33:70,1:1", "--verify")


@unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
class Bundle(CliTest):
    ARGS = ("build", "--targets", "gfx942", "--head-dims", "64x64", "--split-kv", "no")

    def build(self, directory="a", causal="no", **env):
        return self.json("build", *self.ARGS, "--causal", causal, "-o", directory, **env)

    def object(self, directory="a"):
        (path,) = (self.dir / directory).glob("*.co")
        return path

    def verify(self, *args, code=FINE):
        return self.json("bundle-verify", "bundle", "verify", *args, code=code)["bundles"]

    def test_list_verify_diff(self):
        (kernel,) = self.build()["kernels"]
        (listed,) = self.json("bundle-list", "bundle", "list", "a")["bundles"]
        self.assertEqual(listed["targets"], ["gfx942"])
        self.assertTrue(listed["toolchain"]["same"])
        self.assertEqual(listed["kernels"][0]["sha256"], kernel["sha256"])
        (verified,) = self.verify("a", "--targets", "gfx942")
        self.assertEqual((verified["kernels"], verified["problems"]), (1, []))
        (verified,) = self.verify("a", "--targets", "gfx950,gfx942", code=FAILED)
        self.assertIn("gfx942, gfx950", verified["problems"][0]["message"])
        (verified,) = self.verify("a", "--require-verified", code=FAILED)
        self.assertIn("no verification record", verified["problems"][0]["message"])

        self.build("b", "both")
        different = self.json("bundle-diff", "bundle", "diff", "a", "b", code=FAILED)
        self.assertEqual((different["only_a"], different["changed"]), ([], []))
        self.assertIn("causal=1", different["only_b"][0]["spec"])
        self.json("bundle-diff", "bundle", "diff", "b", "b")
        code, out, err = self.wavesmith("bundle", "diff", "b", "a")
        self.assertEqual((code, err), (FAILED, ""))
        self.assertRegex(out, r"(?m)^-  ws_attention_bf16_d64x64_causal_gfx942_")

    def test_refused(self):
        self.refused(["bundle", "list", "nowhere"], "nowhere/manifest.json")
        self.refused(["bundle", "verify", "nowhere"], "nowhere/manifest.json")
        self.refused(["bundle", "frobnicate", "a"], "frobnicate", "list, verify, diff")
        self.refused(["bundle", "diff", "a"], "2 bundles")
        self.refused(["bundle", "list", "a", "--targets", "gfx942"], "--targets")
        self.build()
        self.refused(["bundle", "verify", "a", "--targets", "gfx941"], "--targets", "gfx941")

    def test_damage(self):
        self.build()
        path = self.object()
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        (bundle,) = self.verify("a", code=FAILED)
        self.assertEqual([p["file"] for p in bundle["problems"]], [path.name])
        # Reported, passed over, and compiled; or an error where that is forbidden.
        env = {"WAVESMITH_BUNDLES": str(self.dir / "a"), "WAVESMITH_CACHE_DIR": "off"}
        code, out, err = self.wavesmith(*RUN, *LENGTHS, **env)
        self.assertEqual(code, FINE, err)
        self.assertRegex(out, r"(?m)^from +jit")
        self.assertIn(path.name, err)
        code, _, err = self.wavesmith(*RUN, *LENGTHS, WAVESMITH_JIT="forbid", **env)
        self.assertEqual(code, ENVIRONMENT)
        self.assertIn("(the same spec)", err)
        # Built again, only that one is made.
        self.assertEqual(self.build()["kernels"][0]["provider"], "disk")
        self.verify("a")
        manifest = self.dir / "a" / "manifest.json"
        text = manifest.read_text()
        manifest.write_text(text.replace('"bytes": ', '"bytes": 1'))
        (bundle,) = self.verify("a", code=FAILED)
        self.assertEqual(bundle["problems"][0]["file"], "manifest.json")
        self.refused(["bundle", "list", "a"], "damaged or edited", code=BAD_INPUT)

    def test_runs_without_compiler_home_or_cache(self):
        """The image of a release: binary, emulator and bundle, read-only, nothing else."""
        self.build()
        image = self.dir / "image"
        (image / "bin").mkdir(parents=True)
        (image / "lib").mkdir()
        shutil.copy2(BINARY, image / "bin" / "wavesmith")
        emulator = BINARY.parent.parent / "lib" / "libwavesmith-hip-emulator.so"
        shutil.copy2(emulator, image / "lib" / emulator.name)
        shutil.move(self.dir / "a", image / "bundle")
        env = {k: v for k, v in self.env.items() if not k.startswith(("WAVESMITH_", "XDG_", "HOME"))}
        env |= {
            "WAVESMITH_DEVICE": "emulator",
            "WAVESMITH_BUNDLES": f"/nowhere:{image / 'bundle'}",
            "WAVESMITH_JIT": "forbid",
        }
        for path in (image / "bundle").iterdir():
            path.chmod(0o444)
        (image / "bundle").chmod(0o555)
        before = sorted(os.listdir(image / "bundle"))
        self.env = env
        binary = image / "bin" / "wavesmith"
        out = self.json("run", *RUN, *LENGTHS, binary=binary)
        self.assertEqual(out["provider"], "bundle")
        code, _, err = self.wavesmith(*RUN, "--causal", *LENGTHS, binary=binary)
        self.assertEqual(code, ENVIRONMENT)
        self.assertRegex(err, r"spec key [0-9a-f]{64}.*nearest entries: \[bundle: attention")
        self.assertIn("/nowhere/manifest.json", err)
        self.assertEqual(sorted(os.listdir(image / "bundle")), before)

    def test_build_goes_on_and_keeps(self):
        env = {"WAVESMITH_CACHE_DIR": "off"}
        self.build("a", **env)
        partial = self.dir / "a" / "manifest.partial.json"
        (self.dir / "a" / "manifest.json").rename(partial)
        built = self.build("a", "both", **env)
        self.assertEqual([k["provider"] for k in built["kernels"]], ["bundle", "jit"])
        self.assertEqual((built["kept"], built["removed"]), (1, 0))
        self.assertFalse(partial.exists())
        built = self.build("a", **env)
        self.assertEqual((built["kept"], built["removed"]), (1, 1))
        self.assertEqual(len(os.listdir(self.dir / "a")), 2)
        manifest = json.loads((self.dir / "a" / "manifest.json").read_text())
        self.assertEqual(manifest["targets"], ["gfx942"])

    def test_long_prompts_are_served_too(self):
        """By default a bundle holds what any plan asks for: split kernels and their reducer."""
        args = ("--targets", "gfx942", "--head-dims", "64x64", "--causal", "no")
        built = self.json("build", "build", *args, "-o", "a")["kernels"]
        self.assertEqual(len(built), 3)
        env = {"WAVESMITH_BUNDLES": str(self.dir / "a"), "WAVESMITH_JIT": "forbid"}
        env["WAVESMITH_CACHE_DIR"] = "off"
        ran = self.json("run", *RUN, "--lens", "5:2000", "--splits", "4", "--verify", **env)
        self.assertEqual(len(ran["kernels"]), 2)

    def test_killed_build_goes_on(self):
        env = {"WAVESMITH_CACHE_DIR": "off"}
        args = ("build", "--targets", "gfx942", "--kernels", "quantize", "-o", "a")
        process = self.start(*args, "--jobs", "1", **env)
        partial = self.dir / "a" / "manifest.partial.json"
        end = time.monotonic() + 60
        while not partial.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        process.kill()
        process.communicate()
        self.assertTrue(partial.exists(), "it was killed in the middle")
        self.assertFalse((self.dir / "a" / "manifest.json").exists(), "nothing counts yet")
        built = self.json("build", *args, **env)
        self.assertGreaterEqual(built["kept"], 1)
        self.assertLess(built["kept"], len(built["kernels"]))
        self.assertEqual(self.verify("a")[0]["problems"], [])
        self.assertEqual(len(os.listdir(self.dir / "a")), len(built["kernels"]) + 1)

    def test_other_toolchain(self):
        self.build()
        other = self.dir / "templates"
        shutil.copytree(BINARY.parents[2] / "templates", other)
        with open(other / "attention.mlir", "a") as file:
            file.write("// another text\n")
        env = {
            "WAVESMITH_TEMPLATE_DIR": str(other),
            "WAVESMITH_BUNDLES": str(self.dir / "a"),
            "WAVESMITH_JIT": "forbid",
        }
        code, out, err = self.wavesmith(*RUN, *LENGTHS, **env)
        self.assertEqual(code, FINE, err)
        self.assertRegex(out, r"(?m)^from +bundle")
        self.assertIn("another toolchain", err)
        code, out, err = self.wavesmith(*RUN, *LENGTHS, WAVESMITH_BUNDLE_TOOLCHAIN="same", **env)
        self.assertEqual(code, ENVIRONMENT, out)
        self.assertIn("(the same spec)", err)


if __name__ == "__main__":
    unittest.main()
